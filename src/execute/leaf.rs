//! Attributes and values → JSON bytes, straight into the response.

use super::decode;
use super::error::ErrorCode;
use super::respond::{Null, Step, Writer};
use crate::schema::value_type::ValueType;
use crate::table::attribute::Attribute;
use apollo_compiler::ast::Type;
use serde_json::Value;

/// Writes text as a JSON string. Writing to a vector cannot fail.
pub(super) fn text(out: &mut Vec<u8>, text: &str) {
    let _ = serde_json::to_writer(out, text);
}

/// Writes a JSON value.
pub(super) fn json(out: &mut Vec<u8>, value: &Value) {
    let _ = serde_json::to_writer(out, value);
}

impl Writer<'_> {
    /// Writes a stored scalar, enum or list of them.
    pub(super) fn attribute(&mut self, ty: &Type, kind: &ValueType, attribute: &Attribute) -> Result<(), Null> {
        if matches!(attribute, Attribute::Null) {
            return self.missing(ty, || format!("The stored value is null, but its type is {ty}."));
        }
        match ty {
            Type::List(item) | Type::NonNullList(item) => {
                let owned;
                let (values, kind) = match (attribute, kind) {
                    (Attribute::L(values), ValueType::Set(element)) => (values, &**element),
                    (Attribute::L(values), kind) => (values, kind),
                    (set, ValueType::Set(element)) => {
                        owned = decode::elements(set).unwrap_or_default();
                        (&owned, &**element)
                    }
                    _ => return Err(self.misfit(ty)),
                };
                self.out.push(b'[');
                for (position, value) in values.iter().enumerate() {
                    if position > 0 {
                        self.out.push(b',');
                    }
                    self.within(Step::Index(position), |writer| writer.nullable(item, |writer| writer.attribute(item, kind, value)))?;
                }
                self.out.push(b']');
                Ok(())
            }
            _ => self.scalar(ty, kind, attribute),
        }
    }

    fn scalar(&mut self, ty: &Type, kind: &ValueType, attribute: &Attribute) -> Result<(), Null> {
        match (kind, attribute) {
            (ValueType::Id | ValueType::String, Attribute::S(value)) => text(&mut self.out, value),
            (ValueType::Boolean, Attribute::Bool(value)) => self.out.extend_from_slice(if *value { b"true" } else { b"false" }),
            (ValueType::Int, Attribute::N(number)) if let Ok(value) = number.parse::<i32>() => {
                self.out.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
            }
            _ => match decode::scalar(kind, attribute) {
                Some(value) => json(&mut self.out, &value),
                None => return Err(self.misfit(ty)),
            },
        }
        Ok(())
    }

    fn misfit(&mut self, ty: &Type) -> Null {
        self.error(ErrorCode::Internal, format!("The stored value does not fit the type {ty}."))
    }
}
