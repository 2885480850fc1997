//! Services that compute fields, and how a field asks for its value. Plain data; must not know how a call is made.

use crate::schema::expression::condition::Condition;
use crate::schema::model::source::Source;
use crate::schema::scalar::value_type::ValueType;
use apollo_compiler::ast::Type;
use apollo_compiler::executable::SelectionSet;
use indexmap::IndexMap;
use serde_json::Value;
use std::time::Duration;

/// A service: a program that answers over HTTP, or code that is registered under its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Service {
    /// Its name.
    pub name: String,
    /// The address that gets its calls; `None` if code is registered under the name.
    pub url: Option<String>,
    /// How long a call may take, with all its attempts.
    pub timeout: Duration,
    /// The most bytes of an answer.
    pub max_bytes: usize,
    /// The most calls in flight.
    pub in_flight: usize,
    /// Whether a failed call may be made again.
    pub idempotent: bool,
    /// The outermost claims of the caller that its calls tell.
    pub claims: Vec<String>,
    /// What its calls are signed with.
    pub secret: Option<Secret>,
    /// Whether its calls have the token of the caller.
    pub forwards_token: bool,
}

/// A text that no log shows.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(pub String);

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secret")
    }
}

/// How a field asks a service for its value (`@resolve`).
#[derive(Debug)]
pub struct Resolution {
    /// The service, by position in [`Model::services`](crate::schema::model::Model::services).
    pub service: usize,
    /// What the service gets of the field's object, as the schema says it.
    pub requires_text: String,
    /// The same as a selection.
    pub requires: SelectionSet,
    /// The most objects of a call.
    pub max: usize,
    /// How the innermost value is kept while the request runs.
    pub kind: ValueType,
}

/// A call of a service that a mutation's field makes before its write (`@call`).
#[derive(Debug)]
pub struct MutationCall {
    /// The service, by position in [`Model::services`](crate::schema::model::Model::services).
    pub service: usize,
    /// The name of its result, by which the actions have it as an argument.
    pub name: String,
    /// What the service gets, by name.
    pub inputs: IndexMap<String, CallInput>,
    /// The type of its result, an input type; `None` if nothing takes it.
    pub returns: Option<Type>,
    /// What makes the key of the call; `None` if that follows from the key of the request (`@idempotent`).
    pub key: Option<Source>,
    /// What the service is asked for if the write is not made.
    pub undo: Option<String>,
    /// When it is made; `None` is always.
    pub condition: Option<Condition>,
}

/// A value that a call gives to its service.
#[derive(Debug)]
pub enum CallInput {
    /// The request, or a found item, has it.
    Source(Source),
    /// The schema says it.
    Literal(Value),
}

impl CallInput {
    /// The source, if one gives the value.
    pub fn source(&self) -> Option<&Source> {
        match self {
            Self::Source(source) => Some(source),
            Self::Literal(_) => None,
        }
    }
}
