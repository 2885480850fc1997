//! The interfaces in, the one with `@node` out. Must not know its types.

use crate::schema::diagnostics::diagnostic::Findings;
use crate::schema::diagnostics::rules;
use crate::schema::syntax::directives::named;
use crate::schema::types::draft::GLOBAL_ID;
use apollo_compiler::Schema;

/// The interface with `@node`, if there is one. There may be one only, and it has `id: ID!` and no other field.
pub fn read(schema: &Schema, findings: &mut Findings) -> Option<String> {
    let interfaces = schema.types.values().filter_map(|definition| definition.as_interface());
    let mut marked = interfaces.filter_map(|interface| Some((interface, interface.directives.get("node")?)));
    let (interface, directive) = marked.next()?;
    if let Some((other, directive)) = marked.next() {
        let message = format!("`{}` and `{}` are both `@node`, but an id has one meaning", interface.name, other.name);
        findings.error(rules::KF0223, &named(directive), message, Some("leave `@node` on one of them".into()));
    }
    let is_id =
        |field: &apollo_compiler::ast::FieldDefinition| field.ty.to_string() == "ID!" && field.arguments.is_empty();
    if interface.fields.len() != 1 || !interface.fields.get(GLOBAL_ID).is_some_and(|field| is_id(field)) {
        let message = format!("`{}` has other fields than `id: ID!`", interface.name);
        let help = "declare the other fields in an interface of their own";
        findings.error(rules::KF0223, &named(directive), message, Some(help.into()));
    }
    Some(interface.name.to_string())
}
