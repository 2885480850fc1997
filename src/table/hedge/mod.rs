//! A read that takes far longer than usual is sent a second time, and the first answer counts (J. Dean and L. A.
//! Barroso, "The Tail at Scale", "Hedged requests").
//!
//! [`late_reads`] makes the second calls. `usual_time` says what is usual; `shared_timer` waits that long;
//! `extra_calls` bounds the second calls.

mod extra_calls;
pub mod late_reads;
mod shared_timer;
mod usual_time;
