//! `expression:` of an action at an entry of a map in; out: a checked update of the entry, with the paths that an
//! object of its type has alone. Must not know how it is sent.

use super::acting::Acting;
use super::expressions::check_size;
use crate::schema::diagnostics::diagnostic::Findings;
use crate::schema::diagnostics::help::Help;
use crate::schema::diagnostics::rules;
use crate::schema::diagnostics::span;
use crate::schema::expression::names::{Named, Names};
use crate::schema::expression::operand::{ArgumentType, Operand, Path};
use crate::schema::expression::update::reader::{Change, UpdateNames};
use crate::schema::expression::update::{SetValue, Update, parser};
use crate::schema::model::write::Element;
use crate::schema::scalar::value_type::ValueType;
use crate::schema::types::draft::StoredFields;
use crate::schema::types::inputs;
use crate::schema::types::names::ItemNames;
use serde_json::json;

/// `expression:` of an entry whose other fields are these; the outer `None` is a mistake.
pub fn expression(
    acting: &Acting,
    (element, record): (&Element, &StoredFields),
    findings: &mut Findings,
) -> Option<Option<Update>> {
    let (Some(written), Some(form)) = (&acting.directive.expression, &element.map) else { return Some(None) };
    let names = EntryNames(ItemNames { record, ..acting.names() });
    let parsed = match parser::parse(&written.value, &names) {
        Ok(parsed) => parsed,
        Err(mistakes) => {
            for mistake in mistakes {
                let name = written.value.get(mistake.span.clone()).unwrap_or_default();
                let of_key = format!("`{name}` is the key of the entry, which no expression reads or changes");
                let (message, help) = match name == form.by.field {
                    true => (of_key, Some("name another field of the entry".into())),
                    false => (mistake.message, mistake.help),
                };
                let place = span::within(acting.writing.draft.text, &written.span, &mistake.span);
                findings.error(rules::KF0712, &place, message, help);
            }
            return None;
        }
    };
    let mut update = parsed.update;
    check_size(update.size().excess(), "expression", written, findings)?;
    let is_number = |path: &Path| update.add.iter().any(|(of, operand)| of == path && !is_set(operand));
    let whole = |change: &&Change| update.add.iter().chain(&update.delete).any(|(path, _)| *path == change.path);
    if let Some(set) = parsed.changes.iter().filter(whole).find(|change| !is_number(&change.path)) {
        let message = "ADD and DELETE change sets only as whole attributes, not within an entry";
        let place = span::within(acting.writing.draft.text, &written.span, &set.span);
        findings.error(rules::KF0712, &place, message, Some("set the whole list".into()));
        return None;
    }
    // DynamoDB adds to whole attributes only (DynamoDB API reference, UpdateItem, `ADD`).
    for (path, amount) in std::mem::take(&mut update.add) {
        let zero = Operand::Literal(json!(0), ArgumentType(ValueType::Decimal));
        let before = SetValue::IfNotExists(path.clone(), Box::new(SetValue::Operand(zero)));
        update.set.push((path, SetValue::Plus(Box::new(before), Box::new(SetValue::Operand(amount)))));
    }
    Some(Some(update))
}

fn is_set(operand: &Operand) -> bool {
    match operand {
        Operand::Argument(_, kind) | Operand::Now(kind) | Operand::Literal(_, kind) | Operand::Claim(_, kind) => {
            matches!(kind.0, ValueType::Set(_))
        }
        Operand::Path(_) | Operand::Size(_) => false,
    }
}

/// Resolves the names of an expression to the fields of an entry.
struct EntryNames<'a>(ItemNames<'a>);

impl Names for EntryNames<'_> {
    fn path(&self, fields: &[&str]) -> Result<Named, (usize, Vec<String>)> {
        self.0.walk(fields, &|name| self.0.record.get(name).map(|declared| declared.attribute.clone()))
    }

    fn argument(&self, name: &str) -> Result<(ValueType, bool), Vec<String>> {
        self.0.argument(name)
    }

    fn help(&self, fields: &[&str]) -> Option<Help> {
        self.0.help(fields)
    }
}

impl UpdateNames for EntryNames<'_> {
    fn is_non_null(&self, fields: &[&str]) -> bool {
        self.0.declared(fields).is_some_and(|declared| declared.ty.is_non_null())
    }

    fn may_be_null(&self, argument: &str) -> bool {
        self.0.may_be_null(argument)
    }

    fn writable(&self, from: &ValueType, to: &ValueType) -> Result<(), String> {
        inputs::writable(self.0.draft, from, to)
    }

    fn keys_only(&self, _field: &str) -> bool {
        false
    }
}
