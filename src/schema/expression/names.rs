//! What the names of an expression mean, as whoever parses it tells, and the mistakes that parsing finds.

use crate::schema::scalar::value_type::ValueType;

/// A mistake in a condition's text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConditionMistake {
    /// Byte range within the condition's text.
    pub span: std::ops::Range<usize>,
    /// One sentence.
    pub message: String,
    /// The valid choices, if there are some.
    pub help: Option<String>,
}

/// What a field path names: the stored attribute names, the type, and whether it is a list of that type.
pub type Named = (Vec<String>, ValueType, bool);

/// What a condition's names mean: the item's fields and the field's arguments.
pub trait Names {
    /// Resolves a dotted field path (`foods`, `address.city`) to stored attribute names and the type of what it names.
    /// The `bool` tells whether it is a list (of that type). `Err` gives the valid choices at the segment that failed, by position.
    fn path(&self, fields: &[&str]) -> Result<Named, (usize, Vec<String>)>;
    /// The same where it is only asked whether the field is there (`attribute_exists`): a key that holds it tells this as well.
    fn existing(&self, fields: &[&str]) -> Result<Named, (usize, Vec<String>)> {
        self.path(fields)
    }
    /// The type of an argument and whether it is a list. `Err` gives the valid choices.
    fn argument(&self, name: &str) -> Result<(ValueType, bool), Vec<String>>;
}
