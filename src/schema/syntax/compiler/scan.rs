//! The text of a schema in; its tokens out, also of a text that no parser reads: quotes that are not closed, brackets
//! that do not match. Must not know the grammar.

use std::ops::Range;

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// A name or a number.
    Name,
    /// A text in quotes.
    Text,
    /// A text whose quotes the end of the line leaves open.
    OpenText,
    /// `(`, `[` or `{`.
    Open(char),
    /// `)`, `]` or `}`.
    Close(char),
    /// Another sign.
    Sign(char),
}

/// A token with its place.
#[derive(Debug, Clone)]
pub struct ScannedToken {
    /// What it is.
    pub shape: Shape,
    /// Byte offsets into the text.
    pub span: Range<usize>,
}

/// The tokens of a text, without comments.
pub fn scan(text: &str) -> Vec<ScannedToken> {
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(first) = text[at..].chars().next() {
        let rest = &text[at..];
        let (length, shape) = match first {
            '#' => (rest.find('\n').unwrap_or(rest.len()), None),
            '"' => quoted(rest),
            '(' | '[' | '{' => (1, Some(Shape::Open(first))),
            ')' | ']' | '}' => (1, Some(Shape::Close(first))),
            _ if is_name(first) => (rest.find(|c| !is_name(c)).unwrap_or(rest.len()), Some(Shape::Name)),
            _ if first.is_whitespace() || first == ',' => (first.len_utf8(), None),
            _ => (first.len_utf8(), Some(Shape::Sign(first))),
        };
        tokens.extend(shape.map(|shape| ScannedToken { shape, span: at..at + length }));
        at += length;
    }
    tokens
}

fn is_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// A text in one quote on each side, on one line, or in three on each side.
fn quoted(rest: &str) -> (usize, Option<Shape>) {
    if let Some(inner) = rest.strip_prefix("\"\"\"") {
        let end = inner.find("\"\"\"");
        let shape = if end.is_some() { Shape::Text } else { Shape::OpenText };
        return (end.map_or(rest.len(), |end| end + 6), Some(shape));
    }
    let mut escaped = false;
    for (at, c) in rest.char_indices().skip(1) {
        match c {
            '\n' => return (at, Some(Shape::OpenText)),
            '"' if !escaped => return (at + 1, Some(Shape::Text)),
            _ => escaped = c == '\\' && !escaped,
        }
    }
    (rest.len(), Some(Shape::OpenText))
}

/// The brackets that are open before each position: those of the tokens that end there or earlier.
pub fn open_at(tokens: &[ScannedToken], position: usize) -> Vec<&ScannedToken> {
    let mut open: Vec<&ScannedToken> = Vec::new();
    for token in tokens.iter().take_while(|token| token.span.end <= position) {
        match token.shape {
            Shape::Open(_) => open.push(token),
            Shape::Close(_) => {
                open.pop();
            }
            _ => {}
        }
    }
    open
}

/// The bracket that closes another.
pub fn closer(open: char) -> char {
    match open {
        '(' => ')',
        '[' => ']',
        _ => '}',
    }
}

/// The range of the line that holds a position, without its end.
pub fn line_of(text: &str, position: usize) -> Range<usize> {
    let start = text[..position].rfind('\n').map_or(0, |at| at + 1);
    start..text[position..].find('\n').map_or(text.len(), |at| position + at)
}
