//! Input coercion: a JSON value and an input type in; out, the coerced value, or what is wrong with it and where. Must
//! not know where a value comes from.
//!
//! GraphQL spec sections 3.5 "Scalars", 3.9 "Enums", 3.10 "Input Objects" and 3.11 "List", each under "Input Coercion".

use crate::schema::scalar::definition;
use crate::schema::scalar::json::excerpt;
use crate::schema::scalar::value_type::ValueType;
use apollo_compiler::ast::{Type, Value as Literal};
use apollo_compiler::schema::{EnumType, ExtendedType, InputObjectType};
use apollo_compiler::{Name, Schema};
use serde_json::{Map, Number, Value, json};

/// The directive of OneOf input objects.
pub const ONE_OF: Name = Name::new_static_unchecked("oneOf");

/// A mistake in a value that its type does not accept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CoercionMistake {
    /// The place within the whole value: `.items[2].at`, or empty for the value itself.
    pub path: String,
    /// What is wrong, a sentence for the caller.
    pub why: String,
}

impl CoercionMistake {
    fn new(why: impl Into<String>) -> Self {
        Self { path: String::new(), why: why.into() }
    }

    fn within(self, step: &str) -> Self {
        Self { path: format!("{step}{}", self.path), ..self }
    }

    /// The whole sentence, with the kind and name of the value: `Variable "$input.at" is not acceptable: …`.
    pub fn sentence(&self, kind: &str, name: &str) -> String {
        format!("{kind} \"{name}{}\" is not acceptable: {}", self.path, self.why)
    }
}

/// A literal as JSON, with its variables filled in. Numbers keep every digit.
pub fn json_of(literal: &Literal, variables: &Map<String, Value>) -> Value {
    let number = |text: &str| text.parse::<Number>().map_or_else(|_| json!(text), Value::Number);
    match literal {
        Literal::Null => Value::Null,
        Literal::Boolean(value) => json!(value),
        Literal::String(text) => json!(text),
        Literal::Enum(name) => json!(name.as_str()),
        Literal::Int(digits) => number(digits.as_str()),
        Literal::Float(digits) => number(digits.as_str()),
        Literal::Variable(name) => variables.get(name.as_str()).cloned().unwrap_or(Value::Null),
        Literal::List(values) => values.iter().map(|value| json_of(value, variables)).collect(),
        Literal::Object(fields) => {
            // An input field whose variable has no value is left out.
            let given = fields
                .iter()
                .filter(|(_, value)| value.as_variable().is_none_or(|name| variables.contains_key(name.as_str())));
            Value::Object(given.map(|(name, value)| (name.to_string(), json_of(value, variables))).collect())
        }
    }
}

/// Coerces a JSON value to an input type. A coerced value stays the same.
pub fn coerce(api: &Schema, ty: &Type, value: &Value) -> Result<Value, CoercionMistake> {
    if value.is_null() {
        let refused = || CoercionMistake::new(format!("it must not be null, as its type is {ty}."));
        return if ty.is_non_null() { Err(refused()) } else { Ok(Value::Null) };
    }
    match ty {
        Type::List(item) | Type::NonNullList(item) => match value {
            Value::Array(values) => {
                let element = |(position, value)| {
                    coerce(api, item, value).map_err(|misfit| misfit.within(&format!("[{position}]")))
                };
                values.iter().enumerate().map(element).collect()
            }
            // A single value stands for a list of one.
            single => Ok(Value::Array(vec![coerce(api, item, single)?])),
        },
        Type::Named(name) | Type::NonNullNamed(name) => match api.types.get(name) {
            Some(ExtendedType::InputObject(input)) => object(api, input, value),
            Some(ExtendedType::Enum(definition)) => one_of_enum(definition, value),
            Some(ExtendedType::Scalar(scalar)) => {
                definition::value_type(scalar).coerce_argument(value).map_err(CoercionMistake::new)
            }
            _ => ValueType::from_scalar(name).coerce_argument(value).map_err(CoercionMistake::new),
        },
    }
}

fn object(api: &Schema, input: &InputObjectType, value: &Value) -> Result<Value, CoercionMistake> {
    let Value::Object(given) = value else {
        return Err(CoercionMistake::new(format!("{} cannot be {}: it is an object.", input.name, excerpt(value))));
    };
    if let Some(unknown) = given.keys().find(|name| !input.fields.contains_key(name.as_str())) {
        return Err(CoercionMistake::new(format!("{} has no field {}.", input.name, excerpt(&json!(unknown)))));
    }
    if is_one_of(input) && (given.len() != 1 || given.values().any(Value::is_null)) {
        return Err(CoercionMistake::new(exactly_one(&input.name)));
    }
    let mut fields = Map::new();
    for (name, definition) in &input.fields {
        let default = || definition.default_value.as_ref().map(|literal| json_of(literal, &Map::new()));
        match given.get(name.as_str()).cloned().or_else(default) {
            Some(value) => {
                let value = coerce(api, &definition.ty, &value).map_err(|misfit| misfit.within(&format!(".{name}")))?;
                fields.insert(name.to_string(), value);
            }
            None if definition.ty.is_non_null() => {
                return Err(CoercionMistake::new(format!("its field \"{name}\" is missing.")));
            }
            None => {}
        }
    }
    Ok(Value::Object(fields))
}

/// Whether exactly one field of an input object must be given.
pub fn is_one_of(input: &InputObjectType) -> bool {
    input.directives.has(&ONE_OF)
}

/// The sentence about a OneOf input object that does not have exactly one field, or whose field is null.
pub fn exactly_one(name: &str) -> String {
    format!("{name} has exactly one field, which is not null.")
}

fn one_of_enum(definition: &EnumType, value: &Value) -> Result<Value, CoercionMistake> {
    match value.as_str().filter(|name| definition.values.contains_key(*name)) {
        Some(_) => Ok(value.clone()),
        None => {
            let names: Vec<&str> = definition.values.keys().map(|name| name.as_str()).collect();
            Err(CoercionMistake::new(format!(
                "{} cannot be {}: it is one of {}.",
                definition.name,
                excerpt(value),
                names.join(", ")
            )))
        }
    }
}
