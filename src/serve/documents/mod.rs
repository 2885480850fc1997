//! Documents that requests name instead of sending them.
//!
//! [`trusted`] documents are files of whoever runs the server. [`persisted`] ones have been sent by clients before. [`lookup`] finds the one
//! that a request means.

mod hash;
pub mod lookup;
pub mod persisted;
pub mod settings;
pub mod trusted;
