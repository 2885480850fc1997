//! The actions of a field in, findings out. These checks need a whole action, or all actions together.

pub mod idempotent;
pub mod moved;
pub mod relations;
pub mod returns;
pub mod room;
pub mod unchecked;
pub mod whole;
