//! The direct client: the bodies of requests in, signed with a key that is kept and sent over pooled connections; the
//! bodies of answers out. What it needs to know of regions, endpoints and credentials, it asks the AWS SDK.
//!
//! [`connection`] signs a request, [`carrier`] sends it, and [`refusal`] reads an answer that is none of success.

pub(in crate::table) mod carrier;
pub(in crate::table) mod connection;
mod credentials;
mod destination;
mod exchange;
pub(in crate::table) mod pool;
pub(in crate::table) mod refusal;
mod sign;
