//! The ages of an operation's fields in; out: how long its response may be kept, and by whom. Must not know HTTP.

use crate::plan::tree::{BoundRange, CachePolicy, Filter, Guard, KeyBinding, Plan, Read, ReadAction, ValueSource};
use crate::schema::model::Model;
use crate::schema::model::auth::LetsIn;

/// What the hints say of an operation while it is planned.
#[derive(Debug, Clone, Copy, Default)]
pub struct Caching {
    /// Whether a query is planned. Nothing else is cached.
    pub is_query: bool,
    /// The age of the field that is planned now, in seconds; `None` at the root.
    pub age: Option<u32>,
    /// The least age of all fields so far; `None` before the first.
    least: Option<u32>,
    /// Whether a hint says `PRIVATE`.
    pub private: bool,
}

impl Caching {
    /// How long the response of a query with this plan may be kept.
    pub fn policy(self, model: &Model, plan: &Plan) -> CachePolicy {
        match self.least {
            Some(max_age) if max_age > 0 => {
                CachePolicy { max_age, private: self.private || depends_on_caller(model, plan) }
            }
            _ => CachePolicy::NONE,
        }
    }

    /// Counts a field, or a part of one, of this age.
    pub fn restrict(&mut self, age: u32) {
        self.least = Some(self.least.map_or(age, |least| least.min(age)));
    }
}

/// Whether two callers could get different responses to one operation: a rule may refuse one of them or hide something,
/// or a claim is among the values.
fn depends_on_caller(model: &Model, plan: &Plan) -> bool {
    let refuses = |guard: &Guard| {
        guard.demands.iter().any(|demand| !demand.rules.iter().any(|rule| matches!(rule.lets_in, LetsIn::Everybody)))
    };
    (model.ruled && plan.guards.iter().any(refuses)) || plan.reads.iter().any(reads_by_caller)
}

fn reads_by_caller(read: &Read) -> bool {
    let has_claims = |filter: Option<&Filter>| {
        filter.is_some_and(|filter| filter.conjuncts.iter().any(|conjunct| conjunct.condition.has_claims()))
    };
    let of_key = |key: &KeyBinding| key.fields.values().any(ValueSource::has_claim);
    let of_action = match &read.action {
        ReadAction::Get(get) => of_key(&get.key) || has_claims(get.filter.as_ref()),
        ReadAction::FetchMissing(_) => false,
        ReadAction::Query(query) => {
            let of_range = match &query.range {
                Some(BoundRange::Between(lower, upper)) => {
                    lower.iter().chain(upper).any(|(source, _)| source.has_claim())
                }
                Some(BoundRange::BeginsWith(source)) => source.has_claim(),
                None => false,
            };
            of_key(&query.key) || of_range || has_claims(query.filter.as_ref())
        }
    };
    of_action || read.discriminator.hides()
}
