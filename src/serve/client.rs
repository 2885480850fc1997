//! The address of a peer and the header of its request in, the client whose request it is out. Must not know what a
//! client may do.

use axum::http::{HeaderMap, HeaderValue};
use std::fmt::{Display, Formatter};
use std::net::{IpAddr, Ipv6Addr, SocketAddr};

/// The header to which each proxy appends the address of its client.
const FORWARDED_FOR: &str = "x-forwarded-for";

/// A client, by its IP address. A client usually has a whole network of IPv6 addresses; this is the first of them (RFC
/// 6177: a /64).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ClientAddress(IpAddr);

impl ClientAddress {
    /// The client at this address.
    pub fn new(address: IpAddr) -> Self {
        Self(match address.to_canonical() {
            IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() & !u128::from(u64::MAX)).into(),
            address => address,
        })
    }

    /// Its address, or the first one of its network.
    pub fn address(self) -> IpAddr {
        self.0
    }

    /// The client behind this number of proxies, of which the nearest is the peer. Addresses further to the left come
    /// from the client and may be anything. Without a readable address, it is the peer.
    pub fn behind_proxies(peer: IpAddr, headers: &HeaderMap, proxies: usize) -> Self {
        let Some(skipped) = proxies.checked_sub(1) else { return Self::new(peer) };
        // What clients put to the left of the address may be no text.
        let lines: Vec<&[u8]> = headers.get_all(FORWARDED_FOR).iter().map(HeaderValue::as_bytes).collect();
        let mut addresses = lines.iter().rev().flat_map(|line| line.rsplit(|byte| *byte == b','));
        let address = addresses.nth(skipped).and_then(|text| address_in(std::str::from_utf8(text).ok()?.trim()));
        Self::new(address.unwrap_or(peer))
    }
}

impl Display for ClientAddress {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

/// Some proxies write the port, too: `192.0.2.1:4711`, `[2001:db8::1]:4711`.
fn address_in(text: &str) -> Option<IpAddr> {
    let with_port = || text.parse().ok().map(|address: SocketAddr| address.ip());
    text.trim_matches(['[', ']']).parse().ok().or_else(with_port)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn client(lines: &[&str], proxies: usize) -> String {
        let mut headers = HeaderMap::new();
        for line in lines {
            headers.append(FORWARDED_FOR, HeaderValue::from_bytes(line.as_bytes()).unwrap());
        }
        ClientAddress::behind_proxies([10, 0, 0, 1].into(), &headers, proxies).0.to_string()
    }

    #[test]
    fn a_client_is_named_by_the_last_trusted_proxy_only() {
        let lines = ["9.9.9.9, 1.1.1.1", "2.2.2.2:4711,[2001:db8:1:2:3::4]:80"];
        let clients: Vec<String> = (0..=5).map(|proxies| client(&lines, proxies)).collect();
        assert_eq!(clients, ["10.0.0.1", "2001:db8:1:2::", "2.2.2.2", "1.1.1.1", "9.9.9.9", "10.0.0.1"]);
    }

    #[test]
    fn without_a_readable_address_it_is_the_peer() {
        assert_eq!(client(&["8.8.8.8", "\u{ff}, 9.9.9.9"], 1), "9.9.9.9", "what a client wrote before is no text");
        for lines in [&[][..], &["unknown"], &["1.1.1.1, "], &["1.1.1.1:x"]] {
            assert_eq!(client(lines, 1), "10.0.0.1", "{lines:?}");
        }
        assert_eq!(client(&["::ffff:1.1.1.1"], 1), "1.1.1.1");
    }
}
