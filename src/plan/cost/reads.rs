//! A plan in; out: the greatest number of calls and capacity units of its reads, and of the objects in its part of the
//! response.

use super::assumed::{ELEMENTS, FILLING_LINKS, FILLING_ROUNDS, ITEM_BYTES};
use super::field::FieldCost;
use super::rows::{ArgumentValues, ReadSize};
use crate::plan::tree::*;
use crate::schema::model::Model;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, HashSet};

/// Most keys of a BatchGetItem (DynamoDB API reference).
pub const KEYS_PER_BATCH: u64 = 100;

/// The Gets of a wave that are sent together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Batch {
    /// Those that are sent with the wave.
    Plain,
    /// Those that a shared Query did not reach, and something waits for them.
    Awaited,
    /// Those that it did not reach, which the next wave makes.
    Late,
    /// What rules look up for the items of the wave's Gets.
    LookedUp,
}

/// The greatest cost of a plan.
pub struct PlanCost {
    /// Each read, as a field of the operation.
    pub reads: Vec<FieldCost>,
    /// The calls of all waves.
    pub calls: u64,
    /// The objects of the response.
    pub objects: u64,
    /// The most rows of each space.
    pub rows: Vec<u64>,
}

impl PlanCost {
    /// The cost of a plan with these variables. `seeds` says how many items the caller hands in to a space.
    pub fn new(model: &Model, plan: &Plan, variables: &Map<String, Value>, seeds: &dyn Fn(SpaceId) -> u64) -> Self {
        let values = ArgumentValues::new(model, plan, variables);
        let sizes: Vec<ReadSize> = plan.reads.iter().map(|read| values.size(read)).collect();
        let rows = values.rows(&sizes, seeds);
        let mut paths = vec![Vec::new(); plan.reads.len()];
        let objects = Walk { plan, rows: &rows, paths: &mut paths }.object(&plan.root, 1, &mut Vec::new());
        let shared = plan.collections.iter().flat_map(|collection| collection.reads.iter().copied()).collect();
        let mut calls = WaveCalls { plan, rows: &rows, shared, batches: BTreeMap::new(), others: 0 };
        let sized = sizes.iter().zip(paths).enumerate();
        let mut reads: Vec<FieldCost> = sized.map(|(id, (size, path))| calls.add_read(id, size, path)).collect();
        for collection in &plan.collections {
            let Some(first) = collection.reads.first().and_then(|first| plan.reads.get(*first)) else { continue };
            let (times, between) =
                (rows[first.space], collection.occupants.iter().filter(|occupant| occupant.is_single).count() as u64);
            // The Query reads one page. Items that the schema does not know may keep it from its members, which are
            // then read by themselves.
            calls.others = calls.others.saturating_add(times);
            if let Some(read) = collection.reads.first().and_then(|first| reads.get_mut(*first)) {
                read.units += units(between, first.consistent) * times as f64;
            }
        }
        Self { reads, calls: calls.all(), objects, rows }
    }
}

/// The calls of a plan's waves, as they are counted read by read.
struct WaveCalls<'p> {
    plan: &'p Plan,
    /// The most rows of each space.
    rows: &'p [u64],
    /// The reads that may share a Query.
    shared: HashSet<ReadId>,
    /// The Gets of each batch.
    batches: BTreeMap<(usize, Batch), u64>,
    /// The calls that are no batches.
    others: u64,
}

impl WaveCalls<'_> {
    /// Counts a read, and gives its cost.
    fn add_read(&mut self, id: ReadId, size: &ReadSize, path: Vec<String>) -> FieldCost {
        let read = &self.plan.reads[id];
        let times = self.rows[read.space];
        let (rounds, links) = if self.is_filled(id) { (FILLING_ROUNDS, FILLING_LINKS) } else { (1, 1) };
        let ranges = times.saturating_mul(size.ranges).saturating_mul(links);
        // Rules may look other items up for each item.
        let lookups = read.discriminator.lookups() as u64;
        let asked = ranges.saturating_mul(size.read).saturating_mul(lookups);
        let is_shared = self.shared.contains(&id);
        let own_calls = match &read.action {
            ReadAction::Get(_) | ReadAction::FetchMissing(_) => {
                let batch = match is_shared {
                    true if read.may_wait => Batch::Late,
                    true => Batch::Awaited,
                    false => Batch::Plain,
                };
                self.join(read.wave, batch, ranges);
                self.join(read.wave, Batch::LookedUp, asked);
                self.others = self.others.saturating_add(rounds - 1);
                ranges.div_ceil(KEYS_PER_BATCH).saturating_add(rounds - 1)
            }
            ReadAction::Query(_) => {
                // What the partition determines is looked up beside the Query, the rest for each page.
                self.join(read.wave, Batch::Plain, ranges.saturating_mul(lookups));
                let of_pages =
                    if lookups > 0 { ranges.saturating_mul(size.pages + asked.div_ceil(KEYS_PER_BATCH)) } else { 0 };
                let own = (ranges / links).saturating_mul(size.pages).saturating_mul(rounds);
                self.others = self.others.saturating_add(own).saturating_add(of_pages);
                own
            }
        };
        let location = match &read.action {
            ReadAction::Query(query) if let Want::Page { arguments, .. } = query.want => {
                self.plan.arguments[arguments].location
            }
            _ => (0, 0),
        };
        // What a shared Query does not reach is read again.
        let reached = if is_shared { 2.0 } else { 1.0 };
        FieldCost {
            coordinate: read.list_of().to_owned(),
            path,
            location,
            times,
            items: size.found,
            is_page: size.is_page,
            calls: own_calls.saturating_add(asked.div_ceil(KEYS_PER_BATCH)),
            units: units(size.read, read.consistent) * ranges as f64 * reached + units(asked, read.consistent),
            writes: false,
        }
    }

    /// Whether a page is filled up by a read, or is itself: links of it may lead nowhere. The page is then read on,
    /// with its elements.
    fn is_filled(&self, id: ReadId) -> bool {
        let mut reads = self.plan.reads.iter().enumerate();
        reads.any(|(page, read)| read.elements().contains(&id) || page == id && !read.elements().is_empty())
    }

    fn join(&mut self, wave: usize, batch: Batch, gets: u64) {
        let of_batch = self.batches.entry((wave, batch)).or_default();
        *of_batch = of_batch.saturating_add(gets);
    }

    fn all(&self) -> u64 {
        let batches = self.batches.values().map(|gets| gets.div_ceil(KEYS_PER_BATCH)).fold(0, u64::saturating_add);
        self.others.saturating_add(batches)
    }
}

/// The read units of this many items (DynamoDB developer guide, "DynamoDB throughput capacity": one for 4 KB, half if
/// eventual).
pub fn units(items: u64, consistent: bool) -> f64 {
    let each = ITEM_BYTES as f64 / 4096.0;
    items as f64 * if consistent { each } else { each / 2.0 }
}

/// Walks through a response: counts its objects, and records the path of each read.
struct Walk<'a> {
    plan: &'a Plan,
    rows: &'a [u64],
    paths: &'a mut Vec<Vec<String>>,
}

impl Walk<'_> {
    /// The number of objects within this many objects of one selection.
    fn object(&mut self, object: &Object, times: u64, path: &mut Vec<String>) -> u64 {
        let variants = object.variants.iter().map(|(_, variant)| self.object(variant, times, path)).max().unwrap_or(0);
        let mut objects = variants;
        for output in &object.fields {
            path.push(output.key.clone());
            let within = match &output.value {
                OutputValue::One(target, object) | OutputValue::List(target, object) => {
                    self.found(target, object, path)
                }
                OutputValue::Page(target, parts) => {
                    self.note(target, path);
                    self.parts(target, parts, path)
                }
                OutputValue::Exists(target, _) | OutputValue::Count(target) => {
                    self.note(target, path);
                    0
                }
                OutputValue::Embedded(_, object, rows) => {
                    let each = if output.ty.is_list() { ELEMENTS } else { 1 };
                    let count = rows.map_or_else(|| times.saturating_mul(each), |space| self.rows[space]);
                    count.saturating_add(self.object(object, count, path))
                }
                OutputValue::Nodes(nodes) => {
                    let of_type = |node: &NodeOutput| self.found(&node.target, &node.object, path);
                    nodes.types.iter().map(of_type).fold(0, u64::saturating_add)
                }
                OutputValue::Typename
                | OutputValue::Introspection
                | OutputValue::Leaf(_)
                | OutputValue::GlobalId(..)
                | OutputValue::Computed(..) => 0,
                OutputValue::Payload(object) => self.object(object, 1, path).saturating_add(1),
                OutputValue::Done => 0,
            };
            path.pop();
            objects = objects.saturating_add(within);
        }
        objects
    }

    fn found(&mut self, target: &ObjectSource, object: &Object, path: &mut Vec<String>) -> u64 {
        self.note(target, path);
        let count = self.rows[target.space];
        count.saturating_add(self.object(object, count, path))
    }

    fn parts(&mut self, target: &ObjectSource, parts: &[PageOutput], path: &mut Vec<String>) -> u64 {
        let mut objects = 0u64;
        for part in parts {
            path.push(part.key.clone());
            objects = objects.saturating_add(match &part.part {
                PagePart::Nodes(_, object) | PagePart::Node(_, object) => {
                    let count = self.rows[target.space];
                    count.saturating_add(self.object(object, count, path))
                }
                PagePart::Edges(_, parts) => self.parts(target, parts, path),
                PagePart::Link(space, link) => self.object(link, self.rows[*space], path),
                PagePart::TotalCount(_, counted) => {
                    self.note(counted, path);
                    0
                }
                _ => 0,
            });
            path.pop();
        }
        objects
    }

    /// Records the path of the reads that find a target, from the read that pages to the read that shows whether an
    /// object exists.
    fn note(&mut self, target: &ObjectSource, path: &[String]) {
        let last = if let Presence::Read(read) = target.presence { Some(read) } else { None };
        let first = target.pages.or(last);
        let (Some(first), Some(last)) = (first, last.or(first)) else { return };
        for read in first..=last {
            if self.paths[read].is_empty() && read < self.plan.reads.len() {
                self.paths[read] = path.to_vec();
            }
        }
    }
}
