//! The texts of `requires:` in; out, the selections that services get. Needs the API as clients see it.

use crate::schema::auth::checks::nulls;
use crate::schema::diagnostics::diagnostic::Findings;
use crate::schema::diagnostics::rules;
use crate::schema::diagnostics::span::{self, At};
use crate::schema::model::{FieldKind, ObjectType};
use crate::schema::syntax::directives::text;
use apollo_compiler::ast::{FieldDefinition, Value};
use apollo_compiler::executable::{FieldSet, Selection, SelectionSet};
use apollo_compiler::validation::Valid;
use apollo_compiler::{Name, Node, Schema};
use indexmap::IndexMap;

/// Reads what each field with `@resolve` requires. A type that clients do not see asks no service.
pub fn read_requires(
    (schema, api): (&Schema, &Valid<Schema>),
    types: &mut IndexMap<String, ObjectType>,
    findings: &mut Findings,
) {
    let mut read: Vec<(String, String, SelectionSet)> = Vec::new();
    for ty in types.values().filter(|ty| api.types.contains_key(ty.name.as_str())) {
        let resolved = ty.fields.values().filter(|field| matches!(field.kind, FieldKind::Resolved(_)));
        for field in resolved.filter_map(|field| schema.type_field(&ty.name, &field.name).ok()) {
            let Some(written) = field.directives.get("resolve").and_then(|directive| text(directive, "requires"))
            else {
                continue;
            };
            let selection = required((types, api), &ty.name, &written, findings);
            read.extend(selection.map(|selection| (ty.name.clone(), field.name.to_string(), selection)));
        }
    }
    for (ty, field, selection) in &read {
        if let (Ok(declared), Some(of)) = (schema.type_field(ty, field), refused(types, selection)) {
            warn_of_null(ty, declared, &of, findings);
        }
    }
    for (ty, field, selection) in read {
        let field = types.get_mut(&ty).and_then(|ty| ty.fields.get_mut(&field));
        if let Some(FieldKind::Resolved(resolution)) = field.map(|field| &mut field.kind) {
            resolution.requires = selection;
        }
    }
}

/// Warns of a never-null field of which rules may refuse a part to a caller who sees the object.
fn warn_of_null(ty: &str, declared: &FieldDefinition, of: &str, findings: &mut Findings) {
    if !declared.ty.is_non_null() {
        return;
    }
    let field = &declared.name;
    let message = format!("`{ty}.{field}` is never null, but {of} may refuse it to callers who see the rest");
    let instead = declared.ty.clone().nullable();
    let help = format!("write `{field}: {instead}`; a refusal makes all of the `{ty}` null otherwise");
    findings.warning(rules::KF0617, &span::from_location(declared.name.location()), message, Some(help.into()));
}

/// The rules that may refuse a part of a selection.
fn refused(types: &IndexMap<String, ObjectType>, set: &SelectionSet) -> Option<String> {
    set.selections.iter().find_map(|selection| match selection {
        Selection::Field(field) => {
            let of_type = types.get(set.ty.as_str());
            let own = of_type.and_then(|ty| Some((ty, ty.fields.get(field.name.as_str())?)));
            let own = own.and_then(|(ty, own)| match nulls::refuses(types, ty, own)? {
                (of, _) if of == nulls::OWN => Some(format!("the rules of `{}.{}`", ty.name, own.name)),
                (of, _) => Some(of),
            });
            own.or_else(|| refused(types, &field.selection_set))
        }
        Selection::InlineFragment(fragment) => refused(types, &fragment.selection_set),
        Selection::FragmentSpread(_) => None,
    })
}

fn required(
    (types, api): (&IndexMap<String, ObjectType>, &Valid<Schema>),
    type_name: &str,
    written: &At<String>,
    findings: &mut Findings,
) -> Option<SelectionSet> {
    let name = Name::new(type_name).ok()?;
    let set = match FieldSet::parse_and_validate(api, name, &written.value, "requires") {
        Ok(set) => set.into_inner().selection_set,
        Err(errors) => {
            for error in errors.errors.iter() {
                let message = format!("`requires` is no selection on `{type_name}`: {}", error.error);
                findings.error(rules::KF1103, &written.span, message, None);
            }
            return None;
        }
    };
    match unfit((types, api), &set) {
        None => Some(set),
        Some(message) => {
            findings.error(rules::KF1103, &written.span, message, None);
            None
        }
    }
}

/// What a service cannot be given.
fn unfit(schema: (&IndexMap<String, ObjectType>, &Valid<Schema>), set: &SelectionSet) -> Option<String> {
    let (types, api) = schema;
    // An object of an interface is of one of its types.
    let is_meant = |ty: &&ObjectType| ty.name == set.ty.as_str() || api.is_subtype(&set.ty, &ty.name);
    set.selections.iter().find_map(|selection| match selection {
        Selection::Field(field) => {
            let is_resolved = |ty: &&ObjectType| {
                let own = ty.fields.get(field.name.as_str());
                own.is_some_and(|own| matches!(own.kind, FieldKind::Resolved(_)))
            };
            let variable = || field.arguments.iter().find_map(|argument| variable(&argument.value));
            match types.values().filter(is_meant).find(is_resolved) {
                Some(ty) => Some(format!("`{}.{}` is itself computed by a service", ty.name, field.name)),
                _ if let Some(name) = variable() => Some(format!("`${name}` is a variable, which no operation sets")),
                _ => unfit(schema, &field.selection_set),
            }
        }
        Selection::InlineFragment(fragment) => unfit(schema, &fragment.selection_set),
        Selection::FragmentSpread(spread) => {
            Some(format!("`...{}` is a fragment, which nothing defines", spread.fragment_name))
        }
    })
}

/// A variable within a value.
fn variable(value: &Node<Value>) -> Option<&Name> {
    match &**value {
        Value::Variable(name) => Some(name),
        Value::List(items) => items.iter().find_map(variable),
        Value::Object(members) => members.iter().find_map(|(_, member)| variable(member)),
        _ => None,
    }
}
