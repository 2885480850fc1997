//! A read that takes far longer than usual is sent a second time, and the first answer counts (J. Dean and L. A. Barroso, "The Tail at
//! Scale", "Hedged requests").
//!
//! [`late_reads`] makes the second calls. `usual_time` says what is usual; `extra_calls` bounds the second calls.

mod extra_calls;
pub mod late_reads;
mod usual_time;
