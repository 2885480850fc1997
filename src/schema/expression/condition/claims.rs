//! The claims of a condition: `auth.sub`, `:auth.sub`, `auth["cognito:groups"]` in; out, a term. Must not know a
//! caller.

use crate::schema::expression::claim::ClaimPath;
use crate::schema::expression::condition::parser::Parser;
use crate::schema::expression::lexer::Token;
use crate::schema::expression::term::{Term, TermKind};

impl Parser<'_> {
    /// Whether a claim is next.
    pub fn is_at_claim(&self) -> bool {
        match self.peek(0) {
            Some(Token::Word(name)) => *name == "auth" && self.names.has_bare_claims(),
            Some(Token::Argument(name)) => name.split('.').next() == Some("auth"),
            _ => false,
        }
    }

    /// The claim that is next.
    pub fn claim(&mut self) -> Option<Term> {
        let from = self.place().start;
        let mut names: Vec<String> = Vec::new();
        let mut end = self.place().end;
        if let Some(Token::Argument(name)) = self.peek(0) {
            names.extend(name.split('.').skip(1).map(str::to_owned));
        }
        self.at += 1;
        loop {
            if self.mark('.') {
                let Some(Token::Word(name)) = self.peek(0) else {
                    self.expected("a claim's name");
                    return None;
                };
                names.push((*name).to_owned());
                end = self.place().end;
                self.at += 1;
            } else if self.mark('[') {
                let Some(Token::Text(name)) =
                    self.peek(0).filter(|token| !matches!(token, Token::Text(name) if name.is_empty()))
                else {
                    self.expected("a claim's name in quotes");
                    return None;
                };
                names.push(name.clone());
                self.at += 1;
                end = self.place().end;
                self.expect(']')?;
            } else {
                break;
            }
        }
        let Some(path) = ClaimPath::new(names) else {
            self.expected("a claim: `auth.sub`");
            return None;
        };
        Some(Term { kind: TermKind::Claim(path), span: from..end })
    }
}
