//! The errors that callers see: a closed set of codes, messages without internals, always a path.

use crate::table::data::error::{TableError, TableErrorKind};
use crate::table::retry::sparse_lines::SparseLines;
use serde_json::{Value, json};
use std::sync::Arc;

/// The longest message, in bytes. It may quote what the caller sent, which may be as long as a request.
const MAX_MESSAGE_LENGTH: usize = 400;

/// `extensions.code` of an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ErrorCode {
    /// The document does not parse.
    GraphqlParseFailed,
    /// The document is not valid against the schema.
    GraphqlValidationFailed,
    /// The request names a document that the server does not know.
    PersistedQueryNotFound,
    /// The request names a document, and the server keeps none.
    PersistedQueryNotSupported,
    /// A variable, an argument or a cursor is not acceptable.
    BadUserInput,
    /// The caller is not signed in.
    Unauthenticated,
    /// The caller may not see or do this.
    Forbidden,
    /// The item to change does not exist.
    NotFound,
    /// A condition did not hold, or another writer was faster.
    Conflict,
    /// A request with this idempotency key had other arguments.
    IdempotencyKeyReused,
    /// A request with this idempotency key is being made.
    IdempotencyKeyInUse,
    /// The table kept throttling.
    Throttled,
    /// The request's deadline passed.
    Timeout,
    /// The table could not be reached.
    Unavailable,
    /// A budget is exceeded: depth, fields, aliases, nodes, list length.
    LimitExceeded,
    /// A service says that it has no value for an object.
    ServiceRefused,
    /// A stored value does not fit the schema, or the gateway made a mistake.
    Internal,
}

impl ErrorCode {
    /// All codes.
    const ALL: [Self; 17] = [
        Self::GraphqlParseFailed,
        Self::GraphqlValidationFailed,
        Self::PersistedQueryNotFound,
        Self::PersistedQueryNotSupported,
        Self::BadUserInput,
        Self::Unauthenticated,
        Self::Forbidden,
        Self::NotFound,
        Self::Conflict,
        Self::IdempotencyKeyReused,
        Self::IdempotencyKeyInUse,
        Self::Throttled,
        Self::Timeout,
        Self::Unavailable,
        Self::LimitExceeded,
        Self::ServiceRefused,
        Self::Internal,
    ];

    /// The code that is written so.
    pub fn from_text(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|code| code.as_str() == text)
    }

    /// The code as written to `extensions.code`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::GraphqlParseFailed => "GRAPHQL_PARSE_FAILED",
            Self::GraphqlValidationFailed => "GRAPHQL_VALIDATION_FAILED",
            Self::PersistedQueryNotFound => "PERSISTED_QUERY_NOT_FOUND",
            Self::PersistedQueryNotSupported => "PERSISTED_QUERY_NOT_SUPPORTED",
            Self::BadUserInput => "BAD_USER_INPUT",
            Self::Unauthenticated => "UNAUTHENTICATED",
            Self::Forbidden => "FORBIDDEN",
            Self::NotFound => "NOT_FOUND",
            Self::Conflict => "CONFLICT",
            Self::IdempotencyKeyReused => "IDEMPOTENCY_KEY_REUSED",
            Self::IdempotencyKeyInUse => "IDEMPOTENCY_KEY_IN_USE",
            Self::Throttled => "THROTTLED",
            Self::Timeout => "TIMEOUT",
            Self::Unavailable => "UNAVAILABLE",
            Self::LimitExceeded => "LIMIT_EXCEEDED",
            Self::ServiceRefused => "SERVICE_REFUSED",
            Self::Internal => "INTERNAL",
        }
    }
}

/// A GraphQL error (spec section 7.1.2, "Errors").
#[derive(Debug, Clone)]
pub struct GraphqlError {
    /// One sentence for the caller.
    pub message: String,
    /// The code.
    pub code: ErrorCode,
    /// Line and column in the document, from 1.
    pub locations: Vec<(usize, usize)>,
    /// Response keys and list positions; empty for errors of the whole request.
    pub path: Vec<PathSegment>,
    /// Details for programs, in addition to the code in `extensions`: the wrong argument, the current version.
    pub details: Vec<(&'static str, Value)>,
}

/// The reason why a mutation's field wrote nothing.
#[derive(Debug, Clone, PartialEq)]
pub struct FieldError {
    /// The code.
    pub code: ErrorCode,
    /// One sentence for the caller.
    pub message: String,
    /// Details for programs: see [`GraphqlError::details`].
    pub details: Vec<(&'static str, Value)>,
}

impl FieldError {
    /// An error without details.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), details: Vec::new() }
    }
}

/// The reason why something could not be read. Each field that wanted it reports it at its path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// The code.
    pub code: ErrorCode,
    /// One sentence for the caller.
    pub message: String,
    /// Details for programs: see [`GraphqlError::details`].
    pub details: Vec<(&'static str, Value)>,
}

/// The lines of failed calls. `others` is how many of the same kind have failed since the line before.
static LINES: SparseLines<TableErrorKind> = SparseLines::new();

impl Failure {
    /// A shared failure.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Arc<Self> {
        Arc::new(Self { code, message: message.into(), details: Vec::new() })
    }

    /// The failure that callers see for an error of the table. The log has the details.
    pub fn from_table(error: &TableError) -> Arc<Self> {
        let (code, message) = match error.kind {
            TableErrorKind::Throttled => (ErrorCode::Throttled, "DynamoDB is throttling requests. Try again later."),
            TableErrorKind::Timeout => (ErrorCode::Timeout, "The table did not answer in time."),
            TableErrorKind::Unavailable => (ErrorCode::Unavailable, "The table cannot be reached. Try again later."),
            TableErrorKind::Storage => {
                (ErrorCode::Unavailable, "The store cannot use its disk or its data. The log says why.")
            }
            TableErrorKind::NoSuchTable => (ErrorCode::Unavailable, "The table does not exist."),
            TableErrorKind::Denied => (ErrorCode::Unavailable, "The gateway may not read the table."),
            TableErrorKind::TooMuch => {
                (ErrorCode::LimitExceeded, "The operation reads too much. Ask for smaller pages or narrower ranges.")
            }
            TableErrorKind::Condition => (ErrorCode::Conflict, "A condition did not hold."),
            TableErrorKind::Invalid => (ErrorCode::Internal, "DynamoDB refused a call of the gateway."),
        };
        if error.kind != TableErrorKind::TooMuch
            && let Some(others) = LINES.take_line(error.kind)
        {
            let others = (others > 0).then_some(others);
            tracing::warn!(kind = %error.kind, detail = %error.detail, others, "a table call failed");
        }
        Self::new(code, message)
    }
}

/// A step of an error's path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PathSegment {
    /// A response key.
    Key(String),
    /// A list position, from 0.
    Index(usize),
}

impl GraphqlError {
    /// An error of the whole request.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self { message: message.into(), code, locations: Vec::new(), path: Vec::new(), details: Vec::new() }
    }

    /// The error as written to a response.
    pub fn to_json(&self) -> Value {
        let mut error = serde_json::Map::new();
        error.insert("message".into(), json!(shortened(&self.message)));
        if !self.locations.is_empty() {
            let places = self.locations.iter().map(|(line, column)| json!({"line": line, "column": column}));
            error.insert("locations".into(), places.collect());
        }
        if !self.path.is_empty() {
            let steps = self.path.iter().map(|step| match step {
                PathSegment::Key(key) => json!(key),
                PathSegment::Index(index) => json!(index),
            });
            error.insert("path".into(), steps.collect());
        }
        let mut extensions = serde_json::Map::from_iter([("code".to_owned(), json!(self.code.as_str()))]);
        extensions.extend(self.details.iter().map(|(name, value)| ((*name).to_owned(), value.clone())));
        error.insert("extensions".into(), Value::Object(extensions));
        Value::Object(error)
    }
}

fn shortened(message: &str) -> String {
    if message.len() <= MAX_MESSAGE_LENGTH {
        return message.to_owned();
    }
    format!("{}…", &message[..message.floor_char_boundary(MAX_MESSAGE_LENGTH)])
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::log_for_tests::LogBuffer;

    #[test]
    fn a_table_that_fails_for_all_requests_has_a_line_a_second() {
        let kept = LogBuffer::default();
        let subscriber = kept.subscriber();
        let error =
            TableError { kind: TableErrorKind::Unavailable, detail: "it has not answered for 4 seconds".to_owned() };
        let begun = std::time::Instant::now();
        tracing::subscriber::with_default(subscriber, || (0..1200).for_each(|_| drop(Failure::from_table(&error))));
        let most = 2 + usize::try_from(begun.elapsed().as_secs()).unwrap();
        let text = kept.text();
        assert!(text.lines().count() <= most, "{text}");
    }

    #[test]
    fn a_failed_call_is_logged_in_words() {
        let kept = LogBuffer::default();
        let subscriber = kept.subscriber();
        let text = || kept.text();
        let error = TableError { kind: TableErrorKind::NoSuchTable, detail: "it is not there".to_owned() };
        let begun = std::time::Instant::now();
        // Another test may have had the line of this second.
        tracing::subscriber::with_default(subscriber, || {
            while text().is_empty() && begun.elapsed().as_secs() < 10 {
                drop(Failure::from_table(&error));
            }
        });
        assert!(text().contains("kind=no such table detail=it is not there"), "{}", text());
    }
}
