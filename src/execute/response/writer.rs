//! The response while it is written: bytes, path, errors and null propagation.
//!
//! Null propagation: GraphQL spec section 6.4.4, "Handling Execution Errors". If a non-null value is null, what was
//! written of its parent is dropped, up to the next place that may be null.

use super::body::ResponseBody;
use crate::execute::error::{ErrorCode, Failure, FieldError, GraphqlError, PathSegment};
use crate::execute::read::state::ReadState;
use crate::plan::tree::{Object, SpaceId};
use crate::table::data::attribute::Item;
use apollo_compiler::ast::Type;
use serde_json::{Map, Value};

/// Why a value is not written.
pub enum ValueFault {
    /// It is null and its type is non-null: its parent is null, too.
    Null,
    /// The response exceeded its bounds: nothing more is written, and `data` is null.
    TooLarge,
}

/// A step of the path: a response key, or a position in a list.
#[derive(Clone, Copy)]
pub(super) enum PathStep<'a> {
    Key(&'a str),
    Index(usize),
}

/// The row whose object is written, and the map of an embedded object.
#[derive(Clone, Copy)]
pub(super) struct Place<'i> {
    pub space: SpaceId,
    pub row: usize,
    pub map: Option<&'i Item>,
}

/// Writes a response.
pub struct Writer<'a> {
    pub(super) state: &'a ReadState<'a>,
    pub(super) introspection: &'a Map<String, Value>,
    pub(super) body: &'a mut ResponseBody,
    path: Vec<PathStep<'a>>,
    location: (usize, usize),
    /// Where the errors of this step begin.
    first_error: usize,
}

impl<'a> Writer<'a> {
    /// A writer of a step's part of the response; `introspection` holds the values of `__schema` and `__type` by
    /// response key.
    pub fn new(state: &'a ReadState<'a>, introspection: &'a Map<String, Value>, body: &'a mut ResponseBody) -> Self {
        let first_error = body.mark_errors();
        Self { state, introspection, body, path: Vec::new(), location: (0, 0), first_error }
    }

    /// Writes the fields of the step. If it fails, `data` is null.
    pub fn write(mut self) -> Result<(), ValueFault> {
        self.body.separate();
        self.fields(&self.state.plan().root, Place { space: 0, row: 0, map: None })
    }

    /// Writes one object for a row, and nothing around it.
    pub(super) fn write_object(mut self, object: &'a Object, (space, row): (SpaceId, usize)) -> Result<(), ValueFault> {
        self.object(object, Place { space, row, map: None })
    }

    /// Writes errors in place of the step's only field.
    pub fn refuse(mut self, field_errors: Vec<FieldError>) -> Result<(), ValueFault> {
        let Some(output) = self.state.plan().root.fields.first() else { return Ok(()) };
        self.body.separate();
        self.body.data.extend_from_slice(&output.label);
        self.field(&output.key, output.location, |writer| {
            writer.nullable(&output.ty, |writer| Err(writer.errors(field_errors)))
        })
    }

    fn error_here(&self, code: ErrorCode, message: String) -> GraphqlError {
        let path = self.path.iter().map(|step| match step {
            PathStep::Key(key) => PathSegment::Key((*key).to_owned()),
            PathStep::Index(index) => PathSegment::Index(*index),
        });
        let locations = if self.location.0 > 0 { vec![self.location] } else { Vec::new() };
        GraphqlError { message, code, locations, path: path.collect(), details: Vec::new() }
    }

    /// Adds an error at the current path.
    pub(super) fn error(&mut self, code: ErrorCode, message: impl Into<String>) -> ValueFault {
        self.errors(vec![FieldError::new(code, message)])
    }

    /// Adds several errors at the current path.
    pub(super) fn errors(&mut self, field_errors: Vec<FieldError>) -> ValueFault {
        for FieldError { code, message, details } in field_errors {
            let error = self.error_here(code, message);
            self.body.error(&GraphqlError { details, ..error });
        }
        match self.check_bytes() {
            Ok(()) => ValueFault::Null,
            Err(too_large) => too_large,
        }
    }

    /// Ends the response if it has too many bytes.
    #[inline]
    fn check_bytes(&mut self) -> Result<(), ValueFault> {
        match self.body.fits() {
            true => Ok(()),
            false => Err(self.too_large(&format!("{} bytes", self.body.limits().bytes))),
        }
    }

    /// Counts an object, and ends the response if it has too many.
    pub(super) fn check_objects(&mut self) -> Result<(), ValueFault> {
        match self.body.has_room_for_object() {
            true => Ok(()),
            false => Err(self.too_large(&format!("{} objects", self.body.limits().objects))),
        }
    }

    /// Puts one error in place of all errors of the step.
    fn too_large(&mut self, bound: &str) -> ValueFault {
        let message = format!("The response would have more than {bound}. Ask for smaller pages.");
        let error = self.error_here(ErrorCode::LimitExceeded, message);
        self.body.drop_errors(self.first_error);
        self.body.error(&error);
        ValueFault::TooLarge
    }

    pub(super) fn failed(&mut self, failure: &Failure) -> ValueFault {
        let Failure { code, message, details } = failure.clone();
        self.errors(vec![FieldError { code, message, details }])
    }

    /// Writes a value, or null if the value fails and its type is nullable.
    #[inline]
    pub(super) fn nullable(
        &mut self,
        ty: &Type,
        write: impl FnOnce(&mut Self) -> Result<(), ValueFault>,
    ) -> Result<(), ValueFault> {
        let mark = self.body.data.len();
        match write(self) {
            Err(ValueFault::Null) if !ty.is_non_null() => {
                self.body.data.truncate(mark);
                self.body.data.extend_from_slice(b"null");
                Ok(())
            }
            written => written,
        }
    }

    /// Writes null for a missing value, or an error if its type is non-null.
    pub(super) fn missing(&mut self, ty: &Type, message: impl FnOnce() -> String) -> Result<(), ValueFault> {
        if ty.is_non_null() {
            return Err(self.error(ErrorCode::Internal, message()));
        }
        self.body.data.extend_from_slice(b"null");
        Ok(())
    }

    /// Writes a field. An error before its nested fields has the location of the field itself.
    #[inline]
    pub(super) fn field(
        &mut self,
        key: &'a str,
        location: (usize, usize),
        write: impl FnOnce(&mut Self) -> Result<(), ValueFault>,
    ) -> Result<(), ValueFault> {
        let outer = std::mem::replace(&mut self.location, location);
        let written = self.within(PathStep::Key(key), write);
        self.location = outer;
        written
    }

    /// Writes within a step of the path, and ends the response if it has too many bytes.
    #[inline]
    pub(super) fn within(
        &mut self,
        step: PathStep<'a>,
        write: impl FnOnce(&mut Self) -> Result<(), ValueFault>,
    ) -> Result<(), ValueFault> {
        self.path.push(step);
        let written = write(self).and_then(|()| self.check_bytes());
        self.path.pop();
        written
    }
}

/// Writes a JSON value. Writing to a vector cannot fail.
pub(super) fn json(out: &mut Vec<u8>, value: &Value) {
    let _ = serde_json::to_writer(out, value);
}
