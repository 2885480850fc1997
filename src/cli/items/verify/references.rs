//! Items with their types in; fields that find one item by its key, and find none, out.

use crate::cli::output::counted;
use crate::execute::caller::Caller;
use crate::execute::item::assemble;
use crate::execute::key::shown::shown;
use crate::plan::attributes;
use crate::schema::model::find::{Access, AccessPath, Returns, Via};
use crate::schema::model::source::{Source, TextPart};
use crate::schema::model::{FieldKind, Model, ObjectType};
use crate::table::bulk::fit::{KeyDigest, key_digest};
use crate::table::data::attribute::Item;
use serde_json::{Map, Value, json};
use std::collections::{HashMap, HashSet};

/// The most bytes of keys that are kept.
const MAX_BYTES: usize = 256 * 1024 * 1024;
/// The bytes of a key in a set, and those of a reference without the text of its key.
const KEY_BYTES: usize = 32;
const REFERENCE_BYTES: usize = 96;

/// An item's key, with the position of its table.
type Place = (usize, KeyDigest);

/// The references of items so far.
#[derive(Debug)]
pub struct References<'m> {
    model: &'m Model,
    /// The fields of each type that find one item by its key.
    fields: HashMap<&'m str, Vec<ReferenceField<'m>>>,
    /// The keys of all items.
    keys: HashSet<Place>,
    /// Those that fields name, by the coordinates of the fields.
    named: HashMap<(Place, String), NamedKey>,
    /// The tables that were read.
    tables: HashSet<usize>,
    bytes: usize,
}

/// A field that finds one item by its key, of which its own item has all parts.
#[derive(Debug)]
struct ReferenceField<'m> {
    name: &'m str,
    target: &'m ObjectType,
    table: usize,
    path: &'m AccessPath,
}

/// A key that items name.
#[derive(Debug)]
struct NamedKey {
    count: u64,
    /// The key of the first of these items, and the key that it names.
    example: Box<str>,
    key: Box<str>,
}

/// What is known of the references of a field.
#[derive(Debug, Default)]
struct FieldReferences<'r> {
    all: u64,
    lost: u64,
    example: Option<&'r NamedKey>,
}

impl<'m> References<'m> {
    /// Those of a schema, before any item is seen.
    pub fn new(model: &'m Model) -> Self {
        let fields = model.types.values().map(|ty| (ty.name.as_str(), reference_fields(model, ty))).collect();
        Self { model, fields, keys: HashSet::new(), named: HashMap::new(), tables: HashSet::new(), bytes: 0 }
    }

    /// Looks at an item of a table, which may be of a type.
    pub fn see(&mut self, table: usize, ty: Option<&ObjectType>, item: &Item) {
        self.tables.insert(table);
        let of_table = &self.model.tables[table];
        let Some(digest) = key_digest(of_table, item) else { return };
        if !self.has_room(KEY_BYTES) {
            return;
        }
        self.keys.insert((table, digest));
        let Some(ty) = ty else { return };
        let found: Vec<(Place, String, String)> = match self.fields.get(ty.name.as_str()) {
            Some(fields) if !fields.is_empty() => {
                let values = assemble::values_of(self.model, ty, item).known;
                fields.iter().filter_map(|field| self.named_by(field, &values)).collect()
            }
            _ => return,
        };
        let owner = shown(of_table.primary_key().map(|key| key.name.as_str()), item);
        for (place, field, key) in found {
            let coordinate = format!("{}.{field}", ty.name);
            if !self.has_room(REFERENCE_BYTES + coordinate.len() + owner.len() + key.len()) {
                return;
            }
            let first = || NamedKey { count: 0, example: owner.as_str().into(), key: key.into() };
            self.named.entry((place, coordinate)).or_insert_with(first).count += 1;
        }
    }

    /// The key that a field names: the place, the field, and the key for a person to read.
    fn named_by(&self, field: &ReferenceField<'m>, values: &Map<String, Value>) -> Option<(Place, String, String)> {
        let bound = field.path.bindings.iter().map(|(name, source)| Some((name.clone(), value(source, values)?)));
        let table = &self.model.tables[field.table];
        let bound = bound.collect::<Option<Map<String, Value>>>()?;
        // A value that no key can hold finds nothing, and is reported as a misfit where it stands.
        let key = assemble::primary_key(self.model, field.target, &Caller::anonymous(), &bound).ok()?;
        let item: Item =
            std::iter::once(key.partition).chain(key.sort).map(|(name, value)| (name, value.into())).collect();
        let text = shown(table.primary_key().map(|key| key.name.as_str()), &item);
        Some(((field.table, key_digest(table, &item)?), field.name.to_owned(), text))
    }

    fn has_room(&mut self, bytes: usize) -> bool {
        self.bytes += bytes;
        !self.is_over()
    }

    /// Whether there are more keys than are kept.
    fn is_over(&self) -> bool {
        self.bytes > MAX_BYTES
    }

    /// Whether every reference whose table was read leads to an item.
    pub fn is_whole(&self) -> bool {
        !self.is_over() && self.fields().iter().all(|(_, of)| of.lost == 0)
    }

    /// The fields whose tables were read, in the order of their coordinates.
    fn fields(&self) -> Vec<(&str, FieldReferences<'_>)> {
        let mut found: HashMap<&str, FieldReferences<'_>> = HashMap::new();
        for ((place, field), named) in self.named.iter().filter(|((place, _), _)| self.tables.contains(&place.0)) {
            let of = found.entry(field).or_default();
            of.all += named.count;
            if !self.keys.contains(place) {
                of.lost += named.count;
                // The same of several, whatever their order is here.
                of.example = of.example.into_iter().chain([named]).min_by_key(|named| &named.example);
            }
        }
        let mut found: Vec<_> = found.into_iter().collect();
        found.sort_by_key(|(field, _)| *field);
        found
    }

    /// The fields whose items are in a table that was not read, with its name.
    fn unread(&self) -> Vec<(&str, &str)> {
        let unread = self.named.keys().filter(|((table, _), _)| !self.tables.contains(table));
        let mut fields: Vec<(&str, &str)> =
            unread.map(|((table, _), field)| (field.as_str(), self.model.tables[*table].name.as_str())).collect();
        fields.sort_unstable();
        fields.dedup();
        fields
    }

    /// The report as text.
    pub fn text(&self) -> String {
        if self.is_over() {
            return "\nreferences: there are more keys than fit in 256 MiB\n".to_owned();
        }
        let mut text = "\nreferences\n".to_owned();
        for (field, of) in self.fields() {
            let all = counted(of.all, "reference");
            match of.example {
                None => text.push_str(&format!("  `{field}`: {all}, each to an item\n")),
                Some(NamedKey { example, key, .. }) => text.push_str(&format!(
                    "  `{field}`: {} of {all} to no item, such as that of {example} to {key}\n",
                    of.lost
                )),
            }
        }
        for (field, table) in self.unread() {
            text.push_str(&format!("  `{field}` is not looked at: its items are in {table}, which was not read\n"));
        }
        text
    }

    /// The report as JSON.
    pub fn json(&self) -> Value {
        if self.is_over() {
            return Value::Null;
        }
        let field = |(field, of): &(&str, FieldReferences<'_>)| {
            json!({
                "field": field, "references": of.all, "toNoItem": of.lost,
                "example": of.example.map(|named| json!({ "item": named.example, "key": named.key })),
            })
        };
        self.fields().iter().map(field).collect()
    }
}

fn reference_fields<'m>(model: &'m Model, ty: &'m ObjectType) -> Vec<ReferenceField<'m>> {
    let reference = |(name, kind): (&'m String, &'m FieldKind)| {
        let FieldKind::Find(find) = kind else { return None };
        let Via::Keys(paths) = &find.via else { return None };
        let of_parent = |path: &&AccessPath| {
            let leaves = path.sources().into_iter().flat_map(Source::leaves);
            path.when.is_empty()
                && path.order_by.is_none()
                && matches!(path.access, Access::Get { .. })
                && leaves.into_iter().all(|leaf| matches!(leaf, Source::Parent(_)))
        };
        let path = paths.iter().find(of_parent).filter(|_| find.returns == Returns::One)?;
        let target = model.types.get(&find.item)?;
        Some(ReferenceField { name, target, table: attributes::keys(target)?.table, path })
    };
    ty.fields.iter().filter_map(|(name, field)| reference((name, &field.kind))).collect()
}

/// The value of a source in an item's fields; `None` for null.
fn value(source: &Source, values: &Map<String, Value>) -> Option<Value> {
    match source {
        Source::Parent(field) => values.get(field).filter(|value| !value.is_null()).cloned(),
        Source::Text(parts) => {
            let part = |part: &TextPart| match part {
                TextPart::Literal(text) => Some(text.clone()),
                TextPart::Value(source) => match value(source, values)? {
                    Value::String(text) => Some(text),
                    value @ (Value::Number(_) | Value::Bool(_)) => Some(value.to_string()),
                    _ => None,
                },
            };
            parts.iter().map(part).collect::<Option<String>>().map(Value::String)
        }
        _ => None,
    }
}
