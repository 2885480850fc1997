//! `@default` in, the parts of its value out, checked against the field's type. Must not know when the value is
//! written.

use crate::schema::diagnostics::diagnostic::Findings;
use crate::schema::diagnostics::help::Help;
use crate::schema::diagnostics::rules;
use crate::schema::diagnostics::span;
use crate::schema::diagnostics::span::{At, Span};
use crate::schema::diagnostics::suggestion::{list, suggest};
use crate::schema::expression::claim::ClaimPath;
use crate::schema::model::Field;
use crate::schema::model::rules::{DefaultPart, DefaultValue, HashFunction};
use crate::schema::rules::literal::{EMPTY_OBJECT, misfit, word};
use crate::schema::scalar::value_type::ValueType;
use crate::schema::syntax::directives::place as place_of;
use crate::schema::syntax::directives::{name, named, text};
use crate::schema::types::bare_text::warn_of_name;
use crate::schema::types::computed;
use crate::schema::types::draft::{Declared, SchemaDraft, StoredFields};
use apollo_compiler::Node;
use apollo_compiler::ast::{Directive, FieldDefinition};
use apollo_compiler::schema::ObjectType;
use indexmap::IndexMap;
use std::collections::HashSet;

/// A field with a default.
pub struct FieldWithDefault<'a> {
    /// The schema being checked.
    pub draft: &'a SchemaDraft<'a>,
    /// The type.
    pub object: &'a ObjectType,
    /// The field.
    pub field: &'a FieldDefinition,
    /// How it is stored.
    pub declared: &'a Declared,
    /// The stored fields of the type.
    pub record: Option<&'a StoredFields>,
}

/// The default; `None` if there is a mistake in it.
pub fn read_default(
    of: &FieldWithDefault,
    directive: &Node<Directive>,
    findings: &mut Findings,
) -> Option<DefaultValue> {
    let written = text(directive, "value")?;
    let hash = name(directive, "hash").and_then(|hash| match hash.value.as_str() {
        "MD5" => Some(HashFunction::Md5),
        "SHA256" => Some(HashFunction::Sha256),
        _ => None,
    });
    let every_write = name(directive, "on").is_some_and(|moment| moment.value == "WRITE");
    let is_empty_object = written.value == EMPTY_OBJECT && matches!(of.declared.value, ValueType::Embedded(_));
    let parts = match is_empty_object {
        true => vec![DefaultPart::Literal(written.value.clone())],
        false => parts(of, &written, findings)?,
    };
    warn_of_bare_word(of, &written, findings);
    if let Some(misfit) = misfit(of.declared, of.record, &parts, hash.is_some()) {
        let message = format!("`{}.{}` of type `{}` cannot be {misfit}", of.object.name, of.field.name, of.field.ty);
        let help = match &of.declared.value {
            ValueType::Enum(values) if !of.field.ty.is_list() => {
                suggest(&written.value, values.stored.keys().map(String::as_str))
            }
            kind => instead(kind, &parts).map(Help::from),
        };
        findings.error(rules::KF0803, &written.span, message, help);
        return None;
    }
    let table = |keys: &crate::schema::model::keys::ItemKeys| of.draft.tables.get(keys.table);
    let in_primary_key = of.draft.items.get(of.object.name.as_str()).is_some_and(|keys| {
        let own = table(keys).into_iter().flat_map(|table| table.primary_key());
        own.filter_map(|key| keys.keys.get(&key.name))
            .flatten()
            .any(|template| template.fields().contains(&of.field.name.as_str()))
    });
    if every_write && in_primary_key {
        let message = format!(
            "`{}.{}` is part of the table's key, which a later write cannot change",
            of.object.name, of.field.name
        );
        findings.error(rules::KF0804, &place_of(directive, "on"), message, Some("leave `on:` out".into()));
        return None;
    }
    if of.field.directives.has("version") {
        let message = format!(
            "`{}.{}` is a `@version` field: it starts with 1, and Keyfold counts it",
            of.object.name, of.field.name
        );
        findings.error(rules::KF0804, &named(directive), message, Some("leave `@default` out".into()));
        return None;
    }
    Some(DefaultValue { parts, hash, every_write })
}

/// What a field of a plain type takes in place of parts that do not fit it.
fn instead(kind: &ValueType, parts: &[DefaultPart]) -> Option<&'static str> {
    let is_time = parts.iter().any(|part| matches!(part, DefaultPart::Now { .. }));
    Some(match kind.in_api() {
        ValueType::Date if is_time => "make it `DateTime`, or `AWSDate`, which takes the day of `{now}`",
        ValueType::Int | ValueType::Long | ValueType::Float if is_time => {
            "make it `DateTime`; with `@attribute(stored: EPOCH_SECONDS)` the item has a number"
        }
        ValueType::Int | ValueType::Long => "write a whole number, such as \"0\"",
        ValueType::Float | ValueType::Decimal => "write a number, such as \"0.5\"",
        ValueType::Boolean => "write \"true\" or \"false\"",
        ValueType::Date => "write a day: \"2026-11-20\"",
        ValueType::DateTime(_) => "write `{now}`, or a time: \"2026-11-20T09:30:00.000Z\"",
        _ => return None,
    })
}

/// Warns of a default that is a placeholder's word, or a field's name, without braces.
fn warn_of_bare_word(of: &FieldWithDefault, written: &At<String>, findings: &mut Findings) {
    if !matches!(of.declared.value, ValueType::Enum(_)) {
        let field = |name: &str| of.record.is_some_and(|record| record.contains_key(name));
        let words = ["uuid", "uuid7", "now"];
        let known = |name: &str| match words.contains(&name) {
            true => Some("the placeholder".to_owned()),
            false => field(name).then(|| format!("the field of `{}`", of.object.name)),
        };
        warn_of_name(written, known, findings);
    }
}

/// Splits the value into literals and placeholders, in order.
fn parts(of: &FieldWithDefault, written: &At<String>, findings: &mut Findings) -> Option<Vec<DefaultPart>> {
    let mut parts: Vec<DefaultPart> = Vec::new();
    let mut sound = true;
    let mut at = 0;
    while let Some(rest) = written.value.get(at..).filter(|rest| !rest.is_empty()) {
        let (length, part) = match rest.find(['{', '}']) {
            Some(0) if rest.starts_with("{{") || rest.starts_with("}}") => {
                (2, Some(DefaultPart::Literal(rest[..1].to_owned())))
            }
            Some(0) if rest.starts_with('}') => (1, None),
            Some(0) => match rest.find('}') {
                Some(end) => {
                    let place = span::within(of.draft.text, &written.span, &(at..at + end + 1));
                    let part = placeholder(of, &rest[1..end], &place, findings);
                    sound &= part.is_some();
                    at += end + 1;
                    parts.extend(part);
                    continue;
                }
                None => (rest.len(), None),
            },
            Some(brace) => (brace, Some(DefaultPart::Literal(rest[..brace].to_owned()))),
            None => (rest.len(), Some(DefaultPart::Literal(rest.to_owned()))),
        };
        match (part, parts.last_mut()) {
            (Some(DefaultPart::Literal(text)), Some(DefaultPart::Literal(before))) => before.push_str(&text),
            (Some(part), _) => parts.push(part),
            (None, _) => {
                let place = span::within(of.draft.text, &written.span, &(at..at + length));
                let help = "write a placeholder as `{name}`, and a brace itself twice";
                findings.error(rules::KF0802, &place, "this brace is not closed, or closes nothing", Some(help.into()));
                sound = false;
            }
        }
        at += length;
    }
    if parts.is_empty() {
        parts.push(DefaultPart::Literal(String::new()));
    }
    sound.then_some(parts)
}

fn placeholder(of: &FieldWithDefault, inner: &str, place: &Span, findings: &mut Findings) -> Option<DefaultPart> {
    if let Some(claim) = ClaimPath::parse(inner) {
        return Some(DefaultPart::Claim(claim));
    }
    if let Some(word) = word(inner, place, findings) {
        return word.ok();
    }
    let known = of.record.and_then(|record| record.get(inner)).filter(|_| of.field.name != inner);
    let constants = of.draft.items.get(of.object.name.as_str()).map(|keys| keys.constants.as_slice());
    let constant = |declared: &Declared| constants?.iter().find(|(name, _)| *name == declared.attribute);
    if let Some((_, value)) = known.and_then(constant) {
        let message = format!("`{}.{inner}` is a constant of the type", of.object.name);
        findings.error(
            rules::KF0802,
            place,
            message,
            Some(format!("write its text in place of `{{{inner}}}`: {value}").into()),
        );
        return None;
    }
    if known.is_none_or(|declared| !has_text(declared)) {
        let message = match known {
            Some(declared) => {
                format!(
                    "a default cannot use `{}.{inner}` of type `{}`: it is not a single value",
                    of.object.name, declared.ty
                )
            }
            None if of.field.name == inner => {
                format!("the default of `{}.{inner}` cannot be the field itself", of.object.name)
            }
            None => format!(
                "`{inner}` is neither a placeholder of a default nor another stored field of `{}`",
                of.object.name
            ),
        };
        let fields = of
            .record
            .into_iter()
            .flatten()
            .filter(|(name, declared)| **name != of.field.name.as_str() && has_text(declared));
        let choices = ["uuid", "uuid7", "now"].into_iter().chain(fields.map(|(name, _)| name.as_str()));
        // Other languages call a function.
        let called = inner.strip_suffix("()").filter(|word| ["uuid", "uuid7", "now"].contains(word));
        let called = called.map(|word| Help::instead(format!("write `{{{word}}}`"), inner, word));
        let help = called.or_else(|| computed::help(of.object, inner)).or_else(|| suggest(inner, choices));
        findings.error(rules::KF0802, place, message, help);
        return None;
    }
    Some(DefaultPart::Field(inner.to_owned()))
}

fn has_text(declared: &Declared) -> bool {
    let is_one = !matches!(declared.value, ValueType::Json | ValueType::Embedded(_) | ValueType::Set(_));
    is_one && !declared.ty.is_list()
}

/// The fields with a default, in the order of the type, except that each comes after the fields that its default uses.
pub fn in_order(fields: &IndexMap<String, Field>) -> Vec<String> {
    let mut order = Vec::new();
    let mut seen = HashSet::new();
    fields.keys().for_each(|name| place(fields, name, &mut seen, &mut order));
    order
}

/// Adds a field after the fields that its default uses. A circle, which `check_circles` reports, ends where it began.
fn place<'f>(fields: &'f IndexMap<String, Field>, name: &'f str, seen: &mut HashSet<&'f str>, order: &mut Vec<String>) {
    let Some(default) = fields.get(name).and_then(|field| field.rules.default.as_ref()) else { return };
    if seen.insert(name) {
        default.fields().for_each(|other| place(fields, other, seen, order));
        order.push(name.to_owned());
    }
}

/// Defaults must not use each other in a circle: they could never be computed.
pub fn check_circles(object: &ObjectType, record: &StoredFields, findings: &mut Findings) {
    for start in record.keys() {
        let mut path: Vec<&str> = vec![start];
        if circle(record, &mut path, &mut HashSet::new())
            && path.iter().all(|name| **name >= **start)
            && let Some(directive) = object.fields.get(start.as_str()).and_then(|field| field.directives.get("default"))
        {
            let message = format!("the defaults of {} depend on each other", list(&path));
            findings.error(
                rules::KF0804,
                &place_of(directive, "value"),
                message,
                Some("give one of them a default that does not use the others".into()),
            );
        }
    }
}

/// Whether the default of the last name in `path` leads back to the first. If so, `path` is then the circle.
fn circle<'r>(record: &'r StoredFields, path: &mut Vec<&'r str>, seen: &mut HashSet<&'r str>) -> bool {
    let Some(default) = path.last().and_then(|last| record.get(*last)?.rules.default.as_ref()) else { return false };
    for part in &default.parts {
        let DefaultPart::Field(next) = part else { continue };
        if Some(next.as_str()) == path.first().copied() {
            return true;
        }
        if !seen.insert(next) {
            continue;
        }
        path.push(next);
        if circle(record, path, seen) {
            return true;
        }
        path.pop();
    }
    false
}
