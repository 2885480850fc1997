//! One read: a Get or a Query for each row of a space, with its key and how much of its range is wanted. Must not know the response.

use super::discriminator::TypeDiscriminator;
use super::ids::{ArgumentsId, ReadId, SpaceId};
use super::value::ValueSource;
use crate::schema::condition::Condition;
use crate::schema::model::Access;
use crate::schema::spread::{Reading, SpreadKind};
use crate::schema::template::Template;
use indexmap::IndexMap;
use std::sync::Arc;

/// One read: a Get or a Query for each row of a space.
#[derive(Debug)]
pub struct Read {
    /// The field that wants it, as a field coordinate (`Container.group`); of a `through`, the relation on its path.
    pub coordinate: String,
    /// Of a page, the field whose page it is, as a field coordinate: what its cursors are tied to.
    pub page_of: String,
    /// The item type that is read; of several, `Favorite | Tagging`.
    pub item: String,
    /// How items of the type, or types, are told from others.
    pub discriminator: Arc<TypeDiscriminator>,
    /// The table, by position in the model.
    pub table: usize,
    /// The index, by position in the table.
    pub index: Option<usize>,
    /// The space for each row of which it is made.
    pub space: SpaceId,
    /// The space that its items make; `None` where it gives one item at most.
    pub yields: Option<SpaceId>,
    /// What is read.
    pub action: ReadAction,
    /// The read that tells whether the parent object is there at all, if there is one.
    pub parent: Option<ReadId>,
    /// Whether it is made only where the parent object is there, and so a wave after it: nothing else hides what it finds.
    pub awaits_parent: bool,
    /// Of a page whose items only lead to its elements: the reads on the way, of which the last tells whether an element is there at all.
    pub elements: Vec<ReadId>,
    /// Whether to read strongly.
    pub consistent: bool,
    /// The attributes that are asked for, sorted, keys among them.
    pub projection: Arc<[String]>,
    /// Of Gets that make a list, the most items that it may have.
    pub max: Option<u32>,
    /// Of Gets that make a list, whether it has an element for each value it was asked for (`[User]`), null for one without an item; else
    /// it has each item once.
    pub answers_each_value: bool,
    /// Of a Get, what its item must meet, and the arguments that this takes. DynamoDB filters Queries only.
    pub filter: Option<(Condition, ArgumentsId)>,
    /// Whether it may be made a wave later: nothing but the response takes anything from it.
    pub may_wait: bool,
    /// The wave that it belongs to, from 1.
    pub wave: usize,
}

/// What a read does.
#[derive(Debug)]
pub enum ReadAction {
    /// The item with a primary key.
    Get(KeyBinding),
    /// The whole of the items that an earlier read found in an index.
    FetchMissing(ReadId),
    /// The items of a partition.
    Query(Box<QueryBinding>),
}

/// The key templates of an access path and what their fields are bound to.
#[derive(Debug)]
pub struct KeyBinding {
    /// The partition key attribute's name.
    pub partition_attribute: String,
    /// The partition key's template; `None` for a Scan.
    pub partition: Option<Template>,
    /// The sort key attribute's name.
    pub sort_attribute: Option<String>,
    /// The sort key's template.
    pub sort: Option<Template>,
    /// Sort keys of other types that are read with it: as much of its beginning is meant as theirs have in common with it.
    pub prefix_alternatives: Vec<Template>,
    /// Item field → source, for every field that is bound by equality.
    pub fields: IndexMap<String, ValueSource>,
    /// Which shards are read, or which replica, if the key has such.
    pub spread: Option<Reading>,
}

impl KeyBinding {
    /// Whether what is bound under this name does not tell which items are read, but only by which of their copies.
    pub fn chooses_replica(&self, name: &str) -> bool {
        self.spread.is_some_and(|Reading { spread, .. }| spread.kind == SpreadKind::Replica && spread.placeholder() == name)
    }
}

/// A Query, or a Scan where the key has no partition template.
#[derive(Debug)]
pub struct QueryBinding {
    /// The key.
    pub key: KeyBinding,
    /// The access path's own description of the sort condition.
    pub access: Access,
    /// The bounds of a range.
    pub range: Option<BoundRange>,
    /// Whether the order is descending.
    pub descending: bool,
    /// How much of it is wanted.
    pub want: Want,
    /// The filter and the arguments it takes.
    pub filter: Option<(Condition, ArgumentsId)>,
    /// Whether the schema has items of other types that the key condition lets in.
    pub others: bool,
}

/// The bounds of a range, bound to sources.
#[derive(Debug)]
pub enum BoundRange {
    /// Lower and upper bound, each with whether it is inclusive.
    Between(Option<(ValueSource, bool)>, Option<(ValueSource, bool)>),
    /// Text that the value begins with.
    BeginsWith(ValueSource),
}

/// How much of a partition is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Want {
    /// The first item.
    First,
    /// Everything, up to a number beyond which it is an error.
    Whole {
        /// That number.
        max: u32,
    },
    /// A page by the paging arguments of a field.
    Page {
        /// The field's arguments.
        arguments: ArgumentsId,
        /// The size of a page.
        sizes: PageSizes,
        /// Whether it is asked if there is more beyond the page.
        probe: bool,
    },
    /// The number of items.
    Count {
        /// Whether they have to be looked at to know which of them are meant; if not, DynamoDB counts them (`Select: COUNT`).
        looked_at: bool,
    },
}

/// How large the pages of a field are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageSizes {
    /// The largest page.
    pub max: u32,
    /// The default that the field declares for `first`.
    pub first: Option<u32>,
    /// The default that the field declares for `last`.
    pub last: Option<u32>,
}
