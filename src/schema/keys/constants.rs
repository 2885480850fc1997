//! `attributes:` of `@item` in, the constants of the type out, and what a field that shows one must be. Must not know
//! finds.

use crate::schema::diagnostics::diagnostic::Findings;
use crate::schema::diagnostics::help::Help;
use crate::schema::diagnostics::rules;
use crate::schema::diagnostics::span;
use crate::schema::diagnostics::span::Span;
use crate::schema::keys::entries::{check_words, entries};
use crate::schema::model::keys::{ConstantValue, ItemKeys};
use crate::schema::scalar::value_type::ValueType;
use crate::schema::syntax::directives::argument;
use crate::schema::table::Table;
use crate::schema::table::number::Number;
use crate::schema::types::draft::{Declared, StoredFields};
use apollo_compiler::Node;
use apollo_compiler::ast::{Directive, Value};

/// The constants of an item type. `None` if they have a mistake.
pub fn read_constants(
    table: &Table,
    directive: &Directive,
    findings: &mut Findings,
) -> Option<Vec<(String, ConstantValue)>> {
    let Some(written) = argument(directive, "attributes") else { return Some(Vec::new()) };
    check_words((written, "attributes"), &["value"], rules::KF0215, findings)?;
    let mut mistake = |place: &Span, message: String, help: Option<Help>| {
        findings.error(rules::KF0215, place, message, help);
        None
    };
    let Some(entries) = entries(written, "value") else {
        let message = "constants are attributes with values".to_owned();
        let help = "write `{ entity: \"Order\" }` or `[{ attribute: \"entity-type\", value: \"Order\" }]`";
        return mistake(&span::from_location(written.location()), message, Some(help.to_owned().into()));
    };
    let mut found: Vec<(String, ConstantValue)> = Vec::new();
    for (name, written) in entries {
        let (name, place) = (name.value, name.span);
        let value = match value(written) {
            Ok(value) => value,
            Err(why) => {
                let message = format!("the constant `{name}` {why}");
                let help = "write a text, a number or a Boolean: `\"Order\"`, `1`, `true`".to_owned();
                return mistake(&span::from_location(written.location()), message, Some(help.into()));
            }
        };
        if name.is_empty() {
            return mistake(&place, "a constant has no name".to_owned(), None);
        }
        if table.key_attributes().iter().any(|key| key.name == name) {
            let help = match &value {
                ConstantValue::Text(text) => format!("write it as a template in `keys:`: `{name}: {text:?}`"),
                _ => "leave it out: a key is a template in `keys:`".to_owned(),
            };
            return mistake(&place, format!("the constant `{name}` is a key attribute"), Some(help.into()));
        }
        if found.iter().any(|(known, _)| *known == name) {
            return mistake(&place, format!("the constant `{name}` occurs twice"), None);
        }
        found.push((name, value));
    }
    Some(found)
}

/// A constant's value. The error says what is wrong with it.
fn value(written: &Node<Value>) -> Result<ConstantValue, String> {
    let number = |text: &str| match Number::parse(text) {
        Ok(number) => Ok(ConstantValue::Number(number.canonical())),
        Err(mistake) => Err(format!("is no number of DynamoDB: {mistake}")),
    };
    match &**written {
        Value::String(text) => Ok(ConstantValue::Text(text.clone())),
        Value::Boolean(boolean) => Ok(ConstantValue::Boolean(*boolean)),
        Value::Int(integer) => number(integer.as_str()),
        Value::Float(float) => number(float.as_str()),
        _ => Err("is neither a text nor a number nor a Boolean".to_owned()),
    }
}

/// Reports each field that is stored in a constant of its type and cannot show it: the field's type does not read the
/// constant, or a key has the field.
pub fn check_shown(type_name: &str, record: &StoredFields, keys: &ItemKeys, findings: &mut Findings) {
    for (name, declared) in record {
        let Some((attribute, constant)) = keys.constants.iter().find(|(known, _)| *known == declared.attribute) else {
            continue;
        };
        let in_key = keys.keys.values().flatten().any(|template| template.fields().contains(&name.as_str()));
        let (message, help) = if in_key {
            let text = match constant {
                ConstantValue::Text(text) => text.clone(),
                other => other.to_string(),
            };
            let message =
                format!("`{type_name}.{name}` is the constant `{attribute}`, so it tells no key from another");
            (message, format!("write `{text}` in place of `{{{name}}}`"))
        } else if reads(declared, constant) {
            continue;
        } else {
            let ty = &declared.ty;
            let message =
                format!("`{type_name}.{name}` of type `{ty}` cannot show the constant `{attribute}: {constant}`");
            (message, format!("make it {}, or choose another attribute for one of them", shown_as(constant)))
        };
        findings.error(rules::KF0302, &declared.span, message, Some(help.into()));
    }
}

/// Whether a field has a type that reads the constant as it is stored.
fn reads(declared: &Declared, constant: &ConstantValue) -> bool {
    let value = declared.value.plain();
    !declared.ty.is_list()
        && match (constant, value) {
            (ConstantValue::Text(text), ValueType::Enum(_)) => value.from_text(text).is_some(),
            (ConstantValue::Text(_), value) => matches!(value, ValueType::Id | ValueType::String),
            (
                ConstantValue::Number(number),
                ValueType::Int | ValueType::Long | ValueType::Float | ValueType::Decimal,
            ) => value.from_text(number).is_some(),
            (ConstantValue::Boolean(_), value) => matches!(value, ValueType::Boolean),
            _ => false,
        }
}

fn shown_as(constant: &ConstantValue) -> &'static str {
    match constant {
        ConstantValue::Text(_) => "a String, an ID or an enum with this value",
        ConstantValue::Number(_) => "an Int, a Long, a Float or a Decimal that holds it",
        ConstantValue::Boolean(_) => "a Boolean",
    }
}
