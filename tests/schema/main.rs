//! Schemas from outside: text in, the model or the mistakes out.
//!
//! | file | proves |
//! |---|---|
//! | `finds` | each find of published designs reads what its design says: table or index, operation and key condition |
//! | `ids` | an `id` binds the id of its own type, whatever the directive and what the field returns |
//! | `model` | fields are stored, and shown to clients, as the schema says |
//! | `files` | the schema files of the project load, and the examples' sample items are what their schemas say |
//! | `samples` | each of the project's sample items is of exactly one type, and what it refers to is there |
//! | `language` | every example of docs/language/ loads, each argument is on one page, and the contents name every page |
//! | `requests` | the calls that pages of docs/language/ show are those that their operations lead to |
//! | `guarantees` | every test and every gate that docs/guarantees.md names is there |
//! | `design` | what `keyfold docs` writes about a schema |
//! | `broken_text` | loading never panics, whatever the text |
//! | `slips` | a slip of a beginner is one mistake, and its remedy repairs it |
//!
//! Mistakes of schemas are goldens: `tests/goldens/diagnostics.rs`.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod book;
mod broken_text;
mod calls_text;
mod design;
mod files;
mod finds;
mod guarantees;
mod ids;
mod language;
mod model;
#[allow(dead_code)]
#[path = "../support/process.rs"]
mod process;
mod requests;
mod samples;
mod slips;
#[path = "../support/mod.rs"]
mod support;
