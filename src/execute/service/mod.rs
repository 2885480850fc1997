//! Services that compute fields: the inputs of objects → calls → values.
//! Must not know how a service is reached.
//!
//! | module | in → out |
//! |---|---|
//! | `call` | what a service gets and answers; the trait of whatever makes the call |
//! | `guarded` | one call, within its service's bounds: time, calls in flight, attempts, a circuit |
//! | `session` | the inputs of a request → calls, each input once |

pub mod call;
pub mod circuit;
pub mod guarded;
pub mod session;
