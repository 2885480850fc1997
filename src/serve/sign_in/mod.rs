//! Who sends a request: the headers of a request, or the first message of a WebSocket, in; a checked caller or a fault
//! out.
//!
//! [`credentials`] finds what a client shows. [`token`] reads a JSON Web Token and checks what it says, and [`keys`]
//! checks who signed it. An [`issuer`] is whom this server believes, and [`api_keys`] belong to machines. An
//! [`authenticator`] has all of them, and gives the caller. A [`rate_limit`] says how often one may call. What a caller
//! may do is not decided here. An [`advice`] says what to do about a fault, where `keyfold dev` serves.

pub mod advice;
pub mod api_keys;
pub mod authenticator;
pub mod credentials;
pub mod dev_issuer;
pub mod fault;
pub mod issuer;
pub mod keys;
pub mod origin;
pub mod rate_limit;
pub mod settings;
pub mod token;
pub mod watched_file;
