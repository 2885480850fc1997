//! The text of a schema that cannot be parsed in; out: the quote or the bracket that nothing closes. The parser sees
//! such a mistake late, and then at each token that follows.

use crate::schema::diagnostics::help::Help;
use crate::schema::diagnostics::span::Span;
use crate::schema::syntax::compiler::scan::{ScannedToken, Shape, closer, line_of, open_at};

/// A mistake of the syntax: its place, one sentence, and what to write instead.
pub struct SyntaxMistake {
    /// The place.
    pub span: Span,
    /// One sentence.
    pub message: String,
    /// The remedy, if one is known.
    pub help: Option<Help>,
}

/// The words that begin a definition.
pub const DEFINITIONS: [&str; 9] =
    ["type", "interface", "union", "enum", "input", "scalar", "directive", "schema", "extend"];

/// A text that its line leaves open, at or before the place where the parser stopped.
pub fn text(source: &str, tokens: &[ScannedToken], stopped: usize) -> Option<SyntaxMistake> {
    let line_end = line_of(source, stopped).end;
    let open = tokens.iter().find(|token| token.shape == Shape::OpenText && token.span.start <= line_end)?;
    let line = line_of(source, open.span.start);
    // A lost quote turns the texts of its line inside out: one of them then has the code between two texts.
    let inside_out = tokens.iter().filter(|token| token.shape == Shape::Text && line.contains(&token.span.start));
    let swallowed = inside_out.clone().find_map(|token| Some((token, end_before_argument(source, &token.span)?)));
    let (token, end) = match swallowed {
        Some((token, end)) => (token, end),
        None => (open, end_of_open(source, &open.span)),
    };
    let written = source.get(token.span.start..end)?;
    let help = format!("close it: `{written}\"`");
    Some(SyntaxMistake {
        span: token.span.start..end,
        message: "this text is not closed: a `\"` is missing on this line".to_owned(),
        help: Some(Help::edit(help, end..end, "\"")),
    })
}

/// The end of a text that goes on with `, name: `, as code between two texts does.
fn end_before_argument(source: &str, span: &Span) -> Option<usize> {
    let inner = source.get(span.start + 1..span.end - 1)?;
    let name = inner.trim_end().strip_suffix(':')?;
    let comma = name.rfind(", ").filter(|comma| name[comma + 2..].chars().all(|c| c.is_alphanumeric() || c == '_'))?;
    Some(span.start + 1 + comma)
}

/// The end of a text that the line leaves open: before the first bracket that closes one outside of the text.
fn end_of_open(source: &str, span: &Span) -> usize {
    let line = source[span.clone()].trim_end();
    let mut depth = 0_i32;
    for (at, c) in line.char_indices().skip(1) {
        depth += match c {
            '(' | '[' | '{' => 1,
            ')' | ']' | '}' => -1,
            _ => 0,
        };
        if depth < 0 {
            return span.start + line[..at].trim_end().len();
        }
    }
    span.start + line.len()
}

/// A bracket that is open where the next definition begins, or that nothing has opened.
pub fn bracket(source: &str, tokens: &[ScannedToken], stopped: usize) -> Option<SyntaxMistake> {
    let line_end = line_of(source, stopped).end;
    let next = (1..tokens.len()).find(|position| {
        let token = &tokens[*position];
        token.span.start <= line_end
            && begins_definition(source, tokens, *position)
            && !open_at(tokens, token.span.start).is_empty()
    });
    let (before, what) = match next {
        Some(next) => {
            let has_description = tokens[next - 1].shape == Shape::Text && begins_line(source, &tokens[next - 1]);
            let last = tokens.get(if has_description { next.checked_sub(2)? } else { next - 1 })?;
            let name = tokens.get(next + 1).and_then(|name| source.get(tokens[next].span.start..name.span.end))?;
            (last.span.end, format!("before `{name}`"))
        }
        None if stopped >= source.trim_end().len() => (tokens.last()?.span.end, "at the end of the text".to_owned()),
        None => return surplus(source, tokens, stopped),
    };
    let open = open_at(tokens, before);
    let first = open.first()?;
    let closers: String = open.iter().rev().map(|token| closer(sign(token))).collect();
    let is_block = !line_of(source, first.span.start).contains(&before);
    let inserted = if is_block { format!("\n{closers}") } else { format!(" {closers}") };
    Some(SyntaxMistake {
        span: first.span.clone(),
        message: format!("this `{}` is not closed {what}", sign(first)),
        help: Some(Help::edit(format!("write `{closers}` {what}"), before..before, inserted)),
    })
}

/// A closing bracket without an open one.
fn surplus(source: &str, tokens: &[ScannedToken], stopped: usize) -> Option<SyntaxMistake> {
    let token = tokens.iter().find(|token| token.span.start == stopped)?;
    let is_surplus = matches!(token.shape, Shape::Close(_)) && open_at(tokens, stopped).is_empty();
    is_surplus.then(|| SyntaxMistake {
        span: token.span.clone(),
        message: format!("this `{}` closes nothing", &source[token.span.clone()]),
        help: Some(Help::edit("leave it out", token.span.clone(), "")),
    })
}

fn sign(token: &ScannedToken) -> char {
    match token.shape {
        Shape::Open(sign) | Shape::Close(sign) | Shape::Sign(sign) => sign,
        _ => ' ',
    }
}

fn begins_line(source: &str, token: &ScannedToken) -> bool {
    source[line_of(source, token.span.start).start..token.span.start].trim().is_empty()
}

/// Whether a token begins a definition: a line without indentation that begins with `type User`, but not with a field
/// of the name `type`.
fn begins_definition(source: &str, tokens: &[ScannedToken], position: usize) -> bool {
    let token = &tokens[position];
    let is_word = |token: &ScannedToken| DEFINITIONS.contains(&&source[token.span.clone()]);
    let follows = |shape: &Shape| tokens.get(position + 1).is_some_and(|next| next.shape == *shape);
    token.shape == Shape::Name
        && line_of(source, token.span.start).start == token.span.start
        && is_word(token)
        && (follows(&Shape::Name) || follows(&Shape::Sign('@')))
}
