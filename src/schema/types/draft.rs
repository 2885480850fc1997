//! What is known of a schema while the passes run: each pass reads what earlier passes wrote. Must not say what is
//! right or wrong.

use crate::schema::diagnostics::span::Span;
use crate::schema::model::keys::ItemKeys;
use crate::schema::model::rules::Rules;
use crate::schema::model::service::Service;
use crate::schema::scalar::aws::AwsScalar;
use crate::schema::scalar::value_type::ValueType;
use crate::schema::syntax::directives::flag;
use crate::schema::table::{KeyType, Table};
use apollo_compiler::ast::{FieldDefinition, OperationType, Type};
use apollo_compiler::{Node, Schema, schema};
use indexmap::IndexMap;

/// The field of an interface with `@node` and of its types (GraphQL server specification of Relay, "Object
/// Identification").
pub const GLOBAL_ID: &str = "id";

/// A schema while it is checked.
pub struct SchemaDraft<'a> {
    /// The author's text.
    pub text: &'a str,
    /// apollo-compiler's schema, which includes Keyfold's definitions.
    pub schema: &'a Schema,
    /// The tables.
    pub tables: Vec<Table>,
    /// The services.
    pub services: Vec<Service>,
    /// What each object type stands for.
    pub kinds: IndexMap<String, Kind>,
    /// The interface with `@node`.
    pub node: Option<String>,
    /// The stored fields of each item type and embedded type.
    pub records: IndexMap<String, StoredFields>,
    /// The keys of each item type, except those with mistakes.
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
    /// A connection or a page of AppSync's form over the named node type.
    Connection(String),
    /// An edge of a connection.
    Edge,
    /// `PageInfo`.
    PageInfo,
    /// A change of an item of the named type.
    Change(String),
    /// What a field of `Mutation` returns of several items that it writes or finds.
    Payload,
    /// A type that is meant as a connection or a change but is none, which is reported.
    Misshapen,
}

/// The stored fields of a type, by name.
pub type StoredFields = IndexMap<String, Declared>;

/// A stored field as it is declared.
#[derive(Debug, Clone)]
pub struct Declared {
    /// The type.
    pub ty: Type,
    /// How the innermost value is stored.
    pub value: ValueType,
    /// The attribute for the value: the one named, or the field's own name. A field that is stored only in keys does
    /// not use it.
    pub attribute: String,
    /// Whether `@attribute(name:)` names the attribute.
    pub named: bool,
    /// The place of the attribute's name, or of the field's.
    pub span: Span,
    /// The rules for values that are written to it.
    pub rules: Rules,
}

impl Declared {
    /// The value type for a key template. A list counts as `Json`, because no key can hold it.
    /// The text of a key has a number or a Boolean as it always has, however its attribute keeps it.
    pub fn in_template(&self, key: KeyType) -> ValueType {
        match &self.value {
            _ if self.ty.is_list() => ValueType::Json,
            value if value.as_aws() == Some(AwsScalar::Json) => ValueType::Json,
            value if value.as_aws().is_some() => value.plain().clone(),
            ValueType::InForm(kind, form) if key == KeyType::S && form.as_time().is_none() => (**kind).clone(),
            value => value.clone(),
        }
    }
}

impl<'a> SchemaDraft<'a> {
    /// The author's object types and those that Keyfold provides, in the order of their declaration, without
    /// introspection types.
    pub fn objects(&self) -> impl Iterator<Item = &'a Node<schema::ObjectType>> + use<'a> {
        objects(self.schema)
    }

    /// What an object type stands for; `None` for every other type.
    pub fn kind(&self, type_name: &str) -> Option<&Kind> {
        self.kinds.get(type_name)
    }

    /// Whether an object type implements the interface with `@node`.
    pub fn is_node(&self, object: &schema::ObjectType) -> bool {
        self.node.as_ref().is_some_and(|node| object.implements_interfaces.iter().any(|name| name.as_str() == node))
    }

    /// Whether a field is the global id of an item, which is not stored.
    pub fn is_global_id(&self, object: &schema::ObjectType, field: &FieldDefinition) -> bool {
        field.name == GLOBAL_ID && self.kind(&object.name) == Some(&Kind::Item) && self.is_node(object)
    }

    /// Whether a type's items are read and watched, but never written.
    pub fn is_read_only(&self, type_name: &str) -> bool {
        let item = self.schema.get_object(type_name).and_then(|object| object.directives.get("item"));
        item.is_some_and(|directive| flag(directive, "readOnly"))
    }

    /// The keys and stored fields of an item type, if both could be read.
    pub fn item(&self, type_name: &str) -> Option<(&ItemKeys, &StoredFields)> {
        Some((self.items.get(type_name)?, self.records.get(type_name)?))
    }
}

/// The object types of a schema, without introspection types.
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

/// Whether a field is computed of others: it has `@computed`.
pub fn is_computed(field: &FieldDefinition) -> bool {
    field.directives.has("computed")
}

/// Whether a field of an item or of an embedded object is stored, unless it is a global id.
pub fn is_stored(field: &FieldDefinition) -> bool {
    !is_find(field) && !is_computed(field) && !field.directives.has("resolve")
}
