//! What must be read in; the fewest round trips, then calls, then read units out, by trying all. Must not know
//! operations.

use super::needs::{Key, LAST, Need, Partition, Range, Wanted, What, item_bytes, key_text, read_units};
use super::seen::Cost;
use super::walk::Uncovered;
use crate::naive::rows::World;
use crate::naive::values::keys_of;
use keyfold::schema::template::Template;
use keyfold::schema::template::part::Part;
use keyfold::table::data::attribute::Item;
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// The most reads of one partition whose groups are tried.
pub const MOST: usize = 12;
/// The most keys of a BatchGetItem.
const BATCH: usize = 100;
/// A page of this size may be read before others, if it ends. What fewer items end, nobody expects to end.
const LONG: usize = 10;

/// What must be read, and of what.
pub struct Search<'s> {
    pub world: &'s World<'s>,
    /// The items that indexes do not have yet.
    pub late: &'s HashSet<*const Item>,
    pub needs: &'s [Need],
}

/// A way to read it.
#[derive(Debug, Clone)]
pub struct Best {
    pub cost: Cost,
    /// Its calls in words, with their round trips.
    pub calls: Vec<(usize, String)>,
    /// How many calls fewer it would be if Gets waited for those of a later round trip.
    pub by_waiting: usize,
}

/// Some reads of one partition that one Query may make.
struct Member {
    low: Key,
    high: Key,
    forward: Option<bool>,
    want: Wanted,
    /// Whether it surely reads to the end of its range. A count or a long page may be longer than a page of a Query.
    is_sure: bool,
    /// Whether another read waits for it.
    is_awaited: bool,
    is_get: bool,
}

/// Queries of a partition, and the Gets that they leave.
#[derive(Debug, Clone)]
struct Queries {
    units: f64,
    /// The members of each, as bits.
    groups: Vec<usize>,
}

/// The reads of one round trip.
#[derive(Default)]
struct Round<'n> {
    gets: BTreeSet<&'n What>,
    ranges: BTreeSet<&'n What>,
}

impl Search<'_> {
    /// The best way in which each read is made as soon as it can be.
    pub fn best(&self) -> Result<Best, Uncovered> {
        let best = self.schedule(usize::MAX)?.ok_or("no way")?;
        let mut fewest = best.cost.calls;
        if (2..=8).contains(&best.cost.waves) {
            for chosen in 1..1_usize << best.cost.waves {
                let way = self.schedule(chosen << 1)?.filter(|way| way.cost.waves <= best.cost.waves);
                fewest = way.map_or(fewest, |way| fewest.min(way.cost.calls));
            }
        }
        Ok(Best { by_waiting: best.cost.calls - fewest, ..best })
    }

    /// The way in which each read is made as soon as it can be, but Gets only in the round trips with these bits;
    /// `None` if that never ends.
    fn schedule(&self, batches: usize) -> Result<Option<Best>, Uncovered> {
        let may_get = |wave: usize| batches == usize::MAX || batches >> wave & 1 == 1;
        // When each read is there, and what the calls have brought for which needs.
        let mut done: Vec<Option<usize>> = vec![None; self.needs.len()];
        let mut brought: BTreeMap<&What, Vec<usize>> = BTreeMap::new();
        let mut best = Best { cost: Cost::default(), calls: Vec::new(), by_waiting: 0 };
        let mut wave = 0;
        while done.iter().any(Option::is_none) {
            wave += 1;
            if wave > 32 {
                return Ok(None);
            }
            let mut round = Round::default();
            // What is known takes no time, and may be the key of what follows.
            for (position, need) in self.needs.iter().enumerate() {
                let ready = need.after.iter().all(|other| done[*other].is_some_and(|at| at < wave));
                if done[position].is_some() || !ready {
                    continue;
                }
                if self.is_known(position, &brought) {
                    done[position] = Some(wave - 1);
                } else if let What::Range(_) = need.what {
                    round.ranges.insert(&need.what);
                    done[position] = Some(wave);
                } else if may_get(wave) {
                    round.gets.insert(&need.what);
                    done[position] = Some(wave);
                }
            }
            if round.gets.is_empty() && round.ranges.is_empty() {
                continue;
            }
            for (position, need) in self.needs.iter().enumerate().filter(|(position, _)| done[*position] == Some(wave))
            {
                brought.entry(&need.what).or_default().push(position);
            }
            self.round(&round, wave, &mut best)?;
            best.cost.waves = wave;
        }
        Ok(Some(best))
    }

    /// Whether earlier calls have brought what is needed. It counts if both keys come from the same place, or if the
    /// need waits for one that the call was made for. What is equal by chance counts for nothing.
    fn is_known(&self, position: usize, brought: &BTreeMap<&What, Vec<usize>>) -> bool {
        let what = &self.needs[position].what;
        brought.iter().any(|(other, by)| {
            brings(other, what)
                && (other.origin() == what.origin() || by.iter().any(|other| self.depends(position, *other)))
        })
    }

    /// Whether a need waits for another, also through others.
    fn depends(&self, need: usize, on: usize) -> bool {
        let (mut open, mut seen) = (vec![need], HashSet::new());
        while let Some(next) = open.pop() {
            if next == on {
                return true;
            }
            open.extend(self.needs[next].after.iter().filter(|before| **before >= on && seen.insert(**before)));
        }
        false
    }

    /// Adds the calls of a round trip.
    fn round(&self, round: &Round<'_>, wave: usize, best: &mut Best) -> Result<(), Uncovered> {
        let mut partitions: BTreeMap<Partition, Vec<&What>> = BTreeMap::new();
        for what in round.ranges.iter().chain(&round.gets) {
            let partition = match what {
                What::Get { table, consistent, key, origin } => {
                    let (values, origin) = (key[..1].to_vec(), origin.clone());
                    Partition { table: *table, index: None, consistent: *consistent, values, origin }
                }
                What::Range(range) => range.partition.clone(),
            };
            partitions.entry(partition).or_default().push(what);
        }
        // Either all Gets are in Queries, or those that are not make a batch.
        let mut ways: Vec<Best> = Vec::new();
        for with_batch in [false, true] {
            let mut way = Best { cost: Cost::default(), calls: Vec::new(), by_waiting: 0 };
            let mut left: Vec<&What> = Vec::new();
            let mut is_possible = true;
            for (partition, whats) in &partitions {
                match self.queries(partition, whats, with_batch)? {
                    None => is_possible = false,
                    Some(queries) => {
                        way.cost.units += queries.units;
                        way.cost.calls += queries.groups.len();
                        let taken = queries.groups.iter().fold(0, |all, group| all | group);
                        let of = |bits: usize| {
                            whats.iter().enumerate().filter(move |(at, _)| bits >> at & 1 == 1).map(|(_, what)| *what)
                        };
                        way.calls.extend(
                            queries
                                .groups
                                .iter()
                                .map(|group| (wave, format!("Query {:?}", of(*group).collect::<Vec<_>>()))),
                        );
                        left.extend(of(!taken));
                    }
                }
            }
            if !left.is_empty() {
                left.sort();
                left.dedup_by_key(
                    |what| if let What::Get { table, key, .. } = what { (*table, key) } else { unreachable!() },
                );
                way.cost.calls += left.len().div_ceil(BATCH);
                way.cost.units += left.iter().map(|what| self.units_of_get(what)).sum::<f64>();
                way.calls.push((wave, format!("Get {left:?}")));
            }
            if is_possible {
                ways.push(way);
            }
        }
        let order = |one: &Best, other: &Best| {
            (one.cost.calls, one.cost.units).partial_cmp(&(other.cost.calls, other.cost.units)).unwrap()
        };
        let way = ways.into_iter().min_by(order).ok_or("no way")?;
        best.cost.calls += way.cost.calls;
        best.cost.units += way.cost.units;
        best.calls.extend(way.calls);
        Ok(())
    }

    /// The fewest Queries of a partition; `None` if they cannot take all Gets, where they have to.
    fn queries(&self, partition: &Partition, whats: &[&What], may_leave: bool) -> Result<Option<Queries>, Uncovered> {
        if whats.len() > MOST {
            return Err("more reads of a partition than are tried");
        }
        let members: Vec<Member> = whats.iter().map(|what| self.member(what)).collect();
        let is_range = |at: usize| matches!(whats[at], What::Range(_));
        let ranges: usize = (0..whats.len()).filter(|at| is_range(*at)).map(|at| 1 << at).sum();
        let alone = |bits: usize| {
            bits.count_ones() == 1
                || (0..whats.len())
                    .filter(|at| bits >> at & 1 == 1)
                    .all(|at| !matches!(whats[at], What::Range(Range { alone: Some(_), .. })))
        };
        let whole = (1_usize << whats.len()) - 1;
        let stored = self.stored(partition);
        let units: Vec<Option<f64>> = (0..=whole)
            .map(|bits| {
                (bits & ranges != 0 && alone(bits))
                    .then(|| self.units_of_query((partition, &stored), (&members, bits), may_leave))
                    .flatten()
            })
            .collect();
        let mut best: Vec<Option<Queries>> = vec![None; whole + 1];
        best[0] = Some(Queries { units: 0.0, groups: Vec::new() });
        for bits in 1..=whole {
            let lowest = bits & bits.wrapping_neg();
            let mut group = bits;
            while group != 0 {
                if group & lowest != 0
                    && let (Some(own), Some(rest)) = (units[group], &best[bits & !group])
                {
                    let way = Queries { units: rest.units + own, groups: [rest.groups.clone(), vec![group]].concat() };
                    if best[bits].as_ref().is_none_or(|known| is_better(&way, known)) {
                        best[bits] = Some(way);
                    }
                }
                group = (group - 1) & bits;
            }
        }
        if !may_leave {
            return Ok(best[whole].clone());
        }
        let with_left = |bits: usize| {
            let left =
                (0..whats.len()).filter(|at| bits >> at & 1 == 0).map(|at| self.units_of_get(whats[at])).sum::<f64>();
            best[bits].clone().map(|queries| Queries { units: queries.units + left, ..queries })
        };
        let ways = (0..=whole).filter(|bits| bits & ranges == ranges).filter_map(with_left);
        let found = ways.reduce(|one, other| if is_better(&other, &one) { other } else { one });
        // The units of what is left count with the batch.
        Ok(found.map(|queries| {
            let taken = queries.groups.iter().fold(0, |all, group| all | group);
            let left =
                (0..whats.len()).filter(|at| taken >> at & 1 == 0).map(|at| self.units_of_get(whats[at])).sum::<f64>();
            Queries { units: queries.units - left, ..queries }
        }))
    }

    /// The units of one Query for these members; `None` if it might not serve all.
    fn units_of_query(
        &self,
        (partition, stored): (&Partition, &[(Key, usize)]),
        (members, bits): (&[Member], usize),
        with_batch: bool,
    ) -> Option<f64> {
        let chosen: Vec<&Member> = (0..members.len()).filter(|at| bits >> at & 1 == 1).map(|at| &members[at]).collect();
        let within =
            |member: &Member| stored.iter().filter(|(sort, _)| (&member.low..=&member.high).contains(&sort)).count();
        let ends = |member: &Member| match member.want {
            Wanted::All => true,
            Wanted::First(wanted) => wanted >= LONG && within(member) < wanted,
        };
        if !self.is_gapless(partition, &chosen) {
            return None;
        }
        let of_way = |forward: bool| {
            let start = |member: &Member| if forward { member.low.clone() } else { member.high.clone() };
            let starts: BTreeSet<Key> = chosen.iter().map(|member| start(member)).collect();
            let last = if forward { starts.last()? } else { starts.first()? };
            // It is read to its end, or from its beginning as far as is needed, or all of it with another one.
            let is_served = |member: &&Member| {
                let is_its_way = member.forward.is_none_or(|own| own == forward);
                let is_held = || chosen.iter().any(|other| contains(other, member) && ends(other));
                ends(member) || is_its_way && start(member) == *last || is_held()
            };
            // What is behind a range that may not end waits, if nothing waits for it. A Get joins the batch instead.
            let is_sure =
                |member: &Member| chosen.iter().any(|other| other.is_sure && contains(other, member) && ends(other));
            let comes_before = |one: &Member, other: &Member| match forward {
                true => one.low < other.low,
                false => one.high > other.high,
            };
            let is_at_risk = |member: &&&Member| {
                let is_against = member.forward.is_some_and(|own| own != forward) && !is_sure(member);
                is_against || chosen.iter().any(|other| comes_before(other, member) && !is_sure(other))
            };
            let may_wait = |member: &&Member| !(member.is_awaited || member.is_get && with_batch);
            if chosen.len() > 1 && !(chosen.iter().all(is_served) && chosen.iter().filter(is_at_risk).all(may_wait)) {
                return None;
            }
            let low = chosen.iter().map(|member| &member.low).min()?;
            let high = chosen.iter().map(|member| &member.high).max()?;
            let mut bytes: Vec<(&Key, usize)> = stored
                .iter()
                .filter(|(sort, _)| (low..=high).contains(&sort))
                .map(|(sort, bytes)| (sort, *bytes))
                .collect();
            if !forward {
                bytes.reverse();
            }
            // It reads to the end, or as many as are wanted of the last.
            let whole = chosen.iter().filter(|member| ends(member) && start(member) == *last).count() > 0;
            let wanted = chosen.iter().filter(|member| !whole && !ends(member)).map(|member| match member.want {
                Wanted::First(wanted) => wanted,
                Wanted::All => usize::MAX,
            });
            if let Some(wanted) = wanted.max() {
                let before =
                    bytes.iter().take_while(|(sort, _)| if forward { *sort < last } else { *sort > last }).count();
                bytes.truncate(before.saturating_add(wanted));
            }
            Some(read_units(bytes.iter().map(|(_, bytes)| bytes).sum(), partition.consistent))
        };
        let own = chosen.first()?.forward.filter(|_| chosen.len() == 1);
        match own {
            Some(forward) => of_way(forward),
            None => [true, false].into_iter().filter_map(of_way).reduce(f64::min),
        }
    }

    /// Whether no type has many items between two of the members.
    fn is_gapless(&self, partition: &Partition, chosen: &[&Member]) -> bool {
        let mut spans: Vec<(&Key, &Key)> = chosen.iter().map(|member| (&member.low, &member.high)).collect();
        spans.sort();
        let mut end: Option<&Key> = None;
        for (low, high) in spans {
            if end.is_some_and(|end| end < low && self.holds_many(partition, (end, low))) {
                return false;
            }
            end = end.max(Some(high));
        }
        true
    }

    /// Whether a type may have many items between two sort keys.
    fn holds_many(&self, partition: &Partition, (from, to): (&Key, &Key)) -> bool {
        let table = &self.world.model.tables[partition.table];
        let keys = table.keys_of(partition.index);
        let (first, Some(sort)) = (&keys.partition[0].name, &keys.sort.first()) else { return true };
        let of_types = self.world.model.types.values().filter_map(keys_of).filter(|keys| keys.table == partition.table);
        of_types.into_iter().any(|keys| {
            let of = |name: &str| keys.keys.get(name).map_or(&[][..], Vec::as_slice);
            let reads = |template: &Template| template.read_any_spelling(&partition.values[0]).is_some();
            let meets =
                |template: &&Template| !template.is_read_back() || reads(template) || reads(&template.without_spread());
            let partitions: Vec<&Template> = of(first).iter().filter(meets).collect();
            !partitions.is_empty()
                && of(&sort.name).iter().any(|template| {
                    let start = match template.parts.first() {
                        Some(Part::Literal(literal)) => literal.as_str(),
                        _ => "",
                    };
                    let is_point = matches!(template.parts.as_slice(), [Part::Literal(_)]);
                    let last = if is_point { start.to_owned() } else { format!("{start}{LAST}") };
                    let is_one = |partition: &&Template| {
                        template.fields().iter().all(|field| partition.fields().contains(field))
                    };
                    let is_single = partition.index.is_none() && partitions.iter().all(is_one);
                    !is_single && start < to.as_str() && last > *from
                })
        })
    }

    fn member(&self, what: &What) -> Member {
        let mut all = self.needs.iter().flat_map(|need| &need.after);
        let is_awaited = all.any(|waited_for| self.needs[*waited_for].what == *what);
        match what {
            What::Get { key, .. } => {
                let sort = key.get(1).cloned().unwrap_or_default();
                let (low, high) = (sort.clone(), sort);
                Member { low, high, forward: None, want: Wanted::All, is_sure: true, is_awaited, is_get: true }
            }
            What::Range(Range { low, high, forward, want, counts, .. }) => Member {
                low: low.clone(),
                high: high.clone(),
                forward: Some(*forward),
                want: *want,
                is_sure: *want == Wanted::All && !counts,
                is_awaited,
                is_get: false,
            },
        }
    }

    /// The sort keys of a partition's items with their bytes, in order.
    fn stored(&self, partition: &Partition) -> Vec<(Key, usize)> {
        let table = &self.world.model.tables[partition.table];
        let keys = table.keys_of(partition.index);
        let is_there = |item: &&Item| partition.index.is_none() || !self.late.contains(&std::ptr::from_ref(*item));
        let whole: Vec<&str> = keys.all().map(|key| key.name.as_str()).take(partition.values.len()).collect();
        let sort = keys.all().nth(partition.values.len());
        let of = |item: &&Item| {
            let is_own = whole
                .iter()
                .zip(&partition.values)
                .all(|(name, value)| item.get(name).and_then(key_text).as_ref() == Some(value));
            let own = match sort {
                Some(sort) => item.get(&sort.name).and_then(key_text)?,
                None => String::new(),
            };
            let names: Item = item
                .members()
                .filter(|(name, _)| table.holds(partition.index, name))
                .map(|(name, value)| (name.to_string(), value.clone()))
                .collect();
            (is_own && keys.all().all(|key| item.contains_key(&key.name))).then(|| (own, item_bytes(&names)))
        };
        let mut stored: Vec<(Key, usize)> =
            self.world.items[partition.table].iter().filter(is_there).filter_map(|item| of(&item)).collect();
        stored.sort();
        stored
    }

    fn units_of_get(&self, what: &What) -> f64 {
        let What::Get { table, consistent, key, .. } = what else { return 0.0 };
        let own = |item: &&Item| super::needs::primary_key(&self.world.model.tables[*table], item) == *key;
        read_units(self.world.items[*table].iter().find(own).map_or(0, item_bytes), *consistent)
    }
}

/// Whether a call for one thing brings another. A count brings no items.
fn brings(brought: &What, what: &What) -> bool {
    match (brought, what) {
        (What::Range(range), What::Range(own)) => range.answers(own),
        (What::Get { .. }, What::Range(_)) => false,
        (What::Get { table: of, consistent: strong, key: own, .. }, What::Get { table, consistent, key, .. }) => {
            (of, own) == (table, key) && (*strong || !consistent)
        }
        (What::Range(range), What::Get { table, consistent, key, .. }) => {
            let Partition { table: of, index, consistent: strong, values, .. } = &range.partition;
            let within = || {
                let whole = range.want == Wanted::All && range.alone.is_none() && values.first() == key.first();
                whole && key.get(1).is_some_and(|sort| (&range.low..=&range.high).contains(&sort))
            };
            let is_its_table = of == table && index.is_none() && (*strong || !consistent);
            is_its_table && !range.counts && (range.brings.contains(key) || within())
        }
    }
}

fn is_better(one: &Queries, other: &Queries) -> bool {
    (one.groups.len(), one.units) < (other.groups.len(), other.units)
}

/// Whether a range holds all of another.
fn contains(outer: &Member, inner: &Member) -> bool {
    outer.low <= inner.low && outer.high >= inner.high
}
