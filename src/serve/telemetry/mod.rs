//! What happens in; metrics, traces and slow operations in the log out. Must not know how operations are run.
//!
//! [`observer`] observes every run of an operation and every HTTP request. It counts them in [`metrics`], whose
//! names are [`definitions`]; [`sources`] and, on Linux, `process` say what is read when the metrics are asked for, and
//! [`exposition`] answers who asks. It has [`tracer`] record those that are traced: [`trace_context`] says which trace
//! a request belongs to, [`spans`] what its spans are.

pub mod collector;
pub mod definitions;
pub mod exposition;
pub mod metrics;
pub mod observer;
pub mod operation_names;
#[cfg(target_os = "linux")]
pub mod process;
pub mod sources;
pub mod spans;
pub mod trace_context;
pub mod tracer;
