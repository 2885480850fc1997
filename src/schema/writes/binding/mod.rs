//! The names of an action in; out: what each field of its item is bound to.

pub mod by_name;
pub mod call;
pub mod clause;
mod entry;
mod made;
pub mod number;
