//! Random finds and operations: made from a seed, tried on the gateway and on the naive executor, and cut down where they differ.

pub mod finds;
pub mod operations;
pub mod trial;
