//! Keyfold's own directives and scalars: their GraphQL definitions, and the names that are reserved for them. Must not know what they
//! mean.

use apollo_compiler::Name;
use apollo_compiler::ast::{Definition, Document};

/// Our directive and scalar definitions, as `keyfold schema --directives` prints them.
pub const DIRECTIVES: &str = include_str!("directives.graphql");

/// What the names of Keyfold's internal definitions begin with.
pub const RESERVED: &str = "keyfold__";

/// The name under which Keyfold's definitions are a source file; no path of an author's.
pub const DEFINITIONS_FILE: &str = "<keyfold>";

/// Keyfold's definitions as a document.
pub fn definitions() -> Document {
    Document::parse(DIRECTIVES, DEFINITIONS_FILE).unwrap_or_else(|errors| errors.partial)
}

/// The name of a directive definition.
pub fn directive_name(definition: &Definition) -> Option<&Name> {
    definition.as_directive_definition().map(|directive| &directive.name)
}

/// The name of a type definition, extensions and directives left out.
pub fn defined_name(definition: &Definition) -> Option<&Name> {
    let named = !definition.is_extension_definition() && !definition.is_executable_definition() && directive_name(definition).is_none();
    if named { definition.name() } else { None }
}
