//! Which texts a template can be: its parts in, the set of their texts out. Whatever asks whether two keys can be
//! confused asks here.
//!
//! A set holds at least every text that the template reads. It holds no others but numbers that are too large for their
//! type, days that no calendar has, and free texts that are longer than their limits allow, or are escaped.

use crate::schema::scalar::claim_text;
use crate::schema::scalar::form::Form;
use crate::schema::scalar::time_form::FixedPart;
use crate::schema::scalar::value_type::ValueType;
use crate::schema::template::automaton::{Automaton, ByteSet};
use crate::schema::template::form;
use crate::schema::template::limits::Limits;
use crate::schema::template::part::Part;

const NOT_ZERO: ByteSet = ByteSet::new("123456789");
/// The digits of an escape.
const HEX: &str = "0123456789ABCDEF";
/// What stands for a character that is escaped.
const ESCAPES: ByteSet = ByteSet::new("%0123456789ABCDEF");
const UPPER: ByteSet = ByteSet::new("ABCDEFGHIJKLMNOPQRSTUVWXYZ");
const LOWER: ByteSet = ByteSet::new("abcdefghijklmnopqrstuvwxyz");
const MINUS: ByteSet = ByteSet::new("-");

/// Whether some text could match both sequences of parts. A no is always right; a yes is conservative.
pub fn meet(left: &[&Part], right: &[&Part]) -> bool {
    automaton(left).meets(&automaton(right))
}

/// The texts of these parts.
pub fn automaton(parts: &[&Part]) -> Automaton {
    build(parts, &|_| ByteSet::ANY)
}

/// Those of the texts of these parts that are surely read: a text in one case, which may be escaped, has no letter of
/// the other.
pub fn automaton_of_case(parts: &[&Part]) -> Automaton {
    build(parts, &bytes_of_case)
}

/// The bytes of a free text that has one case.
fn bytes_of_case(value: &ValueType) -> ByteSet {
    match value {
        ValueType::InForm(_, form) if matches!(**form, Form::Lower) => ByteSet::ANY.without(UPPER),
        ValueType::InForm(_, form) if matches!(**form, Form::Upper) => ByteSet::ANY.without(LOWER),
        _ => ByteSet::ANY,
    }
}

/// The texts of these parts. A free text that a literal ends has these bytes.
fn build(parts: &[&Part], free: &dyn Fn(&ValueType) -> ByteSet) -> Automaton {
    let mut texts = Automaton::empty();
    let mut rest = parts.iter().peekable();
    while let Some(part) = rest.next() {
        match (part, rest.peek()) {
            (Part::Literal(literal), _) => texts.text(literal),
            (Part::Placeholder { limits: Some(limits), .. }, next) if shows_end(limits, next) => {
                let (bytes, most) = match next {
                    // Its texts may be escaped.
                    Some(_) if limits.end.is_none() && limits.bytes.has(b'%') => (limits.bytes.or(ESCAPES), None),
                    _ => (limits.bytes, limits.most),
                };
                texts.times(bytes, limits.least, most);
            }
            (Part::Placeholder { value, .. }, Some(Part::Literal(literal))) if form::is_free_text(value) => {
                texts.until(literal, free(value));
                rest.next();
            }
            (Part::Placeholder { value, width, .. }, _) => add_value(&mut texts, value, *width),
        }
    }
    texts
}

/// Whether the limits show where the texts end, before what follows.
fn shows_end(limits: &Limits, next: Option<&&&Part>) -> bool {
    match next {
        None => true,
        Some(_) if limits.end.is_some() => true,
        Some(Part::Literal(literal)) => literal.bytes().next().is_some_and(|first| !limits.bytes.has(first)),
        Some(Part::Placeholder { .. }) => false,
    }
}

fn add_value(texts: &mut Automaton, kind: &ValueType, width: Option<u8>) {
    match (kind, width) {
        (ValueType::Enum(values), _) => one_of(texts, values.stored.values().map(String::as_str)),
        (ValueType::Boolean, _) => one_of(texts, ["true", "false"].into_iter()),
        (ValueType::Spread(spread), _) => {
            let width = usize::from(spread.width().unwrap_or_default());
            let numbers: Vec<String> = spread.numbers().map(|number| format!("{number:0width$}")).collect();
            one_of(texts, numbers.iter().map(String::as_str));
        }
        (ValueType::Int | ValueType::Long, Some(width)) => digits(texts, width.into()),
        (ValueType::Int | ValueType::Long, None) => integer(texts),
        (ValueType::Decimal, _) => decimal(texts),
        (ValueType::Float, _) => {
            decimal(texts);
            texts.maybe(|texts| {
                texts.text("e");
                texts.maybe(|texts| texts.then(MINUS));
                texts.then(NOT_ZERO);
                texts.many(ByteSet::DIGITS);
            });
        }
        (ValueType::Claim, _) => claim(texts),
        (ValueType::Date, _) => date(texts),
        (ValueType::DateTime(_), _) => {
            date(texts);
            for (before, count) in [("T", 2), (":", 2), (":", 2), (".", 3)] {
                texts.text(before);
                digits(texts, count);
            }
            texts.text("Z");
        }
        (ValueType::InForm(kind, form), width) => match (&**form, &**kind) {
            (Form::Time(form), _) => form.text_parts().for_each(|part| match part {
                FixedPart::Literal(literal) => texts.text(literal),
                FixedPart::Digits(count) => digits(texts, count),
            }),
            (Form::Lower, _) => texts.many(ByteSet::ANY.without(UPPER)),
            (Form::Upper, _) => texts.many(ByteSet::ANY.without(LOWER)),
            (Form::Number, ValueType::Boolean) => one_of(texts, ["0", "1"].into_iter()),
            (Form::Number, ValueType::Id) => decimal(texts),
            (Form::Text | Form::Number | Form::Aws(_), kind) => add_value(texts, kind, width),
        },
        _ => texts.many(ByteSet::ANY),
    }
}

/// The text of a claim: kept bytes, and `%XX` for each byte of its other characters in UTF-8 (RFC 3629, section 4).
fn claim(texts: &mut Automaton) {
    let kept = (0..128).filter(|byte| claim_text::is_kept(*byte)).fold(ByteSet::NONE, ByteSet::with);
    let escape = |high: &str, low: &str| vec![ByteSet::new("%"), ByteSet::new(high), ByteSet::new(low)];
    let of_ascii = (0..8).map(|high| {
        let is_escaped = |low: &u8| !claim_text::is_kept(high << 4 | low);
        let low: String = (0..16).filter(is_escaped).map(|low| char::from(HEX.as_bytes()[usize::from(low)])).collect();
        escape(&high.to_string(), &low)
    });
    let next = escape("89AB", HEX);
    let begins = [
        (escape("C", "23456789ABCDEF"), 1),
        (escape("D", HEX), 1),
        ([escape("E", "0"), escape("AB", HEX)].concat(), 1),
        (escape("E", "123456789ABCEF"), 2),
        ([escape("E", "D"), escape("89", HEX)].concat(), 1),
        ([escape("F", "0"), escape("9AB", HEX)].concat(), 2),
        (escape("F", "123"), 3),
        ([escape("F", "4"), escape("8", HEX)].concat(), 2),
    ];
    let of_others = begins.into_iter().map(|(begin, more)| [begin, next.repeat(more)].concat());
    let characters: Vec<Vec<ByteSet>> = std::iter::once(vec![kept]).chain(of_ascii).chain(of_others).collect();
    let character =
        |bytes: Vec<ByteSet>| move |texts: &mut Automaton| bytes.into_iter().for_each(|bytes| texts.then(bytes));
    texts.repeated(|texts| texts.either(characters.into_iter().map(character)));
}

/// One of these texts.
fn one_of<'t>(texts: &mut Automaton, choices: impl Iterator<Item = &'t str>) {
    texts.either(choices.map(|text| move |texts: &mut Automaton| texts.text(text)));
}

/// A whole number without needless zeros, which is not `-0`.
fn integer(texts: &mut Automaton) {
    texts.either([zero, |texts: &mut Automaton| {
        texts.maybe(|texts| texts.then(MINUS));
        not_zero(texts);
    }]);
}

/// Plain digits without needless zeros.
fn decimal(texts: &mut Automaton) {
    texts.maybe(|texts| texts.then(MINUS));
    texts.either([zero, not_zero]);
    texts.maybe(|texts| {
        texts.text(".");
        texts.many(ByteSet::DIGITS);
        texts.then(NOT_ZERO);
    });
}

fn zero(texts: &mut Automaton) {
    texts.text("0");
}

fn not_zero(texts: &mut Automaton) {
    texts.then(NOT_ZERO);
    texts.many(ByteSet::DIGITS);
}

fn digits(texts: &mut Automaton, count: usize) {
    (0..count).for_each(|_| texts.then(ByteSet::DIGITS));
}

fn date(texts: &mut Automaton) {
    for (position, count) in [4, 2, 2].into_iter().enumerate() {
        if position > 0 {
            texts.text("-");
        }
        digits(texts, count);
    }
}
