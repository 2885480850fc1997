//! `@constraint`: checks values, and the arguments of fields with all that is inside them. Must not know who asks.

pub mod inputs;
pub mod value;
