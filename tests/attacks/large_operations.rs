//! Operations that read or write much: nested pages, long texts many times over, many objects.

use super::attack::{Target, answer, operation};
use super::server::{Server, samples};
use futures_util::future::join_all;
use serde_json::{Value, json};
use std::fs;
use tempfile::TempDir;
use tokio::io::AsyncWriteExt;

/// The user whose posts these are.
const USER: &str = "11111111-1111-4111-8111-111111111111";

/// The project's samples, and so many posts more of the user, with texts of so many bytes.
fn with_posts(posts: usize, bytes: usize) -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    for file in fs::read_dir(samples()).unwrap().map(Result::unwrap) {
        fs::copy(file.path(), directory.path().join(file.file_name())).unwrap();
    }
    let text = "x".repeat(bytes);
    let post = |number: usize| {
        let created = format!("2026-01-01T00:00:{:02}.{:03}Z", number / 1000, number % 1000);
        let item = json!({
            "PK": { "S": format!("USER#{USER}") }, "SK": { "S": format!("POST#{number:08}#{created}") }, "status": { "S": "CREATED" },
            "createdAt": { "S": created }, "title": { "S": "A post" }, "text": { "S": text },
        });
        json!({ "Item": item }).to_string() + "\n"
    };
    let table = directory.path().join("data.jsonl");
    let all = fs::read_to_string(&table).unwrap() + &(0..posts).map(post).collect::<String>();
    fs::write(table, all).unwrap();
    directory
}

/// `keyfold dev` on these items. The innocent client reads one item. On a busy machine, the attackers' operations take
/// long.
async fn target(items: &TempDir, options: &[&str]) -> Target {
    let options = [&["--sample", items.path().to_str().unwrap(), "--request-timeout", "5m"], options].concat();
    Target::keyfold(|| Server::dev(&options), &format!("{{ user(id: \\\"{USER}\\\") {{ name }} }}")).await
}

/// Sends an operation as an attacker.
async fn send(target: &Target, query: &str) -> Value {
    let mut stream = target.connect().await;
    stream.write_all(operation(&query.replace('"', "\\\"")).as_bytes()).await.unwrap();
    serde_json::from_str(&answer(&mut stream).await.1).unwrap()
}

fn code(response: &Value) -> &Value {
    &response["errors"][0]["extensions"]["code"]
}

#[tokio::test]
async fn a_short_query_for_a_response_of_hundreds_of_megabytes() {
    let items = with_posts(24, 20_000);
    let target = target(&items, &[]).await;
    let inner: String = (0..27).map(|alias| format!("a{alias}: text ")).collect();
    let posts = |inner: &str| {
        format!("posts(first: 24) {{ nodes {{ author {{ posts(first: 24) {{ nodes {{ {inner} }} }} }} }} }}")
    };
    let query = format!("{{ user(id: \"{USER}\") {{ {} }} }}", posts(&inner));
    let (responses, harm) = target.under_each(|| send(&target, &query)).await;
    for response in responses {
        assert_eq!((&response["data"], code(&response)), (&Value::Null, &json!("LIMIT_EXCEEDED")));
    }
    harm.is_small();
}

#[tokio::test]
async fn nested_pages_beyond_the_objects_of_a_response() {
    let items = with_posts(1000, 10);
    let target = target(&items, &["--max-nodes", "20"]).await;
    let query = format!(
        "{{ user(id: \"{USER}\") {{ posts(first: 100) {{ nodes {{ author {{ posts(first: 100) {{ nodes {{ id }} }} }} }} }} }} }}"
    );
    let (responses, harm) = target.under_each(|| send(&target, &query)).await;
    assert!(responses.iter().all(|response| code(response) == "LIMIT_EXCEEDED"), "{:?}", responses[0]);
    harm.is_small();
}

#[tokio::test]
async fn many_clients_that_ask_for_many_objects() {
    let items = with_posts(100, 100);
    let target = target(&items, &[]).await;
    let query = format!(
        "{{ user(id: \"{USER}\") {{ posts(first: 100) {{ nodes {{ id author {{ posts(first: 20) {{ nodes {{ id title }} }} }} }} }} }} }}"
    );
    let known = send(&target, &query).await;
    assert_eq!(known["errors"], Value::Null);
    let (responses, harm) = target.under_each(|| join_all((0..32).map(|_| send(&target, &query)))).await;
    // On a machine that does other things too, calls of so many operations may come too late.
    let late = |response: &Value| code(response) == "UNAVAILABLE" || code(response) == "TIMEOUT";
    let (known_ones, others): (Vec<_>, Vec<_>) = responses.iter().flatten().partition(|response| **response == known);
    assert!(!known_ones.is_empty() && others.iter().all(|response| late(response)), "{:.1000}", others[0].to_string());
    harm.is_small();
}
