//! A caller's variables in; the coerced values out, or every mistake in them (GraphQL spec section 6.1.2, "Coercing
//! Variable Values"). Nothing runs unless all of them are right.

use super::document::{Document, MAX_MISTAKES};
use crate::plan::error::{PlanError, PlanErrorKind, place};
use crate::schema::scalar::coerce::{coerce, json_of};
use apollo_compiler::Schema;
use apollo_compiler::executable::Operation;
use serde_json::{Map, Value};
use std::borrow::Cow;

/// Coerces the variables of an operation. A nullable variable without a value or a default stays absent.
pub fn coerce_variables(
    api: &Schema,
    document: &Document,
    operation: &Operation,
    given: &Map<String, Value>,
) -> Result<Map<String, Value>, Vec<PlanError>> {
    let mut values = Map::new();
    let mut mistakes = Vec::new();
    for definition in &operation.variables {
        let name = definition.name.as_str();
        let default = || definition.default_value.as_ref().map(|literal| Cow::Owned(json_of(literal, &Map::new())));
        let coerced = match given.get(name).map(Cow::Borrowed).or_else(default) {
            Some(value) => {
                coerce(api, &definition.ty, &value).map_err(|misfit| misfit.sentence("Variable", &format!("${name}")))
            }
            None if definition.ty.is_non_null() => {
                Err(format!("Variable \"${name}\" is missing, and its type {} does not allow null.", definition.ty))
            }
            None => continue,
        };
        match coerced {
            Ok(value) => {
                values.insert(name.to_owned(), value);
            }
            Err(message) => {
                mistakes.push(PlanError::new(PlanErrorKind::Input, message).at(place(definition, &document.parsed)))
            }
        }
    }
    mistakes.truncate(MAX_MISTAKES);
    if mistakes.is_empty() { Ok(values) } else { Err(mistakes) }
}
