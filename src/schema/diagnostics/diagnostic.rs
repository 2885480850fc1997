//! Mistakes of a schema's author: code, place, sentence, help. All mistakes in a file are reported at once.

use crate::schema::diagnostics::rule::Rule;
use crate::schema::diagnostics::span::Span;
use std::collections::HashSet;

/// How bad a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Severity {
    /// The schema is not loaded.
    Error,
    /// The schema is loaded.
    Warning,
}

/// A finding.
#[derive(Debug, Clone)]
pub struct Diagnostic {
    /// The stable code, `KF0101`; [`crate::schema::diagnostics::rules::rules`] explains each.
    pub code: &'static str,
    /// How bad it is.
    pub severity: Severity,
    /// One sentence.
    pub message: String,
    /// The place: byte offsets into the file's text.
    pub span: std::ops::Range<usize>,
    /// What to write instead, or the valid choices.
    pub help: Option<String>,
}

/// Findings, with the text that they are about.
#[derive(Debug, Clone)]
pub struct Diagnostics {
    /// The file's name, as it is shown.
    pub file: String,
    /// The file's text.
    pub text: String,
    /// The findings, in the order of the text.
    pub list: Vec<Diagnostic>,
}

/// The findings so far, while a schema is loaded.
#[derive(Debug, Default)]
pub struct Findings {
    list: Vec<Diagnostic>,
    /// The place and the message of each finding.
    seen: HashSet<(usize, usize, String)>,
}

impl Findings {
    /// Adds an error.
    pub fn error(&mut self, rule: &'static Rule, span: &Span, message: impl Into<String>, help: Option<String>) {
        self.add(Diagnostic {
            code: rule.code,
            severity: Severity::Error,
            message: message.into(),
            span: span.clone(),
            help,
        });
    }

    /// Adds a warning.
    pub fn warning(&mut self, rule: &'static Rule, span: &Span, message: impl Into<String>, help: Option<String>) {
        self.add(Diagnostic {
            code: rule.code,
            severity: Severity::Warning,
            message: message.into(),
            span: span.clone(),
            help,
        });
    }

    /// Adds a finding unless the same message about the same place is there already.
    fn add(&mut self, mut found: Diagnostic) {
        found.message = clause(&found.message);
        found.help = found.help.map(|help| clause(&help));
        if self.seen.insert((found.span.start, found.span.end, found.message.clone())) {
            self.list.push(found);
        }
    }

    /// Adds the findings of a pass over places that other passes checked too. Each rule is reported once for each
    /// place.
    pub fn add_once(&mut self, others: Findings) {
        for found in others.list {
            if !self.list.iter().any(|known| known.span == found.span && known.code == found.code) {
                self.list.push(found);
            }
        }
    }

    /// Whether there is an error among the findings.
    pub fn failed(&self) -> bool {
        self.list.iter().any(|finding| finding.severity == Severity::Error)
    }

    /// The findings in the order of the text.
    pub fn into_diagnostics(mut self, file: &str, text: &str) -> Diagnostics {
        self.list.sort_by_key(|finding| (finding.span.start, finding.span.end));
        Diagnostics { file: file.to_owned(), text: text.to_owned(), list: self.list }
    }
}

/// A sentence in the form that follows a colon: without the full stop, and without a capital that only marks its
/// beginning.
fn clause(sentence: &str) -> String {
    let sentence = sentence.strip_suffix('.').unwrap_or(sentence);
    let mut letters = sentence.chars();
    match (letters.next(), letters.next()) {
        (Some(first), Some(second)) if first.is_ascii_uppercase() && (second.is_ascii_lowercase() || second == ' ') => {
            first.to_ascii_lowercase().to_string() + sentence.get(1..).unwrap_or_default()
        }
        _ => sentence.to_owned(),
    }
}
