//! Callers who send more than they may: the requests of several callers in; who has to wait, out.

use crate::server::Server;
use keyfold::execute::error::ErrorCode;

/// The hashes of "one" and of "two".
const KEYS: &str = r#"[
  {"name": "ann", "sha256": "7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed"},
  {"name": "bob", "sha256": "3fc4ccfe745870e2c0d99f71f30ff0656c8dedd41cc1d7d3d376b0dbe685e2f3"}
]"#;

#[tokio::test]
async fn a_caller_who_sends_too_much_waits_and_others_do_not() {
    // No test takes the 20 minutes in which the bucket gets another operation.
    let server = Server::limited(vec![], KEYS, Some("3/h")).await;
    let by = |key: &str| vec![("x-api-key", key.to_owned())];
    for _ in 0..3 {
        assert_eq!(server.ask(&by("one")).await.sub(), Some("ann"));
    }
    let refused = server.ask(&by("one")).await;
    assert_eq!((refused.status, refused.retry_after), (429, true), "{refused:?}");
    assert_eq!(refused.body["errors"][0]["extensions"]["code"], ErrorCode::LimitExceeded.as_str());
    assert_eq!(server.ask(&by("two")).await.sub(), Some("bob"));
    assert_eq!(server.ask(&[]).await.sub(), None);
    assert_eq!(server.operations(), 5);
}
