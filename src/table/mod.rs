//! Calls as plain data in, items out: DynamoDB, a compatible server or the embedded store. Must not know GraphQL.
//!
//! [`data`] holds what travels: items, keys, calls and errors. [`data_store::DataStore`] says what a store must do.
//! [`request`] bundles the calls of one request and asks a store. [`sdk`] is the store over the AWS SDK; [`embedded`] answers the SDK in
//! place of a server. [`admin`] creates and compares tables, [`bulk`] moves many items at once.

pub mod admin;
pub mod bulk;
pub mod data;
pub mod data_store;
pub mod embedded;
pub mod request;
pub mod retry;
pub mod sdk;

pub use admin::definition;
pub use bulk::export_lines;
pub use data::{attribute, call, error, write};
pub use embedded::observer as tap;
pub use request::loaders;

/// The limits of keys, and the last key with a prefix.
pub mod key_limits {
    pub use super::data::limits::{PARTITION_KEY_BYTES as MAX_PARTITION_BYTES, SORT_KEY_BYTES as MAX_SORT_BYTES};
    pub use super::data::sort_range::last_with_prefix as last_that_begins;
}

/// The store over the AWS SDK.
pub mod store {
    pub use super::sdk::store::SdkStore as Store;
}
