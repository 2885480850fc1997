//! The steps of an operation: one for a query, one for each root field of a mutation with what its write reads first. Must not know how
//! items are read or written.

use super::ids::{ArgumentsId, SpaceId};
use super::plan::Plan;
use super::response::ObjectSource;

/// What an operation does: one step for a query, one for each root field of a mutation, run one after the other.
#[derive(Debug)]
pub struct OperationPlan {
    /// The steps.
    pub steps: Vec<PlanStep>,
    /// Whether the root selects `__schema` or `__type`.
    pub introspects: bool,
}

/// One step of an operation.
#[derive(Debug)]
pub struct PlanStep {
    /// What is written first.
    pub write: Option<PlannedWrite>,
    /// What is read, and the part of the response that it makes.
    pub plan: Plan,
}

/// The write of a mutation's root field.
#[derive(Debug)]
pub struct PlannedWrite {
    /// The field of `Mutation`, where the model tells its actions.
    pub field: String,
    /// The field's arguments, in the step's plan.
    pub arguments: ArgumentsId,
    /// Where the items that the write gives back are seeded.
    pub result: Option<SpaceId>,
    /// What its `@find` reads.
    pub found: Option<WriteLookup>,
    /// For each action, what it reads to find its items, and what it deletes beside them.
    pub actions: Vec<ActionLookups>,
}

/// What an action of a write reads beforehand.
#[derive(Debug, Default)]
pub struct ActionLookups {
    /// Its items, where its key does not name them.
    pub target: Option<WriteLookup>,
    /// The relations that are deleted with it, one for each path of `cascade:`.
    pub cascade: Vec<Cascade>,
}

/// The items at the end of a path of relations, all deleted with the item at its beginning.
#[derive(Debug)]
pub struct Cascade {
    /// By the whole path, from the item at its beginning.
    pub whole: WriteLookup,
    /// From the items on the path that are deleted as well: the position of the path that leads to them, and the rest of the way.
    pub rests: Vec<(usize, WriteLookup)>,
}

/// Items that are read for a write: a plan without a response.
#[derive(Debug)]
pub struct WriteLookup {
    /// The item type.
    pub item: String,
    /// The plan; its first arguments are the mutation field's.
    pub plan: Plan,
    /// Where the items are.
    pub target: ObjectSource,
    /// The item types in scope, and where each one's item is seeded.
    pub seeds: Vec<(String, SpaceId)>,
}
