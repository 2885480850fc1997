//! A find of a page in; a finding out if its type has a `totalCount`, but what it finds cannot be counted. Must not
//! choose paths.
//!
//! The items of a page are counted where they are read. So an `Int` that were found by the same key must be allowed
//! there.

use super::missing::undiscriminated;
use crate::schema::diagnostics::diagnostic::Findings;
use crate::schema::finds::candidates::tells_items;
use crate::schema::finds::wanted::FindContext;
use crate::schema::model::find::{AccessPath, Returns};
use crate::schema::model::page::TOTAL_COUNT;
use crate::schema::types::draft::SchemaDraft;
use apollo_compiler::ast::FieldDefinition;

/// Whether a field that returns a page also counts the items of all pages.
pub fn is_counted(draft: &SchemaDraft, field: &FieldDefinition, returns: Returns) -> bool {
    let page = draft.schema.get_object(field.ty.inner_named_type());
    returns == Returns::Connection && page.is_some_and(|page| page.fields.contains_key(TOTAL_COUNT))
}

/// Whether what a page reads can be counted there; a finding if not. `wanted` is the find for each of its item types.
pub fn check<'a>(
    wanted: impl Iterator<Item = &'a FindContext<'a>>,
    paths: &[AccessPath],
    findings: &mut Findings,
) -> bool {
    for wanted in wanted.filter(|wanted| is_counted(wanted.draft, wanted.field, wanted.target.returns)) {
        if let Some(path) = paths.iter().find(|path| !tells_items(wanted, path.index)) {
            undiscriminated(wanted, path.index, findings);
            return false;
        }
    }
    true
}
