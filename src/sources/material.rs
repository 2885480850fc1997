//! What every source gives, whatever its format: tables, items, and hints on types and access patterns.

use crate::schema::table::Table;
use crate::table::data::attribute::Item;
use std::fmt;
use std::ops::ControlFlow;

/// Who receives what a source holds, in the order in which the source has it. No source is held in memory as a whole.
pub trait Receiver {
    /// A table. A source may name one table several times, each time with all that it knows.
    fn table(&mut self, table: Table);

    /// An item, of the table of this name if the source says which. `Break`: the receiver has enough.
    fn item(&mut self, table: Option<&str>, item: Item) -> ControlFlow<()>;

    /// A type of items that the source names, of the table of this name if the source says which.
    fn type_hint(&mut self, table: Option<&str>, hint: TypeHint);

    /// An access pattern that the source names.
    fn pattern_hint(&mut self, hint: PatternHint);

    /// What the source holds and nothing here takes, as a sentence for a person.
    fn note(&mut self, note: String);

    /// Where the item that follows stands.
    fn place(&mut self, _place: &SourcePlace) {}

    /// What stands where an item should, and is none. `Continue`: the receiver takes the rest. `Break`: the mistake is
    /// the error that ends the reading.
    fn mistake(&mut self, _place: &SourcePlace, _problem: &str) -> ControlFlow<()> {
        ControlFlow::Break(())
    }
}

/// Where an item stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourcePlace {
    /// The file, as a person knows it.
    pub file: String,
    /// Where in the file.
    pub position: SourcePosition,
}

/// Where in its file an item stands, from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SourcePosition {
    /// On this line: each line has an item.
    Line(u64),
    /// It is the item of this number.
    Item(u64),
}

impl fmt::Display for SourcePlace {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.position {
            SourcePosition::Line(line) => write!(formatter, "{}:{line}", self.file),
            SourcePosition::Item(item) => write!(formatter, "{}, item {item}", self.file),
        }
    }
}

/// A type of items as a source describes it. Hints may be wrong: the items decide.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TypeHint {
    /// The type's name, as the source has it.
    pub name: String,
    /// Its attributes in the order of the source.
    pub attributes: Vec<AttributeHint>,
    /// Key attributes of the table and its indexes, and the template of each: literal text with attribute names in
    /// braces, as `USER#{user_id}`.
    pub keys: Vec<KeyHint>,
    /// Attributes that each of its items has, with the text that they have in all of them.
    pub constants: Vec<(String, String)>,
}

/// A key attribute with its template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyHint {
    /// The key attribute.
    pub attribute: String,
    /// Literal text with names in braces.
    pub template: String,
}

/// An attribute of a type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AttributeHint {
    /// The attribute's name in items.
    pub name: String,
    /// The name that the source's own API gives it, if that is another one.
    pub field: Option<String>,
    /// What the source says of its values.
    pub kind: Option<HintKind>,
    /// Whether each item has it.
    pub required: bool,
}

/// What a source says of an attribute's values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HintKind {
    /// Text.
    Text,
    /// Text that identifies something.
    Id,
    /// A whole number.
    Integer,
    /// A number.
    Decimal,
    /// A Boolean.
    Boolean,
    /// A time, as text or as a number.
    Time,
    /// A date as text.
    Date,
    /// One of these texts.
    Enum(Vec<String>),
    /// A list of values.
    List(Box<HintKind>),
    /// A set of values.
    Set(Box<HintKind>),
    /// A map, or anything.
    Any,
}

/// An access pattern as a source describes it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PatternHint {
    /// Its name, as the source has it.
    pub name: String,
    /// What it is for, as the source says it.
    pub description: Option<String>,
    /// The type of the items, as [`TypeHint::name`].
    pub of: String,
    /// Whether it gives one item.
    pub single: bool,
    /// The index that it reads; `None` is the table.
    pub index: Option<String>,
    /// The attributes that its parameters give, by the parameters' names.
    pub equals: Vec<String>,
    /// The range over what follows in the sort key: the comparison, and the names of its parameters.
    pub range: Option<(RangeHint, Vec<String>)>,
    /// What it does.
    pub action: PatternAction,
}

/// The comparison of a range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RangeHint {
    /// `<`
    Lt,
    /// `<=`
    Le,
    /// `>`
    Gt,
    /// `>=`
    Ge,
    /// `BETWEEN`
    Between,
    /// `begins_with`
    BeginsWith,
}

/// What an access pattern does.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum PatternAction {
    /// It reads items.
    #[default]
    Read,
    /// It puts an item.
    Put,
    /// It updates an item.
    Update,
    /// It deletes an item.
    Delete,
}
