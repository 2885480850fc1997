//! Reads in; out: Queries that find the same ask for the same attributes, so that one of them is made. Must not know
//! values: equal Queries are found when the plan runs.
//!
//! Queries are alike if they have one key with the same sources, or if one depends on the other: whoever goes from an
//! item to its list, to that list's item and to its list again comes back to the first. Queries of one wave and of the
//! same rows share a Query anyway, except those with a filter.

use super::same_key::{MAX_COMPARED, Provenance, classes, same_key};
use crate::plan::tree::{Arguments, QueryBinding, Read, ReadAction, ReadId, Want};
use crate::schema::template::Template;
use crate::schema::template::part::Part;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

/// Lets Queries that are alike ask for the same attributes.
pub fn widen(reads: &mut [Read], arguments: &[Arguments]) {
    if reads.len() > MAX_COMPARED {
        return;
    }
    let queries = (0..reads.len()).filter(|id| query(&reads[*id]).is_some());
    let alike =
        classes(queries, arguments, |class, id, from| class.iter().any(|other| are_alike(reads, (*other, id), from)));
    for class in alike {
        let first = &reads[class[0]];
        let filters = query(first).is_some_and(|query| query.filter.is_some());
        let is_beside = |read: &ReadId| (reads[*read].wave, reads[*read].space) == (first.wave, first.space);
        if class.len() == 1 || !filters && class.iter().all(is_beside) {
            continue;
        }
        let all: BTreeSet<&Arc<str>> = class.iter().flat_map(|read| reads[*read].projection.iter()).collect();
        let all: Arc<[Arc<str>]> = all.into_iter().cloned().collect();
        class.into_iter().for_each(|read| reads[read].projection = all.clone());
    }
}

/// Marks the Queries beside which another read may read the same ranges.
pub fn mark(reads: &mut [Read]) {
    let mut counts: HashMap<_, usize> = HashMap::new();
    reads.iter().filter(|read| read.is_query()).for_each(|read| *counts.entry(place(read)).or_default() += 1);
    let has_twins = |read: &Read| read.is_query() && counts.get(&place(read)).is_some_and(|count| *count > 1);
    let marks: Vec<bool> = reads.iter().map(has_twins).collect();
    reads.iter_mut().zip(marks).for_each(|(read, has_twins)| read.known.has_twins = has_twins);
}

/// Where a Query finds its items, and of which types they are.
pub fn place(read: &Read) -> (usize, Option<usize>, &str) {
    (read.table, read.index, &read.item)
}

/// The Query of a read that gives items.
fn query(read: &Read) -> Option<&QueryBinding> {
    match &read.action {
        ReadAction::Query(query) if !matches!(query.want, Want::Count { .. }) => Some(query),
        _ => None,
    }
}

/// Whether two reads may make the same Query, of which the second comes later in the plan.
fn are_alike(reads: &[Read], (first, second): (ReadId, ReadId), from: Provenance<'_>) -> bool {
    let (one, other) = (&reads[first], &reads[second]);
    let (Some(query), Some(of_other)) = (query(one), query(other)) else { return false };
    let is_same_place = (one.table, one.index, one.consistent) == (other.table, other.index, other.consistent);
    let is_bare = |query: &QueryBinding| query.filter.is_none() && query.range.is_none();
    is_same_place
        && one.item == other.item
        && (one.coordinate == other.coordinate || is_bare(query) && is_bare(of_other))
        && (same_key(&query.key, &of_other.key, from)
            || same_text(&query.key.partition, &of_other.key.partition)
                && same_text(&query.key.sort, &of_other.key.sort)
                && depends(reads, second, first))
}

/// Whether two templates have the same literals and fields.
fn same_text(one: &Option<Template>, other: &Option<Template>) -> bool {
    let text = |part: &Part| match part {
        Part::Literal(text) => text.clone(),
        Part::Placeholder { field, .. } => field.clone(),
    };
    let texts =
        |template: &Option<Template>| template.as_ref().map(|template| template.parts.iter().map(text).collect());
    let (one, other): (Option<Vec<String>>, Option<Vec<String>>) = (texts(one), texts(other));
    one == other
}

/// Whether a read waits for another, also through others.
fn depends(reads: &[Read], read: ReadId, on: ReadId) -> bool {
    let (mut open, mut seen) = (vec![read], HashSet::new());
    while let Some(next) = open.pop() {
        if next == on {
            return true;
        }
        open.extend(reads[next].after.iter().filter(|before| **before >= on && seen.insert(**before)));
    }
    false
}
