//! Random finds and operations: made from a seed, run on the gateway and on the naive executor, and reduced if the
//! results differ.

pub mod finds;
pub mod operations;
pub mod trial;
