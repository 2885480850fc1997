//! The author's schema in, the API as clients see it out: without `@inaccessible` parts, Keyfold's directives, and the
//! types that only those directives need. Must not know tables or keys.

use crate::schema::diagnostics::diagnostic::Findings;
use crate::schema::diagnostics::rules;
use crate::schema::diagnostics::span;
use crate::schema::syntax::definitions;
use crate::schema::syntax::definitions::{DEFINITIONS_FILE, RESERVED};
use apollo_compiler::ast::{Directive, FieldDefinition, Type};
use apollo_compiler::diagnostic::ToCliReport;
use apollo_compiler::parser::{SourceMap, SourceSpan};
use apollo_compiler::schema::{Component, ExtendedType};
use apollo_compiler::validation::{Valid, WithErrors};
use apollo_compiler::{Name, Schema};
use std::collections::HashSet;
use std::path::Path;

/// An accessible field must not lead to an inaccessible type, and an accessible type must keep a field.
pub fn check(schema: &Schema, findings: &mut Findings) {
    for definition in
        schema.types.values().filter(|definition| !definition.is_built_in() && !is_inaccessible(definition))
    {
        let fields: Vec<&Component<FieldDefinition>> = match definition {
            ExtendedType::Object(object) => object.fields.values().collect(),
            ExtendedType::Interface(interface) => interface.fields.values().collect(),
            _ => continue,
        };
        let accessible: Vec<_> = fields.iter().filter(|field| !field.directives.has("inaccessible")).collect();
        if accessible.is_empty() && !fields.is_empty() {
            let message = format!("no field of `{}` is accessible", definition.name());
            let help = "make the type `@inaccessible` as well";
            findings.error(
                rules::KF0504,
                &span::from_location(definition.name().location()),
                message,
                Some(help.into()),
            );
        }
        for field in accessible {
            let inner = field.ty.inner_named_type();
            if schema.types.get(inner).is_some_and(is_inaccessible) {
                let message =
                    format!("`{}.{}` is accessible, but its type `{inner}` is not", definition.name(), field.name);
                findings.error(
                    rules::KF0504,
                    &span::from_location(field.name.location()),
                    message,
                    Some("make the field `@inaccessible` as well".into()),
                );
            }
        }
    }
}

fn is_inaccessible(definition: &ExtendedType) -> bool {
    definition.directives().has("inaccessible")
}

/// Builds the API; `None` if what remains is not a valid schema.
pub fn build(schema: &Schema, findings: &mut Findings) -> Option<Valid<Schema>> {
    let mut api = schema.clone();
    let ours: HashSet<Name> =
        definitions::definitions().definitions.iter().filter_map(definitions::directive_name).cloned().collect();
    api.directive_definitions.retain(|name, _| !ours.contains(name));
    let hidden: HashSet<Name> = api
        .types
        .iter()
        .filter(|(name, definition)| name.starts_with(RESERVED) || is_inaccessible(definition))
        .map(|(name, _)| name.clone())
        .collect();
    api.types.retain(|name, _| !hidden.contains(name));
    api.schema_definition.make_mut().directives.0.retain(|directive| !ours.contains(&directive.name));
    for definition in api.types.values_mut().filter(|definition| !definition.is_built_in()) {
        strip(definition, &ours, &hidden);
    }
    drop_unused(&mut api);
    match api.validate() {
        Ok(api) => Some(api),
        Err(WithErrors { partial, errors }) => {
            for diagnostic in errors.iter() {
                let location =
                    diagnostic.error.location().filter(|location| !is_ours(&partial.sources, Some(*location)));
                let message = format!("without its inaccessible parts, the schema is not valid: {}", diagnostic.error);
                findings.error(rules::KF0504, &span::from_location(location), message, None);
            }
            None
        }
    }
}

/// Removes inaccessible fields and members, and Keyfold's directives.
fn strip(definition: &mut ExtendedType, ours: &HashSet<Name>, hidden: &HashSet<Name>) {
    let own = |directive: &Component<Directive>| !ours.contains(&directive.name);
    match definition {
        ExtendedType::Scalar(scalar) => scalar.make_mut().directives.0.retain(own),
        ExtendedType::Object(object) => {
            let object = object.make_mut();
            object.directives.0.retain(own);
            object.fields.retain(|_, field| !field.directives.has("inaccessible"));
            object.fields.values_mut().for_each(|field| strip_field(field, ours));
        }
        ExtendedType::Interface(interface) => {
            let interface = interface.make_mut();
            interface.directives.0.retain(own);
            interface.fields.retain(|_, field| !field.directives.has("inaccessible"));
            interface.fields.values_mut().for_each(|field| strip_field(field, ours));
        }
        ExtendedType::Union(union) => {
            let union = union.make_mut();
            union.directives.0.retain(own);
            union.members.retain(|member| !hidden.contains(&member.name));
        }
        ExtendedType::Enum(values) => {
            let values = values.make_mut();
            values.directives.0.retain(own);
            for value in values.values.values_mut() {
                value.make_mut().directives.0.retain(|directive| !ours.contains(&directive.name));
            }
        }
        ExtendedType::InputObject(input) => {
            let input = input.make_mut();
            input.directives.0.retain(own);
            for field in input.fields.values_mut() {
                field.make_mut().directives.0.retain(|directive| !ours.contains(&directive.name));
            }
        }
    }
}

fn strip_field(field: &mut Component<FieldDefinition>, ours: &HashSet<Name>) {
    let field = field.make_mut();
    field.directives.0.retain(|directive| !ours.contains(&directive.name));
    for argument in &mut field.arguments {
        argument.make_mut().directives.0.retain(|directive| !ours.contains(&directive.name));
    }
}

/// Removes the scalars and types that Keyfold provides and the author's schema does not use.
fn drop_unused(api: &mut Schema) {
    let provided: HashSet<Name> = api
        .types
        .iter()
        .filter(|(_, definition)| is_ours(&api.sources, definition.name().location()))
        .map(|(name, _)| name.clone())
        .collect();
    let mut used: HashSet<Name> = HashSet::new();
    for definition in api.types.values().filter(|definition| !provided.contains(definition.name())) {
        match definition {
            ExtendedType::Object(object) => object.fields.values().for_each(|field| mark(field, &mut used)),
            ExtendedType::Interface(interface) => interface.fields.values().for_each(|field| mark(field, &mut used)),
            ExtendedType::InputObject(input) => input.fields.values().for_each(|field| mark_type(&field.ty, &mut used)),
            _ => {}
        }
    }
    for argument in api.directive_definitions.values().flat_map(|directive| &directive.arguments) {
        mark_type(&argument.ty, &mut used);
    }
    api.types.retain(|name, _| !provided.contains(name) || used.contains(name));
}

fn mark(field: &FieldDefinition, used: &mut HashSet<Name>) {
    mark_type(&field.ty, used);
    field.arguments.iter().for_each(|argument| mark_type(&argument.ty, used));
}

fn mark_type(ty: &Type, used: &mut HashSet<Name>) {
    used.insert(ty.inner_named_type().clone());
}

fn is_ours(sources: &SourceMap, location: Option<SourceSpan>) -> bool {
    location
        .and_then(|location| sources.get(&location.file_id()))
        .is_some_and(|file| file.path() == Path::new(DEFINITIONS_FILE))
}
