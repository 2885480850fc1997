//! A plan and the values of its arguments in; out: the greatest number of rows of each space, and of keys, ranges and
//! items of each read. Must not know calls.

use super::assumed::{ANY_ID, ELEMENTS, ITEM_BYTES, PAGE_BYTES};
use super::range::{Contents, RangeCost};
use crate::plan::tree::*;
use crate::schema::model::Model;
use crate::schema::model::find::sharding::{KeyChoice, Reading};
use serde_json::{Map, Value};

/// The most keys or ranges that the values of a field give.
pub const MAX_KEYS: u64 = 100;

/// The keys, ranges and items of a read, each time it runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReadSize {
    /// The number of keys or ranges that it reads.
    pub ranges: u64,
    /// The number of items that it reads of each range.
    pub read: u64,
    /// The calls that this takes.
    pub pages: u64,
    /// The number of items that it finds.
    pub found: u64,
    /// Whether paging arguments set that number.
    pub is_page: bool,
}

/// The values of a plan's arguments.
pub struct ArgumentValues<'p> {
    plan: &'p Plan,
    values: Vec<Map<String, Value>>,
}

impl<'p> ArgumentValues<'p> {
    /// Coerces the arguments. Refused values count as none: the request does not read them either.
    pub fn new(model: &Model, plan: &'p Plan, variables: &Map<String, Value>) -> Self {
        let values =
            plan.arguments.iter().map(|arguments| arguments.evaluate(&model.api, variables).unwrap_or_default());
        Self { plan, values: values.collect() }
    }

    /// The number of elements of a list argument, by its dotted name.
    pub fn length(&self, arguments: ArgumentsId, list: &str) -> u64 {
        let mut names = list.split('.');
        let first = names.next().and_then(|name| self.values.get(arguments)?.get(name));
        let list = first.and_then(|first| names.try_fold(first, |value, name| value.as_object()?.get(name)));
        list.and_then(Value::as_array).map_or(0, |elements| elements.len() as u64)
    }

    /// The keys, ranges and items of a read.
    pub fn size(&self, read: &Read) -> ReadSize {
        let one = ReadSize { ranges: 1, read: 1, pages: 1, found: 1, is_page: false };
        match &read.action {
            ReadAction::FetchMissing(_) => one,
            ReadAction::Get(get) => {
                let keys = self.keys(&get.key);
                let found = if read.yields.is_none() { 1 } else { get.max.map_or(keys, |max| keys.min(max.into())) };
                ReadSize { ranges: keys, found, ..one }
            }
            ReadAction::Query(query) => {
                let (wanted, found, is_page) = match query.want {
                    Want::First => (1, 1, false),
                    Want::Whole { max } => (u64::from(max) + 1, u64::from(max), false),
                    Want::Page { arguments, sizes, probe } => {
                        let size = self.page_size(arguments, sizes);
                        (size + u64::from(probe), size, true)
                    }
                    Want::Count { .. } => (PAGE_BYTES / ITEM_BYTES, 0, false),
                };
                let types = &read.discriminator;
                let contents = match query.want {
                    Want::Count { .. } => Contents::Wanted,
                    _ if query.filter.is_some() || (query.others && types.types.len() > 1) => Contents::Sparse,
                    _ if query.others || types.hides() || types.times().next().is_some() => Contents::Mixed,
                    _ => Contents::Wanted,
                };
                let RangeCost { calls: pages, items: read } = RangeCost::new(wanted, contents);
                ReadSize { ranges: self.keys(&query.key), read, pages, found, is_page }
            }
        }
    }

    /// The number of keys or ranges that the values of a key give, on all its shards.
    fn keys(&self, key: &KeyBinding) -> u64 {
        let of_source = |source: &ValueSource| match source {
            ValueSource::Argument(arguments, name) => match self.values[*arguments].get(name) {
                Some(Value::Array(values)) => values.iter().filter(|value| !value.is_null()).count() as u64,
                _ => 1,
            },
            ValueSource::Field(_, reader) if reader.ty.is_list() => ELEMENTS,
            ValueSource::Claim(_) | ValueSource::Field(..) | ValueSource::Text(_) => 1,
        };
        let values = key.fields.values().map(of_source).fold(1, u64::saturating_mul).min(MAX_KEYS);
        match key.spread {
            Some(Reading { spread, which: KeyChoice::Every }) => values * u64::from(spread.count),
            _ => values,
        }
    }

    fn page_size(&self, id: ArgumentsId, sizes: PageSizes) -> u64 {
        let (values, given) = (&self.values[id], &self.plan.arguments[id].given);
        let is_given = |name: &str| {
            given.iter().any(|known| known == name) && values.get(name).is_some_and(|value| !value.is_null())
        };
        let backward = sizes.form.backward().iter().any(|name| is_given(name));
        let asked = values.get(sizes.form.names(backward).0).and_then(Value::as_u64);
        asked.unwrap_or_else(|| sizes.without_arguments(backward).into()).min(sizes.max.into())
    }

    /// The ids of an argument; `None` if it has no value.
    fn ids(&self, argument: &IdArgument) -> Option<Vec<&str>> {
        match self.values[argument.arguments].get(&argument.name)? {
            Value::Array(ids) => Some(ids.iter().filter_map(Value::as_str).collect()),
            id => Some(id.as_str().into_iter().collect()),
        }
    }

    /// The greatest number of rows of each space. `seeds` says how many items the caller hands in to one.
    pub fn rows(&self, sizes: &[ReadSize], seeds: &dyn Fn(SpaceId) -> u64) -> Vec<u64> {
        let mut rows: Vec<u64> = Vec::with_capacity(self.plan.spaces.len());
        for (id, space) in self.plan.spaces.iter().enumerate() {
            // A parent comes before its spaces.
            let parent = space.parent.and_then(|parent| rows.get(parent).copied()).unwrap_or(1);
            rows.push(match &space.origin {
                Origin::Operation => 1,
                Origin::Seed => seeds(id),
                Origin::Read(read) => parent.saturating_mul(sizes[*read].found),
                Origin::Variant(..) | Origin::SeedVariant(..) => parent,
                Origin::Ids(argument) => self.ids(argument).map_or(1, |ids| ids.len() as u64).min(MAX_KEYS),
                Origin::OfId(argument, id) => match self.ids(argument) {
                    Some(ids) => ids.iter().filter(|text| **text == ANY_ID || id.decode(text).is_some()).count() as u64,
                    None => parent,
                },
                Origin::Elements(_, reader) if reader.ty.is_list() => parent.saturating_mul(ELEMENTS),
                Origin::Elements(..) => parent,
            });
        }
        rows
    }
}
