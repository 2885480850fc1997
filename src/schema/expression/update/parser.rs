//! The grammar of updates: tokens in, an update out. A mistake costs only its own action: parsing continues after the
//! next comma, or at the next clause.

use crate::schema::diagnostics::help::Help;
use crate::schema::diagnostics::suggestion::suggest;
use crate::schema::expression::condition::parser::Parser;
use crate::schema::expression::lexer::{CLAUSES, Token, tokens_of_update};
use crate::schema::expression::names::ConditionMistake;
use crate::schema::expression::operand::{Comparator, Operand, Path};
use crate::schema::expression::term::TermKind;
use crate::schema::expression::update::reader::{Change, Parsed, Reader, UpdateNames, Use, WritePath};
use crate::schema::expression::update::{SetValue, Update};
use crate::schema::scalar::value_type::ValueType;
use std::ops::Range;

const FUNCTIONS: [&str; 2] = ["if_not_exists", "list_append"];

/// How deep functions may be nested: deeper than anybody writes, and shallow enough for the stack.
const MAX_DEPTH: usize = 16;

/// Parses an update and checks its names and types.
pub fn parse<'a>(text: &'a str, names: &'a dyn UpdateNames) -> Result<Parsed, Vec<ConditionMistake>> {
    let (tokens, mut mistakes) = tokens_of_update(text);
    for mistake in &mut mistakes {
        mistake.message = mistake.message.replace("A condition does not know", "An expression does not know");
    }
    let mut reader = Reader {
        parser: Parser::new(text, (tokens, mistakes), names, "expression"),
        names,
        update: Update::default(),
        changes: Vec::new(),
        paths: Vec::new(),
        depth: 0,
    };
    reader.clauses();
    let mut mistakes = reader.parser.typing.mistakes;
    if mistakes.is_empty() {
        return Ok(Parsed { update: reader.update, changes: reader.changes });
    }
    mistakes.sort_by_key(|mistake| mistake.span.start);
    Err(mistakes)
}

impl<'a> Reader<'a> {
    fn clauses(&mut self) {
        let mut seen: Vec<&str> = Vec::new();
        loop {
            let place = self.parser.place();
            let Some(clause) = self.clause() else { return self.no_clause(seen.is_empty()) };
            self.parser.at += 1;
            if seen.contains(&clause) {
                let message = format!("`{clause}` occurs twice.");
                self.parser.typing.mistake(
                    place,
                    message,
                    Some("Write it once, and separate its actions with commas.".into()),
                );
            }
            seen.push(clause);
            loop {
                if self.action(clause).is_none() {
                    self.recover();
                }
                if !self.parser.mark(',') {
                    break;
                }
            }
            if self.parser.peek(0).is_none() {
                return;
            }
            if self.clause().is_none() {
                self.parser.expected("a comma, another clause or the end");
                self.recover();
                while self.parser.mark(',') {
                    self.recover();
                }
                if self.clause().is_none() {
                    return;
                }
            }
        }
    }

    /// Reports that an action has no clause. An assignment is meant as one of SET.
    fn no_clause(&mut self, is_first: bool) {
        let assigns = self.parser.peek(1) == Some(&Token::Comparator(Comparator::Equal));
        let place = self.parser.place();
        match self.parser.typing.text.get(place.clone()).filter(|_| is_first && assigns) {
            Some(field) => {
                let help = Help::instead(format!("Write `SET {field} = …`."), field, format!("SET {field}"));
                self.parser.typing.mistake(
                    place,
                    "An expression begins with SET, REMOVE, ADD or DELETE.".into(),
                    Some(help),
                );
            }
            None => self.parser.expected("SET, REMOVE, ADD or DELETE"),
        }
    }

    /// Reports `points += :n`, which other languages have.
    fn compound(&mut self, field: &str) -> Option<()> {
        let sign = match (self.parser.peek(0), self.parser.peek(1)) {
            (Some(Token::Mark(sign @ ('+' | '-'))), Some(Token::Comparator(Comparator::Equal))) => *sign,
            _ => return Some(()),
        };
        let start = self.parser.place().start;
        self.parser.at += 1;
        let place = start..self.parser.place().end;
        let written = self.parser.typing.text.get(place.clone()).unwrap_or_default();
        let right = format!("= {field} {sign}");
        let help = Help::instead(format!("Write `{field} {right} …`."), written, right);
        self.parser.typing.mistake(place, format!("An expression does not know `{sign}=`."), Some(help));
        None
    }

    /// The clause that begins at the next token.
    fn clause(&self) -> Option<&'static str> {
        match self.parser.peek(0) {
            Some(Token::Word(word)) => CLAUSES.into_iter().find(|clause| word.eq_ignore_ascii_case(clause)),
            _ => None,
        }
    }

    /// Skips to the next comma or clause outside of parentheses.
    fn recover(&mut self) {
        let mut open = 0_usize;
        while let Some(token) = self.parser.peek(0) {
            match token {
                Token::Mark('(') => open += 1,
                Token::Mark(')') => open = open.saturating_sub(1),
                Token::Mark(',') if open == 0 => return,
                _ if open == 0 && self.clause().is_some() => return,
                _ => {}
            }
            self.parser.at += 1;
        }
    }

    fn action(&mut self, clause: &str) -> Option<()> {
        let target = self.target()?;
        let keys_only = self.names.keys_only(&target.field);
        let change = match clause {
            "SET" => {
                self.compound(&target.field)?;
                if self.parser.peek(0) != Some(&Token::Comparator(Comparator::Equal)) {
                    self.parser.expected("`=` and a value");
                    return None;
                }
                self.parser.at += 1;
                let value = self.value(&target)?;
                let plain = match &value {
                    SetValue::Operand(
                        operand @ (Operand::Argument(..) | Operand::Claim(..) | Operand::Now(_) | Operand::Literal(..)),
                    ) if target.whole => Some(operand.clone()),
                    _ => None,
                };
                if !keys_only {
                    self.update.set.push((target.path.clone(), value));
                }
                plain
            }
            "REMOVE" => {
                self.check_removable(&target)?;
                if !keys_only {
                    self.update.remove.push(target.path.clone());
                }
                target.whole.then(|| target.null())
            }
            "ADD" => {
                let operand = self.amount(&target)?;
                self.update.add.push((target.path.clone(), operand));
                None
            }
            _ => {
                let operand = self.elements(&target)?;
                self.update.delete.push((target.path.clone(), operand));
                None
            }
        };
        self.check_apart(&target)?;
        self.update.changes.insert(target.field.clone(), change);
        self.changes.push(Change { field: target.field, path: target.path, span: target.span });
        Some(())
    }

    /// The path that the action writes.
    fn target(&mut self) -> Option<WritePath> {
        let field = match self.parser.peek(0) {
            Some(Token::Word(name)) => (*name).to_owned(),
            _ => String::new(),
        };
        let term = self.parser.path()?;
        let TermKind::Path(path, kind, list) = term.kind else { return None };
        let written = self.parser.typing.text.get(term.span.clone()).unwrap_or_default();
        let element = written.trim_end().ends_with(']');
        let names: Vec<&str> =
            written.split('.').map(|name| name.split('[').next().unwrap_or_default().trim()).collect();
        let never_null = !element && self.names.is_non_null(&names);
        let whole = path.segments.len() == 1;
        Some(WritePath { field, path, kind, list, never_null, whole, span: term.span })
    }

    /// Reports a path that equals, contains or is within another written path: DynamoDB refuses both together ("Two
    /// document paths overlap with each other").
    fn check_apart(&mut self, target: &WritePath) -> Option<()> {
        let overlaps = |known: &Path| known.segments.iter().zip(&target.path.segments).all(|(one, other)| one == other);
        if self.paths.iter().any(overlaps) {
            let written = self.parser.typing.text.get(target.span.clone()).unwrap_or_default();
            let message = format!("The expression writes `{written}`, or a part of it, twice.");
            self.parser.typing.mistake(target.span.clone(), message, None);
            return None;
        }
        self.paths.push(target.path.clone());
        Some(())
    }

    /// `operand`, `operand + operand` or `operand - operand`.
    fn value(&mut self, target: &WritePath) -> Option<SetValue> {
        let from = self.parser.place().start;
        // Only a sign that follows shows whether the first operand is part of a sum.
        let arithmetic = self.sign_follows();
        let left = self.operand(target, if arithmetic { Use::Summand } else { Use::Value })?;
        let Some(sign) = self.sign() else { return Some(left) };
        let right = self.operand(target, Use::Summand)?;
        let span = from..self.parser.place().start;
        if self.sign().is_some() {
            let message = "A value has at most one + or -.".to_owned();
            self.parser.typing.mistake(span.clone(), message, None);
            return None;
        }
        self.check_sum(target, span)?;
        let (left, right) = (Box::new(left), Box::new(right));
        Some(if sign == '+' { SetValue::Plus(left, right) } else { SetValue::Minus(left, right) })
    }

    /// Whether a `+` or `-` comes before the action ends.
    fn sign_follows(&self) -> bool {
        let mut open = 0_usize;
        for ahead in 0.. {
            match self.parser.peek(ahead) {
                Some(Token::Mark('(')) => open += 1,
                Some(Token::Mark(')')) => open = open.saturating_sub(1),
                Some(Token::Mark('+' | '-')) if open == 0 => return true,
                Some(Token::Mark(',')) if open == 0 => return false,
                Some(Token::Word(word))
                    if open == 0 && CLAUSES.iter().any(|clause| word.eq_ignore_ascii_case(clause)) =>
                {
                    return false;
                }
                Some(_) => {}
                None => return false,
            }
        }
        false
    }

    fn sign(&mut self) -> Option<char> {
        ['+', '-'].into_iter().find(|sign| self.parser.mark(*sign))
    }

    /// A function, the empty list, a path, an argument or a literal.
    fn operand(&mut self, target: &WritePath, wanted: Use) -> Option<SetValue> {
        match (self.parser.peek(0), self.parser.peek(1)) {
            (Some(Token::Word(name)), Some(Token::Mark('('))) => {
                let name = (*name).to_owned();
                self.function(&name, target, wanted)
            }
            (Some(Token::Mark('[')), Some(Token::Mark(']'))) => {
                let span = self.parser.place().start..self.parser.place().end + 1;
                self.parser.at += 2;
                self.empty_list(target, span).map(SetValue::Operand)
            }
            _ => {
                let term = self.parser.term()?;
                self.assigned(term, target, wanted).map(SetValue::Operand)
            }
        }
    }

    fn function(&mut self, name: &str, target: &WritePath, wanted: Use) -> Option<SetValue> {
        let (span, open) = (self.parser.place(), self.parser.at + 1);
        let read = self.known_function(name, target, wanted, span);
        if read.is_none() {
            self.close(open);
        }
        read
    }

    /// After a mistake in a function, skips past its closing parenthesis, so that no comma or keyword inside ends
    /// anything outside.
    fn close(&mut self, open: usize) {
        self.parser.at = open;
        let mut depth = 0_usize;
        while let Some(token) = self.parser.peek(0) {
            match token {
                Token::Mark('(') => depth += 1,
                Token::Mark(')') => depth = depth.saturating_sub(1),
                _ => {}
            }
            self.parser.at += 1;
            if depth == 0 {
                return;
            }
        }
    }

    fn known_function(&mut self, name: &str, target: &WritePath, wanted: Use, span: Range<usize>) -> Option<SetValue> {
        if !FUNCTIONS.contains(&name) {
            let message = format!("`{name}` is not a function of update expressions.");
            self.parser.typing.mistake(span, message, suggest(name, FUNCTIONS));
            return None;
        }
        if self.depth == MAX_DEPTH {
            self.parser.typing.mistake(span, format!("This is nested more than {MAX_DEPTH} levels deep."), None);
            return None;
        }
        self.depth += 1;
        self.parser.at += 1;
        let read = self.arguments_of(name, target, wanted, span);
        self.depth -= 1;
        read
    }

    /// Parses the parentheses of a function.
    fn arguments_of(&mut self, name: &str, target: &WritePath, wanted: Use, span: Range<usize>) -> Option<SetValue> {
        self.parser.expect('(')?;
        let value = if name == "if_not_exists" {
            let term = self.parser.path()?;
            let TermKind::Path(path, ..) = term.kind.clone() else { return None };
            self.assigned(term, target, wanted)?;
            self.parser.expect(',')?;
            SetValue::IfNotExists(path, Box::new(self.operand(target, wanted)?))
        } else {
            if !target.list || matches!(target.kind, ValueType::Set(_) | ValueType::Map(_)) {
                let is = if matches!(target.kind, ValueType::Map(_)) { "stored as a map" } else { "not a list" };
                let message = format!("list_append returns a list, but `{}` is {is}.", target.field);
                let help = matches!(target.kind, ValueType::Set(_)).then(|| "Add elements to a set with ADD.".into());
                self.parser.typing.mistake(span, message, help);
                return None;
            }
            let first = self.operand(target, Use::Summand)?;
            self.parser.expect(',')?;
            SetValue::ListAppend(Box::new(first), Box::new(self.operand(target, Use::Summand)?))
        };
        self.parser.expect(')')?;
        Some(value)
    }
}
