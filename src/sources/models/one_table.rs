//! A schema of OneTable as JSON in (OneTable Schema Specification 1.1.0), its table and types out. Drawing tools keep
//! their models in the same form.

use super::template::from_dollars;
use crate::schema::table::{Index, KeyAttribute, KeyType, Projection, Table};
use crate::sources::items::delivery::Delivery;
use crate::sources::items::dialect::loose_item;
use crate::sources::material::{AttributeHint, HintKind, KeyHint, TypeHint};
use serde_json::{Map, Value};

/// The attribute with the name of an item's model, if the schema names none.
const TYPE_FIELD: &str = "_type";

/// Whether an object is such a schema.
pub fn is_schema(members: &Map<String, Value>) -> bool {
    let is_object = |name: &str| members.get(name).is_some_and(Value::is_object);
    is_object("indexes") && is_object("models")
}

/// Reads a schema, and the items that a drawing tool keeps in it. `table` is the table's name, which no schema has.
pub fn read(members: &Map<String, Value>, table: &str, delivery: &mut Delivery<'_>) -> Result<(), String> {
    let indexes = Indexes::new(members).ok_or("the schema has no primary index with a hash attribute")?;
    delivery.receiver.table(indexes.table(table, members));
    let format = members.get("format").and_then(Value::as_str).unwrap_or_default();
    // The library writes the name of the model into each item; a drawing does not.
    let params = members.get("params");
    let type_field = params.and_then(|params| params["typeField"].as_str());
    let type_field = type_field.or(format.starts_with("onetable").then_some(TYPE_FIELD));
    hints(members, table, type_field, delivery);
    let data = match members.get("data") {
        Some(Value::Array(items)) => items.iter().collect::<Vec<_>>(),
        Some(Value::Object(lists)) => lists.values().filter_map(Value::as_array).flatten().collect(),
        _ => Vec::new(),
    };
    for item in data.into_iter().filter_map(Value::as_object) {
        delivery.item(Some(table), loose_item(item.clone()));
    }
    Ok(())
}

/// The types of a schema's models.
pub fn hints(members: &Map<String, Value>, table: &str, type_field: Option<&str>, delivery: &mut Delivery<'_>) {
    let Some(indexes) = Indexes::new(members) else { return };
    let models = members.get("models").and_then(Value::as_object).into_iter().flatten();
    for (name, fields) in models {
        // A drawing tool keeps the form of a model that is new under this name.
        let Some(fields) = fields.as_object().filter(|_| name != "~new~") else { continue };
        let constants = type_field.map(|field| (field.to_owned(), name.clone())).into_iter().collect();
        delivery.receiver.type_hint(Some(table), indexes.hint(name, fields, constants));
    }
}

/// The indexes of a schema, the table's own key first.
struct Indexes<'s> {
    all: Vec<(&'s String, &'s Map<String, Value>)>,
    primary: (&'s str, Option<&'s str>),
}

impl<'s> Indexes<'s> {
    fn new(members: &'s Map<String, Value>) -> Option<Self> {
        let all = members.get("indexes")?.as_object()?;
        let primary = all.get("primary")?;
        let primary = (primary["hash"].as_str()?, primary["sort"].as_str());
        let all = all.iter().filter_map(|(name, index)| Some((name, index.as_object()?))).collect();
        Some(Self { all, primary })
    }

    fn keys(&self) -> impl Iterator<Item = &'s str> {
        let of_index = |(_, index): &(&'s String, &'s Map<String, Value>)| {
            ["hash", "sort"].into_iter().filter_map(|key| index.get(key)?.as_str()).collect::<Vec<_>>()
        };
        self.all.iter().flat_map(of_index)
    }

    fn table(&self, name: &str, members: &Map<String, Value>) -> Table {
        let key = |attribute: &str| KeyAttribute { name: attribute.to_owned(), kind: kind_of(attribute, members) };
        let mut table = Table::new(name, key(self.primary.0), self.primary.1.map(key));
        for (name, index) in self.all.iter().filter(|(name, _)| *name != "primary") {
            let text = |member: &str| index.get(member).and_then(Value::as_str);
            let local = text("type") == Some("local");
            let partition = text("hash").filter(|_| !local).unwrap_or(self.primary.0);
            let projection = match index.get("project").or_else(|| index.get("projection")) {
                Some(Value::Array(names)) => {
                    Projection::Include(names.iter().filter_map(|name| Some(name.as_str()?.to_owned())).collect())
                }
                Some(Value::String(text)) if text.to_lowercase().starts_with("keys") => Projection::KeysOnly,
                _ => Projection::All,
            };
            table.indexes.push(Index {
                name: text("name").unwrap_or(name).to_owned(),
                local,
                partition: vec![key(partition)],
                sort: text("sort").map(key).into_iter().collect(),
                projection,
                capacity: None,
            });
        }
        let mut fields = all_fields(members);
        let ttl = fields.find(|(_, field)| field["ttl"].as_bool() == Some(true));
        table.time_to_live = ttl.map(|(name, field)| attribute_of(name, field));
        table
    }

    fn hint(&self, name: &str, fields: &Map<String, Value>, constants: Vec<(String, String)>) -> TypeHint {
        let attribute = |name: &str| {
            let first = name.split('.').next().unwrap_or(name);
            fields.get(first).map_or_else(|| name.to_owned(), |field| attribute_of(first, field) + &name[first.len()..])
        };
        let mut keys: Vec<KeyHint> = Vec::new();
        for key in self.keys() {
            let field = fields.get(key);
            let value = field.and_then(|field| field["value"].as_str());
            // A key attribute without a template is a field that is a key. A drawing only leaves its template open.
            let template = match (field, value) {
                (_, Some(value)) => from_dollars(value, &attribute),
                (Some(_), None) if !constants.is_empty() => format!("{{{key}}}"),
                _ => continue,
            };
            if !keys.iter().any(|known| known.attribute == key) {
                keys.push(KeyHint { attribute: key.to_owned(), template });
            }
        }
        let is_made = |name: &String, field: &Value| field["value"].is_string() && self.keys().any(|key| key == name);
        let attributes = fields.iter().filter(|(name, field)| !is_made(name, field));
        let attributes = attributes.map(|(name, field)| attribute_hint(name, field)).collect();
        TypeHint { name: name.to_owned(), attributes, keys, constants }
    }
}

fn all_fields(members: &Map<String, Value>) -> impl Iterator<Item = (&String, &Value)> {
    let models = members.get("models").and_then(Value::as_object).into_iter().flatten();
    models.filter_map(|(_, model)| model.as_object()).flatten()
}

/// The type of a key attribute: that of the fields with its name.
fn kind_of(attribute: &str, members: &Map<String, Value>) -> KeyType {
    let is_number = |field: &Value| field["value"].is_null() && kind(field) == Some(HintKind::Decimal);
    let mut fields = all_fields(members).filter(|(name, _)| *name == attribute).peekable();
    if fields.peek().is_some() && fields.all(|(_, field)| is_number(field)) { KeyType::N } else { KeyType::S }
}

/// The attribute that a field is kept in.
fn attribute_of(name: &str, field: &Value) -> String {
    let map = field["map"].as_str().unwrap_or(name);
    map.split('.').next().unwrap_or(map).to_owned()
}

fn attribute_hint(name: &str, field: &Value) -> AttributeHint {
    let attribute = attribute_of(name, field);
    let own = (attribute != name).then(|| name.to_owned());
    AttributeHint {
        name: attribute,
        field: own,
        kind: kind(field),
        required: field["required"].as_bool() == Some(true),
    }
}

fn kind(field: &Value) -> Option<HintKind> {
    let texts =
        field["enum"].as_array().map(|values| values.iter().filter_map(|value| Some(value.as_str()?.to_owned())));
    if let Some(texts) = texts {
        return Some(HintKind::Enum(texts.collect()));
    }
    if field["generate"].is_string() || field["uuid"].is_string() {
        return Some(HintKind::Id);
    }
    let items = || Box::new(kind(&field["items"]).unwrap_or(HintKind::Any));
    Some(match field["type"].as_str()?.to_lowercase().as_str() {
        "string" => HintKind::Text,
        "number" => HintKind::Decimal,
        "boolean" => HintKind::Boolean,
        "date" => HintKind::Time,
        "array" => HintKind::List(items()),
        "set" => HintKind::Set(items()),
        "object" => HintKind::Any,
        _ => return None,
    })
}
