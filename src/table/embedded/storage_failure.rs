//! An error of the engine in; out: whether the disk or the data file caused it, in words for the log.
//!
//! Such a call is not repeated: the next attempt would fail in the same way. SQLite has rolled the transaction back, so
//! nothing was written.

use crate::table::attempt::failure::STORAGE_FAILURE;
use dynoxide::DynoxideError;
use serde_json::json;

/// The cause that ends when somebody makes room.
pub(super) const FULL: &str = "the disk is full";

/// SQLite's messages (its documentation, "Result and Error Codes"), and their causes. The engine passes on only the
/// text.
const CAUSES: [(&str, &str); 7] = [
    ("database or disk is full", FULL),
    ("disk I/O error", "the disk cannot be read or written"),
    ("I/O error", "the disk cannot be read or written"),
    ("malformed", "the data file is damaged"),
    ("not a database", "the data file is not a database, or its beginning is broken"),
    ("readonly database", "the data file may not be written"),
    ("unable to open database file", "the data file cannot be opened"),
];

/// The cause in the disk or the data file; `None` if the engine refused the call for another reason.
pub(super) fn cause(error: &DynoxideError) -> Option<&'static str> {
    if error.status_code() < 500 {
        return None;
    }
    let said = error.to_string().replace("not a valid", "not a").replace("SQLite database", "database");
    CAUSES.into_iter().find(|(text, _)| said.contains(text)).map(|(_, cause)| cause)
}

/// The HTTP status of a call that failed because of the disk or the data file. It says that nothing was written.
pub(super) const STATUS: u16 = 400;

/// The answer to a call that failed for this cause.
pub(super) fn answer(cause: &str) -> (u16, Vec<u8>) {
    (STATUS, json!({ "__type": format!("keyfold#{STORAGE_FAILURE}"), "message": cause }).to_string().into_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn troubles_of_the_disk_are_distinguished_from_refusals() {
        let internal = |text: &str| cause(&DynoxideError::InternalServerError(text.to_owned()));
        assert_eq!(internal("backend: database or disk is full"), Some(FULL));
        assert_eq!(internal("backend: I/O error: "), Some("the disk cannot be read or written"));
        assert_eq!(internal("database disk image is malformed"), Some("the data file is damaged"));
        assert!(internal("backend: not a valid database").is_some());
        assert_eq!(internal("Lock poisoned"), None);
        assert_eq!(cause(&DynoxideError::ValidationException("the disk is full of malformed names".to_owned())), None);
    }
}
