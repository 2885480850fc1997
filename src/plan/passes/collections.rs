//! Reads in; out: the groups of reads that one Query can make together, and where the schema's other items are in their
//! partition. The reads of a group are of one wave, for the same rows, in one partition of a table or an index. Must
//! not know values: the rule of [`super::shared_query`] is applied again when the plan runs and the ranges are known.

use super::draft::DraftRead;
use super::same_key::{MAX_COMPARED, Provenance, classes, same_beginning, same_key, same_partition};
use super::shared_query::{self, GroupMember, Reaches};
use super::waves::ReadTime;
use crate::plan::tree::*;
use crate::schema::model::find::{Access, SortAccess};
use crate::schema::model::page::PageForm;
use crate::schema::model::{Model, TypeKind};
use crate::schema::table::KeyType;
use crate::schema::template::Template;
use crate::schema::template::part::Part;
use indexmap::IndexMap;

/// The most reads of one group.
const MAX_READS: usize = 100;

/// Reads that one Query can make together.
pub struct ReadGroup {
    /// The reads.
    pub reads: Vec<ReadId>,
    /// Where the schema's items are in the partition.
    pub occupants: Vec<Occupant>,
}

/// The groups of reads that share a Query.
pub fn groups(model: &Model, reads: &[DraftRead<'_>], times: &[ReadTime], arguments: &[Arguments]) -> Vec<ReadGroup> {
    let twins = twins(reads, arguments);
    let from = Provenance { arguments, alike: &twins };
    let mut places: IndexMap<_, Vec<Vec<ReadId>>> = IndexMap::new();
    for (id, (read, time)) in reads.iter().zip(times).enumerate() {
        let Some(key) = shared_key(read) else { continue };
        // Reads of the same rows, table or index, wave and consistency.
        let partitions = places.entry((read.space, read.table, read.index, time.wave, read.consistent)).or_default();
        let is_same = |others: &&mut Vec<ReadId>| {
            let first = others.first().and_then(|first| shared_key(&reads[*first]));
            others.len() < MAX_READS && first.is_some_and(|other| same_partition(other, key, from))
        };
        match partitions.iter_mut().find(is_same) {
            Some(others) => others.push(id),
            None => partitions.push(vec![id]),
        }
    }
    let shared = places.values().flatten().filter(|ids| ids.len() > 1);
    shared.flat_map(|ids| partition_collections(model, (reads, times), ids, from)).collect()
}

/// The reads that find one item, class by class: what is below them has the same keys. An operation may ask for one
/// item under several names.
fn twins(reads: &[DraftRead<'_>], arguments: &[Arguments]) -> Vec<Vec<ReadId>> {
    if reads.len() > MAX_COMPARED {
        return Vec::new();
    }
    let place = |read: &DraftRead<'_>| (read.space, read.table, read.index, read.consistent);
    let are_twins = |first: &DraftRead<'_>, other: &DraftRead<'_>, from: Provenance<'_>| {
        let keys = item_key(first).zip(item_key(other));
        place(first) == place(other)
            && first.item == other.item
            && keys.is_some_and(|((one, way), (other, of_other))| way == of_other && same_key(one, other, from))
    };
    let of_items = (0..reads.len()).filter(|id| item_key(&reads[*id]).is_some());
    let mut twins = classes(of_items, arguments, |class, id, from| are_twins(&reads[class[0]], &reads[id], from));
    twins.retain(|class| class.len() > 1);
    twins
}

/// The key of a read of one item, and the order in which a Query finds it; `None` if values beside the key choose it.
fn item_key<'r>(read: &'r DraftRead<'_>) -> Option<(&'r KeyBinding, Option<bool>)> {
    match &read.action {
        ReadAction::Get(get) if read.is_single() => Some((&get.key, None)),
        ReadAction::Query(query) if query.want == Want::First && query.filter.is_none() && query.range.is_none() => {
            Some((&query.key, Some(query.descending)))
        }
        _ => None,
    }
}

/// The key of a read that may share a Query. A read with a filter may not: the filter would drop the items of the
/// others. Nor may a page whose items are looked up: of what others read, it would look up more than it wants.
fn shared_key<'r>(read: &'r DraftRead<'_>) -> Option<&'r KeyBinding> {
    match &read.action {
        ReadAction::Get(get) => Some(&get.key),
        ReadAction::Query(query) if query.filter.is_none() && query.key.partition.is_some() => {
            let wants_all = matches!(query.want, Want::Whole { .. } | Want::Count { .. });
            (wants_all || read.discriminator.lookups() == 0).then_some(&query.key)
        }
        _ => None,
    }
}

/// Groups the reads of one partition by the literals of their templates.
fn partition_collections(
    model: &Model,
    (reads, times): (&[DraftRead<'_>], &[ReadTime]),
    ids: &[ReadId],
    from: Provenance<'_>,
) -> Vec<ReadGroup> {
    let occupants = occupants(model, &reads[ids[0]]);
    let known: Vec<(Extent, GroupMember)> =
        ids.iter().map(|id| member(&reads[*id], times[*id].may_wait, &occupants, from.arguments)).collect();
    let (extents, mut members): (Vec<Extent>, Vec<GroupMember>) = known.into_iter().unzip();
    let rank = |texts: Vec<String>| {
        let mut sorted = texts.clone();
        sorted.sort();
        sorted.dedup();
        texts.into_iter().map(move |text| sorted.binary_search(&text).unwrap_or_default()).collect::<Vec<_>>()
    };
    let lows = rank(extents.iter().map(|extent| extent.start.clone()).collect());
    let highs = rank(extents.iter().map(Extent::end).collect());
    for (member, (low, high)) in members.iter_mut().zip(lows.into_iter().zip(highs)) {
        (member.low, member.high) = (low, high);
    }
    let between = |left: usize, right: usize| between(&extents, (left, right), &occupants);
    let mut sharing: Vec<Vec<usize>> = shared_query::groups(&members, &between).iter().map(positions).collect();
    // Two reads may share a Query although others of the partition do not. What the values decide, the run decides.
    let pairs = (0..ids.len()).flat_map(|other| (0..other).map(move |one| [one, other]));
    sharing.extend(
        pairs
            .filter(|pair| {
                let of_pair = pair.map(|member| members[member].clone());
                let keys = pair.map(|member| (&members[member], &reads[ids[member]]));
                !shared_query::groups(&of_pair, &|left, right| between(pair[left], pair[right])).is_empty()
                    || surely_holds(keys, from)
                    || surely_holds([keys[1], keys[0]], from)
            })
            .map(Vec::from),
    );
    let group = |mut members: Vec<usize>| {
        members.sort_unstable();
        ReadGroup { reads: members.into_iter().map(|member| ids[member]).collect(), occupants: occupants.clone() }
    };
    connected(sharing).into_iter().map(group).collect()
}

fn positions(group: &shared_query::QueryGroup) -> Vec<usize> {
    group.members.iter().map(|(member, _)| *member).collect()
}

/// The groups that follow if all groups with a common member are one.
fn connected(groups: Vec<Vec<usize>>) -> Vec<Vec<usize>> {
    let mut all: Vec<Vec<usize>> = Vec::new();
    for mut group in groups {
        let is_beside = |other: &mut Vec<usize>| other.iter().any(|member| group.contains(member));
        let joined: Vec<usize> = all.extract_if(.., is_beside).flatten().collect();
        group.extend(joined);
        group.sort_unstable();
        group.dedup();
        all.push(group);
    }
    all
}

/// Whether the key of a Get surely lies in the range of a Query, which surely or mostly reaches it.
fn surely_holds([outer, inner]: [(&GroupMember, &DraftRead<'_>); 2], from: Provenance<'_>) -> bool {
    let ((outer, range), (inner, get)) = (outer, inner);
    let (ReadAction::Query(query), ReadAction::Get(get)) = (&range.action, &get.action) else { return false };
    let parts = match (&query.access, &query.key.sort) {
        (Access::Query { sort: SortAccess::Prefix { parts, .. }, .. }, _) => *parts,
        (Access::Query { sort: SortAccess::Equal { .. }, .. }, Some(sort)) => sort.parts.len(),
        _ => return false,
    };
    let is_reached = outer.reaches == Reaches::Always || outer.reaches == Reaches::Mostly && inner.may_wait;
    let is_plain = query.key.prefix_alternatives.is_empty() && !outer.resumes;
    is_reached && is_plain && same_beginning((&query.key, parts), &get.key, from)
}

/// Where the schema's items are in the partition of a read, by sort key.
fn occupants(model: &Model, read: &DraftRead<'_>) -> Vec<Occupant> {
    let Some(key) = shared_key(read) else { return Vec::new() };
    let (Some(partition), Some(sort_key)) = (&key.partition, &key.sort_attribute) else { return Vec::new() };
    let mut occupants = Vec::new();
    for keys in
        model.types.values().filter_map(|ty| if let TypeKind::Item(keys) = &ty.kind { Some(keys) } else { None })
    {
        let of = |attribute: &str| keys.keys.get(attribute).map_or(&[][..], Vec::as_slice);
        let partitions: Vec<&Template> =
            of(&key.partition_attribute.name).iter().filter(|ours| ours.overlaps(partition)).collect();
        let is_beside = |bound: &WholeKey| of(&bound.attribute.name).iter().any(|ours| ours.overlaps(&bound.template));
        if keys.table != read.table || partitions.is_empty() || !key.equal.iter().all(is_beside) {
            continue;
        }
        for template in of(&sort_key.name) {
            // If the partition key has all fields of the sort key, there is one such item in a table. Keys of an index
            // need not be unique.
            let is_bound =
                |partition: &&Template| template.fields().iter().all(|field| partition.fields().contains(field));
            let is_single = read.index.is_none() && partitions.iter().all(is_bound);
            let start = if sort_key.kind == KeyType::S { literal(template).unwrap_or_default() } else { "" };
            let is_all = sort_key.kind == KeyType::S && matches!(template.parts.as_slice(), [Part::Literal(_)]);
            occupants.push(Occupant { start: start.to_owned(), is_all, is_single });
        }
    }
    occupants
}

/// A range as far as the literals of its template describe it.
struct Extent {
    /// The prefix of all its keys.
    start: String,
    /// Whether it is one key that equals the prefix.
    is_all: bool,
    /// Whether it is the key of one item.
    is_item: bool,
    /// Whether it starts at the lowest key with the prefix.
    low: bool,
    /// Whether it ends at the highest key with the prefix.
    high: bool,
}

impl Extent {
    fn end(&self) -> String {
        if self.is_all { self.start.clone() } else { format!("{}{}", self.start, char::MAX) }
    }
}

/// A read as a member of its partition. Where variables decide, the case that allows sharing is assumed.
fn member(
    read: &DraftRead<'_>,
    may_wait: bool,
    occupants: &[Occupant],
    arguments: &[Arguments],
) -> (Extent, GroupMember) {
    let mut member = GroupMember::item(may_wait);
    let ReadAction::Query(query) = &read.action else {
        return (whole_key(shared_key(read).and_then(|key| key.sort.as_ref())), member);
    };
    let mut extent = extent(query);
    let of_range =
        |occupant: &&Occupant| occupant.start.starts_with(&extent.start) || extent.start.starts_with(&occupant.start);
    member.is_item = false;
    member.forward = Some(!query.descending);
    let is_small = occupants.iter().filter(of_range).all(|occupant| occupant.is_single);
    match query.want {
        Want::Whole { .. } => member.wants_all = true,
        Want::Count { .. } => {
            member.wants_all = true;
            member.reaches = Reaches::Mostly;
        }
        Want::First => member.reaches = Reaches::Rarely,
        Want::Page { arguments: of, sizes, .. } => {
            let page = PageGiven::new(&arguments[of], sizes.form);
            member.forward = page.backward.map(|backward| query.descending == backward);
            // A variable decides the direction.
            member.wants_all = page.backward.is_none();
            member.reaches = page.size.map_or(Reaches::Mostly, Reaches::for_page);
            member.resumes = page.resumes;
        }
    }
    if is_small {
        member.reaches = Reaches::Always;
    }
    match member.forward.filter(|_| member.resumes) {
        Some(true) => extent.low = false,
        Some(false) => extent.high = false,
        None => {}
    }
    (extent, member)
}

/// What the document says about a page.
struct PageGiven {
    /// `None` if a variable decides.
    backward: Option<bool>,
    size: Option<u32>,
    resumes: bool,
}

impl PageGiven {
    fn new(arguments: &Arguments, form: PageForm) -> Self {
        let is_given = |name: &str| arguments.given.iter().any(|given| given == name);
        let literal = |name: &str| match arguments.values.get(name) {
            Some((_, ArgumentValue::Literal(literal))) if literal.is_null() => None,
            Some((_, ArgumentValue::Literal(literal))) => Some(literal),
            _ => None,
        };
        let of_way_back = form.backward().iter().copied().filter(|name| is_given(name)).filter_map(literal);
        let of_way_back: Vec<_> = of_way_back.collect();
        let backward = match of_way_back.iter().any(|literal| literal.as_variable().is_some()) {
            true => None,
            false => Some(!of_way_back.is_empty()),
        };
        let (size, from) = form.names(backward == Some(true));
        let number = match arguments.values.get(size) {
            Some((_, ArgumentValue::Default(value))) => value.as_u64().and_then(|size| u32::try_from(size).ok()),
            Some((_, ArgumentValue::Literal(literal))) => literal.to_i32().and_then(|size| u32::try_from(size).ok()),
            None => None,
        };
        let resumes = backward.is_some() && literal(from).is_some_and(|literal| literal.as_variable().is_none());
        Self { backward, size: number.filter(|_| backward.is_some()), resumes }
    }
}

fn whole_key(template: Option<&Template>) -> Extent {
    let Some(template) = template else {
        return Extent { start: String::new(), is_all: false, is_item: true, low: false, high: false };
    };
    let is_all = matches!(template.parts.as_slice(), [Part::Literal(_)]);
    Extent { start: literal(template).unwrap_or_default().to_owned(), is_all, is_item: true, low: is_all, high: is_all }
}

fn extent(query: &QueryBinding) -> Extent {
    let everything = Extent { start: String::new(), is_all: false, is_item: false, low: true, high: true };
    let (Access::Query { sort, .. }, Some(template)) = (&query.access, &query.key.sort) else { return everything };
    let mut start = literal(template).unwrap_or_default().to_owned();
    for other in &query.key.prefix_alternatives {
        let other = literal(other).unwrap_or_default();
        let common: usize =
            start.chars().zip(other.chars()).take_while(|(a, b)| a == b).map(|(a, _)| a.len_utf8()).sum();
        start.truncate(common);
    }
    match sort {
        SortAccess::All => everything,
        // An index may have several items of one key.
        SortAccess::Equal { .. } => Extent { is_item: false, ..whole_key(Some(template)) },
        SortAccess::Prefix { parts, .. } => {
            let is_literal = *parts == usize::from(!start.is_empty());
            Extent { start, is_all: false, is_item: false, low: is_literal, high: is_literal }
        }
        SortAccess::Range { parts, .. } => {
            let is_literal = *parts == usize::from(literal(template).is_some());
            let start = if *parts == 0 { String::new() } else { start };
            let (low, high) = match &query.range {
                Some(BoundRange::Between(lower, upper)) => (lower.is_none(), upper.is_none()),
                _ => (false, false),
            };
            Extent { start, is_all: false, is_item: false, low: is_literal && low, high: is_literal && high }
        }
    }
}

/// How many items may lie between one range and a later one; `None` if there may be many.
fn between(extents: &[Extent], (left, right): (usize, usize), occupants: &[Occupant]) -> Option<u32> {
    let (a, b) = (&extents[left], &extents[right]);
    let may_hold = |outer: &Extent, inner: &Extent| inner.start.starts_with(&outer.start) && !outer.is_all;
    if may_hold(a, b) || may_hold(b, a) {
        // One contains the other, or two ranges may be equal. The place of an item within the other's range is unknown.
        let holds = |outer: &Extent, inner: &Extent| may_hold(outer, inner) && outer.low && outer.high;
        let overlap = holds(a, b) || holds(b, a) || a.start == b.start && !a.is_item && !b.is_item;
        return overlap.then_some(0);
    }
    let mut items = 0;
    for occupant in occupants {
        let begins_with = |extent: &Extent| occupant.start.starts_with(&extent.start);
        let before = occupant.start < a.start && (occupant.is_all || !a.start.starts_with(&occupant.start));
        let behind = occupant.start > b.start && (b.is_all || !begins_with(b));
        let within_a = begins_with(a) && if a.is_all { occupant.is_all && occupant.start == a.start } else { a.high };
        let within_b = begins_with(b) && if b.is_all { occupant.is_all } else { b.low };
        match before || behind || within_a || within_b {
            true => {}
            false if occupant.is_single => items += 1,
            false => return None,
        }
    }
    Some(items)
}

fn literal(template: &Template) -> Option<&str> {
    match template.parts.first()? {
        Part::Literal(literal) => Some(literal),
        Part::Placeholder { .. } => None,
    }
}
