//! The parameters of requests in, operations out: with the documents that requests send, or that they name instead.
//!
//! [`parameters`] says what a request asks for. [`trusted`] documents are files of whoever runs the server.
//! [`persisted`] ones have been sent by clients before. [`lookup`] finds the one that a request means.

mod hash;
pub mod lookup;
pub mod parameters;
pub mod persisted;
pub mod settings;
pub mod trusted;
