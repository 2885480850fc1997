//! Changes in, events for the subscribers of one operation out: with equal variables and callers, they share one run of its plan for each
//! change. Changes are delivered one after the other.

use super::operation::WatchedOperation;
use super::subscriber::{Subscriber, SubscriptionEnd};
use crate::execute::request::Request;
use crate::table::stream::record::ChangeRecord;
use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The most bytes of changes that wait for a group's reads, unless it is one change alone.
const PENDING_BYTES: usize = 1 << 20;

/// The subscribers of one operation.
pub struct Group {
    /// What the subscribers ask for.
    pub request: Request,
    state: Mutex<GroupState>,
}

struct GroupState {
    operation: Arc<WatchedOperation>,
    members: HashMap<u64, Arc<Subscriber>>,
    pending: VecDeque<Arc<ChangeRecord>>,
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
    pub fn new(request: Request, operation: Arc<WatchedOperation>) -> Arc<Self> {
        let state = GroupState { operation, members: HashMap::new(), pending: VecDeque::new(), bytes: 0, is_running: false };
        Arc::new(Self { request, state: Mutex::new(state) })
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

    /// Ends the subscription of every subscriber.
    pub fn end(&self, end: &SubscriptionEnd) {
        self.state().end(end);
    }

    /// Hands over a change.
    pub fn push(self: &Arc<Self>, record: Arc<ChangeRecord>) {
        let mut state = self.state();
        state.bytes += record.bytes();
        state.pending.push_back(record);
        if state.bytes > PENDING_BYTES && state.pending.len() > 1 {
            state.end(&SubscriptionEnd::TooSlow);
            return;
        }
        if !std::mem::replace(&mut state.is_running, true) {
            tokio::spawn(Running { group: self.clone(), is_over: false }.run());
        }
    }

    /// The next change with the operation that delivers it. Without one, the running task is over.
    fn take(&self) -> Option<(Arc<ChangeRecord>, Arc<WatchedOperation>)> {
        let mut state = self.state();
        let Some(record) = state.pending.pop_front() else {
            state.is_running = false;
            return None;
        };
        state.bytes -= record.bytes();
        Some((record, state.operation.clone()))
    }

    fn members(&self) -> Vec<Arc<Subscriber>> {
        self.state().members.values().cloned().collect()
    }

    fn state(&self) -> MutexGuard<'_, GroupState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Running {
    async fn run(mut self) {
        while let Some((record, operation)) = self.group.take() {
            match operation.event(record).await {
                Ok(None) => {}
                Ok(Some(event)) => {
                    let event = Arc::new(event);
                    self.group.members().iter().for_each(|member| member.offer(&event));
                }
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
