//! Tables and item types in, the types of the key attributes that have none written: each has the type of the fields
//! that are stored in it (DynamoDB developer guide, "Multi-attribute keys": the attributes of an item with their own
//! types). Must not know templates.

use crate::schema::diagnostics::diagnostic::Findings;
use crate::schema::diagnostics::rules;
use crate::schema::diagnostics::span::Span;
use crate::schema::keys::entries::entries;
use crate::schema::syntax::directives::{argument, items};
use crate::schema::table::KeyType;
use crate::schema::table_directive::{DeclaredTable, item_table};
use crate::schema::types::draft::{Kind, SchemaDraft, StoredFields};
use crate::schema::types::{fields, kinds, values};
use apollo_compiler::schema::ObjectType;
use apollo_compiler::{Node, Schema};
use indexmap::IndexMap;

/// What an attribute of an item type is stored as.
struct Stored {
    kind: KeyType,
    /// `Match.round`, or the type that has a template for the attribute.
    who: String,
    span: Span,
}

/// Gives the key attributes without written types those of the fields that are stored in them. An attribute that no
/// type has stays a text.
pub fn settle(schema: &Schema, text: &str, tables: &mut [DeclaredTable], findings: &mut Findings) {
    if tables.iter().all(|declared| declared.untyped.is_empty()) {
        return;
    }
    let found = stored(schema, text, tables);
    for (position, declared) in tables.iter_mut().enumerate() {
        for attribute in declared.untyped.keys() {
            let mut of_attribute =
                found.iter().filter(|(table, name, _)| *table == position && name == attribute).map(|(.., at)| at);
            let Some(first) = of_attribute.next() else { continue };
            declared.table.set_key_type(attribute, first.kind);
            let Some(other) = of_attribute.find(|other| other.kind != first.kind) else { continue };
            let message = format!(
                "`{attribute}` is in a key of `{}`, but {} stores it as {:?} and {} as {:?}",
                declared.table.name, first.who, first.kind, other.who, other.kind
            );
            let help = "store one of them in another attribute: `@attribute(name:)`";
            findings.error(rules::KF0110, &other.span, message, Some(help.into()));
        }
    }
}

/// What each item type stores in each of its attributes and keys, with the position of its table. Mistakes are reported
/// when the types are read.
fn stored(schema: &Schema, text: &str, tables: &[DeclaredTable]) -> Vec<(usize, String, Stored)> {
    let mut unreported = Findings::default();
    let draft = SchemaDraft {
        text,
        schema,
        services: Vec::new(),
        tables: tables.iter().map(|declared| declared.table.clone()).collect(),
        kinds: kinds::classify(schema, &mut unreported),
        node: crate::schema::nodes::interface::read(schema, &mut unreported),
        records: IndexMap::new(),
        items: IndexMap::new(),
    };
    let mut found = Vec::new();
    for object in draft.objects().filter(|object| draft.kind(&object.name) == Some(&Kind::Item)) {
        let Some(directive) = object.directives.get("item") else { continue };
        let Some(position) = item_table(tables, &object.name, directive, &mut unreported) else { continue };
        let record = fields::declare(&draft, object, draft.tables.get(position), &mut unreported);
        let of_type = stored_by_templates(object, &record).into_iter().chain(stored_by_fields(object, &record));
        let mut known: Vec<String> = Vec::new();
        for (attribute, stored) in of_type {
            if !known.contains(&attribute) {
                known.push(attribute.clone());
                found.push((position, attribute, stored));
            }
        }
    }
    found
}

/// The attributes for which a type has templates: the text of a template, or the field that is all of it.
fn stored_by_templates(object: &Node<ObjectType>, record: &StoredFields) -> Vec<(String, Stored)> {
    let written = object.directives.get("item").and_then(|directive| argument(directive, "keys"));
    let pairs = written.and_then(|written| entries(written, "template")).unwrap_or_default();
    let stored = |(attribute, value): (crate::schema::diagnostics::span::At<String>, &Node<_>)| {
        let field = match items(value) {
            [only] => only.as_str().and_then(|text| record.get(text.strip_prefix('{')?.strip_suffix('}')?)),
            _ => None,
        };
        let kind = field.and_then(|declared| values::stored_key_type(&declared.value)).unwrap_or(KeyType::S);
        (attribute.value, Stored { kind, who: format!("the key of `{}`", object.name), span: attribute.span })
    };
    pairs.into_iter().map(stored).collect()
}

/// The attributes in which a type stores its fields, as far as a key may have their types.
fn stored_by_fields(object: &Node<ObjectType>, record: &StoredFields) -> Vec<(String, Stored)> {
    let stored = |(name, declared): (&String, &crate::schema::types::draft::Declared)| {
        let kind = values::stored_key_type(&declared.value).filter(|_| !declared.ty.is_list())?;
        let who = format!("`{}.{name}`", object.name);
        Some((declared.attribute.clone(), Stored { kind, who, span: declared.span.clone() }))
    };
    record.iter().filter_map(stored).collect()
}
