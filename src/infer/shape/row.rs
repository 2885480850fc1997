//! An item with what its grouping needs: its keys, split into tokens, and the texts of its other attributes.

use super::columns::Columns;
use super::electro_db;
use super::tokens::{KeyToken, split};
use crate::table::data::attribute::{Attribute, Item};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// An item of a table, seen as texts.
#[derive(Debug)]
pub struct Row<'i> {
    /// The item.
    pub item: &'i Item,
    /// The tokens of each key attribute that is a text, by the attribute's name.
    pub keys: BTreeMap<&'i str, Vec<KeyToken>>,
    /// The texts of the attributes that show values.
    pub texts: Vec<(&'i str, Cow<'i, str>)>,
}

/// A value as the text that a key may hold: of a text, a number or a Boolean.
pub fn text(value: &Attribute) -> Option<Cow<'_, str>> {
    match value {
        Attribute::S(text) | Attribute::N(text) => Some(Cow::Borrowed(text.as_str())),
        Attribute::Bool(truth) => Some(Cow::Borrowed(if *truth { "true" } else { "false" })),
        _ => None,
    }
}

/// Tokens whose first begins with a label are one more.
fn with_prefix(mut tokens: Vec<KeyToken>, prefix: impl Fn(&str) -> Option<usize>) -> Vec<KeyToken> {
    if let Some(length) = tokens.first().and_then(|first| prefix(&first.text)) {
        let rest = tokens[0].text.split_off(length);
        tokens[0].label = true;
        tokens.insert(1, KeyToken::new("", rest));
    }
    tokens
}

impl<'i> Row<'i> {
    /// The row of an item.
    pub fn new(item: &'i Item, columns: &Columns<'i>) -> Self {
        let texts: Vec<(&str, Cow<'_, str>)> = item
            .members()
            .filter(|(name, _)| columns.shows_values(name))
            .filter_map(|(name, value)| Some((&**name, text(value)?)))
            .filter(|(_, text)| !text.is_empty())
            .collect();
        let mut keys = BTreeMap::new();
        for key in &columns.keys {
            let Some(Attribute::S(text)) = item.get(key) else { continue };
            // A key that is a field as well does not explain itself.
            let values: Vec<&str> =
                texts.iter().filter(|(name, _)| name != key).map(|(_, text)| text.as_ref()).collect();
            let text = text.as_str();
            let tokens = match electro_db::split(text, item) {
                Some(tokens) => tokens,
                None => with_prefix(split(text, columns.separators(key), &values), |text| {
                    columns.prefix(key, text).filter(|_| !values.contains(&text))
                }),
            };
            keys.insert(*key, tokens);
        }
        Self { item, keys, texts }
    }

    /// The text of an attribute that shows values.
    pub fn text(&self, attribute: &str) -> Option<&str> {
        self.texts.iter().find(|(name, _)| *name == attribute).map(|(_, text)| text.as_ref())
    }

    /// Whether an attribute other than the key itself has this text, whatever its case.
    pub fn has_text(&self, text: &str, key: &str) -> bool {
        self.texts.iter().any(|(name, known)| {
            *name != key && (known.as_ref() == text || known.len() == text.len() && known.to_lowercase() == text)
        })
    }
}
