//! `@update(move: true)` of an item → its calls, if `set:` gives it another key: one deletes the item under the key
//! that it has, and one puts all that it has under its new key.
//!
//! What moves is what was read, also attributes that the schema does not know. So the delete holds every attribute that
//! was read, and that every known one that was missing still is. What another program adds between the read and the
//! write under a name that the schema does not know cannot be seen.

use crate::execute::expression::evaluate::equal;
use crate::execute::expression::stored_form::StoredForm;
use crate::execute::expression::update::attribute as path;
use crate::execute::item::assemble;
use crate::execute::item::{identity, replicas};
use crate::execute::values::encode;
use crate::execute::values::invalid_value::InvalidValue;
use crate::execute::write::calls::draft::{DraftCall, ResultItem};
use crate::execute::write::calls::requirement::{ItemCondition, Reason, Requirements};
use crate::execute::write::draft::drafting::{
    Drafting, OldGuards, TargetItem, UniqueValue, if_absent, internal, is_many,
};
use crate::execute::write::draft::put::vacancy;
use crate::execute::write::draft::update_values::{UpdateValues, key_item};
use crate::execute::write::job::attributes;
use crate::execute::write::messages::{
    FieldErrors, absent, already_exists, bad_input, invalid, too_many_attributes, unreadable,
};
use crate::execute::write::rules::expression;
use crate::schema::expression::size::ExpressionSize;
use crate::schema::model::ObjectType;
use crate::schema::model::write::Action;
use crate::table::data::attribute::{Attribute, Item, Key};
use crate::table::data::write::WriteAction;
use bigdecimal::BigDecimal;
use serde_json::{Map, Value};
use std::collections::BTreeSet;
use std::sync::Arc;

impl<'a> Drafting<'a, '_> {
    /// The key that an action gives the item under this one, as far as it is known. A field that the key does not hold
    /// as it was given is taken from the item.
    pub fn key_after(
        &mut self,
        position: usize,
        action: &Action,
        (ty, key): (&ObjectType, &Key),
        item: Option<&Item>,
    ) -> Result<KeyAfter, FieldErrors> {
        if !action.moves() {
            return Ok(KeyAfter::Same);
        }
        let (model, caller) = (self.job.context.model, self.job.context.caller);
        let (table, keys) = assemble::place(model, ty).map_err(invalid)?;
        let set = self.set_values(position, action, ty)?;
        let is_known =
            |field: &&str| set.contains_key(*field) || ty.stored(field).is_some_and(|stored| stored.identity > 0);
        if item.is_none() && !keys.primary_fields(table).iter().all(is_known) {
            return Ok(KeyAfter::Unread);
        }
        let of_key = key_item(key);
        let mut values = assemble::values_of(model, ty, item.unwrap_or(&of_key)).known;
        values.extend(assemble::number_of(model, ty, &of_key).map(|(number, _)| number));
        values.extend(set);
        let to = assemble::primary_key(model, ty, caller, &values).map_err(invalid)?;
        Ok(if is_same(&to, key) { KeyAfter::Same } else { KeyAfter::Other(to) })
    }

    /// The key to which an action moves the item under this one; `None` if it stays. One that is missing counts as
    /// moved.
    pub async fn moved_key(
        &mut self,
        position: usize,
        action: &Action,
        (ty, key): (&'a ObjectType, &Key),
    ) -> Result<Option<Key>, FieldErrors> {
        let mut after = self.key_after(position, action, (ty, key), None)?;
        if matches!(after, KeyAfter::Unread) {
            let rules = self.item_rules(action, ty, key).await?;
            rules.for_stored(key)?.ok_or_else(|| vec![absent(action.type_name(), action)])?;
            let Some(item) = rules.admitted(self.job.read_whole(&ty.name, key).await?).await? else {
                return Ok(Some(key.clone()));
            };
            after = self.key_after(position, action, (ty, key), Some(&item))?;
        }
        Ok(if let KeyAfter::Other(to) = after { Some(to) } else { None })
    }

    /// Reads at once all that the items of an action have, if it may move them.
    pub async fn read_moved(
        &mut self,
        position: usize,
        action: &Action,
        (ty, targets): (&ObjectType, &[TargetItem]),
    ) -> Result<(), FieldErrors> {
        let mut gets = Vec::new();
        for target in targets {
            if !matches!(self.key_after(position, action, (ty, &target.key), None)?, KeyAfter::Same) {
                gets.push(self.job.get_whole(ty, &target.key));
            }
        }
        self.job.context.loaders.get(gets).await;
        Ok(())
    }

    /// Moves one item to another key.
    pub async fn move_one(
        &mut self,
        (position, action): (usize, &Action),
        ty: &'a ObjectType,
        target: TargetItem,
    ) -> Result<(), FieldErrors> {
        let job = self.job;
        let from = &target.key;
        let missing = || vec![absent(action.type_name(), action)];
        let rules = self.item_rules(action, ty, from).await?;
        // Whom the rules refuse any item with the key does not learn whether there is one.
        let rule = rules.for_stored(from)?.ok_or_else(missing)?;
        let item = rules.admitted(job.read_whole(&ty.name, from).await?).await?;
        let item = match item {
            Some(item) => item,
            None if is_many(action) => return Ok(()),
            None if if_absent(action, Reason::NotFound) == Reason::Gone => {
                return self.find_again(position, (ty, from));
            }
            None => return Err(missing()),
        };
        // It may have changed since its key was made: what is held is what was read last.
        let to = match self.key_after(position, action, (ty, from), Some(&item))? {
            KeyAfter::Other(to) => to,
            KeyAfter::Same | KeyAfter::Unread => return self.find_again(position, (ty, from)),
        };
        let to = &to;
        let values = self.update_values(position, action, ty, from)?;
        let values = self.update_values_of(position, ty, values, Some(&item))?;
        expression::keep(ty, values.changed.iter())?;
        let moved = self.moved_item(ty, (&item, to), &values)?;
        let new_rules = self.demanded(ty, job.write.demanded(action, ty), (&moved, true)).await?;
        new_rules.check_new(&moved)?;
        let mut requires = Requirements::default();
        let gone = if_absent(action, Reason::NotFound);
        requires.add(ItemCondition::Exists, gone);
        requires.add(ItemCondition::OfType, gone);
        requires.unexpired(ty, gone);
        requires.ruled(rule, false);
        self.hold_found(ty, from, &mut requires);
        self.expected_version(ty, action, &mut requires);
        requires.unchanged(self.all_attributes(ty, from, &item).iter(), &item);
        self.author(action, &mut requires);
        let delete = self.main(position, (ty, from), WriteAction::Delete(from.clone()), requires)?;
        check_size(ty, &delete)?;
        let mut place = Requirements::default();
        place.add(vacancy(ty), Reason::AlreadyExists);
        let table = job.table_of(ty);
        // What an index gave may be gone: the condition decides that.
        if self.draft.held.iter().any(|held| held.find.is_some() && held.is_at(&table, to)) {
            return Err(vec![already_exists(&ty.name, action)]);
        }
        let put = self.main(position, (ty, to), WriteAction::Put(moved.clone()), place)?;
        self.draft.calls.extend([delete, put]);
        let moved_item = MovedItem { ty, from, to, item: &item, moved: &moved };
        self.move_replicas(&moved_item);
        self.move_guards(position, &moved_item)?;
        self.draft.results[position].push(ResultItem::Known(Arc::new(moved)));
        Ok(())
    }

    /// Asks for an item again that was found and is not there any more: it may be elsewhere.
    fn find_again(&mut self, position: usize, (ty, key): (&ObjectType, &Key)) -> Result<(), FieldErrors> {
        let mut requires = Requirements::default();
        // Nothing meets both, so that nothing else of the field is written.
        requires.add(ItemCondition::Exists, Reason::Gone);
        requires.add(ItemCondition::Absent, Reason::Gone);
        let call = self.main(position, (ty, key), WriteAction::Check(key.clone()), requires)?;
        self.draft.calls.push(call);
        Ok(())
    }

    /// All that an item has, under its new key: with what the action sets, its index keys and its next version.
    fn moved_item(
        &self,
        ty: &ObjectType,
        (item, to): (&Arc<Item>, &Key),
        values: &UpdateValues,
    ) -> Result<Item, FieldErrors> {
        let model = self.job.context.model;
        let (table, keys) = assemble::place(model, ty).map_err(invalid)?;
        let mut form =
            StoredForm::new(Some(item.clone()), table.key_attributes().iter().map(|key| key.name.clone()).collect());
        let mut moved = Item::clone(item);
        for (field, value) in &values.changed {
            let Some((stored, name)) = ty.stored(field).and_then(|stored| Some((stored, stored.attribute.as_ref()?)))
            else {
                continue;
            };
            match assemble::attribute(model, ty, field, value).map_err(invalid)? {
                Some(value) => {
                    let unfit = |message| invalid(InvalidValue { field: field.clone(), message });
                    moved.insert(name.clone(), form.kept_type(&path(name), &stored.value, value).map_err(unfit)?);
                }
                None => _ = moved.remove(name),
            }
        }
        // Once a field's key is gone, an attribute of its name would be read in its place.
        let nulls = values.changed.iter().filter(|(_, value)| value.is_null());
        for formerly in nulls.filter_map(|(field, _)| ty.stored(field)?.formerly.as_ref()) {
            moved.remove(formerly);
        }
        values.index.remove.iter().for_each(|attribute| _ = moved.remove(attribute));
        moved.extend(values.index.set.iter().cloned());
        moved.extend(key_item(to));
        // One that is older than a constant gets it: its old key may have shown its type.
        let lacking = keys.constants.iter().filter(|(name, _)| !item.contains_key(name));
        moved.extend(lacking.map(|(name, value)| (name.clone(), encode::constant(value))));
        count_version(ty, &mut moved)?;
        self.keep_values(ty, (item, &mut moved), &values.changed)?;
        let (caller, number) = (self.job.context.caller, assemble::number_of(model, ty, &moved));
        let mut known = assemble::values_of(model, ty, &moved).known;
        known.extend(number.map(|(number, _)| number));
        // Its values make its key, whatever they were read from.
        if !is_same(&assemble::primary_key(model, ty, caller, &known).map_err(invalid)?, to) {
            return Err(internal(&ty.name));
        }
        if !identity::is_key_of(ty, to) || !identity::is_of(ty, &moved) {
            let message = format!("The key of this {} would break the constraints of its fields.", ty.name);
            return Err(bad_input(message));
        }
        Ok(moved)
    }

    /// Gives fields that only a key held, which the item has no longer, an attribute of their own.
    fn keep_values(
        &self,
        ty: &ObjectType,
        (item, moved): (&Item, &mut Item),
        changed: &Map<String, Value>,
    ) -> Result<(), FieldErrors> {
        let model = self.job.context.model;
        let (before, after) = (assemble::values_of(model, ty, item).known, assemble::values_of(model, ty, moved).known);
        let kept = before.iter().filter(|(field, _)| !changed.contains_key(*field));
        let is_version = |field: &str| ty.fields.get(field).is_some_and(|field| field.rules.version);
        for (field, value) in kept.chain(changed.iter().filter(|(_, value)| !value.is_null())) {
            let is_there = match changed.contains_key(field) {
                true => after.contains_key(field),
                false => is_version(field) || after.get(field) == Some(value),
            };
            if is_there {
                continue;
            }
            let own = ty.stored(field).and_then(|stored| stored.attribute.as_ref());
            match own.zip(assemble::attribute(model, ty, field, value).map_err(invalid)?) {
                Some((name, value)) => _ = moved.insert(name.clone(), value),
                None => {
                    let message = format!("{field} is stored in a key, which the {} would not have.", ty.name);
                    return Err(invalid(InvalidValue { field: field.clone(), message }));
                }
            }
        }
        Ok(())
    }

    /// Every attribute of an item that moves, and every known one that it lacks, beyond its key.
    fn all_attributes(&self, ty: &ObjectType, key: &Key, item: &Item) -> Vec<String> {
        let read = item.members().map(|(name, _)| name.to_string());
        let all: BTreeSet<String> = read.chain(attributes(self.job.context.model, ty)).collect();
        let is_key = |name: &str| *key.partition.0 == *name || key.sort.as_ref().is_some_and(|sort| *sort.0 == *name);
        all.into_iter().filter(|name| !is_key(name)).collect()
    }

    /// Deletes the other replicas of an item that moves, and puts them in their new places.
    fn move_replicas(&mut self, MovedItem { ty, from, to, moved, .. }: &MovedItem<'_>) {
        let model = self.job.context.model;
        self.replicas(ty, from, |_, key| (WriteAction::Delete(key), None));
        // They must equal the moved item, whatever has their keys now.
        self.replicas(ty, to, |number, _| (WriteAction::Put(replicas::replica(model, ty, moved, number)), None));
    }

    /// Gives the guards of an item that moves their owner's new key, and deletes those of values that change.
    fn move_guards(&mut self, position: usize, item: &MovedItem<'_>) -> Result<(), FieldErrors> {
        let job = self.job;
        let MovedItem { ty, from, to, item, moved } = *item;
        let mut gone = OldGuards { owner: Some(from.clone()), ..OldGuards::new(job, ty, item) };
        let values = assemble::values_of(job.context.model, ty, moved);
        let known = &values.known;
        for field in ty.fields.values().filter(|field| field.rules.unique) {
            if values.is_unreadable(&field.name) {
                return Err(unreadable(ty, &field.name));
            }
            let value = known.get(&field.name).unwrap_or(&Value::Null);
            let time = identity::expires(ty).and_then(|time| moved.get(time));
            let unique = UniqueValue { action: position, ty, field: &field.name, value, time };
            self.guard(unique, to, Some(&mut gone))?;
        }
        self.delete_guards(ty, from, gone.keys);
        Ok(())
    }
}

/// The key of an item after an action.
pub enum KeyAfter {
    /// The one that it has.
    Same,
    /// Another one.
    Other(Key),
    /// It is made of what only the item says.
    Unread,
}

/// An item that moves: with its key and all that it has, as it was and as it will be.
struct MovedItem<'m> {
    ty: &'m ObjectType,
    from: &'m Key,
    to: &'m Key,
    item: &'m Item,
    moved: &'m Item,
}

/// Fails if no condition of DynamoDB can hold all that an item has.
fn check_size(ty: &ObjectType, delete: &DraftCall) -> Result<(), FieldErrors> {
    let size = delete.write.condition.as_ref().map(|condition| ExpressionSize::counted(&condition.text));
    let fits = size.unwrap_or_default().excess().is_none();
    if fits { Ok(()) } else { Err(vec![too_many_attributes(&ty.name)]) }
}

/// Counts the versions of an item that moves. One that it lacks begins with 1.
fn count_version(ty: &ObjectType, moved: &mut Item) -> Result<(), FieldErrors> {
    for field in ty.fields.values().filter(|field| field.rules.version) {
        let name = ty.stored(&field.name).and_then(|stored| stored.attribute.clone());
        let name = name.ok_or_else(|| internal(&field.name))?;
        let next = match moved.get(&name) {
            None | Some(Attribute::Null) => "1".to_owned(),
            Some(Attribute::N(number)) => match number.parse::<BigDecimal>() {
                Ok(number) => (number + BigDecimal::from(1)).normalized().to_plain_string(),
                Err(_) => return Err(unreadable(ty, &field.name)),
            },
            Some(_) => return Err(unreadable(ty, &field.name)),
        };
        moved.insert(name, Attribute::N(next.into()));
    }
    Ok(())
}

/// Whether two keys of a table are one. Numbers are compared by their values.
fn is_same(one: &Key, other: &Key) -> bool {
    let (one, other) = (key_item(one), key_item(other));
    one.members().all(|(name, value)| other.get(name).is_some_and(|other| equal(value, other)))
}
