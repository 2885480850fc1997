//! The reads of a plan in; their waves, the reads that may share a Query, and their projections out. Must not know the operation.
//!
//! The passes run in this order: `waves` puts each read into the wave after the last read that it depends on; `collections` groups the
//! reads of one wave that one Query can make together, by the cost rule of [`shared_query`]; `projection` says which attributes each read
//! asks for.

pub mod collections;
pub mod projection;
pub mod shared_query;
pub mod waves;
