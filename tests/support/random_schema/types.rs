//! Random tables and item types: keys, stored fields and their rules.

use super::forms::FORMS;
use super::values::AWS_TEXTS;
use super::{
    Constraint, Default_, DefaultPart, Dimensions, Field, Index, ItemType, Kind, Part, Rng, Table, Template, When,
    chance, pick,
};
use serde_json::{Value, json};

/// Names of types. A field that refers to another type begins with the type's name in lower case.
const NAMES: [&str; 16] = [
    "Ant", "Bee", "Cat", "Dog", "Elk", "Fox", "Gnu", "Hen", "Ibis", "Jay", "Kiwi", "Lark", "Mole", "Newt", "Owl", "Pug",
];

/// Random tables with their types.
pub fn random(rng: &mut Rng, dimensions: &Dimensions) -> (Vec<Table>, Vec<ItemType>) {
    let mut tables = vec![table(rng, dimensions)];
    if dimensions.second_table && chance(rng, 25) {
        tables.push(Table { name: "flat".to_owned(), partition: "key".to_owned(), sort: None, indexes: Vec::new() });
    }
    let mut made = Types { tables, types: Vec::new(), dimensions: dimensions.clone() };
    made.family(rng);
    if chance(rng, 40) {
        made.family(rng);
    }
    if made.tables.len() > 1 {
        let name = made.next_name();
        let keys = vec![("key".to_owned(), vec![template(&[&literal(&name), "{id}"])])];
        made.add(rng, Start { name, table: 1, keys, key_fields: vec![id("id")], constants: Vec::new(), parent: None });
    }
    (made.tables, made.types)
}

fn table(rng: &mut Rng, dimensions: &Dimensions) -> Table {
    let mut indexes = Vec::new();
    for number in 1..=rng.usize(1..=3) {
        let local = number == 3;
        indexes.push(Index {
            name: format!("index{number}"),
            partition: if local { "PK".to_owned() } else { format!("G{number}P") },
            sort: Some(format!("{}{number}S", if local { "L" } else { "G" })),
            number: number == 2 && chance(rng, 30),
            local,
            keys_only: dimensions.keys_only && chance(rng, 20),
        });
    }
    Table { name: "data".to_owned(), partition: "PK".to_owned(), sort: Some("SK".to_owned()), indexes }
}

struct Types {
    tables: Vec<Table>,
    types: Vec<ItemType>,
    dimensions: Dimensions,
}

/// What a type starts with.
struct Start {
    name: String,
    table: usize,
    keys: Vec<(String, Vec<Template>)>,
    key_fields: Vec<Field>,
    constants: Vec<(String, Value)>,
    parent: Option<usize>,
}

impl Types {
    fn next_name(&self) -> String {
        NAMES[self.types.len()].to_owned()
    }

    /// Adds a root, its children, and their children.
    fn family(&mut self, rng: &mut Rng) {
        let name = self.next_name();
        let spread = match rng.u8(..10) {
            0 if self.dimensions.shards => Some(Part::Shard(4)),
            1 | 2 if self.dimensions.replicas => Some(Part::Replica(3)),
            3 if self.dimensions.assigned => Some(Part::Assigned),
            _ => None,
        };
        let own = literal(&name);
        let mut partition = template(&[&own, "{id}"]);
        partition.0.extend(spread.clone().into_iter().flat_map(|spread| [Part::Text("#".to_owned()), spread]));
        let sort = match rng.u8(..4) {
            0 => template(&[&format!("{own}{own}")]),
            _ => Template(vec![Part::Text(name.to_uppercase())]),
        };
        let keys = vec![("PK".to_owned(), vec![partition]), ("SK".to_owned(), vec![sort])];
        let twin = self.dimensions.twins && chance(rng, 35);
        let constants = constants(rng, &name, twin);
        let start = Start { name, table: 0, keys, key_fields: vec![id("id")], constants, parent: None };
        let root = self.add(rng, start);
        if twin {
            self.twin(rng, root);
        }
        for _ in 0..rng.usize(..=2) {
            let child = self.child(rng, root);
            if self.dimensions.twins && chance(rng, 30) && !self.types[child].constants.is_empty() {
                self.twin(rng, child);
            }
            if chance(rng, 50) && self.types.len() < 7 {
                self.child(rng, child);
            }
        }
    }

    /// A type whose items belong to those of another: they have its id, and are in its partition or in one of their
    /// own.
    fn child(&mut self, rng: &mut Rng, parent: usize) -> usize {
        let name = self.next_name();
        let of = &self.types[parent];
        let (parent_id, own) = (format!("{}Id", of.small()), literal(&name));
        let spread_parent = of.keys[0].1[0].0.iter().any(is_spread);
        let beside = of.parent.is_none() && !spread_parent && chance(rng, 50);
        let mut partition =
            template(&[&if beside { literal(&of.name) } else { own.clone() }, &format!("{{{parent_id}}}")]);
        if !beside && self.dimensions.shards && chance(rng, 10) {
            partition.0.extend([Part::Text("#".to_owned()), Part::Shard(3)]);
        } else if !beside && self.dimensions.assigned && chance(rng, 10) {
            partition.0.extend([Part::Text("#".to_owned()), Part::Assigned]);
        }
        let mut key_fields = vec![id(&parent_id), id("id")];
        // Some children of one parent share a part of their keys.
        let mut siblings = self.types.iter().filter(|other| other.parent == Some(parent));
        let shared = siblings.find_map(|other| {
            ["place", "shelf"].iter().position(|part| other.in_keys(part) && other.get(part).is_some())
        });
        let form = match shared {
            Some(form) if chance(rng, 70) => form,
            _ => rng.usize(..5),
        };
        let sort = match form {
            0 => {
                key_fields.push(Field { kind: Kind::Int, ..id("place") });
                Template(vec![
                    Part::Text(own.clone()),
                    Part::Padded("place".to_owned(), 4),
                    Part::Text("#".to_owned()),
                    field("id"),
                ])
            }
            1 => {
                key_fields.push(Field { kind: Kind::Text, ..id("shelf") });
                template(&[&own, "{shelf}", "#", "{id}"])
            }
            2 => {
                // A time of the parent's own key may bind this one.
                let kind = of.get("since").map_or_else(|| Kind::Time(rng.usize(..FORMS.len())), |field| field.kind);
                key_fields.push(Field { kind, ..id("since") });
                template(&[&own, "{since}", "#", "{id}"])
            }
            _ => template(&[&own, "{id}"]),
        };
        let keys = vec![("PK".to_owned(), vec![partition]), ("SK".to_owned(), vec![sort])];
        let constants = if self.dimensions.twins && chance(rng, 40) { constants(rng, &name, true) } else { Vec::new() };
        self.add(rng, Start { name, table: 0, keys, key_fields, constants, parent: Some(parent) })
    }

    /// A type with the key templates of another, distinguished from it by constants.
    fn twin(&mut self, rng: &mut Rng, of: usize) {
        let name = self.next_name();
        let other = &self.types[of];
        let table = &self.tables[other.table];
        let keys: Vec<_> =
            other.keys.iter().filter(|(attribute, _)| table.primary().any(|own| own == attribute)).cloned().collect();
        let names = other.key_fields(table);
        let key_fields = other.fields.iter().filter(|field| names.contains(&field.name.as_str())).cloned().collect();
        let mut constants = other.constants.clone();
        constants[0].1 = match &constants[0].1 {
            Value::Bool(boolean) => json!(!boolean),
            Value::Number(_) => numbered(&name),
            _ => json!(name.to_lowercase()),
        };
        let (table, parent) = (other.table, other.parent);
        self.add(rng, Start { name, table, keys, key_fields, constants, parent });
    }

    /// Completes a type with more fields, and with keys of indexes.
    fn add(&mut self, rng: &mut Rng, start: Start) -> usize {
        let mut fields = start.key_fields;
        let mut more = payload(rng, &self.dimensions, &fields);
        rng.shuffle(&mut more);
        fields.extend(more);
        for field in &mut fields {
            if chance(rng, 30) && !field.version {
                field.attribute = Some(format!("a_{}", field.name));
            }
        }
        let mut ty = ItemType {
            name: start.name,
            table: start.table,
            keys: start.keys,
            conditions: Vec::new(),
            constants: start.constants,
            fields,
            relations: Vec::new(),
            parent: start.parent,
        };
        for index in self.tables[start.table].indexes.clone() {
            if chance(rng, 55) {
                index_keys(rng, &self.dimensions, &mut ty, &index);
            }
        }
        self.types.push(ty);
        self.types.len() - 1
    }
}

/// Lets the keys of some types hold `shelf` in lower case. Types of one parent do so together: they may share keys.
pub fn lower_shelves(rng: &mut Rng, types: &mut [ItemType]) {
    for parent in 0..types.len() {
        let is_lower = chance(rng, 30);
        for ty in types.iter_mut().filter(|ty| is_lower && ty.parent == Some(parent)) {
            for part in ty.keys.iter_mut().flat_map(|(_, templates)| templates).flat_map(|template| &mut template.0) {
                if *part == field("shelf") {
                    *part = Part::Lower("shelf".to_owned());
                }
            }
        }
    }
}

/// Constants that distinguish a type from its twin, or that have no such purpose.
fn constants(rng: &mut Rng, name: &str, needed: bool) -> Vec<(String, Value)> {
    let mut constants = Vec::new();
    if needed || chance(rng, 20) {
        let kind = match rng.u8(..4) {
            0 => numbered(name),
            1 => json!(rng.bool()),
            _ => json!(name.to_lowercase()),
        };
        constants.push(("kind".to_owned(), kind));
        if chance(rng, 30) {
            let source = [json!("law"), json!(-1.5), json!(true)][rng.usize(..3)].clone();
            constants.push(("source-of it".to_owned(), source));
        }
    }
    constants
}

/// A number that no other type's name gives.
fn numbered(name: &str) -> Value {
    json!(name.bytes().fold(0, |number: u64, byte| number * 131 + u64::from(byte)))
}

/// Fields besides those of the key.
fn payload(rng: &mut Rng, dimensions: &Dimensions, key: &[Field]) -> Vec<Field> {
    let mut fields = vec![Field { kind: Kind::Text, ..maybe(rng, "name") }];
    if chance(rng, 60) {
        fields.push(Field { kind: Kind::Int, ..maybe(rng, "rank") });
    }
    if chance(rng, 50) {
        fields.push(Field {
            kind: Kind::Int,
            constraint: chance(rng, 50).then_some(Constraint::Max(50)),
            ..maybe(rng, "score")
        });
    }
    if chance(rng, 50) {
        let default = chance(rng, 40).then(|| literal_default("OPEN"));
        fields.push(Field { kind: Kind::Status, default, ..maybe(rng, "status") });
    }
    if chance(rng, 40) {
        fields.push(Field {
            kind: Kind::Text,
            constraint: chance(rng, 50).then_some(Constraint::MaxLength(6)),
            ..maybe(rng, "note")
        });
    }
    if chance(rng, 30) {
        fields.push(Field { kind: Kind::Text, unique: true, ..maybe(rng, "email") });
    }
    if chance(rng, 30) {
        fields.push(Field { kind: Kind::Int, non_null: true, version: true, ..id("version") });
    }
    if chance(rng, 20) {
        fields.push(Field { kind: Kind::Flag, ..maybe(rng, "open") });
    }
    if chance(rng, 35) {
        fields.push(Field { kind: Kind::Time(rng.usize(..FORMS.len())), ..maybe(rng, "at") });
    }
    if chance(rng, 20) {
        let aws = Kind::AwsText(rng.usize(..AWS_TEXTS.len()));
        let kind = *pick(rng, &[Kind::TextInt, Kind::NumberFlag, Kind::NumberId, aws, Kind::Stamp]);
        fields.push(Field { kind, ..maybe(rng, "other") });
    }
    if chance(rng, 25) {
        fields.push(Field { kind: Kind::Set, non_null: false, ..id("tags") });
    }
    if chance(rng, 25) {
        fields.push(Field { kind: Kind::Log, ..id("log") });
    }
    if chance(rng, 30) {
        fields.push(Field { kind: Kind::Parts, ..id("parts") });
    }
    if chance(rng, 40) {
        fields.push(Field { kind: Kind::Int, default: Some(literal_default("0")), ..id("total") });
    }
    if chance(rng, 30) {
        fields.push(Field { kind: Kind::Int, default: Some(literal_default("1")), ..id("next") });
    }
    if chance(rng, 45) {
        let texts: Vec<&Field> = fields
            .iter()
            .chain(key)
            .filter(|field| {
                field.non_null && made_of(field) && (dimensions.chained_defaults || field.default.is_none())
            })
            .collect();
        let mut parts = vec![DefaultPart::Text("s-".to_owned())];
        parts.push(DefaultPart::Field(pick(rng, &texts).name.clone()));
        fields.push(Field { kind: Kind::Text, default: Some(Default_ { parts, every_write: false }), ..id("slug") });
        if dimensions.chained_defaults && chance(rng, 50) {
            let mut parts = vec![DefaultPart::Field("slug".to_owned()), DefaultPart::Text(".c".to_owned())];
            if chance(rng, 40) {
                parts.push(DefaultPart::Field("name".to_owned()));
            }
            fields.push(Field {
                kind: Kind::Text,
                non_null: false,
                default: Some(Default_ { parts, every_write: false }),
                ..id("code")
            });
        }
    }
    if chance(rng, 15) {
        let default = Some(Default_ { parts: vec![DefaultPart::Text("w".to_owned())], every_write: true });
        fields.push(Field { kind: Kind::Text, default, ..id("mark") });
    }
    fields
}

/// Whether a default's text may contain the field.
fn made_of(field: &Field) -> bool {
    matches!(field.kind, Kind::Id | Kind::Text | Kind::Int) && !field.version
}

/// The keys of an index.
fn index_keys(rng: &mut Rng, dimensions: &Dimensions, ty: &mut ItemType, index: &Index) {
    let own = literal(&ty.name);
    let sortable = |field: &&Field| match index.number {
        true => field.kind == Kind::Int && !field.version,
        false => match field.kind {
            Kind::Id | Kind::Text | Kind::Int | Kind::Status => !field.version,
            Kind::Time(form) => FORMS[form].sorts,
            _ => false,
        },
    };
    let fields: Vec<Field> = ty.fields.iter().filter(sortable).cloned().collect();
    if fields.is_empty() {
        return;
    }
    let whole = |field: &Field| match field.name.as_str() {
        "note" if dimensions.cases && field.kind == Kind::Text => Part::Lower(field.name.clone()),
        _ => Part::Field(field.name.clone()),
    };
    let placeholder = |field: &Field| match field.kind {
        Kind::Int if !index.number => Part::Padded(field.name.clone(), 4),
        _ => whole(field),
    };
    let spread = ty.keys[0].1[0].0.iter().find(|part| is_spread(part)).cloned();
    let in_index = dimensions.assigned && spread.is_none() && ty.keys.len() == 2 && chance(rng, 5);
    let needed = spread.filter(|spread| matches!(spread, Part::Replica(_)) || chance(rng, 30));
    let needed = needed.or_else(|| in_index.then_some(Part::Assigned));
    if !index.local {
        let groups: Vec<&Field> = ty
            .fields
            .iter()
            .filter(|field| matches!(field.kind, Kind::Text | Kind::Status | Kind::Id | Kind::Time(_)))
            .collect();
        let mut templates = Vec::new();
        if dimensions.alternatives && needed.is_none() && chance(rng, 15) && groups.len() > 1 {
            for (letter, field) in ["A", "B"].iter().zip([groups[0], groups[groups.len() - 1]]) {
                templates.push(Template(vec![Part::Text(format!("{own}{letter}:")), whole(field)]));
            }
        } else {
            let mut parts = vec![Part::Text(own.clone())];
            if chance(rng, 85) {
                let group: &&Field = pick(rng, &groups);
                parts.push(whole(group));
                parts.extend(needed.iter().map(|_| Part::Text("#".to_owned())));
            }
            parts.extend(needed);
            templates.push(Template(parts));
        }
        ty.keys.push((index.partition.clone(), templates));
    }
    let mut parts = vec![placeholder(pick(rng, &fields))];
    if !index.number {
        if chance(rng, 30) {
            parts.insert(0, Part::Text(own));
        }
        let last = fields.last().unwrap();
        if chance(rng, 40) && placeholder(last) != parts[parts.len() - 1] {
            parts.extend([Part::Text("#".to_owned()), placeholder(last)]);
        }
        if dimensions.unread && chance(rng, 30) {
            parts.extend(unread(rng, ty, &parts, &whole));
        }
    }
    ty.keys.push((index.sort.clone().unwrap(), vec![Template(parts)]));
    if dimensions.conditions && chance(rng, 30) {
        let key = if index.local || chance(rng, 30) { index.sort.clone().unwrap() } else { index.partition.clone() };
        ty.conditions.extend(condition(rng, ty).map(|when| (key, when)));
    }
}

/// A condition on a field of an item.
fn condition(rng: &mut Rng, ty: &ItemType) -> Option<When> {
    let single = |field: &&Field| !matches!(field.kind, Kind::Set | Kind::Log | Kind::Parts) && !field.version;
    let fields: Vec<&Field> = ty.fields.iter().filter(single).collect();
    let field = *pick(rng, &fields);
    let name = field.name.clone();
    Some(match (field.kind, rng.u8(..4)) {
        (Kind::Status, 0..3) => When::Equal(name, json!(*pick(rng, &["OPEN", "DONE"]))),
        (Kind::Flag | Kind::NumberFlag, 0..3) => When::Equal(name, json!(rng.bool())),
        (Kind::Int, 0..3) => When::AtLeast(name, rng.i64(0..5)),
        _ if rng.bool() => When::Present(name),
        _ => When::Missing(name),
    })
}

/// The end of a key that is not read back: two texts that run together, or the year of a time.
fn unread(rng: &mut Rng, ty: &ItemType, parts: &[Part], whole: &dyn Fn(&Field) -> Part) -> Vec<Part> {
    let texts: Vec<&Field> = ty.fields.iter().filter(|field| field.kind == Kind::Text).collect();
    let is_time = |field: &&String| matches!(ty.field(field).kind, Kind::Time(_));
    let time = parts.iter().find_map(|part| if let Part::Field(field) = part { Some(field) } else { None });
    let mut end = vec![Part::Text("#".to_owned())];
    match time.filter(is_time) {
        Some(time) if chance(rng, 50) => end.push(Part::Year(time.clone())),
        _ if texts.len() > 1 => end.extend([texts[0], texts[texts.len() - 1]].map(whole)),
        _ => end.clear(),
    }
    end
}

/// The text with which a type's keys begin.
fn literal(name: &str) -> String {
    format!("{}#", name.to_uppercase())
}

fn is_spread(part: &Part) -> bool {
    matches!(part, Part::Shard(_) | Part::Replica(_) | Part::Assigned)
}

fn field(name: &str) -> Part {
    Part::Field(name.to_owned())
}

/// A template of texts and `{field}`s.
fn template(parts: &[&str]) -> Template {
    let part = |text: &&str| match text.strip_prefix('{') {
        Some(name) => Part::Field(name.trim_end_matches('}').to_owned()),
        None => Part::Text((*text).to_owned()),
    };
    Template(parts.iter().map(part).collect())
}

fn literal_default(text: &str) -> Default_ {
    Default_ { parts: vec![DefaultPart::Text(text.to_owned())], every_write: false }
}

/// A non-null ID.
fn id(name: &str) -> Field {
    Field {
        name: name.to_owned(),
        kind: Kind::Id,
        non_null: true,
        attribute: None,
        default: None,
        unique: false,
        version: false,
        constraint: None,
    }
}

/// A field that is nullable or not.
fn maybe(rng: &mut Rng, name: &str) -> Field {
    Field { non_null: chance(rng, 40), ..id(name) }
}
