//! A text in; its operations and fragments, each with its place and the fragments that it spreads, out. Only the syntax
//! is checked: what a document of several texts is made of.

use super::budget::OperationBudgets;
use super::descriptions;
use super::document::syntax_errors;
use crate::plan::error::PlanError;
use apollo_compiler::ast::{Definition, Selection};
use apollo_compiler::parser::Parser;
use apollo_compiler::{Name, Schema};
use std::collections::BTreeSet;
use std::ops::Range;

/// The most tokens of a text. It may hold all operations of a client.
const MAX_TOKENS: usize = 4_000_000;

/// An operation or a fragment of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExecutableDefinition {
    /// Whether it is a fragment.
    pub is_fragment: bool,
    /// Its name. A fragment has one.
    pub name: Option<String>,
    /// The bytes of the whole.
    pub span: Range<usize>,
    /// The bytes of its name, or of its first letter.
    pub head: Range<usize>,
    /// The fragments that it spreads.
    pub spreads: BTreeSet<String>,
}

/// The operations and the fragments of a text, in their order. Definitions of types are left out.
pub fn definitions(api: &Schema, text: &str) -> Result<Vec<ExecutableDefinition>, Vec<PlanError>> {
    let budgets = OperationBudgets { tokens: MAX_TOKENS, ..OperationBudgets::default() };
    let mut parser = Parser::new().token_limit(budgets.tokens).recursion_limit(budgets.recursion);
    let blanked = descriptions::blank(text, budgets.tokens);
    let parsed = parser.parse_ast(blanked.clone(), "operation");
    let document = parsed.map_err(|failed| syntax_errors((&failed.errors, api, &blanked), &budgets))?;
    Ok(document.definitions.iter().filter_map(definition).collect())
}

fn definition(definition: &Definition) -> Option<ExecutableDefinition> {
    let (is_fragment, name, selections) = match definition {
        Definition::OperationDefinition(operation) => (false, operation.name.as_ref(), &operation.selection_set),
        Definition::FragmentDefinition(fragment) => (true, Some(&fragment.name), &fragment.selection_set),
        _ => return None,
    };
    let span = definition.location().map(|at| at.offset()..at.end_offset())?;
    let place = |name: &Name| name.location().map(|at| at.offset()..at.end_offset());
    let head = name.and_then(place).unwrap_or(span.start..span.start + 1);
    let mut spreads = BTreeSet::new();
    collect(selections, &mut spreads);
    Some(ExecutableDefinition { is_fragment, name: name.map(ToString::to_string), span, head, spreads })
}

/// The parser bounds how deep selections are nested.
fn collect(selections: &[Selection], spreads: &mut BTreeSet<String>) {
    for selection in selections {
        match selection {
            Selection::Field(field) => collect(&field.selection_set, spreads),
            Selection::InlineFragment(inline) => collect(&inline.selection_set, spreads),
            Selection::FragmentSpread(spread) => _ = spreads.insert(spread.fragment_name.to_string()),
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn operations_and_fragments_have_their_places() {
        let api = Schema::parse_and_validate("type Query { a: Int }", "api").unwrap();
        let text =
            "\"says\" query A { a ... { ...F } }\n{ a }\nfragment F on Query { b { ...G } }\ntype Other { a: Int }";
        let found = definitions(&api, text).unwrap();
        let said: Vec<_> = found
            .iter()
            .map(|one| {
                (one.is_fragment, &text[one.span.clone()], &text[one.head.clone()], Vec::from_iter(&one.spreads))
            })
            .collect();
        let (f, g) = ("F".to_owned(), "G".to_owned());
        assert_eq!(
            said,
            [
                (false, "query A { a ... { ...F } }", "A", vec![&f]),
                (false, "{ a }", "{", vec![]),
                (true, "fragment F on Query { b { ...G } }", "F", vec![&g]),
            ]
        );
        let errors = definitions(&api, "{ a").unwrap_err();
        assert!(errors[0].message.contains("the end of the document"), "{errors:?}");
    }
}
