//! The text of an operation and its variables in; a valid document within its budgets, coerced values and merged
//! selections out. Must not know reads.
//!
//! | module | in → out |
//! |---|---|
//! | [`document`] | text → a parsed and valid document, or every mistake in it |
//! | [`definitions`] | text → its operations and fragments, with their places |
//! | `descriptions` | text → the same text without the descriptions that the parser does not know |
//! | [`budget`] | a document → whether it is small enough |
//! | `meant` | a finding about a name → the name that was meant, or the place where it is |
//! | `slips` | what the parser cannot read → what was meant |
//! | `literals` | a document → the literals that do not fit their types |
//! | [`variables`] | a caller's values → coerced values, or every mistake in them |
//! | [`specialise`] | an operation → the variables on which its plan depends |
//! | [`collect`] | selection sets → the fields of one object, merged |
//! | [`argument`] | a field → its arguments, and their values when the plan runs |

pub mod argument;
pub mod budget;
pub mod collect;
pub mod definitions;
mod descriptions;
pub mod document;
pub mod document_size;
mod literals;
mod meant;
mod slips;
pub mod specialise;
pub mod variables;
