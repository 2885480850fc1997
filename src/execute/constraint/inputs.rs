//! The arguments of a field in; an error for each `@constraint` that they break out, those of input objects at any
//! depth included. Must not know whether the field reads or writes.

use crate::execute::constraint::value::broken;
use crate::execute::error::{ErrorCode, FieldError};
use crate::schema::model::Model;
use apollo_compiler::schema::ExtendedType;
use serde_json::{Map, Value};

/// The errors of a field's arguments by their own constraints. The field is named by its type and its name.
pub fn broken_inputs(
    model: &Model,
    (type_name, field): (&str, &str),
    arguments: &Map<String, Value>,
) -> Vec<FieldError> {
    let mut check = InputCheck::new(model);
    check.arguments((type_name, field), arguments);
    check.field_errors
}

/// A check of the arguments of a field.
pub struct InputCheck<'m> {
    model: &'m Model,
    /// What is wrong so far.
    pub field_errors: Vec<FieldError>,
}

impl<'m> InputCheck<'m> {
    /// A check that has found nothing so far.
    pub fn new(model: &'m Model) -> Self {
        Self { model, field_errors: Vec::new() }
    }

    /// Checks constraints on the arguments of a field, and on fields of input objects at any depth.
    pub fn arguments(&mut self, (type_name, field): (&str, &str), arguments: &Map<String, Value>) {
        let Some(field) = self.model.types.get(type_name).and_then(|ty| ty.fields.get(field)) else { return };
        for argument in &field.arguments {
            let Some(value) = arguments.get(&argument.name) else { continue };
            let coordinate = format!("{type_name}.{}.{}", field.name, argument.name);
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
    pub fn tell(&mut self, path: &str, sentence: &str) {
        let message = format!("\"{path}\" {}.", sentence.trim_end_matches('.'));
        if !self.field_errors.iter().any(|known| known.message == message) {
            let details = vec![("argument", path_in(path))];
            self.field_errors.push(FieldError { code: ErrorCode::BadUserInput, message, details });
        }
    }
}

/// The path of an argument, or of what is inside it. Positions in lists are numbers, as in the path of a response
/// (GraphQL spec section 7.1.2, "Errors").
fn path_in(dotted: &str) -> Value {
    let part = |name: &str| name.parse::<u32>().map_or_else(|_| Value::from(name), Value::from);
    dotted.split('.').map(part).collect()
}
