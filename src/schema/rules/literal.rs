//! Texts that name no argument in: the words in them, and whether a field can hold what they make. Must not know who
//! writes the value.

use crate::schema::diagnostics::diagnostic::Findings;
use crate::schema::diagnostics::rules;
use crate::schema::diagnostics::span::Span;
use crate::schema::model::rules::DefaultPart;
use crate::schema::scalar::aws::AwsScalar;
use crate::schema::scalar::value_type::ValueType;
use crate::schema::types::draft::{Declared, StoredFields};
use crate::schema::types::values;
use serde_json::Value;

/// The text of an embedded object that has nothing but its defaults.
pub const EMPTY_OBJECT: &str = "{}";

/// The longest offset of `{now+…}`, in seconds: a hundred years of 366 days.
const MAX_LENGTH: i64 = 100 * 366 * 86_400;

/// The part that a word in braces is: `uuid`, `uuid7`, `now`, `now+24h`. `None` if it is no word; `Err` on a mistake in
/// it, which is reported.
pub fn word(inner: &str, place: &Span, findings: &mut Findings) -> Option<Result<DefaultPart, ()>> {
    match inner {
        "uuid" => return Some(Ok(DefaultPart::Uuid)),
        "uuid7" => return Some(Ok(DefaultPart::Uuid7)),
        "now" => return Some(Ok(DefaultPart::Now { offset: 0 })),
        _ => {}
    }
    let offset = inner.strip_prefix("now").filter(|rest| rest.starts_with(['+', '-']))?;
    Some(seconds(offset).map(|offset| DefaultPart::Now { offset }).ok_or_else(|| {
        let help = "write a number and a unit, s, m, h, d or w: `{now+24h}`, `{now-1d12h}`";
        findings.error(rules::KF0802, place, format!("`{offset}` is not a duration"), Some(help.into()));
    }))
}

/// The seconds of an offset such as `+24h` or `-1d12h`.
fn seconds(written: &str) -> Option<i64> {
    let (sign, mut rest) = match written.split_at_checked(1)? {
        ("-", rest) => (-1, rest),
        ("+", rest) => (1, rest),
        _ => return None,
    };
    let mut total: i64 = 0;
    while !rest.is_empty() {
        let digits = rest.find(|letter: char| !letter.is_ascii_digit())?;
        let number: i64 = rest[..digits].parse().ok()?;
        let unit = match rest[digits..].chars().next()? {
            's' => 1,
            'm' => 60,
            'h' => 3_600,
            'd' => 86_400,
            'w' => 604_800,
            _ => return None,
        };
        total =
            number.checked_mul(unit).and_then(|more| total.checked_add(more)).filter(|total| *total <= MAX_LENGTH)?;
        rest = &rest[digits + 1..];
    }
    (written.len() > 1).then_some(sign * total)
}

/// Describes what the parts make if the field's type cannot hold it, to complete "cannot be …". `record` has the fields
/// that they may name.
pub fn misfit(
    declared: &Declared,
    record: Option<&StoredFields>,
    parts: &[DefaultPart],
    hashed: bool,
) -> Option<String> {
    use ValueType as V;
    let kind = &declared.value;
    let free = matches!(kind.plain(), V::Id | V::String) && !declared.ty.is_list();
    let alone = match parts {
        [part] => Some(part),
        _ => None,
    };
    match alone {
        // No form of a text takes a hash or a UUID: neither a number nor a text of AppSync.
        _ if matches!(kind, V::InForm(..)) && hashed => Some("a hash, which its form does not take".to_owned()),
        _ if matches!(kind, V::InForm(..)) && parts.iter().any(is_uuid) => {
            Some("a UUID, which its form does not take".to_owned())
        }
        _ if hashed => (!free).then(|| "a hash, which is text".to_owned()),
        Some(DefaultPart::Literal(text)) if declared.ty.is_list() => {
            (text != "[]").then(|| format!("\"{text}\"; the only text of a list is \"[]\""))
        }
        _ if declared.ty.is_list() => Some("a text with placeholders, because it is a list".to_owned()),
        Some(DefaultPart::Literal(text)) => (!is_value(kind, text)).then(|| format!("\"{text}\"")),
        Some(DefaultPart::Uuid | DefaultPart::Uuid7) => (!free).then(|| "a UUID, which is text".to_owned()),
        Some(DefaultPart::Claim(_)) => (!free).then(|| "a claim, which is text".to_owned()),
        Some(DefaultPart::Now { .. }) => {
            let fits = kind.as_aws().map_or(matches!(kind.in_api(), V::DateTime(_) | V::String), AwsScalar::takes_now);
            (!fits).then(|| "a time; that is a DateTime".to_owned())
        }
        Some(DefaultPart::Field(other)) => {
            let fits =
                record.and_then(|record| record.get(other)).is_some_and(|from| values::fits(&from.value, kind) || free);
            (!fits).then(|| format!("the value of `{other}`"))
        }
        None => (!free).then(|| "a text".to_owned()),
    }
}

fn is_uuid(part: &DefaultPart) -> bool {
    matches!(part, DefaultPart::Uuid | DefaultPart::Uuid7)
}

/// Whether a literal is a value of the type as clients write it; for an enum, the value's name.
fn is_value(kind: &ValueType, text: &str) -> bool {
    match kind {
        ValueType::Enum(values) => values.stored.contains_key(text),
        ValueType::Json => serde_json::from_str::<Value>(text).is_ok(),
        ValueType::Embedded(_) => text == EMPTY_OBJECT,
        ValueType::Set(_) => false,
        kind if kind.is_time() => kind.coerce(&Value::from(text)).is_ok(),
        // Not each value of the plain type has the form.
        ValueType::InForm(plain, _) => {
            let value = match **plain {
                ValueType::Enum(_) => Some(Value::from(text)),
                _ => plain.from_text(text),
            };
            value.is_some_and(|value| kind.coerce(&value).is_ok())
        }
        _ => kind.from_text(text).is_some(),
    }
}

#[cfg(test)]
mod tests {
    use super::seconds;

    #[test]
    fn lengths_of_time_have_units() {
        for (written, read) in [
            ("+24h", Some(86_400)),
            ("-30m", Some(-1_800)),
            ("+1d12h", Some(129_600)),
            ("+2w", Some(1_209_600)),
            ("+90s", Some(90)),
            ("+", None),
            ("+24", None),
            ("+h", None),
            ("+1y", None),
            ("+99999999999999999999d", None),
            ("+é", None),
        ] {
            assert_eq!(seconds(written), read, "{written}");
        }
    }
}
