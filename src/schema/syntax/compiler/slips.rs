//! The first thing that the parser cannot read in; out: the mistake in plain words, with its remedy where it is a usual
//! slip. After the first one, the parser finds others that are none, so they are not reported.

use crate::schema::diagnostics::help::{Edit, Help};
use crate::schema::diagnostics::span::Span;
use crate::schema::diagnostics::suggestion::suggest;
use crate::schema::syntax::compiler::scan::{ScannedToken, Shape, line_of, open_at, scan};
use crate::schema::syntax::compiler::tokens::in_plain_tokens;
use crate::schema::syntax::compiler::unclosed::{self, DEFINITIONS, SyntaxMistake};

/// Explains the first mistake of the syntax.
pub fn explain(source: &str, said: &str, place: &Span) -> SyntaxMistake {
    let tokens = scan(source);
    let slip = Slip { source, tokens: &tokens, said, place };
    let found = slip.no_schema().or_else(|| slip.sign()).or_else(|| unclosed::text(source, &tokens, place.start));
    let found = found.or_else(|| slip.unquoted()).or_else(|| unclosed::bracket(source, &tokens, place.start));
    found.or_else(|| slip.word()).unwrap_or_else(|| SyntaxMistake {
        span: place.clone(),
        message: in_plain_tokens(said),
        help: None,
    })
}

struct Slip<'a> {
    source: &'a str,
    tokens: &'a [ScannedToken],
    said: &'a str,
    place: &'a Span,
}

impl Slip<'_> {
    fn mistake(&self, span: Span, message: &str, help: Help) -> Option<SyntaxMistake> {
        Some(SyntaxMistake { span, message: message.to_owned(), help: Some(help) })
    }

    /// A text that is none of a schema at all.
    fn no_schema(&self) -> Option<SyntaxMistake> {
        let text = self.source.trim_start_matches('\u{feff}').trim_start();
        if text.starts_with('{') && text[1..].trim_start().starts_with(['"', '}']) {
            let help = "`keyfold init` writes a schema from JSON: from items, tables or models";
            return self.mistake(self.place.clone(), "this is JSON, and a schema is GraphQL's", help.into());
        }
        self.tokens.is_empty().then(|| SyntaxMistake {
            span: self.place.clone(),
            message: "the file defines nothing".to_owned(),
            help: Some("`keyfold init` writes a schema to begin with; another file is named by --schema".into()),
        })
    }

    /// A sign that GraphQL does not have.
    fn sign(&self) -> Option<SyntaxMistake> {
        let rest = self.source.get(self.place.start..)?;
        let start = self.place.start;
        let line = line_of(self.source, start);
        let sign = rest.chars().next()?;
        match sign {
            '/' if rest.starts_with("//") => {
                let help = Help::edit("write `#`, which begins a comment", start..start + 2, "#");
                self.mistake(start..start + 2, "`//` begins no comment here", help)
            }
            '/' if rest.starts_with("/*") => {
                let end = rest.find("*/").map_or(rest.len(), |at| at + 2);
                let inner = rest[2..end].trim_end_matches("*/").trim();
                let lines: Vec<String> = inner.lines().map(|line| format!("# {}", line.trim())).collect();
                let help = "write `#` before each line of a comment";
                let help = Help::edit(help, start..start + end, lines.join("\n"));
                self.mistake(start..start + 2, "`/*` begins no comment here", help)
            }
            '\'' | '“' | '”' | '‘' | '’' => {
                let after = start + sign.len_utf8();
                let closes = |c: char| matches!(c, '\'' | '”' | '“' | '’');
                let close = self.source.get(after..line.end)?.find(closes).map(|at| after + at);
                let close = close?;
                let inner = self.source.get(after..close)?;
                let end = close + self.source[close..].chars().next()?.len_utf8();
                let help = format!("write `\"{inner}\"`");
                let help = Help::edit(help, start..end, format!("\"{inner}\""));
                self.mistake(start..end, "a text stands in double quotes", help)
            }
            ';' => self.mistake(
                start..start + 1,
                "nothing ends with `;` here",
                Help::edit("leave it out", start..start + 1, ""),
            ),
            _ => None,
        }
    }

    /// A condition or a text as the value of a directive's argument, without quotes.
    fn unquoted(&self) -> Option<SyntaxMistake> {
        let open = open_at(self.tokens, self.place.start);
        let parenthesis = open.last().filter(|token| token.shape == Shape::Open('('))?;
        let at = self.tokens.iter().position(|token| token.span == parenthesis.span)?;
        let is_directive = at >= 2 && self.tokens[at - 2].shape == Shape::Sign('@');
        let colon = self.tokens.iter().rposition(|token| {
            token.shape == Shape::Sign(':')
                && token.span.start > parenthesis.span.start
                && token.span.end <= self.place.start
        })?;
        let first = self.tokens.get(colon + 1).filter(|_| is_directive)?;
        if first.shape != Shape::Name || first.span.start > self.place.start {
            return None;
        }
        let line = line_of(self.source, first.span.start);
        let close = self.tokens.iter().skip(colon).find(|token| {
            token.shape == Shape::Close(')') && open_at(self.tokens, token.span.start).len() <= open.len()
        })?;
        let end = close.span.start.min(line.end);
        let value = self.source.get(first.span.start..end)?.trim_end();
        if value.contains('"') {
            return None;
        }
        let span = first.span.start..first.span.start + value.len();
        let help = Help::edit(format!("write `\"{value}\"`"), span.clone(), format!("\"{value}\""));
        self.mistake(span, "a condition is a text in quotes", help)
    }

    /// A word that begins no definition, a colon or a bracket that is missing before the place.
    fn word(&self) -> Option<SyntaxMistake> {
        let at = self.tokens.iter().position(|token| token.span.start == self.place.start)?;
        let (token, before) = (&self.tokens[at], at.checked_sub(1).map(|before| &self.tokens[before]));
        let word = &self.source[token.span.clone()];
        let open = open_at(self.tokens, self.place.start);
        if open.is_empty() && token.shape == Shape::Name && !DEFINITIONS.contains(&word) {
            let message = format!("`{word}` begins no definition");
            return Some(SyntaxMistake { span: token.span.clone(), message, help: suggest(word, DEFINITIONS) });
        }
        let before = before?;
        let in_type = open.last().is_some_and(|open| open.shape == Shape::Open('{'));
        let line = line_of(self.source, before.span.start);
        if in_type
            && [token, before].iter().all(|token| token.shape == Shape::Name)
            && line.contains(&token.span.start)
            && self.said.contains("expected a type")
        {
            let name = &self.source[before.span.clone()];
            let edit = Edit { span: before.span.end..before.span.end, text: ":".to_owned() };
            let help = Help::edits(format!("write `{name}: {word}`"), vec![edit]);
            return self.mistake(before.span.clone(), "a colon is missing between a field and its type", help);
        }
        let wanted = ["R_PAREN", "R_BRACK"].iter().position(|name| self.said.contains(&format!("expected {name}")));
        let sign = [")", "]"].get(wanted?)?;
        let help = Help::edit(format!("write `{sign}` before it"), before.span.end..before.span.end, *sign);
        self.mistake(token.span.clone(), &format!("a `{sign}` is missing before this"), help)
    }
}
