//! Mistakes of a schema's author: code, place, sentence, help. All of a file are reported at once.

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
    /// The stable code, `KF0101`.
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

/// Findings with the text that they are about.
#[derive(Debug, Clone)]
pub struct Diagnostics {
    /// The file's name, for the reader.
    pub file: String,
    /// The file's text.
    pub text: String,
    /// The findings, in the order of the text.
    pub list: Vec<Diagnostic>,
}

impl Diagnostics {
    /// Every finding with its place underlined, and a closing line that counts them.
    pub fn render(&self, _color: bool) -> String {
        todo!()
    }
}
