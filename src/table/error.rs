//! What can go wrong below: one closed set of kinds, whatever the server said.

use std::fmt;

/// An error of a table call.
#[derive(Debug, Clone)]
pub struct TableError {
    /// What kind of trouble it is.
    pub kind: TableErrorKind,
    /// What the server or the transport said; for logs, never for callers.
    pub detail: String,
}

/// Kinds of trouble.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TableErrorKind {
    /// The server asked to slow down until the deadline was reached.
    Throttled,
    /// No answer before the deadline.
    Timeout,
    /// The server could not be reached, or failed on its side.
    Unavailable,
    /// The table or index does not exist.
    NoSuchTable,
    /// Credentials were refused, or may not do this.
    Denied,
    /// A condition did not hold.
    Condition,
    /// The call itself was refused as invalid: a mistake of ours.
    Invalid,
}

impl fmt::Display for TableError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {}", self.kind, self.detail)
    }
}

impl std::error::Error for TableError {}
