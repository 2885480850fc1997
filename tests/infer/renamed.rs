//! A design with other names: its attributes, labels and separators, in its table, its items and its types.

use crate::Design;
use crate::score::{KeyedType, is_item};
use keyfold::schema::model::Model;
use keyfold::schema::table::{KeyAttribute, Projection, Table};
use keyfold::schema::template::Template;
use keyfold::table::data::attribute::{Attribute, Item};

/// Each letter is another one of its case, each separator another separator.
fn other(text: &str) -> String {
    let shifted = |letter: char, first: u8| char::from((letter as u8 - first + 13) % 26 + first);
    let letter = |letter: char| match letter {
        'a'..='z' => shifted(letter, b'a'),
        'A'..='Z' => shifted(letter, b'A'),
        '#' => '|',
        '|' => '#',
        ':' => '~',
        letter => letter,
    };
    text.chars().map(letter).collect()
}

/// The marks of a dialect stay: they are not a table's own.
fn name(attribute: &str) -> String {
    if attribute.starts_with("__") { attribute.to_owned() } else { other(attribute) }
}

/// The table with other names.
pub fn table(table: &Table) -> Table {
    let key = |key: &KeyAttribute| KeyAttribute { name: name(&key.name), kind: key.kind };
    let mut renamed = table.clone();
    renamed.partition = key(&table.partition);
    renamed.sort = table.sort.as_ref().map(key);
    for index in &mut renamed.indexes {
        index.partition = index.partition.iter().map(key).collect();
        index.sort = index.sort.iter().map(key).collect();
        if let Projection::Include(names) = &mut index.projection {
            names.iter_mut().for_each(|attribute| *attribute = name(attribute));
        }
    }
    renamed
}

/// A type with other names.
pub fn keyed_type(ty: &KeyedType) -> KeyedType {
    let shapes = |shapes: &std::collections::BTreeMap<String, Vec<String>>| {
        shapes.iter().map(|(key, all)| (name(key), all.iter().map(|shape| other(shape)).collect())).collect()
    };
    KeyedType { primary: shapes(&ty.primary), indexes: shapes(&ty.indexes), ..ty.clone() }
}

/// An item with other names: in its keys, the texts of its type's templates.
pub fn item(design: &Design, of: &str, item: &Item) -> Item {
    let model: &Model = &design.model;
    let mut types = model.types.keys().filter_map(|name| Some(model.item(name)?.1));
    let own = types.find(|keys| model.tables[keys.table].name == of && is_item(model, keys, item));
    let value = |attribute: &str, value: &Attribute| match (value, own.and_then(|keys| keys.keys.get(attribute))) {
        (Attribute::S(text), Some(templates)) => {
            let renamed = templates.iter().find_map(|template| key(template, text.as_str()));
            Attribute::S(renamed.unwrap_or_else(|| text.as_str().to_owned()).into())
        }
        (value, _) => value.clone(),
    };
    item.members().map(|(attribute, of)| (name(attribute), value(attribute, of))).collect()
}

/// A key with other labels and the same values.
fn key(template: &Template, text: &str) -> Option<String> {
    let parts = template.split(text)?;
    let written = template.as_written(usize::MAX);
    // A part of a key is a literal where the template has its text outside of braces.
    let mut literals = written.split('{').enumerate().map(|(at, part)| match at {
        0 => part,
        _ => part.split_once('}').map_or("", |(_, rest)| rest),
    });
    let mut next = literals.next()?;
    let mut renamed = String::new();
    for part in parts {
        if !next.is_empty() && part == next {
            renamed.push_str(&other(part));
            next = "";
        } else {
            renamed.push_str(part);
            next = literals.next().unwrap_or_default();
        }
    }
    Some(renamed)
}
