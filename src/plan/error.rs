//! Why an operation is not planned: mistakes of the caller, each with its place. Must not know HTTP.

use apollo_compiler::parser::{SourceMap, SourceSpan};
use apollo_compiler::{ExecutableDocument, Node};

/// A mistake in an operation.
#[derive(Debug, Clone)]
pub struct PlanError {
    /// What kind of mistake it is.
    pub kind: PlanErrorKind,
    /// One sentence for the caller.
    pub message: String,
    /// Line and column in the document, from 1.
    pub locations: Vec<(usize, usize)>,
}

/// Kinds of mistakes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlanErrorKind {
    /// The document does not parse.
    Syntax,
    /// The document is not valid against the schema.
    Validity,
    /// A variable's or an argument's value is not acceptable.
    Input,
    /// A budget is exceeded.
    Limit,
    /// The schema allows it, but this version does not do it.
    NotAvailable,
    /// The model contradicts itself: a mistake of ours.
    Internal,
}

impl PlanError {
    /// An error without a place.
    pub fn new(kind: PlanErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), locations: Vec::new() }
    }

    /// The same error at a place of the document.
    pub fn at(mut self, location: (usize, usize)) -> Self {
        self.locations.push(location);
        self
    }
}

/// Line and column of a span, from 1; (0, 0) where there is none.
pub fn line_column(span: Option<SourceSpan>, sources: &SourceMap) -> (usize, usize) {
    span.and_then(|span| span.line_column(sources)).map_or((0, 0), |place| (place.line, place.column))
}

/// Line and column of a node of the document.
pub fn place<T>(node: &Node<T>, document: &ExecutableDocument) -> (usize, usize) {
    line_column(node.location(), &document.sources)
}
