//! Operation text and variables → a plan, with what was parsed and planned before kept for the next request.

use super::error::{ErrorCode, GraphqlError};
use super::introspection::introspect;
use super::request::{Request, Settings};
use crate::plan::error::{PlanError, PlanErrorKind};
use crate::plan::operation::budget::OperationBudgets;
use crate::plan::operation::document::Document;
use crate::plan::operation::specialise::plan_key;
use crate::plan::operation::variables::coerce_variables;
use crate::plan::tree::OperationPlan;
use crate::schema::model::Model;
use apollo_compiler::ast::OperationType;
use lru::LruCache;
use serde_json::{Map, Value};
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, PoisonError};

/// Longer documents are planned anew each time, so that the cache's memory has a bound.
const LONGEST_CACHED: usize = 64 * 1024;
/// The plans that are kept of one document: one for each combination of variables on which they depend.
const PLANS_A_DOCUMENT: usize = 32;

/// What is kept of a document.
struct Kept {
    document: Document,
    plans: Mutex<LruCache<String, Arc<OperationPlan>>>,
}

/// The operations that were seen.
pub struct OperationCache {
    budgets: OperationBudgets,
    introspection: bool,
    kept: Mutex<LruCache<String, Arc<Kept>>>,
}

/// An operation that is ready to run.
pub struct Planned {
    kept: Arc<Kept>,
    name: Option<String>,
    /// Its steps.
    pub plan: Arc<OperationPlan>,
    /// Its variables, coerced.
    pub variables: Map<String, Value>,
    /// Its kind.
    pub kind: OperationType,
}

impl OperationCache {
    /// An empty cache under a gateway's settings.
    pub fn new(settings: &Settings) -> Self {
        let defaults = OperationBudgets::default();
        let budgets =
            OperationBudgets { depth: settings.max_depth, fields: settings.max_fields, aliases: settings.max_aliases, ..defaults };
        let kept = Mutex::new(LruCache::new(size(settings.plan_cache)));
        Self { budgets, introspection: settings.introspection, kept }
    }

    /// Parses, validates, coerces the variables and plans.
    pub fn plan(&self, model: &Model, request: &Request) -> Result<Planned, Vec<GraphqlError>> {
        let kept = self.document(model, &request.query)?;
        let operation = kept.document.operation(request.operation_name.as_deref()).map_err(one)?;
        let coerced = coerce_variables(&model.api, &kept.document, operation, &request.variables);
        let variables = coerced.map_err(|errors| errors.into_iter().map(told).collect::<Vec<_>>())?;
        let name = operation.name.as_ref().map(|name| name.to_string());
        let own = name.clone().unwrap_or_default();
        let sensitivities = kept.document.sensitivities.get(&own).map(Vec::as_slice).unwrap_or_default();
        let key = plan_key(&own, sensitivities, &variables);
        let known = lock(&kept.plans).get(&key).cloned();
        let plan = match known {
            Some(plan) => plan,
            None => {
                let plan = Arc::new(crate::plan::plan(model, &kept.document, operation, &variables).map_err(one)?);
                lock(&kept.plans).put(key, plan.clone());
                plan
            }
        };
        if plan.introspects && !self.introspection {
            let message = "Introspection is switched off.";
            return Err(vec![GraphqlError::new(ErrorCode::GraphqlValidationFailed, message)]);
        }
        let kind = operation.operation_type;
        Ok(Planned { kept, name, plan, variables, kind })
    }

    fn document(&self, model: &Model, text: &str) -> Result<Arc<Kept>, Vec<GraphqlError>> {
        if let Some(kept) = lock(&self.kept).get(text) {
            return Ok(kept.clone());
        }
        let document =
            Document::parse(&model.api, text, &self.budgets).map_err(|errors| errors.into_iter().map(told).collect::<Vec<_>>())?;
        let kept = Arc::new(Kept { document, plans: Mutex::new(LruCache::new(size(PLANS_A_DOCUMENT))) });
        if text.len() <= LONGEST_CACHED {
            lock(&self.kept).put(text.to_owned(), kept.clone());
        }
        Ok(kept)
    }
}

impl Planned {
    /// The values of the operation's `__schema` and `__type` fields, by response key.
    pub fn introspect(&self, model: &Model) -> Result<Map<String, Value>, Vec<GraphqlError>> {
        use apollo_compiler::introspection::check_max_depth;
        if !self.plan.introspects {
            return Ok(Map::new());
        }
        let document = &self.kept.document.parsed;
        let refuse = |code, message: String| vec![GraphqlError::new(code, message)];
        let operation =
            document.operations.get(self.name.as_deref()).map_err(|error| refuse(ErrorCode::Internal, format!("{}.", error.message())))?;
        check_max_depth(document, operation).map_err(|error| refuse(ErrorCode::LimitExceeded, format!("{}.", error.message())))?;
        introspect(&model.api, document, self.name.as_deref(), &self.variables)
            .map_err(|error| refuse(ErrorCode::Internal, format!("{}.", error.message())))
    }
}

fn size(entries: usize) -> NonZeroUsize {
    NonZeroUsize::new(entries).unwrap_or(NonZeroUsize::MIN)
}

/// A poisoned lock is no reason to stop: what it guards is only a cache.
fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn one(error: PlanError) -> Vec<GraphqlError> {
    vec![told(error)]
}

/// What a caller is told of an operation that is not planned.
fn told(error: PlanError) -> GraphqlError {
    let code = match error.kind {
        PlanErrorKind::Syntax => ErrorCode::GraphqlParseFailed,
        PlanErrorKind::Validity | PlanErrorKind::NotAvailable => ErrorCode::GraphqlValidationFailed,
        PlanErrorKind::Input => ErrorCode::BadUserInput,
        PlanErrorKind::Limit => ErrorCode::LimitExceeded,
        PlanErrorKind::Internal => ErrorCode::Internal,
    };
    GraphqlError { message: error.message, code, locations: error.locations, path: Vec::new(), details: Vec::new() }
}
