//! The file of a schema while a server runs: its changes in, the schema that is served, what is said of it and of the
//! trusted documents out.

pub mod first_schema;
mod known_text;
pub mod reload;
pub mod unfit_documents;
