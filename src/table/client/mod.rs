//! The direct maker of calls: request bodies written straight from calls, signed with a key that is kept, sent over pooled connections, and
//! answers read once. What it needs to know of regions, endpoints and credentials, it asks the AWS SDK.
//!
//! [`maker`] is the way of a call: [`encode`] writes the body, [`connection`] signs and sends it, [`decode`] reads the answer, [`refusal`] an
//! answer that is none of success.

pub(in crate::table) mod connection;
mod credentials;
mod decode;
mod destination;
mod encode;
pub(in crate::table) mod maker;
mod refusal;
mod sign;
