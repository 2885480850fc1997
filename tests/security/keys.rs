//! Keys of machines: what a client sends in; who it is, or the refusal, out.

use crate::server::Server;

/// The hash of "one".
const ONE: &str = "7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed";

#[tokio::test]
async fn only_the_key_itself_lets_a_machine_in() {
    let file = format!(r#"[{{"name": "importer", "sha256": "{ONE}", "claims": {{"role": "machine"}}}}]"#);
    let server = Server::start(vec![], &file).await;
    assert_eq!(server.ask(&[]).await.sub(), None);
    assert_eq!(server.ask(&[("x-api-key", "one".into())]).await.sub(), Some("importer"));
    let operations = server.operations();
    let attacks: [(&str, Vec<(&'static str, String)>); 9] = [
        ("an empty key", vec![("x-api-key", String::new())]),
        ("the beginning of a key", vec![("x-api-key", "on".into())]),
        ("a key with more after it", vec![("x-api-key", "one1".into())]),
        ("a key in capitals", vec![("x-api-key", "ONE".into())]),
        ("the hash in place of the key", vec![("x-api-key", ONE.into())]),
        ("the name in place of the key", vec![("x-api-key", "importer".into())]),
        ("two keys, one of them right", vec![("x-api-key", "one".into()), ("x-api-key", "two".into())]),
        ("a right key and a token", vec![("x-api-key", "one".into()), ("authorization", "Bearer a.b.c".into())]),
        ("a right key as a token", vec![("authorization", "Bearer one".into())]),
    ];
    for (name, headers) in attacks {
        let got = server.ask(&headers).await;
        assert!(got.is_unauthenticated(), "{name}: {got:?}");
    }
    assert_eq!(server.operations(), operations, "nothing has run");
}
