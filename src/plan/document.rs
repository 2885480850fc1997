//! Operation text → a parsed and valid document, within the budgets. Cached by its text, so nothing here depends on variables.

use super::budget::{self, Budgets};
use super::error::{PlanError, PlanErrorKind, line_column};
use super::specialise::{Sensitivity, sensitivities};
use apollo_compiler::ast::OperationType;
use apollo_compiler::executable::Operation;
use apollo_compiler::parser::Parser;
use apollo_compiler::{ExecutableDocument, Node, Schema, validation::Valid};
use std::collections::HashMap;

/// A valid document, with what is known of its operations before any variable is.
#[derive(Debug)]
pub struct Document {
    /// The document.
    pub parsed: Valid<ExecutableDocument>,
    /// Operation name (empty for the anonymous one) → the variables on which its plan depends.
    pub sensitivities: HashMap<String, Vec<(String, Sensitivity)>>,
}

impl Document {
    /// Parses and validates a document and checks every operation against the budgets.
    pub fn parse(api: &Valid<Schema>, text: &str, budgets: &Budgets) -> Result<Self, Vec<PlanError>> {
        let mut parser = Parser::new().token_limit(budgets.tokens).recursion_limit(budgets.recursion);
        let ast = parser.parse_ast(text, "operation").map_err(|failed| of_list(&failed.errors, PlanErrorKind::Syntax))?;
        let parsed = ast.to_executable_validate(api).map_err(|list| of_list(&list.errors, PlanErrorKind::Validity))?;
        let mut all = HashMap::new();
        for operation in parsed.operations.iter() {
            budget::check(&parsed, operation, budgets).map_err(|error| vec![error])?;
            budget::refuse_repeated_input_fields(&parsed, operation).map_err(|error| vec![error])?;
            let name = operation.name.as_ref().map(|name| name.to_string()).unwrap_or_default();
            all.insert(name, sensitivities(&parsed, operation));
        }
        Ok(Self { parsed, sensitivities: all })
    }

    /// The operation of that name, or the only one.
    pub fn operation(&self, name: Option<&str>) -> Result<&Node<Operation>, PlanError> {
        let name = name.filter(|name| !name.is_empty());
        let operation =
            self.parsed.operations.get(name).map_err(|error| PlanError::new(PlanErrorKind::Input, format!("{}.", error.message())))?;
        if operation.operation_type == OperationType::Subscription {
            return Err(PlanError::new(PlanErrorKind::NotAvailable, "Subscriptions are not available over this transport."));
        }
        Ok(operation)
    }
}

fn of_list(list: &apollo_compiler::validation::DiagnosticList, kind: PlanErrorKind) -> Vec<PlanError> {
    // Parser limits come in the same list as syntax errors; the first of them says all.
    list.iter()
        .map(|diagnostic| {
            let place = diagnostic.line_column_range().map(|range| (range.start.line, range.start.column));
            let message = diagnostic.error.to_string();
            let kind = if message.contains("limit reached") { PlanErrorKind::Limit } else { kind };
            PlanError { kind, message: sentence(&message), locations: place.into_iter().collect() }
        })
        .collect()
}

/// The compiler's messages start in lower case and end without a stop.
fn sentence(message: &str) -> String {
    let message = message.strip_prefix("syntax error: ").unwrap_or(message);
    let mut letters = message.chars();
    let first = letters.next().map(|c| c.to_uppercase().to_string()).unwrap_or_default();
    let rest = letters.as_str();
    let stop = if rest.ends_with(['.', '!', '?']) { "" } else { "." };
    format!("{first}{rest}{stop}")
}

/// Line and column of a node of the document.
pub fn place<T>(node: &Node<T>, document: &ExecutableDocument) -> (usize, usize) {
    line_column(node.location(), &document.sources)
}
