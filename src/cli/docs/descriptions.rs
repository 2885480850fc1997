//! The text of a schema in; the descriptions of its types and fields, also of inaccessible ones, out.

use apollo_compiler::ast::{Definition, Document};
use std::collections::HashMap;

/// Descriptions by coordinate: `User`, `User.name`.
pub struct Descriptions {
    of: HashMap<String, String>,
}

impl Descriptions {
    /// The descriptions of a loaded schema.
    pub fn new(text: &str) -> Self {
        let document = Document::parse(text, "schema.graphql").unwrap_or_else(|mistakes| mistakes.partial);
        let mut of = HashMap::new();
        for definition in &document.definitions {
            let Definition::ObjectTypeDefinition(object) = definition else { continue };
            of.extend(object.description.iter().map(|text| (object.name.to_string(), text.to_string())));
            for field in &object.fields {
                of.extend(
                    field.description.iter().map(|text| (format!("{}.{}", object.name, field.name), text.to_string())),
                );
            }
        }
        Self { of }
    }

    /// The description of a type or a field; empty if there is none.
    pub fn get(&self, coordinate: &str) -> &str {
        self.of.get(coordinate).map_or("", String::as_str)
    }
}
