//! A field that a service computes → the call of the service, with the reads of what it gets, and where the value is.

use super::builder::Builder;
use super::entity::Entity;
use crate::plan::error::PlanError;
use crate::plan::operation::argument;
use crate::plan::operation::collect::CollectedField;
use crate::plan::tree::{FieldReader, Holder, Object, OutputValue, ServiceCall, StoredPlace, ValueLocation};
use crate::schema::model::service::Resolution;
use crate::schema::model::{Field, Stored};
use std::sync::Arc;

impl<'a> Builder<'a> {
    /// Plans the call of the field's service.
    pub fn resolved(
        &mut self,
        of: &Entity<'a>,
        field: &'a Field,
        resolution: &'a Resolution,
        collected: &CollectedField<'a>,
    ) -> Result<OutputValue, PlanError> {
        let guard = self.guard;
        let required = self.context.fields(&of.ty.name, &[&resolution.requires]);
        let fields = self.fields(of, required, false)?;
        let arguments = (!field.arguments.is_empty()).then(|| {
            let arguments = argument::field_arguments(&self.context, field, collected);
            self.push_arguments(arguments)
        });
        let declared = &self.model.services[resolution.service];
        self.caching.private |= !declared.claims.is_empty() || declared.forwards_token;
        let kept = Arc::new(FieldReader {
            field: field.name.clone(),
            ty: field.ty.clone(),
            stored: Stored::alone(&field.name, resolution.kind.clone()),
            places: vec![StoredPlace::Attribute(field.name.clone())],
        });
        let call = self.calls.len();
        self.calls.push(ServiceCall {
            coordinate: format!("{}.{}", of.ty.name, field.name),
            kept: kept.clone(),
            service: resolution.service,
            arguments,
            space: of.space,
            presence: of.presence.clone(),
            guard,
            gets: resolution.requires_text.clone(),
            requires: Object { type_name: of.ty.name.clone(), guard: None, fields, variants: Vec::new() },
            max: resolution.max,
            after: Vec::new(),
            after_calls: Vec::new(),
            wave: 0,
        });
        let held = ValueLocation::In(Holder::Resolved(call), kept);
        match resolution.kind.embedded() {
            Some(name) => self.embedded(of, held, self.type_named(name)?, &collected.sets),
            None => Ok(OutputValue::Leaf(held)),
        }
    }
}
