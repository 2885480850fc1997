//! Models of ElectroDB as JSON in (ElectroDB, "Schema"), their tables and types out: the keys by the library's rules.

use super::template::from_dollars;
use crate::schema::table::{Index, KeyAttribute, KeyType, Projection, Table};
use crate::sources::material::{AttributeHint, HintKind, KeyHint, Receiver, TypeHint};
use serde_json::{Map, Value};

/// Whether an object is such a model.
pub fn is_model(members: &Map<String, Value>) -> bool {
    let model = members.get("model").and_then(Value::as_object);
    let is_named = model.is_some_and(|model| model.contains_key("entity") && model.contains_key("service"));
    is_named && ["attributes", "indexes"].iter().all(|name| members.get(*name).is_some_and(Value::is_object))
}

/// Whether an object has models by their names: the entities of a service.
pub fn is_service(members: &Map<String, Value>) -> bool {
    let models = models_of(members);
    !models.is_empty() && models.iter().all(|model| is_model(model))
}

/// The models of a service.
pub fn models_of(members: &Map<String, Value>) -> Vec<&Map<String, Value>> {
    let entities = members.get("entities").and_then(Value::as_object).unwrap_or(members);
    entities.values().filter_map(Value::as_object).collect()
}

/// Reads a model. `table` is the table's name, if the model has none.
pub fn read(members: &Map<String, Value>, table: &str, receiver: &mut dyn Receiver) -> Result<(), String> {
    let entity = Entity::new(members).ok_or("the model has no entity or no index")?;
    let name = members.get("table").and_then(Value::as_str).unwrap_or(table);
    receiver.table(entity.table(name)?);
    receiver.type_hint(Some(name), entity.hint());
    Ok(())
}

/// The two halves of an index's key.
const HALVES: [&str; 2] = ["pk", "sk"];

struct Entity<'m> {
    service: &'m str,
    name: &'m str,
    version: &'m str,
    attributes: &'m Map<String, Value>,
    indexes: Vec<&'m Value>,
}

impl<'m> Entity<'m> {
    fn new(members: &'m Map<String, Value>) -> Option<Self> {
        let model = members.get("model")?;
        let indexes: Vec<&Value> = members.get("indexes")?.as_object()?.values().collect();
        (!indexes.is_empty()).then_some(Self {
            service: model["service"].as_str()?,
            name: model["entity"].as_str()?,
            version: model["version"].as_str().unwrap_or("1"),
            attributes: members.get("attributes")?.as_object()?,
            indexes,
        })
    }

    fn table(&self, name: &str) -> Result<Table, String> {
        let is_primary = |index: &&&Value| index["index"].as_str().is_none_or(str::is_empty);
        let primary = self.indexes.iter().find(is_primary).ok_or("the model has no index of the table itself")?;
        let key = |index: &Value, half: &str| {
            let field = index[half]["field"].as_str()?;
            Some(KeyAttribute { name: field.to_owned(), kind: self.kind_of(field) })
        };
        let partition = key(primary, "pk").ok_or("the index of the table has no field of its pk")?;
        let mut table = Table::new(name, partition, key(primary, "sk"));
        for index in self.indexes.iter().filter(|index| !is_primary(index)) {
            let (Some(name), Some(partition)) = (index["index"].as_str(), key(index, "pk")) else { continue };
            let local = partition.name == table.partition.name;
            table.indexes.push(Index {
                name: name.to_owned(),
                local,
                partition: vec![partition],
                sort: key(index, "sk").into_iter().collect(),
                projection: Projection::All,
                capacity: None,
            });
        }
        Ok(table)
    }

    /// The type of a key attribute: that of the attribute which it is itself.
    fn kind_of(&self, field: &str) -> KeyType {
        let own = self.attributes.iter().find(|(name, attribute)| field_of(name, attribute) == field);
        match own {
            Some((_, attribute)) if attribute["type"] == "number" => KeyType::N,
            _ => KeyType::S,
        }
    }

    fn hint(&self) -> TypeHint {
        let mut keys: Vec<KeyHint> = Vec::new();
        for index in &self.indexes {
            for half in HALVES {
                let Some(field) = index[half]["field"].as_str() else { continue };
                if !keys.iter().any(|known| known.attribute == field) {
                    keys.push(KeyHint { attribute: field.to_owned(), template: self.template(index, half) });
                }
            }
        }
        let attribute = |(name, value): (&String, &Value)| {
            let field = field_of(name, value);
            AttributeHint {
                field: (field != *name).then(|| name.clone()),
                name: field,
                kind: kind(value),
                required: value["required"].as_bool() == Some(true),
            }
        };
        let marks = [("__edb_e__", self.name), ("__edb_v__", self.version)];
        TypeHint {
            name: self.name.to_owned(),
            attributes: self.attributes.iter().map(attribute).collect(),
            keys,
            constants: marks.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec(),
        }
    }

    /// The template of a half of a key. Texts of keys are in lower case, if the model does not say otherwise.
    fn template(&self, index: &Value, half: &str) -> String {
        let key = &index[half];
        let attribute =
            |name: &str| self.attributes.get(name).map_or_else(|| name.to_owned(), |own| field_of(name, own));
        if let Some(template) = key["template"].as_str() {
            return from_dollars(template, &attribute);
        }
        let composite = key["composite"].as_array().or(key["facets"].as_array());
        let names: Vec<&str> = composite.into_iter().flatten().filter_map(Value::as_str).collect();
        let field = key["field"].as_str().unwrap_or_default();
        // A key that is an attribute itself has no prefix.
        if let [only] = names.as_slice()
            && attribute(only) == field
        {
            return format!("{{{field}}}");
        }
        let cased = |text: String| match key["casing"].as_str() {
            Some("none") => text,
            Some("upper") => text.to_uppercase(),
            _ => text.to_lowercase(),
        };
        let entity = format!("{}_{}", self.name, self.version);
        let collections: Vec<&str> = match &index["collection"] {
            Value::String(name) => vec![name],
            Value::Array(names) => names.iter().filter_map(Value::as_str).collect(),
            _ => Vec::new(),
        };
        let is_clustered = index["type"] == "clustered";
        let prefix = match (half, collections.is_empty()) {
            ("pk", _) => format!("${}", self.service),
            (_, true) => format!("${entity}"),
            (_, false) if is_clustered => format!("${}", collections.join("#")),
            (_, false) => format!("${}#{entity}", collections.join("#")),
        };
        let mut template = cased(prefix);
        for name in names {
            let label = self.attributes.get(name).and_then(|own| own["label"].as_str()).unwrap_or(name);
            template.push_str(&cased(format!("#{label}_")));
            template.push_str(&format!("{{{}}}", attribute(name)));
        }
        if half == "sk" && is_clustered {
            template.push_str(&cased(format!("#{entity}")));
        }
        template
    }
}

/// The attribute of an item that a model's attribute is kept in.
fn field_of(name: &str, attribute: &Value) -> String {
    attribute["field"].as_str().unwrap_or(name).to_owned()
}

fn kind(attribute: &Value) -> Option<HintKind> {
    let items = || Box::new(kind(&attribute["items"]).unwrap_or(HintKind::Any));
    // A type may be the text itself, as that of a set's items is.
    let named = attribute["type"].as_str().or(attribute.as_str());
    Some(match (&attribute["type"], named) {
        (Value::Array(values), _) => {
            HintKind::Enum(values.iter().filter_map(|value| Some(value.as_str()?.to_owned())).collect())
        }
        (_, Some("string")) => HintKind::Text,
        (_, Some("number")) => HintKind::Decimal,
        (_, Some("boolean")) => HintKind::Boolean,
        (_, Some("list")) => HintKind::List(items()),
        (_, Some("set")) => HintKind::Set(items()),
        (_, Some("map" | "any" | "custom")) => HintKind::Any,
        _ => return None,
    })
}
