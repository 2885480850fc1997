//! The forms of placeholders: a type and a value in, its text out; a type and a text in, the places where the value's
//! text may end out. Must not know what surrounds a placeholder.
//!
//! | type | text |
//! |---|---|
//! | ID, String | free: any text |
//! | enum | one of its stored texts |
//! | Int, Long | `-?digits` without needless zeros; padded: exactly as many digits as its width |
//! | Float, Decimal | a numeral, written in its canonical text |
//! | DateTime | an instant, written in its canonical 24 characters |
//! | Date | 10 characters |
//! | Boolean | `true` or `false` |
//! | any of these in a form | as many characters as the form has; a number as its digits |
//! | claim of the caller | its own letters and digits, all else as `%XX` |
//! | Binary | base64, only as a whole key |
//! | shard, replica | its number in plain digits, below their count; an assigned number padded to its width |

use crate::schema::scalar::claim_text;
use crate::schema::scalar::date_time::{DATE_LENGTH, INSTANT_LENGTH, instant_lengths, is_canonical_instant};
use crate::schema::scalar::decimal::numeral_length;
use crate::schema::scalar::form::Form;
use crate::schema::scalar::time_form::{TimeForm, usual};
use crate::schema::scalar::value_type::ValueType;
use crate::schema::template::part::Part;
use serde_json::Value;

/// The widest padded number: DynamoDB keeps 38 digits of a number.
pub const WIDEST: u8 = 38;

/// Which texts of a value are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spelling {
    /// Only the text that [`write`] writes.
    Own,
    /// Every text that stands for the value.
    Any,
    /// That, and times in the usual forms of other programs: to tell what is amiss with a text.
    Guessed,
}

/// Whether a key can contain the type at all.
pub fn is_key_type(kind: &ValueType) -> bool {
    !matches!(kind, ValueType::Json | ValueType::Embedded(_) | ValueType::Set(_) | ValueType::Map(_))
}

/// Whether any text is a value of the type. What follows such a value must show where it ends.
pub fn is_free_text(kind: &ValueType) -> bool {
    matches!(kind, ValueType::Id | ValueType::String) || kind.case().is_some()
}

/// Whether the type is a number. As text, numbers sort in numeric order only if they are padded.
pub fn is_number(kind: &ValueType) -> bool {
    matches!(kind.in_api(), ValueType::Int | ValueType::Long | ValueType::Float | ValueType::Decimal)
}

/// Whether the type is an integer, which may be padded.
pub fn is_integer(kind: &ValueType) -> bool {
    matches!(kind.in_api(), ValueType::Int | ValueType::Long)
}

/// Whether a text may stand for a value of the type without being the one that is written.
pub fn has_spellings(kind: &ValueType) -> bool {
    matches!(kind, ValueType::Float | ValueType::Decimal) || kind.is_time() || kind.case().is_some()
}

/// The characters that could continue a value where a shorter one ends. Only unpadded numbers, including those of
/// shards and replicas, and claims have some.
pub fn continuations(part: &Part) -> &'static str {
    match part {
        Part::Placeholder { value: ValueType::InForm(kind, form), width: None, .. } => match (&**kind, &**form) {
            (ValueType::Float | ValueType::Decimal, Form::Text) => "0123456789.eE",
            (ValueType::Int | ValueType::Long, Form::Text) | (ValueType::Id, Form::Number) => "0123456789.",
            _ => "",
        },
        Part::Placeholder { value: ValueType::Int | ValueType::Long | ValueType::Spread(_), width: None, .. } => {
            "0123456789"
        }
        Part::Placeholder { value: ValueType::Float | ValueType::Decimal, .. } => "0123456789.eE",
        Part::Placeholder { value: ValueType::Claim, .. } => claim_text::CHARACTERS,
        _ => "",
    }
}

/// The text of a value that is not null; the error is a sentence.
pub fn write(kind: &ValueType, width: Option<u8>, value: &Value) -> Result<String, String> {
    let Some(text) = kind.to_text(value) else {
        return Err(kind.coerce(value).err().unwrap_or_else(|| format!("{} cannot be part of a key.", kind.name())));
    };
    match width.map(usize::from) {
        None => Ok(text),
        Some(_) if text.starts_with('-') => Err(format!("{text} is negative, but a padded number must be 0 or more.")),
        Some(width) if text.len() > width => {
            Err(format!("{text} has more than the {width} digits that its placeholder allows."))
        }
        Some(width) => Ok(format!("{text:0>width$}")),
    }
}

/// The possible lengths of a value's text at the beginning of `text`, in the order in which to try them. Not for free
/// text.
pub fn lengths((kind, width): (&ValueType, Option<u8>), spelling: Spelling, text: &str) -> Vec<usize> {
    if spelling == Spelling::Guessed && kind.is_time() {
        let guessed = usual(text).into_iter().map(TimeForm::length);
        return lengths((kind, width), Spelling::Any, text).into_iter().chain(guessed).collect();
    }
    let begins = |stored: &&str| text.starts_with(*stored);
    match kind {
        ValueType::Enum(values) => {
            let mut lengths: Vec<usize> =
                values.stored.values().map(String::as_str).filter(begins).map(str::len).collect();
            lengths.sort_unstable_by(|a, b| b.cmp(a));
            lengths
        }
        ValueType::Int | ValueType::Long | ValueType::Spread(_) => {
            let is_signed = width.is_none() && !matches!(kind, ValueType::Spread(_));
            let sign = usize::from(is_signed && text.starts_with('-'));
            let digits = text.bytes().skip(sign).take_while(u8::is_ascii_digit).count();
            match width.map(usize::from) {
                Some(width) if digits >= width => vec![width],
                None if digits > 0 => vec![sign + digits],
                _ => Vec::new(),
            }
        }
        ValueType::Float | ValueType::Decimal => numeral_length(text).into_iter().collect(),
        ValueType::Claim => vec![text.find(|sign| !claim_text::CHARACTERS.contains(sign)).unwrap_or(text.len())],
        ValueType::DateTime(_) if spelling == Spelling::Own => {
            let length = text.get(..INSTANT_LENGTH).filter(|text| is_canonical_instant(text)).map(str::len);
            length.into_iter().collect()
        }
        ValueType::DateTime(_) => instant_lengths(text),
        ValueType::Date => text.get(..DATE_LENGTH).map(str::len).into_iter().collect(),
        ValueType::Boolean => ["true", "false"].iter().filter(|word| begins(word)).map(|word| word.len()).collect(),
        ValueType::InForm(kind, form) => match (&**form, &**kind) {
            (Form::Time(form), kind) => {
                let own = text.get(..form.length()).filter(|text| form.read(text).is_some()).map(str::len);
                let others = match (kind, spelling) {
                    (ValueType::DateTime(_), Spelling::Any | Spelling::Guessed) => instant_lengths(text),
                    _ => Vec::new(),
                };
                own.into_iter().chain(others).collect()
            }
            // A case is free text.
            (Form::Lower | Form::Upper, _) => Vec::new(),
            (Form::Number, ValueType::Boolean) => text.get(..1).map(str::len).into_iter().collect(),
            (Form::Number, ValueType::Id) => numeral_length(text).into_iter().collect(),
            (Form::Text | Form::Number | Form::Aws(_), kind) => lengths((kind, width), spelling, text),
        },
        // Binary is the only part of its template.
        ValueType::Binary => vec![text.len()],
        ValueType::LocalDateTime
        | ValueType::Id
        | ValueType::String
        | ValueType::Json
        | ValueType::Embedded(_)
        | ValueType::Set(_)
        | ValueType::Map(_) => Vec::new(),
    }
}

/// The value of a text whose length is one of [`lengths`].
pub fn read((kind, width): (&ValueType, Option<u8>), spelling: Spelling, text: &str) -> Option<Value> {
    if spelling == Spelling::Guessed && kind.is_time() {
        return read((kind, width), Spelling::Any, text).or_else(|| kind.guessed(text));
    }
    if let (ValueType::InForm(own, form), Spelling::Any | Spelling::Guessed) = (kind, spelling) {
        return match form.as_time() {
            Some(_) => kind.from_text(text).or_else(|| kind.cut(&Value::from(text))),
            None if form.is_case() => own.from_text(&form.fold(text)),
            None => kind.from_text(text),
        };
    }
    match width {
        None if spelling == Spelling::Own => kind.from_own_text(text),
        None => kind.from_text(text),
        Some(_) => match text.trim_start_matches('0') {
            "" => kind.from_text("0"),
            digits => kind.from_text(digits),
        },
    }
}
