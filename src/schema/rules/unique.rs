//! `@unique` in; out: whether the table can hold the guards that enforce it. Must not know how guards are written.
//!
//! A guard is an item of the same table. Its partition key is `Unique#Type.field#` followed by the value; its sort key
//! is `Unique#Type.field`.

use crate::schema::diagnostics::diagnostic::Findings;
use crate::schema::diagnostics::rules;
use crate::schema::model::keys::{GUARD_MARK, ItemKeys};
use crate::schema::scalar::value_type::ValueType;
use crate::schema::syntax::directives::named;
use crate::schema::table::{KeyAttribute, KeyType};
use crate::schema::template::Template;
use crate::schema::template::part::Part;
use crate::schema::types::draft::{Declared, Kind, SchemaDraft};
use crate::schema::types::values;
use apollo_compiler::Node;
use apollo_compiler::ast::{Directive, FieldDefinition};
use apollo_compiler::schema::ObjectType;

/// Whether a field can be unique: it is a field of an item, its value is single and can be a key, and the table's keys
/// are of type S.
pub fn check(
    draft: &SchemaDraft,
    (object, field): (&ObjectType, &FieldDefinition),
    declared: &Declared,
    directive: &Node<Directive>,
    findings: &mut Findings,
) -> bool {
    let coordinate = format!("{}.{}", object.name, field.name);
    let keys = draft.items.get(object.name.as_str());
    let table = keys.and_then(|keys| draft.tables.get(keys.table));
    let text_keys = table.is_none_or(|table| table.primary_key().all(|key| key.kind == KeyType::S));
    let (message, help) = match () {
        () if draft.kind(&object.name) != Some(&Kind::Item) => (
            format!("`{coordinate}` is in an embedded object, where Keyfold cannot keep values unique"),
            "make it a field of an item type",
        ),
        () if draft.is_read_only(&object.name) => (
            format!("`{coordinate}` is of a read-only type, whose values Keyfold cannot keep unique"),
            "leave `@unique` out",
        ),
        () if declared.ty.is_list() || values::stored_key_type(&declared.value).is_none() => (
            format!("`{coordinate}` of type `{}` cannot be unique", field.ty),
            "a unique field is a text, a number, a date or an enum",
        ),
        () if !text_keys => (
            format!("`{coordinate}` cannot be unique: its guards need a table whose keys are texts"),
            "make the table's keys of type S",
        ),
        () => return true,
    };
    findings.error(rules::KF0809, &named(directive), message, Some(help.into()));
    false
}

/// The primary keys of guards and items must not overlap, or a guard could be taken for an item, or an item for a
/// guard.
pub fn check_guards(draft: &SchemaDraft, findings: &mut Findings) {
    for (type_name, record) in &draft.records {
        for (field_name, _) in record.iter().filter(|(_, declared)| declared.rules.unique) {
            let Some(table) = draft.items.get(type_name).map(|keys| keys.table) else { continue };
            let name = format!("{GUARD_MARK}{type_name}.{field_name}");
            let directive =
                draft.schema.get_object(type_name).and_then(|object| object.fields.get(field_name.as_str()));
            if let (Some(other), Some(directive)) =
                (confused_with(draft, table, name), directive.and_then(|field| field.directives.get("unique")))
            {
                let message =
                    format!("the guards of `{type_name}.{field_name}` could have the same keys as items of `{other}`");
                let help = format!("begin a key of `{other}` with a different text: `{other}#{{…}}`");
                findings.error(rules::KF0810, &named(directive), message, Some(help.into()));
            }
        }
    }
}

/// The first item type of a table whose items could have the key of one of Keyfold's own: the mark, `#` and any text as
/// the partition key, and the mark as the sort key.
pub fn confused_with<'d>(draft: &'d SchemaDraft, table: usize, mark: String) -> Option<&'d str> {
    let text = Part::Placeholder { field: "text".to_owned(), value: ValueType::String, width: None, limits: None };
    let own = [
        Template::made_of(vec![Part::Literal(format!("{mark}#")), text]),
        Template::made_of(vec![Part::Literal(mark)]),
    ];
    let is_apart = |keys: &ItemKeys, (key, own): (&KeyAttribute, &Template)| {
        let templates = keys.keys.get(&key.name);
        templates.is_some_and(|templates| templates.iter().all(|template| !template.relied_on().overlaps(own)))
    };
    let of_table = draft.items.iter().filter(|(_, keys)| keys.table == table);
    let attributes = || draft.tables.get(table).into_iter().flat_map(|table| table.primary_key()).zip(&own);
    let mut confused = of_table.filter(|(_, keys)| !attributes().any(|part| is_apart(keys, part)));
    confused.next().map(|(name, _)| name.as_str())
}
