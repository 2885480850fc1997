//! Operation text → a parsed and valid document, within the budgets. Cached by its text, so nothing here depends on
//! variables.

use super::budget::{self, OperationBudgets};
use super::meant::meant;
use super::slips::{slip, within};
use super::specialise::{Sensitivity, sensitivities};
use super::{descriptions, literals};
use crate::plan::error::{PlanError, PlanErrorKind};
use crate::schema::syntax::compiler::tokens::in_plain_tokens;
use apollo_compiler::executable::Operation;
use apollo_compiler::parser::Parser;
use apollo_compiler::validation::{DiagnosticList, Valid, WithErrors};
use apollo_compiler::{ExecutableDocument, Node, Schema};
use std::collections::HashMap;

/// The most mistakes that are reported for a document or its variables, and the most operation names that a message
/// lists.
pub const MAX_MISTAKES: usize = 20;

/// A valid document, with what is known of its operations before any variable.
#[derive(Debug)]
pub struct Document {
    /// The document.
    pub parsed: Valid<ExecutableDocument>,
    /// Operation name (empty for the anonymous one) → the variables on which its plan depends.
    pub sensitivities: HashMap<String, Vec<(String, Sensitivity)>>,
}

impl Document {
    /// Parses and validates a document and checks every operation against the budgets.
    pub fn parse(api: &Valid<Schema>, text: &str, budgets: &OperationBudgets) -> Result<Self, Vec<PlanError>> {
        let mut parser = Parser::new().token_limit(budgets.tokens).recursion_limit(budgets.recursion);
        let blanked = descriptions::blank(text, budgets.tokens);
        let ast = parser
            .parse_ast(blanked.clone(), "operation")
            .map_err(|failed| syntax_errors((&failed.errors, api, &blanked), budgets))?;
        let parsed = match ast.to_executable_validate(api) {
            Ok(parsed) => parsed,
            Err(failed) => {
                let mut mistakes = compiler_errors((&failed.errors, api, &blanked), PlanErrorKind::Validity, budgets);
                if mistakes.is_empty() || !only_repeats_roots(&failed) {
                    mistakes.truncate(MAX_MISTAKES);
                    return Err(mistakes);
                }
                Valid::assume_valid(failed.partial)
            }
        };
        let mut all = HashMap::new();
        for operation in parsed.operations.iter() {
            budget::check(&parsed, operation, budgets).map_err(|error| vec![error])?;
            let mut mistakes = literals::mistakes(api, &parsed, operation);
            if !mistakes.is_empty() {
                mistakes.truncate(MAX_MISTAKES);
                return Err(mistakes);
            }
            let name = operation.name.as_ref().map(|name| name.to_string()).unwrap_or_default();
            all.insert(name, sensitivities(&parsed, operation));
        }
        Ok(Self { parsed, sensitivities: all })
    }

    /// The operation of that name; without a name, the only one.
    pub fn operation(&self, name: Option<&str>) -> Result<&Node<Operation>, PlanError> {
        let name = name.filter(|name| !name.is_empty());
        self.parsed.operations.get(name).map_err(|_| PlanError::new(PlanErrorKind::Input, self.choice(name)))
    }

    /// The message for a name that matches no operation.
    fn choice(&self, name: Option<&str>) -> String {
        let names: Vec<&str> = self.parsed.operations.named.keys().map(|name| name.as_str()).collect();
        let has = match names.as_slice() {
            [] => "an operation without a name".to_owned(),
            [only] => format!("`{only}`"),
            [first @ .., _] if names.len() > MAX_MISTAKES => {
                format!("`{}` and {} more", first[..MAX_MISTAKES].join("`, `"), names.len() - MAX_MISTAKES)
            }
            [all @ .., last] => format!("`{}` and `{last}`", all.join("`, `")),
        };
        match name {
            None => format!("The document has several operations, {has}. Set `operationName` to one of them."),
            Some(name) => format!("The document has no operation `{name}`. It has {has}."),
        }
    }
}

/// Whether nothing is wrong but that the compiler counts a root field of a subscription each time it is written.
/// Selections with one response key are one field (GraphQL spec section 5.2.4.1, "Single Root Field"), and the compiler
/// has checked that they can be merged.
fn only_repeats_roots(failed: &WithErrors<ExecutableDocument>) -> bool {
    let document = &failed.partial;
    let has_one_root = |operation: &Node<Operation>| {
        let mut keys = operation.root_fields(document).map(|field| field.response_key());
        keys.next().is_none_or(|first| keys.all(|key| key == first))
    };
    failed.errors.iter().all(|one| one.error.unstable_error_name() == Some("SubscriptionUsesMultipleFields"))
        && document.operations.iter().filter(|operation| operation.is_subscription()).all(has_one_root)
}

/// Mistakes of the syntax of a text as errors for the caller.
pub(super) fn syntax_errors(found: (&DiagnosticList, &Schema, &str), budgets: &OperationBudgets) -> Vec<PlanError> {
    compiler_errors(found, PlanErrorKind::Syntax, budgets)
}

/// The compiler's diagnostics as errors for the caller.
fn compiler_errors(
    (list, api, text): (&DiagnosticList, &Schema, &str),
    kind: PlanErrorKind,
    budgets: &OperationBudgets,
) -> Vec<PlanError> {
    let refused = list
        .iter()
        .any(|one| matches!(one.error.unstable_error_name(), Some("UndefinedField" | "SubselectionOnScalarType")));
    let mut mistakes: Vec<PlanError> = Vec::new();
    for diagnostic in list.iter() {
        // The compiler drops a refused selection and then also reports that it is missing.
        if refused && diagnostic.error.unstable_error_name() == Some("MissingSubselection") {
            continue;
        }
        let place = diagnostic.line_column_range().map(|range| (range.start.line, range.start.column));
        let said = diagnostic.error.to_string();
        // Parsing ends at a limit; the other diagnostics only follow from that.
        if let Some(message) = limit(&said, budgets) {
            return vec![PlanError { kind: PlanErrorKind::Limit, message, locations: place.into_iter().collect() }];
        }
        let slip = place.and_then(|place| slip(text, &said, place)).filter(|_| kind == PlanErrorKind::Syntax);
        let is_slip = slip.is_some();
        let meant = slip.or_else(|| meant(api, &said).filter(|_| budgets.suggests)).or_else(|| within(text, &said));
        let meant = meant.map_or_else(String::new, |meant| format!(" {meant}"));
        let message = if kind == PlanErrorKind::Syntax { in_plain_words(&said) } else { said };
        let message = format!("{}{meant}", sentence(&message));
        let mistake = PlanError { kind, message, locations: place.into_iter().collect() };
        let is_reported =
            mistakes.iter().any(|before| before.message == mistake.message && before.locations == mistake.locations);
        if !is_reported && mistakes.len() < MAX_MISTAKES {
            mistakes.push(mistake);
        }
        // What the parser finds after a slip only follows from it.
        if is_slip {
            break;
        }
    }
    mistakes
}

/// The message for a diagnostic that reports one of the compiler's limits.
fn limit(message: &str, budgets: &OperationBudgets) -> Option<String> {
    if message.contains("token limit reached") {
        return Some(format!("The operation is too large: more than {} tokens.", budgets.tokens));
    }
    let nested = ["recursion limit reached", "too much recursion", "too much nesting"];
    nested
        .iter()
        .any(|limit| message.contains(limit))
        .then(|| "The operation is too large: its nesting is too deep.".to_owned())
}

/// Replaces the parser's own names of tokens, and of the end, by what is written.
fn in_plain_words(message: &str) -> String {
    let ends = [
        ("got EOF", "got the end of the document"),
        ("Unexpected <EOF>", "expected an operation, got the end of the document"),
    ];
    ends.iter().fold(in_plain_tokens(message), |message, (name, plain)| message.replacen(name, plain, 1))
}

/// Makes a sentence of a compiler's message, which starts in lower case and has no full stop.
fn sentence(message: &str) -> String {
    let message = message.strip_prefix("syntax error: ").unwrap_or(message);
    let mut letters = message.chars();
    let first = letters.next().map(|c| c.to_uppercase().to_string()).unwrap_or_default();
    let rest = letters.as_str();
    let stop = if rest.ends_with(['.', '!', '?']) { "" } else { "." };
    format!("{first}{rest}{stop}")
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_response_key_that_a_subscription_repeats_is_one_field() {
        let text =
            "type Query { a: Int } type Note { x: Int y: Int } type Subscription { notes(id: Int): Note others: Note }";
        let api = Schema::parse_and_validate(text, "api").unwrap();
        let checked = |text: &str| {
            Document::parse(&api, text, &OperationBudgets::default())
                .map(drop)
                .map_err(|mistakes| mistakes[0].message.clone())
        };
        for one in [
            "subscription { notes { x } }",
            "subscription { a: notes { x } a: notes { y } }",
            "subscription { notes { x } ...F ... { notes { y } } ...F } fragment F on Subscription { notes { x y } ... on Subscription { notes { x } } }",
            "subscription A { notes { x } notes { y } } subscription B { b: others { x } b: others { x } } query C { a }",
        ] {
            assert_eq!(checked(one), Ok(()), "{one}");
        }
        for several in [
            "subscription { a: notes { x } b: notes { x } }",
            "subscription { notes { x } others { x } }",
            "subscription { notes { x } ...F } fragment F on Subscription { b: notes { x } }",
            "subscription { a: notes(id: 1) { x } a: notes(id: 2) { x } }",
            "subscription { a: notes { x } a: others { x } }",
            "subscription { notes { x } notes { z } }",
            "subscription { notes { x } notes @include(if: true) { y } }",
            "subscription { __typename }",
            "subscription A { notes { x } notes { y } } subscription B { a: notes { x } b: notes { x } }",
        ] {
            assert!(checked(several).is_err(), "{several}");
        }
    }

    #[test]
    fn an_operation_that_is_not_named_is_asked_for_by_the_names_there_are() {
        let api = Schema::parse_and_validate("type Query { a: Int }", "api").unwrap();
        let said = |text: &str, name| {
            Document::parse(&api, text, &OperationBudgets::default()).unwrap().operation(name).unwrap_err().message
        };
        let three = "query A { a } query B { a } query C { a }";
        assert_eq!(
            said(three, None),
            "The document has several operations, `A`, `B` and `C`. Set `operationName` to one of them."
        );
        assert_eq!(said(three, Some("D")), "The document has no operation `D`. It has `A`, `B` and `C`.");
        assert_eq!(said("query A { a }", Some("D")), "The document has no operation `D`. It has `A`.");
        assert_eq!(said("{ a }", Some("D")), "The document has no operation `D`. It has an operation without a name.");
    }
}
