//! Expressions as text in; whether an item meets one, or what it makes of an item, out (developer guide, "Using
//! expressions in DynamoDB").

pub mod condition;
pub mod evaluate;
pub mod operand;
pub mod path;
pub mod placeholders;
pub mod projection;
pub mod tokens;
pub mod update;
pub mod update_text;
