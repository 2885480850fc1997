//! A planned read and the values of its rows in; what each row asks for out: nothing, keys to get, or a query to run. Must not know what
//! other reads request.

use super::query::range_query;
use crate::execute::context::ExecutionContext;
use crate::execute::error::Failure;
use crate::execute::expression::filter::ItemFilter;
use crate::execute::key::bind_range::key_ranges;
use crate::execute::key::bound::BoundKey;
use crate::execute::key::combinations::combinations;
use crate::execute::key::values::{key_of, primary_key};
use crate::execute::page::bound::PageBound;
use crate::execute::page::result::PageRequest;
use crate::execute::read::admit::ItemGate;
use crate::execute::read::arguments::{FieldArguments, ReadArguments};
use crate::execute::read::range_query::RangeQuery;
use crate::execute::read::state::{ItemState, RowInput};
use crate::plan::tree::{Read, ReadAction, ReadId};
use crate::table::data::attribute::Key;
use indexmap::IndexSet;
use smallvec::{SmallVec, smallvec};
use std::sync::Arc;

/// A read and what its rows ask for.
pub struct BoundRead<'a> {
    /// Its position in the plan.
    pub id: ReadId,
    /// The read.
    pub read: &'a Read,
    /// What the caller may see of its items.
    pub gate: ItemGate,
    /// The filter that the gateway applies to its items.
    pub filter: Option<ItemFilter<'a>>,
    /// What each row of its space asks for.
    pub rows: Vec<BoundRow>,
}

/// What a row of a read asks for.
pub enum BoundRow {
    /// Nothing: it is not there.
    Absent,
    /// Nothing: it cannot be read.
    Failed(Arc<Failure>),
    /// The items with these keys, mostly one. A key is `None` if no item can have it.
    Keys(SmallVec<[Option<Key>; 1]>),
    /// The items of a query, and what the field wants of them.
    Query(Box<RangeQuery>, Box<PageRequest>),
}

impl BoundRead<'_> {
    /// The read, without its pages if these might have more objects than fit.
    pub fn within(mut self, room: &mut PageBound) -> Self {
        let size = |row: &BoundRow| if let BoundRow::Query(_, request) = row { request.page.as_ref().map(|page| page.size) } else { None };
        let sizes = self.rows.iter().filter_map(size);
        let (pages, largest) = sizes.fold((0, 0), |(pages, largest), size| (pages + 1, size.max(largest)));
        if let Err(why) = room.admit(self.read.list_of(), pages, largest) {
            self.rows.iter_mut().filter(|row| size(row).is_some()).for_each(|row| *row = BoundRow::Failed(why.clone()));
        }
        self
    }
}

/// Binds a read to the values of its rows. Arguments that do not fit fail every row, even where nothing is there to be read.
pub fn bind<'a>(
    context: &'a ExecutionContext<'_>,
    arguments: &'a FieldArguments<'_>,
    (id, read): (ReadId, &'a Read),
    inputs: impl Iterator<Item = RowInput<'a>>,
) -> BoundRead<'a> {
    let arguments = arguments.of_read(context, read);
    let gate = ItemGate::new(read, context);
    let rows = inputs.map(|input| match (input, &arguments) {
        (RowInput::Known(ItemState::Failed(why)), _) => BoundRow::Failed(why),
        (_, Err(why)) => BoundRow::Failed(why.clone()),
        (RowInput::Known(_), Ok(_)) => BoundRow::Absent,
        (RowInput::Failed(why), Ok(_)) => BoundRow::Failed(why),
        (RowInput::Rest(item), Ok(_)) => match key_of(&context.model.tables[read.table], &item) {
            Some(key) => BoundRow::Keys(smallvec![Some(key)]),
            None => BoundRow::Absent,
        },
        (RowInput::Key(key), Ok(arguments)) => bind_key(context, (read, &gate), arguments, key).unwrap_or_else(BoundRow::Failed),
    });
    let rows = rows.collect();
    BoundRead { id, read, gate, filter: arguments.ok().and_then(|arguments| arguments.item_filter), rows }
}

/// The keys or the query for the values of a row's key.
fn bind_key(
    context: &ExecutionContext<'_>,
    (read, gate): (&Read, &ItemGate),
    arguments: &ReadArguments<'_>,
    key: BoundKey<'_>,
) -> Result<BoundRow, Arc<Failure>> {
    let get = match &read.action {
        ReadAction::Get(get) => get,
        ReadAction::Query(query) => {
            let values = combinations(&query.key, key.fields)?;
            let ranges = key_ranges(query, &values, key.range.as_deref());
            let found = range_query(context, arguments, (read, query, gate), ranges)?;
            return Ok(found.map_or(BoundRow::Absent, |(query, page)| BoundRow::Query(Box::new(query), Box::new(page))));
        }
        ReadAction::FetchMissing(_) => return Ok(BoundRow::Absent),
    };
    let values = combinations(&get.key, key.fields)?;
    if let [values] = values.as_slice() {
        return Ok(BoundRow::Keys(smallvec![primary_key(&get.key, values)]));
    }
    let keys = values.iter().map(|values| primary_key(&get.key, values));
    Ok(BoundRow::Keys(match get.answers_each_value {
        true => keys.collect(),
        // A list has each item once, where its value comes first.
        false => keys.collect::<IndexSet<_>>().into_iter().collect(),
    }))
}
