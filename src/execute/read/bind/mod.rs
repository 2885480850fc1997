//! What the rows of a read ask for: a planned read and the values of its rows → keys to get, or queries to run.

pub mod query;
pub mod read;
