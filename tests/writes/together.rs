//! Sixteen writers: every response, and the store at the end, agree with the model when it runs the same operations one
//! after the other, in the order in which the engine carried out their writes.

use crate::case::{Case, FIRST, WRITERS, begin, block_on, cases, law, load, together};
use crate::compare::{difference, differs};
use crate::engine::Engine;
use crate::model::{Memory, Outcome, shown};
use crate::random_schema::Dimensions;
use crate::random_schema::mutations::{Returns, Verb};
use serde_json::{Map, Value, json};

/// How many operations each writer runs.
const EACH: usize = 3;
/// The most turns of others for which a call waits, before it is carried out and after.
const TURNS: usize = 4;

#[test]
fn sixteen_writers_are_as_one_after_the_other() {
    // A cascade is more than one write: `orphans` tests it. `many` finds the items of an earlier moment than its write.
    // What is read of one shard says nothing of an item that comes into another.
    let dimensions = Dimensions { cascades: false, many: false, any_numbers: false, ..Dimensions::default() };
    law(cases(40), &dimensions, FIRST + WRITERS * EACH, &fails);
}

/// Each request with a record of its own.
#[test]
fn sixteen_writers_with_keys_are_as_one_after_the_other() {
    let dimensions =
        Dimensions { cascades: false, many: false, any_numbers: false, idempotent: true, ..Dimensions::default() };
    law(cases(20), &dimensions, FIRST + WRITERS * EACH, &fails);
}

/// An operation that ran: its position, the numbers of calls before and after it, and the response.
struct Made {
    operation: usize,
    writer: usize,
    begun: usize,
    ended: usize,
    response: Value,
}

/// What is wrong with a case, if anything.
fn fails(case: &Case) -> Option<String> {
    let model = load(&case.schema)?;
    block_on(async {
        let engine = Engine::new(case.seed);
        let memory = begin(case, &engine, &model).await;
        if let Some(found) = difference(&memory.stored(&case.schema), &engine.stored(&case.schema)) {
            return Some(format!("before they began: {found}"));
        }
        engine.unsettle(TURNS, 0);
        let (from, counter) = (engine.calls(), engine.clone());
        let made = together(case, &engine, &model, move || counter.calls()).await;
        let made = made.into_iter().map(|(operation, begun, ended, response)| {
            let writer = case.operations[operation].writer.unwrap();
            Made { operation, writer, begun, ended, response }
        });
        explained(case, &engine, from, memory, &made.collect::<Vec<_>>())
    })
}

/// Why no order explains the responses and the store, if none does.
fn explained(case: &Case, engine: &Engine, from: usize, first: Memory, made: &[Made]) -> Option<String> {
    let log = engine.log(0);
    let wrote = |one: &Made| {
        (one.begun..one.ended).filter(|at| log[*at].writer == one.writer && log[*at].wrote).collect::<Vec<_>>()
    };
    let mut writes: Vec<(usize, &Made)> = made.iter().filter_map(|one| Some((*wrote(one).last()?, one))).collect();
    writes.sort_by_key(|(at, _)| *at);
    // The state after each write, with the number of calls until then.
    let mut states = vec![(from, first)];
    let mut listed = String::new();
    for (at, one) in &writes {
        let mut next = states.last().unwrap().1.clone();
        let (name, outcome) = apply(case, one, &mut next);
        listed += &format!("{at}: writer {} {name} {}\n", one.writer, one.response);
        if wrote(one).len() > 1 {
            return Some(format!("{name} wrote more than once\n{listed}"));
        }
        let deletes = is_delete(case, one);
        match &outcome {
            // A single DeleteItem of a missing item counts as a write, and changes nothing.
            Outcome::Refused(codes) if deletes && codes.len() == 1 && codes.contains("NOT_FOUND") => {}
            Outcome::Refused(_) => return Some(format!("{name} was made, {outcome:?}\n{listed}")),
            _ => {}
        }
        states.push((at + 1, next));
    }
    for one in made {
        let point = wrote(one).last().copied();
        let outcomes: Vec<Outcome> = match point {
            // The written item is read after the write, so others may have changed it since.
            Some(at) => {
                let before = states.iter().rposition(|(state, _)| *state <= at).unwrap();
                let outcome = apply(case, one, &mut states[before].1.clone()).1;
                let later =
                    states.iter().filter(|(state, _)| *state > at && *state <= one.ended).map(|(_, state)| state);
                let seen = later.flat_map(|state| seen_later(case, one, &outcome, state)).collect::<Vec<_>>();
                std::iter::once(outcome).chain(seen).collect()
            }
            // It wrote nothing, so some state during its run must explain the response.
            None => {
                let last = states.iter().rposition(|(state, _)| *state <= one.begun).unwrap_or(0);
                let while_it_ran = states[last..].iter().take_while(|(state, _)| *state <= one.ended);
                while_it_ran.map(|(_, state)| apply(case, one, &mut state.clone()).1).collect()
            }
        };
        if outcomes.iter().all(|outcome| differs(outcome, &one.response).is_some()) {
            let name = &case.schema.mutations[case.operations[one.operation].mutation].name;
            return Some(format!("writer {} {name}: {}\nis none of {outcomes:?}\n{listed}", one.writer, one.response));
        }
    }
    difference(&states.last().unwrap().1.stored(&case.schema), &engine.stored(&case.schema))
        .map(|found| format!("{found}\n{listed}"))
}

fn is_delete(case: &Case, one: &Made) -> bool {
    matches!(case.schema.mutations[case.operations[one.operation].mutation].actions[0].verb, Verb::Delete { .. })
}

fn apply(case: &Case, one: &Made, memory: &mut Memory) -> (String, Outcome) {
    let operation = &case.operations[one.operation];
    let mutation = &case.schema.mutations[operation.mutation];
    let outcome = memory.apply(&case.schema, mutation, &operation.arguments);
    (format!("{} {}", mutation.name, json!(operation.arguments)), outcome)
}

/// What the field may return if its item is read in a later state.
fn seen_later(case: &Case, one: &Made, outcome: &Outcome, state: &Memory) -> Vec<Outcome> {
    let mutation = &case.schema.mutations[case.operations[one.operation].mutation];
    let (action, data) = match (mutation.returns, outcome) {
        (Returns::Item(action), Outcome::Data(Value::Object(data))) => (action, data),
        // All items of a list are read at once, and none of them may be missing.
        (Returns::Item(action) | Returns::Items(action), Outcome::Data(Value::Array(items))) if mutation.is_listed => {
            let later = |item: &Value| {
                let one_of = seen_item(case, mutation.actions[action].item, item.as_object()?, state);
                one_of.into_iter().find_map(|seen| if let Outcome::Data(seen) = seen { Some(seen) } else { None })
            };
            let seen: Option<Vec<Value>> = items.iter().map(later).collect();
            let gone = || Outcome::Refused(["UNAVAILABLE"].into());
            return vec![seen.map_or_else(gone, |seen| Outcome::Data(json!(seen)))];
        }
        _ => return Vec::new(),
    };
    let item = mutation.actions[action].item;
    let mut seen = seen_item(case, item, data, state);
    if seen.is_empty() || crate::random_schema::keys::is_assigned(&case.schema.types[item]) {
        // A field that is never null says that it cannot show what it made.
        seen.extend([Outcome::Data(Value::Null), Outcome::Refused(["UNAVAILABLE"].into())]);
    }
    seen
}

/// An item of a type, as it is in a later state.
fn seen_item(case: &Case, item: usize, data: &Map<String, Value>, state: &Memory) -> Vec<Outcome> {
    let ty = &case.schema.types[item];
    let values = data.iter().map(|(name, value)| (name.clone(), value.clone())).collect();
    let places = crate::random_schema::keys::places(case.schema.table_of(ty), ty, &values).into_iter();
    let there = places.filter_map(|place| state.items.get(&(ty.table, place))).filter(|(of, _)| *of == item);
    there.map(|(_, values)| Outcome::Data(shown(ty, values))).collect()
}
