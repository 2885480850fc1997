//! An executor without a plan: an operation and all items of the store in, the data and the errors that the gateway
//! must give out. It runs field by field and looks at every item for each find.

pub mod binding;
pub mod compared;
pub mod computed;
mod condition;
pub mod document;
pub mod executor;
pub mod matching;
pub mod model_check;
pub mod pages;
pub mod rows;
pub mod values;
