//! Field values → items, key attributes and guards: everything that is written follows from the templates. To be written.

use crate::schema::model::{Model, ObjectType};
use crate::table::attribute::{Attribute, Item, Key};
use serde_json::{Map, Value};

/// Why values make no item: the field and a sentence for the caller.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Misfit {
    /// The field.
    pub field: String,
    /// One sentence.
    pub message: String,
}

/// The whole item of an item type: stored attributes, every key attribute whose fields are all there, constants. `values` holds API
/// values by field; null and missing fields have no attribute. The primary key must be complete.
pub fn item(_model: &Model, _ty: &ObjectType, _values: &Map<String, Value>) -> Result<Item, Misfit> {
    todo!()
}

/// The primary key that the values make.
pub fn primary_key(_model: &Model, _ty: &ObjectType, _values: &Map<String, Value>) -> Result<Key, Misfit> {
    todo!()
}

/// The primary key of an item as it was read; `None` if the item lacks it.
pub fn key_of(_model: &Model, _ty: &ObjectType, _item: &Item) -> Option<Key> {
    todo!()
}

/// A field's value as its attribute; embedded objects become maps in their stored names (with the fields that are null left out).
pub fn attribute(_model: &Model, _ty: &ObjectType, _field: &str, _value: &Value) -> Result<Attribute, Misfit> {
    todo!()
}

/// An embedded object as a map.
pub fn embedded(_model: &Model, _type_name: &str, _values: &Map<String, Value>) -> Result<Item, Misfit> {
    todo!()
}

/// What an update of some fields does to the index key attributes that they are part of.
#[derive(Debug, Default, PartialEq)]
pub struct IndexChanges {
    /// Attributes that get a new value.
    pub set: Vec<(String, Attribute)>,
    /// Attributes that go, because a field of their template is null now: the item leaves the index.
    pub remove: Vec<String>,
    /// Fields whose present values are needed to tell, and are not among `known`: read the item and ask again.
    pub unknown: Vec<String>,
}

/// The changes of index key attributes; `changed` holds the fields' new values (null: removed), `known` gives values of other fields:
/// the outer `None` is "not known", the inner one null. Attributes that are themselves the stored attribute of a changed field
/// (template `{status}` on attribute `status`) are left to whoever sets that field.
pub fn index_changes(
    _model: &Model,
    _ty: &ObjectType,
    _changed: &Map<String, Value>,
    _known: &dyn Fn(&str) -> Option<Option<Value>>,
) -> Result<IndexChanges, Misfit> {
    todo!()
}

/// The guard of a `@unique` field's value: an item of its own in the same table whose key says type, field and value, with the key of
/// its owner in it. `None` for null. Its key can be no item type's of the schema that the checker accepts.
pub fn guard(_model: &Model, _ty: &ObjectType, _field: &str, _value: &Value, _owner: &Key) -> Result<Option<Item>, Misfit> {
    todo!()
}

/// The API values of every stored field that an item has, by field: embedded objects as objects.
pub fn values_of(_model: &Model, _ty: &ObjectType, _item: &Item) -> Map<String, Value> {
    todo!()
}
