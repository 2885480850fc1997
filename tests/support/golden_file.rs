//! A golden's file ⇄ its sections. Everything that reads `tests/golden/` reads it here. Must not know what the sections
//! mean.
//!
//! `tests/golden/<system>/<case>.golden` holds an operation with all that it leads to, one section after the other,
//! each under a line `==== <name>`:
//!
//! | section | holds |
//! |---|---|
//! | `operation` | the operation; left out where it is `examples/<name>/operations/<case>.graphql` |
//! | `caller` | the claims of who sends it, as JSON; null is an anonymous caller. Left out, it is the first of the system's `callers.json`, or an anonymous one |
//! | `variables` | the operation's variables, as JSON; left out, it has none |
//! | `plan` | its plan, or why it is refused |
//! | `calls` | the DynamoDB calls, in order; a call that is not listed fails the test |
//! | `response` | the response |
//!
//! They stand in this order. The first three are written by hand, the last three by `UPDATE_EXPECT=1`. A section is the
//! text between its line and the next such line, byte for byte.

#![allow(dead_code)]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

const MARK: &str = "==== ";

/// A section, in the order in which they stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Section {
    Operation,
    Caller,
    Variables,
    Plan,
    Calls,
    Response,
}

impl Section {
    const ALL: [Self; 6] = [Self::Operation, Self::Caller, Self::Variables, Self::Plan, Self::Calls, Self::Response];
    /// What an operation leads to.
    pub const RESULTS: [Self; 3] = [Self::Plan, Self::Calls, Self::Response];

    pub fn name(self) -> &'static str {
        match self {
            Self::Operation => "operation",
            Self::Caller => "caller",
            Self::Variables => "variables",
            Self::Plan => "plan",
            Self::Calls => "calls",
            Self::Response => "response",
        }
    }
}

/// The content of a golden's file.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct GoldenFile {
    sections: BTreeMap<Section, String>,
}

impl GoldenFile {
    /// Reads a file.
    ///
    /// # Errors
    /// If there is no such file, or it is not in the form. The text has the path.
    pub fn read(path: &Path) -> Result<Self, String> {
        let text = std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
        Self::parse(&text).map_err(|mistake| format!("{}:{mistake}", path.display()))
    }

    /// The sections of a text.
    ///
    /// # Errors
    /// The line of the first mistake, and what is wrong there: `3: …`.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut sections: BTreeMap<Section, String> = BTreeMap::new();
        for (number, line) in text.split_inclusive('\n').enumerate().map(|(index, line)| (index + 1, line)) {
            if !line.ends_with('\n') {
                return Err(format!("{number}: the last line has no end"));
            }
            if let Some(name) = line.trim_end_matches('\n').strip_prefix(MARK) {
                let section = Section::ALL.into_iter().find(|section| section.name() == name);
                let section = section.ok_or_else(|| format!("{number}: there is no section `{name}`"))?;
                if let Some((before, _)) = sections.last_key_value().filter(|(before, _)| **before >= section) {
                    return Err(format!("{number}: `{name}` stands after `{}`", before.name()));
                }
                sections.insert(section, String::new());
            } else {
                let mut last =
                    sections.last_entry().ok_or_else(|| format!("{number}: the first line is `{MARK}<section>`"))?;
                last.get_mut().push_str(line);
            }
        }
        Ok(Self { sections })
    }

    pub fn get(&self, section: Section) -> Option<&str> {
        self.sections.get(&section).map(String::as_str)
    }

    /// Sets a section's text.
    ///
    /// # Panics
    /// If the text could not be read back: its last line has no end, or one looks like the beginning of a section.
    pub fn set(&mut self, section: Section, text: &str) {
        assert!(text.is_empty() || text.ends_with('\n'), "the last line of `{}` has no end", section.name());
        assert!(
            !text.lines().any(|line| line.starts_with(MARK)),
            "a line of `{}` begins with `{MARK}`",
            section.name()
        );
        self.sections.insert(section, text.to_owned());
    }

    /// The file's text.
    pub fn to_text(&self) -> String {
        self.sections.iter().map(|(section, text)| format!("{MARK}{}\n{text}", section.name())).collect()
    }
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
