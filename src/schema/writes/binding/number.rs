//! The number of the shard of an action's item, if another program assigned it, in; out: what binds it, or that the
//! action needs it. Must not know how the item is found.
//!
//! An item that exists has its number in its keys, so it is read first where nothing binds the number. A new item gets
//! its number from whoever makes it.

use super::by_name::{Purpose, Wish, by_argument};
use crate::schema::diagnostics::diagnostic::Findings;
use crate::schema::diagnostics::rules;
use crate::schema::diagnostics::span::Span;
use crate::schema::model::rules::Rules;
use crate::schema::model::write::WrittenValue;
use crate::schema::scalar::spread::Spread;
use crate::schema::scalar::value_type::ValueType;
use crate::schema::template::part::{Part, spread_of};
use crate::schema::types::draft::{Declared, StoredFields};
use crate::schema::writes::acting::{Acting, FieldBinding};
use apollo_compiler::ast::Type;
use apollo_compiler::name;

/// The number that another program assigned to the items of a type.
#[derive(Clone, Copy)]
pub struct AssignedNumber<'a> {
    /// Its name in bindings: `shard:01..10`.
    pub name: &'a str,
    /// The numbers that there are.
    pub spread: Spread,
    /// Whether it is part of the primary key.
    pub is_in_key: bool,
}

/// The number of the action's item; `None` if no other program assigned one.
pub fn assigned<'a>(acting: &Acting<'a>) -> Option<AssignedNumber<'a>> {
    let number = |part: &'a Part| match part {
        Part::Placeholder { field, .. } => spread_of(part).map(|spread| (field.as_str(), spread)),
        Part::Literal(_) => None,
    };
    let mut parts = acting.keys.keys.values().flatten().flat_map(|template| &template.parts);
    let (name, spread) = parts.find_map(number).filter(|(_, spread)| spread.assigned.is_some())?;
    let mut of_key = acting.table.primary_key().filter_map(|key| acting.keys.keys.get(&key.name)).flatten();
    Some(AssignedNumber { name, spread, is_in_key: of_key.any(|template| template.spread().is_some()) })
}

/// The number of the action's item, as `set:` and `where:` bind it by this word. A field of that name comes first.
pub fn assigned_as<'a>(acting: &Acting<'a>, word: &str) -> Option<AssignedNumber<'a>> {
    assigned(acting).filter(|number| number.spread.kind.word() == word && !acting.record.contains_key(word))
}

/// The number as a field that is bound like others.
pub fn as_field(number: AssignedNumber, span: &Span) -> Declared {
    Declared {
        ty: Type::NonNullNamed(name!("Int")),
        value: ValueType::Spread(number.spread),
        attribute: number.spread.kind.word().to_owned(),
        named: false,
        span: span.clone(),
        rules: Rules::default(),
    }
}

/// What binds the number: `set:` or `where:`, or an argument; `Err` on a mistake.
pub fn bind(
    acting: &Acting,
    number: AssignedNumber,
    purpose: Purpose,
    findings: &mut Findings,
) -> Result<Option<FieldBinding>, ()> {
    let word = number.spread.kind.word();
    let clause = if purpose == Purpose::Value { &acting.sets } else { &acting.finds };
    if let Some(bound) = clause.bound.get(number.name) {
        return Ok(Some(bound.clone()));
    }
    if clause.hidden.contains(number.name) || acting.record.contains_key(word) {
        return Ok(None);
    }
    let record = StoredFields::from_iter([(word.to_owned(), as_field(number, &acting.directive.span))]);
    by_argument(&acting.writing, &Wish { owner: &acting.item, record: &record, name: word, purpose }, findings)
}

/// The number that a put gives its item, by its name, if the item has one; the outer `None` is a mistake.
pub fn bind_new_item(acting: &Acting, findings: &mut Findings) -> Option<Option<(String, WrittenValue)>> {
    let Some(number) = assigned(acting) else { return Some(None) };
    let Some(bound) = bind(acting, number, Purpose::Value, findings).ok()? else {
        let message = format!("nothing gives the number of a new `{}`: its `{{{}}}`", acting.item, number.name);
        report((acting, number), message, findings);
        return None;
    };
    if bound.nullable {
        let message = format!("the new `{}` needs its `{{{}}}`, which may be null here", acting.item, number.name);
        report((acting, number), message, findings);
        return None;
    }
    Some(Some((number.name.to_owned(), WrittenValue::from_source(bound.source))))
}

/// Reports an upsert that may make an item without a number.
pub fn report_upsert(acting: &Acting, number: AssignedNumber, findings: &mut Findings) {
    let message = format!("`upsert:` may make a `{}`, and nothing gives its `{{{}}}`", acting.item, number.name);
    report((acting, number), message, findings);
}

fn report((acting, number): (&Acting, AssignedNumber), message: String, findings: &mut Findings) {
    let help = match acting.record.contains_key(number.spread.kind.word()) {
        true => "rename the field `shard`, so that the word binds the number; then add an argument `shard: Int!`",
        false => "whoever makes the item must know the number: add an argument `shard: Int!`",
    };
    findings.error(rules::KF0225, &acting.directive.span, message, Some(help.to_owned().into()));
}
