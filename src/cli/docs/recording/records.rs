//! A directory of sample items in; each item with its type and the values of its fields out. Must not know the
//! document.

use crate::cli::items::samples;
use crate::execute::values::decode;
use crate::plan::attributes;
use crate::plan::tree::TypeDiscriminator;
use crate::schema::model::{FieldKind, Model, ObjectType, TypeKind};
use crate::table::data::attribute::Item;
use anyhow::{Context, Result, bail};
use apollo_compiler::ast::Type;
use serde_json::{Map, Value};
use std::path::Path;
use std::sync::Arc;

/// Most sample items, so that they fit in memory: more than anybody reads in a document.
const MAX_RECORDS: usize = 10_000;

/// A sample item.
#[derive(Clone)]
pub struct SampleItem {
    /// Its table, by position in the model.
    pub table: usize,
    /// Its item type; `None` for an item without one, such as a guard.
    pub ty: Option<String>,
    /// The item.
    pub item: Item,
    /// The values of its fields as the API shows them, without null and missing ones.
    pub fields: Map<String, Value>,
}

/// The sample items of all tables, in the order of their files.
#[derive(Default)]
pub struct Records {
    /// The items.
    pub list: Vec<SampleItem>,
}

impl Records {
    /// Reads the file of samples of each table, if there is one.
    pub fn read(model: &Model, directory: &Path) -> Result<Self> {
        let mut list = Vec::new();
        for (position, table) in model.tables.iter().enumerate() {
            let Some(path) = samples::file_for(directory, &table.name) else { continue };
            let checked = samples::open(&path, None, &table.name).and_then(|file| file.check(table, &mut |_| {}));
            let mut items = checked.context("the samples cannot be read")?;
            let types = TypesOfTable::new(model, position, None);
            for batch in items.batches(table)? {
                list.extend(batch?.into_iter().map(|item| types.sample(item)));
                if list.len() > MAX_RECORDS {
                    bail!("{} has more than {MAX_RECORDS} sample items, too many for a document", path.display());
                }
            }
        }
        Ok(Self { list })
    }

    /// The items of a type.
    pub fn items_of_type<'r, 't>(&'r self, ty: &'t str) -> impl Iterator<Item = &'r SampleItem> + use<'r, 't> {
        self.list.iter().filter(move |record| record.ty.as_deref() == Some(ty))
    }
}

/// Says the type of each item of a table.
pub struct TypesOfTable<'m> {
    model: &'m Model,
    table: usize,
    objects: Vec<&'m ObjectType>,
    marks: Option<Arc<TypeDiscriminator>>,
}

impl<'m> TypesOfTable<'m> {
    /// The types of a table (by position), whose items are read from the table itself (`None`) or from an index.
    pub fn new(model: &'m Model, table: usize, index: Option<usize>) -> Self {
        let is_there = |object: &&ObjectType| matches!(&object.kind, TypeKind::Item(keys) if keys.table == table);
        let objects: Vec<&ObjectType> = model.types.values().filter(is_there).collect();
        let marks = attributes::discriminator(model, &objects, (index, false), attributes::ItemSight::ALL);
        Self { model, table, objects, marks }
    }

    /// The type of an item; `None` for an item without one, such as a guard.
    pub fn item_type(&self, item: &Item) -> Option<&'m ObjectType> {
        self.objects.get(self.marks.as_ref()?.type_of(item)?).copied()
    }

    /// The item with its type and the values of its fields.
    pub fn sample(&self, item: Item) -> SampleItem {
        let object = self.item_type(&item);
        let fields = object.map(|object| values(self.model, object, &item)).unwrap_or_default();
        SampleItem { table: self.table, ty: object.map(|object| object.name.clone()), item, fields }
    }
}

/// The values of the fields of an item or a map. DynamoDB limits how deep maps nest.
fn values(model: &Model, object: &ObjectType, item: &Item) -> Map<String, Value> {
    let mut values = Map::new();
    for field in object.fields.values() {
        let FieldKind::Stored(stored) = &field.kind else { continue };
        let Some(reader) = attributes::reader(object, &field.name) else { continue };
        let value = match stored.value.embedded() {
            Some(name) => model.types.get(name).and_then(|embedded| {
                let mut maps = decode::maps(&reader, item)
                    .into_iter()
                    .map(|map| Value::Object(self::values(model, embedded, &map)));
                if matches!(field.ty, Type::List(_) | Type::NonNullList(_)) {
                    Some(maps.collect())
                } else {
                    maps.next()
                }
            }),
            None => decode::value(&reader, item),
        };
        values.extend(value.map(|value| (field.name.clone(), value)));
    }
    values
}
