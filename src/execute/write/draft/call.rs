//! A write before it is sent: its calls, what each of them means, and what the field gives back.

use crate::execute::error::{ErrorCode, Refusal};
use crate::execute::expression::scope::Scope;
use crate::execute::write::item::conditions::Conditions;
use crate::execute::write::job::WriteJob;
use crate::execute::write::lanes::ItemPlace;
use crate::execute::write::lookup::dependents::{Dependents, ToDelete};
use crate::execute::write::lookup::found_item::FoundItem;
use crate::execute::write::rules::expression::ComputedBound;
use crate::schema::expression::condition::Condition;
use crate::table::attribute::{Attribute, Item, Key};
use crate::table::write::{WriteAction, WriteCall};
use serde_json::{Map, Value};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// The most calls of a transaction (DynamoDB developer guide, "Amazon DynamoDB transactions: how it works").
pub const MOST_IN_TRANSACTION: usize = 100;

/// What one attempt is going to write.
#[derive(Default)]
pub struct WriteDraft {
    /// The calls: alone a single write, together a transaction.
    pub calls: Vec<DraftCall>,
    /// Items that go before the calls are made, because there are too many for one transaction: by table, one after another.
    pub first: Vec<(Arc<str>, ToDelete)>,
    /// For each action, the items that it gives back.
    pub results: Vec<Vec<ResultItem>>,
    /// What the `@find` found.
    pub found: Option<Arc<Item>>,
    /// What the found item is held to.
    pub held: Option<FoundItem>,
    /// The arguments with the found item's fields among them, where conditions or expressions name some.
    pub arguments: Option<Map<String, Value>>,
    /// The copies of replicated items that are written beside the first.
    pub copied: Vec<ReplicaWrites>,
    /// Items whose copies are made like the first after the write: type, and key of the first.
    pub behind: Vec<(String, Key)>,
    /// Items deleted with their relations: these are looked for once more afterwards.
    pub cascades: Vec<CascadedItem>,
}

/// An item that is deleted with its relations.
pub struct CascadedItem {
    /// Position of the action.
    pub action: usize,
    /// The item.
    pub item: Arc<Item>,
    /// The items that go with it and lead to others.
    pub sources: Dependents,
    /// What is deleted in the same transaction, so that an index may show it for a moment longer; empty where it goes ahead.
    pub places: HashSet<ItemPlace>,
    /// Whether the sources are deleted ahead of the item.
    pub ahead: bool,
}

/// What is written of a replicated item's copies besides the first.
pub struct ReplicaWrites {
    /// The item type.
    pub item: String,
    /// The key of the first copy.
    pub key: Key,
    /// The writes of the others.
    pub writes: Vec<WriteCall>,
}

/// The item that a call gives back.
#[derive(Debug, Clone)]
pub enum ResultItem {
    /// It is known without the call's answer.
    Known(Arc<Item>),
    /// It is not there, and that is right.
    Nothing,
    /// A single call answers with it; after a transaction it is read: type and key.
    Answer(String, Key),
}

/// A call and what it means.
pub struct DraftCall {
    /// The call.
    pub write: WriteCall,
    /// What it is for.
    pub role: CallRole,
}

/// What a call is for.
pub enum CallRole {
    /// The item of an action.
    Main(Box<MainCall>),
    /// The guard of a `@unique` field: type and field.
    Guard(String, String),
    /// A replica of the item of an action.
    Replica,
    /// Something that goes along.
    Dependent,
    /// The found item, which no action is about, and which must be as it was found.
    Found,
}

/// What is known of the main call of an action, to tell why its condition failed.
pub struct MainCall {
    /// The item type.
    pub item: String,
    /// The author's condition.
    pub condition: Option<Condition>,
    /// The author's message.
    pub message: Option<String>,
    /// The item must not be there yet.
    pub creates: bool,
    /// The item is made if it is not there.
    pub makes: bool,
    /// What follows if the item is not there.
    pub if_absent: IfAbsent,
    /// The item is one of many that were found: if it is gone, or the author's condition does not hold of it, it is not meant any more.
    pub many: bool,
    /// The version attribute and the version that the caller expects.
    pub version: Option<(String, Value)>,
    /// Whether the item is the found one, which must be as it was found.
    pub held: bool,
    /// Whether what was read of the item is among the conditions, so that somebody else may have been faster.
    pub relies: bool,
    /// By which what it computes keeps the bounds of its fields.
    pub bounds: Vec<ComputedBound>,
    /// How the call may be repeated where it is not known whether it was applied.
    pub repeat: Repeat,
}

/// What follows if the item of a call is not there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IfAbsent {
    /// The call makes it.
    Make,
    /// The caller is told that there is none.
    NotFound,
    /// There is nothing to do, and the field gives null.
    Nothing,
    /// The item was there when it was read: read again.
    ReadAgain,
}

/// Whether a call may be repeated where it is not known whether it was applied.
#[derive(Debug, Clone, PartialEq)]
pub enum Repeat {
    /// It has the same effect twice, or its condition does not hold after it. Where the condition fails, that tells nothing.
    Same,
    /// What it removes is not there any more after it.
    Gone,
    /// Its condition fails the second time; that it was applied is seen by this whole item.
    SeenByItem(Box<Item>),
    /// Its condition fails the second time; that it was applied is seen by this element in the list attribute.
    SeenByElement(String, Box<Attribute>),
    /// It would count twice.
    Never,
}

/// Generated values, kept over the attempts of one request: action and field → value.
pub type Generated = HashMap<(usize, String), Value>;

impl DraftCall {
    /// The main call of an action.
    pub fn main(table: Arc<str>, action: WriteAction, conditions: Conditions, main: MainCall) -> Self {
        Self { write: WriteCall { table, action, condition: conditions.build() }, role: CallRole::Main(Box::new(main)) }
    }

    /// Whether the author or the caller demands something of the item, beside its being there.
    pub fn demands(&self) -> bool {
        match &self.role {
            CallRole::Main(main) => main.condition.is_some() || main.version.is_some() || main.creates,
            CallRole::Guard(..) | CallRole::Found => true,
            CallRole::Replica | CallRole::Dependent => false,
        }
    }

    /// A call that goes along with another.
    pub fn dependent(table: Arc<str>, action: WriteAction) -> Self {
        Self { write: WriteCall { table, action, condition: None }, role: CallRole::Dependent }
    }
}

impl WriteDraft {
    /// The item that a call works on; of a put, its key is not known here.
    pub fn place(&self, position: usize) -> Option<ItemPlace> {
        let write = &self.calls.get(position)?.write;
        match &write.action {
            WriteAction::Put(_) => None,
            WriteAction::Update(key, _) | WriteAction::Delete(key) | WriteAction::Check(key) => Some((write.table.clone(), key.clone())),
        }
    }

    /// The items of which something that was read is among the conditions.
    pub fn relied_on(&self) -> Vec<ItemPlace> {
        let relies = |call: &DraftCall| match &call.role {
            CallRole::Main(main) => main.held || main.relies,
            CallRole::Found => true,
            CallRole::Guard(..) | CallRole::Replica | CallRole::Dependent => false,
        };
        let positions = self.calls.iter().enumerate().filter(|(_, call)| relies(call));
        positions.filter_map(|(position, _)| self.place(position)).collect()
    }

    /// How many items the draft writes, copies among them.
    pub fn size(&self) -> usize {
        self.calls.len() + self.copied.iter().map(|copied| copied.writes.len()).sum::<usize>()
    }

    /// Takes the copies into the transaction, as long as it holds no more than `most` then; else they follow after it.
    pub fn take_copies(&mut self, most: usize) {
        if self.size() > most {
            self.behind.extend(self.copied.drain(..).map(|copied| (copied.item, copied.key)));
            return;
        }
        for copied in &mut self.copied {
            self.calls.extend(copied.writes.drain(..).map(|write| DraftCall { write, role: CallRole::Replica }));
        }
    }

    /// Sees to it that no item is in a transaction twice, which DynamoDB refuses: what goes along is left out where it goes already, and
    /// two actions on one item are the caller's mistake. `key` gives the key that a call writes.
    pub fn check_distinct(&mut self, key: impl Fn(&WriteCall) -> Option<Key>) -> Result<(), Refusal> {
        let mut seen: HashSet<(Arc<str>, Key)> = HashSet::new();
        let mut twice = None;
        let key_of = |call: &DraftCall| Some((call.write.table.clone(), key(&call.write)?));
        for call in self.calls.iter().filter(|call| !matches!(call.role, CallRole::Dependent)) {
            if key_of(call).is_some_and(|key| !seen.insert(key)) {
                twice = match &call.role {
                    CallRole::Main(main) => {
                        Some(Refusal::new(ErrorCode::BadUserInput, format!("This would write the same {} twice.", main.item)))
                    }
                    CallRole::Guard(ty, field) => {
                        let message = format!("Two items of type {ty} would have the same {field}.");
                        Some(Refusal { code: ErrorCode::Conflict, message, details: vec![("field", Value::from(field.as_str()))] })
                    }
                    CallRole::Replica | CallRole::Dependent | CallRole::Found => twice,
                };
            }
        }
        self.calls.retain(|call| match (&call.role, key_of(call)) {
            (CallRole::Dependent, Some(key)) => seen.insert(key),
            _ => true,
        });
        twice.map_or(Ok(()), Err)
    }

    /// Whether a draft may be made anew where it is not known whether it was written. A transaction was repeated already, by its token,
    /// for as long as that makes sense; under another token it could be made twice.
    pub fn repeatable(&self) -> bool {
        matches!(self.calls.as_slice(), [DraftCall { role: CallRole::Main(main), .. }] if main.repeat != Repeat::Never)
    }
}

impl WriteDraft {
    /// The values that conditions and expressions may name: the arguments, and the found item's fields where they name some.
    pub fn scope<'s>(&'s self, job: &WriteJob<'s>) -> Scope<'s> {
        Scope { arguments: self.arguments.as_ref().unwrap_or(job.arguments), now: job.context.now }
    }
}
