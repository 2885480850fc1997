//! A value that makes no item: its field, and what is wrong with it.

/// Why values make no item: the field and a sentence for the caller.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InvalidValue {
    /// The field; inside of lists and embedded objects the way to it, from the item: `foods.0.quantity`.
    pub field: String,
    /// One sentence, about the field as "it".
    pub message: String,
}

impl InvalidValue {
    /// What is wrong with the value that is looked at.
    pub fn here(message: impl Into<String>) -> Self {
        Self { field: String::new(), message: message.into() }
    }

    /// The same, seen from one level further out.
    pub fn within(self, outer: &str) -> Self {
        let field = if self.field.is_empty() { outer.to_owned() } else { format!("{outer}.{}", self.field) };
        Self { field, ..self }
    }
}
