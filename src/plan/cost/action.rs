//! An action of a write and its item type in; out: what writing one of its items takes, whatever its arguments are:
//! calls of a transaction, places in which the item is written, and whether the item must be read first.

use crate::schema::model::keys::ItemKeys;
use crate::schema::model::write::{Action, ActionKind};
use crate::schema::model::{Model, ObjectType};
use crate::schema::table::Table;
use crate::schema::template::Template;
use std::collections::BTreeSet;

/// Whether a write changes the keys of an index, by its position.
type Rewrites<'r> = &'r dyn Fn(&ItemKeys, &Table, usize) -> bool;

/// What writing one item takes at most.
pub struct ActionCost {
    /// The calls of its transaction: the item, its other replicas, and the guards that are put and deleted.
    pub parts: u64,
    /// The number of its replicas; 1 if it has none.
    pub replicas: u64,
    /// The places in which an item is written: the table, each index that has keys of it, its replicas, and its guards.
    /// A key of an index that changes is deleted and put (DynamoDB developer guide, "Write capacity units" of global
    /// secondary indexes).
    pub places: f64,
    /// Whether the type has unique fields.
    pub is_unique: bool,
    /// Whether an update may have to read the item: for its index keys, the defaults of its fields, or its guards.
    pub needs_item: bool,
}

impl ActionCost {
    /// What an action takes for each of its items.
    pub fn new(model: &Model, action: &Action, ty: &ObjectType) -> Self {
        let unique = |field: &str| ty.fields.get(field).is_some_and(|field| field.rules.unique);
        let all = ty.fields.values().filter(|field| field.rules.unique).count() as u64;
        let changed = changed(action, ty);
        let guards = match (&action.kind, &action.at) {
            (_, Some(_)) | (ActionKind::Check, _) => 0,
            (ActionKind::Put { replace: false } | ActionKind::Delete { .. }, None) => all,
            (ActionKind::Put { replace: true }, None) => 2 * all,
            (ActionKind::Update { upsert: true, .. }, None) => 2 * all,
            // Each guard gets its owner's new key, and those of values before are deleted.
            (ActionKind::Update { moves: true, .. }, None) => {
                all + changed.iter().filter(|field| unique(field)).count() as u64
            }
            // All guards get the new time of their item.
            (ActionKind::Update { .. }, None)
                if ty.time_field().is_some_and(|time| changed.contains(time.as_str())) =>
            {
                2 * all
            }
            (ActionKind::Update { .. }, None) => 2 * changed.iter().filter(|field| unique(field)).count() as u64,
        };
        let replaces =
            matches!(action.kind, ActionKind::Put { replace: true } | ActionKind::Update { upsert: true, .. });
        let rewrites = |keys: &ItemKeys, table: &Table, index: usize| {
            let fields = fields_of(keys, table, index);
            action.at.is_none() && (replaces || changed.iter().any(|field| fields.contains(field)))
        };
        let mut cost = Self::with(model, ty, (guards, &rewrites));
        if action.moves() {
            // Every replica is deleted in one place and put in another. That is more than its index keys may cost.
            cost.parts += cost.replicas;
            cost.places += cost.places - guards as f64;
        }
        if matches!(action.kind, ActionKind::Check) {
            (cost.parts, cost.places) = (1, 1.0);
        }
        cost.needs_item = needs_item(model, action, ty, &changed) || guards > 0 || action.moves();
        cost
    }

    /// What the delete of a dependent takes.
    pub fn for_dependent(model: &Model, ty: &ObjectType) -> Self {
        let guards = ty.fields.values().filter(|field| field.rules.unique).count() as u64;
        Self::with(model, ty, (guards, &|_, _, _| false))
    }

    fn with(model: &Model, ty: &ObjectType, (guards, rewrites): (u64, Rewrites<'_>)) -> Self {
        let is_unique = ty.fields.values().any(|field| field.rules.unique);
        let Some((_, keys)) = model.item(&ty.name) else {
            return Self { parts: 1, replicas: 1, places: 1.0, is_unique, needs_item: false };
        };
        let table = &model.tables[keys.table];
        let replicas = keys.replicas().map_or(1, |spread| u64::from(spread.count));
        let held = (0..table.indexes.len())
            .filter(|index| table.keys_of(Some(*index)).all().all(|key| keys.keys.contains_key(&key.name)));
        let indexes: f64 = held.map(|index| if rewrites(keys, table, index) { 2.0 } else { 1.0 }).sum();
        let places = (1.0 + indexes) * replicas as f64 + guards as f64;
        Self { parts: replicas + guards, replicas, places, is_unique, needs_item: false }
    }
}

/// The fields that an update may change.
fn changed<'a>(action: &'a Action, ty: &'a ObjectType) -> BTreeSet<&'a str> {
    let mut changed: BTreeSet<&str> = action.values.keys().map(String::as_str).collect();
    if let ActionKind::Update { expression: Some(expression), .. } = &action.kind {
        changed.extend(expression.changes.keys().map(String::as_str));
    }
    let renewed =
        ty.fields.values().filter(|field| field.rules.default.as_ref().is_some_and(|default| default.every_write));
    changed.extend(renewed.map(|field| field.name.as_str()));
    changed
}

/// The fields that decide the keys of an index.
fn fields_of<'k>(keys: &'k ItemKeys, table: &Table, index: usize) -> BTreeSet<&'k str> {
    templates_of(keys, table, index).flat_map(Template::deciding_fields).collect()
}

/// The templates of the keys of an index.
fn templates_of<'k>(keys: &'k ItemKeys, table: &Table, index: usize) -> impl Iterator<Item = &'k Template> {
    table.keys_of(Some(index)).all().filter_map(|key| keys.keys.get(&key.name)).flatten()
}

/// Whether an update may need values of the item that its arguments do not give.
fn needs_item(model: &Model, action: &Action, ty: &ObjectType, changed: &BTreeSet<&str>) -> bool {
    let ActionKind::Update { upsert, .. } = &action.kind else { return false };
    let Some((_, keys)) = model.item(&ty.name) else { return false };
    let table = &model.tables[keys.table];
    let of_key = keys.primary_fields(table);
    // An argument that is not given leaves a field as it is, so that the other fields of an index key say nothing.
    let by_index = |index: usize| {
        let fields = fields_of(keys, table, index);
        let others = fields.iter().filter(|field| !of_key.contains(field));
        // A number that another program assigned is read, too.
        let is_numbered = || templates_of(keys, table, index).any(|template| template.has_assigned());
        changed.iter().any(|field| fields.contains(field)) && (others.count() > 1 || is_numbered())
    };
    let defaults = ty.fields.values().filter_map(|field| field.rules.default.as_ref());
    let by_default = defaults.filter(|default| default.every_write).any(|default| default.fields().next().is_some());
    *upsert || by_default || (0..table.indexes.len()).any(by_index)
}
