//! A change of an item as plain data: what the cache must know to drop what it touches. Must not know what is kept.

use crate::table::data::attribute::{Item, Key};

/// A change of an item.
#[derive(Debug, Clone)]
pub struct ItemChange<'a> {
    /// The table's name.
    pub table: &'a str,
    /// The item's key.
    pub key: &'a Key,
    /// The item before the change.
    pub before: Image<'a>,
    /// The item after the change.
    pub after: Image<'a>,
    /// The attributes that may differ; `None` is any.
    pub attributes: Option<Vec<&'a str>>,
}

/// What is known of an item at a moment.
#[derive(Debug, Clone, Copy)]
pub enum Image<'a> {
    /// Nothing.
    Unknown,
    /// There is no such item.
    Missing,
    /// All of it.
    Item(&'a Item),
}

impl<'a> Image<'a> {
    /// The image of an item that is known to be there or not.
    pub fn new(item: Option<&'a Item>) -> Self {
        item.map_or(Self::Missing, Self::Item)
    }
}
