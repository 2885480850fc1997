//! The plan of an operation as plain data: reads in waves, and the shape of the response that they feed.
//!
//! These types are the vocabulary of the modules that make plans and of those that run them.
//!
//! A read is made once for each row of its *row space*. Space 0 is the operation itself and has one row. A read that
//! can give several items opens a space whose rows are these items, and so does a list of embedded objects with finds
//! inside. A read that gives at most one item opens none: its item belongs to the row for which it is made. Where items
//! can be of several types, the rows of each type are a space of their own. The global ids of an argument are the rows
//! of a space, too.
//!
//! `{ user(id: "ann") { name groups { name } } }`, where groups are found through memberships, is three reads in two
//! waves:
//!
//! ```text
//! wave 1   #0 Get User            space 0
//!          #1 Query Membership    space 0, opens space 1
//! wave 2   #2 Get Group           space 1: one for each membership
//! response user = the item of #0 { name, groups = the rows of space 1 whose item of #2 is there { name } }
//! ```
//!
//! | file | holds |
//! |---|---|
//! | `steps` | the steps of an operation and the writes of a mutation |
//! | `plan` | one plan: its reads, row spaces and shared Queries |
//! | `read` | one read: its key, its range and how much is wanted |
//! | `filter` | the filter of a read |
//! | `guard` | what a caller must meet to see a field |
//! | `value` | where the values of keys come from |
//! | `discriminator` | how the items of a type are distinguished from others |
//! | `cache_policy` | how long the response may be kept |
//! | `service_call` | what a service computes, and what it gets |
//! | `response` | objects, lists and connections of the response |

mod cache_policy;
mod discriminator;
mod filter;
mod guard;
mod ids;
mod plan;
mod read;
mod response;
mod service_call;
mod steps;
mod value;

pub use cache_policy::CachePolicy;
pub use discriminator::{TypeDiscriminator, TypeMarks};
pub use filter::{Conjunct, Filter};
pub use guard::{ConstrainedInputs, DecidedBy, Demand, Guard};
pub use ids::{ArgumentsId, GuardId, ReadId, ServiceCallId, SpaceId};
pub use plan::{Collection, Occupant, Origin, Plan, Space};
pub use read::{
    BoundRange, GetBinding, ItemRows, KeyBinding, KnownFrom, PageSizes, QueryBinding, Read, ReadAction, Want, WholeKey,
};
pub use response::{
    NodeOutput, NodesOutput, Object, ObjectSource, Output, OutputValue, PageOutput, PagePart, Presence, ValueLocation,
};
pub use service_call::ServiceCall;
pub use steps::{
    ActionLookups, Cascade, CascadeStart, OperationPlan, PlanStep, PlannedResult, PlannedWatch, PlannedWrite,
    SingleWrites, WatchBinding, WatchedImage, WriteLookup,
};
pub use value::{ArgumentValue, Arguments, FieldReader, Holder, IdArgument, SourceText, StoredPlace, ValueSource};
