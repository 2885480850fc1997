//! The reads and writes of one request in, items out: bundled, bounded, counted, and ended by the request's deadline.

mod interner;
pub mod loaders;
mod writer;
