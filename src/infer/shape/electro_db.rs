//! A key of an item that ElectroDB wrote in, its tokens out: `$service#attribute_value#attribute_value`, where the
//! texts before values are labels (<https://electrodb.dev/en/modeling/indexes/>).

use super::tokens::KeyToken;
use crate::table::data::attribute::{Attribute, Item};

/// The attribute by which ElectroDB knows the type of an item.
pub const MARK: &str = "__edb_e__";

/// The attribute with the version of the type.
const VERSION: &str = "__edb_v__";

/// The tokens of a key; `None` if ElectroDB did not write the item or the key.
pub fn split(key: &str, item: &Item) -> Option<Vec<KeyToken>> {
    if !item.contains_key(MARK) || !key.starts_with('$') {
        return None;
    }
    let mut names: Vec<String> =
        item.keys().filter(|name| !name.starts_with("__edb")).map(|name| format!("#{name}_").to_lowercase()).collect();
    names.sort_by_key(|name| std::cmp::Reverse(name.len()));
    // A sort key begins with the type and its version, perhaps behind the name of a collection.
    let text = |name: &str| match item.get(name) {
        Some(Attribute::S(text)) => text.as_str().to_lowercase(),
        _ => String::new(),
    };
    let version = format!("#{}_{}", text(MARK), text(VERSION));
    let mut tokens: Vec<KeyToken> = Vec::new();
    let (mut label, mut value) = (String::new(), None::<String>);
    let mut rest = key;
    while let Some(letter) = rest.chars().next() {
        let after = rest.strip_prefix(version.as_str()).filter(|after| after.is_empty() || after.starts_with('#'));
        if let Some(after) = after.filter(|_| tokens.is_empty() && value.is_none()) {
            label.push_str(&version);
            rest = after;
            continue;
        }
        // The last label before a value is the name of an attribute, and the first key goes on to it.
        if let Some(name) = names.iter().find(|name| begins_with(rest, name)) {
            if let Some(value) = value.take() {
                tokens.push(KeyToken::new("", value));
            }
            label.push_str(&rest[..name.len()]);
            tokens.push(KeyToken::label("", std::mem::take(&mut label)));
            value = Some(String::new());
            rest = &rest[name.len()..];
            continue;
        }
        value.as_mut().unwrap_or(&mut label).push(letter);
        rest = &rest[letter.len_utf8()..];
    }
    match value {
        Some(value) => tokens.push(KeyToken::new("", value)),
        None => tokens.push(KeyToken::label("", label)),
    }
    Some(tokens)
}

/// Whether a text begins with a name in small letters. The case of a letter may change its length.
fn begins_with(text: &str, name: &str) -> bool {
    text.get(..name.len()).is_some_and(|begin| begin.to_lowercase() == *name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_end_with_the_names_of_attributes() {
        let item: Item = [MARK, "project", "employee", "employeeId"]
            .into_iter()
            .map(|name| (name.to_owned(), Attribute::S("x".into())))
            .collect();
        let shown = |key: &str| {
            let tokens = split(key, &item).unwrap_or_default();
            tokens
                .iter()
                .map(|token| format!("{}{}", if token.label { "" } else { "=" }, token.text))
                .collect::<Vec<_>>()
        };
        assert_eq!(shown("$app#project_a_b#employeeid_7"), ["$app#project_", "=a_b", "#employeeid_", "=7"]);
        assert_eq!(shown("$task_1"), ["$task_1"]);
        assert_eq!(shown("$task_1#employee_"), ["$task_1#employee_", "="]);
        assert_eq!(shown("$a#PROJECT_\u{212A}"), ["$a#PROJECT_", "=\u{212A}"]);
        assert_eq!(shown("$a#projec\u{212A}_1"), ["$a#projec\u{212A}_1"]);
        assert!(split("USER#a", &item).is_none());
    }
}
