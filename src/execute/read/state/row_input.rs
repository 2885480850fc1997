//! The rows of a running plan → what a read needs for each of them: the values of its key and of its range.

use super::access::GuardOutcome;
use super::{ItemState, ReadState};
use crate::execute::error::{ErrorCode, Failure};
use crate::execute::expression::scope::argument;
use crate::execute::key::bound::{BoundFields, BoundKey, RangeValues};
use crate::execute::read::admit::VisibleItem;
use crate::execute::values::bound::BoundValue;
use crate::execute::values::decode;
use crate::plan::tree::{BoundRange, Holder, KeyBinding, ReadAction, ReadId, SourceText, SpaceId, ValueSource};
use crate::schema::template::part::{AsPartValue, PartValue};
use serde_json::Value;
use std::sync::Arc;

/// What a read needs for one row.
#[derive(Debug)]
pub enum RowInput<'s> {
    /// Nothing: its result is known.
    Known(ItemState),
    /// Nothing: a value of its key could not be read.
    Failed(Arc<Failure>),
    /// The values of the key, for a Get or a Query.
    Key(BoundKey<'s>),
    /// An item of an index, whose missing attributes are read from the table.
    Rest(VisibleItem),
}

impl ReadState<'_> {
    /// The value of a source for a row; `None` if it is null or its holder is not there.
    pub fn value(&self, source: &ValueSource, space: SpaceId, row: usize) -> Result<Option<Value>, Arc<Failure>> {
        Ok(self.bound_value(source, space, row)?.map(BoundValue::into_json))
    }

    /// The value of a source for a row, where it stands; `None` if it is null or its holder is not there.
    fn bound_value(
        &self,
        source: &ValueSource,
        space: SpaceId,
        row: usize,
    ) -> Result<Option<BoundValue<'_>>, Arc<Failure>> {
        match source {
            ValueSource::Argument(arguments, name) => {
                let values = self.arguments.values(*arguments)?;
                Ok(argument(values, name).filter(|value| !value.is_null()).map(BoundValue::Json))
            }
            ValueSource::Claim(claim) => Ok(self.caller.text(claim).map(|text| Value::String(text).into())),
            ValueSource::Field(holder, reader) => {
                let item = self.held(*holder, space, row).map_err(Arc::clone)?;
                let value = item.map_or(Ok(None), |item| decode::bound_value(reader, item));
                value.map_err(|decode::UnreadValue| {
                    let message = format!("The stored value of {} does not fit the type {}.", reader.field, reader.ty);
                    Failure::new(ErrorCode::Internal, message)
                })
            }
            ValueSource::Text(parts) => {
                let mut text = String::new();
                for part in parts {
                    match part {
                        SourceText::Literal(literal) => text.push_str(literal),
                        SourceText::Value(source) => {
                            match self.bound_value(source, space, row)?.as_ref().map(BoundValue::as_part_value) {
                                None => return Ok(None),
                                Some(PartValue::Text(value)) => text.push_str(value),
                                Some(PartValue::Json(Value::String(value))) => text.push_str(value),
                                Some(PartValue::Json(value)) => text.push_str(&value.to_string()),
                            }
                        }
                    }
                }
                Ok(Some(Value::String(text).into()))
            }
        }
    }

    /// What a read needs for each row of its space.
    pub fn inputs(&self, id: ReadId) -> impl Iterator<Item = RowInput<'_>> {
        (0..self.len(self.plan.reads[id].space)).map(move |row| self.input(id, row))
    }

    fn input(&self, id: ReadId, row: usize) -> RowInput<'_> {
        let read = &self.plan.reads[id];
        if let Some(known) = self.known(id, row) {
            return RowInput::Known(known);
        }
        let bound = match &read.action {
            ReadAction::Get(get) => self.bound(&get.key, None, (read.space, row)),
            ReadAction::Query(query) => self.bound(&query.key, query.range.as_ref(), (read.space, row)),
            ReadAction::FetchMissing(of) => {
                return match self.found(*of, read.space, row) {
                    ItemState::Item(item) => RowInput::Rest(item.clone()),
                    other => RowInput::Known(other.clone()),
                };
            }
        };
        match bound {
            Ok(Some(key)) => RowInput::Key(key),
            Ok(None) => RowInput::Known(ItemState::Absent),
            Err(failure) => RowInput::Failed(failure),
        }
    }

    /// The result of a read for a row that needs no call.
    fn known(&self, id: ReadId, row: usize) -> Option<ItemState> {
        let read = &self.plan.reads[id];
        let is_refused =
            || matches!(self.access(read.guard, (read.space, row)), GuardOutcome::Refused(_) | GuardOutcome::Failed(_));
        if self.is_behind(id, read.space, row) || self.refusals.is_unneeded(id) || is_refused() {
            return Some(ItemState::Absent);
        }
        // Nothing is below a missing object. Reads for both may run at the same time.
        self.missing_above(id, (read.space, row))
    }

    /// Whether an object around a row of a read is missing, or could not be read.
    pub fn is_below_missing(&self, id: ReadId, row: (SpaceId, usize)) -> bool {
        self.missing_above(id, row).is_some()
    }

    /// The state of the nearest object around a row of a read that is missing or could not be read.
    fn missing_above(&self, id: ReadId, (space, row): (SpaceId, usize)) -> Option<ItemState> {
        let mut above = self.plan.reads[id].parent;
        while let Some(parent) = above {
            match self.found(parent, space, row) {
                ItemState::Absent if self.is_known(Holder::Read(parent)) => return Some(ItemState::Absent),
                ItemState::Failed(failure) => return Some(ItemState::Failed(failure.clone())),
                _ => above = self.plan.reads[parent].parent,
            }
        }
        None
    }

    /// The values of a key and of its range for a row; `None` where a value of the key is null or missing.
    fn bound(
        &self,
        key: &KeyBinding,
        range: Option<&BoundRange>,
        (space, row): (SpaceId, usize),
    ) -> Result<Option<BoundKey<'_>>, Arc<Failure>> {
        let mut fields = BoundFields::new();
        for (field, source) in &key.fields {
            match self.bound_value(source, space, row)? {
                Some(value) => fields.push((field.clone(), value)),
                // If the value that chooses a replica is null, the rest of the key chooses it.
                None if key.chooses_replica(field) => {}
                None => return Ok(None),
            }
        }
        let sources: Vec<&ValueSource> = match range {
            Some(BoundRange::Between(lower, upper)) => lower.iter().chain(upper).map(|(source, _)| source).collect(),
            Some(BoundRange::BeginsWith(source)) => vec![source],
            None => Vec::new(),
        };
        for source in sources.into_iter().filter(|source| source.has_claim()) {
            // Without the claim, the range is not open but empty.
            if self.value(source, space, row)?.is_none() {
                return Ok(None);
            }
        }
        let end = |end: &Option<(ValueSource, bool)>| match end {
            Some((source, inclusive)) => {
                Ok::<_, Arc<Failure>>(self.value(source, space, row)?.map(|value| (value, *inclusive)))
            }
            None => Ok(None),
        };
        let range = match range {
            Some(BoundRange::Between(lower, upper)) => Some(RangeValues::Between(end(lower)?, end(upper)?)),
            Some(BoundRange::BeginsWith(source)) => Some(RangeValues::BeginsWith(self.value(source, space, row)?)),
            None => None,
        };
        Ok(Some(BoundKey { fields, range: range.map(Box::new) }))
    }
}
