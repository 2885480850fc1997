//! The forms of a type's times in its attributes and keys in; out, what its fields hold: the finest part of a time that
//! any of their places has. Must not know finds.
//!
//! A value is in all of its places. The key of an index may say less of it than another place: it is not read back
//! then.

use crate::schema::diagnostics::diagnostic::Findings;
use crate::schema::diagnostics::rules;
use crate::schema::diagnostics::span::{self, Span};
use crate::schema::keys::items::ItemType;
use crate::schema::model::keys::ItemKeys;
use crate::schema::scalar::form::Form;
use crate::schema::scalar::time_form::{TimeForm, Unit};
use crate::schema::scalar::value_type::{Moment, ValueType};
use crate::schema::template::limits::TextEnd;
use crate::schema::template::part::Part;
use crate::schema::types::draft::StoredFields;
use crate::schema::types::fields;

/// What is finest in a field's places, and where.
struct Places<'k> {
    /// In its attribute, if it has one.
    attribute: Option<Unit>,
    /// In each placeholder of a key.
    keys: Vec<(&'k ValueType, Unit)>,
}

/// Gives each time the finest of its forms. A key of an index that says less is not read back. Reports other places
/// that say less, and fields with several cases.
pub fn settle(item: &ItemType<'_>, keys: &mut ItemKeys, findings: &mut Findings) -> StoredFields {
    check_cases(item, keys, findings);
    // The fields of a key that is not read back may get attributes of their own, which say more.
    while make_unread(item, keys) {}
    let mut record = item.record.clone();
    for (name, declared) in item.record.iter().filter(|(_, declared)| declared.value.is_time()) {
        let stored = fields::place(name, declared, item.record, keys, item.table.0);
        let read = keys.keys.values().flatten().filter(|template| template.is_read_back());
        let own = read.flat_map(|template| template.values_of(name)).filter_map(|value| Some((value, finest(value)?)));
        let places = Places { attribute: stored.attribute.and_then(|_| finest(&declared.value)), keys: own.collect() };
        let place = item.object.fields.get(name.as_str()).map(|field| span::from_location(field.name.location()));
        let place = place.unwrap_or_else(|| declared.span.clone());
        let what = (format!("{}.{name}", item.object.name), place);
        let value = settled(&places, &declared.value, &what, findings);
        if let (Some(value), Some(declared)) = (value, record.get_mut(name)) {
            declared.value = value;
        }
    }
    record
}

/// Marks a key of an index that says less of a time than another place of the field does. Whether there was one.
fn make_unread(item: &ItemType<'_>, keys: &mut ItemKeys) -> bool {
    for (name, declared) in item.record.iter().filter(|(_, declared)| declared.value.is_time()) {
        let stored = fields::place(name, declared, item.record, keys, item.table.0);
        let attribute = stored.attribute.and_then(|_| finest(&declared.value));
        let Some(whole) = keys.placeholders_of(name).filter_map(finest).chain(attribute).max() else { continue };
        let is_coarse = |part: &Part| match part {
            Part::Placeholder { field, value, .. } => field == name && finest(value).is_some_and(|own| own < whole),
            Part::Literal(_) => false,
        };
        let is_marked = |part: &Part| part.end() == Some(TextEnd::Unread);
        let of_indexes = keys.keys.iter_mut().filter(|(key, _)| !item.table.0.is_primary_key(key));
        let of_indexes = of_indexes.flat_map(|(_, templates)| templates);
        for template in of_indexes.filter(|template| template.spread().is_none()) {
            if let Some(part) = template.parts.iter_mut().find(|part| is_coarse(part) && !is_marked(part)) {
                part.make_unread();
                return true;
            }
        }
    }
    false
}

/// All keys of a type have a field in the same case: it decides which values are one.
fn check_cases(item: &ItemType<'_>, keys: &ItemKeys, findings: &mut Findings) {
    for (name, declared) in item.record {
        let cases: Vec<Option<&Form>> = keys.placeholders_of(name).map(ValueType::case).collect();
        if cases.windows(2).any(|pair| pair[0] != pair[1]) {
            let message = format!("the keys of `{}` have `{name}` in different cases", item.object.name);
            let help = format!("write `{{{name}:lower}}` in all of them, or in none");
            findings.error(rules::KF0309, &declared.span, message, Some(help.into()));
        }
    }
}

/// The type of a field in these places, if it changes.
fn settled(
    places: &Places<'_>,
    declared: &ValueType,
    (coordinate, place): &(String, Span),
    findings: &mut Findings,
) -> Option<ValueType> {
    let (key, in_key) = *places.keys.iter().max_by_key(|(_, unit)| *unit)?;
    let finest = places.attribute.map_or(in_key, |attribute| attribute.max(in_key));
    if let Some((coarse, _)) = places.keys.iter().find(|(_, unit)| *unit < finest) {
        let form = coarse.time_form().map(TimeForm::text).unwrap_or_default();
        let message = format!("a key has less of `{coordinate}` than another of its places: `{form}`");
        let help = "give all of its places forms that say as much of a time; only the key of an index may say less";
        findings.error(rules::KF0308, place, message, Some(help.into()));
        return None;
    }
    match places.attribute {
        None => key.time_form().is_some().then(|| key.clone()),
        Some(attribute) if attribute >= in_key => None,
        Some(_) => match with_decimals(declared, in_key) {
            Some(value) => Some(value),
            None => {
                let message = format!("the attribute of `{coordinate}` has less of it than its key");
                let help = "give the attribute a form that says as much: `@attribute(form:)`";
                findings.error(rules::KF0308, place, message, Some(help.into()));
                None
            }
        },
    }
}

/// The finest part of a time that a place has.
fn finest(value: &ValueType) -> Option<Unit> {
    match value {
        ValueType::DateTime(Moment::EpochSeconds) => Some(Unit::Second),
        ValueType::DateTime(Moment::Text | Moment::EpochMillis) => Some(Unit::Milli),
        ValueType::Date => Some(Unit::Day),
        _ => value.time_form().map(TimeForm::finest),
    }
}

/// A field that no form says otherwise, with more decimals.
fn with_decimals(declared: &ValueType, finest: Unit) -> Option<ValueType> {
    let decimals = match finest {
        Unit::Milli => "%3f",
        Unit::Micro => "%6f",
        Unit::Nano => "%9f",
        _ => return None,
    };
    let zone = match declared {
        ValueType::DateTime(Moment::Text) => "Z",
        _ => return None,
    };
    let form = TimeForm::parse(&format!("%Y-%m-%dT%H:%M:%S.{decimals}{zone}")).ok()?;
    Some(ValueType::InForm(Box::new(declared.clone()), Form::Time(form).into()))
}
