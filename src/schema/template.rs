//! Key templates: `Group#{groupId}` with typed, ordered, invertible placeholders.

use super::value_type::ValueType;
use serde_json::Value;

/// A parsed key template.
#[derive(Debug, Clone)]
pub struct Template {
    /// Literals and placeholders in order; never two literals side by side.
    pub parts: Vec<Part>,
}

/// A part of a template.
#[derive(Debug, Clone)]
pub enum Part {
    /// Text as it stands in the key.
    Literal(String),
    /// A field's value.
    Placeholder {
        /// The field's name.
        field: String,
        /// The field's type, which gives the value's form.
        value: ValueType,
        /// Zero-padded width of a number: `{score:08}` is 8.
        width: Option<u8>,
    },
}

/// Field name → value, as a template reads it back.
pub type Fields = Vec<(String, Value)>;

/// A mistake in a template's text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TemplateMistake {
    /// Byte range within the template's text.
    pub span: std::ops::Range<usize>,
    /// What is wrong.
    pub kind: TemplateMistakeKind,
}

/// What can be wrong with a template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TemplateMistakeKind {
    /// A brace that is not closed, is empty or holds no name.
    Malformed(String),
    /// A placeholder whose field does not exist.
    UnknownField(String),
    /// A placeholder whose field cannot stand in a key (a list, an embedded type, JSON …).
    NotAKeyType(String),
    /// Two different values could make the same text; the text says which and why.
    NotInvertible(String),
}

/// Why a key could not be made from values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RenderMistake {
    /// A value has not the form that its placeholder needs (a number too wide, a negative padded number …): field and reason.
    Unfit(String, String),
}

impl Template {
    /// Parses a template and checks that it can be inverted; `resolve` gives a field's type. All mistakes are reported.
    pub fn parse(_text: &str, _resolve: &dyn Fn(&str) -> Option<ValueType>) -> Result<Self, Vec<TemplateMistake>> {
        todo!()
    }

    /// The fields of the placeholders, in order, each once.
    pub fn fields(&self) -> Vec<&str> {
        todo!()
    }

    /// The key text for the given values; `None` if a value is null or missing.
    pub fn render(&self, _value: &dyn Fn(&str) -> Option<Value>) -> Result<Option<String>, RenderMistake> {
        self.render_parts(self.parts.len(), _value)
    }

    /// The text of the first `parts` parts, written exactly as a whole key would begin.
    pub fn render_parts(&self, _parts: usize, _value: &dyn Fn(&str) -> Option<Value>) -> Result<Option<String>, RenderMistake> {
        todo!()
    }

    /// The beginning of every key whose field at part `parts` begins with `prefix`, and whether only such keys begin so.
    pub fn render_begins_with(
        &self,
        _parts: usize,
        _prefix: &str,
        _value: &dyn Fn(&str) -> Option<Value>,
    ) -> Result<Option<(String, bool)>, RenderMistake> {
        todo!()
    }

    /// Reads the fields back out of a key text; `None` if the text is not of this template.
    pub fn read(&self, _text: &str) -> Option<Fields> {
        todo!()
    }

    /// Whether some text could be of both templates (conservative: true where it cannot be ruled out).
    pub fn overlaps(&self, _other: &Template) -> bool {
        todo!()
    }
}
