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

/// The arguments about the number of a list's elements.
const COUNTS: [&str; 2] = ["minItems", "maxItems"];
const ARGUMENTS: [&str; 8] = ["minLength", "maxLength", "pattern", "format", "min", "max", "minItems", "maxItems"];

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
        check_list(what, directive, findings),
        check_type(what, element, (directive, &["minLength", "maxLength", "pattern", "format"]), findings),
        check_type(what, element, (directive, &["min", "max"]), findings),
    ];
    let mut whole = |name: &str| whole_number(what, directive, name, findings);
    let (min_length, max_length) = (whole("minLength")?, whole("maxLength")?);
    let (min_items, max_items) = (whole("minItems")?, whole("maxItems")?);
    let number = |name: &str| argument(directive, name).and_then(|value| value.to_f64());
    let (min, max) = (number("min"), number("max"));
    let as_number = |count: Option<u64>| count.map(|count| count as f64);
    let are_ordered = [
        ordered(what, directive, ("minLength", as_number(min_length)), ("maxLength", as_number(max_length)), findings),
        ordered(what, directive, ("minItems", as_number(min_items)), ("maxItems", as_number(max_items)), findings),
        ordered(what, directive, ("min", min), ("max", max), findings),
    ];
    let pattern = pattern(directive, findings)?;
    let format = format(directive, findings)?;
    if ARGUMENTS.iter().all(|name| argument(directive, name).is_none()) {
        let help = "add `minLength`, `maxLength`, `pattern`, `format`, `min`, `max`, `minItems` or `maxItems`";
        findings.error(
            rules::KF0805,
            &named(directive),
            format!("the `@constraint` of `{}` is empty", what.coordinate),
            Some(help.into()),
        );
        return None;
    }
    let sound = fits.into_iter().chain(are_ordered).all(|sound| sound);
    sound.then_some(Constraint { min_length, max_length, pattern, format, min, max, min_items, max_items })
}

/// The numbers of elements need a list.
fn check_list(what: &ConstraintTarget, directive: &Node<Directive>, findings: &mut Findings) -> bool {
    let Some(first) = COUNTS.iter().find(|name| argument(directive, name).is_some()).filter(|_| !what.ty.is_list())
    else {
        return true;
    };
    let message = format!("`{first}` is for lists, but `{}` is `{}`", what.coordinate, what.ty);
    findings.error(rules::KF0805, &place(directive, first), message, Some("use it on a list".into()));
    false
}

/// Nothing counts the elements of a stored list when an expression changes it.
pub fn refuse_count(what: &ConstraintTarget, directive: &Node<Directive>, findings: &mut Findings) {
    let Some(first) = COUNTS.iter().find(|name| argument(directive, name).is_some()) else { return };
    let message =
        format!("`{first}` is for arguments and fields of input objects, but `{}` is stored", what.coordinate);
    let help = "put it on the argument or the input field that gives the list";
    findings.error(rules::KF0805, &place(directive, first), message, Some(help.into()));
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
        true => ("texts", "use it on String and ID; a number has `min` and `max`"),
        false => ("numbers", "use it on Int, Long, Float and Decimal; a text has `minLength` and `maxLength`"),
    };
    let message = format!("`{first}` is for {of}, but `{}` is `{}`", what.coordinate, what.ty);
    findings.error(rules::KF0805, &place(directive, first), message, Some(help.into()));
    false
}

/// A length, or a number of elements; the outer `None` is a mistake.
fn whole_number(
    what: &ConstraintTarget,
    directive: &Node<Directive>,
    name: &str,
    findings: &mut Findings,
) -> Option<Option<u64>> {
    let Some(written) = argument(directive, name).and_then(|value| value.to_i32()) else { return Some(None) };
    let of_list = COUNTS.contains(&name);
    let number = u64::try_from(written).ok().filter(|number| *number > 0 || !of_list);
    if number.is_none() {
        let (message, help) = match of_list {
            true => {
                (format!("`{name}` of `{}` cannot be {written}", what.coordinate), "a number of elements is 1 or more")
            }
            false => {
                (format!("a text of `{}` cannot have {written} characters", what.coordinate), "a length is 0 or more")
            }
        };
        findings.error(rules::KF0806, &place(directive, name), message, Some(help.into()));
    }
    number.map(Some)
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
