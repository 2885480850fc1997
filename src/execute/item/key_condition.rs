//! The condition of a key of an index and the values of an item's fields in; whether the item has the key, out.

use crate::execute::expression::evaluate;
use crate::execute::values::encode;
use crate::schema::template::Template;
use crate::table::data::attribute::Item;
use serde_json::Value;

/// Whether the condition of a template holds, if it has one. A field without a value is missing, as in DynamoDB.
pub fn is_met(template: &Template, value: &dyn Fn(&str) -> Option<Value>) -> bool {
    let Some(when) = &template.when else { return true };
    let attribute = |(field, kind): &(String, _)| {
        let value = value(field).filter(|value| !value.is_null())?;
        Some((field.clone(), encode::attribute(kind, &value)?))
    };
    let fields: Item = when.fields.iter().filter_map(attribute).collect();
    evaluate::holds_alone(&when.condition, &fields)
}
