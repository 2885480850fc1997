//! Who may read or write what: the checked `@auth` rules of types and fields. Plain data. Must not know callers.

use crate::schema::expression::condition::Condition;
use std::fmt::{Display, Formatter, Result};
use std::sync::Arc;

/// What a rule is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AuthAction {
    /// To read an item or a field.
    Read,
    /// To write it.
    Write,
}

/// Whom a rule lets in.
#[derive(Debug, Clone, PartialEq)]
pub enum LetsIn {
    /// `public: true`: everybody.
    Everybody,
    /// `signedIn: true`: every caller who is signed in.
    SignedIn,
    /// `if:`: the callers for whom the condition holds.
    If(Box<Condition>),
}

/// One `@auth`.
#[derive(Debug, Clone, PartialEq)]
pub struct AuthRule {
    /// Whom it lets in.
    pub lets_in: LetsIn,
    /// Whether it is for reads.
    pub reads: bool,
    /// Whether it is for writes.
    pub writes: bool,
    /// Whether an item that it refuses looks as if it were not there.
    pub hides: bool,
}

impl AuthRule {
    /// The attributes of the item that it reads.
    pub fn attributes(&self) -> Vec<&str> {
        match &self.lets_in {
            LetsIn::If(condition) => condition.attributes(),
            LetsIn::Everybody | LetsIn::SignedIn => Vec::new(),
        }
    }

    /// The rule of what has none, in a schema with rules: the caller is signed in.
    pub fn signed_in() -> Self {
        Self { lets_in: LetsIn::SignedIn, reads: true, writes: true, hides: false }
    }
}

/// The rules of a type or a field. Of those for an action, one that lets the caller in is enough.
#[derive(Debug, Clone, Default)]
pub struct AuthRules {
    all: Vec<Arc<AuthRule>>,
}

impl AuthRules {
    /// These rules.
    pub fn new(all: Vec<AuthRule>) -> Self {
        Self { all: all.into_iter().map(Arc::new).collect() }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Whether items that the rules refuse look as if they were not there. All rules for reads then say so.
    pub fn hide(&self) -> bool {
        self.all.iter().any(|rule| rule.reads && rule.hides)
    }

    /// Whether some rules for an action need the item.
    pub fn need_item(&self, action: AuthAction) -> bool {
        self.of(action).iter().any(|rule| !rule.attributes().is_empty())
    }

    /// The rules for an action.
    pub fn of(&self, action: AuthAction) -> Vec<Arc<AuthRule>> {
        let is = |rule: &&Arc<AuthRule>| match action {
            AuthAction::Read => rule.reads,
            AuthAction::Write => rule.writes,
        };
        self.all.iter().filter(is).cloned().collect()
    }
}

impl Display for AuthRule {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match &self.lets_in {
            LetsIn::Everybody => f.write_str("public"),
            LetsIn::SignedIn => f.write_str("signed in"),
            LetsIn::If(condition) => write!(f, "if {condition}"),
        }
    }
}
