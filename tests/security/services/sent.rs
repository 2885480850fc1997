//! Attacks on what services get: their addresses, the claims of callers, the signature. Out, the requests that services
//! get over HTTP.

use super::bureau::Bureau;
use super::ear::{Ear, Heard};
use crate::store::codes;
use keyfold::schema::load;
use keyfold::serve::outbound::service::HttpServices;
use ring::hmac;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

/// The attacks of this file and of `wire.rs`.
pub const NAMES: [&str; 13] = [
    "a claim that the service does not name",
    "a claim with the end of a line",
    "a signature for another body or another time",
    "an address in an argument",
    "an address in a variable",
    "an address in the key of an item",
    "the end of a line in an argument",
    "a redirect to another server",
    "a path as the name of a service",
    "a password in the address of a service",
    "the headers of a client",
    "the token of a client",
    "the hash of a document that another caller has sent",
];

/// The secret of the schema.
const SECRET: &[u8] = b"a secret of the bureau";

async fn bureau() -> (Bureau, Ear) {
    let ear = Ear::start(None).await;
    (Bureau::with_words_at(Arc::new(HttpServices::default()), &ear.url).await, ear)
}

/// Whether the signature of a request is that of a body at a time.
fn is_signed(heard: &Heard, time: &str, body: &[u8]) -> bool {
    let header = heard.headers["keyfold-signature"].to_str().unwrap();
    let (_, signature) = header.split_once(",v1=").unwrap();
    let signed = [time.as_bytes(), b".", body].concat();
    let key = hmac::Key::new(hmac::HMAC_SHA256, SECRET);
    hmac::verify(&key, &signed, &hex::decode(signature).unwrap()).is_ok()
}

/// "a claim that the service does not name", "a claim with the end of a line".
#[tokio::test]
async fn a_service_gets_no_claim_that_it_does_not_name() {
    let (bureau, ear) = bureau().await;
    let sub = "ben\r\nKeyfold-Signature: t=1,v1=00\r\n\r\n{\"caller\":{\"sub\":\"ann\"}}";
    let claims = json!({ "sub": sub, "role": "clerk", "email": "secret", "groups": { "a": [1, null] }, "caller": "x" });
    let response = bureau.run(&claims, r#"{ letter(number: "1") { mine public } }"#).await;
    assert_eq!(response, json!({ "data": { "letter": { "mine": "fine", "public": "fine" } } }));
    let mut heard = ear.take();
    heard.sort_by_key(|heard| heard.json()["field"].to_string());
    let [mine, public] = heard.as_slice() else { panic!("{} calls", heard.len()) };
    assert_eq!(mine.json()["caller"], json!({ "sub": sub, "groups": { "a": [1, null] } }));
    assert_eq!((&public.json()["caller"], public.headers.get("keyfold-signature")), (&Value::Null, None));
    assert!(heard.iter().all(|heard| !heard.text().contains("secret")));
    // An anonymous caller has none.
    bureau.run(&Value::Null, r#"{ letter(number: "1") { mine } }"#).await;
    assert_eq!(ear.take()[0].json()["caller"], Value::Null);
}

/// "a signature for another body or another time".
#[tokio::test]
async fn a_signature_is_for_one_body_at_one_time() {
    let (bureau, ear) = bureau().await;
    bureau.run(&json!({ "sub": "ben" }), r#"{ letter(number: "1") { mine } }"#).await;
    let heard = ear.take();
    let header = heard[0].headers["keyfold-signature"].to_str().unwrap();
    let time = header.strip_prefix("t=").unwrap().split_once(",v1=").unwrap().0;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
    assert!(now - time.parse::<u64>().unwrap() < 60, "{header}");
    assert!(is_signed(&heard[0], time, &heard[0].body));
    let forged = String::from_utf8(heard[0].body.to_vec()).unwrap().replace("ben", "ann");
    assert!(!is_signed(&heard[0], time, forged.as_bytes()));
    assert!(!is_signed(&heard[0], &(now + 600).to_string(), &heard[0].body));
}

/// "an address in an argument", "an address in a variable", "an address in the key of an item", "the end of a line in
/// an argument".
#[tokio::test]
async fn nothing_of_a_request_is_part_of_an_address_or_a_header() {
    let (bureau, ear) = bureau().await;
    let other = Ear::start(None).await;
    for text in [&other.url, "../../admin?x=#", "${SECRET}", "a\\r\\nHost: evil.example\\r\\n\\r\\nGET / HTTP/1.1"] {
        let put = format!(r#"mutation {{ putLetter(number: "{text}", text: "x") {{ number }} }}"#);
        assert_eq!(codes(&bureau.run(&super::bureau::clerk(), &put).await), [""; 0]);
        let literal = format!(r#"{{ letter(number: "{text}") {{ number echo(text: "{text}") }} }}"#);
        let variable = format!(r#"query($t: String! = "{text}") {{ letter(number: "1") {{ echo(text: $t) }} }}"#);
        for operation in [literal, variable] {
            let response = bureau.run(&Value::Null, &operation).await;
            assert_eq!(response["data"]["letter"]["echo"], "fine", "{response}");
            let heard = ear.take();
            assert_eq!(heard.len(), 1, "{operation}");
            assert_eq!((heard[0].method.as_str(), heard[0].uri.path()), ("POST", "/words"));
            assert_eq!(format!("http://{}/words", heard[0].headers["host"].to_str().unwrap()), ear.url);
            let names: Vec<&str> = heard[0].headers.keys().map(axum::http::HeaderName::as_str).collect();
            assert!(names.iter().all(|name| ["host", "content-type", "content-length"].contains(name)), "{names:?}");
            assert_eq!(heard[0].json()["arguments"]["text"], text.replace("\\r\\n", "\r\n"));
        }
    }
    assert_eq!(other.take().len(), 0);
}

/// "a redirect to another server".
#[tokio::test]
async fn a_redirect_is_not_followed() {
    let other = Ear::start(None).await;
    let ear = Ear::start(Some(other.url.clone())).await;
    let bureau = Bureau::with_words_at(Arc::new(HttpServices::default()), &ear.url).await;
    let response = bureau.run(&json!({ "sub": "ben" }), r#"{ letter(number: "1") { mine } }"#).await;
    assert_eq!(codes(&response), ["UNAVAILABLE"], "{response}");
    assert_eq!((ear.take().len(), other.take().len()), (1, 0));
}

/// "a path as the name of a service", "a password in the address of a service".
#[test]
fn a_service_has_a_plain_name_and_a_plain_address() {
    let services = [
        r#"name: "../keys""#,
        r#"name: "a/b""#,
        r#"name: "a\u0000b""#,
        r#"name: """#,
        r#"name: "a", url: "https://ann:secret@words.example/""#,
        r#"name: "a", url: "file:///etc/passwd""#,
        r#"name: "a", url: "https:///""#,
        r#"name: "a", url: "gopher://words.example/""#,
        r#"name: "a", url: "${SECRET}""#,
        r#"name: "a", claims: ["sub"], secret: """#,
        r#"name: "a", claims: ["sub"]"#,
    ];
    for service in services {
        let schema = format!(
            r#"extend schema @table(name: "t", partitionKey: "pk") @service({service})
            type A @item(keys: {{ pk: "{{id}}" }}) {{ id: ID! }}
            type Query {{ a(id: ID!): A @find }}"#
        );
        let environment = |name: &str| (name == "SECRET").then(|| "hunter2".to_owned());
        let Err(mistakes) = load("schema.graphql", &schema, &environment) else { panic!("{service} is taken") };
        let text = mistakes.render(false);
        assert!(text.contains("KF1101") && !text.contains("hunter2"), "{service}: {text}");
    }
}
