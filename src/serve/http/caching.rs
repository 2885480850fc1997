//! How long a response may be kept, and what a client has of it, in; out: the headers that say so, and whether the
//! client needs it again. Must not know what is in a response.

use super::media_type::MediaType;
use crate::plan::tree::CachePolicy;
use crate::serve::sign_in::credentials::API_KEY;
use axum::http::{HeaderMap, HeaderValue, Method, header};
use sha2::{Digest, Sha256};

/// How many bytes of the hash name a body: two bodies with one name are as likely as a collision of 128 bits.
const NAME_BYTES: usize = 16;

/// The headers on which the form of a response depends.
pub const VARY: &str = "accept, accept-encoding";

/// What a request says of the responses that its client has. Only responses to GET and HEAD have names (RFC 9110
/// section 8.8.3).
#[derive(Debug, Clone, Default)]
pub struct KnownResponses {
    /// The values of `If-None-Match`; `None` for other methods.
    names: Option<Vec<HeaderValue>>,
}

impl KnownResponses {
    /// What a request says.
    pub fn new(method: &Method, headers: &HeaderMap) -> Self {
        let reads = *method == Method::GET || *method == Method::HEAD;
        Self { names: reads.then(|| headers.get_all(header::IF_NONE_MATCH).iter().cloned().collect()) }
    }

    /// The name of a response of this type that may be kept; `None` if it gets none.
    pub fn name(&self, policy: CachePolicy, media: MediaType, body: &[u8]) -> Option<ResponseName> {
        self.names.as_ref().filter(|_| policy.max_age > 0)?;
        let hash = Sha256::new().chain_update(media.content_type()).chain_update(body).finalize();
        Some(ResponseName(hex::encode(&hash[..NAME_BYTES])))
    }

    /// Whether the client has the response with this name. The comparison is weak (RFC 9110 section 13.1.2).
    pub fn has(&self, name: &ResponseName) -> bool {
        let is_name = |written: &str| {
            let written = written.trim();
            written == "*" || written.strip_prefix("W/").unwrap_or(written).trim_matches('"') == name.0
        };
        self.names
            .iter()
            .flatten()
            .filter_map(|value| value.to_str().ok())
            .flat_map(|list| list.split(','))
            .any(is_name)
    }
}

/// The name of a response's body: its `ETag`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResponseName(String);

impl ResponseName {
    /// The header's value: strong, or weak for a body that is sent in a coding.
    pub fn value(&self, is_coded: bool) -> Option<HeaderValue> {
        let weak = if is_coded { "W/" } else { "" };
        HeaderValue::from_str(&format!("{weak}\"{}\"", self.0)).ok()
    }
}

/// Sets the headers of a response that may be kept. One for its caller only depends on who calls, too.
pub fn allow(policy: CachePolicy, headers: &mut HeaderMap) {
    let CachePolicy { max_age, private } = policy;
    if max_age == 0 {
        return;
    }
    let scope = if private { "private" } else { "public" };
    let vary = if private { format!("{VARY}, {}, {API_KEY}", header::AUTHORIZATION) } else { VARY.to_owned() };
    for (name, value) in [(header::CACHE_CONTROL, format!("max-age={max_age}, {scope}")), (header::VARY, vary)] {
        if let Ok(value) = HeaderValue::from_str(&value) {
            headers.insert(name, value);
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    const MINUTE: CachePolicy = CachePolicy { max_age: 60, private: false };

    fn known(method: Method, names: &[&str]) -> KnownResponses {
        let mut headers = HeaderMap::new();
        for name in names {
            headers.append(header::IF_NONE_MATCH, HeaderValue::from_str(name).unwrap());
        }
        KnownResponses::new(&method, &headers)
    }

    #[test]
    fn a_body_has_one_name() {
        let name = |body: &[u8]| known(Method::GET, &[]).name(MINUTE, MediaType::Json, body).unwrap();
        assert_eq!(name(b"a"), name(b"a"));
        assert_ne!(name(b"a"), name(b"b"));
        assert_ne!(Some(name(b"a")), known(Method::GET, &[]).name(MINUTE, MediaType::GraphqlResponse, b"a"));
        let (strong, weak) = (name(b"a").value(false).unwrap(), name(b"a").value(true).unwrap());
        assert_eq!(format!("W/{}", strong.to_str().unwrap()), weak.to_str().unwrap());
        assert_eq!(known(Method::POST, &[]).name(MINUTE, MediaType::Json, b"a"), None);
        assert_eq!(known(Method::GET, &[]).name(CachePolicy::NONE, MediaType::Json, b"a"), None);
    }

    #[test]
    fn a_client_names_what_it_has() {
        let name = known(Method::GET, &[]).name(MINUTE, MediaType::Json, b"a").unwrap();
        let text = name.value(false).unwrap().to_str().unwrap().to_owned();
        let has = |names: &[&str]| known(Method::GET, names).has(&name);
        assert!(
            has(&[&text]) && has(&[&format!("W/{text}")]) && has(&["*"]) && has(&["\"b\"", &format!("\"c\" , {text}")])
        );
        assert!(!has(&[]) && !has(&["\"b\""]) && !has(&["", ",", "W/"]));
    }
}
