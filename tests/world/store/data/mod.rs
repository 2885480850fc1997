//! What a table is and holds: definitions, keys, attributes, versions.

pub mod attribute;
pub mod definition;
pub mod index;
pub mod key;
pub mod number;
pub mod size;
pub mod table;
