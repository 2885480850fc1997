//! The whole plan: reads in waves, row spaces, and the reads that may share a Query. Must not know how the response is written.

use super::ids::{ReadId, SpaceId};
use super::read::Read;
use super::response::Object;
use super::value::{Arguments, FieldReader, Holder};
use std::sync::Arc;

/// What to read, in which order, and how the response is made of it.
#[derive(Debug)]
pub struct Plan {
    /// The reads, parents before children.
    pub reads: Vec<Read>,
    /// The row spaces; the first is the operation's own.
    pub spaces: Vec<Space>,
    /// The arguments of the fields that read, each evaluated once per request.
    pub arguments: Vec<Arguments>,
    /// The reads of each wave, in the order of `reads`.
    pub waves: Vec<Vec<ReadId>>,
    /// The reads that may share a Query.
    pub collections: Vec<Collection>,
    /// The response's data, or the part of it that the step makes.
    pub root: Object,
}

/// A set of rows.
#[derive(Debug)]
pub struct Space {
    /// The space whose rows these belong to; `None` for the operation's own.
    pub parent: Option<SpaceId>,
    /// What makes the rows.
    pub origin: Origin,
}

/// What makes the rows of a space.
#[derive(Debug)]
pub enum Origin {
    /// The operation: one row.
    Operation,
    /// The items of a read.
    Read(ReadId),
    /// Of the parent's rows those whose item, as this read found it, is of one type, by its position among the [`TypeDiscriminator`]'s.
    Variant(ReadId, usize),
    /// An item that was written or found before the plan runs: it is handed in, and in scope everywhere.
    Seed,
    /// The elements of an embedded list, wherever it stands: in a read's item or in an element of another such list.
    Elements(Holder, Arc<FieldReader>),
}

/// Reads of one partition of a table or an index, all in one wave and for the same rows, that one Query can make together.
#[derive(Debug)]
pub struct Collection {
    /// The reads.
    pub reads: Vec<ReadId>,
    /// Where the items of the schema stand in the partition.
    pub occupants: Vec<Occupant>,
    /// The attributes that all of them ask for, sorted.
    pub projection: Arc<[String]>,
}

/// Where items of a type stand in a partition.
#[derive(Debug, Clone)]
pub struct Occupant {
    /// The text with which all their sort keys begin.
    pub start: String,
    /// Whether there is nothing behind that text.
    pub is_all: bool,
    /// Whether a partition holds one of them at most.
    pub is_single: bool,
}
