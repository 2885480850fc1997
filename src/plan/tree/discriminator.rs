//! What distinguishes the items of a type from others: their key templates and constants.

use crate::schema::model::auth::AuthRule;
use crate::schema::model::keys::{ConstantValue, NarrowerType, PrimaryKey};
use std::sync::Arc;

/// How to distinguish items of these types from all others.
#[derive(Debug, Clone)]
pub struct TypeDiscriminator {
    /// Whether the read that uses it asks for all constants that distinguish the types from others. An index may lack
    /// them.
    pub sees_constants: bool,
    /// The types, at least one.
    pub types: Vec<TypeMarks>,
}

impl TypeDiscriminator {
    /// Whether rules hide items of one of the types.
    pub fn hides(&self) -> bool {
        self.types.iter().any(|marks| !marks.rules.is_empty())
    }

    /// The attributes with the times at which items of these types expire.
    pub fn times(&self) -> impl Iterator<Item = &String> {
        self.types.iter().filter_map(|marks| marks.expires.as_ref())
    }

    /// How many other items such rules look up for each item, at most.
    pub fn lookups(&self) -> usize {
        let of_type = |marks: &TypeMarks| marks.rules.iter().filter(|rule| rule.lookup().is_some()).count();
        self.types.iter().map(of_type).max().unwrap_or(0)
    }
}

/// What an item of one type looks like.
#[derive(Debug, Clone)]
pub struct TypeMarks {
    /// The item type.
    pub item: String,
    /// Its primary key.
    pub key: PrimaryKey,
    /// Constant attributes. An item that has one must have this value.
    pub constants: Vec<(String, ConstantValue)>,
    /// More specific types. An item that fits one of them is of that type.
    pub narrower: Vec<Arc<NarrowerType>>,
    /// The attribute with the time after which an item is not there; `None` if none of the type expires, or if the read
    /// sees those that have.
    pub expires: Option<String>,
    /// The rules that hide items. Of several, one that lets the caller in is enough; without any, no item is hidden.
    pub rules: Vec<Arc<AuthRule>>,
}
