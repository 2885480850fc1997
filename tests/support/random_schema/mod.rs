//! A seed → a random schema: its text, and the same schema as plain data. With the data a test can say what a request
//! means without any of Keyfold's own code. Must not know the crate.
//!
//! [`Schema::random`] makes a schema. [`Schema::sdl`] is its text. [`values`] makes random values and items of a type,
//! times in the forms of [`forms`]. [`keys`] renders an item's attributes. [`writes`] makes the fields of `Mutation`.
//! [`reads`] makes those of `Query`, and the relations. [`rules`] makes `@auth` and callers. A schema and everything
//! made of it follow from the seed alone. [`maps`] adds maps, and [`computed`] adds computed fields.
//!
//! Types come in families: a root such as `Ant`, its children such as `Bee` with an `antId`, and their children. A twin
//! has the key templates of another type and other constants.

#![allow(dead_code, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

pub mod computed;
pub mod forms;
pub mod keys;
pub mod maps;
pub mod mutations;
pub mod reads;
pub mod rules;
pub mod sdl;
pub mod types;
pub mod values;
pub mod writes;

pub use fastrand::Rng;
use serde_json::Value;

/// Which parts of the language a schema may use. Everything is on by default, except `guarded`, `rules`
/// and `idempotent`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dimensions {
    /// Types with the same key templates, distinguished by constants.
    pub twins: bool,
    /// `{shard:n}`.
    pub shards: bool,
    /// `{shard:08..11}`, whose numbers another program assigns.
    pub assigned: bool,
    /// Such numbers follow no rule, so that two shards may have items of one key.
    pub any_numbers: bool,
    /// `{replica:n}`.
    pub replicas: bool,
    /// Lists of templates.
    pub alternatives: bool,
    /// Texts in lower case in keys.
    pub cases: bool,
    /// Keys of indexes that are not read back.
    pub unread: bool,
    /// Keys of indexes under a condition.
    pub conditions: bool,
    /// A second table, without a sort key.
    pub second_table: bool,
    /// Indexes that hold keys only.
    pub keys_only: bool,
    /// Defaults made of other fields that have defaults, in any order.
    pub chained_defaults: bool,
    /// `upsert: true`.
    pub upserts: bool,
    /// `@constraint` on fields that an expression sets.
    pub constrained_expressions: bool,
    /// Deletes whose field is never null.
    pub certain_deletes: bool,
    /// Writes of values that `@find` read: items with a number that another item gives out, and items that move.
    pub found_values: bool,
    /// `cascade:`.
    pub cascades: bool,
    /// Optional arguments of expressions, for key fields and unique fields.
    pub absent_in_expressions: bool,
    /// Indexes that writes of a whole partition could read instead of the table.
    pub indexes_for_many: bool,
    /// Only writes that keep items together with their parents: puts check that the parent exists, and deletes also
    /// delete everything that belongs to the item.
    pub guarded: bool,
    /// Deletes, and items that move.
    pub deletes: bool,
    /// `many: true`.
    pub many: bool,
    /// Nullable fields with a default, in items that move.
    pub found_nulls: bool,
    /// Nullable arguments of `many: true` for never-null fields with a default.
    pub nulls_of_many: bool,
    /// Maps by a field, and maps of numbers.
    pub maps: bool,
    /// Rules, and callers with claims.
    pub rules: bool,
    /// `@idempotent` on every mutation that may have it. Nothing is drawn for it.
    pub idempotent: bool,
}

impl Default for Dimensions {
    fn default() -> Self {
        Self {
            twins: true,
            shards: true,
            assigned: true,
            any_numbers: true,
            replicas: true,
            alternatives: true,
            cases: true,
            unread: true,
            conditions: true,
            second_table: true,
            keys_only: true,
            chained_defaults: true,
            upserts: true,
            constrained_expressions: true,
            certain_deletes: true,
            found_values: true,
            cascades: true,
            absent_in_expressions: true,
            indexes_for_many: true,
            deletes: true,
            many: true,
            found_nulls: true,
            guarded: false,
            nulls_of_many: true,
            maps: true,
            rules: false,
            idempotent: false,
        }
    }
}

/// A schema as plain data.
#[derive(Debug, Clone)]
pub struct Schema {
    pub tables: Vec<Table>,
    pub types: Vec<ItemType>,
    /// The fields of `Query`.
    pub queries: Vec<reads::Read>,
    /// The fields of `Mutation`.
    pub mutations: Vec<mutations::Mutation>,
    /// How many of these, at the end, are about maps.
    pub of_maps: usize,
    /// Who may read and write; none lets everybody.
    pub rules: Vec<rules::Rule>,
    /// Whether mutations have `@idempotent`, and tables a time to live.
    pub idempotent: bool,
}

/// A table: the names of its key attributes and its indexes.
#[derive(Debug, Clone)]
pub struct Table {
    pub name: String,
    pub partition: String,
    pub sort: Option<String>,
    pub indexes: Vec<Index>,
}

/// An index: a local one has the table's partition key.
#[derive(Debug, Clone)]
pub struct Index {
    pub name: String,
    pub partition: String,
    pub sort: Option<String>,
    /// Whether the sort key is a number.
    pub number: bool,
    pub local: bool,
    pub keys_only: bool,
}

/// A type with `@item`.
#[derive(Debug, Clone)]
pub struct ItemType {
    pub name: String,
    /// The position of its table.
    pub table: usize,
    /// Key attributes with their alternatives.
    pub keys: Vec<(String, Vec<Template>)>,
    /// `when:` of keys of indexes.
    pub conditions: Vec<(String, When)>,
    /// `attributes:`, the constants: texts, numbers and Booleans.
    pub constants: Vec<(String, Value)>,
    /// The stored fields in the order of the text.
    pub fields: Vec<Field>,
    pub relations: Vec<reads::Read>,
    /// The position of the type that its `<parent>Id` names.
    pub parent: Option<usize>,
}

/// The condition of a key.
#[derive(Debug, Clone, PartialEq)]
pub enum When {
    Equal(String, Value),
    AtLeast(String, i64),
    Present(String),
    Missing(String),
}

impl When {
    /// The field that it is about.
    pub fn field(&self) -> &str {
        match self {
            Self::Equal(field, _) | Self::AtLeast(field, _) | Self::Present(field) | Self::Missing(field) => field,
        }
    }
}

/// A key template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template(pub Vec<Part>);

/// A part of a template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    Text(String),
    Field(String),
    /// A number, padded with zeros to this many digits.
    Padded(String, usize),
    /// A text in lower case: in keys of indexes always of `note`, and in all keys of some types of `shelf`.
    Lower(String),
    /// The year of a time, which says less than the field.
    Year(String),
    Shard(u64),
    Replica(u64),
    /// One of the [numbers](keys::ASSIGNED) that another program assigns.
    Assigned,
}

/// A stored field.
#[derive(Debug, Clone)]
pub struct Field {
    pub name: String,
    pub kind: Kind,
    pub non_null: bool,
    /// `@attribute(name:)`.
    pub attribute: Option<String>,
    pub default: Option<Default_>,
    pub unique: bool,
    pub version: bool,
    pub constraint: Option<Constraint>,
}

/// What a field holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Id,
    Text,
    Int,
    Flag,
    /// The enum `Status`: `OPEN`, stored as `open`, and `DONE`.
    Status,
    /// `[String!]` stored as a set.
    Set,
    /// `[String!]`.
    Log,
    /// A list of embedded objects of the type `<Item>Part`: `id: ID!`, `text: String`, `count: Int!` with the default
    /// 0.
    Parts,
    /// One such object; only arguments have this kind.
    Part,
    /// A list of such objects, stored as a map by their ids.
    Tally,
    /// A list of embedded objects of the type `<Item>Count`, `day: String!` and `n: Int!`, stored as a map of numbers.
    Counts,
    /// The number of an item's shard, if another program assigns it; only arguments have this kind.
    Number,
    /// A time in one of the [forms](forms::FORMS).
    Time(usize),
    /// `Int` that is kept as text.
    TextInt,
    /// `Boolean` that is kept as a number.
    NumberFlag,
    /// `ID` that is kept as a number.
    NumberId,
    /// A text of one of the [scalars of AppSync](values::AWS_TEXTS).
    AwsText(usize),
    /// `AWSTimestamp`.
    Stamp,
}

/// `@default`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Default_ {
    pub parts: Vec<DefaultPart>,
    /// `on: WRITE`.
    pub every_write: bool,
}

/// A part of a default's text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DefaultPart {
    Text(String),
    Field(String),
}

/// `@constraint`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Constraint {
    /// `max:` of a number.
    Max(i64),
    /// `maxLength:` of a text.
    MaxLength(usize),
}

impl Schema {
    /// The schema of a seed.
    pub fn random(seed: u64, dimensions: &Dimensions) -> Self {
        let mut rng = Rng::with_seed(seed);
        let (tables, mut types) = types::random(&mut rng, dimensions);
        if dimensions.cases {
            types::lower_shelves(&mut Rng::with_seed(seed ^ 0x6c6f_7765), &mut types);
        }
        let mut schema = Self {
            tables,
            types,
            queries: Vec::new(),
            mutations: Vec::new(),
            of_maps: 0,
            rules: Vec::new(),
            idempotent: false,
        };
        schema.queries = reads::queries(&mut rng, &schema);
        for position in 0..schema.types.len() {
            schema.types[position].relations = reads::relations(&mut rng, &schema, position);
        }
        schema.mutations = writes::random(&mut rng, &schema, dimensions);
        schema.idempotent = dimensions.idempotent;
        if dimensions.conditions {
            schema.queries.extend(reads::conditional(&mut Rng::with_seed(seed ^ 0x7768_656e), &schema));
        }
        if dimensions.maps && !dimensions.guarded {
            maps::add(&mut Rng::with_seed(seed ^ 0x6d61_7073), &mut schema);
        }
        schema
    }

    /// The types whose parent is this one.
    pub fn children(&self, parent: usize) -> impl Iterator<Item = usize> {
        (0..self.types.len()).filter(move |child| self.types[*child].parent == Some(parent))
    }

    /// The table of a type.
    pub fn table_of(&self, ty: &ItemType) -> &Table {
        &self.tables[ty.table]
    }
}

impl Table {
    /// The attributes of the primary key.
    pub fn primary(&self) -> impl Iterator<Item = &str> {
        std::iter::once(self.partition.as_str()).chain(self.sort.as_deref())
    }
}

impl Kind {
    /// Whether it is a list that is stored as a map. Values of it are in the order of their keys.
    pub fn is_map(self) -> bool {
        matches!(self, Self::Tally | Self::Counts)
    }

    /// The field whose values are the keys of a map.
    pub fn map_key(self) -> &'static str {
        if self == Self::Counts { "day" } else { "id" }
    }
}

impl ItemType {
    /// A stored field.
    pub fn field(&self, name: &str) -> &Field {
        self.fields.iter().find(|field| field.name == name).unwrap_or_else(|| panic!("{} has no {name}", self.name))
    }

    /// A stored field, if there is one of this name.
    pub fn get(&self, name: &str) -> Option<&Field> {
        self.fields.iter().find(|field| field.name == name)
    }

    /// The templates of a key attribute.
    pub fn key(&self, attribute: &str) -> Option<&[Template]> {
        self.keys.iter().find(|(name, _)| name == attribute).map(|(_, templates)| templates.as_slice())
    }

    /// The fields in the table's own key, in their order.
    pub fn key_fields(&self, table: &Table) -> Vec<&str> {
        let mut fields: Vec<&str> = Vec::new();
        for template in table.primary().filter_map(|attribute| self.key(attribute)).flatten() {
            fields.extend(template.fields().into_iter().filter(|field| !fields.contains(field)).collect::<Vec<_>>());
        }
        fields
    }

    /// Whether some key attribute has the field in its template.
    pub fn in_keys(&self, field: &str) -> bool {
        self.keys.iter().flat_map(|(_, templates)| templates).any(|template| template.fields().contains(&field))
    }

    /// Whether some key attribute changes with the field: it is in its template or its condition.
    pub fn decides_keys(&self, field: &str) -> bool {
        self.in_keys(field) || self.conditions.iter().any(|(_, when)| when.field() == field)
    }

    /// Its name as a prefix of other types' fields: `ant` of `Ant`.
    pub fn small(&self) -> String {
        self.name.to_lowercase()
    }

    /// The name of the embedded type of its map of numbers.
    pub fn count(&self) -> String {
        format!("{}Count", self.name)
    }

    /// The name of its embedded type.
    pub fn part(&self) -> String {
        format!("{}Part", self.name)
    }
}

impl Template {
    /// The fields of the placeholders, each once.
    pub fn fields(&self) -> Vec<&str> {
        let mut fields: Vec<&str> = Vec::new();
        for part in &self.0 {
            if let Part::Field(field) | Part::Padded(field, _) | Part::Lower(field) | Part::Year(field) = part
                && !fields.contains(&field.as_str())
            {
                fields.push(field);
            }
        }
        fields
    }
}

/// True in this percentage of cases.
pub fn chance(rng: &mut Rng, percent: u8) -> bool {
    rng.u8(..100) < percent
}

/// One of several.
pub fn pick<'t, T>(rng: &mut Rng, several: &'t [T]) -> &'t T {
    &several[rng.usize(..several.len())]
}
