//! What the fields of `Mutation` write: the checked model of `@put`, `@update`, `@delete` and `@check`, and of the rules on written
//! values. Plain data; must not know how it is run.

use crate::schema::expression::condition::Condition;
use crate::schema::expression::update::Update;
use crate::schema::model::find::Find;
use crate::schema::model::rules::DefaultValue;
use crate::schema::model::source::Source;
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
    /// The value of an embedded field may lack what its type's fields have a default for ([`crate::schema::model::Field::rules`]).
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
