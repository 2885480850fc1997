//! A write in; out: how many elements of each of its lists fit in one transaction, and what is wrong with a
//! `@constraint` that allows more. Must not know how the write is run.
//!
//! Some calls are made for certain. Others depend on the values: a guard is not written for a null, and elements with
//! one key share a check. So a list has two bounds: up to the first it always fits, and beyond the second never.

use crate::schema::diagnostics::diagnostic::Findings;
use crate::schema::diagnostics::rules;
use crate::schema::expression::update::Update;
use crate::schema::model::auth::AuthAction;
use crate::schema::model::find::{Find, Via};
use crate::schema::model::source::Source;
use crate::schema::model::write::{Action, ActionKind, Write, WriteFind, WriteTarget};
use crate::schema::model::{Field, FieldKind, ObjectType, TypeKind};
use crate::schema::syntax::directives::{argument, named, place};
use crate::schema::types::draft::SchemaDraft;
use apollo_compiler::Node;
use apollo_compiler::ast::{Directive, FieldDefinition, InputValueDefinition};
use apollo_compiler::schema::ExtendedType;
use indexmap::IndexMap;

/// The most calls of a transaction (DynamoDB developer guide, "Amazon DynamoDB transactions: how it works").
const MAX_CALLS: u64 = 100;

/// The room for a list of a field in its transaction, if the field's other lists are empty.
pub struct Room {
    /// The list argument, dotted.
    pub list: String,
    /// This many elements fit, whatever they are.
    pub certain: u64,
    /// More elements never fit.
    pub possible: u64,
    /// Whether it is the only list.
    pub is_only: bool,
    /// Whether its elements may move items, which takes two calls each.
    pub moves: bool,
}

impl Room {
    /// The bounds in words.
    pub fn text(&self) -> String {
        let Self { list, certain, possible, is_only, .. } = self;
        let elements = if *possible == 1 { "element" } else { "elements" };
        let with_all = match certain < possible {
            true => format!(", {certain} with all {}", self.uncertain()),
            false => String::new(),
        };
        let others = if *is_only { "" } else { " if the other lists are empty" };
        format!("at most {possible} {elements} of {list} fit in one transaction{others}{with_all}")
    }

    /// The calls that depend on the values.
    fn uncertain(&self) -> &'static str {
        if self.moves { "moves, guards and checks" } else { "guards and checks" }
    }
}

/// The room for each list of a field; none if another action of it has any number of items.
pub fn rooms(types: &IndexMap<String, ObjectType>, field: &Field, write: &Write) -> Vec<Room> {
    let is_open = |action: &Action| match (&action.kind, &action.target) {
        (ActionKind::Delete { cascade }, _) if !cascade.is_empty() => true,
        (_, target) => matches!(target, WriteTarget::Read { many: true, .. }),
    };
    if write.actions.iter().any(is_open) {
        return Vec::new();
    }
    let mut lists: Vec<&str> = Vec::new();
    let of_finds = write.finds.iter().filter_map(|find| find.each.as_deref());
    for list in of_finds.chain(write.actions.iter().filter_map(|action| action.each.as_deref())) {
        if !lists.contains(&list) {
            lists.push(list);
        }
    }
    let counted = CountedWrite { types, field, write };
    lists.iter().map(|list| counted.room(list, lists.len() == 1)).collect()
}

/// Refuses bounds of lists that no transaction holds, and warns of those that it may not hold.
pub fn check(draft: &SchemaDraft, types: &IndexMap<String, ObjectType>, findings: &mut Findings) {
    for ty in types.values() {
        for field in ty.fields.values() {
            let FieldKind::Write(write) = &field.kind else { continue };
            let Some(declared) = draft.schema.get_object(&ty.name).and_then(|of| of.fields.get(field.name.as_str()))
            else {
                continue;
            };
            check_record(
                &format!("{}.{}", ty.name, field.name),
                &CountedWrite { types, field, write },
                declared,
                findings,
            );
            for room in rooms(types, field, write) {
                let constraint = definition(draft, declared, &room.list)
                    .and_then(|definition| definition.directives.get("constraint"));
                let coordinate = format!("{}.{}.{}", ty.name, field.name, room.list);
                constraint.into_iter().for_each(|constraint| check_bounds(&coordinate, &room, constraint, findings));
            }
        }
    }
}

/// Refuses a write that never fits in one transaction with its record.
fn check_record(coordinate: &str, counted: &CountedWrite<'_>, declared: &FieldDefinition, findings: &mut Findings) {
    let Some(directive) = declared.directives.get("idempotent") else { return };
    let replicas = |action: &Action| {
        let writes = !matches!(action.kind, ActionKind::Check) && action.each.is_none() && action.alternative.is_none();
        let spread = counted.types.get(&action.item).filter(|_| writes).and_then(|ty| match &ty.kind {
            TypeKind::Item(keys) => keys.replicas(),
            _ => None,
        });
        spread.map_or(0, |spread| u64::from(spread.count).saturating_sub(1))
    };
    let least = counted.calls(None).least + counted.write.actions.iter().map(replicas).sum::<u64>();
    if least > MAX_CALLS {
        let message = format!(
            "`{coordinate}` and its record have at least {least} calls, but a transaction takes at most {MAX_CALLS}"
        );
        findings.error(rules::KF0729, &named(directive), message, None);
    }
}

fn check_bounds(coordinate: &str, room: &Room, constraint: &Node<Directive>, findings: &mut Findings) {
    let bounds = ["minItems", "maxItems"].into_iter().filter_map(|name| {
        let bound = argument(constraint, name)?.to_i32()?;
        Some((name, u64::try_from(bound).ok()?))
    });
    let Room { certain, possible, .. } = room;
    for (name, bound) in bounds {
        let place = place(constraint, name);
        let help = (*certain > 0).then(|| format!("write at most `{name}: {certain}`, which always fits").into());
        if bound > *possible {
            let message =
                format!("`{coordinate}` may have {bound} elements, but at most {possible} fit in one transaction");
            findings.error(rules::KF0815, &place, message, help);
        } else if bound > *certain {
            let message = format!(
                "`{coordinate}` may have {bound} elements, but with all {} only {certain} fit in one transaction",
                room.uncertain()
            );
            findings.warning(rules::KF0815, &place, message, help);
        }
    }
}

/// The definition of an argument, or of a field of its input object.
fn definition<'a>(
    draft: &SchemaDraft<'a>,
    field: &'a FieldDefinition,
    list: &str,
) -> Option<&'a Node<InputValueDefinition>> {
    let mut names = list.split('.');
    let first = names.next()?;
    let mut found = field.arguments.iter().find(|argument| argument.name == first)?;
    for name in names {
        let Some(ExtendedType::InputObject(object)) = draft.schema.types.get(found.ty.inner_named_type()) else {
            return None;
        };
        found = &object.fields.get(name)?.node;
    }
    Some(found)
}

/// The calls of the directives of one list, for each of its elements; or of those without a list.
#[derive(Default)]
struct Calls {
    /// The actions. They are counted before it is known which of them share a call.
    actions: u64,
    /// The calls that are always made.
    least: u64,
    /// The calls that all elements together always make.
    once: u64,
    /// The calls if nothing is left out.
    most: u64,
}

/// A write whose calls are counted.
struct CountedWrite<'a> {
    types: &'a IndexMap<String, ObjectType>,
    field: &'a Field,
    write: &'a Write,
}

impl CountedWrite<'_> {
    fn room(&self, list: &str, is_only: bool) -> Room {
        let (others, own) = (self.calls(None), self.calls(Some(list)));
        let fit = |others: u64, own: u64| MAX_CALLS.saturating_sub(others).checked_div(own).unwrap_or(MAX_CALLS);
        let possible = fit(others.actions, own.actions).min(fit(others.least + own.once, own.least));
        let certain = fit(others.most, own.most).min(possible);
        let moves = self.write.actions.iter().any(|action| action.each.as_deref() == Some(list) && action.moves());
        Room { list: list.to_owned(), certain, possible, is_only, moves }
    }

    /// The calls of the directives of this list, or of those without a list.
    fn calls(&self, list: Option<&str>) -> Calls {
        let mut calls = Calls::default();
        let actions = self.write.actions.iter().filter(|action| action.each.as_deref() == list);
        for first in actions.clone().filter(|action| action.first() == action.position) {
            // Of alternatives, one is made.
            let alternatives = actions.clone().filter(|action| action.first() == first.position);
            let each = alternatives.filter_map(|action| self.calls_of_action(action)).collect::<Vec<_>>();
            let least = |part: fn(&Calls) -> u64| each.iter().map(part).min().unwrap_or(0);
            calls.actions += least(|one| one.actions);
            calls.least += least(|one| one.least);
            calls.once += least(|one| one.once);
            calls.most += each.iter().map(|one| one.most).max().unwrap_or(0);
        }
        self.add_finds(list, &mut calls);
        calls.most += u64::from(list.is_none() && self.field.auth.look_up(AuthAction::Write));
        let record = u64::from(list.is_none() && self.write.idempotency.is_some());
        (calls.least, calls.most) = (calls.least + record, calls.most + record);
        calls
    }

    /// The calls of an action, or of that for one element.
    fn calls_of_action(&self, action: &Action) -> Option<Calls> {
        let ty = self.types.get(&action.item)?;
        let (least, most) = guards(action, ty);
        // Elements that check one item share the call, and what a rule hides is not asked.
        let is_check = matches!(action.kind, ActionKind::Check);
        let (is_shared, may_be_none) = (is_check && action.each.is_some(), is_check && ty.auth.hide());
        let demanded = self.write.demanded(action, ty);
        let looked_up = demanded.iter().filter(|(_, rules, asked)| rules.look_up(*asked)).count() as u64;
        // A move writes under two keys, and asks for both what rules look up. To its own key, it is an update.
        let places = if action.moves() { 2 } else { 1 };
        Some(Calls {
            actions: 1,
            least: least + u64::from(!is_shared && !may_be_none),
            once: u64::from(is_shared && !may_be_none),
            most: most + places * (1 + looked_up),
        })
    }

    /// Adds the checks of what finds of this list find, or those without a list.
    fn add_finds(&self, list: Option<&str>, calls: &mut Calls) {
        let is_first = |(position, find): &(usize, &WriteFind)| {
            find.first(*position) == *position && find.each.as_deref() == list && !self.is_written(find)
        };
        let mut types: Vec<&str> = Vec::new();
        for (_, find) in self.write.finds.iter().enumerate().filter(is_first) {
            let item = find.type_name();
            // Several finds may find one item, which an action may write, too.
            let is_own = !types.contains(&item) && !self.write.actions.iter().any(|action| action.type_name() == item);
            let is_own = is_own && find.alternative.is_none();
            calls.least += u64::from(is_own && list.is_none());
            calls.once += u64::from(is_own && list.is_some());
            let looks_up = self.types.get(&find.find.item).is_some_and(|ty| ty.auth.look_up(AuthAction::Read));
            calls.most += 1 + u64::from(looks_up || find.alternative.is_some());
            types.push(item);
        }
    }

    /// Whether an action is about each item that a find finds, so that its call holds the item's conditions.
    fn is_written(&self, find: &WriteFind) -> bool {
        let is_same = |action: &Action| match &action.target {
            WriteTarget::Found(alias) => *alias == find.alias,
            WriteTarget::Key(key) => {
                let path = path_of(&find.find).filter(|path| action.item == find.find.item && path.len() == key.len());
                let is_bound = |path: &IndexMap<String, Source>, field: &str, source: &Source| {
                    let is_its = matches!(source, Source::Item(name, of) if *name == find.alias && of == field);
                    is_its || path.get(field) == Some(source)
                };
                !key.is_empty() && path.is_some_and(|path| key.iter().all(|(field, own)| is_bound(path, field, own)))
            }
            WriteTarget::Read { .. } => false,
        };
        self.write.actions.iter().any(|action| action.each == find.each && is_same(action))
    }
}

/// What binds the key of an item that is found.
fn path_of(find: &Find) -> Option<&IndexMap<String, Source>> {
    match &find.via {
        Via::Keys(paths) => paths.first().map(|path| &path.bindings),
        Via::AbstractType(_) | Via::Through(_) => None,
    }
}

/// How many guards of unique fields an action writes and deletes: at least and at most.
fn guards(action: &Action, ty: &ObjectType) -> (u64, u64) {
    let mut sum = (0, 0);
    let unique = ty.fields.values().filter(|field| field.rules.unique && action.at.is_none());
    for field in unique {
        let is_set = action.values.contains_key(&field.name);
        let (least, most) = match &action.kind {
            ActionKind::Check => (0, 0),
            ActionKind::Put { replace: false } => (u64::from(field.ty.is_non_null()), u64::from(is_set)),
            ActionKind::Put { replace: true } => (0, 1 + u64::from(is_set)),
            // A guard goes with its owner, unless another program has written the owner.
            ActionKind::Delete { .. } => (0, 1),
            // The guard of the value that moves gets its owner's new key, and that of a value before is deleted.
            ActionKind::Update { moves: true, .. } => (0, 1 + u64::from(is_set)),
            ActionKind::Update { upsert, expression, .. } => {
                let by_expression = expression.as_ref().is_some_and(|update| update.changes.contains_key(&field.name));
                let sets = |time: &String| {
                    let in_expression = |update: &Update| update.changes.contains_key(time);
                    action.values.contains_key(time) || expression.as_deref().is_some_and(in_expression)
                };
                match is_set || by_expression {
                    // The guard of the value before is deleted.
                    true => (0, 2),
                    // It gets the new time of its item.
                    false if ty.time_field().is_some_and(sets) => (0, 1),
                    false => (0, u64::from(*upsert && field.rules.default.is_some())),
                }
            }
        };
        sum = (sum.0 + least, sum.1 + most);
    }
    sum
}
