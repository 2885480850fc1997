//! A call of a service: for which objects, and what it gets of each. Must not know how it is made.

use super::ids::{ArgumentsId, GuardId, ReadId, ServiceCallId, SpaceId};
use super::response::{Object, Presence};
use super::value::FieldReader;
use std::sync::Arc;

/// A call of a service for the objects of a space.
#[derive(Debug)]
pub struct ServiceCall {
    /// The coordinate of the field that it computes: `Order.total`.
    pub coordinate: String,
    /// How each object's value is kept, under the field's name, and read.
    pub kept: Arc<FieldReader>,
    /// The service, by position in the model.
    pub service: usize,
    /// The field's arguments, which the service gets; `None` if it has none.
    pub arguments: Option<ArgumentsId>,
    /// The space of the objects.
    pub space: SpaceId,
    /// How to tell whether an object exists.
    pub presence: Option<Presence>,
    /// The guard of the field. If that refuses the caller, the service gets nothing of the object.
    pub guard: Option<GuardId>,
    /// What the service gets of each object, as the schema says it.
    pub gets: String,
    /// The same, with where each value comes from.
    pub requires: Object,
    /// The most objects of a call.
    pub max: usize,
    /// The reads that it waits for, in order: those of what the service gets, and those that show whether it may.
    pub after: Vec<ReadId>,
    /// The calls that it waits for, in order.
    pub after_calls: Vec<ServiceCallId>,
    /// Its wave, from 1. It is made beside the reads of that wave.
    pub wave: usize,
}
