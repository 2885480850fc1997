//! A find for one parent in, the keys or ranges that it reads out. Must not know what is selected.

use super::needs::{Key, LAST, Partition, Range, Wanted, What, primary_key};
use crate::naive::matching::Matching;
use crate::naive::rows::Row;
use keyfold::schema::model::find::sharding::KeyChoice;
use keyfold::schema::model::find::{Access, Range as Bounds, SortAccess};
use keyfold::schema::model::source::Source;
use keyfold::schema::scalar::spread::{Spread, SpreadKind};
use keyfold::schema::table::KeyType;
use keyfold::schema::template::Template;
use keyfold::schema::template::part::Part;
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;

/// How a find reads.
pub struct Reading<'b, 'f, 'w> {
    pub matching: &'b Matching<'f, 'w>,
    pub want: Wanted,
    pub forward: bool,
    /// Where the values of its partition come from.
    pub origin: String,
    /// Its filter with the values of its arguments.
    pub filter: Option<String>,
    /// Whether it finds fewer than are wanted.
    pub ends: bool,
    /// Whether its items are only counted.
    pub counts: bool,
    /// What it finds.
    pub found: &'b [Row<'w>],
}

/// The bound values of a find, and the number of the shard if its keys have one.
struct Bound<'v> {
    values: &'v Map<String, Value>,
    number: Option<u64>,
}

impl Bound<'_> {
    /// The text of this many parts of a template.
    fn text(&self, template: &Template, parts: Option<usize>) -> Option<String> {
        let template = self.number.map_or_else(|| template.without_spread(), |number| template.numbered(number));
        let value = |field: &str| self.values.get(field).cloned();
        template.render_parts(parts.unwrap_or(template.parts.len()), &value).ok().flatten()
    }
}

impl Reading<'_, '_, '_> {
    /// The keys or ranges for these values: one for each shard that is read.
    pub fn of(&self, values: &Map<String, Value>) -> Vec<What> {
        let Matching { path, keys, table, .. } = self.matching;
        let numbers: Vec<Option<u64>> = match path.reading(table, keys) {
            Some(reading) if reading.which == KeyChoice::Every => reading.spread.numbers().map(Some).collect(),
            Some(reading) if reading.which == KeyChoice::Bound && reading.spread.kind == SpreadKind::Shard => {
                vec![reading.spread.number(&values[&reading.spread.placeholder()])]
            }
            Some(reading) => vec![self.by_hash(reading.spread, values)],
            None => vec![None],
        };
        numbers.into_iter().filter_map(|number| self.of_shard(&Bound { values, number })).collect()
    }

    /// The number that the hash of a bound value chooses, or that of the rest of the key.
    fn by_hash(&self, spread: Spread, values: &Map<String, Value>) -> Option<u64> {
        if let Some(value) = values.get(&spread.placeholder()).filter(|value| !value.is_null()) {
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            return Some(chosen(u64::from(spread.count), &text, ""));
        }
        let Matching { path, keys, table, .. } = self.matching;
        let of_path = path.keys(table);
        let bound = Bound { values, number: None };
        let (at, sort) = match &path.access {
            Access::Get { partition, sort } => (*partition, *sort),
            Access::Query { partition, sort } => (*partition, sort.template()),
            Access::Scan => return None,
        };
        let partition = bound.text(&keys.keys[&of_path.partition.name][at], None)?;
        let sort = of_path.sort.zip(sort).and_then(|(key, at)| bound.text(&keys.keys[&key.name][at], None));
        Some(chosen(u64::from(spread.count), &partition, &sort.unwrap_or_default()))
    }

    fn of_shard(&self, bound: &Bound<'_>) -> Option<What> {
        let Matching { path, keys, table, find, .. } = self.matching;
        let of_path = path.keys(table);
        let (at, sort) = match &path.access {
            Access::Get { partition, sort } => {
                (*partition, sort.map_or(SortAccess::All, |template| SortAccess::Equal { template }))
            }
            Access::Query { partition, sort } => (*partition, sort.clone()),
            Access::Scan => {
                return Some(self.range(Vec::new(), (String::new(), LAST.to_string()), Some("scan".to_owned())));
            }
        };
        let whole = |template: &Template| bound.text(template, None).filter(|text| !text.is_empty());
        let first = whole(&keys.keys[&of_path.partition.name][at]);
        let further = of_path.equal.iter().zip(&path.equal).map(|(key, at)| whole(&keys.keys[&key.name][*at]));
        let values = std::iter::once(first).chain(further).collect::<Option<Vec<_>>>()?;
        let template = |at: usize| &keys.keys[&of_path.sort.expect("a sort key").name][at];
        if let Access::Get { .. } = path.access {
            let key = match sort {
                SortAccess::Equal { template: at } => values.into_iter().chain([whole(template(at))?]).collect(),
                _ => values,
            };
            return Some(What::Get {
                table: keys.table,
                consistent: find.consistent,
                key,
                origin: self.origin.clone(),
            });
        }
        let end = |start: &str| format!("{start}{LAST}");
        Some(match sort {
            SortAccess::All => self.range(values, (String::new(), LAST.to_string()), None),
            SortAccess::Equal { template: at } => {
                let text = whole(template(at))?;
                self.range(values, (text.clone(), text), None)
            }
            SortAccess::Prefix { template: at, parts } => {
                let start = self.beginning(template(at), parts, bound)?;
                self.range(values, (start.clone(), end(&start)), None)
            }
            SortAccess::Range { template: at, parts, range } => {
                let start = self.beginning(template(at), parts, bound)?;
                return self.ranged(values, &start, (template(at), parts, &range));
            }
        })
    }

    /// The text that the keys of all types begin with.
    fn beginning(&self, template: &Template, parts: usize, bound: &Bound<'_>) -> Option<String> {
        let mut start = bound.text(template, Some(parts))?;
        for other in &self.matching.path.prefix_alternatives {
            let other = bound.text(other, Some(parts))?;
            let same = start.char_indices().zip(other.chars()).take_while(|((_, ours), theirs)| ours == theirs);
            let end = same.last().map_or(0, |((at, letter), _)| at + letter.len_utf8());
            start.truncate(end);
        }
        Some(start)
    }

    /// A range of the value after a text. Keys that are no texts have the order of their values, so all of them count.
    fn ranged(
        &self,
        values: Vec<Key>,
        start: &str,
        (template, parts, bounds): (&Template, usize, &Bounds),
    ) -> Option<What> {
        let end = |source: &Source| {
            let value = self.matching.source(source);
            let Some(Part::Placeholder { value: kind, width, .. }) = template.parts.get(parts) else { return None };
            let text = kind.to_text(&kind.coerce(&value).ok()?)?;
            Some(format!("{start}{text:0>width$}", width = usize::from(width.unwrap_or_default())))
        };
        let is_text = self.matching.path.keys(self.matching.table).sort.is_some_and(|key| key.kind == KeyType::S);
        let (low, high) = match bounds {
            Bounds::BeginsWith(source) => (end(source), end(source)),
            Bounds::Between { lower, upper } => {
                let of = |bound: &Option<(Source, bool)>| end(&bound.as_ref()?.0);
                (of(lower), of(upper))
            }
        };
        let high = format!("{}{LAST}", high.as_deref().unwrap_or(start));
        let span = (low.unwrap_or_else(|| start.to_owned()), high);
        if is_text && span.0 > span.1 {
            return None;
        }
        Some(match is_text {
            true => self.range(values, span, None),
            false => self.range(values, (String::new(), LAST.to_string()), Some(format!("{span:?}"))),
        })
    }

    fn range(&self, values: Vec<Key>, (low, high): (Key, Key), alone: Option<String>) -> What {
        let Matching { path, keys, table, find, .. } = self.matching;
        let partition = Partition {
            table: keys.table,
            index: path.index,
            consistent: find.consistent,
            values,
            origin: self.origin.clone(),
        };
        let found = self.found.iter().filter_map(|row| row.item);
        let brings: BTreeSet<Vec<Key>> = match path.index {
            None => found.map(|item| primary_key(table, item)).collect(),
            Some(_) => BTreeSet::new(),
        };
        let alone = alone.map(|alone| format!("{alone} {} {:?}", find.item, self.filter)).or(self.filter.clone());
        What::Range(Range {
            partition,
            item: find.item.clone(),
            low,
            high,
            forward: self.forward,
            want: self.want,
            ends: self.ends,
            counts: self.counts,
            alone,
            brings,
        })
    }
}

/// The number that a hash chooses (docs/language/sharded-keys.md).
fn chosen(count: u64, partition: &str, sort: &str) -> u64 {
    let digest = Sha256::new().chain_update(partition).chain_update([0]).chain_update(sort).finalize();
    digest.iter().take(8).fold(0u64, |number, byte| number << 8 | u64::from(*byte)) % count
}
