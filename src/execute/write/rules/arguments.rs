//! Checks all values that a field would write against their `@constraint`s, before anything is read or written. Reports
//! all errors at once.

use crate::execute::error::{ErrorCode, FieldError};
use crate::execute::expression::scope::argument;
use crate::execute::write::job::WriteJob;
use crate::execute::write::messages::FieldErrors;
use crate::execute::write::rules::constraint::broken;
use crate::execute::write::rules::expression;
use crate::schema::expression::operand::Operand;
use crate::schema::model::source::Source;
use crate::schema::model::write::{ActionKind, WriteTarget};
use crate::schema::model::{Model, ObjectType};
use apollo_compiler::ast::OperationType;
use apollo_compiler::schema::ExtendedType;
use serde_json::{Map, Value};

/// Checks all constraints. Gives one error for each broken one, with its argument.
pub fn check_arguments(job: &WriteJob<'_>) -> Result<(), FieldErrors> {
    let mut check = ArgumentCheck::new(job.context.model, job.arguments());
    let actions = || job.directives.actions.iter().map(|done| &*done.action);
    check.inputs(&job.planned.field);
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
        let ActionKind::Update { expression: Some(update), .. } = &action.kind else { continue };
        let Some(ty) = job.context.model.types.get(&action.item) else { continue };
        for (field, operand) in expression::known(job.context.model, ty, update) {
            let Operand::Argument(name, _) = operand else { continue };
            let (Some(constraint), Some(value)) = (&field.rules.constraint, argument(job.arguments(), name)) else {
                continue;
            };
            broken(constraint, value).into_iter().for_each(|sentence| check.tell(name, &sentence));
        }
    }
    if check.field_errors.is_empty() { Ok(()) } else { Err(check.field_errors) }
}

/// The errors of a field's arguments by their own constraints; `None` if there are none.
pub fn broken_inputs(model: &Model, field: &str, arguments: &Map<String, Value>) -> Option<FieldErrors> {
    let mut check = ArgumentCheck::new(model, arguments);
    check.inputs(field);
    Some(check.field_errors).filter(|errors| !errors.is_empty())
}

/// The path of an argument, or of what is inside it. Positions in lists are numbers, as in the path of a response
/// (GraphQL spec section 7.1.2, "Errors").
fn path_in(dotted: &str) -> Value {
    let part = |name: &str| name.parse::<u32>().map_or_else(|_| Value::from(name), Value::from);
    dotted.split('.').map(part).collect()
}

/// The check of a field's arguments.
struct ArgumentCheck<'j> {
    model: &'j Model,
    arguments: &'j Map<String, Value>,
    /// What is wrong so far.
    field_errors: FieldErrors,
}

impl<'j> ArgumentCheck<'j> {
    fn new(model: &'j Model, arguments: &'j Map<String, Value>) -> Self {
        Self { model, arguments, field_errors: FieldErrors::new() }
    }

    /// Checks an argument that an action of this kind writes to a field of the type.
    fn field(&mut self, (ty, kind): (&ObjectType, &ActionKind), field: &str, name: &str) {
        let (Some(field), Some(value)) = (ty.fields.get(field), argument(self.arguments, name)) else { return };
        // A put replaces null with the default. An update writes the argument as it is.
        let has_substitute =
            field.rules.default.is_some() && (field.ty.is_list() || !matches!(kind, ActionKind::Update { .. }));
        if value.is_null() && field.ty.is_non_null() && !field.rules.version && !has_substitute {
            self.tell(name, &format!("must not be null, because {}.{} is never null", ty.name, field.name));
        }
        for sentence in field.rules.constraint.iter().flat_map(|constraint| broken(constraint, value)) {
            self.tell(name, &sentence);
        }
    }

    /// Checks constraints on arguments and on fields of input objects at any depth.
    fn inputs(&mut self, field: &str) {
        let Some(root) = self.model.api.root_operation(OperationType::Mutation) else { return };
        let Some(field) = self.model.types.get(root.as_str()).and_then(|root| root.fields.get(field)) else { return };
        for argument in &field.arguments {
            let Some(value) = self.arguments.get(&argument.name) else { continue };
            let coordinate = format!("{root}.{}.{}", field.name, argument.name);
            self.input(&coordinate, argument.ty.inner_named_type().as_str(), &argument.name, value);
        }
    }

    /// Checks the value of an argument or of a field of an input object, which has this coordinate, type and path.
    fn input(&mut self, coordinate: &str, type_name: &str, path: &str, value: &Value) {
        let model = self.model;
        for sentence in model.constraints.get(coordinate).iter().flat_map(|constraint| broken(constraint, value)) {
            self.tell(path, &sentence);
        }
        let Some(ExtendedType::InputObject(input)) = model.api.types.get(type_name) else { return };
        match value {
            Value::Array(values) => {
                for (position, value) in values.iter().enumerate() {
                    self.input("", type_name, &format!("{path}.{position}"), value);
                }
            }
            Value::Object(fields) => {
                for (field, value) in fields {
                    let Some(definition) = input.fields.get(field.as_str()) else { continue };
                    let inner = definition.ty.inner_named_type();
                    self.input(&format!("{type_name}.{field}"), inner, &format!("{path}.{field}"), value);
                }
            }
            _ => {}
        }
    }

    /// Adds an error of an argument, or of what is inside it.
    fn tell(&mut self, path: &str, sentence: &str) {
        let message = format!("\"{path}\" {}.", sentence.trim_end_matches('.'));
        if !self.field_errors.iter().any(|known| known.message == message) {
            let details = vec![("argument", path_in(path))];
            self.field_errors.push(FieldError { code: ErrorCode::BadUserInput, message, details });
        }
    }
}
