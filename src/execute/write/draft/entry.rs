//! `at:` puts, changes or removes an entry of a map in an item. Nothing is read for it: a change takes for granted that
//! the entry is there, and if it is not, the item that comes back tells what makes it.

use crate::execute::expression::evaluate;
use crate::execute::expression::stored_form::StoredForm;
use crate::execute::expression::update::Changes;
use crate::execute::expression::update::attribute as path;
use crate::execute::item::assemble;
use crate::execute::item::places::{PlacedUpdate, UpdatePlaces};
use crate::execute::values::entries;
use crate::execute::values::stored_values;
use crate::execute::write::calls::requirement::{ItemCondition, Reason, Requirements};
use crate::execute::write::draft::defaults::fill_object;
use crate::execute::write::draft::drafting::{Drafting, internal};
use crate::execute::write::draft::element::ListChange;
use crate::execute::write::messages::{FieldErrors, absent, bad_input, invalid};
use crate::execute::write::rules::expression;
use crate::schema::expression::condition::Condition;
use crate::schema::expression::operand::{ArgumentType, Operand, Path, Segment};
use crate::schema::expression::update::{SetValue, Update};
use crate::schema::model::ObjectType;
use crate::schema::model::write::{Action, Element};
use crate::schema::scalar::form::MapForm;
use crate::table::data::attribute::Attribute;
use serde_json::{Map, Value};

/// The entry of a map that an action is about.
struct Entry<'e> {
    element: &'e Element,
    form: &'e MapForm,
    /// The type of the objects in the API.
    ty: &'e ObjectType,
    /// Its path in the item.
    path: Vec<Segment>,
}

impl Entry<'_> {
    /// Whether an item is known to lack it.
    fn is_missing(&self, form: &StoredForm) -> bool {
        form.item().is_some_and(|item| matches!(evaluate::at(item, &self.path), None | Some(Attribute::Null)))
    }
}

impl<'a> Drafting<'a, '_> {
    /// Puts an entry. Unless the action names one to replace, there must be none with its key.
    pub async fn put_entry(&mut self, position: usize, action: &Action, element: &Element) -> Result<(), FieldErrors> {
        let job = self.job;
        let (ty, of_element) = (job.type_named(&action.item)?, job.type_named(&element.element)?);
        let form = element.map.as_ref().ok_or_else(|| internal(&ty.name))?;
        let values = self.values(position, of_element, &action.values)?;
        let mut object = assemble::embedded(job.context.model, &element.element, &values).map_err(invalid)?;
        if element.by.is_some() {
            object.insert(form.by.attribute.as_str(), Attribute::S(self.key_of(element, of_element)?.into()));
        }
        let (key, entry) = entries::entry(form, object).map_err(invalid)?;
        let (map, whole) = (path(&element.attribute), entry_path(element, &key));
        for target in self.target_items(position, action, ty).await? {
            let stored = self.stored_form(ty, &target.key, target.item.as_ref()).await?;
            let (mut requires, mut places) = (Requirements::default(), UpdatePlaces::default());
            if element.by.is_none() {
                let is_new = Condition::NotExists(Path { segments: whole.clone() });
                requires.add(ItemCondition::Meets(is_new, 'n'), Reason::HasElement);
            }
            match stored.item().filter(|item| matches!(evaluate::at(item, &map), None | Some(Attribute::Null))) {
                Some(item) => places.make(item, &map, Some(Attribute::M([(key.as_str(), entry.clone())].into()))),
                None => places.grant(&map, stored.item()),
            }
            requires.placed(&places);
            let mut changes = Changes::over(stored);
            match places.made.pop() {
                Some((map, made)) => made.into_iter().for_each(|made| _ = changes.set(&map, made)),
                None => _ = changes.set(&whole, entry.clone()),
            }
            self.change_list(position, action, ListChange { ty, target, requires, changes }).await?;
        }
        Ok(())
    }

    /// Changes an entry, or makes it if what the request gives is enough for one.
    pub async fn change_entry(
        &mut self,
        position: usize,
        action: &Action,
        element: &Element,
    ) -> Result<(), FieldErrors> {
        let job = self.job;
        let ty = job.type_named(&action.item)?;
        let entry = self.entry(element)?;
        let update = self.update_of_entry(position, action, &entry)?;
        for target in self.target_items(position, action, ty).await? {
            let stored = self.stored_form(ty, &target.key, target.item.as_ref()).await?;
            let mut requires = Requirements::default();
            let places = self.places_of_entry(action, (ty, &entry), &update, &stored)?;
            requires.placed(&places);
            self.keep_expression(ty, &update, stored.item(), &mut requires)?;
            let scope = self.draft.scope(job);
            let changes =
                Changes::new(job.context.model, (&update, &places.made), &scope, stored).map_err(bad_input)?;
            self.change_list(position, action, ListChange { ty, target, requires, changes }).await?;
        }
        Ok(())
    }

    /// Removes an entry.
    pub async fn remove_entry(
        &mut self,
        position: usize,
        action: &Action,
        element: &Element,
    ) -> Result<(), FieldErrors> {
        let job = self.job;
        let ty = job.type_named(&action.item)?;
        let entry = self.entry(element)?;
        for target in self.target_items(position, action, ty).await? {
            let stored = self.stored_form(ty, &target.key, target.item.as_ref()).await?;
            if stored.item().is_some_and(|item| evaluate::at(item, &entry.path).is_none()) {
                return Err(vec![absent(&entry.ty.name, action)]);
            }
            let (mut requires, mut places) = (Requirements::default(), UpdatePlaces::default());
            places.grant_any(&entry.path);
            requires.placed(&places);
            let mut changes = Changes::over(stored);
            changes.remove(&entry.path);
            self.change_list(position, action, ListChange { ty, target, requires, changes }).await?;
        }
        Ok(())
    }

    /// The entry that an action names.
    fn entry<'e>(&self, element: &'e Element) -> Result<Entry<'e>, FieldErrors>
    where
        'a: 'e,
    {
        let ty = self.job.type_named(&element.element)?;
        let form = element.map.as_ref().ok_or_else(|| internal(&ty.name))?;
        Ok(Entry { element, form, ty, path: entry_path(element, &self.key_of(element, ty)?) })
    }

    /// What an action changes of an entry, as an update of its item.
    fn update_of_entry(&mut self, position: usize, action: &Action, entry: &Entry<'_>) -> Result<Update, FieldErrors> {
        let of = entry.ty;
        let mut update = entry.element.expression.clone().unwrap_or_default();
        for (field, written) in &action.values {
            let Some(value) = self.written_value((position, of), field, written)? else { continue };
            let (Some(definition), Some(kept)) = (of.fields.get(field), of.stored(field)) else { continue };
            if value.is_null() && definition.ty.is_non_null() {
                return Err(bad_input(format!("{}.{field} must not be null.", of.name)));
            }
            expression::keep(of, std::iter::once((field, &value)))?;
            let own = Path { segments: path(kept.attribute.as_ref().unwrap_or(field)) };
            let value = Operand::Literal(value, ArgumentType(kept.value.clone()));
            update.set.push((own, SetValue::Operand(value)));
        }
        // An entry that is no object is the value of its only field.
        let own = usize::from(entry.form.value.is_some());
        update.change_paths(&|path: &mut Path| {
            path.segments = entry.path.iter().chain(path.segments.iter().skip(own)).cloned().collect();
        });
        Ok(update)
    }

    /// What an update does about the entry that it changes, and about what is in it.
    fn places_of_entry(
        &self,
        action: &Action,
        (ty, entry): (&ObjectType, &Entry<'_>),
        update: &Update,
        stored: &StoredForm,
    ) -> Result<UpdatePlaces, FieldErrors> {
        let job = self.job;
        let scope = self.draft.scope(job);
        let fill = |of: &ObjectType, values: &mut Map<String, Value>| fill_object(job.context, of, values).is_ok();
        let placed = PlacedUpdate { model: job.context.model, ty, update, scope: &scope, fill: &fill };
        let mut places = UpdatePlaces::default();
        match placed.can_make(&entry.path) {
            Ok(true) => {}
            Err(unfit) if entry.is_missing(stored) => return Err(invalid(unfit)),
            _ if entry.is_missing(stored) => return Err(vec![absent(&entry.ty.name, action)]),
            _ if entry.form.value.is_some() => places.grant_any(&entry.path),
            _ => places.grant(&entry.path, stored.item()),
        }
        // An entry that is no object needs nothing but its map.
        let holder = if entry.form.value.is_some() { path(&entry.element.attribute) } else { entry.path.clone() };
        placed.place(&holder, stored.item(), &mut places).map_err(invalid)?;
        placed.place_all(stored.item(), &mut places).map_err(invalid)?;
        Ok(places)
    }

    /// The text of the key that an action names.
    fn key_of(&self, element: &Element, of_element: &ObjectType) -> Result<String, FieldErrors> {
        let Some((field, _, source)) = &element.by else { return Err(internal(&of_element.name)) };
        let (Some(definition), Some(kept), Some(form)) =
            (of_element.fields.get(field), of_element.stored(field), &element.map)
        else {
            return Err(internal(field));
        };
        let wanted = self.given(source)?.unwrap_or_default();
        let model = self.job.context.model;
        let stored = stored_values::stored_field(model, &definition.ty, &kept.value, &wanted)
            .map_err(|unfit| invalid(unfit.within(field)))?;
        entries::key(form, stored).map_err(invalid)
    }
}

/// The path of the entry with a key.
fn entry_path(element: &Element, key: &str) -> Vec<Segment> {
    [element.attribute.as_str(), key].map(|name| Segment::Attribute(name.to_owned())).into()
}
