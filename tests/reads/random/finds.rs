//! A random schema in, more fields that find out, as text: lists of values, ranges, filters, orders, optional arguments, counts, items of
//! several types, and relations through others. What a key cannot serve the checker refuses, and it is left out.

use crate::random_schema::sdl::type_of;
use crate::random_schema::{ItemType, Kind, Part, Rng, Schema, chance, pick};

/// A field and the type that it stands in.
#[derive(Debug, Clone)]
pub struct Extra {
    pub owner: String,
    /// The field's text.
    pub field: String,
    /// What it needs beside it: enums, unions.
    pub beside: String,
}

/// Fields that may be added to a schema.
pub fn extras(rng: &mut Rng, schema: &Schema) -> Vec<Extra> {
    let mut extras = Vec::new();
    for (position, ty) in schema.types.iter().enumerate() {
        for number in 0..5 {
            extras.push(find(rng, schema, ty, number));
        }
        extras.extend(through(rng, schema, position));
        extras.extend(together(rng, schema, position));
    }
    extras
}

/// The text of a schema with more fields.
pub fn with(sdl: &str, extras: &[Extra]) -> String {
    let mut text = sdl.to_owned();
    for extra in extras {
        let start = if extra.owner == "Query" { "type Query {\n".to_owned() } else { format!("type {} @item(", extra.owner) };
        let at = text.find(&start).unwrap();
        let open = at + text[at..].find("{\n").unwrap() + 2;
        text.insert_str(open, &format!("  {}\n", extra.field));
        text += &extra.beside;
    }
    text
}

fn input(ty: &ItemType, field: &str, non_null: bool) -> String {
    type_of(ty, ty.field(field).kind, non_null, true)
}

/// A find of one type: its keys, or those of an index, bound in some way.
fn find(rng: &mut Rng, schema: &Schema, ty: &ItemType, number: usize) -> Extra {
    let table = schema.table_of(ty);
    let mut places: Vec<(String, Option<String>, Option<String>)> = vec![(table.partition.clone(), table.sort.clone(), None)];
    places.extend(table.indexes.iter().filter(|index| ty.key(&index.partition).is_some()).map(|index| {
        let named = chance(rng, 50).then(|| index.name.clone());
        (index.partition.clone(), index.sort.clone(), named)
    }));
    let (partition, sort, index) = pick(rng, &places).clone();
    let fields = |attribute: &str| -> Vec<String> {
        let templates = ty.key(attribute).unwrap_or_default();
        templates.first().map(|template| template.fields().into_iter().map(str::to_owned).collect()).unwrap_or_default()
    };
    let (mut arguments, mut bound) = (Vec::new(), Vec::new());
    let list = chance(rng, 35);
    let mut listed = false;
    for field in fields(&partition) {
        if list && !listed {
            listed = true;
            arguments.push(format!("{field}s: [{}]!", input(ty, &field, true)));
            bound.push(format!("{field}: \"{{{field}s}}\""));
        } else {
            arguments.push(format!("{field}: {}", input(ty, &field, true)));
        }
    }
    let sort_fields = sort.as_deref().map(fields).unwrap_or_default();
    for field in sort_fields {
        if arguments.iter().any(|known: &String| known.starts_with(&format!("{field}: "))) {
            continue;
        }
        let kind = ty.field(&field).kind;
        match rng.usize(..6) {
            0 => arguments.push(format!("{field}: {}", input(ty, &field, true))),
            1 => arguments.push(format!("{field}: {}", input(ty, &field, false))),
            2 if !listed => {
                listed = true;
                arguments.push(format!("{field}s: [{}]!", input(ty, &field, true)));
                bound.push(format!("{field}: \"{{{field}s}}\""));
                continue;
            }
            3 if kind != Kind::Flag => {
                let ty = input(ty, &field, false);
                arguments.push(format!("from: {ty}, to: {ty}"));
                let operators = ["between: [\"{from}\", \"{to}\"]", "ge: \"{from}\", lt: \"{to}\"", "gt: \"{from}\", le: \"{to}\""];
                bound.push(format!("{field}: {{ {} }}", pick(rng, &operators)));
                break;
            }
            4 if matches!(kind, Kind::Id | Kind::Text) => {
                arguments.push("start: String".to_owned());
                bound.push(format!("{field}: {{ beginsWith: \"{{start}}\" }}"));
                break;
            }
            _ => break,
        }
    }
    let mut options: Vec<String> = Vec::new();
    options.extend(index.map(|index| format!("index: {index:?}")));
    if !bound.is_empty() {
        options.push(format!("where: {{ {} }}", bound.join(", ")));
    }
    if chance(rng, 40) {
        let (condition, more) = filter(rng, ty);
        options.push(format!("filter: \"{condition}\""));
        arguments.extend(more);
    }
    let mut beside = String::new();
    let shape = rng.usize(..8);
    if shape < 5 {
        match rng.usize(..5) {
            0 => options.push("order: DESC".to_owned()),
            1 => arguments.push("order: Order".to_owned()),
            2 => options.push(format!("orderBy: {:?}", pick(rng, &ty.fields).name)),
            3 => {
                let name = format!("{}Order{number}", ty.name);
                let mut orders: Vec<String> = (0..2).map(|_| pick(rng, &ty.fields).name.to_uppercase()).collect();
                orders.dedup();
                beside = format!("enum {name} {{ {} }}\n", orders.join(" "));
                arguments.push(format!("orderBy: {name}"));
            }
            _ => {}
        }
    }
    let returns = match shape {
        0..=1 => format!("[{}!]!", ty.name),
        2..=4 => {
            arguments.push("first: Int = 3, after: String, last: Int, before: String".to_owned());
            format!("{}Connection!", ty.name)
        }
        5 => ty.name.clone(),
        6 => {
            options.push(format!("item: {}", ty.name));
            "Int!".to_owned()
        }
        _ => {
            options.push(format!("item: {}", ty.name));
            "Boolean!".to_owned()
        }
    };
    Extra { owner: "Query".to_owned(), field: text(&format!("{}X{number}", ty.small()), &arguments, &returns, &options), beside }
}

fn text(name: &str, arguments: &[String], returns: &str, options: &[String]) -> String {
    let list = |all: &[String]| if all.is_empty() { String::new() } else { format!("({})", all.join(", ")) };
    format!("{name}{}: {returns} @find{}", list(arguments), list(options))
}

/// A condition on the fields of a type, and the arguments that it takes.
fn filter(rng: &mut Rng, ty: &ItemType) -> (String, Vec<String>) {
    let (mut parts, mut arguments) = (Vec::new(), Vec::new());
    for number in 0..rng.usize(1..=2) {
        let fields: Vec<_> = ty.fields.iter().filter(|field| !matches!(field.kind, Kind::Parts)).collect();
        let field = *pick(rng, &fields);
        let (name, argument) = (&field.name, format!("x{number}"));
        let mut with = |ty: String, condition: String| {
            arguments.push(format!("{argument}: {ty}"));
            condition
        };
        let scalar = type_of(ty, field.kind, false, true);
        parts.push(match (field.kind, rng.usize(..6)) {
            (_, 0) => format!("attribute_exists({name})"),
            (_, 1) => format!("attribute_not_exists({name})"),
            (Kind::Set | Kind::Log, 2) => format!("size({name}) > 1"),
            (Kind::Set | Kind::Log, _) => with("String".to_owned(), format!("contains({name}, :{argument})")),
            (Kind::Text | Kind::Id, 2) => with("String".to_owned(), format!("contains({name}, :{argument})")),
            (Kind::Text | Kind::Id, 3) => with("String".to_owned(), format!("begins_with({name}, :{argument})")),
            (Kind::Int, 2) => format!("{name} BETWEEN 2 AND 7"),
            (Kind::Int, 3) => with(scalar, format!("NOT {name} < :{argument}")),
            (Kind::Flag | Kind::Status, 2) => with(scalar, format!("{name} <> :{argument}")),
            (_, 4) => with(format!("[{}!]", scalar), format!("{name} IN (:{argument})")),
            _ => with(scalar, format!("{name} = :{argument}")),
        });
    }
    (parts.join(if chance(rng, 60) { " AND " } else { " OR " }), arguments)
}

/// A path over two relations of a type that the schema has.
fn through(rng: &mut Rng, schema: &Schema, position: usize) -> Option<Extra> {
    let ty = &schema.types[position];
    let mut paths = Vec::new();
    for first in &ty.relations {
        for second in &schema.types[first.target].relations {
            paths.push((format!("{}.{}", first.name, second.name), second.target));
        }
    }
    if paths.is_empty() {
        return None;
    }
    let (path, target) = pick(rng, &paths);
    let target = &schema.types[*target];
    let (arguments, returns) = match rng.usize(..3) {
        0 => (vec!["first: Int = 3, after: String, last: Int, before: String".to_owned()], format!("{}Connection!", target.name)),
        1 => (vec![], target.name.clone()),
        _ => (vec![], format!("[{}!]!", target.name)),
    };
    let field = text("farther", &arguments, &returns, &[format!("through: {path:?}")]);
    Some(Extra { owner: ty.name.clone(), field, beside: String::new() })
}

/// A find of a type and others of its table, as a union or an interface.
fn together(rng: &mut Rng, schema: &Schema, position: usize) -> Option<Extra> {
    let ty = &schema.types[position];
    let table = schema.table_of(ty);
    let mut all = vec![ty];
    for other in schema.types.iter().filter(|other| other.table == ty.table && other.name != ty.name) {
        let alike = other.parent == ty.parent && other.key(&table.partition) == ty.key(&table.partition);
        let is_child = other.parent == Some(position);
        if (alike || is_child) && chance(rng, 70) {
            all.push(other);
        }
    }
    if all.len() < 2 {
        return None;
    }
    let name = format!("{}Group", ty.name);
    let members: Vec<&str> = all.iter().map(|ty| ty.name.as_str()).collect();
    let mut beside = format!("union {name} = {}\n", members.join(" | "));
    let spread = |part: &Part| matches!(part, Part::Shard(_) | Part::Replica(_));
    if all.iter().flat_map(|ty| &ty.keys).flat_map(|(_, templates)| templates).flat_map(|template| &template.0).any(spread) {
        return None;
    }
    let mut arguments: Vec<String> = Vec::new();
    for field in ty.key(&table.partition)?.first()?.fields() {
        let name = if ty.parent.is_none() && field == "id" { format!("{}Id", ty.small()) } else { field.to_owned() };
        arguments.push(format!("{name}: {}", input(ty, field, true)));
    }
    let returns = match rng.usize(..4) {
        0 => name.clone(),
        1 => format!("[{name}!]!"),
        _ => {
            arguments.push("first: Int = 3, after: String, last: Int, before: String, order: Order".to_owned());
            beside += &format!("type {name}Connection {{ nodes: [{name}!]! edges: [{name}Edge!]! pageInfo: PageInfo! }}\n");
            beside += &format!("type {name}Edge {{ node: {name}! cursor: String! }}\n");
            format!("{name}Connection!")
        }
    };
    let field = text(&format!("{}Group", ty.small()), &arguments, &returns, &[]);
    Some(Extra { owner: "Query".to_owned(), field, beside })
}
