//! Who may read or write what: the checked `@auth` rules of types and fields. Plain data. Must not know callers.

use super::find::{AccessPath, Find, Via};
use super::source::{Source, TextPart};
use crate::schema::expression::claim::ClaimPath;
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
#[derive(Debug)]
pub enum LetsIn {
    /// `public: true`: everybody.
    Everybody,
    /// `signedIn: true`: every caller who is signed in.
    SignedIn,
    /// `if:`: the callers for whom the condition holds.
    If(Box<Condition>),
    /// `exists:`: the callers for whom this look-up finds an item.
    Exists(Box<RuleLookup>),
}

/// The look-up of an `exists:` rule.
#[derive(Debug)]
pub struct RuleLookup {
    /// How the item is found: by its key or a prefix of it. Its sources are arguments, claims and fields of the guarded
    /// object.
    pub find: Find,
    /// What the item must meet.
    pub condition: Option<Condition>,
}

impl RuleLookup {
    /// How the item is found.
    pub fn path(&self) -> Option<&AccessPath> {
        match &self.find.via {
            Via::Keys(paths) => paths.first(),
            Via::AbstractType(_) | Via::Through(_) => None,
        }
    }

    /// The claims of which the key is made.
    pub fn claims(&self) -> Vec<&ClaimPath> {
        let leaves = self.path().into_iter().flat_map(AccessPath::sources).flat_map(Source::leaves);
        leaves.filter_map(|leaf| if let Source::Claim(claim) = leaf { Some(claim) } else { None }).collect()
    }

    /// The fields of the guarded object of which the key is made.
    pub fn parent_fields(&self) -> Vec<&str> {
        self.path().map(AccessPath::parent_fields).unwrap_or_default()
    }
}

/// One `@auth`.
#[derive(Debug)]
pub struct AuthRule {
    /// Whom it lets in.
    pub lets_in: LetsIn,
    /// Whether it is for reads.
    pub reads: bool,
    /// Whether it is for writes.
    pub writes: bool,
    /// Whether an item that it refuses looks as if it were not there.
    pub hides: bool,
    /// Whether its author says that callers who are not signed in are meant: `public: true`.
    pub public: bool,
    /// Its `if:`, as the author wrote it.
    pub written: Option<String>,
}

impl AuthRule {
    /// The rule in the words of the schema, with the names of fields.
    pub fn in_words(&self) -> String {
        let written = self.written.as_deref().unwrap_or_default();
        match &self.lets_in {
            LetsIn::Everybody | LetsIn::SignedIn => self.to_string(),
            LetsIn::If(_) => format!("if {written}"),
            LetsIn::Exists(lookup) => {
                let bindings = lookup.path().into_iter().flat_map(|path| &path.bindings);
                let in_words =
                    |source: &Source| if let Source::Claim(claim) = source { claim.to_string() } else { said(source) };
                let bound: Vec<String> =
                    bindings.map(|(field, source)| format!("{field}: {}", in_words(source))).collect();
                let condition = if written.is_empty() { String::new() } else { format!(" with {written}") };
                format!("if {}({}) exists{condition}", lookup.find.item, bound.join(", "))
            }
        }
    }

    /// The attributes of the item that it reads: its key, for fields in that.
    pub fn attributes(&self) -> Vec<&str> {
        match &self.lets_in {
            LetsIn::If(condition) => condition.attributes(),
            LetsIn::Everybody | LetsIn::SignedIn | LetsIn::Exists(_) => Vec::new(),
        }
    }

    /// The condition that it demands of the guarded item, or of the item that it looks up.
    pub fn condition(&self) -> Option<&Condition> {
        match &self.lets_in {
            LetsIn::If(condition) => Some(condition),
            LetsIn::Exists(lookup) => lookup.condition.as_ref(),
            LetsIn::Everybody | LetsIn::SignedIn => None,
        }
    }

    /// The look-up that it needs.
    pub fn lookup(&self) -> Option<&RuleLookup> {
        match &self.lets_in {
            LetsIn::Exists(lookup) => Some(lookup),
            LetsIn::Everybody | LetsIn::SignedIn | LetsIn::If(_) => None,
        }
    }

    /// Whether it names a claim of the caller. A rule that names none is met without a sign-in, unless it demands one.
    pub fn names_claim(&self) -> bool {
        let of_key = self.lookup().is_some_and(|lookup| !lookup.claims().is_empty());
        of_key || self.condition().is_some_and(Condition::has_claims)
    }

    /// Whether it depends on the guarded object, or on another item that is looked up.
    pub fn needs_item(&self) -> bool {
        !self.attributes().is_empty() || self.lookup().is_some()
    }

    /// The rule of what has none, in a schema with rules: the caller is signed in.
    pub fn signed_in() -> Self {
        Self { lets_in: LetsIn::SignedIn, reads: true, writes: true, hides: false, public: false, written: None }
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

    /// Whether some rules for an action need the item, or a look-up.
    pub fn need_item(&self, action: AuthAction) -> bool {
        self.each(action).any(|rule| rule.needs_item())
    }

    /// Whether some rules for an action need a look-up.
    pub fn look_up(&self, action: AuthAction) -> bool {
        self.each(action).any(|rule| rule.lookup().is_some())
    }

    /// The rules by which callers see an object; without any, they are signed in.
    pub fn around(&self) -> Vec<Arc<AuthRule>> {
        let rules = self.for_action(AuthAction::Read);
        if rules.is_empty() { vec![Arc::new(AuthRule::signed_in())] } else { rules }
    }

    /// The rules for an action.
    pub fn for_action(&self, action: AuthAction) -> Vec<Arc<AuthRule>> {
        self.each(action).cloned().collect()
    }

    /// Each rule for an action.
    pub fn each(&self, action: AuthAction) -> impl Iterator<Item = &Arc<AuthRule>> {
        self.all.iter().filter(move |rule| match action {
            AuthAction::Read => rule.reads,
            AuthAction::Write => rule.writes,
        })
    }
}

impl Display for AuthRule {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match &self.lets_in {
            LetsIn::Everybody => f.write_str("public"),
            LetsIn::SignedIn => f.write_str("signed in"),
            LetsIn::If(condition) => write!(f, "if {condition}"),
            LetsIn::Exists(lookup) => write!(f, "if {lookup}"),
        }
    }
}

impl Display for RuleLookup {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let bindings = self.path().into_iter().flat_map(|path| &path.bindings);
        let bound: Vec<String> = bindings.map(|(field, source)| format!("{field}: {}", said(source))).collect();
        write!(f, "{}({}) exists", self.find.item, bound.join(", "))?;
        self.condition.iter().try_for_each(|condition| write!(f, " with {condition}"))
    }
}

/// A source as conditions write it.
fn said(source: &Source) -> String {
    match source {
        Source::Argument(name) => format!(":{name}"),
        Source::Claim(claim) => format!(":{claim}"),
        Source::Parent(field) | Source::Item(_, field) => field.clone(),
        Source::Text(parts) => {
            let part = |part: &TextPart| match part {
                TextPart::Literal(text) => text.clone(),
                TextPart::Value(source) => format!("{{{}}}", said(source)),
            };
            format!("'{}'", parts.iter().map(part).collect::<String>())
        }
    }
}
