//! A schema of Amplify or AppSync in (AWS Amplify documentation, "Data modeling"; AWS AppSync developer guide, "Scalar
//! types"), the tables of its models and the types out. Keys are those that Amplify makes.

use crate::schema::table::{Index, KeyAttribute, KeyType, Projection, Table};
use crate::sources::material::{AttributeHint, HintKind, KeyHint, Receiver, TypeHint};
use apollo_compiler::ast::{Definition, Directive, Document, FieldDefinition, ObjectTypeDefinition, Type, Value};
use apollo_compiler::validation::{DiagnosticList, WithErrors};
use std::collections::HashMap;

/// The attribute with the name of an item's type.
const TYPE_NAME: &str = "__typename";
/// Types that are no items.
const ROOTS: [&str; 3] = ["Query", "Mutation", "Subscription"];

/// What of a schema decides how its fields are kept.
struct Names {
    /// The texts of each enum.
    enums: HashMap<String, Vec<String>>,
    /// The types that have a table.
    models: Vec<String>,
}

/// Whether a text is a GraphQL schema.
pub fn is_schema(text: &str) -> bool {
    let is_type = |line: &str| {
        let mut words = line.split_whitespace();
        matches!(words.next(), Some("type" | "enum" | "interface" | "input"))
            && words.next().is_some_and(|name| name.starts_with(|letter: char| letter.is_alphabetic()))
            && (line.contains('{') || line.contains('@') || words.next().is_none())
    };
    text.lines().any(is_type) && text.contains('{')
}

/// Reads a schema.
pub fn read(text: &str, file: &str, receiver: &mut dyn Receiver) -> Result<(), String> {
    let document = match Document::parse(text, file) {
        Ok(document) => document,
        Err(WithErrors { errors, .. }) => return Err(first_mistake(&errors)),
    };
    let is_keyfold = |definition: &Definition| match definition {
        Definition::SchemaExtension(extension) => extension.directives.has("table"),
        Definition::SchemaDefinition(schema) => schema.directives.has("table"),
        _ => false,
    };
    if document.definitions.iter().any(is_keyfold) {
        return Err("this is a schema of Keyfold already: `keyfold check` reads it".into());
    }
    let objects = || document.definitions.iter().filter_map(object);
    let names = Names {
        enums: document.definitions.iter().filter_map(texts).collect(),
        models: objects().filter(|ty| ty.directives.has("model")).map(|ty| ty.name.to_string()).collect(),
    };
    for ty in objects().filter(|ty| !ROOTS.contains(&ty.name.as_str())) {
        if ty.directives.has("model") {
            let keys = Keys::declared_by(ty);
            receiver.table(names.table(ty, &keys));
            receiver.type_hint(Some(&ty.name), names.hint(ty, Some(&keys)));
        } else {
            receiver.type_hint(None, names.hint(ty, None));
        }
    }
    Ok(())
}

/// The first mistake and its line. A drawing of all of them takes minutes for a file of no schema.
fn first_mistake(mistakes: &DiagnosticList) -> String {
    let Some(first) = mistakes.iter().next() else { return "this is no GraphQL schema".into() };
    let line = first.line_column_range().map(|range| format!("line {}: ", range.start.line));
    format!("{}{}", line.unwrap_or_default(), first.error)
}

fn object(definition: &Definition) -> Option<&ObjectTypeDefinition> {
    match definition {
        Definition::ObjectTypeDefinition(ty) => Some(ty),
        _ => None,
    }
}

fn texts(definition: &Definition) -> Option<(String, Vec<String>)> {
    match definition {
        Definition::EnumTypeDefinition(ty) => {
            Some((ty.name.to_string(), ty.values.iter().map(|value| value.value.to_string()).collect()))
        }
        _ => None,
    }
}

/// The key of a model's table or of one of its indexes: fields in their order.
struct ModelKey {
    /// The index; nothing is the table.
    index: Option<String>,
    partition: String,
    sort: Vec<String>,
}

/// The keys of a model, that of the table first.
struct Keys(Vec<ModelKey>);

impl Keys {
    fn declared_by(ty: &ObjectTypeDefinition) -> Self {
        let mut keys = Vec::new();
        // The first form of Amplify: @key(name:, fields:) on the type.
        for directive in ty.directives.get_all("key") {
            let mut fields = list(directive, "fields").into_iter();
            if let Some(partition) = fields.next() {
                keys.push(ModelKey { index: text(directive, "name"), partition, sort: fields.collect() });
            }
        }
        for field in &ty.fields {
            if let Some(directive) = field.directives.get("primaryKey") {
                let sort = list(directive, "sortKeyFields");
                keys.push(ModelKey { index: None, partition: field.name.to_string(), sort });
            }
            for directive in field.directives.get_all("index") {
                let (sort, partition) = (list(directive, "sortKeyFields"), field.name.to_string());
                let plural = format!("{}sBy{}", lower_first(&ty.name), upper_first(&field.name));
                keys.push(ModelKey { index: Some(text(directive, "name").unwrap_or(plural)), partition, sort });
            }
        }
        let own = keys.iter().position(|key| key.index.is_none());
        let own = own.map(|place| keys.remove(place));
        let own = own.unwrap_or_else(|| ModelKey { index: None, partition: "id".into(), sort: Vec::new() });
        Self(std::iter::once(own).chain(keys).collect())
    }
}

impl ModelKey {
    /// The attribute of the sort key: several fields have one together.
    fn sort_attribute(&self) -> Option<String> {
        (!self.sort.is_empty()).then(|| self.sort.join("#"))
    }
}

impl Names {
    fn table(&self, ty: &ObjectTypeDefinition, keys: &Keys) -> Table {
        let kind = |name: &str| {
            let field = ty.fields.iter().find(|field| field.name == name);
            match field.and_then(|field| self.kind(&field.ty)) {
                Some(HintKind::Integer | HintKind::Decimal) => KeyType::N,
                _ => KeyType::S,
            }
        };
        let key = |name: String| KeyAttribute { kind: kind(&name), name };
        let mut all = keys.0.iter();
        let own = all.next();
        let partition = own.map_or_else(|| "id".to_owned(), |own| own.partition.clone());
        let mut table = Table::new(ty.name.as_str(), key(partition), own.and_then(ModelKey::sort_attribute).map(key));
        table.indexes.extend(all.map(|of| Index {
            name: of.index.clone().unwrap_or_default(),
            local: false,
            partition: vec![key(of.partition.clone())],
            sort: of.sort_attribute().map(key).into_iter().collect(),
            projection: Projection::All,
            capacity: None,
        }));
        table
    }

    fn hint(&self, ty: &ObjectTypeDefinition, keys: Option<&Keys>) -> TypeHint {
        let mut hint = TypeHint { name: ty.name.to_string(), ..TypeHint::default() };
        hint.attributes.extend(ty.fields.iter().filter_map(|field| self.attribute(field)));
        let Some(keys) = keys else { return hint };
        hint.constants.push((TYPE_NAME.into(), ty.name.to_string()));
        for key in &keys.0 {
            let sort = key.sort_attribute().map(|attribute| {
                let names: Vec<String> = key.sort.iter().map(|name| format!("{{{name}}}")).collect();
                (attribute, names.join("#"))
            });
            let partition = (key.partition.clone(), format!("{{{}}}", key.partition));
            for (attribute, template) in std::iter::once(partition).chain(sort) {
                if !hint.keys.iter().any(|known| known.attribute == attribute) {
                    hint.keys.push(KeyHint { attribute, template });
                }
            }
        }
        // Amplify adds what a model does not name.
        let mut add = |name: &str, kind: HintKind| {
            if !hint.attributes.iter().any(|known| known.name == name) {
                hint.attributes.push(AttributeHint {
                    name: name.into(),
                    field: None,
                    kind: Some(kind),
                    required: true,
                });
            }
        };
        if keys.0.first().is_some_and(|own| own.partition == "id") {
            add("id", HintKind::Id);
        }
        add("createdAt", HintKind::Time);
        add("updatedAt", HintKind::Time);
        hint
    }

    /// The attribute that a field is kept in. A relation is kept in none.
    fn attribute(&self, field: &FieldDefinition) -> Option<AttributeHint> {
        let relations = ["hasMany", "hasOne", "belongsTo", "manyToMany", "connection", "function"];
        let is_relation = relations.iter().any(|name| field.directives.has(name));
        if is_relation || self.models.iter().any(|model| *model == field.ty.inner_named_type().as_str()) {
            return None;
        }
        let (kind, required) = (self.kind(&field.ty), field.ty.is_non_null());
        Some(AttributeHint { name: field.name.to_string(), field: None, kind, required })
    }

    fn kind(&self, ty: &Type) -> Option<HintKind> {
        let name = match ty {
            Type::List(inner) | Type::NonNullList(inner) => {
                return Some(HintKind::List(Box::new(self.kind(inner).unwrap_or(HintKind::Any))));
            }
            Type::Named(name) | Type::NonNullNamed(name) => name.as_str(),
        };
        Some(match name {
            "ID" => HintKind::Id,
            "Int" | "AWSTimestamp" => HintKind::Integer,
            "Float" => HintKind::Decimal,
            "Boolean" => HintKind::Boolean,
            "AWSDateTime" => HintKind::Time,
            "AWSDate" => HintKind::Date,
            "String" | "AWSTime" | "AWSEmail" | "AWSURL" | "AWSPhone" | "AWSIPAddress" => HintKind::Text,
            name => self.enums.get(name).cloned().map_or(HintKind::Any, HintKind::Enum),
        })
    }
}

fn text(directive: &Directive, argument: &str) -> Option<String> {
    Some(directive.specified_argument_by_name(argument)?.as_str()?.to_owned())
}

/// The texts of an argument: one, or a list.
fn list(directive: &Directive, argument: &str) -> Vec<String> {
    let value = directive.specified_argument_by_name(argument).map(|value| value.as_ref());
    match value {
        Some(Value::List(values)) => values.iter().filter_map(|value| Some(value.as_str()?.to_owned())).collect(),
        Some(value) => value.as_str().map(str::to_owned).into_iter().collect(),
        None => Vec::new(),
    }
}

fn lower_first(name: &str) -> String {
    let mut letters = name.chars();
    letters.next().into_iter().flat_map(char::to_lowercase).chain(letters).collect()
}

fn upper_first(name: &str) -> String {
    let mut letters = name.chars();
    letters.next().into_iter().flat_map(char::to_uppercase).chain(letters).collect()
}
