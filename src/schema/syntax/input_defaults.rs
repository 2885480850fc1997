//! The defaults of arguments and of input objects' fields in; out, the defaults that do not fit their types, so that
//! none fails in a request (GraphQL specification of September 2025, sections 3.6.1 and 3.10, "Type Validation").

use crate::schema::diagnostics::diagnostic::Findings;
use crate::schema::diagnostics::rules;
use crate::schema::diagnostics::span;
use crate::schema::scalar::coerce::{coerce, json_of};
use apollo_compiler::Schema;
use apollo_compiler::ast::InputValueDefinition;
use apollo_compiler::schema::ExtendedType;
use serde_json::Map;

/// Coerces every default in the author's types and reports those that do not fit.
pub fn check(schema: &Schema, findings: &mut Findings) {
    for definition in schema.types.values().filter(|definition| !definition.is_built_in()) {
        let owner = definition.name();
        match definition {
            ExtendedType::Object(object) => {
                let arguments = object
                    .fields
                    .values()
                    .flat_map(|field| field.arguments.iter().map(move |argument| (field, argument)));
                arguments.for_each(|(field, argument)| {
                    one(schema, &format!("{owner}.{}({}:)", field.name, argument.name), argument, findings)
                });
            }
            ExtendedType::Interface(interface) => {
                let arguments = interface
                    .fields
                    .values()
                    .flat_map(|field| field.arguments.iter().map(move |argument| (field, argument)));
                arguments.for_each(|(field, argument)| {
                    one(schema, &format!("{owner}.{}({}:)", field.name, argument.name), argument, findings)
                });
            }
            ExtendedType::InputObject(input) => {
                input
                    .fields
                    .values()
                    .for_each(|field| one(schema, &format!("{owner}.{}", field.name), field, findings));
            }
            _ => {}
        }
    }
}

fn one(schema: &Schema, coordinate: &str, definition: &InputValueDefinition, findings: &mut Findings) {
    let Some(default) = &definition.default_value else { return };
    if let Err(misfit) = coerce(schema, &definition.ty, &json_of(default, &Map::new())) {
        let at = if misfit.path.is_empty() { String::new() } else { format!(" at `{}`", misfit.path) };
        let why = misfit.why.trim_end_matches('.');
        findings.error(
            rules::KF0002,
            &span::from_location(default.location()),
            format!("the default of `{coordinate}` is not acceptable{at}: {why}"),
            None,
        );
    }
}
