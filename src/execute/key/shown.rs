//! An item in; the text of its key for a person to read, in a line of the log or of a command, out. Must not know what
//! the line says.

use crate::table::data::attribute::{Attribute, Item};

/// The longest key in a line, in bytes.
const MAX_LENGTH: usize = 200;

/// The values of an item's key attributes, those of these names. It stays one line of bounded length.
pub fn shown<'n>(names: impl Iterator<Item = &'n str>, item: &Item) -> String {
    let parts: Vec<String> = names.filter_map(|name| item.get(name)).map(text).collect();
    shortened(&parts.join(", "))
}

/// The text of a key's value.
fn text(value: &Attribute) -> String {
    match value {
        Attribute::S(text) => text.to_string(),
        Attribute::N(text) => text.to_string(),
        Attribute::B(bytes) => hex::encode(bytes),
        _ => String::new(),
    }
}

fn shortened(text: &str) -> String {
    let plain: String = text.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect();
    if plain.len() <= MAX_LENGTH { plain } else { format!("{}…", &plain[..plain.floor_char_boundary(MAX_LENGTH)]) }
}
