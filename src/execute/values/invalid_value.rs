//! A value that cannot be stored: its field, and what is wrong with it.

/// Why a value cannot be stored: the field, and a sentence for the caller.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InvalidValue {
    /// The field. Inside lists and embedded objects, the path from the item: `foods.0.quantity`.
    pub field: String,
    /// One sentence that calls the field "it".
    pub message: String,
}

impl InvalidValue {
    /// An error of the value itself.
    pub fn here(message: impl Into<String>) -> Self {
        Self { field: String::new(), message: message.into() }
    }

    /// The same error, seen from one level further out.
    pub fn within(self, outer: &str) -> Self {
        let field = if self.field.is_empty() { outer.to_owned() } else { format!("{outer}.{}", self.field) };
        Self { field, ..self }
    }
}
