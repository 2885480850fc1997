//! Changes in, events for the subscribers of one operation out: with equal variables and callers, they share one run of
//! its plan for each change. Changes are delivered one after the other.

use super::delivery::watched;
use super::event::WaitingChange;
use super::operation::WatchedOperation;
use super::subscriber::{GroupOffer, Subscriber, SubscriptionEnd};
use crate::execute::gateway::PreparedOperation;
use crate::execute::request::Request;
use crate::plan::tree::ArgumentValue;
use crate::schema::model::watch::AFTER;
use futures_util::future::FutureExt;
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The most bytes of changes that wait for a group's reads, unless it is one change alone. A stream is read in bursts
/// of a megabyte.
const PENDING_BYTES: usize = 4 << 20;

/// What subscribers of one group have in common: the hash of the operation's text and name, its variables, and its
/// caller.
pub type GroupKey = [u8; 32];

/// The key of the group to which the subscriber of an operation belongs.
pub fn key_of_group(prepared: &PreparedOperation, request: &Request) -> GroupKey {
    let own = only_after(prepared, &request.query);
    let common: BTreeMap<&String, &Value> =
        prepared.variables().iter().filter(|(name, _)| own != Some(name.as_str())).collect();
    let variables = serde_json::to_string(&common).unwrap_or_default();
    let (name, caller) = (request.operation_name.as_deref().unwrap_or_default(), prepared.caller().identity());
    let mut hash = Sha256::new();
    for part in [&request.query, name, &variables, &caller] {
        hash.update(part.len().to_le_bytes());
        hash.update(part);
    }
    hash.finalize().into()
}

/// The variable that says where a subscriber goes on, if the document uses it for nothing else. Subscribers that differ
/// in it alone get the same events.
fn only_after<'p>(prepared: &'p PreparedOperation, query: &str) -> Option<&'p str> {
    let (step, watch) = watched(prepared)?;
    let (_, ArgumentValue::Literal(value)) = step.plan.arguments.get(watch.arguments)?.values.get(AFTER)? else {
        return None;
    };
    let name = value.as_variable()?.as_str();
    // Once where it is declared, and once where it is used. What may stand between `$` and a name is not looked
    // through.
    let uses = query.split('$').skip(1).map(|rest| {
        let end = rest.find(|c: char| c != '_' && !c.is_ascii_alphanumeric()).unwrap_or(rest.len());
        &rest[..end]
    });
    let (named, unclear) = uses.fold((0, 0), |(named, unclear), used| {
        (named + usize::from(used == name), unclear + usize::from(used.is_empty()))
    });
    (named == 2 && unclear == 0).then_some(name)
}

/// The subscribers of one operation.
pub struct Group {
    /// What they have in common.
    pub key: GroupKey,
    /// What the subscribers ask for.
    pub request: Request,
    state: Mutex<GroupState>,
}

struct GroupState {
    operation: Arc<WatchedOperation>,
    members: HashMap<u64, Arc<Subscriber>>,
    pending: VecDeque<WaitingChange>,
    bytes: usize,
    is_running: bool,
}

/// The task that delivers. If it is cut off, another may begin.
struct Running {
    group: Arc<Group>,
    is_over: bool,
}

impl Drop for Running {
    fn drop(&mut self) {
        if !self.is_over {
            self.group.state().is_running = false;
        }
    }
}

impl Group {
    /// A group without subscribers.
    pub fn new(key: GroupKey, request: Request, operation: Arc<WatchedOperation>) -> Arc<Self> {
        let state =
            GroupState { operation, members: HashMap::new(), pending: VecDeque::new(), bytes: 0, is_running: false };
        Arc::new(Self { key, request, state: Mutex::new(state) })
    }

    /// The operation as it is planned now.
    pub fn operation(&self) -> Arc<WatchedOperation> {
        self.state().operation.clone()
    }

    /// Delivers by another plan from now on.
    pub fn replace(&self, operation: Arc<WatchedOperation>) {
        self.state().operation = operation;
    }

    /// Adds a subscriber under a number of its own.
    pub fn join(&self, number: u64, subscriber: Arc<Subscriber>) {
        self.state().members.insert(number, subscriber);
    }

    /// Removes a subscriber; true if it was the last.
    pub fn leave(&self, number: u64) -> bool {
        let mut state = self.state();
        state.members.remove(&number);
        state.members.is_empty()
    }

    /// How many subscribers it has.
    pub fn count_members(&self) -> usize {
        self.state().members.len()
    }

    /// Ends the subscription of every subscriber.
    pub fn end(&self, end: &SubscriptionEnd) {
        self.state().end(end);
    }

    /// Hands over a change.
    pub fn push(self: &Arc<Self>, change: WaitingChange) {
        let mut state = self.state();
        state.bytes += change.bytes();
        state.pending.push_back(change);
        if state.pending.len() > 1 && (state.bytes > PENDING_BYTES || state.operation.bounds.are_exceeded()) {
            state.end(&SubscriptionEnd::TooSlow);
            return;
        }
        if !std::mem::replace(&mut state.is_running, true) {
            tokio::spawn(Running { group: self.clone(), is_over: false }.run());
        }
    }

    /// The next change with the operation that delivers it. Without one, the running task is over.
    fn take(&self) -> Option<(WaitingChange, Arc<WatchedOperation>)> {
        let mut state = self.state();
        let Some(change) = state.pending.pop_front() else {
            state.pending = VecDeque::new();
            state.is_running = false;
            return None;
        };
        state.bytes -= change.bytes();
        Some((change, state.operation.clone()))
    }

    /// Hands something over to each subscriber.
    fn offer(&self, offer: &GroupOffer) {
        let members: Vec<Arc<Subscriber>> = self.state().members.values().cloned().collect();
        members.iter().for_each(|member| member.offer(offer));
    }

    fn state(&self) -> MutexGuard<'_, GroupState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Running {
    async fn run(mut self) {
        while let Some((change, operation)) = self.group.take() {
            let delivered = async {
                // Whoever waits for a place keeps a small task.
                let _place = operation.bounds.places.acquire().await;
                operation.event((*change).clone()).boxed().await
            };
            match delivered.await {
                // Who began with the item as it was must know of each of its changes.
                Ok(None) if operation.initial().is_some() => self.group.offer(&GroupOffer::Silent(change)),
                Ok(None) => {}
                Ok(Some(event)) => self.group.offer(&GroupOffer::Event(event.held(&operation.bounds))),
                // They go on after their last event, so this one is not lost.
                Err(failure) => self.group.end(&SubscriptionEnd::Failed(failure)),
            }
        }
        // Another task may run already.
        self.is_over = true;
    }
}

impl GroupState {
    fn end(&mut self, end: &SubscriptionEnd) {
        self.members.values().for_each(|member| member.end(end.clone()));
        self.pending.clear();
        self.bytes = 0;
    }
}
