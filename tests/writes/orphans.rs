//! Sixteen writers of items that belong to others. As the reference recommends, each put checks that the parent exists,
//! and each delete also deletes what belongs to the item. At rest, no item lacks its parent, every key is what its
//! template makes of the attributes, every guard has its owner, and replicas are equal. Also runs with troubles, where
//! no acknowledged put may be lost.

use crate::case::{Case, FIRST, WRITERS, begin, block_on, cases, law, load, together};
use crate::compare::difference;
use crate::engine::Engine;
use crate::model::Memory;
use crate::random_schema::{Dimensions, Schema};

/// How many operations each writer runs.
const EACH: usize = 3;
/// The most turns of others for which a call waits, before it is carried out and after.
const TURNS: usize = 4;

#[test]
fn nothing_belongs_to_what_is_gone() {
    law(cases(40), &guarded(), FIRST + WRITERS * EACH, &|case| fails(case, 0));
}

#[test]
fn what_sixteen_writers_had_acknowledged_is_there_after_troubles() {
    law(cases(20), &Dimensions { deletes: false, ..Dimensions::default() }, FIRST + WRITERS * EACH, &|case| {
        fails(case, 15)
    });
}

/// What the laws' schemas may use: deletes delete everything below, and no child is put without its parent.
fn guarded() -> Dimensions {
    Dimensions { guarded: true, ..Dimensions::default() }
}

/// What is wrong with a case, if anything.
fn fails(case: &Case, troubles: u8) -> Option<String> {
    let model = load(&case.schema)?;
    block_on(async {
        let engine = Engine::new(case.seed);
        begin(case, &engine, &model).await;
        engine.unsettle(TURNS, troubles);
        let made = together(case, &engine, &model, || ()).await;
        let items = engine.items(&case.schema);
        let memory = Memory::read(&case.schema, &items);
        let found = difference(&memory.stored(&case.schema), &engine.stored(&case.schema));
        let acknowledged = made.iter().filter(|(.., response)| response["errors"].is_null());
        let acknowledged: Vec<usize> = acknowledged.map(|(position, ..)| *position).collect();
        found.or_else(|| if troubles == 0 { orphan(&case.schema, &memory) } else { lost(case, &memory, &acknowledged) })
    })
}

/// An acknowledged put whose item is missing, although nothing is deleted.
fn lost(case: &Case, memory: &Memory, acknowledged: &[usize]) -> Option<String> {
    acknowledged.iter().find_map(|position| {
        let operation = &case.operations[*position];
        let mutation = &case.schema.mutations[operation.mutation];
        let puts = Memory::puts(&case.schema, mutation, &operation.arguments);
        let gone = puts.into_iter().find(|(place, item)| memory.items.get(place).is_none_or(|(of, _)| of != item))?;
        Some(format!("{} {:?} put nothing at {gone:?}", mutation.name, operation.arguments))
    })
}

/// An item whose parent does not exist.
fn orphan(schema: &Schema, memory: &Memory) -> Option<String> {
    memory.items.values().find_map(|(item, values)| {
        let ty = &schema.types[*item];
        let parent = ty.parent?;
        let id = &values[&format!("{}Id", schema.types[parent].small())];
        let is_there = memory.items.values().any(|(other, of)| *other == parent && of.get("id") == Some(id));
        (!is_there).then(|| format!("{} {values:?} belongs to no {}", ty.name, schema.types[parent].name))
    })
}
