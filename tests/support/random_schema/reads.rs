//! Random finds: the fields of `Query`, and the relations between types.

use super::sdl::type_of;
use super::{ItemType, Kind, Part, Rng, Schema, Template, chance, pick};

/// A field with `@find`.
#[derive(Debug, Clone)]
pub struct Read {
    pub name: String,
    /// The position of the type that it finds.
    pub target: usize,
    pub shape: Shape,
    /// The values that fields of the target must equal.
    pub bound: Vec<(String, Source)>,
    /// What `where:` says of the parts of the parent's key that the target's key has too: they bind, or not.
    pub said: Vec<(String, bool)>,
    /// The position of the index in the target's table that `index:` names.
    pub index: Option<usize>,
    /// Whether `order: DESC`.
    pub descending: bool,
}

/// What a read returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// An item, or null.
    One,
    /// `[Item!]!`
    List,
    /// A connection, with the arguments `first`, `after`, `last` and `before`.
    Connection,
    /// `Int!`
    Count,
    /// `Boolean!`
    Exists,
}

/// What a field of the target is bound to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// The argument with the field's own name. It is never null.
    Argument,
    /// A field of the parent.
    Parent(String),
}

impl Read {
    /// The field's text.
    pub fn sdl(&self, schema: &Schema) -> String {
        let ty = &schema.types[self.target];
        let mut arguments: Vec<String> = self
            .bound
            .iter()
            .filter(|(_, source)| *source == Source::Argument)
            .map(|(field, _)| argument(ty, field))
            .collect();
        let mut options = Vec::new();
        let shape = match self.shape {
            Shape::One => ty.name.clone(),
            Shape::List => format!("[{}!]!", ty.name),
            Shape::Connection => {
                arguments
                    .extend(["first: Int = 20", "after: String", "last: Int", "before: String"].map(str::to_owned));
                format!("{}Connection!", ty.name)
            }
            Shape::Count | Shape::Exists => {
                options.push(format!("item: {}", ty.name));
                if self.shape == Shape::Count { "Int!".to_owned() } else { "Boolean!".to_owned() }
            }
        };
        if let Some(index) = self.index {
            options.push(format!("index: {:?}", schema.table_of(ty).indexes[index].name));
        }
        if !self.said.is_empty() {
            let entry = |(part, binds): &(String, bool)| {
                if *binds { format!("{part}: \"{{{part}}}\"") } else { format!("{part}: null") }
            };
            options.push(format!("where: {{ {} }}", self.said.iter().map(entry).collect::<Vec<_>>().join(", ")));
        }
        if self.descending {
            options.push("order: DESC".to_owned());
        }
        let list = |all: &[String]| if all.is_empty() { String::new() } else { format!("({})", all.join(", ")) };
        format!("{}{}: {shape} @find{}", self.name, list(&arguments), list(&options))
    }
}

fn argument(ty: &ItemType, field: &str) -> String {
    format!("{field}: {}", type_of(ty, ty.field(field).kind, true, true))
}

/// The fields of `Query`: each type by its key, by its partition, and by its indexes.
pub fn queries(rng: &mut Rng, schema: &Schema) -> Vec<Read> {
    let mut reads = Vec::new();
    for (target, ty) in schema.types.iter().enumerate() {
        let table = schema.table_of(ty);
        let by =
            |fields: &[&str]| fields.iter().map(|field| ((*field).to_owned(), Source::Argument)).collect::<Vec<_>>();
        let key = ty.key_fields(table);
        let read = |name: String, shape, fields: &[&str], index| Read {
            name,
            target,
            shape,
            bound: by(fields),
            said: Vec::new(),
            index,
            descending: false,
        };
        reads.push(read(ty.small(), Shape::One, &key, None));
        let partition = ty.key(&table.partition).unwrap()[0].fields();
        if partition.len() < key.len() {
            reads.push(Read {
                descending: chance(rng, 30),
                ..read(format!("{}s", ty.small()), Shape::List, &partition, None)
            });
            if chance(rng, 50) {
                reads.push(Read {
                    descending: chance(rng, 30),
                    ..read(format!("{}Page", ty.small()), Shape::Connection, &partition, None)
                });
            }
            if chance(rng, 40) {
                reads.push(read(format!("{}Count", ty.small()), Shape::Count, &partition, None));
                reads.push(read(format!("{}There", ty.small()), Shape::Exists, &partition, None));
            }
        }
        for position in by_index(schema, ty).filter(|position| !is_conditional(schema, ty, *position)) {
            let fields = ty.key(&table.indexes[position].partition).unwrap()[0].fields();
            let name = format!("{}sBy{}", ty.small(), position + 1);
            let shape = if chance(rng, 50) { Shape::Connection } else { Shape::List };
            reads.push(Read { descending: chance(rng, 30), ..read(name, shape, &fields, Some(position)) });
        }
    }
    reads
}

/// More fields of `Query`: each type by its indexes under a condition, which have some of its items only.
pub fn conditional(rng: &mut Rng, schema: &Schema) -> Vec<Read> {
    let mut reads = Vec::new();
    for (target, ty) in schema.types.iter().enumerate() {
        for position in by_index(schema, ty).filter(|position| is_conditional(schema, ty, *position)) {
            let fields = ty.key(&schema.table_of(ty).indexes[position].partition).unwrap()[0].fields();
            reads.push(Read {
                name: format!("{}sWhen{}", ty.small(), position + 1),
                target,
                shape: *pick(rng, &[Shape::Connection, Shape::List]),
                bound: fields.into_iter().map(|field| (field.to_owned(), Source::Argument)).collect(),
                said: Vec::new(),
                index: Some(position),
                descending: chance(rng, 30),
            });
        }
    }
    reads
}

/// The positions of the global indexes by which a type may be read.
fn by_index<'s>(schema: &'s Schema, ty: &'s ItemType) -> impl Iterator<Item = usize> + use<'s> {
    let table = schema.table_of(ty);
    let key = ty.key_fields(table);
    let is_readable = move |template: &Template| {
        let fields = template.fields();
        !key.iter().all(|field| fields.contains(field))
            && !template.0.iter().any(|part| matches!(part, Part::Replica(_)))
    };
    let global = table.indexes.iter().enumerate().filter(|(_, index)| !index.local);
    let readable = global.filter(move |(_, index)| match ty.key(&index.partition) {
        Some([template]) => is_readable(template),
        _ => false,
    });
    readable.map(|(position, _)| position)
}

/// Whether a key of an index has a condition, so that the index has some of the items only.
fn is_conditional(schema: &Schema, ty: &ItemType, position: usize) -> bool {
    let index = &schema.table_of(ty).indexes[position];
    ty.conditions.iter().any(|(key, _)| *key == index.partition || Some(key) == index.sort.as_ref())
}

/// The relations of a type: to its children, and to its parent if the child has the parent's whole key.
pub fn relations(rng: &mut Rng, schema: &Schema, position: usize) -> Vec<Read> {
    let ty = &schema.types[position];
    let mut reads = Vec::new();
    for child in schema.children(position) {
        let target = &schema.types[child];
        let key = ty.key_fields(schema.table_of(ty));
        let parts: Vec<&str> =
            key.into_iter().filter(|part| target.in_keys(part) && ty.field(part).kind != Kind::Id).collect();
        let read = |rng: &mut Rng, name: String, shape| {
            // A list is of everything that belongs to the item, because deletes follow it.
            let said: Vec<(String, bool)> =
                parts.iter().map(|part| ((*part).to_owned(), shape != Shape::List && rng.bool())).collect();
            let mut bound = vec![(format!("{}Id", ty.small()), Source::Parent("id".to_owned()))];
            bound.extend(
                said.iter().filter(|(_, binds)| *binds).map(|(part, _)| (part.clone(), Source::Parent(part.clone()))),
            );
            Read { name, target: child, shape, bound, said, index: None, descending: false }
        };
        let list = read(rng, format!("{}s", target.small()), Shape::List);
        reads.push(Read { descending: chance(rng, 30), ..list });
        if chance(rng, 40) {
            reads.push(read(rng, format!("{}Page", target.small()), Shape::Connection));
        }
        if chance(rng, 30) {
            reads.push(read(rng, format!("{}Count", target.small()), Shape::Count));
        }
    }
    if let Some(parent) = ty.parent {
        let target = &schema.types[parent];
        if target.key_fields(schema.table_of(target)) == ["id"] && chance(rng, 60) {
            let bound = vec![("id".to_owned(), Source::Parent(format!("{}Id", target.small())))];
            reads.push(Read {
                name: target.small(),
                target: parent,
                shape: Shape::One,
                bound,
                said: Vec::new(),
                index: None,
                descending: false,
            });
        }
    }
    reads
}
