//! `@put` of an item → its call, and the guards of its unique values.

use crate::execute::item::{assemble, identity, replicas};
use crate::execute::write::calls::draft::ResultItem;
use crate::execute::write::calls::requirement::{ItemCondition, Reason, Requirements};
use crate::execute::write::draft::drafting::{Drafting, OldGuards, UniqueValue, internal};
use crate::execute::write::elements::in_scope;
use crate::execute::write::messages::{FieldErrors, already_exists, invalid};
use crate::schema::model::ObjectType;
use crate::schema::model::write::Action;
use crate::table::data::attribute::Item;
use crate::table::data::write::WriteAction;
use serde_json::Value;
use std::sync::Arc;

impl Drafting<'_, '_> {
    pub async fn put(&mut self, position: usize, action: &Action, replace: bool) -> Result<(), FieldErrors> {
        let job = self.job;
        let (model, ty) = (job.context.model, job.type_named(&action.item)?);
        let values = self.values(position, ty, &action.values)?;
        let item = assemble::item(model, ty, job.context.caller, &values).map_err(invalid)?;
        let Some(key) = assemble::key_of(model, ty, &item) else { return Err(internal(&ty.name)) };
        // One that replaces an item is held against that, too.
        let rules = match replace {
            true => self.item_rules(action, ty, &key).await?,
            false => self.demanded(ty, job.write.demanded(action, ty), (&item, true)).await?,
        };
        rules.check_new(&item)?;
        let unique = || ty.fields.values().filter(|field| field.rules.unique);
        let mut requires = Requirements::default();
        let mut gone = OldGuards::default();
        if !replace {
            requires.add(vacancy(ty), Reason::AlreadyExists);
        } else if unique().next().is_some() {
            // The replaced item may have guards that the new item does not need.
            let old = job.read(&ty.name, &key).await?;
            rules.check_replaced(old.as_deref())?;
            match &old {
                None => requires.add(ItemCondition::Absent, Reason::Race),
                Some(old) => {
                    self.hold(ty, old, unique().map(|field| &field.name), &mut requires);
                    requires.unchanged(identity::expires(ty).map(str::to_owned).iter(), old);
                    gone = OldGuards::new(job, ty, old);
                }
            }
        }
        if self.hold_found(ty, &key, &mut requires) && !replace {
            // The new item would replace the found one.
            return Err(vec![already_exists(&ty.name, action)]);
        }
        if replace {
            requires.add(ItemCondition::OfType, Reason::AlreadyExists);
            // The new item has met what the key decides.
            requires.ruled(rules.for_stored(&key)?.ok_or_else(|| rules.refused(None))?, true);
        }
        self.author(action, &mut requires);
        let call = self.main(position, (ty, &key), WriteAction::Put(item.clone()), requires)?;
        self.draft.calls.push(call);
        // The replicas are put without a condition: they must equal the new item, whatever has their keys now.
        self.replicas(ty, &key, |number, _| {
            (WriteAction::Put(replicas::replica(job.context.model, ty, &item, number)), None)
        });
        for field in unique() {
            let value = values.get(&field.name).unwrap_or(&Value::Null);
            let time = identity::expires(ty).and_then(|time| item.get(time));
            let unique = UniqueValue { action: position, ty, field: &field.name, value, time };
            self.guard(unique, &key, replace.then_some(&mut gone))?;
        }
        self.delete_guards(ty, &key, gone.keys);
        self.made(position, (action, ty), Arc::new(item));
        Ok(())
    }

    /// Gives back a new item, and puts it in scope.
    fn made(&mut self, position: usize, (action, ty): (&Action, &ObjectType), item: Arc<Item>) {
        self.draft.results[position].push(ResultItem::Known(item.clone()));
        let name = self.job.element(position).map(|element| in_scope(action.name(), element));
        self.scope.insert(name.unwrap_or_else(|| action.name().to_owned()), &ty.name, item);
    }
}

/// What a new item demands of its place. One that has expired is overwritten. If it has guards, they must go with it:
/// then it is deleted first.
pub fn vacancy(ty: &ObjectType) -> ItemCondition {
    let has_guards = ty.fields.values().any(|field| field.rules.unique);
    if identity::expires(ty).is_some() && !has_guards { ItemCondition::Vacant } else { ItemCondition::Absent }
}
