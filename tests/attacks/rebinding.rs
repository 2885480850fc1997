//! A page whose host name points at this machine (DNS rebinding).

use super::attack::{Target, answer};
use tokio::io::AsyncWriteExt;

#[tokio::test]
async fn keyfold_dev_serves_its_own_hosts_only() {
    let target = Target::dev(&["--allow-host", "kitchen.test"]).await;
    let status = async |head: &str| {
        let mut stream = target.connect().await;
        stream.write_all(format!("{head}\r\n\r\n").as_bytes()).await.unwrap();
        answer(&mut stream).await
    };
    let upgrade = "connection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: MDEyMzQ1Njc4OWFiY2RlZg==\r\n\
        sec-websocket-protocol: graphql-transport-ws";
    for host in ["localhost", "localhost:4000", "127.0.0.1", "[::1]:4000", "kitchen.test:80"] {
        assert_eq!(
            status(&format!("GET /graphql?query=%7B__typename%7D HTTP/1.1\r\nhost: {host}")).await.0,
            200,
            "{host}"
        );
        assert_eq!(status(&format!("GET /graphql/ws HTTP/1.1\r\nhost: {host}\r\n{upgrade}")).await.0, 101, "{host}");
    }
    for host in ["evil.test", "evil.test:4000", "localhost.evil.test", "127.0.0.1.evil.test"] {
        for head in [
            "GET /graphql?query=%7B__typename%7D HTTP/1.1",
            "GET / HTTP/1.1",
            "POST /graphql HTTP/1.1\r\ncontent-length: 0",
        ] {
            let (refused, body) = status(&format!("{head}\r\nhost: {host}")).await;
            assert!(
                refused == 421 && body.contains("FORBIDDEN") && body.contains("--allow-host"),
                "{host} {head}: {refused} {body}"
            );
        }
        // A page of that host has the same origin, so the check of the origin alone lets it in.
        let of_its_own = format!("GET /graphql/ws HTTP/1.1\r\nhost: {host}\r\norigin: http://{host}\r\n{upgrade}");
        assert_eq!(status(&of_its_own).await.0, 421, "{host}");
        assert_eq!(status(&format!("GET /health/live HTTP/1.1\r\nhost: {host}")).await.0, 200, "{host}");
    }
    assert_eq!(status("GET /graphql?query=%7B__typename%7D HTTP/1.1\r\naccept: */*").await.0, 400);
    assert_eq!(
        status("GET /graphql?query=%7B__typename%7D HTTP/1.1\r\nhost: localhost\r\nhost: evil.test").await.0,
        400
    );
}
