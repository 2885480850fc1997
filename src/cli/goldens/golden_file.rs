//! A golden's file ⇄ its sections. Everything that reads goldens reads them here: the tests, the build, which makes a
//! bundle of them, and the command. Must not know what the sections mean, nor any other file of the crate.
//!
//! `tests/golden/<system>/<case>.golden` holds an operation with all that it leads to, one section after the other,
//! each under a line `==== <name>`:
//!
//! | section | holds |
//! |---|---|
//! | `operation` | the operation; left out where it is a file `<case>.graphql`: beside the golden, or in `operations/` beside the schema |
//! | `caller` | the claims of who sends it, as JSON, or the name of one of the system's `callers.json`; null is an anonymous caller. Left out, it is the first of the system's `callers.json`, or an anonymous one |
//! | `headers` | the headers that change what an operation does, as JSON; left out, it has none |
//! | `variables` | the operation's variables, as JSON; left out, it has none |
//! | `plan` | its plan, or why it is refused |
//! | `calls` | the DynamoDB calls, in order; a call that is not listed fails the test |
//! | `response` | the response |
//!
//! They stand in this order. The first four are written by hand, the last three by `UPDATE_EXPECT=1` and by
//! `keyfold test --bless`. A section is the
//! text between its line and the next such line, byte for byte.

use std::collections::BTreeMap;

const MARK: &str = "==== ";

/// A section, in the order in which they stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Section {
    /// The operation.
    Operation,
    /// The claims of who sends it.
    Caller,
    /// The headers that come with it.
    Headers,
    /// The operation's variables.
    Variables,
    /// Its plan.
    Plan,
    /// Its calls.
    Calls,
    /// Its response.
    Response,
}

impl Section {
    const ALL: [Self; 7] =
        [Self::Operation, Self::Caller, Self::Headers, Self::Variables, Self::Plan, Self::Calls, Self::Response];
    /// What an operation leads to.
    pub const RESULTS: [Self; 3] = [Self::Plan, Self::Calls, Self::Response];

    /// The name in its line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Operation => "operation",
            Self::Caller => "caller",
            Self::Headers => "headers",
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
                let section = section.ok_or_else(|| {
                    let names = Section::ALL.map(Section::name).join("`, `");
                    format!("{number}: there is no section `{name}`; there are `{names}`")
                })?;
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

    /// The text of a section; `None` without the section.
    pub fn get(&self, section: Section) -> Option<&str> {
        self.sections.get(&section).map(String::as_str)
    }

    /// Sets a section's text.
    ///
    /// # Errors
    /// If the text could not be read back: its last line has no end, or one looks like the beginning of a section.
    pub fn set(&mut self, section: Section, text: &str) -> Result<(), String> {
        if !text.is_empty() && !text.ends_with('\n') {
            return Err(format!("the last line of `{}` has no end", section.name()));
        }
        if text.lines().any(|line| line.starts_with(MARK)) {
            return Err(format!("a line of `{}` begins with `{MARK}`", section.name()));
        }
        self.sections.insert(section, text.to_owned());
        Ok(())
    }

    /// The same file without a section.
    pub fn without(mut self, section: Section) -> Self {
        self.sections.remove(&section);
        self
    }

    /// The file's text.
    pub fn to_text(&self) -> String {
        self.sections.iter().map(|(section, text)| format!("{MARK}{}\n{text}", section.name())).collect()
    }
}
