//! `schema.json` of AWS's DynamoDB MCP server in (awslabs/mcp, DynamoDB server), its tables, types and access patterns
//! out.

use crate::schema::table::{Index, KeyAttribute, KeyType, Projection, Table};
use crate::sources::material::{
    AttributeHint, HintKind, KeyHint, PatternAction, PatternHint, RangeHint, Receiver, TypeHint,
};
use serde::Deserialize;
use serde_json::{Map, Value};

/// The file.
#[derive(Debug, Deserialize)]
struct Schema {
    tables: Vec<SchemaTable>,
}

#[derive(Debug, Deserialize)]
struct SchemaTable {
    table_config: TableConfig,
    #[serde(default)]
    gsi_list: Vec<IndexConfig>,
    entities: Map<String, Value>,
}

#[derive(Debug, Deserialize)]
struct TableConfig {
    table_name: String,
    partition_key: String,
    sort_key: Option<String>,
}

#[derive(Debug, Deserialize)]
struct IndexConfig {
    name: String,
    partition_key: Names,
    sort_key: Option<Names>,
    projection: Option<String>,
    #[serde(default)]
    included_attributes: Vec<String>,
}

/// One name, or several: a key may have several attributes, and several templates.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
enum Names {
    One(String),
    Several(Vec<String>),
}

#[derive(Debug, Deserialize)]
struct Entity {
    pk_template: Option<String>,
    sk_template: Option<String>,
    #[serde(default)]
    gsi_mappings: Vec<Mapping>,
    #[serde(default)]
    fields: Vec<Field>,
    #[serde(default)]
    access_patterns: Vec<Pattern>,
}

#[derive(Debug, Deserialize)]
struct Mapping {
    name: String,
    pk_template: Option<Names>,
    sk_template: Option<Names>,
}

#[derive(Debug, Deserialize)]
struct Field {
    name: String,
    #[serde(rename = "type")]
    kind: String,
    item_type: Option<String>,
    #[serde(default)]
    required: bool,
}

#[derive(Debug, Deserialize)]
struct Pattern {
    name: String,
    description: Option<String>,
    operation: String,
    #[serde(default)]
    parameters: Vec<Parameter>,
    return_type: Option<String>,
    index_name: Option<String>,
    range_condition: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Parameter {
    name: String,
    #[serde(rename = "type")]
    kind: Option<String>,
}

/// Whether an object is such a file.
pub fn is_schema(members: &Map<String, Value>) -> bool {
    let tables = members.get("tables").and_then(Value::as_array);
    tables.and_then(|tables| tables.first()).is_some_and(|table| table.get("table_config").is_some())
}

/// Reads the file.
pub fn read(members: Map<String, Value>, receiver: &mut dyn Receiver) -> Result<(), String> {
    let schema: Schema = serde_json::from_value(Value::Object(members)).map_err(|error| error.to_string())?;
    for table in &schema.tables {
        let mut entities = Vec::new();
        for (name, entity) in &table.entities {
            let entity = Entity::deserialize(entity).map_err(|error| format!("the entity {name}: {error}"))?;
            entities.push((name, entity));
        }
        table.describe(&entities, receiver);
        for (name, entity) in &entities {
            receiver.type_hint(Some(&table.table_config.table_name), table.hint(name, entity));
            for pattern in &entity.access_patterns {
                match pattern.hint(name) {
                    Some(hint) => receiver.pattern_hint(hint),
                    None => receiver.note(format!("the access pattern {} is a {}", pattern.name, pattern.operation)),
                }
            }
        }
    }
    Ok(())
}

impl SchemaTable {
    fn describe(&self, entities: &[(&String, Entity)], receiver: &mut dyn Receiver) {
        let config = &self.table_config;
        let key = |name: &String| KeyAttribute { name: name.clone(), kind: kind_of(name, entities) };
        let mut table = Table::new(&config.table_name, key(&config.partition_key), config.sort_key.as_ref().map(key));
        for index in &self.gsi_list {
            let projection = match index.projection.as_deref() {
                Some("KEYS_ONLY") => Projection::KeysOnly,
                Some("INCLUDE") => Projection::Include(index.included_attributes.clone()),
                _ => Projection::All,
            };
            table.indexes.push(Index {
                name: index.name.clone(),
                local: false,
                partition: index.partition_key.all().iter().map(key).collect(),
                sort: index.sort_key.iter().flat_map(Names::all).map(key).collect(),
                projection,
                capacity: None,
            });
        }
        receiver.table(table);
    }

    fn hint(&self, name: &str, entity: &Entity) -> TypeHint {
        let mut keys = Vec::new();
        let mut add = |attribute: Option<&String>, template: Option<&String>| {
            let (Some(attribute), Some(template)) = (attribute, template) else { return };
            // An attribute may be in several keys.
            if keys.iter().all(|known: &KeyHint| known.attribute != *attribute) {
                keys.push(KeyHint { attribute: attribute.clone(), template: template.clone() });
            }
        };
        add(Some(&self.table_config.partition_key), entity.pk_template.as_ref());
        add(self.table_config.sort_key.as_ref(), entity.sk_template.as_ref());
        for mapping in &entity.gsi_mappings {
            let Some(index) = self.gsi_list.iter().find(|index| index.name == mapping.name) else { continue };
            let sorts = index.sort_key.as_ref().zip(mapping.sk_template.as_ref());
            for (names, templates) in mapping.pk_template.iter().map(|all| (&index.partition_key, all)).chain(sorts) {
                names.all().iter().zip(templates.all()).for_each(|(name, template)| add(Some(name), Some(template)));
            }
        }
        let attributes = entity.fields.iter().map(Field::hint).collect();
        TypeHint { name: name.to_owned(), attributes, keys, constants: Vec::new() }
    }
}

/// The type of a key attribute: a number if a field of its name is one.
fn kind_of(attribute: &str, entities: &[(&String, Entity)]) -> KeyType {
    let fields = entities.iter().flat_map(|(_, entity)| &entity.fields);
    let is_number = |field: &Field| matches!(field.kind.as_str(), "integer" | "decimal");
    match fields.into_iter().find(|field| field.name == attribute) {
        Some(field) if is_number(field) => KeyType::N,
        _ => KeyType::S,
    }
}

impl Names {
    fn all(&self) -> &[String] {
        match self {
            Self::One(name) => std::slice::from_ref(name),
            Self::Several(names) => names,
        }
    }
}

impl Field {
    fn hint(&self) -> AttributeHint {
        let kind = match (self.kind.as_str(), self.item_type.as_deref()) {
            ("array", Some(item)) => Some(HintKind::List(Box::new(kind(item).unwrap_or(HintKind::Any)))),
            ("array", None) => Some(HintKind::List(Box::new(HintKind::Any))),
            (name, _) => kind(name),
        };
        AttributeHint { name: self.name.clone(), field: None, kind, required: self.required }
    }
}

fn kind(name: &str) -> Option<HintKind> {
    Some(match name {
        "string" => HintKind::Text,
        "uuid" => HintKind::Id,
        "integer" => HintKind::Integer,
        "decimal" => HintKind::Decimal,
        "boolean" => HintKind::Boolean,
        "object" => HintKind::Any,
        _ => return None,
    })
}

impl Pattern {
    /// The pattern; nothing if it calls what no pattern is for.
    fn hint(&self, of: &str) -> Option<PatternHint> {
        let action = match self.operation.as_str() {
            "GetItem" | "Query" | "Scan" | "BatchGetItem" => PatternAction::Read,
            "PutItem" | "BatchWriteItem" => PatternAction::Put,
            "UpdateItem" => PatternAction::Update,
            "DeleteItem" => PatternAction::Delete,
            _ => return None,
        };
        let is_value = |parameter: &&Parameter| parameter.kind.as_deref() != Some("entity");
        let names = self.parameters.iter().filter(is_value).map(|parameter| parameter.name.clone());
        let mut equals: Vec<String> = names.collect();
        let range = self.range_condition.as_deref().and_then(comparison).map(|comparison| {
            let count = if comparison == RangeHint::Between { 2 } else { 1 };
            (comparison, equals.split_off(equals.len().saturating_sub(count)))
        });
        Some(PatternHint {
            name: self.name.clone(),
            description: self.description.clone(),
            of: of.to_owned(),
            single: self.return_type.as_deref() == Some("single_entity"),
            index: self.index_name.clone(),
            equals,
            range,
            action,
        })
    }
}

/// The comparison that a word names.
pub fn comparison(name: &str) -> Option<RangeHint> {
    Some(match name.to_lowercase().as_str() {
        "<" => RangeHint::Lt,
        "<=" => RangeHint::Le,
        ">" => RangeHint::Gt,
        ">=" => RangeHint::Ge,
        "between" => RangeHint::Between,
        "begins_with" => RangeHint::BeginsWith,
        _ => return None,
    })
}
