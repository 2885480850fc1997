//! `@attribute(stored:, form:, type:)` in, the form in which a field's values are kept out. Must not know keys.

use crate::schema::diagnostics::diagnostic::Findings;
use crate::schema::diagnostics::rules;
use crate::schema::diagnostics::span::At;
use crate::schema::scalar::aws::AwsScalar;
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

/// What an `@attribute` says of a form.
struct FormArguments {
    stored: Option<At<String>>,
    form: Option<At<String>>,
    kind: Option<At<String>>,
}

/// Gives a field the form that its `@attribute` says. `coordinate` is `Type.field`.
pub fn apply(declared: &mut Declared, attribute: Option<&Directive>, coordinate: &str, findings: &mut Findings) {
    let given = FormArguments {
        // A map is no form of its field's values.
        stored: attribute.and_then(|directive| name(directive, "stored")).filter(|stored| stored.value != "MAP"),
        form: attribute.and_then(|directive| text(directive, "form")),
        kind: attribute.and_then(|directive| name(directive, "type")),
    };
    let is_set = |stored: &&At<String>| stored.value == "SET";
    if given.form.is_some() || given.stored.as_ref().is_some_and(|stored| !is_set(&stored)) {
        as_time(declared);
    }
    let misfit = match (&given.form, given.stored.as_ref().filter(|stored| !is_set(stored)), &given.kind) {
        (Some(form), None, None) => timed(declared, form, coordinate),
        (Some(form), ..) => {
            Some((form, format!("`{coordinate}` is kept in two ways"), "leave out `form:`, or the other"))
        }
        (None, stored, kind) => {
            let misfit = stored.and_then(|stored| epoch(declared, stored, coordinate));
            misfit.or_else(|| kind.as_ref().and_then(|kind| typed(declared, kind, coordinate)))
        }
    };
    if let (ValueType::LocalDateTime, Ok(form)) = (&declared.value, TimeForm::parse(LOCAL)) {
        declared.value = ValueType::InForm(ValueType::LocalDateTime.into(), Form::Time(form).into());
    }
    let misfit =
        misfit.or_else(|| given.stored.as_ref().filter(is_set).and_then(|set| as_set(declared, set, coordinate)));
    if let Some((at, message, help)) = misfit {
        findings.error(rules::KF0303, &at.span, message, Some(help.to_owned().into()));
    }
}

/// A scalar of AWS AppSync whose form or epoch is said is a time. Without one, it is a text, which does not sort.
fn as_time(declared: &mut Declared) {
    match declared.value.as_aws() {
        Some(AwsScalar::DateTime) => declared.value = ValueType::DateTime(Moment::Text),
        Some(AwsScalar::Date) => declared.value = ValueType::Date,
        _ => {}
    }
}

/// Why a form does not fit a field, with its place and a help.
type Misfit<'a> = (&'a At<String>, String, &'static str);

/// Applies `form:`.
fn timed<'a>(declared: &mut Declared, form: &'a At<String>, coordinate: &str) -> Option<Misfit<'a>> {
    if !declared.value.is_time() {
        let message = format!("`{coordinate}` of type `{}` has no form", declared.ty);
        return Some((
            form,
            message,
            "only a DateTime, a LocalDateTime, a Date, an AWSDateTime or an AWSDate has a form",
        ));
    }
    let help = "write a form such as \"%d/%m/%Y\"";
    match TimeForm::parse(&form.value).map_err(|sentence| (form, sentence, help)) {
        Err(misfit) => Some(misfit),
        Ok(time) => match declared.value.in_form(time) {
            Err(sentence) => Some((form, sentence, "give the field another type")),
            Ok(value) => {
                declared.value = value;
                None
            }
        },
    }
}

/// Applies `stored:` to an instant.
fn epoch<'a>(declared: &mut Declared, stored: &'a At<String>, coordinate: &str) -> Option<Misfit<'a>> {
    let moment = if stored.value == "EPOCH_SECONDS" { Moment::EpochSeconds } else { Moment::EpochMillis };
    if matches!(declared.value, ValueType::DateTime(_)) {
        declared.value = ValueType::DateTime(moment);
        return None;
    }
    let message = format!("`{coordinate}` of type `{}` cannot be stored as {}", declared.ty, stored.value);
    Some((stored, message, "only a DateTime can be stored as an epoch"))
}

/// Applies `type:`.
fn typed<'a>(declared: &mut Declared, kind: &'a At<String>, coordinate: &str) -> Option<Misfit<'a>> {
    match in_type(declared.value.plain(), &kind.value) {
        Ok(value) => {
            declared.value = value;
            None
        }
        Err(help) => {
            Some((kind, format!("`type: {}` is not for `{coordinate}` of type `{}`", kind.value, declared.ty), help))
        }
    }
}

/// Applies `stored: SET`.
fn as_set<'a>(declared: &mut Declared, set: &'a At<String>, coordinate: &str) -> Option<Misfit<'a>> {
    let is_plain_list = declared.ty.is_list() && declared.ty.item_type().is_named();
    if is_plain_list && values::stored_key_type(&declared.value).is_some() {
        declared.value = ValueType::Set(Box::new(declared.value.clone()));
        return None;
    }
    let message = format!("`{coordinate}` of type `{}` cannot be stored as SET", declared.ty);
    Some((set, message, "only a list of texts, numbers or binary values can be stored as a set"))
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
