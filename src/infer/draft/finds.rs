//! Types in, the fields of `Query` that their keys serve out: one item by its key, the items of a partition, and those
//! of each index.

use super::names;
use super::patterns;
use super::{ApiDraft, FindDraft, TypeDraft};
use crate::schema::table::{KeyAttribute, Table};
use crate::sources::material::PatternHint;
use std::collections::BTreeSet;

/// The finds for patterns that sources name, and those of all types.
pub fn finds(draft: &ApiDraft, patterns: &[PatternHint]) -> Vec<FindDraft> {
    let mut finds: Vec<FindDraft> = Vec::new();
    for mut find in patterns::finds(draft, patterns) {
        find.name = names::free(&find.name, |name| finds.iter().any(|find| find.name == name));
        finds.push(find);
    }
    for ty in &draft.types {
        let table = &draft.tables[ty.table];
        for mut find in finds_by_keys(ty, table) {
            let is_same = |known: &FindDraft| {
                let names = |find: &FindDraft| -> BTreeSet<String> {
                    find.arguments.iter().map(|(name, _)| name.clone()).collect()
                };
                known.target == find.target && known.list == find.list && names(known) == names(&find)
            };
            if finds.iter().any(is_same) {
                continue;
            }
            find.name = names::free(&find.name, |name| finds.iter().any(|find| find.name == name));
            finds.push(find);
        }
    }
    finds
}

fn finds_by_keys(ty: &TypeDraft, table: &Table) -> Vec<FindDraft> {
    let name = names::decapitalised(&ty.name);
    let partition = ty.fields_of(&table.partition.name);
    let sort = table.sort.as_ref().map(|sort| ty.fields_of(&sort.name)).unwrap_or_default();
    let more: Vec<usize> = sort.iter().copied().filter(|field| !partition.contains(field)).collect();
    let whole: Vec<usize> = partition.iter().chain(&more).copied().collect();
    let mut finds = vec![FindDraft {
        name: name.clone(),
        description: Some(format!("One {} by its key", ty.name)),
        arguments: arguments(ty, &whole),
        target: ty.name.clone(),
        list: false,
        bindings: Vec::new(),
        index: None,
    }];
    if !more.is_empty() {
        finds.push(list(ty, (&names::plural(&name), &partition, &more), None));
    }
    for index in &table.indexes {
        let has =
            |attribute: &str| ty.key(attribute).is_some() || ty.fields.iter().any(|field| stored_in(field, attribute));
        let fields = |attribute: &str| match ty.key(attribute) {
            Some(_) => ty.fields_of(attribute),
            None => ty.fields.iter().position(|field| stored_in(field, attribute)).into_iter().collect(),
        };
        if !index.keys().all().all(|key| has(&key.name)) {
            continue;
        }
        let of_keys = |keys: &[KeyAttribute]| keys.iter().flat_map(|key| fields(&key.name)).collect::<Vec<usize>>();
        let bound = of_keys(&index.partition);
        let rest: Vec<usize> = of_keys(&index.sort).into_iter().filter(|field| !bound.contains(field)).collect();
        let by: Vec<String> = bound.iter().map(|field| names::capitalised(&ty.fields[*field].name)).collect();
        let by = if by.is_empty() { names::type_name(&index.name) } else { by.join("And") };
        let name = format!("{}By{by}", names::plural(&name));
        finds.push(list(ty, (&name, &bound, &rest), Some(&index.name)));
    }
    finds
}

/// Whether a field's own attribute is this one.
fn stored_in(field: &super::FieldDraft, attribute: &str) -> bool {
    field.attribute.as_deref().unwrap_or(&field.name) == attribute
}

fn list(ty: &TypeDraft, (name, bound, rest): (&str, &[usize], &[usize]), index: Option<&str>) -> FindDraft {
    let mut arguments = arguments(ty, bound);
    let mut bindings = Vec::new();
    // A range over the time that comes next.
    let next = rest.first().map(|field| &ty.fields[*field]);
    if let Some(field) = next.filter(|field| field.scalar.contains("Date") && is_sorted(field)) {
        arguments.push(("since".to_owned(), field.scalar.clone()));
        bindings.push((field.name.clone(), "{ ge: \"{since}\" }".to_owned()));
    }
    FindDraft {
        name: name.to_owned(),
        description: None,
        arguments,
        target: ty.name.clone(),
        list: true,
        bindings,
        index: index.map(str::to_owned),
    }
}

fn is_sorted(field: &super::FieldDraft) -> bool {
    !field.stored.as_deref().is_some_and(|stored| stored.contains("\"%d"))
}

fn arguments(ty: &TypeDraft, fields: &[usize]) -> Vec<(String, String)> {
    fields
        .iter()
        .map(|field| &ty.fields[*field])
        .map(|field| (field.name.clone(), format!("{}!", field.scalar)))
        .collect()
}
