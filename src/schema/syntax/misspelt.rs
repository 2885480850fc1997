//! A finding of the compiler about a name in one of Keyfold's directives in; out: the names that there are. Must not
//! know what they mean.

use crate::schema::diagnostics::suggestion::suggest;
use crate::schema::syntax::definitions::{definitions, directive_name};
use apollo_compiler::ast::Definition;

/// The name that was probably meant, or the names that there are; `None` if the finding is about something else.
pub fn meant(finding: &str) -> Option<String> {
    let parts: Vec<&str> = finding.split('`').collect();
    let definitions = &definitions().definitions;
    match parts.as_slice() {
        ["the argument " | "The argument ", name, " is not supported by ", directive, ..] => {
            let directive = directive.strip_prefix('@')?;
            let known = definitions.iter().find(|known| directive_name(known).is_some_and(|name| name == directive))?;
            suggest(name, known.as_directive_definition()?.arguments.iter().map(|argument| argument.name.as_str()))
        }
        ["value " | "Value ", value, " does not exist on ", ty, ..] => {
            let of_type = |definition: &Definition| {
                definition.as_enum_type_definition().filter(|known| known.name == *ty).cloned()
            };
            let known = definitions.iter().find_map(of_type)?;
            suggest(value, known.values.iter().map(|known| known.value.as_str()))
        }
        _ => None,
    }
}
