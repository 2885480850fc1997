//! What the streams of tables answer in; the same answers out, shared between the copies of a gateway. The copy that
//! holds a shard's lease asks the stream and publishes what it reads; the others receive it, and ask the stream for
//! what they have missed.

use super::bus::Bus;
use super::cursor::Cursor;
use super::lease::{LeaseTable, ShardName};
use super::lease_keeper::LeaseKeeper;
use super::mailbox::{Heard, Mailbox};
use super::message::{Message, ShardRead};
use crate::table::change_source::{ChangeSource, RecordPage, Shard, ShardStart, StreamError};
use crate::table::stream::reader::EMPTY_ANSWERS;
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use futures_util::future::{BoxFuture, FutureExt};
use futures_util::stream::StreamExt;
use std::collections::HashMap;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;
use tokio::sync::Notify;
use tokio::task::AbortHandle;
use tokio::time::{Instant, timeout_at};
use uuid::Uuid;

/// How long a reader waits for a message before it looks again whether it should read itself.
const HEAR: Duration = Duration::from_secs(1);
/// How often, at least, a copy asks the stream itself if it or who reads the shard has had no record of it. Only a
/// record tells a place, and the readers of a shard together may ask 5 times a second.
const ASK: Duration = Duration::from_secs(10);
/// How often the reader of a shard says that it reads.
const SAY: Duration = Duration::from_secs(1);
/// The usual size of a message, in bytes.
const MESSAGE_BYTES: usize = 128 << 10;

/// The streams that the copies of a gateway share. It ends when its last clone is dropped.
#[derive(Clone)]
pub struct SharedStreams {
    inner: Arc<Shared>,
}

struct Shared {
    bus: Arc<dyn Bus>,
    leases: Arc<LeaseKeeper>,
    keeping: AbortHandle,
    /// A message has come, or this copy begins or ceases to read a shard.
    changed: Arc<Notify>,
    state: Mutex<SharedState>,
}

#[derive(Default)]
struct SharedState {
    mailboxes: HashMap<ShardName, Mailbox>,
    /// When this copy last said something of a shard that it reads.
    said: HashMap<ShardName, Instant>,
    /// The tables whose messages are heard.
    listening: HashMap<Arc<str>, AbortHandle>,
}

impl SharedState {
    /// The messages about a shard that is read here.
    fn mailbox(&mut self, shard: &ShardName) -> &mut Mailbox {
        self.mailboxes.entry(shard.clone()).or_default()
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        self.keeping.abort();
        self.state().listening.values().for_each(AbortHandle::abort);
    }
}

impl SharedStreams {
    /// Shares streams over a bus, with leases in a table. Must be called inside a Tokio runtime.
    pub fn new(bus: Arc<dyn Bus>, table: Arc<dyn LeaseTable>) -> Self {
        let changed = Arc::new(Notify::new());
        let me = Uuid::new_v4().to_string().into();
        let leases = Arc::new(LeaseKeeper::new(table, me, changed.clone()));
        let (keeper, carrier) = (leases.clone(), bus.clone());
        let keeping = tokio::spawn(async move { keeper.run(&*carrier).await }).abort_handle();
        Self { inner: Arc::new(Shared { bus, leases, keeping, changed, state: Mutex::default() }) }
    }

    /// The streams of a store, shared.
    pub fn share(&self, source: Arc<dyn ChangeSource>) -> Arc<dyn ChangeSource> {
        Arc::new(SharedSource { shared: self.inner.clone(), source })
    }

    /// Leaves the reading to the other copies.
    pub async fn close(&self) {
        self.inner.keeping.abort();
        self.inner.leases.give_back().await;
    }
}

impl Shared {
    /// Whether one copy reads and the others hear it. If not, each copy reads for itself.
    fn hears(&self) -> bool {
        self.bus.is_up() && self.leases.knows()
    }

    /// Receives what other copies say of a table.
    fn listen(self: &Arc<Self>, table: &Arc<str>) {
        let mut state = self.state();
        if !state.listening.contains_key(table) {
            let mut messages = self.bus.listen(&topic(table));
            let (shared, of) = (Arc::downgrade(self), table.clone());
            let hearing = tokio::spawn(async move {
                while let Some(bytes) = messages.next().await {
                    let Some(shared) = Weak::upgrade(&shared) else { return };
                    if let Some(message) = Message::parse(bytes) {
                        shared.put(&of, message);
                    }
                }
            });
            state.listening.insert(table.clone(), hearing.abort_handle());
        }
    }

    /// Keeps a message for the reader of its shard.
    fn put(&self, table: &Arc<str>, message: Message) {
        let shard = ShardName { table: table.clone(), shard: (&*message.head.shard).into() };
        self.leases.heard(&shard, message.head.fence);
        // Nothing is kept of a shard that is not read here.
        if let Some(mailbox) = self.state().mailboxes.get_mut(&shard) {
            mailbox.put(message);
            self.changed.notify_waiters();
        }
    }

    /// Publishes what this copy has read.
    async fn publish(&self, (shard, fence): (&ShardName, u64), after: &Cursor, (records, next): &RecordPage) {
        let now = Instant::now();
        let is_end = next.is_none();
        let said = self.state().said.get(shard).copied();
        if records.is_empty() && !is_end && said.is_some_and(|said| now < said + SAY) {
            return;
        }
        let (topic, longest) = (topic(&shard.table), self.bus.longest());
        let read = ShardRead { shard: &shard.shard, fence, after, records, is_end };
        for message in read.messages(MESSAGE_BYTES.min(longest)) {
            // The others find out that it is missing.
            if message.len() > longest || !self.bus.publish(&topic, message).await {
                return;
            }
        }
        self.state().said.insert(shard.clone(), now);
    }

    /// Forgets a shard that has ended.
    fn end(&self, shard: &ShardName) {
        self.leases.end(shard);
        let mut state = self.state();
        state.mailboxes.remove(shard);
        state.said.remove(shard);
    }

    fn state(&self) -> MutexGuard<'_, SharedState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The messages about a table. Its name may have characters that mean something on the bus.
fn topic(table: &str) -> String {
    URL_SAFE_NO_PAD.encode(table)
}

/// The streams of a store, shared with other copies.
struct SharedSource {
    shared: Arc<Shared>,
    source: Arc<dyn ChangeSource>,
}

/// What a copy that does not read a shard does next.
enum Turn {
    /// These records follow.
    Heard(RecordPage),
    /// It asks the stream itself.
    Ask,
}

impl SharedSource {
    /// Asks the stream itself.
    async fn ask(&self, of: (&Arc<str>, &Arc<str>), cursor: &Cursor) -> Result<RecordPage, StreamError> {
        let (table, shard) = of;
        let mut known = cursor.iterator.clone();
        loop {
            let is_known = known.is_some();
            let iterator = match known.take() {
                Some(iterator) => iterator,
                None => self.source.iterator(table, shard, &cursor.start(shard)).await?,
            };
            let (records, next) = match self.source.records(of, &iterator).await {
                // The cursor knows more than the iterator.
                Err(StreamError::Expired) if is_known && cursor.after.is_some() => continue,
                answer => answer?,
            };
            let after = records.last().map(|last| last.position.sequence.clone()).or_else(|| cursor.after.clone());
            return Ok((records, next.map(|iterator| Cursor { after, iterator: Some(iterator) }.text())));
        }
    }

    /// Asks the stream itself until it gives records, or for now has none.
    async fn ask_on(&self, of: (&Arc<str>, &Arc<str>), mut cursor: Cursor) -> Result<RecordPage, StreamError> {
        for _ in 1..EMPTY_ANSWERS {
            match self.ask(of, &cursor).await? {
                (records, Some(next)) if records.is_empty() => cursor = Cursor::parse(&next),
                page => return Ok(page),
            }
            self.source.pause().await;
        }
        self.ask(of, &cursor).await
    }

    /// Waits for what the reader of a shard publishes.
    async fn hear(&self, name: &ShardName, of: (&Arc<str>, &Arc<str>), cursor: &Cursor) -> Turn {
        let knows = cursor.after.is_some() && !self.shared.state().mailbox(name).knows_nothing();
        let wait = if knows { HEAR } else { ASK.mul_f64(0.5 + fastrand::f64()) };
        let until = Instant::now() + wait;
        loop {
            let mut changed = pin!(self.shared.changed.notified());
            changed.as_mut().enable();
            let heard = self.shared.state().mailbox(name).take(cursor.after.as_deref());
            match heard {
                Heard::Gap => return Turn::Ask,
                Heard::End => return Turn::Heard((Vec::new(), None)),
                Heard::Next(message) => {
                    let after = cursor.after.as_deref().unwrap_or_default();
                    let Some(records) = message.records(of, after) else { return Turn::Ask };
                    let cursor = Cursor { after: message.head.last.map(Into::into), iterator: None };
                    return Turn::Heard((records, Some(cursor.text())));
                }
                Heard::Nothing => {}
            }
            if !self.shared.hears() || self.shared.leases.fence(name).is_some() {
                return Turn::Heard((Vec::new(), Some(cursor.text())));
            }
            if Instant::now() >= until {
                return if knows { Turn::Heard((Vec::new(), Some(cursor.text()))) } else { Turn::Ask };
            }
            let _ = timeout_at(until.min(Instant::now() + HEAR), changed).await;
        }
    }
}

impl ChangeSource for SharedSource {
    fn shards<'a>(&'a self, table: &'a str) -> BoxFuture<'a, Result<Vec<Shard>, StreamError>> {
        self.source.shards(table)
    }

    fn iterator<'a>(
        &'a self,
        table: &'a str,
        shard: &'a str,
        start: &'a ShardStart,
    ) -> BoxFuture<'a, Result<String, StreamError>> {
        async move {
            let name = ShardName { table: table.into(), shard: shard.into() };
            self.shared.listen(&name.table);
            self.shared.state().mailbox(&name);
            self.shared.leases.fence(&name);
            match Cursor::at(start) {
                Some(cursor) => Ok(cursor.text()),
                None => {
                    let iterator = self.source.iterator(table, shard, start).await?;
                    Ok(Cursor { after: None, iterator: Some(iterator) }.text())
                }
            }
        }
        .boxed()
    }

    fn records<'a>(
        &'a self,
        of: (&'a Arc<str>, &'a Arc<str>),
        iterator: &'a str,
    ) -> BoxFuture<'a, Result<RecordPage, StreamError>> {
        async move {
            let name = ShardName { table: of.0.clone(), shard: of.1.clone() };
            let cursor = Cursor::parse(iterator);
            let (fence, hears) = (self.shared.leases.fence(&name), self.shared.hears());
            let page = match fence.filter(|_| hears) {
                Some(fence) => {
                    let page = self.ask(of, &cursor).await?;
                    self.shared.publish((&name, fence), &cursor, &page).await;
                    page
                }
                None if hears => match self.hear(&name, of, &cursor).await {
                    Turn::Heard(page) => return Ok(self.ended(&name, page)),
                    Turn::Ask => self.ask_on(of, cursor).await?,
                },
                None => self.ask(of, &cursor).await?,
            };
            if page.0.is_empty() && page.1.is_some() {
                self.source.pause().await;
            }
            Ok(self.ended(&name, page))
        }
        .boxed()
    }

    /// Whoever asks has waited already.
    fn pause(&self) -> BoxFuture<'_, ()> {
        std::future::ready(()).boxed()
    }
}

impl SharedSource {
    /// The page. What is known of its shard is forgotten if that has ended.
    fn ended(&self, shard: &ShardName, page: RecordPage) -> RecordPage {
        if page.1.is_none() {
            self.shared.end(shard);
        }
        page
    }
}
