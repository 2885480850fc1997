//! A find of items that expire in; a finding out if it reads an index that does not hold their time. Must not choose
//! paths.
//!
//! A list or a page reads each item again and leaves out what has expired, which costs a Get for each. The first item
//! of an index may have expired, so a single item would be the wrong one, and a count too high.

use crate::schema::diagnostics::diagnostic::Findings;
use crate::schema::diagnostics::rules;
use crate::schema::finds::candidates::{sifts, tells_expiry};
use crate::schema::finds::wanted::FindContext;
use crate::schema::model::find::{AccessPath, Returns};

/// Whether each path tells which items have expired, or the find can leave them out later; a finding if not. A warning
/// if that costs more reads.
pub fn check<'p>(
    wanted: &FindContext,
    paths: impl IntoIterator<Item = &'p AccessPath>,
    findings: &mut Findings,
) -> bool {
    let Some(path) = paths.into_iter().find(|path| !tells_expiry(wanted, path.index)) else { return true };
    if !sifts(wanted) {
        refuse(wanted, path.index, findings);
        return false;
    }
    let (name, item) = (wanted.place_name(path.index), &wanted.target.item);
    let attribute = wanted.keys.expires.as_deref().unwrap_or_default();
    let message = format!(
        "the index `{name}` does not hold `{attribute}`, so each `{item}` that `{}` finds costs a Get more",
        wanted.coordinate()
    );
    let help = format!("include `{attribute}` in the index's projection");
    findings.warning(rules::KF0444, &wanted.directive.span, message, Some(help.into()));
    true
}

/// Reports that an index does not tell which of its items have expired.
pub fn refuse(wanted: &FindContext, index: Option<usize>, findings: &mut Findings) {
    let (name, item) = (wanted.place_name(index), &wanted.target.item);
    let attribute = wanted.keys.expires.as_deref().unwrap_or_default();
    let message =
        format!("the index `{name}` does not hold `{attribute}`, so it does not tell which `{item}` has expired");
    let instead = match wanted.target.returns {
        Returns::Connection => "leave `totalCount` out of the connection",
        _ => "find a list",
    };
    let help = format!("include `{attribute}` in the index's projection, or {instead}");
    findings.error(rules::KF0443, &wanted.directive.span, message, Some(help.into()));
}
