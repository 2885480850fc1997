//! Inputs that are `@deprecated` but must be given in, findings out (GraphQL specification, section 3.13.3: "must not
//! appear on required (non-null without a default) arguments or input object field definitions").

use crate::schema::diagnostics::diagnostic::Findings;
use crate::schema::diagnostics::rules;
use crate::schema::syntax::directives::named;
use apollo_compiler::Schema;
use apollo_compiler::ast::InputValueDefinition;
use apollo_compiler::schema::ExtendedType;

/// Reports each argument and input field that is required and deprecated.
pub fn check(schema: &Schema, findings: &mut Findings) {
    for definition in schema.types.values().filter(|definition| !definition.is_built_in()) {
        let name = definition.name();
        match definition {
            ExtendedType::Object(object) => {
                let fields = object.fields.values().map(|field| (&field.name, &field.arguments));
                fields.for_each(|(field, arguments)| {
                    check_all(arguments.iter().map(|one| &**one), &format!("{name}.{field}"), findings)
                });
            }
            ExtendedType::Interface(interface) => {
                let fields = interface.fields.values().map(|field| (&field.name, &field.arguments));
                fields.for_each(|(field, arguments)| {
                    check_all(arguments.iter().map(|one| &**one), &format!("{name}.{field}"), findings)
                });
            }
            ExtendedType::InputObject(input) => check_all(input.fields.values().map(|one| &***one), name, findings),
            ExtendedType::Scalar(_) | ExtendedType::Union(_) | ExtendedType::Enum(_) => {}
        }
    }
    for (name, directive) in &schema.directive_definitions {
        check_all(directive.arguments.iter().map(|one| &**one), &format!("@{name}"), findings);
    }
}

fn check_all<'a>(inputs: impl Iterator<Item = &'a InputValueDefinition>, of: &str, findings: &mut Findings) {
    for input in inputs.filter(|input| input.is_required()) {
        let Some(directive) = input.directives.get("deprecated") else { continue };
        let message = format!("`{}` of `{of}` is required, so clients cannot stop giving it", input.name);
        let help = format!(
            "make it nullable, or give it a default: `{}: {}`",
            input.name,
            input.ty.as_ref().clone().nullable()
        );
        findings.error(rules::KF0002, &named(directive), message, Some(help.into()));
    }
}
