//! Directives in; findings out for conditions and expressions that are no texts. Their types are scalars of Keyfold's,
//! of which the compiler takes any value.

use crate::schema::diagnostics::diagnostic::Findings;
use crate::schema::diagnostics::help::Help;
use crate::schema::diagnostics::rules;
use crate::schema::diagnostics::span;
use crate::schema::syntax::definitions::{definitions, directive_name};
use apollo_compiler::ast::{Directive, InputValueDefinition};
use apollo_compiler::schema::ExtendedType;
use apollo_compiler::{Node, Schema};

/// The types of texts.
const TEXTS: [&str; 3] = ["keyfold__Condition", "keyfold__Update", "keyfold__Arithmetic"];

/// Reports each such argument without quotes. Gives whether all have them.
pub fn check(schema: &Schema, source: &str, findings: &mut Findings) -> bool {
    let mut sound = true;
    for ty in schema.types.values().filter(|ty| !ty.is_built_in()) {
        ty.directives().iter().for_each(|directive| sound &= check_one(directive, source, findings));
        let fields: Vec<_> = match ty {
            ExtendedType::Object(object) => object.fields.values().collect(),
            ExtendedType::Interface(interface) => interface.fields.values().collect(),
            _ => Vec::new(),
        };
        let directives = fields.iter().flat_map(|field| field.directives.iter());
        directives.for_each(|directive| sound &= check_one(directive, source, findings));
    }
    sound
}

fn check_one(directive: &Node<Directive>, source: &str, findings: &mut Findings) -> bool {
    let mut sound = true;
    let of_ours = definitions()
        .definitions
        .iter()
        .find(|known| directive_name(known).is_some_and(|name| *name == directive.name));
    let Some(definition) = of_ours.and_then(|known| known.as_directive_definition()) else { return true };
    let is_text = |argument: &&Node<InputValueDefinition>| TEXTS.contains(&argument.ty.inner_named_type().as_str());
    for argument in definition.arguments.iter().filter(is_text) {
        let Some(value) = directive.specified_argument_by_name(&argument.name) else { continue };
        if value.as_str().is_some() || value.is_null() {
            continue;
        }
        let place = span::from_location(value.location());
        let written = source.get(place.clone()).unwrap_or_default();
        let message = format!("`{}:` of `@{}` is a text, which stands in quotes", argument.name, directive.name);
        // A name alone is a number's field, but no condition.
        let help = match argument.ty.inner_named_type().as_str() {
            "keyfold__Arithmetic" => {
                Help::edit(format!("write `\"{written}\"`"), place.clone(), format!("\"{written}\""))
            }
            "keyfold__Update" => "write an expression in quotes, such as `\"SET name = :name\"`".into(),
            _ => "write a condition in quotes, such as `\"status = 'OPEN'\"`".into(),
        };
        findings.error(rules::KF0002, &place, message, Some(help));
        sound = false;
    }
    sound
}
