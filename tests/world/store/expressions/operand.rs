//! An operand of a condition in; its value for an item out.

use crate::store::data::attribute::{Attribute, Item};
use crate::store::data::number::Number;
use crate::store::error::Answer;
use crate::store::expressions::path::Path;
use crate::store::expressions::placeholders::Placeholders;
use crate::store::expressions::tokens::{Token, Tokens};

/// What a comparison or a function takes.
#[derive(Debug, Clone, PartialEq)]
pub enum Operand {
    Value(Attribute),
    Path(Path),
    /// `size(path)`
    Size(Path),
}

impl Operand {
    pub fn parse(tokens: &mut Tokens, placeholders: &Placeholders) -> Answer<Self> {
        if let Some(Token::Value(placeholder)) = tokens.peek() {
            let value = placeholders.value(placeholder)?;
            tokens.next()?;
            return Ok(Self::Value(value));
        }
        let is_call = matches!(tokens.peek_second(), Some(Token::Sign("(")));
        if is_call && matches!(tokens.peek(), Some(Token::Word(name)) if name == "size") {
            tokens.next()?;
            tokens.need("(")?;
            let path = Path::parse(tokens, placeholders)?;
            tokens.need(")")?;
            return Ok(Self::Size(path));
        }
        Path::parse(tokens, placeholders).map(Self::Path)
    }

    /// The value; `None` if the item has none.
    pub fn value(&self, item: &Item) -> Option<Attribute> {
        match self {
            Self::Value(value) => Some(value.clone()),
            Self::Path(path) => path.find(item).cloned(),
            Self::Size(path) => {
                size(path.find(item)?).and_then(|size| Number::parse(&size.to_string()).ok()).map(Attribute::N)
            }
        }
    }

    pub fn path(&self) -> Option<&Path> {
        match self {
            Self::Value(_) => None,
            Self::Path(path) | Self::Size(path) => Some(path),
        }
    }

    /// The value, if the expression itself has it.
    pub fn literal(&self) -> Option<&Attribute> {
        if let Self::Value(value) = self { Some(value) } else { None }
    }
}

/// The length of a text or binary, the number of elements of a set, list or map (developer guide, "Comparison operator
/// and function reference"). Other types have no size.
fn size(value: &Attribute) -> Option<usize> {
    match value {
        Attribute::S(text) => Some(text.encode_utf16().count()),
        Attribute::B(bytes) => Some(bytes.len()),
        Attribute::Ss(set) => Some(set.len()),
        Attribute::Ns(set) => Some(set.len()),
        Attribute::Bs(set) => Some(set.len()),
        Attribute::L(elements) => Some(elements.len()),
        Attribute::M(members) => Some(members.len()),
        Attribute::N(_) | Attribute::Bool(_) | Attribute::Null => None,
    }
}
