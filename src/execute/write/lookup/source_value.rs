//! A source in; its value out: of an argument, a claim, an item in scope, or a text of these.

use crate::execute::expression::scope::argument;
use crate::execute::item::assemble;
use crate::execute::write::job::WriteJob;
use crate::execute::write::lookup::items::{ItemInScope, ItemsInScope};
use crate::execute::write::messages::{FieldErrors, unreadable};
use crate::schema::model::source::{Source, TextPart};
use serde_json::{Map, Value};

/// The value of a source; `None` if it is not given. Fails if it is a stored value that its type cannot read.
pub fn source_value(
    job: &WriteJob<'_>,
    (arguments, scope): (&Map<String, Value>, &ItemsInScope),
    source: &Source,
) -> Result<Option<Value>, FieldErrors> {
    Ok(match source {
        Source::Argument(name) => argument(arguments, name).cloned(),
        // Without the claim, the write was refused before.
        Source::Claim(claim) => Some(job.context.caller.text(claim).map_or(Value::Null, Value::String)),
        Source::Item(name, field) => {
            let Some(ItemInScope { ty, item }) = scope.get(name) else { return Ok(None) };
            let ty = job.type_named(ty)?;
            let values = assemble::values_of(job.context.model, ty, item);
            if values.is_unreadable(field) {
                return Err(unreadable(ty, field));
            }
            // What the item lacks is null, not missing: no default takes its place.
            Some(values.known.get(field).cloned().unwrap_or_default())
        }
        Source::Parent(_) => None,
        Source::Text(parts) => {
            let mut text = String::new();
            for part in parts {
                match part {
                    TextPart::Literal(literal) => text.push_str(literal),
                    TextPart::Value(source) => match source_value(job, (arguments, scope), source)? {
                        None => return Ok(None),
                        Some(Value::Null) => return Ok(Some(Value::Null)),
                        Some(Value::String(value)) => text.push_str(&value),
                        Some(value) => text.push_str(&value.to_string()),
                    },
                }
            }
            Some(Value::String(text))
        }
    })
}
