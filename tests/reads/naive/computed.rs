//! `@computed` as the schema writes it and the values of an object's fields in; the field's value out, by
//! docs/language/directives/computed.md alone. Must not know how the gateway computes it.

use apollo_compiler::ast::Type;
use bigdecimal::{BigDecimal, ToPrimitive};
use serde_json::{Value, json};
use std::str::FromStr;

/// What a field is computed of.
pub enum WrittenComputation {
    Text(String),
    Number(String),
}

impl WrittenComputation {
    /// The fields in it, as often as they stand there.
    pub fn fields(&self) -> Vec<String> {
        match self {
            Self::Text(text) => pieces(text).into_iter().filter_map(|piece| Some(piece.field?.0)).collect(),
            Self::Number(text) => {
                let is_name = |token: &&String| token.starts_with(|first: char| first.is_alphabetic());
                tokens(text).iter().filter(is_name).cloned().collect()
            }
        }
    }

    /// The value, if no field is null; `None` if the type does not have it.
    pub fn value(&self, ty: &Type, of: &dyn Fn(&str) -> Value) -> Option<Value> {
        match self {
            Self::Text(text) => {
                let mut made = String::new();
                for piece in pieces(text) {
                    made += &piece.literal;
                    if let Some((field, form)) = piece.field {
                        made += &written(&of(&field), &form)?;
                    }
                }
                Some(json!(made))
            }
            Self::Number(text) => {
                let number = Sum { tokens: tokens(text), at: 0, of }.sum();
                typed(&number.normalized(), ty.inner_named_type())
            }
        }
    }
}

/// A literal and the field after it.
struct Piece {
    literal: String,
    field: Option<(String, String)>,
}

fn pieces(text: &str) -> Vec<Piece> {
    let mut pieces = vec![Piece { literal: String::new(), field: None }];
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        let is_doubled = (letter == '{' || letter == '}') && letters.peek() == Some(&letter);
        if letter != '{' || is_doubled {
            is_doubled.then(|| letters.next());
            pieces.last_mut().unwrap().literal.push(letter);
            continue;
        }
        let inside: String = letters.by_ref().take_while(|letter| *letter != '}').collect();
        let (field, form) = inside.split_once(':').unwrap_or((&inside, ""));
        pieces.last_mut().unwrap().field = Some((field.to_owned(), form.to_owned()));
        pieces.push(Piece { literal: String::new(), field: None });
    }
    pieces
}

/// A value in a form; `None` if it does not fit.
fn written(value: &Value, form: &str) -> Option<String> {
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    Some(match form {
        "" => text,
        "lower" => text.to_lowercase(),
        "upper" => text.to_uppercase(),
        time if time.starts_with('%') => {
            time.replace("%Y", text.get(..4)?).replace("%m", text.get(5..7)?).replace("%d", text.get(8..10)?)
        }
        width => {
            let width: usize = width.parse().unwrap();
            return (!text.starts_with('-') && text.len() <= width).then(|| format!("{text:0>width$}"));
        }
    })
}

fn tokens(text: &str) -> Vec<String> {
    let mut tokens: Vec<String> = Vec::new();
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        let ends_value = tokens.last().is_some_and(|last| !matches!(last.as_str(), "+" | "-" | "*" | "("));
        match letter {
            ' ' => {}
            '+' | '*' | '(' | ')' => tokens.push(letter.to_string()),
            '-' if ends_value => tokens.push(letter.to_string()),
            _ => {
                let mut token = letter.to_string();
                while let Some(next) = letters.next_if(|next| next.is_alphanumeric() || *next == '.' || *next == '_') {
                    token.push(next);
                }
                tokens.push(token);
            }
        }
    }
    tokens
}

struct Sum<'s> {
    tokens: Vec<String>,
    at: usize,
    of: &'s dyn Fn(&str) -> Value,
}

impl Sum<'_> {
    fn next_if(&mut self, token: &str) -> bool {
        let is = self.tokens.get(self.at).is_some_and(|next| next == token);
        self.at += usize::from(is);
        is
    }

    fn sum(&mut self) -> BigDecimal {
        let mut sum = self.product();
        loop {
            if self.next_if("+") {
                sum += self.product();
            } else if self.next_if("-") {
                sum -= self.product();
            } else {
                return sum;
            }
        }
    }

    fn product(&mut self) -> BigDecimal {
        let mut product = self.operand();
        while self.next_if("*") {
            product *= self.operand();
        }
        product
    }

    fn operand(&mut self) -> BigDecimal {
        if self.next_if("(") {
            let inner = self.sum();
            assert!(self.next_if(")"));
            return inner;
        }
        let token = self.tokens[self.at].clone();
        self.at += 1;
        let is_field = token.starts_with(|first: char| first.is_alphabetic());
        let value = if is_field { (self.of)(&token) } else { json!(token) };
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        BigDecimal::from_str(&text).unwrap()
    }
}

/// A number as a value of a type.
fn typed(number: &BigDecimal, ty: &str) -> Option<Value> {
    let is_kept = number.digits() <= 38;
    match ty {
        "Float" => number.to_plain_string().parse::<f64>().ok().map(|float| json!(float)),
        "Int" => number.is_integer().then(|| number.to_i32()).flatten().map(|number| json!(number)),
        "Long" => number.is_integer().then(|| number.to_i64()).flatten().map(|number| json!(number)),
        _ => is_kept.then(|| json!(number.to_plain_string())),
    }
}
