//! Laws that hold for every operation and all data, each tried on random ones. Data and operations are made of a list of numbers
//! (`choices`), so that a failing case shrinks to a small one. What a query gives at all, `tests/reads` says.
//!
//! | file | proves |
//! |---|---|
//! | `pages` | pages put together are the whole list, forward and backward |
//! | `abstract_types` | items of several types are what they are one by one |
//! | `replicas` | the replicas of an item never differ |
//! | `collection_reads` | an item and its neighbours that one Query reads are what each read gives by itself |
//! | `shared_queries` | reads of one partition that share a Query change no response and make no more calls |
//! | `operations` | any valid operation gets a well-formed response by few batches |
//! | `conditions` | conditions that the gateway evaluates are what DynamoDB makes of them |
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod abstract_types;
mod choices;
mod collection_reads;
mod conditions;
mod operations;
mod pages;
mod replicas;
mod selection;
mod shared_queries;
#[path = "../support/mod.rs"]
mod support;
mod world;
