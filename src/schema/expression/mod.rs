//! DynamoDB's condition and update expressions in GraphQL field names: text in; out, checked expressions in attribute
//! names. Must not know requests or values of arguments.

pub mod arithmetic;
pub mod claim;
pub mod condition;
pub mod key_condition;
pub mod lexer;
pub mod literal;
pub mod names;
pub mod operand;
pub mod size;
pub mod term;
pub mod update;
