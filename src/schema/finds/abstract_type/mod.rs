//! A find of an interface or a union in, the reads that serve all of its item types at once out.

pub mod member;
pub mod mismatch;
pub mod reads;
pub mod shared_access;
