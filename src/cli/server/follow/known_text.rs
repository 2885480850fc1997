//! What is read of a schema's file in, its changes out: each once, and no step of an editor between two of them.

use std::path::Path;
use tokio::io::AsyncReadExt;

/// The most bytes of a file that is loaded again.
const MAX_BYTES: u64 = 16 << 20;

/// The last known state of the file.
pub struct KnownText {
    text: String,
    /// A changed text that may not be whole yet.
    arriving: Option<String>,
    /// Whether a text must be read twice before it counts.
    settles: bool,
    missing: bool,
    /// Why the file could not be read when it was looked for again.
    gone: Option<String>,
}

/// What has changed.
#[derive(Debug, PartialEq, Eq)]
pub enum FileChange {
    /// Nothing.
    None,
    /// The file cannot be read any more, for this reason.
    Gone(String),
    /// The file has another text.
    Text(String),
}

impl KnownText {
    /// The file is `text` now. If `settles`, a text must be read twice before it counts.
    pub fn new(text: String, settles: bool) -> Self {
        Self { text, arriving: None, settles, missing: false, gone: None }
    }

    /// The text that was read on a signal is known.
    pub fn take(&mut self, text: &str) {
        (self.text, self.arriving, self.missing, self.gone) = (text.to_owned(), None, false, None);
    }

    /// Why the file could not be read twice, one time after the other: no step of an editor takes so long.
    pub fn gone(&self) -> Option<&str> {
        self.gone.as_deref()
    }

    /// Editors empty, move and write a file in steps, so a missing or empty file is no change yet.
    pub fn look(&mut self, text: Result<String, String>) -> FileChange {
        let text = match text {
            Ok(text) if !text.is_empty() => text,
            gone => {
                let reason = gone.err().unwrap_or_else(|| "the file is empty".to_owned());
                if self.missing {
                    self.gone = Some(reason);
                    return FileChange::None;
                }
                (self.missing, self.arriving) = (true, None);
                return FileChange::Gone(reason);
            }
        };
        (self.missing, self.gone) = (false, None);
        if text == self.text {
            self.arriving = None;
            return FileChange::None;
        }
        if self.settles && self.arriving.as_ref() != Some(&text) {
            self.arriving = Some(text);
            return FileChange::None;
        }
        self.take(&text);
        FileChange::Text(text)
    }
}

/// The text of the schema's file. A pipe can be read only once, so it is no file here.
pub async fn read(path: &Path) -> Result<String, String> {
    let trouble = |error: std::io::Error| format!("the file cannot be read: {error}");
    if !tokio::fs::metadata(path).await.map_err(trouble)?.is_file() {
        return Err("the schema is not in a file that can be read again".to_owned());
    }
    let mut bytes = Vec::new();
    let mut file = tokio::fs::File::open(path).await.map_err(trouble)?.take(MAX_BYTES + 1);
    let length = file.read_to_end(&mut bytes).await.map_err(trouble)?;
    if u64::try_from(length).is_ok_and(|length| length > MAX_BYTES) {
        return Err(format!("the file is longer than {} MiB", MAX_BYTES >> 20));
    }
    String::from_utf8(bytes).map_err(|_| "the file is not UTF-8 text".to_owned())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn looks(seen: &mut KnownText, text: Option<&str>) -> FileChange {
        seen.look(text.map(str::to_owned).ok_or_else(|| "gone".to_owned()))
    }

    #[test]
    fn each_change_is_seen_once_and_steps_between_are_waited_for() {
        let mut seen = KnownText::new("a".into(), false);
        let mut look = |text: Option<&str>| looks(&mut seen, text);
        assert_eq!(look(Some("a")), FileChange::None);
        assert_eq!(look(Some("b")), FileChange::Text("b".into()));
        assert_eq!(look(Some("b")), FileChange::None);
        assert_eq!(
            (look(None), look(Some("")), look(None)),
            (FileChange::Gone("gone".into()), FileChange::None, FileChange::None)
        );
        assert_eq!(look(Some("b")), FileChange::None);
        assert_eq!(look(Some("")), FileChange::Gone("the file is empty".into()));
        assert_eq!(look(Some("c")), FileChange::Text("c".into()));
    }

    #[test]
    fn a_file_that_is_being_written_is_waited_for() {
        let mut seen = KnownText::new("abc".into(), true);
        assert_eq!((looks(&mut seen, Some("a")), looks(&mut seen, Some("ab"))), (FileChange::None, FileChange::None));
        assert_eq!(
            (looks(&mut seen, Some("abd")), looks(&mut seen, Some("abd"))),
            (FileChange::None, FileChange::Text("abd".into()))
        );
        // A text that goes back to what it was is no change.
        assert_eq!((looks(&mut seen, Some("ab")), looks(&mut seen, Some("abd"))), (FileChange::None, FileChange::None));
        assert_eq!(looks(&mut seen, Some("abd")), FileChange::None);
        // What a signal has loaded is not loaded again.
        looks(&mut seen, Some("abe"));
        seen.take("abe");
        assert_eq!(looks(&mut seen, Some("abe")), FileChange::None);
    }

    #[tokio::test]
    async fn only_a_file_is_read_again() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("schema.graphql");
        assert!(read(&path).await.unwrap_err().starts_with("the file cannot be read: "));
        std::fs::write(&path, b"\xff").unwrap();
        assert_eq!(read(&path).await.unwrap_err(), "the file is not UTF-8 text");
        std::fs::write(&path, vec![b' '; (16 << 20) + 1]).unwrap();
        assert_eq!(read(&path).await.unwrap_err(), "the file is longer than 16 MiB");
        for other in [directory.path(), Path::new("/dev/zero")] {
            assert_eq!(read(other).await.unwrap_err(), "the schema is not in a file that can be read again");
        }
    }
}
