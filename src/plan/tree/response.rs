//! The shape of the response: objects, lists, connections and scalars, in the order of the selection, each with where its value comes
//! from. Must not know how anything is read.

use super::ids::{ReadId, SpaceId};
use super::value::{FieldReader, Holder, ValueSource};
use crate::schema::value_type::ValueType;
use apollo_compiler::ast::Type;
use std::sync::Arc;

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
    Leaf(ValueLocation),
    /// A stored object or list of objects, and the space of its elements where finds stand in them.
    Embedded(ValueLocation, Object, Option<SpaceId>),
    /// One object that was read.
    One(ObjectSource, Object),
    /// A plain list.
    List(ObjectSource, Object),
    /// A connection.
    Page(ObjectSource, Vec<PageOutput>),
    /// True: what the field writes is written.
    Done,
    /// Whether there is an item.
    Exists(ObjectSource),
    /// How many items there are.
    Count(ObjectSource),
}

/// Where a stored value is held.
#[derive(Debug)]
pub enum ValueLocation {
    /// In what was read.
    In(Holder, Arc<FieldReader>),
    /// In the map that is being written.
    Here(Arc<FieldReader>),
    /// Nowhere: it is known from elsewhere.
    Known(ValueSource, ValueType),
}

/// The object, or objects, that a find leads to.
#[derive(Debug)]
pub struct ObjectSource {
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
