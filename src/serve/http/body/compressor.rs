//! The body of a response in, the same body compressed out. Must not know what it says.
//!
//! A body is compressed whole: its length stays known, and it takes less of the memory of unsent responses. A long one
//! is compressed apart from the threads that serve requests.

use super::accepted::ContentCoding;
use crate::execute::heavy_work::HeavyWork;
use axum::body::Bytes;
use brotli::enc::BrotliEncoderParams;
use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::{Result, Write};

/// The longest body that is compressed between two other tasks, in bytes: it takes less than a millisecond.
const MAX_AT_ONCE: usize = 32 << 10;
/// How hard each coding tries: of a nested answer of 389 kB, zstd makes 17 kB in 0.6 ms, gzip 34 kB in 1.8 ms, and
/// brotli 23 kB in 4.2 ms. The next levels take much longer. The window of zstd at this level is 512 KiB; clients take
/// up to 8 MiB (RFC 9659).
const ZSTD_LEVEL: i32 = 1;
const GZIP_LEVEL: Compression = Compression::new(2);
const BROTLI_QUALITY: i32 = 2;
/// The logarithm of brotli's window: 256 KiB.
const BROTLI_WINDOW: i32 = 18;

/// Compresses the bodies of a server's responses.
#[derive(Debug, Default)]
pub struct Compressor {
    heavy_work: HeavyWork,
}

impl Compressor {
    /// The compressed body; none if it cannot be compressed, because there is no memory or the server is stopping.
    pub async fn compress(&self, coding: ContentCoding, body: Bytes) -> Option<Vec<u8>> {
        if body.len() <= MAX_AT_ONCE {
            return compressed(coding, &body).ok();
        }
        self.heavy_work.run(move || Ok(compressed(coding, &body).ok())).await.ok().flatten()
    }
}

fn compressed(coding: ContentCoding, body: &[u8]) -> Result<Vec<u8>> {
    let mut bytes = match coding {
        ContentCoding::Zstd => zstd::bulk::compress(body, ZSTD_LEVEL)?,
        ContentCoding::Gzip => {
            let mut encoder = GzEncoder::new(Vec::with_capacity(body.len() / 4), GZIP_LEVEL);
            encoder.write_all(body)?;
            encoder.finish()?
        }
        ContentCoding::Brotli => {
            let mut bytes = Vec::with_capacity(body.len() / 4);
            let parameters = BrotliEncoderParams {
                quality: BROTLI_QUALITY,
                lgwin: BROTLI_WINDOW,
                size_hint: body.len(),
                ..Default::default()
            };
            brotli::BrotliCompress(&mut &*body, &mut bytes, &parameters)?;
            bytes
        }
    };
    // The memory is counted by the length.
    bytes.shrink_to_fit();
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use flate2::write::GzDecoder;

    fn plain(coding: ContentCoding, body: &[u8]) -> Vec<u8> {
        let mut bytes = Vec::new();
        match coding {
            ContentCoding::Zstd => bytes = zstd::bulk::decompress(body, 1 << 20).unwrap(),
            ContentCoding::Brotli => brotli::BrotliDecompress(&mut &*body, &mut bytes).unwrap(),
            ContentCoding::Gzip => {
                let mut decoder = GzDecoder::new(&mut bytes);
                decoder.write_all(body).unwrap();
                decoder.finish().unwrap();
            }
        }
        bytes
    }

    #[tokio::test]
    async fn a_short_and_a_long_body_come_back() {
        for text in [
            &b"{}"[..],
            &br#"{"data":{"user":{"name":"Aiko"}}}"#.repeat(10),
            &br#"{"id":"1","name":"Rice"},"#.repeat(10_000),
        ] {
            for coding in [ContentCoding::Zstd, ContentCoding::Gzip, ContentCoding::Brotli] {
                let body = Compressor::default().compress(coding, text.to_vec().into()).await.unwrap();
                assert_eq!(plain(coding, &body), text, "{coding:?}");
                assert!(text.len() < 100 || body.len() * 5 < text.len() && body.capacity() == body.len(), "{coding:?}");
            }
        }
    }
}
