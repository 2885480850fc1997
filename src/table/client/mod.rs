//! The direct maker of calls: request bodies written straight from calls, signed with a key that is kept, sent over pooled connections, and
//! answers read once. What it needs to know of regions, endpoints and credentials, it asks the AWS SDK.
//!
//! [`maker`] is the way of a call: [`super::json`] writes its body and reads its answer, [`connection`] signs it, [`carrier`] sends it, and
//! [`refusal`] reads an answer that is none of success. What a body and an answer hold, the call itself says.

pub(in crate::table) mod carrier;
pub(in crate::table) mod connection;
mod credentials;
mod destination;
mod exchange;
pub(in crate::table) mod maker;
pub(in crate::table) mod pool;
mod refusal;
mod sign;
