//! What the planner hands to the passes: reads without a time, and without the attributes that they ask for.

use crate::plan::tree::*;
use crate::schema::model::ObjectType;
use std::sync::Arc;

/// A plan before the passes.
pub struct DraftPlan<'m> {
    /// The reads, parents before children.
    pub reads: Vec<DraftRead<'m>>,
    /// The row spaces; the first is the operation's own.
    pub spaces: Vec<Space>,
    /// The arguments of the fields that read.
    pub arguments: Vec<Arguments>,
    /// The guards of fields, outer ones before those within.
    pub guards: Vec<Guard>,
    /// The calls of services, those within what another has computed after it. They have no time yet.
    pub calls: Vec<ServiceCall>,
    /// The response's data, or the step's part of it.
    pub root: Object,
    /// Whether a read must include each field's own attribute even where a key holds the value too: conditions of a
    /// write compare that attribute.
    pub as_stored: bool,
    /// Whether the reads belong to a write, so that they must see what was written before.
    pub for_write: bool,
}

/// A read before the passes.
pub struct DraftRead<'m> {
    /// The coordinate of the field that needs it.
    pub coordinate: String,
    /// The item types that it reads.
    pub item: String,
    /// How to distinguish items of these types from others.
    pub discriminator: Arc<TypeDiscriminator>,
    /// The table, by position in the model.
    pub table: usize,
    /// The index, by position in the table.
    pub index: Option<usize>,
    /// It is made once for each row of this space.
    pub space: SpaceId,
    /// The rows that its items make.
    pub yields: Option<ItemRows>,
    /// What is read.
    pub action: ReadAction,
    /// The read that shows whether the parent object exists.
    pub parent: Option<ReadId>,
    /// Whether its find reads strongly.
    pub consistent: bool,
    /// The greatest age in seconds of what the cache may answer; `None` if it is not cached.
    pub max_age: Option<u32>,
    /// The guard of the field that it is made for.
    pub guard: Option<GuardId>,
    /// Whether it waits for its parent and is made only if that exists, also where the plan saves waves. Otherwise the
    /// response hides what it found for a missing parent.
    pub awaits_parent: bool,
    /// The stored fields that it must provide, with the types that they belong to.
    pub wanted: Vec<(&'m ObjectType, String)>,
    /// The attributes that rules need of its items, and a write of the index key by which it finds them.
    pub ruled: Vec<String>,
}

impl DraftRead<'_> {
    /// Whether it gives one item at most.
    pub fn is_single(&self) -> bool {
        self.yields.is_none()
    }

    /// The reads from the items of its page to the page's elements.
    pub fn elements(&self) -> &[ReadId] {
        self.yields.as_ref().map_or(&[], |rows| &rows.elements)
    }
}
