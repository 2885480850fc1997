//! A model and its samples in; the chapters about reading and writing out: each field with its requests and their
//! results.

use super::descriptions::Descriptions;
use super::generated::KnownValues;
use super::markdown::{anchor, block, code, json, plain, quote, table};
use super::recording::bench::{Bench, RecordedCall};
use super::recording::examples::{Example, Examples};
use super::recording::operation;
use super::recording::ways;
use super::views::attributes;
use crate::schema::describe::{PathRow, describe};
use crate::schema::model::{Argument, Field, FieldKind, Model, ObjectType};
use anyhow::Result;
use serde_json::{Map, Value};

/// Most items of an answer that are shown.
const RECORDS: usize = 5;
/// Most calls of a field that are shown.
const CALLS: usize = 8;
/// The order of a request's parameters; others follow.
const ORDER: [&str; 21] = [
    "TableName",
    "IndexName",
    "Key",
    "Keys",
    "RequestItems",
    "KeyConditionExpression",
    "FilterExpression",
    "UpdateExpression",
    "ConditionExpression",
    "Select",
    "ProjectionExpression",
    "ExpressionAttributeNames",
    "ExpressionAttributeValues",
    "ScanIndexForward",
    "Limit",
    "ExclusiveStartKey",
    "ConsistentRead",
    "Item",
    "TransactItems",
    "ReturnValues",
    "ClientRequestToken",
];
/// Parameters that say nothing about the design.
const UNTOLD: [&str; 2] = ["ReturnConsumedCapacity", "ReturnItemCollectionMetrics"];

/// The input of the chapters.
pub struct Patterns<'a> {
    /// The model.
    pub model: &'a Model,
    /// The author's descriptions.
    pub descriptions: &'a Descriptions,
    /// Makes the examples.
    pub examples: Examples<'a>,
    /// The values of the samples.
    pub known: KnownValues,
}

impl<'a> Patterns<'a> {
    /// The chapters.
    pub async fn chapters(&self, bench: &mut Bench<'_>) -> Result<String> {
        let rows = describe(self.model);
        let mut text =
            String::from("## Access patterns\n\nThe questions that the API answers, and the requests for each.\n\n");
        let reads = self.shown(|kind| matches!(kind, FieldKind::Find(_) | FieldKind::Nodes(_)));
        text += &summary(&reads, &rows);
        for (parent, field) in reads {
            text += &self.head(parent, field, &rows);
            text += &self.reads(bench, parent, field).await?;
        }
        let writes = self.shown(|kind| matches!(kind, FieldKind::Write(_)));
        if !writes.is_empty() {
            text += "\n## Writes\n\nThe changes that the API makes, each in one write.\n\n";
            text += &summary(&writes, &rows);
        }
        for (parent, field) in writes {
            text += &self.head(parent, field, &rows);
            let FieldKind::Write(write) = &field.kind else { continue };
            if let Some(example) = self.examples.write(bench, parent, field, write).await? {
                text += &self.example(&example);
            }
        }
        Ok(text)
    }

    /// The number of fields that read, and of those that write.
    pub fn counts(&self) -> (usize, usize) {
        let count = |wanted: fn(&FieldKind) -> bool| self.shown(wanted).len();
        (
            count(|kind| matches!(kind, FieldKind::Find(_) | FieldKind::Nodes(_))),
            count(|kind| matches!(kind, FieldKind::Write(_))),
        )
    }

    /// The accessible fields of a kind, root fields first, otherwise in the order of the schema.
    fn shown(&self, wanted: fn(&FieldKind) -> bool) -> Vec<(&'a ObjectType, &'a Field)> {
        ways::fields(self.model).into_iter().filter(|(_, field)| wanted(&field.kind)).collect()
    }

    fn head(&self, parent: &ObjectType, field: &Field, rows: &[PathRow]) -> String {
        let coordinate = format!("{}.{}", parent.name, field.name);
        let said = quote(self.descriptions.get(&coordinate));
        let declared = |argument: &Argument| {
            let default = argument
                .default
                .iter()
                .map(|default| format!(" = {}", operation::literal(self.model, &argument.ty, default)));
            format!("{}: {}{}", argument.name, argument.ty, default.collect::<String>())
        };
        let arguments: Vec<String> = field.arguments.iter().map(declared).collect();
        let arguments = if arguments.is_empty() { String::new() } else { format!("({})", arguments.join(", ")) };
        let signature = code(&format!("{}{arguments}: {}", field.name, field.ty));
        let cells: Vec<Vec<String>> =
            rows.iter().filter(|row| row.field == coordinate).map(|row| cells(row, false)).collect();
        let heading = ["with", "operation", "table or index", "key condition", "bound"];
        format!(
            "\n### {coordinate}\n\n{said}{}{signature}\n\n{}",
            if said.is_empty() { "" } else { "\n" },
            table(&heading, &cells)
        )
    }

    async fn reads(&self, bench: &mut Bench<'_>, parent: &'a ObjectType, field: &'a Field) -> Result<String> {
        let FieldKind::Find(find) = &field.kind else { return Ok(String::new()) };
        let variants = self.examples.variants(field, find);
        let several = variants.len() > 1;
        let mut choosing: Vec<String> = Vec::new();
        for name in variants.iter().flat_map(|variant| &variant.when) {
            if !choosing.contains(name) {
                choosing.push(name.clone());
            }
        }
        choosing.extend(variants.iter().any(|variant| variant.order_by.is_some()).then(|| "orderBy".to_owned()));
        let mut text = String::new();
        for variant in variants {
            if several {
                let order = variant.order_by.iter().map(|order| format!("orderBy: {order}"));
                let with: Vec<String> = variant.when.iter().cloned().chain(order).collect();
                let listed = |names: &[String]| names.iter().map(|name| code(name)).collect::<Vec<_>>().join(", ");
                let with = if with.is_empty() {
                    format!("Without {}", listed(&choosing))
                } else {
                    format!("With {}", listed(&with))
                };
                text += &format!("\n#### {with}\n");
            }
            text += &match self.examples.read(bench, parent, field, &variant).await? {
                Some(example) => self.example(&example),
                None => {
                    "\nNo field of `Query` leads to it. It is read only from an object that a write returns.\n".into()
                }
            };
        }
        Ok(text)
    }

    fn example(&self, example: &Example) -> String {
        let mut text = format!("\n{}", block("graphql", &example.operation));
        if let Some(error) = example.errors.first() {
            text += &format!("\nOn these samples, the response is an error: {}\n", plain(error));
        }
        if example.calls.is_empty() && example.errors.is_empty() {
            text += if example.found || self.examples.records.list.is_empty() {
                "\nIt makes no call: other requests read the answer already.\n"
            } else {
                "\nIt makes no call: other requests read the answer already, or no sample leads to it.\n"
            };
        }
        if example.with_parent && !example.calls.is_empty() {
            text += "\nThe Query also reads the object itself, which is next to the range, so the object needs no GetItem.\n";
        }
        for call in example.calls.iter().take(CALLS) {
            text += &self.call(call, &example.operation);
        }
        if let Some(more) = example.calls.len().checked_sub(CALLS + 1) {
            text += &format!("\nAnd {} more calls.\n", more + 1);
        }
        text
    }

    fn call(&self, call: &RecordedCall, operation: &str) -> String {
        let place = match (call.table(), call.request["IndexName"].as_str()) {
            (Some(table), Some(index)) => format!(" of {} by {}", code(table), code(index)),
            (Some(table), None) => format!(" of {}", code(table)),
            (None, _) => String::new(),
        };
        let request = self.known.normalize_generated(&in_order(&call.request), operation);
        let mut text = format!("\n{}{place}:\n\n{}", code(&call.operation), json(&request));
        let items = call.items();
        if items.is_empty() {
            if let Some(count) = call.answer["Count"].as_u64() {
                text += &format!("\n{count} {}.\n", if count == 1 { "item" } else { "items" });
            }
            return text;
        }
        let mut heading: Vec<&str> = Vec::new();
        for (table, _) in &items {
            let keys = self
                .model
                .tables
                .iter()
                .filter(|declared| declared.name == *table)
                .flat_map(|declared| declared.primary_key());
            for key in keys {
                if !heading.contains(&key.name.as_str()) {
                    heading.push(&key.name);
                }
            }
        }
        let row = |(_, item): &(String, Value)| {
            let item = self.known.normalize_generated(item, operation);
            let members = item.as_object().cloned().unwrap_or_default();
            let mut cells: Vec<String> = heading
                .iter()
                .map(|key| members.get(*key).map(|value| code(&super::views::shown(value))).unwrap_or_default())
                .collect();
            cells.push(attributes(&members, &|name| !heading.contains(&name)));
            cells
        };
        let rows: Vec<Vec<String>> = items.iter().take(RECORDS).map(row).collect();
        let names: Vec<String> = heading.iter().map(|key| code(key)).chain(["attributes".to_owned()]).collect();
        text += &format!("\n{}", table(&names.iter().map(String::as_str).collect::<Vec<_>>(), &rows));
        if items.len() > RECORDS {
            text += &format!("\nAnd {} more.\n", items.len() - RECORDS);
        }
        text
    }
}

fn summary(fields: &[(&ObjectType, &Field)], rows: &[PathRow]) -> String {
    let mut cells_of_all = Vec::new();
    for (parent, field) in fields {
        let coordinate = format!("{}.{}", parent.name, field.name);
        for row in rows.iter().filter(|row| row.field == coordinate) {
            let link = format!("[{coordinate}](#{})", anchor(&coordinate));
            cells_of_all.push(std::iter::once(link).chain(cells(row, true)).collect());
        }
    }
    table(&["pattern", "with", "operation", "table or index", "key condition"], &cells_of_all)
}

/// A row of the columns: arguments, operation, place, condition, and optionally what binds it.
fn cells(row: &PathRow, short: bool) -> Vec<String> {
    let shown = |text: &str| if text.is_empty() { String::new() } else { code(text) };
    let mut cells = vec![shown(&row.when), code(row.operation), code(&row.place), shown(&row.condition)];
    if !short {
        cells.push(shown(&row.bindings));
    }
    cells
}

/// A request with its parameters in the order in which people think of them.
fn in_order(request: &Value) -> Value {
    let Some(members) = request.as_object() else { return request.clone() };
    let inner = |name: &str, value: &Value| match value {
        // The calls in a transaction and the tables of a batch have parameters of their own.
        Value::Array(calls) if name == "TransactItems" => {
            let each = |call: &Value| match call.as_object() {
                Some(call) => call.iter().map(|(kind, call)| (kind.clone(), in_order(call))).collect(),
                None => call.clone(),
            };
            calls.iter().map(each).collect()
        }
        Value::Object(tables) if name == "RequestItems" => {
            tables.iter().map(|(table, wanted)| (table.clone(), in_order(wanted))).collect()
        }
        value => value.clone(),
    };
    let mut ordered = Map::new();
    let known = ORDER.iter().filter_map(|name| members.get_key_value(*name));
    let others = members.iter().filter(|(name, _)| !ORDER.contains(&name.as_str()) && !UNTOLD.contains(&name.as_str()));
    ordered.extend(known.chain(others).map(|(name, value)| (name.clone(), inner(name, value))));
    Value::Object(ordered)
}
