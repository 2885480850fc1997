//! The cost rule of collection reads. The ranges of one partition, as ranks, in; out: the groups that share a Query,
//! the order in which it reads, and the members that it may not reach. Must not know keys, values or calls.
//!
//! A shared Query reads one page in the order of the sort key. It certainly reaches what comes first, and anything else
//! only after everything before it. So a group grows member by member: each must closely follow the others, and nothing
//! may wait for a member that the Query may fail to reach. Such a member is then read by itself in the next wave, so a
//! group never makes more calls than its members would make by themselves.

use std::cmp::Reverse;

/// The smallest page that is assumed to reach the end of its range in most cases.
pub const LONG_PAGE: u32 = 10;

/// How likely a member's read is to reach the end of its range.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reaches {
    /// Unlikely: a small page, or the first item of many.
    Rarely,
    /// Likely: a page of [`LONG_PAGE`] or more, or a count.
    Mostly,
    /// Certain: a single item, or a list that is read whole.
    Always,
}

impl Reaches {
    /// How likely a page of a size is to reach the end.
    pub fn for_page(size: u32) -> Self {
        if size < LONG_PAGE { Self::Rarely } else { Self::Mostly }
    }
}

/// A read of the partition.
#[derive(Debug, Clone)]
pub struct GroupMember {
    /// The rank of its range's lower end among the lower ends of all members, ascending; equal ends have equal ranks.
    pub low: usize,
    /// The rank of its upper end among the upper ends.
    pub high: usize,
    /// Whether it reads its range in ascending order; `None` for a Get.
    pub forward: Option<bool>,
    /// Whether it wants all of its range, so that the order does not matter.
    pub wants_all: bool,
    /// How likely it is to reach the other end of its range.
    pub reaches: Reaches,
    /// Whether it may be read a wave later.
    pub may_wait: bool,
    /// Whether its range begins behind a cursor.
    pub resumes: bool,
    /// Whether it is a Get.
    pub is_item: bool,
}

impl GroupMember {
    /// A Get. A range says what is different.
    pub fn item(may_wait: bool) -> Self {
        Self {
            low: 0,
            high: 0,
            forward: None,
            wants_all: false,
            reaches: Reaches::Always,
            may_wait,
            resumes: false,
            is_item: true,
        }
    }

    fn contains(&self, other: &Self) -> bool {
        self.low <= other.low && self.high >= other.high
    }

    /// Whether the order of reading serves it.
    fn suits(&self, forward: bool) -> bool {
        self.wants_all || self.forward.is_none_or(|own| own == forward)
    }

    /// Where it starts and ends in the order of reading; smaller comes first.
    fn place(&self, forward: bool) -> (isize, isize) {
        let (low, high) = (self.low.cast_signed(), self.high.cast_signed());
        if forward { (low, high) } else { (-high, -low) }
    }
}

/// Reads that share a Query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueryGroup {
    /// The members' positions in the order of reading, each with whether the Query may fail to reach it.
    pub members: Vec<(usize, bool)>,
    /// Whether the Query reads in ascending order.
    pub forward: bool,
    /// How many other items may lie between the members.
    pub between: u32,
}

/// Groups the reads of a partition. `between` says how many items may lie between a member and a later one in ascending
/// order, `None` if there may be many. Members in no group are read by themselves. Those that the better order leaves
/// may share Queries in the other one.
pub fn groups(members: &[GroupMember], between: &dyn Fn(usize, usize) -> Option<u32>) -> Vec<QueryGroup> {
    let mut groups = in_better_order(members, between);
    let Some(forward) = groups.first().map(|group| group.forward) else { return groups };
    let taken = |member: &usize| groups.iter().any(|group| group.members.iter().any(|(other, _)| other == member));
    let left: Vec<usize> = (0..members.len()).filter(|member| !taken(member)).collect();
    groups.extend(in_order(members, left, !forward, between));
    groups
}

fn in_better_order(members: &[GroupMember], between: &dyn Fn(usize, usize) -> Option<u32>) -> Vec<QueryGroup> {
    let of = |forward: bool| in_order(members, (0..members.len()).collect(), forward, between);
    let (ascending, descending) = (of(true), of(false));
    let cost = |groups: &[QueryGroup]| {
        let shared: usize = groups.iter().map(|group| group.members.len()).sum();
        let at_risk = groups.iter().flat_map(|group| &group.members).filter(|(_, at_risk)| *at_risk);
        // A Get at risk falls back on a batch, which often needs no call of its own.
        let risk: usize = at_risk.map(|(member, _)| if members[*member].is_item { 1 } else { 2 }).sum();
        // A member that is read in the other order cannot continue where the page ends.
        let reversed =
            groups.iter().flat_map(|group| group.members.iter().map(|(member, _)| (&members[*member], group.forward)));
        let reversed = reversed.filter(|(member, forward)| member.forward.is_some_and(|own| own != *forward)).count();
        (groups.len() + members.len() - shared, risk, reversed)
    };
    if cost(&descending) < cost(&ascending) { descending } else { ascending }
}

/// A group while it is being built.
struct Growing {
    group: QueryGroup,
    /// For each member, how likely the Query is to reach the start of its range.
    begun: Vec<Reaches>,
    /// The member that reaches farthest.
    last: usize,
    /// How likely the Query is to reach the end of the group.
    reaches: Reaches,
}

fn in_order(
    members: &[GroupMember],
    mut order: Vec<usize>,
    forward: bool,
    between: &dyn Fn(usize, usize) -> Option<u32>,
) -> Vec<QueryGroup> {
    // What holds others comes before them.
    let key = |member: &GroupMember| (member.place(forward).0, Reverse(member.reaches), member.is_item);
    order.sort_by_key(|member| (key(&members[*member]), *member));
    let mut groups: Vec<QueryGroup> = Vec::new();
    let mut growing: Option<Growing> = None;
    for position in order {
        let joined = growing.as_mut().is_some_and(|growing| growing.take(members, position, between));
        if !joined && let Some(new) = Growing::begin(members, position, forward) {
            groups.extend(growing.replace(new).map(|grown| grown.group));
        }
    }
    groups.extend(growing.map(|grown| grown.group));
    groups.retain(|group| group.members.len() > 1 && group.members.iter().any(|(member, _)| !members[*member].is_item));
    groups
}

impl Growing {
    /// Starts a group with a member; `None` if the Query may fail to serve it. One member must be served for certain:
    /// otherwise the Query may serve none, and costs one call more than separate reads.
    fn begin(members: &[GroupMember], position: usize, forward: bool) -> Option<Self> {
        let member = &members[position];
        let fits = member.suits(forward) || member.reaches == Reaches::Always;
        let group = QueryGroup { members: vec![(position, false)], forward, between: 0 };
        fits.then_some(Self { group, begun: vec![Reaches::Always], last: position, reaches: member.reaches })
    }

    /// Adds a member if the Query can serve it too.
    fn take(
        &mut self,
        members: &[GroupMember],
        position: usize,
        between: &dyn Fn(usize, usize) -> Option<u32>,
    ) -> bool {
        let member = &members[position];
        let forward = self.group.forward;
        let (start, end) = member.place(forward);
        let known = || self.group.members.iter().map(|(other, _)| &members[*other]);
        let beside = known().position(|other| other.place(forward).0 == start);
        let around = known().filter(|other| other.contains(member)).map(|other| other.reaches).max();
        let complete = around.map_or(member.reaches, |reaches| reaches.max(member.reaches));
        let suits = member.suits(forward);
        // A page that continues from a cursor may be far from the start of its range.
        if suits && member.resumes && beside != Some(0) {
            return false;
        }
        let begun = beside.and_then(|beside| self.begun.get(beside)).map_or(self.reaches, |begun| *begun);
        let served = if suits { begun } else { begun.min(complete) };
        let at_risk = served < Reaches::Always;
        if at_risk && (served == Reaches::Rarely || !member.may_wait) {
            return false;
        }
        let (left, right) = if forward { (self.last, position) } else { (position, self.last) };
        let Some(items) = between(left, right) else { return false };
        self.group.members.push((position, at_risk));
        self.begun.push(begun);
        self.group.between = self.group.between.saturating_add(items);
        if end > members[self.last].place(forward).1 {
            self.last = position;
            self.reaches = if beside == Some(0) { complete } else { self.reaches.min(complete) };
        }
        true
    }
}
