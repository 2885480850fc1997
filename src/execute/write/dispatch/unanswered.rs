//! A call without an answer → the item, if it shows that the call was made: it holds a value that was generated for
//! this request, so that nobody else can have written it.
//!
//! Nothing else tells. An equal item may be another's. A missing one may never have been put, may be deleted since, or
//! may be on its way.

use crate::execute::error::ErrorCode;
use crate::execute::item::assemble;
use crate::execute::values::entries;
use crate::execute::values::stored_values;
use crate::execute::write::calls::draft::{Generated, WriteDraft, key_of};
use crate::execute::write::draft::element;
use crate::execute::write::job::WriteJob;
use crate::execute::write::messages::FieldErrors;
use crate::schema::model::write::{Action, WrittenValue};
use crate::schema::model::{Model, ObjectType};
use crate::table::data::attribute::{Attribute, Item};
use serde_json::Value;
use std::sync::Arc;

/// The item of the draft's only call as it is now, if the call was made for certain. The table is asked until it
/// answers or the deadline comes.
pub async fn made(job: &WriteJob<'_>, draft: &WriteDraft, generated: &Generated) -> Option<Arc<Item>> {
    let call = draft.as_call(job.single_writes())?;
    let signs: Vec<Sign<'_>> =
        generated.iter().filter_map(|((position, field), value)| sign(job, *position, field, value)).collect();
    let ty = job.type_named(&signs.first()?.action.item).ok()?;
    let key = key_of(job.context.model, call)?;
    let mut waits = job.context.loaders.backoff();
    let item = loop {
        // It may have been written with a time that has passed.
        match job.read_stored(&[(ty.name.as_str(), &key)]).await {
            Ok(items) => break items.into_iter().flatten().next()?,
            Err(errors) if is_silent(&errors) && waits.wait(job.context.deadline).await => {}
            Err(_) => return None,
        }
    };
    signs.iter().any(|sign| sign.is_in(job.context.model, ty, &item)).then_some(item)
}

/// A generated value that no other request can have generated, with the action that writes it to a field.
struct Sign<'a> {
    action: &'a Action,
    field: &'a str,
    value: &'a Value,
}

/// The sign that a generated value is; `None` if others can have it.
fn sign<'a>(job: &'a WriteJob<'_>, position: usize, field: &'a str, value: &'a Value) -> Option<Sign<'a>> {
    let action = job.action(position)?;
    let written = action.at.as_ref().map_or(&action.item, |element| &element.element);
    let by_default = || job.context.model.types.get(written)?.fields.get(field)?.rules.default.as_ref();
    let made = action.values.get(field).and_then(WrittenValue::made).or_else(by_default)?;
    made.is_random().then_some(Sign { action, field, value })
}

impl Sign<'_> {
    /// Whether the item, or an element that the action appends to it, has the value.
    fn is_in(&self, model: &Model, ty: &ObjectType, item: &Item) -> bool {
        let Self { action, field, value } = *self;
        match &action.at {
            None => assemble::values_of(model, ty, item).known.get(field) == Some(value),
            Some(list) => match (item.get(&list.attribute), in_element(model, &list.element, field, value)) {
                (Some(Attribute::L(elements)), Some((name, value))) => {
                    elements.iter().any(|one| element::has(one, name, &value))
                }
                (Some(map), Some((name, value))) if let Some(form) = &list.map => {
                    entries::objects(form, map).unwrap_or_default().iter().any(|one| element::has(one, name, &value))
                }
                _ => false,
            },
        }
    }
}

/// The attribute of an element's field, with a value of it.
fn in_element<'m>(model: &'m Model, element: &str, field: &'m str, value: &Value) -> Option<(&'m str, Attribute)> {
    let (of, stored) = (model.types.get(element)?, model.types.get(element)?.stored(field)?);
    let value = stored_values::stored_field(model, &of.fields.get(field)?.ty, &stored.value, value).ok()??;
    Some((stored.attribute.as_deref().unwrap_or(field), value))
}

/// Whether the table may answer later.
fn is_silent(errors: &FieldErrors) -> bool {
    errors.iter().all(|error| matches!(error.code, ErrorCode::Unavailable | ErrorCode::Timeout | ErrorCode::Throttled))
}
