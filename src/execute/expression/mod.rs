//! Conditions, filters and updates with the values of a request: written as DynamoDB's expressions, or evaluated on
//! items. Must not know plans or keys.

pub mod compute;
pub mod condition;
pub mod evaluate;
pub mod filter;
pub mod narrow;
pub mod placeholders;
pub mod request_time;
pub mod scope;
pub mod settle;
pub mod stored_form;
pub mod update;
