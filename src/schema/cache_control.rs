//! `@cacheControl` in; out: the hints of types and fields, or why one of them can have no effect. Must not know
//! operations.

use crate::schema::diagnostics::diagnostic::Findings;
use crate::schema::diagnostics::rules;
use crate::schema::model::cache::{CacheHint, CacheHints};
use crate::schema::syntax::directives::{argument, flag, name, named, place};
use crate::schema::types::draft::{Kind, SchemaDraft};
use apollo_compiler::Node;
use apollo_compiler::ast::{Directive, DirectiveList, FieldDefinition, OperationType};
use apollo_compiler::schema::{ExtendedType, ObjectType};
use indexmap::IndexMap;

/// The directive's name.
const DIRECTIVE: &str = "cacheControl";

/// Reads and checks every hint.
pub fn read_hints(draft: &SchemaDraft, findings: &mut Findings) -> CacheHints {
    let mut hints = IndexMap::new();
    for definition in draft.schema.types.values().filter(|definition| !definition.is_built_in()) {
        let of_type = definition.name().to_string();
        if let Some(directive) = definition.directives().get(DIRECTIVE) {
            check_root(draft, &of_type, directive, findings);
            hints.insert(of_type, read(directive, findings));
        }
    }
    for object in draft.objects() {
        for (name, field) in &object.fields {
            let Some(directive) = hint_of_field(draft, object, field) else { continue };
            let coordinate = format!("{}.{name}", object.name);
            check_root(draft, &object.name, directive, findings);
            check_strong(&coordinate, field, directive, findings);
            hints.insert(coordinate, read(directive, findings));
        }
    }
    CacheHints::new(hints)
}

/// The hint of a field, or of the same field of one of its interfaces.
fn hint_of_field<'a>(
    draft: &SchemaDraft<'a>,
    object: &'a ObjectType,
    field: &'a FieldDefinition,
) -> Option<&'a Node<Directive>> {
    let of = |directives: &'a DirectiveList| directives.get(DIRECTIVE);
    let of_interface = |name: &apollo_compiler::schema::ComponentName| match draft.schema.types.get(name.as_str()) {
        Some(ExtendedType::Interface(interface)) => {
            interface.fields.get(&field.name).and_then(|field| of(&field.directives))
        }
        _ => None,
    };
    of(&field.directives).or_else(|| object.implements_interfaces.iter().find_map(of_interface))
}

fn read(directive: &Node<Directive>, findings: &mut Findings) -> CacheHint {
    let written = argument(directive, "maxAge").and_then(|value| value.to_i32());
    let max_age = written.and_then(|seconds| u32::try_from(seconds).ok());
    if written.is_some() && max_age.is_none() {
        let message = "an age is a number of seconds, 0 or more";
        findings.error(
            rules::KF1001,
            &place(directive, "maxAge"),
            message,
            Some("to cache nothing, write `maxAge: 0`".into()),
        );
    }
    let inherits = flag(directive, "inheritMaxAge");
    if inherits && written.is_some() {
        let message = "`inheritMaxAge` and `maxAge` exclude each other";
        findings.error(
            rules::KF1002,
            &place(directive, "inheritMaxAge"),
            message,
            Some("leave one of them out".into()),
        );
    }
    CacheHint { max_age, private: name(directive, "scope").map(|scope| scope.value == "PRIVATE"), inherits }
}

/// Fields of `Mutation` and `Subscription` are never cached.
fn check_root(draft: &SchemaDraft, ty: &str, directive: &Node<Directive>, findings: &mut Findings) {
    if let Some(Kind::Root(operation @ (OperationType::Mutation | OperationType::Subscription))) = draft.kind(ty) {
        let message = format!("a {operation} is never cached, so `@cacheControl` has no effect on `{ty}`");
        findings.error(
            rules::KF1003,
            &named(directive),
            message,
            Some("put it on fields of `Query`, or on the types that they return".into()),
        );
    }
}

/// A strong read is made for the present item.
fn check_strong(coordinate: &str, field: &FieldDefinition, directive: &Node<Directive>, findings: &mut Findings) {
    let is_strong = field.directives.get("find").is_some_and(|find| flag(find, "consistent"));
    let is_cached = argument(directive, "maxAge").and_then(|value| value.to_i32()).is_some_and(|seconds| seconds > 0);
    if is_strong && is_cached {
        let message = format!("`{coordinate}` reads strongly, so the cache never answers it");
        findings.error(
            rules::KF1004,
            &place(directive, "maxAge"),
            message,
            Some("leave out `consistent: true`, or the age".into()),
        );
    }
}
