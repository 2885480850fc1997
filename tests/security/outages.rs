//! Servers of keys that are slow, down, or wrong, and issuers with new keys: what the server of keys does in; who is
//! let in, and how often anybody waits, out.

use crate::key_server::{KeyServer, Script};
use crate::server::Server;
use crate::signer::{Signer, Token};
use futures_util::FutureExt;
use futures_util::future::join_all;
use keyfold::serve::sign_in::issuer::IssuerKeys;
use keyfold::serve::sign_in::keys::download::Download;
use keyfold::serve::sign_in::keys::fetched_keys::{FetchedKeys, RefreshPace};
use keyfold::serve::sign_in::keys::key_address::KeyAddress;
use serde_json::{Value, json};
use std::time::Duration;

const HOUR: Duration = Duration::from_secs(3_600);

/// Nothing is read in the background during a test.
fn pace() -> RefreshPace {
    RefreshPace { refresh: HOUR, retry: HOUR, pause: Duration::ZERO, longest: Duration::from_secs(30) }
}

fn set(keys: &[Value]) -> Value {
    json!({ "keys": keys })
}

fn fetched(issuer: &str, pace: RefreshPace) -> FetchedKeys {
    FetchedKeys::start(KeyAddress::discovery(issuer).unwrap(), Download::new().unwrap(), pace)
}

async fn server(issuer: &str, pace: RefreshPace) -> Server {
    Server::of(issuer, IssuerKeys::Fetched(fetched(issuer, pace))).await
}

/// A token of this issuer by this key.
fn token(issuer: &str, signer: &Signer, id: &str) -> String {
    Token::good("RS256", id).claim("iss", issuer).signed(signer)
}

#[tokio::test]
async fn tokens_of_four_vendors_are_accepted_by_discovery_alone() {
    let rsa = Signer::rsa();
    let keys = KeyServer::start(Script::Keys(set(&[rsa.jwk("a")]))).await;
    let good = |issuer: &str| Token::good("RS256", "a").claim("iss", issuer);
    let cognito = keys.issuer("/eu-west-1_AbCdEf");
    let (auth0, entra, keycloak) = (keys.issuer("/"), keys.issuer("/8eaef023/v2.0"), keys.issuer("/realms/shop"));
    let tokens = [
        (&cognito, good(&cognito).without("aud").claim("client_id", "api").claim("token_use", "access")),
        (&cognito, good(&cognito).claim("token_use", "id").claim("cognito:groups", json!(["admin"]))),
        (&auth0, good(&auth0).header("typ", "at+jwt").claim("aud", json!(["api", "https://a.auth0.com/userinfo"]))),
        (&entra, good(&entra).header("x5t", "a").claim("tid", "8eaef023").claim("ver", "2.0")),
        (&keycloak, good(&keycloak).claim("aud", json!(["api", "account"])).claim("typ", "Bearer").claim("azp", "web")),
    ];
    for (issuer, token) in tokens {
        let server = server(issuer, pace()).await;
        assert_eq!(server.ask_with(&token.signed(&rsa)).await.sub(), Some("ann"), "{issuer}");
    }
}

#[tokio::test]
async fn keys_that_cannot_be_trusted_let_nobody_in_and_nobody_waits_twice() {
    let rsa = Signer::rsa();
    let right = set(&[rsa.jwk("a")]);
    let scripts = [
        Script::Silent,
        Script::Closed,
        Script::Text("<html>Please sign in</html>"),
        Script::Text("{\"keys\":[]}"),
        Script::Text(""),
        Script::Status("500 Internal Server Error", right.clone()),
        Script::Status("404 Not Found", right.clone()),
        Script::Redirect(right.clone()),
        Script::Huge(right.clone()),
        Script::Cut(right.clone()),
        Script::OtherIssuer(right.clone()),
        Script::Unprotected,
    ];
    for script in scripts {
        let name = format!("{script:?}").chars().take(40).collect::<String>();
        // What never comes is waited for a moment; the others answer at once, however slow this machine is.
        let longest = if matches!(script, Script::Silent) { Duration::from_millis(100) } else { pace().longest };
        let keys = KeyServer::start(script).await;
        let issuer = keys.issuer("/realm");
        let server = server(&issuer, RefreshPace { longest, ..pace() }).await;
        let token = token(&issuer, &rsa, "a");
        let first = server.ask_with(&token).await;
        assert!(first.is_unavailable(), "{name}: {first:?}");
        for _ in 0..3 {
            assert!(server.ask_with(&token).await.is_unavailable(), "{name}");
        }
        assert!(keys.requests() <= 1, "{name}: nobody waits for another attempt");
        assert_eq!(server.operations(), 0, "{name}: nothing has run");
        assert_eq!(server.ask(&[]).await.sub(), None, "{name}: who needs no keys is served");
    }
}

#[tokio::test]
async fn a_new_key_is_found_and_an_old_one_forgotten() {
    let (old, new) = (Signer::rsa(), Signer::other_rsa());
    let keys = KeyServer::start(Script::Keys(set(&[old.jwk("old")]))).await;
    let issuer = keys.issuer("/realm");
    let server = server(&issuer, pace()).await;
    let (by_old, by_new) = (token(&issuer, &old, "old"), token(&issuer, &new, "new"));
    assert_eq!(server.ask_with(&by_old).await.sub(), Some("ann"));
    assert!(server.ask_with(&by_new).await.is_unauthenticated(), "the issuer has no such key yet");
    keys.play(Script::Keys(set(&[new.jwk("new")])));
    assert_eq!(server.ask_with(&by_new).await.sub(), Some("ann"));
    assert!(server.ask_with(&by_old).await.is_unauthenticated(), "a token by a key that the issuer took back");
}

/// A server of keys, and its keys after one attempt. A later attempt that is never answered does not take long, so this
/// one must be quick: on a machine that is too slow, it is made again with another server.
async fn keys_in_time(known: &Signer) -> (KeyServer, FetchedKeys) {
    loop {
        let keys = KeyServer::start(Script::Keys(set(&[known.jwk("known")]))).await;
        let fetched = fetched(&keys.issuer("/realm"), RefreshPace { longest: Duration::from_secs(1), ..pace() });
        if fetched.renewed().await.is_some() {
            return (keys, fetched);
        }
    }
}

#[tokio::test]
async fn keys_stay_while_they_cannot_be_read_and_a_caller_waits_once() {
    let (known, unknown) = (Signer::rsa(), Signer::other_rsa());
    for trouble in [Script::Silent, Script::Closed, Script::Text("{\"keys\":[]}"), Script::Text("garbage")] {
        let (keys, fetched) = keys_in_time(&known).await;
        let issuer = keys.issuer("/realm");
        let server = Server::of(&issuer, IssuerKeys::Fetched(fetched)).await;
        let (right, strange) = (token(&issuer, &known, "known"), token(&issuer, &unknown, "unknown"));
        assert_eq!(server.ask_with(&right).await.sub(), Some("ann"));
        keys.play(trouble.clone());
        assert!(server.ask_with(&strange).await.is_unauthenticated(), "{trouble:?}");
        for _ in 0..3 {
            assert!(server.ask_with(&strange).await.is_unauthenticated(), "{trouble:?}");
            assert_eq!(server.ask_with(&right).await.sub(), Some("ann"), "{trouble:?}");
        }
        assert!(keys.requests() <= 2, "{trouble:?}: nobody waits for another attempt");
    }
}

#[tokio::test]
async fn after_an_attempt_for_a_caller_fails_the_keys_are_soon_read_again() {
    let (known, unknown) = (Signer::rsa(), Signer::other_rsa());
    let keys = KeyServer::start(Script::Keys(set(&[known.jwk("known")]))).await;
    let issuer = keys.issuer("/realm");
    let server = server(&issuer, RefreshPace { retry: Duration::from_millis(10), ..pace() }).await;
    let strange = token(&issuer, &unknown, "unknown");
    assert_eq!(server.ask_with(&token(&issuer, &known, "known")).await.sub(), Some("ann"));
    keys.play(Script::Closed);
    assert!(server.ask_with(&strange).await.is_unauthenticated());
    // Nobody asks any more, and there are new keys.
    keys.play(Script::Held(set(&[unknown.jwk("unknown")])));
    tokio::time::timeout(Duration::from_secs(60), keys.held.notified()).await.expect("nothing reads the keys again");
}

#[tokio::test]
async fn however_many_want_new_keys_they_are_read_once() {
    let rsa = Signer::rsa();
    let keys = KeyServer::start(Script::Held(set(&[rsa.jwk("a")]))).await;
    let fetched = fetched(&keys.issuer("/realm"), pace());
    keys.held.notified().await;
    let mut waiting: Vec<_> = (0..50).map(|_| Box::pin(fetched.renewed())).collect();
    assert!(waiting.iter_mut().all(|caller| caller.now_or_never().is_none()));
    keys.release.notify_one();
    assert!(join_all(waiting).await.iter().all(Option::is_some));
    assert_eq!(keys.requests(), 1);
}

#[tokio::test]
async fn invented_key_ids_do_not_make_the_server_read_keys_again_and_again() {
    let rsa = Signer::rsa();
    let keys = KeyServer::start(Script::Keys(set(&[rsa.jwk("a")]))).await;
    let issuer = keys.issuer("/realm");
    let server = server(&issuer, RefreshPace { pause: HOUR, ..pace() }).await;
    assert_eq!(server.ask_with(&token(&issuer, &rsa, "a")).await.sub(), Some("ann"));
    for number in 0..50 {
        assert!(server.ask_with(&token(&issuer, &rsa, &format!("invented-{number}"))).await.is_unauthenticated());
    }
    assert_eq!(keys.requests(), 1);
}

#[tokio::test]
async fn tokens_for_others_never_ask_for_keys() {
    let rsa = Signer::rsa();
    let keys = KeyServer::start(Script::Keys(set(&[rsa.jwk("a")]))).await;
    let issuer = keys.issuer("/realm");
    let server = server(&issuer, pace()).await;
    assert_eq!(server.ask_with(&token(&issuer, &rsa, "a")).await.sub(), Some("ann"));
    let unknown = || Token::good("RS256", "b").claim("iss", issuer.as_str());
    for foreign in
        [unknown().claim("iss", keys.issuer("/other")), unknown().claim("aud", "other"), unknown().claim("exp", 1)]
    {
        assert!(server.ask_with(&foreign.signed(&rsa)).await.is_unauthenticated());
    }
    assert_eq!(keys.requests(), 1);
}
