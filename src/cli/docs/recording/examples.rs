//! A field that reads or writes in; an operation on the samples that uses it, and the calls of the field, out.

use super::bench::{Bench, RecordedCall, beyond, reads_along};
use super::choose::{self, Choice};
use super::operation::{self, FieldCall, is_paging};
use super::records::{Records, SampleItem};
use super::roles::{self, FieldPlace};
use super::ways::{Hop, Ways, is_item};
use crate::schema::model::find::{AccessPath, Find, Via};
use crate::schema::model::page::PageForm;
use crate::schema::model::source::Source;
use crate::schema::model::write::Write;
use crate::schema::model::{Argument, Field, FieldKind, Model, ObjectType};
use anyhow::Result;
use serde_json::{Value, json};

/// How many samples are tried.
const ATTEMPTS: usize = 12;

/// How many paths to an object are tried.
const WAYS: usize = 4;

/// An example of a field.
pub struct Example {
    /// The operation.
    pub operation: String,
    /// The calls that the field adds to those of its parent.
    pub calls: Vec<RecordedCall>,
    /// Whether one of them reads the parent too, which then needs no call.
    pub with_parent: bool,
    /// The messages of its errors.
    pub errors: Vec<String>,
    /// Whether it found or wrote something.
    pub found: bool,
}

/// One use of a find: its optional arguments, and its order.
pub struct Variant<'m> {
    /// The arguments.
    pub when: Vec<String>,
    /// The value of `orderBy`.
    pub order_by: Option<String>,
    pub(super) path: Option<&'m AccessPath>,
}

/// Makes examples.
pub struct Examples<'a> {
    /// The model.
    pub model: &'a Model,
    /// The samples.
    pub records: &'a Records,
    /// The paths to each type.
    pub ways: &'a Ways,
}

impl<'a> Examples<'a> {
    /// The uses of a find: one for each of its access paths; for a path through relations, one with the optional
    /// arguments and one without.
    pub fn variants(&self, field: &'a Field, find: &'a Find) -> Vec<Variant<'a>> {
        if !matches!(find.via, Via::Through(_)) {
            let variant = |path: &'a AccessPath| Variant {
                when: path.when.clone(),
                order_by: path.order_by.clone(),
                path: Some(path),
            };
            return roles::paths(find).iter().map(variant).collect();
        }
        let optional = |argument: &&Argument| !argument.ty.is_non_null() && !is_paging(self.model, field, argument);
        let all: Vec<String> = field.arguments.iter().filter(optional).map(|argument| argument.name.clone()).collect();
        let none = Variant { when: Vec::new(), order_by: None, path: None };
        if all.is_empty() { vec![none] } else { vec![none, Variant { when: all, order_by: None, path: None }] }
    }

    /// An example of a find; `None` if no path leads to its parent.
    pub async fn read(
        &self,
        bench: &mut Bench<'_>,
        parent: &'a ObjectType,
        field: &'a Field,
        variant: &Variant<'a>,
    ) -> Result<Option<Example>> {
        let FieldKind::Find(find) = &field.kind else { return Ok(None) };
        let mut best: Option<Example> = None;
        for hops in self.ways.to(&parent.name).into_iter().take(WAYS) {
            for attempt in 0..ATTEMPTS {
                let mut choice = Choice::new(self.records, attempt);
                choice.choose(&roles::find_roles(self.model, parent, find, variant.path));
                let given = self.given(field, &choice, Some((find, variant)));
                let record = is_item(parent).then(|| self.parent(parent, find, variant.path, &choice)).flatten();
                let Some(mut calls) = self.way(hops, record, attempt) else { continue };
                calls.push(self.call(parent, field, &given));
                let Some(example) = self.tried(bench, &calls).await? else { continue };
                if example.found {
                    return Ok(Some(example));
                }
                best = best.filter(|best| !best.calls.is_empty() || example.calls.is_empty()).or(Some(example));
            }
        }
        Ok(best)
    }

    /// The example of the innermost of nested fields.
    async fn tried(&self, bench: &mut Bench<'_>, calls: &[FieldCall]) -> Result<Option<Example>> {
        let Some(operation) = operation::text(self.model, "query", calls, true) else { return Ok(None) };
        let mut outcome = bench.run(&operation).await?;
        let mut with_parent = false;
        if calls.len() > 1
            && let Some(outer) = operation::text(self.model, "query", calls, false)
        {
            let outer = bench.run(&outer).await?.calls;
            with_parent = reads_along(&outcome.calls, &outer);
            outcome.calls = beyond(outcome.calls, &outer);
        }
        let found = outcome.errors.is_empty() && outcome.calls.iter().any(is_answered);
        Ok(Some(Example { operation, calls: outcome.calls, with_parent, errors: outcome.errors, found }))
    }

    /// An example of a write.
    pub async fn write(
        &self,
        bench: &mut Bench<'_>,
        root: &'a ObjectType,
        field: &'a Field,
        write: &'a Write,
    ) -> Result<Option<Example>> {
        let roles = roles::write_roles(self.model, root, write);
        let mut refused: Option<Example> = None;
        for attempt in 0..ATTEMPTS {
            let mut choice = Choice::new(self.records, attempt);
            choice.choose(&roles);
            let given = self.given(field, &choice, None);
            let call = self.call(root, field, &given);
            let Some(text) = operation::text(self.model, "mutation", &[call], true) else { return Ok(None) };
            let outcome = bench.run(&text).await?;
            let found = outcome.errors.is_empty() && outcome.calls.iter().any(is_written);
            let example =
                Example { operation: text, calls: outcome.calls, with_parent: false, errors: outcome.errors, found };
            if found {
                return Ok(Some(example));
            }
            refused = refused.filter(|refused| !refused.calls.is_empty()).or(Some(example));
        }
        Ok(refused)
    }

    pub(super) fn call(&self, parent: &ObjectType, field: &Field, given: &[(&'a Argument, Value)]) -> FieldCall {
        let given: Vec<_> =
            given.iter().map(|(argument, value)| (argument.name.clone(), &argument.ty, value.clone())).collect();
        FieldCall {
            field: field.name.clone(),
            arguments: operation::arguments(self.model, &given),
            parent: parent.name.clone(),
        }
    }

    /// The arguments with their values.
    pub(super) fn given(
        &self,
        field: &'a Field,
        choice: &Choice<'_>,
        of: Option<(&Find, &Variant<'_>)>,
    ) -> Vec<(&'a Argument, Value)> {
        let paths = |argument: &str| match of {
            Some((Find { via: Via::Through(_), .. }, _)) => true,
            Some((find, _)) => roles::paths(find).iter().any(|path| path.when.iter().any(|name| name == argument)),
            None => false,
        };
        let value = |argument: &Argument| {
            operation::value(self.model, &argument.name, &argument.ty, &|path| choice.value(path).cloned(), 0)
        };
        let mut given = Vec::new();
        for argument in &field.arguments {
            let has_default = argument.default.as_ref().is_some_and(|default| !default.is_null());
            let needed = argument.ty.is_non_null() && !has_default;
            let absent = || (has_default && !argument.ty.is_non_null()).then_some(Value::Null);
            let chosen = match of {
                Some((_, variant)) if argument.name == "orderBy" => {
                    variant.order_by.as_ref().map(|order| json!(order)).or_else(absent)
                }
                _ if is_paging(self.model, field, argument) => needed.then(|| value(argument)).flatten(),
                Some((_, variant)) if variant.when.contains(&argument.name) => value(argument).or(Some(Value::Null)),
                // An argument that chooses a path is left out of a path without it.
                Some(_) if !needed && paths(&argument.name) => absent(),
                _ if has_default => None,
                _ => value(argument),
            };
            given.extend(chosen.map(|value| (argument, value)));
        }
        given
    }

    /// The fields that lead to an object, with arguments that find a sample.
    pub(super) fn way(
        &self,
        hops: &[Hop],
        mut record: Option<&'a SampleItem>,
        attempt: usize,
    ) -> Option<Vec<FieldCall>> {
        let mut calls = Vec::new();
        for (from, name) in hops.iter().rev() {
            let object = self.model.types.get(from)?;
            let field = object.fields.get(name)?;
            let FieldKind::Find(find) = &field.kind else {
                // The object is embedded in an item.
                let holds = |record: &&SampleItem| {
                    record.fields.get(name).is_some_and(|value| value.as_array().is_none_or(|all| !all.is_empty()))
                };
                let holders: Vec<&SampleItem> = self.records.items_of_type(from).filter(holds).collect();
                record = holders.get(attempt % holders.len().max(1)).copied();
                calls.insert(0, self.call(object, field, &[]));
                continue;
            };
            let mut choice = Choice::new(self.records, attempt);
            let paths = roles::paths(find);
            let path = paths.iter().find(|path| path.when.is_empty() && path.order_by.is_none()).or(paths.first());
            let mut roles = roles::find_roles(self.model, object, find, path);
            if let Some((record, ty)) = record.and_then(|record| Some((record, record.ty.as_ref()?))) {
                // Of several types of one collection, the wanted one has the fields under its own names.
                roles
                    .iter_mut()
                    .filter(|role| role.place.item == roles::target(find))
                    .for_each(|role| role.place.item.clone_from(ty));
                choice.settle(ty, record);
            }
            choice.choose(&roles);
            let variant =
                Variant { when: path.map(|path| path.when.clone()).unwrap_or_default(), order_by: None, path };
            let mut given = self.given(field, &choice, Some((find, &variant)));
            given.retain(|(argument, value)| {
                argument.ty.is_non_null() || variant.when.contains(&argument.name) || value.is_null()
            });
            // One object is enough.
            let is_one_type = !matches!(find.via, Via::AbstractType(_));
            let (size, _) = self.model.page_form(field).unwrap_or(PageForm::Connection).names(false);
            let first = field.arguments.iter().find(|argument| argument.name == size && is_one_type);
            given.extend(
                first
                    .filter(|_| given.iter().all(|(argument, _)| argument.name != size))
                    .map(|first| (first, json!(1))),
            );
            calls.insert(0, self.call(object, field, &given));
            record = is_item(object).then(|| self.parent(object, find, path, &choice)).flatten();
        }
        Some(calls)
    }

    /// The sample whose field returns the chosen item.
    fn parent(
        &self,
        parent: &ObjectType,
        find: &Find,
        path: Option<&AccessPath>,
        choice: &Choice<'a>,
    ) -> Option<&'a SampleItem> {
        let first = match &find.via {
            Via::Through(hops) => match &parent.fields.get(hops.first()?)?.kind {
                FieldKind::Find(first) => first,
                _ => return None,
            },
            _ => find,
        };
        let path = path.or(roles::paths(first).first());
        let item = roles::target(first);
        let child = choice.anchor(item).or_else(|| self.records.items_of_type(item).next());
        let agrees = |record: &&'a SampleItem| {
            let same = |(field, source): (&String, &Source)| match source {
                Source::Parent(from) => {
                    let place = |item: &str, field: &str| FieldPlace {
                        item: item.to_owned(),
                        list: None,
                        field: field.to_owned(),
                    };
                    let value = choose::at(record, &place(&parent.name, from));
                    value.is_some() && child.is_none_or(|child| choose::at(child, &place(item, field)) == value)
                }
                _ => true,
            };
            path.is_none_or(|path| path.bindings.iter().all(same))
        };
        self.records.list.iter().filter(|record| record.ty.as_deref() == Some(&parent.name)).find(agrees)
    }
}

/// Whether a call returned something.
fn is_answered(call: &RecordedCall) -> bool {
    !call.items().is_empty() || call.answer["Count"].as_u64().is_some_and(|count| count > 0)
}

/// Whether a call wrote something.
fn is_written(call: &RecordedCall) -> bool {
    ["PutItem", "UpdateItem", "DeleteItem", "TransactWriteItems", "BatchWriteItem"].contains(&call.operation.as_str())
        && call.answer.get("__type").is_none()
}
