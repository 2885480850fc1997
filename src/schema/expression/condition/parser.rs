//! The grammar of conditions: tokens in, a condition out. A mistake costs only its own conjunct: parsing continues at
//! the next AND or OR.
//!
//! Precedence, loosest first: OR, AND, NOT, then comparisons, BETWEEN, IN and functions (DynamoDB developer guide,
//! "Condition and filter expressions, operators, and functions", "Precedence in conditions").

use crate::schema::diagnostics::help::Help;
use crate::schema::diagnostics::suggestion::suggest;
use crate::schema::expression::condition::Condition;
use crate::schema::expression::condition::typing::Typing;
use crate::schema::expression::lexer::{SpannedToken, Token, tokens};
use crate::schema::expression::names::{ConditionMistake, Names};
use crate::schema::expression::term::{Term, TermKind};
use std::ops::Range;

/// How deep parentheses and NOTs may be nested: deeper than anybody writes, and shallow enough for the stack.
const MAX_DEPTH: usize = 64;

const KEYWORDS: [&str; 5] = ["AND", "OR", "NOT", "BETWEEN", "IN"];

/// The data type descriptor of DynamoDB's null. A field with it is null, as if its attribute were missing.
const NULL: &str = "NULL";

const FUNCTIONS: [&str; 5] = ["attribute_exists", "attribute_not_exists", "attribute_type", "begins_with", "contains"];

impl Condition {
    /// Parses a condition and checks it against the names. Reports every mistake that it can find, in the order of the
    /// text.
    pub fn parse(text: &str, names: &dyn Names) -> Result<Self, Vec<ConditionMistake>> {
        parse(text, names)
    }
}

/// Parses a condition and checks its names and types.
fn parse(text: &str, names: &dyn Names) -> Result<Condition, Vec<ConditionMistake>> {
    let (tokens, mistakes) = tokens(text);
    let mut parser = Parser::new(text, (tokens, mistakes), names, "condition");
    let condition = parser.alternatives();
    // The first condition ends before the end of the text only at an unmatched closing parenthesis.
    if parser.at < parser.tokens.len() {
        parser.expected("AND, OR or the end");
    }
    while parser.at < parser.tokens.len() {
        parser.at += 1;
        parser.recover();
        parser.at += 1;
        // The rest is parsed only to report its mistakes.
        if parser.at < parser.tokens.len() {
            parser.alternatives();
        }
    }
    let mut mistakes = parser.typing.mistakes;
    match condition {
        Some(condition) if mistakes.is_empty() => Ok(condition),
        _ => {
            mistakes.sort_by_key(|mistake| mistake.span.start);
            Err(mistakes)
        }
    }
}

/// A position in a condition's tokens.
pub struct Parser<'a> {
    tokens: Vec<SpannedToken<'a>>,
    /// The next token's position.
    pub at: usize,
    end: usize,
    /// What names mean.
    pub names: &'a dyn Names,
    /// The checker of types, with all mistakes so far.
    pub typing: Typing<'a>,
    depth: usize,
    noun: &'static str,
    /// Whether the function asks only whether the field is present.
    pub(super) existence: bool,
    /// Whether an item may hold DynamoDB's null in the last path whose presence was asked for.
    pub(super) may_hold_null: bool,
}

impl<'a> Parser<'a> {
    /// A parser at the first token. Mistakes call the text `noun`.
    pub fn new(
        text: &'a str,
        (tokens, mistakes): (Vec<SpannedToken<'a>>, Vec<ConditionMistake>),
        names: &'a dyn Names,
        noun: &'static str,
    ) -> Self {
        Parser {
            tokens,
            at: 0,
            end: text.len(),
            names,
            typing: Typing { text, mistakes },
            depth: 0,
            noun,
            existence: false,
            may_hold_null: false,
        }
    }

    /// `a OR b OR c`; `None` if it contains a mistake.
    fn alternatives(&mut self) -> Option<Condition> {
        self.chain("OR", Self::conjunction, |condition| match condition {
            Condition::Or(conditions) => conditions,
            other => vec![other],
        })
        .map(|conditions| one_or(conditions, Condition::Or))
    }

    /// `a AND b AND c`.
    fn conjunction(&mut self) -> Option<Condition> {
        self.chain("AND", Self::conjunct, |condition| match condition {
            Condition::And(conditions) => conditions,
            other => vec![other],
        })
        .map(|conditions| one_or(conditions, Condition::And))
    }

    /// Conditions joined by a keyword. A chain of the same keyword in parentheses is merged into this one.
    fn chain(
        &mut self,
        keyword: &str,
        next: fn(&mut Self) -> Option<Condition>,
        links: fn(Condition) -> Vec<Condition>,
    ) -> Option<Vec<Condition>> {
        let mut all = Some(Vec::new());
        loop {
            match (next(self), &mut all) {
                (Some(condition), Some(all)) => all.extend(links(condition)),
                _ => all = None,
            }
            if !self.keyword(keyword) {
                return all;
            }
        }
    }

    /// One condition, up to the next AND, OR or closing parenthesis, also if it contains mistakes.
    fn conjunct(&mut self) -> Option<Condition> {
        let condition = self.negation();
        if !self.at_boundary() {
            // If there is no condition, its mistake has been reported.
            if condition.is_some() || self.typing.mistakes.is_empty() {
                self.expected("AND, OR or the end");
            }
            self.recover();
            return None;
        }
        condition
    }

    /// `NOT a`, `(a)`, a function or a comparison.
    fn negation(&mut self) -> Option<Condition> {
        if self.keyword("NOT") {
            return self.nested(Self::negation).map(|condition| Condition::Not(Box::new(condition)));
        }
        if self.mark('(') {
            let condition = self.nested(Self::alternatives);
            return self.expect(')').and(condition);
        }
        match (self.peek(0), self.peek(1)) {
            (Some(Token::Word(name)), Some(Token::Mark('('))) if *name != "size" && !is_keyword(name) => {
                let name = *name;
                self.function(name)
            }
            _ => self.comparison(),
        }
    }

    /// Parses one level deeper. If that is too deep, reports it and skips the rest of the text.
    fn nested(&mut self, inner: fn(&mut Self) -> Option<Condition>) -> Option<Condition> {
        if self.depth == MAX_DEPTH {
            let message = format!("This is nested more than {MAX_DEPTH} levels deep.");
            self.typing.mistake(self.place(), message, None);
            self.at = self.tokens.len();
            return None;
        }
        self.depth += 1;
        let condition = inner(self);
        self.depth -= 1;
        condition
    }

    fn function(&mut self, name: &'a str) -> Option<Condition> {
        let span = self.place();
        if !FUNCTIONS.contains(&name) {
            let help = match foreign_function(name) {
                Some(ours) => Some(Help::instead(format!("Write `{ours}`."), name, ours)),
                None => suggest(name, FUNCTIONS),
            };
            self.typing.mistake(span, format!("The function `{name}` does not exist."), help);
            return None;
        }
        self.at += 1;
        let (term, second) = self.within(|parser| {
            parser.existence = matches!(name, "attribute_exists" | "attribute_not_exists");
            let term = parser.path();
            parser.existence = false;
            let term = term?;
            let second = match name {
                "attribute_exists" | "attribute_not_exists" => None,
                _ => Some(parser.expect(',').and_then(|()| parser.term())?),
            };
            Some((term, second))
        })?;
        let TermKind::Path(path, ..) = &term.kind else { return None };
        match (name, second) {
            ("begins_with", Some(operand)) => self.typing.begins_with(term, operand),
            ("contains", Some(operand)) => self.typing.contains(term, operand),
            ("attribute_type", Some(operand)) => self.typing.attribute_type(path.clone(), operand),
            ("attribute_exists", _) if self.may_hold_null => {
                let value = Condition::Not(Box::new(Condition::AttributeType(path.clone(), NULL.to_owned())));
                Some(Condition::And(vec![Condition::Exists(path.clone()), value]))
            }
            ("attribute_exists", _) => Some(Condition::Exists(path.clone())),
            ("attribute_not_exists", _) if self.may_hold_null => {
                let null = Condition::AttributeType(path.clone(), NULL.to_owned());
                Some(Condition::Or(vec![Condition::NotExists(path.clone()), null]))
            }
            ("attribute_not_exists", _) => Some(Condition::NotExists(path.clone())),
            _ => None,
        }
    }

    fn comparison(&mut self) -> Option<Condition> {
        let left = self.term()?;
        if let Some(Token::Comparator(comparator)) = self.peek(0) {
            let comparator = *comparator;
            self.at += 1;
            let right = self.term()?;
            return self.typing.compare(left, comparator, right);
        }
        if self.keyword("BETWEEN") {
            let lower = self.term()?;
            if !self.keyword("AND") {
                self.expected("AND and the upper bound");
                return None;
            }
            let upper = self.term()?;
            return self.typing.between(left, lower, upper);
        }
        if self.keyword("IN") {
            let list = self.within(|parser| {
                let mut list = vec![parser.term()?];
                while parser.mark(',') {
                    list.push(parser.term()?);
                }
                Some(list)
            })?;
            return self.typing.in_list(left, list);
        }
        // An unknown name at the end of a condition has been reported; the missing comparison is not reported as well.
        if !matches!(left.kind, TermKind::Unknown) || !self.at_boundary() {
            self.expected("a comparison: = <> < <= > >=, BETWEEN or IN");
        }
        None
    }

    /// A value: a path, `size(path)`, an argument or a literal. An unknown name is reported and becomes
    /// [`TermKind::Unknown`].
    pub fn term(&mut self) -> Option<Term> {
        if self.is_at_claim() {
            return self.claim();
        }
        let span = self.place();
        let kind = match self.peek(0).cloned() {
            Some(Token::Argument("now")) => TermKind::Now,
            Some(Token::Argument(name)) => match self.names.argument(name) {
                Ok((kind, list)) => TermKind::Argument(name.to_owned(), kind, list),
                Err(choices) => {
                    self.typing.mistake(
                        span.clone(),
                        format!("The argument `{name}` does not exist."),
                        suggest(name, choices.iter().map(String::as_str)),
                    );
                    TermKind::Unknown
                }
            },
            Some(Token::Number(number)) => TermKind::Number(number.to_owned()),
            Some(Token::Text(text)) => TermKind::Text(text),
            Some(Token::Word("true")) => TermKind::Boolean(true),
            Some(Token::Word("false")) => TermKind::Boolean(false),
            Some(Token::Word("null")) => TermKind::Null,
            Some(Token::Word(name)) if self.peek(1) == Some(&Token::Mark('(')) && !is_keyword(name) => {
                return self.size(name);
            }
            Some(Token::Word(name)) if !is_keyword(name) => return self.path(),
            _ => {
                self.expected("a field, an argument or a literal");
                return None;
            }
        };
        self.at += 1;
        Some(Term { kind, span })
    }

    /// `size(path)`.
    fn size(&mut self, name: &str) -> Option<Term> {
        let from = self.place();
        if name != "size" {
            self.typing.mistake(from, format!("`{name}` does not return a value to compare; only size(…) does."), None);
            return None;
        }
        self.at += 1;
        let path = self.within(Self::path)?;
        let end = self.tokens.get(self.at - 1).map_or(self.end, |close| close.span.end);
        let kind = match path.kind {
            TermKind::Path(inner, kind, list) => self.typing.size(inner, &kind, list, path.span),
            _ => TermKind::Unknown,
        };
        Some(Term { kind, span: from.start..end })
    }

    /// Parses the inside of parentheses. After a mistake, skips the rest of it, so that its closing parenthesis ends
    /// nothing else.
    pub fn within<T>(&mut self, inner: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        self.expect('(')?;
        let found = inner(self);
        if found.is_some() && self.expect(')').is_some() {
            return found;
        }
        self.recover();
        self.mark(')');
        None
    }

    /// Skips to the next AND, OR or closing parenthesis of this level.
    fn recover(&mut self) {
        let mut open = 0_usize;
        while let Some(token) = self.peek(0) {
            match token {
                Token::Mark('(') => open += 1,
                Token::Mark(')') if open > 0 => open -= 1,
                _ if open == 0 && self.at_boundary() => return,
                _ => {}
            }
            self.at += 1;
        }
    }

    /// Whether a condition may end here.
    fn at_boundary(&self) -> bool {
        match self.peek(0) {
            None | Some(Token::Mark(')')) => true,
            Some(Token::Word(word)) => ["AND", "OR"].iter().any(|keyword| word.eq_ignore_ascii_case(keyword)),
            Some(_) => false,
        }
    }

    /// The token `ahead` places after the next one.
    pub fn peek(&self, ahead: usize) -> Option<&Token<'a>> {
        self.tokens.get(self.at + ahead).map(|spanned| &spanned.token)
    }

    /// The place of the next token; the end of the text if there is none.
    pub fn place(&self) -> Range<usize> {
        self.tokens.get(self.at).map_or(self.end..self.end, |spanned| spanned.span.clone())
    }

    fn keyword(&mut self, keyword: &str) -> bool {
        let is = matches!(self.peek(0), Some(Token::Word(word)) if word.eq_ignore_ascii_case(keyword));
        self.at += usize::from(is);
        is
    }

    /// Consumes a mark if it is next.
    pub fn mark(&mut self, mark: char) -> bool {
        let is = self.peek(0) == Some(&Token::Mark(mark));
        self.at += usize::from(is);
        is
    }

    /// Consumes a mark, or reports that it is missing.
    pub fn expect(&mut self, mark: char) -> Option<()> {
        if self.mark(mark) {
            return Some(());
        }
        self.expected(&format!("`{mark}`"));
        None
    }

    /// Reports that `what` was expected here.
    pub fn expected(&mut self, what: &str) {
        let span = self.place();
        let found = match self.typing.text.get(span.clone()) {
            Some("") | None => format!("the {} ends here", self.noun),
            Some(found) => format!("found `{found}`"),
        };
        self.typing.mistake(span, format!("Expected {what}; {found}."), None);
    }
}

/// DynamoDB's function for what other languages call so.
fn foreign_function(name: &str) -> Option<&'static str> {
    let functions: [(&[&str], &str); 4] = [
        (&["like", "ilike", "includes", "matches", "match", "has", "search"], "contains"),
        (&["exists", "is_not_null", "defined", "isset"], "attribute_exists"),
        (&["not_exists", "missing", "is_null"], "attribute_not_exists"),
        (&["starts_with", "startswith", "prefix", "beginswith"], "begins_with"),
    ];
    let lower = name.to_lowercase();
    functions.iter().find(|(names, _)| names.contains(&lower.as_str())).map(|(_, ours)| *ours)
}

/// Whether a word cannot be a field's name at the beginning of a path.
pub fn is_keyword(word: &str) -> bool {
    KEYWORDS.iter().any(|keyword| word.eq_ignore_ascii_case(keyword))
}

/// A chain of one condition is that condition.
fn one_or(mut conditions: Vec<Condition>, many: fn(Vec<Condition>) -> Condition) -> Condition {
    match conditions.pop() {
        Some(only) if conditions.is_empty() => only,
        last => {
            conditions.extend(last);
            many(conditions)
        }
    }
}
