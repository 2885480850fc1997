//! `keyfold dev --data` with a damaged data file, and with a full disk.

use super::process::{keyfold, run};
use super::server::{Server, samples, schema};
use serde_json::json;
use std::process::Command;

const GROUP: &str = "22222222-2222-4222-8222-222222222222";

#[test]
fn a_broken_data_file_ends_the_start_with_one_sentence() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("data/keyfold.db");
    std::fs::create_dir(directory.path().join("data")).unwrap();
    for (bytes, words) in [
        (Vec::new(), "is empty"),
        (vec![b'x'; 9000], "is not a database of Keyfold"),
        ([b"SQLite format 3\0".to_vec(), vec![0xff; 9000]].concat(), "its header is broken"),
    ] {
        std::fs::write(&file, bytes).unwrap();
        let said = run(directory.path(), &["dev", "--listen", "127.0.0.1:0", "--schema", &schema(), "--data", "data"])
            .badly(1);
        assert!(said.starts_with("error: the data file data/keyfold.db") && said.contains(words), "{said}");
        assert_eq!(said.lines().count(), 1, "{said}");
    }
}

/// A limit on the size of files replaces a full disk.
#[tokio::test]
async fn a_disk_that_takes_no_more_is_reported_at_once() {
    let directory = tempfile::tempdir().unwrap();
    let samples = samples();
    let arguments = [
        "dev",
        "--listen",
        "127.0.0.1:0",
        "--schema",
        &schema(),
        "--sample",
        samples.to_str().unwrap(),
        "--data",
        "data",
    ];
    let made = keyfold(directory.path(), &arguments);
    let limited = |command: Command, blocks: usize| {
        let mut shell = Command::new("sh");
        // Without the trap, the system would end the process.
        shell
            .arg("-c")
            .arg(format!("ulimit -f {blocks}; trap '' XFSZ; exec \"$0\" \"$@\""))
            .arg(command.get_program())
            .args(command.get_args());
        shell.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
        shell.current_dir(command.get_current_dir().unwrap()).env("KEYFOLD_LOG", "info");
        shell
    };
    // In blocks of 512 bytes: the samples fit, and some hundred writes more.
    let mut server = Server::dev_by(limited(made, 6000), directory);
    let rename = "mutation ($g: ID!, $n: String!) { renameGroup(id: $g, name: $n) { name } }";
    let name = |number: usize| json!({ "g": GROUP, "n": format!("{number} {}", "long ".repeat(40)) });
    let mut number = 0;
    let refused = loop {
        let answer = server.ask(rename, name(number)).await;
        if answer.body.get("errors").is_some() {
            break answer;
        }
        number += 1;
        assert!(number < 5_000, "the limit is never reached");
    };
    assert_eq!(refused.error().1, "UNAVAILABLE", "{:#}", refused.body);
    let ready = server.client.get(format!("{}/health/ready", server.url)).send().await.unwrap();
    assert_eq!(ready.status().as_u16(), 503);
    assert!(ready.text().await.unwrap().contains("storage"));
    let line = server.process.wait_for("the embedded store failed");
    assert!(line.contains("the disk"), "{line}");
    let read = server.ask("query ($g: ID!) { group(id: $g) { name } }", json!({ "g": GROUP })).await;
    assert_eq!(read.data()["group"]["name"], name(number - 1)["n"], "what was answered is there, and nothing else");
}
