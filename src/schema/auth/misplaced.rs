//! Finds `@auth` where it could not be enforced: on anything but item types, the types embedded in them, fields of
//! items, queries and mutations. Must not know rules.

use crate::schema::diagnostics::diagnostic::Findings;
use crate::schema::diagnostics::rules;
use crate::schema::syntax::directives::named;
use crate::schema::types::draft::{Kind, SchemaDraft};
use apollo_compiler::ast::Directive;
use apollo_compiler::schema::{ExtendedType, ObjectType};
use apollo_compiler::{Name, Node};

/// Reports every misplaced rule.
pub fn check(draft: &SchemaDraft, findings: &mut Findings) {
    let mut report = |directive: &Node<Directive>, message: String, help: &str| {
        if directive.name == "auth" {
            findings.error(rules::KF0607, &named(directive), message, Some(help.into()));
        }
    };
    for object in draft.objects() {
        let name = &object.name;
        let (is_item, is_root) =
            (draft.kind(name) == Some(&Kind::Item), matches!(draft.kind(name), Some(Kind::Root(_))));
        let is_embedded = draft.kind(name) == Some(&Kind::Embedded);
        if is_embedded && let Some(holder) = embedded_holder(draft, name) {
            for directive in &object.directives {
                let message = format!(
                    "`{holder}` holds `{name}` inside another embedded type, where its rules would not be asked"
                );
                report(&directive.node, message, "put them on the item's field that holds all of it");
            }
        }
        for directive in object.directives.iter().filter(|_| !is_item && !is_embedded) {
            let help = if is_root { "put it on each of its fields" } else { "put it on the fields that return it" };
            report(&directive.node, format!("`{name}` is not an item type, so it has no rules of its own"), help);
        }
        for field in object.fields.values().filter(|_| !is_item && !is_root) {
            for directive in field.directives.iter() {
                let message = format!(
                    "`{name}.{}` is a field of a type that is not an item type, so it has no rules of its own",
                    field.name
                );
                report(directive, message, "put it on the item's field that holds the object, or on its type");
            }
        }
    }
    for definition in draft.schema.types.values() {
        let ExtendedType::Interface(interface) = definition else { continue };
        let is_member =
            |object: &&Node<ObjectType>| object.implements_interfaces.iter().any(|name| *name == interface.name);
        if draft.objects().filter(is_member).all(|object| draft.kind(&object.name) == Some(&Kind::Item)) {
            continue;
        }
        let of_fields = interface.fields.values().flat_map(|field| field.directives.iter());
        for directive in interface.directives.iter().map(|directive| &directive.node).chain(of_fields) {
            let message = format!("not all types of `{}` are item types, so it has no rules", interface.name);
            report(directive, message, "put the rules on its item types, or on the fields that return it");
        }
    }
}

/// The first field of an embedded type that holds this embedded type.
fn embedded_holder(draft: &SchemaDraft, name: &Name) -> Option<String> {
    let holders = draft.objects().filter(|object| draft.kind(&object.name) == Some(&Kind::Embedded));
    let mut fields = holders.flat_map(|object| object.fields.values().map(|field| (&object.name, field)));
    fields
        .find(|(_, field)| field.ty.inner_named_type() == name)
        .map(|(holder, field)| format!("{holder}.{}", field.name))
}
