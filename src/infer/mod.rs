//! Tables, items and hints in; types with key templates, and a schema that serves the items, out. Must not know files.
//!
//! [`material`] gathers what the sources give. [`shape`] puts the items of a table into groups, [`draft`] makes a type
//! of each group, and [`write`](mod@write) makes the text of a schema that passes every check. [`questions`] are what
//! items leave open.

pub mod draft;
pub mod material;
pub mod questions;
pub mod shape;
pub mod write;

use crate::sources::material::TypeHint;
use draft::hinted::{Hinted, described};
use draft::templates::Templates;
use draft::{ApiDraft, finds, names, patterns, relations, scalars, settle, types};
use material::{Material, TableMaterial};
use questions::{AnswerChoice, Answers, Question};
use shape::columns::Columns;
use shape::groups::RowGroup;
use shape::row::Row;
use shape::{discriminator, groups};

/// The most types that are made of the items of a table.
const MOST_TYPES: usize = 200;

/// The schema that serves the tables and items of a material, with what a person answered.
pub fn infer(material: &Material, answers: &Answers) -> ApiDraft {
    let mut draft = ApiDraft::default();
    for (position, table) in material.tables.iter().enumerate() {
        draft.tables.push(table.table.clone());
        add_types(&mut draft, (position, table), answers);
    }
    scalars::rename_objects(&mut draft);
    draft.questions = draft.types.iter_mut().flat_map(|ty| std::mem::take(&mut ty.questions)).collect();
    settle::settle(&mut draft, answers);
    relations::relate(&mut draft);
    draft.finds = finds::finds(&draft, &material.patterns);
    draft.writes = patterns::writes(&draft, &material.patterns);
    let mutations = mutations(&draft);
    if answers.word(&mutations) == "write" {
        patterns::add_writes(&mut draft);
    }
    draft.questions.push(mutations);
    questions::sort(&mut draft.questions);
    draft
}

/// Whether callers may write: no item says so.
fn mutations(draft: &ApiDraft) -> Question {
    let items: usize = draft.types.iter().map(|ty| ty.count).sum();
    let mut choices = vec![
        AnswerChoice::new("read", "no: there are queries only"),
        AnswerChoice::new("write", "yes: each type gets mutations that put, update and delete its items"),
    ];
    if !draft.writes.is_empty() {
        choices[0].meaning = "no more than the sources say".to_owned();
    }
    let text = "Shall callers write items?".to_owned();
    Question { id: "mutations".to_owned(), text, items: items.max(1), choices }
}

fn add_types(draft: &mut ApiDraft, (position, material): (usize, &TableMaterial), answers: &Answers) {
    let table = &material.table;
    let items: Vec<_> = material.items.iter().collect();
    let mut columns = Columns::new(table, &items);
    let rows: Vec<Row<'_>> = items.iter().map(|item| Row::new(item, &columns)).collect();
    columns.discriminator = discriminator::discriminator(&rows, &columns);
    // The discriminator shows no values.
    let rows: Vec<Row<'_>> = items.iter().map(|item| Row::new(item, &columns)).collect();
    let mut is_hinted = vec![false; items.len()];
    let mut open = Vec::new();
    for hint in &material.types {
        let hinted = Hinted { table: (table, position), items: &material.items, columns: &columns, taken: &is_hinted };
        let is_taken = |name: &str| draft.types.iter().any(|ty| ty.name == name);
        let Some(found) = hinted.ty(hint, &is_taken, &mut draft.objects) else {
            open.push(hint);
            continue;
        };
        found.items.iter().for_each(|item| is_hinted[*item] = true);
        draft.types.push(found.ty);
    }
    let mut found = groups::groups(&rows, &columns);
    found.iter_mut().for_each(|group| group.rows.retain(|row| !is_hinted[*row]));
    found.retain(|group| !group.rows.is_empty());
    let found = most_common(found, &table.name, &mut draft.left_out);
    // A source that names no table describes each of its types once.
    open.retain(|hint: &&TypeHint| !draft.types.iter().any(|ty| ty.name == names::type_name(&hint.name)));
    let described = described::names_of(&found, &open);
    for (group, described) in found.iter().zip(described) {
        let templates = Templates { table, columns: &columns, rows: &rows, group, described, answers };
        let is_taken = |name: &str| draft.types.iter().any(|ty| ty.name == name);
        let ty = types::type_of(&templates, position, &mut draft.objects, &is_taken);
        draft.types.push(ty);
    }
}

/// The groups with most rows, in their order, if there are more than a schema has types for.
fn most_common<'i>(mut groups: Vec<RowGroup<'i>>, table: &str, left_out: &mut Vec<String>) -> Vec<RowGroup<'i>> {
    let more = groups.len().saturating_sub(MOST_TYPES);
    if more > 0 {
        groups.sort_by_key(|group| std::cmp::Reverse(group.rows.len()));
        groups.truncate(MOST_TYPES);
        groups.sort_by_key(|group| group.rows.first().copied());
        left_out.push(format!("{table}: {more} rare forms of keys, which are of no type"));
    }
    groups
}
