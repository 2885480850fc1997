//! A read that takes far longer than usual is sent a second time, and the first answer counts (J. Dean and L. A. Barroso, "The Tail at
//! Scale", "Hedged requests").
//!
//! [`hedged_store`] is a store around any store. `usual_time` says what is usual; `extra_calls` bounds the second calls.

mod extra_calls;
pub mod hedged_store;
mod usual_time;
