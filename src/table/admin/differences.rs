//! A declared table and the description of the existing one in, a sentence for each difference out. Makes no call.

use crate::schema::table::{Index, KeyAttribute, Projection, Table};
use aws_sdk_dynamodb::types::{self as sdk, KeySchemaElement, TableDescription};
use std::collections::BTreeSet;

/// What the existing table lacks of the declared one, or has otherwise. Additions are harmless and not reported. Neither are billing,
/// capacity, streams and backups, which affect no read or write and are often changed while a system runs.
pub(super) fn differences(declared: &Table, found: &TableDescription) -> Vec<String> {
    let of = format!("Table {}", declared.name);
    let comparison = Comparison { found };
    let mut all = comparison.keys(&of, (&declared.partition, declared.sort.as_ref()), found.key_schema());
    for index in &declared.indexes {
        all.extend(comparison.index(declared, index));
    }
    all
}

/// The difference in a table's time to live, if there is one.
pub(super) fn time_to_live_difference(declared: &Table, found: Option<&str>) -> Option<String> {
    let wanted = declared.time_to_live.as_deref()?;
    match found {
        Some(found) if found == wanted => None,
        Some(found) => Some(format!("Table {}: the time-to-live attribute is {found}, not {wanted}.", declared.name)),
        None => Some(format!("Table {}: time to live is not enabled on {wanted}.", declared.name)),
    }
}

/// The keys and the projection of an existing index, global or local.
struct FoundIndex<'a> {
    local: bool,
    keys: &'a [KeySchemaElement],
    projection: Option<&'a sdk::Projection>,
}

struct Comparison<'a> {
    found: &'a TableDescription,
}

impl<'a> Comparison<'a> {
    fn index(&self, table: &Table, index: &Index) -> Vec<String> {
        let of = format!("Index {} of table {}", index.name, table.name);
        let Some(found) = self.find(&index.name) else { return vec![format!("{of} does not exist.")] };
        let mut all = Vec::new();
        if found.local != index.local {
            let kind = |local: bool| if local { "a local" } else { "a global" };
            all.push(format!("{of} is {} index, not {} one.", kind(found.local), kind(index.local)));
        }
        all.extend(self.keys(&of, (&index.partition, index.sort.as_ref()), found.keys));
        let (wanted, there) = (declared_projection(&index.projection), found_projection(found.projection));
        if wanted != there {
            all.push(format!("{of} holds {there}, not {wanted}."));
        }
        all
    }

    fn find(&self, name: &str) -> Option<FoundIndex<'a>> {
        let global = self.found.global_secondary_indexes().iter().find(|index| index.index_name() == Some(name));
        let local = self.found.local_secondary_indexes().iter().find(|index| index.index_name() == Some(name));
        global
            .map(|index| FoundIndex { local: false, keys: index.key_schema(), projection: index.projection() })
            .or_else(|| local.map(|index| FoundIndex { local: true, keys: index.key_schema(), projection: index.projection() }))
    }

    fn keys(&self, of: &str, wanted: (&KeyAttribute, Option<&KeyAttribute>), found: &[KeySchemaElement]) -> Vec<String> {
        let roles = [("partition", sdk::KeyType::Hash, Some(wanted.0)), ("sort", sdk::KeyType::Range, wanted.1)];
        let sentence = |(role, kind, wanted): (&str, sdk::KeyType, Option<&KeyAttribute>)| {
            let there = found.iter().find(|key| key.key_type == kind).map(|key| self.with_type(key.attribute_name()));
            let wanted = wanted.map(|key| format!("{} ({})", key.name, key.kind.name()));
            match (wanted, there) {
                (Some(wanted), Some(there)) if wanted != there => Some(format!("{of}: the {role} key is {there}, not {wanted}.")),
                (Some(wanted), None) => Some(format!("{of}: it has no {role} key, but the schema declares {wanted}.")),
                (None, Some(there)) => Some(format!("{of}: it has the {role} key {there}, but the schema declares none.")),
                _ => None,
            }
        };
        roles.into_iter().filter_map(sentence).collect()
    }

    fn with_type(&self, name: &str) -> String {
        let definition = self.found.attribute_definitions().iter().find(|definition| definition.attribute_name() == name);
        format!("{name} ({})", definition.map_or("?", |definition| definition.attribute_type().as_str()))
    }
}

fn declared_projection(projection: &Projection) -> String {
    match projection {
        Projection::All => "all attributes".to_owned(),
        Projection::KeysOnly => "the keys only".to_owned(),
        Projection::Include(names) => included(names),
    }
}

fn found_projection(projection: Option<&sdk::Projection>) -> String {
    match projection.and_then(sdk::Projection::projection_type) {
        Some(sdk::ProjectionType::All) => "all attributes".to_owned(),
        Some(sdk::ProjectionType::Include) => included(projection.map_or(&[], sdk::Projection::non_key_attributes)),
        Some(sdk::ProjectionType::KeysOnly) => "the keys only".to_owned(),
        _ => "an unknown projection".to_owned(),
    }
}

fn included(names: &[String]) -> String {
    let names: BTreeSet<&str> = names.iter().map(String::as_str).collect();
    format!("the keys and {}", names.into_iter().collect::<Vec<_>>().join(", "))
}
