//! Reads from outside: an operation and items in, the response and the calls out.
//!
//! Three laws hold the gateway against a naive executor (`naive`), which knows no plan: it runs an operation field by
//! field and looks at every item of the store for each find. Both give the same data and the same errors, path by path,
//! code by code, place by place.
//!
//! | file | proves |
//! |---|---|
//! | `goldens` | every golden that reads returns the same as the naive executor |
//! | `random_operations` | so do random operations on the items of every system |
//! | `random_schemas` | so do random operations on random items of random schemas |
//! | `renamed` | a schema with other attributes, labels and separators gives the same answers by as many calls |
//! | `decided` | neither what names leave open nor the order of indexes and types decides which items a field finds |
//! | `edge_cases` | unusual lists, ranges, pages, counts and relations return what their items hold |
//! | `costs` | a query costs at most what `atMost` says before it runs |
//! | `bounds` | an operation that exceeds a bound is refused, and reads no more |
//! | `computed` | a computed field is what its fields give, and asks for nothing but them |
//! | `fewest_calls` | small operations take exactly the calls that they must |
//! | `known` | no golden asks again for what it has read |
//! | `cached` | how old an answer may be follows from the hints of the schema, and rules are decided after the cache |
//! | `shared_queries` | which reads of a partition share a Query follows from the keys of the schema |
//! | `laws` | pages, items of several types, replicas, shared Queries and conditions keep their laws on random data |
//!
//! `oracle` finds the fewest calls that answer a query, and `laws/least_calls` holds the gateway to them.
//! `random` makes the operations and the finds, tries them, and reduces a failing operation to the smallest.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod bounds;
mod cached;
mod computed;
mod costs;
mod decided;
mod edge_cases;
mod fewest_calls;
mod goldens;
mod known;
mod laws;
mod learned_pages;
mod missing_objects;
mod naive;
mod oracle;
mod random;
mod random_operations;
#[path = "../support/random_schema/mod.rs"]
mod random_schema;
mod random_schemas;
mod renamed;
mod shared_queries;
#[path = "../support/mod.rs"]
mod support;
