//! An argument of `@item` that names attributes in, its entries out: an object, or a list for names that are no GraphQL
//! names. Must not know what the entries mean.

use crate::schema::diagnostics::diagnostic::Findings;
use crate::schema::diagnostics::rule::Rule;
use crate::schema::diagnostics::span;
use crate::schema::diagnostics::span::At;
use crate::schema::diagnostics::suggestion::suggest;
use crate::schema::syntax::directives::{member, string};
use apollo_compiler::Node;
use apollo_compiler::ast::Value;

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
        let help = help.unwrap_or_else(|| format!("an entry has `attribute` and `{}`", words.join("`, `")));
        let message = format!("an entry of `{argument}:` has no `{name}`");
        findings.error(rule, &span::from_location(name.location()), message, Some(help));
    }
    unknown.is_empty().then_some(())
}
