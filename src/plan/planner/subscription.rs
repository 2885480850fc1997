//! The root field of a subscription → its step: what is watched, and what is read for the selection when a change
//! arrives.
//!
//! The images of a changed item are handed in, as the items of a write are. What the selection asks for beyond them is
//! read.

use super::builder::{Builder, internal, label, output};
use super::entity::Entity;
use super::relation::RelationRequest;
use crate::plan::attributes;
use crate::plan::error::PlanError;
use crate::plan::operation::argument;
use crate::plan::operation::collect::{CollectedField, SelectionContext};
use crate::plan::tree::*;
use crate::schema::model::find::Find;
use crate::schema::model::watch::{ChangePart, Watch};
use crate::schema::model::{Field, FieldKind, Model, ObjectType, Stored, TypeKind};
use crate::schema::scalar::value_type::ValueType;
use apollo_compiler::executable::Operation;
use std::collections::HashMap;
use std::sync::Arc;

/// The step of a subscription. The operation has one root field (GraphQL spec section 5.2.4.1, "Single Root Field").
pub fn steps<'a>(
    model: &'a Model,
    context: SelectionContext<'a>,
    operation: &'a Operation,
) -> Result<OperationPlan, PlanError> {
    let fields = context.fields(operation.object_type(), &[&operation.selection_set]);
    let (key, collected) = fields.iter().next().ok_or_else(|| internal("a subscription without a field"))?;
    let builder = Builder::new(model, context);
    let root = builder.type_named(operation.object_type())?;
    let field = builder.field_of(root, &collected.field.name)?;
    let FieldKind::Watch(watch) = &field.kind else { return Err(internal(&field.name)) };
    let step = SubscriptionField { root, field, watch, collected }.step(builder, key)?;
    Ok(OperationPlan { steps: vec![step], introspects: false, policy: CachePolicy::NONE })
}

/// A field of a subscription.
struct SubscriptionField<'a, 'c> {
    root: &'a ObjectType,
    field: &'a Field,
    watch: &'a Watch,
    collected: &'c CollectedField<'a>,
}

impl<'a> SubscriptionField<'a, '_> {
    fn step(&self, mut builder: Builder<'a>, key: &str) -> Result<PlanStep, PlanError> {
        let (model, from) = (builder.model, Entity::root(self.root));
        let ty = builder.type_named(&self.watch.item)?;
        let given = argument::field_arguments(&builder.context, self.field, self.collected);
        let initial =
            self.watch.initial.as_ref().map(|find| self.initial(model, builder.context, find, &given)).transpose()?;
        let arguments = builder.push_arguments(given);
        let guard = builder.enter(&from, self.field, self.collected)?;
        let returned = builder.type_named(self.field.ty.inner_named_type())?;
        let change = matches!(returned.kind, TypeKind::Change(_)).then(|| builder.space(0, Origin::Seed));
        let image = |builder: &mut Builder<'a>| {
            let space = builder.space(change.unwrap_or_default(), Origin::Seed);
            let held = vec![(Holder::Element(space), None)];
            Entity { ty, space, known: HashMap::new(), held, presence: Some(Presence::Seed(space)), variants: None }
        };
        let images = Images { node: image(&mut builder), previous: image(&mut builder) };
        let value = match change {
            Some(space) => OutputValue::One(seeded(space), self.change(&mut builder, returned, space, &images)?),
            None => {
                OutputValue::One(seeded(images.node.space), builder.object(&images.node, &self.collected.sets, false)?)
            }
        };
        let (node, previous) = (watched(&mut builder, &images.node)?, watched(&mut builder, &images.previous)?);
        let binding = |(name, source): (&String, _)| {
            let reader =
                attributes::reader(ty, name).or_else(|| claim_reader(ty, name)).ok_or_else(|| internal(name))?;
            let case = attributes::keys(ty).and_then(|keys| keys.case_of(name)).cloned();
            Ok(WatchBinding { source: builder.source(source, &from, arguments)?, reader, case })
        };
        let bindings = self.watch.bindings.iter().map(binding).collect::<Result<_, PlanError>>()?;
        let keys = attributes::keys(ty).ok_or_else(|| internal(&ty.name))?;
        let watch = PlannedWatch {
            field: self.field.name.clone(),
            item: ty.name.clone(),
            table: keys.table,
            discriminator: attributes::discriminator(model, &[ty], (None, false), attributes::ItemSight::ALL)
                .ok_or_else(|| internal(&ty.name))?,
            arguments,
            bindings,
            filter: builder.conjuncts(self.watch.filter.as_ref(), arguments),
            guard,
            node,
            previous,
            change,
            initial,
        };
        let type_name = self.root.name.clone();
        let root = Object {
            type_name,
            guard: None,
            fields: vec![output(key, self.collected, (guard, value))],
            variants: Vec::new(),
        };
        Ok(PlanStep { write: None, watch: Some(watch), plan: builder.finish(root) })
    }

    /// The selection on a change.
    fn change(
        &self,
        builder: &mut Builder<'a>,
        ty: &'a ObjectType,
        space: SpaceId,
        images: &Images<'a>,
    ) -> Result<Object, PlanError> {
        let mut fields = Vec::new();
        for (key, collected) in builder.context.fields(&ty.name, &self.collected.sets) {
            let name = collected.field.name.as_str();
            let value = match ChangePart::named(name) {
                None => OutputValue::Typename,
                Some(ChangePart::Node) => {
                    OutputValue::One(seeded(images.node.space), builder.object(&images.node, &collected.sets, false)?)
                }
                Some(ChangePart::Previous) => OutputValue::One(
                    seeded(images.previous.space),
                    builder.object(&images.previous, &collected.sets, false)?,
                ),
                Some(ChangePart::Kind | ChangePart::Id) => {
                    let stored = Stored::alone(name, ValueType::String);
                    let ty = builder.field_of(ty, name)?.ty.clone();
                    let places = vec![StoredPlace::Attribute(name.to_owned())];
                    let reader = FieldReader { field: name.to_owned(), ty, stored, places };
                    OutputValue::Leaf(ValueLocation::In(Holder::Element(space), Arc::new(reader)))
                }
            };
            let ty = collected.field.definition.ty.clone();
            fields.push(Output {
                label: label(&key),
                key: key.to_string(),
                location: collected.location,
                ty,
                guard: None,
                value,
            });
        }
        Ok(Object { type_name: ty.name.clone(), guard: None, fields, variants: Vec::new() })
    }

    /// How the item as it is is read. It is read strongly, so that no change before it is missed.
    fn initial(
        &self,
        model: &'a Model,
        context: SelectionContext<'a>,
        find: &'a Find,
        given: &Arguments,
    ) -> Result<WriteLookup, PlanError> {
        let mut builder = Builder::new(model, context);
        (builder.as_stored, builder.unhidden) = (true, true);
        let ty = builder.type_named(&find.item)?;
        let arguments = builder.push_arguments(given.clone());
        let relation = RelationRequest {
            coordinate: format!("{}.{}", self.root.name, self.field.name),
            field: self.field,
            find,
            arguments,
            needs: attributes::stored_fields(ty),
            must_exist: true,
            waits_for_parent: false,
            want: Want::First,
        };
        let (entity, pages) = builder.follow(&Entity::root(self.root), relation)?;
        let presence = entity.presence.clone().ok_or_else(|| internal("a watched item that is not read"))?;
        let target = ObjectSource { pages, space: entity.space, presence, keeps_place: false };
        let root = Object { type_name: find.item.clone(), guard: None, fields: Vec::new(), variants: Vec::new() };
        Ok(WriteLookup { item: find.item.clone(), plan: builder.finish(root), target, seeds: Vec::new() })
    }
}

/// A changed item, after and before the change.
struct Images<'a> {
    node: Entity<'a>,
    previous: Entity<'a>,
}

/// An object that is handed in.
fn seeded(space: SpaceId) -> ObjectSource {
    ObjectSource { pages: None, space, presence: Presence::Seed(space), keeps_place: false }
}

/// An image with the guard that decides whether its caller may see it.
fn watched<'a>(builder: &mut Builder<'a>, image: &Entity<'a>) -> Result<WatchedImage, PlanError> {
    let around = builder.guard;
    let guard = builder.enter_item(image)?.or(around);
    builder.guard = around;
    Ok(WatchedImage { space: image.space, guard })
}

/// How to read a claim that is in the keys of a type.
fn claim_reader(ty: &ObjectType, claim: &str) -> Option<Arc<FieldReader>> {
    let keys = attributes::keys(ty)?;
    let places =
        keys.keys.iter().map(|(attribute, templates)| StoredPlace::Key(attribute.clone(), templates.clone())).collect();
    let stored = Stored { attribute: None, ..Stored::alone(claim, ValueType::String) };
    let ty = apollo_compiler::ty!(String);
    Some(Arc::new(FieldReader { field: claim.to_owned(), ty, stored, places }))
}
