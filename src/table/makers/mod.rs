//! One call in; one attempt of it, made by the AWS SDK, by the direct client or by the embedded engine, out. Must not
//! know kinds of calls, nor attempts before or after it.
//!
//! [`call::Call`] is what a kind of call says of itself, and [`call_maker::CallMaker`] is one of the three that make
//! it.

pub(in crate::table) mod call;
pub(in crate::table) mod call_maker;
pub(in crate::table) mod direct;
pub(in crate::table) mod embedded;
