//! The server as a Lambda function: invocations come in from Lambda's runtime API, and the answers of the same routes
//! go out to it.
//!
//! [`runtime_api`] finds the API in the environment. [`function`] takes one invocation after the other: [`event`] makes
//! a request of each, and [`answer`] makes of its response what API Gateway, a function URL or a load balancer expects.

pub mod answer;
pub mod event;
pub mod function;
pub mod runtime_api;
pub mod settings;
