//! What the fields of `Mutation` write: the checked model of `@put`, `@update`, `@delete` and `@check`, and of the rules on written
//! values. Plain data; must not know how it is run.

use super::condition::{Condition, Operand, Path, Segment};
use super::model::{Find, Source};
use indexmap::IndexMap;

/// All that one mutation field does: its actions are one write.
#[derive(Debug)]
pub struct Write {
    /// `@find` on the field: read first, and in scope as its item type's name.
    pub find: Option<Find>,
    /// The actions, in the order of the directives.
    pub actions: Vec<Action>,
    /// What the field gives back.
    pub returns: WriteReturns,
    /// Fields of the found item that the actions copy or name: when the write is made, they are still as they were found.
    pub held: Vec<String>,
    /// Whether a condition or an expression names fields of the found item (`:Repo.nextNumber`). They then stand among the arguments, as
    /// an object under the type's name.
    pub names_found: bool,
}

/// What a mutation field gives back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WriteReturns {
    /// `Boolean`: true, once it is written.
    Done,
    /// The item of an action, by its position: as it is after a put or an update, as it was before a delete.
    Item(usize),
    /// A list of the items of an action with `many: true`.
    Items(usize),
    /// What the `@find` found.
    Found,
}

/// One action.
#[derive(Debug)]
pub struct Action {
    /// The item type.
    pub item: String,
    /// What is done.
    pub kind: ActionKind,
    /// How the item is found: what its key fields are bound to.
    pub target: WriteTarget,
    /// Field → what is written to it. Of a put, every stored field that is bound or has a default, those in keys too; of an update,
    /// the fields that its arguments bring (key fields that only find the item are not in it) and those that every write renews
    /// (`@default(on: WRITE)`; with an expression, unless that changes them). With `at`, fields of the element.
    ///
    /// A `@version` field is never written from here. Under its name stands, in an update, a delete or a check of a whole item, the
    /// version that the caller has seen, if an argument brings one (null: any).
    ///
    /// The value of an embedded field may lack what its type's fields have a default for ([`super::model::Field::rules`]).
    pub values: IndexMap<String, WrittenValue>,
    /// The element of a list inside the item that is put, updated or deleted.
    pub at: Option<Element>,
    /// `if:`, in the attribute names of the item. Arguments of input objects are dotted: `:input.name`.
    pub condition: Option<Condition>,
    /// What the caller is told where the condition does not hold.
    pub message: Option<String>,
}

/// What an action does.
#[derive(Debug)]
pub enum ActionKind {
    /// Creates the item, or with `replace` writes it over what is there.
    Put {
        /// Whether an item that is there is written over.
        replace: bool,
    },
    /// Changes the item.
    Update {
        /// Whether it is made where it is not there; then by its whole key, and with the defaults of its fields' rules.
        upsert: bool,
        /// The expression; without one, the action's values are set (absent stays, null removes).
        expression: Option<Update>,
    },
    /// Removes the item.
    Delete {
        /// Relations whose items go too: paths of relation fields on the item type.
        cascade: Vec<Vec<String>>,
    },
    /// Only holds the condition.
    Check,
}

/// How an action finds its item.
#[derive(Debug)]
pub enum WriteTarget {
    /// By its whole primary key: item field → source, for every field in the templates of the table's keys. Of a put, these fields are
    /// in its values instead, and the map is empty; a put with `at` finds its item as the others do.
    Key(IndexMap<String, Source>),
    /// It is read first, by an access path that is no Get: a unique prefix of the key, or an index. With `many`, all that is found.
    Read {
        /// How it is read; its sources are arguments and items in scope.
        find: Box<Find>,
        /// `many: true`.
        many: bool,
    },
}

/// What is written to a field.
#[derive(Debug, Clone)]
pub struct WrittenValue {
    /// Where the value comes from; `None` if only from the default.
    pub source: Option<Source>,
    /// What is written where the source brings nothing: an argument that is not given (an explicit null is null). A list that is never
    /// null has the default `[]`, the empty list.
    pub default: Option<DefaultValue>,
}

/// An element of an embedded list: `foods`, or `foods[id = :foodId]`.
#[derive(Debug, Clone)]
pub struct Element {
    /// The list's field in the item type.
    pub field: String,
    /// The attribute that holds the list.
    pub attribute: String,
    /// The elements' type.
    pub element: String,
    /// The element's field by which one is named, its stored attribute, and what it must be equal to; `None` where one is appended.
    pub by: Option<(String, String, Source)>,
}

/// A default value of a field.
#[derive(Debug, Clone, PartialEq)]
pub struct DefaultValue {
    /// The parts, joined as text.
    pub parts: Vec<DefaultPart>,
    /// The function whose lower-case hex digest of the text is the value.
    pub hash: Option<HashFunction>,
    /// Whether it is made at every write, not just when the item is created.
    pub every_write: bool,
}

impl DefaultValue {
    /// The fields that it is made of.
    pub fn fields(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().filter_map(|part| match part {
            DefaultPart::Field(field) => Some(field.as_str()),
            _ => None,
        })
    }

    /// Whether it is another value each time that it is made, whatever the other fields are.
    pub fn varies(&self) -> bool {
        self.parts.iter().any(|part| matches!(part, DefaultPart::Uuid | DefaultPart::Uuid7 | DefaultPart::Now { .. }))
    }
}

/// A part of a default.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DefaultPart {
    /// Text as it stands; a default of a single literal is read as a value of the field's type.
    Literal(String),
    /// `{uuid}`: a random UUID (version 4).
    Uuid,
    /// `{uuid7}`: a UUID ordered by time (version 7).
    Uuid7,
    /// `{now}`, `{now+24h}`: the time of the request and some seconds more (or less).
    Now {
        /// Seconds to add.
        offset: i64,
    },
    /// `{field}`: another field of the item, as text.
    Field(String),
}

/// A hash function of a default.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HashFunction {
    /// MD5.
    Md5,
    /// SHA-256.
    Sha256,
}

/// The rules of a stored field (`@default`, `@constraint`, `@unique`, `@version`).
#[derive(Debug, Clone, Default)]
pub struct Rules {
    /// `@default`.
    pub default: Option<DefaultValue>,
    /// `@constraint`.
    pub constraint: Option<Constraint>,
    /// `@unique`: no two items of the type have the same value.
    pub unique: bool,
    /// `@version`: 1 when created, one more at every update.
    pub version: bool,
}

/// What a value must be (`@constraint`). Lengths are in characters (Unicode scalar values).
#[derive(Debug, Clone, Default)]
pub struct Constraint {
    /// The least length.
    pub min_length: Option<u64>,
    /// The greatest length.
    pub max_length: Option<u64>,
    /// A regular expression that the whole text must match.
    pub pattern: Option<String>,
    /// A named form.
    pub format: Option<Format>,
    /// The least number.
    pub min: Option<f64>,
    /// The greatest number.
    pub max: Option<f64>,
}

/// A named form of text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// An e-mail address, as HTML's `<input type=email>` takes it.
    Email,
    /// An absolute http or https URL.
    Url,
    /// A UUID.
    Uuid,
}

/// An update expression over an item's stored attributes
/// (DynamoDB developer guide, "Using update expressions in DynamoDB").
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Update {
    /// `SET path = value`.
    pub set: Vec<(Path, SetValue)>,
    /// `REMOVE path`.
    pub remove: Vec<Path>,
    /// `ADD path value`: a number to a number, elements to a set.
    pub add: Vec<(Path, Operand)>,
    /// `DELETE path value`: elements from a set.
    pub delete: Vec<(Path, Operand)>,
    /// The item's fields that it changes, each once; and for those that it sets to a plain value, the operand (null: it removes them).
    /// A field that stands only in the key of an index is here and in no clause: its key is to be written anew.
    pub changes: IndexMap<String, Option<Operand>>,
}

/// What an attribute is set to.
#[derive(Debug, Clone, PartialEq)]
pub enum SetValue {
    /// A value or another attribute; a literal may be `[]`.
    Operand(Operand),
    /// `a + b`
    Plus(Box<SetValue>, Box<SetValue>),
    /// `a - b`
    Minus(Box<SetValue>, Box<SetValue>),
    /// `if_not_exists(path, value)`
    IfNotExists(Path, Box<SetValue>),
    /// `list_append(a, b)`
    ListAppend(Box<SetValue>, Box<SetValue>),
}

impl Update {
    /// Whether the update leaves an item the same however often it is made: it counts nothing, appends nothing, takes no value from
    /// another attribute and removes no position of a list, behind which the others move up.
    pub fn has_same_effect_twice(&self) -> bool {
        let is_element = |path: &Path| path.segments.iter().any(|segment| matches!(segment, Segment::Index(_)));
        let plain = |value: &SetValue| match value {
            SetValue::Operand(operand) => !matches!(operand, Operand::Path(_) | Operand::Size(_)),
            SetValue::IfNotExists(_, value) => matches!(&**value, SetValue::Operand(operand) if !matches!(operand, Operand::Path(_))),
            _ => false,
        };
        self.add.is_empty() && self.set.iter().all(|(_, value)| plain(value)) && !self.remove.iter().any(is_element)
    }
}
