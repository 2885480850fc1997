//! A find's filter and the values of a request in; whether an item meets it out. DynamoDB filters Queries only, so the gateway filters
//! items that it reads by key.

use super::evaluate;
use super::scope::Scope;
use crate::schema::expression::condition::Condition;
use crate::table::data::attribute::Item;
use serde_json::Value;

/// A filter, without the conjuncts whose argument is null.
pub struct ItemFilter<'a> {
    condition: Option<Condition>,
    scope: Scope<'a>,
}

impl<'a> ItemFilter<'a> {
    /// The filter of a find. `Err` names the argument whose value does not fit, whatever the items are.
    pub fn new(condition: &Condition, scope: Scope<'a>) -> Result<Self, String> {
        let is_null = |name: &str| scope.argument(name).is_none_or(Value::is_null);
        let condition = condition.without(&is_null);
        if let Some(condition) = &condition {
            evaluate::holds(condition, None, &scope)?;
        }
        Ok(Self { condition, scope })
    }

    /// Whether an item meets the filter.
    pub fn lets_through(&self, item: &Item) -> Result<bool, String> {
        self.condition.as_ref().map_or(Ok(true), |condition| evaluate::holds(condition, Some(item), &self.scope))
    }
}
