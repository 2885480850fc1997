//! Schemas of many mistakes and of many comments: `keyfold check` keeps its memory and its output small.

use super::attack::TURN;
use crate::process::keyfold;
use std::fs;
use std::process::Stdio;

/// The most memory of `keyfold check`, in bytes.
const MOST: u64 = 100 << 20;

/// The exit code of `keyfold check` on a schema, what it prints, and its most resident memory without the pages of its
/// program file, in bytes.
fn check(schema: &str) -> (Option<i32>, String, u64) {
    let _turn = TURN.blocking_lock();
    let directory = tempfile::tempdir().unwrap();
    let output = directory.path().join("output");
    fs::write(directory.path().join("schema.graphql"), schema).unwrap();
    let mut command = keyfold(directory.path(), &["check"]);
    let mut process = command.stdout(Stdio::null()).stderr(fs::File::create(&output).unwrap()).spawn().unwrap();
    let mut most = 0;
    let status = loop {
        // "VmHWM: peak resident set size", "RssFile: size of resident file mappings" (proc_pid_status(5)), in kB. A
        // process that has ended has none.
        let status = fs::read_to_string(format!("/proc/{}/status", process.id())).unwrap_or_default();
        let value = |name: &str| {
            status.lines().find_map(|line| line.strip_prefix(name)?.trim().strip_suffix(" kB")?.parse::<u64>().ok())
        };
        most = most.max(value("VmHWM:").unwrap_or(0).saturating_sub(value("RssFile:").unwrap_or(0)) * 1024);
        if let Some(status) = process.try_wait().unwrap() {
            break status;
        }
        std::thread::yield_now();
    };
    (status.code(), fs::read_to_string(&output).unwrap(), most)
}

#[test]
fn twenty_thousand_mistakes_in_one_line() {
    let fields: String = (0..20_000).map(|n| format!("f{n}: Missing{n} ")).collect();
    let (code, output, most) = check(&format!("type Query {{ {fields} }}"));
    println!("{} bytes of output, {} MB", output.len(), most >> 20);
    assert_eq!(code, Some(1));
    assert!(output.len() < 100 * 1024, "{} bytes", output.len());
    assert!(most < MOST, "{most} bytes of memory");
}

#[test]
fn twenty_megabytes_of_comments() {
    let comments =
        "# This line says nothing, and says it at some length, so that it takes a hundred bytes of the file....\n"
            .repeat(200_000);
    let schema = "extend schema @table(name: \"data\", partitionKey: \"PK\")
        type A @item(keys: { PK: \"{id}\" }) { id: ID! }
        type Query { a(id: ID!): A @find }";
    let (code, output, most) = check(&format!("{comments}{schema}"));
    println!("{} MB", most >> 20);
    assert_eq!(code, Some(0), "{output}");
    assert!(most < MOST, "{most} bytes of memory");
}
