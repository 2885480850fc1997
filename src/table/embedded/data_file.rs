//! The path of a data file in; whether an engine may open it out: it is missing, or whole as far as its header shows.
//! Must not know the engine.
//!
//! SQLite takes an empty file for a new database, and notices that a file was cut off only when it reaches the missing
//! part. This check uses the first hundred bytes ("Database File Format", section 1.3).

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::Path;

/// The bytes of the header.
const HEADER: usize = 100;
/// The first bytes of every SQLite database.
const MAGIC: &[u8; 16] = b"SQLite format 3\0";

/// Whether the file can be opened. The error is a sentence for the user: the reason, and what to do.
pub(super) fn check(path: &Path) -> Result<(), String> {
    let named = |what: &str| {
        format!("the data file {} {what}; replace it with a copy, or delete it to start again", path.display())
    };
    let unreadable = |error: std::io::Error| format!("cannot read the data file {}: {error}", path.display());
    let mut file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(unreadable(error)),
    };
    let length = file.metadata().map_err(unreadable)?.len();
    if length == 0 {
        return Err(named("is empty"));
    }
    let mut header = [0; HEADER];
    match file.read_exact(&mut header) {
        Ok(()) => {}
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => {
            return Err(named(&format!("is cut off: it has {length} bytes")));
        }
        Err(error) => return Err(unreadable(error)),
    }
    if !header.starts_with(MAGIC) {
        return Err(named("is not a database of Keyfold, or its beginning is broken"));
    }
    let Some(declared) = declared_length(&header) else { return Err(named("is damaged: its header is broken")) };
    // An interrupted checkpoint leaves a shorter file, and the log next to it completes the file.
    let log = std::fs::metadata(format!("{}-wal", path.display())).map_or(0, |log| log.len());
    if declared.is_some_and(|declared| length < declared) && log == 0 {
        return Err(named(&format!("is cut off: it has {length} of {} bytes", declared.unwrap_or(0))));
    }
    Ok(())
}

/// The length that the header declares; `Some(None)` if it does not declare it, `None` if it is broken.
fn declared_length(header: &[u8; HEADER]) -> Option<Option<u64>> {
    let number = |at: usize| header.get(at..at + 4).and_then(|bytes| bytes.try_into().ok()).map(u32::from_be_bytes);
    let page = match u16::from_be_bytes([header[16], header[17]]) {
        1 => 65_536,
        size if size >= 512 && size.is_power_of_two() => u64::from(size),
        _ => return None,
    };
    let (changes, pages, valid_for) = (number(24)?, number(28)?, number(92)?);
    Some((changes == valid_for && pages > 0).then(|| u64::from(pages) * page))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn header(page: u16, pages: u32, changes: [u32; 2]) -> Vec<u8> {
        let mut bytes = vec![0; 4096];
        bytes[..16].copy_from_slice(MAGIC);
        bytes[16..18].copy_from_slice(&page.to_be_bytes());
        bytes[24..28].copy_from_slice(&changes[0].to_be_bytes());
        bytes[28..32].copy_from_slice(&pages.to_be_bytes());
        bytes[92..96].copy_from_slice(&changes[1].to_be_bytes());
        bytes
    }

    #[test]
    fn a_file_is_whole_or_a_sentence_says_what_is_wrong() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("d");
        assert_eq!(check(&path), Ok(()), "a missing file is a new store");
        for (bytes, words) in [
            (Vec::new(), "is empty;"),
            (MAGIC.to_vec(), "is cut off: it has 16 bytes;"),
            (vec![b'x'; 200], "is not a database of Keyfold"),
            (header(4000, 1, [1, 1]), "its header is broken"),
            (header(0, 1, [1, 1]), "its header is broken"),
            (header(4096, 3, [7, 7]), "is cut off: it has 4096 of 12288 bytes"),
        ] {
            std::fs::write(&path, bytes).unwrap();
            let sentence = check(&path).unwrap_err();
            assert!(sentence.contains(words), "{sentence}");
        }
        for bytes in [header(4096, 1, [7, 7]), header(4096, 3, [7, 6]), header(4096, 0, [7, 7])] {
            std::fs::write(&path, bytes).unwrap();
            assert_eq!(check(&path), Ok(()));
        }
        std::fs::write(&path, header(4096, 3, [7, 7])).unwrap();
        std::fs::write(directory.path().join("d-wal"), "frames").unwrap();
        assert_eq!(check(&path), Ok(()), "the log completes it");
    }
}
