//! Many large documents, each of which is parsed and planned.

use super::attack::{Target, answer, operation};
use futures_util::future::join_all;
use tokio::io::AsyncWriteExt;

/// The clients that send them.
const CLIENTS: usize = 4;

/// A document of 34 kB with almost as many fields as a document may have, unlike all others.
fn document(number: usize) -> String {
    format!("{{ user(id: \\\"{number}\\\") {{ posts {{ nodes {{ {} }} }} }} }}", "title text ".repeat(2400))
}

/// Sends this many documents under these bounds. Each answer has this text.
async fn send(documents: usize, options: &[&str], answered: &str) {
    let target = Target::dev(&[&["--plan-cache-bytes", "16777216"], options].concat()).await;
    let client = async |first: usize| {
        let mut stream = target.connect().await;
        for number in (first..documents).step_by(CLIENTS) {
            stream.write_all(operation(&document(number)).as_bytes()).await.unwrap();
            let (_, body) = answer(&mut stream).await;
            assert!(body.contains(answered), "{body:.300}");
        }
    };
    let (_, harm) = target.under(join_all((0..CLIENTS).map(client))).await;
    harm.is_small();
}

#[tokio::test]
async fn many_distinct_documents() {
    send(170, &["--request-timeout", "5m"], r#"{"data":{"user":null}}"#).await;
}

#[tokio::test]
async fn many_distinct_documents_whose_plans_are_too_large() {
    send(40, &["--request-timeout", "5m", "--max-plan-bytes", "15000"], "LIMIT_EXCEEDED").await;
}
