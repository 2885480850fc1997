//! The bytes of a request's body in, as they arrive; the same bytes without gzip out. Both lengths have the same bound,
//! and the memory of requests is taken before a byte is kept.

use crate::serve::http::status::HttpRefusal;
use crate::serve::quota::{QuotaExceeded, Share};
use axum::http::{HeaderMap, header};
use flate2::write::MultiGzDecoder;
use std::io::{Error, Result, Write};

/// The memory that unpacking takes besides what comes out, in bytes: the window of 32 KiB, the state, and a buffer of
/// 32 KiB.
const UNPACKING: usize = 80 << 10;

/// How a body is coded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BodyCoding {
    /// Not at all.
    Plain,
    /// By gzip, once.
    Gzip,
}

/// A body that arrives.
pub enum Arriving {
    /// It is kept as it is.
    Plain(BufferedBody),
    /// It is unpacked.
    Gzip(Box<MultiGzDecoder<BufferedBody>>),
}

/// What is kept of a body.
pub struct BufferedBody {
    /// The bytes.
    pub bytes: Vec<u8>,
    /// The memory that they take.
    pub memory: Share,
    limit: usize,
    besides: usize,
    refusal: Option<HttpRefusal>,
}

impl BodyCoding {
    /// The coding that the headers name; none if it is another one.
    pub fn new(headers: &HeaderMap) -> Option<Self> {
        let mut names = headers.get_all(header::CONTENT_ENCODING).iter();
        match (names.next().map(|name| name.as_bytes().to_ascii_lowercase()).as_deref(), names.next()) {
            (None | Some(b"identity"), None) => Some(Self::Plain),
            (Some(b"gzip" | b"x-gzip"), None) => Some(Self::Gzip),
            _ => None,
        }
    }
}

impl Arriving {
    /// A body of which nothing has arrived yet. It may have this many bytes, and grows within the memory.
    pub fn new(coding: BodyCoding, limit: usize, mut memory: Share) -> std::result::Result<Self, QuotaExceeded> {
        let besides = if coding == BodyCoding::Gzip { UNPACKING } else { 0 };
        memory.resize(besides)?;
        let kept = BufferedBody { bytes: Vec::new(), memory, limit, besides, refusal: None };
        Ok(match coding {
            BodyCoding::Plain => Self::Plain(kept),
            BodyCoding::Gzip => Self::Gzip(Box::new(MultiGzDecoder::new(kept))),
        })
    }

    /// Adds the bytes that have arrived.
    pub fn add(&mut self, chunk: &[u8]) -> std::result::Result<(), HttpRefusal> {
        let (added, kept) = match self {
            Self::Plain(kept) => (kept.write_all(chunk), kept),
            Self::Gzip(decoder) => (decoder.write_all(chunk), decoder.get_mut()),
        };
        added.map_err(|_| kept.refusal.take().unwrap_or_else(not_gzip))
    }

    /// The whole body, once its last byte has arrived.
    pub fn finish(self) -> std::result::Result<BufferedBody, HttpRefusal> {
        match self {
            Self::Plain(kept) => Ok(kept),
            Self::Gzip(mut decoder) => {
                if let Err(_error) = decoder.try_finish() {
                    return Err(decoder.get_mut().refusal.take().unwrap_or_else(not_gzip));
                }
                (*decoder).finish().map_err(|_| not_gzip())
            }
        }
    }
}

fn not_gzip() -> HttpRefusal {
    HttpRefusal::Malformed("The body is not gzip, as its header content-encoding says.".into())
}

impl Write for BufferedBody {
    fn write(&mut self, chunk: &[u8]) -> Result<usize> {
        let refused = if self.bytes.len().saturating_add(chunk.len()) > self.limit {
            Err(HttpRefusal::TooLarge(self.limit))
        } else {
            self.bytes.reserve(chunk.len());
            self.memory.resize(self.bytes.capacity() + self.besides).map_err(HttpRefusal::from)
        };
        if let Err(refusal) = refused {
            self.refusal = Some(refusal);
            return Err(Error::other("the body is refused"));
        }
        self.bytes.extend_from_slice(chunk);
        Ok(chunk.len())
    }

    fn flush(&mut self) -> Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::serve::client::ClientAddress;
    use crate::serve::quota::Quota;
    use flate2::Compression;
    use flate2::write::GzEncoder;

    fn packed(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    /// The result of a body that arrives in pieces of this many bytes.
    fn unpacked(body: &[u8], piece: usize, limit: usize, memory: usize) -> std::result::Result<Vec<u8>, HttpRefusal> {
        let share = Quota::new(memory, memory).take(ClientAddress::new([127, 0, 0, 1].into()), 0).unwrap();
        let mut arriving = Arriving::new(BodyCoding::Gzip, limit, share)?;
        for chunk in body.chunks(piece) {
            arriving.add(chunk)?;
        }
        Ok(arriving.finish()?.bytes)
    }

    #[test]
    fn what_was_packed_comes_out() {
        let text = b"a text with a text in it".repeat(100);
        for piece in [1, 7, 10_000] {
            assert_eq!(unpacked(&packed(&text), piece, 10_000, 1 << 20).unwrap(), text);
            // Several members are one body (RFC 1952 section 2.2).
            assert_eq!(unpacked(&[packed(b"{}"), packed(b" ")].concat(), piece, 10_000, 1 << 20).unwrap(), b"{} ");
        }
    }

    #[test]
    fn a_bomb_is_too_large_before_it_is_unpacked() {
        let bomb = packed(&vec![0; 50 << 20]);
        assert!(bomb.len() < 1 << 20);
        assert_eq!(unpacked(&bomb, bomb.len(), 1 << 20, 8 << 20).unwrap_err(), HttpRefusal::TooLarge(1 << 20));
        assert_eq!(unpacked(&bomb, bomb.len(), 60 << 20, 8 << 20).unwrap_err(), HttpRefusal::TooMuchMemory);
    }

    #[test]
    fn what_is_no_gzip_is_refused() {
        let whole = packed(b"a text");
        let broken = [&b"{}"[..], b"", &whole[..whole.len() - 1], &[&whole[..], b"more"].concat(), &[0x1f, 0x8b]];
        for body in broken {
            assert!(matches!(unpacked(body, 10_000, 100, 1 << 20), Err(HttpRefusal::Malformed(_))), "{body:?}");
        }
    }

    #[test]
    fn one_coding_is_known() {
        let of = |names: &[&str]| {
            let mut headers = HeaderMap::new();
            for name in names {
                headers.append(header::CONTENT_ENCODING, name.parse().unwrap());
            }
            BodyCoding::new(&headers)
        };
        assert_eq!((of(&[]), of(&["Identity"])), (Some(BodyCoding::Plain), Some(BodyCoding::Plain)));
        assert_eq!((of(&["GZIP"]), of(&["x-gzip"])), (Some(BodyCoding::Gzip), Some(BodyCoding::Gzip)));
        for other in [&["br"][..], &["gzip, gzip"], &["gzip", "gzip"], &[""]] {
            assert_eq!(of(other), None, "{other:?}");
        }
    }
}
