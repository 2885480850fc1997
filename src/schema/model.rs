//! The checked model of a `schema.graphql`: what the planner reads. Plain data, made by [`super::load`]; everything in it is consistent
//! (names resolve, templates invert, every find has an access path), so later layers look up and do not check again.

use super::condition::Condition;
use super::table::Table;
use super::template::Template;
use super::value_type::ValueType;
use super::write::{Constraint, Rules, Write};
use apollo_compiler::{
    Schema,
    ast::{OperationType, Type},
    validation::Valid,
};
use indexmap::IndexMap;

/// A loaded schema.
#[derive(Debug)]
pub struct Model {
    /// The API as clients see it: without `@inaccessible` parts and without Keyfold's own directives.
    /// Operations are validated and introspected against it.
    pub api: Valid<Schema>,
    /// The tables, in the order of the schema.
    pub tables: Vec<Table>,
    /// Every object type, the root types among them, inaccessible ones too.
    pub types: IndexMap<String, ObjectType>,
    /// `@constraint` on arguments (`Mutation.createUser.name`) and input fields (`FoodInput.name`), by coordinate.
    pub constraints: IndexMap<String, Constraint>,
}

impl Model {
    /// The write of a field of `Mutation` (whatever the root type is called).
    pub fn mutation(&self, field: &str) -> Option<&Write> {
        let root = self.api.root_operation(OperationType::Mutation)?;
        match &self.types.get(root.as_str())?.fields.get(field)?.kind {
            FieldKind::Write(write) => Some(write),
            _ => None,
        }
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
    /// The fields, inaccessible ones too.
    pub fields: IndexMap<String, Field>,
    /// The fields that have a default, each after those that its default is made of.
    pub defaults: Vec<String>,
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
    /// A connection, recognised by its shape, over the named node type.
    Connection(String),
    /// An edge of a connection.
    Edge,
    /// `PageInfo`.
    PageInfo,
}

/// Where the items of a type live.
#[derive(Debug, Clone)]
pub struct ItemKeys {
    /// Position in [`Model::tables`].
    pub table: usize,
    /// Key attribute → the templates that may make its value; the first whose fields are all there is written.
    /// Holds at least the table's own key attributes, and those of each index that the type is in.
    pub keys: IndexMap<String, Vec<Template>>,
    /// Constants that are written with every item and recognised on reading.
    pub constants: Vec<(String, String)>,
    /// Whether an item of another type can have the same primary key, so that only the constants tell which type an item is of.
    pub shares_keys: bool,
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

/// Where a field's value comes from. Fields are few and live as long as the schema, so that the size of the largest kind is no matter.
#[derive(Debug)]
#[allow(clippy::large_enum_variant)]
pub enum FieldKind {
    /// An attribute of the item, or a part of its keys.
    Stored(Stored),
    /// Another item, or several (`@find`).
    Find(Find),
    /// A write of a mutation (`@put`, `@update`, `@delete`, `@check`).
    Write(Box<Write>),
    /// A part of a connection: `nodes`, `edges`, `node`, `cursor`, `pageInfo` and the fields of `PageInfo`.
    Page,
}

/// A stored field: how to find its value in an item and how to read it.
#[derive(Debug, Clone)]
pub struct Stored {
    /// The attribute that holds the value, if there is one; a field that stands only in keys has none.
    pub attribute: Option<String>,
    /// The key attributes whose templates hold the field, the table's own first.
    pub keys: Vec<String>,
    /// How the innermost value is kept and written; lists are told by [`Field::ty`].
    pub value: ValueType,
}

/// What a `@find` field wants, with every way to get it.
#[derive(Debug)]
pub struct Find {
    /// The item type that is read; with `through`, the type of the last hop; of mixed items, their interface or union.
    pub item: String,
    /// What of it comes back.
    pub returns: Returns,
    /// How it is reached.
    pub via: Via,
    /// The condition that found items must meet.
    pub filter: Option<Condition>,
    /// The longest plain list, and the largest page of a connection.
    pub max: u32,
    /// Whether to read strongly.
    pub consistent: bool,
}

impl ObjectType {
    /// The stored field of that name.
    pub fn stored(&self, field: &str) -> Option<&Stored> {
        match &self.fields.get(field)?.kind {
            FieldKind::Stored(stored) => Some(stored),
            _ => None,
        }
    }
}

impl Find {
    /// The access path for the arguments that are present (not null) and the value of the `orderBy` argument; `None` for a find through
    /// relations, for a value that is no order of the find, and for arguments that are [of no use alone](Find::lacking).
    pub fn path(&self, present: &dyn Fn(&str) -> bool, order_by: Option<&str>) -> Option<&AccessPath> {
        let (Via::Keys(paths) | Via::Mixed(Mixed { paths, .. })) = &self.via else { return None };
        // There is a path with each of the optional arguments, so those that matter all stand in some `when`.
        let there: Vec<&String> = paths.iter().flat_map(|path| &path.when).filter(|name| present(name)).collect();
        paths.iter().find(|path| {
            let exact = path.when.iter().all(|name| there.contains(&name)) && there.iter().all(|name| path.when.contains(name));
            exact && path.order_by.as_deref() == order_by
        })
    }

    /// Where the arguments that are present leave out what stands in front of them in the key: those that are, and the fewest that are
    /// missing. Empty lists where no more arguments help.
    pub fn lacking(&self, present: &dyn Fn(&str) -> bool) -> (Vec<&str>, Vec<&str>) {
        let (Via::Keys(paths) | Via::Mixed(Mixed { paths, .. })) = &self.via else { return Default::default() };
        let there = paths.iter().flat_map(|path| &path.when).filter(|name| present(name));
        let more = paths.iter().filter(|path| there.clone().all(|name| path.when.contains(name))).min_by_key(|path| path.when.len());
        more.map(|path| path.when.iter().map(String::as_str).partition(|name| present(name))).unwrap_or_default()
    }
}

/// What comes back of the items that a find reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Returns {
    /// One item or null.
    One,
    /// A plain list, read whole up to [`Find::max`].
    List,
    /// A page.
    Connection,
    /// Whether there is one (`Boolean`).
    Exists,
    /// How many there are (`Int`).
    Count,
}

/// How a find reaches its items.
#[derive(Debug)]
pub enum Via {
    /// By keys: one access path for each combination of optional arguments and each value of an `orderBy` argument.
    Keys(Vec<AccessPath>),
    /// By what the keys of several item types share.
    Mixed(Mixed),
    /// Over relations: field names, the first on the parent's type, each next on the item type of the one before.
    Through(Vec<String>),
}

/// Items of several types that lie together: what a find of an interface or a union reads.
#[derive(Debug)]
pub struct Mixed {
    /// The item types, in the order of their declaration; at least one.
    pub members: Vec<String>,
    /// The table, and the templates that all members' keys begin with, under the names of the first member's fields. It is these that
    /// the positions in the paths count, not the members' own. The constants are empty.
    pub keys: ItemKeys,
    /// One access path for each combination of optional arguments and each value of an `orderBy` argument.
    pub paths: Vec<AccessPath>,
}

/// One way to read a find's items: the table or an index, and how its key is bound.
#[derive(Debug, Clone)]
pub struct AccessPath {
    /// The optional arguments that are present (not null) when this path is taken, in the order of their declaration; required ones
    /// are not listed. Paging and sorting arguments, and arguments used by the filter only, play no part.
    pub when: Vec<String>,
    /// The value of the `orderBy` argument for which this path is taken; `None` where the field has none or it is null.
    pub order_by: Option<String>,
    /// The index that is read, by its position in the table; `None` is the table itself.
    pub index: Option<usize>,
    /// What the key condition says.
    pub access: Access,
    /// Item field → what it is bound to, for the fields that the key condition uses by equality.
    pub bindings: IndexMap<String, Source>,
    /// Item field → the rule by which it is bound, for the same fields.
    pub rules: IndexMap<String, BindingRule>,
    /// Of a find of several types, the other types' sort keys where they write the last bound part differently: of the texts with which all
    /// these keys begin, what is common from the front is read.
    pub alike: Vec<Template>,
    /// Whether the items come in descending order of the sort key, if no `order` argument says otherwise.
    pub descending: bool,
}

/// The key condition of an access path. Templates stand in [`ItemKeys::keys`] of the find's item, or of its [`Mixed`]; `template` is a
/// position in that list.
#[derive(Debug, Clone)]
pub enum Access {
    /// The whole primary key: GetItem. For a list too, one for each value of a list argument, unless there is a filter or an order.
    Get {
        /// Position of the partition key's template.
        partition: usize,
        /// Position of the sort key's template; `None` where the table has no sort key.
        sort: Option<usize>,
    },
    /// One partition, or one for each value of a list argument: Query.
    Query {
        /// Position of the partition key's template.
        partition: usize,
        /// What of the sort key.
        sort: SortAccess,
    },
    /// The whole table or index, only where the author says `scan: true`.
    Scan,
}

/// The sort key's part of a key condition.
#[derive(Debug, Clone)]
pub enum SortAccess {
    /// No condition.
    All,
    /// The whole sort key is bound.
    Equal {
        /// Position of the sort key's template.
        template: usize,
    },
    /// The first `parts` parts of the template are bound, and nothing is said about the rest: `begins_with`.
    Prefix {
        /// Position of the sort key's template.
        template: usize,
        /// How many parts of the template (literals and placeholders) make the prefix.
        parts: usize,
    },
    /// The first `parts` parts are bound and the placeholder that follows them is within a range.
    Range {
        /// Position of the sort key's template.
        template: usize,
        /// How many parts of the template stand before the ranged placeholder.
        parts: usize,
        /// The bounds, over GraphQL values of the ranged field.
        range: Range,
    },
}

/// The bounds of a range. At least one is there.
#[derive(Debug, Clone, PartialEq)]
pub enum Range {
    /// Lower and upper bound, each with whether it is inclusive.
    Between {
        /// The lower bound and whether the value itself is in.
        lower: Option<(Source, bool)>,
        /// The upper bound and whether the value itself is in.
        upper: Option<(Source, bool)>,
    },
    /// Text that the value begins with; [`Template::render_begins_with`] writes it.
    BeginsWith(Source),
}

/// Where a bound value comes from.
#[derive(Debug, Clone, PartialEq)]
pub enum Source {
    /// An argument of the field; a list here means one key, or one range, for each of its values. A field of an input object is dotted:
    /// `input.name`.
    Argument(String),
    /// A stored field of the parent object.
    Parent(String),
    /// Text made of literals and other sources: `where: { id: "user-{userId}" }`.
    Text(Vec<TextPart>),
    /// In a mutation: a field of the item of that type that was found or put before.
    Item(String, String),
}

/// The rule by which a field of the target is bound, in the order in which the rules are tried (docs/language.md, "Binding").
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum BindingRule {
    /// `where:` binds it.
    Where,
    /// An argument of its name.
    Argument,
    /// An argument named `<target><Field>`.
    TargetArgument,
    /// A field of the parent named `<field><TargetField>`: for `author`, `authorId` is `User.id`.
    FieldName,
    /// A field of the parent, seen as `<parent><Field>`: in `Group`, `id` is `Membership.groupId`.
    ParentName,
    /// A field of the parent named `<target><Field>`: in `Membership`, `groupId` is `Group.id`.
    TargetName,
    /// A field of the parent of the same name.
    SameName,
}

/// A part of [`Source::Text`].
#[derive(Debug, Clone, PartialEq)]
pub enum TextPart {
    /// As it stands.
    Literal(String),
    /// The value of a source, as text.
    Value(Source),
}
