//! Bound values → primary keys and key ranges, as the table layer takes them.
//!
//! A value that cannot be in a key (empty, too long, too wide for its padding) is no error: no item can have it, so nothing is found.

use super::error::ErrorCode;
use super::spread;
use super::state::{Failure, State};
use crate::plan::tree::{BoundRange, KeyBinding, QueryBinding, SpaceId};
use crate::schema::date_time::epoch_millis;
use crate::schema::model::{Access, SortAccess};
use crate::schema::table::{KeyType, Table};
use crate::schema::template::{Part, Template};
use crate::schema::value_type::{Moment, ValueType};
use crate::table::attribute::{Attribute, Item, Key, KeyValue};
use crate::table::call::SortCondition;
use crate::table::key_limits::{MAX_PARTITION_BYTES, MAX_SORT_BYTES};
use crate::table::number as decimal;
use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::Value;
use std::cmp::Ordering;
use std::collections::HashMap;
use std::sync::Arc;

/// The most keys or ranges that the list arguments of one field may make.
pub const MAX_COMBINATIONS: usize = 100;

/// The last character, with which a range without an upper bound ends.
pub(super) const LAST: char = '\u{10FFFF}';

/// Field → value, for one key.
pub type Values = HashMap<String, Value>;

/// A range of one partition.
#[derive(Debug, Clone, PartialEq)]
pub struct KeyRange {
    /// The partition key attribute and its value; `None` is everything (Scan).
    pub partition: Option<(String, KeyValue)>,
    /// The sort key attribute and its condition.
    pub sort: Option<(String, SortCondition)>,
    /// Sort keys at the ends of the range that are not in it: BETWEEN takes both ends in.
    pub excluded: Vec<KeyValue>,
    /// How many bytes of the sort key are the same in the whole range; what follows is what merged ranges are ordered by.
    pub prefix: usize,
    /// Where the key condition lets in more than the range: the text that the ranged field begins with.
    pub begins_with: Option<(String, String)>,
    /// Likewise, where keys with other values begin alike ([`Template::runs_on`]): the values that are meant.
    pub values: Vec<(String, Value)>,
}

/// The values of a key's fields for a row: one map for each combination of list values, and of these with each shard that is read. Empty
/// where a value is null or missing.
pub fn combinations(
    state: &State<'_>,
    (table, key): (&Table, &KeyBinding),
    space: SpaceId,
    row: usize,
) -> Result<Vec<Values>, Arc<Failure>> {
    let mut all = vec![Values::new()];
    for (field, source) in &key.fields {
        let values = match state.value(source, space, row)? {
            // Null chooses no replica, and the rest of the key does.
            None if key.chooses_replica(field) => continue,
            None => return Ok(Vec::new()),
            Some(Value::Array(values)) => values.into_iter().filter(|value| !value.is_null()).collect(),
            Some(value) => vec![value],
        };
        if all.len() * values.len() > MAX_COMBINATIONS {
            let message = format!("At most {MAX_COMBINATIONS} values can be asked for at once.");
            return Err(Failure::new(ErrorCode::LimitExceeded, message));
        }
        if let [value] = values.as_slice() {
            all.iter_mut().for_each(|known| drop(known.insert(field.clone(), value.clone())));
            continue;
        }
        let mut crossed = Vec::with_capacity(all.len() * values.len());
        for value in &values {
            for known in &all {
                let mut known = known.clone();
                known.insert(field.clone(), value.clone());
                crossed.push(known);
            }
        }
        all = crossed;
    }
    match &key.spread {
        Some(reading) => spread::numbered(table, key, *reading, all),
        None => Ok(all),
    }
}

/// The primary key that the values make; `None` where no item can have it.
pub fn primary_key(table: &Table, key: &KeyBinding, values: &Values) -> Option<Key> {
    let partition = {
        let template = key.partition.as_ref()?;
        key_value(table.partition.kind, template, render(template, values)?, MAX_PARTITION_BYTES)?
    };
    let sort = match (&table.sort, &key.sort) {
        (Some(attribute), Some(template)) => {
            Some((attribute.name.clone(), key_value(attribute.kind, template, render(template, values)?, MAX_SORT_BYTES)?))
        }
        (None, _) => None,
        (Some(_), None) => return None,
    };
    Some(Key { partition: (table.partition.name.clone(), partition), sort })
}

fn render(template: &Template, values: &Values) -> Option<String> {
    template.render(&|field| values.get(field).cloned()).ok().flatten()
}

/// A template's text as a key value. In a number key, an instant is its epoch.
fn key_value(kind: KeyType, template: &Template, text: String, longest: usize) -> Option<KeyValue> {
    match kind {
        KeyType::S => (1..=longest).contains(&text.len()).then_some(KeyValue::S(text)),
        KeyType::N => match template.parts.as_slice() {
            [Part::Placeholder { value, .. }] => number(value, text).map(KeyValue::N),
            _ => None,
        },
        KeyType::B => STANDARD.decode(text).ok().filter(|bytes| (1..=longest).contains(&bytes.len())).map(KeyValue::B),
    }
}

/// How many bytes two texts have in common from the front, in whole characters.
fn common_beginning(left: &str, right: &str) -> usize {
    let differs = left.char_indices().zip(right.chars()).find(|((_, a), b)| a != b);
    differs.map_or(left.len().min(right.len()), |((at, _), _)| at)
}

/// The primary key of an item; `None` where an attribute of it is missing or of no key type.
pub fn key_of(table: &Table, item: &Item) -> Option<Key> {
    Key::of(item, &table.partition.name, table.sort.as_ref().map(|sort| sort.name.as_str()))
}

/// A Query's range for the values; `None` where nothing can be in it.
pub fn range(
    state: &State<'_>,
    (table, index): (&Table, Option<usize>),
    query: &QueryBinding,
    values: &Values,
    (space, row): (SpaceId, usize),
) -> Result<Option<KeyRange>, Arc<Failure>> {
    let (partition, sort) = table.keys_of(index);
    let mut range = KeyRange { partition: None, sort: None, excluded: Vec::new(), prefix: 0, begins_with: None, values: Vec::new() };
    let Some(template) = &query.key.partition else { return Ok(Some(range)) };
    let text = render(template, values);
    let Some(value) = text.and_then(|text| key_value(partition.kind, template, text, MAX_PARTITION_BYTES)) else { return Ok(None) };
    range.partition = Some((partition.name.clone(), value));
    let (Access::Query { sort: access, .. }, Some(sort), Some(template)) = (&query.access, sort, &query.key.sort) else {
        return Ok(Some(range));
    };
    let lookup = |field: &str| values.get(field).cloned();
    if let SortAccess::Prefix { parts, .. } | SortAccess::Range { parts, .. } = access
        && template.runs_on(*parts)
    {
        let bound = template.fields().into_iter().filter_map(|field| Some((field.to_owned(), values.get(field)?.clone())));
        range.values = bound.collect();
    }
    let condition = match access {
        SortAccess::All => None,
        SortAccess::Equal { .. } => match render(template, values).and_then(|text| key_value(sort.kind, template, text, MAX_SORT_BYTES)) {
            Some(value) => Some(SortCondition::Equal(value)),
            None => return Ok(None),
        },
        SortAccess::Prefix { parts, .. } => {
            let Ok(Some(mut text)) = template.render_parts(*parts, &lookup) else { return Ok(None) };
            for other in &query.key.prefix_alternatives {
                let Ok(Some(other)) = other.render_parts(*parts, &lookup) else { return Ok(None) };
                text.truncate(common_beginning(&text, &other));
            }
            range.prefix = text.len();
            if text.len() > MAX_SORT_BYTES {
                return Ok(None);
            }
            (!text.is_empty()).then_some(SortCondition::BeginsWith(KeyValue::S(text)))
        }
        SortAccess::Range { parts, .. } => {
            let Ok(Some(prefix)) = template.render_parts(*parts, &lookup) else { return Ok(None) };
            range.prefix = prefix.len();
            match &query.range {
                Some(BoundRange::Between(lower, upper)) => {
                    let bound = |bound: &Option<(crate::plan::tree::ValueSource, bool)>, beyond: Ordering| match bound {
                        None => Ok::<_, Arc<Failure>>(Some(None)),
                        Some((source, inclusive)) => Ok(match state.value(source, space, row)? {
                            None => Some(None),
                            Some(value) => match beyond_width(template, *parts, &value) {
                                Some(side) if side == beyond => return Ok(None),
                                Some(_) => Some(None),
                                None => ranged_text(sort.kind, template, *parts, &value).map(|text| Some((text, *inclusive))),
                            },
                        }),
                    };
                    // No padded number is beyond such a bound, or each is; or no key has such a value.
                    let (Some(lower), Some(upper)) = (bound(lower, Ordering::Greater)?, bound(upper, Ordering::Less)?) else {
                        return Ok(None);
                    };
                    let ends = Ends { lower, upper, after: literal_after(template, *parts) };
                    match sort.kind {
                        KeyType::N => ends.of_values(&mut range.excluded, &KeyValue::N),
                        KeyType::B => ends.of_values(&mut range.excluded, &|text| KeyValue::B(STANDARD.decode(text).unwrap_or_default())),
                        KeyType::S => ends.of_text(&prefix, &mut range.excluded),
                    }
                }
                Some(BoundRange::BeginsWith(source)) => match state.value(source, space, row)? {
                    None => begins(prefix),
                    Some(value) => {
                        let start = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                        match template.render_begins_with(*parts, &start, &lookup) {
                            Ok(Some((text, exact))) => {
                                if let (false, Some(Part::Placeholder { field, .. })) = (exact, template.parts.get(*parts)) {
                                    range.begins_with = Some((field.clone(), start));
                                }
                                begins(text)
                            }
                            _ => return Ok(None),
                        }
                    }
                },
                None => begins(prefix),
            }
        }
    };
    if let Some(SortCondition::Between(low, high)) = &condition {
        // DynamoDB refuses a BETWEEN whose ends are the wrong way round; it holds nothing.
        if compare(low, high) == Ordering::Greater {
            return Ok(None);
        }
    }
    range.sort = condition.map(|condition| (sort.name.clone(), condition));
    Ok(Some(range))
}

/// The order of key values as DynamoDB sorts them: strings by their UTF-8 bytes, numbers by value, binaries by unsigned bytes.
pub fn compare(left: &KeyValue, right: &KeyValue) -> Ordering {
    match (left, right) {
        (KeyValue::N(left), KeyValue::N(right)) => decimal::compare(left, right),
        _ => left.cmp(right),
    }
}

impl KeyRange {
    /// Whether a sort key that the condition lets in is outside of the range after all.
    pub fn excludes(&self, sort: &Attribute) -> bool {
        !self.excluded.is_empty()
            && KeyValue::of(sort).is_some_and(|sort| self.excluded.iter().any(|end| compare(end, &sort) == Ordering::Equal))
    }

    /// Whether a sort key that begins as the condition wants it has the values that are meant.
    pub fn is_meant(&self, template: &Template, sort: &str) -> bool {
        if self.begins_with.is_none() && self.values.is_empty() {
            return true;
        }
        let fields = template.read(sort);
        let value = |field: &str| fields.iter().flatten().find(|(name, _)| name == field).map(|(_, value)| value);
        let begins = self
            .begins_with
            .as_ref()
            .is_none_or(|(field, start)| value(field).and_then(Value::as_str).is_some_and(|value| value.starts_with(start)));
        begins && self.values.iter().all(|(field, meant)| value(field).is_none_or(|value| value == meant))
    }

    /// What of a sort key merged ranges are ordered by: all that comes after what is the same in the whole range.
    pub fn compared(&self, sort: &Attribute) -> Option<KeyValue> {
        match sort {
            Attribute::S(text) => Some(KeyValue::S(text.get(self.prefix..).unwrap_or_default().to_owned())),
            other => KeyValue::of(other),
        }
    }
}

/// The number that a value is kept as: an instant is its epoch, anything else the number it says.
fn number(kind: &ValueType, text: String) -> Option<String> {
    match kind {
        ValueType::DateTime(moment) => {
            let millis = epoch_millis(&text)?;
            Some(if *moment == Moment::EpochSeconds { millis.div_euclid(1000) } else { millis }.to_string())
        }
        _ => Some(text),
    }
}

fn begins(text: String) -> Option<SortCondition> {
    (!text.is_empty()).then_some(SortCondition::BeginsWith(KeyValue::S(text)))
}

/// On which side of all numbers that the placeholder at a position can pad a value is, if it is none of them.
fn beyond_width(template: &Template, position: usize, value: &Value) -> Option<Ordering> {
    let Some(Part::Placeholder { value: kind, width: Some(width), .. }) = template.parts.get(position) else { return None };
    match kind.to_text(value)? {
        text if text.starts_with('-') => Some(Ordering::Less),
        text => (text.len() > usize::from(*width)).then_some(Ordering::Greater),
    }
}

/// The text of a value as the placeholder at a position writes it.
fn ranged_text(key: KeyType, template: &Template, position: usize, value: &Value) -> Option<String> {
    let Some(Part::Placeholder { value: kind, width, .. }) = template.parts.get(position) else { return None };
    let text = kind.to_text(value)?;
    match (key, width) {
        (KeyType::N, _) => number(kind, text),
        (_, Some(width)) => Some(format!("{text:0>width$}", width = usize::from(*width))),
        _ => Some(text),
    }
}

fn literal_after(template: &Template, position: usize) -> Option<&str> {
    match template.parts.get(position + 1) {
        Some(Part::Literal(literal)) => Some(literal),
        _ => None,
    }
}

struct Ends<'t> {
    lower: Option<(String, bool)>,
    upper: Option<(String, bool)>,
    /// The literal that follows the ranged value in the key, if it does not end there.
    after: Option<&'t str>,
}

impl Ends<'_> {
    /// Of numbers and binaries, which are keys by themselves.
    fn of_values(self, excluded: &mut Vec<KeyValue>, key: &dyn Fn(String) -> KeyValue) -> Option<SortCondition> {
        let end = |end: Option<(String, bool)>| end.map(|(text, inclusive)| (key(text), inclusive));
        Some(match (end(self.lower), end(self.upper)) {
            (Some((lower, with_lower)), Some((upper, with_upper))) => {
                excluded.extend((!with_lower).then(|| lower.clone()));
                excluded.extend((!with_upper).then(|| upper.clone()));
                SortCondition::Between(lower, upper)
            }
            (Some((lower, true)), None) => SortCondition::GreaterOrEqual(lower),
            (Some((lower, false)), None) => SortCondition::Greater(lower),
            (None, Some((upper, true))) => SortCondition::LessOrEqual(upper),
            (None, Some((upper, false))) => SortCondition::Less(upper),
            (None, None) => return None,
        })
    }

    fn of_text(self, prefix: &str, excluded: &mut Vec<KeyValue>) -> Option<SortCondition> {
        let Ends { lower, upper, after } = self;
        if lower.is_none() && upper.is_none() {
            return begins(prefix.to_owned());
        }
        let low = match lower {
            None => prefix.to_owned(),
            Some((value, true)) => format!("{prefix}{value}"),
            Some((value, false)) => match after {
                // Every key with this value goes on with the literal, so the first that does not is where the range begins.
                Some(literal) => format!("{prefix}{value}{literal}{LAST}"),
                None => {
                    excluded.push(KeyValue::S(format!("{prefix}{value}")));
                    format!("{prefix}{value}")
                }
            },
        };
        let high = match upper {
            None => format!("{prefix}{LAST}"),
            Some((value, true)) => match after {
                Some(literal) => format!("{prefix}{value}{literal}{LAST}"),
                None => format!("{prefix}{value}"),
            },
            Some((value, false)) => {
                if after.is_none() {
                    excluded.push(KeyValue::S(format!("{prefix}{value}")));
                }
                format!("{prefix}{value}")
            }
        };
        if low.is_empty() {
            return Some(SortCondition::LessOrEqual(KeyValue::S(high)));
        }
        Some(SortCondition::Between(KeyValue::S(low), KeyValue::S(high)))
    }
}
