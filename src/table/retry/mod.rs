//! When a call is sent again: how long to wait, and how many retries a store allows.

pub mod backoff;
pub mod budget;
