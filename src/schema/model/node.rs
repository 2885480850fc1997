//! How a field finds items of several types by their global ids. Plain data; must not know how requests are planned or
//! run.

use crate::schema::model::find::Find;
use crate::schema::scalar::global_id::GlobalId;
use std::sync::Arc;

/// A field of `Query` that finds items by their global ids.
#[derive(Debug)]
pub struct NodeFind {
    /// The argument that takes an id, or a list of them.
    pub argument: String,
    /// Whether it takes several ids and gives a list with one element for each.
    pub many: bool,
    /// The item types.
    pub types: Vec<NodeType>,
}

/// An item type that has global ids.
#[derive(Debug)]
pub struct NodeType {
    /// Its ids.
    pub id: Arc<GlobalId>,
    /// The item of an id: by its primary key, bound to the fields that the id holds as if they were the parent's.
    pub find: Find,
}
