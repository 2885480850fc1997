//! The files of goldens: where they are, and what is in them. `keyfold::cli::selftest` has their form.

#![allow(dead_code, unused_imports)]

pub use keyfold::cli::goldens::golden_file::{GoldenFile, Section};
use std::path::{Path, PathBuf};

/// Reads a golden's file.
///
/// # Errors
/// If there is no such file, or it is not in the form. The text has the path.
pub fn read(path: &Path) -> Result<GoldenFile, String> {
    let text = std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    GoldenFile::parse(&text).map_err(|mistake| format!("{}:{mistake}", path.display()))
}

/// The folder of a system's goldens; of no system, that of all of them.
pub fn folder(system: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(system)
}

/// The files of a system's goldens, sorted.
///
/// # Errors
/// If the folder cannot be read.
pub fn files(system: &str) -> std::io::Result<Vec<PathBuf>> {
    let entries: Vec<PathBuf> =
        std::fs::read_dir(folder(system))?.map(|entry| Ok(entry?.path())).collect::<std::io::Result<_>>()?;
    let mut files: Vec<PathBuf> =
        entries.into_iter().filter(|path| path.extension().is_some_and(|ending| ending == "golden")).collect();
    files.sort();
    Ok(files)
}
