//! A planned Query and the values of its keys → the ranges of keys that it reads.
//!
//! A value that no key can hold (empty, too long, too wide for its padding) is no error: no item has it, so nothing is
//! found.

use super::bound::RangeValues;
use super::range::KeyRange;
use super::values::{FieldValues, LAST, compare, key_value, number};
use crate::plan::tree::{QueryBinding, WholeKey};
use crate::schema::model::find::{Access, SortAccess};
use crate::schema::scalar::value_type::ValueType;
use crate::schema::table::{KeyAttribute, KeyType};
use crate::schema::template::Template;
use crate::schema::template::part::Part;
use crate::table::data::attribute::KeyValue;
use crate::table::data::call::SortCondition;
use crate::table::data::limits::{PARTITION_KEY_BYTES, SORT_KEY_BYTES};
use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::Value;
use std::cmp::Ordering;

/// The length of the longest common prefix of two texts, in bytes, in whole characters.
fn common_beginning(left: &str, right: &str) -> usize {
    let differs = left.char_indices().zip(right.chars()).find(|((_, a), b)| a != b);
    differs.map_or(left.len().min(right.len()), |((at, _), _)| at)
}

/// The ranges of a Query, each once, for the values of its keys and of its range. Leaves out ranges that cannot hold
/// items.
pub fn key_ranges(query: &QueryBinding, keys: &[FieldValues<'_>], bounds: Option<&RangeValues>) -> Vec<KeyRange> {
    let mut ranges: Vec<KeyRange> = Vec::with_capacity(keys.len());
    for values in keys {
        let range = key_range(query, values, bounds);
        ranges.extend(range.filter(|range| !ranges.contains(range)));
    }
    ranges
}

/// The range of a Query for the values of a key. `None` if it cannot hold items.
fn key_range(query: &QueryBinding, values: &FieldValues<'_>, bounds: Option<&RangeValues>) -> Option<KeyRange> {
    let mut range = KeyRange {
        partition: None,
        equal: Vec::new(),
        sort: None,
        excluded: Vec::new(),
        prefix: 0,
        begins_with: None,
        values: Vec::new(),
    };
    let Some(template) = &query.key.partition else { return Some(range) };
    let lookup = |field: &str| values.get(field);
    bind_whole(query, template, values, &mut range)?;
    let (Access::Query { sort: access, .. }, Some(sort), Some(template)) =
        (&query.access, &query.key.sort_attribute, &query.key.sort)
    else {
        return Some(range);
    };
    if let SortAccess::Prefix { parts, .. } | SortAccess::Range { parts, .. } = access
        && template.runs_on(*parts)
    {
        range.values = meant(template, values);
    }
    let condition = match access {
        SortAccess::All => None,
        SortAccess::Equal { .. } => {
            let text = template.render(&lookup).ok().flatten();
            Some(SortCondition::Equal(key_value(sort.kind, template, text?, SORT_KEY_BYTES)?))
        }
        SortAccess::Prefix { parts, .. } => {
            let Ok(Some(mut text)) = template.render_parts(*parts, &lookup) else { return None };
            for other in &query.key.prefix_alternatives {
                let Ok(Some(other)) = other.render_parts(*parts, &lookup) else { return None };
                text.truncate(common_beginning(&text, &other));
            }
            range.prefix = text.len();
            if text.len() > SORT_KEY_BYTES {
                return None;
            }
            begins(text)
        }
        SortAccess::Range { parts, .. } => {
            RangedPart { key: sort.kind, template, position: *parts }.condition(bounds, values, &mut range)?
        }
    };
    if let Some(SortCondition::Between(low, high)) = &condition {
        // DynamoDB refuses a BETWEEN whose lower bound is above the upper. Such a range holds nothing.
        if compare(low, high) == Ordering::Greater {
            return None;
        }
    }
    range.sort = condition.map(|condition| (sort.name.clone(), condition));
    Some(range)
}

/// Binds the partition, and what else has one value in the range. `None` if no item can have it.
fn bind_whole(
    query: &QueryBinding,
    partition: &Template,
    values: &FieldValues<'_>,
    range: &mut KeyRange,
) -> Option<()> {
    let lookup = |field: &str| values.get(field);
    let whole = |KeyAttribute { name, kind }: &KeyAttribute, template: &Template, longest: usize| {
        let text = template.render(&lookup).ok().flatten()?;
        Some((name.clone(), key_value(*kind, template, text, longest)?))
    };
    range.partition = Some(whole(&query.key.partition_attribute, partition, PARTITION_KEY_BYTES)?);
    for WholeKey { attribute, template, sorts } in &query.key.equal {
        let longest = if *sorts { SORT_KEY_BYTES } else { PARTITION_KEY_BYTES };
        range.equal.push(whole(attribute, template, longest)?);
    }
    Some(())
}

/// The bound values of a template's fields, as its keys have them.
fn meant(template: &Template, values: &FieldValues<'_>) -> Vec<(String, Value)> {
    let bound = template.parts.iter().filter_map(|part| match part {
        Part::Placeholder { field, value, .. } => {
            let meant = value.coerce(&values.get(field)?.to_json()).ok()?;
            let folded = value.case().and_then(|case| Some(Value::from(case.fold(meant.as_str()?))));
            Some((field.clone(), folded.unwrap_or(meant)))
        }
        Part::Literal(_) => None,
    });
    bound.collect()
}

fn begins(text: String) -> Option<SortCondition> {
    (!text.is_empty()).then_some(SortCondition::BeginsWith(KeyValue::S(text)))
}

/// The part of a sort key on which a range lies: the placeholder at this position of the template.
struct RangedPart<'t> {
    key: KeyType,
    template: &'t Template,
    position: usize,
}

impl<'t> RangedPart<'t> {
    /// The condition on the sort key, none for all keys. `None` if no item can meet it.
    fn condition(
        &self,
        bounds: Option<&RangeValues>,
        values: &FieldValues<'_>,
        range: &mut KeyRange,
    ) -> Option<Option<SortCondition>> {
        let lookup = |field: &str| values.get(field);
        let Ok(Some(prefix)) = self.template.render_parts(self.position, &lookup) else { return None };
        range.prefix = prefix.len();
        Some(match bounds {
            Some(RangeValues::Between(lower, upper)) => {
                // A bound that is wider than the padding lets in every padded number, or none.
                let (lower, upper) =
                    (self.end(lower.as_ref(), Ordering::Greater)?, self.end(upper.as_ref(), Ordering::Less)?);
                let ends = RangeBounds { lower, upper, after: self.literal_after() };
                match self.key {
                    KeyType::N => ends.value_condition(&mut range.excluded, &KeyValue::N),
                    KeyType::B => ends.value_condition(&mut range.excluded, &|text| {
                        KeyValue::B(STANDARD.decode(text).unwrap_or_default())
                    }),
                    KeyType::S => ends.text_condition(&prefix, &mut range.excluded),
                }
            }
            Some(RangeValues::BeginsWith(Some(value))) => {
                let start = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                let Ok(Some((text, exact))) = self.template.render_begins_with(self.position, &start, &lookup) else {
                    return None;
                };
                if let (false, Some(Part::Placeholder { field, .. })) = (exact, self.template.parts.get(self.position))
                {
                    let case = self.kind().and_then(ValueType::case);
                    range.begins_with =
                        Some((field.clone(), case.map_or(start.clone(), |case| case.fold(&start).into_owned())));
                }
                begins(text)
            }
            Some(RangeValues::BeginsWith(None)) | None => begins(prefix),
        })
    }

    /// An end of the range, with whether it belongs to it; no end if it lets in all values. `None` if it lets in none,
    /// because it is `beyond` them.
    fn end(&self, end: Option<&(Value, bool)>, beyond: Ordering) -> Option<Option<(String, bool)>> {
        let Some((value, inclusive)) = end else { return Some(None) };
        match self.beyond_width(value) {
            Some(side) if side == beyond => None,
            Some(_) => Some(None),
            // What the form cuts off such a bound lies above every value that has this text.
            None if !self.is_whole(value) => {
                self.text(&self.kind()?.cut(value)?).map(|text| Some((text, beyond == Ordering::Less)))
            }
            None => self.text(value).map(|text| Some(self.clip_to_length((text, *inclusive), beyond))),
        }
    }

    /// An end among texts of one length. A shorter text lies below every text that begins with it, and a longer one
    /// above the text that begins it. Neither is one of them.
    fn clip_to_length(&self, (text, inclusive): (String, bool), beyond: Ordering) -> (String, bool) {
        let Some(Part::Placeholder { limits: Some(limits), .. }) = self.template.parts.get(self.position) else {
            return (text, inclusive);
        };
        let Some(length) = limits.characters.filter(|_| limits.is_needed && self.literal_after().is_some()) else {
            return (text, inclusive);
        };
        match text.chars().count().cmp(&length) {
            Ordering::Less => (text, beyond == Ordering::Greater),
            Ordering::Equal => (text, inclusive),
            Ordering::Greater => (text.chars().take(length).collect(), beyond == Ordering::Less),
        }
    }

    fn kind(&self) -> Option<&'t ValueType> {
        match self.template.parts.get(self.position) {
            Some(Part::Placeholder { value, .. }) => Some(value),
            _ => None,
        }
    }

    /// Whether the placeholder can say all of a value.
    fn is_whole(&self, value: &Value) -> bool {
        self.kind().is_none_or(|kind| kind.holds_all_of(value))
    }

    /// Whether a value is below or above all numbers that the placeholder can pad, or all times of its form; `None` if
    /// it is one of them.
    fn beyond_width(&self, value: &Value) -> Option<Ordering> {
        if let Some(side) = self.kind().and_then(|kind| kind.beyond_form(value)) {
            return Some(side);
        }
        let Some(Part::Placeholder { value: kind, width: Some(width), .. }) = self.template.parts.get(self.position)
        else {
            return None;
        };
        match kind.to_text(value)? {
            text if text.starts_with('-') => Some(Ordering::Less),
            text => (text.len() > usize::from(*width)).then_some(Ordering::Greater),
        }
    }

    /// The text that the placeholder writes for a value.
    fn text(&self, value: &Value) -> Option<String> {
        let Some(Part::Placeholder { value: kind, width, .. }) = self.template.parts.get(self.position) else {
            return None;
        };
        let text = kind.to_text(value)?;
        match (self.key, width) {
            (KeyType::N, _) => number(kind, text),
            (_, Some(width)) => Some(format!("{text:0>width$}", width = usize::from(*width))),
            _ => Some(text),
        }
    }

    fn literal_after(&self) -> Option<&'t str> {
        self.template.parts.get(self.position + 1).map(|next| next.literal().unwrap_or_default())
    }
}

struct RangeBounds<'t> {
    lower: Option<(String, bool)>,
    upper: Option<(String, bool)>,
    /// The literal after the ranged value in the key, which is empty before another value; `None` if the key ends with
    /// the value.
    after: Option<&'t str>,
}

impl RangeBounds<'_> {
    /// The condition on a number or binary key, which is a single value.
    fn value_condition(self, excluded: &mut Vec<KeyValue>, key: &dyn Fn(String) -> KeyValue) -> Option<SortCondition> {
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

    fn text_condition(self, prefix: &str, excluded: &mut Vec<KeyValue>) -> Option<SortCondition> {
        let RangeBounds { lower, upper, after } = self;
        if lower.is_none() && upper.is_none() {
            return begins(prefix.to_owned());
        }
        let low = match lower {
            None => prefix.to_owned(),
            Some((value, true)) => format!("{prefix}{value}"),
            Some((value, false)) => match after {
                // Every key with this value continues with the literal, so the range begins at the first key that does
                // not.
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
                // What follows the value may be empty.
                if after.is_none_or(str::is_empty) {
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
