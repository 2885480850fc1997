//! A find for one parent in; its bound values, whether an item has these values, and the order of the items out. Must
//! not know other fields.

use super::document::Arguments;
use super::rows::{Certain, Code, Row};
use super::values::{compare, compare_times, keys_of, may_end_at, scalar_of, stored_of, text_to_find};
use keyfold::execute::caller::Caller;
use keyfold::schema::model::ObjectType;
use keyfold::schema::model::find::sharding::KeyChoice;
use keyfold::schema::model::find::{Access, AccessPath, Find, PathKeys, Range, SharedKeys, SortAccess};
use keyfold::schema::model::keys::ItemKeys;
use keyfold::schema::model::source::{Source, TextPart};
use keyfold::schema::scalar::value_type::ValueType;
use keyfold::schema::table::{KeyType, Table};
use keyfold::schema::template::Template;
use keyfold::schema::template::part::Part;
use keyfold::table::data::attribute::{Attribute, Item};
use serde_json::{Map, Value};
use std::cmp::Ordering;
use std::collections::BTreeSet;

/// The most keys or ranges that the list arguments of a field may give.
const MOST: usize = 100;

/// A find for one parent.
pub struct Matching<'f, 'w> {
    pub find: &'w Find,
    pub path: &'w AccessPath,
    /// The keys of the item type, or what the keys of several types have in common.
    pub keys: &'w ItemKeys,
    pub shared: Option<&'w SharedKeys>,
    pub table: &'w Table,
    pub parent: &'f Row<'w>,
    pub arguments: &'f Arguments,
    pub caller: &'w Caller,
}

/// The part of the sort key that is bound.
struct SortUse<'w> {
    attribute: &'w str,
    kind: KeyType,
    template: &'w Template,
    /// This many parts from the front; all, if there is no number.
    parts: Option<usize>,
    range: Option<&'w Range>,
}

impl<'w> Matching<'_, 'w> {
    /// The value of a source.
    pub fn source(&self, source: &Source) -> Value {
        match source {
            Source::Argument(name) => {
                let mut names = name.split('.');
                let first = self.arguments.values.get(names.next().unwrap()).cloned().unwrap_or_default();
                names.fold(first, |value, name| value.get(name).cloned().unwrap_or_default())
            }
            Source::Parent(field) => self.parent.value(field),
            Source::Text(parts) => {
                let mut text = String::new();
                for part in parts {
                    match part {
                        TextPart::Literal(literal) => text += literal,
                        TextPart::Value(source) => match self.source(source) {
                            Value::Null => return Value::Null,
                            Value::String(value) => text += &value,
                            other => text += &other.to_string(),
                        },
                    }
                }
                Value::String(text)
            }
            Source::Claim(claim) => self.caller.text(claim).map_or(Value::Null, Value::String),
            Source::Item(..) => Value::Null,
        }
    }

    /// The bound values: one map for each combination of the values of lists.
    pub fn combinations(&self) -> Result<Vec<Map<String, Value>>, Code> {
        let mut all = vec![Map::new()];
        for (field, source) in &self.path.bindings {
            let values = match self.source(source) {
                Value::Null if field.starts_with("replica:") => continue,
                Value::Null => return Ok(Vec::new()),
                Value::Array(values) => values.into_iter().filter(|value| !value.is_null()).collect(),
                value => vec![value],
            };
            let mut crossed = Vec::new();
            for value in &values {
                for known in &all {
                    let mut known: Map<String, Value> = known.clone();
                    known.insert(field.clone(), value.clone());
                    crossed.push(known);
                }
            }
            all = crossed;
        }
        let every = self.path.reading(self.table, self.keys).filter(|reading| reading.which == KeyChoice::Every);
        let ranges = all.len() * every.map_or(1, |reading| usize::from(reading.spread.count));
        if ranges > MOST { Err("LIMIT_EXCEEDED") } else { Ok(all) }
    }

    /// The values that there are, although others are missing.
    pub fn values(&self) -> Map<String, Value> {
        let bound = self.path.bindings.iter().map(|(field, source)| (field.clone(), self.source(source)));
        bound.filter(|(_, value)| !value.is_null() && !value.is_array()).collect()
    }

    /// Whether an item has the values that the find always binds. A source with a missing argument binds nothing.
    pub fn is_certain(&self, row: &Row<'_>, certain: &Certain) -> bool {
        let Some(item) = row.item else { return true };
        certain[&row.ty.name].iter().filter(|(_, source)| self.is_given(source)).all(|(field, source)| {
            let Some(stored) = stored_of(row.ty, field) else { return true };
            let text = |value: &Value| match keys_of(row.ty) {
                Some(_) => text_to_find(row.ty, field, value),
                None => stored.value.plain().to_text(value),
            };
            let own = text(&scalar_of(row.ty, field, item));
            let is_equal = |value: &Value| self.is_none(value, &own, field) || own.is_some() && text(value) == own;
            match self.source(source) {
                Value::Array(values) => values.iter().any(is_equal),
                value => is_equal(&value),
            }
        })
    }

    /// Whether a value is an empty text that counts as null, and the item has none: its key ends early then.
    fn is_none(&self, value: &Value, own: &Option<String>, field: &str) -> bool {
        value.as_str() == Some("") && own.is_none() && may_end_at(self.keys, field)
    }

    /// Whether all arguments of a source are there.
    fn is_given(&self, source: &Source) -> bool {
        match source {
            Source::Argument(_) => !self.source(source).is_null(),
            Source::Text(parts) => parts.iter().all(|part| match part {
                TextPart::Value(source) => self.is_given(source),
                TextPart::Literal(_) => true,
            }),
            Source::Claim(_) | Source::Parent(_) | Source::Item(..) => true,
        }
    }

    /// The fields in the templates of the partition and of what else has one value.
    pub fn partition_fields(&self) -> BTreeSet<&'w str> {
        let PathKeys { partition, equal, .. } = self.path.keys(self.table);
        let at = match &self.path.access {
            Access::Get { partition, .. } | Access::Query { partition, .. } => *partition,
            Access::Scan => return BTreeSet::new(),
        };
        let further = equal.iter().zip(&self.path.equal).map(|(key, at)| &self.keys.keys[&key.name][*at]);
        std::iter::once(&self.keys.keys[&partition.name][at]).chain(further).flat_map(Template::fields).collect()
    }

    fn sort(&self) -> Option<SortUse<'w>> {
        let key = self.path.keys(self.table).sort;
        let (Access::Query { sort, .. }, Some(key)) = (&self.path.access, key) else { return None };
        let (position, parts, range) = match sort {
            SortAccess::All => return None,
            SortAccess::Equal { template } => (*template, None, None),
            SortAccess::Prefix { template, parts } => (*template, Some(*parts), None),
            SortAccess::Range { template, parts, range } => (*template, Some(*parts), Some(range)),
        };
        let template = &self.keys.keys[&key.name][position];
        Some(SortUse { attribute: key.name.as_str(), kind: key.kind, template, parts, range })
    }

    /// Whether the fields of an item have the bound values, and the value of the ranged field is within its range.
    pub fn fits(&self, ty: &ObjectType, values: &Map<String, Value>, item: &Item) -> bool {
        let mut bound = values.iter().filter(|(field, _)| stored_of(ty, field).is_some());
        let equal = bound.all(|(field, value)| {
            let own = text_to_find(ty, field, &scalar_of(ty, field, item));
            self.is_none(value, &own, field) || own.is_some() && text_to_find(ty, field, value) == own
        });
        equal
            && self.is_of_path(values, item)
            && self.sort().is_none_or(|sort| self.in_range(ty, &sort, sort.template, item))
    }

    /// Whether an item stands under an alternative that holds what is bound, and nothing else if a whole key is bound.
    /// An empty text is in none.
    fn is_of_path(&self, values: &Map<String, Value>, item: &Item) -> bool {
        let is_whole = matches!(self.path.access, Access::Get { .. });
        let is_empty = |field: &str, value: &Value| value.as_str() == Some("") && may_end_at(self.keys, field);
        let is_bound = |field: &&str| values.get(*field).is_some_and(|value| !is_empty(field, value));
        let is_of = |attribute: &str, chosen: &Template| {
            let Some(Attribute::S(text)) = item.get(attribute) else { return true };
            let bound: Vec<&str> = chosen.fields().into_iter().filter(is_bound).collect();
            let holds = |template: &&Template| {
                let fields = template.fields();
                bound.iter().all(|field| fields.contains(field)) && (!is_whole || fields.len() == bound.len())
            };
            let mut holding = self.keys.keys[attribute].iter().filter(holds);
            holding.any(|template| !template.is_read_back() || template.read(text).is_some())
        };
        let PathKeys { partition, equal, sort } = self.path.keys(self.table);
        let at = match &self.path.access {
            Access::Get { partition, .. } | Access::Query { partition, .. } => *partition,
            Access::Scan => return true,
        };
        let of_get = match (&self.path.access, sort) {
            (Access::Get { sort: Some(at), .. }, Some(key)) => is_of(&key.name, &self.keys.keys[&key.name][*at]),
            _ => true,
        };
        is_of(&partition.name, &self.keys.keys[&partition.name][at])
            && of_get
            && equal.iter().zip(&self.path.equal).all(|(key, at)| is_of(&key.name, &self.keys.keys[&key.name][*at]))
            && self.sort().is_none_or(|sort| is_of(sort.attribute, sort.template))
    }

    /// The same for an item of one of several types: their keys have the same text in common.
    pub fn fits_together(&self, ty: &ObjectType, values: &Map<String, Value>, item: &Item) -> bool {
        let PathKeys { partition, equal, sort } = self.path.keys(self.table);
        let value = |field: &str| values.get(field).cloned();
        let (partition_at, sort_at) = match &self.path.access {
            Access::Get { partition, sort } => (*partition, *sort),
            Access::Query { partition, .. } => (*partition, None),
            Access::Scan => return true,
        };
        let has = |attribute: &str, template: &Template| {
            let own = text_of(item, attribute);
            let is_text = |template: &Template| {
                template.render(&value).ok().flatten().is_some_and(|wanted| own == Some(wanted.as_str()))
            };
            // Of shards, those whose number is bound, or all.
            match template.spread().filter(|spread| !values.contains_key(&spread.placeholder())) {
                Some(spread) => spread.numbers().any(|number| is_text(&template.numbered(number))),
                None => is_text(template),
            }
        };
        if !has(&partition.name, &self.keys.keys[&partition.name][partition_at]) {
            return false;
        }
        if !equal.iter().zip(&self.path.equal).all(|(key, at)| has(&key.name, &self.keys.keys[&key.name][*at])) {
            return false;
        }
        if let (Some(position), Some(sort)) = (sort_at, sort) {
            return has(&sort.name, &self.keys.keys[&sort.name][position]);
        }
        let Some(sort) = self.sort() else { return true };
        let Some(parts) = sort.parts else { return has(sort.attribute, sort.template) };
        let start = self.beginning(&sort, parts, values);
        let own = text_of(item, sort.attribute).unwrap_or_default();
        let of_type = keys_of(ty).unwrap().keys[sort.attribute]
            .iter()
            .find(|template| !template.is_read_back() || template.read(own).is_some());
        own.starts_with(&start) && of_type.is_some_and(|template| self.in_range(ty, &sort, template, item))
    }

    /// The text of the bound parts of the sort key; for several types, the part that they have in common.
    fn beginning(&self, sort: &SortUse<'_>, parts: usize, values: &Map<String, Value>) -> String {
        let text = |template: &Template| {
            template.render_parts(parts, &|field| values.get(field).cloned()).ok().flatten().unwrap_or_default()
        };
        let mut start = text(sort.template);
        for other in &self.path.prefix_alternatives {
            let other = text(other);
            let same = start.char_indices().zip(other.chars()).take_while(|((_, ours), theirs)| ours == theirs);
            let end = same.last().map_or(0, |((at, letter), _)| at + letter.len_utf8());
            start.truncate(end);
        }
        start
    }

    /// Whether the field after the bound parts is within the range, if there is one.
    fn in_range(&self, ty: &ObjectType, sort: &SortUse<'_>, template: &Template, item: &Item) -> bool {
        let (Some(range), Some(parts)) = (sort.range, sort.parts) else { return true };
        let Some(Part::Placeholder { field, value: kind, width, .. }) = template.parts.get(parts) else { return false };
        let value = scalar_of(ty, field, item);
        let by_number = width.is_some() || sort.kind == KeyType::N;
        match range {
            Range::BeginsWith(source) => match self.source(source) {
                Value::Null => true,
                start => text_to_find(ty, field, &value)
                    .zip(text_to_find(ty, field, &start))
                    .is_some_and(|(value, start)| value.starts_with(&start)),
            },
            Range::Between { lower, upper } => {
                let meets = |bound: &Option<(Source, bool)>, wanted: Ordering| {
                    let Some((source, inclusive)) = bound else { return true };
                    let bound = self.source(source);
                    bound.is_null()
                        || order((ty, field), (kind, by_number), &value, &bound)
                            .is_some_and(|order| order == wanted || (*inclusive && order == Ordering::Equal))
                };
                meets(lower, Ordering::Greater) && meets(upper, Ordering::Less)
            }
        }
    }

    /// The store's order of the items in one range: by the sort key, then by the table's key.
    pub fn stored_order(&self, left: &Item, right: &Item) -> Ordering {
        let sort = self.table.keys_of(self.path.index).sort;
        let mut keys = sort.iter().chain(self.table.primary_key());
        let by = |name: &str| {
            left.get(name)
                .zip(right.get(name))
                .and_then(|(left, right)| compare(left, right))
                .unwrap_or(Ordering::Equal)
        };
        keys.by_ref().map(|key| by(&key.name)).find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
    }

    /// Whether the items come in descending order.
    pub fn is_descending(&self) -> bool {
        match self.arguments.values.get("order").and_then(Value::as_str) {
            Some(order) => order == "DESC",
            None => self.path.descending,
        }
    }

    /// Merges several ranges, each in the order of the store, into one list: by the rest of the sort key after the
    /// bound values, then by the position of the range.
    pub fn merged(&self, combinations: &[Map<String, Value>], ranges: Vec<Vec<Row<'w>>>) -> Vec<Row<'w>> {
        let descending = self.is_descending();
        let each = ranges.len() / combinations.len().max(1);
        let several = ranges.len() > 1;
        let mut all: Vec<(Option<Attribute>, Row<'w>)> = Vec::new();
        for (position, mut rows) in ranges.into_iter().enumerate() {
            if descending {
                rows.reverse();
            }
            let values = &combinations[position / each];
            all.extend(rows.into_iter().map(|row| (self.compared(values, row.item.unwrap()), row)));
        }
        if several {
            // Sorting is stable: equal items stay in the order of the ranges.
            all.sort_by(|(left, _), (right, _)| {
                let order = left
                    .as_ref()
                    .zip(right.as_ref())
                    .and_then(|(left, right)| compare(left, right))
                    .unwrap_or(Ordering::Equal);
                if descending { order.reverse() } else { order }
            });
        }
        all.into_iter().map(|(_, row)| row).collect()
    }

    /// The part of an item's sort key by which several ranges are merged.
    fn compared(&self, values: &Map<String, Value>, item: &Item) -> Option<Attribute> {
        let key = self.path.keys(self.table).sort;
        let attribute = item.get(&key?.name)?;
        match (self.sort(), attribute) {
            (Some(sort), Attribute::S(text)) => match sort.parts {
                None => None,
                Some(parts) => {
                    let start = self.beginning(&sort, parts, values);
                    Some(Attribute::S(text.get(start.len()..).unwrap_or_default().into()))
                }
            },
            (Some(sort), _) if sort.parts.is_none() => None,
            _ => Some(attribute.clone()),
        }
    }
}

fn text_of<'i>(item: &'i Item, attribute: &str) -> Option<&'i str> {
    match item.get(attribute)? {
        Attribute::S(text) | Attribute::N(text) => Some(text),
        _ => None,
    }
}

/// The order of two values of a type: as numbers, or as their texts in keys.
fn order(
    (ty, field): (&ObjectType, &str),
    (kind, by_number): (&ValueType, bool),
    left: &Value,
    right: &Value,
) -> Option<Ordering> {
    if kind.is_time() {
        return compare_times(kind, left.as_str()?, right.as_str()?);
    }
    if !by_number {
        return Some(text_to_find(ty, field, left)?.cmp(&text_to_find(ty, field, right)?));
    }
    let (left, right) = (kind.plain().to_text(left)?, kind.plain().to_text(right)?);
    match (by_number, kind) {
        (true, ValueType::DateTime(_)) | (false, _) => Some(left.as_bytes().cmp(right.as_bytes())),
        (true, _) => compare(&Attribute::N(left.into()), &Attribute::N(right.into())),
    }
}
