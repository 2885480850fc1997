//! A call in; its attempts, made one after the other until one is answered for good, and what came of them out. Must not know who makes
//! the attempts: [`maker::CallMaker`] says what a maker of calls does.

pub(in crate::table) mod attempts;
pub(in crate::table) mod batch_write;
pub(in crate::table) mod failure;
pub(in crate::table) mod maker;
pub(in crate::table) mod reads;
pub(in crate::table) mod single_write;
pub(in crate::table) mod transaction;
