//! The types that implement the interface with `@node` in; out: what their items' ids are made of, or why there can be
//! no such ids. Must not know the fields that take ids.

use crate::schema::diagnostics::diagnostic::Findings;
use crate::schema::diagnostics::rules;
use crate::schema::diagnostics::span;
use crate::schema::diagnostics::suggestion::list;
use crate::schema::model::ObjectType;
use crate::schema::model::auth::AuthAction;
use crate::schema::model::keys::ItemKeys;
use crate::schema::scalar::global_id::GlobalId;
use crate::schema::scalar::value_type::ValueType;
use crate::schema::syntax::directives::named;
use crate::schema::table::Table;
use crate::schema::template::Template;
use crate::schema::types::draft::{GLOBAL_ID, Kind, SchemaDraft};
use apollo_compiler::schema;
use indexmap::IndexMap;
use std::sync::Arc;

/// The ids of a type's items; `None` if its keys have a mistake, or cannot make an id.
pub fn global_id(draft: &SchemaDraft, type_name: &str) -> Option<GlobalId> {
    let (keys, record) = draft.item(type_name)?;
    let mut fields: Vec<(String, ValueType)> = Vec::new();
    for template in templates(keys, draft.tables.get(keys.table)?)? {
        for field in template.fields() {
            if !fields.iter().any(|(known, _)| known == field) {
                // An id has what the key has.
                let value = record.get(field)?.value.plain().clone();
                let kind = match template.case_of(field) {
                    Some(case) => ValueType::InForm(Box::new(value), Arc::new(case.clone())),
                    None => value,
                };
                fields.push((field.to_owned(), kind));
            }
        }
    }
    Some(GlobalId::new(type_name, fields))
}

/// The templates of the primary key; `None` if one of its attributes has alternatives.
fn templates<'k>(keys: &'k ItemKeys, table: &Table) -> Option<Vec<&'k Template>> {
    let only = |attribute: &str| match keys.keys.get(attribute)?.as_slice() {
        [only] => Some(only),
        _ => None,
    };
    table.primary_key().map(|key| only(&key.name)).collect()
}

/// Reports types whose items cannot have global ids, and ids that would show what is hidden.
pub fn check(draft: &SchemaDraft, types: &IndexMap<String, ObjectType>, findings: &mut Findings) {
    for object in draft.objects().filter(|object| draft.is_node(object)) {
        let place = span::from_location(object.name.location());
        if draft.kind(&object.name) != Some(&Kind::Item) {
            let message = format!("`{}` is no item type, so it has no key that an id could name", object.name);
            findings.error(
                rules::KF0221,
                &place,
                message,
                Some("add `@item`, or do not implement the interface".into()),
            );
            continue;
        }
        check_bare(object, findings);
        let Some((keys, _)) = draft.item(&object.name) else { continue };
        let Some(table) = draft.tables.get(keys.table) else { continue };
        if templates(keys, table).is_none() {
            let message = format!("the primary key of `{}` has alternatives, so an id cannot name it", object.name);
            let help = "give each of its key attributes one template, or do not implement the interface";
            findings.error(rules::KF0221, &place, message, Some(help.into()));
        }
        let Some(ty) = types.get(object.name.as_str()).filter(|_| !object.directives.has("inaccessible")) else {
            continue;
        };
        let Some(id) = global_id(draft, &object.name) else { continue };
        let is_hidden = |field: &&str| {
            let inaccessible =
                object.fields.get(*field).is_some_and(|definition| definition.directives.has("inaccessible"));
            inaccessible
                || ty.fields.get(*field).is_some_and(|field| field.auth.each(AuthAction::Read).next().is_some())
        };
        let hidden: Vec<&str> = id.fields().iter().map(|(field, _)| field.as_str()).filter(is_hidden).collect();
        if !hidden.is_empty() {
            let place = object.fields.get(GLOBAL_ID).map_or(place, |field| span::from_location(field.name.location()));
            let message = format!("`{}.id` shows {}, which not everybody may see", object.name, list(&hidden));
            let help =
                "an id is no secret: make the key of other fields, show these, or do not implement the interface";
            findings.error(rules::KF0222, &place, message, Some(help.into()));
        }
    }
}

/// Nothing says how an id is stored or found: Keyfold makes it.
fn check_bare(object: &schema::ObjectType, findings: &mut Findings) {
    let Some(field) = object.fields.get(GLOBAL_ID) else { return };
    let report = |place, what: String, findings: &mut Findings| {
        let message =
            format!("`{}.id` is a global id, which Keyfold makes of the key, so {what} has no effect", object.name);
        findings.error(rules::KF0220, &place, message, Some("leave it out".into()));
    };
    for directive in
        field.directives.iter().filter(|directive| ["attribute", "find", "computed"].contains(&directive.name.as_str()))
    {
        report(named(directive), format!("`@{}`", directive.name), findings);
    }
    if let Some(argument) = field.arguments.first() {
        report(span::from_location(argument.name.location()), format!("its argument `{}`", argument.name), findings);
    }
}
