//! Names of GraphQL leaf types in, value types out, with the stored text of enum values. Also says which type of value
//! may stand for which. Must not know items or keys.

use crate::schema::diagnostics::diagnostic::Findings;
use crate::schema::diagnostics::rules;
use crate::schema::diagnostics::span;
use crate::schema::scalar::aws::AwsScalar;
use crate::schema::scalar::definition;
use crate::schema::scalar::form::Form;
use crate::schema::scalar::spread::{Spread, SpreadKind};
use crate::schema::scalar::value_type::{EnumValues, Moment, ValueType};
use crate::schema::syntax::directives::text;
use crate::schema::table::KeyType;
use apollo_compiler::Schema;
use apollo_compiler::schema::{EnumType, ExtendedType};
use indexmap::IndexMap;
use std::sync::Arc;

/// The value type of a scalar, an enum or an object type (taken as embedded); `None` for every other type.
pub fn value_type(schema: &Schema, name: &str) -> Option<ValueType> {
    match schema.types.get(name)? {
        ExtendedType::Scalar(definition) => Some(definition::value_type(definition)),
        ExtendedType::Enum(definition) => Some(ValueType::Enum(Arc::new(enum_values(definition)))),
        ExtendedType::Object(_) => Some(ValueType::Embedded(name.to_owned())),
        _ => None,
    }
}

/// The stored text of each value: `@attribute(name:)` or the value's own name.
fn enum_values(definition: &EnumType) -> EnumValues {
    let stored: IndexMap<String, String> = definition
        .values
        .iter()
        .map(|(name, value)| {
            let stored = value.directives.get("attribute").and_then(|directive| text(directive, "name"));
            (name.to_string(), stored.map_or_else(|| name.to_string(), |at| at.value))
        })
        .collect();
    EnumValues { name: definition.name.to_string(), stored }
}

/// Warns of a scalar of the schema's own by a name of Keyfold's that does not say which scalar it is.
pub fn check_scalars(schema: &Schema, findings: &mut Findings) {
    for scalar in schema.types.values().filter_map(|definition| definition.as_scalar()) {
        let Some(url) = definition::specification(&scalar.name) else { continue };
        if definition::specified_by(scalar).is_none() {
            let message = format!("the scalar `{}` is the schema's own, which takes any value", scalar.name);
            let help = format!("for Keyfold's, leave the definition out or add `@specifiedBy(url: \"{url}\")`");
            findings.warning(rules::KF0310, &span::from_location(scalar.name.location()), message, Some(help.into()));
        }
    }
}

/// Two values of an enum must not be stored as the same text. None may be stored as an empty text, which no key may
/// hold.
pub fn check_enums(schema: &Schema, findings: &mut Findings) {
    for definition in schema.types.values().filter_map(|definition| definition.as_enum()) {
        let values = enum_values(definition);
        for (position, (name, stored)) in values.stored.iter().enumerate() {
            let named = definition.values.get(name.as_str()).and_then(|value| value.directives.get("attribute"));
            let place = named.and_then(|directive| text(directive, "name")).map(|at| at.span);
            let place = place.unwrap_or_else(|| {
                span::from_location(definition.values.get_key_value(name.as_str()).and_then(|(key, _)| key.location()))
            });
            if stored.is_empty() {
                findings.error(
                    rules::KF0306,
                    &place,
                    format!("`{}.{name}` is stored as an empty text", values.name),
                    None,
                );
            }
            if let Some((other, _)) = values.stored.iter().take(position).find(|(_, known)| *known == stored) {
                let message = format!("`{}.{name}` and `{other}` are both stored as \"{stored}\"", values.name);
                findings.error(rules::KF0306, &place, message, Some("each value needs a different stored text".into()));
            }
            if let Some(place) = named.filter(|directive| directive.specified_argument_by_name("stored").is_some()) {
                let message = format!("`stored:` has no effect on the enum value `{}.{name}`", values.name);
                findings.error(
                    rules::KF0303,
                    &crate::schema::syntax::directives::named(place),
                    message,
                    Some("set its stored text with `@attribute(name:)`".into()),
                );
            }
        }
    }
}

/// Whether a value of type `from` can stand where `to` is wanted, without losing anything.
pub fn fits(from: &ValueType, to: &ValueType) -> bool {
    use ValueType as V;
    if let (Some(from), Some(to)) = (from.as_aws(), to.as_aws()) {
        return from == to;
    }
    match (from.in_api(), to.in_api()) {
        (V::String, V::DateTime(_)) => from.as_aws() == Some(AwsScalar::DateTime),
        (V::String, V::Date) => from.as_aws() == Some(AwsScalar::Date),
        (V::Id | V::String, V::Id | V::String) => true,
        (V::Int, V::Int | V::Long | V::Float) | (V::Long, V::Long) | (V::Float, V::Float) => true,
        (V::Boolean, V::Boolean) | (V::Date, V::Date) | (V::Decimal, V::Decimal) | (V::Binary, V::Binary) => true,
        (V::LocalDateTime, V::LocalDateTime) => true,
        (V::DateTime(_), V::DateTime(_)) => true,
        (V::Enum(a), V::Enum(b)) => a.name == b.name,
        // A shard is bound by its number. A replica is chosen by the hash of any value that has a text.
        (from, V::Spread(Spread { kind: SpreadKind::Shard, .. })) => matches!(from, V::Int),
        (from, V::Spread(_)) => stored_key_type(from).is_some() || matches!(from, V::Boolean),
        _ => false,
    }
}

/// The DynamoDB type of a value in an attribute of its own; `None` if no key can have that type.
pub fn stored_key_type(value: &ValueType) -> Option<KeyType> {
    use ValueType as V;
    match value {
        V::Id | V::String | V::Date | V::Enum(_) | V::DateTime(Moment::Text) => Some(KeyType::S),
        V::Int | V::Long | V::Float | V::Decimal | V::DateTime(_) => Some(KeyType::N),
        V::Binary => Some(KeyType::B),
        V::InForm(kind, form) => match &**form {
            Form::Aws(AwsScalar::Json) => None,
            Form::Aws(_) => stored_key_type(kind),
            Form::Time(_) | Form::Text | Form::Lower | Form::Upper => Some(KeyType::S),
            Form::Number => Some(KeyType::N),
        },
        V::LocalDateTime | V::Boolean | V::Json | V::Embedded(_) | V::Set(_) | V::Map(_) | V::Spread(_) | V::Claim => {
            None
        }
    }
}
