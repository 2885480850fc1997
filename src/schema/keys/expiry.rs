//! An item type in, the attribute with the time at which its items expire out. Must not know who leaves them out.

use super::items::ItemType;
use crate::schema::diagnostics::diagnostic::Findings;
use crate::schema::diagnostics::rules;
use crate::schema::diagnostics::span;
use crate::schema::syntax::directives::{argument, flag};

/// The attribute with the time at which items of the type expire; `None` if they do not, or are shown until DynamoDB
/// deletes them. A type expires if a field of it is stored in the table's time to live, or if it says so itself
/// (DynamoDB developer guide, "Using time to live (TTL) in DynamoDB").
pub fn expires(item: &ItemType<'_>, findings: &mut Findings) -> Option<String> {
    let (table, _) = item.table;
    let says_so = flag(item.directive, "expires");
    let stored_in = table.time_to_live.as_ref().filter(|ttl| item.record.values().any(|one| one.attribute == **ttl));
    let is_unique = || item.object.fields.values().any(|field| field.directives.has("unique"));
    let refusal = match &table.time_to_live {
        _ if !says_so => None,
        None => Some(("has no `timeToLive`".to_owned(), "name the attribute with the time: `timeToLive: \"ttl\"`")),
        Some(_) if table.shows_expired => {
            Some(("shows items that have expired".to_owned(), "leave `expires:` or `expired: SHOWN` out"))
        }
        Some(ttl) if stored_in.is_none() && is_unique() => Some((
            format!("keeps the time in `{ttl}`, which no field is stored in, so that no guard can end with its item"),
            "add a field of it, or leave `@unique` out",
        )),
        Some(_) => None,
    };
    if let Some((why, help)) = refusal {
        let place = argument(item.directive, "expires").map(|value| span::from_location(value.location()));
        let message = format!("`{}` cannot expire: its table `{}` {why}", item.object.name, table.name);
        findings.error(rules::KF0111, &place.unwrap_or_default(), message, Some(help.to_owned().into()));
        return None;
    }
    let expires = says_so || stored_in.is_some();
    table.time_to_live.clone().filter(|_| expires && !table.shows_expired)
}
