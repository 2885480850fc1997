//! Paging arguments → how many items to read, in which direction and from where
//! (GraphQL cursor connections specification, "Pagination algorithm").

use super::error::ErrorCode;
use super::state::Failure;
use serde_json::{Map, Value};
use std::sync::Arc;

/// The page of a connection whose field says nothing.
const DEFAULT_PAGE: u32 = 50;

/// Which page is wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Paging {
    /// How many items.
    pub size: u32,
    /// Whether the page is counted from the end: `last`, `before`.
    pub backward: bool,
    /// The cursor from which to go on.
    pub from: Option<String>,
}

/// Reads the paging arguments of a field; `given` are those that the document itself names.
pub fn paging(arguments: &Map<String, Value>, given: &[String], max: u32) -> Result<Paging, Arc<Failure>> {
    let value = |name: &str| arguments.get(name).filter(|value| !value.is_null());
    let wants = |name: &str| given.iter().any(|known| known == name) && value(name).is_some();
    let refuse = |message: String| Err(Failure::new(ErrorCode::BadUserInput, message));
    let backward = wants("last") || wants("before");
    if wants("first") && backward {
        return refuse("\"first\" and \"after\" page forward, \"last\" and \"before\" backward; they do not go together.".into());
    }
    if wants("after") && backward {
        return refuse("\"after\" goes with \"first\", \"before\" with \"last\".".into());
    }
    let (size, from) = if backward { ("last", "before") } else { ("first", "after") };
    let number = match value(size).and_then(Value::as_i64) {
        None => i64::from(DEFAULT_PAGE.min(max)),
        Some(number) => number,
    };
    let Ok(number) = u32::try_from(number) else {
        return refuse(format!("\"{size}\" must not be negative."));
    };
    if number > max {
        return refuse(format!("\"{size}\" must be {max} at most."));
    }
    let from = value(from).and_then(Value::as_str).map(str::to_owned);
    Ok(Paging { size: number, backward, from })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use serde_json::json;

    fn of(arguments: Value, given: &[&str]) -> Result<Paging, String> {
        let given: Vec<String> = given.iter().map(|name| (*name).to_owned()).collect();
        paging(arguments.as_object().unwrap(), &given, 100).map_err(|failure| failure.message.clone())
    }

    #[test]
    fn a_default_first_gives_way_to_last() {
        let page = of(json!({"first": 50, "last": 10}), &["last"]).unwrap();
        assert_eq!(page, Paging { size: 10, backward: true, from: None });
    }

    #[test]
    fn null_is_as_good_as_nothing() {
        let page = of(json!({"first": null, "after": null, "last": null}), &["first", "after", "last"]).unwrap();
        assert_eq!(page, Paging { size: DEFAULT_PAGE, backward: false, from: None });
    }

    #[test]
    fn contradictions_and_odd_numbers_are_refused() {
        assert!(of(json!({"first": 1, "last": 1}), &["first", "last"]).is_err());
        assert!(of(json!({"first": 1, "before": "x"}), &["first", "before"]).is_err());
        assert!(of(json!({"after": "x", "before": "y"}), &["after", "before"]).is_err());
        assert!(of(json!({"first": -1}), &["first"]).unwrap_err().contains("negative"));
        assert!(of(json!({"first": 101}), &["first"]).unwrap_err().contains("100"));
        assert_eq!(of(json!({"first": 0}), &["first"]).unwrap().size, 0);
    }
}
