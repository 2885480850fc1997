//! A find and the field by which its items are to sort, or of which it wants a range, in; the index that would serve
//! it, as it is written, out. Must not choose paths.

use crate::schema::finds::wanted::{Bindings, FindContext, Need};
use crate::schema::table::KeyType;
use crate::schema::types::draft::Declared;
use crate::schema::types::values::stored_key_type;

/// An index whose items sort by the field. The one field that is bound is its partition key. A field that the filter
/// reads is none of its key attributes, as DynamoDB refuses that: a template makes another attribute of it.
pub fn sorted_index(wanted: &FindContext, bindings: &Bindings, field: &str) -> Option<String> {
    let bound = |needs: fn(Need) -> bool| {
        let mut bound = bindings.equal.iter().filter(move |(_, bound)| needs(bound.need));
        bound.next().filter(|_| bound.next().is_none()).map(|(field, _)| field)
    };
    let partition = bound(|need| need == Need::Always).or_else(|| bound(|need| need != Need::Free))?;
    let (partition, sort) = (wanted.record.get(partition)?, wanted.record.get(field)?);
    let (partition_kind, sort_kind) = (kind("partitionKeyType", partition)?, kind("sortKeyType", sort)?);
    let name = format!("by{}{}", field.get(..1)?.to_uppercase(), field.get(1..)?);
    let index = |sort: &str, kind: &str| {
        let own = &partition.attribute;
        format!(
            "`indexes: [{{ name: \"{name}\", partitionKey: \"{own}\"{partition_kind}, sortKey: \"{sort}\"{kind} }}]`"
        )
    };
    let is_filtered = wanted.directive.filter.as_ref().is_some_and(|filter| filter.value.contains(field));
    Some(match is_filtered {
        false => format!("add {} to `@table`", index(&sort.attribute, sort_kind)),
        true => {
            let (attribute, item) = (format!("{field}Key"), &wanted.target.item);
            format!(
                "add {} to `@table`, `{attribute}: \"{{{field}}}\"` to the keys of `{item}`, and \
                 `@attribute(name: \"{}\")` to `{item}.{field}`",
                index(&attribute, sort_kind),
                sort.attribute
            )
        }
    })
}

/// How the type of a key attribute is written; `None` if the field's values are no keys.
fn kind(argument: &'static str, declared: &Declared) -> Option<&'static str> {
    if declared.ty.is_list() {
        return None;
    }
    match (stored_key_type(&declared.value)?, argument) {
        (KeyType::S, _) => Some(""),
        (KeyType::N, "sortKeyType") => Some(", sortKeyType: N"),
        (KeyType::N, _) => Some(", partitionKeyType: N"),
        (KeyType::B, _) => None,
    }
}
