//! A caller's variables in; the coerced values out, or every mistake in them (GraphQL spec section 6.1.2, "Coercing
//! Variable Values"). Nothing runs unless all of them are right.

use super::document::{Document, MAX_MISTAKES};
use crate::plan::error::{PlanError, PlanErrorKind, place};
use crate::schema::diagnostics::suggestion::near;
use crate::schema::scalar::coerce::{coerce, json_of};
use apollo_compiler::Schema;
use apollo_compiler::executable::{Operation, VariableDefinition};
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::collections::HashSet;

/// The most variables that are named as undeclared.
const MAX_UNDECLARED: usize = 10;

/// The longest name of a variable that a sentence has, in bytes.
const MAX_NAME_LENGTH: usize = 100;

/// The longest name that is compared with others, in bytes, and the most others: comparing takes the product.
const MAX_COMPARED_LENGTH: usize = 64;
const MAX_COMPARED: usize = 32;

/// Coerces the variables of an operation. A nullable variable without a value or a default stays absent.
pub fn coerce_variables(
    api: &Schema,
    document: &Document,
    operation: &Operation,
    given: &Map<String, Value>,
) -> Result<Map<String, Value>, Vec<PlanError>> {
    let mut values = Map::new();
    let (mut mistakes, mut others) = (Vec::new(), None);
    for definition in &operation.variables {
        if mistakes.len() == MAX_MISTAKES {
            break;
        }
        let name = definition.name.as_str();
        let default = || definition.default_value.as_ref().map(|literal| Cow::Owned(json_of(literal, &Map::new())));
        let coerced = match given.get(name).map(Cow::Borrowed).or_else(default) {
            Some(value) => {
                coerce(api, &definition.ty, &value).map_err(|misfit| misfit.sentence("Variable", &format!("${name}")))
            }
            None if definition.ty.is_non_null() => {
                Err(missing(definition, others.get_or_insert_with(|| others_than(operation, given))))
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
    if mistakes.is_empty() { Ok(values) } else { Err(mistakes) }
}

/// The variables of a request that its operation does not declare, each as a sentence with the declared one that was
/// probably meant. They have no meaning (GraphQL spec section 6.1.2), so they are no mistakes.
pub fn undeclared(operation: &Operation, given: &Map<String, Value>) -> Vec<String> {
    let without = operation.variables.iter().map(|definition| definition.name.as_str());
    let without: Vec<&str> = without.filter(|name| !given.contains_key(*name)).collect();
    let sentence = |name: &str| {
        let said = format!("The operation declares no variable \"${}\".", shortened(name));
        meant(name, &without).map_or_else(|| said.clone(), |meant| format!("{said} Did you mean \"{meant}\"?"))
    };
    others_than(operation, given).into_iter().map(sentence).collect()
}

/// The name that was probably meant.
fn meant<'n>(name: &str, others: &[&'n str]) -> Option<&'n str> {
    let others = others.iter().copied().filter(|other| other.len() <= MAX_COMPARED_LENGTH);
    let others: Vec<&str> = others.take(MAX_COMPARED).collect();
    if name.len() <= MAX_COMPARED_LENGTH { near(name, &others) } else { None }
}

/// The first names of a request that are not declared.
fn others_than<'g>(operation: &Operation, given: &'g Map<String, Value>) -> Vec<&'g str> {
    let declared: HashSet<&str> = operation.variables.iter().map(|definition| definition.name.as_str()).collect();
    given.keys().map(String::as_str).filter(|name| !declared.contains(name)).take(MAX_UNDECLARED).collect()
}

/// A required variable has no value. Perhaps another has nearly its name.
fn missing(definition: &VariableDefinition, others: &[&str]) -> String {
    let name = definition.name.as_str();
    let said = format!("Variable \"${name}\" is missing, and its type {} does not allow null.", definition.ty);
    match meant(name, others) {
        Some(other) => format!("{said} The request has \"{}\".", shortened(other)),
        None => said,
    }
}

/// A name that a client gives, as a sentence has it.
fn shortened(name: &str) -> String {
    let end = name.floor_char_boundary(MAX_NAME_LENGTH);
    name[..end].chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::plan::operation::budget::OperationBudgets;
    use serde_json::json;

    fn parsed(text: &str) -> (Schema, Document) {
        let api = "type Query { team(id: ID, first: Int): Int }";
        let api = Schema::parse_and_validate(api, "s").unwrap();
        let document = Document::parse(&api, text, &OperationBudgets::default()).unwrap();
        (api.into_inner(), document)
    }

    fn map(value: Value) -> Map<String, Value> {
        value.as_object().cloned().unwrap()
    }

    #[test]
    fn what_is_not_declared_is_named_with_what_was_meant() {
        let (_, document) = parsed("query ($id: ID, $first: Int) { team(id: $id, first: $first) }");
        let operation = document.operation(None).unwrap();
        let said = |given: Value| undeclared(operation, &map(given));
        assert_eq!(said(json!({ "id": "1", "first": 2 })), Vec::<String>::new());
        assert_eq!(
            said(json!({ "ID": "1", "x": 2 })),
            [
                "The operation declares no variable \"$ID\". Did you mean \"id\"?",
                "The operation declares no variable \"$x\"."
            ]
        );
        // What has a value is not meant.
        assert_eq!(said(json!({ "id": "1", "ID": "2" })), ["The operation declares no variable \"$ID\"."]);
        let many = (0..50).map(|number| ("v".repeat(200) + &number.to_string(), json!(1))).collect();
        let many = undeclared(operation, &many);
        assert!(many.len() == MAX_UNDECLARED && many.iter().all(|said| said.len() < 200), "{many:?}");
    }

    #[test]
    fn a_missing_variable_names_the_value_of_nearly_its_name() {
        let (api, document) = parsed("query ($id: ID!) { team(id: $id) }");
        let operation = document.operation(None).unwrap();
        let said = |given: Value| {
            let mistakes = coerce_variables(&api, &document, operation, &map(given)).unwrap_err();
            mistakes.into_iter().map(|mistake| mistake.message).collect::<String>()
        };
        let missing = "Variable \"$id\" is missing, and its type ID! does not allow null.";
        assert_eq!(said(json!({ "Id": "1" })), format!("{missing} The request has \"Id\"."));
        assert_eq!(said(json!({ "other": "1" })), missing);
    }
}
