//! Checks all values that a field would write against their `@constraint`s, before anything is read or written. Reports
//! all errors at once.

use crate::execute::constraint::inputs::{InputCheck, broken_inputs};
use crate::execute::constraint::value::broken;
use crate::execute::expression::compute;
use crate::execute::expression::scope::{Scope, argument};
use crate::execute::write::job::WriteJob;
use crate::execute::write::messages::{FieldErrors, at_element, bad_input};
use crate::execute::write::rules::expression;
use crate::schema::expression::operand::Operand;
use crate::schema::expression::update::SetValue;
use crate::schema::model::source::Source;
use crate::schema::model::write::{ActionKind, WriteTarget};
use crate::schema::model::{Field, Model, ObjectType};
use apollo_compiler::ast::OperationType;
use serde_json::{Map, Value};

/// Checks all constraints. Gives one error for each broken one, with its argument.
pub fn check_arguments(job: &WriteJob<'_>) -> Result<(), FieldErrors> {
    let mut check = ArgumentCheck { inputs: InputCheck::new(job.context.model), arguments: job.arguments() };
    let actions = || job.directives.actions.iter().map(|done| &*done.action);
    if let Some(root) = job.context.model.api.root_operation(OperationType::Mutation) {
        check.inputs.arguments((root.as_str(), &job.planned.field), job.arguments());
    }
    for action in actions() {
        let owner = action.at.as_ref().map_or(&action.item, |element| &element.element);
        let Some(ty) = job.context.model.types.get(owner) else { continue };
        for (field, written) in &action.values {
            if let Some(Source::Argument(name)) = written.source() {
                check.field((ty, &action.kind), field, name);
            }
        }
        // An upsert may create the item, with the fields of its key.
        if let (ActionKind::Update { upsert: true, .. }, WriteTarget::Key(key), None) =
            (&action.kind, &action.target, &action.at)
        {
            for (field, source) in key.iter().filter(|(field, _)| !action.values.contains_key(*field)) {
                if let Source::Argument(name) = source {
                    check.field((ty, &action.kind), field, name);
                }
            }
        }
    }
    for action in actions() {
        let of_item = match &action.kind {
            ActionKind::Update { expression: Some(update), .. } => Some((&action.item, &**update)),
            _ => None,
        };
        let of_entry = || action.at.as_ref().and_then(|entry| Some((&entry.element, entry.expression.as_ref()?)));
        let Some((name, update)) = of_item.or_else(of_entry) else { continue };
        let Some(ty) = job.context.model.types.get(name) else { continue };
        for (field, operand) in expression::known(job.context.model, ty, update) {
            let Operand::Argument(name, _) = operand else { continue };
            let (Some(constraint), Some(value)) = (&field.rules.constraint, argument(job.arguments(), name)) else {
                continue;
            };
            broken(constraint, value).into_iter().for_each(|sentence| check.inputs.tell(name, &sentence));
        }
    }
    let field_errors = check.inputs.field_errors;
    if field_errors.is_empty() { check_computed(job) } else { Err(field_errors) }
}

/// Checks the values that puts compute of the request alone, or of results that are there. What they compute of found
/// items is checked when it is written.
fn check_computed(job: &WriteJob<'_>) -> Result<(), FieldErrors> {
    let is_found = |operand: &Operand| {
        let Operand::Argument(name, _) = operand else { return false };
        let alias = name.split('.').next().and_then(|first| job.write.find_named(first));
        alias.is_some_and(|find| find.is_named) || job.calls.is_none() && job.write.call_of(name).is_some()
    };
    for (position, done) in job.directives.actions.iter().enumerate() {
        let ty = job.type_named(&done.action.item)?;
        for (field, written) in &done.action.values {
            let (Some(field), Some(computed)) = (ty.fields.get(field), written.computed()) else { continue };
            let mut takes_found = false;
            computed.operands(&mut |operand| takes_found |= is_found(operand));
            if takes_found {
                continue;
            }
            let checked = computed_value(ty, field, computed, &job.scope()).and_then(|value| {
                let value = value.filter(|value| !value.is_null());
                value.map_or(Ok(()), |value| expression::keep(ty, std::iter::once((&field.name, &value))))
            });
            checked.map_err(|errors| at_element(job.element(position), errors))?;
        }
    }
    Ok(())
}

/// What an expression of a put gives a field of its type.
pub fn computed_value(
    ty: &ObjectType,
    field: &Field,
    computed: &SetValue,
    scope: &Scope<'_>,
) -> Result<Option<Value>, FieldErrors> {
    compute::value(computed, field, scope)
        .map_err(|why| bad_input(format!("{}.{} {}.", ty.name, field.name, why.trim_end_matches('.'))))
}

/// Checks the arguments of a field by their own constraints alone.
pub fn check_inputs(model: &Model, field: &str, arguments: &Map<String, Value>) -> Result<(), FieldErrors> {
    let root = model.api.root_operation(OperationType::Mutation);
    let field_errors = root.map(|root| broken_inputs(model, (root.as_str(), field), arguments)).unwrap_or_default();
    if field_errors.is_empty() { Ok(()) } else { Err(field_errors) }
}

/// The check of what the actions of a field write.
struct ArgumentCheck<'j> {
    inputs: InputCheck<'j>,
    arguments: &'j Map<String, Value>,
}

impl ArgumentCheck<'_> {
    /// Checks an argument that an action of this kind writes to a field of the type.
    fn field(&mut self, (ty, kind): (&ObjectType, &ActionKind), field: &str, name: &str) {
        let (Some(field), Some(value)) = (ty.fields.get(field), argument(self.arguments, name)) else { return };
        // A put replaces null with the default. An update writes the argument as it is.
        let has_substitute =
            field.rules.default.is_some() && (field.ty.is_list() || !matches!(kind, ActionKind::Update { .. }));
        if value.is_null() && field.ty.is_non_null() && !field.rules.version && !has_substitute {
            self.inputs.tell(name, &format!("must not be null, because {}.{} is never null", ty.name, field.name));
        }
        for sentence in field.rules.constraint.iter().flat_map(|constraint| broken(constraint, value)) {
            self.inputs.tell(name, &sentence);
        }
    }
}
