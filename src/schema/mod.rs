//! `schema.graphql` in, a checked [`model::Model`] or every mistake in it out. Must not know AWS, async or HTTP.

pub mod condition;
pub mod date_time;
pub mod decimal;
pub mod diagnostic;
pub mod model;
pub mod table;
pub mod template;
pub mod value_type;

use diagnostic::Diagnostics;
use model::Model;

/// Our directive and scalar definitions, as `keyfold schema --directives` prints them.
pub const DIRECTIVES: &str = include_str!("directives.graphql");

/// Loads a schema: the model and its warnings, or every mistake. `environment` gives the values for `${NAME:-default}`.
pub fn load(_file: &str, _text: &str, _environment: &dyn Fn(&str) -> Option<String>) -> Result<(Model, Diagnostics), Diagnostics> {
    todo!()
}
