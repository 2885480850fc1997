//! A schema, the values of its items and a source of randomness in, a random valid query out: as a tree that can be
//! reduced, and as text.

use crate::naive::rows::is_of;
use crate::naive::values::{keys_of, scalar_of, stored_of};
use apollo_compiler::ast::Type;
use apollo_compiler::schema::ExtendedType;
use fastrand::Rng;
use keyfold::schema::model::{FieldKind, Model};
use keyfold::schema::scalar::aws::AwsScalar;
use keyfold::schema::scalar::date_time::is_date;
use keyfold::table::data::attribute::Item;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// A selection.
#[derive(Debug, Clone)]
pub struct Node {
    /// The response key of a field.
    pub key: String,
    pub what: What,
    pub set: Vec<Node>,
}

#[derive(Debug, Clone)]
pub enum What {
    Field {
        /// Type and name.
        of: (String, String),
        arguments: Vec<Argument>,
    },
    /// A fragment: its type, whether it is a named fragment, and the value of `@include` or of `@skip`.
    Fragment { on: Option<String>, named: bool, include: Option<bool>, skip: Option<bool> },
}

/// An argument: as a literal, or by a variable.
#[derive(Debug, Clone)]
pub struct Argument {
    pub name: String,
    pub ty: Type,
    pub value: Value,
    pub variable: bool,
}

/// The text of an operation and its variables.
pub struct Written {
    pub text: String,
    pub variables: serde_json::Map<String, Value>,
}

/// The sources of arguments: the values of items' fields, by type and field.
pub struct Pool {
    values: BTreeMap<(String, String), Vec<Value>>,
}

/// Texts that no item has, or that are difficult in keys.
const ODD: [&str; 9] = ["", "#", "a#b", "%23", "100%", "ü\"\\\n", "\u{10FFFF}", "nobody", "0"];
const INSTANTS: [&str; 3] = ["2026-11-20T09:30:00Z", "2018-10-03T10:00:00+02:00", "1970-01-01T00:00:00.000Z"];

impl Pool {
    /// The values of all items.
    pub fn of(model: &Model, items: &[Vec<Item>]) -> Self {
        let mut values: BTreeMap<(String, String), BTreeSet<String>> = BTreeMap::new();
        for ty in model.types.values() {
            let Some(keys) = keys_of(ty) else { continue };
            for item in items[keys.table].iter().filter(|item| is_of(&model.tables[keys.table], ty, item)) {
                for field in ty.fields.keys().filter(|field| stored_of(ty, field).is_some()) {
                    let value = scalar_of(ty, field, item);
                    if !value.is_null() && !value.is_object() && !value.is_array() {
                        values.entry((ty.name.clone(), field.clone())).or_default().insert(value.to_string());
                    }
                }
            }
        }
        let parse = |all: BTreeSet<String>| all.iter().map(|text| serde_json::from_str(text).unwrap()).collect();
        Self { values: values.into_iter().map(|(key, all)| (key, parse(all))).collect() }
    }

    /// A likely value of an argument: of the found type's field with its name, of any field with its name, of any
    /// field.
    fn draw(&self, rng: &mut Rng, found: &str, argument: &str, fits: &dyn Fn(&Value) -> bool) -> Option<Value> {
        let long = |(ty, field): &(String, String)| format!("{ty}{field}").to_lowercase();
        type IsMeant<'w> = &'w dyn Fn(&(String, String)) -> bool;
        let ways: [IsMeant<'_>; 3] = [
            &|known| known.0 == found && (known.1 == argument || long(known) == argument.to_lowercase()),
            &|known| known.1 == argument || long(known) == argument.to_lowercase(),
            &|_| true,
        ];
        ways.iter().find_map(|way| {
            let all: Vec<&Value> = self
                .values
                .iter()
                .filter(|(key, _)| way(key))
                .flat_map(|(_, all)| all)
                .filter(|value| fits(value))
                .collect();
            (!all.is_empty()).then(|| all[rng.usize(..all.len())].clone())
        })
    }
}

/// Makes operations.
pub struct Maker<'a> {
    pub model: &'a Model,
    pub pool: &'a Pool,
    pub rng: Rng,
    /// How many more fields may be selected.
    pub left: usize,
    count: usize,
}

impl<'a> Maker<'a> {
    pub fn new(model: &'a Model, pool: &'a Pool, rng: Rng) -> Self {
        Self { model, pool, rng, left: 0, count: 0 }
    }

    /// An operation of the query type.
    pub fn operation(&mut self) -> Vec<Node> {
        (self.left, self.count) = (self.rng.usize(3..25), 0);
        let root = self.model.api.schema_definition.query.as_ref().unwrap().to_string();
        self.set(&root, 5, &mut BTreeSet::new())
    }

    fn once_in(&mut self, times: usize) -> bool {
        self.rng.usize(..times) == 0
    }

    /// Selections on a type; `keys` are the response keys already used next to them.
    fn set(&mut self, ty: &str, depth: usize, keys: &mut BTreeSet<String>) -> Vec<Node> {
        let schema = &self.model.api;
        let none = Default::default();
        let fields = match &schema.types[ty] {
            ExtendedType::Object(object) => &object.fields,
            ExtendedType::Interface(interface) => &interface.fields,
            _ => &none,
        };
        let is_leaf = |ty: &Type| {
            let named = &schema.types[ty.inner_named_type()];
            !matches!(named, ExtendedType::Object(_) | ExtendedType::Interface(_) | ExtendedType::Union(_))
        };
        let open: Vec<_> = fields.values().filter(|field| depth > 0 || is_leaf(&field.ty)).collect();
        let mut set: Vec<Node> = Vec::new();
        for _ in 0..self.rng.usize(1..=4) {
            if self.left == 0 && !set.is_empty() {
                break;
            }
            self.left = self.left.saturating_sub(1);
            if depth > 0 && (self.once_in(7) || open.is_empty()) {
                set.push(self.fragment(ty, depth - 1, keys));
                continue;
            }
            if open.is_empty() || self.once_in(14) {
                set.extend(self.typename(keys));
                continue;
            }
            // Prefer finds to stored fields, as long as there is room.
            let deep: Vec<_> = open.iter().filter(|field| !is_leaf(&field.ty)).collect();
            let field = if deep.is_empty() || self.left == 0 || self.once_in(2) {
                open[self.rng.usize(..open.len())]
            } else {
                deep[self.rng.usize(..deep.len())]
            };
            let mut key = field.name.to_string();
            if keys.contains(&key) || self.once_in(10) {
                self.count += 1;
                key = format!("k{}", self.count);
            }
            keys.insert(key.clone());
            let arguments = self.arguments(ty, &field.name);
            let children = if is_leaf(&field.ty) {
                vec![]
            } else {
                self.set(field.ty.inner_named_type(), depth - 1, &mut BTreeSet::new())
            };
            let mut node = Node {
                key,
                what: What::Field { of: (ty.to_owned(), field.name.to_string()), arguments },
                set: children,
            };
            // The same field a second time is merged with the first.
            if self.once_in(12) {
                if let What::Field { arguments, .. } = &mut node.what {
                    arguments.iter_mut().for_each(|argument| argument.variable = false);
                }
                let mut again = node.clone();
                self.rename(&mut again.set);
                set.push(again);
            }
            set.push(node);
        }
        if set.is_empty() {
            set.extend(self.typename(keys).or_else(|| Some(self.name())));
        }
        set
    }

    fn rename(&mut self, set: &mut [Node]) {
        for node in set {
            if let What::Field { .. } = node.what {
                self.count += 1;
                node.key = format!("k{}", self.count);
            } else {
                self.rename(&mut node.set);
            }
        }
    }

    fn typename(&mut self, keys: &mut BTreeSet<String>) -> Option<Node> {
        keys.insert("__typename".to_owned()).then(|| self.name())
    }

    fn name(&self) -> Node {
        let what = What::Field { of: (String::new(), "__typename".to_owned()), arguments: vec![] };
        Node { key: "__typename".to_owned(), what, set: vec![] }
    }

    fn fragment(&mut self, ty: &str, depth: usize, keys: &mut BTreeSet<String>) -> Node {
        let schema = &self.model.api;
        let mut members: Vec<String> =
            schema.types.keys().filter(|name| schema.is_subtype(ty, name)).map(ToString::to_string).collect();
        members.push(ty.to_owned());
        let on = members[self.rng.usize(..members.len())].clone();
        let set = self.set(&on, depth, keys);
        let named = self.once_in(3);
        let on = (named || on != ty || self.once_in(2)).then_some(on);
        let flag = |maker: &mut Self| maker.once_in(4).then(|| maker.once_in(2));
        Node { key: String::new(), what: What::Fragment { on, named, include: flag(self), skip: flag(self) }, set }
    }

    /// Arguments of a field: all required ones, and some others.
    pub fn arguments(&mut self, ty: &str, field: &str) -> Vec<Argument> {
        let found = match self.model.types.get(ty).and_then(|ty| ty.fields.get(field)).map(|field| &field.kind) {
            Some(FieldKind::Find(find)) => find.item.clone(),
            _ => String::new(),
        };
        let Ok(definition) = self.model.api.type_field(ty, field) else { return vec![] };
        let definition = definition.clone();
        let both_ways = self.once_in(12);
        let backward = self.once_in(3);
        let mut arguments = Vec::new();
        for argument in &definition.arguments {
            let name = argument.name.as_str();
            let against = if backward { ["first", "after"] } else { ["last", "before"] };
            let paging = ["first", "last", "after", "before"].contains(&name);
            if !argument.is_required() && (!self.once_in(2) || (paging && against.contains(&name) && !both_ways)) {
                continue;
            }
            // Cursors come from responses.
            if ["after", "before", "nextToken"].contains(&name) && !self.once_in(20) {
                continue;
            }
            let value = match name {
                "first" | "last" | "limit" => match self.rng.usize(..16) {
                    0 => json!(-1),
                    1 => json!(100_000),
                    2 if !argument.ty.is_non_null() => Value::Null,
                    _ => json!(self.rng.usize(..5)),
                },
                _ => self.value(&argument.ty, (&found, name)),
            };
            let variable = self.once_in(4);
            arguments.push(Argument { name: name.to_owned(), ty: (*argument.ty).clone(), value, variable });
        }
        arguments
    }

    fn value(&mut self, ty: &Type, (found, argument): (&str, &str)) -> Value {
        if !ty.is_non_null() && self.once_in(10) {
            return Value::Null;
        }
        if ty.is_list() {
            let count = self.rng.usize(..4);
            return (0..count).map(|_| self.value(ty.item_type(), (found, argument))).collect();
        }
        let name = ty.inner_named_type().clone();
        match &self.model.api.types[&name] {
            ExtendedType::Enum(definition) => {
                let names: Vec<_> = definition.values.keys().collect();
                return json!(names[self.rng.usize(..names.len())].as_str());
            }
            ExtendedType::InputObject(input) => {
                let fields: Vec<_> = input.fields.values().cloned().collect();
                let mut members = serde_json::Map::new();
                for field in fields {
                    if field.is_required() || self.once_in(2) {
                        members.insert(field.name.to_string(), self.value(&field.ty, (found, &field.name)));
                    }
                }
                return Value::Object(members);
            }
            _ => {}
        }
        let odd = self.once_in(8);
        let drawn = |maker: &mut Self, fits: &dyn Fn(&Value) -> bool| {
            (!odd).then(|| maker.pool.draw(&mut maker.rng, found, argument, fits)).flatten()
        };
        let begins = |text: &str| text.get(..10).is_some_and(is_date) && text.as_bytes()[10..].starts_with(b"T");
        let instant =
            |value: &Value| value.as_str().is_some_and(|text| text.len() >= 24 && text.ends_with('Z') && begins(text));
        let local =
            |value: &Value| value.as_str().is_some_and(|text| text.len() >= 19 && begins(text) && !text.ends_with('Z'));
        let date = |value: &Value| value.as_str().is_some_and(|text| text.len() == 10 && is_date(text));
        match name.as_str() {
            "Int" | "Long" => drawn(self, &|value| value.as_i64().is_some_and(|number| i32::try_from(number).is_ok()))
                .unwrap_or_else(|| json!(self.rng.i64(-1..6))),
            "Float" => drawn(self, &Value::is_number).unwrap_or_else(|| json!(self.rng.i64(0..6))),
            "Boolean" => json!(self.rng.bool()),
            "DateTime" => {
                let drawn = drawn(self, &instant);
                // A little later than what items have.
                let later = drawn.as_ref().and_then(Value::as_str).filter(|_| self.once_in(8));
                let later = later.map(|text| json!(text.replace('Z', "5Z")));
                later.or(drawn).unwrap_or_else(|| json!(INSTANTS[self.rng.usize(..INSTANTS.len())]))
            }
            "LocalDateTime" => drawn(self, &local).unwrap_or_else(|| json!("2026-03-01T09:21:07.25")),
            "Date" => drawn(self, &date).unwrap_or_else(|| json!("2026-11-20")),
            "Decimal" => json!("12.5"),
            "Binary" => json!("AP8Q"),
            "AWSTimestamp" => drawn(self, &|value| value.is_i64()).unwrap_or_else(|| json!(1_785_000_000)),
            aws if let Some(scalar) = AwsScalar::named(aws) => {
                let fits = |value: &Value| value.as_str().is_some_and(|text| scalar.accepts(text));
                let others = ["2026-02-01T09:00:00Z", "2026-02-01", "09:30", "ann@example.org", "https://example.org"];
                let others = others.into_iter().chain(["+1 555 0100 123", "::1", "[]"]);
                drawn(self, &fits).or_else(|| others.map(Value::from).find(fits)).unwrap_or_default()
            }
            _ => {
                let drawn = drawn(self, &Value::is_string);
                let other = drawn.as_ref().and_then(Value::as_str).filter(|_| self.once_in(8));
                let other =
                    other.map(|text| json!(if self.rng.bool() { text.to_uppercase() } else { text.to_lowercase() }));
                other.or(drawn).unwrap_or_else(|| json!(ODD[self.rng.usize(..ODD.len())]))
            }
        }
    }
}

/// The text of an operation.
pub fn write(set: &[Node]) -> Written {
    let mut writer = Writer::default();
    let body = writer.set(set, 1);
    let variables: Vec<String> =
        writer.declared.iter().enumerate().map(|(number, (ty, _))| format!("$v{number}: {ty}")).collect();
    let declared = if variables.is_empty() { String::new() } else { format!("query({}) ", variables.join(", ")) };
    let values =
        writer.declared.iter().enumerate().map(|(number, (_, value))| (format!("v{number}"), value.clone())).collect();
    Written { text: format!("{declared}{body}\n{}", writer.fragments), variables: values }
}

#[derive(Default)]
struct Writer {
    declared: Vec<(String, Value)>,
    fragments: String,
    named: usize,
}

impl Writer {
    fn set(&mut self, set: &[Node], depth: usize) -> String {
        let mut text = String::from("{\n");
        for node in set {
            text += &"  ".repeat(depth);
            match &node.what {
                What::Field { of: (_, name), arguments } => {
                    if node.key != *name {
                        let _ = write!(text, "{}: ", node.key);
                    }
                    text += name;
                    let arguments: Vec<String> = arguments.iter().map(|argument| self.argument(argument)).collect();
                    if !arguments.is_empty() {
                        let _ = write!(text, "({})", arguments.join(", "));
                    }
                    if !node.set.is_empty() {
                        let _ = write!(text, " {}", self.set(&node.set, depth + 1));
                    }
                }
                What::Fragment { on, named, include, skip } => {
                    text += "...";
                    if *named {
                        self.named += 1;
                        let _ = write!(text, "F{}", self.named);
                    } else if let Some(on) = on {
                        let _ = write!(text, " on {on}");
                    }
                    let number = self.named;
                    let flags = [("include", include), ("skip", skip)];
                    for (name, value) in flags.into_iter().filter_map(|(name, value)| Some((name, (*value)?))) {
                        let variable = self.variable("Boolean!".to_owned(), json!(value));
                        let _ = write!(text, " @{name}(if: {variable})");
                    }
                    if *named {
                        let body = self.set(&node.set, 1);
                        let _ = writeln!(
                            self.fragments,
                            "fragment F{number} on {} {body}",
                            on.as_deref().unwrap_or_default()
                        );
                    } else {
                        let _ = write!(text, " {}", self.set(&node.set, depth + 1));
                    }
                }
            }
            text.push('\n');
        }
        text + &"  ".repeat(depth - 1) + "}"
    }

    fn argument(&mut self, argument: &Argument) -> String {
        let value = if argument.variable {
            self.variable(argument.ty.to_string(), argument.value.clone())
        } else {
            literal(&argument.value, &argument.ty)
        };
        format!("{}: {value}", argument.name)
    }

    fn variable(&mut self, ty: String, value: Value) -> String {
        self.declared.push((ty, value));
        format!("$v{}", self.declared.len() - 1)
    }
}

/// A value as a literal. For a type that is not a scalar of GraphQL's own, a text that looks like a name is an enum
/// value.
fn literal(value: &Value, ty: &Type) -> String {
    let is_aws = AwsScalar::named(ty.inner_named_type()).is_some();
    let scalars = ["ID", "String", "DateTime", "LocalDateTime", "Date", "Decimal", "Binary", "JSON", "Long"];
    match value {
        Value::Array(values) => {
            format!("[{}]", values.iter().map(|value| literal(value, ty.item_type())).collect::<Vec<_>>().join(", "))
        }
        Value::String(text) if !is_aws && !scalars.contains(&ty.inner_named_type().as_str()) && !text.is_empty() => {
            text.clone()
        }
        other => other.to_string(),
    }
}
