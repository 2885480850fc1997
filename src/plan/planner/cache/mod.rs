//! Hints of the schema in, how old the reads of an operation may be out.

mod ages;
