//! A find's filter, in the parts that apply or not when the plan runs. Must not know the values of arguments.

use super::ids::ArgumentsId;
use crate::schema::expression::condition::Condition;

/// The filter of a find: all of its conjuncts that apply must hold.
#[derive(Debug)]
pub struct Filter {
    /// The conjuncts, at least one.
    pub conjuncts: Vec<Conjunct>,
    /// The arguments of the find.
    pub arguments: ArgumentsId,
}

/// A part of a filter. It applies if none of its arguments is null.
#[derive(Debug)]
pub struct Conjunct {
    /// What must hold.
    pub condition: Condition,
    /// The names of the arguments that it uses, each once.
    pub arguments: Vec<String>,
}

impl Filter {
    /// The filter of a condition.
    pub fn new(condition: &Condition, arguments: ArgumentsId) -> Self {
        let conjunct = |condition: &Condition| Conjunct {
            condition: condition.clone(),
            arguments: condition.arguments().into_iter().map(str::to_owned).collect(),
        };
        Self { conjuncts: condition.conjuncts().into_iter().map(conjunct).collect(), arguments }
    }
}
