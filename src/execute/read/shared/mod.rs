//! Queries that several Gets and queries of a wave share: what may share one, and what each of them finds in it.

pub mod collection;
pub mod offers;
