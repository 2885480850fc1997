//! Roles of arguments and sample items in; values with which an operation finds or writes something in the samples out.

use super::records::{Records, SampleItem};
use super::roles::{ArgumentRole, FieldPlace, Relation};
use serde_json::Value;
use std::collections::HashMap;

/// The values of arguments, chosen for one item type after the other. Each attempt chooses other items.
pub struct Choice<'r> {
    records: &'r Records,
    attempt: usize,
    /// Item type → the item to find.
    anchors: HashMap<String, &'r SampleItem>,
    /// Argument → value.
    values: HashMap<String, Value>,
}

impl<'r> Choice<'r> {
    /// Nothing chosen yet; `attempt` counts from 0.
    pub fn new(records: &'r Records, attempt: usize) -> Self {
        Self { records, attempt, anchors: HashMap::new(), values: HashMap::new() }
    }

    /// The chosen item of a type, if there is one.
    pub fn anchor(&self, item: &str) -> Option<&'r SampleItem> {
        self.anchors.get(item).copied()
    }

    /// Chooses the item of a type to find.
    pub fn settle(&mut self, item: &str, record: &'r SampleItem) {
        self.anchors.insert(item.to_owned(), record);
    }

    /// The value of an argument; the name of an input object's field has a dot.
    pub fn value(&self, argument: &str) -> Option<&Value> {
        self.values.get(argument)
    }

    /// Chooses a value for every argument that has a role. The first role that gives one decides.
    pub fn choose(&mut self, roles: &[ArgumentRole]) {
        let (finds, writes): (Vec<&ArgumentRole>, Vec<&ArgumentRole>) =
            roles.iter().partition(|role| !matches!(role.relation, Relation::Writes | Relation::Makes));
        for role in &finds {
            let Some(record) = self.find(&role.place.item, &finds) else { continue };
            if !self.values.contains_key(&role.argument)
                && let Some(value) = self.found(record, role, &finds)
            {
                self.values.insert(role.argument.clone(), value);
            }
        }
        for role in writes {
            if !self.values.contains_key(&role.argument)
                && let Some(value) = self.written(role)
            {
                self.values.insert(role.argument.clone(), value);
            }
        }
    }

    /// The item of a type to find: it has every field that finds it, and matches the values chosen so far if possible.
    fn find(&mut self, item: &str, roles: &[&ArgumentRole]) -> Option<&'r SampleItem> {
        if let Some(record) = self.anchors.get(item) {
            return Some(record);
        }
        let finding = || roles.iter().filter(|role| role.place.item == item && role.relation == Relation::Finds);
        let records = self.records;
        let whole: Vec<&'r SampleItem> = records
            .list
            .iter()
            .filter(|record| is(record, item) && finding().all(|role| at(record, &role.place).is_some()))
            .collect();
        let agrees = |record: &&&SampleItem| {
            finding().all(|role| {
                self.values.get(&role.argument).is_none_or(|value| argument_of(record, role).as_ref() == Some(value))
            })
        };
        let agreeing: Vec<&'r SampleItem> = whole.iter().filter(agrees).copied().collect();
        let candidates = if agreeing.is_empty() { &whole } else { &agreeing };
        let record = *candidates.get(self.attempt % candidates.len().max(1))?;
        self.anchors.insert(item.to_owned(), record);
        Some(record)
    }

    fn found(&self, record: &SampleItem, role: &ArgumentRole, roles: &[&ArgumentRole]) -> Option<Value> {
        match role.relation {
            Relation::Lower | Relation::Upper => {
                // The least or the greatest of the items that the other arguments find.
                let others = || {
                    roles
                        .iter()
                        .filter(|other| other.place.item == role.place.item && other.relation == Relation::Finds)
                };
                let beside =
                    |other: &&SampleItem| others().all(|found| at(other, &found.place) == at(record, &found.place));
                let mut values: Vec<Value> = self
                    .records
                    .items_of_type(&role.place.item)
                    .filter(beside)
                    .filter_map(|other| argument_of(other, role))
                    .collect();
                values.sort_by(|left, right| match (left.as_f64(), right.as_f64()) {
                    (Some(left), Some(right)) => left.total_cmp(&right),
                    _ => left.as_str().cmp(&right.as_str()),
                });
                if role.relation == Relation::Lower { values.into_iter().next() } else { values.pop() }
            }
            Relation::Contains => Some(match argument_of(record, role)? {
                Value::String(text) => {
                    text.split_whitespace().max_by_key(|word| word.chars().count().min(5)).unwrap_or_default().into()
                }
                Value::Array(values) => values.into_iter().next()?,
                value => value,
            }),
            Relation::Begins => Some(match argument_of(record, role)? {
                Value::String(text) => text.chars().take(4).collect::<String>().into(),
                value => value,
            }),
            _ => argument_of(record, role),
        }
    }

    /// Written values come from another item than the one that is found, so that something changes.
    fn written(&self, role: &ArgumentRole) -> Option<Value> {
        let records: Vec<Value> =
            self.records.items_of_type(&role.place.item).filter_map(|record| argument_of(record, role)).collect();
        let value = records.get((self.attempt + 1) % records.len().max(1))?.clone();
        // Without a new value, the current one is written.
        if role.relation == Relation::Makes && self.attempt.is_multiple_of(2) {
            Some(fresh(value))
        } else {
            Some(value)
        }
    }
}

/// A value that no sample has.
fn fresh(value: Value) -> Value {
    match value {
        Value::String(text) if uuid::Uuid::try_parse(&text).is_ok() => "00000000-0000-4000-8000-000000000001".into(),
        Value::String(text) if crate::schema::scalar::date_time::canonical_instant(&text).is_some() => {
            Value::String(text)
        }
        Value::String(text) => format!("new.{text}").into(),
        Value::Number(number) => {
            number.as_i64().and_then(|number| number.checked_add(1000)).map_or(Value::Number(number), Value::from)
        }
        value => value,
    }
}

fn is(record: &SampleItem, item: &str) -> bool {
    record.ty.as_deref() == Some(item)
}

/// The value at a place of an item; for a list, that of its first element.
pub fn at<'r>(record: &'r SampleItem, place: &FieldPlace) -> Option<&'r Value> {
    let value = match &place.list {
        Some(list) => record.fields.get(list)?.as_array()?.first()?.get(&place.field)?,
        None => record.fields.get(&place.field)?,
    };
    Some(value).filter(|value| !value.is_null())
}

/// The argument for the value at a role's place, without the texts around it.
fn argument_of(record: &SampleItem, role: &ArgumentRole) -> Option<Value> {
    let value = at(record, &role.place)?;
    let (front, behind) = &role.around;
    match value {
        Value::String(text) => Some(text.strip_prefix(front.as_str())?.strip_suffix(behind.as_str())?.into()),
        value => Some(value.clone()),
    }
}
