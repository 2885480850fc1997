//! Keyfold's own directives and scalars: their GraphQL definitions, and the names that are reserved for them. Must not
//! know what they mean.

use apollo_compiler::Name;
use apollo_compiler::ast::{Definition, Document};
use std::sync::LazyLock;

/// Our directive and scalar definitions, as `keyfold schema --directives` prints them.
pub const DIRECTIVES: &str = include_str!("directives.graphql");

/// The prefix of the names of Keyfold's internal definitions.
pub const RESERVED: &str = "keyfold__";

/// The name of Keyfold's definitions as a source file, which no file of an author's has.
pub const DEFINITIONS_FILE: &str = "<keyfold>";

/// Keyfold's definitions as a document. A schema with thousands of mistakes asks for it at each of them, so it is
/// parsed once.
pub fn definitions() -> &'static Document {
    static PARSED: LazyLock<Document> =
        LazyLock::new(|| Document::parse(DIRECTIVES, DEFINITIONS_FILE).unwrap_or_else(|errors| errors.partial));
    &PARSED
}

/// The name of a directive definition.
pub fn directive_name(definition: &Definition) -> Option<&Name> {
    definition.as_directive_definition().map(|directive| &directive.name)
}

/// The name of a type definition; `None` for extensions and directives.
pub fn defined_name(definition: &Definition) -> Option<&Name> {
    let named = !definition.is_extension_definition()
        && !definition.is_executable_definition()
        && directive_name(definition).is_none();
    if named { definition.name() } else { None }
}
