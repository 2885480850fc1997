//! Whether a template can be inverted: its parts in; out, every place where two different values could make the same
//! text.
//!
//! A text is read from left to right. A part that begins at a known place ends at a known place if it is a literal, if
//! its form has a fixed length or ends by itself (an instant, a Boolean), if it is free text before a literal
//! ([`super::escape`]) or its limits show its end ([`super::ends`]), or if it is the last part. Two kinds remain. An
//! unpadded number or a claim ends only before a character that cannot continue it. An enum may have a value that
//! begins another.

use super::ends::ends_text;
use super::syntax::SpannedPart;
use crate::schema::scalar::value_type::{EnumValues, ValueType};
use crate::schema::template::part::{Part, TemplateMistake, TemplateMistakeKind};
use crate::schema::template::{form, texts};
use std::ops::Range;

/// All reasons why a template cannot be inverted, each with the position of the part whose text has no clear end. A
/// part is not judged if the parts after it, which decide, could not
/// be read.
pub fn mistakes(parts: &[SpannedPart]) -> Vec<(usize, TemplateMistake)> {
    let mut found = Vec::new();
    for (position, SpannedPart { span, part }) in parts.iter().enumerate() {
        let Some(part @ Part::Placeholder { field, value, .. }) = part else { continue };
        let next = parts.get(position + 1);
        let reason = match value {
            ValueType::Binary => {
                (parts.len() > 1).then(|| format!("`{field}` is Binary, so it must be the whole key."))
            }
            ValueType::Enum(values) => unlike_values(field, values, &parts[position + 1..]),
            // The limits of later parts may show where this one ends.
            _ if parts[position + 1..].iter().any(|later| later.part.is_none()) => None,
            _ => next.and_then(|next| runs_on(part, next.part.as_ref()?)),
        };
        if let Some(why) = reason {
            let span: Range<usize> = span.start..next.map_or(span.end, |next| next.span.end);
            let last = next.filter(|_| position + 2 == parts.len()).and_then(|next| next.part.as_ref());
            let texts = [Some(part), last].into_iter().flatten().filter_map(free_text);
            let lengths = if free_text(part).is_some() { texts.collect() } else { Vec::new() };
            let kind = TemplateMistakeKind::NotInvertible { why, lengths };
            found.push((position, TemplateMistake { span, kind }));
        }
    }
    found
}

/// The field of a free text.
fn free_text(part: &Part) -> Option<String> {
    match part {
        Part::Placeholder { field, value, .. } if form::is_free_text(value) => Some(field.clone()),
        _ => None,
    }
}

/// Why the end of free text or of a number cannot be found.
fn runs_on(part: &Part, next: &Part) -> Option<String> {
    let Part::Placeholder { field, value, .. } = part else { return None };
    let (free, continuations) = (form::is_free_text(value), form::continuations(part));
    if part.end().is_some() || !free && continuations.is_empty() {
        return None;
    }
    match next {
        Part::Placeholder { field: next, .. } => Some(format!(
            "The end of `{field}` and the start of `{next}` are ambiguous; put a separator such as # between them."
        )),
        Part::Literal(literal) if free && !ends_text(literal) => Some(format!(
            "`{literal}` after `{field}` begins with a character of escapes (% 0-9 A-F); put a separator such as # before it."
        )),
        Part::Literal(literal) if !free && literal.starts_with(|letter| continuations.contains(letter)) => {
            Some(format!(
                "`{literal}` after `{field}` could be part of its value; put a separator such as # before it{}.",
                if form::is_number(value) { ", or pad the number" } else { "" }
            ))
        }
        Part::Literal(_) => None,
    }
}

/// Why two values of an enum cannot be distinguished, given the parts that follow.
fn unlike_values(field: &str, values: &EnumValues, rest: &[SpannedPart]) -> Option<String> {
    let name = &values.name;
    // A part that could not be read has been reported itself.
    // Limits that are not relied on may be forgotten.
    let rest: Vec<Part> = rest.iter().map(|spanned| Some(spanned.part.as_ref()?.relied_on())).collect::<Option<_>>()?;
    let rest: Vec<&Part> = rest.iter().collect();
    for (position, (value, stored)) in values.stored.iter().enumerate() {
        if stored.is_empty() {
            return Some(format!(
                "The value {value} of `{field}` ({name}) is stored as empty text, which a key cannot show."
            ));
        }
        for (other, text) in values.stored.iter().skip(position + 1) {
            if stored == text {
                return Some(format!(
                    "The values {value} and {other} of `{field}` ({name}) are both stored as `{stored}`."
                ));
            }
            let (short, long) = if stored.len() < text.len() { (stored, text) } else { (text, stored) };
            let Some(more) = long.strip_prefix(short.as_str()).map(|more| Part::Literal(more.to_owned())) else {
                continue;
            };
            let longer: Vec<&Part> = std::iter::once(&more).chain(rest.iter().copied()).collect();
            if texts::meet(&rest, &longer) {
                return Some(format!(
                    "The stored value `{short}` of `{field}` ({name}), together with the text after it, could also be `{long}`; put another separator after `{{{field}}}`."
                ));
            }
        }
    }
    None
}
