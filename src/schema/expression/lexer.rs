//! The tokens of a condition, of an update expression or of an arithmetic one: text in; out, tokens with their places,
//! and the mistakes that make no token.

use crate::schema::diagnostics::help::Help;
use crate::schema::expression::names::ConditionMistake;
use crate::schema::expression::operand::Comparator;
use std::ops::Range;

/// A token of a condition or an update expression.
#[derive(Debug, Clone, PartialEq)]
pub enum Token<'t> {
    /// A keyword, a function, `true`, `false`, `null` or a name.
    Word(&'t str),
    /// An argument's name, without its colon; dotted for a field of an input object.
    Argument(&'t str),
    /// A number, as written.
    Number(&'t str),
    /// A text, without its quotes.
    Text(String),
    /// `=`, `<>`, `<`, `<=`, `>`, `>=`.
    Comparator(Comparator),
    /// One of `( ) [ ] , .`, in update expressions also `+` and `-`, in arithmetic ones `*`, too.
    Mark(char),
}

/// A token and its byte range.
#[derive(Debug, Clone)]
pub struct SpannedToken<'t> {
    /// The token.
    pub token: Token<'t>,
    /// Its byte range within the condition's text.
    pub span: Range<usize>,
}

/// Splits a condition into tokens. Syntax of other languages (`==`, `&&`, `"text"`) is a mistake, but is read as what
/// it means, so that the rest can be checked.
pub fn tokens(text: &str) -> (Vec<SpannedToken<'_>>, Vec<ConditionMistake>) {
    read_tokens(text, Operators::None)
}

/// The clauses of an update expression.
pub const CLAUSES: [&str; 4] = ["SET", "REMOVE", "ADD", "DELETE"];

/// Splits an update expression into tokens. There, `+` and `-` between values are tokens of their own.
pub fn tokens_of_update(text: &str) -> (Vec<SpannedToken<'_>>, Vec<ConditionMistake>) {
    read_tokens(text, Operators::OfUpdate)
}

/// Splits an arithmetic expression into tokens. There, `+`, `-` and `*` between values are tokens of their own.
pub fn tokens_of_arithmetic(text: &str) -> (Vec<SpannedToken<'_>>, Vec<ConditionMistake>) {
    read_tokens(text, Operators::All)
}

/// The operators that stand between values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operators {
    /// None.
    None,
    /// `+` and `-` in SET.
    OfUpdate,
    /// `+`, `-` and `*`.
    All,
}

impl Operators {
    /// Whether a sign after these tokens is an operator, not part of a number.
    fn have(self, sign: char, before: &[SpannedToken<'_>]) -> bool {
        let is_after_value = before.last().is_some_and(|last| ends_value(&last.token));
        match self {
            Self::None => false,
            Self::OfUpdate => sign != '*' && is_after_value && is_in_set(before),
            Self::All => sign == '*' || is_after_value,
        }
    }
}

/// Whether the last clause is SET, or none is there. The others have no operators: `ADD coins -1` takes one coin away.
fn is_in_set(tokens: &[SpannedToken<'_>]) -> bool {
    let is_clause = |word: &str| CLAUSES.iter().any(|clause| word.eq_ignore_ascii_case(clause));
    let last = tokens.iter().rev().find(|token| matches!(token.token, Token::Word(word) if is_clause(word)));
    last.is_none_or(|token| matches!(token.token, Token::Word(word) if word.eq_ignore_ascii_case("SET")))
}

fn read_tokens(text: &str, operators: Operators) -> (Vec<SpannedToken<'_>>, Vec<ConditionMistake>) {
    let (mut tokens, mut mistakes): (Vec<SpannedToken>, Vec<ConditionMistake>) = (Vec::new(), Vec::new());
    let mut at = 0;
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        let Some(letter) = rest.chars().next() else { break };
        let (length, token, mistake) = match letter {
            _ if letter.is_whitespace() => (letter.len_utf8(), None, None),
            '(' | ')' | '[' | ']' | ',' | '.' => (1, Some(Token::Mark(letter)), None),
            '+' | '-' | '*' if operators.have(letter, &tokens) => (1, Some(Token::Mark(letter)), None),
            '/' if operators == Operators::All => (1, Some(Token::Mark('*')), Some(division())),
            // A claim's name may stand in quotes of either kind.
            '"' if tokens.last().is_some_and(|last| last.token == Token::Mark('[')) => {
                let (length, token, mistake) = quoted(rest, letter);
                (length, token, mistake.filter(|_| !rest[1..length].ends_with('"')))
            }
            '\'' | '"' => quoted(rest, letter),
            ':' => match dotted_length(&rest[1..]) {
                0 => (1, None, Some(("Write an argument as a colon and its name.".to_owned(), None))),
                length => (1 + length, Some(Token::Argument(&rest[1..=length])), None),
            },
            _ if name_length(rest) > 0 => (name_length(rest), Some(Token::Word(&rest[..name_length(rest)])), None),
            _ => match crate::schema::scalar::decimal::numeral_length(rest) {
                Some(length) => (length, Some(Token::Number(&rest[..length])), None),
                None => sign(rest, letter),
            },
        };
        let span = at..at + length;
        at = span.end;
        if let Some((message, help)) = mistake {
            mistakes.push(ConditionMistake { span: span.clone(), message, help });
        }
        tokens.extend(token.map(|token| SpannedToken { token, span }));
    }
    (tokens, mistakes)
}

/// Whether the token may end a value.
fn ends_value(token: &Token) -> bool {
    match token {
        Token::Word(_) | Token::Argument(_) | Token::Number(_) | Token::Text(_) => true,
        Token::Mark(mark) => matches!(mark, ')' | ']'),
        Token::Comparator(_) => false,
    }
}

type Sentence = (String, Option<Help>);
type Lexed<'t> = (usize, Option<Token<'t>>, Option<Sentence>);

/// A text in quotes. Two adjacent quotes mean one.
fn quoted(rest: &str, quote: char) -> Lexed<'static> {
    let mut text = String::new();
    let mut letters = rest.char_indices().skip(1).peekable();
    while let Some((at, letter)) = letters.next() {
        match letter {
            _ if letter != quote => text.push(letter),
            _ if letters.next_if(|(_, next)| *next == quote).is_some() => text.push(quote),
            _ => {
                let double = (quote == '"').then(|| {
                    let single = format!("'{}'", text.replace('\'', "''"));
                    let help = Help::instead(format!("Write {single}."), &rest[..=at], single);
                    ("Write text in single quotes.".to_owned(), Some(help))
                });
                return (at + 1, Some(Token::Text(text)), double);
            }
        }
    }
    (
        rest.len(),
        Some(Token::Text(text)),
        Some(("This text is not closed. Write a quote inside text twice.".to_owned(), None)),
    )
}

/// Division is read as multiplication, so that the rest can be checked.
fn division() -> Sentence {
    let help = "A quotient may have no last digit. Multiply instead: `price * 0.5`.";
    ("An expression does not know `/`.".to_owned(), Some(help.into()))
}

/// A comparator, or a sign that a condition does not know.
fn sign(rest: &str, letter: char) -> Lexed<'_> {
    use Comparator::{Equal, Greater, GreaterOrEqual, Less, LessOrEqual, NotEqual};
    let comparators = [("<>", NotEqual), ("<=", LessOrEqual), (">=", GreaterOrEqual), ("<", Less), (">", Greater)];
    let foreign = [
        ("==", "=", Token::Comparator(Equal)),
        ("!=", "<>", Token::Comparator(NotEqual)),
        ("&&", "AND", Token::Word("AND")),
        ("||", "OR", Token::Word("OR")),
        ("!", "NOT", Token::Word("NOT")),
    ];
    for (sign, ours, token) in foreign {
        if rest.starts_with(sign) {
            // A word stands apart from what follows.
            let apart = if ours == "NOT" && !rest[1..].starts_with([' ', '(']) { "NOT " } else { ours };
            let help = Help::instead(format!("Write `{ours}`."), sign, apart);
            let mistake = (format!("A condition does not know `{sign}`."), Some(help));
            return (sign.len(), Some(token), Some(mistake));
        }
    }
    match comparators.into_iter().chain([("=", Equal)]).find(|(sign, _)| rest.starts_with(sign)) {
        Some((sign, comparator)) => (sign.len(), Some(Token::Comparator(comparator)), None),
        None => foreign_name(rest, letter),
    }
}

/// A name with the sign that another language puts before it, or a sign that nothing knows.
fn foreign_name(rest: &str, letter: char) -> Lexed<'_> {
    let (first, message) = (letter.len_utf8(), format!("A condition does not know `{letter}`."));
    let end = first + dotted_length(&rest[first..]);
    let name = &rest[first..end];
    match letter {
        '$' if !name.is_empty() => {
            let help = Help::instead(format!("Write an argument as `:{name}`."), &rest[..end], format!(":{name}"));
            (end, Some(Token::Argument(name)), Some((message, Some(help))))
        }
        '#' if !name.is_empty() && !name.contains('.') => {
            let help = format!("Write the field's name as in the API, without #: `{name}`.");
            (end, Some(Token::Word(name)), Some((message, Some(Help::instead(help, &rest[..end], name)))))
        }
        '#' => (first, None, Some((message, Some("Write the field's name as in the API, without #.".into())))),
        _ => (first, None, Some((message, None))),
    }
}

/// The length of the name at the beginning of a text (GraphQL spec section 2.1.9, "Names"); 0 if there is none.
fn name_length(text: &str) -> usize {
    let letters = text.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count();
    if text.starts_with(|first: char| first.is_ascii_digit()) { 0 } else { letters }
}

/// The length of a name, or of names joined by dots.
fn dotted_length(text: &str) -> usize {
    let mut length = name_length(text);
    while length > 0 {
        match text[length..].strip_prefix('.').map(name_length) {
            Some(next) if next > 0 => length += 1 + next,
            _ => break,
        }
    }
    length
}
