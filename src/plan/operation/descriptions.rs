//! A document in; the same document without descriptions out. Descriptions of operations, fragments and variables are
//! new in the GraphQL specification of September 2025 (section 2.4, "Document"), and apollo-parser 0.8 does not know
//! them. Spaces take their place, so that every other token keeps its line and column. Must not know the schema.

use apollo_parser::{Lexer, TokenKind};
use std::borrow::Cow;
use std::ops::Range;

/// Blanks the descriptions of a document. A document that does not lex, or has more tokens than the limit, stays as it
/// is for the parser to report.
pub fn blank(text: &str, tokens: usize) -> Cow<'_, str> {
    let found = if text.contains('"') { find(text, tokens) } else { Vec::new() };
    if found.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut blanked = String::with_capacity(text.len());
    let mut end = 0;
    for Range { start, end: next } in found {
        blanked.push_str(&text[end..start]);
        blanked
            .extend(text[start..next].chars().map(|letter| if matches!(letter, '\n' | '\r') { letter } else { ' ' }));
        end = next;
    }
    blanked.push_str(&text[end..]);
    Cow::Owned(blanked)
}

/// Finds descriptions: strings before a definition's keyword outside of selection sets, and strings before a `$` among
/// the variables.
fn find(text: &str, tokens: usize) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut string: Option<Range<usize>> = None;
    let (mut braces, mut parentheses, mut brackets) = (0_usize, 0_usize, 0_usize);
    let mut before = TokenKind::Eof;
    for token in Lexer::new(text).with_limit(tokens) {
        let Ok(token) = token else { return Vec::new() };
        let kind = token.kind();
        if matches!(kind, TokenKind::Whitespace | TokenKind::Comment | TokenKind::Comma) {
            continue;
        }
        let described = match parentheses {
            0 => kind == TokenKind::Name && matches!(token.data(), "query" | "mutation" | "subscription" | "fragment"),
            _ => kind == TokenKind::Dollar,
        };
        found.extend(string.take().filter(|_| described));
        match kind {
            TokenKind::LCurly => braces += 1,
            TokenKind::RCurly => braces = braces.saturating_sub(1),
            TokenKind::LParen => parentheses += 1,
            TokenKind::RParen => parentheses = parentheses.saturating_sub(1),
            TokenKind::LBracket => brackets += 1,
            TokenKind::RBracket => brackets = brackets.saturating_sub(1),
            // A string after `=` is a default, one after `:` an argument of a directive.
            TokenKind::StringValue if !matches!(before, TokenKind::Eq | TokenKind::Colon) => {
                let outermost = braces == 0 && brackets == 0 && parentheses <= 1;
                string = outermost.then(|| token.index()..token.index() + token.data().len());
            }
            _ => {}
        }
        before = kind;
    }
    found
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn descriptions_are_blanked_and_nothing_else_moves() {
        let text = "\"\"\"\nWhät \"it\" does,\nin two lines\n\"\"\"\nquery A(\"the id\" $id: ID! = \"a\", \"a \\\" size\" $n: [String] = [\"x\"] @d(x: \"y\") $p: P = {a: \"b\"} $q: Q = \"c\") { a(x: \"query\") }\n\"of F\" fragment F on T { b }";
        let blanked = blank(text, 1000);
        assert_eq!(blanked.chars().count(), text.chars().count());
        let words: Vec<&str> = blanked.split_whitespace().collect();
        let expected = "query A( $id: ID! = \"a\", $n: [String] = [\"x\"] @d(x: \"y\") $p: P = {a: \"b\"} $q: Q = \"c\") { a(x: \"query\") } fragment F on T { b }";
        assert_eq!(words.join(" "), expected);
        let place = |text: &str, part: &str| {
            let before = &text[..text.find(part).unwrap()];
            (before.lines().count(), before.lines().last().unwrap().chars().count())
        };
        for part in ["query A", "$id", "$n", "$q", "fragment F"] {
            assert_eq!(place(&blanked, part), place(text, part), "{part}");
        }
    }

    #[test]
    fn what_is_no_description_stays() {
        for text in [
            "{ a }",
            "\"x\" { a }",
            "\"x\"",
            "\"x\" type T { a: Int }",
            "query { a(x: \"query\") }",
            "query A($a: String = \"x\" $b: Int) { a }",
            "query A @d(x: [\"x\"] y: \"z\") { a }",
            "query A(\"x\") { a }",
            "\"x query { a }",
        ] {
            assert_eq!(blank(text, 1000), text);
        }
        assert_eq!(blank("\"x\" query { a b c d }", 3), "\"x\" query { a b c d }");
    }
}
