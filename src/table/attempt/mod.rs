//! An attempt and how to make it in; its repetitions until one is answered for good, and what came of them out. Must
//! not know kinds of calls, of which `calls` says what may be repeated, nor who makes an attempt.
//!
//! `failure` is what a failed attempt means, whoever made it. `sdk_failure` reads it from an error of the AWS SDK.

pub(in crate::table) mod attempts;
pub(in crate::table) mod failure;
pub(in crate::table) mod sdk_failure;
