//! Budgets of an operation: depth, fields and aliases, counted over its spread fragments before anything is planned.
//!
//! Fragments can double at each level, so the walk itself stops at the first number that is over its budget.

use super::document::place;
use super::error::{PlanError, PlanErrorKind};
use apollo_compiler::ExecutableDocument;
use apollo_compiler::executable::{Operation, Selection, SelectionSet};

/// How large an operation may be.
#[derive(Debug, Clone)]
pub struct Budgets {
    /// Tokens of the document.
    pub tokens: usize,
    /// Nesting that the parser follows.
    pub recursion: usize,
    /// Deepest nesting of fields.
    pub depth: usize,
    /// Fields after fragments are spread.
    pub fields: usize,
    /// Aliases after fragments are spread.
    pub aliases: usize,
}

impl Default for Budgets {
    /// As gateways that people trust publish them: 15,000 tokens, depth 20, 30 aliases.
    fn default() -> Self {
        Self { tokens: 15_000, recursion: 200, depth: 20, fields: 5_000, aliases: 30 }
    }
}

struct Count<'a> {
    document: &'a ExecutableDocument,
    budgets: &'a Budgets,
    fields: usize,
    aliases: usize,
    spreads: usize,
}

/// Checks an operation against the budgets. The depth of introspection has a limit of its own; its fields and aliases count like others,
/// since each alias of `types` is the whole schema once more.
pub fn check(document: &ExecutableDocument, operation: &Operation, budgets: &Budgets) -> Result<(), PlanError> {
    let mut count = Count { document, budgets, fields: 0, aliases: 0, spreads: 0 };
    count.walk(&operation.selection_set, Some(1))
}

impl Count<'_> {
    /// `depth` is none within introspection.
    fn walk(&mut self, set: &SelectionSet, depth: Option<usize>) -> Result<(), PlanError> {
        for selection in &set.selections {
            match selection {
                Selection::Field(field) => {
                    let depth = depth.filter(|_| field.name != "__schema" && field.name != "__type");
                    let here = place(field, self.document);
                    self.fields += 1;
                    self.aliases += usize::from(field.alias.is_some());
                    let over = [
                        (depth.unwrap_or(0), self.budgets.depth, "levels deep"),
                        (self.fields, self.budgets.fields, "fields"),
                        (self.aliases, self.budgets.aliases, "aliases"),
                    ];
                    if let Some((_, limit, what)) = over.iter().find(|(is, limit, _)| is > limit) {
                        let message = format!("The operation is too large: more than {limit} {what}.");
                        return Err(PlanError::new(PlanErrorKind::Limit, message).at(here));
                    }
                    self.walk(&field.selection_set, depth.map(|depth| depth + 1))?;
                }
                Selection::InlineFragment(fragment) => self.spread(&fragment.selection_set, depth)?,
                Selection::FragmentSpread(spread) => {
                    if let Some(fragment) = spread.fragment_def(self.document) {
                        self.spread(&fragment.selection_set, depth)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Fragments that hold nothing but fragments cost no field, so they are counted by themselves.
    fn spread(&mut self, set: &SelectionSet, depth: Option<usize>) -> Result<(), PlanError> {
        self.spreads += 1;
        if self.spreads > self.budgets.fields {
            let message = format!("The operation is too large: more than {} fragments.", self.budgets.fields);
            return Err(PlanError::new(PlanErrorKind::Limit, message));
        }
        self.walk(set, depth)
    }
}
