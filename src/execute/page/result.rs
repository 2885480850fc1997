//! What a field wants of a query's items in, its items and what is known of them as a page out. Must not know how items
//! are found.

use super::arguments::Paging;
use super::cursor::Cursors;
use crate::execute::error::{ErrorCode, Failure};
use crate::plan::passes::shared_query::Reaches;
use crate::plan::tree::Want;
use std::sync::Arc;

/// One page, or one list.
#[derive(Debug, Clone, Default)]
pub struct PageResult {
    /// Why it could not be read.
    pub failure: Option<Arc<Failure>>,
    /// The number of items, if they are only counted.
    pub count: u64,
    /// The number of shown rows. The rows after them are read only to check whether they exist. `None`: all are shown.
    pub shown: Option<usize>,
    /// Whether there is something after it.
    pub has_next: bool,
    /// Whether there is something before it.
    pub has_previous: bool,
    /// What makes the cursors of its rows.
    pub cursors: Option<Arc<Cursors>>,
    /// For a page over several ranges: the range of each row.
    pub of_range: Vec<usize>,
}

impl PageResult {
    /// A page or a list that could not be read.
    pub fn failed(why: Arc<Failure>) -> Self {
        Self { failure: Some(why), ..Self::default() }
    }
}

/// The items that a query found so far, in order.
pub struct FoundItems<'q, T> {
    /// The items.
    pub items: &'q [T],
    /// For a query over several ranges: the range of each item.
    pub of_range: &'q [usize],
    /// The number of items, if they are only counted.
    pub count: u64,
}

/// What a field wants of a query's items: the first, all, a page, or their number.
pub struct PageRequest {
    /// What the field wants.
    pub want: Want,
    /// The arguments of a page.
    pub page: Option<Paging>,
    /// What makes a page's cursors.
    pub cursors: Option<Arc<Cursors>>,
    /// For a page of links whose targets may be missing: how many items to read first.
    pub filled: Option<usize>,
}

/// The failure of a list that has more items than a list may have.
pub fn list_too_long(max: u32) -> Arc<Failure> {
    Failure::new(ErrorCode::LimitExceeded, format!("More than {max} items{NOT_PAGINATED}"))
}

/// Whether an error is that of a list that has more items than it may have.
pub fn is_list_too_long(code: ErrorCode, message: &str) -> bool {
    code == ErrorCode::LimitExceeded && message.ends_with(NOT_PAGINATED)
}

/// The end of the message of a list that is too long.
const NOT_PAGINATED: &str = "; this field is not paginated.";

impl PageRequest {
    /// Whether the wanted items reach the end of their range, as far as the request shows.
    pub fn reaches(&self) -> Reaches {
        match (self.want, &self.page) {
            (Want::Whole { .. }, _) => Reaches::Always,
            (Want::Page { .. }, Some(page)) => Reaches::for_page(page.size),
            (Want::Page { .. } | Want::Count { .. }, _) => Reaches::Mostly,
            (Want::First, _) => Reaches::Rarely,
        }
    }

    /// Whether all of the range is wanted, in any order.
    pub fn wants_all(&self) -> bool {
        matches!(self.want, Want::Whole { .. } | Want::Count { .. })
    }

    /// The field's items as a page. `is_dangling` says which links are known to have no target.
    pub fn into_page<T: Clone>(
        &self,
        found: &FoundItems<'_, T>,
        is_dangling: &dyn Fn(&T) -> bool,
    ) -> (Vec<T>, PageResult) {
        if let (Some(first), Some(paging)) = (self.filled, &self.page) {
            let live: Vec<usize> =
                (0..found.items.len()).filter(|position| !is_dangling(&found.items[*position])).collect();
            let reserve = found.items.len() - live.len();
            return self.fill(found, paging, live.into_iter().take(first + reserve).collect());
        }
        let mut page = PageResult { count: found.count, ..PageResult::default() };
        let mut items = found.items.to_vec();
        match (self.want, &self.page) {
            (Want::Whole { max }, _) if items.len() as u64 > u64::from(max) => {
                items.clear();
                page.failure = Some(list_too_long(max));
            }
            (Want::Page { .. }, Some(paging)) => {
                let size = paging.size as usize;
                page = self.page(paging, items.len() > size);
                items.truncate(size);
                page.of_range = found.of_range.iter().copied().take(size).collect();
                if paging.backward {
                    items.reverse();
                    page.of_range.reverse();
                }
            }
            _ => {}
        }
        (items, page)
    }

    fn page(&self, paging: &Paging, more: bool) -> PageResult {
        let continued = paging.from.is_some();
        let (has_next, has_previous) = if paging.backward { (continued, more) } else { (more, continued) };
        PageResult { has_next, has_previous, cursors: self.cursors.clone(), ..PageResult::default() }
    }

    /// A page of the links at these positions, which are not known to be dangling. Links beyond its size come after it
    /// and replace links that turn out to be dangling.
    fn fill<T: Clone>(
        &self,
        found: &FoundItems<'_, T>,
        paging: &Paging,
        mut positions: Vec<usize>,
    ) -> (Vec<T>, PageResult) {
        let shown = positions.len().min(paging.size as usize);
        let mut page = self.page(paging, positions.len() > shown);
        if paging.backward {
            positions[..shown].reverse();
        }
        page.shown = Some(shown);
        page.of_range = positions.iter().filter_map(|position| found.of_range.get(*position).copied()).collect();
        (positions.into_iter().map(|position| found.items[position].clone()).collect(), page)
    }
}
