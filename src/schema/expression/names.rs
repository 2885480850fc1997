//! What the names of an expression mean, which the parser's caller says, and the mistakes that parsing finds.

use crate::schema::diagnostics::help::Help;
use crate::schema::expression::operand::KeyField;
use crate::schema::scalar::value_type::ValueType;

/// A mistake in an expression's text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConditionMistake {
    /// Byte range within the expression's text.
    pub span: std::ops::Range<usize>,
    /// One sentence.
    pub message: String,
    /// What to write instead, if that is known.
    pub help: Option<Help>,
}

/// What a field path names: the stored attribute names, the type, and whether it is a list of that type.
pub type Named = (Vec<String>, ValueType, bool);

/// What an expression's names mean: the item's fields and the field's arguments.
pub trait Names {
    /// Resolves a dotted field path (`foods`, `address.city`) to stored attribute names, its type, and whether it is a
    /// list of that type. `Err` gives the position of the segment that failed and the valid choices there.
    fn path(&self, fields: &[&str]) -> Result<Named, (usize, Vec<String>)>;
    /// Resolves a path for `attribute_exists`, which asks only whether the field is present. A key that holds the field
    /// answers this as well.
    fn existing(&self, fields: &[&str]) -> Result<Named, (usize, Vec<String>)> {
        self.path(fields)
    }
    /// Whether an item may have DynamoDB's null in the attribute of a path. The field is then null, as if the attribute
    /// were missing.
    fn may_hold_null(&self, _fields: &[&str]) -> bool {
        false
    }
    /// The type of an argument and whether it is a list. `Err` gives the valid choices.
    fn argument(&self, name: &str) -> Result<(ValueType, bool), Vec<String>>;
    /// The field of this name, if it is one that only the text of a primary key holds and the expression may read it
    /// there. Its path then names the key.
    fn in_key(&self, _field: &str) -> Option<KeyField> {
        None
    }
    /// What to write instead of a path that names no such field, if more is known than the names that there are.
    fn help(&self, _fields: &[&str]) -> Option<Help> {
        None
    }
    /// Whether the expression names claims without a colon, as rules do: `auth.sub`. All expressions may name them with
    /// one: `:auth.sub`.
    fn has_bare_claims(&self) -> bool {
        false
    }
}
