//! Leaf values: JSON in, canonical values and their text in keys out. Must not know fields, items or keys.

pub mod aws;
pub mod claim_text;
pub mod coerce;
pub mod date_time;
pub mod decimal;
pub mod definition;
pub mod form;
pub mod global_id;
pub mod json;
pub mod spread;
pub mod time_form;
pub mod value_type;
