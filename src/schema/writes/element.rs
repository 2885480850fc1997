//! `at:` of an action in; out: the list or the map inside the item, `foods`, or one of its elements, `foods[id =
//! :foodId]`. Must not know what is written.

use super::acting::Acting;
use super::directive::Verb;
use crate::schema::diagnostics::diagnostic::Findings;
use crate::schema::diagnostics::rules;
use crate::schema::diagnostics::span;
use crate::schema::diagnostics::span::{At, Span};
use crate::schema::diagnostics::suggestion::suggest;
use crate::schema::expression::lexer::{Token, tokens};
use crate::schema::expression::operand::Comparator;
use crate::schema::model::source::{Source, TextPart};
use crate::schema::model::write::Element;
use crate::schema::scalar::form::MapForm;
use crate::schema::scalar::value_type::ValueType;
use crate::schema::types::draft::StoredFields;
use crate::schema::types::inputs::depth_of;
use crate::schema::types::{computed, inputs, values};
use std::ops::Range;
use std::sync::Arc;

/// An element, and its type with the fields that a write may give: all but the key that names an entry of a map.
type WrittenElement = (Element, (String, StoredFields));

/// Checks `at:`; the outer `None` if it has a mistake.
pub fn read_at(acting: &Acting, findings: &mut Findings) -> Option<Option<WrittenElement>> {
    let Some(written) = &acting.directive.at else { return Some(None) };
    let element = read_element(acting, written, findings)?;
    let mut record = acting.writing.draft.records.get(&element.element)?.clone();
    if let (Some(map), Some(_)) = (&element.map, &element.by) {
        record.shift_remove(&map.by.field);
    }
    let of = element.element.clone();
    Some(Some((element, (of, record))))
}

fn read_element(acting: &Acting, written: &At<String>, findings: &mut Findings) -> Option<Element> {
    let place = |range: &Range<usize>| span::within(acting.writing.draft.text, &written.span, range);
    let (words, mistakes) = tokens(&written.value);
    let words: Vec<(&Token, Span)> = words.iter().map(|word| (&word.token, place(&word.span))).collect();
    let malformed = |findings: &mut Findings, span: &Span| {
        let help = "write the list, `foods`, or one of its elements, `foods[id = :foodId]`";
        findings.error(rules::KF0714, span, "`at:` must name a list or one of its elements", Some(help.into()));
    };
    if let Some(mistake) = mistakes.first() {
        malformed(findings, &place(&mistake.span));
        return None;
    }
    let (name, by) = match words.as_slice() {
        [(Token::Word(list), span)] => ((*list, span), None),
        [
            (Token::Word(list), span),
            (Token::Mark('['), _),
            (Token::Word(field), field_span),
            (Token::Comparator(Comparator::Equal), _),
            (value, value_span),
            (Token::Mark(']'), _),
        ] => ((*list, span), Some(((*field, field_span), (*value, value_span)))),
        _ => {
            malformed(findings, &written.span);
            return None;
        }
    };
    let (attribute, element, map) = list_of(acting, name, findings)?;
    if let (Some(map), Some((field, _))) = (&map, &by) {
        check_key(&name, (map, field), findings)?;
    }
    let by = match by {
        Some((field, value)) => Some(named_by(acting, (&element, map.is_some()), (field, value), findings)?),
        None => None,
    };
    let key = map.as_ref().map_or("id", |map| &map.by.field);
    check_use(acting, (name.0, key, by.is_some()), findings)?;
    check_expression(acting, map.is_some(), findings)?;
    Some(Element { field: name.0.to_owned(), attribute, element, by, map, expression: None })
}

/// The entries of a map have no other name than their key.
fn check_key((list, _): &Named, (map, (field, span)): (&MapForm, &Named), findings: &mut Findings) -> Option<()> {
    let key = &map.by.field;
    if field == key {
        return Some(());
    }
    let message = format!("`{list}` is stored as a map by `{key}`, so `{field}` does not find an entry");
    findings.error(rules::KF0714, span, message, Some(format!("write `at: \"{list}[{key} = :{key}]\"`").into()));
    None
}

/// Only an update of an entry of a map has an expression.
fn check_expression(acting: &Acting, is_map: bool, findings: &mut Findings) -> Option<()> {
    let directive = acting.directive;
    if directive.expression.is_none() || (is_map && directive.verb == Verb::Update) {
        return Some(());
    }
    let message =
        format!("`expression:` does not go with this `{}`: `at:` sets fields of one element", directive.name());
    findings.error(rules::KF0720, &directive.span, message, Some("leave `expression:` out".into()));
    None
}

/// A stored list of embedded objects: its attribute, their type, and the map that keeps it.
type ListOfObjects = (String, String, Option<Arc<MapForm>>);

fn list_of(acting: &Acting, (name, span): (&str, &Span), findings: &mut Findings) -> Option<ListOfObjects> {
    let lists = || {
        let embedded = acting.record.iter().filter(|(_, declared)| depth_of(&declared.ty) == 1);
        embedded.filter(|(_, declared)| declared.value.embedded().is_some()).map(|(name, _)| name.as_str())
    };
    let declared = acting.record.get(name).filter(|_| lists().any(|list| list == name));
    let of = declared.and_then(|declared| Some((declared, declared.value.embedded()?)));
    let Some((declared, element)) = of else {
        let message = format!("`{name}` is not a stored list of embedded objects in `{}`", acting.item);
        findings.error(rules::KF0714, span, message, suggest(name, lists()));
        return None;
    };
    let map = if let ValueType::Map(map) = &declared.value { Some(map.clone()) } else { None };
    Some((declared.attribute.clone(), element.clone(), map))
}

type Named<'a> = (&'a str, &'a Span);

/// The field that identifies an element, its attribute, and what it must equal.
fn named_by(
    acting: &Acting,
    (element, is_map): (&str, bool),
    ((field, field_span), (value, span)): (Named, (&Token, &Span)),
    findings: &mut Findings,
) -> Option<(String, String, Source)> {
    let writing = &acting.writing;
    let record = writing.draft.records.get(element)?;
    let single = |name: &str| {
        record.get(name).filter(|declared| !declared.ty.is_list() && values::stored_key_type(&declared.value).is_some())
    };
    let Some(declared) = single(field) else {
        let message = format!("`{field}` is not a field of `{element}` that can identify an element");
        findings.error(
            rules::KF0714,
            field_span,
            message,
            computed::help_beside(writing.draft, record, field)
                .or_else(|| suggest(field, record.keys().map(String::as_str).filter(|name| single(name).is_some()))),
        );
        return None;
    };
    let source = match value {
        Token::Argument(name) => {
            let Some(input) = inputs::input(writing.draft.schema, writing.field, name) else {
                let choices: Vec<String> = inputs::arguments(writing.field).map(|input| input.name).collect();
                let message = format!("the argument `{name}` does not exist");
                findings.error(rules::KF0714, span, message, suggest(name, choices.iter().map(String::as_str)));
                return None;
            };
            let fits = input.value(writing.draft.schema).is_some_and(|value| values::fits(&value, &declared.value));
            if !fits || depth_of(input.ty) > 0 || input.nullable {
                let message =
                    format!("`:{name}` of type `{}` cannot identify a `{element}` by its `{field}`", input.ty);
                let help = format!("make it `{}!`", declared.ty.inner_named_type());
                findings.error(rules::KF0714, span, message, Some(help.into()));
                return None;
            }
            Source::Argument(input.name)
        }
        Token::Text(text)
            if matches!(declared.value.plain(), ValueType::Id | ValueType::String)
                || (is_map && !text.is_empty() && declared.value.coerce(&text.as_str().into()).is_ok()) =>
        {
            Source::Text(vec![TextPart::Literal(text.clone())])
        }
        _ => {
            let help = "write an argument such as `:foodId`, or, for text, a literal such as `'milk'`";
            findings.error(
                rules::KF0714,
                span,
                format!("this is not a value of `{element}.{field}`"),
                Some(help.into()),
            );
            return None;
        }
    };
    Some((field.to_owned(), declared.attribute.clone(), source))
}

/// A put appends an element, or with `replace: true` overwrites a named one. An update and a delete need a named one.
fn check_use(acting: &Acting, (list, key, names_one): (&str, &str, bool), findings: &mut Findings) -> Option<()> {
    let (message, help) = match (acting.directive.verb, names_one) {
        (Verb::Put, true) if !acting.directive.replace => (
            "`@put` appends an element, so `at:` names only the list".to_owned(),
            format!("write `at: \"{list}\"`, or `replace: true`"),
        ),
        (Verb::Put, false) if acting.directive.replace => (
            "`replace:` overwrites an element, so `at:` must name it".to_owned(),
            format!("write `at: \"{list}[{key} = :{key}]\"`"),
        ),
        (Verb::Update | Verb::Delete, false) => (
            format!("`{}` works on one element, so `at:` must name it", acting.directive.name()),
            format!("write `at: \"{list}[{key} = :{key}]\"`"),
        ),
        _ => return Some(()),
    };
    let span = acting.directive.at.as_ref().map_or(&acting.directive.span, |at| &at.span);
    findings.error(rules::KF0714, span, message, Some(help.into()));
    None
}
