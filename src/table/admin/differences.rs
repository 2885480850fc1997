//! A declared table and the description of the existing one in, a sentence for each difference out. Makes no call.

use crate::schema::table::{Index, KeyAttribute, KeyAttributes, Projection, StreamView, Table};
use aws_sdk_dynamodb::types::{self as sdk, KeySchemaElement, TableDescription};
use std::collections::BTreeSet;

/// What the existing table lacks of the declared one, or has otherwise. Additions are harmless and not reported.
/// Neither are billing, capacity and backups, which affect no read or write and are often changed while a system runs.
/// [`stream_difference`] is about streams.
pub(super) fn differences(declared: &Table, found: &TableDescription) -> Vec<String> {
    let of = format!("Table {}", declared.name);
    let comparison = Comparison { found };
    let mut all = comparison.keys(&of, declared.keys_of(None), found.key_schema());
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

/// What the stream of a table lacks whose changes subscriptions deliver.
pub(super) fn stream_difference(declared: &Table, found: &TableDescription) -> Option<String> {
    let wanted = StreamView::NewAndOldImages.name();
    let stream = found.stream_specification().filter(|stream| stream.stream_enabled());
    let there =
        match stream.map(|stream| stream.stream_view_type().map_or("unknown images", sdk::StreamViewType::as_str)) {
            Some(view) if view == wanted => return None,
            Some(view) => format!("its stream has {view}"),
            None => "it has no stream".to_owned(),
        };
    Some(format!(
        "Table {}: {there}, but the schema watches its changes (`@watch`), which takes a stream with {wanted}.",
        declared.name
    ))
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
        all.extend(self.keys(&of, index.keys(), found.keys));
        let keys: BTreeSet<&str> = table.primary_key().chain(index.keys().all()).map(|key| &*key.name).collect();
        let (wanted, there) =
            (declared_projection(&index.projection, &keys), found_projection(found.projection, &keys));
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
            .or_else(|| {
                local.map(|index| FoundIndex { local: true, keys: index.key_schema(), projection: index.projection() })
            })
    }

    fn keys(&self, of: &str, wanted: KeyAttributes<'_>, found: &[KeySchemaElement]) -> Vec<String> {
        let roles = [("partition", sdk::KeyType::Hash, wanted.partition), ("sort", sdk::KeyType::Range, wanted.sort)];
        let sentence = |(role, kind, wanted): (&str, sdk::KeyType, &[KeyAttribute])| {
            // A global index may have up to four attributes of each kind (developer guide, "Multi-attribute keys").
            let there: Vec<_> = found
                .iter()
                .filter(|key| key.key_type == kind)
                .map(|key| self.with_type(key.attribute_name()))
                .collect();
            let there = (!there.is_empty()).then(|| there.join(" and "));
            let wanted: Vec<String> = wanted.iter().map(|key| format!("{} ({})", key.name, key.kind.name())).collect();
            let wanted = (!wanted.is_empty()).then(|| wanted.join(" and "));
            match (wanted, there) {
                (Some(wanted), Some(there)) if wanted != there => {
                    Some(format!("{of}: the {role} key is {there}, not {wanted}."))
                }
                (Some(wanted), None) => Some(format!("{of}: it has no {role} key, but the schema declares {wanted}.")),
                (None, Some(there)) => {
                    Some(format!("{of}: it has the {role} key {there}, but the schema declares none."))
                }
                _ => None,
            }
        };
        roles.into_iter().filter_map(sentence).collect()
    }

    fn with_type(&self, name: &str) -> String {
        let definition =
            self.found.attribute_definitions().iter().find(|definition| definition.attribute_name() == name);
        format!("{name} ({})", definition.map_or("?", |definition| definition.attribute_type().as_str()))
    }
}

fn declared_projection(projection: &Projection, keys: &BTreeSet<&str>) -> String {
    match projection {
        Projection::All => "all attributes".to_owned(),
        Projection::KeysOnly => included(&[], keys),
        Projection::Include(names) => included(names, keys),
    }
}

fn found_projection(projection: Option<&sdk::Projection>, keys: &BTreeSet<&str>) -> String {
    match projection.and_then(sdk::Projection::projection_type) {
        Some(sdk::ProjectionType::All) => "all attributes".to_owned(),
        Some(sdk::ProjectionType::Include) => {
            included(projection.map_or(&[], sdk::Projection::non_key_attributes), keys)
        }
        Some(sdk::ProjectionType::KeysOnly) => included(&[], keys),
        _ => "an unknown projection".to_owned(),
    }
}

/// What an index holds with these attributes besides its keys and those of the table, which it holds in any case.
fn included(names: &[String], keys: &BTreeSet<&str>) -> String {
    let names: BTreeSet<&str> = names.iter().map(String::as_str).filter(|name| !keys.contains(name)).collect();
    match names.is_empty() {
        true => "the keys only".to_owned(),
        false => format!("the keys and {}", names.into_iter().collect::<Vec<_>>().join(", ")),
    }
}
