//! Mistakes of a schema's author: code, place, sentence, help. All mistakes in a file are reported at once.

use crate::schema::diagnostics::help::{Edit, Help};
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
    /// The edits that make what the help says, in the order of the text; empty if it leaves a choice.
    pub fix: Vec<Edit>,
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

/// A finding whose edits are not made yet.
#[derive(Debug)]
struct PendingDiagnostic {
    diagnostic: Diagnostic,
    help: Option<Help>,
    /// The field, `Card.teamId`, whose type may be the only mistake.
    of_type: Option<String>,
}

/// The findings so far, while a schema is loaded.
#[derive(Debug, Default)]
pub struct Findings {
    list: Vec<PendingDiagnostic>,
    /// The place and the message of each finding.
    seen: HashSet<(usize, usize, String)>,
}

impl Findings {
    /// Adds an error.
    pub fn error(&mut self, rule: &'static Rule, span: &Span, message: impl Into<String>, help: Option<Help>) {
        self.add(Severity::Error, rule, span, (message.into(), help));
    }

    /// Adds an error unless the same sentence is there already, about any place.
    pub fn error_once(&mut self, rule: &'static Rule, span: &Span, message: String, help: Option<Help>) {
        let said = clause(&message);
        let is_known =
            |known: &PendingDiagnostic| known.diagnostic.code == rule.code && known.diagnostic.message == said;
        if !self.list.iter().any(is_known) {
            self.error(rule, span, message, help);
        }
    }

    /// Adds an error that the type of a field, `Card.teamId`, may be the cause of.
    pub fn error_by_type(
        &mut self,
        rule: &'static Rule,
        span: &Span,
        (message, help): (String, Option<Help>),
        field: Option<String>,
    ) {
        let before = self.list.len();
        self.error(rule, span, message, help);
        self.list[before..].iter_mut().for_each(|found| found.of_type.clone_from(&field));
    }

    /// The fields whose types may be causes, each once.
    pub fn suspected_types(&self) -> Vec<String> {
        let mut fields: Vec<String> = self.list.iter().filter_map(|found| found.of_type.clone()).collect();
        fields.sort();
        fields.dedup();
        fields
    }

    /// Drops what the type of a field is the cause of, because that is reported itself.
    pub fn drop_caused_by(&mut self, field: &str) {
        self.list.retain(|found| found.of_type.as_deref() != Some(field));
    }

    /// Adds a warning.
    pub fn warning(&mut self, rule: &'static Rule, span: &Span, message: impl Into<String>, help: Option<Help>) {
        self.add(Severity::Warning, rule, span, (message.into(), help));
    }

    /// Adds a finding unless the same message about the same place is there already.
    fn add(&mut self, severity: Severity, rule: &'static Rule, span: &Span, (message, help): (String, Option<Help>)) {
        let message = clause(&message);
        if self.seen.insert((span.start, span.end, message.clone())) {
            let said = help.as_ref().map(|help| clause(&help.text));
            let diagnostic =
                Diagnostic { code: rule.code, severity, message, span: span.clone(), help: said, fix: Vec::new() };
            self.list.push(PendingDiagnostic { diagnostic, help, of_type: None });
        }
    }

    /// Adds the findings of a pass over places that other passes checked too. Each rule is reported once for each
    /// place.
    pub fn add_once(&mut self, others: Findings) {
        for found in others.list {
            let (span, code) = (&found.diagnostic.span, found.diagnostic.code);
            if !self.list.iter().any(|known| known.diagnostic.span == *span && known.diagnostic.code == code) {
                self.list.push(found);
            }
        }
    }

    /// Whether there is an error among the findings.
    pub fn failed(&self) -> bool {
        self.list.iter().any(|found| found.diagnostic.severity == Severity::Error)
    }

    /// The findings in the order of the text.
    pub fn into_diagnostics(mut self, file: &str, text: &str) -> Diagnostics {
        self.list.sort_by_key(|found| (found.diagnostic.span.start, found.diagnostic.span.end));
        let with_fix = |PendingDiagnostic { mut diagnostic, help, .. }: PendingDiagnostic| {
            diagnostic.fix = help.map(|help| help.into_edits(text, &diagnostic.span)).unwrap_or_default();
            diagnostic
        };
        Diagnostics {
            file: file.to_owned(),
            text: text.to_owned(),
            list: self.list.into_iter().map(with_fix).collect(),
        }
    }
}

/// A sentence in the form that follows a colon: without the full stop, and without a capital that only marks its
/// beginning.
pub fn clause(sentence: &str) -> String {
    let sentence = sentence.strip_suffix('.').unwrap_or(sentence);
    let mut letters = sentence.chars();
    match (letters.next(), letters.next()) {
        (Some(first), Some(second)) if first.is_ascii_uppercase() && (second.is_ascii_lowercase() || second == ' ') => {
            first.to_ascii_lowercase().to_string() + sentence.get(1..).unwrap_or_default()
        }
        _ => sentence.to_owned(),
    }
}
