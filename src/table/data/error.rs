//! The errors of table calls: a closed set of kinds, whatever the server said.

use std::fmt;

/// An error of a table call.
#[derive(Debug, Clone)]
pub struct TableError {
    /// Its kind.
    pub kind: TableErrorKind,
    /// What the server or the transport said: for logs, never for clients.
    pub detail: String,
}

/// Kinds of errors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TableErrorKind {
    /// The server throttled the call until the deadline.
    Throttled,
    /// No answer before the deadline.
    Timeout,
    /// The server could not be reached, or failed.
    Unavailable,
    /// The disk or the data file of the embedded store failed.
    Storage,
    /// The table or index does not exist.
    NoSuchTable,
    /// The credentials were refused, or do not permit the call.
    Denied,
    /// A condition did not hold.
    Condition,
    /// The request has read as many bytes as it may.
    TooMuch,
    /// The server refused the call as invalid: a bug of ours.
    Invalid,
}

/// In words, for the log.
impl fmt::Display for TableErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Throttled => "throttled",
            Self::Timeout => "timeout",
            Self::Unavailable => "unavailable",
            Self::Storage => "storage",
            Self::NoSuchTable => "no such table",
            Self::Denied => "denied",
            Self::Condition => "condition",
            Self::TooMuch => "too much",
            Self::Invalid => "invalid",
        })
    }
}

impl fmt::Display for TableError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.kind, self.detail)
    }
}

impl std::error::Error for TableError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_is_in_words() {
        let error = TableError { kind: TableErrorKind::NoSuchTable, detail: "it is not there".to_owned() };
        assert_eq!(error.to_string(), "no such table: it is not there");
    }
}
