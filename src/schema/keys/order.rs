//! A part of a key in; out, whether keys sort as its values do, and whether it shows where its text ends. Must not know
//! finds.

use crate::schema::diagnostics::help::Help;
use crate::schema::scalar::value_type::ValueType;
use crate::schema::table::KeyType;
use crate::schema::template::limits::TextEnd;
use crate::schema::template::part::Part;
use crate::schema::types::draft::StoredFields;

/// Whether keys sort as the values of this part do. Numbers do so only if they are padded or the key is a number. Free
/// text before a literal does so, except where one value begins another: there the literal is compared with the rest of
/// the longer value. Free text before another value does so only if it has one length.
pub fn keeps_order(part: &Part, kind: KeyType) -> bool {
    let Part::Placeholder { value, width, .. } = part else { return false };
    match value {
        _ if matches!(part.end(), Some(TextEnd::BeforeOther | TextEnd::Back { .. } | TextEnd::Unread)) => false,
        _ if kind != KeyType::S => true,
        ValueType::Id | ValueType::String | ValueType::Enum(_) | ValueType::DateTime(_) | ValueType::Date => true,
        ValueType::Int | ValueType::Long => width.is_some(),
        ValueType::InForm(_, form) => form.sorts(),
        _ => false,
    }
}

/// Whether no value's text is a prefix of another's.
pub fn ends_itself(part: &Part) -> bool {
    let Part::Placeholder { value, width, .. } = part else { return true };
    match value {
        _ if matches!(part.end(), Some(TextEnd::After(_))) => true,
        ValueType::DateTime(_) | ValueType::Date | ValueType::Boolean => true,
        ValueType::InForm(_, form) => form.as_time().is_some(),
        ValueType::Enum(values) => {
            let begins_another =
                |text: &String| values.stored.values().any(|other| other != text && other.starts_with(text.as_str()));
            !values.stored.values().any(begins_another)
        }
        _ => width.is_some(),
    }
}

/// How the keys of a number sort as numbers do: only whole numbers can be padded.
pub fn padded(record: &StoredFields, field: &str, placeholder: &str) -> Help {
    match record.get(field).map(|declared| &declared.value) {
        Some(ValueType::Int | ValueType::Long) => {
            Help::instead(format!("pad it: `{{{field}:08}}`"), placeholder, format!("{{{field}:08}}"))
        }
        _ => "only whole numbers can be padded: make it an Int, or make the sort key a number, `sortKeyType: N`".into(),
    }
}
