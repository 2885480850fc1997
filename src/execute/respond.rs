//! The shape of a plan and what its reads found → the bytes of `data`, and the errors.
//!
//! Null propagation: GraphQL spec section 6.4.4, "Handling Execution Errors". A value that may not be null and is gives up what was
//! written of its parent, up to the next place that may be null.

use super::error::{ErrorCode, GraphqlError, PathSegment, Refusal};
use super::leaf;
use super::state::{Failure, Found, State};
use crate::plan::tree::*;
use crate::table::attribute::{Attribute, Item};
use apollo_compiler::ast::Type;
use serde_json::{Map, Value};
use std::sync::Arc;

/// A value that must not be null is null: the parent gives up.
pub(super) struct Null;

/// A place in the response: a response key, or a position in a list.
#[derive(Clone, Copy)]
pub(super) enum Step<'a> {
    Key(&'a str),
    Index(usize),
}

/// The row, and within an embedded object its map, of which an object is written.
#[derive(Clone, Copy)]
pub(super) struct At<'i> {
    pub space: SpaceId,
    pub row: usize,
    pub map: Option<&'i Item>,
}

/// Whether an object is there.
pub(super) enum Present {
    Yes,
    No,
    Failed(Arc<Failure>),
}

/// Writes a response.
pub struct Writer<'a> {
    pub(super) state: &'a State<'a>,
    pub(super) out: Vec<u8>,
    path: Vec<Step<'a>>,
    location: (usize, usize),
    errors: Vec<GraphqlError>,
    introspection: Map<String, Value>,
}

impl<'a> Writer<'a> {
    /// A writer; `introspection` holds the values of `__schema` and `__type` by response key.
    pub fn new(state: &'a State<'a>, introspection: Map<String, Value>) -> Self {
        Self { state, out: Vec::with_capacity(4096), path: Vec::new(), location: (0, 0), errors: Vec::new(), introspection }
    }

    /// The bytes of the root's fields, without the braces around them, and the errors in the order of the response. `None` where a
    /// field that may not be null gave up: then `data` is null.
    pub fn write(mut self) -> (Option<Vec<u8>>, Vec<GraphqlError>) {
        let written = self.object(&self.state.plan.root, At { space: 0, row: 0, map: None });
        let fields = written.is_ok().then(|| self.out.get(1..self.out.len() - 1).unwrap_or_default().to_vec());
        (fields, self.errors)
    }

    /// In place of the root's only field, the reasons why it was not written.
    pub fn refuse(mut self, refusals: Vec<Refusal>) -> (Option<Vec<u8>>, Vec<GraphqlError>) {
        let Some(output) = self.state.plan.root.fields.first() else { return (Some(Vec::new()), Vec::new()) };
        self.out.extend_from_slice(&output.label);
        let written = self.field(&output.key, output.location, |writer| {
            writer.nullable(&output.ty, |writer| {
                for refusal in refusals {
                    writer.error(refusal.code, refusal.message);
                    if let Some(error) = writer.errors.last_mut() {
                        error.details = refusal.details;
                    }
                }
                Err(Null)
            })
        });
        (written.is_ok().then_some(self.out), self.errors)
    }

    /// Notes an error at the present place, and gives up the value.
    pub(super) fn error(&mut self, code: ErrorCode, message: impl Into<String>) -> Null {
        let path = self.path.iter().map(|step| match step {
            Step::Key(key) => PathSegment::Key((*key).to_owned()),
            Step::Index(index) => PathSegment::Index(*index),
        });
        let locations = if self.location.0 > 0 { vec![self.location] } else { Vec::new() };
        self.errors.push(GraphqlError { message: message.into(), code, locations, path: path.collect(), details: Vec::new() });
        Null
    }

    pub(super) fn failed(&mut self, failure: &Failure) -> Null {
        self.error(failure.code, failure.message.clone())
    }

    /// Writes a value; where it gives up, null stands in its place if its type allows it.
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

    /// A value that is not there: null where that is allowed, an error where not.
    pub(super) fn missing(&mut self, ty: &Type, message: impl FnOnce() -> String) -> Result<(), Null> {
        if ty.is_non_null() {
            return Err(self.error(ErrorCode::Internal, message()));
        }
        self.out.extend_from_slice(b"null");
        Ok(())
    }

    /// Writes a field. What goes wrong between its nested fields is told at its own place, not at theirs.
    pub(super) fn field(
        &mut self,
        key: &'a str,
        location: (usize, usize),
        write: impl FnOnce(&mut Self) -> Result<(), Null>,
    ) -> Result<(), Null> {
        let outer = std::mem::replace(&mut self.location, location);
        let written = self.within(Step::Key(key), write);
        self.location = outer;
        written
    }

    /// Enters a step of the path for as long as something is written there.
    pub(super) fn within(&mut self, step: Step<'a>, write: impl FnOnce(&mut Self) -> Result<(), Null>) -> Result<(), Null> {
        self.path.push(step);
        let written = write(self);
        self.path.pop();
        written
    }

    pub(super) fn object(&mut self, object: &'a Object, at: At<'_>) -> Result<(), Null> {
        if !object.variants.is_empty() {
            return self.variant(object, at);
        }
        self.out.push(b'{');
        for (position, output) in object.fields.iter().enumerate() {
            if position > 0 {
                self.out.push(b',');
            }
            self.out.extend_from_slice(&output.label);
            self.field(&output.key, output.location, |writer| {
                writer.nullable(&output.ty, |writer| writer.value(&object.type_name, output, at))
            })?;
        }
        self.out.push(b'}');
        Ok(())
    }

    /// An object of an interface or a union, as the type that its item is of.
    fn variant(&mut self, object: &'a Object, at: At<'_>) -> Result<(), Null> {
        let row = |space: SpaceId| self.state.under(at.space, at.row, space).next();
        match object.variants.iter().find_map(|(space, variant)| Some((*space, row(*space)?, variant))) {
            Some((space, row, variant)) => self.object(variant, At { space, row, map: None }),
            None => Err(self.error(ErrorCode::Internal, format!("An item is of no type of {}.", object.type_name))),
        }
    }

    fn value(&mut self, type_name: &'a str, output: &'a Output, at: At<'_>) -> Result<(), Null> {
        match &output.value {
            OutputValue::Typename => {
                leaf::text(&mut self.out, type_name);
                Ok(())
            }
            OutputValue::Introspection => {
                let value = self.introspection.get(&output.key).unwrap_or(&Value::Null);
                leaf::json(&mut self.out, value);
                Ok(())
            }
            OutputValue::Leaf(held) => self.leaf(held, output, type_name, at),
            OutputValue::Embedded(held, object, rows) => self.embedded(held, object, *rows, (output, at)),
            OutputValue::One(target, object) => self.one(target, object, (type_name, output), at),
            OutputValue::List(target, object) => self.list(target, object, &output.ty, at),
            OutputValue::Page(target, parts) => self.page(target, parts, at),
            OutputValue::Done => {
                leaf::json(&mut self.out, &Value::Bool(true));
                Ok(())
            }
            OutputValue::Exists(target) => {
                let there = match self.present(target, at.space, at.row) {
                    Present::Yes => true,
                    Present::No => false,
                    Present::Failed(failure) => return Err(self.failed(&failure)),
                };
                leaf::json(&mut self.out, &Value::Bool(there));
                Ok(())
            }
            OutputValue::Count(target) => self.count(target, at),
        }
    }

    fn one(
        &mut self,
        target: &'a ObjectSource,
        object: &'a Object,
        (type_name, output): (&'a str, &'a Output),
        at: At<'_>,
    ) -> Result<(), Null> {
        let row = self.rows(target, at).next();
        let present = row.map_or(Present::No, |row| self.present(target, target.space, row));
        match (present, row) {
            (Present::Yes, Some(row)) => self.object(object, At { space: target.space, row, map: None }),
            (Present::Failed(failure), _) => Err(self.failed(&failure)),
            _ if output.ty.is_non_null() => {
                let message = format!("{type_name}.{} refers to a {} that does not exist.", output.key, object.type_name);
                Err(self.error(ErrorCode::NotFound, message))
            }
            _ => self.missing(&output.ty, String::new),
        }
    }

    fn leaf(&mut self, held: &'a ValueLocation, output: &Output, type_name: &str, at: At<'_>) -> Result<(), Null> {
        let state = self.state;
        let (reader, item) = match held {
            ValueLocation::In(holder, reader) => match state.held(*holder, at.space, at.row) {
                Ok(item) => (reader, item),
                Err(failure) => return Err(self.failed(failure)),
            },
            ValueLocation::Here(reader) => (reader, at.map),
            ValueLocation::Known(source, _) => {
                return match state.value(source, at.space, at.row) {
                    Ok(Some(value)) => {
                        leaf::json(&mut self.out, &value);
                        Ok(())
                    }
                    Ok(None) => self.missing(&output.ty, || null_message(type_name, &output.key)),
                    Err(failure) => Err(self.failed(&failure)),
                };
            }
        };
        match item.and_then(|item| super::decode::find(reader, item)) {
            None | Some(super::decode::Stored::Attribute(Attribute::Null)) => self.absent(&output.ty, type_name, &reader.field),
            Some(super::decode::Stored::Key(value)) => {
                leaf::json(&mut self.out, &value);
                Ok(())
            }
            Some(super::decode::Stored::Attribute(attribute)) => self.attribute(&output.ty, &reader.stored.value, attribute),
        }
    }

    /// A missing value, or a stored NULL, which is the same. A list that must not be null is then empty: DynamoDB keeps no empty sets, and
    /// writers often leave empty lists out.
    fn absent(&mut self, ty: &Type, type_name: &str, field: &str) -> Result<(), Null> {
        if ty.is_list() && ty.is_non_null() {
            self.out.extend_from_slice(b"[]");
            return Ok(());
        }
        self.missing(ty, || null_message(type_name, field))
    }

    fn embedded(
        &mut self,
        held: &'a ValueLocation,
        object: &'a Object,
        rows: Option<SpaceId>,
        (output, at): (&'a Output, At<'_>),
    ) -> Result<(), Null> {
        let state = self.state;
        let (reader, item) = match held {
            ValueLocation::In(holder, reader) => match state.held(*holder, at.space, at.row) {
                Ok(item) => (reader, item),
                Err(failure) => return Err(self.failed(failure)),
            },
            ValueLocation::Here(reader) => (reader, at.map),
            ValueLocation::Known(..) => return self.missing(&output.ty, || null_message(&object.type_name, &output.key)),
        };
        let first = rows.map(|space| state.under(at.space, at.row, space).start);
        let mut position = 0;
        let mut place = || {
            let row = first.map_or(at.row, |first| first + position);
            position += 1;
            (rows.unwrap_or(at.space), row)
        };
        match item.and_then(|item| super::decode::find(reader, item)) {
            Some(super::decode::Stored::Attribute(attribute)) if !matches!(attribute, Attribute::Null) => {
                self.maps(&output.ty, attribute, object, &mut place)
            }
            _ => self.absent(&output.ty, &object.type_name, &reader.field),
        }
    }

    /// An embedded object or a list of them; `place` gives each object its row in turn.
    fn maps(
        &mut self,
        ty: &Type,
        attribute: &Attribute,
        object: &'a Object,
        place: &mut dyn FnMut() -> (SpaceId, usize),
    ) -> Result<(), Null> {
        match (ty, attribute) {
            (Type::List(item) | Type::NonNullList(item), Attribute::L(values)) => {
                self.out.push(b'[');
                for (position, value) in values.iter().enumerate() {
                    if position > 0 {
                        self.out.push(b',');
                    }
                    self.within(Step::Index(position), |writer| writer.nullable(item, |writer| writer.maps(item, value, object, place)))?;
                }
                self.out.push(b']');
                Ok(())
            }
            (Type::Named(_) | Type::NonNullNamed(_), Attribute::M(map)) => {
                let (space, row) = place();
                self.object(object, At { space, row, map: Some(map) })
            }
            (_, Attribute::Null) => {
                if !ty.is_list() {
                    place();
                }
                self.missing(ty, || format!("A {} must not be null here.", object.type_name))
            }
            _ => {
                if !ty.is_list() {
                    place();
                }
                Err(self.error(ErrorCode::Internal, format!("The stored value does not fit the type {ty}.")))
            }
        }
    }

    /// Whether the object of a target is there, for a row of the target's space.
    pub(super) fn present(&self, target: &ObjectSource, space: SpaceId, row: usize) -> Present {
        present(self.state, target, space, row)
    }
}

/// Whether the object of a target is there, for a row of the target's space.
pub(super) fn present(state: &State<'_>, target: &ObjectSource, space: SpaceId, row: usize) -> Present {
    match &target.presence {
        Presence::Read(read) => match state.found(*read, space, row) {
            Found::Item(_) => Present::Yes,
            Found::Unread | Found::Absent => Present::No,
            Found::Failed(failure) => Present::Failed(failure.clone()),
        },
        Presence::Seed(seed) if state.elements[*seed].get(row).is_some() => Present::Yes,
        Presence::Seed(_) => Present::No,
        Presence::Values(sources) => {
            for source in sources {
                match state.value(source, space, row) {
                    Ok(Some(_)) => {}
                    Ok(None) => return Present::No,
                    Err(failure) => return Present::Failed(failure),
                }
            }
            Present::Yes
        }
    }
}

fn null_message(type_name: &str, field: &str) -> String {
    format!("Cannot return null for non-nullable field {type_name}.{field}.")
}
