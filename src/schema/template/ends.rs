//! The parts of a template with the limits of their free texts in; out, where each free text ends that neither a
//! literal after it nor the end of the key ends. Must not know the template's text.
//!
//! Such a text ends at one place, which reading finds without a choice:
//!
//! - after as many characters as all of its values have,
//! - before the first byte that none of its values has, if what follows begins with no other,
//! - as many characters before the end of the key, or before the first of some byte, as what stands between has.
//!
//! The limits that show the place are needed: a value that breaks them is not written, and no text has it.

use super::syntax::SpannedPart;
use crate::schema::scalar::date_time::DATE_LENGTH;
use crate::schema::scalar::form::Form;
use crate::schema::scalar::time_form::FixedPart;
use crate::schema::scalar::value_type::ValueType;
use crate::schema::template::automaton::{Automaton, ByteSet};
use crate::schema::template::limits::{Limits, TextEnd};
use crate::schema::template::part::Part;
use crate::schema::template::{form, texts};
use std::sync::Arc;

/// Whether a literal after free text shows where the text ends, since [`super::escape`] keeps it out of the text. It
/// begins with neither `%` nor an upper-case hexadecimal digit.
pub fn ends_text(literal: &str) -> bool {
    !literal.starts_with(|letter| matches!(letter, '%' | '0'..='9' | 'A'..='F'))
}

/// Gives the free texts their limits, and their ends where the limits show them. A text has no end if a part after it
/// could not be read.
pub fn settle(parts: &mut [SpannedPart], of_field: &dyn Fn(&str) -> Option<Limits>) {
    let read_from = parts.iter().rposition(|spanned| spanned.part.is_none()).map_or(0, |unread| unread + 1);
    let mut read: Vec<Part> = parts.iter().skip(read_from).filter_map(|spanned| spanned.part.clone()).collect();
    for part in &mut read {
        if let Part::Placeholder { field, value, limits, .. } = part
            && form::is_free_text(value)
        {
            let own = of_field(field);
            let own = match value.case() {
                Some(case) => own.map(|limits| limits.folded(case)),
                None => own,
            };
            *limits = own.map(Arc::new);
        }
    }
    show(&mut read);
    parts.iter_mut().skip(read_from).zip(read).for_each(|(spanned, part)| spanned.part = Some(part));
}

/// From the last to the first: an end may depend on those after it.
fn show(parts: &mut [Part]) {
    for position in (0..parts.len()).rev() {
        if let Some((end, needed)) = end(parts, position) {
            let Some(Part::Placeholder { limits, .. }) = parts.get_mut(position) else { continue };
            let mut own = limits.as_deref().cloned().unwrap_or(Limits::NONE);
            own.end = Some(end);
            *limits = Some(Arc::new(own));
            needed.into_iter().for_each(|position| need(&mut parts[position]));
        }
    }
}

/// Makes the limits of a part needed.
pub(super) fn need(part: &mut Part) {
    if let Part::Placeholder { limits: Some(limits), .. } = part {
        Arc::make_mut(limits).is_needed = true;
    }
}

/// Where the free text at a position ends, and the positions of the limits that show it. `None` if it needs no end, or
/// has none.
fn end(parts: &[Part], position: usize) -> Option<(TextEnd, Vec<usize>)> {
    let Part::Placeholder { value, limits, .. } = parts.get(position)? else { return None };
    let rest = parts.get(position + 1..).filter(|rest| !rest.is_empty() && form::is_free_text(value))?;
    let limits = limits.as_deref().unwrap_or(&Limits::NONE);
    if let Some(count) = limits.characters.filter(|count| *count > 0 && !is_ended(rest)) {
        return Some((TextEnd::After(count), vec![position]));
    }
    match rest {
        [Part::Literal(literal), ..] if ends_text(literal) => None,
        [Part::Literal(literal), ..] => {
            let is_other = literal.bytes().take(1).all(|first| !limits.bytes.has(first));
            is_other.then(|| (TextEnd::BeforeOther, vec![position]))
        }
        _ => before_other(limits, rest)
            .map(|count| (TextEnd::BeforeOther, (position..=position + count).collect()))
            .or_else(|| back(limits, rest).map(|(end, count)| (end, positions(&end, position, count)))),
    }
}

/// The limits that an end counted back from a place needs. Those of the text itself count only where it must not hold
/// the place's byte.
fn positions(end: &TextEnd, position: usize, count: usize) -> Vec<usize> {
    let own = matches!(end, TextEnd::Back { to: Some(_), .. }).then_some(position);
    own.into_iter().chain(position + 1..=position + count).collect()
}

/// Whether a literal ends the text before these parts.
fn is_ended(rest: &[Part]) -> bool {
    matches!(rest, [Part::Literal(literal), ..] if ends_text(literal))
}

/// How many of the parts after a text decide that they begin with no byte of it. `None` if they may begin with one.
fn before_other(limits: &Limits, rest: &[Part]) -> Option<usize> {
    let count = rest.iter().position(|part| !may_be_empty(part)).map_or(rest.len(), |last| last + 1);
    let mut rest = rest.to_vec();
    rest.iter_mut().take(count).for_each(need);
    (!first_bytes(&rest).meets(limits.bytes)).then_some(count)
}

/// The bytes with which the texts of these parts may begin.
fn first_bytes(parts: &[Part]) -> ByteSet {
    texts::automaton(&parts.iter().collect::<Vec<_>>()).first()
}

fn may_be_empty(part: &Part) -> bool {
    match part {
        Part::Literal(_) => false,
        Part::Placeholder { value, limits, .. } if form::is_free_text(value) => {
            limits.as_ref().is_none_or(|limits| limits.least == 0)
        }
        Part::Placeholder { value, .. } => matches!(value, ValueType::Claim),
    }
}

/// The end of a text that is counted back from the key's end, or from a literal whose first byte neither the text nor
/// what stands between has; and how many parts stand between.
fn back(limits: &Limits, rest: &[Part]) -> Option<(TextEnd, usize)> {
    let count = |parts: &[Part], all: &[Part]| -> Option<usize> {
        (0..parts.len()).map(|position| characters(all, position)).sum()
    };
    if let Some(characters) = count(rest, rest) {
        return Some((TextEnd::Back { characters, to: None, parts: rest.len() }, rest.len()));
    }
    let between = rest.iter().position(|part| matches!(part, Part::Literal(_)))?;
    let Some(Part::Literal(literal)) = rest.get(between) else { return None };
    let first = literal.bytes().next()?;
    let texts: Automaton = texts::automaton(&rest.iter().take(between).collect::<Vec<_>>());
    if limits.bytes.has(first) || texts.bytes().has(first) {
        return None;
    }
    let characters = count(&rest[..between], rest)?;
    Some((TextEnd::Back { characters, to: Some(first), parts: between + 1 }, between))
}

/// How many characters the part at a position has in every spelling, if that is one number.
fn characters(parts: &[Part], position: usize) -> Option<usize> {
    match parts.get(position)? {
        Part::Literal(literal) => Some(literal.chars().count()),
        Part::Placeholder { value, limits, .. } if form::is_free_text(value) => {
            let next = parts.get(position + 1).and_then(Part::literal);
            limits.as_ref()?.characters_before(next)
        }
        Part::Placeholder { width: Some(width), .. } => Some(usize::from(*width)),
        Part::Placeholder { value: ValueType::Date, .. } => Some(DATE_LENGTH),
        Part::Placeholder { value: ValueType::InForm(kind, form), .. } => match (&**kind, &**form) {
            (ValueType::Date | ValueType::LocalDateTime, Form::Time(form)) => {
                let count = |part: FixedPart<'_>| match part {
                    FixedPart::Literal(literal) => literal.chars().count(),
                    FixedPart::Digits(count) => count,
                };
                Some(form.text_parts().map(count).sum())
            }
            _ => None,
        },
        Part::Placeholder { value: ValueType::Enum(values), .. } => {
            let mut lengths = values.stored.values().map(|text| text.chars().count());
            let first = lengths.next()?;
            lengths.all(|length| length == first).then_some(first)
        }
        Part::Placeholder { .. } => None,
    }
}
