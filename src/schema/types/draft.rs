//! What is known of a schema while its passes run: each pass reads what those before it wrote. Must not say what is right or wrong.

use crate::schema::model::keys::ItemKeys;
use crate::schema::model::rules::Rules;
use crate::schema::scalar::value_type::ValueType;
use crate::schema::syntax::span::Span;
use crate::schema::table::Table;
use apollo_compiler::ast::{FieldDefinition, OperationType, Type};
use apollo_compiler::{Node, Schema, schema};
use indexmap::IndexMap;

/// A schema under way.
pub struct SchemaDraft<'a> {
    /// The author's text.
    pub text: &'a str,
    /// The compiler's schema, Keyfold's definitions among it.
    pub schema: &'a Schema,
    /// The tables.
    pub tables: Vec<Table>,
    /// What each object type stands for.
    pub kinds: IndexMap<String, Kind>,
    /// The stored fields of each item type and embedded type.
    pub records: IndexMap<String, StoredFields>,
    /// The keys of each item type, those left out that have mistakes.
    pub items: IndexMap<String, ItemKeys>,
}

/// What an object type stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kind {
    /// `Query`, `Mutation` or `Subscription`.
    Root(OperationType),
    /// Items of a table.
    Item,
    /// Maps inside items.
    Embedded,
    /// A connection over the named node type.
    Connection(String),
    /// An edge of a connection.
    Edge,
    /// `PageInfo`.
    PageInfo,
    /// Meant as a connection, and reported because it is none.
    NoConnection,
}

/// The stored fields of a type, by name.
pub type StoredFields = IndexMap<String, Declared>;

/// A stored field as it is declared.
#[derive(Debug, Clone)]
pub struct Declared {
    /// The type.
    pub ty: Type,
    /// How the innermost value is kept.
    pub value: ValueType,
    /// The attribute that would hold the value: the one named, or the field's own name.
    pub attribute: String,
    /// Whether the attribute is named by `@attribute(name:)`.
    pub named: bool,
    /// The place of the attribute's name, or of the field's.
    pub span: Span,
    /// The rules for values that are written to it.
    pub rules: Rules,
}

impl Declared {
    /// The type that a template sees: a list is no value of a key.
    pub fn in_template(&self) -> ValueType {
        if self.ty.is_list() { ValueType::Json } else { self.value.clone() }
    }
}

impl<'a> SchemaDraft<'a> {
    /// The object types of the author and those provided, in the order of their declaration, introspection left out.
    pub fn objects(&self) -> impl Iterator<Item = &'a Node<schema::ObjectType>> + use<'a> {
        objects(self.schema)
    }

    /// What an object type stands for; `None` for every other type.
    pub fn kind(&self, type_name: &str) -> Option<&Kind> {
        self.kinds.get(type_name)
    }

    /// The keys and stored fields of an item type, if both could be read.
    pub fn item(&self, type_name: &str) -> Option<(&ItemKeys, &StoredFields)> {
        Some((self.items.get(type_name)?, self.records.get(type_name)?))
    }
}

/// The object types of a schema without those of introspection.
pub fn objects(schema: &Schema) -> impl Iterator<Item = &Node<schema::ObjectType>> {
    schema.types.values().filter_map(|definition| match definition {
        schema::ExtendedType::Object(object) if !definition.is_built_in() => Some(object),
        _ => None,
    })
}

/// Whether a field is a relation: it has `@find`.
pub fn is_find(field: &FieldDefinition) -> bool {
    field.directives.has("find")
}
