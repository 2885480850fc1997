//! The text of an update expression in; its actions out, or what is wrong with it (developer guide, "Using update
//! expressions in DynamoDB").

use crate::store::data::attribute::Attribute;
use crate::store::error::{Answer, ModelError};
use crate::store::expressions::path::Path;
use crate::store::expressions::placeholders::Placeholders;
use crate::store::expressions::tokens::{Token, Tokens};

/// What an update does at its paths.
#[derive(Debug, Default)]
pub struct Update {
    pub set: Vec<(Path, Sum)>,
    pub remove: Vec<Path>,
    pub add: Vec<(Path, Attribute)>,
    pub delete: Vec<(Path, Attribute)>,
}

/// The new value of a SET.
#[derive(Debug)]
pub enum Sum {
    One(NewValue),
    Plus(NewValue, NewValue),
    Minus(NewValue, NewValue),
}

#[derive(Debug)]
pub enum NewValue {
    Value(Attribute),
    Path(Path),
    IfNotExists(Path, Box<NewValue>),
    ListAppend(Box<NewValue>, Box<NewValue>),
}

impl Update {
    pub fn parse(text: &str, placeholders: &Placeholders) -> Answer<Self> {
        let mut parser = Parser { tokens: Tokens::new("UpdateExpression", text)?, placeholders };
        let (mut update, mut seen) = (Self::default(), Vec::new());
        while parser.tokens.peek().is_some() {
            let clause = ["SET", "REMOVE", "ADD", "DELETE"].into_iter().find(|word| parser.tokens.take_word(word));
            let Some(clause) = clause else { return Err(parser.tokens.error("Syntax error: a clause is expected")) };
            if seen.contains(&clause) {
                let message = format!("The \"{clause}\" section can only be used once in an update expression;");
                return Err(parser.tokens.error(&message));
            }
            seen.push(clause);
            loop {
                parser.action(clause, &mut update)?;
                if !parser.tokens.take(",") {
                    break;
                }
            }
        }
        update.check_paths(&parser.tokens)?;
        Ok(update)
    }

    /// The paths that change.
    pub fn paths(&self) -> impl Iterator<Item = &Path> {
        let values = self.add.iter().chain(&self.delete).map(|(path, _)| path);
        self.set.iter().map(|(path, _)| path).chain(&self.remove).chain(values)
    }

    fn check_paths(&self, tokens: &Tokens) -> Answer<()> {
        let paths: Vec<&Path> = self.paths().collect();
        for (at, path) in paths.iter().enumerate() {
            let others = &paths[..at];
            if others.iter().any(|other| other.overlaps(path)) {
                return Err(tokens.error("Two document paths overlap with each other"));
            }
            if others.iter().any(|other| other.conflicts(path)) {
                return Err(tokens.error("Two document paths conflict with each other"));
            }
        }
        Ok(())
    }
}

struct Parser<'a> {
    tokens: Tokens,
    placeholders: &'a Placeholders,
}

impl Parser<'_> {
    fn action(&mut self, clause: &str, update: &mut Update) -> Answer<()> {
        let path = Path::parse(&mut self.tokens, self.placeholders)?;
        match clause {
            "SET" => {
                self.tokens.need("=")?;
                let sum = self.sum()?;
                update.set.push((path, sum));
            }
            "REMOVE" => update.remove.push(path),
            "ADD" => update.add.push((path, self.operand(&["N", "SS", "NS", "BS"], clause)?)),
            _ => update.delete.push((path, self.operand(&["SS", "NS", "BS"], clause)?)),
        }
        Ok(())
    }

    fn sum(&mut self) -> Answer<Sum> {
        let left = self.value()?;
        let sign = ["+", "-"].into_iter().find(|sign| self.tokens.take(sign));
        let Some(sign) = sign else { return Ok(Sum::One(left)) };
        let right = self.value()?;
        for operand in [&left, &right] {
            if let NewValue::Value(value) = operand {
                self.check_type(value, &["N"], sign)?;
            }
            if let NewValue::ListAppend(..) = operand {
                return Err(self.wrong_type(sign, "LIST"));
            }
        }
        Ok(if sign == "+" { Sum::Plus(left, right) } else { Sum::Minus(left, right) })
    }

    fn value(&mut self) -> Answer<NewValue> {
        if let Some(Token::Value(placeholder)) = self.tokens.peek() {
            let value = self.placeholders.value(placeholder)?;
            self.tokens.next()?;
            return Ok(NewValue::Value(value));
        }
        let function = match (self.tokens.peek(), self.tokens.peek_second()) {
            (Some(Token::Word(name)), Some(Token::Sign("("))) => name.clone(),
            _ => return Path::parse(&mut self.tokens, self.placeholders).map(NewValue::Path),
        };
        self.tokens.next()?;
        self.tokens.need("(")?;
        let value = match function.as_str() {
            "if_not_exists" => {
                let path = Path::parse(&mut self.tokens, self.placeholders)?;
                self.tokens.need(",")?;
                NewValue::IfNotExists(path, Box::new(self.value()?))
            }
            "list_append" => {
                let first = self.list()?;
                self.tokens.need(",")?;
                NewValue::ListAppend(Box::new(first), Box::new(self.list()?))
            }
            _ => return Err(self.tokens.error(&format!("Invalid function name; function: {function}"))),
        };
        self.tokens.need(")")?;
        Ok(value)
    }

    fn list(&mut self) -> Answer<NewValue> {
        let value = self.value()?;
        if let NewValue::Value(value) = &value {
            self.check_type(value, &["L"], "list_append")?;
        }
        Ok(value)
    }

    fn operand(&mut self, types: &[&str], operator: &str) -> Answer<Attribute> {
        let Token::Value(placeholder) = self.tokens.next()? else {
            return Err(self.tokens.error("Syntax error: a value is expected"));
        };
        let value = self.placeholders.value(&placeholder)?;
        self.check_type(&value, types, operator)?;
        Ok(value)
    }

    fn check_type(&self, value: &Attribute, types: &[&str], operator: &str) -> Answer<()> {
        match types.contains(&value.kind()) {
            true => Ok(()),
            false => Err(self.wrong_type(operator, value.kind())),
        }
    }

    fn wrong_type(&self, operator: &str, kind: &str) -> ModelError {
        let message = "Incorrect operand type for operator or function";
        self.tokens.error(&format!("{message}; operator: {operator}, operand type: {kind}"))
    }
}
