//! Where the items of a type live: their table, key templates and constants. Plain data.

use crate::schema::expression::claim::ClaimPath;
use crate::schema::scalar::form::Form;
use crate::schema::scalar::value_type::ValueType;
use crate::schema::table::{KeyType, Table};
use crate::schema::template::Template;
use indexmap::IndexMap;
use std::fmt;
use std::sync::Arc;

/// Where the items of a type live.
#[derive(Debug, Clone)]
pub struct ItemKeys {
    /// Position in [`Model::tables`](crate::schema::model::Model::tables).
    pub table: usize,
    /// Key attribute → the templates that may make its value. A write uses the first whose fields all have a value.
    /// Holds at least the table's own key attributes, and those of each index that the type is in.
    pub keys: IndexMap<String, Vec<Template>>,
    /// Constants that are written with every item and recognised on reading.
    pub constants: Vec<(String, ConstantValue)>,
    /// Whether an item of another type can have the same primary key, so that only the constants tell which type an
    /// item is of.
    pub shares_keys: bool,
    /// The more specific of the types that share keys: every key of theirs is one of this type, too, and not the
    /// reverse. An item with such a key is of that type, unless its constants say otherwise.
    pub narrower: Vec<Arc<NarrowerType>>,
    /// The primary key, if constraints of fields distinguish it from the keys of other types: a key whose values break
    /// them is not of this type.
    pub limited: Option<Arc<PrimaryKey>>,
    /// The attribute with the time after which an item is not there; `None` if the type's items do not expire, or are
    /// shown until they are deleted.
    pub expires: Option<String>,
}

/// The value of a constant attribute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConstantValue {
    /// A text.
    Text(String),
    /// A number, in its one canonical spelling.
    Number(String),
    /// True or false.
    Boolean(bool),
}

impl fmt::Display for ConstantValue {
    /// As the schema has it.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => write!(formatter, "{text:?}"),
            Self::Number(number) => formatter.write_str(number),
            Self::Boolean(boolean) => write!(formatter, "{boolean}"),
        }
    }
}

/// A type that is more specific than another, as `ORDER#{orderId}#ITEM#{number:03}` is than `ORDER#{id}`.
#[derive(Debug)]
pub struct NarrowerType {
    /// Its name.
    pub item: String,
    /// Its primary key.
    pub key: PrimaryKey,
    /// Its constants.
    pub constants: Vec<(String, ConstantValue)>,
}

/// The beginning of the partition key of each guard of a `@unique` value.
pub const GUARD_MARK: &str = "Unique#";
/// The same of OneTable's guards.
const ONE_TABLE_GUARD_MARK: &str = "_unique#";

/// The beginning of the partition key of each record of a mutation with `@idempotent`.
pub const RECORD_MARK: &str = "Idempotent#";

/// The attributes of such a record beside its key and its time: the fingerprint of the request, its items, the
/// fingerprint of what it gives services, and why it was refused after that. No key of an index has their names.
pub const RECORD_ATTRIBUTES: [&str; 4] =
    ["idempotentRequest", "idempotentItems", "idempotentCalls", "idempotentRefusal"];

/// Whether a partition key is that of a record of a mutation with `@idempotent`, which is an item of no type.
pub fn is_record_key(partition: &str) -> bool {
    partition.starts_with(RECORD_MARK)
}

/// Whether a partition key is that of a guard, Keyfold's own or OneTable's. A guard is an item of no type.
pub fn is_guard_key(partition: &str) -> bool {
    [GUARD_MARK, ONE_TABLE_GUARD_MARK].iter().any(|mark| partition.starts_with(mark))
}

/// The primary key of a type: what an item's key attributes must look like.
#[derive(Debug, Clone)]
pub struct PrimaryKey {
    /// The key attributes of the table, each with the templates that its value must match.
    pub attributes: Vec<(String, Vec<Template>)>,
    /// Whether a field or a claim stands in both attributes. It has the same value in both.
    pub repeats: bool,
    /// Whether constraints of fields distinguish its keys from those of other types.
    pub has_limits: bool,
    /// Whether a value in it may be in a spelling that Keyfold would not write.
    pub has_spellings: bool,
}

impl PrimaryKey {
    /// The primary key of these attributes.
    pub fn new(table: &Table, attributes: Vec<(String, Vec<Template>)>) -> Self {
        let holds = |templates: &[Template], field: &str| {
            templates.iter().any(|template| template.placeholders().any(|own| own == field))
        };
        let repeats = match attributes.as_slice() {
            [(_, first), (_, second)] => {
                first.iter().flat_map(Template::placeholders).any(|field| holds(second, field))
            }
            _ => false,
        };
        let is_number = |name: &str| table.primary_key().any(|key| key.name == name && key.kind == KeyType::N);
        let has_spellings = |(name, templates): &(String, Vec<Template>)| {
            is_number(name) || templates.iter().any(Template::has_spellings)
        };
        let has_spellings = attributes.iter().any(has_spellings);
        let has_limits = attributes.iter().flat_map(|(_, templates)| templates).any(Template::has_limits);
        Self { attributes, repeats, has_limits, has_spellings }
    }

    /// The names of its attributes.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.attributes.iter().map(|(name, _)| name.as_str())
    }
}

impl ItemKeys {
    /// The fields in the templates of the table's own keys, each once.
    pub fn primary_fields(&self, table: &Table) -> Vec<&str> {
        let mut fields: Vec<&str> = Vec::new();
        let templates = table.primary_key().filter_map(|key| self.keys.get(&key.name)).flatten();
        for field in templates.flat_map(|template| template.fields()) {
            if !fields.contains(&field) {
                fields.push(field);
            }
        }
        fields
    }

    /// How each placeholder of a field has its value, in all keys.
    pub fn placeholders_of<'k>(&'k self, name: &str) -> impl Iterator<Item = &'k ValueType> {
        self.keys.values().flatten().flat_map(move |template| template.values_of(name))
    }

    /// The case in which the keys have a field, if they have it in one: the checker makes sure that all have the same.
    pub fn case_of(&self, field: &str) -> Option<&Form> {
        self.placeholders_of(field).find_map(ValueType::case)
    }

    /// The claims of the caller in the keys, each once. The checker makes sure that the primary key has all of them.
    pub fn claims(&self) -> Vec<ClaimPath> {
        let mut claims: Vec<ClaimPath> = Vec::new();
        for claim in self.keys.values().flatten().flat_map(Template::claims) {
            if !claims.contains(&claim) {
                claims.push(claim);
            }
        }
        claims
    }

    /// The primary key.
    pub fn primary(&self, table: &Table) -> PrimaryKey {
        let templates =
            table.primary_key().filter_map(|key| Some((key.name.clone(), self.keys.get(&key.name)?.clone())));
        PrimaryKey::new(table, templates.collect())
    }

    /// Whether an attribute is a constant.
    pub fn is_constant(&self, attribute: &str) -> bool {
        self.constants.iter().any(|(name, _)| name == attribute)
    }

    /// The attributes beside the keys that tell which type an item is of.
    pub fn telling(&self) -> impl Iterator<Item = &str> {
        let narrower = self.narrower.iter().flat_map(|narrower| &narrower.constants);
        self.constants.iter().chain(narrower).map(|(name, _)| name.as_str())
    }
}
