//! A find's filter and the values of a request in; whether an item meets it out. DynamoDB filters Queries only, so the
//! gateway filters items that it reads by key.

use super::evaluate;
use super::scope::Scope;
use crate::plan::tree::Filter;
use crate::schema::expression::condition::Condition;
use crate::table::data::attribute::Item;
use serde_json::Value;

/// The conjuncts of a filter that use no null argument.
pub fn applicable<'f>(filter: &'f Filter, scope: &Scope<'_>) -> Vec<&'f Condition> {
    let is_null = |name: &String| scope.argument(name).is_none_or(Value::is_null);
    let applies = filter.conjuncts.iter().filter(|conjunct| !conjunct.arguments.iter().any(is_null));
    applies.map(|conjunct| &conjunct.condition).collect()
}

/// A filter, without the conjuncts whose argument is null.
pub struct ItemFilter<'a> {
    conjuncts: Vec<&'a Condition>,
    scope: Scope<'a>,
}

impl<'a> ItemFilter<'a> {
    /// The filter of a find. `Err` names the argument whose value does not fit, whatever the items are.
    pub fn new(filter: &'a Filter, scope: Scope<'a>) -> Result<Self, String> {
        let filter = Self { conjuncts: applicable(filter, &scope), scope };
        filter.holds(None)?;
        Ok(filter)
    }

    /// Whether an item meets the filter.
    pub fn lets_through(&self, item: &Item) -> Result<bool, String> {
        self.holds(Some(item))
    }

    /// Evaluates every conjunct, even if the first one decides: a value that does not fit is an error for any item.
    fn holds(&self, item: Option<&Item>) -> Result<bool, String> {
        let all: Vec<bool> = self
            .conjuncts
            .iter()
            .map(|condition| evaluate::holds(condition, item, &self.scope))
            .collect::<Result<_, _>>()?;
        Ok(all.into_iter().all(|holds| holds))
    }
}
