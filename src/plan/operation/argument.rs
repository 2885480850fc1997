//! A field of the operation in, its arguments out: from the document, its variables and the schema's defaults; and
//! their coerced values.
//!
//! Coercion: GraphQL spec section 6.4.1, "Coercing Field Arguments". Literals and variables are checked before anything
//! runs. Only a variable's null in a non-null place is left to refuse here.

use super::collect::{CollectedField, SelectionContext};
use crate::plan::tree::{ArgumentValue, Arguments};
use crate::schema::model::Field;
use crate::schema::scalar::coerce::{coerce, json_of};
use apollo_compiler::Schema;
use apollo_compiler::ast::Value as Literal;
use indexmap::IndexMap;
use serde_json::{Map, Value};

/// The arguments of a collected field.
pub fn field_arguments(context: &SelectionContext<'_>, field: &Field, collected: &CollectedField<'_>) -> Arguments {
    let mut values = IndexMap::new();
    let mut given = Vec::new();
    for argument in &field.arguments {
        let literal =
            collected.field.arguments.iter().find(|node| node.name == argument.name.as_str()).map(|node| &node.value);
        // A variable without a value counts as no argument.
        let literal = literal
            .filter(|literal| literal.as_variable().is_none_or(|name| context.variables.contains_key(name.as_str())));
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
    /// The arguments of a relation on a `through` path: those of the outer field with the same names, or its own
    /// defaults.
    pub fn for_relation(&self, hop: &Field) -> Arguments {
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
                ArgumentValue::Literal(literal) => json_of(literal, variables),
            };
            let coerced = coerce(api, ty, &json).map_err(|misfit| misfit.sentence("Argument", name))?;
            values.insert(name.clone(), coerced);
        }
        Ok(values)
    }
}
