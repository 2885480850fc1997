//! Requests whose headers begin and do not end.

use super::attack::Target;
use futures_util::future::join_all;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

#[tokio::test]
async fn many_headers_that_do_not_end() {
    let target = Target::dev(&["--header-timeout", "2s"]).await;
    let client = async || {
        let mut stream = target.connect().await;
        let head = format!("GET /health/live HTTP/1.1\r\nhost: localhost\r\nx-long: {}", "x".repeat(30_000));
        let _ = stream.write_all(head.as_bytes()).await;
        // Nothing more comes, and the server closes the connection.
        let mut rest = Vec::new();
        let _ = stream.read_to_end(&mut rest).await;
        assert!(!rest.starts_with(b"HTTP/1.1 200"));
    };
    let (_, harm) = target.under_each(|| join_all((0..800).map(|_| client()))).await;
    harm.is_small();
}
