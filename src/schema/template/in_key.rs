//! The text of a key and the templates that may have made it in; the value of one field out. Must not know items.

use crate::schema::expression::operand::KeyText;
use crate::schema::scalar::value_type::ValueType;
use crate::schema::template::Template;
use crate::schema::template::part::Part;
use serde_json::Value;

/// A field, and the templates that may have made the text of a key.
#[derive(Debug)]
pub struct FieldInKey {
    /// The field's name.
    pub field: String,
    /// The templates.
    pub templates: Vec<Template>,
}

impl KeyText for FieldInKey {
    fn read(&self, key: &str) -> Option<Value> {
        value_in_key(&self.templates, &self.field, key, (Value::from, |value| value))
    }
}

/// The field's value in the text of a key, made by `text` of a free text at the end of the key, and by `read` of any
/// other value. `None` if no template of the field makes the key's text.
pub fn value_in_key<'k, V>(
    templates: &[Template],
    wanted: &str,
    key: &'k str,
    (text, read): (impl Fn(&'k str) -> V, impl Fn(Value) -> V),
) -> Option<V> {
    templates.iter().find_map(|template| {
        if let Some((field, rest)) = free_end(template) {
            return key.strip_prefix(rest).filter(|_| field == wanted).map(&text);
        }
        let fields = template.read_any_spelling(key)?;
        fields.into_iter().find(|(field, _)| *field == wanted).map(|(_, value)| read(value))
    })
}

/// The field of a template that ends with a free text, and the text before it. In most keys the field's value is what
/// follows that text, and nothing needs to be parsed.
pub fn free_end(template: &Template) -> Option<(&str, &str)> {
    let (beginning, last) = match template.parts.as_slice() {
        [last] => ("", last),
        [Part::Literal(beginning), last] => (beginning.as_str(), last),
        _ => return None,
    };
    match last {
        Part::Placeholder { field, value: ValueType::Id | ValueType::String, limits: None, .. } => {
            Some((field, beginning))
        }
        _ => None,
    }
}
