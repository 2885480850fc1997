//! A planned read and the values of its rows in; what each row requests of the wave out: nothing, Gets, or a query.
//! Must not know what the calls find.

use super::query::{QueryRead, RowQuery, range_query};
use crate::execute::arguments::FieldArguments;
use crate::execute::context::ExecutionContext;
use crate::execute::error::Failure;
use crate::execute::key::bind_range::key_ranges;
use crate::execute::key::bound::BoundKey;
use crate::execute::key::combinations::combinations;
use crate::execute::key::values::{key_of, primary_key};
use crate::execute::page::bound::PageBound;
use crate::execute::read::admit::ItemGate;
use crate::execute::read::requests::{KnownQueries, ReadRequests, RowRequest, WaveRequests};
use crate::execute::read::state::ItemState;
use crate::execute::read::state::row_input::RowInput;
use crate::plan::tree::{GetBinding, Read, ReadAction, ReadId};
use crate::table::data::attribute::Key;
use indexmap::IndexSet;
use smallvec::{SmallVec, smallvec};
use std::sync::Arc;

/// Binds the reads of a wave, one after the other.
pub struct Binder<'a, 'w> {
    /// The request's context.
    pub context: &'a ExecutionContext<'a>,
    /// The arguments of the plan's fields.
    pub arguments: &'a FieldArguments<'a>,
    /// What the request has queried before.
    pub known: KnownQueries<'w>,
    /// How many objects the pages of the wave may have.
    pub room: PageBound,
    /// What the reads request together.
    pub wave: WaveRequests,
}

impl<'a> Binder<'a, '_> {
    /// What the rows of a read request. Arguments that do not fit fail every row, even where nothing is there to be
    /// read.
    pub fn bind(
        &mut self,
        (id, read): (ReadId, &'a Read),
        inputs: impl Iterator<Item = RowInput<'a>>,
    ) -> ReadRequests<'a> {
        let gate = ItemGate::new(read, self.context);
        let arguments = match self.arguments.read_arguments(self.context, read) {
            Ok(arguments) => arguments,
            Err(why) => {
                let failed = |input| match input {
                    RowInput::Known(ItemState::Failed(own)) => RowRequest::Failed(own),
                    _ => RowRequest::Failed(why.clone()),
                };
                return ReadRequests { id, read, gate, filter: None, rows: inputs.map(failed).collect() };
            }
        };
        let rows = match &read.action {
            ReadAction::Get(get) => self.gets(read, Some(get), inputs),
            ReadAction::FetchMissing(_) => self.gets(read, None, inputs),
            ReadAction::Query(query) => {
                let asked = QueryRead { read, query, gate: &gate, arguments: &arguments };
                self.queries(id, &asked, inputs)
            }
        };
        ReadRequests { id, read, gate, filter: arguments.item_filter, rows }
    }

    /// The Gets of each row.
    fn gets(
        &mut self,
        read: &Read,
        binding: Option<&GetBinding>,
        inputs: impl Iterator<Item = RowInput<'a>>,
    ) -> Vec<RowRequest> {
        let table = &self.context.model.tables[read.table];
        let name: Arc<str> = table.name.as_str().into();
        let known = (!read.known.from.is_empty()).then(|| self.context.loaders.known()).flatten();
        let (wave, known) = (&mut self.wave, known.as_deref());
        let rows = inputs.map(|input| match input {
            RowInput::Known(ItemState::Failed(why)) | RowInput::Failed(why) => RowRequest::Failed(why),
            RowInput::Known(_) => RowRequest::Absent,
            RowInput::Rest(item) => match key_of(table, &item) {
                Some(key) => RowRequest::Gets(smallvec![wave.get(read, &name, Some(key), known)]),
                None => RowRequest::Absent,
            },
            RowInput::Key(key) => match binding.map(|binding| keys(binding, key)) {
                None => RowRequest::Absent,
                Some(Err(why)) => RowRequest::Failed(why),
                Some(Ok(keys)) => {
                    // To collect them would take longer, as most rows have one.
                    let mut gets = SmallVec::with_capacity(keys.len());
                    for key in keys {
                        gets.push(wave.get(read, &name, key, known));
                    }
                    RowRequest::Gets(gets)
                }
            },
        });
        rows.collect()
    }

    /// The query of each row. If the pages of all rows might have more objects than fit, none is made.
    fn queries(
        &mut self,
        id: ReadId,
        asked: &QueryRead<'_>,
        inputs: impl Iterator<Item = RowInput<'a>>,
    ) -> Vec<RowRequest> {
        let bound = inputs.map(|input| match input {
            RowInput::Known(ItemState::Failed(why)) | RowInput::Failed(why) => Err(why),
            RowInput::Known(_) | RowInput::Rest(_) => Ok(None),
            RowInput::Key(key) => query(asked, key, self.context),
        });
        let bound: Vec<RowQuery> = bound.collect();
        let has_room = match &asked.arguments.page {
            Some(page) => self.room.admit(asked.read.list_of(), bound.iter().flatten().flatten().count(), page.size),
            None => Ok(()),
        };
        let context = self.context;
        let mut request = |row: RowQuery| {
            let Some((query, page)) = row? else { return Ok(RowRequest::Absent) };
            has_room.clone()?;
            let position = self.wave.query(context, &mut self.known, (id, asked.read), query)?;
            Ok(RowRequest::Query(position, Box::new(page)))
        };
        bound.into_iter().map(|row| request(row).unwrap_or_else(RowRequest::Failed)).collect()
    }
}

/// The query for the values of a row's key, and what the field wants of its items. `None` if nothing can be found.
fn query(of: &QueryRead<'_>, key: BoundKey<'_>, context: &ExecutionContext<'_>) -> RowQuery {
    let values = combinations(&of.query.key, key.fields)?;
    let ranges = key_ranges(of.query, &values, key.range.as_deref());
    range_query(context, of, ranges)
}

/// The keys for the values of a row's key, mostly one. A key is `None` if no item can have it.
fn keys(binding: &GetBinding, key: BoundKey<'_>) -> Result<SmallVec<[Option<Key>; 1]>, Arc<Failure>> {
    let values = combinations(&binding.key, key.fields)?;
    if let [values] = values.as_slice() {
        return Ok(smallvec![primary_key(&binding.key, values)]);
    }
    let keys = values.iter().map(|values| primary_key(&binding.key, values));
    Ok(match binding.answers_each_value {
        true => keys.collect(),
        // A list has each item once, where its value comes first.
        false => keys.collect::<IndexSet<_>>().into_iter().collect(),
    })
}
