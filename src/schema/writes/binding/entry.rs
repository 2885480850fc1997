//! An entry of `set:` or `where:` while it is read, its parts, and what it says. Must not know how it is read.

use crate::schema::diagnostics::diagnostic::Findings;
use crate::schema::diagnostics::rules;
use crate::schema::diagnostics::span::{self, At, Span};
use crate::schema::model::rules::{DefaultPart, DefaultValue};
use crate::schema::model::source::Source;
use crate::schema::types::draft::Declared;
use crate::schema::writes::acting::{Acting, FieldBinding};

/// An entry of a clause while it is read.
pub struct ClauseEntry<'a> {
    /// The action.
    pub acting: &'a Acting<'a>,
    /// The type whose field is bound.
    pub owner: &'a str,
    /// The field's name.
    pub field: &'a At<String>,
    /// The field.
    pub declared: &'a Declared,
    /// Whether a value may be made for it.
    pub makes: bool,
}

/// What an entry says.
pub enum SaidValue {
    /// Where the value comes from.
    Bound(FieldBinding),
    /// What is made for it.
    Made(At<DefaultValue>),
}

/// What a name in braces means; `None` if it is reported.
pub type NamedPart<'n> = dyn Fn(&str, &Span, &mut Findings) -> Option<ClausePart> + 'n;

/// Splits a text of the schema into literals and `{names}`, in order.
pub fn split(
    schema_text: &str,
    text: &At<String>,
    part: &NamedPart<'_>,
    findings: &mut Findings,
) -> Option<Vec<ClausePart>> {
    let mut parts = Vec::new();
    let (mut at, value) = (0, &text.value);
    while let Some(open) = value[at..].find('{').map(|found| at + found) {
        if open > at {
            parts.push(ClausePart::Literal(value[at..open].to_owned()));
        }
        let place = |end: usize| span::within(schema_text, &text.span, &(open..end));
        let Some(close) = value[open..].find('}').map(|found| open + found) else {
            let help = Some("a placeholder is `{name}`".into());
            findings.error(rules::KF0702, &place(value.len()), "this brace is not closed", help);
            return None;
        };
        parts.push(part(&value[open + 1..close], &place(close + 1), findings)?);
        at = close + 1;
    }
    if at < value.len() || parts.is_empty() {
        parts.push(ClausePart::Literal(value[at..].to_owned()));
    }
    Some(parts)
}

/// A part of a template in `set:` or `where:`.
pub enum ClausePart {
    /// As it stands.
    Literal(String),
    /// A name.
    Source(Source),
    /// A word such as `{now}`.
    Word(DefaultPart),
}
