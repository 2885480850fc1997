//! Lists, connections and counts of a response: writes the rows of a find for an object, without those that are not
//! there.

use super::writer::{PathStep, Place, ValueFault, Writer, json};
use crate::execute::error::{ErrorCode, Failure};
use crate::execute::page::result::PageResult;
use crate::execute::read::state::{ItemState, Present};
use crate::plan::tree::*;
use crate::table::json::string::push_json_text;
use apollo_compiler::ast::Type;
use serde_json::Value;
use std::ops::Range;
use std::sync::Arc;

/// A row of a list and whether its object is there.
type Element = (usize, Present);

impl<'a> Writer<'a> {
    pub(super) fn list(
        &mut self,
        target: &'a ObjectSource,
        object: &'a Object,
        ty: &'a Type,
        at: Place<'_>,
    ) -> Result<(), ValueFault> {
        if let Some(failure) = self.list_failure(target, at) {
            return Err(self.failed(&failure));
        }
        let elements = self.elements(target, at);
        self.objects(target.space, elements, object, ty)
    }

    /// Writes the objects of a list's elements.
    fn objects(
        &mut self,
        space: SpaceId,
        elements: Vec<Element>,
        object: &'a Object,
        ty: &'a Type,
    ) -> Result<(), ValueFault> {
        let item = ty.item_type();
        self.body.data.push(b'[');
        for (position, (row, present)) in elements.into_iter().enumerate() {
            if position > 0 {
                self.body.data.push(b',');
            }
            self.within(PathStep::Index(position), |writer| {
                writer.nullable(item, |writer| writer.element(space, (row, present), object, item))
            })?;
        }
        self.body.data.push(b']');
        Ok(())
    }

    fn element(
        &mut self,
        space: SpaceId,
        (row, present): Element,
        object: &'a Object,
        ty: &Type,
    ) -> Result<(), ValueFault> {
        match present {
            Present::Yes => self.object(object, Place { space, row, map: None }),
            Present::No => self.missing(ty, || format!("A {} of the list does not exist.", object.type_name)),
            Present::Failed(failure) => Err(self.failed(&failure)),
        }
    }

    /// The shown rows of a target.
    pub(super) fn rows(&self, target: &ObjectSource, at: Place<'_>) -> Range<usize> {
        if target.space == at.space {
            return at.row..at.row + 1;
        }
        let rows = self.state.under(at.space, at.row, target.space);
        match self.own_page(target, at).and_then(|page| page.shown) {
            Some(shown) => rows.start..rows.end.min(rows.start + shown),
            None => rows,
        }
    }

    fn own_page(&self, target: &ObjectSource, at: Place<'_>) -> Option<&'a PageResult> {
        let read = target.pages?;
        self.state.page(read, self.state.climb(at.space, at.row, self.state.plan().reads[read].space)?)
    }

    /// The rows of a list, without those whose object is not there, unless they keep their place.
    fn elements(&self, target: &ObjectSource, at: Place<'_>) -> Vec<Element> {
        let rows = self.rows(target, at).map(|row| (row, self.state.present(target, target.space, row)));
        rows.filter(|(_, present)| target.keeps_place || !matches!(present, Present::No)).collect()
    }

    /// The failure of a list: that of a read that makes its rows.
    fn list_failure(&self, target: &ObjectSource, at: Place<'_>) -> Option<Arc<Failure>> {
        let mut space = target.space;
        while space != at.space {
            let parent = self.state.plan().spaces[space].parent?;
            if let Origin::Read(read) = &self.state.plan().spaces[space].origin {
                let rows =
                    if parent == at.space { at.row..at.row + 1 } else { self.state.under(at.space, at.row, parent) };
                for row in rows {
                    if let Some(failure) = self.state.page(*read, row).and_then(|page| page.failure.clone()) {
                        return Some(failure);
                    }
                }
            }
            space = parent;
        }
        match (&target.presence, target.space == at.space) {
            (Presence::Read(read), true) => match self.state.found(*read, at.space, at.row) {
                ItemState::Failed(failure) => Some(failure.clone()),
                _ => None,
            },
            _ => None,
        }
    }

    pub(super) fn count(&mut self, target: &ObjectSource, at: Place<'_>) -> Result<(), ValueFault> {
        if let Some(failure) = self.list_failure(target, at) {
            return Err(self.failed(&failure));
        }
        let counted = target.pages.and_then(|read| self.state.page(read, at.row)).map(|page| page.count);
        let count =
            counted.unwrap_or_else(|| u64::from(matches!(self.state.present(target, at.space, at.row), Present::Yes)));
        if i32::try_from(count).is_err() {
            return Err(self.error(ErrorCode::Internal, format!("{count} does not fit the type Int.")));
        }
        json(&mut self.body.data, &Value::from(count));
        Ok(())
    }

    pub(super) fn page(
        &mut self,
        target: &'a ObjectSource,
        parts: &'a [PageOutput],
        at: Place<'_>,
    ) -> Result<(), ValueFault> {
        if let Some(failure) = self.list_failure(target, at) {
            return Err(self.failed(&failure));
        }
        let context = PageContext { target, page: self.own_page(target, at), rows: self.rows(target, at) };
        self.parts(parts, |writer, part| writer.page_part(part, &context, at))
    }

    /// Writes an object of page parts.
    fn parts(
        &mut self,
        parts: &'a [PageOutput],
        mut write: impl FnMut(&mut Self, &'a PagePart) -> Result<(), ValueFault>,
    ) -> Result<(), ValueFault> {
        self.body.data.push(b'{');
        for (position, output) in parts.iter().enumerate() {
            if position > 0 {
                self.body.data.push(b',');
            }
            self.body.data.extend_from_slice(&output.label);
            self.field(&output.key, output.location, |writer| write(writer, &output.part))?;
        }
        self.body.data.push(b'}');
        Ok(())
    }

    fn page_part(&mut self, part: &'a PagePart, context: &PageContext<'a>, at: Place<'_>) -> Result<(), ValueFault> {
        match part {
            PagePart::Nodes(ty, object) => {
                let elements = self.elements(context.target, at);
                self.nullable(ty, |writer| writer.objects(context.target.space, elements, object, ty))
            }
            PagePart::Edges(ty, edge) => {
                let elements = self.elements(context.target, at);
                self.nullable(ty, |writer| writer.edges(elements, edge, context, ty))
            }
            PagePart::PageInfo(parts) => self.parts(parts, |writer, part| writer.page_part(part, context, at)),
            PagePart::HasNextPage => self.flag(context.page.is_some_and(|page| page.has_next)),
            PagePart::HasPreviousPage => self.flag(context.page.is_some_and(|page| page.has_previous)),
            PagePart::StartCursor => self.cursor(context, context.rows.clone().next()),
            PagePart::EndCursor => self.cursor(context, context.rows.clone().next_back()),
            PagePart::NextToken => {
                let goes_on = context.page.is_some_and(|page| page.has_next);
                self.cursor(context, context.rows.clone().next_back().filter(|_| goes_on))
            }
            PagePart::TotalCount(ty, counted) => self.nullable(ty, |writer| writer.count(counted, at)),
            PagePart::Typename(name) => {
                push_json_text(&mut self.body.data, name);
                Ok(())
            }
            PagePart::Node(..) | PagePart::Link(..) | PagePart::Cursor => Ok(()),
        }
    }

    fn edges(
        &mut self,
        elements: Vec<Element>,
        parts: &'a [PageOutput],
        context: &PageContext<'a>,
        ty: &'a Type,
    ) -> Result<(), ValueFault> {
        let item = ty.item_type();
        self.body.data.push(b'[');
        for (position, (row, present)) in elements.into_iter().enumerate() {
            if position > 0 {
                self.body.data.push(b',');
            }
            let mut present = Some(present);
            self.within(PathStep::Index(position), |writer| {
                writer.nullable(item, |writer| {
                    writer.parts(parts, |writer, part| match part {
                        PagePart::Node(ty, object) => {
                            let there = present
                                .take()
                                .unwrap_or_else(|| writer.state.present(context.target, context.target.space, row));
                            writer.nullable(ty, |writer| writer.element(context.target.space, (row, there), object, ty))
                        }
                        PagePart::Cursor => writer.cursor(context, Some(row)),
                        PagePart::Link(space, link) => writer.link_field(link, *space, (context.target.space, row)),
                        PagePart::Typename(name) => {
                            push_json_text(&mut writer.body.data, name);
                            Ok(())
                        }
                        _ => Ok(()),
                    })
                })
            })?;
        }
        self.body.data.push(b']');
        Ok(())
    }

    /// The only field of a link, for a row that the link leads to.
    fn link_field(
        &mut self,
        link: &'a Object,
        space: SpaceId,
        (inner, row): (SpaceId, usize),
    ) -> Result<(), ValueFault> {
        match (link.fields.first(), self.state.climb(inner, row, space)) {
            (Some(output), Some(row)) => {
                let at = Place { space, row, map: None };
                self.nullable(&output.ty, |writer| writer.value(&link.type_name, output, at))
            }
            _ => Err(self.error(ErrorCode::Internal, format!("A {} of the list is not there.", link.type_name))),
        }
    }

    fn flag(&mut self, flag: bool) -> Result<(), ValueFault> {
        json(&mut self.body.data, &Value::from(flag));
        Ok(())
    }

    /// The cursor of a row of the target's space; null if the page has no rows.
    fn cursor(&mut self, context: &PageContext<'a>, row: Option<usize>) -> Result<(), ValueFault> {
        let cursor = row.and_then(|row| self.cursor_of(context, row));
        match cursor {
            Some(cursor) => push_json_text(&mut self.body.data, &cursor),
            None => self.body.data.extend_from_slice(b"null"),
        }
        Ok(())
    }

    fn cursor_of(&self, context: &PageContext<'a>, row: usize) -> Option<String> {
        let (page, read) = (context.page?, context.target.pages?);
        let cursors = page.cursors.as_ref()?;
        let space = self.state.plan().reads[read].opens()?;
        let row = self.state.climb(context.target.space, row, space)?;
        let ItemState::Item(item) = self.state.found(read, space, row) else { return None };
        let position = self.state.rows(space)?.position(row)?;
        let range = page.of_range.get(position).copied().unwrap_or_default();
        Some(cursors.item_cursor(range, item))
    }
}

/// A connection while it is written.
struct PageContext<'a> {
    target: &'a ObjectSource,
    page: Option<&'a PageResult>,
    rows: Range<usize>,
}
