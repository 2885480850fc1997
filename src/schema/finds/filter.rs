//! `filter:` of a find in, a checked condition out. Must not know keys' values or access paths.

use super::wanted::FindContext;
use crate::schema::diagnostics::diagnostic::Findings;
use crate::schema::diagnostics::rules;
use crate::schema::diagnostics::span;
use crate::schema::expression::condition::Condition;
use crate::schema::types::names::ItemNames;

/// The condition; `Err` if it has a mistake.
pub fn read_filter(wanted: &FindContext, findings: &mut Findings) -> Result<Option<Condition>, ()> {
    let Some(written) = &wanted.directive.filter else { return Ok(None) };
    let names = names(wanted);
    let condition = Condition::parse(&written.value, &names);
    if let Some(excess) = condition.as_ref().ok().and_then(|condition| condition.size().excess()) {
        findings.error(
            rules::KF0439,
            &written.span,
            format!("this filter is too long: {excess}"),
            Some("make it shorter".into()),
        );
        return Err(());
    }
    condition.map(Some).map_err(|mistakes| {
        for mut mistake in mistakes {
            let name = written.value.get(mistake.span.clone()).unwrap_or_default();
            if wanted.record.contains_key(name) && names.attribute(name).is_none() {
                mistake.message = format!("`{name}` is only part of a key's text, so a filter cannot read it");
                mistake.help =
                    Some(format!("store it in its own attribute as well: `@attribute(name: \"{name}\")`").into());
            }
            findings.error(
                rules::KF0419,
                &span::within(wanted.draft.text, &written.span, &mistake.span),
                mistake.message,
                mistake.help,
            );
        }
    })
}

fn names<'a>(wanted: &'a FindContext) -> ItemNames<'a> {
    let FindContext { draft, field, record, keys, table, .. } = wanted;
    ItemNames { draft, field, record, keys, table, keys_tell: false, found: Vec::new() }
}
