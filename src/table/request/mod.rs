//! The reads and writes of one request in, items out: bundled, bounded, counted, and ended by the request's deadline.

mod batches;
mod cached_reads;
pub mod concurrently;
pub mod gate;
mod interner;
pub mod known_items;
pub mod loaders;
mod read_bytes;
pub mod room;
pub mod session;
mod writer;
