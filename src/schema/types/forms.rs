//! `@attribute(stored:, form:, type:)` in, the form in which a field's values are kept out. Must not know keys.

use crate::schema::diagnostics::diagnostic::Findings;
use crate::schema::diagnostics::rules;
use crate::schema::diagnostics::span::At;
use crate::schema::scalar::decimal::canonical_decimal;
use crate::schema::scalar::form::Form;
use crate::schema::scalar::time_form::TimeForm;
use crate::schema::scalar::value_type::{Moment, ValueType};
use crate::schema::syntax::directives::{name, text};
use crate::schema::types::draft::Declared;
use crate::schema::types::values;
use apollo_compiler::ast::Directive;
use std::sync::Arc;

/// The form of a LocalDateTime that has no other.
const LOCAL: &str = "%Y-%m-%dT%H:%M:%S";

/// Gives a field the form that its `@attribute` says. `coordinate` is `Type.field`.
pub fn apply(declared: &mut Declared, attribute: Option<&Directive>, coordinate: &str, findings: &mut Findings) {
    let argument = |name: &str| attribute.and_then(|directive| text(directive, name));
    let word = |argument: &str| attribute.and_then(|directive| name(directive, argument));
    let (stored, form, kind) = (word("stored"), argument("form"), word("type"));
    let mut misfit = |at: &At<String>, message: String, help: &str| {
        findings.error(rules::KF0303, &at.span, message, Some(help.to_owned()));
    };
    let is_local = matches!(declared.value, ValueType::LocalDateTime);
    if let Some(form) = form.as_ref() {
        let others = [&stored, &kind].into_iter().flatten().find(|other| other.value != "SET" && other.value != "S");
        match TimeForm::parse(&form.value) {
            _ if !declared.value.is_time() => {
                let message = format!("`{coordinate}` of type `{}` has no form", declared.ty);
                misfit(form, message, "only a DateTime, a LocalDateTime or a Date has a form");
            }
            _ if others.is_some() => {
                let message = format!("`{coordinate}` is kept in two ways");
                misfit(form, message, "leave out `form:`, or the other");
            }
            Err(sentence) => misfit(form, sentence, "write a form such as \"%d/%m/%Y\""),
            Ok(time) => match declared.value.in_form(time) {
                Ok(value) => declared.value = value,
                Err(sentence) => misfit(form, sentence, "give the field another type"),
            },
        }
    }
    match (is_local && form.is_none(), TimeForm::parse(LOCAL)) {
        (true, Ok(local)) => {
            declared.value = ValueType::InForm(ValueType::LocalDateTime.into(), Form::Time(local).into())
        }
        _ => {}
    }
    let is_instant = matches!(declared.value, ValueType::DateTime(_));
    if let Some(stored) = &stored {
        let moment = match stored.value.as_str() {
            "EPOCH_SECONDS" => Some(Moment::EpochSeconds),
            "EPOCH_MILLIS" => Some(Moment::EpochMillis),
            _ => None,
        };
        match moment.filter(|_| is_instant) {
            Some(moment) => declared.value = ValueType::DateTime(moment),
            None if stored.value == "SET" => {}
            None if form.is_some() => {}
            None => {
                let message = format!("`{coordinate}` of type `{}` cannot be stored as {}", declared.ty, stored.value);
                misfit(stored, message, "only a DateTime can be stored as an epoch");
            }
        }
    }
    if let Some(kind) = kind.filter(|_| form.is_none()) {
        match in_type(&declared.value, &kind.value) {
            Ok(value) => declared.value = value,
            Err(help) => {
                let message = format!("`type: {}` is not for `{coordinate}` of type `{}`", kind.value, declared.ty);
                misfit(&kind, message, help);
            }
        }
    }
    if let Some(set) = stored.filter(|stored| stored.value == "SET") {
        let is_plain_list = declared.ty.is_list() && declared.ty.item_type().is_named();
        match values::stored_key_type(&declared.value).filter(|_| is_plain_list) {
            Some(_) => declared.value = ValueType::Set(Box::new(declared.value.clone())),
            None => {
                let message = format!("`{coordinate}` of type `{}` cannot be stored as SET", declared.ty);
                misfit(&set, message, "only a list of texts, numbers or binary values can be stored as a set");
            }
        }
    }
}

/// A type that is kept as DynamoDB's type `S` or `N`; the error is a help.
fn in_type(kind: &ValueType, wanted: &str) -> Result<ValueType, &'static str> {
    use ValueType as V;
    let kept = |form: Form| Ok(V::InForm(Box::new(kind.clone()), Arc::new(form)));
    match (wanted, kind) {
        ("S", V::Int | V::Long | V::Float | V::Decimal | V::Boolean) => kept(Form::Text),
        ("S", V::DateTime(moment @ (Moment::EpochSeconds | Moment::EpochMillis))) => {
            let form = if *moment == Moment::EpochSeconds { "%s" } else { "%s%3f" };
            TimeForm::parse(form).map_err(|_| "write `form: \"%s\"`").and_then(|form| kept(Form::Time(form)))
        }
        ("N", V::Id | V::Boolean) => kept(Form::Number),
        ("N", V::Enum(values)) => {
            let is_number = |text: &String| canonical_decimal(text).is_ok_and(|canonical| canonical == *text);
            match values.stored.values().all(is_number) {
                true => kept(Form::Number),
                false => Err("give each value of the enum its number: `OPEN @attribute(name: \"0\")`"),
            }
        }
        ("S", _) => {
            Err("a number, a Boolean or an epoch (`stored: EPOCH_SECONDS`) can be kept as text; leave `type:` out")
        }
        _ => Err("an ID, an enum or a Boolean can be kept as a number; leave `type:` out"),
    }
}
