//! The whole plan: reads in waves, row spaces, and the reads that may share a Query. Must not know how the response is
//! written.

use super::discriminator::TypeDiscriminator;
use super::guard::Guard;
use super::ids::{ReadId, SpaceId};
use super::read::Read;
use super::response::Object;
use super::service_call::ServiceCall;
use super::value::{Arguments, FieldReader, Holder, IdArgument};
use crate::schema::scalar::global_id::GlobalId;
use std::sync::Arc;

/// What to read, in which order, and how to make the response of it.
#[derive(Debug)]
pub struct Plan {
    /// The reads, parents before children.
    pub reads: Vec<Read>,
    /// The row spaces; the first is the operation's own.
    pub spaces: Vec<Space>,
    /// The arguments of the fields that read, each evaluated once per request.
    pub arguments: Vec<Arguments>,
    /// The guards of fields, outer ones before those within.
    pub guards: Vec<Guard>,
    /// The reads of each wave, in the order of `reads`.
    pub waves: Vec<Vec<ReadId>>,
    /// The calls of services, those within what another has computed after it.
    pub calls: Vec<ServiceCall>,
    /// The reads that may share a Query.
    pub collections: Vec<Collection>,
    /// Whether what Gets find is remembered for later reads that ask in another way.
    pub keeps_gets: bool,
    /// Whether reads may come earlier than in their waves, because others turn out to be known.
    pub may_run_ahead: bool,
    /// The response's data, or the step's part of it.
    pub root: Object,
}

/// A set of rows.
#[derive(Debug)]
pub struct Space {
    /// The space whose rows contain these; `None` for the operation's own.
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
    /// Those rows of the parent whose item, as this read found it, has one type: a position in the read's
    /// `discriminator`.
    Variant(ReadId, usize),
    /// An item that was written or found before the plan runs. The caller hands it in, and the whole plan may use it.
    Seed,
    /// Those rows of a space of seeds whose item has one type: a position in the discriminator.
    SeedVariant(Arc<TypeDiscriminator>, usize),
    /// The global ids of an argument, each a row.
    Ids(Arc<IdArgument>),
    /// Those rows of a space of ids whose id names an item of a type. A row holds the fields of the item's key.
    OfId(Arc<IdArgument>, Arc<GlobalId>),
    /// The elements of an embedded list in a read's item or in an element of another such list.
    Elements(Holder, Arc<FieldReader>),
}

/// Reads of which several may share a Query: of one partition of a table or an index, in one wave, for the same rows.
/// Which of them share one is decided when the plan runs.
#[derive(Debug)]
pub struct Collection {
    /// The reads.
    pub reads: Vec<ReadId>,
    /// Where the schema's items are in the partition.
    pub occupants: Vec<Occupant>,
    /// The attributes that all of them ask for, sorted.
    pub projection: Arc<[Arc<str>]>,
}

/// Where the items of a type are in a partition.
#[derive(Debug, Clone)]
pub struct Occupant {
    /// The prefix of all their sort keys.
    pub start: String,
    /// Whether the sort keys equal the prefix.
    pub is_all: bool,
    /// Whether a partition has at most one of them.
    pub is_single: bool,
}
