//! A find field in; out: the reads for the relations on its path, one after the other, and the shape of its result.

use super::builder::{Builder, internal};
use super::connection::PageContents;
use super::entity::Entity;
use super::relation::{PathEnd, RelationRequest};
use crate::plan::error::PlanError;
use crate::plan::operation::argument;
use crate::plan::operation::collect::CollectedField;
use crate::plan::tree::*;
use crate::schema::model::find::{Find, Returns, Via};
use crate::schema::model::page::PageForm;
use crate::schema::model::{Field, FieldKind};
use apollo_compiler::ast::Type;
use apollo_compiler::executable::SelectionSet;

impl<'a> Builder<'a> {
    /// Plans a find field.
    pub fn find(
        &mut self,
        of: &Entity<'a>,
        field: &'a Field,
        find: &'a Find,
        collected: &CollectedField<'a>,
    ) -> Result<OutputValue, PlanError> {
        let arguments = argument::field_arguments(&self.context, field, collected);
        let arguments = self.push_arguments(arguments);
        let connection = field.ty.inner_named_type().as_str();
        let sets = match find.returns {
            Returns::Connection => self.node_sets(connection, &collected.sets),
            _ => collected.sets.clone(),
        };
        let want = self.want(field, find, arguments, &collected.sets);
        let relation = self.relation(of, field, (arguments, want), &sets)?;
        let coordinate = relation.coordinate.clone();
        let of_link = self.selected_of_link(connection, &collected.sets);
        let PathEnd { entity, pages, link } = self.reach(of, relation, &sets, &of_link)?;
        let presence = entity.presence.clone().ok_or_else(|| internal("a find without an item"))?;
        let keeps_place = self.keeps_place(field, pages, &presence);
        if let Some((page, rows)) = pages.and_then(|page| Some((page, self.reads[page].yields.as_mut()?))) {
            rows.list_of = coordinate;
            if let (Returns::Connection, Presence::Read(tells)) = (find.returns, &presence)
                && rows.space == entity.space
            {
                rows.elements = (page + 1..=*tells).collect();
            }
        }
        let target = ObjectSource { pages, space: entity.space, presence, keeps_place };
        Ok(match find.returns {
            Returns::One => OutputValue::One(target, self.object(&entity, &sets, false)?),
            Returns::List => OutputValue::List(target, self.object(&entity, &sets, false)?),
            Returns::Connection => {
                let total = self.total(of, field, arguments, &collected.sets)?;
                let contents = PageContents { node: &entity, link: link.as_ref(), total: total.as_ref() };
                OutputValue::Page(target, self.page(&contents, connection, &collected.sets)?)
            }
            Returns::Exists => {
                let outer = self.guard;
                let guard = self.enter_item(&entity)?;
                self.guard = outer;
                OutputValue::Exists(target, guard)
            }
            Returns::Count => OutputValue::Count(target),
        })
    }

    /// What a find wants of its items. What is only counted, or only asked for its existence, needs nothing that is
    /// selected.
    pub fn relation(
        &self,
        of: &Entity<'a>,
        field: &'a Field,
        (arguments, want): (ArgumentsId, Want),
        sets: &[&'a SelectionSet],
    ) -> Result<RelationRequest<'a>, PlanError> {
        let FieldKind::Find(find) = &field.kind else { return Err(internal(&format!("{} is no find", field.name))) };
        let shows_none = find.returns == Returns::Exists || matches!(want, Want::Count { .. });
        let needs = match &find.via {
            Via::AbstractType(_) => Vec::new(),
            _ => self.needs(self.type_named(&find.item)?, if shows_none { &[] } else { sets })?,
        };
        let wants_existence = shows_none || of.presence.is_none();
        Ok(RelationRequest {
            coordinate: format!("{}.{}", of.ty.name, field.name),
            field,
            find,
            arguments,
            needs,
            must_exist: !matches!(find.via, Via::Keys(_)) || wants_existence || !is_promised(field),
            waits_for_parent: matches!(find.via, Via::Through(_)),
            want,
        })
    }

    /// Where a find leads. `of_link` are the fields that are needed of the links of a page.
    pub fn reach(
        &mut self,
        of: &Entity<'a>,
        relation: RelationRequest<'a>,
        sets: &[&'a SelectionSet],
        of_link: &[String],
    ) -> Result<PathEnd<'a>, PlanError> {
        let (entity, pages) = match &relation.find.via {
            Via::Keys(_) => self.follow(of, relation)?,
            Via::AbstractType(shared) => self.follow_abstract_type(of, relation, (shared, sets))?,
            Via::Through(path) => return self.follow_path(of, path, (relation.arguments, of_link), relation),
        };
        Ok(PathEnd { entity, pages, link: None })
    }

    /// How much a find field wants.
    fn want(&self, field: &Field, find: &Find, arguments: ArgumentsId, sets: &[&'a SelectionSet]) -> Want {
        match find.returns {
            Returns::One | Returns::Exists => Want::First,
            Returns::List => Want::Whole { max: find.max },
            Returns::Count => Want::Count { looked_at: true },
            Returns::Connection => {
                let probe = self.asks_for_more(field.ty.inner_named_type(), sets);
                let form = self.model.page_form(field).unwrap_or(PageForm::Connection);
                Want::Page { arguments, sizes: page_sizes(form, field, find.max), probe }
            }
        }
    }

    /// Whether missing elements of a list are null (`[User]`) or left out.
    fn keeps_place(&self, field: &Field, pages: Option<ReadId>, presence: &Presence) -> bool {
        // If the index cannot distinguish types, its items may turn out to be of another type. These never were in the
        // list.
        let discriminated_later = matches!((presence, pages), (Presence::Read(tells), Some(page))
            if matches!(self.reads[*tells].action, ReadAction::FetchMissing(of) if of == page));
        match &field.ty {
            Type::List(item) | Type::NonNullList(item) => !item.is_non_null() && !discriminated_later,
            _ => false,
        }
    }

    /// Follows the relations of a `through` path. The first that can find several items is the one that pages.
    pub fn through(
        &mut self,
        of: &Entity<'a>,
        path: &'a [String],
        outer: ArgumentsId,
        last: RelationRequest<'a>,
    ) -> Result<(Entity<'a>, Option<ReadId>), PlanError> {
        let PathEnd { entity, pages, .. } = self.follow_path(of, path, (outer, &[]), last)?;
        Ok((entity, pages))
    }

    /// Follows the relations of a `through` path, and reads some fields of its links.
    pub fn follow_path(
        &mut self,
        of: &Entity<'a>,
        path: &'a [String],
        (outer, of_link): (ArgumentsId, &[String]),
        last: RelationRequest<'a>,
    ) -> Result<PathEnd<'a>, PlanError> {
        let mut end = PathEnd { entity: of.clone(), pages: None, link: None };
        for (position, name) in path.iter().enumerate() {
            let entity = &end.entity;
            let field = self.field_of(entity.ty, name)?;
            let FieldKind::Find(find) = &field.kind else {
                return Err(internal(&format!("{}.{name} is no find", entity.ty.name)));
            };
            let arguments = self.arguments[outer].for_relation(field);
            let is_last = position + 1 == path.len();
            let many = matches!(find.returns, Returns::List | Returns::Connection);
            let mut needs = self.needs_on_path(find, path.get(position + 1), &arguments, &last)?;
            if many && end.pages.is_none() && matches!(find.via, Via::Keys(_)) {
                needs.extend(self.needs_of_link(find, of_link)?);
            }
            let arguments = self.push_arguments(arguments);
            let want = match (many, end.pages.is_some()) {
                (false, _) => Want::First,
                (true, false) => last.want,
                // A cascade deletes long lists too, so its limit takes the place of the relation's own.
                (true, true) => match last.want {
                    Want::Whole { max } => Want::Whole { max: max.max(find.max) },
                    _ => Want::Whole { max: find.max },
                },
            };
            let relation = RelationRequest {
                coordinate: format!("{}.{name}", entity.ty.name),
                field,
                find,
                arguments,
                needs,
                must_exist: !is_promised(field) || (is_last && last.must_exist),
                waits_for_parent: position > 0 && last.waits_for_parent,
                want,
            };
            let next = match &find.via {
                Via::Keys(_) => {
                    let (entity, pages) = self.follow(entity, relation)?;
                    PathEnd { link: pages.map(|_| entity.clone()), entity, pages }
                }
                Via::Through(path) => self.follow_path(&entity.clone(), path, (arguments, of_link), relation)?,
                Via::AbstractType(_) => return Err(internal("a relation to items of several types on a path")),
            };
            end = PathEnd { entity: next.entity, pages: end.pages.or(next.pages), link: end.link.or(next.link) };
        }
        Ok(end)
    }

    /// What is needed of the items of a relation on a path: what the next one binds, or what is wanted of the last.
    fn needs_on_path(
        &self,
        find: &'a Find,
        next: Option<&String>,
        arguments: &Arguments,
        last: &RelationRequest<'a>,
    ) -> Result<Vec<String>, PlanError> {
        let Some(next) = next else { return Ok(last.needs.clone()) };
        let ty = self.type_named(&find.item)?;
        let next = self.field_of(ty, next)?;
        let FieldKind::Find(next_find) = &next.kind else { return Err(internal(&next.name)) };
        self.parent_fields(ty, next, next_find, &arguments.for_relation(next))
    }
}

fn page_sizes(form: PageForm, field: &Field, max: u32) -> PageSizes {
    let default = |name: &str| {
        let argument = field.arguments.iter().find(|argument| argument.name == name)?;
        u32::try_from(argument.default.as_ref()?.as_u64()?).ok()
    };
    let of = |backward: bool| default(form.names(backward).0);
    PageSizes { form, max, first: of(false), last: of(true) }
}

/// Whether the schema promises that the field has its item. A list that is never null may still be empty.
fn is_promised(field: &Field) -> bool {
    field.ty.is_non_null() && !field.ty.is_list()
}
