//! Checks all values that a field would write against their `@constraint`s, before anything is read or written. Reports all errors at once.

use crate::execute::error::{ErrorCode, FieldError};
use crate::execute::expression::scope::argument;
use crate::execute::write::job::WriteJob;
use crate::execute::write::messages::FieldErrors;
use crate::execute::write::rules::constraint::broken;
use crate::execute::write::rules::expression;
use crate::schema::expression::operand::Operand;
use crate::schema::model::ObjectType;
use crate::schema::model::source::Source;
use crate::schema::model::write::{ActionKind, WriteTarget};
use apollo_compiler::schema::ExtendedType;
use serde_json::{Value, json};

/// Checks all constraints. Gives one error for each broken one, with its argument.
pub fn check_arguments(job: &WriteJob<'_>) -> Result<(), FieldErrors> {
    let mut field_errors = FieldErrors::new();
    of_arguments(job, &mut field_errors);
    for action in &job.write.actions {
        let owner = action.at.as_ref().map_or(&action.item, |element| &element.element);
        let Some(ty) = job.context.model.types.get(owner) else { continue };
        for (field, written) in &action.values {
            if let Some(Source::Argument(name)) = &written.source {
                of_field(job, (ty, &action.kind), field, name, &mut field_errors);
            }
        }
        // An upsert may create the item, with the fields of its key.
        if let (ActionKind::Update { upsert: true, .. }, WriteTarget::Key(key), None) = (&action.kind, &action.target, &action.at) {
            for (field, source) in key.iter().filter(|(field, _)| !action.values.contains_key(*field)) {
                if let Source::Argument(name) = source {
                    of_field(job, (ty, &action.kind), field, name, &mut field_errors);
                }
            }
        }
    }
    for action in &job.write.actions {
        let ActionKind::Update { expression: Some(update), .. } = &action.kind else { continue };
        let Some(ty) = job.context.model.types.get(&action.item) else { continue };
        for (field, operand) in expression::known(job.context.model, ty, update) {
            let Operand::Argument(name, _) = operand else { continue };
            let (Some(constraint), Some(value)) = (&field.rules.constraint, argument(job.arguments, name)) else { continue };
            broken(constraint, value).into_iter().for_each(|sentence| tell(name, sentence, &mut field_errors));
        }
    }
    if field_errors.is_empty() { Ok(()) } else { Err(field_errors) }
}

fn of_field(job: &WriteJob<'_>, (ty, kind): (&ObjectType, &ActionKind), field: &str, name: &str, field_errors: &mut FieldErrors) {
    let (Some(field), Some(value)) = (ty.fields.get(field), argument(job.arguments, name)) else { return };
    // A put replaces null with the default. An update writes the argument as it is.
    let has_substitute = field.rules.default.is_some() && (field.ty.is_list() || !matches!(kind, ActionKind::Update { .. }));
    if value.is_null() && field.ty.is_non_null() && !field.rules.version && !has_substitute {
        tell(name, format!("must not be null, because {}.{} is never null", ty.name, field.name), field_errors);
    }
    for sentence in field.rules.constraint.iter().flat_map(|constraint| broken(constraint, value)) {
        tell(name, sentence, field_errors);
    }
}

/// Checks constraints on arguments and on fields of input objects at any depth.
fn of_arguments(job: &WriteJob<'_>, field_errors: &mut FieldErrors) {
    let model = job.context.model;
    let Some(root) = model.api.root_operation(apollo_compiler::ast::OperationType::Mutation) else { return };
    let Some(field) = model.types.get(root.as_str()).and_then(|root| root.fields.get(&job.planned.field)) else { return };
    for argument in &field.arguments {
        let Some(value) = job.arguments.get(&argument.name) else { continue };
        let coordinate = format!("{root}.{}.{}", field.name, argument.name);
        walk(job, (&coordinate, argument.ty.inner_named_type().as_str()), &argument.name, value, field_errors);
    }
}

fn walk(job: &WriteJob<'_>, (coordinate, type_name): (&str, &str), name: &str, value: &Value, field_errors: &mut FieldErrors) {
    let model = job.context.model;
    for sentence in model.constraints.get(coordinate).iter().flat_map(|constraint| broken(constraint, value)) {
        tell(name, sentence, field_errors);
    }
    let Some(ExtendedType::InputObject(input)) = model.api.types.get(type_name) else { return };
    match value {
        Value::Array(values) => {
            for (position, value) in values.iter().enumerate() {
                walk(job, ("", type_name), &format!("{name}.{position}"), value, field_errors);
            }
        }
        Value::Object(fields) => {
            for (field, value) in fields {
                let Some(definition) = input.fields.get(field.as_str()) else { continue };
                let inner = definition.ty.inner_named_type();
                walk(job, (&format!("{type_name}.{field}"), inner), &format!("{name}.{field}"), value, field_errors);
            }
        }
        _ => {}
    }
}

fn tell(name: &str, sentence: String, field_errors: &mut FieldErrors) {
    let message = format!("\"{name}\" {}.", sentence.trim_end_matches('.'));
    if !field_errors.iter().any(|known| known.message == message) {
        let details = vec![("argument", json!(name.split('.').collect::<Vec<_>>()))];
        field_errors.push(FieldError { code: ErrorCode::BadUserInput, message, details });
    }
}
