//! Tokens: what a client sends in; the refusal that it gets out, which is the same for every fault.

use crate::server::Server;
use crate::signer::{AUDIENCE, ISSUER, Signer, Token, now};
use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use keyfold::serve::sign_in::issuer::{Issuer, IssuerKeys};
use keyfold::serve::sign_in::keys::key_set::KeySet;
use serde_json::json;

/// The issuer that shares a secret with the server.
const SECRET_ISSUER: &str = "https://shared.example";
const SECRET: &[u8] = b"a secret of 32 bytes, or of more";

/// Keys of the issuer, and one that is not.
struct Keys {
    rsa: Signer,
    p256: Signer,
    p384: Signer,
    ed25519: Signer,
    secret: Signer,
    stranger: Signer,
}

type Headers = Vec<(&'static str, String)>;
type Attack = (&'static str, fn(&Keys) -> Headers);

fn keys() -> Keys {
    Keys {
        rsa: Signer::rsa(),
        p256: Signer::p256(),
        p384: Signer::p384(),
        ed25519: Signer::ed25519(),
        secret: Signer::Secret(SECRET.to_vec()),
        stranger: Signer::other_rsa(),
    }
}

async fn server(keys: &Keys) -> Server {
    let mut encryption = keys.rsa.jwk("encryption");
    encryption["use"] = json!("enc");
    let mut only_rs512 = keys.rsa.jwk("only-rs512");
    only_rs512["alg"] = json!("RS512");
    let published = [
        keys.rsa.jwk("rsa"),
        keys.p256.jwk("p256"),
        keys.p384.jwk("p384"),
        keys.ed25519.jwk("ed"),
        encryption,
        only_rs512,
        Signer::Secret(b"a secret that everybody can read".to_vec()).jwk("published"),
    ];
    let set = KeySet::from_json(json!({ "keys": published }).to_string().as_bytes()).unwrap();
    let issuer = |name: &str, keys: KeySet| Issuer {
        name: name.into(),
        audiences: vec![AUDIENCE.into()],
        keys: IssuerKeys::Fixed(keys),
    };
    Server::start(vec![issuer(ISSUER, set), issuer(SECRET_ISSUER, KeySet::from_secret(SECRET))], "[]").await
}

fn good() -> Token {
    Token::good("RS256", "rsa")
}

fn bearer(token: impl Into<String>) -> Headers {
    vec![("authorization", format!("Bearer {}", token.into()))]
}

const ATTACKS: &[Attack] = &[
    // What is sent.
    ("no token after the scheme", |_| vec![("authorization", "Bearer".into())]),
    ("another scheme", |k| vec![("authorization", format!("Basic {}", good().signed(&k.rsa)))]),
    ("no scheme", |k| vec![("authorization", good().signed(&k.rsa))]),
    ("two headers, one of them right", |k| [bearer(good().signed(&k.rsa)), bearer("x")].concat()),
    ("two right headers", |k| [bearer(good().signed(&k.rsa)), bearer(good().signed(&k.rsa))].concat()),
    ("two tokens in one header", |k| bearer(format!("{0}, Bearer {0}", good().signed(&k.rsa)))),
    ("a token of 17 KiB", |k| bearer(good().claim("more", "x".repeat(12_500)).signed(&k.rsa))),
    // The form.
    ("a text that is no token", |_| bearer("x")),
    ("one part only", |k| bearer(good().signed(&k.rsa).replace('.', ""))),
    ("two parts", |_| bearer(good().message())),
    ("four parts", |k| bearer(format!("{}.x", good().signed(&k.rsa)))),
    ("five parts, an encrypted token", |_| bearer("a.b.c.d.e")),
    ("characters that are not base64url", |k| bearer(good().signed(&k.rsa).replacen('.', "%.", 1))),
    ("padding after the signature", |k| bearer(format!("{}==", good().signed(&k.rsa)))),
    ("base64 in place of base64url", |k| {
        let signature = k.rsa.sign("RS256", good().message().as_bytes());
        bearer(format!("{}.{}", good().message(), STANDARD.encode(signature)))
    }),
    ("a header that is no JSON", |_| {
        bearer(format!("{}.{}.x", URL_SAFE_NO_PAD.encode("{"), URL_SAFE_NO_PAD.encode("{}")))
    }),
    ("a header with two algorithms", |k| {
        let header = URL_SAFE_NO_PAD.encode(r#"{"alg":"none","kid":"rsa","alg":"RS256"}"#);
        let message = format!("{header}.{}", URL_SAFE_NO_PAD.encode(good().claims.to_string()));
        bearer(format!("{message}.{}", URL_SAFE_NO_PAD.encode(k.rsa.sign("RS256", message.as_bytes()))))
    }),
    ("claims that are a list", |k| {
        let message = format!("{}.{}", URL_SAFE_NO_PAD.encode(good().header.to_string()), URL_SAFE_NO_PAD.encode("[]"));
        bearer(format!("{message}.{}", URL_SAFE_NO_PAD.encode(k.rsa.sign("RS256", message.as_bytes()))))
    }),
    // The signature.
    ("no signature", |_| bearer(good().with_signature(b""))),
    ("the algorithm none", |_| bearer(good().header("alg", "none").with_signature(b""))),
    ("the algorithm NONE, with a signature", |k| bearer(good().header("alg", "nOnE").signed(&k.rsa))),
    ("an unknown algorithm", |k| bearer(good().header("alg", "RS1").signed(&k.rsa))),
    ("an algorithm in small letters", |k| bearer(good().header("alg", "rs256").signed(&k.rsa))),
    ("no algorithm", |k| bearer(Token { header: json!({"kid": "rsa"}), ..good() }.signed(&k.rsa))),
    ("the key of a stranger", |k| bearer(good().signed(&k.stranger))),
    ("the key of a stranger, without a key id", |k| {
        bearer(Token { header: json!({"alg": "RS256"}), ..good() }.signed(&k.stranger))
    }),
    ("another subject under an old signature", |k| {
        let signature = k.rsa.sign("RS256", good().message().as_bytes());
        bearer(good().claim("sub", "bob").with_signature(&signature))
    }),
    ("another header under an old signature", |k| {
        let signature = k.rsa.sign("RS256", good().message().as_bytes());
        bearer(good().header("typ", "at+jwt").with_signature(&signature))
    }),
    ("half of a signature", |k| {
        bearer(good().with_signature(&k.rsa.sign("RS256", good().message().as_bytes())[..128]))
    }),
    ("a signature with a byte more", |k| {
        let signature = [k.rsa.sign("RS256", good().message().as_bytes()), vec![0]].concat();
        bearer(good().with_signature(&signature))
    }),
    ("an RSA signature of zeros", |_| bearer(good().with_signature(&[0; 256]))),
    ("an RSA signature of ones", |_| bearer(good().with_signature(&[255; 256]))),
    ("ES256 with r and s of zero", |_| bearer(Token::good("ES256", "p256").with_signature(&[0; 64]))),
    ("ES384 with r and s of zero", |_| bearer(Token::good("ES384", "p384").with_signature(&[0; 96]))),
    ("ES256 in the form of DER", |k| {
        let signed = k.p256.sign("ES256", Token::good("ES256", "p256").message().as_bytes());
        let der = [&[0x30, 68, 2, 32][..], &signed[..32], &[2, 32], &signed[32..]].concat();
        bearer(Token::good("ES256", "p256").with_signature(&der))
    }),
    ("EdDSA with a signature of zeros", |_| bearer(Token::good("EdDSA", "ed").with_signature(&[0; 64]))),
    ("an empty HMAC", |_| bearer(Token::good("HS256", "rsa").claim("iss", SECRET_ISSUER).with_signature(b""))),
    // Keys that do not fit.
    ("HS256 with the RSA key as the secret", |k| {
        let public = Signer::Secret(k.rsa.jwk("rsa")["n"].as_str().unwrap().as_bytes().to_vec());
        bearer(Token::good("HS256", "rsa").signed(&public))
    }),
    ("HS256 with the key set as the secret", |k| {
        bearer(Token::good("HS256", "rsa").signed(&Signer::Secret(k.rsa.jwk("rsa").to_string().into_bytes())))
    }),
    ("HS256 with an empty secret", |_| bearer(Token::good("HS256", "rsa").signed(&Signer::Secret(vec![])))),
    ("HS256 with a secret that the key set publishes", |_| {
        bearer(Token::good("HS256", "published").signed(&Signer::Secret(b"a secret that everybody can read".to_vec())))
    }),
    ("HS256 with the secret of another issuer", |k| bearer(Token::good("HS256", "rsa").signed(&k.secret))),
    ("RS256 for the issuer with a secret", |k| bearer(good().claim("iss", SECRET_ISSUER).signed(&k.rsa))),
    ("a wrong key id", |k| bearer(good().header("kid", "p256").signed(&k.rsa))),
    ("an unknown key id", |k| bearer(good().header("kid", "nobody").signed(&k.rsa))),
    ("a key id that is a path", |k| bearer(good().header("kid", "../../../../dev/null").signed(&k.rsa))),
    ("a key id that is a query", |k| bearer(good().header("kid", "' OR 1=1 --").signed(&k.rsa))),
    ("a key id that is a number", |k| bearer(good().header("kid", 1).signed(&k.rsa))),
    ("RS256 under the id of a P-256 key", |k| bearer(Token::good("RS256", "p256").signed(&k.rsa))),
    ("ES256 by the P-384 key", |k| bearer(Token::good("ES256", "p384").signed(&k.p384))),
    ("a key for encryption", |k| bearer(Token::good("RS256", "encryption").signed(&k.rsa))),
    ("a key for another algorithm", |k| bearer(Token::good("RS256", "only-rs512").signed(&k.rsa))),
    // Keys that a token brings along.
    ("its own key inside", |k| bearer(good().header("jwk", k.stranger.jwk("rsa")).signed(&k.stranger))),
    ("the address of its own key", |k| bearer(good().header("jku", "https://evil.example/keys").signed(&k.stranger))),
    ("the address of its own certificate", |k| {
        bearer(good().header("x5u", "https://evil.example/cert").signed(&k.stranger))
    }),
    ("its own certificate inside", |k| bearer(good().header("x5c", json!(["MIIB"])).signed(&k.stranger))),
    // What the header wants.
    ("a critical extension", |k| bearer(good().header("crit", json!(["b64"])).header("b64", false).signed(&k.rsa))),
    ("an empty list of critical extensions", |k| bearer(good().header("crit", json!([])).signed(&k.rsa))),
    ("a token of another type", |k| bearer(good().header("typ", "dpop+jwt").signed(&k.rsa))),
    ("a token for a logout", |k| bearer(good().header("typ", "logout+jwt").signed(&k.rsa))),
    // For whom.
    ("no issuer", |k| bearer(good().without("iss").signed(&k.rsa))),
    ("another issuer", |k| bearer(good().claim("iss", "https://evil.example").signed(&k.rsa))),
    ("the issuer with a slash more", |k| bearer(good().claim("iss", format!("{ISSUER}/")).signed(&k.rsa))),
    ("the issuer in a list", |k| bearer(good().claim("iss", json!([ISSUER])).signed(&k.rsa))),
    ("no audience", |k| bearer(good().without("aud").signed(&k.rsa))),
    ("another audience", |k| bearer(good().claim("aud", "other").signed(&k.rsa))),
    ("an empty audience", |k| bearer(good().claim("aud", "").signed(&k.rsa))),
    ("a list of other audiences", |k| bearer(good().claim("aud", json!(["other", "more"])).signed(&k.rsa))),
    ("an empty list of audiences", |k| bearer(good().claim("aud", json!([])).signed(&k.rsa))),
    ("a list with an audience that is no text", |k| bearer(good().claim("aud", json!([AUDIENCE, 1])).signed(&k.rsa))),
    ("the audience as the client of an id token", |k| {
        bearer(good().without("aud").claim("client_id", AUDIENCE).claim("token_use", "id").signed(&k.rsa))
    }),
    ("an access token of another client", |k| {
        bearer(good().without("aud").claim("client_id", "other").claim("token_use", "access").signed(&k.rsa))
    }),
    ("a subject that is a number", |k| bearer(good().claim("sub", 1).signed(&k.rsa))),
    // For when.
    ("no end", |k| bearer(good().without("exp").signed(&k.rsa))),
    ("an end that is a text", |k| bearer(good().claim("exp", (now() + 600).to_string()).signed(&k.rsa))),
    ("an end of null", |k| bearer(good().claim("exp", json!(null)).signed(&k.rsa))),
    ("an end below zero", |k| bearer(good().claim("exp", -1).signed(&k.rsa))),
    ("expired two minutes ago", |k| bearer(good().claim("exp", now() - 120).signed(&k.rsa))),
    ("expired in 1970", |k| bearer(good().claim("exp", 0).signed(&k.rsa))),
    ("valid from an hour on", |k| bearer(good().claim("nbf", now() + 3_600).signed(&k.rsa))),
    ("valid from a text on", |k| bearer(good().claim("nbf", "0").signed(&k.rsa))),
];

#[tokio::test]
async fn every_wrong_token_gets_the_same_refusal() {
    let keys = keys();
    let server = server(&keys).await;
    for (name, attack) in ATTACKS {
        let got = server.ask(&attack(&keys)).await;
        assert!(got.is_unauthenticated(), "{name}: {got:?}");
    }
    assert_eq!(server.operations(), 0, "nothing has run");
    assert!(ATTACKS.len() >= 60);
}

#[test]
fn the_documents_list_every_attack() {
    let page = include_str!("../../docs/security.md");
    for (name, _) in ATTACKS {
        assert!(page.contains(name), "docs/security.md does not list: {name}");
    }
}

#[tokio::test]
async fn every_right_token_lets_its_subject_in() {
    let keys = keys();
    let server = server(&keys).await;
    let shared = |token: Token| token.claim("iss", SECRET_ISSUER).signed(&keys.secret);
    let right = [
        ("RS256", good().signed(&keys.rsa)),
        ("RS384", Token::good("RS384", "rsa").signed(&keys.rsa)),
        ("RS512", Token::good("RS512", "only-rs512").signed(&keys.rsa)),
        ("PS256", Token::good("PS256", "rsa").signed(&keys.rsa)),
        ("PS384", Token::good("PS384", "rsa").signed(&keys.rsa)),
        ("PS512", Token::good("PS512", "rsa").signed(&keys.rsa)),
        ("ES256", Token::good("ES256", "p256").signed(&keys.p256)),
        ("ES384", Token::good("ES384", "p384").signed(&keys.p384)),
        ("EdDSA", Token::good("EdDSA", "ed").signed(&keys.ed25519)),
        ("HS256", shared(Token::good("HS256", "any"))),
        ("no key id", Token { header: json!({"alg": "RS256"}), ..good() }.signed(&keys.rsa)),
        ("the type of an access token", good().header("typ", "at+jwt").signed(&keys.rsa)),
        ("a list of audiences", good().claim("aud", json!(["other", AUDIENCE])).signed(&keys.rsa)),
        ("expired half a minute ago", good().claim("exp", now() - 30).signed(&keys.rsa)),
        ("valid in half a minute", good().claim("nbf", now() + 30).signed(&keys.rsa)),
        ("a certificate that nobody reads", good().header("x5c", json!(["MIIB"])).signed(&keys.rsa)),
    ];
    for (name, token) in right {
        assert_eq!(server.ask_with(&token).await.sub(), Some("ann"), "{name}");
    }
    assert_eq!(server.ask(&[]).await.sub(), None, "without a token, it is anonymous");
}
