//! What the fields of `Mutation` write: the checked model of `@put`, `@update`, `@delete` and `@check`, and of the
//! rules on written values. Plain data; must not know how it is run.

use crate::schema::expression::condition::Condition;
use crate::schema::expression::operand::{Operand, Path};
use crate::schema::expression::update::{SetValue, Update};
use crate::schema::model::auth::AuthAction;
use crate::schema::model::find::Find;
use crate::schema::model::rules::DefaultValue;
use crate::schema::model::service::{MutationCall, Service};
use crate::schema::model::source::Source;
use crate::schema::scalar::form::MapForm;
use indexmap::IndexMap;
use std::sync::Arc;

/// The position of an element in its list, in the names of an action with `each:`.
pub const INDEX: &str = "index";
/// A scalar element of a list, in the names of an action with `each:`.
pub const ELEMENT: &str = "each";

/// All that one mutation field does. Its actions are one write.
#[derive(Debug)]
pub struct Write {
    /// The `@find`s, in the order of the directives. Their items are read first and are in scope under their aliases.
    pub finds: Vec<WriteFind>,
    /// The `@call`s of services, in the order of the directives. They are made before the actions, which have their
    /// results as arguments.
    pub calls: Vec<MutationCall>,
    /// The actions, in the order of the directives.
    pub actions: Vec<Action>,
    /// What the field returns.
    pub returns: WriteReturns,
    /// `@idempotent`: by what its requests are known again.
    pub idempotency: Option<Idempotency>,
}

/// By what the requests of a mutation's field are known again, and where they are recorded.
#[derive(Debug)]
pub struct Idempotency {
    /// The argument with the key.
    pub argument: String,
    /// Whether the header `Idempotency-Key` may give it.
    pub by_header: bool,
    /// The table of the records, by position in the model.
    pub table: usize,
    /// How their partition keys begin, and their whole sort keys: `Idempotent#Mutation.pay`.
    pub mark: String,
}

impl Write {
    /// The items that the field returns, by itself or in its payload.
    pub fn returned(&self) -> impl Iterator<Item = ReturnedItems> {
        let (own, parts) = match &self.returns {
            WriteReturns::Done => (None, None),
            WriteReturns::Items(items) => (Some(*items), None),
            WriteReturns::Payload(parts) => (None, Some(parts)),
        };
        own.into_iter().chain(parts.into_iter().flat_map(IndexMap::values).copied().flatten())
    }

    /// What is said of the record of a request, if the field has `@idempotent`.
    pub fn record_note(&self) -> Option<String> {
        let idempotency = self.idempotency.as_ref()?;
        Some(format!("once for each {}, by a record of 24 hours in the transaction", idempotency.argument))
    }

    /// What is said of the calls of services, each by its name, with these names of the services.
    pub fn call_notes(&self, services: &[Service]) -> Vec<String> {
        let note = |call: &MutationCall| {
            let service = services.get(call.service).map(|service| service.name.as_str()).unwrap_or_default();
            let undo = call.undo.as_ref().map(|undo| format!(", undone by {undo}")).unwrap_or_default();
            format!("calls {service} first{undo}: cost unknown")
        };
        self.calls.iter().map(note).collect()
    }

    /// The call whose result an argument of an action is, or is a field of.
    pub fn call_of(&self, argument: &str) -> Option<&MutationCall> {
        let first = argument.split('.').next()?;
        self.calls.iter().find(|call| call.name == first)
    }

    /// Whether the field returns the items of the action at a position.
    pub fn returns_action(&self, position: usize) -> bool {
        let first = self.actions.get(position).map_or(position, Action::first);
        self.returned().any(|items| items.from == ReturnedFrom::Action(first))
    }

    /// The item types that returned items can have.
    pub fn types_returned(&self, items: ReturnedItems) -> Vec<&str> {
        match items.from {
            ReturnedFrom::Action(first) => {
                let actions = self.actions.iter().filter(|action| action.first() == first);
                actions.map(|action| action.item.as_str()).collect()
            }
            ReturnedFrom::Find(first) => {
                let finds = self.finds.iter().enumerate().filter(|(position, found)| found.first(*position) == first);
                finds.map(|(_, found)| found.find.item.as_str()).collect()
            }
        }
    }

    /// For each find: the number of finds that are made before it, one after the other, because its key is made of what
    /// they find.
    pub fn waves_of_finds(&self) -> Vec<usize> {
        let mut waves: Vec<usize> = Vec::with_capacity(self.finds.len());
        for found in &self.finds {
            let leaves = found.find.sources().into_iter().flat_map(Source::leaves);
            let named = leaves.filter_map(|leaf| if let Source::Item(name, _) = leaf { Some(name) } else { None });
            let before = named.filter_map(|name| self.finds.iter().position(|other| other.alias == *name));
            let wave = before.filter_map(|position| waves.get(position)).map(|wave| wave + 1).max();
            waves.push(wave.unwrap_or(0));
        }
        waves
    }

    /// Whether it has a single action, or alternatives of one, which is not made for each element of a list.
    pub fn is_alone(&self) -> bool {
        let is_same = |action: &Action| action.first() == 0 && action.each.is_none();
        !self.actions.is_empty() && self.actions.iter().all(is_same)
    }

    /// The name of the type, the interface or the union that returned items have.
    pub fn type_name(&self, items: ReturnedItems) -> &str {
        let name = match items.from {
            ReturnedFrom::Action(position) => self.actions.get(position).map(Action::type_name),
            ReturnedFrom::Find(position) => self.finds.get(position).map(WriteFind::type_name),
        };
        name.unwrap_or_default()
    }

    /// The find whose item is in scope under this alias.
    pub fn find_named(&self, alias: &str) -> Option<&WriteFind> {
        self.finds.iter().find(|find| find.alias == alias)
    }
}

/// A `@find` of a mutation's field.
#[derive(Debug)]
pub struct WriteFind {
    /// The name under which its item is in scope: `as:`, or its type.
    pub alias: String,
    /// How the item is read.
    pub find: Find,
    /// Whether it finds the first of several items: a filter, an order or a range says which one that is. Otherwise it
    /// fails if there are several.
    pub takes_first: bool,
    /// The list argument, dotted, for each of whose elements an item is found.
    pub each: Option<String>,
    /// If it is one of several finds of an interface or a union: which.
    pub alternative: Option<TypeAlternative>,
    /// Fields of the item that the actions copy or name. The write is conditional on their values being unchanged.
    pub held: Vec<String>,
    /// Whether a condition or an expression names fields of the item (`:Repo.nextNumber`). If so, the arguments hold
    /// these fields as an object under the alias.
    pub is_named: bool,
}

impl WriteFind {
    /// The position of the first of its alternatives, or its own.
    pub fn first(&self, position: usize) -> usize {
        self.alternative.as_ref().map_or(position, |alternative| alternative.first)
    }

    /// The name of its item's type, or of the interface or the union.
    pub fn type_name(&self) -> &str {
        self.alternative.as_ref().map_or(&self.find.item, |alternative| &alternative.of)
    }
}

/// One of several finds or actions of an interface or a union, one for each of its item types. The one is made whose
/// type the item has that is found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TypeAlternative {
    /// The interface or the union.
    pub of: String,
    /// The position of the first of them.
    pub first: usize,
}

/// What a mutation field returns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WriteReturns {
    /// `Boolean`: true once the write is done.
    Done,
    /// An item, or a list of items.
    Items(ReturnedItems),
    /// An object with these fields; `None` is `Boolean`: true once the write is done.
    Payload(IndexMap<String, Option<ReturnedItems>>),
}

/// An item, or a list of items, that a mutation field or a field of its payload returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReturnedItems {
    /// What has the items.
    pub from: ReturnedFrom,
    /// Whether it is a list: of an action with `many: true`, or of an action or a find with `each:`, then in the order
    /// of the elements.
    pub many: bool,
    /// Whether it is never null.
    pub never_null: bool,
}

/// What has the items that a mutation field returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReturnedFrom {
    /// The action at this position: its item as it is after a put or an update, or as it was before a delete.
    Action(usize),
    /// What the `@find` at this position found.
    Find(usize),
}

/// One action.
#[derive(Debug, Clone)]
pub struct Action {
    /// Its position among the actions of the field.
    pub position: usize,
    /// The item type.
    pub item: String,
    /// `as:`: the name of its item in a payload, and of a new item in scope, if it is not its type.
    pub alias: Option<String>,
    /// If it is one of several actions on an interface or a union: which.
    pub alternative: Option<TypeAlternative>,
    /// The list argument, dotted, for each of whose elements the action is made. Within it, names of arguments that
    /// begin with the list's are those of the element: `lines.sku`. [`INDEX`] is its position, and [`ELEMENT`] a scalar
    /// element itself.
    pub each: Option<String>,
    /// What is done.
    pub kind: ActionKind,
    /// How the item is found.
    pub target: WriteTarget,
    /// Field → what is written to it. With `at`, fields of the element. For a put: every stored field that is bound or
    /// has a default, key fields too. For an update: the fields that its arguments give, without key fields that only
    /// find the item (of a move, key fields too, which `set:` gives), and the fields that every write renews
    /// (`@default(on: WRITE)`), without those that an expression changes.
    ///
    /// A `@version` field is never written from here. In an update, a delete or a check of a whole item, its entry is
    /// the version that the caller has seen, if an argument gives one (null: any).
    ///
    /// The value of an embedded field may lack fields for which its type has a default
    /// ([`crate::schema::model::Field::rules`]).
    pub values: IndexMap<String, WrittenValue>,
    /// The list element inside the item that is put, updated or deleted.
    pub at: Option<Element>,
    /// `if:`, with the attribute names of the item. Fields of input objects are dotted: `:input.name`.
    pub condition: Option<Condition>,
    /// The error message if the condition does not hold.
    pub message: Option<String>,
}

impl Action {
    /// The arguments that its expression names, which may be fields of found items: `:Repo.nextNumber`.
    pub fn named_by_expression(&self) -> Vec<&str> {
        let mut names = Vec::new();
        if let ActionKind::Update { expression: Some(expression), .. } = &self.kind {
            names.extend(expression.arguments());
        }
        names.extend(self.at.iter().filter_map(|element| element.expression.as_ref()).flat_map(Update::arguments));
        names.extend(self.values.values().flat_map(WrittenValue::named_by_computed));
        names
    }

    /// The arguments that it names, dotted, but for those of a find.
    pub fn named_arguments(&self) -> Vec<&str> {
        let mut names: Vec<&str> = self.values.values().flat_map(WrittenValue::named_arguments).collect();
        names.extend(self.condition.iter().flat_map(Condition::arguments));
        names.extend(self.named_by_expression());
        names
    }

    /// The items in scope that it names.
    pub fn named_items(&self) -> Vec<&str> {
        let values = self.values.values().filter_map(WrittenValue::source);
        let of_target: Vec<&Source> = match &self.target {
            WriteTarget::Key(sources) => sources.values().collect(),
            WriteTarget::Found(_) => Vec::new(),
            WriteTarget::Read { find, .. } => find.sources(),
        };
        let by = self.at.as_ref().and_then(|at| at.by.as_ref()).map(|(_, _, source)| source);
        let leaves = values.chain(of_target).chain(by).flat_map(Source::leaves);
        leaves.filter_map(|leaf| if let Source::Item(name, _) = leaf { Some(name.as_str()) } else { None }).collect()
    }

    /// Whether it may give its item another key.
    pub fn moves(&self) -> bool {
        matches!(self.kind, ActionKind::Update { moves: true, .. })
    }

    /// Whether it changes something within an object of its item that may be missing, so that a first call may find
    /// out.
    pub fn may_lack_place(&self) -> bool {
        let is_within = |path: &Path| path.segments.len() > 1;
        let nested = match &self.kind {
            ActionKind::Update { expression: Some(update), .. } => update.set.iter().any(|(path, _)| is_within(path)),
            _ => false,
        };
        nested || self.at.as_ref().is_some_and(|element| element.map.is_some())
    }

    /// The position of the first of its alternatives, or its own.
    pub fn first(&self) -> usize {
        self.alternative.as_ref().map_or(self.position, |alternative| alternative.first)
    }

    /// The name of its item's type, or of the interface or the union.
    pub fn type_name(&self) -> &str {
        self.alternative.as_ref().map_or(&self.item, |alternative| &alternative.of)
    }

    /// The name of a put's item in scope.
    pub fn name(&self) -> &str {
        self.alias.as_ref().unwrap_or(&self.item)
    }

    /// Gives each argument and each item in scope that the action names another name. It is about whole items.
    pub fn rename(&mut self, argument: &dyn Fn(&mut String), item: &dyn Fn(&mut String)) {
        match &mut self.target {
            WriteTarget::Key(sources) => sources.values_mut().for_each(|source| source.rename(argument, item)),
            WriteTarget::Found(alias) => item(alias),
            WriteTarget::Read { find, .. } => find.rename(argument, item),
        }
        for value in self.values.values_mut() {
            match &mut value.given {
                Some(GivenValue::Source(source)) => source.rename(argument, item),
                Some(GivenValue::Computed(computed)) => computed.rename_arguments(argument),
                Some(GivenValue::Made(_)) | None => {}
            }
        }
        self.condition.iter_mut().for_each(|condition| condition.rename_arguments(argument));
        if let ActionKind::Update { expression: Some(update), .. } = &mut self.kind {
            update.rename_arguments(argument);
        }
    }

    /// The rules that the action needs: a check reveals of an item what a read reveals.
    pub fn asks(&self) -> AuthAction {
        if matches!(self.kind, ActionKind::Check) { AuthAction::Read } else { AuthAction::Write }
    }
}

/// What an action does.
#[derive(Debug, Clone)]
pub enum ActionKind {
    /// Creates the item. With `replace`, overwrites an existing one.
    Put {
        /// Whether an existing item is overwritten.
        replace: bool,
    },
    /// Changes the item.
    Update {
        /// Whether a missing item is created. It is then named by its whole key, and gets the defaults of its fields'
        /// rules.
        upsert: bool,
        /// Whether the values may give the item another key. It then moves there with all that it has.
        moves: bool,
        /// The expression. Without one, the action's values are set: an absent field stays, and null removes one.
        expression: Option<Box<Update>>,
    },
    /// Removes the item.
    Delete {
        /// Relations whose items are deleted too: paths of relation fields on the item type.
        cascade: Vec<Vec<String>>,
    },
    /// Writes nothing and only checks the condition.
    Check,
}

/// How an action finds its item.
#[derive(Debug, Clone)]
pub enum WriteTarget {
    /// By its whole primary key: item field → source, for every field in the templates of the table's keys. For a put,
    /// the map is empty, because its values hold these fields. A put with `at` finds its item as the other actions do.
    Key(IndexMap<String, Source>),
    /// The item that the `@find` of this alias found.
    Found(String),
    /// The item is read first, by an access path other than a Get: a unique prefix of the key, or an index. With
    /// `many`, the action covers all items that are found.
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
    /// What gives the value; `None` if only the default does.
    pub given: Option<GivenValue>,
    /// What is written if the source gives nothing, as an argument that is not given. An explicit null stays null. A
    /// list that is never null has the default `[]`, the empty list.
    pub default: Option<DefaultValue>,
}

/// What gives a written value.
#[derive(Debug, Clone)]
pub enum GivenValue {
    /// The request, or an item in scope.
    Source(Source),
    /// What `set:` says without a name: a literal in the API's form of the field's type, or a text with words such as
    /// `{now}`. It is made once for an action, and is the same in all attempts.
    Made(DefaultValue),
    /// What a `@put`'s `expression:` computes of arguments, literals, claims and fields of found items.
    Computed(SetValue),
}

impl WrittenValue {
    /// A value that the request or an item in scope gives.
    pub fn from_source(source: Source) -> Self {
        Self { given: Some(GivenValue::Source(source)), default: None }
    }

    /// The source, if one gives the value.
    pub fn source(&self) -> Option<&Source> {
        match &self.given {
            Some(GivenValue::Source(source)) => Some(source),
            Some(GivenValue::Made(_) | GivenValue::Computed(_)) | None => None,
        }
    }

    /// The arguments that it names, dotted.
    pub fn named_arguments(&self) -> Vec<&str> {
        let leaves = self.source().into_iter().flat_map(Source::leaves);
        let named =
            leaves.filter_map(|leaf| if let Source::Argument(name) = leaf { Some(name.as_str()) } else { None });
        named.chain(self.named_by_computed()).collect()
    }

    /// The arguments that what an expression computes names, dotted.
    fn named_by_computed(&self) -> Vec<&str> {
        let mut names = Vec::new();
        if let Some(computed) = self.computed() {
            computed.operands(&mut |operand| {
                if let Operand::Argument(name, _) = operand {
                    names.push(name.as_str());
                }
            });
        }
        names
    }

    /// What an expression computes for the value, if it does.
    pub fn computed(&self) -> Option<&SetValue> {
        match &self.given {
            Some(GivenValue::Computed(computed)) => Some(computed),
            Some(GivenValue::Source(_) | GivenValue::Made(_)) | None => None,
        }
    }

    /// Whether an argument brings the value as it is.
    pub fn is_brought(&self) -> bool {
        matches!(
            &self.given,
            Some(
                GivenValue::Source(Source::Argument(_))
                    | GivenValue::Computed(SetValue::Operand(Operand::Argument(..)))
            )
        )
    }

    /// What is made for the value, if `set:` says so.
    pub fn made(&self) -> Option<&DefaultValue> {
        match &self.given {
            Some(GivenValue::Made(made)) => Some(made),
            Some(GivenValue::Source(_) | GivenValue::Computed(_)) | None => None,
        }
    }
}

/// An element of an embedded list or an entry of a map: `foods`, or `foods[id = :foodId]`.
#[derive(Debug, Clone)]
pub struct Element {
    /// The list's field in the item type.
    pub field: String,
    /// The attribute that holds the list.
    pub attribute: String,
    /// The elements' type.
    pub element: String,
    /// How an element is chosen: one of its fields, the field's stored attribute, and the value that it must equal.
    /// `None` appends an element.
    pub by: Option<(String, String, Source)>,
    /// The map that keeps the list, if one does. `by` is then the key of an entry.
    pub map: Option<Arc<MapForm>>,
    /// The expression of an update of an entry, with the paths that an object of its type has alone.
    pub expression: Option<Update>,
}
