//! Types in, the fields that lead from one to another out: from an item to those of its partition, to those that an
//! index lists under it, and to the item that a field names.

use super::names;
use super::{ApiDraft, FindDraft, TypeDraft};
use std::collections::BTreeSet;

/// The share of a field's texts that name items of a type.
const OVERLAP: f64 = 0.9;

/// A type whose items are named by one field.
struct Root {
    ty: usize,
    /// The field.
    field: usize,
    /// The shape of the partition key.
    shape: String,
}

/// Adds the relations to the types.
pub fn relate(draft: &mut ApiDraft) {
    let roots: Vec<Root> = (0..draft.types.len()).filter_map(|ty| root(draft, ty)).collect();
    let mut found: Vec<(usize, FindDraft)> = Vec::new();
    for root in &roots {
        for child in 0..draft.types.len() {
            if child != root.ty {
                found.extend(partition_relation(draft, root, child));
            }
            found.extend(index_relations(draft, root, child));
        }
    }
    for ty in 0..draft.types.len() {
        found.extend(references(draft, &roots, ty).into_iter().map(|find| (ty, find)));
    }
    for (ty, mut find) in found {
        let ty = &mut draft.types[ty];
        let is_taken = |name: &str| {
            ty.fields.iter().any(|field| field.name == name) || ty.relations.iter().any(|find| find.name == name)
        };
        find.name = names::free(&find.name, is_taken);
        ty.relations.push(find);
    }
}

/// A type with one field in its partition key and nothing but labels in its sort key: the thing that a partition is of.
/// Of several, the one with most fields.
fn root(draft: &ApiDraft, position: usize) -> Option<Root> {
    let ty = &draft.types[position];
    let table = &draft.tables[ty.table];
    let (partition, sort) = (ty.key(&table.partition.name)?, table.sort.as_ref().map(|sort| sort.name.as_str()));
    let [field] = ty.fields_of(&table.partition.name)[..] else { return None };
    let is_own = |field: &usize| *field == field_of(ty, &table.partition.name);
    if !sort.is_none_or(|sort| ty.fields_of(sort).iter().all(is_own)) {
        return None;
    }
    let shape = partition.shape();
    let is_better = |other: &TypeDraft| {
        other.table == ty.table
            && other.fields.len() > ty.fields.len()
            && other.key(&table.partition.name).is_some_and(|key| key.shape() == shape)
            && sort.is_none_or(|sort| other.fields_of(sort).is_empty())
    };
    if draft.types.iter().any(is_better) {
        return None;
    }
    Some(Root { ty: position, field, shape })
}

fn field_of(ty: &TypeDraft, attribute: &str) -> usize {
    ty.fields_of(attribute).first().copied().unwrap_or(usize::MAX)
}

/// The items in the partition of a root.
fn partition_relation(draft: &ApiDraft, root: &Root, child: usize) -> Option<(usize, FindDraft)> {
    let (parent, ty) = (&draft.types[root.ty], &draft.types[child]);
    let table = &draft.tables[ty.table];
    let partition = ty.key(&table.partition.name).filter(|_| ty.table == parent.table)?;
    let [field] = ty.fields_of(&table.partition.name)[..] else { return None };
    if partition.shape() != root.shape
        || !has_label(&root.shape) && !overlaps(draft, (root.ty, root.field), (child, field))
    {
        return None;
    }
    let more = table.sort.as_ref().is_some_and(|sort| ty.fields_of(&sort.name).iter().any(|other| *other != field));
    Some((root.ty, relation(End(parent, root.field), End(ty, field), more, None)))
}

/// The items that an index lists under a root.
fn index_relations(draft: &ApiDraft, root: &Root, child: usize) -> Vec<(usize, FindDraft)> {
    let (parent, ty) = (&draft.types[root.ty], &draft.types[child]);
    let mut found = Vec::new();
    for index in &draft.tables[ty.table].indexes {
        // A relation binds one field.
        let [partition] = index.partition.as_slice() else { continue };
        let attribute = partition.name.as_str();
        let is_complete = index.sort.iter().all(|sort| ty.key(&sort.name).is_some());
        let [field] = ty.fields_of(attribute)[..] else { continue };
        let is_shape = ty.key(attribute).is_some_and(|key| key.shape() == root.shape);
        let is_own = child == root.ty && field == root.field;
        if index.local || !is_complete || is_own || !is_shape || !has_label(&root.shape) {
            continue;
        }
        found.push((root.ty, relation(End(parent, root.field), End(ty, field), true, Some(index.name.clone()))));
    }
    found
}

/// A type, and the field in it that a relation binds.
struct End<'d>(&'d TypeDraft, usize);

fn relation(End(parent, own): End<'_>, End(ty, field): End<'_>, list: bool, index: Option<String>) -> FindDraft {
    let name = names::decapitalised(&ty.name);
    FindDraft {
        name: if list { names::plural(&name) } else { name },
        description: None,
        arguments: Vec::new(),
        target: ty.name.clone(),
        list,
        bindings: vec![(ty.fields[field].name.clone(), format!("\"{{{}}}\"", parent.fields[own].name))],
        index,
    }
}

/// The single items that fields of a type name.
fn references(draft: &ApiDraft, roots: &[Root], position: usize) -> Vec<FindDraft> {
    let ty = &draft.types[position];
    let mut found: Vec<FindDraft> = Vec::new();
    for (field, of) in ty.fields.iter().enumerate() {
        if !matches!(of.scalar.as_str(), "ID" | "String") {
            continue;
        }
        let candidates = roots.iter().filter(|root| root.ty != position || root.field != field);
        let named = candidates.filter(|root| overlaps(draft, (root.ty, root.field), (position, field)));
        let best =
            named.max_by_key(|root| of.name.to_lowercase().starts_with(&draft.types[root.ty].name.to_lowercase()));
        let Some(root) = best else { continue };
        let (target, own) = (&draft.types[root.ty], &draft.types[root.ty].fields[root.field]);
        let name = of
            .name
            .strip_suffix("Id")
            .filter(|name| !name.is_empty())
            .map_or_else(|| names::decapitalised(&target.name), str::to_owned);
        if found.iter().any(|find| find.name == name && find.target == target.name) {
            continue;
        }
        found.push(FindDraft {
            name,
            description: None,
            arguments: Vec::new(),
            target: target.name.clone(),
            list: false,
            bindings: vec![(own.name.clone(), format!("\"{{{}}}\"", of.name))],
            index: None,
        });
    }
    found
}

/// Whether the texts of a field name items of a root.
fn overlaps(draft: &ApiDraft, (root, own): (usize, usize), (ty, field): (usize, usize)) -> bool {
    let ids: BTreeSet<&String> = draft.types[root].fields[own].texts.iter().collect();
    let texts = &draft.types[ty].fields[field].texts;
    let named = texts.iter().filter(|text| ids.contains(text)).count();
    !texts.is_empty() && texts.len().min(ids.len()) >= 2 && named as f64 >= OVERLAP * texts.len() as f64
}

fn has_label(shape: &str) -> bool {
    shape.chars().any(char::is_alphabetic)
}
