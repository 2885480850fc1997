//! Selections → reads and the shape of the response: objects, their stored fields and their connections. Finds are in
//! `find.rs`.

use super::entity::{Entity, Variants};
use crate::plan::attributes;
use crate::plan::error::{PlanError, PlanErrorKind};
use crate::plan::operation::collect::{CollectedField, SelectionContext};
use crate::plan::passes;
use crate::plan::passes::cache_policy::Caching;
use crate::plan::passes::draft::{DraftPlan, DraftRead};
use crate::plan::tree::*;
use crate::schema::model::{Field, FieldKind, Model, ObjectType};
use crate::schema::scalar::value_type::ValueType;
use apollo_compiler::Name;
use apollo_compiler::executable::SelectionSet;
use indexmap::IndexMap;
use std::collections::HashMap;
use std::sync::Arc;

/// The most fields of a plan within objects of interfaces and unions. A selection is planned once for each type that
/// its object can have, so nested ones multiply, which the document's budget cannot see.
const MAX_VARIANT_FIELDS: usize = 20_000;

/// The plan as far as it is built.
pub struct Builder<'a> {
    pub model: &'a Model,
    pub context: SelectionContext<'a>,
    pub reads: Vec<DraftRead<'a>>,
    pub spaces: Vec<Space>,
    pub arguments: Vec<Arguments>,
    pub guards: Vec<Guard>,
    pub calls: Vec<ServiceCall>,
    /// The guard behind which fields are planned now.
    pub guard: Option<GuardId>,
    pub introspects: bool,
    /// What the hints say of what is planned.
    pub caching: Caching,
    /// How many objects of interfaces and unions enclose the object that is being planned.
    variant_depth: usize,
    /// Fields planned within such objects so far, counted once per type.
    variant_fields: usize,
    /// Whether a read must include each field's own attribute even where a key holds the value too: conditions of a
    /// write compare that attribute.
    pub as_stored: bool,
    /// Whether the reads belong to a write, so that they must see what was written before.
    pub for_write: bool,
    /// Whether a write reads for itself: then its reads see what rules hide from the caller.
    pub unhidden: bool,
    /// Whether its reads see items that have expired.
    pub sees_expired: bool,
    /// In a mutation, the items that sources may name, by their names in scope.
    pub scope: HashMap<String, Entity<'a>>,
}

impl<'a> Builder<'a> {
    /// An empty plan.
    pub fn new(model: &'a Model, context: SelectionContext<'a>) -> Self {
        let operation = Space { parent: None, origin: Origin::Operation };
        Self {
            model,
            context,
            reads: vec![],
            spaces: vec![operation],
            arguments: vec![],
            guards: vec![],
            calls: vec![],
            guard: None,
            introspects: false,
            caching: Caching::default(),
            variant_depth: 0,
            variant_fields: 0,
            as_stored: false,
            for_write: false,
            unhidden: false,
            sees_expired: false,
            scope: HashMap::new(),
        }
    }

    /// The object type of a name.
    pub fn type_named(&self, name: &str) -> Result<&'a ObjectType, PlanError> {
        self.model.types.get(name).ok_or_else(|| internal(&format!("no type {name}")))
    }

    /// Plans an object: its shape, and the reads that it needs. `inside` is whether it is embedded in the map that is
    /// being written.
    pub fn object(&mut self, of: &Entity<'a>, sets: &[&'a SelectionSet], inside: bool) -> Result<Object, PlanError> {
        if let Some(Variants { name, entities }) = &of.variants {
            let of_type = |entity: &Entity<'a>| Ok((entity.space, self.variant(entity, sets, inside)?));
            let variants = entities.iter().map(of_type).collect::<Result<_, PlanError>>()?;
            return Ok(Object { type_name: (*name).to_owned(), guard: None, fields: Vec::new(), variants });
        }
        let collected = self.context.fields(&of.ty.name, sets);
        self.collected(of, collected, inside)
    }

    /// Plans an object as one of the types that it can have.
    pub fn variant(&mut self, of: &Entity<'a>, sets: &[&'a SelectionSet], inside: bool) -> Result<Object, PlanError> {
        self.variant_depth += 1;
        let around = self.enter_cached_type(of);
        let object = self.object(of, sets, inside);
        self.caching.age = around;
        self.variant_depth -= 1;
        object
    }

    /// Plans an object whose fields are already merged.
    pub fn collected(
        &mut self,
        of: &Entity<'a>,
        all: IndexMap<Name, CollectedField<'a>>,
        inside: bool,
    ) -> Result<Object, PlanError> {
        let ty = of.ty;
        if self.variant_depth > 0 {
            self.variant_fields += all.len();
        }
        if self.variant_fields > MAX_VARIANT_FIELDS {
            let message = format!(
                "The operation is too large: more than {MAX_VARIANT_FIELDS} fields over all types of its interfaces and unions."
            );
            return Err(PlanError::new(PlanErrorKind::Limit, message));
        }
        let around = self.guard;
        let own = if inside { None } else { self.enter_item(of)? };
        let fields = self.fields(of, all, inside)?;
        self.guard = around;
        Ok(Object { type_name: ty.name.clone(), guard: own, fields, variants: Vec::new() })
    }

    /// Plans fields of an object that is entered.
    pub fn fields(
        &mut self,
        of: &Entity<'a>,
        all: IndexMap<Name, CollectedField<'a>>,
        inside: bool,
    ) -> Result<Vec<Output>, PlanError> {
        let ty = of.ty;
        let mut fields = Vec::new();
        for (key, collected) in all {
            let (outer, around_age) = (self.guard, self.caching.age);
            let (guard, value) = match collected.field.name.as_str() {
                "__typename" => (None, OutputValue::Typename),
                "__schema" | "__type" => {
                    self.introspects = true;
                    (None, OutputValue::Introspection)
                }
                name => {
                    let field = self.field_of(ty, name)?;
                    self.enter_cached(of, field);
                    (self.enter(of, field, &collected)?, self.field(of, field, &collected, inside)?)
                }
            };
            (self.guard, self.caching.age) = (outer, around_age);
            let mut output = output(&key, &collected, (guard, value));
            // An interface may allow null where the object's own type does not (GraphQL spec section 6.4, "Executing
            // Fields").
            if let Some(own) = ty.fields.get(collected.field.name.as_str()) {
                output.ty = own.ty.clone();
            }
            fields.push(output);
        }
        Ok(fields)
    }

    /// A field of a type.
    pub fn field_of(&self, ty: &'a ObjectType, name: &str) -> Result<&'a Field, PlanError> {
        ty.fields.get(name).ok_or_else(|| internal(&format!("no field {}.{name}", ty.name)))
    }

    fn field(
        &mut self,
        of: &Entity<'a>,
        field: &'a Field,
        collected: &CollectedField<'a>,
        inside: bool,
    ) -> Result<OutputValue, PlanError> {
        match &field.kind {
            FieldKind::Stored(stored) => {
                let held = self.located(of, &field.name, inside)?;
                match stored.value.embedded().filter(|_| !matches!(held, ValueLocation::Known(..))) {
                    Some(name) => self.embedded(of, held, self.type_named(name)?, &collected.sets),
                    None => Ok(OutputValue::Leaf(held)),
                }
            }
            FieldKind::Resolved(resolution) => self.resolved(of, field, resolution, collected),
            FieldKind::Computed(computed) => {
                let parts = computed.fields().into_iter().map(|part| self.located(of, part, inside));
                Ok(OutputValue::Computed(computed.clone(), parts.collect::<Result<_, PlanError>>()?))
            }
            FieldKind::Nodes(nodes) => self.nodes(of, field, nodes, collected),
            FieldKind::GlobalId(id) => {
                let value = |(name, _): &(String, ValueType)| of.value(self.model, name).ok_or_else(|| internal(name));
                Ok(OutputValue::GlobalId(id.clone(), id.fields().iter().map(value).collect::<Result<_, _>>()?))
            }
            FieldKind::Find(find) => self.find(of, field, find, collected).map_err(|error| match error.kind {
                PlanErrorKind::Input if error.locations.is_empty() => error.at(collected.location),
                _ => error,
            }),
            _ => {
                let message = format!("{}.{} is not available in this version.", of.ty.name, field.name);
                Err(PlanError::new(PlanErrorKind::NotAvailable, message).at(collected.location))
            }
        }
    }

    /// Where the value of a stored field is.
    fn located(&self, of: &Entity<'a>, field: &str, inside: bool) -> Result<ValueLocation, PlanError> {
        let reader = || attributes::reader(of.ty, field).ok_or_else(|| internal(field));
        Ok(match (inside, of.held.last()) {
            (true, _) => ValueLocation::Here(reader()?),
            (false, Some((holder, _))) => ValueLocation::In(*holder, reader()?),
            (false, None) => {
                let source = of.value(self.model, field).ok_or_else(|| internal(field))?;
                ValueLocation::Known(source, reader()?.stored.value.clone())
            }
        })
    }

    /// An embedded object or list of objects. Its elements become rows only if finds, or what services compute, are
    /// selected in them.
    pub fn embedded(
        &mut self,
        of: &Entity<'a>,
        held: ValueLocation,
        ty: &'a ObjectType,
        sets: &[&'a SelectionSet],
    ) -> Result<OutputValue, PlanError> {
        let reader = match &held {
            ValueLocation::In(_, reader) | ValueLocation::Here(reader) => reader.clone(),
            ValueLocation::Known(..) => return Err(internal("an embedded object in a key")),
        };
        let mut element = Entity { ty, ..of.clone() };
        let mut rows = None;
        if self.has_finds(ty, sets) {
            let own = || of.held.last().map(|(holder, _)| *holder);
            let holder = match &held {
                ValueLocation::In(holder, _) => Some(*holder),
                _ => own(),
            };
            let holder = holder.ok_or_else(|| internal("an embedded object of nothing"))?;
            let space = self.space(of.space, Origin::Elements(holder, reader));
            element =
                Entity { space, known: Default::default(), held: vec![(Holder::Element(space), None)], ..element };
            rows = Some(space);
        }
        let object = self.object(&element, sets, true)?;
        Ok(OutputValue::Embedded(held, object, rows))
    }

    /// Whether a find, or what a service computes, is selected anywhere in an embedded object.
    fn has_finds(&self, ty: &ObjectType, sets: &[&'a SelectionSet]) -> bool {
        let fields = self.context.fields(&ty.name, sets);
        fields.values().any(|collected| match ty.fields.get(collected.field.name.as_str()).map(|field| &field.kind) {
            Some(FieldKind::Find(_) | FieldKind::Resolved(_)) => true,
            Some(FieldKind::Stored(stored)) => {
                let ty = stored.value.embedded().and_then(|name| self.model.types.get(name));
                ty.is_some_and(|ty| self.has_finds(ty, &collected.sets))
            }
            _ => false,
        })
    }

    /// An item that the caller hands in when the plan runs. The whole plan may use it.
    pub fn seed(&mut self, ty: &'a ObjectType) -> Entity<'a> {
        let space = self.space(0, Origin::Seed);
        let held = vec![(Holder::Element(space), None)];
        Entity { ty, space, known: HashMap::new(), held, presence: Some(Presence::Seed(space)), variants: None }
    }

    /// An item of one of several types that the caller hands in when the plan runs.
    pub fn seed_of_types(
        &mut self,
        name: &'a str,
        types: &[&'a ObjectType],
        discriminator: &Arc<TypeDiscriminator>,
    ) -> Entity<'a> {
        let mut entity = self.seed(types[0]);
        let mut of_type = |(position, ty): (usize, &&'a ObjectType)| {
            let space = self.space(entity.space, Origin::SeedVariant(discriminator.clone(), position));
            Entity { ty, space, variants: None, ..entity.clone() }
        };
        let entities = types.iter().enumerate().map(&mut of_type).collect();
        entity.variants = Some(Variants { name, entities });
        entity
    }

    /// Runs the passes over the reads and gives the plan.
    pub fn finish(self, root: Object) -> Plan {
        let Self { model, context, reads, spaces, arguments, guards, calls, as_stored, for_write, .. } = self;
        passes::finish(
            model,
            context.passes,
            DraftPlan { reads, spaces, arguments, guards, calls, root, as_stored, for_write },
        )
    }

    /// Adds a row space.
    pub fn space(&mut self, parent: SpaceId, origin: Origin) -> SpaceId {
        self.spaces.push(Space { parent: Some(parent), origin });
        self.spaces.len() - 1
    }

    /// Adds the arguments of a field. A field and its rules have the same ones, so they are coerced once.
    pub fn push_arguments(&mut self, arguments: Arguments) -> ArgumentsId {
        let is_same = |known: &Arguments| known.location == arguments.location && *known == arguments;
        if let Some(same) = self.arguments.iter().rposition(is_same) {
            return same;
        }
        self.arguments.push(arguments);
        self.arguments.len() - 1
    }
}

/// A field of the response, behind its own guard.
pub fn output(key: &str, collected: &CollectedField<'_>, (guard, value): (Option<GuardId>, OutputValue)) -> Output {
    let ty = collected.field.definition.ty.clone();
    Output { label: label(key), key: key.to_owned(), location: collected.location, ty, guard, value }
}

/// `"key":`. Response keys are GraphQL names, so they need no escapes.
pub fn label(key: &str) -> Box<[u8]> {
    format!("\"{key}\":").into_bytes().into_boxed_slice()
}

/// The model and the operation contradict each other, although validation rules that out.
pub fn internal(what: &str) -> PlanError {
    PlanError::new(PlanErrorKind::Internal, format!("The operation cannot be planned: {what}."))
}
