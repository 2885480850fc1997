//! The keys of issuers: an address in, keys that check signatures out. [`fetched_keys`] has them ready, [`key_address`]
//! says where they are, [`download`] reads what is there, and a [`key_set`] checks.

pub mod download;
pub mod fetched_keys;
pub mod key_address;
pub mod key_set;
