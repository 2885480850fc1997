//! A draft of a write: its calls, the purpose of each, and the items that the field returns.

use crate::execute::error::{ErrorCode, FieldError};
use crate::execute::expression::scope::Scope;
use crate::execute::item::conditions::Conditions;
use crate::execute::key::values;
use crate::execute::keyed_locks::ItemPlace;
use crate::execute::write::calls::requirement::{ItemCondition, Reason, Requirements};
use crate::execute::write::job::WriteJob;
use crate::execute::write::lookup::dependents::{Dependents, ToDelete};
use crate::execute::write::lookup::found_item::FoundItem;
use crate::execute::write::lookup::items::ItemsInScope;
use crate::execute::write::messages::{FieldErrors, name_elements, too_many_attributes};
use crate::execute::write::rules::lookups::{self, RuleCheck};
use crate::plan::tree::SingleWrites;
use crate::schema::expression::size::ExpressionSize;
use crate::schema::model::Model;
use crate::table::data::attribute::{Item, Key};
use crate::table::data::call::Expression;
use crate::table::data::write::{ConditionFailure, WriteAction, WriteCall};
use serde_json::{Map, Value};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// The letters of the placeholders of checks that join the condition of another call.
const LETTERS: [char; 8] = ['i', 'j', 'k', 'l', 'm', 'n', 'o', 'p'];

/// What one attempt writes.
#[derive(Default)]
pub struct WriteDraft {
    /// The calls: one is a single write, several are a transaction.
    pub calls: Vec<DraftCall>,
    /// Items to delete before the calls, because a transaction cannot hold them: table by table.
    pub first: Vec<(Arc<str>, ToDelete)>,
    /// The items that each action returns.
    pub results: Vec<Vec<ResultItem>>,
    /// The items in scope, where the field calls services with their values.
    pub scope_of_calls: ItemsInScope,
    /// The items that the `@find`s found, and the conditions on them.
    pub held: Vec<Arc<FoundItem>>,
    /// The arguments with the fields of the found items, if a condition or an expression names some.
    pub arguments: Option<Map<String, Value>>,
    /// The writes of the other replicas of replicated items.
    pub replicas: Vec<ReplicaWrites>,
    /// Items whose other replicas are synchronized after the write: type, and key of the first replica.
    pub behind: Vec<(String, Key)>,
    /// The items that must exist for the write.
    pub rules: Vec<RuleCheck>,
    /// Items deleted with their dependents. Dependents are looked for again after the write.
    pub cascades: Vec<CascadedItem>,
}

/// An item that is deleted with its dependents.
pub struct CascadedItem {
    /// Position of the action.
    pub action: usize,
    /// The item.
    pub item: Arc<Item>,
    /// The dependents that lead to other dependents.
    pub sources: Dependents,
    /// The places of dependents deleted in the same transaction. An index may still show them for a moment. Empty if
    /// they are deleted ahead.
    pub places: HashSet<ItemPlace>,
    /// Whether the dependents are deleted ahead of the item.
    pub dependents_first: bool,
}

/// The writes of a replicated item's other replicas.
pub struct ReplicaWrites {
    /// The item type.
    pub item: String,
    /// The key of the first replica.
    pub key: Key,
    /// The writes of the other replicas.
    pub writes: Vec<WriteCall>,
}

/// An item that the field returns.
#[derive(Debug, Clone)]
pub enum ResultItem {
    /// Known before the call's answer.
    Known(Arc<Item>),
    /// No item, without an error.
    Nothing,
    /// The item that a single call returns. A transaction returns none, so the item is read. Type and key.
    Answer(String, Key),
}

/// A call: its purpose, and what it demands of its item.
pub struct DraftCall {
    /// The call. Its condition is the text of the requirements.
    pub write: WriteCall,
    /// Its purpose.
    pub role: CallRole,
    /// What must hold of its item.
    pub requires: Requirements,
    /// Whether DynamoDB may refuse to make of a null what it makes of a missing value.
    pub takes_null: bool,
    /// What rules look up that its text demands besides, by the positions among the draft's rules.
    pub rules: Vec<usize>,
    /// The positions of actions for other elements of its list that check the same item.
    pub joined: Vec<usize>,
}

/// The purpose of a call.
pub enum CallRole {
    /// The item of the action at this position, and its type.
    Main { action: usize, item: String },
    /// The guard of a `@unique` field that the action at this position writes.
    Guard { action: usize, item: String, field: String },
    /// A replica of the item of an action.
    Replica,
    /// A dependent that is deleted with an item.
    Dependent,
    /// A guard that its owner needs no longer. If it is another's, it is left.
    OldGuard,
    /// Holds the conditions of a found item, which no action writes or checks.
    Found,
    /// An item that must exist, by a rule.
    Rule,
    /// The record of the request.
    Record,
}

/// Generated values by the position of the action and field, kept for all attempts of a request.
pub type Generated = HashMap<(usize, String), Value>;

/// What earlier attempts of a write found.
#[derive(Default)]
pub struct Earlier {
    /// One of them lost a race.
    pub raced: bool,
    /// One of them met an item in another form than Keyfold writes. What is changed is read first.
    pub as_stored: bool,
    /// Items that lacked what was to be changed in them, as they came back: nothing of one that does not exist.
    pub came_back: HashMap<ItemPlace, Arc<Item>>,
    /// Guards of other items.
    pub foreign_guards: HashSet<ItemPlace>,
}

impl DraftCall {
    /// A call with the text of what it demands.
    pub fn new(write: WriteCall, role: CallRole, requires: Requirements) -> Self {
        Self { write, role, requires, takes_null: false, rules: Vec::new(), joined: Vec::new() }
    }

    /// A call whose condition, if it has one, only DynamoDB evaluates.
    pub fn from_text((table, action, condition): (Arc<str>, WriteAction, Option<Expression>), role: CallRole) -> Self {
        let mut requires = Requirements::default();
        condition.iter().for_each(|text| requires.add(ItemCondition::Text(text.clone()), Reason::Race));
        Self::new(WriteCall { table, action, condition }, role, requires)
    }

    /// Adds what another text demands. It has placeholders of its own.
    pub fn also(&mut self, text: Option<Expression>) {
        let mut joined = Conditions::default();
        joined.extend(self.write.condition.take());
        joined.extend(text);
        self.write.condition = joined.build();
    }

    /// The position of the action for which it is made.
    pub fn action(&self) -> Option<usize> {
        match &self.role {
            CallRole::Main { action, .. } | CallRole::Guard { action, .. } => Some(*action),
            _ => None,
        }
    }

    /// The list and the position of the element for which it is made.
    pub fn element<'j>(&self, job: &'j WriteJob<'_>) -> Option<(&'j str, usize)> {
        job.element(self.action()?)
    }

    /// The position of its action in the schema.
    pub fn declared(&self, job: &WriteJob<'_>) -> Option<usize> {
        Some(job.action(self.action()?)?.position)
    }

    /// The position of its action in the schema, or of the first of its alternatives.
    pub fn directive(&self, job: &WriteJob<'_>) -> Option<usize> {
        Some(job.action(self.action()?)?.first())
    }

    /// Whether the author, the caller or a rule demands more than the item's existence.
    pub fn demands(&self) -> bool {
        match &self.role {
            CallRole::Main { .. } => self.requires.ask_more(),
            CallRole::Guard { .. } | CallRole::Found | CallRole::Rule | CallRole::Record => true,
            CallRole::Replica | CallRole::Dependent | CallRole::OldGuard => false,
        }
    }

    /// The error of a call whose condition DynamoDB cannot hold, together with what rules look up of its item.
    fn too_large(&self) -> Option<FieldError> {
        let CallRole::Main { item, .. } = &self.role else { return None };
        let size = ExpressionSize::counted(&self.write.condition.as_ref()?.text);
        size.excess().map(|_| too_many_attributes(item))
    }

    /// Whether another call may write its item instead.
    fn may_be_left_out(&self) -> bool {
        matches!(self.role, CallRole::Dependent | CallRole::OldGuard)
    }

    /// The key of the item that it writes.
    pub fn key(&self, model: &Model) -> Option<Key> {
        key_of(model, &self.write)
    }
}

/// The key of the item that a call writes.
pub fn key_of(model: &Model, write: &WriteCall) -> Option<Key> {
    match &write.action {
        WriteAction::Update(key, _) | WriteAction::Delete(key) | WriteAction::Check(key) => Some(key.clone()),
        WriteAction::Put(item) => {
            let table = model.tables.iter().find(|table| *table.name == *write.table)?;
            values::key_of(table, item)
        }
    }
}

impl WriteDraft {
    /// The item that a call writes; `None` for a put, whose key is not known here.
    pub fn place(&self, position: usize) -> Option<ItemPlace> {
        let write = &self.calls.get(position)?.write;
        match &write.action {
            WriteAction::Put(_) => None,
            WriteAction::Update(key, _) | WriteAction::Delete(key) | WriteAction::Check(key) => {
                Some((write.table.clone(), key.clone()))
            }
        }
    }

    /// The old guards that turned out to be of other items.
    pub fn failed_guards(&self, failures: &[ConditionFailure]) -> impl Iterator<Item = ItemPlace> {
        let is_guard =
            |position: &usize| matches!(self.calls.get(*position), Some(DraftCall { role: CallRole::OldGuard, .. }));
        failures.iter().map(|failure| failure.position).filter(is_guard).filter_map(|position| self.place(position))
    }

    /// The items whose read values are part of the conditions.
    pub fn relied_on(&self) -> Vec<ItemPlace> {
        let positions = self.calls.iter().enumerate().filter(|(_, call)| call.requires.rely_on_reads());
        positions.filter_map(|(position, _)| self.place(position)).collect()
    }

    /// Whether a call may be refused because of a null where a missing value would do.
    pub fn takes_null(&self) -> bool {
        self.calls.iter().any(|call| call.takes_null)
    }

    /// Whether a call relies on a null, which DynamoDB itself would not take for a missing value.
    pub fn relies_on_null(&self) -> bool {
        self.calls.iter().any(|call| call.requires.rely_on_null())
    }

    /// Adds what rules look up: to the call that writes the item, or as a call of its own.
    pub async fn check_rules(&mut self, job: &WriteJob<'_>) -> Result<(), FieldErrors> {
        for (position, check) in self.rules.iter().enumerate() {
            // What is deleted before the transaction is asked before that.
            if self.first.iter().any(|(table, items)| *table == check.table && items.contains_key(&check.key)) {
                if !lookups::holds(job, check).await? {
                    return Err(vec![lookups::refusal(job, check)]);
                }
                continue;
            }
            let is_own = |call: &&mut DraftCall| {
                call.write.table == check.table && call.key(job.context.model).as_ref() == Some(&check.key)
            };
            let call = self.calls.iter_mut().find(is_own);
            // What one call demands has placeholders of its own for each part.
            let Some(letter) = LETTERS.get(call.as_ref().map_or(0, |call| call.rules.len())) else {
                let message = format!("This needs more than {} rules of one {} to hold.", LETTERS.len(), check.item);
                return Err(vec![FieldError::new(ErrorCode::LimitExceeded, message)]);
            };
            let text = lookups::text(job, check, *letter)?;
            match call {
                Some(call) => {
                    call.also(text);
                    call.rules.push(position);
                }
                None => {
                    let action = WriteAction::Check(check.key.clone());
                    let call = DraftCall::from_text((check.table.clone(), action, text), CallRole::Rule);
                    self.calls.push(DraftCall { rules: vec![position], ..call });
                }
            }
        }
        match self.calls.iter().filter(|call| !call.rules.is_empty()).find_map(DraftCall::too_large) {
            Some(field_error) => {
                // A refusal by a rule comes first.
                lookups::decide(job, &mut self.rules).await?;
                Err(vec![field_error])
            }
            None => Ok(()),
        }
    }

    /// Whether it writes anything, besides the record of its request.
    pub fn writes(&self) -> bool {
        let writes = |call: &DraftCall| {
            !matches!((&call.write.action, &call.role), (WriteAction::Check(_), _) | (_, CallRole::Record))
        };
        self.calls.iter().any(writes)
    }

    /// The number of items that the draft writes, replicas included.
    pub fn size(&self) -> usize {
        self.calls.len() + self.rules.len() + self.replicas.iter().map(|replicas| replicas.writes.len()).sum::<usize>()
    }

    /// Adds the replicas to the transaction if it then holds at most `most` items. Otherwise they are written after it.
    pub fn take_replicas(&mut self, most: usize) {
        if self.size() > most {
            self.behind.extend(self.replicas.drain(..).map(|replicas| (replicas.item, replicas.key)));
            return;
        }
        for replicas in &mut self.replicas {
            let call = |WriteCall { table, action, condition }| {
                DraftCall::from_text((table, action, condition), CallRole::Replica)
            };
            self.calls.extend(replicas.writes.drain(..).map(call));
        }
    }

    /// Leaves out dependents and old guards that another call already writes. Refuses two actions on one item: DynamoDB
    /// accepts an item only once in a transaction.
    pub fn check_distinct(&mut self, job: &WriteJob<'_>) -> Result<(), FieldError> {
        let mut seen: HashMap<ItemPlace, usize> = HashMap::new();
        let mut twice = None;
        let key_of = |call: &DraftCall| Some((call.write.table.clone(), call.key(job.context.model)?));
        for (position, call) in self.calls.iter().enumerate().filter(|(_, call)| !call.may_be_left_out()) {
            let Some(key) = key_of(call) else { continue };
            if let Some(before) = seen.insert(key, position) {
                let before = self.calls.get(before).and_then(|call| call.element(job));
                let element = call.element(job);
                let error = match &call.role {
                    CallRole::Main { item, .. } => Some(FieldError::new(
                        ErrorCode::BadUserInput,
                        format!("This would write the same {item} twice."),
                    )),
                    CallRole::Guard { item: ty, field, .. } => {
                        let message = format!("Two items of type {ty} would have the same {field}.");
                        Some(FieldError {
                            code: ErrorCode::Conflict,
                            message,
                            details: vec![("field", Value::from(field.as_str()))],
                        })
                    }
                    CallRole::Replica
                    | CallRole::Dependent
                    | CallRole::OldGuard
                    | CallRole::Found
                    | CallRole::Rule
                    | CallRole::Record => continue,
                };
                twice = error.map(|error| match (element, before) {
                    (Some((list, element)), Some((same, before))) if list == same => {
                        name_elements(error, list, &[before, element])
                    }
                    (Some((list, element)), _) | (None, Some((list, element))) => {
                        name_elements(error, list, &[element])
                    }
                    (None, None) => error,
                });
            }
        }
        self.calls.retain(|call| match key_of(call) {
            Some(key) if call.may_be_left_out() => seen.insert(key, usize::MAX).is_none(),
            _ => true,
        });
        twice.map_or(Ok(()), Err)
    }

    /// The call, if the draft is one PutItem, UpdateItem or DeleteItem. All else is a transaction, whose token makes it
    /// certain even if answers are lost. A delete with dependents is one, too: who does not know whether the item is
    /// gone can neither sweep nor stop.
    pub fn as_call(&self, single_writes: SingleWrites) -> Option<&WriteCall> {
        match self.calls.as_slice() {
            [DraftCall { write, .. }] => {
                let alone = single_writes == SingleWrites::Call && self.cascades.is_empty();
                Some(write).filter(|write| alone && !matches!(write.action, WriteAction::Check(_)))
            }
            _ => None,
        }
    }
}

impl WriteDraft {
    /// The values that conditions and expressions may name: the arguments and the fields of the found items.
    pub fn scope<'s>(&'s self, job: &'s WriteJob<'_>) -> Scope<'s> {
        Scope {
            arguments: self.arguments.as_ref().unwrap_or_else(|| job.arguments()),
            now: job.context.now,
            caller: job.context.caller,
        }
    }
}
