//! The syntax of templates: text in; out, parts with their places, or what is wrong with their braces, names and types.

use crate::schema::expression::claim::ClaimPath;
use crate::schema::scalar::form::Form;
use crate::schema::scalar::spread;
use crate::schema::scalar::spread::{AssignedNumbers, Spread, SpreadKind};
use crate::schema::scalar::time_form::TimeForm;
use crate::schema::scalar::value_type::ValueType;
use crate::schema::template::form;
use crate::schema::template::part::{MAX_KEY_BYTES, Part, TemplateMistake, TemplateMistakeKind};
use std::ops::Range;
use std::sync::Arc;

/// The most literals and placeholders in a template: more than any key design has. This bounds the recursion of
/// reading.
const MAX_PARTS: usize = 64;

/// A part with its byte range, or only the range if the part is a mistake.
pub struct SpannedPart {
    /// Byte range within the template's text.
    pub span: Range<usize>,
    /// The part, if it could be read.
    pub part: Option<Part>,
}

/// Reads a template's parts.
pub fn parse(text: &str, resolve: &dyn Fn(&str) -> Option<ValueType>) -> (Vec<SpannedPart>, Vec<TemplateMistake>) {
    let (mut parts, mut mistakes) = (Vec::new(), Vec::new());
    let mut at = 0;
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        let (length, part) = match rest.find(['{', '}']) {
            Some(0) if rest.starts_with("{{") => (2, Ok(Part::Literal("{".to_owned()))),
            Some(0) if rest.starts_with("}}") => (2, Ok(Part::Literal("}".to_owned()))),
            Some(0) if rest.starts_with('}') => {
                (1, malformed("This brace closes nothing; write `}}` for a brace in the key."))
            }
            Some(0) => match rest.find('}') {
                Some(end) => (end + 1, placeholder(&rest[1..end], resolve)),
                None => (rest.len(), malformed("This brace is not closed; write `{{` for a brace in the key.")),
            },
            Some(brace) => (brace, Ok(Part::Literal(rest[..brace].to_owned()))),
            None => (rest.len(), Ok(Part::Literal(rest.to_owned()))),
        };
        let span = at..at + length;
        at = span.end;
        match part {
            Ok(part) => push(&mut parts, SpannedPart { span, part: Some(part) }),
            Err(kind) => {
                mistakes.push(TemplateMistake { span: span.clone(), kind });
                parts.push(SpannedPart { span, part: None });
            }
        }
    }
    let whole = if text.is_empty() {
        Some("A template cannot be empty: DynamoDB has no empty keys.".to_owned())
    } else if text.len() > MAX_KEY_BYTES {
        Some(format!("A template cannot be longer than a key, which has at most {MAX_KEY_BYTES} bytes."))
    } else if parts.len() > MAX_PARTS {
        Some(format!("A template has at most {MAX_PARTS} parts."))
    } else {
        None
    };
    if let Some(sentence) = whole {
        mistakes.push(TemplateMistake { span: 0..text.len(), kind: TemplateMistakeKind::Malformed(sentence) });
    }
    (parts, mistakes)
}

/// Adds a part. A literal after a literal extends it.
fn push(parts: &mut Vec<SpannedPart>, next: SpannedPart) {
    match (parts.last_mut(), &next.part) {
        (Some(SpannedPart { span, part: Some(Part::Literal(literal)) }), Some(Part::Literal(more))) => {
            literal.push_str(more);
            span.end = next.span.end;
        }
        _ => parts.push(next),
    }
}

/// The inside of a pair of braces: `name`, `name:08`, `shard:10`, `replica:5` or `auth.claim`.
fn placeholder(inside: &str, resolve: &dyn Fn(&str) -> Option<ValueType>) -> Result<Part, TemplateMistakeKind> {
    if inside.starts_with("auth.") || inside.starts_with("auth[") {
        // The path is read again from its text, so only a path that this text gives back is one.
        let path = ClaimPath::parse(inside)
            .map(|path| path.to_string())
            .filter(|text| ClaimPath::parse(text) == ClaimPath::parse(inside));
        let malformed = || malformed(&format!("`{{{inside}}}` is not the path of a claim, such as `{{auth.tenant}}`."));
        return path.map_or_else(malformed, |field| {
            Ok(Part::Placeholder { field, value: ValueType::Claim, width: None, limits: None })
        });
    }
    let (name, format) = match inside.split_once(':') {
        Some((name, format)) => (name, Some(format)),
        None => (inside, None),
    };
    if !is_name(name) {
        return malformed(&format!("`{{{inside}}}` does not name a field; write `{{{{` for a brace in the key."));
    }
    let value = resolve(name);
    // For a field named `shard` or `replica`, a leading zero makes the number after the colon a padding width, not a
    // count.
    if let (Some(kind), Some(count)) = (SpreadKind::named(name), format)
        && (value.is_none() || !count.starts_with('0') || count.contains(".."))
    {
        return spread(kind, count);
    }
    let Some(value) = value else { return Err(TemplateMistakeKind::UnknownField(name.to_owned())) };
    if !form::is_key_type(&value) {
        return Err(TemplateMistakeKind::NotAKeyType(name.to_owned()));
    }
    if let Some(form) = format.filter(|_| value.is_time()) {
        return timed(name, &value, form);
    }
    if let Some(form) = format.and_then(case) {
        return match form::is_free_text(&value) {
            true => {
                let value = ValueType::InForm(Box::new(value), Arc::new(form));
                Ok(Part::Placeholder { field: name.to_owned(), value, width: None, limits: None })
            }
            false => malformed(&format!("`{name}` is {}, but only ID and String have a case.", value.name())),
        };
    }
    let width = format.map(|format| padding(name, &value, format)).transpose()?;
    Ok(Part::Placeholder { field: name.to_owned(), value, width, limits: None })
}

/// The width of a padded number.
fn padding(name: &str, value: &ValueType, format: &str) -> Result<u8, TemplateMistakeKind> {
    let sentence = match width(format) {
        _ if format.starts_with('%') => format!(
            "`{name}` has no form: only a DateTime, a LocalDateTime, a Date, and an AWSDateTime or an AWSDate with \
             `@attribute(form:)` have one."
        ),
        _ if !form::is_integer(value) => {
            format!("`{name}` is {}, but only Int and Long can be padded with zeros.", value.name())
        }
        Some(width) => return Ok(width),
        None => format!("To pad `{name}`, write a 0 and a width from 1 to {}: `{{{name}:08}}`.", form::WIDEST),
    };
    Err(TemplateMistakeKind::Malformed(sentence))
}

/// The case that a format names.
fn case(format: &str) -> Option<Form> {
    match format {
        "lower" => Some(Form::Lower),
        "upper" => Some(Form::Upper),
        _ => None,
    }
}

/// A time in a form.
fn timed(name: &str, kind: &ValueType, form: &str) -> Result<Part, TemplateMistakeKind> {
    let value = TimeForm::parse(form).and_then(|form| kind.in_form(form)).map_err(TemplateMistakeKind::Malformed)?;
    Ok(Part::Placeholder { field: name.to_owned(), value, width: None, limits: None })
}

/// A shard or replica with the count, or the assigned numbers, that the text gives.
fn spread(kind: SpreadKind, text: &str) -> Result<Part, TemplateMistakeKind> {
    let word = kind.word();
    let spread = match text.split_once("..") {
        Some((first, last)) => assigned(kind, first, last)?,
        None => {
            let digits = !text.starts_with('0') && text.bytes().all(|byte| byte.is_ascii_digit());
            let fits = |count: &u8| digits && (spread::MIN_SPREAD..=spread::MAX_SPREAD).contains(count);
            let Some(count) = text.parse().ok().filter(fits) else {
                return Err(TemplateMistakeKind::Spread(format!(
                    "The number of {word}s in `{{{word}:{text}}}` must be from {} to {}.",
                    spread::MIN_SPREAD,
                    spread::MAX_SPREAD
                )));
            };
            Spread { kind, count, assigned: None }
        }
    };
    Ok(Part::Placeholder {
        field: spread.placeholder(),
        value: ValueType::Spread(spread),
        width: spread.width(),
        limits: None,
    })
}

/// The most digits of an assigned number.
const MOST_DIGITS: usize = 9;

/// The shards with these first and last numbers, which other programs assigned.
fn assigned(kind: SpreadKind, first: &str, last: &str) -> Result<Spread, TemplateMistakeKind> {
    let mistake = |why: &str| {
        Err(TemplateMistakeKind::Spread(format!("The numbers in `{{{}:{first}..{last}}}` {why}.", kind.word())))
    };
    if kind == SpreadKind::Replica {
        return mistake("are for shards: Keyfold counts replicas from 0");
    }
    let digits = |text: &str| text.len() <= MOST_DIGITS && text.bytes().all(|byte| byte.is_ascii_digit());
    let (true, Ok(from), Ok(to)) = (digits(first) && digits(last), first.parse::<u32>(), last.parse::<u32>()) else {
        return mistake("must have from one to nine digits, such as `{shard:01..10}`");
    };
    if first.len() != last.len() {
        return mistake("must have as many digits as each other, as the keys have them");
    }
    let count = to.checked_sub(from).and_then(|more| u8::try_from(more.saturating_add(1)).ok());
    match count.filter(|count| (spread::MIN_SPREAD..=spread::MAX_SPREAD).contains(count)) {
        Some(count) => {
            let width = u8::try_from(first.len()).unwrap_or(form::WIDEST);
            Ok(Spread { kind, count, assigned: Some(AssignedNumbers { first: from, width }) })
        }
        None => {
            let (least, most) = (spread::MIN_SPREAD, spread::MAX_SPREAD);
            mistake(&format!("must rise, and there must be from {least} to {most} of them"))
        }
    }
}

/// The width in a format: 8 in `08`.
fn width(format: &str) -> Option<u8> {
    let digits = format.strip_prefix('0').filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()))?;
    let width: u8 = digits.parse().ok()?;
    (!digits.starts_with('0') && width <= form::WIDEST).then_some(width)
}

/// Whether the text is a name (GraphQL spec section 2.1.9, "Names").
fn is_name(text: &str) -> bool {
    let letter = |byte: u8| byte.is_ascii_alphabetic() || byte == b'_';
    text.bytes().next().is_some_and(letter) && text.bytes().all(|byte| letter(byte) || byte.is_ascii_digit())
}

fn malformed(sentence: &str) -> Result<Part, TemplateMistakeKind> {
    Err(TemplateMistakeKind::Malformed(sentence.to_owned()))
}
