//! What travels between the layers above and a store, as plain data. Must not know who sends it.

pub mod attribute;
pub mod call;
pub mod error;
pub(in crate::table) mod expressions;
pub mod item_size;
pub(in crate::table) mod key_identity;
pub mod limits;
pub(in crate::table) mod shared_names;
pub mod sort_range;
pub mod text;
pub(in crate::table) mod transaction;
pub mod write;
