//! The text of an expression in; its tokens, to be taken one by one, out.

use crate::store::error::{Answer, ModelError};

#[derive(Debug, Clone, PartialEq)]
pub enum Token {
    /// An attribute's name, a keyword or the name of a function.
    Word(String),
    /// `#name`
    Name(String),
    /// `:value`
    Value(String),
    /// The index of a list's element.
    Number(usize),
    /// A comparator, a bracket, a comma …
    Sign(&'static str),
}

const SIGNS: [&str; 14] = ["<>", "<=", ">=", "<", ">", "=", "(", ")", ",", ".", "[", "]", "+", "-"];

/// The tokens of an expression.
pub struct Tokens {
    kind: &'static str,
    tokens: Vec<Token>,
    at: usize,
}

impl Tokens {
    /// The tokens of an expression of this kind, such as `ConditionExpression`.
    pub fn new(kind: &'static str, text: &str) -> Answer<Self> {
        let mut tokens = Vec::new();
        let mut rest = text.trim_start();
        while !rest.is_empty() {
            let (token, after) = first(rest).ok_or_else(|| syntax(kind, &format!("Syntax error near {rest:?}")))?;
            tokens.push(token);
            rest = after.trim_start();
        }
        match tokens.is_empty() {
            true => Err(syntax(kind, "The expression can not be empty;")),
            false => Ok(Self { kind, tokens, at: 0 }),
        }
    }

    pub fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at)
    }

    /// The token after the next.
    pub fn peek_second(&self) -> Option<&Token> {
        self.tokens.get(self.at + 1)
    }

    pub fn next(&mut self) -> Answer<Token> {
        let token = self.peek().cloned().ok_or_else(|| self.error("Syntax error: the expression ends"))?;
        self.at += 1;
        Ok(token)
    }

    /// Takes a sign if it is next.
    pub fn take(&mut self, sign: &str) -> bool {
        let is_next = matches!(self.peek(), Some(Token::Sign(next)) if *next == sign);
        self.at += usize::from(is_next);
        is_next
    }

    pub fn need(&mut self, sign: &str) -> Answer<()> {
        match self.take(sign) {
            true => Ok(()),
            false => Err(self.error(&format!("Syntax error: {sign} is expected at token {}", self.at))),
        }
    }

    /// Takes a keyword if it is next, whatever its case.
    pub fn take_word(&mut self, word: &str) -> bool {
        let is_next = matches!(self.peek(), Some(Token::Word(next)) if next.eq_ignore_ascii_case(word));
        self.at += usize::from(is_next);
        is_next
    }

    pub fn need_end(&self) -> Answer<()> {
        match self.peek() {
            None => Ok(()),
            Some(token) => Err(self.error(&format!("Syntax error at {token:?}"))),
        }
    }

    pub fn error(&self, message: &str) -> ModelError {
        syntax(self.kind, message)
    }
}

fn syntax(kind: &str, message: &str) -> ModelError {
    ModelError::invalid(format!("Invalid {kind}: {message}"))
}

fn first(text: &str) -> Option<(Token, &str)> {
    if let Some(sign) = SIGNS.iter().find(|sign| text.starts_with(**sign)) {
        return Some((Token::Sign(sign), &text[sign.len()..]));
    }
    let length = |text: &str| text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(text.len());
    let mark = text.starts_with(['#', ':']);
    let end = usize::from(mark) + length(&text[usize::from(mark)..]);
    let (word, rest) = text.split_at(end);
    let token = match word.chars().next()? {
        '#' if word.len() > 1 => Token::Name(word.to_owned()),
        ':' if word.len() > 1 => Token::Value(word.to_owned()),
        '#' | ':' => return None,
        digit if digit.is_ascii_digit() => Token::Number(word.parse().ok()?),
        _ => Token::Word(word.to_owned()),
    };
    Some((token, rest))
}
