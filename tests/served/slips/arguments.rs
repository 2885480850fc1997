//! Wrong commands, options, ports and addresses.

use super::{dev, plain, project, said};
use std::net::TcpListener;

#[test]
fn a_slip_in_the_arguments_says_what_to_write() {
    let directory = project();
    for (line, remedy) in [
        ("start", "write `keyfold dev`"),
        ("server", "a similar subcommand exists: 'serve'"),
        ("dev --port 4001", "write '--listen 127.0.0.1:4001'"),
        ("dev -p 4001", "write '--listen 127.0.0.1:4001'"),
        ("dev --listen 4001", "--listen 127.0.0.1:4001"),
        ("dev --listen localhost", "--listen 127.0.0.1:4000"),
        ("dev --listen http://localhost:4002", "without http:// and a path: --listen 127.0.0.1:4002"),
        ("dev --listen 127.0.0.1:70000", "a port from 0 to 65535"),
        ("dev --listen 192.0.2.1:4003", "--listen 127.0.0.1:4003 listens on this machine only"),
        ("dev --schemas schema.graphql", "a similar argument exists: '--schema'"),
        ("dev other.graphql", "write '--schema other.graphql'"),
        ("dev --playground false", "write '--playground=false'"),
        ("dev --body-limit 1MB", "without a unit: 1000000"),
        ("dev --log verbose", "write --log debug"),
        ("dev --allow-origin localhost:3000", "http://localhost:3000"),
        ("dev --endpoint-url http://localhost:8000", "'--endpoint-url' is an option of "),
        ("token me", "write '--sub me'"),
        ("--schema schema.graphql check", "write it behind the command: `keyfold check --schema schema.graphql`"),
        ("schema --out api.graphql", "`keyfold schema > FILE`"),
        ("check --type team", "did you mean Team?"),
        ("test", "name the folder with the cases: `keyfold test operations`"),
        ("token --sub me --claim role:admin", "role=admin"),
        ("serve --endpoint-url localhost:8000", "write http:// or https://"),
        ("health --url http://127.0.0.1:1", "start one with `keyfold dev`, or name another by --url"),
    ] {
        let said = said(directory.path(), &line.split(' ').collect::<Vec<_>>());
        assert!(said.contains(remedy), "keyfold {line}\n{said}");
    }
    let said = said(directory.path(), &["token", "--sub", "me", "--expires", "1 day"]);
    assert!(said.contains("write a number and a unit: 500ms, 30s, 2m, 1h, 7d"), "{said}");
}

#[tokio::test]
async fn a_port_that_is_taken_names_one_that_is_free_next() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap();
    let said = said(project().path(), &["dev", "--listen", &address.to_string()]);
    assert!(said.contains("another process listens there"), "{said}");
    let remedy = said.split("--listen ").last().unwrap().trim();
    assert_eq!(remedy, format!("127.0.0.1:{}", address.port() % u16::MAX + 1));
}

#[tokio::test]
async fn what_a_tip_says_is_what_the_command_takes() {
    let directory = project();
    let taken = said(directory.path(), &["dev", "other.graphql", "--listen", "127.0.0.1:0"]);
    let tip = taken.split('\'').find(|part| part.starts_with("--schema ")).unwrap();
    std::fs::rename(directory.path().join("schema.graphql"), directory.path().join("other.graphql")).unwrap();
    let server = dev(directory, &tip.split(' ').collect::<Vec<_>>());
    assert_eq!(server.status("/health/live").await, 200);
}

#[test]
fn an_operation_in_place_of_its_file_says_how_to_send_it() {
    let directory = project();
    let said = said(directory.path(), &["explain", "{ team(id: 1) { name } }"]);
    assert!(said.contains("send it by `-`"), "{said}");
    let mut command = plain(directory.path(), &["explain", "-"]);
    let operation = directory.path().join("operation");
    std::fs::write(&operation, "{ team(id: 1) { name } }").unwrap();
    let output = command.stdin(std::fs::File::open(operation).unwrap()).output().unwrap();
    assert!(output.status.success());
}
