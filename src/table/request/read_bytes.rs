//! The bytes that a request's reads have read in; whether it may read on out. Must not know calls in flight.

use super::room::ReadShare;
use crate::table::data::attribute::Item;
use crate::table::data::call::{Page, Query};
use crate::table::data::error::{TableError, TableErrorKind};
use crate::table::data::item_size::item_size;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The bytes of a read capacity unit (DynamoDB developer guide, "DynamoDB throughput capacity").
const UNIT_BYTES: f64 = 4096.0;
/// The memory of an item for each byte of its size: its text in the answer, and what is made of it. Measured, as is
/// [`MEMORY_OF_ITEM`]: see docs/measurements.md.
const MEMORY_OF_SIZE: u64 = 2;
/// The memory of an item besides, in bytes: its attributes, its row and its object.
const MEMORY_OF_ITEM: u64 = 400;
/// A request without a bound.
const UNBOUNDED: u64 = u64::MAX;

/// The bytes that a request has read, their bound, and the memory that they take of the room that all requests have.
#[derive(Debug)]
pub(super) struct ReadBytes {
    read: AtomicU64,
    most: AtomicU64,
    memory: AtomicU64,
    pub(super) share: Arc<ReadShare>,
}

impl ReadBytes {
    /// Nothing is read, and there is no bound.
    pub(super) fn new(share: ReadShare) -> Self {
        Self {
            read: AtomicU64::new(0),
            most: AtomicU64::new(UNBOUNDED),
            memory: AtomicU64::new(0),
            share: Arc::new(share),
        }
    }

    /// Sets the bound for the next reads; `None` is no bound.
    pub(super) fn bound(&self, most: Option<u64>) {
        self.most.store(most.unwrap_or(UNBOUNDED), Ordering::Relaxed);
    }

    /// Fails if the request has read as much as it may. Calls in flight still end.
    pub(super) fn check(&self) -> Result<(), TableError> {
        let (read, most) = (self.read.load(Ordering::Relaxed), self.most.load(Ordering::Relaxed));
        match read > most {
            true => Err(TableError {
                kind: TableErrorKind::TooMuch,
                detail: format!("the request has read {read} bytes, more than {most}"),
            }),
            false => Ok(()),
        }
    }

    /// Counts items that arrived.
    pub(super) fn add_items<'i>(&self, items: impl Iterator<Item = &'i Item>) {
        if self.is_bounded() {
            self.add(self.keep(items));
        }
    }

    /// Counts the memory of items that arrived, and gives their sizes.
    fn keep<'i>(&self, items: impl Iterator<Item = &'i Item>) -> u64 {
        let (mut bytes, mut count) = (0, 0);
        for item in items {
            bytes += item_size(item) as u64;
            count += 1;
        }
        let memory = bytes * MEMORY_OF_SIZE + count * MEMORY_OF_ITEM;
        let before = self.memory.fetch_add(memory, Ordering::Relaxed);
        self.share.has_read(before + memory);
        bytes
    }

    /// Counts a page: the arrived items or, if a filter or a count looked at more, the bytes that the server charged
    /// for.
    pub(super) fn add_page(&self, query: &Query, page: &Page, units: f64) {
        let looked_at = if query.consistent { units * UNIT_BYTES } else { units * UNIT_BYTES * 2.0 };
        match query.filter.is_some() || query.projection.is_none() {
            true if self.is_bounded() => {
                self.keep(page.items.iter().map(|item| &**item));
                self.add(looked_at as u64);
            }
            true => {}
            false => self.add_items(page.items.iter().map(|item| &**item)),
        }
    }

    fn is_bounded(&self) -> bool {
        self.most.load(Ordering::Relaxed) != UNBOUNDED
    }

    fn add(&self, bytes: u64) {
        self.read.fetch_add(bytes, Ordering::Relaxed);
    }
}
