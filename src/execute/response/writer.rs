//! The response while it is written: bytes, path, errors and null propagation.
//!
//! Null propagation: GraphQL spec section 6.4.4, "Handling Execution Errors". If a non-null value is null, what was written of its parent
//! is dropped, up to the next place that may be null.

use crate::execute::error::{ErrorCode, Failure, FieldError, GraphqlError, PathSegment};
use crate::execute::read::state::ReadState;
use crate::plan::tree::SpaceId;
use crate::table::data::attribute::Item;
use apollo_compiler::ast::Type;
use serde_json::{Map, Value};

/// A non-null value is null: its parent is null, too.
pub(super) struct Null;

/// A step of the path: a response key, or a position in a list.
#[derive(Clone, Copy)]
pub(super) enum PathStep<'a> {
    Key(&'a str),
    Index(usize),
}

/// The row of which an object is written, and the map of an embedded object.
#[derive(Clone, Copy)]
pub(super) struct Place<'i> {
    pub space: SpaceId,
    pub row: usize,
    pub map: Option<&'i Item>,
}

/// Writes a response.
pub struct Writer<'a> {
    pub(super) state: &'a ReadState<'a>,
    pub(super) out: Vec<u8>,
    path: Vec<PathStep<'a>>,
    location: (usize, usize),
    pub(super) errors: Vec<GraphqlError>,
    pub(super) introspection: Map<String, Value>,
}

impl<'a> Writer<'a> {
    /// A writer; `introspection` holds the values of `__schema` and `__type` by response key.
    pub fn new(state: &'a ReadState<'a>, introspection: Map<String, Value>) -> Self {
        Self { state, out: Vec::with_capacity(4096), path: Vec::new(), location: (0, 0), errors: Vec::new(), introspection }
    }

    /// Writes errors in place of the root's only field.
    pub fn refuse(mut self, field_errors: Vec<FieldError>) -> (Option<Vec<u8>>, Vec<GraphqlError>) {
        let Some(output) = self.state.plan.root.fields.first() else { return (Some(Vec::new()), Vec::new()) };
        self.out.extend_from_slice(&output.label);
        let written = self.field(&output.key, output.location, |writer| {
            writer.nullable(&output.ty, |writer| {
                for field_error in field_errors {
                    writer.error(field_error.code, field_error.message);
                    if let Some(error) = writer.errors.last_mut() {
                        error.details = field_error.details;
                    }
                }
                Err(Null)
            })
        });
        (written.is_ok().then_some(self.out), self.errors)
    }

    /// Adds an error at the current path.
    pub(super) fn error(&mut self, code: ErrorCode, message: impl Into<String>) -> Null {
        let path = self.path.iter().map(|step| match step {
            PathStep::Key(key) => PathSegment::Key((*key).to_owned()),
            PathStep::Index(index) => PathSegment::Index(*index),
        });
        let locations = if self.location.0 > 0 { vec![self.location] } else { Vec::new() };
        self.errors.push(GraphqlError { message: message.into(), code, locations, path: path.collect(), details: Vec::new() });
        Null
    }

    pub(super) fn failed(&mut self, failure: &Failure) -> Null {
        self.error(failure.code, failure.message.clone())
    }

    /// Writes a value, or null if the value gives up and its type is nullable.
    pub(super) fn nullable(&mut self, ty: &Type, write: impl FnOnce(&mut Self) -> Result<(), Null>) -> Result<(), Null> {
        let mark = self.out.len();
        match write(self) {
            Ok(()) => Ok(()),
            Err(null) if ty.is_non_null() => Err(null),
            Err(_) => {
                self.out.truncate(mark);
                self.out.extend_from_slice(b"null");
                Ok(())
            }
        }
    }

    /// Writes null for a missing value, or an error if its type is non-null.
    pub(super) fn missing(&mut self, ty: &Type, message: impl FnOnce() -> String) -> Result<(), Null> {
        if ty.is_non_null() {
            return Err(self.error(ErrorCode::Internal, message()));
        }
        self.out.extend_from_slice(b"null");
        Ok(())
    }

    /// Writes a field. An error before its nested fields has the location of the field itself.
    pub(super) fn field(
        &mut self,
        key: &'a str,
        location: (usize, usize),
        write: impl FnOnce(&mut Self) -> Result<(), Null>,
    ) -> Result<(), Null> {
        let outer = std::mem::replace(&mut self.location, location);
        let written = self.within(PathStep::Key(key), write);
        self.location = outer;
        written
    }

    /// Writes within a step of the path.
    pub(super) fn within(&mut self, step: PathStep<'a>, write: impl FnOnce(&mut Self) -> Result<(), Null>) -> Result<(), Null> {
        self.path.push(step);
        let written = write(self);
        self.path.pop();
        written
    }
}

/// Writes text as a JSON string. Writing to a vector cannot fail.
pub(super) fn text(out: &mut Vec<u8>, text: &str) {
    let _ = serde_json::to_writer(out, text);
}

/// Writes a JSON value.
pub(super) fn json(out: &mut Vec<u8>, value: &Value) {
    let _ = serde_json::to_writer(out, value);
}
