//! Objects of a response: the fields of a selection for a row, in their order, and embedded objects.

use super::misfit::Misfit;
use super::writer::{PathStep, Place, ValueFault, Writer, json};
use crate::execute::error::ErrorCode;
use crate::execute::read::state::Present;
use crate::execute::read::state::access::GuardOutcome;
use crate::execute::values::{decode, entries};
use crate::plan::tree::*;
use crate::schema::scalar::value_type::ValueType;
use crate::table::data::attribute::Attribute;
use crate::table::json::string::push_json_text;
use apollo_compiler::ast::Type;
use serde_json::Value;

impl<'a> Writer<'a> {
    pub(super) fn object(&mut self, object: &'a Object, at: Place<'_>) -> Result<(), ValueFault> {
        if !object.variants.is_empty() {
            return self.variant(object, at);
        }
        self.pass(object.guard, at)?;
        self.check_objects()?;
        self.body.data.push(b'{');
        self.fields(object, at)?;
        self.body.data.push(b'}');
        Ok(())
    }

    /// Writes the fields of an object of one type, without the braces.
    pub(super) fn fields(&mut self, object: &'a Object, at: Place<'_>) -> Result<(), ValueFault> {
        for (position, output) in object.fields.iter().enumerate() {
            if position > 0 {
                self.body.data.push(b',');
            }
            self.body.data.extend_from_slice(&output.label);
            self.field(&output.key, output.location, |writer| {
                writer.nullable(&output.ty, |writer| writer.value(&object.type_name, output, at))
            })?;
        }
        Ok(())
    }

    /// An object of an interface or a union, written as the type of its item.
    fn variant(&mut self, object: &'a Object, at: Place<'_>) -> Result<(), ValueFault> {
        let row = |space: SpaceId| self.state.under(at.space, at.row, space).next();
        match object.variants.iter().find_map(|(space, variant)| Some((*space, row(*space)?, variant))) {
            Some((space, row, variant)) => self.object(variant, Place { space, row, map: None }),
            None => {
                Err(self.error(ErrorCode::Internal, format!("A stored item matches no type of {}.", object.type_name)))
            }
        }
    }

    pub(super) fn value(&mut self, type_name: &'a str, output: &'a Output, at: Place<'_>) -> Result<(), ValueFault> {
        self.pass(output.guard, at)?;
        match &output.value {
            OutputValue::Typename => {
                push_json_text(&mut self.body.data, type_name);
                Ok(())
            }
            OutputValue::Introspection => {
                let value = self.introspection.get(&output.key).unwrap_or(&Value::Null);
                json(&mut self.body.data, value);
                Ok(())
            }
            OutputValue::Leaf(held) => {
                let written = self.leaf(held, output, type_name, at);
                if self.body.misfit.is_some() {
                    self.locate_misfit(type_name, held, at);
                }
                written
            }
            OutputValue::Embedded(held, object, rows) => {
                let written = self.embedded(held, object, *rows, (output, at));
                if self.body.misfit.is_some() {
                    self.locate_misfit(type_name, held, at);
                }
                written
            }
            OutputValue::Computed(computed, parts) => self.computed((computed, parts), (type_name, output), at),
            OutputValue::One(target, object) => self.one(target, object, (type_name, output), at),
            OutputValue::Nodes(nodes) => self.nodes(nodes, &output.ty, at),
            OutputValue::GlobalId(id, values) => self.global_id((id, values), (type_name, output), at),
            OutputValue::List(target, object) => self.list(target, object, &output.ty, at),
            OutputValue::Page(target, parts) => self.page(target, parts, at),
            OutputValue::Payload(object) => self.object(object, at),
            OutputValue::Done => {
                json(&mut self.body.data, &Value::Bool(true));
                Ok(())
            }
            OutputValue::Exists(target, guard) => {
                let there = match self.state.present(target, at.space, at.row) {
                    Present::Yes => {
                        self.pass(*guard, at)?;
                        true
                    }
                    Present::No => false,
                    Present::Failed(failure) => return Err(self.failed(&failure)),
                };
                json(&mut self.body.data, &Value::Bool(there));
                Ok(())
            }
            OutputValue::Count(target) => self.count(target, at),
        }
    }

    /// Fails with the refusal of a guard, unless it lets the caller in.
    #[inline]
    pub(super) fn pass(&mut self, guard: Option<GuardId>, at: Place<'_>) -> Result<(), ValueFault> {
        if guard.is_none() { Ok(()) } else { self.pass_guard(guard, at) }
    }

    fn pass_guard(&mut self, guard: Option<GuardId>, at: Place<'_>) -> Result<(), ValueFault> {
        match self.state.access(guard, (at.space, at.row)) {
            GuardOutcome::Granted => Ok(()),
            GuardOutcome::Refused(code) => Err(self.errors(self.state.refusal_errors(guard, code))),
            GuardOutcome::Failed(failure) => Err(self.failed(&failure)),
            // Everything is read by now.
            GuardOutcome::Undecided => Err(self.error(ErrorCode::Internal, "A rule could not be decided.")),
        }
    }

    fn one(
        &mut self,
        target: &'a ObjectSource,
        object: &'a Object,
        (type_name, output): (&'a str, &'a Output),
        at: Place<'_>,
    ) -> Result<(), ValueFault> {
        let row = self.rows(target, at).next();
        let present = row.map_or(Present::No, |row| self.state.present(target, target.space, row));
        match (present, row) {
            (Present::Yes, Some(row)) => self.object(object, Place { space: target.space, row, map: None }),
            (Present::Failed(failure), _) => Err(self.failed(&failure)),
            _ if output.ty.is_non_null() => {
                let message =
                    format!("{type_name}.{} refers to a {} that does not exist.", output.key, object.type_name);
                Err(self.error(ErrorCode::NotFound, message))
            }
            _ => self.missing(&output.ty, String::new),
        }
    }

    /// Notes for the log where a value is held that does not fit.
    #[cold]
    pub(super) fn locate_misfit(&mut self, type_name: &str, held: &ValueLocation, at: Place<'_>) {
        let (reader, item) = match held {
            ValueLocation::In(holder, reader) => (reader, self.state.held(*holder, at.space, at.row).ok().flatten()),
            ValueLocation::Here(reader) => (reader, None),
            ValueLocation::Known(..) => return,
        };
        self.body.misfit.iter_mut().for_each(|misfit| misfit.locate(reader, type_name, item));
    }

    fn leaf(
        &mut self,
        held: &'a ValueLocation,
        output: &Output,
        type_name: &str,
        at: Place<'_>,
    ) -> Result<(), ValueFault> {
        let state = self.state;
        let (reader, item) = match held {
            ValueLocation::In(holder, reader) => match state.held(*holder, at.space, at.row) {
                Ok(item) => (reader, item),
                Err(failure) => return Err(self.failed(failure)),
            },
            ValueLocation::Here(reader) => (reader, at.map),
            ValueLocation::Known(source, kind) => {
                return match state.value(source, at.space, at.row) {
                    Ok(Some(value)) => {
                        // An argument may say more of a time than the field keeps.
                        let kept = if kind.is_time() { kind.cut(&value) } else { None };
                        json(&mut self.body.data, kept.as_ref().unwrap_or(&value));
                        Ok(())
                    }
                    Ok(None) => self.missing(&output.ty, || null_message(type_name, &output.key)),
                    Err(failure) => Err(self.failed(&failure)),
                };
            }
        };
        match item.and_then(|item| decode::find(reader, item)) {
            None => self.absent(&output.ty, type_name, &reader.field),
            // Only a text of a key can be that.
            Some(decode::StoredValue::UnreadValue) => Err(self.misfit(&output.ty, &Attribute::S("".into()))),
            Some(decode::StoredValue::Text(value)) => {
                push_json_text(&mut self.body.data, value);
                Ok(())
            }
            Some(decode::StoredValue::Key(value)) => {
                json(&mut self.body.data, &value);
                Ok(())
            }
            Some(decode::StoredValue::Attribute(attribute)) => {
                self.attribute(&output.ty, &reader.stored.value, attribute)
            }
        }
    }

    /// A missing value or a stored NULL, which is the same. A non-null list is then empty: DynamoDB has no empty sets,
    /// and writers often leave empty lists out.
    fn absent(&mut self, ty: &Type, type_name: &str, field: &str) -> Result<(), ValueFault> {
        if ty.is_list() && ty.is_non_null() {
            self.body.data.extend_from_slice(b"[]");
            return Ok(());
        }
        if ty.is_non_null() {
            Misfit::note(&mut self.body.misfit, "nothing or NULL");
        }
        self.missing(ty, || null_message(type_name, field))
    }

    fn embedded(
        &mut self,
        held: &'a ValueLocation,
        object: &'a Object,
        rows: Option<SpaceId>,
        (output, at): (&'a Output, Place<'_>),
    ) -> Result<(), ValueFault> {
        let state = self.state;
        let (reader, item) = match held {
            ValueLocation::In(holder, reader) => match state.held(*holder, at.space, at.row) {
                Ok(item) => (reader, item),
                Err(failure) => return Err(self.failed(failure)),
            },
            ValueLocation::Here(reader) => (reader, at.map),
            ValueLocation::Known(..) => {
                return self.missing(&output.ty, || null_message(&object.type_name, &output.key));
            }
        };
        let first = rows.map(|space| state.under(at.space, at.row, space).start);
        let mut position = 0;
        let mut place = || {
            let row = first.map_or(at.row, |first| first + position);
            position += 1;
            (rows.unwrap_or(at.space), row)
        };
        match item.and_then(|item| decode::find(reader, item)) {
            Some(decode::StoredValue::Attribute(attribute)) => match &reader.stored.value {
                ValueType::Map(form) => match entries::objects(form, attribute) {
                    Some(objects) => self.maps(&output.ty, &Attribute::L(objects), object, &mut place),
                    None => Err(self.misfit(&output.ty, attribute)),
                },
                _ => self.maps(&output.ty, attribute, object, &mut place),
            },
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
    ) -> Result<(), ValueFault> {
        match (ty, attribute) {
            (Type::List(item) | Type::NonNullList(item), Attribute::L(values)) => {
                self.body.data.push(b'[');
                for (position, value) in values.iter().enumerate() {
                    if position > 0 {
                        self.body.data.push(b',');
                    }
                    self.within(PathStep::Index(position), |writer| {
                        writer.nullable(item, |writer| writer.maps(item, value, object, place))
                    })?;
                }
                self.body.data.push(b']');
                Ok(())
            }
            (Type::Named(_) | Type::NonNullNamed(_), Attribute::M(map)) => {
                let (space, row) = place();
                self.object(object, Place { space, row, map: Some(map) })
            }
            (_, Attribute::Null) => {
                if !ty.is_list() {
                    place();
                }
                if ty.is_non_null() {
                    Misfit::note(&mut self.body.misfit, "NULL");
                }
                self.missing(ty, || format!("A {} must not be null here.", object.type_name))
            }
            _ => {
                if !ty.is_list() {
                    place();
                }
                Err(self.misfit(ty, attribute))
            }
        }
    }
}

pub(super) fn null_message(type_name: &str, field: &str) -> String {
    format!("Cannot return null for non-nullable field {type_name}.{field}.")
}
