//! What the passes over a find of an interface or a union share: the find as written, and each of its item types. Must
//! not decide anything.

use crate::schema::finds::prepare::Prepared;
use crate::schema::finds::target::FindTarget;
use crate::schema::finds::wanted::FindContext;
use crate::schema::types::draft::SchemaDraft;
use apollo_compiler::Node;
use apollo_compiler::ast::{Directive, FieldDefinition};

/// A find of an interface or a union, as written.
pub struct AbstractFind<'a> {
    /// The schema that is being checked.
    pub draft: &'a SchemaDraft<'a>,
    /// The type that has the field.
    pub parent: &'a str,
    /// The field.
    pub field: &'a FieldDefinition,
    /// Its `@find`.
    pub directive: &'a Node<Directive>,
    /// The interface or union, and what the field returns.
    pub target: FindTarget,
}

/// A member of the interface or union, ready to be read.
pub struct Member<'a> {
    /// The find as if it were of the member alone.
    pub wanted: FindContext<'a>,
    /// Its index, filter, bindings and orders.
    pub prepared: Prepared,
}
