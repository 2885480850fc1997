//! An item and what marks the items of a type in, its key templates and its constants; out: whether the item is one.
//! Must not know reads, writes or rules.
//!
//! A key is of a template if the values that it spells write the same key. `POST#2021-07-02T17:09:47Z` is no key of
//! `POST#{createdAt}`: a DateTime is written with milliseconds, so no Get by its value would find the item.

use crate::execute::values::decode::scalar;
use crate::execute::values::encode;
use crate::schema::model::keys::{ConstantValue, NarrowerType, PrimaryKey};
use crate::schema::scalar::value_type::ValueType;
use crate::schema::table::number;
use crate::schema::template::Template;
use crate::schema::template::in_key::free_end;
use crate::schema::template::part::{Misspelling, Part};
use crate::table::data::attribute::{Attribute, Item};
use serde_json::Value;
use std::cmp::Ordering;
use std::sync::Arc;

/// Whether an item has a key of the type.
#[inline]
pub fn has_key(key: &PrimaryKey, item: &Item) -> bool {
    let fits = |(name, templates): &(String, Vec<Template>)| {
        item.get(name).is_some_and(|value| templates.iter().any(|template| is_of(template, value)))
    };
    key.attributes.iter().all(fits) && (!key.repeats || repeats_agree(key, item))
}

/// Whether a field that stands in both key attributes has the same value in both.
fn repeats_agree(key: &PrimaryKey, item: &Item) -> bool {
    let read = |(name, templates): &(String, Vec<Template>)| match item.get(name) {
        Some(Attribute::S(text)) => templates.iter().find_map(|template| template.read_folded_own(text)),
        Some(value) => templates.iter().find_map(|template| match template.parts.as_slice() {
            [Part::Placeholder { field, value: kind, .. }] => Some(vec![(field.clone(), scalar(kind, value)?)]),
            _ => None,
        }),
        None => None,
    };
    let all: Vec<(String, Value)> = key.attributes.iter().filter_map(read).flatten().collect();
    all.iter().enumerate().all(|(position, (field, value))| {
        !all[..position].iter().any(|(known, other)| known == field && other != value)
    })
}

/// Whether constant attributes have these values, as far as they were asked for and are there.
#[inline]
pub fn have_constants(constants: &[(String, ConstantValue)], item: &Item) -> bool {
    constants.iter().all(|(name, value)| item.get(name).is_none_or(|attribute| is_constant(value, attribute)))
}

/// Whether an attribute has the value of a constant. DynamoDB compares numbers by their value.
pub fn is_constant(constant: &ConstantValue, attribute: &Attribute) -> bool {
    match (constant, attribute) {
        (ConstantValue::Text(own), Attribute::S(text)) => text == own,
        (ConstantValue::Number(own), Attribute::N(number)) => number::compare(own, number) == Ordering::Equal,
        (ConstantValue::Boolean(own), Attribute::Bool(boolean)) => boolean == own,
        _ => false,
    }
}

/// Whether an item is of a more specific type: it has the keys of one, and no constant says otherwise.
#[inline]
pub fn is_of_narrower(narrower: &[Arc<NarrowerType>], item: &Item) -> bool {
    narrower.iter().any(|narrower| have_constants(&narrower.constants, item) && has_key(&narrower.key, item))
}

/// The value in the keys of an item that is spelt otherwise than the type's keys are. `None` if the keys are of the
/// type, or spell none.
pub fn misspelt(key: &PrimaryKey, item: &Item) -> Option<Misspelling> {
    let mut found = None;
    for (name, templates) in &key.attributes {
        let value = item.get(name)?;
        if !templates.iter().any(|template| is_of(template, value)) {
            found = Some(templates.iter().find_map(|template| misspelling(template, value))?);
        }
    }
    found
}

/// Whether a key attribute's value is a key of the template.
#[inline]
pub fn is_of(template: &Template, value: &Attribute) -> bool {
    match (value, template.parts.as_slice()) {
        (Attribute::S(text), parts) => match (free_end(template), parts) {
            (Some((_, beginning)), _) => text.starts_with(beginning),
            (None, [Part::Literal(literal)]) => **text == **literal,
            _ => template.read(text).is_some(),
        },
        (Attribute::N(number), [Part::Placeholder { value: kind, .. }]) => is_own_number(kind, number),
        _ => true,
    }
}

/// What is spelt otherwise in a key attribute's value than in a key of the template. `None` if it is a key of the
/// template, or spells none.
pub fn misspelling(template: &Template, value: &Attribute) -> Option<Misspelling> {
    match (value, template.parts.as_slice()) {
        (Attribute::S(text), _) if template.has_spellings() => template.misspelling(text),
        (Attribute::N(number), [Part::Placeholder { field, value: kind, .. }]) if !is_own_number(kind, number) => {
            let own = scalar(kind, value).and_then(|value| kind.to_text(&value));
            Some(Misspelling { field: field.clone(), found: number.to_string(), own })
        }
        _ => None,
    }
}

/// Whether a number key is what its own value writes. DynamoDB compares numbers by their value, so `1.50` is `1.5`; but
/// a Float cannot hold all digits of a number, and an Int no fraction.
fn is_own_number(kind: &ValueType, number: &str) -> bool {
    match (kind, number.parse::<i64>()) {
        (ValueType::Long, Ok(_)) => true,
        (ValueType::Int, Ok(integer)) => i32::try_from(integer).is_ok(),
        _ => {
            let value = scalar(kind, &Attribute::N(number.into()));
            let own = value.and_then(|value| encode::attribute(kind, &value));
            matches!(own, Some(Attribute::N(own)) if number::compare(&own, number) == Ordering::Equal)
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
mod tests {
    use super::*;
    use crate::schema::scalar::value_type::Moment;

    #[test]
    fn a_constant_has_its_type_and_its_value() {
        let (text, number) = (|text: &str| Attribute::S(text.into()), |number: &str| Attribute::N(number.into()));
        let constants =
            [ConstantValue::Text("1".to_owned()), ConstantValue::Number("1".to_owned()), ConstantValue::Boolean(true)];
        for (attribute, fits) in [
            (text("1"), [true, false, false]),
            (text("true"), [false, false, false]),
            (number("1"), [false, true, false]),
            (number("1.00"), [false, true, false]),
            (number("1.5"), [false, false, false]),
            (Attribute::Bool(true), [false, false, true]),
            (Attribute::Bool(false), [false, false, false]),
            (Attribute::Null, [false, false, false]),
        ] {
            assert_eq!(constants.each_ref().map(|constant| is_constant(constant, &attribute)), fits, "{attribute:?}");
        }
    }

    #[test]
    fn a_number_key_is_of_its_value_however_it_is_spelt() {
        for (kind, number, is_own) in [
            (ValueType::Int, "7", true),
            (ValueType::Int, "7.0", true),
            (ValueType::Int, "70E-1", true),
            (ValueType::Int, "2147483648", false),
            (ValueType::Int, "1.5", false),
            (ValueType::Int, "1.00000000000000000001", false),
            (ValueType::Long, "9223372036854775807", true),
            (ValueType::Long, "9223372036854775808", false),
            (ValueType::Decimal, "1.50", true),
            (ValueType::Decimal, "12345678901234567890123456789012345678", true),
            (ValueType::Float, "0.10", true),
            (ValueType::Float, "0.10000000000000000001", false),
            (ValueType::DateTime(Moment::EpochSeconds), "1625245787", true),
            (ValueType::DateTime(Moment::EpochSeconds), "1625245787.5", false),
            (ValueType::DateTime(Moment::EpochMillis), "99999999999999999", false),
        ] {
            let part = Part::Placeholder { field: "x".to_owned(), value: kind.clone(), width: None, limits: None };
            let template = Template::made_of(vec![part]);
            let value = Attribute::N(number.into());
            assert_eq!(is_of(&template, &value), is_own, "{kind:?} {number}");
            assert_eq!(misspelling(&template, &value).is_none(), is_own, "{kind:?} {number}");
        }
    }
}
