//! A find and its arguments in; out: the access path, with the sources of its key, range and filter, and the fields of
//! the parent that they use. Must not know which reads are made.

use super::builder::{Builder, internal};
use super::entity::Entity;
use crate::plan::error::{PlanError, PlanErrorKind};
use crate::plan::operation::argument;
use crate::plan::tree::*;
use crate::schema::expression::condition::Condition;
use crate::schema::model::find::{Access, AccessPath, Find, PathKeys, Range, SortAccess, Via};
use crate::schema::model::keys::ItemKeys;
use crate::schema::model::source::{Source, TextPart};
use crate::schema::model::{Field, FieldKind, ObjectType};
use apollo_compiler::executable::SelectionSet;

impl<'a> Builder<'a> {
    /// The access path for the arguments that are present. An error names the arguments that are missing.
    pub fn access_path(&self, find: &'a Find, arguments: &Arguments) -> Result<&'a AccessPath, PlanError> {
        let order_by = arguments.enum_value("orderBy", self.context.variables);
        let present = |name: &str| arguments.present(name, self.context.variables);
        find.path(&present, order_by.as_deref()).ok_or_else(|| match find.lacking(&present) {
            (_, missing) if missing.is_empty() => internal(&format!("no access path to {}", find.item)),
            (there, missing) => {
                let message = format!("{} can only be used together with {}.", quoted(&there), quoted(&missing));
                PlanError::new(PlanErrorKind::Input, message)
            }
        })
    }

    /// The key of an access path, with a source for each field that is bound by equality.
    pub fn key(
        &self,
        keys: &ItemKeys,
        path: &AccessPath,
        from: &Entity<'a>,
        arguments: ArgumentsId,
    ) -> Result<KeyBinding, PlanError> {
        let table = &self.model.tables[keys.table];
        let PathKeys { partition, equal, sort } = path.keys(table);
        let further = table.keys_of(path.index).partition.len() - 1;
        let template =
            |attribute: &str, position: usize| keys.keys.get(attribute).and_then(|all| all.get(position)).cloned();
        let (partition_at, sort_at) = match &path.access {
            Access::Get { partition, sort } => (Some(*partition), *sort),
            Access::Query { partition, sort } => (Some(*partition), sort_template(sort)),
            Access::Scan => (None, None),
        };
        let fields = path
            .bindings
            .iter()
            .map(|(field, source)| Ok((field.as_str().into(), self.source(source, from, arguments)?)));
        Ok(KeyBinding {
            partition_attribute: partition.clone(),
            partition: partition_at.and_then(|position| template(&partition.name, position)),
            equal: equal
                .into_iter()
                .zip(&path.equal)
                .enumerate()
                .filter_map(|(at, (key, position))| {
                    let template = template(&key.name, *position)?;
                    Some(WholeKey { attribute: key.clone(), template, sorts: at >= further })
                })
                .collect(),
            sort_attribute: sort.cloned(),
            sort: sort.zip(sort_at).and_then(|(key, position)| template(&key.name, position)),
            names: (partition.name.as_str().into(), sort.map(|sort| sort.name.as_str().into())),
            prefix_alternatives: path.prefix_alternatives.clone(),
            fields: fields.collect::<Result<_, PlanError>>()?,
            spread: path.reading(table, keys),
        })
    }

    /// The bounds of an access path's range, if it has one.
    pub fn range(
        &self,
        access: &Access,
        from: &Entity<'a>,
        arguments: ArgumentsId,
    ) -> Result<Option<BoundRange>, PlanError> {
        let Access::Query { sort: SortAccess::Range { range, .. }, .. } = access else { return Ok(None) };
        let bound = |bound: &Option<(Source, bool)>| match bound {
            None => Ok(None),
            Some((source, inclusive)) => Ok::<_, PlanError>(Some((self.source(source, from, arguments)?, *inclusive))),
        };
        Ok(Some(match range {
            Range::Between { lower, upper } => BoundRange::Between(bound(lower)?, bound(upper)?),
            Range::BeginsWith(source) => BoundRange::BeginsWith(self.source(source, from, arguments)?),
        }))
    }

    /// Whether to read in descending order: as the `order` argument says, or else as the schema does.
    pub fn descending(&self, path: &AccessPath, arguments: &Arguments) -> bool {
        match arguments.enum_value("order", self.context.variables).as_deref() {
            Some("DESC") => true,
            Some("ASC") => false,
            _ => path.descending,
        }
    }

    /// The find's condition without the conjuncts whose argument is null. A field of an input object may still be null
    /// when the plan runs.
    pub fn filter(&self, find: &Find, arguments: ArgumentsId) -> Option<Filter> {
        self.conjuncts(find.filter.as_ref(), arguments)
    }

    /// A condition without the conjuncts whose argument is null.
    pub fn conjuncts(&self, condition: Option<&Condition>, arguments: ArgumentsId) -> Option<Filter> {
        let given = &self.arguments[arguments];
        let is_null = |name: &str| !given.present(name.split('.').next().unwrap_or(name), self.context.variables);
        Some(Filter::new(&condition?.without(&is_null)?, arguments))
    }

    /// Turns a source of the model into one of the plan.
    pub fn source(&self, source: &Source, from: &Entity<'a>, arguments: ArgumentsId) -> Result<ValueSource, PlanError> {
        Ok(match source {
            Source::Argument(name) => ValueSource::Argument(arguments, name.clone()),
            Source::Claim(claim) => ValueSource::Claim(claim.clone()),
            Source::Parent(field) => from
                .value(self.model, field)
                .ok_or_else(|| internal(&format!("{}.{field} is not at hand", from.ty.name)))?,
            Source::Item(ty, field) => self
                .scope
                .get(ty)
                .and_then(|entity| entity.value(self.model, field))
                .ok_or_else(|| internal(&format!("{ty}.{field} is not in scope")))?,
            Source::Text(parts) => {
                let part = |part: &TextPart| {
                    Ok(match part {
                        TextPart::Literal(text) => SourceText::Literal(text.clone()),
                        TextPart::Value(source) => SourceText::Value(self.source(source, from, arguments)?),
                    })
                };
                ValueSource::Text(parts.iter().map(part).collect::<Result<_, PlanError>>()?)
            }
        })
    }

    /// Whether a source is an argument that brings several values.
    pub fn is_list(&self, source: &Source, field: &Field) -> bool {
        let Source::Argument(name) = source else { return false };
        field.arguments.iter().any(|argument| argument.name == *name && argument.ty.is_list())
    }

    /// The stored fields that the selection needs of a type: those selected, and those that bind its finds.
    pub fn needs(&self, ty: &'a ObjectType, sets: &[&'a SelectionSet]) -> Result<Vec<String>, PlanError> {
        let mut needs: Vec<String> = Vec::new();
        let mut add = |name: &str| {
            if !needs.iter().any(|known| known == name) {
                needs.push(name.to_owned());
            }
        };
        Self::asked_fields(&ty.auth).for_each(&mut add);
        for collected in self.context.fields(&ty.name, sets).values() {
            let Some(field) = ty.fields.get(collected.field.name.as_str()) else { continue };
            ty.read_with(field).flat_map(|read| Self::asked_fields(&read.auth)).for_each(&mut add);
            match &field.kind {
                FieldKind::Stored(_) => add(&field.name),
                FieldKind::Computed(computed) => computed.fields().into_iter().for_each(&mut add),
                FieldKind::GlobalId(id) => id.fields().iter().for_each(|(name, _)| add(name)),
                FieldKind::Find(find) => {
                    let arguments = argument::field_arguments(&self.context, field, collected);
                    self.parent_fields(ty, field, find, &arguments)?.iter().for_each(|name| add(name));
                }
                FieldKind::Resolved(resolution) => {
                    self.needs(ty, &[&resolution.requires])?.iter().for_each(|name| add(name));
                }
                _ => {}
            }
        }
        Ok(needs)
    }

    /// The fields of the parent object that bind a find, or the first relation on its path.
    pub fn parent_fields(
        &self,
        ty: &'a ObjectType,
        field: &'a Field,
        find: &'a Find,
        arguments: &Arguments,
    ) -> Result<Vec<String>, PlanError> {
        match &find.via {
            Via::Through(path) => {
                let first = path.first().ok_or_else(|| internal(&field.name))?;
                let relation = self.field_of(ty, first)?;
                let FieldKind::Find(next) = &relation.kind else { return Err(internal(&relation.name)) };
                self.parent_fields(ty, relation, next, &arguments.for_relation(relation))
            }
            Via::Keys(_) | Via::AbstractType(_) => {
                // Missing arguments are reported when the field itself is planned: only then is its place in the
                // document known.
                let Ok(path) = self.access_path(find, arguments) else { return Ok(Vec::new()) };
                Ok(path.parent_fields().into_iter().map(str::to_owned).collect())
            }
        }
    }
}

/// Names for a caller: `"a" and "b"`.
fn quoted(names: &[&str]) -> String {
    names.iter().map(|name| format!("{name:?}")).collect::<Vec<_>>().join(" and ")
}

fn sort_template(sort: &SortAccess) -> Option<usize> {
    match sort {
        SortAccess::All => None,
        SortAccess::Equal { template } | SortAccess::Prefix { template, .. } | SortAccess::Range { template, .. } => {
            Some(*template)
        }
    }
}
