//! Calls as plain data in, items out: DynamoDB, a compatible server or the embedded store. Must not know GraphQL.
//!
//! [`data`] holds what travels: items, keys, calls and errors. [`data_store::DataStore`] says what a store must do,
//! [`change_source::ChangeSource`] what its streams of changes must. [`request`] bundles the calls of one request and
//! asks a store.
//!
//! [`store`] is the store: `calls` has a file for each kind of call, `attempt` repeats calls, and one of the `makers`
//! makes them one by one: by the AWS SDK, which `sdk` configures, by the direct `client`, or by the [`embedded`]
//! engine, in this process. [`hedge`] makes late reads a second time. [`json`] writes and reads the bytes of their
//! requests and answers. [`cache`] keeps what reads found for later requests. [`stream`] reads the changes of items.
//! [`admin`] creates and compares tables, [`bulk`] moves many items at once. [`wire`] is what attempts pass, for who
//! wants to see them.

pub mod admin;
pub(in crate::table) mod attempt;
pub mod bulk;
pub mod cache;
pub mod call_scope;
pub(in crate::table) mod calls;
pub mod change_source;
pub(in crate::table) mod client;
pub mod data;
pub mod data_store;
pub mod embedded;
pub mod hedge;
pub mod json;
pub(in crate::table) mod makers;
pub mod request;
pub mod retry;
pub(in crate::table) mod sdk;
pub mod store;
pub mod stream;
pub mod wire;
