//! The links of pages that turned out to be dangling in, how many items a page needs to be full out. Must not know how
//! links are read.
//!
//! A page through relations is a page of links. Where the item behind a link is gone, its element is left out, and the
//! page would be short although more follows. So the executor records the dangling links and runs the waves from the
//! page's own again.

use crate::execute::error::{ErrorCode, Failure};
use crate::plan::tree::ReadId;
use crate::table::data::attribute::Key;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// The dangling links of each page of a request.
#[derive(Default)]
pub struct PageFiller {
    dangling: HashMap<ReadId, HashSet<Key>>,
}

impl PageFiller {
    /// Records a dangling link of a page. False if it is already known.
    pub fn record_dangling(&mut self, page: ReadId, link: Key) -> bool {
        self.dangling.entry(page).or_default().insert(link)
    }

    /// Whether a link of a page is known to be dangling. `link` gives its key.
    pub fn is_dangling(&self, page: ReadId, link: impl FnOnce() -> Option<Key>) -> bool {
        self.dangling.get(&page).is_some_and(|dangling| link().is_some_and(|link| dangling.contains(&link)))
    }

    /// The number of items that a page's query needs to give `wanted` elements after these links: one more for each
    /// dangling link, and the same number again in reserve, so that long runs of dangling links are passed in growing
    /// steps. Fails beyond `most` dangling links.
    pub fn needed(
        &self,
        page: ReadId,
        wanted: u32,
        links: impl Iterator<Item = Option<Key>>,
        most: usize,
    ) -> Result<u32, Arc<Failure>> {
        if !self.dangling.contains_key(&page) {
            return Ok(wanted);
        }
        let dangling = links.filter(|link| self.is_dangling(page, || link.clone())).count();
        if dangling > most {
            let message = format!("More than {most} links of this page lead to items that do not exist.");
            return Err(Failure::new(ErrorCode::LimitExceeded, message));
        }
        Ok(wanted.saturating_add(u32::try_from(dangling).unwrap_or(u32::MAX).saturating_mul(2)))
    }
}
