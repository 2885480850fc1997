//! `@claims` and the texts of all directives in; out: the claims that no issuer gives. Must not know what the texts are
//! for.

use crate::schema::diagnostics::diagnostic::Findings;
use crate::schema::diagnostics::rules;
use crate::schema::diagnostics::span;
use crate::schema::diagnostics::suggestion::suggest;
use crate::schema::expression::claim::ClaimPath;
use crate::schema::expression::lexer::{SpannedToken, Token, tokens_of_update};
use crate::schema::syntax::directives::{argument, items};
use crate::schema::types::draft::SchemaDraft;
use apollo_compiler::Node;
use apollo_compiler::ast::{Directive, Value};
use apollo_compiler::schema::{Component, ExtendedType};
use std::ops::Range;

/// The arguments of directives that are expressions.
const EXPRESSIONS: [&str; 4] = ["if", "filter", "expression", "at"];
/// The arguments of directives that are templates: they hold names in braces.
const TEMPLATES: [&str; 4] = ["keys", "where", "set", "value"];

/// Reports the claims that `@claims` does not list. A schema without `@claims` may name any.
pub fn check(draft: &SchemaDraft, findings: &mut Findings) {
    let Some(declaration) = draft.schema.schema_definition.directives.get("claims") else { return };
    let names = argument(declaration, "names").map_or(&[][..], items);
    let declared: Vec<&str> = names.iter().filter_map(|name| name.as_str()).collect();
    for directive in applied(draft) {
        for written in &directive.arguments {
            let kind = if EXPRESSIONS.contains(&written.name.as_str()) {
                in_expression
            } else if TEMPLATES.contains(&written.name.as_str()) {
                in_template
            } else {
                continue;
            };
            let mut texts = Vec::new();
            add_texts(&written.value, &mut texts);
            for (text, literal) in texts {
                for (name, place) in kind(text).into_iter().filter(|(name, _)| !declared.contains(&name.as_str())) {
                    let message = format!("the claim `{name}` is not among those that `@claims` declares");
                    findings.error(
                        rules::KF0616,
                        &span::within(draft.text, &literal, &place),
                        message,
                        suggest(&name, declared.iter().copied()),
                    );
                }
            }
        }
    }
}

/// The directives of all types, fields and members of input objects.
fn applied<'a>(draft: &SchemaDraft<'a>) -> Vec<&'a Node<Directive>> {
    fn node(directive: &Component<Directive>) -> &Node<Directive> {
        &directive.node
    }
    let mut all: Vec<&Node<Directive>> = Vec::new();
    for definition in draft.schema.types.values().filter(|definition| !definition.is_built_in()) {
        all.extend(definition.directives().iter().map(node));
        match definition {
            ExtendedType::Object(object) => {
                all.extend(object.fields.values().flat_map(|field| field.directives.iter()))
            }
            ExtendedType::Interface(interface) => {
                all.extend(interface.fields.values().flat_map(|field| field.directives.iter()))
            }
            ExtendedType::InputObject(input) => {
                all.extend(input.fields.values().flat_map(|field| field.directives.iter()))
            }
            ExtendedType::Scalar(_) | ExtendedType::Union(_) | ExtendedType::Enum(_) => {}
        }
    }
    all
}

/// The texts within a value, each with the place of its literal.
fn add_texts<'v>(value: &'v Node<Value>, texts: &mut Vec<(&'v str, span::Span)>) {
    match &**value {
        Value::String(text) => texts.push((text, span::from_location(value.location()))),
        Value::List(values) => values.iter().for_each(|value| add_texts(value, texts)),
        Value::Object(members) => members.iter().for_each(|(_, value)| add_texts(value, texts)),
        _ => {}
    }
}

/// The claims of an expression, each by its outermost name and the place of its path up to there.
fn in_expression(text: &str) -> Vec<(String, Range<usize>)> {
    let (tokens, _) = tokens_of_update(text);
    let starts = |position: usize| match &tokens[position].token {
        Token::Argument(name) => *name == "auth" || name.starts_with("auth."),
        Token::Word(name) => *name == "auth" && (position == 0 || tokens[position - 1].token != Token::Mark('.')),
        _ => false,
    };
    (0..tokens.len())
        .filter(|position| starts(*position))
        .filter_map(|position| claim_of(&tokens[position..]))
        .collect()
}

/// The claim with which these tokens begin. A field that is named `auth` has nothing behind it.
fn claim_of(tokens: &[SpannedToken<'_>]) -> Option<(String, Range<usize>)> {
    let first = tokens.first()?;
    if let Token::Argument(dotted) = &first.token
        && let Some(name) = dotted.split('.').nth(1)
    {
        return Some((name.to_owned(), first.span.clone()));
    }
    let next = tokens.get(2)?;
    let name = match (&tokens.get(1)?.token, &next.token) {
        (Token::Mark('.'), Token::Word(name)) => (*name).to_owned(),
        (Token::Mark('['), Token::Text(name)) => name.clone(),
        _ => return None,
    };
    Some((name, first.span.start..next.span.end))
}

/// The claims in braces.
fn in_template(text: &str) -> Vec<(String, Range<usize>)> {
    let mut claims = Vec::new();
    for (open, _) in text.match_indices('{') {
        let inner = text[open + 1..].split('}').next().unwrap_or_default();
        if let Some(name) = ClaimPath::parse(inner).and_then(|claim| claim.names().first().cloned()) {
            claims.push((name, open + 1..open + 1 + inner.len()));
        }
    }
    claims
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(claims: Vec<(String, Range<usize>)>) -> Vec<String> {
        claims.into_iter().map(|(name, _)| name).collect()
    }

    #[test]
    fn claims_are_found_in_expressions() {
        for (text, found) in [
            ("auth.sub = :id AND 'auth.x' <> name", vec!["sub"]),
            ("'a' IN (auth[\"cognito:groups\"]) OR auth.address.country = 'NZ'", vec!["cognito:groups", "address"]),
            ("SET owner = :auth.sub, n = n+:auth.step.size", vec!["sub", "step"]),
            (":auth['a'] = b.auth.c AND auth = :authors", vec!["a"]),
        ] {
            assert_eq!(names(in_expression(text)), found, "{text}");
        }
    }

    #[test]
    fn claims_are_found_in_templates() {
        for (text, found) in
            [("T#{auth.tenant}#{id}{auth[\"a:b\"].c}", vec!["tenant", "a:b"]), ("{author}#{{auth}}#{auth", vec![])]
        {
            assert_eq!(names(in_template(text)), found, "{text}");
        }
    }
}
