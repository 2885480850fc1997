//! The services that a mutation calls before its write (`@call`): what they get, and what follows if the write is not
//! made.
//!
//! | module | in → out |
//! |---|---|
//! | `given` | a call, arguments and items in scope → what its service gets |
//! | `sending` | what a service gets → its answer; what undoes it |
//! | `before` | a write → all its checks, its record and its calls |
//! | `refusal` | why a write is refused, and its record → the answer, once the calls are undone |
//!
//! A record is begun before the first call. It becomes that of a made write within the write's transaction, or that of
//! a refused one before a call is undone. So one of the two happens, once, whoever repeats the request.

pub mod before;
mod given;
pub mod refusal;
mod sending;

pub use given::basis;
