//! Collection reads: the offers of a wave in, the Queries that they share out, and what each of them finds in the page
//! of such a Query. Must not know how the plan found which reads go together.
//!
//! [`crate::plan::passes::shared_query`] holds the rule. A shared Query reads one page. A query that begins in the page
//! continues from its end. A later call reads each item that the page does not reach.

use crate::execute::key::bounds::between;
use crate::execute::key::span::{KeySpan, compare_highs, compare_lows};
use crate::execute::key::values::compare_stored;
use crate::execute::read::range_query::{MAX_LIMIT, RangePart, RangeQuery};
use crate::plan::passes::shared_query::{self, GroupMember};
use crate::plan::tree::{Collection, Read};
use crate::schema::model::Model;
use crate::table::data::attribute::{AttributeName, AttributeNames, Item, KeyValue};
use crate::table::data::call::{Get, Page, Query, SortCondition};
use foldhash::quality::RandomState;
use indexmap::IndexMap;
use std::cmp::Ordering;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

/// The most items that a shared Query reads for members that it may fail to reach.
const MAX_AT_RISK: u32 = 100;
/// The most Gets and queries that share a Query.
const MAX_SHARING: usize = 100;

/// What can share a Query.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SharedPart {
    /// A Get, by its position among the wave's.
    Get(usize),
    /// A range of a query, by the query's position among the wave's and its own in the query.
    Range(usize, usize),
}

impl SharedPart {
    /// The query's position among the wave's, if it is a range.
    pub fn query(self) -> Option<usize> {
        if let Self::Range(query, _) = self { Some(query) } else { None }
    }
}

/// A Get or a query that may share a Query.
#[derive(Debug)]
pub struct Offer {
    /// The Get or the query.
    pub part: SharedPart,
    /// The partition key attribute and its value.
    pub partition: (String, KeyValue),
    /// The other attributes of an index's key that have one value each in what it reads.
    pub equal: Vec<(String, KeyValue)>,
    /// The sort keys that it reads.
    pub span: KeySpan,
    /// The sort key condition of a query that is made by itself.
    pub condition: Option<SortCondition>,
    /// What the rule needs to know about it, apart from its ranks.
    pub member: GroupMember,
    /// How many items a Query must read for it.
    pub need: u32,
    /// Of a query: how many ranges it has. They share Queries all, or none does.
    pub ranges: usize,
    /// How a Query must read for it.
    pub form: QueryForm,
}

/// What a Query asks for, and how its answer may be kept.
#[derive(Debug, Clone)]
pub struct QueryForm {
    /// The attributes, sorted.
    pub projection: AttributeNames,
    /// The greatest age in seconds of what the cache may answer; `None` if it may not.
    pub max_age: Option<u32>,
    /// Whether the items are remembered for later reads.
    pub keeps: bool,
}

impl QueryForm {
    /// Makes it serve another read, too: it asks for what both ask for, and is as fresh as both must be.
    fn unite(&mut self, other: &Self) {
        let has_all =
            |one: &AttributeNames, other: &AttributeNames| other.iter().all(|name| one.binary_search(name).is_ok());
        if !has_all(&self.projection, &other.projection) {
            let all: BTreeSet<&AttributeName> = self.projection.iter().chain(other.projection.iter()).collect();
            self.projection = all.into_iter().cloned().collect();
        }
        self.max_age = self.max_age.zip(other.max_age).map(|(own, other)| own.min(other));
        self.keeps |= other.keeps;
    }
}

/// What the reads of a collection may share a Query for.
pub struct CollectionOffers<'p> {
    /// The collection.
    pub collection: &'p Collection,
    /// One of its reads. All of them read the same table or index in the same way.
    pub read: &'p Read,
    /// The offers, at least two.
    pub offers: Vec<Offer>,
}

/// A member of a shared Query. Gets of one key are one member.
#[derive(Debug)]
struct SharedMember {
    parts: Vec<SharedPart>,
    offer: Offer,
    /// Whether the Query may fail to reach it.
    at_risk: bool,
}

/// A Query that several Gets and queries share.
#[derive(Debug)]
pub struct SharedQuery {
    /// The members, in the order in which the Query reaches them.
    sharing: Vec<SharedMember>,
    sort_attribute: Option<String>,
    /// The Query, without the parts that its members determine.
    call: Query,
    /// How many items that the schema knows may lie between the members.
    between: u32,
}

/// What a member found in the page.
#[derive(Debug)]
pub enum SharedPartResult {
    /// The item of the Gets at these positions.
    Item(Vec<usize>, Option<Arc<Item>>),
    /// What the page has of a query's range.
    Range(usize, usize, RangePart),
}

/// The Queries that the reads of a wave share. `gets` are the Gets that need a call, with their positions.
pub fn shared_queries<'g>(
    model: &Model,
    of_collections: Vec<CollectionOffers<'_>>,
    gets: impl Iterator<Item = (usize, &'g Get)>,
) -> Vec<SharedQuery> {
    let mut taken: HashSet<SharedPart, RandomState> = HashSet::default();
    let mut shared: Vec<SharedQuery> = Vec::new();
    for CollectionOffers { collection, read, offers } in of_collections {
        let table = &model.tables[read.table];
        let call = Query {
            table: table.name.as_str().into(),
            index: read.index.map(|index| table.indexes[index].name.as_str().into()),
            partition: None,
            equal: Vec::new(),
            sort: None,
            filter: None,
            projection: None,
            forward: true,
            limit: 0,
            start: None,
            consistent: read.consistent,
            max_age: None,
        };
        let sort = read.action.key().and_then(|key| key.sort_attribute.as_ref()).map(|key| key.name.as_str());
        shared.extend(share_collection(collection, (&call, sort), offers, &mut taken));
    }
    if shared.is_empty() {
        return shared;
    }
    let left: Vec<(usize, &Get)> = gets.filter(|(get, _)| !taken.contains(&SharedPart::Get(*get))).collect();
    // If the wave makes a batch of Gets anyway, another key in it costs no call and delays nothing.
    if !left.is_empty() && has_rest(&mut shared, left) {
        shared.iter_mut().for_each(SharedQuery::leave_to_batch);
    }
    without_halves(shared)
}

/// Whether Gets are left that no shared Query reads. An operation may ask for an item under several names, and a Query
/// that reads it for one of them serves the others, too.
fn has_rest(shared: &mut [SharedQuery], gets: Vec<(usize, &Get)>) -> bool {
    let mut partitions: HashMap<KeyValue, Vec<usize>, RandomState> = HashMap::default();
    for (position, one) in shared.iter().enumerate().filter(|(_, one)| one.call.index.is_none()) {
        let value = one.call.partition.iter().map(|(_, value)| value.clone());
        value.for_each(|value| partitions.entry(value).or_default().push(position));
    }
    let mut has_rest = false;
    for (position, get) in gets {
        let beside = partitions.get(&get.key.partition.1).map_or(&[][..], Vec::as_slice);
        has_rest |= !beside.iter().any(|one| shared[*one].takes_in(position, get));
    }
    has_rest
}

/// Of queries with several ranges, those of which a range shares a Query, with all of their ranges.
fn without_halves(mut all: Vec<SharedQuery>) -> Vec<SharedQuery> {
    loop {
        let mut found: HashMap<usize, (usize, bool), RandomState> = HashMap::default();
        for one in &all {
            for query in one.parts().filter_map(SharedPart::query) {
                let (ranges, is_shared) = found.entry(query).or_default();
                (*ranges, *is_shared) = (*ranges + 1, *is_shared || one.is_shared());
            }
        }
        let is_whole = |one: &SharedMember| {
            one.parts
                .iter()
                .filter_map(|part| part.query())
                .all(|query| found.get(&query) == Some(&(one.offer.ranges, true)))
        };
        if all.iter().all(|one| one.holds_range() && one.sharing.iter().all(is_whole)) {
            return all;
        }
        all.iter_mut().for_each(|one| one.sharing.retain(is_whole));
        all.retain(SharedQuery::holds_range);
    }
}

/// What all members of a shared Query have in common: the value of the partition key, and the other attributes that
/// have one value each.
type SharedPartition = (KeyValue, Vec<(String, KeyValue)>);

/// Groups the offers of a collection's reads into shared Queries. `call` is a Query of their table or index, with the
/// sort key attribute. `taken` holds the Gets and queries that share a Query already.
fn share_collection(
    collection: &Collection,
    (call, sort_attribute): (&Query, Option<&str>),
    offers: Vec<Offer>,
    taken: &mut HashSet<SharedPart, RandomState>,
) -> Vec<SharedQuery> {
    let mut partitions: IndexMap<SharedPartition, Vec<Option<SharedMember>>, RandomState> = IndexMap::default();
    for offer in offers.into_iter().filter(|offer| !taken.contains(&offer.part)) {
        let sharing = partitions.entry((offer.partition.1.clone(), offer.equal.clone())).or_default();
        match sharing.iter().position(|known| known.as_ref().is_some_and(|known| known.is_same(&offer))) {
            Some(known) => sharing[known].iter_mut().for_each(|known| known.add(&offer)),
            None if sharing.len() < MAX_SHARING => {
                sharing.push(Some(SharedMember { parts: vec![offer.part], offer, at_risk: false }))
            }
            None => {}
        }
    }
    let mut all = Vec::new();
    let shares = |of_group: Vec<SharedMember>, equal: &[(String, KeyValue)], (forward, between): (bool, u32)| {
        let (partition, equal) = (Some(of_group.first()?.offer.partition.clone()), equal.to_vec());
        let call = Query { partition, equal, forward, ..call.clone() };
        let sort_attribute = sort_attribute.map(str::to_owned);
        Some(SharedQuery { sharing: of_group, sort_attribute, call, between })
    };
    for ((_, equal), mut sharing) in partitions {
        let members = members(&sharing);
        let between = |left: usize, right: usize| match (&sharing[left], &sharing[right]) {
            (Some(left), Some(right)) => left.offer.span.until(&right.offer.span, &collection.occupants),
            _ => None,
        };
        // A single read has nothing to share.
        let groups = if members.len() > 1 { shared_query::groups(&members, &between) } else { Vec::new() };
        for group in groups {
            let of_group = group
                .members
                .iter()
                .filter_map(|(member, at_risk)| Some(SharedMember { at_risk: *at_risk, ..sharing[*member].take()? }));
            let of_group: Vec<SharedMember> = of_group.collect();
            taken.extend(of_group.iter().flat_map(|one| &one.parts));
            all.extend(shares(of_group, &equal, (group.forward, group.between)));
        }
        // If another range of its query shares one.
        for one in sharing.into_iter().flatten().filter(|one| one.offer.ranges > 1) {
            let forward = one.offer.member.forward.unwrap_or(true);
            all.extend(shares(vec![one], &equal, (forward, 0)));
        }
    }
    all
}

/// The members of a partition with their ranks, as the rule takes them.
fn members(sharing: &[Option<SharedMember>]) -> Vec<GroupMember> {
    let rank = |order: &dyn Fn(&KeySpan, &KeySpan) -> Ordering| {
        let mut sorted: Vec<&KeySpan> = sharing.iter().flatten().map(|one| &one.offer.span).collect();
        sorted.sort_by(|left, right| order(left, right));
        sorted.dedup_by(|left, right| order(left, right).is_eq());
        let place = |span: &KeySpan| sorted.binary_search_by(|known| order(known, span)).unwrap_or_default();
        sharing.iter().flatten().map(|one| place(&one.offer.span)).collect::<Vec<usize>>()
    };
    let lows = rank(&|left, right| compare_lows(&left.low, &right.low));
    let highs = rank(&|left, right| compare_highs(&left.high, &right.high));
    let ranked = sharing.iter().flatten().zip(lows.into_iter().zip(highs));
    ranked.map(|(one, (low, high))| GroupMember { low, high, ..one.offer.member.clone() }).collect()
}

impl SharedMember {
    fn is_same(&self, offer: &Offer) -> bool {
        match (self.offer.part, offer.part) {
            (SharedPart::Get(_), SharedPart::Get(_)) => self.offer.span == offer.span,
            (known, part) => known == part,
        }
    }

    fn add(&mut self, offer: &Offer) {
        if !self.parts.contains(&offer.part) {
            self.parts.push(offer.part);
        }
        self.offer.member.may_wait &= offer.member.may_wait;
        self.offer.form.unite(&offer.form);
    }
}

impl SharedQuery {
    /// The Gets and queries that share the Query.
    pub fn parts(&self) -> impl Iterator<Item = SharedPart> {
        self.sharing.iter().flat_map(|one| one.parts.iter().copied())
    }

    /// Whether it surely reads the key of a Get of its partition for another Get. Then it serves this one, too.
    fn takes_in(&mut self, position: usize, get: &Get) -> bool {
        let is_beside = (&self.call.table, self.call.consistent) == (&get.table, get.consistent);
        let span = get.key.sort.as_ref().map_or_else(KeySpan::everything, |(_, sort)| KeySpan::single(sort));
        let mut items = self.sharing.iter_mut().filter(|one| is_beside && one.offer.member.is_item && !one.at_risk);
        let Some(known) = items.find(|one| one.offer.span == span) else { return false };
        known.parts.push(SharedPart::Get(position));
        known.offer.form.unite(&QueryForm { projection: get.projection.clone(), max_age: get.max_age, keeps: false });
        true
    }

    /// How the Query must read for all members.
    fn form(&self) -> Option<QueryForm> {
        let mut forms = self.sharing.iter().map(|one| &one.offer.form);
        let mut form = forms.next()?.clone();
        forms.for_each(|other| form.unite(other));
        Some(form)
    }

    /// Whether its items are remembered for later reads.
    pub fn keeps(&self) -> bool {
        self.sharing.iter().any(|one| one.offer.form.keeps)
    }

    /// Leaves the Gets that it may fail to reach to the batch of the wave.
    fn leave_to_batch(&mut self) {
        self.sharing.retain(|one| !(one.at_risk && one.offer.member.is_item));
    }

    /// Whether several share it.
    fn is_shared(&self) -> bool {
        self.sharing.len() > 1 && self.holds_range()
    }

    /// Whether it serves a query.
    fn holds_range(&self) -> bool {
        self.sharing.iter().any(|one| !one.offer.member.is_item)
    }

    /// The Query over the keys of all members, with a limit that covers what they need.
    pub fn query(&self) -> Query {
        let spans = || self.sharing.iter().map(|one| &one.offer.span);
        let low = spans().map(|span| &span.low).min_by(|left, right| compare_lows(left, right)).cloned().flatten();
        let high = spans().map(|span| &span.high).max_by(|left, right| compare_highs(left, right)).cloned().flatten();
        let whole = KeySpan { low, high };
        let own = self
            .sharing
            .iter()
            .find(|one| one.offer.condition.is_some() && !one.offer.member.resumes && one.offer.span == whole);
        let condition = match own {
            Some(own) => own.offer.condition.clone(),
            None => between(whole.low, whole.high, &mut Vec::new()),
        };
        let need = |at_risk: bool| {
            let needs = self.sharing.iter().enumerate().filter(|(_, one)| one.at_risk == at_risk);
            needs
                .filter(|(position, _)| !self.is_read_along(*position))
                .map(|(_, one)| one.offer.need)
                .fold(0, u32::saturating_add)
        };
        // BETWEEN includes its bounds, so the item of a cursor is read again.
        let cursors = self.sharing.iter().filter(|one| one.offer.member.resumes).count() as u32;
        let limit = need(false)
            .saturating_add(need(true).min(MAX_AT_RISK))
            .saturating_add(self.between)
            .saturating_add(cursors);
        let sort = self.sort_attribute.clone().zip(condition);
        let (projection, max_age) = self.form().map(|form| (form.projection, form.max_age)).unzip();
        let limit = limit.clamp(1, MAX_LIMIT);
        Query { sort, limit, projection, max_age: max_age.flatten(), ..self.call.clone() }
    }

    /// Whether another member reads the items of this one in any case.
    fn is_read_along(&self, position: usize) -> bool {
        let member = &self.sharing[position].offer;
        self.sharing.iter().enumerate().any(|(other, one)| {
            let offer = &one.offer;
            let contains = compare_lows(&offer.span.low, &member.span.low).is_le()
                && compare_highs(&offer.span.high, &member.span.high).is_ge();
            let is_same = offer.span == member.span && offer.need == member.need;
            let has_same_start =
                if self.call.forward { offer.span.low == member.span.low } else { offer.span.high == member.span.high };
            let reads_it = offer.member.reaches == shared_query::Reaches::Always || has_same_start;
            other != position && contains && reads_it && offer.need >= member.need && (!is_same || other < position)
        })
    }

    /// What the page holds for each member that it reached. `query` gives a query by its position.
    pub fn take<'s>(&self, page: &Page, query: &dyn Fn(usize) -> &'s RangeQuery) -> Vec<SharedPartResult> {
        let last = page.last_key.as_ref();
        let order = |item: &Item, key: &KeyValue| compare_stored(item.get(self.sort_attribute.as_ref()?)?, key);
        let mut found = Vec::new();
        for one in &self.sharing {
            match (one.offer.part, &one.offer.span.low) {
                (SharedPart::Range(position, range), _) => {
                    let part = query(position).take(range, &page.items, (self.call.forward, last));
                    found.extend(part.map(|part| SharedPartResult::Range(position, range, part)));
                }
                (SharedPart::Get(_), low) => {
                    let key = low.as_ref().map(|(key, _)| key);
                    let is_own =
                        |item: &&Arc<Item>| key.is_none_or(|key| order(item, key).is_some_and(Ordering::is_eq));
                    let item = page.items.iter().find(is_own);
                    let passes = |last: &Item| {
                        let order = key.map(|key| order(last, key).unwrap_or(Ordering::Less));
                        order.is_some_and(|order| order.is_eq() || (order == Ordering::Greater) == self.call.forward)
                    };
                    let gets = one
                        .parts
                        .iter()
                        .filter_map(|part| if let SharedPart::Get(position) = part { Some(*position) } else { None });
                    if item.is_some() || last.is_none_or(passes) {
                        found.push(SharedPartResult::Item(gets.collect(), item.cloned()));
                    }
                }
            }
        }
        found
    }
}
