//! Paging arguments → how many items to read, in which direction and from where (GraphQL cursor connections
//! specification, "Pagination algorithm").

use crate::execute::error::{ErrorCode, Failure};
use crate::plan::tree::PageSizes;
use serde_json::{Map, Value};
use std::sync::Arc;

/// The page that the arguments ask for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Paging {
    /// How many items.
    pub size: u32,
    /// Whether the page is counted from the end: `last`, `before`.
    pub backward: bool,
    /// The cursor after which the page begins, in its direction.
    pub from: Option<String>,
}

/// The page for the arguments of a field. `given` names those that the document itself gives. Without a size, the page
/// has the size that the field declares, for either direction.
pub fn paging(arguments: &Map<String, Value>, given: &[String], bounds: PageSizes) -> Result<Paging, Arc<Failure>> {
    let max = bounds.max;
    let value = |name: &str| arguments.get(name).filter(|value| !value.is_null());
    let wants = |name: &str| given.iter().any(|known| known == name) && value(name).is_some();
    let refuse = |message: String| Err(Failure::new(ErrorCode::BadUserInput, message));
    let backward = bounds.form.backward().iter().any(|name| wants(name));
    if wants("first") && backward {
        return refuse(
            "\"first\" and \"after\" page forward, \"last\" and \"before\" backward; they do not go together.".into(),
        );
    }
    if wants("after") && backward {
        return refuse("\"after\" goes with \"first\", \"before\" with \"last\".".into());
    }
    let (size, from) = bounds.form.names(backward);
    let number = value(size).and_then(Value::as_i64).unwrap_or_else(|| bounds.without_arguments(backward).into());
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
    use crate::schema::model::page::PageForm;
    use serde_json::json;

    fn parsed(arguments: Value, given: &[&str]) -> Result<Paging, String> {
        let given: Vec<String> = given.iter().map(|name| (*name).to_owned()).collect();
        let sizes = PageSizes { form: PageForm::Connection, max: 100, first: None, last: None };
        paging(arguments.as_object().unwrap(), &given, sizes).map_err(|failure| failure.message.clone())
    }

    #[test]
    fn a_default_first_gives_way_to_last() {
        let page = parsed(json!({"first": 50, "last": 10}), &["last"]).unwrap();
        assert_eq!(page, Paging { size: 10, backward: true, from: None });
    }

    #[test]
    fn null_is_as_good_as_nothing() {
        let page = parsed(json!({"first": null, "after": null, "last": null}), &["first", "after", "last"]).unwrap();
        assert_eq!(page, Paging { size: 50, backward: false, from: None });
    }

    #[test]
    fn the_declared_size_is_that_of_either_end() {
        let size = |(first, last), arguments: Value, given: &[&str]| {
            let given: Vec<String> = given.iter().map(|name| (*name).to_owned()).collect();
            paging(
                arguments.as_object().unwrap(),
                &given,
                PageSizes { form: PageForm::Connection, max: 40, first, last },
            )
            .unwrap()
            .size
        };
        for (declared, forward, backward) in
            [((None, None), 40, 40), ((Some(20), None), 20, 20), ((None, Some(7)), 7, 7), ((Some(20), Some(7)), 20, 7)]
        {
            assert_eq!(size(declared, json!({}), &[]), forward, "{declared:?}");
            assert_eq!(size(declared, json!({"first": null}), &["first"]), forward, "{declared:?}");
            assert_eq!(size(declared, json!({"after": "x"}), &["after"]), forward, "{declared:?}");
            assert_eq!(size(declared, json!({"before": "x"}), &["before"]), backward, "{declared:?}");
            assert_eq!(size(declared, json!({"last": 3}), &["last"]), 3, "{declared:?}");
        }
    }

    #[test]
    fn a_page_of_appsync_has_a_limit_and_goes_forward() {
        let asked = |arguments: Value| {
            let sizes = PageSizes { form: PageForm::Items, max: 100, first: Some(7), last: Some(7) };
            let given: Vec<String> = arguments.as_object().unwrap().keys().cloned().collect();
            paging(arguments.as_object().unwrap(), &given, sizes).map_err(|failure| failure.message.clone())
        };
        let from = Some("x".to_owned());
        assert_eq!(asked(json!({})).unwrap(), Paging { size: 7, backward: false, from: None });
        assert_eq!(asked(json!({"limit": 2, "nextToken": "x"})).unwrap(), Paging { size: 2, backward: false, from });
        // Arguments of such names bind something there.
        assert_eq!(asked(json!({"last": 2, "before": "x"})).unwrap(), Paging { size: 7, backward: false, from: None });
        assert_eq!(asked(json!({"limit": 101})).unwrap_err(), "\"limit\" must be 100 at most.");
        assert_eq!(asked(json!({"limit": -1})).unwrap_err(), "\"limit\" must not be negative.");
    }

    #[test]
    fn contradictions_and_odd_numbers_are_refused() {
        assert!(parsed(json!({"first": 1, "last": 1}), &["first", "last"]).is_err());
        assert!(parsed(json!({"first": 1, "before": "x"}), &["first", "before"]).is_err());
        assert!(parsed(json!({"after": "x", "before": "y"}), &["after", "before"]).is_err());
        assert!(parsed(json!({"first": -1}), &["first"]).unwrap_err().contains("negative"));
        assert!(parsed(json!({"first": 101}), &["first"]).unwrap_err().contains("100"));
        assert_eq!(parsed(json!({"first": 0}), &["first"]).unwrap().size, 0);
    }
}
