//! The checked model of a `schema.graphql`: what the planner reads. Plain data, made by [`super::load`]; everything in
//! it is consistent (names resolve, templates invert, every find has an access path), so later layers look up and do
//! not check again.

pub mod auth;
pub mod cache;
pub mod demanded;
pub mod find;
pub mod keys;
pub mod node;
pub mod page;
pub mod rules;
pub mod service;
pub mod source;
pub mod watch;
pub mod write;

use super::table::Table;
use crate::schema::expression::arithmetic::Arithmetic;
use crate::schema::model::auth::{AuthAction, AuthRules};
use crate::schema::model::cache::CacheHints;
use crate::schema::model::node::NodeFind;
use crate::schema::model::page::PageForm;
use crate::schema::model::rules::{Constraint, Rules};
use crate::schema::model::service::{Resolution, Service};
use crate::schema::model::watch::{ChangePart, Watch};
use crate::schema::model::write::Write;
use crate::schema::scalar::global_id::GlobalId;
use crate::schema::scalar::value_type::ValueType;
use crate::schema::template::Template;
use find::{Find, Via};
use keys::ItemKeys;

use apollo_compiler::{
    Schema,
    ast::{OperationType, Type},
    validation::Valid,
};

use indexmap::IndexMap;
use std::collections::BTreeSet;
use std::sync::Arc;

/// A loaded schema.
#[derive(Debug)]
pub struct Model {
    /// The API as clients see it: without `@inaccessible` parts and without Keyfold's own directives.
    /// Operations are validated and introspected against it.
    pub api: Valid<Schema>,
    /// The tables, in the order of the schema.
    pub tables: Vec<Table>,
    /// The services, in the order of the schema.
    pub services: Vec<Service>,
    /// Every object type, including root types and inaccessible types.
    pub types: IndexMap<String, ObjectType>,
    /// `@constraint` on arguments (`Mutation.createUser.name`) and input fields (`FoodInput.name`), by coordinate.
    pub constraints: IndexMap<String, Constraint>,
    /// Whether there is any `@auth`. If so, what has no rule is for callers who are signed in.
    pub ruled: bool,
    /// How long what is read of types and fields may be kept.
    pub cache: CacheHints,
}

impl Model {
    /// The model without rules: for what shows the schema's author the samples, and never for callers.
    pub fn without_rules(mut self) -> Self {
        for ty in self.types.values_mut() {
            ty.auth = AuthRules::default();
            ty.fields.values_mut().for_each(|field| field.auth = AuthRules::default());
        }
        self.ruled = false;
        self
    }

    /// The write of a field of `Mutation` (whatever the root type is called).
    pub fn mutation(&self, field: &str) -> Option<&Write> {
        let root = self.api.root_operation(OperationType::Mutation)?;
        match &self.types.get(root.as_str())?.fields.get(field)?.kind {
            FieldKind::Write(write) => Some(write),
            _ => None,
        }
    }

    /// What a field of `Subscription` watches (whatever the root type is called).
    pub fn subscription(&self, field: &str) -> Option<&Watch> {
        let root = self.api.root_operation(OperationType::Subscription)?;
        match &self.types.get(root.as_str())?.fields.get(field)?.kind {
            FieldKind::Watch(watch) => Some(watch),
            _ => None,
        }
    }

    /// The tables whose changes fields of `Subscription` deliver, by position, each once.
    pub fn watched_tables(&self) -> BTreeSet<usize> {
        let fields = self.types.values().flat_map(|ty| ty.fields.values());
        let watched =
            fields.filter_map(|field| if let FieldKind::Watch(watch) = &field.kind { Some(&watch.item) } else { None });
        watched.filter_map(|item| Some(self.item(item)?.1.table)).collect()
    }

    /// The item types of what the write of a field of `Mutation` returns, each once.
    pub fn returned_by(&self, field: &str) -> Vec<&ObjectType> {
        let Some(write) = self.mutation(field) else { return Vec::new() };
        let mut types: Vec<&ObjectType> = Vec::new();
        for ty in write.returned().flat_map(|items| write.types_returned(items)).filter_map(|name| self.types.get(name))
        {
            if types.iter().all(|known| known.name != ty.name) {
                types.push(ty);
            }
        }
        types
    }

    /// The item types whose items a find of a type reads: what it returns, and what lies on the way of a `through:`.
    pub fn read_by<'m>(&'m self, ty: &'m ObjectType, find: &'m Find) -> Vec<&'m ObjectType> {
        match &find.via {
            Via::Keys(_) => self.types.get(&find.item).into_iter().collect(),
            Via::AbstractType(shared) => shared.members.iter().filter_map(|name| self.types.get(name)).collect(),
            Via::Through(path) => {
                let (mut at, mut types) = (Some(ty), Vec::new());
                for name in path {
                    let Some((from, FieldKind::Find(next))) = at.and_then(|at| Some((at, &at.fields.get(name)?.kind)))
                    else {
                        break;
                    };
                    types.extend(self.read_by(from, next));
                    at = self.types.get(&next.item);
                }
                types
            }
        }
    }

    /// The form of the page that a field returns; `None` if it returns no page.
    pub fn page_form(&self, field: &Field) -> Option<PageForm> {
        let page = self.types.get(field.ty.inner_named_type().as_str())?;
        let is_page = matches!(page.kind, TypeKind::Connection(_));
        is_page.then(|| PageForm::recognise(|name| page.fields.contains_key(name)))
    }

    /// An item type with its keys; `None` for every other type.
    pub fn item(&self, type_name: &str) -> Option<(&ObjectType, &ItemKeys)> {
        let object = self.types.get(type_name)?;
        match &object.kind {
            TypeKind::Item(keys) => Some((object, keys)),
            _ => None,
        }
    }
}

/// An object type.
#[derive(Debug)]
pub struct ObjectType {
    /// The type's name.
    pub name: String,
    /// What the type stands for.
    pub kind: TypeKind,
    /// The fields, including inaccessible ones.
    pub fields: IndexMap<String, Field>,
    /// The fields that have a default. Each comes after the fields that its default is made of.
    pub defaults: Vec<String>,
    /// Who may read and write its items.
    pub auth: AuthRules,
}

/// What an object type stands for.
#[derive(Debug)]
pub enum TypeKind {
    /// `Query`, `Mutation` or `Subscription`.
    Root,
    /// An item of a table (`@item`).
    Item(ItemKeys),
    /// A map inside its parent's item.
    Embedded,
    /// A connection or a page of AppSync's form, recognised by its shape, over the named node type.
    Connection(String),
    /// An edge of a connection.
    Edge,
    /// `PageInfo`.
    PageInfo,
    /// A change of an item of the named type, recognised by its shape.
    Change(String),
    /// What fields of `Mutation` return of several items.
    Payload,
}

/// A field of an object type.
#[derive(Debug)]
pub struct Field {
    /// The field's name.
    pub name: String,
    /// The type as declared.
    pub ty: Type,
    /// The arguments, in the order of their declaration.
    pub arguments: Vec<Argument>,
    /// Where the value comes from.
    pub kind: FieldKind,
    /// The rules for values that are written to it.
    pub rules: Rules,
    /// Whether `@constraint`s hold for its arguments, or for what is inside them.
    pub constrains_arguments: bool,
    /// Who may read and write it, among those who may its object.
    pub auth: AuthRules,
}

/// An argument of a field.
#[derive(Debug)]
pub struct Argument {
    /// The argument's name.
    pub name: String,
    /// The type as declared.
    pub ty: Type,
    /// Its default, as a GraphQL value in JSON.
    pub default: Option<serde_json::Value>,
}

/// Where a field's value comes from. Fields are few and live as long as the schema, so the size of the largest variant
/// does not matter.
#[derive(Debug)]
#[allow(clippy::large_enum_variant)]
pub enum FieldKind {
    /// An attribute of the item, or a part of its keys.
    Stored(Stored),
    /// Another item, or several (`@find`).
    Find(Find),
    /// A write of a mutation (`@put`, `@update`, `@delete`, `@check`).
    Write(Box<Write>),
    /// Items of several types by their global ids: `node(id:)` and `nodes(ids:)`.
    Nodes(NodeFind),
    /// The global id of an item, made of its key.
    GlobalId(Arc<GlobalId>),
    /// What a service computes (`@resolve`).
    Resolved(Box<Resolution>),
    /// A text or a number that is computed of stored fields of the object (`@computed`).
    Computed(Arc<ComputedField>),
    /// The changes of items (`@watch`).
    Watch(Box<Watch>),
    /// A part of a connection: `nodes`, `edges`, `node`, `cursor`, `totalCount`, `pageInfo`, the fields of
    /// `PageInfo`, `items` and `nextToken`; also a field of the link on an edge.
    Page,
    /// A part of a change.
    Change(ChangePart),
    /// A part of what a field of `Mutation` returns: [`write::WriteReturns::Payload`].
    Payload,
}

/// A stored field: how to find its value in an item and how to read it.
#[derive(Debug, Clone)]
pub struct Stored {
    /// The attribute that holds the value. A field that is only in keys has none.
    pub attribute: Option<String>,
    /// The key attributes whose templates hold the field, the table's own first.
    pub keys: Vec<String>,
    /// How many of these are of the table's own key, which every item has.
    pub identity: usize,
    /// An attribute of the field's own name, if the field is stored only in index keys. Older items, and those of other
    /// programs, may hold the field there.
    pub formerly: Option<String>,
    /// How the innermost value is stored and written. [`Field::ty`] says whether it is in a list.
    pub value: ValueType,
}

impl Stored {
    /// A field of an embedded object, or of another map: in one attribute, and in no key.
    pub fn alone(attribute: &str, value: ValueType) -> Self {
        Self { attribute: Some(attribute.to_owned()), keys: Vec::new(), identity: 0, formerly: None, value }
    }
}

/// How a field is computed when it is read.
#[derive(Debug)]
pub struct ComputedField {
    /// The field's name.
    pub name: String,
    /// The template or the expression as the author wrote it.
    pub written: String,
    /// What it is computed of.
    pub value: ComputedValue,
    /// Its type.
    pub kind: ValueType,
}

/// What a field is computed of.
#[derive(Debug)]
pub enum ComputedValue {
    /// A text with fields in it.
    Text(Template),
    /// Sums, differences and products of fields.
    Number(Arithmetic),
}

impl ComputedField {
    /// The stored fields of which it is computed, each once, in the order of the text.
    pub fn fields(&self) -> Vec<&str> {
        let mut fields = match &self.value {
            ComputedValue::Text(template) => template.fields(),
            ComputedValue::Number(number) => number.fields(),
        };
        let mut seen = BTreeSet::new();
        fields.retain(|field| seen.insert(*field));
        fields
    }
}

impl ObjectType {
    /// The field itself, and the stored fields of which it is computed.
    pub fn read_with<'t>(&'t self, field: &'t Field) -> impl Iterator<Item = &'t Field> {
        let parts = if let FieldKind::Computed(computed) = &field.kind { computed.fields() } else { Vec::new() };
        std::iter::once(field).chain(parts.into_iter().filter_map(move |part| self.fields.get(part)))
    }

    /// The attributes that the rules for reads of the type and of its fields read.
    pub fn asked_attributes(&self) -> Vec<&str> {
        let rules = std::iter::once(&self.auth).chain(self.fields.values().map(|field| &field.auth));
        rules.flat_map(|rules| rules.each(AuthAction::Read)).flat_map(|rule| rule.attributes()).collect()
    }

    /// The field with the time at which items of the type expire; `None` if they do not, or if no field has it.
    pub fn time_field(&self) -> Option<&String> {
        let TypeKind::Item(ItemKeys { expires: Some(time), .. }) = &self.kind else { return None };
        self.fields.keys().find(|field| self.stored(field).is_some_and(|own| own.attribute.as_ref() == Some(time)))
    }

    /// The stored field of that name.
    pub fn stored(&self, field: &str) -> Option<&Stored> {
        match &self.fields.get(field)?.kind {
            FieldKind::Stored(stored) => Some(stored),
            _ => None,
        }
    }
}
