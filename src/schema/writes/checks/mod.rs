//! The actions of a field in, findings out that can only be judged of a whole action or of all actions together.

pub mod unchecked;
pub mod whole;
