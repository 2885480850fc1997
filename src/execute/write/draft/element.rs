//! `at:` appends, changes or removes an element of a list in an item. A change or removal requires that the element is
//! still at its position.
//!
//! The position of an element is read first. Writers of two elements both succeed: the loser of a race reads again. Of
//! two writers of one element, each sees what the other did.

use crate::execute::expression::evaluate::equal;
use crate::execute::expression::update::Changes;
use crate::execute::expression::update::attribute as path;
use crate::execute::item::assemble;
use crate::execute::values::invalid_value::InvalidValue;
use crate::execute::values::stored_values;
use crate::execute::write::calls::draft::{DraftCall, ResultItem};
use crate::execute::write::calls::requirement::{ItemCondition, Reason, Requirements};
use crate::execute::write::draft::drafting::{Drafting, TargetItem, if_absent};
use crate::execute::write::draft::update::count_versions;
use crate::execute::write::messages::{FieldErrors, absent, bad_input, invalid};
use crate::execute::write::rules::expression;
use crate::schema::expression::operand::Segment;
use crate::schema::model::ObjectType;
use crate::schema::model::write::{Action, Element};
use crate::table::data::attribute::Attribute;
use crate::table::data::write::WriteAction;

/// A change of a list or a map in an item.
pub struct ListChange<'a> {
    /// The item's type.
    pub ty: &'a ObjectType,
    /// The item.
    pub target: TargetItem,
    /// What must hold of the list.
    pub requires: Requirements,
    /// The changes.
    pub changes: Changes,
}

impl<'a> Drafting<'a, '_> {
    pub async fn append(&mut self, position: usize, action: &Action, element: &Element) -> Result<(), FieldErrors> {
        let job = self.job;
        let (ty, of_element) = (job.type_named(&action.item)?, job.type_named(&element.element)?);
        let values = self.values(position, of_element, &action.values)?;
        let map = Attribute::M(assemble::embedded(job.context.model, &element.element, &values).map_err(invalid)?);
        for target in self.target_items(position, action, ty).await? {
            let mut requires = Requirements::default();
            // A list holds no element twice.
            requires.add(ItemCondition::Lacks(element.attribute.clone(), map.clone()), Reason::HasElement);
            let mut changes = Changes::over(self.stored_form(ty, &target.key, target.item.as_ref()).await?);
            changes.append(&path(&element.attribute), vec![map.clone()]);
            self.change_list(position, action, ListChange { ty, target, requires, changes }).await?;
        }
        Ok(())
    }

    pub async fn change_element(
        &mut self,
        position: usize,
        action: &Action,
        element: &Element,
    ) -> Result<(), FieldErrors> {
        let job = self.job;
        let (ty, of_element) = (job.type_named(&action.item)?, job.type_named(&element.element)?);
        for target in self.target_items(position, action, ty).await? {
            let Some((at, requires)) = self.locate(action, element, (ty, of_element), &target).await? else {
                return Err(vec![absent(&of_element.name, action)]);
            };
            let mut changes = Changes::over(self.stored_form(ty, &target.key, target.item.as_ref()).await?);
            for (field, written) in &action.values {
                let Some(value) = self.written_value((position, of_element), field, written)? else { continue };
                let (Some(definition), Some(kept)) = (of_element.fields.get(field), of_element.stored(field)) else {
                    continue;
                };
                if value.is_null() && definition.ty.is_non_null() {
                    return Err(bad_input(format!("{}.{field} must not be null.", of_element.name)));
                }
                expression::keep(of_element, std::iter::once((field, &value)))?;
                let attribute = kept.attribute.clone().unwrap_or_else(|| field.clone());
                let model = job.context.model;
                match stored_values::stored_field(model, &definition.ty, &kept.value, &value).map_err(invalid)? {
                    Some(value) => {
                        let unfit = |message| invalid(InvalidValue { field: field.clone(), message });
                        changes.set_field(&inside(element, at, Some(&attribute)), &kept.value, value).map_err(unfit)?;
                    }
                    None => _ = changes.remove(&inside(element, at, Some(&attribute))),
                };
            }
            self.change_list(position, action, ListChange { ty, target, requires, changes }).await?;
        }
        Ok(())
    }

    pub async fn remove_element(
        &mut self,
        position: usize,
        action: &Action,
        element: &Element,
    ) -> Result<(), FieldErrors> {
        let job = self.job;
        let (ty, of_element) = (job.type_named(&action.item)?, job.type_named(&element.element)?);
        for target in self.target_items(position, action, ty).await? {
            let Some((at, requires)) = self.locate(action, element, (ty, of_element), &target).await? else {
                return Err(vec![absent(&of_element.name, action)]);
            };
            let mut changes = Changes::over(self.stored_form(ty, &target.key, target.item.as_ref()).await?);
            changes.remove(&inside(element, at, None));
            self.change_list(position, action, ListChange { ty, target, requires, changes }).await?;
        }
        Ok(())
    }

    /// The position of the element, and the condition that it is still there; `None` if the item has no such element.
    pub async fn locate(
        &mut self,
        action: &Action,
        element: &Element,
        (ty, of_element): (&'a ObjectType, &ObjectType),
        target: &TargetItem,
    ) -> Result<Option<(usize, Requirements)>, FieldErrors> {
        let job = self.job;
        let Some((field, attribute, source)) = &element.by else { return Ok(None) };
        let rules = self.item_rules(action, ty, &target.key).await?;
        // Whom the rules refuse any item does not learn whether there is one.
        let missing = || vec![absent(action.type_name(), action)];
        rules.for_stored(&target.key)?.ok_or_else(missing)?;
        let item = job.read(&ty.name, &target.key).await?;
        let item = rules.admitted(item).await?.ok_or_else(missing)?;
        let wanted = self.given(source)?.unwrap_or_default();
        let (Some(definition), Some(kept)) = (of_element.fields.get(field), of_element.stored(field)) else {
            return Ok(None);
        };
        let wanted =
            stored_values::stored_field(job.context.model, &definition.ty, &kept.value, &wanted).map_err(invalid)?;
        let (Some(wanted), Some(Attribute::L(elements))) = (wanted, item.get(&element.attribute)) else {
            return Ok(None);
        };
        let Some(at) = elements.iter().position(|element| has(element, attribute, &wanted)) else { return Ok(None) };
        let mut requires = Requirements::default();
        requires.add(ItemCondition::Element(element.attribute.clone(), at, attribute.clone(), wanted), Reason::Race);
        Ok(Some((at, requires)))
    }

    /// The call that changes the list or the map of an item.
    pub async fn change_list(
        &mut self,
        position: usize,
        action: &Action,
        change: ListChange<'a>,
    ) -> Result<(), FieldErrors> {
        let ListChange { ty, target, mut requires, mut changes } = change;
        let key = &target.key;
        let gone = if_absent(action, Reason::NotFound);
        requires.add(ItemCondition::Exists, gone);
        requires.add(ItemCondition::OfType, gone);
        requires.unexpired(ty, gone);
        self.expected_version(ty, action, &mut requires);
        self.author(action, &mut requires);
        count_versions(ty, &mut changes);
        // The found item's conditions hold for the first replica only: they may name index keys, which differ between
        // replicas.
        let of_replicas = self.text(&requires, (ty, key))?;
        let missing = || vec![absent(action.type_name(), action)];
        let rule = self.item_rules(action, ty, key).await?.for_stored(key)?.ok_or_else(missing)?;
        requires.ruled(rule, false);
        self.hold_found(ty, key, &mut requires);
        requires.form(changes.granted());
        let takes_null = changes.tell_null();
        let update = changes.expression();
        let call = self.main(position, (ty, key), WriteAction::Update(key.clone(), update.clone()), requires)?;
        self.draft.calls.push(DraftCall { takes_null, ..call });
        // No key changes, so all replicas get the same update and conditions.
        self.replicas(ty, key, |_, key| (WriteAction::Update(key, update.clone()), of_replicas.clone()));
        self.draft.results[position].push(ResultItem::Answer(ty.name.clone(), target.key));
        Ok(())
    }
}

/// Whether an element of a list is an object whose attribute has a value.
pub fn has(element: &Attribute, attribute: &str, value: &Attribute) -> bool {
    matches!(element, Attribute::M(map) if map.get(attribute).is_some_and(|is| equal(is, value)))
}

/// The path of an element, or of one of its attributes.
fn inside(element: &Element, at: usize, attribute: Option<&str>) -> Vec<Segment> {
    let mut segments = path(&element.attribute);
    segments.push(Segment::Index(u32::try_from(at).unwrap_or(u32::MAX)));
    segments.extend(attribute.map(|name| Segment::Attribute(name.to_owned())));
    segments
}
