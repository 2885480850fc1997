//! `@constraint`: checks a value. Must not know whose value it is.

use crate::schema::model::rules::{Constraint, Format};
use crate::schema::scalar::decimal::canonical_float;
use crate::schema::table::number;
use quick_cache::sync::Cache;
use regex::Regex;
use serde_json::Value;
use std::cmp::Ordering;
use std::sync::LazyLock;
use uuid::Uuid;

/// What is wrong with a value: one sentence for each broken rule, without the field's name as its subject ("must have
/// at most 30 characters, and has 31"). Lists are counted, and checked element by element. Null breaks no rule.
pub fn broken(constraint: &Constraint, value: &Value) -> Vec<String> {
    let of_elements = broken_elements(constraint, value).into_iter().map(|(_, sentence)| sentence);
    count_faults(constraint, value).into_iter().chain(of_elements).collect()
}

/// What is wrong with the number of elements of a list.
pub fn count_faults(constraint: &Constraint, value: &Value) -> Vec<String> {
    let Value::Array(elements) = value else { return Vec::new() };
    let count = u64::try_from(elements.len()).unwrap_or(u64::MAX);
    let least = constraint.min_items.filter(|least| count < *least);
    let most = constraint.max_items.filter(|most| count > *most);
    let fault = |(which, bound): (&str, u64)| {
        format!("must have {which} {bound} element{}, but has {count}", if bound == 1 { "" } else { "s" })
    };
    least.map(|least| ("at least", least)).into_iter().chain(most.map(|most| ("at most", most))).map(fault).collect()
}

/// The same, each with the positions of the element in its lists, from the outermost. They are empty for a single
/// value.
pub fn broken_elements(constraint: &Constraint, value: &Value) -> Vec<(Vec<usize>, String)> {
    match value {
        Value::Array(elements) => {
            let inside = |(position, element): (usize, &Value)| {
                let found = broken_elements(constraint, element).into_iter();
                found.map(move |(path, sentence)| (std::iter::once(position).chain(path).collect(), sentence))
            };
            elements.iter().enumerate().flat_map(inside).collect()
        }
        Value::Null | Value::Bool(_) | Value::Object(_) => Vec::new(),
        Value::String(text) => {
            let numbers = constraint.min.is_some() || constraint.max.is_some();
            let of_number = if numbers { number_faults(constraint, text) } else { Vec::new() };
            text_faults(constraint, text).into_iter().chain(of_number).map(|sentence| (Vec::new(), sentence)).collect()
        }
        Value::Number(number) => {
            number_faults(constraint, &number.to_string()).into_iter().map(|sentence| (Vec::new(), sentence)).collect()
        }
    }
}

/// A pattern, ready to match whole texts in time linear in their length; the error is a sentence. The syntax is that of
/// the crate `regex`: no look-around and no back references, which cannot be matched in linear time.
pub fn whole_text(pattern: &str) -> Result<Regex, String> {
    // Compile the pattern alone first, so that the group around it does not make `a)|(b` valid.
    let alone = Regex::new(pattern);
    // Put the end on a line of its own: in verbose mode, a comment at the end of the pattern would swallow it.
    let anchored = alone.and_then(|_| {
        Regex::new(&format!(r"\A(?:{pattern})\z")).or_else(|_| Regex::new(&format!("\\A(?:{pattern}\n)\\z")))
    });
    anchored.map_err(|mistake| match mistake {
        regex::Error::CompiledTooBig(_) => "The pattern is too large.".to_owned(),
        mistake => format!(
            "The pattern is not a regular expression: {}.",
            mistake.to_string().lines().last().unwrap_or_default()
        ),
    })
}

fn text_faults(constraint: &Constraint, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    if constraint.min_length.is_some() || constraint.max_length.is_some() {
        let length = u64::try_from(text.chars().count()).unwrap_or(u64::MAX);
        if let Some(least) = constraint.min_length.filter(|least| length < *least) {
            found.push(format!("must have at least {}, but has {length}", characters(least)));
        }
        if let Some(most) = constraint.max_length.filter(|most| length > *most) {
            found.push(format!("must have at most {}, but has {length}", characters(most)));
        }
    }
    if let Some(pattern) = constraint.pattern.as_ref().filter(|pattern| !matches(pattern, text)) {
        found.push(format!("must match the pattern {pattern}"));
    }
    found.extend(match constraint.format {
        Some(Format::Email) if !is_email(text) => Some("must be an e-mail address".to_owned()),
        Some(Format::Url) if !is_url(text) => Some("must be a URL that begins with http:// or https://".to_owned()),
        Some(Format::Uuid) if !is_uuid(text) => Some("must be a UUID".to_owned()),
        Some(Format::Ulid) if !is_ulid(text) => {
            Some("must be a ULID: 26 upper-case letters and digits, without I, L, O and U".to_owned())
        }
        _ => None,
    });
    found
}

fn characters(count: u64) -> String {
    format!("{count} character{}", if count == 1 { "" } else { "s" })
}

/// Compares decimals digit by digit, because 0.1 as a float is more than 0.1.
fn number_faults(constraint: &Constraint, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    if let Some(least) =
        constraint.min.filter(|least| !matches!(compare(text, *least), Some(Ordering::Greater | Ordering::Equal)))
    {
        found.push(format!("must be {least} or more, but is {text}"));
    }
    if let Some(most) =
        constraint.max.filter(|most| !matches!(compare(text, *most), Some(Ordering::Less | Ordering::Equal)))
    {
        found.push(format!("must be {most} or less, but is {text}"));
    }
    found
}

/// Compares a number in decimal text with a bound; `None` if it is not a number.
fn compare(text: &str, bound: f64) -> Option<Ordering> {
    let float = text.parse::<f64>().ok()?;
    match canonical_float(bound) {
        Some(bound) => Some(number::compare(text, &bound)),
        // Beyond DynamoDB's range a float is exact enough: no number of DynamoDB is near the bound.
        None => float.partial_cmp(&bound),
    }
}

/// Compiled patterns; there are as many as the schema has.
static PATTERNS: LazyLock<Cache<String, Regex>> = LazyLock::new(|| Cache::new(MAX_PATTERNS));
const MAX_PATTERNS: usize = 256;

/// Whether the whole text matches. An invalid pattern, which the checker refuses, matches nothing.
fn matches(pattern: &str, text: &str) -> bool {
    let compiled = match PATTERNS.get(pattern) {
        Some(compiled) => compiled,
        None => {
            let Ok(compiled) = whole_text(pattern) else { return false };
            PATTERNS.insert(pattern.to_owned(), compiled.clone());
            compiled
        }
    };
    compiled.is_match(text)
}

/// HTML living standard, "E-mail state (type=email)": valid e-mail address.
fn is_email(text: &str) -> bool {
    let Some((local, domain)) = text.split_once('@') else { return false };
    let in_local = |byte: u8| byte.is_ascii_alphanumeric() || b".!#$%&'*+/=?^_`{|}~-".contains(&byte);
    !local.is_empty() && local.bytes().all(in_local) && domain.split('.').all(is_label)
}

/// A label of a domain: letters, digits and, not at its ends, hyphens; at most 63 characters (RFC 1034, section 3.5).
fn is_label(label: &str) -> bool {
    let inside = label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    inside && (1..=63).contains(&label.len()) && !label.starts_with('-') && !label.ends_with('-')
}

/// `http` or `https`, a host, an optional port, and no white space (RFC 3986, section 3). Host names may contain
/// non-ASCII letters. A user's name and password before the host are refused: they do not belong in data (RFC 9110,
/// section 4.2.4).
fn is_url(text: &str) -> bool {
    let scheme = ["http://", "https://"]
        .into_iter()
        .find(|scheme| text.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme)));
    let Some(rest) = scheme.and_then(|scheme| text.get(scheme.len()..)) else { return false };
    if text.chars().any(|letter| letter.is_whitespace() || letter.is_control() || "\"<>\\^`{|}".contains(letter)) {
        return false;
    }
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let (host, port) = match authority.strip_prefix('[') {
        Some(literal) => {
            let Some((address, port)) = literal.split_once(']') else { return false };
            return address.parse::<std::net::Ipv6Addr>().is_ok()
                && (port.is_empty() || port.strip_prefix(':').is_some_and(is_port));
        }
        None => authority.split_once(':').map_or((authority, None), |(host, port)| (host, Some(port))),
    };
    let label = |label: &str| match label.is_ascii() {
        // Underscores are in use, although RFC 1034 does not allow them in host names.
        true => is_label(&label.replace('_', "a")),
        false => label.chars().all(|letter| letter.is_alphanumeric() || letter == '-' || !letter.is_ascii()),
    };
    host.strip_suffix('.').unwrap_or(host).split('.').all(label) && port.is_none_or(is_port)
}

fn is_port(text: &str) -> bool {
    text.is_empty() || (text.bytes().all(|byte| byte.is_ascii_digit()) && text.parse::<u16>().is_ok())
}

/// The ULID specification: 26 characters of Crockford's base 32. The first is at most 7, because 26 of them are two
/// bits more than the 128 of a ULID.
fn is_ulid(text: &str) -> bool {
    let is_digit = |byte: u8| byte.is_ascii_digit() || byte.is_ascii_uppercase() && !b"ILOU".contains(&byte);
    text.len() == 26 && text.bytes().all(is_digit) && text.as_bytes().first().is_some_and(|first| *first <= b'7')
}

/// The 36 characters of RFC 9562, section 4, in either case.
fn is_uuid(text: &str) -> bool {
    text.len() == 36 && Uuid::try_parse(text).is_ok()
}

#[cfg(test)]
#[path = "value_tests.rs"]
mod tests;
