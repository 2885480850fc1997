//! The text of a condition, a filter or a key condition in; its tree out, or what is wrong with it (developer guide,
//! "Condition and filter expressions, operators, and functions").

use crate::store::data::attribute::Attribute;
use crate::store::error::{Answer, ModelError};
use crate::store::expressions::operand::Operand;
use crate::store::expressions::path::Path;
use crate::store::expressions::placeholders::Placeholders;
use crate::store::expressions::tokens::{Token, Tokens};

#[derive(Debug, Clone, PartialEq)]
pub enum Condition {
    Compare(Comparator, Operand, Operand),
    Between(Operand, Operand, Operand),
    In(Operand, Vec<Operand>),
    AttributeExists(Path),
    AttributeNotExists(Path),
    AttributeType(Path, String),
    BeginsWith(Operand, Operand),
    Contains(Operand, Operand),
    Not(Box<Condition>),
    And(Box<Condition>, Box<Condition>),
    Or(Box<Condition>, Box<Condition>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Comparator {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

const TYPES: [&str; 10] = ["S", "SS", "N", "NS", "B", "BS", "BOOL", "NULL", "L", "M"];
/// The most operands of IN.
const MOST_OPERANDS: usize = 100;

impl Condition {
    /// The condition of an expression of this kind, such as `FilterExpression`.
    pub fn parse(kind: &'static str, text: &str, placeholders: &Placeholders) -> Answer<Self> {
        let mut parser = Parser { tokens: Tokens::new(kind, text)?, placeholders };
        let condition = parser.any()?;
        parser.tokens.need_end()?;
        Ok(condition)
    }

    /// All paths of the condition.
    pub fn paths(&self) -> Vec<&Path> {
        match self {
            Self::Compare(_, left, right) | Self::BeginsWith(left, right) | Self::Contains(left, right) => {
                [left, right].into_iter().filter_map(Operand::path).collect()
            }
            Self::Between(value, low, high) => [value, low, high].into_iter().filter_map(Operand::path).collect(),
            Self::In(value, operands) => std::iter::once(value).chain(operands).filter_map(Operand::path).collect(),
            Self::AttributeExists(path) | Self::AttributeNotExists(path) | Self::AttributeType(path, _) => vec![path],
            Self::Not(condition) => condition.paths(),
            Self::And(left, right) | Self::Or(left, right) => [left.paths(), right.paths()].concat(),
        }
    }
}

struct Parser<'a> {
    tokens: Tokens,
    placeholders: &'a Placeholders,
}

/// AND binds tighter than OR, and NOT tighter than AND.
impl Parser<'_> {
    fn any(&mut self) -> Answer<Condition> {
        let mut left = self.all()?;
        while self.tokens.take_word("OR") {
            left = Condition::Or(Box::new(left), Box::new(self.all()?));
        }
        Ok(left)
    }

    fn all(&mut self) -> Answer<Condition> {
        let mut left = self.one()?;
        while self.tokens.take_word("AND") {
            left = Condition::And(Box::new(left), Box::new(self.one()?));
        }
        Ok(left)
    }

    fn one(&mut self) -> Answer<Condition> {
        if self.tokens.take_word("NOT") {
            return Ok(Condition::Not(Box::new(self.one()?)));
        }
        if self.tokens.take("(") {
            let condition = self.any()?;
            self.tokens.need(")")?;
            return Ok(condition);
        }
        let function = match (self.tokens.peek(), self.tokens.peek_second()) {
            (Some(Token::Word(name)), Some(Token::Sign("("))) if name != "size" => Some(name.clone()),
            _ => None,
        };
        if let Some(name) = function {
            self.tokens.next()?;
            self.tokens.need("(")?;
            let condition = self.function(&name)?;
            self.tokens.need(")")?;
            return Ok(condition);
        }
        self.comparison()
    }

    fn function(&mut self, name: &str) -> Answer<Condition> {
        match name {
            "attribute_exists" => Ok(Condition::AttributeExists(self.path()?)),
            "attribute_not_exists" => Ok(Condition::AttributeNotExists(self.path()?)),
            "attribute_type" => {
                let path = self.path()?;
                self.tokens.need(",")?;
                match self.operand()?.literal() {
                    Some(Attribute::S(kind)) if TYPES.contains(&kind.as_str()) => {
                        Ok(Condition::AttributeType(path, kind.clone()))
                    }
                    _ => Err(self.tokens.error("Invalid attribute type name found; function: attribute_type")),
                }
            }
            "begins_with" => {
                let (value, start) = self.two()?;
                let texts = ["S", "B"];
                [&value, &start].into_iter().try_for_each(|operand| self.check_type(operand, &texts, name))?;
                Ok(Condition::BeginsWith(value, start))
            }
            "contains" => self.two().map(|(value, part)| Condition::Contains(value, part)),
            _ => Err(self.tokens.error(&format!("Invalid function name; function: {name}"))),
        }
    }

    fn comparison(&mut self) -> Answer<Condition> {
        let left = self.operand()?;
        if self.tokens.take_word("BETWEEN") {
            return self.between(left);
        }
        if self.tokens.take_word("IN") {
            self.tokens.need("(")?;
            let mut operands = vec![self.operand()?];
            while self.tokens.take(",") {
                operands.push(self.operand()?);
            }
            self.tokens.need(")")?;
            return match operands.len() > MOST_OPERANDS {
                true => Err(self.tokens.error("The IN operator is provided with too many operands")),
                false => Ok(Condition::In(left, operands)),
            };
        }
        let (comparator, sign) = match self.tokens.next()? {
            Token::Sign("=") => (Comparator::Equal, "="),
            Token::Sign("<>") => (Comparator::NotEqual, "<>"),
            Token::Sign("<") => (Comparator::Less, "<"),
            Token::Sign("<=") => (Comparator::LessOrEqual, "<="),
            Token::Sign(">") => (Comparator::Greater, ">"),
            Token::Sign(">=") => (Comparator::GreaterOrEqual, ">="),
            other => return Err(self.tokens.error(&format!("Syntax error at {other:?}"))),
        };
        let right = self.operand()?;
        if !matches!(comparator, Comparator::Equal | Comparator::NotEqual) {
            [&left, &right].into_iter().try_for_each(|operand| self.check_type(operand, &["S", "N", "B"], sign))?;
        }
        if left == right {
            return Err(self.tokens.error("The first operand must be distinct from the remaining operands"));
        }
        Ok(Condition::Compare(comparator, left, right))
    }

    fn between(&mut self, value: Operand) -> Answer<Condition> {
        let low = self.operand()?;
        if !self.tokens.take_word("AND") {
            return Err(self.tokens.error("Syntax error: AND is expected"));
        }
        let high = self.operand()?;
        [&value, &low, &high]
            .into_iter()
            .try_for_each(|operand| self.check_type(operand, &["S", "N", "B"], "BETWEEN"))?;
        if let (Some(from), Some(to)) = (low.literal(), high.literal()) {
            if from.kind() != to.kind() {
                return Err(self
                    .tokens
                    .error("The BETWEEN operator requires same data type for lower and upper bounds"));
            }
            if from > to {
                let message = "The BETWEEN operator requires upper bound to be greater than or equal to lower bound";
                return Err(self.tokens.error(message));
            }
        }
        Ok(Condition::Between(value, low, high))
    }

    fn two(&mut self) -> Answer<(Operand, Operand)> {
        let first = self.operand()?;
        self.tokens.need(",")?;
        let second = self.operand()?;
        match first == second {
            true => Err(self.tokens.error("The first operand must be distinct from the remaining operands")),
            false => Ok((first, second)),
        }
    }

    fn operand(&mut self) -> Answer<Operand> {
        Operand::parse(&mut self.tokens, self.placeholders)
    }

    fn path(&mut self) -> Answer<Path> {
        Path::parse(&mut self.tokens, self.placeholders)
    }

    /// A value of the expression itself has one of these types.
    fn check_type(&self, operand: &Operand, types: &[&str], operator: &str) -> Result<(), ModelError> {
        match operand.literal() {
            Some(value) if !types.contains(&value.kind()) => {
                let message = "Incorrect operand type for operator or function";
                Err(self.tokens.error(&format!("{message}; operator: {operator}, operand type: {}", value.kind())))
            }
            _ => Ok(()),
        }
    }
}
