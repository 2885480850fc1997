//! What pages in browsers may reach: the host of a request and the origin of its page in, a decision out. Must not know
//! who signs in.

pub mod host;
pub mod origins;
