//! An error of the engine in; whether the disk or the data file caused it out, in words for the log.
//!
//! Such a call is not tried again: the next attempt would fail the same way. SQLite has rolled the transaction back, so nothing was
//! written.

use dynoxide::DynoxideError;
use serde_json::json;

/// The code of the answer to a call that the disk or the data file did not allow. [`crate::table::sdk`] ends the call with it.
pub(in crate::table) const CODE: &str = "StorageFailureException";

/// The cause that passes when somebody makes room.
pub(super) const FULL: &str = "the disk is full";

/// What SQLite says (its documentation, "Result and Error Codes"), and what it means. The engine passes on nothing but the text.
const CAUSES: [(&str, &str); 7] = [
    ("database or disk is full", FULL),
    ("disk I/O error", "the disk cannot be read or written"),
    ("I/O error", "the disk cannot be read or written"),
    ("malformed", "the data file is damaged"),
    ("not a database", "the data file is not a database, or its beginning is broken"),
    ("readonly database", "the data file may not be written"),
    ("unable to open database file", "the data file cannot be opened"),
];

/// The cause in the disk or the data file; `None` if the engine has refused the call for another reason.
pub(super) fn cause(error: &DynoxideError) -> Option<&'static str> {
    if error.status_code() < 500 {
        return None;
    }
    let said = error.to_string().replace("not a valid", "not a").replace("SQLite database", "database");
    CAUSES.into_iter().find(|(text, _)| said.contains(text)).map(|(_, cause)| cause)
}

/// The answer to a call that failed by this cause. A status of 400 says that nothing was written.
pub(super) fn answer(cause: &str) -> (u16, Vec<u8>) {
    (400, json!({ "__type": format!("keyfold#{CODE}"), "message": cause }).to_string().into_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn troubles_of_the_disk_are_told_from_refusals() {
        let internal = |text: &str| cause(&DynoxideError::InternalServerError(text.to_owned()));
        assert_eq!(internal("backend: database or disk is full"), Some(FULL));
        assert_eq!(internal("backend: I/O error: "), Some("the disk cannot be read or written"));
        assert_eq!(internal("database disk image is malformed"), Some("the data file is damaged"));
        assert!(internal("backend: not a valid database").is_some());
        assert_eq!(internal("Lock poisoned"), None);
        assert_eq!(cause(&DynoxideError::ValidationException("the disk is full of malformed names".to_owned())), None);
    }
}
