//! What a running plan has found so far: the rows of each space and the items of each read.

use super::cursor::Cursors;
use super::decode;
use super::error::ErrorCode;
use super::filter::argument;
use crate::plan::tree::{Holder, ObjectSource, Origin, Plan, Presence, ReadId, SourceText, SpaceId, ValueSource};
use crate::table::attribute::Item;
use serde_json::{Map, Value};
use std::sync::Arc;

/// Why something could not be read; told at the path of each field that wanted it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// The code.
    pub code: ErrorCode,
    /// One sentence for the caller.
    pub message: String,
}

impl Failure {
    /// A shared failure.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Arc<Self> {
        Arc::new(Self { code, message: message.into() })
    }
}

/// What came of looking for one item.
#[derive(Debug, Clone)]
pub enum Found {
    /// It is yet to be read.
    Unread,
    /// It is not there.
    Absent,
    /// It is there.
    Item(Arc<Item>),
    /// It could not be read.
    Failed(Arc<Failure>),
}

/// The rows of a space.
#[derive(Debug, Default)]
pub struct Rows {
    /// Row → row of the parent space.
    pub parents: Vec<usize>,
    /// Row of the parent space → its first row here; one longer than the parent space, so that ranges come easily.
    pub starts: Vec<usize>,
}

/// What came of a read.
#[derive(Debug)]
pub enum Outcome {
    /// Not run yet.
    Pending,
    /// At most one item for each row of the read's space.
    One(Vec<Found>),
    /// The rows of the space that the read opens, and for each row of its own space what is known of them as a page.
    Many(Vec<Found>, Vec<PageOf>),
}

/// One page, or one list.
#[derive(Debug, Clone, Default)]
pub struct PageOf {
    /// Why it could not be read.
    pub failure: Option<Arc<Failure>>,
    /// How many items there are, where only they are counted.
    pub count: u64,
    /// How many of its rows are shown; those behind are only looked at to know whether they are there. `None`: all.
    pub shown: Option<usize>,
    /// Whether there is something after it.
    pub has_next: bool,
    /// Whether there is something before it.
    pub has_previous: bool,
    /// What makes the cursors of its rows.
    pub cursors: Option<Arc<Cursors>>,
    /// Of a page over several ranges: the range of each row.
    pub of_range: Vec<usize>,
}

/// A running plan.
pub struct State<'p> {
    /// The plan.
    pub plan: &'p Plan,
    /// The coerced arguments of each field that reads.
    pub arguments: Vec<Result<Map<String, Value>, Arc<Failure>>>,
    /// The rows of each space; `None` until they are known.
    pub rows: Vec<Option<Rows>>,
    /// The outcome of each read.
    pub outcomes: Vec<Outcome>,
    /// For each space of embedded elements, its elements.
    pub elements: Vec<Vec<Arc<Item>>>,
    /// The reads whose pages are filled where elements are missing.
    pub filled: Vec<ReadId>,
}

impl<'p> State<'p> {
    /// The state before the first wave.
    pub fn new(plan: &'p Plan, arguments: Vec<Result<Map<String, Value>, Arc<Failure>>>) -> Self {
        let mut rows: Vec<Option<Rows>> = plan.spaces.iter().map(|_| None).collect();
        if let Some(operation) = rows.first_mut() {
            *operation = Some(Rows { parents: vec![0], starts: vec![0, 1] });
        }
        let outcomes = plan.reads.iter().map(|_| Outcome::Pending).collect();
        let elements = plan.spaces.iter().map(|_| Vec::new()).collect();
        let filled = (0..plan.reads.len()).filter(|read| !plan.reads[*read].elements.is_empty()).collect();
        Self { plan, arguments, rows, outcomes, elements, filled }
    }

    /// Hands in the items of a seed.
    pub fn seed(&mut self, space: SpaceId, items: Vec<Arc<Item>>) {
        self.rows[space] = Some(Rows { parents: vec![0; items.len()], starts: vec![0, items.len()] });
        self.elements[space] = items;
    }

    /// The number of rows of a space, 0 while they are not known.
    pub fn len(&self, space: SpaceId) -> usize {
        self.rows[space].as_ref().map_or(0, |rows| rows.parents.len())
    }

    /// The row of an outer space to which a row belongs.
    pub fn climb(&self, mut space: SpaceId, mut row: usize, to: SpaceId) -> Option<usize> {
        while space != to {
            row = *self.rows[space].as_ref()?.parents.get(row)?;
            space = self.plan.spaces[space].parent?;
        }
        Some(row)
    }

    /// The rows of an inner space that belong to a row: rows stand in the order of their parents, so they are one range.
    pub fn under(&self, space: SpaceId, row: usize, inner: SpaceId) -> std::ops::Range<usize> {
        let mut way = vec![inner];
        while let Some(parent) = self.plan.spaces[way[way.len() - 1]].parent {
            if parent == space {
                break;
            }
            way.push(parent);
        }
        let mut range = row..row + 1;
        for step in way.into_iter().rev() {
            let Some(rows) = &self.rows[step] else { return 0..0 };
            let at = |row: usize| rows.starts.get(row).copied().unwrap_or(rows.parents.len());
            range = at(range.start)..at(range.end);
        }
        range
    }

    /// Whether a row stands behind a page's shown ones, so that a read which does not tell if it is there has no use for it.
    pub fn is_behind(&self, read: ReadId, space: SpaceId, row: usize) -> bool {
        self.filled.iter().filter(|page| !self.plan.reads[**page].elements.contains(&read)).any(|page| {
            let (Some(yields), Outcome::Many(_, pages)) = (self.plan.reads[*page].yields, &self.outcomes[*page]) else { return false };
            let (Some(row), Some(rows)) = (self.climb(space, row, yields), &self.rows[yields]) else { return false };
            let parent = rows.parents[row];
            pages[parent].shown.is_some_and(|shown| row - rows.starts[parent] >= shown)
        })
    }

    /// What a read found for a row of a space at or within its own.
    pub fn found(&self, read: ReadId, space: SpaceId, row: usize) -> &Found {
        let of = &self.plan.reads[read];
        let row = self.climb(space, row, of.yields.unwrap_or(of.space));
        match (&self.outcomes[read], row) {
            (Outcome::One(items) | Outcome::Many(items, _), Some(row)) => items.get(row).unwrap_or(&Found::Absent),
            _ => &Found::Absent,
        }
    }

    /// The item of a target that is there, for a row of the target's space.
    pub fn item(&self, target: &ObjectSource, space: SpaceId, row: usize) -> Option<Arc<Item>> {
        let Presence::Read(read) = target.presence else { return None };
        match self.found(read, space, row) {
            Found::Item(item) => Some(item.clone()),
            _ => None,
        }
    }

    /// The item or element that a holder holds for a row.
    pub fn held(&self, holder: Holder, space: SpaceId, row: usize) -> Result<Option<&Item>, &Arc<Failure>> {
        match holder {
            Holder::Read(read) => match self.found(read, space, row) {
                Found::Unread | Found::Absent => Ok(None),
                Found::Item(item) => Ok(Some(item)),
                Found::Failed(failure) => Err(failure),
            },
            Holder::Element(of) => {
                let row = match self.plan.spaces[of].origin {
                    // A seed is in scope everywhere, not just in the rows that it makes.
                    Origin::Seed => self.climb(space, row, of).or(Some(0)),
                    _ => self.climb(space, row, of),
                };
                Ok(row.and_then(|row| self.elements[of].get(row)).map(|item| &**item))
            }
        }
    }

    /// The value of a source for a row; `None` where it is null or what holds it is not there.
    pub fn value(&self, source: &ValueSource, space: SpaceId, row: usize) -> Result<Option<Value>, Arc<Failure>> {
        match source {
            ValueSource::Argument(arguments, name) => match &self.arguments[*arguments] {
                Ok(values) => Ok(argument(values, name).filter(|value| !value.is_null()).cloned()),
                Err(failure) => Err(failure.clone()),
            },
            ValueSource::Field(holder, reader) => {
                let item = self.held(*holder, space, row).map_err(Arc::clone)?;
                Ok(item.and_then(|item| decode::value(reader, item)))
            }
            ValueSource::Text(parts) => {
                let mut text = String::new();
                for part in parts {
                    match part {
                        SourceText::Literal(literal) => text.push_str(literal),
                        SourceText::Value(source) => match self.value(source, space, row)? {
                            None => return Ok(None),
                            Some(Value::String(value)) => text.push_str(&value),
                            Some(value) => text.push_str(&value.to_string()),
                        },
                    }
                }
                Ok(Some(Value::String(text)))
            }
        }
    }
}
