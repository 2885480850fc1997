//! Why what a person brings cannot be read, with the place and the way out.

use super::material::SourcePlace;
use std::io;

/// Why a source cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    /// The file cannot be opened or read.
    #[error("cannot read {name}: {why}")]
    Read {
        /// The file.
        name: String,
        /// Why.
        why: io::Error,
    },
    /// An item is none.
    #[error("{place}: {problem}")]
    Item {
        /// Where.
        place: SourcePlace,
        /// What is wrong with it.
        problem: String,
    },
    /// The text breaks its format.
    #[error("{name}:{line}: {problem}")]
    Syntax {
        /// The file.
        name: String,
        /// The line.
        line: u64,
        /// What is wrong there.
        problem: String,
    },
    /// The file ends too early.
    #[error("{name} ends in the middle, behind {items}: it is cut off")]
    CutOff {
        /// The file.
        name: String,
        /// What was read before, as "12 items".
        items: String,
    },
    /// The file is of a known format, and lacks what the format promises.
    #[error("{name}: {problem}")]
    Malformed {
        /// The file.
        name: String,
        /// What is wrong.
        problem: String,
    },
    /// No format is known that the file has.
    #[error("{name} is {what}: no tables, items or types can be read from it{}", on_a_line(advice.as_deref()))]
    Unknown {
        /// The file.
        name: String,
        /// What it is.
        what: String,
        /// What to do instead.
        advice: Option<String>,
    },
}

fn on_a_line(advice: Option<&str>) -> String {
    advice.map(|advice| format!("\n  {advice}")).unwrap_or_default()
}

impl SourceError {
    /// The error of a file of a known format that lacks what the format promises.
    pub fn malformed(name: &str, problem: impl Into<String>) -> Self {
        Self::Malformed { name: name.to_owned(), problem: problem.into() }
    }
}
