//! The groups of subscribers in; those that a change concerns out, found by the values of their bound fields. Must not
//! know how changes are read, nor how they are delivered.

use super::delivery::watched;
use super::group::{Group, GroupKey};
use super::interest::{BoundValues, values_of};
use super::operation::WatchedOperation;
use crate::table::change_source::ChangeRecord;
use std::collections::HashMap;
use std::sync::Arc;

/// The groups that have subscribers.
#[derive(Default)]
pub struct Registry {
    groups: HashMap<GroupKey, Arc<Group>>,
    by_values: HashMap<ValuesKey, HashMap<GroupKey, Arc<Group>>>,
    /// For each table, which fields its subscriptions bind.
    shapes: HashMap<Arc<str>, Vec<BoundShape>>,
}

/// A field of `Subscription`, and values of its bound fields.
type ValuesKey = (String, BoundValues);

/// The fields that some groups of one field of `Subscription` bind.
struct BoundShape {
    field: String,
    shape: Vec<bool>,
    groups: usize,
    /// Any of the groups' operations: all have the same bindings.
    operation: Arc<WatchedOperation>,
}

impl Registry {
    /// The group of a key.
    pub fn get(&self, key: &GroupKey) -> Option<&Arc<Group>> {
        self.groups.get(key)
    }

    /// Every group.
    pub fn groups(&self) -> impl Iterator<Item = &Arc<Group>> {
        self.groups.values()
    }

    /// Adds a group.
    pub fn add(&mut self, group: &Arc<Group>) {
        self.groups.insert(group.key, group.clone());
        self.register(group, &group.operation());
    }

    /// Removes a group. A later group of the same key stays.
    pub fn remove(&mut self, group: &Arc<Group>) {
        if self.knows(group) {
            self.groups.remove(&group.key);
            self.unregister(group, &group.operation());
        }
    }

    /// Replaces a group's operation. From now on the group is found by the values of that one, if it still has
    /// subscribers.
    pub fn replace(&mut self, group: &Arc<Group>, operation: Arc<WatchedOperation>) {
        let is_known = self.knows(group);
        if is_known {
            self.unregister(group, &group.operation());
        }
        group.replace(operation.clone());
        if is_known {
            self.register(group, &operation);
        }
    }

    /// The groups that a change concerns, each once.
    pub fn concerned(&self, record: &ChangeRecord) -> Vec<Arc<Group>> {
        let mut found = HashMap::new();
        for BoundShape { field, shape, operation, .. } in self.shapes.get(&record.table).into_iter().flatten() {
            let Some((_, watch)) = watched(&operation.prepared) else { continue };
            for image in record.new.iter().chain(&record.old).filter(|image| watch.discriminator.recognises(image)) {
                let groups =
                    values_of(watch, shape, image).and_then(|values| self.by_values.get(&(field.clone(), values)));
                found.extend(groups.into_iter().flatten().map(|(key, group)| (*key, group.clone())));
            }
        }
        found.into_values().collect()
    }

    fn knows(&self, group: &Arc<Group>) -> bool {
        self.groups.get(&group.key).is_some_and(|known| Arc::ptr_eq(known, group))
    }

    fn register(&mut self, group: &Arc<Group>, operation: &Arc<WatchedOperation>) {
        let Some((_, watch)) = watched(&operation.prepared) else { return };
        for values in operation.interest.combinations() {
            self.by_values.entry((watch.field.clone(), values)).or_default().insert(group.key, group.clone());
        }
        let shape = operation.interest.shape();
        let shapes = self.shapes.entry(operation.table()).or_default();
        match shapes.iter_mut().find(|known| known.field == watch.field && known.shape == shape) {
            Some(known) => {
                known.groups += 1;
                known.operation = operation.clone();
            }
            None => {
                shapes.push(BoundShape { field: watch.field.clone(), shape, groups: 1, operation: operation.clone() })
            }
        }
    }

    fn unregister(&mut self, group: &Arc<Group>, operation: &WatchedOperation) {
        let Some((_, watch)) = watched(&operation.prepared) else { return };
        for values in operation.interest.combinations() {
            let key = (watch.field.clone(), values);
            if let Some(groups) = self.by_values.get_mut(&key) {
                groups.remove(&group.key);
                if groups.is_empty() {
                    self.by_values.remove(&key);
                }
            }
        }
        let (table, shape) = (operation.table(), operation.interest.shape());
        if let Some(shapes) = self.shapes.get_mut(&table) {
            shapes
                .iter_mut()
                .filter(|known| known.field == watch.field && known.shape == shape)
                .for_each(|known| known.groups -= 1);
            shapes.retain(|known| known.groups > 0);
        }
    }
}
