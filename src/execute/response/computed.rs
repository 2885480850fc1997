//! Computed fields: a text or a number of the fields of the object that is being written. Nothing is read for them.

use super::misfit::Misfit;
use super::object::null_message;
use super::writer::{Place, ValueFault, Writer, json};
use crate::execute::error::ErrorCode;
use crate::execute::expression::compute::number_of_fields;
use crate::execute::values::bound::BoundValue;
use crate::execute::values::decode;
use crate::plan::tree::{Output, ValueLocation};
use crate::schema::model::{ComputedField, ComputedValue};
use crate::schema::template::part::RenderMistake;
use crate::table::data::attribute::Attribute;
use serde_json::Value;

/// In place of the error of a field that is not the caller's to see: it may be inaccessible.
const UNREADABLE: &str = "A stored value of which the field is computed does not fit its type.";

impl<'a> Writer<'a> {
    /// Writes the value, or null if one of its fields is null. A field that cannot be read is not null.
    pub(super) fn computed(
        &mut self,
        (computed, parts): (&'a ComputedField, &'a [ValueLocation]),
        (type_name, output): (&'a str, &'a Output),
        at: Place<'_>,
    ) -> Result<(), ValueFault> {
        let mut values: Vec<(&str, Option<Value>)> = Vec::with_capacity(parts.len());
        for (field, held) in computed.fields().into_iter().zip(parts) {
            values.push((field, self.part(held, type_name, at)?));
        }
        let value = |name: &str| values.iter().find(|(field, _)| *field == name).and_then(|(_, value)| value.clone());
        let value = match &computed.value {
            ComputedValue::Text(template) => match template.render_text(&value) {
                Ok(text) => Ok(text.map(Value::from)),
                Err(RenderMistake::Unfit(_, why)) => Err(format!("{type_name}.{} has no text: {why}", computed.name)),
            },
            ComputedValue::Number(number) => number_of_fields(number, &computed.kind, &value)
                .map_err(|why| format!("{type_name}.{} {why}.", computed.name)),
        };
        match value {
            Ok(Some(value)) => {
                json(&mut self.body.data, &value);
                Ok(())
            }
            Ok(None) => self.missing(&output.ty, || null_message(type_name, &computed.name)),
            Err(why) => Err(self.error(ErrorCode::Internal, why)),
        }
    }

    /// The value of a field; `None` if it is null.
    fn part(&mut self, held: &'a ValueLocation, type_name: &str, at: Place<'_>) -> Result<Option<Value>, ValueFault> {
        let state = self.state;
        let (reader, item) = match held {
            ValueLocation::In(holder, reader) => match state.held(*holder, at.space, at.row) {
                Ok(item) => (reader, item),
                Err(failure) => return Err(self.failed(failure)),
            },
            ValueLocation::Here(reader) => (reader, at.map),
            ValueLocation::Known(source, kind) => {
                let value = state.value(source, at.space, at.row).map_err(|failure| self.failed(&failure))?;
                // An argument may say more of a time than the field keeps.
                return Ok(value.map(|value| kind.cut(&value).filter(|_| kind.is_time()).unwrap_or(value)));
            }
        };
        let Some(item) = item else { return Ok(None) };
        let (value, stored) = match decode::bound_value(reader, item) {
            Ok(None) if reader.ty.is_non_null() => (Ok(None), "nothing or NULL"),
            Ok(value) => return Ok(value.map(BoundValue::into_json)),
            Err(decode::UnreadValue) => match decode::find(reader, item) {
                Some(decode::StoredValue::Attribute(attribute)) => (Err(UNREADABLE), attribute.descriptor()),
                // Only the text of a key can be unreadable besides.
                _ => (Err(UNREADABLE), Attribute::S("".into()).descriptor()),
            },
        };
        Misfit::note(&mut self.body.misfit, stored);
        self.locate_misfit(type_name, held, at);
        value.map_err(|message| self.error(ErrorCode::Internal, message))
    }
}
