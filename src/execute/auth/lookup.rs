//! The look-up of an `exists:` rule and the values of the guarded item in; out: the key of the item that must exist,
//! and what that must meet. Must not know how it is read or checked.

use crate::execute::expression::narrow::{KnownAttributes, narrowed};
use crate::execute::expression::scope::Scope;
use crate::execute::expression::settle::{Residual, settle_lookup};
use crate::execute::item::{assemble, identity};
use crate::schema::model::auth::RuleLookup;
use crate::schema::model::keys::ItemKeys;
use crate::schema::model::source::{Source, TextPart};
use crate::schema::model::{Model, ObjectType};
use crate::table::data::attribute::{Item, Key};
use serde_json::{Map, Value};

/// The item that must exist for a caller.
pub struct WantedItem<'m> {
    /// Its type.
    pub ty: &'m ObjectType,
    /// The keys of its type.
    pub keys: &'m ItemKeys,
    /// Its key.
    pub key: Key,
    /// What it must meet.
    pub condition: Residual,
}

/// The item that a look-up demands. `own` has the known values of the guarded item. `None` if no item can let the
/// caller in: a value of the key is missing, or the condition holds for no item with the key.
pub fn wanted_item<'m>(
    model: &'m Model,
    lookup: &RuleLookup,
    scope: &Scope<'_>,
    own: &Map<String, Value>,
) -> Option<WantedItem<'m>> {
    let condition = Some(settle_lookup(lookup, scope)).filter(|condition| *condition != Residual::Never)?;
    let (ty, keys) = model.item(&lookup.find.item)?;
    let mut values = Map::new();
    for (field, source) in &lookup.path()?.bindings {
        values.insert(field.clone(), value(source, scope, own)?);
    }
    // No item has a key of values that do not fit.
    let key = assemble::primary_key(model, ty, scope.caller, &values).ok()?;
    let condition = narrowed(&condition, &KnownAttributes::from_key(&key), scope);
    (condition != Residual::Never).then_some(WantedItem { ty, keys, key, condition })
}

impl WantedItem<'_> {
    /// Whether an item, as it is under the key, is what the rule demands.
    pub fn is_met(&self, item: Option<&Item>, scope: &Scope<'_>) -> bool {
        item.is_some_and(|item| identity::is_of(self.ty, item) && self.condition.is_met(item, scope))
    }
}

/// The value of a source; `None` if it is null.
fn value(source: &Source, scope: &Scope<'_>, own: &Map<String, Value>) -> Option<Value> {
    let value = match source {
        Source::Argument(name) => scope.argument(name).cloned()?,
        Source::Claim(claim) => Value::String(scope.caller.text(claim)?),
        Source::Parent(field) => own.get(field).cloned()?,
        Source::Item(..) => return None,
        Source::Text(parts) => {
            let mut text = String::new();
            for part in parts {
                match part {
                    TextPart::Literal(literal) => text.push_str(literal),
                    TextPart::Value(source) => match value(source, scope, own)? {
                        Value::String(value) => text.push_str(&value),
                        value => text.push_str(&value.to_string()),
                    },
                }
            }
            Value::String(text)
        }
    };
    Some(value).filter(|value| !value.is_null())
}
