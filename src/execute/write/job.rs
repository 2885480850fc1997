//! The write of one field, over all its attempts: its arguments, its context, and how it reads whole items. Must not
//! know drafts.

use crate::execute::context::ExecutionContext;
use crate::execute::error::{ErrorCode, FieldError};
use crate::execute::expression::scope::Scope;
use crate::execute::item::identity;
use crate::execute::write::elements::Directives;
use crate::execute::write::idempotency::KnownRequest;
use crate::execute::write::made_calls::MadeCalls;
use crate::execute::write::messages::{FieldErrors, table_error};
use crate::plan::tree::{ActionLookups, PlannedWrite, SingleWrites};
use crate::schema::model::auth::AuthAction;
use crate::schema::model::write::{Action, Write, WriteFind};
use crate::schema::model::{Field, FieldKind, Model, ObjectType};
use crate::table::data::attribute::{AttributeName, Item, Key};
use crate::table::data::call::Get;
use crate::table::data::error::TableError;
use apollo_compiler::ast::OperationType;
use serde_json::{Map, Value};
use std::sync::Arc;

/// The write of one field, over all its attempts.
pub struct WriteJob<'a> {
    /// The context of the request.
    pub context: &'a ExecutionContext<'a>,
    /// The plan of the write.
    pub planned: &'a PlannedWrite,
    /// Its definition in the schema.
    pub write: &'a Write,
    /// What it does, once for each element of its lists, and by which arguments.
    pub directives: Directives<'a>,
    /// Which request it is, with `@idempotent`.
    pub request: Option<&'a KnownRequest>,
    /// What services were given and have answered, with `@call`.
    pub calls: Option<&'a MadeCalls>,
    /// 32 characters, unique to this write. Its idempotency tokens begin with them.
    pub token: String,
}

impl<'a> WriteJob<'a> {
    /// The values of the request that conditions and expressions may use.
    pub fn scope(&self) -> Scope<'_> {
        Scope { arguments: self.arguments(), now: self.context.now, caller: self.context.caller }
    }

    /// The arguments by which its directives are named.
    pub fn arguments(&self) -> &Map<String, Value> {
        &self.directives.arguments
    }

    /// The action at a position among those that are done.
    pub fn action(&self, position: usize) -> Option<&Action> {
        self.directives.actions.get(position).map(|action| &*action.action)
    }

    /// The list and the position of the element for which the action at a position is done.
    pub fn element(&self, position: usize) -> Option<(&str, usize)> {
        let done = self.directives.actions.get(position)?;
        Some((done.action.each.as_deref()?, done.element?))
    }

    /// What is read ahead for the action at a position.
    pub fn lookups(&self, position: usize) -> Option<&'a ActionLookups> {
        self.planned.actions.get(self.action(position)?.position)
    }

    /// How a write of one item is sent. One with a record is a transaction.
    pub fn single_writes(&self) -> SingleWrites {
        if self.request.is_some() { SingleWrites::Transaction } else { self.context.single_writes }
    }

    /// Whether the field has a single action, or alternatives of one, which is not made for each element of a list.
    pub fn is_alone(&self) -> bool {
        self.write.is_alone()
    }

    /// The field of `Mutation`.
    pub fn field(&self) -> Option<&Field> {
        let model = self.context.model;
        let root = model.api.root_operation(OperationType::Mutation)?;
        model.types.get(root.as_str())?.fields.get(&self.planned.field)
    }

    /// Whether rules look items up for the write, so that it is a transaction.
    pub fn looks_up(&self) -> bool {
        let types = &self.context.model.types;
        let of_action = |action: &Action| {
            let demanded = types.get(&action.item).map(|ty| self.write.demanded(action, ty));
            demanded.into_iter().flatten().any(|(_, rules, asked)| rules.look_up(asked))
        };
        let of_found =
            |found: &WriteFind| types.get(&found.find.item).is_some_and(|ty| ty.auth.look_up(AuthAction::Read));
        self.field().is_some_and(|field| field.auth.look_up(AuthAction::Write))
            || self.write.finds.iter().any(of_found)
            || self.write.actions.iter().any(of_action)
    }

    /// The type of that name.
    pub fn type_named(&self, name: &str) -> Result<&ObjectType, FieldErrors> {
        self.context
            .model
            .types
            .get(name)
            .ok_or_else(|| vec![FieldError::new(ErrorCode::Internal, format!("The type {name} does not exist."))])
    }

    /// The name of the table in which a type's items are.
    pub fn table_of(&self, ty: &ObjectType) -> Arc<str> {
        let model = self.context.model;
        let position = model.item(&ty.name).map(|(_, keys)| keys.table);
        position
            .and_then(|position| model.tables.get(position))
            .map_or_else(|| "".into(), |table| table.name.as_str().into())
    }

    /// Reads a whole item strongly. An item of another type under the key does not exist, nor does one that has
    /// expired.
    pub async fn read(&self, ty: &str, key: &Key) -> Result<Option<Arc<Item>>, FieldErrors> {
        let ty = self.type_named(ty)?;
        let found = self.context.loaders.get(&[self.get(ty, key)]).await.into_iter().next();
        found.map_or(Ok(None), |found| seen_as(ty, found)).map(|found| self.unexpired(ty, found))
    }

    /// Reads strongly all that an item has, also attributes that the schema does not know. An item of another type
    /// under the key does not exist, nor does one that has expired.
    pub async fn read_whole(&self, ty: &str, key: &Key) -> Result<Option<Arc<Item>>, FieldErrors> {
        let ty = self.type_named(ty)?;
        let found = self.context.loaders.get(&[self.get_whole(ty, key)]).await.into_iter().next();
        found.map_or(Ok(None), |found| seen_as(ty, found)).map(|found| self.unexpired(ty, found))
    }

    /// The strong read of all that an item has.
    pub fn get_whole(&self, ty: &ObjectType, key: &Key) -> Get {
        Get { projection: [].into(), ..self.get(ty, key) }
    }

    /// Reads whole items strongly, in one batch. An item of another type under a key does not exist, nor does one that
    /// has expired.
    pub async fn read_all(&self, items: &[(&str, &Key)]) -> Result<Vec<Option<Arc<Item>>>, FieldErrors> {
        let found = self.read_stored(items).await?;
        let left = found.into_iter().zip(items).map(|(found, (ty, _))| Ok(self.unexpired(self.type_named(ty)?, found)));
        left.collect()
    }

    /// An item, unless it has expired.
    fn unexpired(&self, ty: &ObjectType, item: Option<Arc<Item>>) -> Option<Arc<Item>> {
        item.filter(|item| !identity::has_expired(ty, item, self.context.now.passed()))
    }

    /// Reads whole items strongly, in one batch, also those that have expired: what was written is given back, whatever
    /// its time. An item of another type under a key does not exist.
    pub async fn read_stored(&self, items: &[(&str, &Key)]) -> Result<Vec<Option<Arc<Item>>>, FieldErrors> {
        let types = items.iter().map(|(ty, _)| self.type_named(ty)).collect::<Result<Vec<_>, _>>()?;
        let gets: Vec<Get> = types.iter().zip(items).map(|(ty, (_, key))| self.get(ty, key)).collect();
        if gets.is_empty() {
            return Ok(Vec::new());
        }
        let found = self.context.loaders.get(&gets).await.into_iter().zip(types);
        found.map(|(found, ty)| seen_as(ty, found)).collect()
    }

    /// The strong read of a whole item.
    pub fn get(&self, ty: &ObjectType, key: &Key) -> Get {
        let projection = attributes(self.context.model, ty).into_iter().map(AttributeName::from).collect();
        Get { table: self.table_of(ty), key: key.clone(), projection, consistent: true, max_age: None }
    }
}

/// What was read, if it is an item of the type.
fn seen_as(ty: &ObjectType, found: Result<Option<Arc<Item>>, TableError>) -> Result<Option<Arc<Item>>, FieldErrors> {
    let found = found.map_err(|error| vec![table_error(&error)])?;
    Ok(found.filter(|item| identity::is_of(ty, item)))
}

/// Every attribute that items of a type can have, sorted.
pub fn attributes(model: &Model, ty: &ObjectType) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    if let Some((_, keys)) = model.item(&ty.name) {
        let telling = keys.telling().chain(keys.expires.as_deref());
        names.extend(keys.keys.keys().cloned().chain(telling.map(str::to_owned)));
    }
    for field in ty.fields.values() {
        if let FieldKind::Stored(stored) = &field.kind {
            names.extend(stored.attribute.iter().chain(&stored.formerly).cloned());
        }
    }
    names.sort();
    names.dedup();
    names
}
