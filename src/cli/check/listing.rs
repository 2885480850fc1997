//! Findings in; each with the lines and columns of its place, for programs, out.

use crate::schema::diagnostics::diagnostic::{Diagnostic, Diagnostics, Severity};
use crate::schema::diagnostics::help::Edit;
use crate::schema::diagnostics::lines::{LineIndex, LinePlace};
use crate::schema::diagnostics::span::Span;
use serde_json::{Value, json};
use std::rc::Rc;

/// A finding with its file.
pub struct PlacedFinding<'a> {
    /// The file and its text.
    pub source: &'a Diagnostics,
    /// The lines of the text.
    lines: Rc<LineIndex>,
    /// The finding.
    pub diagnostic: &'a Diagnostic,
}

/// All findings of these files.
pub fn placed(found: &[Diagnostics]) -> impl Iterator<Item = PlacedFinding<'_>> {
    found.iter().filter(|source| !source.list.is_empty()).flat_map(|source| {
        let lines = Rc::new(LineIndex::new(&source.text));
        source.list.iter().map(move |diagnostic| PlacedFinding { source, lines: lines.clone(), diagnostic })
    })
}

impl PlacedFinding<'_> {
    /// `error` or `warning`.
    pub fn severity(&self) -> &'static str {
        match self.diagnostic.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        }
    }

    /// Where it begins, and where it has ended.
    pub fn range(&self) -> [LinePlace; 2] {
        self.range_of(&self.diagnostic.span)
    }

    /// Where a span of its file begins, and where it has ended.
    pub fn range_of(&self, span: &Span) -> [LinePlace; 2] {
        [span.start, span.end].map(|offset| self.lines.place(&self.source.text, offset))
    }

    /// It as JSON, with the edits that make what its help says.
    pub fn json(&self) -> Value {
        let edit = |edit: &Edit| {
            let [(line, column), (end_line, end_column)] = self.range_of(&edit.span);
            json!({ "line": line, "column": column, "endLine": end_line, "endColumn": end_column, "text": edit.text })
        };
        let Diagnostic { code, message, help, fix, .. } = self.diagnostic;
        let [(line, column), _] = self.range();
        json!({
            "file": self.source.file, "code": code, "severity": self.severity(), "message": message, "help": help,
            "line": line, "column": column, "fix": fix.iter().map(edit).collect::<Vec<_>>(),
        })
    }
}
