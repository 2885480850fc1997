//! A file in; what is made of it, as fresh as the file, out. Must not know what the file holds.
//!
//! The file is read every few seconds, so that a key can be added or taken back without a restart. While it is missing
//! or has mistakes, what was made of it before stays.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Weak};
use std::time::Duration;
use tokio::io::AsyncReadExt;
use tokio::sync::watch;
use tokio::time::{MissedTickBehavior, interval};

/// How often a file is read. Files of keys have a few kilobytes: reading them is cheap, and more reliable than the
/// times of file systems.
const EVERY: Duration = Duration::from_secs(5);
/// The most bytes of a file of keys.
pub const MAX_BYTES: u64 = 1 << 20;

/// What is made of a file. Copies share it. The file is read until the last copy is dropped.
#[derive(Debug)]
pub struct WatchedFile<T> {
    kept: Arc<watch::Sender<Arc<T>>>,
}

impl<T> Clone for WatchedFile<T> {
    fn clone(&self) -> Self {
        Self { kept: self.kept.clone() }
    }
}

/// What makes a value of a file's bytes. The error is a sentence for the log.
pub type Maker<T> = Box<dyn Fn(&[u8]) -> Result<T, String> + Send>;

impl<T: Send + Sync + 'static> WatchedFile<T> {
    /// A value that no file changes.
    pub fn fixed(value: T) -> Self {
        Self { kept: Arc::new(watch::Sender::new(Arc::new(value))) }
    }

    /// The value of a file that has been read, which is read again from now on. Must be called within a runtime.
    pub fn start(path: &Path, (text, value): (Vec<u8>, T), make: Maker<T>) -> Self {
        Self::every(EVERY, path, (text, value), make)
    }

    fn every(pause: Duration, path: &Path, (text, value): (Vec<u8>, T), make: Maker<T>) -> Self {
        let watched = Self::fixed(value);
        let reading = Reading { path: path.to_owned(), seen: Some(text), make };
        tokio::spawn(again(pause, reading, Arc::downgrade(&watched.kept)));
        watched
    }

    /// What is there.
    pub fn current(&self) -> Arc<T> {
        self.kept.borrow().clone()
    }
}

struct Reading<T> {
    path: PathBuf,
    /// The last text; `None` if there was no file.
    seen: Option<Vec<u8>>,
    make: Maker<T>,
}

/// Reads the file again and again, until nobody needs it.
async fn again<T>(pause: Duration, mut reading: Reading<T>, kept: Weak<watch::Sender<Arc<T>>>) {
    let mut ticks = interval(pause);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        let read = bounded(&reading.path).await;
        let Some(kept) = kept.upgrade() else { return };
        if read == reading.seen {
            continue;
        }
        let file = reading.path.display();
        match read.as_deref().map(|text| (reading.make)(text)) {
            None => tracing::warn!(%file, "the file of keys cannot be read: the previous keys stay in use"),
            Some(Err(reason)) => {
                tracing::warn!(%file, reason, "the file of keys has mistakes: the previous keys stay in use")
            }
            Some(Ok(value)) => {
                tracing::info!(%file, "the changed keys of the file are in use");
                kept.send_replace(Arc::new(value));
            }
        }
        reading.seen = read;
    }
}

/// The bytes of a file; `None` if it cannot be read, is too long, or is none: a pipe might never end.
async fn bounded(path: &Path) -> Option<Vec<u8>> {
    if !tokio::fs::metadata(path).await.ok()?.is_file() {
        return None;
    }
    let mut text = Vec::new();
    let mut file = tokio::fs::File::open(path).await.ok()?.take(MAX_BYTES + 1);
    let length = file.read_to_end(&mut text).await.ok()?;
    u64::try_from(length).is_ok_and(|length| length <= MAX_BYTES).then_some(text)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[tokio::test]
    async fn a_changed_file_is_used_and_one_with_mistakes_is_not() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("keys");
        let write = |text: &str| {
            std::fs::write(directory.path().join("new"), text).unwrap();
            std::fs::rename(directory.path().join("new"), &path).unwrap();
        };
        write("1");
        let (tried, mut attempts) = watch::channel(0_u32);
        let make = move |text: &[u8]| {
            tried.send_modify(|count| *count += 1);
            std::str::from_utf8(text)
                .ok()
                .and_then(|text| text.parse::<u32>().ok())
                .ok_or_else(|| "no number".to_owned())
        };
        let watched = WatchedFile::every(Duration::from_millis(1), &path, (b"1".to_vec(), 1), Box::new(make));
        let mut changed = watched.kept.subscribe();
        write("2");
        changed.changed().await.unwrap();
        assert_eq!(*watched.current(), 2);
        attempts.mark_unchanged();
        write("x");
        attempts.changed().await.unwrap();
        write("3");
        changed.changed().await.unwrap();
        assert_eq!(*watched.current(), 3);
        // A file that is too long, and what is no file, change nothing.
        attempts.mark_unchanged();
        write(&"4".repeat((1 << 20) + 1));
        assert_eq!(bounded(&path).await, None);
        assert_eq!(bounded(Path::new("/dev/zero")).await, None);
        assert_eq!((attempts.has_changed().unwrap(), *watched.current()), (false, 3));
        // Whoever watches ends with the last copy.
        drop((watched, changed));
        while attempts.changed().await.is_ok() {}
    }
}
