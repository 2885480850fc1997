//! A valid document in; out: whether its depth, fields and aliases are within the budgets. Fields in fragments count
//! each time they are spread, aliases once.
//!
//! Nested fragments can grow exponentially, so the walk stops as soon as a budget is exceeded.

use crate::plan::error::{PlanError, PlanErrorKind, place};
use apollo_compiler::executable::{Operation, Selection, SelectionSet};
use apollo_compiler::{ExecutableDocument, Name};
use std::collections::HashSet;

/// How large an operation may be.
#[derive(Debug, Clone)]
pub struct OperationBudgets {
    /// Tokens of the document.
    pub tokens: usize,
    /// Nesting that the parser follows.
    pub recursion: usize,
    /// Deepest nesting of fields.
    pub depth: usize,
    /// Fields after fragments are spread.
    pub fields: usize,
    /// Aliases, but for those of `__typename`; one in a fragment counts once, however often the fragment is spread.
    pub aliases: usize,
    /// Whether mistakes say which names were probably meant.
    pub suggests: bool,
}

impl Default for OperationBudgets {
    /// 15,000 tokens, depth 20 and 30 aliases, as widely used gateways set them.
    fn default() -> Self {
        Self { tokens: 15_000, recursion: 200, depth: 20, fields: 5_000, aliases: 30, suggests: true }
    }
}

struct Count<'a> {
    document: &'a ExecutableDocument,
    budgets: &'a OperationBudgets,
    /// The fragments whose aliases are counted.
    counted: HashSet<&'a Name>,
    fields: usize,
    aliases: usize,
    spreads: usize,
}

/// Where a selection stands.
#[derive(Clone, Copy)]
struct Within {
    /// How deep its fields are nested; none within introspection.
    depth: Option<usize>,
    /// Whether its aliases are already counted, because its fragment was spread before.
    again: bool,
}

/// Checks an operation against the budgets. A fragment's fields count each time it is spread, so its aliases count
/// once. In introspection, depth is unlimited here, and aliases count each time: each alias of `types` repeats the
/// whole schema, and nothing else bounds that.
pub fn check(
    document: &ExecutableDocument,
    operation: &Operation,
    budgets: &OperationBudgets,
) -> Result<(), PlanError> {
    let mut count = Count { document, budgets, counted: HashSet::new(), fields: 0, aliases: 0, spreads: 0 };
    count.walk(&operation.selection_set, Within { depth: Some(1), again: false })
}

impl<'a> Count<'a> {
    fn walk(&mut self, set: &SelectionSet, within: Within) -> Result<(), PlanError> {
        for selection in &set.selections {
            match selection {
                Selection::Field(field) => {
                    let depth = within.depth.filter(|_| field.name != "__schema" && field.name != "__type");
                    let here = place(field, self.document);
                    self.fields += 1;
                    let repeats = field.alias.is_some() && field.name != "__typename";
                    self.aliases += usize::from(repeats && (depth.is_none() || !within.again));
                    let over = [
                        (depth.unwrap_or(0), self.budgets.depth, "levels deep (--max-depth)"),
                        (self.fields, self.budgets.fields, "fields (--max-fields)"),
                        (self.aliases, self.budgets.aliases, "aliases (--max-aliases)"),
                    ];
                    if let Some((_, limit, what)) = over.iter().find(|(is, limit, _)| is > limit) {
                        let message = format!("The operation is too large: more than {limit} {what}.");
                        return Err(PlanError::new(PlanErrorKind::Limit, message).at(here));
                    }
                    self.walk(&field.selection_set, Within { depth: depth.map(|depth| depth + 1), ..within })?;
                }
                Selection::InlineFragment(fragment) => self.spread(&fragment.selection_set, within)?,
                Selection::FragmentSpread(spread) => {
                    if let Some(fragment) = spread.fragment_def(self.document) {
                        let again = !self.counted.insert(&fragment.name) || within.again;
                        self.spread(&fragment.selection_set, Within { again, ..within })?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Counts fragments on their own: those that contain only fragments cost no field.
    fn spread(&mut self, set: &SelectionSet, within: Within) -> Result<(), PlanError> {
        self.spreads += 1;
        if self.spreads > self.budgets.fields {
            let message =
                format!("The operation is too large: more than {} fragments (--max-fields).", self.budgets.fields);
            return Err(PlanError::new(PlanErrorKind::Limit, message));
        }
        self.walk(set, within)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use apollo_compiler::Schema;

    #[test]
    fn an_alias_is_counted_where_it_is_written() {
        let api = Schema::parse_and_validate("type Query { a: Query b: Query c: Int }", "api").unwrap();
        let budgets = OperationBudgets { aliases: 3, ..OperationBudgets::default() };
        let checked = |text: &str| {
            let document = ExecutableDocument::parse_and_validate(&api, text, "operation").unwrap();
            check(&document, document.operations.get(None).unwrap(), &budgets).err().map(|error| error.message)
        };
        let refused = Some("The operation is too large: more than 3 aliases (--max-aliases).".to_owned());
        let spread = "{ a { ...F b { ...F ...G } } b { ...F } ...G } fragment F on Query { x: c y: c } fragment G on Query { a { ...F } }";
        assert_eq!(checked(spread), None);
        assert_eq!(checked(&spread.replace("{ a { ...F b", "{ x: c a { ...F b")), None);
        assert_eq!(checked(&spread.replace("{ a { ...F b", "{ x: c z: c a { ...F b")), refused);
        assert_eq!(checked("{ a { x: c y: c } b { x: c y: c } }"), refused);
        // Each alias within introspection is a part of the schema once more, and no other limit bounds that.
        let types =
            "{ __schema { queryType { ...T } mutationType { ...T } } } fragment T on __Type { x: name y: name }";
        assert_eq!(checked(types), refused);
        // Clients add `__typename` under names of their own. It repeats nothing, and counts as a field.
        let names = (0..9).map(|n| format!("n{n}: __typename ")).collect::<String>();
        assert_eq!(
            checked(
                &format!("{{ a {{ {names} x: c }} y: c z: c {names} __schema {{ {names} }} }}").replace("{ n0", "{ m0")
            ),
            None
        );
    }

    #[test]
    fn a_refusal_names_its_setting() {
        let api = Schema::parse_and_validate("type Query { a: Query c: Int }", "api").unwrap();
        let budgets = OperationBudgets { depth: 3, fields: 4, ..OperationBudgets::default() };
        let checked = |text: &str| {
            let document = ExecutableDocument::parse_and_validate(&api, text, "operation").unwrap();
            check(&document, document.operations.get(None).unwrap(), &budgets).unwrap_err().message
        };
        assert_eq!(
            checked("{ a { a { a { c } } } }"),
            "The operation is too large: more than 3 levels deep (--max-depth)."
        );
        assert_eq!(
            checked("{ a { c } b: a { c } c }"),
            "The operation is too large: more than 4 fields (--max-fields)."
        );
        let empty = "{ ...F ...F ...F ...F ...F } fragment F on Query { ...G } fragment G on Query { ...H } fragment H on Query { c }";
        assert_eq!(checked(empty), "The operation is too large: more than 4 fragments (--max-fields).");
    }
}
