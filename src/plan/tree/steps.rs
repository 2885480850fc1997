//! The steps of an operation: one for a query, one for each root field of a mutation with what its write reads first,
//! and one for the root field of a subscription with what it watches. Must not know how items are read, written or
//! watched.

use super::cache_policy::CachePolicy;
use super::discriminator::TypeDiscriminator;
use super::filter::Filter;
use super::ids::{ArgumentsId, GuardId, SpaceId};
use super::plan::Plan;
use super::response::ObjectSource;
use super::value::{FieldReader, ValueSource};
use crate::schema::model::write::ReturnedItems;
use crate::schema::scalar::form::Form;
use std::sync::Arc;

/// The plan of an operation: one step for a query or a subscription, one for each root field of a mutation. Steps run
/// one after the other.
#[derive(Debug)]
pub struct OperationPlan {
    /// The steps.
    pub steps: Vec<PlanStep>,
    /// Whether the root selects `__schema` or `__type`.
    pub introspects: bool,
    /// How long the response may be kept.
    pub policy: CachePolicy,
}

/// One step of an operation.
#[derive(Debug)]
pub struct PlanStep {
    /// What is written first.
    pub write: Option<PlannedWrite>,
    /// What is watched. The step then runs for each change.
    pub watch: Option<PlannedWatch>,
    /// What is read afterwards, and the step's part of the response.
    pub plan: Plan,
}

/// How a write of one item is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SingleWrites {
    /// As a PutItem, an UpdateItem or a DeleteItem. If its answer is lost, nothing shows whether it was made.
    #[default]
    Call,
    /// As a TransactWriteItems with a token, which DynamoDB makes once however often it is sent. It costs twice the
    /// write units.
    Transaction,
}

/// The write of a mutation's root field.
#[derive(Debug)]
pub struct PlannedWrite {
    /// The field of `Mutation`; the model has its actions.
    pub field: String,
    /// The response key.
    pub response_key: String,
    /// The field's arguments, in the step's plan.
    pub arguments: ArgumentsId,
    /// What the selection takes of the items that the write returns.
    pub results: Vec<PlannedResult>,
    /// For each `@find`: what it reads. `None` if it is one Get for each element of a list.
    pub found: Vec<Option<WriteLookup>>,
    /// For each action: what it reads to find its items, and what it deletes with them.
    pub actions: Vec<ActionLookups>,
}

/// Items that a write returns.
#[derive(Debug, Clone)]
pub struct PlannedResult {
    /// Which ones.
    pub returned: ReturnedItems,
    /// The space that takes them.
    pub space: SpaceId,
    /// How to distinguish their types, if they can have several.
    pub types: Option<Arc<TypeDiscriminator>>,
}

/// What an action reads before the write.
#[derive(Debug, Default)]
pub struct ActionLookups {
    /// Its items, if their whole key is not known.
    pub target: Option<WriteLookup>,
    /// The relations that are deleted with its items, one for each path of `cascade:`.
    pub cascade: Vec<Cascade>,
    /// The first reads of the cascade, if several of them share Queries.
    pub cascade_start: Option<CascadeStart>,
}

/// The items of several relations, which are read together. They are deleted with the item at their start.
#[derive(Debug)]
pub struct CascadeStart {
    /// The plan.
    pub plan: Plan,
    /// The space that takes the deleted item.
    pub seed: SpaceId,
    /// The positions of the cascade's paths, each with its item type and where the items are.
    pub targets: Vec<(usize, String, ObjectSource)>,
}

/// The items at the end of a path of relations. They are deleted with the item at its start.
#[derive(Debug)]
pub struct Cascade {
    /// Found by the whole path, from the item at its start.
    pub whole: WriteLookup,
    /// Found from the items on the path that are deleted too: the position of the cascade's path that leads to those,
    /// and a lookup by the rest of the path.
    pub rests: Vec<(usize, WriteLookup)>,
}

/// Items that are read for a write, by a plan without a response.
#[derive(Debug)]
pub struct WriteLookup {
    /// The item type.
    pub item: String,
    /// The plan; its first arguments are the mutation field's.
    pub plan: Plan,
    /// Where the items are.
    pub target: ObjectSource,
    /// The names of the items in scope, each with the space that takes its item.
    pub seeds: Vec<(String, SpaceId)>,
}

/// What the root field of a subscription watches.
#[derive(Debug)]
pub struct PlannedWatch {
    /// The field of `Subscription`; the model has its kinds of change.
    pub field: String,
    /// The item type.
    pub item: String,
    /// The table, by position in the model.
    pub table: usize,
    /// How to distinguish the type's items from others.
    pub discriminator: Arc<TypeDiscriminator>,
    /// The field's arguments, in the step's plan.
    pub arguments: ArgumentsId,
    /// The values that an image must have.
    pub bindings: Vec<WatchBinding>,
    /// The condition that an image must meet.
    pub filter: Option<Filter>,
    /// The guard of the field.
    pub guard: Option<GuardId>,
    /// The item after the change.
    pub node: WatchedImage,
    /// The item before the change.
    pub previous: WatchedImage,
    /// The space that takes the change's kind and id, if the field returns a change.
    pub change: Option<SpaceId>,
    /// What is read when the subscription begins.
    pub initial: Option<WriteLookup>,
}

/// A value that an image must have.
#[derive(Debug)]
pub struct WatchBinding {
    /// How to find it in an image.
    pub reader: Arc<FieldReader>,
    /// Where the value to compare with comes from.
    pub source: ValueSource,
    /// The case in which the keys have the field, if they have it in one: values that differ in it are equal.
    pub case: Option<Form>,
}

/// An image of a changed item.
#[derive(Debug)]
pub struct WatchedImage {
    /// The space that takes it.
    pub space: SpaceId,
    /// The guard that decides whether the caller may see it.
    pub guard: Option<GuardId>,
}
