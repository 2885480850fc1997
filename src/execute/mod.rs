//! A plan and a store in, the bytes of the response out. Must not know HTTP or AWS types.
//!
//! A request goes from folder to folder: [`gateway`] takes it and makes its [`context`], [`operation_cache`] has it
//! planned, [`steps`] runs the plan. A step may write ([`mod@write`]) and reads ([`read`]): [`arguments`], [`key`],
//! [`page`] and [`expression`] say what to read, [`values`] what was stored, and [`item`] makes items of values.
//! [`wave`] runs the reads wave by wave, and beside them the calls of services ([`service`]) that compute fields.
//! [`auth`] decides what the caller is refused, and [`constraint`] which arguments are. [`response`] writes the step's
//! part of the response. [`watch`] runs the plan of a subscription for each change. [`report`] says what a run took.

pub mod arguments;
pub mod auth;
pub mod caller;
pub mod constraint;
pub mod context;
pub mod error;
pub mod expression;
pub mod gateway;
pub mod heavy_work;
mod introspection;
pub mod item;
pub mod key;
pub mod keyed_locks;
pub mod operation_cache;
pub mod page;
pub mod read;
pub mod report;
pub mod request;
pub mod response;
pub mod service;
pub mod steps;
pub mod values;
pub mod watch;
pub mod wave;
pub mod write;
