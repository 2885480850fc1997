//! A field with `@resolve` in, how it asks its service out. What it requires is read later, when the API is known.

use super::declared::number;
use crate::schema::diagnostics::diagnostic::Findings;
use crate::schema::diagnostics::rule::Rule;
use crate::schema::diagnostics::rules;
use crate::schema::diagnostics::span;
use crate::schema::diagnostics::suggestion::suggest;
use crate::schema::model::service::Resolution;
use crate::schema::syntax::directives::{named, text, write_of};
use crate::schema::types::draft::{Kind, SchemaDraft};
use crate::schema::types::values::value_type;
use apollo_compiler::Node;
use apollo_compiler::ast::{Directive, FieldDefinition};
use apollo_compiler::executable::SelectionSet;

/// The most objects of a call (`directives.graphql`).
const MAX: usize = 1000;
/// Directives that say where a field comes from or how it is kept.
const OTHERS: [&str; 4] = ["find", "attribute", "computed", "watch"];

/// Reads the directive of a field of an item type or an embedded type.
pub fn read_resolution(
    draft: &SchemaDraft,
    type_name: &str,
    (field, directive): (&FieldDefinition, &Node<Directive>),
    findings: &mut Findings,
) -> Option<Resolution> {
    let coordinate = format!("{type_name}.{}", field.name);
    let service = service_of(draft, directive, rules::KF1102, findings);
    let others = OTHERS.iter().find_map(|name| field.directives.get(name)).or(write_of(&field.directives));
    if let Some(other) = others {
        let message = format!("a service computes `{coordinate}`, so `@{}` has no effect", other.name);
        findings.error(rules::KF1102, &named(other), message, Some("leave one of the two out".into()));
        return None;
    }
    let requires = text(directive, "requires")?.value;
    let inner = field.ty.inner_named_type();
    let is_value = matches!(draft.kind(inner), None | Some(Kind::Embedded));
    let Some(kind) = value_type(draft.schema, inner).filter(|_| is_value) else {
        let message = format!("`{coordinate}` is of the type `{inner}`, but a service computes values");
        let help = "give it a scalar, an enum, an embedded type, or a list of these";
        findings.error(
            rules::KF1102,
            &span::from_location(field.ty.inner_named_type().location()),
            message,
            Some(help.to_owned().into()),
        );
        return None;
    };
    Some(Resolution {
        service: service?,
        requires_text: requires.split_whitespace().collect::<Vec<_>>().join(" "),
        requires: SelectionSet::new(apollo_compiler::name!("Query")),
        max: number(directive, "max", MAX, findings),
        kind,
    })
}

/// The position of the service that a directive names.
pub fn service_of(
    draft: &SchemaDraft,
    directive: &Node<Directive>,
    rule: &'static Rule,
    findings: &mut Findings,
) -> Option<usize> {
    let name = text(directive, "service")?;
    let found = draft.services.iter().position(|service| service.name == name.value);
    if found.is_none() {
        let known = draft.services.iter().map(|service| service.name.as_str());
        let help = suggest(&name.value, known).unwrap_or_else(|| {
            format!("declare it: `extend schema @service(name: \"{}\", url: \"https://…\")`", name.value).into()
        });
        findings.error(rule, &name.span, format!("there is no service `{}`", name.value), Some(help));
    }
    found
}

/// Reports each `@resolve` on a field of another type.
pub fn check_places(draft: &SchemaDraft, findings: &mut Findings) {
    for object in draft.objects() {
        if matches!(draft.kind(&object.name), Some(Kind::Item | Kind::Embedded)) {
            continue;
        }
        for field in object.fields.values() {
            if let Some(directive) = field.directives.get("resolve") {
                let message = format!(
                    "`@resolve` is on `{}.{}`, but a service computes fields of item types and embedded types",
                    object.name, field.name
                );
                findings.error(rules::KF1102, &named(directive), message, None);
            }
        }
    }
}
