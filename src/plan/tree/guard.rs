//! What a caller and its arguments must meet to see a field or an object of the response. What the caller and the
//! arguments decide is decided before anything is read, the rest for each row by items that are read. Must not know
//! callers.

use super::ids::{ArgumentsId, GuardId, ReadId, SpaceId};
use super::value::Holder;
use crate::schema::model::auth::AuthRule;
use std::fmt::{Display, Formatter, Result};
use std::sync::Arc;

/// The guard of a field or an object of the response and of all reads for it.
#[derive(Debug)]
pub struct Guard {
    /// The space of the object that has the field, or that is guarded.
    pub space: SpaceId,
    /// The guard of the field that encloses it. It must let the caller in, too.
    pub within: Option<GuardId>,
    /// All of these must be met.
    pub demands: Vec<Demand>,
    /// The arguments whose `@constraint`s must hold.
    pub inputs: Option<ConstrainedInputs>,
}

/// The arguments of a field that `@constraint`s are on.
#[derive(Debug)]
pub struct ConstrainedInputs {
    /// The type that has the field.
    pub type_name: String,
    /// The field's name.
    pub field: String,
    /// The arguments.
    pub arguments: ArgumentsId,
}

/// What one type or field demands: one of its rules must let the caller in.
#[derive(Debug)]
pub struct Demand {
    /// The type's name, or the field's coordinate.
    pub of: String,
    /// The rules; without any, nobody is let in.
    pub rules: Vec<Arc<AuthRule>>,
    /// The arguments that the rules use.
    pub arguments: Option<ArgumentsId>,
    /// What decides the rules that need an item.
    pub decided: DecidedBy,
}

/// What decides the rules that need an item.
#[derive(Debug, Clone)]
pub enum DecidedBy {
    /// Nothing: there are none.
    Caller,
    /// Not this guard: the guard of each object, or the write itself.
    Later,
    /// What is read for each row of the guard's space.
    Rows {
        /// What holds the guarded object.
        holder: Option<Holder>,
        /// For each rule, the read of its look-up.
        lookups: Vec<Option<ReadId>>,
    },
}

impl Display for Demand {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "{}: ", self.of)?;
        self.rules
            .iter()
            .enumerate()
            .try_for_each(|(position, rule)| write!(f, "{}{rule}", if position > 0 { ", or " } else { "" }))
    }
}
