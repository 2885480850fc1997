//! Random fields of `Mutation`.

use super::{Rng, Schema};

/// A field of `Mutation`.
#[derive(Debug, Clone)]
pub struct Mutation {
    pub name: String,
}

impl Mutation {
    /// The field's text.
    pub fn sdl(&self, _: &Schema) -> String {
        self.name.clone()
    }
}

/// The fields of `Mutation`.
pub fn random(_: &mut Rng, _: &Schema) -> Vec<Mutation> {
    Vec::new()
}
