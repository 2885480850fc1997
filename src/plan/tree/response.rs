//! The shape of the response: objects, lists, connections and scalars, in the order of the selection, each with where
//! its value comes from. Must not know how anything is read.

use super::ids::{GuardId, ReadId, SpaceId};
use super::value::{FieldReader, Holder, IdArgument, ValueSource};
use crate::schema::model::ComputedField;
use crate::schema::scalar::global_id::GlobalId;
use crate::schema::scalar::value_type::ValueType;
use apollo_compiler::ast::Type;
use std::sync::Arc;

/// The selection on one object.
#[derive(Debug)]
pub struct Object {
    /// The object's type; an interface or a union where there are variants.
    pub type_name: String,
    /// The guard of the object, if the rules of its type need the item.
    pub guard: Option<GuardId>,
    /// The fields in the order of the response; none where there are variants.
    pub fields: Vec<Output>,
    /// If the object can have several types: the selection on each, with the space of the rows of that type.
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
    /// The guard of the field, if it has one of its own.
    pub guard: Option<GuardId>,
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
    Leaf(ValueLocation),
    /// A stored object or list of objects, with the space of its elements if finds are selected in them.
    Embedded(ValueLocation, Object, Option<SpaceId>),
    /// One object that was read.
    One(ObjectSource, Object),
    /// The items of global ids: one object, or a list with one for each id.
    Nodes(NodesOutput),
    /// The global id of an item, with the sources of the values that it is made of.
    GlobalId(Arc<GlobalId>, Vec<ValueSource>),
    /// A computed text or number, with the places of the fields of which it is, in their order.
    Computed(Arc<ComputedField>, Vec<ValueLocation>),
    /// A plain list.
    List(ObjectSource, Object),
    /// A connection.
    Page(ObjectSource, Vec<PageOutput>),
    /// `true`: the field's write is done.
    Done,
    /// An object of what the field's write returns.
    Payload(Object),
    /// Whether there is an item.
    Exists(ObjectSource, Option<GuardId>),
    /// How many items there are.
    Count(ObjectSource),
}

/// The items of global ids, of several types.
#[derive(Debug)]
pub struct NodesOutput {
    /// The argument with the ids.
    pub ids: Arc<IdArgument>,
    /// The space whose rows are the ids.
    pub space: SpaceId,
    /// The item as each type that an id can name.
    pub types: Vec<NodeOutput>,
}

/// An item of a type that a global id names.
#[derive(Debug)]
pub struct NodeOutput {
    /// The guard of the type's rules that need no item.
    pub guard: Option<GuardId>,
    /// Where the item comes from. Its space has a row for each id that names the type.
    pub target: ObjectSource,
    /// The selection on it.
    pub object: Object,
}

/// Where a stored value is held.
#[derive(Debug)]
pub enum ValueLocation {
    /// In an item that was read, or in a row that was handed in.
    In(Holder, Arc<FieldReader>),
    /// In the embedded object that is being written to the response.
    Here(Arc<FieldReader>),
    /// In no item: another value of the request determines it.
    Known(ValueSource, ValueType),
}

/// Where the objects of a find come from.
#[derive(Debug, Clone)]
pub struct ObjectSource {
    /// The read whose items make the list or page. Its rows belong to the field's own row.
    pub pages: Option<ReadId>,
    /// The space in which the objects are.
    pub space: SpaceId,
    /// How to tell whether an object exists.
    pub presence: Presence,
    /// Whether missing elements of a list are null (`[User]`) or left out.
    pub keeps_place: bool,
}

/// What shows whether an object is there.
#[derive(Debug, Clone)]
pub enum Presence {
    /// The item of a read.
    Read(ReadId),
    /// The item that was handed in for this space.
    Seed(SpaceId),
    /// None of these values is null: the schema promises that the object exists, and its key is known.
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
    /// `nodes` or `items`.
    Nodes(Type, Object),
    /// `edges`.
    Edges(Type, Vec<PageOutput>),
    /// `node` of an edge.
    Node(Type, Object),
    /// A field of the link, on an edge: the space of the links, and the field alone.
    Link(SpaceId, Object),
    /// `cursor` of an edge.
    Cursor,
    /// `nextToken`: the cursor of the last item if there is a next page.
    NextToken,
    /// `totalCount`, and what is counted.
    TotalCount(Type, ObjectSource),
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
