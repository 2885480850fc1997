//! Bodies and their codings (RFC 9110 section 8.4): those of requests come in, those of responses go out.

pub mod accepted;
pub mod arriving;
pub mod compressor;
pub mod read;
