//! A call in; its attempts, made one after the other until one is answered for good, and what came of them out. Must not know kinds of
//! calls: `calls` says what may be repeated.

pub(in crate::table) mod attempts;
pub(in crate::table) mod failure;
pub(in crate::table) mod maker;
