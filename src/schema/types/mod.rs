//! Object types in; out: what each stands for, and where its fields are stored. Must not know how a field is read or
//! written.

pub mod bare_text;
pub mod computed;
pub mod connections;
pub mod draft;
pub mod fields;
pub mod forms;
pub mod inputs;
pub mod kinds;
pub mod maps;
pub mod names;
pub mod values;
