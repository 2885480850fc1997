//! The origin of a page in; whether the page may call the API out, with the headers that say so to its browser (Fetch
//! standard, "CORS protocol").
//!
//! In development, a page that this machine serves on any port may call the API: its front end has a server of its own.
//! The server's other pages show tokens and tables, so no page of another origin reaches them.

use crate::serve::http::request_log::REQUEST_ID;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, Method, header};
use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use thiserror::Error;
use tower_http::cors::{AllowCredentials, AllowHeaders, AllowOrigin, CorsLayer};
use url::{Host, Url};

/// How long a browser may remember what it may send.
const PREFLIGHT_AGE: Duration = Duration::from_secs(3600);

/// The path of the API, which the path of its WebSockets goes on.
const API: &str = "/graphql";

/// The most origins of which the log tells that they are refused.
const MOST_LOGGED: usize = 32;

/// Longest origin in the log, in bytes.
const MAX_LENGTH: usize = 200;

/// The origins whose pages may call the API.
#[derive(Debug, Clone, Default)]
pub struct Origins {
    named: Arc<[String]>,
    /// Whether this machine's own pages may, whatever their port.
    local: bool,
    /// Those that the log has named.
    refused: Arc<Mutex<HashSet<String>>>,
}

/// A text that is not an origin.
#[derive(Debug, Error, PartialEq, Eq)]
#[error(
    "\"{0}\" is not an origin: write it as browsers do, https://app.example.com or http://localhost:3000, or write *"
)]
pub struct NotAnOrigin(String);

impl Origins {
    /// These origins, of which `*` is every one; with `local`, those of this machine's pages, too.
    pub fn read(named: &[String], local: bool) -> Result<Self, NotAnOrigin> {
        match named.iter().find(|origin| *origin != "*" && !is_origin(origin)) {
            Some(odd) => Err(NotAnOrigin(odd.clone())),
            None => Ok(Self { named: named.into(), local, refused: Arc::default() }),
        }
    }

    /// Whether a request for the API comes from no page, from a page of this server, or from one that may call it.
    pub fn admit(&self, headers: &HeaderMap) -> bool {
        let Some(origin) = headers.get(header::ORIGIN) else { return true };
        let host = headers.get(header::HOST).and_then(|host| host.to_str().ok());
        let own = origin.to_str().ok().and_then(|origin| origin.split_once("://")).map(|(_, host)| host);
        own.is_some() && own == host || self.has(origin)
    }

    /// Whether pages of an origin may call the API.
    fn has(&self, origin: &HeaderValue) -> bool {
        let Ok(origin) = origin.to_str() else { return self.has_all() };
        self.has_all() || self.has_named(origin) || (self.local && is_local(origin))
    }

    fn has_all(&self) -> bool {
        self.named.iter().any(|origin| origin == "*")
    }

    fn has_named(&self, origin: &str) -> bool {
        self.named.iter().any(|named| named == origin)
    }

    /// Cross-origin rules; none where no origin is allowed. Pages of origins that are named may send credentials, which
    /// a proxy in front may want. Those of `*` and this machine's may not. This machine's pages reach the API only.
    pub fn cors(&self) -> Option<CorsLayer> {
        if self.named.is_empty() && !self.local {
            return None;
        }
        let all = self.has_all();
        let (allowed, trusted) = (self.clone(), self.clone());
        let allows = move |origin: &HeaderValue, request: &Parts| {
            let text = origin.to_str().unwrap_or_default();
            allowed.has_named(text) || (is_of_api(request) && allowed.has(origin))
        };
        let may_send = move |origin: &HeaderValue, _: &Parts| trusted.has_named(origin.to_str().unwrap_or_default());
        let (origins, credentials) = match all {
            true => (AllowOrigin::any(), AllowCredentials::from(false)),
            false => (AllowOrigin::predicate(allows), AllowCredentials::predicate(may_send)),
        };
        let cors = CorsLayer::new()
            .allow_origin(origins)
            .allow_credentials(credentials)
            .allow_methods([Method::GET, Method::POST])
            .allow_headers(AllowHeaders::mirror_request())
            .expose_headers([REQUEST_ID])
            .max_age(PREFLIGHT_AGE);
        Some(cors)
    }

    /// Tells the log of a browser that asks for a page of an origin that may not call the API: once for each origin.
    pub fn note_preflight(&self, request: &axum::extract::Request) {
        let asks = request.method() == Method::OPTIONS
            && request.headers().contains_key(header::ACCESS_CONTROL_REQUEST_METHOD)
            && request.uri().path().starts_with(API);
        if let Some(origin) = request.headers().get(header::ORIGIN).filter(|_| asks).filter(|origin| !self.has(origin))
        {
            self.note(origin);
        }
    }

    /// Tells the log of a refused origin: once for each, and of few, because anybody can send any number.
    pub fn note(&self, origin: &HeaderValue) {
        let text = String::from_utf8_lossy(origin.as_bytes());
        let shown = &text[..text.floor_char_boundary(MAX_LENGTH)];
        let mut named = self.refused.lock().unwrap_or_else(PoisonError::into_inner);
        if named.len() < MOST_LOGGED && named.insert(shown.to_owned()) {
            tracing::warn!(origin = shown, "a page of another origin may not call the API; --allow-origin lets it in");
        }
    }
}

fn is_of_api(request: &Parts) -> bool {
    let rest = request.uri.path().strip_prefix(API);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// An origin is written as browsers send it: scheme, host and, unless it is the scheme's own, port (RFC 6454 section
/// 6.2).
fn is_origin(text: &str) -> bool {
    Url::parse(text).is_ok_and(|url| {
        matches!(url.scheme(), "http" | "https") && !text.contains('*') && url.origin().ascii_serialization() == text
    })
}

/// Whether an origin is of a page that this machine serves: `localhost`, 127.0.0.1 or [::1] on any port. No other name
/// counts, because anybody's name can have the address of this machine.
fn is_local(text: &str) -> bool {
    let url = Url::parse(text).ok().filter(|_| is_origin(text));
    match url.as_ref().and_then(Url::host) {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(address)) => address == std::net::Ipv4Addr::LOCALHOST,
        Some(Host::Ipv6(address)) => address == std::net::Ipv6Addr::LOCALHOST,
        None => false,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn an_origin_is_a_scheme_and_a_host() {
        for good in ["https://app.example.com", "http://localhost:3000", "http://[::1]:3000"] {
            assert!(is_origin(good), "{good}");
        }
        for odd in [
            "",
            "app.example.com",
            "https://",
            "https://a/",
            "https://a/b",
            "https://*.a",
            "ftp://a",
            "https://a b",
            "http://localhost:80",
        ] {
            let read = Origins::read(&[odd.to_owned()], false);
            assert_eq!(read.map(drop), Err(NotAnOrigin(odd.into())));
        }
    }

    #[test]
    fn a_local_origin_is_this_machine_by_its_own_names() {
        for local in ["http://localhost:3000", "https://localhost", "http://127.0.0.1:5173", "http://[::1]:8080"] {
            assert!(is_local(local), "{local}");
        }
        for foreign in [
            "null",
            "http://localhost.evil.example",
            "http://127.0.0.1.evil.example",
            "http://app.localhost:3000",
            "http://127.0.0.2:3000",
            "http://192.168.0.2:3000",
            "http://localhost:3000/",
            "http://evil@localhost:3000",
            "file://",
            "HTTP://LOCALHOST:3000",
        ] {
            assert!(!is_local(foreign), "{foreign}");
        }
    }

    fn from(origin: Option<&'static str>) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(header::HOST, HeaderValue::from_static("localhost:4000"));
        if let Some(origin) = origin {
            headers.insert(header::ORIGIN, HeaderValue::from_static(origin));
        }
        headers
    }

    #[test]
    fn pages_of_other_origins_may_not_call() {
        let of = |named: &[&str], local| {
            Origins::read(&named.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>(), local).unwrap()
        };
        let (strict, local) = (of(&[], false), of(&[], true));
        for own in [None, Some("http://localhost:4000")] {
            assert!(strict.admit(&from(own)) && local.admit(&from(own)), "{own:?}");
        }
        for foreign in ["http://evil.example", "null", "http://localhost:4000.evil.example"] {
            assert!(!strict.admit(&from(Some(foreign))) && !local.admit(&from(Some(foreign))), "{foreign}");
        }
        assert!(
            !strict.admit(&from(Some("http://localhost:4001"))) && local.admit(&from(Some("http://localhost:4001")))
        );
        assert!(of(&["https://app.example"], false).admit(&from(Some("https://app.example"))));
        assert!(of(&["*"], false).admit(&from(Some("https://any.example"))));
    }

    #[test]
    fn the_log_tells_of_each_origin_once_and_of_few() {
        let origins = Origins::default();
        for port in (0..100).chain(0..100) {
            origins.note(&HeaderValue::from_str(&format!("http://evil.example:{port}")).unwrap());
        }
        assert_eq!(origins.refused.lock().unwrap().len(), MOST_LOGGED);
    }
}
