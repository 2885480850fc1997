//! The reads of a plan in; their waves, the reads that may share a Query, and their projections out. Must not know the operation.
//!
//! The passes run in this order: `waves` puts each read into the wave after the last read that it depends on; `collections` groups the
//! reads of one wave that one Query can make together, by the cost rule of [`shared_query`]; `projection` says which attributes each read
//! asks for. `cache_policy` says how long the response may be kept.

pub mod cache_policy;
pub mod collections;
pub mod projection;
pub mod shared_query;
pub mod waves;

/// What the passes save. A plan without one of the savings takes more waves, calls or bytes, and gives the same response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Passes {
    /// A read is made as soon as its key is known. Otherwise it waits for the read that tells whether its parent exists.
    pub early_waves: bool,
    /// Reads of one partition share a Query.
    pub shared_queries: bool,
    /// A read asks for the attributes that the operation needs. Otherwise it asks for all of its items' fields.
    pub projection: bool,
}

impl Default for Passes {
    /// All savings, as the server plans.
    fn default() -> Self {
        Self { early_waves: true, shared_queries: true, projection: true }
    }
}
