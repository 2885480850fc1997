//! Collection reads: the Gets and searches of a wave that read one partition in, the Queries that several of them share out, and what each
//! of them finds in such a Query's page. Must not know how the plan found which reads go together.
//!
//! [`crate::plan::passes::shared_query`] has the rule. A shared Query reads one page. Whatever does not begin in it is read by itself afterwards, and a
//! search that begins in it goes on from its end.

use super::ends::between;
use super::keys::compare;
use super::search::{Hits, MAX_LIMIT, Search};
use super::span::{Span, compare_highs, compare_lows};
use crate::plan::passes::shared_query::{self, GroupMember};
use crate::plan::tree::Collection;
use crate::table::attribute::{Item, KeyValue};
use crate::table::call::{Page, Query, SortCondition};
use indexmap::IndexMap;
use std::cmp::Ordering;
use std::collections::HashSet;
use std::sync::Arc;

/// The most items that a shared Query reads for members that it may not reach.
const MOST_AT_RISK: u32 = 100;
/// The most Gets and searches that share a Query.
const MOST_SHARING: usize = 100;

/// What can share a Query.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Part {
    /// A Get, by its position among the wave's.
    Get(usize),
    /// A search, by its position among the wave's.
    Search(usize),
}

/// A Get or a search that may share a Query.
#[derive(Debug)]
pub struct Offer {
    /// What it is.
    pub part: Part,
    /// The partition key attribute and its value.
    pub partition: (String, KeyValue),
    /// The sort keys that it is about.
    pub span: Span,
    /// The condition on the sort key that a search makes by itself.
    pub condition: Option<SortCondition>,
    /// What the rule needs to know of it. Its ranks are not yet known.
    pub member: GroupMember,
    /// How many items a Query has to read for it.
    pub need: u32,
}

/// One of those that share a Query. Gets of one key are one.
#[derive(Debug)]
struct Sharing {
    parts: Vec<Part>,
    offer: Offer,
    /// Whether the Query may fail to reach it.
    at_risk: bool,
}

/// A Query that several Gets and searches share.
#[derive(Debug)]
pub struct Shared {
    /// In the order of reading.
    sharing: Vec<Sharing>,
    sort_attribute: Option<String>,
    /// The Query, but for what its members tell.
    call: Query,
    /// How many items of the schema may lie between the members.
    between: u32,
}

/// What one of those that share a Query found.
#[derive(Debug)]
pub enum Found {
    /// The Gets at these positions: their item.
    Item(Vec<usize>, Option<Arc<Item>>),
    /// The search at this position: all that the page holds of it.
    Hits(usize, Hits),
}

/// The Queries that offers of a collection's reads share. `call` is a Query of its table or index with its sort key attribute; `taken` are
/// the parts that share a Query already.
pub fn shared(
    collection: &Collection,
    (call, sort_attribute): (&Query, Option<&str>),
    offers: Vec<Offer>,
    taken: &mut HashSet<Part>,
) -> Vec<Shared> {
    let mut partitions: IndexMap<KeyValue, Vec<Option<Sharing>>> = IndexMap::new();
    for offer in offers.into_iter().filter(|offer| !taken.contains(&offer.part)) {
        let sharing = partitions.entry(offer.partition.1.clone()).or_default();
        match sharing.iter().position(|known| known.as_ref().is_some_and(|known| known.is_same(&offer))) {
            Some(known) => sharing[known].iter_mut().for_each(|known| known.add(&offer)),
            None if sharing.len() < MOST_SHARING => sharing.push(Some(Sharing { parts: vec![offer.part], offer, at_risk: false })),
            None => {}
        }
    }
    let mut all = Vec::new();
    for (_, mut sharing) in partitions {
        let members = members(&sharing);
        let between = |left: usize, right: usize| match (&sharing[left], &sharing[right]) {
            (Some(left), Some(right)) => left.offer.span.until(&right.offer.span, &collection.occupants),
            _ => None,
        };
        for group in shared_query::groups(&members, &between) {
            let of_group =
                group.members.iter().filter_map(|(member, at_risk)| Some(Sharing { at_risk: *at_risk, ..sharing[*member].take()? }));
            let of_group: Vec<Sharing> = of_group.collect();
            taken.extend(of_group.iter().flat_map(|one| &one.parts));
            let Some(partition) = of_group.first().map(|one| one.offer.partition.clone()) else { continue };
            let projection = Some(collection.projection.clone());
            let call = Query { partition: Some(partition), projection, forward: group.forward, ..call.clone() };
            all.push(Shared { sharing: of_group, sort_attribute: sort_attribute.map(str::to_owned), call, between: group.between });
        }
    }
    all
}

/// The offers of a partition as the rule wants them, with their ranks.
fn members(sharing: &[Option<Sharing>]) -> Vec<GroupMember> {
    let rank = |order: &dyn Fn(&Span, &Span) -> Ordering| {
        let mut sorted: Vec<&Span> = sharing.iter().flatten().map(|one| &one.offer.span).collect();
        sorted.sort_by(|left, right| order(left, right));
        sorted.dedup_by(|left, right| order(left, right).is_eq());
        let place = |span: &Span| sorted.binary_search_by(|known| order(known, span)).unwrap_or_default();
        sharing.iter().flatten().map(|one| place(&one.offer.span)).collect::<Vec<usize>>()
    };
    let lows = rank(&|left, right| compare_lows(&left.low, &right.low));
    let highs = rank(&|left, right| compare_highs(&left.high, &right.high));
    let ranked = sharing.iter().flatten().zip(lows.into_iter().zip(highs));
    ranked.map(|(one, (low, high))| GroupMember { low, high, ..one.offer.member.clone() }).collect()
}

impl Sharing {
    fn is_same(&self, offer: &Offer) -> bool {
        match (self.offer.part, offer.part) {
            (Part::Get(_), Part::Get(_)) => self.offer.span == offer.span,
            (known, part) => known == part,
        }
    }

    fn add(&mut self, offer: &Offer) {
        if !self.parts.contains(&offer.part) {
            self.parts.push(offer.part);
        }
        self.offer.member.may_wait &= offer.member.may_wait;
    }
}

impl Shared {
    /// What shares the Query.
    pub fn parts(&self) -> impl Iterator<Item = Part> {
        self.sharing.iter().flat_map(|one| one.parts.iter().copied())
    }

    /// Leaves the Gets that do not come first to the batch of the wave. False where nothing is left to share.
    pub fn leave_to_batch(&mut self) -> bool {
        let first_search = self.sharing.iter().position(|one| !one.offer.member.is_item).unwrap_or_default();
        let mut position = 0;
        self.sharing.retain(|one| {
            position += 1;
            position <= first_search || !one.offer.member.is_item
        });
        self.sharing.len() > 1 && self.sharing.iter().any(|one| !one.offer.member.is_item)
    }

    /// The Query: over all that its members are about, of as many items as they need.
    pub fn query(&self) -> Query {
        let spans = || self.sharing.iter().map(|one| &one.offer.span);
        let low = spans().map(|span| &span.low).min_by(|left, right| compare_lows(left, right)).cloned().flatten();
        let high = spans().map(|span| &span.high).max_by(|left, right| compare_highs(left, right)).cloned().flatten();
        let whole = Span { low, high };
        let own = self.sharing.iter().find(|one| one.offer.condition.is_some() && !one.offer.member.resumes && one.offer.span == whole);
        let condition = match own {
            Some(own) => own.offer.condition.clone(),
            None => between(whole.low, whole.high, &mut Vec::new()),
        };
        let need = |at_risk: bool| {
            let needs = self.sharing.iter().enumerate().filter(|(_, one)| one.at_risk == at_risk);
            needs.filter(|(position, _)| !self.is_read_along(*position)).map(|(_, one)| one.offer.need).fold(0, u32::saturating_add)
        };
        // The key of a cursor is read again, since BETWEEN takes it in.
        let cursors = self.sharing.iter().filter(|one| one.offer.member.resumes).count() as u32;
        let limit = need(false).saturating_add(need(true).min(MOST_AT_RISK)).saturating_add(self.between).saturating_add(cursors);
        let sort = self.sort_attribute.clone().zip(condition);
        Query { sort, limit: limit.clamp(1, MAX_LIMIT), ..self.call.clone() }
    }

    /// Whether what a member needs is read for another one in any case.
    fn is_read_along(&self, position: usize) -> bool {
        let member = &self.sharing[position].offer;
        self.sharing.iter().enumerate().any(|(other, one)| {
            let offer = &one.offer;
            let contains =
                compare_lows(&offer.span.low, &member.span.low).is_le() && compare_highs(&offer.span.high, &member.span.high).is_ge();
            let is_same = offer.span == member.span && offer.need == member.need;
            let begins_alike = if self.call.forward { offer.span.low == member.span.low } else { offer.span.high == member.span.high };
            let reads_it = offer.member.reaches == shared_query::Reaches::Always || begins_alike;
            other != position && contains && reads_it && offer.need >= member.need && (!is_same || other < position)
        })
    }

    /// What the page holds for each member that it reached. `search` gives a search by its position, and how many hits it needs.
    pub fn take<'s>(&self, page: &Page, search: &dyn Fn(usize) -> (&'s Search, Option<u32>)) -> Vec<Found> {
        let last = page.last_key.as_ref();
        let sort = |item: &Item| item.get(self.sort_attribute.as_ref()?).and_then(KeyValue::of);
        let mut found = Vec::new();
        for one in &self.sharing {
            match (one.offer.part, &one.offer.span.low) {
                (Part::Search(position), _) => {
                    let (search, needed) = search(position);
                    let hits = search.take(&page.items, (self.call.forward, last), needed);
                    found.extend(hits.map(|hits| Found::Hits(position, hits)));
                }
                (Part::Get(_), Some((key, _))) => {
                    let reached = last.is_none_or(|last| {
                        let order = sort(last).map_or(Ordering::Greater, |last| compare(key, &last));
                        order.is_eq() || (order == Ordering::Less) == self.call.forward
                    });
                    let gets = one.parts.iter().filter_map(|part| if let Part::Get(position) = part { Some(*position) } else { None });
                    let item = page.items.iter().find(|item| sort(item).is_some_and(|sort| compare(&sort, key).is_eq()));
                    found.extend(reached.then(|| Found::Item(gets.collect(), item.cloned())));
                }
                (Part::Get(_), None) => {}
            }
        }
        found
    }
}
