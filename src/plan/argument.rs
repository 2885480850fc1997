//! A field's arguments: what the document, its variables and the schema's defaults say, and their coerced values.
//!
//! Coercion: GraphQL spec section 6.4.1, "Coercing Field Arguments". Built-in scalars in literals and variables are already checked by
//! validation; the scalars that Keyfold brings are checked here.

use super::collect::{Collected, Selecting};
use super::tree::{ArgumentValue, Arguments};
use crate::schema::model::Field;
use crate::schema::value_type::ValueType;
use apollo_compiler::Schema;
use apollo_compiler::ast::{Type, Value as Literal};
use apollo_compiler::schema::ExtendedType;
use indexmap::IndexMap;
use serde_json::{Map, Value, json};

/// The arguments of a collected field.
pub fn of_field(selecting: &Selecting<'_>, field: &Field, collected: &Collected<'_>) -> Arguments {
    let mut values = IndexMap::new();
    let mut given = Vec::new();
    for argument in &field.arguments {
        let literal = collected.field.arguments.iter().find(|node| node.name == argument.name.as_str()).map(|node| &node.value);
        // A variable without a value is as good as no argument at all.
        let literal = literal.filter(|literal| literal.as_variable().is_none_or(|name| selecting.variables.contains_key(name.as_str())));
        let value = match (literal, &argument.default) {
            (Some(literal), _) => {
                given.push(argument.name.clone());
                ArgumentValue::Literal(literal.clone())
            }
            (None, Some(default)) => ArgumentValue::Default(default.clone()),
            (None, None) => continue,
        };
        values.insert(argument.name.clone(), (argument.ty.clone(), value));
    }
    Arguments { values, given, location: collected.location }
}

impl Arguments {
    /// The arguments of a relation on a `through` path: those of the outer field that it has by name, or else its own defaults.
    pub fn of_hop(&self, hop: &Field) -> Arguments {
        let mut values = IndexMap::new();
        for argument in &hop.arguments {
            let default = || argument.default.clone().map(|value| (argument.ty.clone(), ArgumentValue::Default(value)));
            if let Some(value) = self.values.get(&argument.name).cloned().or_else(default) {
                values.insert(argument.name.clone(), value);
            }
        }
        let given = self.given.iter().filter(|name| values.contains_key(*name)).cloned().collect();
        Arguments { values, given, location: self.location }
    }

    /// Whether an argument has a value other than null.
    pub fn present(&self, name: &str, variables: &Map<String, Value>) -> bool {
        match self.values.get(name) {
            None => false,
            Some((_, ArgumentValue::Default(value))) => !value.is_null(),
            Some((_, ArgumentValue::Literal(literal))) => match &**literal {
                Literal::Null => false,
                Literal::Variable(variable) => variables.get(variable.as_str()).is_some_and(|value| !value.is_null()),
                _ => true,
            },
        }
    }

    /// The value of a sorting argument, an enum's.
    pub fn enum_value(&self, name: &str, variables: &Map<String, Value>) -> Option<String> {
        match self.values.get(name)? {
            (_, ArgumentValue::Default(value)) => value.as_str().map(str::to_owned),
            (_, ArgumentValue::Literal(literal)) => match &**literal {
                Literal::Enum(value) => Some(value.to_string()),
                Literal::Variable(variable) => variables.get(variable.as_str())?.as_str().map(str::to_owned),
                _ => None,
            },
        }
    }

    /// Every argument's coerced value. The error is a sentence for the caller.
    pub fn evaluate(&self, api: &Schema, variables: &Map<String, Value>) -> Result<Map<String, Value>, String> {
        let mut values = Map::new();
        for (name, (ty, value)) in &self.values {
            let json = match value {
                ArgumentValue::Default(value) => value.clone(),
                ArgumentValue::Literal(literal) => to_json(literal, variables),
            };
            let coerced = coerce(api, ty, &json).map_err(|why| format!("Argument \"{name}\" is not acceptable: {why}"))?;
            values.insert(name.clone(), coerced);
        }
        Ok(values)
    }
}

/// A literal as JSON, with its variables filled in; numbers that JSON cannot hold exactly stay text.
fn to_json(literal: &Literal, variables: &Map<String, Value>) -> Value {
    match literal {
        Literal::Null => Value::Null,
        Literal::Boolean(value) => json!(value),
        Literal::String(text) => json!(text),
        Literal::Enum(name) => json!(name.as_str()),
        Literal::Int(number) => number.as_str().parse::<i64>().map_or_else(|_| json!(number.as_str()), |number| json!(number)),
        Literal::Float(number) => number.as_str().parse::<f64>().map_or_else(|_| json!(number.as_str()), |number| json!(number)),
        Literal::Variable(name) => variables.get(name.as_str()).cloned().unwrap_or(Value::Null),
        Literal::List(values) => values.iter().map(|value| to_json(value, variables)).collect(),
        Literal::Object(fields) => {
            // A variable without a value leaves its input field out.
            let given = fields.iter().filter(|(_, value)| value.as_variable().is_none_or(|name| variables.contains_key(name.as_str())));
            Value::Object(given.map(|(name, value)| (name.to_string(), to_json(value, variables))).collect())
        }
    }
}

/// Coerces a JSON value to an input type. The error is a sentence for the caller.
pub fn coerce(api: &Schema, ty: &Type, value: &Value) -> Result<Value, String> {
    if value.is_null() {
        return if ty.is_non_null() { Err(format!("it must not be null, as its type is {ty}.")) } else { Ok(Value::Null) };
    }
    match ty {
        Type::List(item) | Type::NonNullList(item) => match value {
            Value::Array(values) => values.iter().map(|value| coerce(api, item, value)).collect(),
            // A single value stands for a list of one (spec section 3.11).
            single => Ok(Value::Array(vec![coerce(api, item, single)?])),
        },
        Type::Named(name) | Type::NonNullNamed(name) => match api.types.get(name) {
            Some(ExtendedType::InputObject(input)) => {
                let Value::Object(given) = value else { return Err(format!("it must be an object of type {name}.")) };
                let mut fields = Map::new();
                for (field, definition) in &input.fields {
                    let default = || definition.default_value.as_ref().map(|literal| to_json(literal, &Map::new()));
                    match given.get(field.as_str()).cloned().or_else(default) {
                        Some(value) => {
                            fields.insert(field.to_string(), coerce(api, &definition.ty, &value)?);
                        }
                        None if definition.ty.is_non_null() => return Err(format!("its field \"{field}\" is missing.")),
                        None => {}
                    }
                }
                Ok(Value::Object(fields))
            }
            Some(ExtendedType::Enum(_)) => Ok(value.clone()),
            _ => ValueType::of_scalar(name).coerce(value),
        },
    }
}
