//! Object types in; out: what each stands for, where its fields are stored, and at the end the types of the model.

pub mod bare_text;
pub mod draft;
pub mod fields;
pub mod inputs;
pub mod kinds;
pub mod names;
pub mod objects;
pub mod values;
