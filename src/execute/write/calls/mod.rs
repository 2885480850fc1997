//! What one attempt of a write sends: its calls, each with its purpose and with what it demands of its item.

pub mod draft;
pub mod requirement;
