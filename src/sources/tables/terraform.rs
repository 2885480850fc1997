//! A configuration of Terraform in (AWS provider, resource `aws_dynamodb_table`); its tables out. What only a plan
//! knows is left to the label. Must not know files.

use super::create_table::{DescribedTable, kind_named, view_named};
use crate::schema::table::{Billing, Capacity, Index, KeyAttribute, KeyType, Projection, Table};
use hcl::eval::{Context, Evaluate};
use hcl::{Block, Body, Expression, Value};

/// The deepest brackets within each other: the parser goes down a step of the stack for each.
const MAX_DEPTH: usize = 64;

/// How often local values that need each other are tried.
const ROUNDS: usize = 4;

/// Whether a text is such a configuration.
pub fn is_configuration(text: &str) -> bool {
    ["resource \"aws_dynamodb_table\"", "terraform-aws-modules/dynamodb-table"].iter().any(|words| text.contains(words))
}

/// The tables of a configuration.
pub fn tables(text: &str) -> Result<Vec<DescribedTable>, String> {
    if depth(text) > MAX_DEPTH {
        return Err(format!("its brackets nest deeper than {MAX_DEPTH} levels"));
    }
    let why =
        |error: hcl::Error| format!("this is no configuration of Terraform: {}", with_short_lines(&error.to_string()));
    let body: Body = hcl::parse(text).map_err(why)?;
    let values = Values::new(&body);
    let mut found = Vec::new();
    for block in body.blocks() {
        match (block.identifier(), block.labels()) {
            ("resource", [kind, label]) if kind.as_str() == "aws_dynamodb_table" => {
                found.push(values.resource(block, label.as_str())?);
            }
            _ => {}
        }
    }
    Ok(found)
}

/// The most characters of a line of the text that a message shows.
const MAX_LINE: usize = 200;

/// A parser's message, which shows lines of the text, however long these are.
fn with_short_lines(message: &str) -> String {
    let short = |line: &str| match line.char_indices().nth(MAX_LINE) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    };
    message.lines().map(short).collect::<Vec<_>>().join("\n")
}

/// How deep the brackets of a text are at most, whatever is in quotes.
fn depth(text: &str) -> usize {
    let (mut depth, mut deepest) = (0_usize, 0);
    for byte in text.bytes() {
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        deepest = deepest.max(depth);
    }
    deepest
}

/// What the configuration says of its variables and local values.
struct Values {
    context: Context<'static>,
}

impl Values {
    fn new(body: &Body) -> Self {
        let mut values = Self { context: Context::new() };
        let mut variables = hcl::Map::new();
        for block in body.blocks().filter(|block| block.identifier() == "variable") {
            let default = attribute(block, "default").and_then(|default| default.evaluate(&values.context).ok());
            if let (Some(name), Some(default)) = (block.labels().first(), default) {
                variables.insert(name.as_str().to_owned(), default);
            }
        }
        values.context.declare_var("var", variables);
        let mut locals = hcl::Map::new();
        for _ in 0..ROUNDS {
            for block in body.blocks().filter(|block| block.identifier() == "locals") {
                for local in block.body().attributes() {
                    if let Ok(value) = local.expr().evaluate(&values.context) {
                        locals.insert(local.key().to_owned(), value);
                    }
                }
            }
            values.context.declare_var("local", locals.clone());
        }
        values
    }

    fn value(&self, block: &Block, name: &str) -> Option<Value> {
        attribute(block, name)?.evaluate(&self.context).ok()
    }

    fn text(&self, block: &Block, name: &str) -> Option<String> {
        match self.value(block, name)? {
            Value::String(text) => Some(text),
            _ => None,
        }
    }

    fn number(&self, block: &Block, name: &str) -> Option<u32> {
        match self.value(block, name)? {
            Value::Number(number) => number.as_u64().and_then(|number| u32::try_from(number).ok()),
            _ => None,
        }
    }

    fn resource(&self, block: &Block, label: &str) -> Result<DescribedTable, String> {
        let mut notes = Vec::new();
        let name = self.text(block, "name").unwrap_or_else(|| label.to_owned());
        let partition = self.text(block, "hash_key").ok_or_else(|| format!("the table {label} has no hash_key"))?;
        let mut key = |attribute: String| {
            let kind = self.kind(block, &attribute).unwrap_or_else(|| {
                notes.push(format!("{label} does not say of which type {attribute} is: a text is assumed"));
                KeyType::S
            });
            KeyAttribute { name: attribute, kind }
        };
        let mut table = Table::new(name, key(partition), self.text(block, "range_key").map(&mut key));
        for (kind, local) in [("global_secondary_index", false), ("local_secondary_index", true)] {
            for index in blocks(block, kind) {
                let name = self.text(index, "name").ok_or_else(|| format!("an index of {label} has no name"))?;
                let (own, sort) = self.keys(index);
                let mut partition: Vec<KeyAttribute> = own.into_iter().map(&mut key).collect();
                if local {
                    partition = vec![table.partition.clone()];
                }
                if partition.is_empty() {
                    return Err(format!("the index {name} of {label} has no hash_key"));
                }
                let sort = sort.into_iter().map(&mut key).collect();
                let capacity = self.capacity(index).filter(|_| !local);
                table.indexes.push(Index {
                    name,
                    local,
                    partition,
                    sort,
                    projection: self.projection(index),
                    capacity,
                });
            }
        }
        self.settings(block, &mut table);
        if blocks(block, "dynamic").next().is_some() {
            notes.push(format!("the dynamic blocks of {label} are left out: only a plan knows them"));
        }
        Ok(DescribedTable { table, notes })
    }

    /// The attributes of an index's partition key and of its sort key: as blocks `key_schema` (since version 6.29 of
    /// the provider), or one attribute each.
    fn keys(&self, index: &Block) -> (Vec<String>, Vec<String>) {
        let is_role = |block: &&Block, role: &str| self.text(block, "key_type").as_deref() == Some(role);
        let of_role = |role: &str, name: &str| {
            let elements = blocks(index, "key_schema").filter(|block| is_role(block, role));
            let names: Vec<String> = elements.filter_map(|block| self.text(block, "attribute_name")).collect();
            if names.is_empty() { self.text(index, name).into_iter().collect() } else { names }
        };
        (of_role("HASH", "hash_key"), of_role("RANGE", "range_key"))
    }

    fn kind(&self, block: &Block, attribute: &str) -> Option<KeyType> {
        let mut attributes = blocks(block, "attribute");
        let block = attributes.find(|known| self.text(known, "name").as_deref() == Some(attribute))?;
        kind_named(&self.text(block, "type")?)
    }

    fn projection(&self, index: &Block) -> Projection {
        match self.text(index, "projection_type").as_deref() {
            Some("KEYS_ONLY") => Projection::KeysOnly,
            Some("INCLUDE") => {
                let names = match self.value(index, "non_key_attributes") {
                    Some(Value::Array(names)) => names,
                    _ => Vec::new(),
                };
                Projection::Include(names.iter().filter_map(|name| Some(name.as_str()?.to_owned())).collect())
            }
            _ => Projection::All,
        }
    }

    fn capacity(&self, block: &Block) -> Option<Capacity> {
        Some(Capacity { read: self.number(block, "read_capacity")?, write: self.number(block, "write_capacity")? })
    }

    /// How the table is to run.
    fn settings(&self, block: &Block, table: &mut Table) {
        let is_on = |block: &Block, name: &str| self.value(block, name) == Some(Value::Bool(true));
        let by_request = self.text(block, "billing_mode").as_deref() == Some("PAY_PER_REQUEST");
        table.billing = match self.capacity(block) {
            Some(capacity) if !by_request => Billing::Provisioned(capacity),
            _ => Billing::PayPerRequest,
        };
        if table.billing == Billing::PayPerRequest {
            table.indexes.iter_mut().for_each(|index| index.capacity = None);
        }
        let view = self.text(block, "stream_view_type").filter(|_| is_on(block, "stream_enabled"));
        table.stream = view.and_then(|view| view_named(&view));
        let ttl = blocks(block, "ttl").find(|ttl| self.value(ttl, "enabled") != Some(Value::Bool(false)));
        table.time_to_live = ttl.and_then(|ttl| self.text(ttl, "attribute_name"));
        table.point_in_time_recovery = blocks(block, "point_in_time_recovery").any(|block| is_on(block, "enabled"));
    }
}

fn attribute<'b>(block: &'b Block, name: &str) -> Option<&'b Expression> {
    block.body().attributes().find(|attribute| attribute.key() == name).map(|attribute| attribute.expr())
}

fn blocks<'b>(block: &'b Block, name: &str) -> impl Iterator<Item = &'b Block> {
    block.body().blocks().filter(move |block| block.identifier() == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_shows_only_the_beginning_of_a_long_line() {
        let text = format!("resource \"aws_dynamodb_table\" \"people\" {{\n  {} =\n}}", "né_".repeat(2_000));
        let message = tables(&text).err().unwrap_or_default();
        assert!(message.starts_with("this is no configuration of Terraform") && message.len() < 2_000, "{message}");
    }
}
