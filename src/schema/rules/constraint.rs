//! `@constraint` in, the checked constraint out, or what is wrong with it. Must not know values.

use crate::schema::diagnostics::diagnostic::Findings;
use crate::schema::diagnostics::rules;
use crate::schema::diagnostics::suggestion::suggest;
use crate::schema::model::rules::{Constraint, Format};
use crate::schema::scalar::value_type::ValueType;
use crate::schema::syntax::directives::{argument, named, place, text};
use apollo_compiler::Node;
use apollo_compiler::ast::{Directive, Type};

const FORMATS: [(&str, Format); 4] =
    [("email", Format::Email), ("ulid", Format::Ulid), ("url", Format::Url), ("uuid", Format::Uuid)];

/// The field or argument that a constraint is on.
pub struct ConstraintTarget<'a> {
    /// `Type.field` or `Type.field.argument`.
    pub coordinate: String,
    /// Its type as declared.
    pub ty: &'a Type,
}

/// The constraint; `None` if there is a mistake in it. `value` is the innermost type, `None` for an input object.
pub fn read_constraint(
    what: &ConstraintTarget,
    value: Option<&ValueType>,
    directive: &Node<Directive>,
    findings: &mut Findings,
) -> Option<Constraint> {
    let element = match value {
        Some(ValueType::Set(element)) => Some(&**element),
        other => other,
    };
    let fits = [
        check_type(what, element, (directive, &["minLength", "maxLength", "pattern", "format"]), findings),
        check_type(what, element, (directive, &["min", "max"]), findings),
    ];
    let (min_length, max_length) =
        (length(what, directive, "minLength", findings)?, length(what, directive, "maxLength", findings)?);
    let number = |name: &str| argument(directive, name).and_then(|value| value.to_f64());
    let (min, max) = (number("min"), number("max"));
    let lengths = ordered(
        what,
        directive,
        ("minLength", min_length.map(|length| length as f64)),
        ("maxLength", max_length.map(|length| length as f64)),
        findings,
    );
    let bounds = ordered(what, directive, ("min", min), ("max", max), findings);
    let pattern = pattern(directive, findings)?;
    let format = format(directive, findings)?;
    let empty = min_length.is_none()
        && max_length.is_none()
        && pattern.is_none()
        && format.is_none()
        && min.is_none()
        && max.is_none();
    if empty {
        let help = "add `minLength`, `maxLength`, `pattern`, `format`, `min` or `max`";
        findings.error(
            rules::KF0805,
            &named(directive),
            format!("the `@constraint` of `{}` is empty", what.coordinate),
            Some(help.into()),
        );
        return None;
    }
    let sound = fits == [true, true] && lengths && bounds;
    sound.then_some(Constraint { min_length, max_length, pattern, format, min, max })
}

/// Lengths, patterns and formats need text; bounds need numbers. On a list, they apply to its elements.
fn check_type(
    what: &ConstraintTarget,
    value: Option<&ValueType>,
    (directive, names): (&Node<Directive>, &[&str]),
    findings: &mut Findings,
) -> bool {
    let texts = names.contains(&"pattern");
    let fits = match value.map(ValueType::plain) {
        Some(ValueType::Id | ValueType::String) => texts,
        Some(ValueType::Int | ValueType::Long | ValueType::Float | ValueType::Decimal) => !texts,
        _ => false,
    };
    let Some(first) = names.iter().find(|name| argument(directive, name).is_some()).filter(|_| !fits) else {
        return true;
    };
    let (of, help) = match texts {
        true => ("texts", "use it on String and ID"),
        false => ("numbers", "use it on Int, Long, Float and Decimal"),
    };
    let message = format!("`{first}` is for {of}, but `{}` is `{}`", what.coordinate, what.ty);
    findings.error(rules::KF0805, &place(directive, first), message, Some(help.into()));
    false
}

/// A length; the outer `None` is a mistake.
fn length(
    what: &ConstraintTarget,
    directive: &Node<Directive>,
    name: &str,
    findings: &mut Findings,
) -> Option<Option<u64>> {
    let Some(written) = argument(directive, name).and_then(|value| value.to_i32()) else { return Some(None) };
    let length = u64::try_from(written).ok();
    if length.is_none() {
        let message = format!("a text of `{}` cannot have {written} characters", what.coordinate);
        findings.error(rules::KF0806, &place(directive, name), message, Some("a length is 0 or more".into()));
    }
    length.map(Some)
}

/// The lower limit must not be more than the upper one.
fn ordered(
    what: &ConstraintTarget,
    directive: &Node<Directive>,
    (lower, least): (&str, Option<f64>),
    (upper, greatest): (&str, Option<f64>),
    findings: &mut Findings,
) -> bool {
    let (Some(least), Some(greatest)) = (least, greatest) else { return true };
    if least <= greatest {
        return true;
    }
    let message = format!("no value of `{}` can satisfy {lower} {least} and {upper} {greatest}", what.coordinate);
    findings.error(rules::KF0806, &place(directive, lower), message, Some("change one of the bounds".into()));
    false
}

fn pattern(directive: &Node<Directive>, findings: &mut Findings) -> Option<Option<String>> {
    let Some(written) = text(directive, "pattern") else { return Some(None) };
    match regex::Regex::new(&written.value) {
        Ok(_) => Some(Some(written.value)),
        Err(error) => {
            // The `regex` crate prints the pattern over several lines, and the last line says what is wrong.
            let printed = error.to_string();
            let why = printed.lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned();
            let help =
                "a pattern is a regular expression without look-around and back-references; it matches the whole text";
            findings.error(
                rules::KF0807,
                &written.span,
                format!("this pattern is not a regular expression: {why}"),
                Some(help.into()),
            );
            None
        }
    }
}

fn format(directive: &Node<Directive>, findings: &mut Findings) -> Option<Option<Format>> {
    let Some(written) = text(directive, "format") else { return Some(None) };
    let known = FORMATS.iter().find(|(name, _)| *name == written.value).map(|(_, format)| *format);
    if known.is_none() {
        let help = suggest(&written.value, FORMATS.iter().map(|(name, _)| *name));
        findings.error(rules::KF0808, &written.span, format!("the format `{}` does not exist", written.value), help);
    }
    known.map(Some)
}
