//! A template of CloudFormation, SAM or the CDK in, or a service of the Serverless Framework; its tables out. What only
//! a deployment knows is left to the logical id. Must not know files.

use super::create_table::{self, DescribedTable};
use crate::schema::table::{KeyAttribute, KeyType, Table};
use serde_json::{Map, Value};

/// The deepest variables in variables.
const MAX_DEPTH: usize = 8;

/// Whether an object is a template.
pub fn is_template(members: &Map<String, Value>) -> bool {
    let resources = members.get("Resources").and_then(Value::as_object);
    resources
        .is_some_and(|all| all.values().any(|resource| resource["Type"].as_str().is_some_and(|ty| ty.contains("::"))))
}

/// Whether an object is a service of the Serverless Framework.
pub fn is_service(members: &Map<String, Value>) -> bool {
    members.contains_key("service") && (members.contains_key("resources") || members.contains_key("provider"))
}

/// The tables of a template.
pub fn tables(template: &Map<String, Value>) -> Result<Vec<DescribedTable>, String> {
    in_resources(template.get("Resources"), &Variables { root: template })
}

/// The tables of a service.
pub fn tables_of_service(service: &Map<String, Value>) -> Result<Vec<DescribedTable>, String> {
    let variables = Variables { root: service };
    let mut found = Vec::new();
    let parts = match service.get("resources") {
        Some(Value::Array(parts)) => parts.iter().collect(),
        part => part.into_iter().collect::<Vec<_>>(),
    };
    for part in parts {
        found.extend(in_resources(part.get("Resources"), &variables)?);
    }
    Ok(found)
}

fn in_resources(resources: Option<&Value>, variables: &Variables<'_>) -> Result<Vec<DescribedTable>, String> {
    let mut found = Vec::new();
    for (id, resource) in resources.and_then(Value::as_object).into_iter().flatten() {
        let properties = resource.get("Properties").unwrap_or(&Value::Null);
        let name = properties.get("TableName").and_then(|name| variables.text(name, 0));
        let name = name.unwrap_or_else(|| id.clone());
        match resource["Type"].as_str() {
            Some("AWS::DynamoDB::Table" | "AWS::DynamoDB::GlobalTable") => {
                let Value::Object(mut members) = variables.resolved(properties, 0) else { continue };
                members.insert("TableName".into(), Value::String(name.clone()));
                found.push(create_table::table(&members, &name)?);
            }
            Some("AWS::Serverless::SimpleTable") => {
                found.push(simple_table(&variables.resolved(properties, 0), name));
            }
            _ => {}
        }
    }
    Ok(found)
}

/// A SimpleTable of SAM (AWS SAM developer guide, "AWS::Serverless::SimpleTable").
fn simple_table(properties: &Value, name: String) -> DescribedTable {
    let key = &properties["PrimaryKey"];
    let kind = match key["Type"].as_str() {
        Some("Number") => KeyType::N,
        Some("Binary") => KeyType::B,
        _ => KeyType::S,
    };
    let partition = KeyAttribute { name: key["Name"].as_str().unwrap_or("id").to_owned(), kind };
    DescribedTable { table: Table::new(name, partition, None), notes: Vec::new() }
}

/// What a template says of its variables.
struct Variables<'t> {
    root: &'t Map<String, Value>,
}

impl Variables<'_> {
    /// A value with its functions as far as the template says them; a name in place of what it does not say.
    fn resolved(&self, value: &Value, depth: usize) -> Value {
        match value {
            Value::Object(members) if depth < MAX_DEPTH && function_of(members).is_some() => {
                match function_of(members) {
                    Some(("Fn::If", Value::Array(parts))) if parts.len() == 3 => self.resolved(&parts[1], depth + 1),
                    Some(("Ref", Value::String(name))) => {
                        Value::String(self.text(value, depth).unwrap_or_else(|| name.clone()))
                    }
                    _ => self.text(value, depth).map_or(Value::Null, Value::String),
                }
            }
            Value::Object(members) => {
                members.iter().map(|(name, value)| (name.clone(), self.resolved(value, depth))).collect()
            }
            Value::Array(values) => {
                let values = values.iter().map(|value| self.resolved(value, depth));
                values.filter(|value| !value.is_null()).collect()
            }
            Value::String(text) if text.contains("${") => {
                Value::String(self.text(value, depth).unwrap_or_else(|| text.clone()))
            }
            other => other.clone(),
        }
    }

    /// The text that a value is; nothing if only a deployment knows it.
    fn text(&self, value: &Value, depth: usize) -> Option<String> {
        if depth > MAX_DEPTH {
            return None;
        }
        match value {
            Value::String(text) => self.interpolated(text, &Map::new(), depth),
            Value::Number(number) => Some(number.to_string()),
            Value::Object(members) => match function_of(members)? {
                ("Ref", Value::String(name)) => self.parameter(name),
                ("Fn::Sub", Value::String(text)) => self.interpolated(text, &Map::new(), depth),
                ("Fn::Sub", Value::Array(parts)) => {
                    let own = parts.get(1).and_then(Value::as_object).cloned().unwrap_or_default();
                    self.interpolated(parts.first()?.as_str()?, &own, depth)
                }
                ("Fn::Join", Value::Array(parts)) => {
                    let texts = parts.get(1)?.as_array()?.iter().map(|part| self.text(part, depth + 1));
                    Some(texts.collect::<Option<Vec<_>>>()?.join(parts.first()?.as_str()?))
                }
                ("Fn::If", Value::Array(parts)) => self.text(parts.get(1)?, depth + 1),
                _ => None,
            },
            _ => None,
        }
    }

    fn parameter(&self, name: &str) -> Option<String> {
        match &self.root.get("Parameters")?[name]["Default"] {
            Value::String(text) => Some(text.clone()),
            Value::Number(number) => Some(number.to_string()),
            _ => None,
        }
    }

    /// A text with its `${…}`.
    fn interpolated(&self, text: &str, own: &Map<String, Value>, depth: usize) -> Option<String> {
        let (mut done, mut rest) = (String::new(), text);
        while let Some(start) = rest.find("${") {
            done.push_str(&rest[..start]);
            let inner = &rest[start + 2..];
            let end = closing(inner)?;
            let name = inner[..end].trim();
            let own = own.get(name).and_then(|value| self.text(value, depth + 1));
            done.push_str(&own.or_else(|| self.parameter(name)).or_else(|| self.serverless(name, depth + 1))?);
            rest = &inner[end + 1..];
        }
        Some(done + rest)
    }

    /// A variable of the Serverless Framework: `self:custom.name`, or anything with a default.
    fn serverless(&self, variable: &str, depth: usize) -> Option<String> {
        if depth > MAX_DEPTH || !variable.contains(':') {
            return None;
        }
        let (name, default) = match variable.split_once(',') {
            Some((name, default)) => (name.trim(), Some(default.trim())),
            None => (variable, None),
        };
        let found = name.strip_prefix("self:").and_then(|path| {
            let mut parts = path.split('.');
            let first = self.root.get(parts.next()?)?;
            self.text(parts.try_fold(first, |value, part| value.get(part))?, depth + 1)
        });
        found.or_else(|| {
            let default = default?;
            let quoted = default.trim_matches(['\'', '"']);
            if quoted.len() < default.len() { Some(quoted.to_owned()) } else { self.serverless(default, depth + 1) }
        })
    }
}

/// The place of the brace that closes a variable, which may have variables in it.
fn closing(text: &str) -> Option<usize> {
    let mut depth = 0;
    text.bytes().position(|byte| {
        match byte {
            b'{' => depth += 1,
            b'}' if depth == 0 => return true,
            b'}' => depth -= 1,
            _ => {}
        }
        false
    })
}

/// The function that an object is, and its argument.
fn function_of(members: &Map<String, Value>) -> Option<(&str, &Value)> {
    let (name, argument) = members.iter().next().filter(|_| members.len() == 1)?;
    (name == "Ref" || name.starts_with("Fn::")).then_some((name.as_str(), argument))
}
