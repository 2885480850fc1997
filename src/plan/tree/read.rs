//! One read: a Get or a Query for each row of a space, with its key and how much of its range is wanted. Must not know
//! the response.

use super::discriminator::TypeDiscriminator;
use super::filter::Filter;
use super::ids::{ArgumentsId, GuardId, ReadId, SpaceId};
use super::value::ValueSource;
use crate::schema::model::find::Access;
use crate::schema::model::find::sharding::Reading;
use crate::schema::model::page::PageForm;
use crate::schema::scalar::spread::SpreadKind;
use crate::schema::table::KeyAttribute;
use crate::schema::template::Template;
use indexmap::IndexMap;
use std::sync::Arc;

/// One read: a Get or a Query for each row of a space.
#[derive(Debug)]
pub struct Read {
    /// The coordinate of the field that needs it (`Container.group`), or of the relation on a `through` path.
    pub coordinate: String,
    /// The item types that it reads: `Favorite`, or `Favorite | Tagging`.
    pub item: String,
    /// How to distinguish items of these types from others.
    pub discriminator: Arc<TypeDiscriminator>,
    /// The table, by position in the model.
    pub table: usize,
    /// The index, by position in the table.
    pub index: Option<usize>,
    /// It is made once for each row of this space.
    pub space: SpaceId,
    /// The rows that its items make; `None` if it gives one item at most.
    pub yields: Option<ItemRows>,
    /// What is read.
    pub action: ReadAction,
    /// The read that shows whether the parent object exists, if there is one.
    pub parent: Option<ReadId>,
    /// The reads that it waits for, in order: those that give it a value, a row or a parent.
    pub after: Vec<ReadId>,
    /// Whether to read strongly.
    pub consistent: bool,
    /// The greatest age in seconds of what the cache may answer; `None` if it is not cached, as no strong read is.
    pub max_age: Option<u32>,
    /// The attributes that it asks for, sorted, including keys.
    pub projection: Arc<[Arc<str>]>,
    /// Those that an item must have, so that a Get of this read needs no call: what it needs itself, and what Gets of
    /// the table in later waves need. All Gets of a table ask for what one of them needs, and an item is read once.
    pub needs: Arc<[Arc<str>]>,
    /// From which reads its items may be known.
    pub known: KnownFrom,
    /// Whether it may be made a wave later, because only the response uses it.
    pub may_wait: bool,
    /// The guard of the field that it is made for. If that refuses the caller, nothing is read.
    pub guard: Option<GuardId>,
    /// Its wave, from 1.
    pub wave: usize,
}

/// From which earlier reads of the same table the items of a read may be known, so that they are not asked for again.
/// Which of them are known is decided when the plan runs.
#[derive(Debug, Default)]
pub struct KnownFrom {
    /// The reads that may have brought its items, or the first of them.
    pub from: Vec<ReadId>,
    /// The reads that may have brought what rules look up for its items, or the first of them.
    pub rules_from: Vec<ReadId>,
    /// Whether the items of its Queries are remembered for later reads.
    pub is_kept: bool,
    /// Whether another read of the plan may make Queries of the same ranges.
    pub has_twins: bool,
    /// If it may come earlier than in its wave: the reads after which it may come, in order. Those of the wave before
    /// may be known, or come earlier, too.
    pub early_after: Vec<ReadId>,
    /// Whether others may come earlier if its items are known.
    pub leads: bool,
}

impl Read {
    /// Whether it is made by Queries, not by Gets.
    pub fn is_query(&self) -> bool {
        matches!(self.action, ReadAction::Query(_))
    }

    /// The reads of the wave before that let it come earlier if they are known, or if they come earlier. It also waits
    /// for the rest of `early_after`.
    pub fn let_come_by(&self, reads: &[Read]) -> Vec<ReadId> {
        let is_last = |other: &ReadId| reads[*other].wave + 1 == self.wave;
        self.known.early_after.iter().copied().filter(is_last).collect()
    }

    /// The space that it opens.
    pub fn opens(&self) -> Option<SpaceId> {
        self.yields.as_ref().map(|rows| rows.space)
    }

    /// The reads from the items of its page to the page's elements; none if its items are the elements.
    pub fn elements(&self) -> &[ReadId] {
        self.yields.as_ref().map_or(&[], |rows| &rows.elements)
    }

    /// The coordinate of the field whose list or page it is; of another read, that of the field that needs it.
    pub fn list_of(&self) -> &str {
        self.yields.as_ref().map_or(&self.coordinate, |rows| &rows.list_of)
    }
}

/// The rows that the items of a read make: those of a list or of a page.
#[derive(Debug)]
pub struct ItemRows {
    /// The space whose rows are the items.
    pub space: SpaceId,
    /// The coordinate of the field whose list or page it is. The page's cursors belong to that field.
    pub list_of: String,
    /// For a page through relations: the reads from the page's items to its elements. The last one shows whether an
    /// element exists.
    pub elements: Vec<ReadId>,
}

/// What a read does.
#[derive(Debug)]
pub enum ReadAction {
    /// The item with a primary key, or those of a list of keys.
    Get(Box<GetBinding>),
    /// A Get of each item that an earlier read found in an index, for the attributes that the index lacks.
    FetchMissing(ReadId),
    /// The items of a partition.
    Query(Box<QueryBinding>),
}

impl ReadAction {
    /// The key that it binds; `None` if it takes the keys of items that were read.
    pub fn key(&self) -> Option<&KeyBinding> {
        match self {
            Self::Get(get) => Some(&get.key),
            Self::FetchMissing(_) => None,
            Self::Query(query) => Some(&query.key),
        }
    }

    /// The filter that the gateway applies to the items of a Get. DynamoDB filters Queries only.
    pub fn item_filter(&self) -> Option<&Filter> {
        match self {
            Self::Get(get) => get.filter.as_ref(),
            Self::FetchMissing(_) | Self::Query(_) => None,
        }
    }
}

/// A Get, or one for each value of a list.
#[derive(Debug)]
pub struct GetBinding {
    /// The key.
    pub key: KeyBinding,
    /// The filter that its items must meet.
    pub filter: Option<Filter>,
    /// Of a list: its most items.
    pub max: Option<u32>,
    /// Whether its field has one element for each value (`[User]`), null if that has no item. Otherwise a list has each
    /// item once.
    pub answers_each_value: bool,
}

/// A further attribute of an index's key that an access path binds whole.
#[derive(Debug)]
pub struct WholeKey {
    /// The attribute.
    pub attribute: KeyAttribute,
    /// Its template.
    pub template: Template,
    /// Whether it is one of the sort key, and not of the partition key.
    pub sorts: bool,
}

/// The key templates of an access path, and the sources of their fields.
#[derive(Debug)]
pub struct KeyBinding {
    /// The partition key attribute.
    pub partition_attribute: KeyAttribute,
    /// The partition key's template; `None` for a Scan.
    pub partition: Option<Template>,
    /// The other attributes that it binds whole, with their templates: the rest of an index's partition key, and what
    /// of its sort key comes before `sort_attribute`.
    pub equal: Vec<WholeKey>,
    /// The attribute of the sort key that comes next: the only one of most keys.
    pub sort_attribute: Option<KeyAttribute>,
    /// The sort key's template.
    pub sort: Option<Template>,
    /// Sort keys of the other types that the same Query reads. It uses the longest prefix that all of them have in
    /// common.
    pub prefix_alternatives: Vec<Template>,
    /// The names of both attributes, which all keys share that are made of it.
    pub names: (Arc<str>, Option<Arc<str>>),
    /// Item field → source, for each field that is bound by equality.
    pub fields: IndexMap<Arc<str>, ValueSource>,
    /// Which shards or which replica to read, if the key has any.
    pub spread: Option<Reading>,
}

impl KeyBinding {
    /// The templates that it binds whole, each with its attribute; none for a Scan.
    pub fn whole(&self) -> impl Iterator<Item = (&KeyAttribute, &Template)> {
        let first = self.partition.iter().map(|template| (&self.partition_attribute, template));
        first.chain(self.equal.iter().map(|key| (&key.attribute, &key.template)))
    }

    /// Whether this name only chooses the replica to read, and not the item.
    pub fn chooses_replica(&self, name: &str) -> bool {
        self.spread
            .is_some_and(|Reading { spread, .. }| spread.kind == SpreadKind::Replica && spread.placeholder() == name)
    }
}

/// A Query, or a Scan where the key has no partition template.
#[derive(Debug)]
pub struct QueryBinding {
    /// The key.
    pub key: KeyBinding,
    /// The access path, which describes the sort condition.
    pub access: Access,
    /// The bounds of a range.
    pub range: Option<BoundRange>,
    /// Whether the order is descending.
    pub descending: bool,
    /// How much of it is wanted.
    pub want: Want,
    /// The filter that DynamoDB applies.
    pub filter: Option<Filter>,
    /// Whether the key condition admits items of other types.
    pub others: bool,
    /// The attributes of an item's position: the keys of the table and of the index, each once.
    pub position_attributes: Arc<[String]>,
}

/// The bounds of a range, bound to sources.
#[derive(Debug)]
pub enum BoundRange {
    /// Lower and upper bound, each with whether it is inclusive.
    Between(Option<(ValueSource, bool)>, Option<(ValueSource, bool)>),
    /// A prefix of the value.
    BeginsWith(ValueSource),
}

/// How much of a partition is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Want {
    /// The first item.
    First,
    /// Everything. More than `max` items are an error.
    Whole {
        /// The most items.
        max: u32,
    },
    /// A page, by the paging arguments of a field.
    Page {
        /// The field's arguments.
        arguments: ArgumentsId,
        /// The size of a page.
        sizes: PageSizes,
        /// Whether the selection asks if there is more beyond the page.
        probe: bool,
    },
    /// The number of items.
    Count {
        /// Whether each item must be inspected to know if it counts. If not, DynamoDB counts (`Select: COUNT`).
        looked_at: bool,
    },
}

/// How large the pages of a field are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageSizes {
    /// What the arguments that page are called.
    pub form: PageForm,
    /// The largest page.
    pub max: u32,
    /// The default that the field declares for `first` or `limit`.
    pub first: Option<u32>,
    /// The default that the field declares for `last`.
    pub last: Option<u32>,
}

/// The page size of a connection whose field declares none.
const DEFAULT_PAGE: u32 = 50;

impl PageSizes {
    /// The page size if the arguments give none: the size that the field declares, for either direction.
    pub fn without_arguments(self, backward: bool) -> u32 {
        let declared = if backward { self.last.or(self.first) } else { self.first.or(self.last) };
        declared.unwrap_or(DEFAULT_PAGE.min(self.max))
    }
}
