//! Runs a plan's reads: requests of a wave → calls → results → rows, wave by wave, into a [`state::ReadState`]. Must
//! not know the response.

pub mod admit;
pub mod apply;
pub mod bind;
pub mod query_cache;
pub mod query_identity;
pub mod range_query;
pub mod requests;
pub mod results;
pub mod row_results;
pub mod rows;
pub mod shared;
pub mod state;
