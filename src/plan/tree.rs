//! The plan of an operation as plain data: reads in waves, and the shape of the response that they feed.
//!
//! A read is made once for each row of its *row space*. Space 0 is the operation itself and has one row; every read that can give
//! several items opens a space whose rows are these items; a list of embedded objects with finds inside opens one too. A read that
//! gives at most one item opens none: its items stand beside the rows of the space it is made for. Where items can be of several types, the
//! rows of each type are a space of their own.

use crate::schema::condition::Condition;
use crate::schema::model::{Access, Stored};
use crate::schema::spread::{Reading, SpreadKind};
use crate::schema::template::Template;
use crate::schema::value_type::ValueType;
use apollo_compiler::ast::Type;
use apollo_compiler::{Node, ast::Value as Literal};
use indexmap::IndexMap;
use std::sync::Arc;

/// Position of a read in [`Plan::reads`].
pub type ReadId = usize;
/// Position of a row space in [`Plan::spaces`].
pub type SpaceId = usize;
/// Position of a field's arguments in [`Plan::arguments`].
pub type ArgumentsId = usize;

/// What to read, in which order, and how the response is made of it.
#[derive(Debug)]
pub struct Plan {
    /// The reads, parents before children.
    pub reads: Vec<Read>,
    /// The row spaces; the first is the operation's own.
    pub spaces: Vec<Space>,
    /// The arguments of the fields that read, each evaluated once per request.
    pub arguments: Vec<Arguments>,
    /// The reads of each wave, in the order of `reads`.
    pub waves: Vec<Vec<ReadId>>,
    /// The reads that may share a Query.
    pub collections: Vec<Collection>,
    /// The response's data, or the part of it that the step makes.
    pub root: Object,
}

/// What an operation does: one step for a query, one for each root field of a mutation, run one after the other.
#[derive(Debug)]
pub struct Steps {
    /// The steps.
    pub steps: Vec<Step>,
    /// Whether the root selects `__schema` or `__type`.
    pub introspects: bool,
}

/// One step of an operation.
#[derive(Debug)]
pub struct Step {
    /// What is written first.
    pub write: Option<PlannedWrite>,
    /// What is read, and the part of the response that it makes.
    pub plan: Plan,
}

/// The write of a mutation's root field.
#[derive(Debug)]
pub struct PlannedWrite {
    /// The field of `Mutation`, where the model tells its actions.
    pub field: String,
    /// The field's arguments, in the step's plan.
    pub arguments: ArgumentsId,
    /// Where the items that the write gives back are seeded.
    pub result: Option<SpaceId>,
    /// What its `@find` reads.
    pub found: Option<Lookup>,
    /// For each action, what it reads to find its items, and what it deletes beside them.
    pub actions: Vec<ActionLookups>,
}

/// What an action of a write reads beforehand.
#[derive(Debug, Default)]
pub struct ActionLookups {
    /// Its items, where its key does not name them.
    pub target: Option<Lookup>,
    /// The relations that are deleted with it, one for each path of `cascade:`.
    pub cascade: Vec<Cascade>,
}

/// The items at the end of a path of relations, all deleted with the item at its beginning.
#[derive(Debug)]
pub struct Cascade {
    /// By the whole path, from the item at its beginning.
    pub whole: Lookup,
    /// From the items on the path that are deleted as well: the position of the path that leads to them, and the rest of the way.
    pub rests: Vec<(usize, Lookup)>,
}

/// Items that are read for a write: a plan without a response.
#[derive(Debug)]
pub struct Lookup {
    /// The item type.
    pub item: String,
    /// The plan; its first arguments are the mutation field's.
    pub plan: Plan,
    /// Where the items are.
    pub target: Target,
    /// The item types in scope, and where each one's item is seeded.
    pub seeds: Vec<(String, SpaceId)>,
}

/// A set of rows.
#[derive(Debug)]
pub struct Space {
    /// The space whose rows these belong to; `None` for the operation's own.
    pub parent: Option<SpaceId>,
    /// What makes the rows.
    pub origin: Origin,
}

/// What makes the rows of a space.
#[derive(Debug)]
pub enum Origin {
    /// The operation: one row.
    Operation,
    /// The items of a read.
    Read(ReadId),
    /// Of the parent's rows those whose item, as this read found it, is of one type, by its position among the [`Recogniser`]'s.
    Variant(ReadId, usize),
    /// An item that was written or found before the plan runs: it is handed in, and in scope everywhere.
    Seed,
    /// The elements of an embedded list, wherever it stands: in a read's item or in an element of another such list.
    Elements(Holder, Arc<FieldReader>),
}

/// What holds the attribute that a [`FieldReader`] reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Holder {
    /// The item of a read.
    Read(ReadId),
    /// The element of an embedded list, or the seed, that is the row of this space.
    Element(SpaceId),
}

/// The arguments of one field of the operation.
#[derive(Debug, Clone)]
pub struct Arguments {
    /// Argument name → its type and what the document (or else its default) says. Arguments without a value are not in it.
    pub values: IndexMap<String, (Type, ArgumentValue)>,
    /// The names that the document itself gives, defaults not among them.
    pub given: Vec<String>,
    /// Line and column of the field in the document, from 1.
    pub location: (usize, usize),
}

/// What an argument is bound to.
#[derive(Debug, Clone)]
pub enum ArgumentValue {
    /// A literal of the document, variables in it.
    Literal(Node<Literal>),
    /// The schema's default.
    Default(serde_json::Value),
}

/// One read: a Get or a Query for each row of a space.
#[derive(Debug)]
pub struct Read {
    /// The field that wants it, as a field coordinate (`Container.group`); of a `through`, the relation on its path.
    pub coordinate: String,
    /// Of a page, the field whose page it is, as a field coordinate: what its cursors are tied to.
    pub page_of: String,
    /// The item type that is read; of several, `Favorite | Tagging`.
    pub item: String,
    /// How items of the type, or types, are told from others.
    pub recognise: Arc<Recogniser>,
    /// The table, by position in the model.
    pub table: usize,
    /// The index, by position in the table.
    pub index: Option<usize>,
    /// The space for each row of which it is made.
    pub space: SpaceId,
    /// The space that its items make; `None` where it gives one item at most.
    pub yields: Option<SpaceId>,
    /// What is read.
    pub action: Action,
    /// The read that tells whether the parent object is there at all, if there is one.
    pub parent: Option<ReadId>,
    /// Whether it is made only where the parent object is there, and so a wave after it: nothing else hides what it finds.
    pub awaits_parent: bool,
    /// Of a page whose items only lead to its elements: the reads on the way, of which the last tells whether an element is there at all.
    pub elements: Vec<ReadId>,
    /// Whether to read strongly.
    pub consistent: bool,
    /// The attributes that are asked for, sorted, keys among them.
    pub projection: Arc<[String]>,
    /// Of Gets that make a list, the most items that it may have.
    pub max: Option<u32>,
    /// Of Gets that make a list, whether it has an element for each value it was asked for (`[User]`), null for one without an item; else
    /// it has each item once.
    pub answers_each_value: bool,
    /// Of a Get, what its item must meet, and the arguments that this takes. DynamoDB filters Queries only.
    pub filter: Option<(Condition, ArgumentsId)>,
    /// Whether it may be made a wave later: nothing but the response takes anything from it.
    pub may_wait: bool,
    /// The wave that it belongs to, from 1.
    pub wave: usize,
}

/// What a read does.
#[derive(Debug)]
pub enum Action {
    /// The item with a primary key.
    Get(KeyBinding),
    /// The whole of the items that an earlier read found in an index.
    Complete(ReadId),
    /// The items of a partition.
    Query(Box<QueryBinding>),
}

/// The key templates of an access path and what their fields are bound to.
#[derive(Debug)]
pub struct KeyBinding {
    /// The partition key attribute's name.
    pub partition_attribute: String,
    /// The partition key's template; `None` for a Scan.
    pub partition: Option<Template>,
    /// The sort key attribute's name.
    pub sort_attribute: Option<String>,
    /// The sort key's template.
    pub sort: Option<Template>,
    /// Sort keys of other types that are read with it: as much of its beginning is meant as theirs have in common with it.
    pub alike: Vec<Template>,
    /// Item field → source, for every field that is bound by equality.
    pub fields: IndexMap<String, ValueSource>,
    /// Which shards are read, or which replica, if the key has such.
    pub spread: Option<Reading>,
}

impl KeyBinding {
    /// Whether what is bound under this name does not tell which items are read, but only by which of their copies.
    pub fn chooses_replica(&self, name: &str) -> bool {
        self.spread.is_some_and(|Reading { spread, .. }| spread.kind == SpreadKind::Replica && spread.placeholder() == name)
    }
}

/// A Query, or a Scan where the key has no partition template.
#[derive(Debug)]
pub struct QueryBinding {
    /// The key.
    pub key: KeyBinding,
    /// The access path's own description of the sort condition.
    pub access: Access,
    /// The bounds of a range.
    pub range: Option<BoundRange>,
    /// Whether the order is descending.
    pub descending: bool,
    /// How much of it is wanted.
    pub want: Want,
    /// The filter and the arguments it takes.
    pub filter: Option<(Condition, ArgumentsId)>,
    /// Whether the schema has items of other types that the key condition lets in.
    pub others: bool,
}

/// Reads of one partition of a table or an index, all in one wave and for the same rows, that one Query can make together.
#[derive(Debug)]
pub struct Collection {
    /// The reads.
    pub reads: Vec<ReadId>,
    /// Where the items of the schema stand in the partition.
    pub occupants: Vec<Occupant>,
    /// The attributes that all of them ask for, sorted.
    pub projection: Arc<[String]>,
}

/// Where items of a type stand in a partition.
#[derive(Debug, Clone)]
pub struct Occupant {
    /// The text with which all their sort keys begin.
    pub start: String,
    /// Whether there is nothing behind that text.
    pub is_all: bool,
    /// Whether a partition holds one of them at most.
    pub is_single: bool,
}

/// The bounds of a range, bound to sources.
#[derive(Debug)]
pub enum BoundRange {
    /// Lower and upper bound, each with whether it is inclusive.
    Between(Option<(ValueSource, bool)>, Option<(ValueSource, bool)>),
    /// Text that the value begins with.
    BeginsWith(ValueSource),
}

/// How much of a partition is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Want {
    /// The first item.
    First,
    /// Everything, up to a number beyond which it is an error.
    Whole {
        /// That number.
        max: u32,
    },
    /// A page by the paging arguments of a field.
    Page {
        /// The field's arguments.
        arguments: ArgumentsId,
        /// The size of a page.
        sizes: PageSizes,
        /// Whether it is asked if there is more beyond the page.
        probe: bool,
    },
    /// The number of items.
    Count {
        /// Whether they have to be looked at to know which of them are meant; if not, DynamoDB counts them (`Select: COUNT`).
        looked_at: bool,
    },
}

/// How large the pages of a field are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageSizes {
    /// The largest page.
    pub max: u32,
    /// The default that the field declares for `first`.
    pub first: Option<u32>,
    /// The default that the field declares for `last`.
    pub last: Option<u32>,
}

/// Where a value comes from when a plan runs.
#[derive(Debug, Clone)]
pub enum ValueSource {
    /// An argument.
    Argument(ArgumentsId, String),
    /// A field of something that was read.
    Field(Holder, Arc<FieldReader>),
    /// Text made of parts.
    Text(Vec<SourceText>),
}

/// A part of [`ValueSource::Text`].
#[derive(Debug, Clone)]
pub enum SourceText {
    /// As it stands.
    Literal(String),
    /// The text of a value.
    Value(ValueSource),
}

/// How to find a field's value in an item.
#[derive(Debug)]
pub struct FieldReader {
    /// The field's name.
    pub field: String,
    /// The type as declared.
    pub ty: Type,
    /// Where it is kept and how.
    pub stored: Stored,
    /// The templates of the key attributes in `stored.keys`.
    pub templates: Vec<(String, Vec<Template>)>,
}

/// What tells the items of one type, or of several, from others.
#[derive(Debug)]
pub struct Recogniser {
    /// The types. At least one.
    pub types: Vec<Marks>,
}

/// The marks by which an item of a type is known.
#[derive(Debug)]
pub struct Marks {
    /// The item type.
    pub item: String,
    /// The table's key attributes and the templates that their values must be of.
    pub keys: Vec<(String, Vec<Template>)>,
    /// Constant attributes: they must be equal where they are there.
    pub constants: Vec<(String, String)>,
}

/// The selection on one object.
#[derive(Debug)]
pub struct Object {
    /// The object's type; an interface or a union where there are variants.
    pub type_name: String,
    /// The fields in the order of the response; none where there are variants.
    pub fields: Vec<Output>,
    /// Of an object that can be of several types: what is selected on each, with the space of the rows that are of it.
    pub variants: Vec<(SpaceId, Object)>,
}

/// One field of a response object.
#[derive(Debug)]
pub struct Output {
    /// The response key.
    pub key: String,
    /// `"key":`, ready to be written.
    pub label: Box<[u8]>,
    /// Line and column in the document, from 1.
    pub location: (usize, usize),
    /// The type as declared.
    pub ty: Type,
    /// Where the value comes from.
    pub value: OutputValue,
}

/// Where a response field's value comes from.
#[derive(Debug)]
pub enum OutputValue {
    /// `__typename`: the object's type.
    Typename,
    /// `__schema` or `__type`.
    Introspection,
    /// A stored scalar or enum.
    Leaf(Held),
    /// A stored object or list of objects, and the space of its elements where finds stand in them.
    Embedded(Held, Object, Option<SpaceId>),
    /// One object that was read.
    One(Target, Object),
    /// A plain list.
    List(Target, Object),
    /// A connection.
    Page(Target, Vec<PageOutput>),
    /// True: what the field writes is written.
    Done,
    /// Whether there is an item.
    Exists(Target),
    /// How many items there are.
    Count(Target),
}

/// Where a stored value is held.
#[derive(Debug)]
pub enum Held {
    /// In what was read.
    In(Holder, Arc<FieldReader>),
    /// In the map that is being written.
    Here(Arc<FieldReader>),
    /// Nowhere: it is known from elsewhere.
    Known(ValueSource, ValueType),
}

/// The object, or objects, that a find leads to.
#[derive(Debug)]
pub struct Target {
    /// The read whose pages a list or connection is made of; its rows are found under the field's own row.
    pub pages: Option<ReadId>,
    /// The space in which the objects are.
    pub space: SpaceId,
    /// What tells whether an object is there.
    pub presence: Presence,
    /// Whether list elements that are not there keep their place as null (`[User]`), instead of being left out.
    pub keeps_place: bool,
}

/// What tells whether an object is there.
#[derive(Debug, Clone)]
pub enum Presence {
    /// The item of a read.
    Read(ReadId),
    /// A seed of this space.
    Seed(SpaceId),
    /// Values that must not be null: the object is taken to exist where its key is known.
    Values(Vec<ValueSource>),
}

/// A field of a connection.
#[derive(Debug)]
pub struct PageOutput {
    /// The response key.
    pub key: String,
    /// `"key":`, ready to be written.
    pub label: Box<[u8]>,
    /// Line and column in the document, from 1.
    pub location: (usize, usize),
    /// What it is.
    pub part: PagePart,
}

/// A part of a connection or of its edges.
#[derive(Debug)]
pub enum PagePart {
    /// `__typename`.
    Typename(String),
    /// `nodes`.
    Nodes(Type, Object),
    /// `edges`.
    Edges(Type, Vec<PageOutput>),
    /// `node` of an edge.
    Node(Type, Object),
    /// `cursor` of an edge.
    Cursor,
    /// `pageInfo`.
    PageInfo(Vec<PageOutput>),
    /// `hasNextPage` of the page info.
    HasNextPage,
    /// `hasPreviousPage` of the page info.
    HasPreviousPage,
    /// `startCursor` of the page info.
    StartCursor,
    /// `endCursor` of the page info.
    EndCursor,
}
