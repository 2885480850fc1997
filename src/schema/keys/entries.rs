//! An argument of `@item` that names attributes in, its entries out: an object, or a list for names that are no GraphQL
//! names. Must not know what the entries mean.

use crate::schema::diagnostics::diagnostic::Findings;
use crate::schema::diagnostics::help::Help;
use crate::schema::diagnostics::rule::Rule;
use crate::schema::diagnostics::span;
use crate::schema::diagnostics::span::At;
use crate::schema::diagnostics::suggestion::{list, suggest};
use crate::schema::syntax::directives::{argument, member, string};
use crate::schema::table::Table;
use crate::schema::types::draft::StoredFields;
use apollo_compiler::Node;
use apollo_compiler::ast::{Directive, Value};

/// The entries of `{ PK: … }` or of `[{ attribute: "PK", template: … }]`, each attribute with what is written for it.
/// `word` is the second member of an entry of a list. `None` if it is neither.
pub fn entries<'v>(written: &'v Node<Value>, word: &str) -> Option<Vec<(At<String>, &'v Node<Value>)>> {
    let named =
        |name: &apollo_compiler::Name| At { value: name.to_string(), span: span::from_location(name.location()) };
    match &**written {
        Value::Object(pairs) => Some(pairs.iter().map(|(name, value)| (named(name), value)).collect()),
        Value::List(entries) => entries
            .iter()
            .map(|entry| Some((member(entry, "attribute").and_then(string)?, member(entry, word)?)))
            .collect(),
        _ => None,
    }
}

/// Every entry of the list form has the member `attribute` and `words` alone: any other would have no effect. Reports
/// all others.
pub fn check_words(
    (written, argument): (&Node<Value>, &str),
    words: &[&str],
    rule: &'static Rule,
    findings: &mut Findings,
) -> Option<()> {
    let members = written.as_list().unwrap_or_default().iter().filter_map(|entry| entry.as_object()).flatten();
    let unknown: Vec<_> = members
        .map(|(name, _)| name)
        .filter(|name| name.as_str() != "attribute" && !words.contains(&name.as_str()))
        .collect();
    for name in &unknown {
        let help = suggest(name, std::iter::once("attribute").chain(words.iter().copied()));
        let help = help.unwrap_or_else(|| format!("an entry has `attribute` and `{}`", words.join("`, `")).into());
        let message = format!("an entry of `{argument}:` has no `{name}`");
        findings.error(rule, &span::from_location(name.location()), message, Some(help));
    }
    unknown.is_empty().then_some(())
}

/// The templates of a list of texts, under the names of the table's keys.
pub fn named_keys(table: &Table, written: &Node<Value>) -> Option<Help> {
    let templates: Option<Vec<&str>> = written.as_list()?.iter().map(|template| template.as_str()).collect();
    let templates = templates?;
    let pairs = table.primary_key().zip(&templates).map(|(key, template)| format!("{}: \"{template}\"", key.name));
    let pairs: Vec<String> = pairs.collect();
    let keys = format!("{{ {} }}", pairs.join(", "));
    let is_whole = pairs.len() == templates.len() && table.primary_key().count() == pairs.len();
    let help = format!("write `{keys}`");
    is_whole.then(|| Help::edit(help, span::from_location(written.location()), keys))
}

/// A template that is a name without quotes: the field of this name, or the text.
pub fn in_quotes(record: &StoredFields, value: &Node<Value>) -> Option<Help> {
    let name = value.as_enum()?.as_str();
    let template = if record.contains_key(name) { format!("\"{{{name}}}\"") } else { format!("\"{name}\"") };
    Some(Help::edit(format!("write `{template}`"), span::from_location(value.location()), template))
}

/// The index that the keys of an `@item` speak of besides these, as `@table` declares one, and its keys.
pub fn undeclared_index(directive: &Directive, known: &[&str]) -> (String, String) {
    let mut own = argument(directive, "keys").and_then(|keys| entries(keys, "template")).unwrap_or_default();
    own.retain(|(attribute, _)| !known.contains(&attribute.value.as_str()));
    let keys: Vec<&str> = own.iter().map(|(attribute, _)| attribute.value.as_str()).collect();
    let first = keys.first().copied().unwrap_or("…");
    let name = first.trim_end_matches("PK").trim_end_matches("pk");
    let index = match keys.get(1) {
        Some(sort) => format!("{{ name: \"{name}\", partitionKey: \"{first}\", sortKey: \"{sort}\" }}"),
        None => format!("{{ name: \"{name}\", partitionKey: \"{first}\" }}"),
    };
    (index, list(&keys))
}
