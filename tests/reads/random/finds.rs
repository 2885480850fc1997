//! A random schema in; more finds out, as text: lists of values, ranges, filters, orders, optional arguments, counts,
//! interfaces and unions, and relations through others. Finds that the checker refuses because no key serves them are
//! left out.

use crate::random_schema::keys::is_kept;
use crate::random_schema::reads::Shape;
use crate::random_schema::sdl::type_of;
use crate::random_schema::{Field, ItemType, Kind, Part, Rng, Schema, chance, pick};

/// A field and its type.
#[derive(Debug, Clone)]
pub struct Extra {
    pub owner: String,
    /// The field's text.
    pub field: String,
    /// Additional definitions for the field: enums, unions, interfaces.
    pub beside: String,
    /// The types that implement an interface, each with its name.
    pub implementors: Vec<(String, String)>,
    /// Whether its edges have fields of links.
    pub shows_links: bool,
}

/// Fields that may be added to a schema.
pub fn extras(rng: &mut Rng, schema: &Schema) -> Vec<Extra> {
    let mut extras = Vec::new();
    for (position, ty) in schema.types.iter().enumerate() {
        for number in 0..5 {
            extras.push(find(rng, schema, ty, number));
        }
        extras.extend(items(rng, schema, ty));
        extras.extend((0..2).filter_map(|number| through(rng, schema, (position, number))));
        extras.extend((0..2).map(|number| related(rng, schema, ty, number)));
        extras.extend((0..3).filter_map(|number| together(rng, schema, (position, number))));
    }
    extras
}

/// The text of a schema with more fields.
pub fn with(sdl: &str, extras: &[Extra]) -> String {
    let mut text = sdl.to_owned();
    for extra in extras {
        for (ty, interface) in &extra.implementors {
            let (plain, implementing) = (format!("type {ty} @item("), format!("type {ty} implements "));
            text = match text.contains(&implementing) {
                true => text.replacen(&implementing, &format!("{implementing}{interface} & "), 1),
                false => text.replacen(&plain, &format!("{implementing}{interface} @item("), 1),
            };
        }
        let at = text.find(&format!("type {} ", extra.owner)).unwrap();
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
    let mut places: Vec<(String, Option<String>, Option<String>)> =
        vec![(table.partition.clone(), table.sort.clone(), None)];
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
                let operators =
                    ["between: [\"{from}\", \"{to}\"]", "ge: \"{from}\", lt: \"{to}\"", "gt: \"{from}\", le: \"{to}\""];
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
    Extra {
        owner: "Query".to_owned(),
        field: text(&format!("{}X{number}", ty.small()), &arguments, &returns, &options),
        beside,
        implementors: Vec::new(),
        shows_links: false,
    }
}

/// The items of a type in a partition, as pages of AppSync's form.
fn items(rng: &mut Rng, schema: &Schema, ty: &ItemType) -> Option<Extra> {
    let template = ty.key(&schema.table_of(ty).partition)?.first()?;
    let mut arguments: Vec<String> =
        template.fields().into_iter().map(|field| format!("{field}: {}", input(ty, field, true))).collect();
    let default = if chance(rng, 70) { " = 1" } else { "" };
    arguments.push(format!("limit: Int{default}, nextToken: String"));
    let (name, null) = (format!("{}Items", ty.name), if chance(rng, 50) { "" } else { "!" });
    let total = if chance(rng, 50) { "totalCount: Int!" } else { "" };
    Some(Extra {
        owner: "Query".to_owned(),
        field: text(&format!("{}Items", ty.small()), &arguments, &format!("{name}{null}"), &[]),
        beside: format!("type {name} {{ items: [{}]! nextToken: String {total} }}\n", ty.name),
        implementors: Vec::new(),
        shows_links: false,
    })
}

fn text(name: &str, arguments: &[String], returns: &str, options: &[String]) -> String {
    let list = |all: &[String]| if all.is_empty() { String::new() } else { format!("({})", all.join(", ")) };
    format!("{name}{}: {returns} @find{}", list(arguments), list(options))
}

/// A condition on the fields of a type, and its arguments.
fn filter(rng: &mut Rng, ty: &ItemType) -> (String, Vec<String>) {
    let (mut parts, mut arguments) = (Vec::new(), Vec::new());
    for number in 0..rng.usize(1..=2) {
        let fields: Vec<_> = ty.fields.iter().filter(|field| !is_of_objects(field)).collect();
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

/// A relation from a type to any of its table. Sometimes it says whether the parts of the parent's key bind.
pub fn related(rng: &mut Rng, schema: &Schema, ty: &ItemType, number: usize) -> Extra {
    let all: Vec<&ItemType> = schema.types.iter().filter(|other| other.table == ty.table).collect();
    // Those that belong to the same parent are in partitions that the type knows.
    let near: Vec<&ItemType> =
        all.iter().copied().filter(|other| other.parent == ty.parent && other.name != ty.name).collect();
    let target = if near.is_empty() || chance(rng, 30) { *pick(rng, &all) } else { *pick(rng, &near) };
    let (mut arguments, mut options, mut bound) = (Vec::new(), Vec::new(), Vec::new());
    let parts = ty
        .key_fields(schema.table_of(ty))
        .into_iter()
        .filter(|part| target.in_keys(part) && ty.field(part).kind != Kind::Id);
    for part in parts {
        match rng.usize(..4) {
            0 => bound.push(format!("{part}: \"{{{part}}}\"")),
            1 => bound.push(format!("{part}: null")),
            2 => arguments.push(format!("{part}: {}", input(target, part, chance(rng, 50)))),
            _ => {}
        }
    }
    if !bound.is_empty() {
        options.push(format!("where: {{ {} }}", bound.join(", ")));
    }
    let returns = match rng.usize(..6) {
        0..=2 => format!("[{}!]!", target.name),
        3 => {
            arguments.push("first: Int = 3, after: String, last: Int, before: String".to_owned());
            format!("{}Connection!", target.name)
        }
        4 => target.name.clone(),
        _ => {
            options.push(format!("item: {}", target.name));
            if chance(rng, 50) { "Int!".to_owned() } else { "Boolean!".to_owned() }
        }
    };
    let field = text(&format!("near{number}"), &arguments, &returns, &options);
    Extra { owner: ty.name.clone(), field, beside: String::new(), implementors: Vec::new(), shows_links: false }
}

/// A path over two relations of a type.
fn through(rng: &mut Rng, schema: &Schema, (position, number): (usize, usize)) -> Option<Extra> {
    let ty = &schema.types[position];
    let mut paths = Vec::new();
    for first in &ty.relations {
        for second in &schema.types[first.target].relations {
            let is_link = matches!(first.shape, Shape::List | Shape::Connection) && second.shape == Shape::One;
            let link = is_link.then(|| &schema.types[first.target]);
            paths.push((format!("{}.{}", first.name, second.name), second.target, link));
        }
    }
    if paths.is_empty() {
        return None;
    }
    let (path, target, link) = pick(rng, &paths);
    let target = &schema.types[*target];
    let (mut beside, mut shows_links) = (String::new(), false);
    let (arguments, returns) = match rng.usize(..4) {
        0 | 1 => {
            let (name, node) = (format!("{}Links{number}", ty.name), &target.name);
            beside = format!("type {name} {{ nodes: [{node}!]! edges: [{name}Edge!]! pageInfo: PageInfo! }}\n");
            let mut of_link = String::new();
            for (link, field) in link.iter().flat_map(|link| link.fields.iter().map(move |field| (*link, field))) {
                let non_null = field.non_null && chance(rng, 50);
                if chance(rng, 40) {
                    shows_links = true;
                    of_link += &format!("{}: {} ", field.name, type_of(link, field.kind, non_null, false));
                }
            }
            beside += &format!("type {name}Edge {{ node: {node}! cursor: String! {of_link} }}\n");
            (vec!["first: Int = 3, after: String, last: Int, before: String".to_owned()], format!("{name}!"))
        }
        2 => (vec![], target.name.clone()),
        _ => (vec![], format!("[{}!]!", target.name)),
    };
    let field = text(&format!("farther{number}"), &arguments, &returns, &[format!("through: {path:?}")]);
    Some(Extra { owner: ty.name.clone(), field, beside, implementors: Vec::new(), shows_links })
}

/// A find of a type and others of its table, as a union or an interface: in `Query`, or in the type that all of them
/// belong to.
fn together(rng: &mut Rng, schema: &Schema, (position, number): (usize, usize)) -> Option<Extra> {
    let ty = &schema.types[position];
    let table = schema.table_of(ty);
    let mut all = vec![ty];
    for other in schema.types.iter().filter(|other| other.table == ty.table && other.name != ty.name) {
        if partition(schema, other) == partition(schema, ty) && chance(rng, 80) {
            all.push(other);
        }
    }
    if all.len() < 2 {
        return None;
    }
    let spread = |part: &Part| matches!(part, Part::Shard(_) | Part::Replica(_) | Part::Assigned);
    if all
        .iter()
        .flat_map(|ty| &ty.keys)
        .flat_map(|(_, templates)| templates)
        .flat_map(|template| &template.0)
        .any(spread)
    {
        return None;
    }
    let name = format!("{}Group{number}", ty.name);
    let common: Vec<Field> = ty.fields.iter().filter_map(|field| in_all(&all, field)).collect();
    let (mut beside, mut implementors) = (String::new(), Vec::new());
    if !common.is_empty() && chance(rng, 60) {
        let fields: Vec<String> = common
            .iter()
            .map(|field| format!("{}: {}", field.name, type_of(ty, field.kind, field.non_null, false)))
            .collect();
        beside += &format!("interface {name} {{ {} }}\n", fields.join(" "));
        implementors.extend(all.iter().map(|ty| (ty.name.clone(), name.clone())));
    } else {
        let members: Vec<&str> = all.iter().map(|ty| ty.name.as_str()).collect();
        beside += &format!("union {name} = {}\n", members.join(" | "));
    }
    let (mut owner, mut arguments, mut options) = ("Query".to_owned(), Vec::new(), Vec::new());
    match ty.parent.filter(|parent| chance(rng, 40) && all.iter().all(|ty| ty.parent == Some(*parent))) {
        // The parent's id binds them.
        Some(parent) => owner = schema.types[parent].name.clone(),
        None => {
            for field in ty.key(&table.partition)?.first()?.fields() {
                let name =
                    if ty.parent.is_none() && field == "id" { format!("{}Id", ty.small()) } else { field.to_owned() };
                arguments.push(format!("{name}: {}", input(ty, field, true)));
            }
        }
    }
    // A filter reads one attribute, which all types have.
    let is_one = |field: &Field| {
        all.iter()
            .all(|ty| is_kept(table, ty, ty.field(&field.name)) && ty.field(&field.name).attribute == field.attribute)
    };
    let of_common = ItemType { fields: common.into_iter().filter(is_one).collect(), ..ty.clone() };
    if !of_common.fields.is_empty() && chance(rng, 30) {
        let (condition, more) = filter(rng, &of_common);
        options.push(format!("filter: \"{condition}\""));
        arguments.extend(more);
    }
    if let Some(field) = of_common.fields.last().filter(|_| chance(rng, 10)) {
        options.push(format!("orderBy: {:?}", field.name));
    }
    let returns = match rng.usize(..6) {
        0 => name.clone(),
        1 => format!("[{name}!]!"),
        2 | 3 => {
            options.push(format!("item: {name}"));
            options.retain(|option| !option.starts_with("orderBy"));
            if chance(rng, 50) { "Int!".to_owned() } else { "Boolean!".to_owned() }
        }
        _ => {
            arguments.push("first: Int = 3, after: String, last: Int, before: String, order: Order".to_owned());
            let total = if chance(rng, 50) { "totalCount: Int" } else { "" };
            beside += &format!(
                "type {name}Connection {{ nodes: [{name}!]! edges: [{name}Edge!]! pageInfo: PageInfo! {total} }}\n"
            );
            beside += &format!("type {name}Edge {{ node: {name}! cursor: String! }}\n");
            format!("{name}Connection!")
        }
    };
    let field = text(&format!("{}Group{number}", ty.small()), &arguments, &returns, &options);
    Some(Extra { owner, field, beside, implementors, shows_links: false })
}

/// The text of a type's partition key, with the type's own id under the name that other types give it.
fn partition(schema: &Schema, ty: &ItemType) -> Option<String> {
    let template = ty.key(&schema.table_of(ty).partition)?.first()?;
    Some(template.to_string().replace("{id}", &format!("{{{}Id}}", ty.small())))
}

/// A field that fits all of these types; it may be null if it may be null in one of them.
fn in_all(all: &[&ItemType], field: &Field) -> Option<Field> {
    let own: Vec<&Field> = all.iter().map(|ty| ty.get(&field.name)).collect::<Option<_>>()?;
    let same = !is_of_objects(field) && own.iter().all(|own| own.kind == field.kind);
    same.then(|| Field { non_null: own.iter().all(|own| own.non_null), ..field.clone() })
}

fn is_of_objects(field: &Field) -> bool {
    field.kind == Kind::Parts || field.kind.is_map()
}
