//! An address that a user wants in, a listener or what to write instead out. Must not know what is served.

use anyhow::{Error, Result, anyhow};
use std::io::ErrorKind;
use std::net::{IpAddr, SocketAddr};
use tokio::net::TcpListener;

/// The port of an address that names none.
const USUAL_PORT: u16 = 4000;

/// The option that chooses an address.
#[derive(Debug, Clone, Copy)]
pub enum ListenOption {
    /// The address of requests.
    Requests,
    /// The address of metrics.
    Metrics,
}

impl ListenOption {
    fn name(self) -> &'static str {
        match self {
            Self::Requests => "--listen",
            Self::Metrics => "--metrics-listen",
        }
    }
}

/// Listens on an address. An error says which option takes another one, and gives an example that is right.
pub async fn bind(option: ListenOption, wanted: &str) -> Result<TcpListener> {
    TcpListener::bind(wanted).await.map_err(|error| match help(option.name(), wanted, error.kind()) {
        Some(help) => anyhow!("cannot listen on {wanted}: {help}"),
        None => Error::new(error).context(format!("cannot listen on {wanted}")),
    })
}

fn help(option: &str, wanted: &str, kind: ErrorKind) -> Option<String> {
    let example = example(wanted);
    Some(match kind {
        ErrorKind::AddrInUse => {
            format!("another process listens there: stop it, or choose another port with {option} {}", next(wanted))
        }
        ErrorKind::PermissionDenied => {
            format!("this user may not listen there: choose a port above 1023 with {option} {}", above(wanted))
        }
        ErrorKind::AddrNotAvailable => format!(
            "this machine does not have the address: {option} {example} listens on this machine only, and {option} \
             0.0.0.0:{} on all of its addresses",
            port_in(wanted).unwrap_or(USUAL_PORT)
        ),
        _ if wanted.starts_with(':') && wanted[1..].parse::<u16>().is_ok() => {
            format!("write an address before the port: {option} 0.0.0.0{wanted} listens on every address")
        }
        _ if wanted.contains("://") => {
            format!("write an address and a port, without http:// and a path: {option} {example}")
        }
        _ if port_in(wanted).is_none() => {
            format!("write an address and a port from 0 to 65535: {option} {example}")
        }
        // A name without a port, or one that no resolver knows.
        _ if wanted.parse::<SocketAddr>().is_err() => {
            format!("write an address of this machine and a port: {option} {example}")
        }
        _ => return None,
    })
}

/// An address on this machine with the port that is wanted.
fn example(wanted: &str) -> String {
    format!("127.0.0.1:{}", port_in(wanted).unwrap_or(USUAL_PORT))
}

/// The same address with the next port.
fn next(wanted: &str) -> String {
    let port = port_in(wanted).filter(|port| *port < u16::MAX).unwrap_or(USUAL_PORT) + 1;
    format!("{}:{port}", host(wanted))
}

/// The same address with a port that every user may take.
fn above(wanted: &str) -> String {
    let port = port_in(wanted).map_or(USUAL_PORT, |port| port.saturating_add(8_000));
    format!("{}:{port}", host(wanted))
}

fn host(wanted: &str) -> &str {
    wanted.rsplit_once(':').map_or("127.0.0.1", |(host, _)| host)
}

/// The port of an address, of a URL, or a number that is nothing else.
fn port_in(wanted: &str) -> Option<u16> {
    let rest = wanted.split_once("://").map_or(wanted, |(_, rest)| rest);
    let authority = rest.split('/').next().unwrap_or_default();
    if authority.parse::<IpAddr>().is_ok() {
        return None;
    }
    authority.rsplit(':').next().and_then(|port| port.parse().ok())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    async fn said(wanted: &str) -> String {
        bind(ListenOption::Requests, wanted).await.unwrap_err().to_string()
    }

    #[tokio::test]
    async fn an_address_in_use_names_the_option_and_another_port() {
        let listener = bind(ListenOption::Requests, "127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let next = if port < u16::MAX { port + 1 } else { USUAL_PORT + 1 };
        let message = said(&format!("127.0.0.1:{port}")).await;
        assert!(message.contains("another process listens there"), "{message}");
        assert!(message.ends_with(&format!("another port with --listen 127.0.0.1:{next}")), "{message}");
    }

    #[tokio::test]
    async fn what_is_no_address_says_how_to_write_it() {
        for (wanted, right) in [
            ("4001", "--listen 127.0.0.1:4001"),
            ("127.0.0.1", "--listen 127.0.0.1:4000"),
            ("localhost", "--listen 127.0.0.1:4000"),
            ("127.0.0.1:70000", "a port from 0 to 65535: --listen 127.0.0.1:4000"),
            ("http://localhost:4002/graphql", "without http:// and a path: --listen 127.0.0.1:4002"),
            (":4000", "--listen 0.0.0.0:4000 listens on every address"),
            (":4001x", "--listen 127.0.0.1:4000"),
            ("no.such.host.invalid:4003", "an address of this machine and a port: --listen 127.0.0.1:4003"),
        ] {
            let message = said(wanted).await;
            assert!(message.ends_with(right), "{wanted}: {message}");
        }
        // An address that is set aside for documents is no machine's (RFC 5737).
        let message = said("192.0.2.1:4004").await;
        assert!(
            message.contains("--listen 127.0.0.1:4004") && message.ends_with("on all of its addresses"),
            "{message}"
        );
    }

    #[test]
    fn a_port_that_needs_rights_becomes_one_that_needs_none() {
        let said = help("--listen", "0.0.0.0:80", ErrorKind::PermissionDenied).unwrap();
        assert!(said.ends_with("--listen 0.0.0.0:8080"), "{said}");
    }
}
