//! An access path and its order in, a warning out if keys sort differently from values. Must not choose paths.
//!
//! With `{name}#{id}`, compare the keys `Ann#1` and `Ann Lee#2`. After `Ann`, the first goes on with `#` and the second
//! with a space, which sorts before `#`. So the key of `Ann Lee` comes first, although the value `Ann` does. This
//! happens only if one value begins another that goes on with a character not above the separator. The checker does not
//! know which characters values hold. It assumes that an `ID` holds none below `-` and a `String` none below the space,
//! unless a `@constraint` says more.

use crate::schema::diagnostics::diagnostic::Findings;
use crate::schema::diagnostics::help::Help;
use crate::schema::diagnostics::rules;
use crate::schema::finds::paging::Order;
use crate::schema::finds::wanted::FindContext;
use crate::schema::keys::text_limits::{ONE_LENGTH, text_limits};
use crate::schema::model::find::{Access, AccessPath, SortAccess};
use crate::schema::scalar::aws::AwsScalar;
use crate::schema::scalar::value_type::ValueType;
use crate::schema::table::KeyType;
use crate::schema::template::part::Part;
use crate::schema::types::draft::Declared;
use regex_syntax::hir::{Class, Hir, HirKind};

/// Warns if the separator after the field may sort at or above the next character of a longer value.
pub fn check(wanted: &FindContext, path: &AccessPath, order: &Order, findings: &mut Findings) {
    let Some(field) = order.field.as_deref() else { return };
    let Some(separator) = separator(wanted, path, field) else { return };
    let Some(declared) = wanted.record.get(field).filter(|declared| is_doubtful(declared, separator)) else { return };
    let example = match declared.value {
        ValueType::String if separator > ' ' => "`Ann Lee` before `Ann`",
        _ => "the longer before the shorter",
    };
    let message = format!(
        "keys do not always sort as `{field}` does: `{separator}` follows it in the key, so two values sort wrongly if the longer continues the shorter with a character up to `{separator}` ({example})"
    );
    let mut help =
        format!("end the sort key of an index with it: `{{{field}}}`; the keys of an index need not be unique");
    if !matches!(declared.value, ValueType::Enum(_)) {
        help.push_str(&format!("; or exclude such characters from `{field}`, or give it one length: {ONE_LENGTH}"));
    }
    findings.warning(rules::KF0433, &order.span, message, Some(help.into()));
}

/// The first character of the literal that follows the field, if items come sorted by the field.
fn separator(wanted: &FindContext, path: &AccessPath, field: &str) -> Option<char> {
    let Access::Query { sort, .. } = &path.access else { return None };
    let key = path.keys(wanted.table).sort.filter(|key| key.kind == KeyType::S)?;
    let templates = wanted.keys.keys.get(&key.name)?;
    let (template, parts) = match sort {
        SortAccess::All => (0, 0),
        SortAccess::Prefix { template, parts } | SortAccess::Range { template, parts, .. } => (*template, *parts),
        SortAccess::Equal { .. } => return None,
    };
    match templates.get(template)?.parts.get(parts..)? {
        [Part::Placeholder { field: next, .. }, Part::Literal(text), ..] if next == field => text.chars().next(),
        _ => None,
    }
}

/// Whether one value of the field may begin another that goes on with a character up to the separator.
fn is_doubtful(declared: &Declared, separator: char) -> bool {
    let constraint = declared.rules.constraint.as_ref();
    let has_one_length = constraint.and_then(text_limits).is_some_and(|limits| limits.characters.is_some());
    let lowest = match &declared.value {
        ValueType::Enum(values) => {
            let texts = || values.stored.values();
            let goes_on = |text: &String, longer: &String| longer.strip_prefix(text.as_str())?.chars().next();
            return texts()
                .any(|text| texts().filter_map(|longer| goes_on(text, longer)).any(|next| next <= separator));
        }
        _ if has_one_length => return false,
        ValueType::Id => '-',
        ValueType::String => ' ',
        _ => return false,
    };
    let pattern = constraint.and_then(|rule| rule.pattern.as_deref());
    // If no match of the pattern holds a character, no value can go on with one.
    let by_pattern =
        pattern.and_then(|pattern| Some(lowest_of(&regex_syntax::parse(pattern).ok()?).unwrap_or(char::MAX)));
    by_pattern.unwrap_or(lowest) <= separator
}

/// The lowest character in the texts that a pattern matches; `None` if they hold no character.
fn lowest_of(pattern: &Hir) -> Option<char> {
    match pattern.kind() {
        HirKind::Empty | HirKind::Look(_) => None,
        HirKind::Literal(text) => String::from_utf8_lossy(&text.0).chars().min(),
        HirKind::Class(Class::Unicode(class)) => class.ranges().iter().map(|range| range.start()).min(),
        HirKind::Class(Class::Bytes(class)) => class.ranges().iter().map(|range| char::from(range.start())).min(),
        HirKind::Repetition(repetition) => lowest_of(&repetition.sub),
        HirKind::Capture(capture) => lowest_of(&capture.sub),
        HirKind::Concat(parts) | HirKind::Alternation(parts) => parts.iter().filter_map(lowest_of).min(),
    }
}

/// Why the keys that have a field do not sort as its values do: the form in which one has it, or that it has none.
pub fn unsorted(wanted: &FindContext, field: &str) -> Option<Help> {
    let scalar = wanted.record.get(field).and_then(|declared| declared.value.as_aws());
    if let Some(scalar) = scalar.filter(|scalar| !scalar.sorts()) {
        let name = scalar.name();
        let remedy = match scalar {
            AwsScalar::DateTime => "; say its form, such as `@attribute(form: \"%Y-%m-%dT%H:%M:%S.%3fZ\")`",
            AwsScalar::Date => "; say its form: `@attribute(form: \"%Y-%m-%d\")`",
            _ => "",
        };
        return Some(
            format!("a key has the {name} as it was given, which does not sort as its values do{remedy}").into(),
        );
    }
    let form = wanted.keys.placeholders_of(field).filter_map(ValueType::time_form).find(|form| !form.sorts())?;
    Some(format!("a key has it as `{}`, which does not sort as its values do", form.text()).into())
}

#[cfg(test)]
mod tests {
    use super::lowest_of;

    #[test]
    fn a_pattern_tells_the_lowest_character() {
        let lowest = |pattern: &str| regex_syntax::parse(pattern).ok().as_ref().and_then(lowest_of);
        assert_eq!(lowest("[a-z]+(-[a-z]+)*"), Some('-'));
        assert_eq!(lowest("(?i:[k-m]|0x)"), Some('0'));
        assert_eq!(lowest("."), Some('\0'));
        assert_eq!(lowest("^$"), None);
    }
}
