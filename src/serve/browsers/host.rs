//! A request in, a refusal out if it is not for this server: a page can give its own host name the address of this
//! machine (DNS rebinding), but it cannot make a browser send another `Host`.

use crate::serve::http::status::HttpRefusal;
use axum::extract::Request;
use axum::http::uri::Authority;
use axum::http::{Version, header};
use std::net::IpAddr;
use std::sync::Arc;

/// Longest host that a refusal repeats, in bytes.
const MAX_LENGTH: usize = 100;

/// The hosts that a server serves.
#[derive(Debug, Clone)]
pub enum Hosts {
    /// Every one.
    All,
    /// The hosts are the server's address, `localhost`, loopback addresses, and these names. A server that listens on
    /// all addresses serves each of them, because only names can be rebound.
    These {
        /// The address that it listens on.
        address: IpAddr,
        /// Names in lower case, without a port.
        names: Arc<[String]>,
    },
}

impl Hosts {
    /// The hosts of a server that listens on this address, and these other names.
    pub fn at(address: IpAddr, names: &[String]) -> Self {
        Self::These { address, names: names.iter().map(|name| bare(name)).collect() }
    }

    /// Refuses requests for other hosts, and requests without a host if HTTP requires one (RFC 9112 section 3.2). In
    /// HTTP/2, the host may be that of the target instead (RFC 9113 section 8.3.1). Health checks work for every host,
    /// because a load balancer names no meaningful one.
    pub fn refusal(&self, request: &Request) -> Option<HttpRefusal> {
        match host_of(request) {
            Err(refusal) => Some(refusal),
            Ok(Some(host)) if !request.uri().path().starts_with("/health/") && !self.has(host.host()) => {
                let shown = host.host();
                Some(HttpRefusal::ForeignHost(shown[..shown.floor_char_boundary(MAX_LENGTH)].to_owned()))
            }
            Ok(_) => None,
        }
    }

    fn has(&self, host: &str) -> bool {
        let Self::These { address, names } = self else { return true };
        let host = bare(host);
        match host.trim_matches(['[', ']']).parse::<IpAddr>().map(|literal| literal.to_canonical()) {
            Ok(literal) if literal.is_loopback() || address.is_unspecified() || literal == address.to_canonical() => {
                true
            }
            _ => host == "localhost" || names.contains(&host),
        }
    }
}

/// The host of a request: that of its target, or else of its header. None in HTTP/1.0, which browsers do not use.
fn host_of(request: &Request) -> Result<Option<Authority>, HttpRefusal> {
    let malformed = |sentence: &str| HttpRefusal::Malformed(sentence.into());
    let target = request.uri().authority();
    if target.is_some_and(|target| !is_host(target)) {
        return Err(malformed("The host of the target cannot be read."));
    }
    let mut hosts = request.headers().get_all(header::HOST).iter();
    match (hosts.next(), hosts.next()) {
        (None, _) if request.version() == Version::HTTP_10 => Ok(target.cloned()),
        (None, _) if request.version() == Version::HTTP_2 && target.is_some() => Ok(target.cloned()),
        (None, _) => Err(malformed("The header Host is missing.")),
        (Some(_), Some(_)) => Err(malformed("The header Host occurs twice.")),
        (Some(value), None) => {
            let host = Authority::try_from(value.as_bytes()).ok().filter(is_host);
            let host = host.ok_or_else(|| malformed("The header Host cannot be read."))?;
            match target {
                // RFC 9113 section 8.3.1. In HTTP/1.1, the target replaces the header (RFC 9112 section 3.2.2).
                Some(target) if request.version() == Version::HTTP_2 && *target != host => {
                    Err(malformed("The request has two hosts."))
                }
                Some(target) => Ok(Some(target.clone())),
                None => Ok(Some(host)),
            }
        }
    }
}

/// Whether this is a host with or without a port, and nothing else (RFC 9110 section 7.2).
fn is_host(authority: &Authority) -> bool {
    match authority.as_str().strip_prefix(authority.host()) {
        Some("") => true,
        Some(rest) => rest.strip_prefix(':').is_some_and(|port| port.is_empty() || port.parse::<u16>().is_ok()),
        None => false,
    }
}

/// A host in lower case, without the dot that ends a full name.
fn bare(host: &str) -> String {
    host.strip_suffix('.').unwrap_or(host).to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use axum::body::Body;

    fn hosts(address: &str, names: &[&str]) -> Hosts {
        Hosts::at(address.parse().unwrap(), &names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn a_server_is_reached_by_its_own_names_only() {
        let local = hosts("127.0.0.1", &["Api.Example"]);
        for own in ["localhost", "LocalHost.", "127.0.0.1", "127.0.0.2", "[::1]", "api.example", "API.example."] {
            assert!(local.has(own), "{own}");
        }
        for other in [
            "evil.test",
            "localhost.evil.test",
            "192.168.0.2",
            "127.0.0.1.evil.test",
            "",
            "0x7f.1",
            "api.example.evil.test",
        ] {
            assert!(!local.has(other), "{other}");
        }
        assert!(hosts("192.168.0.2", &[]).has("192.168.0.2") && !hosts("192.168.0.2", &[]).has("192.168.0.3"));
        assert!(hosts("0.0.0.0", &[]).has("192.168.0.3") && !hosts("0.0.0.0", &[]).has("evil.test"));
        assert!(Hosts::All.has("evil.test"));
    }

    #[test]
    fn the_target_decides_and_the_header_must_be_there() {
        let host = |target: &str, version: Version, headers: &[&str]| {
            let mut request = Request::builder().uri(target).version(version);
            for value in headers {
                request = request.header(header::HOST, *value);
            }
            host_of(&request.body(Body::empty()).unwrap()).map(|host| host.map(|host| host.host().to_owned()))
        };
        let named = |host: &str| Ok(Some(host.to_owned()));
        assert_eq!(host("/graphql", Version::HTTP_11, &["localhost:4000"]), named("localhost"));
        assert_eq!(host("/graphql", Version::HTTP_11, &["[::1]:4000"]), named("[::1]"));
        assert_eq!(host("http://evil.test/graphql", Version::HTTP_11, &["localhost"]), named("evil.test"));
        assert_eq!(host("/graphql", Version::HTTP_10, &[]), Ok(None));
        assert_eq!(host("http://localhost/graphql", Version::HTTP_2, &[]), named("localhost"));
        assert!(
            host("/graphql", Version::HTTP_2, &[]).is_err()
                && host("http://localhost/graphql", Version::HTTP_11, &[]).is_err()
        );
        assert_eq!(host("http://localhost/graphql", Version::HTTP_2, &["LOCALHOST"]), named("localhost"));
        assert!(host("http://localhost/graphql", Version::HTTP_2, &["evil.test"]).is_err());
        assert!(host("http://evil.test@localhost/graphql", Version::HTTP_2, &[]).is_err());
        assert_eq!(host("/graphql", Version::HTTP_11, &["localhost:"]), named("localhost"));
        for headers in
            [&[][..], &["a", "a"], &[""], &["a b"], &["evil.test@localhost"], &["localhost:abc"], &["localhost:99999"]]
        {
            assert!(host("/graphql", Version::HTTP_11, headers).is_err(), "{headers:?}");
        }
    }
}
