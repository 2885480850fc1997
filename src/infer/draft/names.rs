//! Names of attributes, labels and tables in, names of GraphQL out.

/// Words that a schema cannot have as the name of an item type.
pub const RESERVED: [&str; 17] = [
    "Query",
    "Mutation",
    "Subscription",
    "String",
    "Int",
    "Float",
    "Boolean",
    "ID",
    "DateTime",
    "LocalDateTime",
    "Date",
    "Long",
    "Decimal",
    "JSON",
    "Binary",
    "PageInfo",
    "Node",
];
/// Labels that say nothing of what an item is.
const EMPTY_LABELS: [&str; 9] = ["meta", "metadata", "profile", "info", "details", "detail", "data", "root", "entity"];

/// The words of a text: runs of letters and digits.
fn words(text: &str) -> Vec<String> {
    text.split(|letter: char| !letter.is_ascii_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect()
}

/// A name of a field: `birth-date` is `birthDate`, `GSI1PK` is `gsi1pk`.
pub fn field_name(text: &str) -> String {
    let mut name = String::new();
    for (position, word) in words(text).iter().enumerate() {
        let is_capital = word.chars().all(|letter| !letter.is_lowercase());
        let word = if is_capital { word.to_lowercase() } else { word.clone() };
        name.push_str(&match position {
            0 => decapitalised(&word),
            _ => capitalised(&word),
        });
    }
    valid(name, "field")
}

/// A name of a type: `ORDER_LINE` is `OrderLine`.
pub fn type_name(text: &str) -> String {
    let mut name = String::new();
    for word in words(text) {
        let is_capital = word.len() > 1 && word.chars().all(|letter| !letter.is_lowercase());
        name.push_str(&capitalised(&if is_capital { word.to_lowercase() } else { word }));
    }
    let name = valid(name, "Item");
    if RESERVED.contains(&name.as_str()) { format!("{name}Item") } else { name }
}

/// A name of an enum's value: the text itself, or `IN_STOCK` for `in stock`.
pub fn enum_value(text: &str) -> String {
    match text {
        "true" | "false" | "null" => text.to_uppercase(),
        _ if is_name(text) && !text.starts_with("__") => text.to_owned(),
        _ => valid(words(text).join("_").to_uppercase(), "VALUE"),
    }
}

/// Whether a text is a name of GraphQL (GraphQL spec section 2.1.9).
pub fn is_name(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && text.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
}

/// Whether a label says what an item is.
pub fn is_telling(label: &str) -> bool {
    !EMPTY_LABELS.contains(&label.to_lowercase().trim_matches(|letter: char| !letter.is_alphanumeric()))
}

/// A name without its case and what joins its words, to compare it.
pub fn plain(name: &str) -> String {
    name.to_lowercase().replace(|letter: char| !letter.is_alphanumeric(), "")
}

/// The plural of a field's name, for lists.
pub fn plural(name: &str) -> String {
    let ends = |ends: &[&str]| ends.iter().any(|end| name.ends_with(end));
    match name {
        _ if ends(&["ay", "ey", "oy", "uy"]) => format!("{name}s"),
        _ if name.ends_with('y') => format!("{}ies", &name[..name.len() - 1]),
        _ if ends(&["ss", "x", "ch", "sh"]) => format!("{name}es"),
        _ if name.ends_with('s') => format!("{name}List"),
        _ => format!("{name}s"),
    }
}

/// The name with a small first letter.
pub fn decapitalised(name: &str) -> String {
    let mut letters = name.chars();
    letters.next().map(|first| first.to_lowercase().chain(letters).collect()).unwrap_or_default()
}

/// The name with a capital first letter.
pub fn capitalised(name: &str) -> String {
    let mut letters = name.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

/// The name, or the name with a number, that is not taken.
pub fn free(name: &str, is_taken: impl Fn(&str) -> bool) -> String {
    if !is_taken(name) {
        return name.to_owned();
    }
    (2..).map(|number| format!("{name}{number}")).find(|name| !is_taken(name)).unwrap_or_default()
}

/// A name that begins with a letter (GraphQL spec section 2.1.9); names in `__` are GraphQL's own.
fn valid(name: String, or: &str) -> String {
    match name.chars().next() {
        None => or.to_owned(),
        Some(first) if first.is_ascii_digit() => format!("{or}{name}"),
        Some(_) => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_become_names_of_fields() {
        for (attribute, name) in [
            ("birth-date", "birthDate"),
            ("firstName", "firstName"),
            ("FirstName", "firstName"),
            ("GSI1PK", "gsi1pk"),
            ("user_id", "userId"),
            ("Status#Time", "statusTime"),
            ("2fa", "field2fa"),
            ("#", "field"),
        ] {
            assert_eq!(field_name(attribute), name);
        }
    }

    #[test]
    fn labels_become_names_of_types() {
        for (label, name) in [
            ("ORDER_LINE", "OrderLine"),
            ("user", "User"),
            ("QUERY", "QueryItem"),
            ("7", "Item7"),
            ("HR-EMPLOYEE", "HrEmployee"),
        ] {
            assert_eq!(type_name(label), name);
        }
    }
}
