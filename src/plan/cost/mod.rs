//! A plan and the variables of a request in; out: what the request costs at most, before anything is read: calls,
//! waves, capacity units and objects of the response, by field and in all. Must not know what tables hold.
//!
//! Page sizes are those that the arguments ask for, or else the field's own; a plain list has its `max`. Nothing that a
//! document declares raises a bound of the schema. What neither says is assumed:
//!
//! | unknown | assumed |
//! |---|---|
//! | the size of an item | 4 KB: half a unit to read with eventual consistency, one to read strongly, four to write |
//! | the items that a filter lets through, those of the type among others in a range, the links of a page that lead to an item | one of four |
//! | the size of a partition that is counted | less than a megabyte |
//! | the length of an embedded list with finds inside, and of a stored list that a find uses as keys | 10 |
//!
//! Reads that share a Query count as if each made its own, and one more: items that the schema does not know may keep
//! the shared Query from them. A write counts with what it reads, as it is made at its first attempt: a lost race, a
//! fault, and an item in another form than Keyfold writes cost another one. What only the values of arguments decide
//! counts as the dearer case.

mod action;
pub mod assumed;
pub mod field;
pub mod find;
pub mod limits;
pub mod operation;
pub mod price;
mod print;
mod range;
mod reads;
pub mod rows;
mod writes;
