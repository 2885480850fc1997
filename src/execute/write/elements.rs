//! The directives of a field and its arguments in; out: what the write does, once for each element of a list that
//! `each:` names. Must not know items.
//!
//! A directive for an element is the directive with the element's own names: `lines.sku` becomes `lines.3.sku`, the
//! field of the element at position 3, and an item of the list is in scope as `Product@lines.3`. Whatever handles a
//! directive then needs to know nothing of lists.

use crate::execute::error::{ErrorCode, FieldError};
use crate::execute::expression::scope::argument;
use crate::execute::write::messages::{FieldErrors, path_of};
use crate::schema::expression::condition::Condition;
use crate::schema::model::find::Find;
use crate::schema::model::source::Source;
use crate::schema::model::write::{Action, ActionKind, ELEMENT, INDEX, Write, WriteFind};
use serde_json::{Map, Value};
use std::borrow::Cow;

/// The most calls of a transaction (DynamoDB developer guide, "Amazon DynamoDB transactions: how it works").
pub const MAX_IN_TRANSACTION: usize = 100;

/// What a field does.
pub struct Directives<'w> {
    /// Its finds, in the order of the schema and then of the elements.
    pub finds: Vec<ElementFind<'w>>,
    /// Its actions, in the same order.
    pub actions: Vec<ElementAction<'w>>,
    /// The arguments by which they are named.
    pub arguments: Cow<'w, Map<String, Value>>,
}

/// An action, or an action for an element.
pub struct ElementAction<'w> {
    /// The action, in the names of its element.
    pub action: Cow<'w, Action>,
    /// The position of the element in its list.
    pub element: Option<usize>,
}

/// A find, or a find for an element.
pub struct ElementFind<'w> {
    /// The find in the schema.
    pub declared: &'w WriteFind,
    /// Its position among the finds of the schema.
    pub position: usize,
    /// The name of its item in scope.
    pub alias: Cow<'w, str>,
    /// The position of the element in its list.
    pub element: Option<usize>,
}

impl<'w> Directives<'w> {
    /// What a write does with these arguments. Fails if it is more than one transaction holds.
    pub fn new(write: &'w Write, arguments: &'w Map<String, Value>) -> Result<Self, FieldErrors> {
        let of_finds = write.finds.iter().filter_map(|find| find.each.as_deref());
        let lists = || of_finds.clone().chain(write.actions.iter().filter_map(|action| action.each.as_deref()));
        let length = |list: &str| elements(arguments, list).map_or(0, <[Value]>::len);
        let mut all = Self { finds: Vec::new(), actions: Vec::new(), arguments: Cow::Borrowed(arguments) };
        let Some(longest) = lists().map(length).max() else {
            all.take_all(write, &|_| None);
            return Ok(all);
        };
        check_size(write, &length)?;
        let positions: Vec<Value> = (0..longest).map(Value::from).collect();
        all.arguments.to_mut().insert(INDEX.to_owned(), Value::Array(positions));
        all.take_all(write, &|list| Some(length(list)));
        Ok(all)
    }

    fn take_all(&mut self, write: &'w Write, length: &dyn Fn(&str) -> Option<usize>) {
        for (position, declared) in write.finds.iter().enumerate() {
            let find = |element: Option<usize>| {
                let alias = match declared.each.as_deref().zip(element) {
                    Some(element) => Cow::Owned(in_scope(&declared.alias, element)),
                    None => Cow::Borrowed(declared.alias.as_str()),
                };
                ElementFind { declared, position, alias, element }
            };
            self.finds.extend(positions(declared.each.as_deref(), length).map(find));
        }
        for action in &write.actions {
            let of_element = |element: Option<usize>| {
                let named = element.zip(action.each.as_deref());
                let action = match named {
                    Some((position, list)) => Cow::Owned(ElementNames { write, list, position }.action(action)),
                    None => Cow::Borrowed(action),
                };
                ElementAction { action, element }
            };
            self.actions.extend(positions(action.each.as_deref(), length).map(of_element));
        }
    }
}

/// The positions of a directive's elements; one `None` for a directive without a list.
fn positions(
    each: Option<&str>,
    length: &dyn Fn(&str) -> Option<usize>,
) -> impl Iterator<Item = Option<usize>> + use<> {
    let count = each.map(|list| length(list).unwrap_or(0));
    (0..count.unwrap_or(1)).map(move |position| count.map(|_| position))
}

/// The elements of a list argument; `None` if it is null or not given.
pub fn elements<'v>(arguments: &'v Map<String, Value>, list: &str) -> Option<&'v [Value]> {
    argument(arguments, list)?.as_array().map(Vec::as_slice)
}

/// Refuses lists that are too long, before anything is read: each action needs a call of the transaction.
fn check_size(write: &Write, length: &dyn Fn(&str) -> usize) -> Result<(), FieldErrors> {
    let of_actions = |each: &Option<String>| each.as_deref().map_or(1, length);
    // Of alternatives, one is made.
    let actions = write.actions.iter().filter(|action| action.first() == action.position);
    let actions = actions.map(|action| of_actions(&action.each)).fold(0, usize::saturating_add);
    let finds = write.finds.iter().map(|find| of_actions(&find.each)).max().unwrap_or(0);
    let count = actions.max(finds);
    if count <= MAX_IN_TRANSACTION {
        return Ok(());
    }
    let each = write.actions.iter().map(|action| &action.each).chain(write.finds.iter().map(|find| &find.each));
    let (list, length) =
        each.flatten().map(|list| (list.as_str(), length(list))).max_by_key(|(_, length)| *length).unwrap_or_default();
    let message = format!(
        "\"{list}\" has {length} elements, so this write has {count} actions, but a transaction takes at most {MAX_IN_TRANSACTION}."
    );
    let details = vec![("argument", path_of(list, None))];
    Err(vec![FieldError { code: ErrorCode::LimitExceeded, message, details }])
}

/// The name in scope of an item that is found or made for an element of a list. No other name has an `@`.
pub fn in_scope(name: &str, (list, position): (&str, usize)) -> String {
    format!("{name}@{list}.{position}")
}

/// The names of one element.
pub struct ElementNames<'w> {
    /// The write.
    pub write: &'w Write,
    /// The list.
    pub list: &'w str,
    /// The element's position in it.
    pub position: usize,
}

impl ElementNames<'_> {
    /// The arguments that a find names, by these names, each with its value for the element.
    pub fn values(&self, find: &Find, arguments: &Map<String, Value>) -> Map<String, Value> {
        let leaves = find.sources().into_iter().flat_map(Source::leaves);
        let of_key =
            leaves.filter_map(|leaf| if let Source::Argument(name) = leaf { Some(name.as_str()) } else { None });
        let named = of_key.chain(find.filter.iter().flat_map(Condition::arguments));
        let value = |name: &str| {
            let mut own = name.to_owned();
            self.argument(&mut own);
            Some((name.to_owned(), argument(arguments, &own)?.clone()))
        };
        named.filter_map(value).collect()
    }

    /// An action for the element.
    fn action(&self, declared: &Action) -> Action {
        let mut action = declared.clone();
        action.rename(&|name| self.argument(name), &|name| self.item(name, declared.position));
        action
    }

    /// Names an item in scope of the action at a position of the schema, if one is found for the element, or put for it
    /// before.
    pub fn item(&self, name: &mut String, before: usize) {
        let is_of_list = |each: &Option<String>| each.as_deref() == Some(self.list);
        let is_found = self.write.find_named(name).is_some_and(|find| is_of_list(&find.each));
        let is_put = |action: &Action| {
            action.name() == name && is_of_list(&action.each) && matches!(action.kind, ActionKind::Put { .. })
        };
        if is_found || self.write.actions.iter().take(before).any(is_put) {
            *name = in_scope(name, (self.list, self.position));
        }
    }

    /// Names an argument of the element, or a field of an item that is found for it.
    fn argument(&self, name: &mut String) {
        let position = self.position;
        if let Some(own) = name.strip_prefix(self.list).and_then(|rest| rest.strip_prefix('.')) {
            *name = match own {
                INDEX => format!("{INDEX}.{position}"),
                ELEMENT => format!("{}.{position}", self.list),
                own => format!("{}.{position}.{own}", self.list),
            };
        } else if let Some((first, field)) = name.split_once('.')
            && let Some(find) = self.write.find_named(first)
            && find.is_named
            && find.each.as_deref() == Some(self.list)
        {
            *name = format!("{first}.{position}.{field}");
        }
    }
}

impl<'w> ElementFind<'w> {
    /// The names of its element, if it is for one.
    pub fn names(&self, write: &'w Write) -> Option<ElementNames<'w>> {
        let (list, position) = self.declared.each.as_deref().zip(self.element)?;
        Some(ElementNames { write, list, position })
    }

    /// A source of the find's key, in the names of its element.
    pub fn source(&self, write: &'w Write, source: &Source) -> Source {
        let mut named = source.clone();
        if let Some(names) = self.names(write) {
            named.rename(&|name| names.argument(name), &|name| names.item(name, 0));
        }
        named
    }

    /// The find's filter, in the names of its element.
    pub fn filter(&self, write: &'w Write) -> Option<Condition> {
        let mut named = self.declared.find.filter.clone()?;
        if let Some(names) = self.names(write) {
            named.rename_arguments(&|name| names.argument(name));
        }
        Some(named)
    }
}
