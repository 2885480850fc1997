//! An item in; the fields that read its type and those that write it out, each with an operation whose arguments are filled from the item.
//! Runs nothing.

use super::choose::Choice;
use super::examples::{Examples, Variant};
use super::operation;
use super::records::{Records, SampleItem};
use super::roles;
use super::ways::{self, Hop, Ways, is_item};
use crate::schema::describe::describe;
use crate::schema::model::find::{Find, Via};
use crate::schema::model::source::Source;
use crate::schema::model::write::{ActionKind, Write};
use crate::schema::model::{Field, FieldKind, Model, ObjectType};
use crate::table::data::attribute::Item;
use serde_json::Map;

/// How many paths to an object are compared.
const WAYS: usize = 8;

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
}

/// The uses of an item, root fields first. An item without a type has none.
pub fn uses(model: &Model, item: &SampleItem) -> Vec<ItemUse> {
    let Some(ty) = item.ty.as_deref() else { return Vec::new() };
    let (ways, rows) = (Ways::of(model), describe(model));
    let mut uses = Vec::new();
    for (parent, field) in ways::fields(model) {
        let operation = match &field.kind {
            FieldKind::Find(find) if model.read_by(parent, find).iter().any(|read| read.name == ty) => {
                reading(model, &ways, item, (parent, field, find))
            }
            FieldKind::Write(write)
                if write.actions.iter().any(|action| action.item == ty && !matches!(action.kind, ActionKind::Check)) =>
            {
                writing(model, &ways, item, (parent, field, write))
            }
            _ => continue,
        };
        let coordinate = format!("{}.{}", parent.name, field.name);
        let row = rows.iter().find(|row| row.field == coordinate);
        let call = row.map(|row| format!("{} {}", row.operation, row.place)).unwrap_or_default();
        let writes = matches!(field.kind, FieldKind::Write(_));
        uses.extend(operation.map(|operation| ItemUse { field: coordinate, writes, call, operation }));
    }
    uses
}

/// An operation that reads an item by a field; `None` if no path leads to the field.
fn reading(model: &Model, ways: &Ways, item: &SampleItem, (parent, field, find): (&ObjectType, &Field, &Find)) -> Option<String> {
    let lines = ways.to(&parent.name).into_iter().take(WAYS).map(|hops| (hops, ancestors(model, item, (parent, find), hops)));
    let (hops, (ancestors, _)) = lines.min_by_key(|(_, (_, unknown))| *unknown)?;
    let records = Records { list: std::iter::once(item.clone()).chain(ancestors).collect() };
    let examples = Examples { model, records: &records, ways };
    let variants = examples.variants(field, find);
    let variant = variants.iter().min_by_key(|variant| (variant.order_by.is_some(), variant.when.len()))?;
    let given = examples.given(field, &chosen(model, &records, (parent, find), variant), Some((find, variant)));
    let is_needed = |argument: &str| variant.when.iter().any(|name| name == argument);
    let given: Vec<_> =
        given.into_iter().filter(|(argument, value)| argument.ty.is_non_null() || is_needed(&argument.name) || value.is_null()).collect();
    let mut calls = examples.way(hops, records.list.get(1).filter(|_| is_item(parent)), 0)?;
    calls.push(examples.call(parent, field, &given));
    operation::text(model, "query", &calls, true)
}

/// The arguments of a find that reads the first record.
fn chosen<'r>(model: &Model, records: &'r Records, (parent, find): (&ObjectType, &Find), variant: &Variant<'_>) -> Choice<'r> {
    let mut choice = Choice::new(records, 0);
    let mut roles = roles::of_find(model, parent, find, variant.path);
    if let Some((record, ty)) = records.list.first().and_then(|record| Some((record, record.ty.as_ref()?))) {
        if matches!(find.via, Via::AbstractType(_)) {
            roles.iter_mut().filter(|role| role.place.item == roles::target(find)).for_each(|role| role.place.item.clone_from(ty));
        }
        choice.settle(ty, record);
    }
    choice.choose(&roles);
    choice
}

/// The objects that lead to an item, the nearest first, with the fields that follow from it. Beside them, how many values of their keys do
/// not follow from it.
fn ancestors(model: &Model, item: &SampleItem, (parent, find): (&ObjectType, &Find), hops: &[Hop]) -> (Vec<SampleItem>, usize) {
    let (mut list, mut unknown): (Vec<SampleItem>, usize) = (Vec::new(), 0);
    let outer = hops.iter().rev().map(|(object, field)| match model.types.get(object) {
        Some(object) => (Some(object), object.fields.get(field).and_then(|field| of_find(&field.kind))),
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

fn of_find(kind: &FieldKind) -> Option<&Find> {
    if let FieldKind::Find(find) = kind { Some(find) } else { None }
}

/// An operation that writes an item as it is.
fn writing(model: &Model, ways: &Ways, item: &SampleItem, (root, field, write): (&ObjectType, &Field, &Write)) -> Option<String> {
    let records = Records { list: vec![item.clone()] };
    // The first choice would be a key that no item has.
    let mut choice = Choice::new(&records, 1);
    choice.choose(&roles::of_write(model, root, write));
    let examples = Examples { model, records: &records, ways };
    let given = examples.given(field, &choice, None);
    operation::text(model, "mutation", &[examples.call(root, field, &given)], true)
}
