//! The state of a running plan: the rows of each space and the items of each read. Only [`super::apply`] changes it.

pub mod access;
pub mod row_input;

use super::admit::VisibleItem;
use super::rows::Rows;
use crate::execute::arguments::FieldArguments;
use crate::execute::auth::refusals::Refusals;
use crate::execute::caller::Caller;
use crate::execute::context::ExecutionContext;
use crate::execute::error::{ErrorCode, Failure};
use crate::execute::expression::request_time::RequestTime;
use crate::execute::key::values::MAX_COMBINATIONS;
use crate::execute::page::result::PageResult;
use crate::plan::tree::{
    GuardId, Holder, IdArgument, ObjectSource, Origin, Plan, Presence, ReadId, ServiceCallId, SpaceId,
};
use crate::table::data::attribute::Item;
use serde_json::Value;
use std::sync::Arc;

/// The state of one item that a read looked for.
#[derive(Debug, Clone)]
pub enum ItemState {
    /// It is not there.
    Absent,
    /// It is there.
    Item(VisibleItem),
    /// It could not be read.
    Failed(Arc<Failure>),
}

/// Whether an object is there.
pub enum Present {
    /// It is there.
    Yes,
    /// It is not there.
    No,
    /// A read that would show it failed.
    Failed(Arc<Failure>),
}

/// The result of a read.
#[derive(Debug)]
pub enum ReadResult {
    /// Not run yet.
    Pending,
    /// At most one item for each row of the read's space.
    One(Vec<ItemState>),
    /// The items of the space that the read opens, and a page for each row of its own space.
    Many(Vec<ItemState>, Vec<PageResult>),
}

/// What a service computed for an object: an item with the value in one attribute. `None` if the object is not there,
/// or the value is null.
pub type ResolvedValue = Result<Option<Arc<Item>>, Arc<Failure>>;

/// The state of a running plan.
pub struct ReadState<'p> {
    /// The plan.
    plan: &'p Plan,
    /// The arguments of its fields.
    arguments: FieldArguments<'p>,
    /// Who sent the request.
    caller: Caller,
    /// The time of the request, as a canonical DateTime.
    now: RequestTime,
    /// What the caller is refused.
    refusals: Refusals,
    /// The rows of each space; `None` until they are known.
    rows: Vec<Option<Rows>>,
    /// The result of each read.
    results: Vec<ReadResult>,
    /// The elements of each space of embedded elements or of seeds.
    elements: Vec<Vec<Arc<Item>>>,
    /// The reads whose pages skip dangling links and are filled up.
    filled: Vec<ReadId>,
    /// What services computed for the rows of each call; `None` until it is known.
    resolved: Vec<Option<Vec<ResolvedValue>>>,
}

impl<'p> ReadState<'p> {
    /// The state before the first wave.
    pub fn new(plan: &'p Plan, context: &ExecutionContext<'_>) -> Self {
        Self::with_arguments(plan, context, FieldArguments::new(plan, context))
    }

    /// The state before the first wave, with these arguments instead of those of the request.
    pub fn with_arguments(plan: &'p Plan, context: &ExecutionContext<'_>, arguments: FieldArguments<'p>) -> Self {
        let mut rows: Vec<Option<Rows>> = plan.spaces.iter().map(|_| None).collect();
        if let Some(operation) = rows.first_mut() {
            *operation = Some(Rows { parents: vec![0], starts: vec![0, 1] });
        }
        let results = plan.reads.iter().map(|_| ReadResult::Pending).collect();
        let elements = plan.spaces.iter().map(|_| Vec::new()).collect();
        let filled = (0..plan.reads.len()).filter(|read| !plan.reads[*read].elements().is_empty()).collect();
        let refusals = Refusals::new(plan, context, &arguments);
        Self {
            plan,
            arguments,
            caller: context.caller.clone(),
            now: context.now.clone(),
            refusals,
            rows,
            results,
            elements,
            filled,
            resolved: plan.calls.iter().map(|_| None).collect(),
        }
    }

    /// The plan.
    pub fn plan(&self) -> &'p Plan {
        self.plan
    }

    /// The arguments of the plan's fields.
    pub fn arguments(&self) -> &FieldArguments<'p> {
        &self.arguments
    }

    /// Why the caller is refused what stands behind a guard, whatever the rows; `None` if the caller is not, or if rows
    /// decide it.
    pub fn refusal(&self, guard: Option<GuardId>) -> Option<ErrorCode> {
        self.refusals.code_for(guard)
    }

    /// The reads whose pages skip dangling links and are filled up.
    pub fn filled(&self) -> &[ReadId] {
        &self.filled
    }

    /// The rows of a space; `None` while they are unknown.
    pub fn rows(&self, space: SpaceId) -> Option<&Rows> {
        self.rows[space].as_ref()
    }

    /// The page of a read for a row of the read's space; `None` while it is unknown, and if the read opens no space.
    pub fn page(&self, read: ReadId, row: usize) -> Option<&PageResult> {
        let ReadResult::Many(_, pages) = &self.results[read] else { return None };
        pages.get(row)
    }

    /// The first failure of a page or a list.
    pub fn page_failure(&self) -> Option<&Arc<Failure>> {
        let pages = self
            .results
            .iter()
            .filter_map(|result| if let ReadResult::Many(_, pages) = result { Some(pages) } else { None });
        pages.flatten().find_map(|page| page.failure.as_ref())
    }

    /// The number of rows of a space; 0 while they are unknown.
    pub fn len(&self, space: SpaceId) -> usize {
        self.rows[space].as_ref().map_or(0, |rows| rows.parents.len())
    }

    /// Whether the content of a holder is known.
    pub fn is_known(&self, holder: Holder) -> bool {
        match holder {
            Holder::Read(read) => !matches!(self.results[read], ReadResult::Pending),
            Holder::Element(space) => self.rows[space].is_some(),
            Holder::Resolved(call) => self.resolved[call].is_some(),
        }
    }

    /// The row of an outer space to which a row belongs.
    #[inline]
    pub fn climb(&self, mut space: SpaceId, mut row: usize, to: SpaceId) -> Option<usize> {
        while space != to {
            row = *self.rows[space].as_ref()?.parents.get(row)?;
            space = self.plan.spaces[space].parent?;
        }
        Some(row)
    }

    /// The rows of an inner space that belong to a row. Rows are in the order of their parents, so these are one range.
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
            range = rows.under_parents(range);
        }
        range
    }

    /// Whether a row comes after the shown rows of a page. Only reads that check whether its link is dangling need such
    /// a row.
    pub fn is_behind(&self, read: ReadId, space: SpaceId, row: usize) -> bool {
        self.is_after_shown(space, row, |page| !self.plan.reads[page].elements().contains(&read))
    }

    /// Whether a row comes after the shown rows of a page.
    pub fn is_beyond_page(&self, space: SpaceId, row: usize) -> bool {
        self.is_after_shown(space, row, |_| true)
    }

    fn is_after_shown(&self, space: SpaceId, row: usize, counts: impl Fn(ReadId) -> bool) -> bool {
        self.filled.iter().filter(|page| counts(**page)).any(|page| {
            let (Some(yields), ReadResult::Many(_, pages)) = (self.plan.reads[*page].opens(), &self.results[*page])
            else {
                return false;
            };
            let (Some(row), Some(rows)) = (self.climb(space, row, yields), &self.rows[yields]) else { return false };
            let shown = rows.parents.get(row).and_then(|parent| pages.get(*parent)?.shown);
            shown.zip(rows.position(row)).is_some_and(|(shown, position)| position >= shown)
        })
    }

    /// What a read found for a row of its own space or of a space within it.
    #[inline]
    pub fn found(&self, read: ReadId, space: SpaceId, row: usize) -> &ItemState {
        let of = &self.plan.reads[read];
        let row = self.climb(space, row, of.opens().unwrap_or(of.space));
        match (&self.results[read], row) {
            (ReadResult::One(items) | ReadResult::Many(items, _), Some(row)) => {
                items.get(row).unwrap_or(&ItemState::Absent)
            }
            _ => &ItemState::Absent,
        }
    }

    /// The item of a target, for a row of the target's space; `None` if it is not there.
    pub fn item(&self, target: &ObjectSource, space: SpaceId, row: usize) -> Option<Arc<Item>> {
        let Presence::Read(read) = target.presence else { return None };
        match self.found(read, space, row) {
            ItemState::Item(item) => Some(item.clone().into_shared()),
            _ => None,
        }
    }

    /// The item or element of a holder, for a row.
    #[inline]
    pub fn held(&self, holder: Holder, space: SpaceId, row: usize) -> Result<Option<&Item>, &Arc<Failure>> {
        match holder {
            Holder::Read(read) => match self.found(read, space, row) {
                ItemState::Absent => Ok(None),
                ItemState::Item(item) => Ok(Some(item)),
                ItemState::Failed(failure) => Err(failure),
            },
            Holder::Element(of) => {
                let row = match self.plan.spaces[of].origin {
                    // Every row can use a seed, not only the rows of its own space.
                    Origin::Seed => self.climb(space, row, of).or(Some(0)),
                    _ => self.climb(space, row, of),
                };
                Ok(row.and_then(|row| self.elements[of].get(row)).map(|item| &**item))
            }
            Holder::Resolved(call) => {
                let row = self.climb(space, row, self.plan.calls[call].space);
                match row.zip(self.resolved[call].as_ref()).and_then(|(row, values)| values.get(row)) {
                    Some(Ok(item)) => Ok(item.as_deref()),
                    Some(Err(failure)) => Err(failure),
                    None => Ok(None),
                }
            }
        }
    }

    /// The global ids of an argument. Fails if there are too many, or if they are not acceptable.
    pub fn ids(&self, argument: &IdArgument) -> Result<Vec<&str>, Arc<Failure>> {
        match self.arguments.values(argument.arguments)?.get(&argument.name) {
            Some(Value::Array(ids)) if ids.len() > MAX_COMBINATIONS => {
                let message = format!("The argument names too many items: more than {MAX_COMBINATIONS} ids.");
                Err(Failure::new(ErrorCode::LimitExceeded, message))
            }
            Some(Value::Array(ids)) => Ok(ids.iter().filter_map(Value::as_str).collect()),
            id => Ok(id.and_then(Value::as_str).into_iter().collect()),
        }
    }

    /// Whether the object of a target is there, for a row of the target's space.
    pub fn present(&self, target: &ObjectSource, space: SpaceId, row: usize) -> Present {
        self.is_there(&target.presence, space, row)
    }

    /// Whether an object is there, for a row of its space or of one within it.
    pub fn is_there(&self, presence: &Presence, space: SpaceId, row: usize) -> Present {
        match presence {
            Presence::Read(read) => match self.found(*read, space, row) {
                ItemState::Item(_) => Present::Yes,
                ItemState::Absent => Present::No,
                ItemState::Failed(failure) => Present::Failed(failure.clone()),
            },
            Presence::Seed(seed) => match self.climb(space, row, *seed).and_then(|row| self.elements[*seed].get(row)) {
                Some(_) => Present::Yes,
                None => Present::No,
            },
            Presence::Values(sources) => {
                for source in sources {
                    match self.value(source, space, row) {
                        Ok(Some(_)) => {}
                        Ok(None) => return Present::No,
                        Err(failure) => return Present::Failed(failure),
                    }
                }
                Present::Yes
            }
        }
    }

    /// Hands in the items of a seed, as rows of the operation's only row.
    pub(super) fn set_seed(&mut self, space: SpaceId, items: Vec<Arc<Item>>) {
        self.rows[space] = Some(Rows { parents: vec![0; items.len()], starts: vec![0, items.len()] });
        self.elements[space] = items;
    }

    /// Sets the rows of a space: how many each row of its parent has.
    pub(super) fn set_rows(&mut self, space: SpaceId, sizes: impl Iterator<Item = usize>) {
        self.rows[space] = Some(Rows::from_sizes(sizes));
    }

    /// Sets the rows of a space, with the element of each row.
    pub(super) fn set_elements(
        &mut self,
        space: SpaceId,
        sizes: impl Iterator<Item = usize>,
        elements: Vec<Arc<Item>>,
    ) {
        self.set_rows(space, sizes);
        self.elements[space] = elements;
    }

    /// Sets the result of a read.
    pub(super) fn set_result(&mut self, read: ReadId, result: ReadResult) {
        self.results[read] = result;
    }

    /// Sets what services computed for the rows of a call.
    pub(super) fn set_resolved(&mut self, call: ServiceCallId, values: Vec<ResolvedValue>) {
        self.resolved[call] = Some(values);
    }

    /// Forgets the results of a wave (from 1) and of all waves after it, with the rows that they made.
    pub(super) fn forget_from(&mut self, wave: usize) {
        let plan = self.plan;
        for (id, _) in plan.reads.iter().enumerate().filter(|(_, read)| read.wave >= wave) {
            self.results[id] = ReadResult::Pending;
        }
        for (id, _) in plan.calls.iter().enumerate().filter(|(_, call)| call.wave >= wave) {
            self.resolved[id] = None;
        }
        for (id, space) in plan.spaces.iter().enumerate() {
            let is_forgotten = match &space.origin {
                Origin::Operation | Origin::Seed | Origin::SeedVariant(..) | Origin::Ids(_) | Origin::OfId(..) => false,
                Origin::Read(read) | Origin::Variant(read, _) => plan.reads[*read].wave >= wave,
                // The items that hold them may be forgotten. The other rows are made again unchanged.
                Origin::Elements(..) => true,
            };
            if is_forgotten {
                self.rows[id] = None;
                self.elements[id].clear();
            }
        }
    }
}
