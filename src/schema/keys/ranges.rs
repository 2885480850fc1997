//! The finds of a schema in; out, the limits that make their ranges exact. Must not know access paths.
//!
//! Of two values of one length, neither begins the other. So their keys sort as they do, whatever follows them, and a
//! range of them is a range of keys. That holds only if no key has a value of another length, so the template relies on
//! the length.

use crate::schema::syntax::directives::argument;
use crate::schema::table::{KeyAttribute, KeyType, Table};
use crate::schema::template::part::Part;
use crate::schema::types::draft::SchemaDraft;
use apollo_compiler::Schema;
use apollo_compiler::ast::{FieldDefinition, Value};
use apollo_compiler::schema::ExtendedType;
use std::collections::HashSet;

/// Makes templates of sort keys rely on the length of texts over which a find has a range.
pub fn need_lengths(draft: &mut SchemaDraft) {
    let ranged = ranged_fields(draft.schema);
    for keys in draft.items.values_mut() {
        let Some(table) = draft.tables.get(keys.table) else { continue };
        let sorts = sort_keys(table);
        let of_sorts = keys.keys.iter_mut().filter(|(attribute, _)| sorts.iter().any(|key| key.name == **attribute));
        for template in of_sorts.flat_map(|(_, templates)| templates) {
            for position in 1..template.parts.len() {
                let is_ranged =
                    matches!(&template.parts[position - 1], Part::Placeholder { field, .. } if ranged.contains(field));
                if is_ranged {
                    template.need_length(position - 1);
                }
            }
        }
    }
}

/// The sort keys of a table and its indexes that are texts.
fn sort_keys(table: &Table) -> Vec<&KeyAttribute> {
    let indexes = table.indexes.iter().flat_map(|index| &index.sort);
    table.sort.as_ref().into_iter().chain(indexes).filter(|key| key.kind == KeyType::S).collect()
}

/// The fields that a `where:` has a range of, whatever type they are of.
fn ranged_fields(schema: &Schema) -> HashSet<String> {
    let fields = schema.types.values().flat_map(|ty| match ty {
        ExtendedType::Object(object) => object.fields.values().collect::<Vec<_>>(),
        ExtendedType::Interface(interface) => interface.fields.values().collect(),
        _ => Vec::new(),
    });
    fields.flat_map(|field| ranged_by(field)).collect()
}

fn ranged_by(field: &FieldDefinition) -> Vec<String> {
    let wheres = field.directives.iter().filter_map(|directive| argument(directive, "where")?.as_object());
    let is_range = |operand: &Value| {
        operand.as_object().is_some_and(|bounds| bounds.iter().any(|(operator, _)| operator != "beginsWith"))
    };
    wheres.flatten().filter(|(_, operand)| is_range(operand)).map(|(name, _)| name.to_string()).collect()
}
