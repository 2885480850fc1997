//! What sources give, gathered: each table with a bounded sample of its items, and the hints on them.

use super::draft::names;
use crate::schema::model::keys::{is_guard_key, is_record_key};
use crate::schema::table::{KeyAttribute, KeyType, Table};
use crate::sources::material::{PatternHint, Receiver, SourcePlace, TypeHint};
use crate::table::data::attribute::{Attribute, Item};
use crate::table::data::item_size::item_size;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::path::Path;

/// All that is known.
#[derive(Debug, Clone, Default)]
pub struct Material {
    /// The tables.
    pub tables: Vec<TableMaterial>,
    /// The access patterns that sources name.
    pub patterns: Vec<PatternHint>,
    /// What no one takes, for a person.
    pub notes: Vec<String>,
}

/// A table with a sample of its items.
#[derive(Debug, Clone)]
pub struct TableMaterial {
    /// The table.
    pub table: Table,
    /// Items, evenly from all that came. Guards of unique values and records of requests are none.
    pub items: Vec<Item>,
    /// How many came.
    pub seen: u64,
    /// The types that sources name.
    pub types: Vec<TypeHint>,
}

/// A receiver that keeps a sample.
#[derive(Debug)]
pub struct Gathered {
    most: usize,
    tables: Vec<Table>,
    samples: BTreeMap<Origin, Sample>,
    /// The file that is read.
    file: String,
    types: Vec<(Option<String>, TypeHint)>,
    patterns: Vec<PatternHint>,
    notes: Vec<String>,
}

/// Where items come from.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Origin {
    /// A table of this name.
    Table(String),
    /// A file that names no table.
    File(String),
}

/// Items by lot, each with the same chance, which is halved whenever the sample is full, by number or by bytes. Every
/// n-th item would leave out what always stands between, such as the one profile after the nine orders of each
/// customer. The same items have the same lots.
#[derive(Debug)]
struct Sample {
    /// Each item with its lot.
    items: Vec<(u64, Item)>,
    seen: u64,
    lots: fastrand::Rng,
    /// The greatest lot that draws an item.
    end: u64,
    bytes: usize,
}

/// The items and the attributes that are looked at for the keys of a table.
const KEY_ITEMS: usize = 1_000;
const KEY_COLUMNS: usize = 32;
/// The most bytes of samples, as DynamoDB counts them: of the first, and less of each that follows.
const MOST_BYTES: usize = 64 * 1024 * 1024;
/// The file with the callers of samples.
pub const CALLERS: &str = "callers.json";

impl Gathered {
    /// A receiver that keeps at most so many items of each table, and of more about half as many or more.
    pub fn new(most: usize) -> Self {
        Self {
            most: most.max(2),
            tables: Vec::new(),
            samples: BTreeMap::new(),
            file: String::new(),
            types: Vec::new(),
            patterns: Vec::new(),
            notes: Vec::new(),
        }
    }

    /// What came. The items of a file that names no table are of the described table of the file's name whose keys they
    /// have, or of the only one with these keys; else of a table that they show.
    pub fn material(self) -> Material {
        let mut material = Material { tables: Vec::new(), patterns: self.patterns, notes: self.notes };
        let mut tables: Vec<Table> = Vec::new();
        for table in self.tables {
            match tables.iter_mut().find(|known| known.name == table.name) {
                Some(known) => join(known, table),
                None => tables.push(table),
            }
        }
        let described = tables.len();
        let mut samples: BTreeMap<String, Sample> = BTreeMap::new();
        for (origin, sample) in self.samples {
            let (seen, items) = (sample.seen, sample.items());
            let name = match origin {
                Origin::Table(name) => name,
                Origin::File(file) => table_of_file(&file, &items, (&tables, described)),
            };
            if !tables.iter().any(|table| table.name == name) {
                tables.extend(guessed_table(&name, &items));
            }
            samples.entry(name).or_default().append((seen, items), self.most);
        }
        for table in tables {
            let sample = samples.remove(&table.name).unwrap_or_default();
            let is_of = |(name, _): &&(Option<String>, TypeHint)| name.as_ref().is_none_or(|name| *name == table.name);
            let types = self.types.iter().filter(is_of).map(|(_, hint)| hint.clone()).collect();
            // Items whose keys have another type than the table are none of it.
            let is_of_table = |item: &Item| {
                table.primary_key().all(|key| has_type(item, key))
                    && !is_guard(&table, item)
                    && !is_record(&table, item)
            };
            let (seen, mut items) = (sample.seen, sample.items());
            items.retain(is_of_table);
            material.tables.push(TableMaterial { table, items, seen, types });
        }
        material
    }
}

impl Receiver for Gathered {
    fn table(&mut self, table: Table) {
        self.tables.push(table);
    }

    fn item(&mut self, table: Option<&str>, item: Item) -> ControlFlow<()> {
        let origin = table.map_or_else(|| Origin::File(self.file.clone()), |table| Origin::Table(table.to_owned()));
        // The callers of samples stand beside the items.
        if !matches!(&origin, Origin::File(file) if file.ends_with(CALLERS)) {
            // All samples together are bounded.
            let most_bytes = MOST_BYTES / (self.samples.len() + 1);
            self.samples.entry(origin).or_default().take(item, (self.most, most_bytes));
        }
        ControlFlow::Continue(())
    }

    fn type_hint(&mut self, table: Option<&str>, hint: TypeHint) {
        self.types.push((table.map(str::to_owned), hint));
    }

    fn pattern_hint(&mut self, hint: PatternHint) {
        self.patterns.push(hint);
    }

    fn note(&mut self, note: String) {
        self.notes.push(note);
    }

    fn place(&mut self, place: &SourcePlace) {
        if self.file != place.file {
            self.file.clone_from(&place.file);
        }
    }
}

impl Default for Sample {
    fn default() -> Self {
        Self { items: Vec::new(), seen: 0, lots: fastrand::Rng::with_seed(0), end: u64::MAX, bytes: 0 }
    }
}

impl Sample {
    fn take(&mut self, item: Item, (most, most_bytes): (usize, usize)) {
        self.seen += 1;
        let lot = self.lots.u64(..);
        if lot > self.end {
            return;
        }
        self.bytes += item_size(&item);
        self.items.push((lot, item));
        while self.items.len() > most || self.bytes > most_bytes && self.items.len() > 1 {
            self.end /= 2;
            // Whatever the lots are, an item stays.
            let least = self.items.iter().map(|(lot, _)| *lot).min().unwrap_or_default();
            let end = self.end.max(least);
            self.items.retain(|(lot, _)| *lot <= end);
            self.bytes = self.items.iter().map(|(_, item)| item_size(item)).sum();
        }
    }

    /// Adds the sample of so many items.
    fn append(&mut self, (seen, items): (u64, Vec<Item>), most: usize) {
        let seen = self.seen + seen;
        items.into_iter().for_each(|item| self.take(item, (most, MOST_BYTES)));
        self.seen = seen;
    }

    /// The items, in the order in which they came.
    fn items(self) -> Vec<Item> {
        self.items.into_iter().map(|(_, item)| item).collect()
    }
}

/// The name of the table of a file's items. Of the tables, so many first ones are described.
fn table_of_file(file: &str, items: &[Item], (tables, described): (&[Table], usize)) -> String {
    let name = table_name(file);
    let fits = |table: &Table| {
        let having = items.iter().filter(|item| has_key(table, item)).count();
        having > 0 && having * 10 >= items.len() * 9
    };
    let fitting: Vec<&Table> = tables.iter().filter(|table| fits(table)).collect();
    let is_described = |table: &&&Table| tables[..described].iter().any(|known| known.name == table.name);
    let of_description: Vec<&&Table> = fitting.iter().filter(is_described).collect();
    match (fitting.iter().find(|table| table.name == name), of_description.as_slice()) {
        (Some(own), _) => own.name.clone(),
        (None, [only]) => only.name.clone(),
        // Two files of one name in two directories may hold items of two tables.
        _ => names::free(&name, |name| tables.iter().any(|table| table.name == name)),
    }
}

fn has_key(table: &Table, item: &Item) -> bool {
    table.primary_key().all(|key| item.contains_key(&key.name))
}

/// The name of a table for a file: that of the file, as far as a table may have it (DynamoDB developer guide, "Naming
/// rules").
pub fn table_name(file: &str) -> String {
    let name = Path::new(file).file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let stem =
        [".gz", ".json", ".jsonl", ".csv", ".txt"].iter().fold(name.as_str(), |name, end| name.trim_end_matches(end));
    let allowed = |letter: &char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | '.');
    let stem: String = stem.chars().filter(allowed).take(255).collect();
    if stem.len() < 3 { "table".to_owned() } else { stem }
}

/// Whether an item is the guard of a unique value.
pub fn is_guard(table: &Table, item: &Item) -> bool {
    matches!(item.get(&table.partition.name), Some(Attribute::S(text)) if is_guard_key(text.as_str()))
}

/// Whether an item is the record of a request.
pub fn is_record(table: &Table, item: &Item) -> bool {
    matches!(item.get(&table.partition.name), Some(Attribute::S(text)) if is_record_key(text.as_str()))
}

/// A table that several sources describe.
fn join(known: &mut Table, more: Table) {
    for index in more.indexes {
        if !known.indexes.iter().any(|other| other.name == index.name) {
            known.indexes.push(index);
        }
    }
    known.time_to_live = known.time_to_live.take().or(more.time_to_live);
    known.stream = known.stream.or(more.stream);
}

/// The table that items show: two attributes that all of them have and that tell them apart.
fn guessed_table(name: &str, items: &[Item]) -> Option<Table> {
    let first = items.first()?;
    let key = |name: &str| {
        let kind = match first.get(name)? {
            Attribute::S(_) => KeyType::S,
            Attribute::N(_) => KeyType::N,
            _ => return None,
        };
        Some(KeyAttribute { name: name.to_owned(), kind })
    };
    let in_all: Vec<&str> = first
        .keys()
        .map(|name| &**name)
        .filter(|name| key(name).is_some_and(|key| items.iter().all(|item| has_type(item, &key))))
        .collect();
    let (partition, sort) = guessed_key(&in_all, items)?;
    let mut table = Table::new(name, key(partition)?, sort.and_then(key));
    super::shape::indexes::add_guessed(&mut table, items);
    Some(table)
}

/// Whether an item has a key attribute, of its type.
fn has_type(item: &Item, key: &KeyAttribute) -> bool {
    matches!(
        (item.get(&key.name), key.kind),
        (Some(Attribute::S(_)), KeyType::S) | (Some(Attribute::N(_)), KeyType::N) | (Some(Attribute::B(_)), KeyType::B)
    )
}

/// The attributes of the key: by their usual names, or by what tells all items apart.
fn guessed_key<'n>(in_all: &[&'n str], items: &[Item]) -> Option<(&'n str, Option<&'n str>)> {
    let items = &items[..items.len().min(KEY_ITEMS)];
    let named = |names: &[&str]| {
        in_all.iter().copied().find(|name| names.contains(&name.to_lowercase().replace(['_', '-'], "").as_str()))
    };
    let partition = named(&["pk", "partitionkey", "hashkey", "hash"]);
    let sort = named(&["sk", "sortkey", "rangekey", "range"]);
    if let Some(partition) = partition {
        return Some((partition, sort));
    }
    let distinct = |names: &[&str]| {
        let texts: BTreeSet<Vec<String>> =
            items.iter().map(|item| names.iter().map(|name| format!("{:?}", item.get(name))).collect()).collect();
        texts.len()
    };
    // Of one attribute that tells items apart, the first: exports have keys first where they keep an order.
    if let Some(alone) = in_all.iter().find(|name| distinct(&[name]) == items.len()) {
        return Some((alone, None));
    }
    let first = &in_all[..in_all.len().min(KEY_COLUMNS)];
    let pairs = first.iter().flat_map(|one| first.iter().map(move |other| (*one, *other)));
    pairs
        .filter(|(one, other)| one != other && distinct(&[one, other]) == items.len())
        .min_by_key(|(one, other)| (distinct(&[one]), std::cmp::Reverse(distinct(&[other]))))
        .map(|(one, other)| (one, Some(other)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(sort: &str, bytes: usize) -> Item {
        let text = |text: String| Attribute::S(text.into());
        [("sk".to_owned(), text(sort.to_owned())), ("text".to_owned(), text("x".repeat(bytes)))].into_iter().collect()
    }

    fn sort_of(item: &Item) -> &str {
        match item.get("sk") {
            Some(Attribute::S(text)) => text.as_str(),
            _ => "",
        }
    }

    #[test]
    fn a_sample_has_its_share_of_what_always_stands_between() {
        for total in [1_000, 1_001, 10_000, 64_000] {
            let mut sample = Sample::default();
            for number in 0..total {
                sample.take(item(if number % 10 == 9 { "PROFILE" } else { "ORDER" }, 10), (1_000, MOST_BYTES));
            }
            let (seen, items) = (sample.seen, sample.items());
            assert_eq!(seen, total);
            assert!(items.len() <= 1_000 && items.len() > 250, "{} of {total}", items.len());
            let profiles = items.iter().filter(|item| sort_of(item) == "PROFILE").count();
            assert!((50..150).contains(&(profiles * 1_000 / items.len())), "{profiles} of {}", items.len());
        }
    }

    #[test]
    fn a_sample_is_bounded_by_bytes_and_never_empty() {
        let mut sample = Sample::default();
        for _ in 0..100 {
            sample.take(item("LARGE", 1_000), (1_000, 10_000));
            assert!(!sample.items.is_empty() && sample.bytes <= 10_000);
        }
        let mut sample = Sample::default();
        (0..3).for_each(|_| sample.take(item("LARGE", 20_000), (1_000, 10_000)));
        assert_eq!(sample.items.len(), 1);
    }
}
