//! An object of the operation while it is planned: which of its fields are known before it is read, and which reads
//! hold the others.

use crate::plan::attributes::{attributes_for, reader};
use crate::plan::tree::{Holder, Presence, SpaceId, ValueSource};
use crate::schema::model::{Model, ObjectType};
use std::collections::HashMap;

/// An object of the operation.
#[derive(Clone)]
pub struct Entity<'m> {
    /// Its type; the first one if it can have several.
    pub ty: &'m ObjectType,
    /// The row space that it belongs to.
    pub space: SpaceId,
    /// Fields whose values are known because they are part of the key that it is read by.
    pub known: HashMap<String, ValueSource>,
    /// What holds its attributes, the earliest first, each with the index whose projection limits it. Empty if nothing
    /// is read.
    pub held: Vec<(Holder, Option<usize>)>,
    /// How to tell whether it exists; `None` for the operation's root.
    pub presence: Option<Presence>,
    /// If it can have several types: the object as each of them.
    pub variants: Option<Variants<'m>>,
}

/// An object of an interface or a union.
#[derive(Clone)]
pub struct Variants<'m> {
    /// The interface or the union.
    pub name: &'m str,
    /// The object as each of its types, each in a space of its own.
    pub entities: Vec<Entity<'m>>,
}

impl<'m> Entity<'m> {
    /// The root object.
    pub fn root(ty: &'m ObjectType) -> Self {
        Self { ty, space: 0, known: HashMap::new(), held: Vec::new(), presence: None, variants: None }
    }

    /// The earliest source of a stored field's value.
    pub fn value(&self, model: &Model, field: &str) -> Option<ValueSource> {
        if let Some(source) = self.known.get(field) {
            return Some(source.clone());
        }
        let stored = self.ty.stored(field)?;
        let holds = |index: Option<usize>| attributes_for(model, self.ty, index, stored).is_some();
        let (holder, _) = self.held.iter().find(|(_, index)| holds(*index))?;
        Some(ValueSource::Field(*holder, reader(self.ty, field)?))
    }
}
