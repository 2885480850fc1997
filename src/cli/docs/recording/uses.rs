//! Items in; out, the fields that read and write them, each with an operation whose arguments are filled from an item.
//! Runs nothing.

use super::choose::Choice;
use super::examples::{Examples, Variant};
use super::operation;
use super::records::{Records, SampleItem};
use super::roles;
use super::ways::{self, Hop, Ways, is_item};
use crate::schema::describe::{describe, rows_of_action};
use crate::schema::model::find::{Find, Returns, Via};
use crate::schema::model::source::Source;
use crate::schema::model::write::{Action, ActionKind, Write};
use crate::schema::model::{Argument, Field, FieldKind, Model, ObjectType};
use crate::table::data::attribute::Item;
use serde_json::{Map, Value};

/// How many paths to an object are compared.
const WAYS: usize = 8;

/// From how many items a field is read.
const SAMPLES: usize = 4;

/// A field that reads or writes the items of a type.
pub struct ItemUse {
    /// `Group.memberships`
    pub field: String,
    /// Whether it writes.
    pub writes: bool,
    /// The call and where it goes: `Query members.byUser`.
    pub call: String,
    /// An operation with the field.
    pub operation: String,
    /// The arguments of a field that writes, as far as they follow from the item.
    pub arguments: Map<String, Value>,
}

/// A field that finds items.
#[derive(Clone, Copy)]
struct FindField<'m> {
    parent: &'m ObjectType,
    field: &'m Field,
    find: &'m Find,
}

/// The uses of an item, root fields first. An item without a type has none.
pub fn uses(model: &Model, item: &SampleItem) -> Vec<ItemUse> {
    let Some(ty) = item.ty.as_deref() else { return Vec::new() };
    let (ways, rows) = (Ways::new(model), describe(model));
    let own = Records { list: vec![item.clone()] };
    let mut uses = Vec::new();
    for (parent, field) in ways::fields(model) {
        let coordinate = format!("{}.{}", parent.name, field.name);
        let (row, operation) = match &field.kind {
            FieldKind::Find(find) if model.read_by(parent, find).iter().any(|read| read.name == ty) => (
                rows.iter().find(|row| row.field == coordinate).cloned(),
                reading(model, &ways, item, FindField { parent, field, find }).map(|text| (text, Map::new())),
            ),
            FieldKind::Write(write) => {
                let is_of_type = |action: &&Action| action.item == ty && !matches!(action.kind, ActionKind::Check);
                let Some(action) = write.actions.iter().find(is_of_type) else { continue };
                // The first choice would be a key that no item has.
                let written = writing(&Examples { model, records: &own, ways: &ways }, 1, parent, field, write);
                (rows_of_action(model, &coordinate, action).pop(), written)
            }
            _ => continue,
        };
        let call = row.map(|row| format!("{} {}", row.operation, row.place)).unwrap_or_default();
        let writes = matches!(field.kind, FieldKind::Write(_));
        uses.extend(operation.map(|(operation, arguments)| ItemUse {
            field: coordinate,
            writes,
            call,
            operation,
            arguments,
        }));
    }
    uses
}

/// Queries that read the items, for each field from several of them: lists within an item first, because they show
/// most.
pub fn readings<'m>(model: &'m Model, records: &'m Records) -> impl Iterator<Item = String> + 'm {
    let returns_objects = |find: &Find| !matches!(find.returns, Returns::Exists | Returns::Count);
    let of_field = |(parent, field): (&'m ObjectType, &'m Field)| {
        let find = find_in(&field.kind).filter(|find| returns_objects(find))?;
        Some(FindField { parent, field, find })
    };
    let mut fields: Vec<FindField<'m>> = ways::fields(model).into_iter().filter_map(of_field).collect();
    fields.sort_by_key(|of| !is_item(of.parent) || matches!(of.find.returns, Returns::One));
    let ways = Ways::new(model);
    fields.into_iter().flat_map(move |of| {
        let read = model.read_by(of.parent, of.find);
        let is_read =
            |record: &&SampleItem| record.ty.as_deref().is_some_and(|ty| read.iter().any(|object| object.name == ty));
        let items = records.list.iter().filter(is_read).take(SAMPLES);
        let mut queries: Vec<String> = items.filter_map(|item| reading(model, &ways, item, of)).collect();
        queries.dedup();
        queries
    })
}

/// The first mutation of the schema, with arguments that fit the items. A put gets a key that no item has.
pub fn first_write(model: &Model, records: &Records) -> Option<String> {
    let ways = Ways::new(model);
    ways::fields(model).into_iter().find_map(|(root, field)| match &field.kind {
        FieldKind::Write(write) => {
            writing(&Examples { model, records, ways: &ways }, 0, root, field, write).map(|(text, _)| text)
        }
        _ => None,
    })
}

/// The first subscription of the schema to an item of the records; one that begins with the item as it is comes before
/// others.
pub fn first_watch(model: &Model, records: &Records) -> Option<String> {
    let ways = Ways::new(model);
    let mut watched: Vec<_> = ways::fields(model)
        .into_iter()
        .filter_map(
            |(root, field)| if let FieldKind::Watch(watch) = &field.kind { Some((root, field, watch)) } else { None },
        )
        .collect();
    watched.sort_by_key(|(_, _, watch)| watch.initial.is_none());
    watched.into_iter().find_map(|(root, field, watch)| {
        let records_of_type = records.list.iter().filter(|record| record.ty.as_deref() == Some(watch.item.as_str()));
        records_of_type.take(SAMPLES).find_map(|record| {
            let bound = |argument: &Argument| {
                let is_it = |source: &Source| matches!(source, Source::Argument(name) if *name == argument.name);
                let (name, _) = watch.bindings.iter().find(|(_, source)| is_it(source))?;
                record.fields.get(name).cloned().filter(|_| !argument.ty.is_list())
            };
            let needed =
                field.arguments.iter().filter(|argument| argument.ty.is_non_null() && argument.default.is_none());
            let given: Vec<(&Argument, Value)> =
                needed.map(|argument| Some((argument, bound(argument)?))).collect::<Option<_>>()?;
            let own = Records { list: vec![record.clone()] };
            let call = Examples { model, records: &own, ways: &ways }.call(root, field, &given);
            operation::text(model, "subscription", &[call], true)
        })
    })
}

/// An operation that reads an item by a field; `None` if no path leads to the field.
fn reading(model: &Model, ways: &Ways, item: &SampleItem, of: FindField<'_>) -> Option<String> {
    let FindField { parent, field, find } = of;
    let lines =
        ways.to(&parent.name).into_iter().take(WAYS).map(|hops| (hops, ancestors(model, item, (parent, find), hops)));
    let (hops, (ancestors, _)) = lines.min_by_key(|(_, (_, unknown))| *unknown)?;
    let records = Records { list: std::iter::once(item.clone()).chain(ancestors).collect() };
    let examples = Examples { model, records: &records, ways };
    let variants = examples.variants(field, find);
    let variant = variants.iter().min_by_key(|variant| (variant.order_by.is_some(), variant.when.len()))?;
    let given = examples.given(field, &chosen(model, &records, (parent, find), variant), Some((find, variant)));
    let is_needed = |argument: &str| variant.when.iter().any(|name| name == argument);
    let given: Vec<_> = given
        .into_iter()
        .filter(|(argument, value)| argument.ty.is_non_null() || is_needed(&argument.name) || value.is_null())
        .collect();
    let mut calls = examples.way(hops, records.list.get(1).filter(|_| is_item(parent)), 0)?;
    calls.push(examples.call(parent, field, &given));
    operation::text(model, "query", &calls, true)
}

/// The arguments of a find that reads the first record.
fn chosen<'r>(
    model: &Model,
    records: &'r Records,
    (parent, find): (&ObjectType, &Find),
    variant: &Variant<'_>,
) -> Choice<'r> {
    let mut choice = Choice::new(records, 0);
    let mut roles = roles::find_roles(model, parent, find, variant.path);
    if let Some((record, ty)) = records.list.first().and_then(|record| Some((record, record.ty.as_ref()?))) {
        if matches!(find.via, Via::AbstractType(_)) {
            roles
                .iter_mut()
                .filter(|role| role.place.item == roles::target(find))
                .for_each(|role| role.place.item.clone_from(ty));
        }
        choice.settle(ty, record);
    }
    choice.choose(&roles);
    choice
}

/// The objects that lead to an item, the nearest first, with the fields that follow from it. Beside them, how many
/// values of their keys do not follow from it.
fn ancestors(
    model: &Model,
    item: &SampleItem,
    (parent, find): (&ObjectType, &Find),
    hops: &[Hop],
) -> (Vec<SampleItem>, usize) {
    let (mut list, mut unknown): (Vec<SampleItem>, usize) = (Vec::new(), 0);
    let outer = hops.iter().rev().map(|(object, field)| match model.types.get(object) {
        Some(object) => (Some(object), object.fields.get(field).and_then(|field| find_in(&field.kind))),
        None => (None, None),
    });
    for (object, find) in std::iter::once((Some(parent), Some(find))).chain(outer) {
        let Some((object, find)) = object.zip(find) else {
            unknown += 1;
            break;
        };
        let below = list.last().unwrap_or(item);
        let path = roles::paths(find).iter().min_by_key(|path| path.when.len());
        let mut fields = Map::new();
        for (field, source) in path.iter().flat_map(|path| &path.bindings) {
            match (source, below.fields.get(field)) {
                (Source::Parent(from), Some(value)) => drop(fields.insert(from.clone(), value.clone())),
                (Source::Claim(_), _) | (_, None) => unknown += 1,
                _ => {}
            }
        }
        if is_item(object) {
            list.push(SampleItem { table: item.table, ty: Some(object.name.clone()), item: Item::new(), fields });
        }
    }
    (list, unknown)
}

fn find_in(kind: &FieldKind) -> Option<&Find> {
    if let FieldKind::Find(find) = kind { Some(find) } else { None }
}

/// An operation that writes, and those of its arguments that follow from the items; each attempt chooses others.
fn writing(
    examples: &Examples<'_>,
    attempt: usize,
    root: &ObjectType,
    field: &Field,
    write: &Write,
) -> Option<(String, Map<String, Value>)> {
    let model = examples.model;
    let mut choice = Choice::new(examples.records, attempt);
    choice.choose(&roles::write_roles(model, root, write));
    let given = examples.given(field, &choice, None);
    let text = operation::text(model, "mutation", &[examples.call(root, field, &given)], true)?;
    let chosen = |argument: &Argument| {
        let value = |path: &str| choice.value(path).cloned();
        Some((argument.name.clone(), operation::chosen_value(model, &argument.name, &argument.ty, &value, 0)?))
    };
    Some((text, field.arguments.iter().filter_map(chosen).collect()))
}
