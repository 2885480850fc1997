//! A place for data in, the embedded engine on it out: with its threads, its lock file, its sweep of expired items and
//! its bulk load. Must not know HTTP.

use crate::table::data::attribute::Item;
use crate::table::data::error::{TableError, TableErrorKind};
use crate::table::data::limits::ITEM_BYTES;
use crate::table::embedded::tokens::Tokens;
use crate::table::embedded::turns::{EngineStopped, Length, Turns};
use crate::table::embedded::values::item_to_engine;
use crate::table::embedded::{data_file, refusal, storage_failure, stream_records};
use dynoxide::{Database, DynoxideError, ImportOptions};
use std::fmt;
use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;
use tokio::sync::Notify;
use tokio::task::{AbortHandle, spawn_blocking};
use tokio::time::{Instant, interval_at};

/// The file that holds the data, in the store's directory.
const DATA_FILE: &str = "keyfold.db";
/// The file whose lock says that a process uses the directory. The file stays; only its lock counts.
const LOCK_FILE: &str = "keyfold.lock";
/// The file that tests whether the disk has room again.
const TRIAL_FILE: &str = "keyfold.trial";
/// The bytes to write to it: more than a small write needs.
const TRIAL_BYTES: usize = 256 * 1024;
/// Data files up to this size are read completely when they are opened, which takes less than a second.
const READ_WHOLE: u64 = 256 * 1024 * 1024;
/// How often expired items are deleted. DynamoDB takes up to a few days.
const SWEEP_EVERY: Duration = Duration::from_secs(60);
/// The most items of a short call.
pub(in crate::table) const SHORT_ITEMS: usize = 25;
/// The most bytes of a short write or of another short request. It has some 25 keys.
pub(in crate::table) const SHORT_BYTES: usize = 4 << 10;
/// The operations that write items.
const WRITES: [&str; 5] = ["PutItem", "UpdateItem", "DeleteItem", "BatchWriteItem", "TransactWriteItems"];
/// Items that a bulk load writes in one transaction.
const ITEMS_PER_LOAD: usize = 1000;

/// The embedded engine. Its calls take 10 µs to some milliseconds, and in a directory they wait for the disk. So they
/// run on a thread of their own, one by one, and never block the tasks of other requests. Only a Get in memory runs
/// where it is asked for, if nothing else is at work: a thread would take longer than the Get.
pub(in crate::table) struct EmbeddedEngine {
    database: Database,
    /// The transactions whose answers may be requested again.
    pub(super) tokens: Tokens,
    turns: Arc<Turns>,
    /// Whether a sweep is under way. It takes no turn, because it lets others in between its pages.
    is_sweeping: AtomicBool,
    /// Where the data is; `None` in memory.
    directory: Option<PathBuf>,
    /// Reports each write.
    written: Notify,
    /// The last failure of the disk or the data file, until a write succeeds again.
    trouble: Mutex<Option<&'static str>>,
    /// The lock on the directory, held while the database is open.
    _lock: Option<File>,
}

impl fmt::Debug for EmbeddedEngine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("EmbeddedEngine")
    }
}

impl EmbeddedEngine {
    /// An empty engine in memory.
    pub(in crate::table) fn in_memory() -> Result<Arc<Self>, TableError> {
        let broken = |error: &dyn fmt::Display| unavailable(format!("cannot create a store in memory: {error}"));
        // Another connection of this process finds it by its name.
        let name = format!("file:keyfold-{}?mode=memory&cache=shared", uuid::Uuid::new_v4().simple());
        let database = Database::new(&name).map_err(|error| broken(&error))?;
        stream_records::prepare(&name).map_err(|error| broken(&error))?;
        Ok(Self::on(database, None, None))
    }

    /// The engine on the data in a directory, created if it is missing. A directory that another process uses is an
    /// error.
    pub(in crate::table) fn in_directory(directory: &Path) -> Result<Arc<Self>, TableError> {
        let trouble =
            |what: &str, error: &dyn fmt::Display| unavailable(format!("{what} {}: {error}", directory.display()));
        std::fs::create_dir_all(directory).map_err(|error| trouble("cannot create the data directory", &error))?;
        let lock = File::create(directory.join(LOCK_FILE))
            .map_err(|error| trouble("cannot write to the data directory", &error))?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let message = format!("the data directory {} is in use by another process", directory.display());
                return Err(unavailable(message));
            }
            Err(TryLockError::Error(error)) => return Err(trouble("cannot lock the data directory", &error)),
        }
        let data = directory.join(DATA_FILE);
        let Some(path) = data.to_str() else {
            return Err(unavailable(format!(
                "the name of the data directory {} is not valid Unicode",
                directory.display()
            )));
        };
        data_file::check(&data).map_err(unavailable)?;
        let broken = |error: DynoxideError| {
            let cause = storage_failure::cause(&error).map_or_else(|| error.to_string(), str::to_owned);
            unavailable(format!("cannot open the data in {}: {cause}", directory.display()))
        };
        let database = Database::new(path).map_err(broken)?;
        stream_records::prepare(path)
            .map_err(|error| unavailable(format!("cannot open the data in {}: {error}", directory.display())))?;
        if std::fs::metadata(&data).is_ok_and(|data| data.len() <= READ_WHOLE) {
            // It counts the items, and so finds every damaged page of them.
            database.table_stats().map_err(broken)?;
        }
        Ok(Self::on(database, Some(directory.to_owned()), Some(lock)))
    }

    fn on(database: Database, directory: Option<PathBuf>, lock: Option<File>) -> Arc<Self> {
        Arc::new(Self {
            database,
            tokens: Tokens::default(),
            turns: Arc::default(),
            is_sweeping: AtomicBool::default(),
            directory,
            written: Notify::new(),
            trouble: Mutex::default(),
            _lock: lock,
        })
    }

    /// Takes note of what the end of an operation says about the disk and the data file. Gives it on in DynamoDB's
    /// words.
    pub(super) fn noted<T>(&self, operation: &str, ended: Result<T, DynoxideError>) -> Result<T, DynoxideError> {
        match &ended {
            Ok(_) if WRITES.contains(&operation) => {
                self.note(None);
                self.written.notify_waiters();
            }
            Ok(_) => {}
            Err(refused) => {
                if let Some(cause) = storage_failure::cause(refused) {
                    self.note(Some(cause));
                }
            }
        }
        ended.map_err(|refused| refusal::worded(operation, refused))
    }

    /// Notifies who waits here of each write.
    pub(in crate::table) fn written(&self) -> &Notify {
        &self.written
    }

    /// Records why the disk or the data file failed, or with `None` that a write succeeded.
    fn note(&self, trouble: Option<&'static str>) {
        let before = std::mem::replace(&mut *self.trouble.lock().unwrap_or_else(PoisonError::into_inner), trouble);
        match trouble {
            Some(cause) if before != trouble => tracing::error!(cause, "the embedded store failed"),
            None if before.is_some() => tracing::info!("the embedded store works again"),
            _ => {}
        }
    }

    /// Whether the disk and the data file work. After a failure it tries to write a file.
    pub(in crate::table) async fn ready(self: &Arc<Self>) -> Result<(), TableError> {
        let trouble = *self.trouble.lock().unwrap_or_else(PoisonError::into_inner);
        let (Some(cause), Some(directory)) = (trouble, self.directory.clone()) else { return Ok(()) };
        let trial = spawn_blocking(move || {
            let file = directory.join(TRIAL_FILE);
            let written = std::fs::write(&file, vec![0; TRIAL_BYTES]);
            std::fs::remove_file(file).and(written)
        });
        // A damaged file stays damaged.
        if matches!(trial.await, Ok(Ok(()))) && cause == storage_failure::FULL {
            self.note(None);
            return Ok(());
        }
        Err(failed(cause.to_owned()))
    }

    /// Runs work on the database when its turn has come. Work that has begun runs to its end even if nobody waits for
    /// it.
    pub(in crate::table) async fn run<T: Send + 'static>(
        self: &Arc<Self>,
        length: Length,
        work: impl FnOnce(&Database) -> T + Send + 'static,
    ) -> Result<T, EngineStopped> {
        if length == Length::Moment
            && self.directory.is_none()
            && !self.is_sweeping.load(Ordering::Relaxed)
            && let Some(turn) = self.turns.take()
        {
            return turn.now(|| work(&self.database));
        }
        let engine = self.clone();
        self.turns.run(length, move || work(&engine.database)).await
    }

    /// Writes items, a thousand in each transaction. They replace items with the same keys; of several items with one
    /// key, the last stays. This is many times faster than BatchWriteItem, which waits for the disk once for each item.
    pub(in crate::table) async fn load(self: &Arc<Self>, table: &str, items: Vec<Item>) -> Result<(), TableError> {
        let mut items = items.into_iter().map(item_to_engine);
        loop {
            let part: Vec<dynoxide::types::Item> = items.by_ref().take(ITEMS_PER_LOAD).collect();
            if part.is_empty() {
                return Ok(());
            }
            // The engine's bulk load does not check the size.
            if part.iter().any(|item| dynoxide::types::item_size(item) > ITEM_BYTES) {
                let detail = format!("an item for {table} is larger than 400 KB");
                return Err(TableError { kind: TableErrorKind::Invalid, detail });
            }
            let name = table.to_owned();
            // What is loaded has been there before anybody listens.
            let options = || ImportOptions { record_streams: false, set_cached_at: false };
            let loaded = self.run(Length::Long, move |database| database.import_items(&name, part, options())).await;
            match loaded {
                Ok(Ok(_)) => {}
                Ok(Err(DynoxideError::ResourceNotFoundException(message))) => {
                    return Err(TableError {
                        kind: TableErrorKind::NoSuchTable,
                        detail: format!("{table}: {message}"),
                    });
                }
                Ok(Err(error)) if error.status_code() == 400 => {
                    return Err(TableError { kind: TableErrorKind::Invalid, detail: format!("{table}: {error}") });
                }
                Ok(Err(error)) => {
                    let cause = storage_failure::cause(&error).map_or_else(|| error.to_string(), str::to_owned);
                    return Err(failed(format!("{table}: {cause}")));
                }
                Err(error) => return Err(unavailable(format!("{table}: {error}"))),
            }
        }
    }
}

/// Deletes expired items every minute until it is dropped.
pub(in crate::table) struct Sweeper(AbortHandle);

impl Sweeper {
    /// Starts the task that sweeps; `None` outside a Tokio runtime.
    pub(in crate::table) fn start(engine: &Arc<EmbeddedEngine>) -> Option<Self> {
        let runtime = tokio::runtime::Handle::try_current().ok()?;
        let engine = Arc::downgrade(engine);
        Some(Self(runtime.spawn(sweep(engine)).abort_handle()))
    }
}

impl Drop for Sweeper {
    fn drop(&mut self) {
        self.0.abort();
    }
}

async fn sweep(engine: Weak<EmbeddedEngine>) {
    let mut ticks = interval_at(Instant::now() + SWEEP_EVERY, SWEEP_EVERY);
    loop {
        ticks.tick().await;
        let Some(engine) = engine.upgrade() else { return };
        let sweep = move || {
            engine.is_sweeping.store(true, Ordering::Relaxed);
            let swept = engine.database.sweep_ttl();
            engine.is_sweeping.store(false, Ordering::Relaxed);
            swept
        };
        match spawn_blocking(sweep).await {
            Ok(Ok(0)) => {}
            Ok(Ok(deleted)) => tracing::info!(deleted, "deleted expired items"),
            Ok(Err(error)) => tracing::warn!(%error, "could not delete expired items"),
            Err(error) => tracing::warn!(%error, "could not delete expired items"),
        }
    }
}

fn unavailable(detail: String) -> TableError {
    TableError { kind: TableErrorKind::Unavailable, detail }
}

fn failed(detail: String) -> TableError {
    TableError { kind: TableErrorKind::Storage, detail }
}
