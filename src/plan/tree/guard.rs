//! What a caller must meet to see a field of the response. It is decided from the caller and the field's arguments, before anything is
//! read. Must not know callers.

use super::ids::{ArgumentsId, GuardId};
use crate::schema::model::auth::AuthRule;
use std::fmt::{Display, Formatter, Result};
use std::sync::Arc;

/// The guard of a field of the response and of all reads for it.
#[derive(Debug)]
pub struct Guard {
    /// The guard of the field that encloses it. It must let the caller in, too.
    pub within: Option<GuardId>,
    /// All of these must be met; at least one.
    pub demands: Vec<Demand>,
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
    /// Whether rules that need the item are decided by the write that reads or changes it.
    pub by_item: bool,
}

impl Display for Demand {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "{}: ", self.of)?;
        self.rules.iter().enumerate().try_for_each(|(position, rule)| write!(f, "{}{rule}", if position > 0 { ", or " } else { "" }))
    }
}
