//! Attributes and values → JSON bytes, straight into the response.

use super::misfit::Misfit;
use super::writer::{PathStep, ValueFault, Writer, json};
use crate::execute::error::ErrorCode;
use crate::execute::values::decode;
use crate::schema::scalar::value_type::{Moment, ValueType};
use crate::table::data::attribute::Attribute;
use crate::table::json::string::push_text;
use apollo_compiler::ast::Type;

/// The form of a written instant, in three words of eight bytes: `0` is any digit, and every other byte is itself.
const INSTANT: [[u8; 8]; 3] = [*b"0000-00-", *b"00T00:00", *b":00.000Z"];
/// 127 less the most by which a byte may differ from the form: 9 for a digit, 0 for any other byte.
const MISSING: [[u8; 8]; 3] = {
    let mut missing = [[127; 8]; 3];
    let mut at = 0;
    while at < 24 {
        if INSTANT[at / 8][at % 8] == b'0' {
            missing[at / 8][at % 8] = 127 - 9;
        }
        at += 1;
    }
    missing
};

/// Whether a text is an instant in the form that is written, `2026-11-20T09:30:00.000Z`, so that it need not be parsed.
/// Days that not every month has are left to the calendar.
fn is_canonical_instant(text: &str) -> bool {
    let Ok(bytes) = <&[u8; 24]>::try_from(text.as_bytes()) else { return false };
    let words = bytes.as_chunks::<8>().0;
    let two = |at: usize| 10 * (bytes[at] - b'0') + (bytes[at + 1] - b'0');
    words.iter().zip(INSTANT).zip(MISSING).all(|((word, form), missing)| has_form(*word, form, missing))
        && (1..=12).contains(&two(5))
        && (1..=28).contains(&two(8))
        && two(11) < 24
        && two(14) < 60
        && two(17) < 60
}

/// Whether eight bytes have a form. All eight are compared at once. A byte that differs by more than it may sets its
/// highest bit when `missing` is added to the difference.
fn has_form(bytes: [u8; 8], form: [u8; 8], missing: [u8; 8]) -> bool {
    let differences = u64::from_ne_bytes(bytes) ^ u64::from_ne_bytes(form);
    (differences.wrapping_add(u64::from_ne_bytes(missing)) | differences) & u64::from_ne_bytes([1 << 7; 8]) == 0
}

/// Whether a number is written as JSON writes the float of its value: few digits, no exponent, no needless zeros.
fn is_canonical_float(number: &str) -> bool {
    let number = number.as_bytes();
    let unsigned = number.strip_prefix(b"-").unwrap_or(number);
    let (whole, rest) = unsigned.split_at(digits(unsigned));
    let is_whole = (1..=9).contains(&whole.len()) && (whole == b"0" || !whole.starts_with(b"0"));
    let is_fraction = match rest {
        [] => true,
        [b'.', fraction @ ..] => {
            (1..=4).contains(&fraction.len()) && digits(fraction) == fraction.len() && !fraction.ends_with(b"0")
        }
        _ => false,
    };
    is_whole && is_fraction && number != b"-0"
}

/// How many digits a text begins with.
fn digits(text: &[u8]) -> usize {
    text.iter().take_while(|byte| byte.is_ascii_digit()).count()
}

impl Writer<'_> {
    /// Writes a stored scalar, enum or list of them.
    pub(super) fn attribute(&mut self, ty: &Type, kind: &ValueType, attribute: &Attribute) -> Result<(), ValueFault> {
        if matches!(attribute, Attribute::Null) {
            if ty.is_non_null() {
                Misfit::note(&mut self.body.misfit, "NULL");
            }
            return self.missing(ty, || format!("The stored value is null, but its type is {ty}."));
        }
        match ty {
            Type::List(item) | Type::NonNullList(item) => {
                let owned;
                let (values, kind) = match (attribute, kind) {
                    (Attribute::L(values), ValueType::Set(element)) => (values, &**element),
                    (Attribute::L(values), kind) => (values, kind),
                    (set, ValueType::Set(element)) => {
                        owned = decode::elements(set).ok_or_else(|| self.misfit(ty, set))?;
                        (&owned, &**element)
                    }
                    _ => return Err(self.misfit(ty, attribute)),
                };
                self.body.data.push(b'[');
                for (position, value) in values.iter().enumerate() {
                    if position > 0 {
                        self.body.data.push(b',');
                    }
                    self.within(PathStep::Index(position), |writer| {
                        writer.nullable(item, |writer| writer.attribute(item, kind, value))
                    })?;
                }
                self.body.data.push(b']');
                Ok(())
            }
            _ => self.scalar(ty, kind, attribute),
        }
    }

    fn scalar(&mut self, ty: &Type, kind: &ValueType, attribute: &Attribute) -> Result<(), ValueFault> {
        match (kind, attribute) {
            (ValueType::Id | ValueType::String, Attribute::S(value)) => push_text(&mut self.body.data, value),
            (ValueType::Boolean, Attribute::Bool(value)) => {
                self.body.data.extend_from_slice(if *value { b"true" } else { b"false" })
            }
            (ValueType::Int, Attribute::N(number)) if let Ok(value) = number.parse::<i32>() => {
                self.body.data.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
            }
            (ValueType::Long, Attribute::N(number)) if let Ok(value) = number.parse::<i64>() => {
                self.body.data.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
            }
            (ValueType::DateTime(Moment::Text), Attribute::S(value)) if is_canonical_instant(value) => {
                push_text(&mut self.body.data, value)
            }
            (ValueType::Float, Attribute::N(number)) if is_canonical_float(number) => {
                self.body.data.extend_from_slice(number.as_bytes())
            }
            _ => match decode::scalar(kind, attribute) {
                Some(value) => json(&mut self.body.data, &value),
                None => return Err(self.misfit(ty, attribute)),
            },
        }
        Ok(())
    }

    pub(super) fn misfit(&mut self, ty: &Type, attribute: &Attribute) -> ValueFault {
        Misfit::note(&mut self.body.misfit, attribute.descriptor());
        self.error(ErrorCode::Internal, format!("The stored value does not fit the type {ty}."))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::Value;

    proptest! {
        #[test]
        fn what_is_written_as_it_stands_is_what_would_be_written(number in "-?[0-9]{1,10}(\\.[0-9]{1,5})?", instant in "20[12][0-9]-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-6][0-9]:[0-6][0-9]\\.[0-9]{3}[Z0]") {
            if is_canonical_float(&number) {
                prop_assert_eq!(ValueType::Float.from_text(&number).unwrap().to_string(), number);
            }
            if is_canonical_instant(&instant) {
                prop_assert_eq!(ValueType::DateTime(Moment::Text).from_text(&instant), Some(Value::from(instant)));
            }
        }
    }

    #[test]
    fn a_form_is_kept_byte_by_byte() {
        let instant = "2026-11-20T09:30:00.000Z";
        for at in 0..instant.len() {
            for byte in 0..=127 {
                let mut bytes = instant.as_bytes().to_vec();
                bytes[at] = byte;
                let text = String::from_utf8(bytes).unwrap();
                let is_instant =
                    ValueType::DateTime(Moment::Text).from_text(&text).is_some_and(|value| value == text.as_str());
                assert!(!is_canonical_instant(&text) || is_instant, "{text}");
                assert!(is_canonical_instant(&text) || !is_instant || &text[8..10] > "28", "{text}");
            }
        }
    }

    #[test]
    fn usual_values_are_written_as_they_stand() {
        for number in ["0", "7", "-12.5", "0.0001", "123456789.1234"] {
            assert!(is_canonical_float(number), "{number}");
        }
        for number in ["", "-", "-0", "007", "1.50", "1.", ".5", "1E2", "0.00001", "1234567890"] {
            assert!(!is_canonical_float(number), "{number}");
        }
        assert!(is_canonical_instant("2026-11-20T09:30:00.000Z"));
        for text in [
            "2026-11-20T09:30:00Z",
            "2026-02-30T09:30:00.000Z",
            "2026-11-20T24:00:00.000Z",
            "2026-11-20t09:30:00.000Z",
            "ä026-11-20T09:30:0.000Z",
        ] {
            assert!(!is_canonical_instant(text), "{text}");
        }
    }
}
