//! An `Accept-Encoding` header in, the coding of the response out (RFC 9110 section 12.5.3).

use crate::serve::http::media_type::thousandths;
use axum::http::{HeaderMap, HeaderValue, header};

/// The shortest body that is compressed, in bytes. A shorter one fits into one packet as it is.
const SHORTEST: usize = 1 << 10;

/// A coding of response bodies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ContentCoding {
    /// RFC 1952.
    Gzip,
    /// RFC 7932.
    Brotli,
    /// RFC 8878.
    Zstd,
}

/// The codings that a client accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AcceptedCodings {
    compressed: Option<ContentCoding>,
    plain: bool,
    gzip: bool,
}

impl ContentCoding {
    /// All of them. What costs less time comes first: gzip takes less than half of the time of brotli. zstd takes a
    /// third of the time of gzip, but is the last: some clients, such as those of Node 20, offer what a proxy or a
    /// library of theirs names, and cannot read it.
    const ALL: [Self; 3] = [Self::Gzip, Self::Brotli, Self::Zstd];

    /// The name in headers.
    pub fn name(self) -> &'static str {
        match self {
            Self::Zstd => "zstd",
            Self::Gzip => "gzip",
            Self::Brotli => "br",
        }
    }

    /// The value of `Content-Encoding`.
    pub fn header_value(self) -> HeaderValue {
        HeaderValue::from_static(self.name())
    }
}

impl AcceptedCodings {
    /// The codings that the headers accept; none if they accept nothing that the server has, not even a body as it is.
    pub fn from_headers(headers: &HeaderMap) -> Option<Self> {
        if !headers.contains_key(header::ACCEPT_ENCODING) {
            return Some(Self { compressed: None, plain: true, gzip: false });
        }
        let values: Option<Vec<_>> =
            headers.get_all(header::ACCEPT_ENCODING).iter().map(|value| value.to_str().ok()).collect();
        let text = values.unwrap_or_default().join(",").to_ascii_lowercase();
        let listed: Vec<_> = text.split(',').filter_map(coding).collect();
        let find = |name: &str| listed.iter().find(|(listed, _)| *listed == name).map(|(_, quality)| *quality);
        let any = find("*");
        let plain = find("identity").or(any);
        let quality = |coding: &ContentCoding| find(coding.name()).or(any).unwrap_or(0);
        // Of the best ones, the first.
        let best = ContentCoding::ALL.into_iter().rev().max_by_key(quality);
        let least = find("identity").unwrap_or(1).max(1);
        let compressed = best.filter(|best| quality(best) >= least);
        let plain = plain != Some(0);
        let gzip = quality(&ContentCoding::Gzip) > 0;
        (plain || compressed.is_some()).then_some(Self { compressed, plain, gzip })
    }

    /// Whether a body may have no coding.
    pub fn plain(self) -> bool {
        self.plain
    }

    /// Whether a body that is there in gzip may be sent so.
    pub fn gzip(self) -> bool {
        self.gzip
    }

    /// The coding for a body of this length.
    pub fn coding(self, length: usize) -> Option<ContentCoding> {
        self.compressed.filter(|_| !self.plain || length >= SHORTEST)
    }
}

/// Reads one element: a name, and its q-value in thousandths.
fn coding(text: &str) -> Option<(&str, u16)> {
    let (name, parameter) = text.split_once(';').map_or((text, None), |(name, parameter)| (name, Some(parameter)));
    let quality = match parameter {
        Some(parameter) => thousandths(parameter.trim().strip_prefix("q=")?.trim())?,
        None => 1000,
    };
    let name = name.trim();
    Some((if name == "x-gzip" { "gzip" } else { name }, quality)).filter(|_| !name.is_empty())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    /// The codings of a long and of a short body.
    fn codings(accept: &[&str]) -> Option<(&'static str, &'static str)> {
        let mut headers = HeaderMap::new();
        for value in accept {
            headers.append(header::ACCEPT_ENCODING, value.parse().unwrap());
        }
        let accepted = AcceptedCodings::from_headers(&headers)?;
        let name = |length| accepted.coding(length).map_or("", ContentCoding::name);
        Some((name(SHORTEST), name(SHORTEST - 1)))
    }

    #[test]
    fn the_best_known_of_the_best_is_taken_for_long_bodies() {
        for offered in
            ["gzip, deflate, br, zstd", "zstd, br, gzip, deflate", "zstd, gzip", "gzip, deflate, br", "*", "*;q=0.5"]
        {
            assert_eq!(codings(&[offered]), Some(("gzip", "")), "{offered}");
        }
        assert_eq!(codings(&["zstd, br"]), Some(("br", "")));
        assert_eq!(codings(&["zstd"]), Some(("zstd", "")));
        assert_eq!(
            codings(&["zstd, gzip;q=0.9, br;q=0.9"]),
            Some(("zstd", "")),
            "a client that says that it likes it more"
        );
        assert_eq!(codings(&["gzip;q=0.8", "BR ; Q=0.9"]), Some(("br", "")));
        assert_eq!(codings(&["br"]), Some(("br", "")));
        assert_eq!(codings(&["x-gzip"]), Some(("gzip", "")));
        assert_eq!(codings(&["*, gzip;q=0"]), Some(("br", "")));
        assert_eq!(codings(&["*;q=0.5, br"]), Some(("br", "")));
    }

    #[test]
    fn a_body_is_sent_as_it_is_unless_something_else_is_named() {
        for plain in [
            &[][..],
            &[""],
            &["deflate"],
            &["gzip;q=0"],
            &["identity"],
            &["gzip;q=0.5, identity"],
            &["gzip;q=2"],
            &["gzip;x=1"],
        ] {
            assert_eq!(codings(plain), Some(("", "")), "{plain:?}");
        }
        assert_eq!(codings(&["identity;q=0.5, gzip"]), Some(("gzip", "")));
    }

    #[test]
    fn identity_can_be_forbidden() {
        assert_eq!(codings(&["identity;q=0, gzip"]), Some(("gzip", "gzip")));
        assert_eq!(codings(&["*;q=0, br;q=0.1"]), Some(("br", "br")));
        assert_eq!(codings(&["*;q=0, identity;q=0.1"]), Some(("", "")));
        for nothing in ["identity;q=0", "*;q=0", "*;q=0, deflate", "identity;q=0, gzip;q=0"] {
            assert_eq!(codings(&[nothing]), None, "{nothing}");
        }
    }

    #[test]
    fn a_header_that_is_not_text_accepts_a_body_as_it_is() {
        let mut headers = HeaderMap::new();
        headers.insert(header::ACCEPT_ENCODING, HeaderValue::from_bytes(b"\xff").unwrap());
        assert_eq!(AcceptedCodings::from_headers(&headers).unwrap().coding(SHORTEST), None);
    }
}
