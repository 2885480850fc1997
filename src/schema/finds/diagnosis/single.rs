//! A find in, a finding out if it wants a list or an order, but its paths bind the key of a single item. Must not
//! choose paths.
//!
//! A list whose whole primary key is bound holds at most one item, whatever the table holds. Nobody means that: most
//! likely a name binds something that its author did not think of. Two cases are fine: a list argument, which gives
//! several keys, and optional arguments that narrow a list to one item.

use crate::schema::diagnostics::diagnostic::Findings;
use crate::schema::diagnostics::rules;
use crate::schema::diagnostics::span;
use crate::schema::finds::diagnosis::left_out::said;
use crate::schema::finds::paging::is_paging;
use crate::schema::finds::wanted::{Binding, Bindings, FindContext, Need};
use crate::schema::model::find::{Access, AccessPath, Returns};
use crate::schema::model::source::Source;
use crate::schema::table::KeyAttribute;

/// Whether the list can hold several items; a finding if not.
pub fn check(wanted: &FindContext, bindings: &Bindings, paths: &[AccessPath], findings: &mut Findings) -> bool {
    let listed = wanted.field.arguments.iter().any(|argument| argument.ty.is_list() && bindings.uses(&argument.name));
    if !is_plural(wanted) || listed || !paths.iter().all(|path| is_single(wanted, path)) {
        return true;
    }
    let key = wanted.table.primary_key().filter_map(|key| wanted.keys.keys.get(&key.name)).flatten();
    let fields: Vec<&str> = key.flat_map(|template| template.fields()).collect();
    refuse(wanted, bindings, &fields, findings);
    false
}

/// Whether an order can decide which item a field gives; a finding if it asks for one, but the whole key of one item is
/// bound.
pub fn check_order(wanted: &FindContext, bindings: &Bindings, paths: &[AccessPath], findings: &mut Findings) -> bool {
    let by_argument = ["orderBy", "order"]
        .into_iter()
        .filter(|name| is_paging(wanted, name, bindings))
        .find_map(|name| wanted.argument(name));
    let directive = &wanted.directive;
    let place = match (&directive.order_by, by_argument) {
        (Some(written), _) => &written.span,
        (None, Some(argument)) => &span::from_location(argument.name.location()),
        (None, None) if directive.descending => &directive.span,
        (None, None) => return true,
    };
    if wanted.target.returns != Returns::One || !paths.iter().all(|path| matches!(path.access, Access::Get { .. })) {
        return true;
    }
    let item = &wanted.target.item;
    let message = format!("`{}` finds one `{item}` by its whole key, so an order has no effect", wanted.coordinate());
    findings.error(
        rules::KF0410,
        place,
        message,
        Some("leave it out; a relation that reaches several items has an order".into()),
    );
    false
}

/// Reports that a list can hold only one item, because these fields bind its whole key.
/// The fields are in the order of the key.
pub fn refuse(wanted: &FindContext, bindings: &Bindings, in_key: &[&str], findings: &mut Findings) {
    let item = &wanted.target.item;
    let place = |field: &str| in_key.iter().position(|known| *known == field);
    let mut bound: Vec<(&String, &Binding)> =
        bindings.equal.iter().filter(|(field, _)| place(field).is_some()).collect();
    bound.sort_by_key(|(field, _)| place(field));
    let said: Vec<String> = bound.iter().map(|(field, bound)| said(wanted, field, bound)).collect();
    let message = format!(
        "`{}` is a list, but its bindings give the whole key of one `{item}`: {}",
        wanted.coordinate(),
        said.join(", ")
    );
    // What stands first in the key selects the partition, so the last one is most likely too much.
    let by_name = bound.iter().rev().find(|(_, bound)| bound.need != Need::Always);
    let less = by_name
        .map(|(field, _)| format!(", or bind less: `where: {{ {field}: null }}` if `{field}` should not be bound"));
    let given = bound.iter().rev().find_map(|(_, bound)| match &bound.source {
        Source::Argument(name) => wanted.argument(name),
        _ => None,
    });
    let listed = given.map(|argument| format!(": `{}: [{}!]!`", argument.name, argument.ty.inner_named_type()));
    let help = format!(
        "return one `{item}`, or take a list as an argument{}{}",
        listed.unwrap_or_default(),
        less.unwrap_or_default()
    );
    findings.error(rules::KF0432, &wanted.directive.span, message, Some(help.into()));
}

/// Whether a list or a page is wanted.
pub fn is_plural(wanted: &FindContext) -> bool {
    matches!(wanted.target.returns, Returns::List | Returns::Connection)
}

/// Whether a path reads one primary key. Of alternatives, it reads the one that its bindings choose, unless they bind
/// the fields of all.
fn is_single(wanted: &FindContext, path: &AccessPath) -> bool {
    let is_bound = |key: &KeyAttribute| {
        let mut templates = wanted.keys.keys.get(&key.name).into_iter().flatten();
        templates.all(|template| template.fields().iter().all(|field| path.bindings.contains_key(*field)))
    };
    matches!(path.access, Access::Get { .. }) || wanted.table.primary_key().all(is_bound)
}
