//! DependentsToRead type an item under a key is of: where another type can have the same key, its constants tell. To a write of a type, an item of
//! another type is not there. Must not know what is written.
//!
//! The rule is that of reads: a constant that an item lacks speaks for every type, so that items from before the constant was declared
//! are still read and written; one with another value speaks against.

use crate::execute::expression::evaluate;
use crate::execute::expression::scope::Scope;
use crate::execute::write::item::conditions::Conditions;
use crate::plan::attributes::keys;
use crate::schema::expression::condition::Condition;
use crate::schema::model::ObjectType;
use crate::table::attribute::{Attribute, Item};
use crate::table::call::Expression;

/// The constants that tell the type's items from those of others; none where the keys do.
fn constants(ty: &ObjectType) -> &[(String, String)] {
    keys(ty).filter(|keys| keys.shares_keys).map(|keys| keys.constants.as_slice()).unwrap_or_default()
}

/// Whether an item under a key of the type is of the type.
pub fn is_of(ty: &ObjectType, item: &Item) -> bool {
    constants(ty).iter().all(|(name, value)| match item.get(name) {
        Some(Attribute::S(text)) => text == value,
        Some(_) => false,
        None => true,
    })
}

/// Demands that the item is of the type, if it is there.
pub fn demand(ty: &ObjectType, conditions: &mut Conditions) {
    for (name, value) in constants(ty) {
        conditions.absent_or_equal(name, Attribute::S(value.clone()));
    }
}

/// Demands that a condition holds of the type's item under the key, or of no item where another type has it: so whatever holds where
/// there is no item holds where there is one of another type.
pub fn demand_of(ty: &ObjectType, (condition, sent): (&Condition, Expression), scope: &Scope<'_>, conditions: &mut Conditions) {
    if constants(ty).is_empty() {
        return conditions.and(sent);
    }
    if !evaluate::holds(condition, None, scope).unwrap_or(false) {
        demand(ty, conditions);
        return conditions.and(sent);
    }
    conditions.implies(|premise| demand(ty, premise), sent);
}
