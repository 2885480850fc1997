//! `indexes:` of a `@table` in, plain indexes out. Must not know item types, from which the types of some key
//! attributes follow.

use super::billing;
use super::written::{check_name, key_type};
use crate::schema::diagnostics::diagnostic::Findings;
use crate::schema::diagnostics::rules;
use crate::schema::diagnostics::span;
use crate::schema::diagnostics::span::{At, Span};
use crate::schema::syntax::directives::{argument, items, member, string};
use crate::schema::table::{Index, KeyAttribute, MOST_KEY_ATTRIBUTES, Projection, Table};
use apollo_compiler::Node;
use apollo_compiler::ast::{Directive, Value};
use indexmap::IndexMap;

/// Adds the indexes to the table. Gives the key attributes whose types follow from fields, each with its place.
pub fn read_indexes(table: &mut Table, directive: &Node<Directive>, findings: &mut Findings) -> IndexMap<String, Span> {
    let mut typed: Vec<KeyAttribute> = table.primary_key().cloned().collect();
    let mut untyped: IndexMap<String, Span> = IndexMap::new();
    for written in argument(directive, "indexes").map(items).unwrap_or_default() {
        let Some(Declared { index, keys }) = index(table, written, findings) else { continue };
        for WrittenKey { attribute, span, role, is_typed } in keys {
            match typed.iter().find(|known| known.name == attribute.name) {
                _ if !is_typed => {
                    untyped.entry(attribute.name).or_insert(span);
                }
                None => typed.push(attribute),
                Some(known) if known.kind == attribute.kind => {}
                Some(known) => {
                    let message = format!(
                        "`{}` has the type {:?} here, but {:?} in another key of `{}`",
                        attribute.name, attribute.kind, known.kind, table.name
                    );
                    let help = format!("write `{role}Type: {:?}`", known.kind);
                    findings.error(rules::KF0107, &span, message, Some(help.into()));
                }
            }
        }
        table.indexes.push(index);
    }
    untyped.retain(|name, _| match typed.iter().find(|known| known.name == *name) {
        Some(known) => {
            table.set_key_type(name, known.kind);
            false
        }
        None => true,
    });
    untyped
}

/// An index, with its key attributes as they are written.
struct Declared {
    index: Index,
    keys: Vec<WrittenKey>,
}

/// A key attribute as it is written.
struct WrittenKey {
    attribute: KeyAttribute,
    /// The place of its name.
    span: Span,
    /// `partitionKey` or `sortKey`.
    role: &'static str,
    /// Whether its type is written, or is the default of an index without a list. If a key is a list, the types follow
    /// from the fields that are stored in the attributes.
    is_typed: bool,
}

fn index(table: &Table, written: &Node<Value>, findings: &mut Findings) -> Option<Declared> {
    let name = member(written, "name").and_then(string)?;
    check_name("index", &name, findings);
    if table.indexes.iter().any(|index| index.name == name.value) {
        let message = format!("the table declares the index `{}` twice", name.value);
        findings.error(rules::KF0102, &name.span, message, Some("give one of them another name".into()));
        return None;
    }
    let partition = keys(&name.value, written, "partitionKey", findings);
    let sort = keys(&name.value, written, "sortKey", findings);
    let (partition, sort) = (partition.ok()?, sort.ok()?);
    let local = partition.is_empty();
    if local {
        check_local(table, &name, &sort, findings)?;
    }
    check_different(table, &name.value, (&partition, &sort), findings);
    let attributes = |keys: &[WrittenKey]| keys.iter().map(|key| key.attribute.clone()).collect();
    let index = Index {
        local,
        partition: if local { vec![table.partition.clone()] } else { attributes(&partition) },
        sort: attributes(&sort),
        projection: projection(&name, written, findings),
        capacity: billing::index_capacity(table.billing, local, written, findings),
        name: name.value,
    };
    Some(Declared { index, keys: partition.into_iter().chain(sort).collect() })
}

/// The attributes of a key, in a list or one by itself; none if it is not written.
fn keys(
    index: &str,
    written: &Node<Value>,
    role: &'static str,
    findings: &mut Findings,
) -> Result<Vec<WrittenKey>, ()> {
    let Some(value) = member(written, role) else { return Ok(Vec::new()) };
    let is_list = |role: &str| member(written, role).is_some_and(|value| value.as_list().is_some());
    let has_list = is_list("partitionKey") || is_list("sortKey");
    let names: Vec<At<String>> = items(value).iter().filter_map(string).collect();
    let types = member(written, &format!("{role}Type")).map(items).unwrap_or_default();
    let refusal = match names.len() {
        0 => Some((
            format!("the `{role}` of the index `{index}` has no attribute"),
            "name one attribute, or leave the key out".into(),
        )),
        count if count > MOST_KEY_ATTRIBUTES => Some((
            format!("the `{role}` of the index `{index}` has {count} attributes"),
            format!("a `partitionKey` has at most {MOST_KEY_ATTRIBUTES} attributes, and a `sortKey` as many"),
        )),
        count if !types.is_empty() && types.len() != count => Some((
            format!("the number of types in `{role}Type` is {}, but `{role}` has {count} attributes", types.len()),
            "write one type for each attribute, or leave them out: they follow from the fields".to_owned(),
        )),
        _ => None,
    };
    if let Some((message, help)) = refusal {
        findings.error(rules::KF0109, &span::from_location(value.location()), message, Some(help.into()));
        return Err(());
    }
    let key = |(position, at): (usize, At<String>)| WrittenKey {
        attribute: KeyAttribute { name: at.value, kind: key_type(types.get(position)) },
        span: at.span,
        role,
        is_typed: !has_list || !types.is_empty(),
    };
    Ok(names.into_iter().enumerate().map(key).collect())
}

/// A local index has one attribute of its own, and its table a sort key.
fn check_local(table: &Table, name: &At<String>, sort: &[WrittenKey], findings: &mut Findings) -> Option<()> {
    let name_of = &name.value;
    let (rule, place, message, help) = match sort {
        [] => (
            rules::KF0104,
            &name.span,
            format!("the index `{name_of}` does not have its own key attribute"),
            "a local index needs a `sortKey`, and a global index needs a `partitionKey`",
        ),
        _ if table.sort.is_none() => (
            rules::KF0104,
            &name.span,
            format!("the index `{name_of}` is local, and `{}` has no sort key", table.name),
            "a local index needs a `sortKey`, and a global index needs a `partitionKey`",
        ),
        [_, second, ..] => (
            rules::KF0109,
            &second.span,
            format!("the index `{name_of}` is local, and the sort key of a local index is one attribute"),
            "give the index its own `partitionKey`: the keys of a global index may have several attributes",
        ),
        [_] => return Some(()),
    };
    findings.error(rule, place, message, Some(help.into()));
    None
}

/// An attribute stands once in a key.
fn check_different(
    table: &Table,
    index: &str,
    (partition, sort): (&[WrittenKey], &[WrittenKey]),
    findings: &mut Findings,
) {
    let of_partition: Vec<&str> = match partition {
        [] => vec![&table.partition.name],
        keys => keys.iter().map(|key| key.attribute.name.as_str()).collect(),
    };
    let mut known: Vec<&str> = if partition.is_empty() { of_partition.clone() } else { Vec::new() };
    for key in partition.iter().chain(sort) {
        let name = key.attribute.name.as_str();
        if known.contains(&name) {
            let message = match of_partition.as_slice() {
                [only] if *only == name => format!("`{name}` is already the partition key"),
                _ => format!("`{name}` stands twice in the key of the index `{index}`"),
            };
            findings.error(rules::KF0105, &key.span, message, None);
        }
        known.push(name);
    }
}

fn projection(name: &At<String>, written: &Node<Value>, findings: &mut Findings) -> Projection {
    let kind = member(written, "projection").and_then(|value| value.as_enum()).map(|name| name.as_str());
    let included: Vec<String> = member(written, "include")
        .map(items)
        .unwrap_or_default()
        .iter()
        .filter_map(|value| value.as_str().map(str::to_owned))
        .collect();
    match (kind, included.is_empty()) {
        (Some("INCLUDE"), true) => {
            let message = format!("the index `{}` has the projection INCLUDE, but names no attributes", name.value);
            findings.error(rules::KF0106, &name.span, message, Some("list them: `include: [\"title\"]`".into()));
        }
        (Some("INCLUDE"), false) | (_, true) => {}
        (_, false) => {
            let message =
                format!("the index `{}` has an `include` list, but its projection is not INCLUDE", name.value);
            findings.error(
                rules::KF0106,
                &name.span,
                message,
                Some("write `projection: INCLUDE`, or leave `include` out".into()),
            );
        }
    }
    match kind {
        Some("KEYS_ONLY") => Projection::KeysOnly,
        Some("INCLUDE") => Projection::Include(included),
        _ => Projection::All,
    }
}
