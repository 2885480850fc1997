//! Clients that ask for large responses and read none of them, or a little now and then.

use super::attack::{Target, answer, operation, post, resident, text_frame, upgrade};
use super::machine::limits;
use super::process;
use super::server::Server;
use futures_util::future::join_all;
use keyfold::serve::settings::{RequestLimits, SharedLimits};
use serde_json::Value;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::{sleep, timeout};

const SCHEMA: &str = r#"
extend schema @table(name: "notes")
type Note @item(keys: { pk: "{id}" }) { id: ID! text: String }
type Query { note(id: ID!): Note @find }
"#;

/// A text of 380 kB, near the largest that an item may hold.
pub const LENGTH: usize = 380_000;

/// The time for which a client may read nothing in these tests.
const WRITE_TIMEOUT: Duration = Duration::from_secs(1);

fn start(options: &[&str]) -> Server {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("schema.graphql"), SCHEMA).unwrap();
    std::fs::create_dir(directory.path().join("samples")).unwrap();
    let note = format!("{{\"Item\": {{\"pk\": {{\"S\": \"1\"}}, \"text\": {{\"S\": \"{}\"}}}}}}\n", "x".repeat(LENGTH));
    std::fs::write(directory.path().join("samples/notes.jsonl"), note).unwrap();
    let options = [&["dev", "--listen", "127.0.0.1:0"], options].concat();
    Server::dev_by(process::keyfold(directory.path(), &options), directory)
}

/// `keyfold dev` with these additional options and a note of this length.
pub async fn target(options: &[&str]) -> Target {
    Target::keyfold(|| start(options), r#"{ note(id: \"2\") { id } }"#).await
}

/// The option by which one client may have one of the large responses, or several small ones: a quarter.
const LITTLE_ROOM: [&str; 4] = ["--response-memory", "20000000", "--write-timeout", "1s"];

/// How long a response is waited for while others are in its way.
const MOMENT: Duration = Duration::from_millis(100);

/// The number of copies of the text in a response: it has 5 MB, more than the system's buffers hold.
const TIMES: usize = 13;

/// An operation with such a response.
fn large() -> String {
    let fields: String = (0..TIMES).map(|n| format!("a{n}: note(id: 1) {{ text }} ")).collect();
    format!("{{ {fields} }}")
}

/// Reads what was sent, and says whether it was a whole response.
async fn is_whole(stream: &mut TcpStream) -> bool {
    let mut sent = Vec::new();
    // A socket whose response was refused stays open.
    let _ = timeout(Duration::from_millis(500), stream.read_to_end(&mut sent)).await;
    sent.len() > TIMES * LENGTH
}

#[tokio::test]
async fn clients_that_never_read_their_responses() {
    let target = target(&LITTLE_ROOM).await;
    let request = operation(&large()).replace("content-length", "connection: close\r\ncontent-length");
    let client = async |mut stream: TcpStream, reads: bool| {
        for _ in 0..30 {
            sleep(2 * WRITE_TIMEOUT / 30).await;
            // A byte now and then does not count as taking the response.
            if reads {
                let _ = stream.read_u8().await;
            }
        }
        stream
    };
    let attack = async {
        let mut streams = Vec::new();
        for _ in 0..30 {
            let mut stream = target.connect().await;
            stream.write_all(request.as_bytes()).await.unwrap();
            // This measures the responses that wait to be taken, not the work at one time.
            let _ = timeout(MOMENT, stream.readable()).await;
            streams.push(stream);
        }
        join_all(streams.into_iter().enumerate().map(|(n, stream)| client(stream, n % 2 == 0))).await
    };
    let (mut streams, harm) = target.under(attack).await;
    assert_eq!(
        join_all(streams.iter_mut().map(is_whole)).await,
        [false; 30],
        "the server waited for a client that took nothing"
    );
    harm.is_small();
}

#[tokio::test]
async fn web_sockets_that_never_read_their_responses() {
    let shared = SharedLimits { response_memory: 12_000_000, ..SharedLimits::default() };
    let target = Target::machine(RequestLimits { write_timeout: WRITE_TIMEOUT, shared, ..limits() }).await;
    let subscribe = text_frame(r#"{"id": "1", "type": "subscribe", "payload": {"query": "large"}}"#);
    let attack = async {
        let mut streams = Vec::new();
        for _ in 0..30 {
            let mut stream = target.connect().await;
            assert!(upgrade(&mut stream).await);
            stream.write_all(&subscribe).await.unwrap();
            // The first bytes of the response arrive, or it waits.
            let _ = timeout(MOMENT, stream.readable()).await;
            streams.push(stream);
        }
        sleep(2 * WRITE_TIMEOUT).await;
        streams
    };
    let (mut streams, harm) = target.under(attack).await;
    assert_eq!(
        join_all(streams.iter_mut().map(is_whole)).await,
        [false; 30],
        "the server waited for a client that took nothing"
    );
    harm.is_small();
}

#[tokio::test]
async fn a_client_that_reads_gets_all_however_large() {
    let target = target(&LITTLE_ROOM).await;
    let mut stream = target.connect().await;
    for _ in 0..5 {
        stream.write_all(post(&format!("{{\"query\": \"{}\"}}", large())).as_bytes()).await.unwrap();
        let (status, body) = answer(&mut stream).await;
        assert!(status == 200 && body.len() > TIMES * LENGTH, "{status} {:.300}", body);
    }
}

/// 80 MB in one moment to one address, which may have 16 MiB of what is sent: the others wait for their room.
#[tokio::test]
async fn clients_at_one_address_that_read_get_all_that_was_read_for_them() {
    let target = target(&["--write-timeout", "30s"]).await;
    let request = post(&format!("{{\"query\": \"{}\"}}", large()));
    let client = async || {
        let mut stream = target.connect().await;
        stream.write_all(request.as_bytes()).await.unwrap();
        let (status, body) = answer(&mut stream).await;
        (status, body.len() > TIMES * LENGTH)
    };
    let answered = join_all((0..16).map(|_| client())).await;
    assert_eq!(answered, [(200, true); 16]);
}

const LIST: &str = r#"
extend schema @table(name: "notes", partitionKey: "pk", sortKey: "sk")
type Note @item(keys: { pk: "NOTES", sk: "{id}" }) { id: ID! text: String }
type Query { notes: [Note!]! @find(max: 20000) }
"#;

/// Many small objects fill an allocator with blocks that lie between others, so that nothing at its end can go back.
#[tokio::test]
async fn what_large_answers_have_freed_goes_back_to_the_system() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("schema.graphql"), LIST).unwrap();
    std::fs::create_dir(directory.path().join("samples")).unwrap();
    let note = |id: usize| {
        format!(
            "{{\"Item\":{{\"pk\":{{\"S\":\"NOTES\"}},\"sk\":{{\"S\":\"{id:05}\"}},\"text\":{{\"S\":\"a note\"}}}}}}\n"
        )
    };
    std::fs::write(directory.path().join("samples/notes.jsonl"), (0..10_000).map(note).collect::<String>()).unwrap();
    let command = process::keyfold(directory.path(), &["dev", "--listen", "127.0.0.1:0"]);
    let server = Server::dev_by(command, directory);
    let ask = async || {
        let answer = server.ask("{ notes { id text } }", Value::Null).await;
        answer.body["data"]["notes"].as_array().unwrap_or_else(|| panic!("{answer:?}")).len()
    };
    assert_eq!(ask().await, 10_000);
    sleep(Duration::from_secs(4)).await;
    let before = resident(server.process.id());
    for _ in 0..2 {
        assert_eq!(join_all((0..16).map(|_| ask())).await, [10_000; 16]);
    }
    let grown = resident(server.process.id()).saturating_sub(before);
    let mut left = grown;
    for _ in 0..20 {
        sleep(Duration::from_millis(500)).await;
        left = left.min(resident(server.process.id()).saturating_sub(before));
    }
    assert!(left <= grown / 2, "of {} kB, {} kB stay", grown >> 10, left >> 10);
}
