//! Syntax of `@put`, `@update`, `@delete` and `@check` in, their parts with their places out. Must not know what they
//! mean.

use crate::schema::diagnostics::span::{At, Span};
use crate::schema::syntax::directives::{
    WRITES, WrittenField, argument, fields, flag, items, name, named, string, text,
};
use apollo_compiler::Node;
use apollo_compiler::ast::{Directive, FieldDefinition};

/// What a directive does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verb {
    /// `@put`
    Put,
    /// `@update`
    Update,
    /// `@delete`
    Delete,
    /// `@check`
    Check,
}

/// A write directive as the schema writes it.
#[derive(Debug, Clone)]
pub struct ActionDirective {
    /// What it does.
    pub verb: Verb,
    /// The directive's name with its `@`.
    pub span: Span,
    /// `item:`
    pub item: Option<At<String>>,
    /// `where:`
    pub finds: WrittenClause,
    /// `set:`
    pub sets: WrittenClause,
    /// `at:`
    pub at: Option<At<String>>,
    /// `if:`
    pub condition: Option<At<String>>,
    /// `expression:`
    pub expression: Option<At<String>>,
    /// `cascade:`
    pub cascade: Vec<At<String>>,
    /// `message:`
    pub message: Option<String>,
    /// `replace: true`
    pub replace: bool,
    /// `upsert: true`
    pub upsert: bool,
    /// `move: true`
    pub moves: bool,
    /// `many: true`
    pub many: bool,
    /// `as:`
    pub alias: Option<At<String>>,
    /// `each:`
    pub each: Option<At<String>>,
}

/// `set:` or `where:` as the schema writes it.
#[derive(Debug, Clone)]
pub struct WrittenClause {
    /// The argument's name.
    pub name: &'static str,
    /// Each field with its template.
    pub bindings: Vec<WrittenField>,
    /// The place of a clause that is not an object.
    pub malformed: Option<Span>,
}

impl WrittenClause {
    fn from_directive(directive: &Directive, name: &'static str) -> Self {
        let (bindings, malformed) = fields(directive, name);
        Self { name, bindings, malformed }
    }
}

impl ActionDirective {
    /// The write directives of a field, in their order.
    pub fn all(field: &FieldDefinition) -> Vec<Self> {
        field.directives.iter().filter_map(Self::from_directive).collect()
    }

    fn from_directive(directive: &Node<Directive>) -> Option<Self> {
        let verbs = [Verb::Put, Verb::Update, Verb::Delete, Verb::Check];
        let (_, verb) = WRITES.iter().zip(verbs).find(|(name, _)| directive.name == **name)?;
        Some(Self {
            verb,
            span: named(directive),
            item: name(directive, "item"),
            finds: WrittenClause::from_directive(directive, "where"),
            sets: WrittenClause::from_directive(directive, "set"),
            at: text(directive, "at"),
            condition: text(directive, "if"),
            expression: text(directive, "expression"),
            cascade: argument(directive, "cascade")
                .map(|value| items(value).iter().filter_map(string).collect())
                .unwrap_or_default(),
            message: text(directive, "message").map(|at| at.value),
            replace: flag(directive, "replace"),
            upsert: flag(directive, "upsert"),
            moves: flag(directive, "move"),
            many: flag(directive, "many"),
            alias: name(directive, "as"),
            each: text(directive, "each"),
        })
    }

    /// The clause that binds what names leave open: `set:` of a put, or `where:`.
    pub fn clause(&self) -> &'static str {
        if self.verb == Verb::Put { "set" } else { "where" }
    }

    /// The directive's name with its `@`.
    pub fn name(&self) -> &'static str {
        match self.verb {
            Verb::Put => "@put",
            Verb::Update => "@update",
            Verb::Delete => "@delete",
            Verb::Check => "@check",
        }
    }
}
