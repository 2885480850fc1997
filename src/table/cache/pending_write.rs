//! A write that is being made in; out: what it has changed, dropped when it ends. A write whose end is unknown has
//! changed all that it could.

use super::change::{Image, ItemChange};
use super::table_cache::TableCache;
use super::watches::Tag;
use crate::table::data::attribute::{Item, Key};
use crate::table::data::write::{BatchWrite, WriteAction, WriteCall};
use std::borrow::Cow;

/// A write that is being made. It drops what it touches when it is dropped.
pub(in crate::table) struct PendingWrite<'c> {
    cache: &'c TableCache,
    /// The tags to drop.
    tags: Vec<Tag>,
}

impl<'c> PendingWrite<'c> {
    /// Writes that are about to be made.
    pub(in crate::table) fn for_calls(cache: &'c TableCache, calls: &[WriteCall]) -> Self {
        let tags = calls.iter().flat_map(|call| tags_of(cache, call, Image::Unknown)).collect();
        Self { cache, tags }
    }

    /// Writes of a table that are about to be made by one call.
    pub(in crate::table) fn for_batch(cache: &'c TableCache, table: &str, writes: &[BatchWrite]) -> Self {
        let of_write = |write: &BatchWrite| {
            let (key, after) = match write {
                BatchWrite::Put(item) => (cache.key_in(table, item).map(Cow::Owned), Image::Item(item)),
                BatchWrite::Delete(key) => (Some(Cow::Borrowed(key)), Image::Missing),
            };
            let change = |key: Cow<'_, Key>| {
                cache.tags_of(&ItemChange { table, key: &key, before: Image::Unknown, after, attributes: None })
            };
            key.map(change).unwrap_or_default()
        };
        Self { cache, tags: writes.iter().flat_map(of_write).collect() }
    }

    /// The only write was made, and gave this item: as it is after an update, as it was before a put or a delete.
    pub(in crate::table) fn made(mut self, call: &WriteCall, item: Option<&Item>) {
        self.tags = tags_of(self.cache, call, Image::new(item));
    }

    /// Nothing was written.
    pub(in crate::table) fn not_made(mut self) {
        self.tags.clear();
    }
}

impl Drop for PendingWrite<'_> {
    fn drop(&mut self) {
        self.cache.drop_tags(&self.tags);
    }
}

/// What a write touches. `given` is the item that it gives.
fn tags_of(cache: &TableCache, call: &WriteCall, given: Image<'_>) -> Vec<Tag> {
    let (key, before, after, attributes) = match &call.action {
        WriteAction::Put(item) => (cache.key_in(&call.table, item).map(Cow::Owned), given, Image::Item(item), None),
        WriteAction::Update(key, update) => {
            // Every attribute that an expression changes is among its names.
            let names = update.iter().flat_map(|update| update.names.values()).map(String::as_str).collect();
            (Some(Cow::Borrowed(key)), Image::Unknown, given, Some(names))
        }
        WriteAction::Delete(key) => (Some(Cow::Borrowed(key)), given, Image::Missing, None),
        WriteAction::Check(_) => (None, given, given, None),
    };
    let change =
        |key: Cow<'_, Key>| cache.tags_of(&ItemChange { table: &call.table, key: &key, before, after, attributes });
    key.map(change).unwrap_or_default()
}
