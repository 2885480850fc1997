//! A plan as text for people and as JSON for tools: one line, or one object, a read.

use super::tree::*;
use super::wave::dependencies;
use crate::schema::model::{Access, Model, SortAccess};
use crate::schema::template::{Part, Template};
use serde_json::{Value, json};
use std::fmt::Write;

impl Plan {
    /// The plan as text: waves, and the reads of each.
    pub fn to_text(&self, model: &Model) -> String {
        let mut text = String::new();
        for (number, wave) in self.waves.iter().enumerate() {
            let _ = writeln!(text, "wave {}", number + 1);
            for &id in wave {
                let read = &self.reads[id];
                let place = place(model, read);
                let key = key_condition(read);
                let _ = writeln!(text, "  #{id} {} {} on {place}", operation(read), read.item);
                let _ = writeln!(text, "     for   {}{}", read.coordinate, each(self, read));
                let _ = writeln!(text, "     key   {key}");
                let _ = writeln!(text, "     asks  {}", read.projection.join(", "));
                if let Action::Query(query) = &read.action {
                    let _ = writeln!(text, "     wants {}", want(query));
                }
            }
        }
        if text.is_empty() {
            text.push_str("nothing to read\n");
        }
        text
    }

    /// The plan as JSON: a list of reads, each with its wave and what it waits for.
    pub fn to_json(&self, model: &Model) -> Value {
        let reads = self.reads.iter().enumerate().map(|(id, read)| {
            let table = &model.tables[read.table];
            let mut step = json!({
                "id": id,
                "wave": read.wave,
                "operation": operation(read),
                "field": read.coordinate,
                "type": read.item,
                "table": table.name,
                "key": key_condition(read),
                "projection": &read.projection[..],
                "after": dependencies(read, &self.spaces),
            });
            if let (Some(index), Value::Object(step)) = (read.index, &mut step) {
                step.insert("index".into(), json!(table.indexes[index].name));
            }
            if let (Action::Query(query), Value::Object(step)) = (&read.action, &mut step) {
                step.insert("wants".into(), json!(want(query)));
            }
            step
        });
        json!({ "waves": self.waves.len(), "reads": reads.collect::<Vec<_>>() })
    }
}

fn operation(read: &Read) -> &'static str {
    match &read.action {
        Action::Get(_) | Action::Complete(_) => "Get",
        Action::Query(query) if query.key.partition.is_none() => "Scan",
        Action::Query(_) => "Query",
    }
}

fn place(model: &Model, read: &Read) -> String {
    let table = &model.tables[read.table];
    match read.index {
        Some(index) => format!("{}.{}", table.name, table.indexes[index].name),
        None => table.name.clone(),
    }
}

fn each(plan: &Plan, read: &Read) -> String {
    match &plan.spaces[read.space].origin {
        Origin::Operation => String::new(),
        Origin::Read(of) => format!(", each of #{of}"),
        Origin::Elements(_, reader) => format!(", each of {}", reader.field),
    }
}

fn want(query: &QueryBinding) -> String {
    let order = if query.descending { ", descending" } else { "" };
    let filter = if query.filter.is_some() { ", filtered" } else { "" };
    let much = match query.want {
        Want::First => "the first".to_owned(),
        Want::Whole { max } => format!("all, up to {max}"),
        Want::Page { .. } => "a page".to_owned(),
        Want::Count => "the number".to_owned(),
    };
    format!("{much}{order}{filter}")
}

/// The key condition in DynamoDB's form: arguments as `$name`, values of other reads as `#read.field`.
pub fn key_condition(read: &Read) -> String {
    let (key, sort) = match &read.action {
        Action::Complete(of) => return format!("the key of #{of}"),
        Action::Get(key) => (key, None),
        Action::Query(query) => match &query.access {
            Access::Query { sort, .. } => (&query.key, Some((sort, query.range.as_ref()))),
            _ => return "everything".to_owned(),
        },
    };
    let mut condition = String::new();
    if let Some(partition) = &key.partition {
        let _ = write!(condition, "{} = {}", key.partition_attribute, fill(partition, partition.parts.len(), key));
    }
    let (Some(attribute), Some(template)) = (&key.sort_attribute, &key.sort) else { return condition };
    let whole = template.parts.len();
    match sort {
        None | Some((SortAccess::Equal { .. }, _)) => {
            let _ = write!(condition, " AND {attribute} = {}", fill(template, whole, key));
        }
        Some((SortAccess::Prefix { parts, .. }, _)) => {
            let _ = write!(condition, " AND begins_with({attribute}, {})", fill(template, *parts, key));
        }
        Some((SortAccess::Range { parts, .. }, Some(range))) => {
            let prefix = fill(template, *parts, key);
            let _ = write!(condition, " AND {attribute} from {prefix}{}", bounds(range));
        }
        _ => {}
    }
    condition
}

fn bounds(range: &BoundRange) -> String {
    match range {
        BoundRange::BeginsWith(source) => format!(" begins_with {}", name(source)),
        BoundRange::Between(lower, upper) => {
            let side = |bound: &Option<(ValueSource, bool)>, strict: &str, loose: &str| {
                bound.as_ref().map(|(source, inclusive)| format!(" {} {}", if *inclusive { loose } else { strict }, name(source)))
            };
            [side(lower, ">", ">="), side(upper, "<", "<=")].into_iter().flatten().collect()
        }
    }
}

/// A template with its placeholders replaced by the names of their sources.
fn fill(template: &Template, parts: usize, key: &KeyBinding) -> String {
    let mut text = String::from("\"");
    for part in &template.parts[..parts.min(template.parts.len())] {
        match part {
            Part::Literal(literal) => text.push_str(literal),
            Part::Placeholder { field, .. } => {
                let source = key.fields.get(field).map_or_else(|| field.clone(), name);
                let _ = write!(text, "{{{source}}}");
            }
        }
    }
    text.push('"');
    text
}

fn name(source: &ValueSource) -> String {
    match source {
        ValueSource::Argument(_, name) => format!("${name}"),
        ValueSource::Field(Holder::Read(read), reader) => format!("#{read}.{}", reader.field),
        ValueSource::Field(Holder::Element(_), reader) => format!("element.{}", reader.field),
        ValueSource::Text(parts) => parts
            .iter()
            .map(|part| match part {
                SourceText::Literal(text) => text.clone(),
                SourceText::Value(source) => name(source),
            })
            .collect(),
    }
}
