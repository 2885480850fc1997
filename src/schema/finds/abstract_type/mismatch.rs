//! A mismatch between the item types of a find in, a finding with the reason and their keys out. Must not look for
//! reads.

use crate::schema::diagnostics::diagnostic::Findings;
use crate::schema::diagnostics::rules;
use crate::schema::diagnostics::span;
use crate::schema::diagnostics::suggestion::list;
use crate::schema::finds::abstract_type::member::{AbstractFind, Member};
use crate::schema::finds::candidates::tells_expiry;
use crate::schema::finds::paging::Order;
use crate::schema::table::Table;
use crate::schema::template::Template;

/// Why item types cannot be read together, the nearest miss last.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mismatch {
    /// They are in different partitions, or no table or index has them all.
    Partitions,
    /// This field is bound, but is not in the common part of the keys.
    Bound(String),
    /// The range of this field is not the same range of keys in every type.
    Ranged(String),
    /// The sort field does not follow the same prefix in every key.
    Unsorted,
    /// This index does not hold what distinguishes their items from others. Only lists and connections can drop foreign
    /// items after the read.
    Untold(String),
}

/// Reports why the members cannot be read together. Each of them could be read alone.
pub fn report(asked: &AbstractFind, members: &[Member], (why, order): (&Mismatch, &Order), findings: &mut Findings) {
    let names: Vec<&str> = members.iter().map(|member| member.wanted.target.item.as_str()).collect();
    let names = list(&names);
    let (code, place, message) = match why {
        Mismatch::Partitions if members.iter().any(|member| member.wanted.keys.spread().is_some()) => {
            let place = members.first().map(|member| member.wanted.directive.span.clone()).unwrap_or_default();
            let message = format!("one find reads {names} together only if all have the same shards, and no replicas");
            findings.error(rules::KF0428, &place, message, Some("find each type by its own field".into()));
            return;
        }
        Mismatch::Partitions => {
            let message = format!(
                "no table or index holds {names} in one partition that `{}.{}` can read",
                asked.parent, asked.field.name
            );
            (
                rules::KF0428,
                members.first().map(|member| member.wanted.directive.span.clone()).unwrap_or_default(),
                message,
            )
        }
        Mismatch::Bound(field) => {
            let message =
                format!("the find binds `{field}`, but the keys of {names} do not all begin with it in the same way");
            (rules::KF0429, argument_of(members, field), message)
        }
        Mismatch::Ranged(field) => {
            let message = format!("a range of `{field}` is not the same range of keys in {names}");
            (rules::KF0429, argument_of(members, field), message)
        }
        Mismatch::Untold(index) => {
            let position = |table: &Table| table.indexes.iter().position(|known| known.name == *index);
            let expiring = members.iter().find(|one| !tells_expiry(&one.wanted, position(one.wanted.table)));
            let message = match expiring.and_then(|one| one.wanted.keys.expires.as_ref()) {
                Some(attribute) => format!(
                    "the index `{index}` does not hold `{attribute}`, so it does not tell which items have expired"
                ),
                None => format!(
                    "the index `{index}` does not hold the constants that distinguish items of {names} from others"
                ),
            };
            (
                rules::KF0429,
                members.first().map(|member| member.wanted.directive.span.clone()).unwrap_or_default(),
                message,
            )
        }
        Mismatch::Unsorted => {
            let field = order.field.as_deref().unwrap_or_default();
            (
                rules::KF0429,
                order.span.clone(),
                format!("the keys of {names} do not all continue with `{field}` after the same prefix"),
            )
        }
    };
    let keys: Vec<String> = members.iter().map(keys_of).collect();
    findings.error(code, &place, message, Some(keys.join("; ").into()));
}

/// The key templates of a member, so that the author sees what differs.
fn keys_of(member: &Member) -> String {
    let templates = |all: &[Template]| {
        let texts: Vec<String> =
            all.iter().map(|template| format!("`{}`", template.as_written(template.parts.len()))).collect();
        texts.join(" or ")
    };
    let keys: Vec<String> =
        member.wanted.keys.keys.iter().map(|(key, all)| format!("{key} {}", templates(all))).collect();
    format!("`{}` has {}", member.wanted.target.item, keys.join(", "))
}

/// Where a field is bound: its range in `where:`, its argument, or else the find itself.
fn argument_of(members: &[Member], field: &str) -> span::Span {
    let place = members.iter().find_map(|member| {
        let bindings = &member.prepared.bindings;
        if let Some(bounds) = bindings.ranges.get(field) {
            return Some(bounds.span.clone());
        }
        let argument = member.wanted.argument(bindings.equal.get(field)?.arguments.first()?)?;
        Some(span::from_location(argument.name.location()))
    });
    place.or_else(|| members.first().map(|member| member.wanted.directive.span.clone())).unwrap_or_default()
}
