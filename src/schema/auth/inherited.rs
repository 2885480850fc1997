//! A type in; out: the `@auth` that hold for it and for its fields: its own, or else those of its interface, or of the
//! embedded type that a field holds. Must not know what they mean.

use crate::schema::diagnostics::diagnostic::Findings;
use crate::schema::diagnostics::rules;
use crate::schema::syntax::directives::named;
use crate::schema::types::draft::{Kind, SchemaDraft};
use apollo_compiler::Node;
use apollo_compiler::ast::Directive;
use apollo_compiler::schema::{ExtendedType, InterfaceType, ObjectType};

/// The rules of a type. Rules in several places, of which it is not said how they go together, are a mistake.
pub fn type_rules<'a>(
    draft: &SchemaDraft<'a>,
    object: &'a ObjectType,
    findings: &mut Findings,
) -> Vec<&'a Node<Directive>> {
    let own = object.directives.iter().map(|directive| &directive.node).filter(is_rule).collect();
    let of_interface = |interface: &'a InterfaceType| {
        interface.directives.iter().map(|directive| &directive.node).filter(is_rule).collect()
    };
    let all = interfaces(draft, object).map(of_interface);
    single(&object.name, std::iter::once(own).chain(all), findings)
}

/// The rules of a field of a type.
pub fn field_rules<'a>(
    draft: &SchemaDraft<'a>,
    object: &'a ObjectType,
    field: &str,
    findings: &mut Findings,
) -> Vec<&'a Node<Directive>> {
    let own = object.fields.get(field).into_iter().flat_map(|field| field.directives.iter()).filter(is_rule).collect();
    let of_interface = |interface: &'a InterfaceType| -> Vec<&'a Node<Directive>> {
        interface.fields.get(field).into_iter().flat_map(|field| field.directives.iter()).filter(is_rule).collect()
    };
    let all = interfaces(draft, object).map(of_interface).chain(embedded(draft, object, field));
    single(&format!("{}.{field}", object.name), std::iter::once(own).chain(all), findings)
}

/// The rules of the embedded type that a field holds, alone or in a list.
fn embedded<'a>(draft: &SchemaDraft<'a>, object: &'a ObjectType, field: &str) -> Option<Vec<&'a Node<Directive>>> {
    let held = object.fields.get(field)?.ty.inner_named_type();
    let Some(ExtendedType::Object(held)) =
        draft.schema.types.get(held).filter(|_| draft.kind(held) == Some(&Kind::Embedded))
    else {
        return None;
    };
    Some(held.directives.iter().map(|directive| &directive.node).filter(is_rule).collect())
}

fn interfaces<'a>(draft: &SchemaDraft<'a>, object: &'a ObjectType) -> impl Iterator<Item = &'a InterfaceType> {
    let schema = draft.schema;
    object.implements_interfaces.iter().filter_map(move |name| match schema.types.get(name.as_str()) {
        Some(ExtendedType::Interface(interface)) => Some(&**interface),
        _ => None,
    })
}

fn is_rule(directive: &&Node<Directive>) -> bool {
    directive.name == "auth"
}

/// The only place that has rules.
fn single<'a>(
    of: &str,
    places: impl Iterator<Item = Vec<&'a Node<Directive>>>,
    findings: &mut Findings,
) -> Vec<&'a Node<Directive>> {
    let mut ruled = places.filter(|rules| !rules.is_empty());
    let rules = ruled.next().unwrap_or_default();
    if let (Some(first), Some(_)) = (rules.first(), ruled.next()) {
        let message = format!(
            "`{of}` has rules in several places: its own, those of an interface, or those of the type that it holds"
        );
        findings.error(rules::KF0607, &named(first), message, Some("put all of its rules into one place".into()));
    }
    rules
}
