//! The look-up of an `exists:` rule and the values of the guarded item in; out: the key of the item that must exist,
//! and what that must meet. Must not know how it is read or checked.

use crate::execute::expression::narrow::{KnownAttributes, narrowed};
use crate::execute::expression::scope::Scope;
use crate::execute::expression::settle::{Residual, settle_lookup};
use crate::execute::item::{assemble, identity};
use crate::execute::values::expiry::PassedTimes;
use crate::schema::model::auth::RuleLookup;
use crate::schema::model::find::sharding::{KeyChoice, Reading};
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

/// The items of which a look-up demands one: one item, or one in each shard if another program assigned the shards.
/// `own` has the known values of the guarded item. Empty if no item can let the caller in: a value of the key is
/// missing, or the condition holds for no item with the key.
pub fn wanted_items<'m>(
    model: &'m Model,
    lookup: &RuleLookup,
    scope: &Scope<'_>,
    own: &Map<String, Value>,
) -> Vec<WantedItem<'m>> {
    let condition = settle_lookup(lookup, scope);
    let (Some((ty, keys)), Some(path)) = (model.item(&lookup.find.item), lookup.path()) else { return Vec::new() };
    let bound = path.bindings.iter().map(|(field, source)| Some((field.clone(), value(source, scope, own)?)));
    let Some(values) = bound.collect::<Option<Map<String, Value>>>() else { return Vec::new() };
    let wanted = |values: Map<String, Value>| {
        // No item has a key of values that do not fit.
        let key = assemble::primary_key(model, ty, scope.caller, &values).ok()?;
        let condition = narrowed(&condition, &KnownAttributes::from_key(&key), scope);
        (condition != Residual::Never).then_some(WantedItem { ty, keys, key, condition })
    };
    let open = path.reading(&model.tables[keys.table], keys).filter(|reading| reading.spread.assigned.is_some());
    let Some(Reading { spread, .. }) = open.filter(|reading| reading.which == KeyChoice::Every) else {
        return wanted(values).into_iter().collect();
    };
    let numbered = |number: u64| values.clone().into_iter().chain([(spread.placeholder(), number.into())]).collect();
    spread.numbers().map(numbered).filter_map(wanted).collect()
}

impl WantedItem<'_> {
    /// How many seconds the item has until it expires; `None` if it does not.
    pub fn seconds_left(&self, item: &Item, passed: PassedTimes) -> Option<u64> {
        passed.seconds_until(item.get(identity::expires(self.ty)?))
    }

    /// Whether an item, as it is under the key, is what the rule demands.
    pub fn is_met(&self, item: Option<&Item>, scope: &Scope<'_>) -> bool {
        item.is_some_and(|item| {
            identity::is_of(self.ty, item)
                && !identity::has_expired(self.ty, item, scope.now.passed())
                && self.condition.is_met(item, scope)
        })
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
