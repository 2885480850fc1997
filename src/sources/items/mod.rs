//! Files of items in, their items one after another out, whatever the form. Must not know models and tables.

pub mod changes;
pub mod csv;
pub mod delivery;
pub mod dialect;
pub mod document;
pub mod element;
pub mod export;
pub mod lines;
