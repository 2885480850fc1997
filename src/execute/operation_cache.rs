//! Operation text and variables → a plan. Parsed documents and plans are cached for later requests, up to a number of
//! bytes.

use super::error::{ErrorCode, GraphqlError};
use super::heavy_work::HeavyWork;
use super::introspection::introspect;
use super::report::Preparation;
use super::request::{Request, Settings};
use crate::plan::cost::limits::{CostLimits, TooCostly};
use crate::plan::cost::operation::{OperationCost, cost_of_operation};
use crate::plan::error::{PlanError, PlanErrorKind};
use crate::plan::operation::budget::OperationBudgets;
use crate::plan::operation::document::Document;
use crate::plan::operation::document_size::bytes_of;
use crate::plan::operation::specialise::plan_key;
use crate::plan::operation::variables::{coerce_variables, undeclared};
use crate::plan::passes::Passes;
use crate::plan::tree::{OperationPlan, SingleWrites};
use crate::schema::model::Model;
use crate::table::cache::counts::{CacheCounter, CacheCounts};
use apollo_compiler::ast::OperationType;
use quick_cache::sync::Cache;
use quick_cache::{DefaultHashBuilder, Weighter};
use serde_json::{Map, Value};
use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// The size of a usual large entry, in bytes: the caches are divided so that 32 such entries fit into each part.
const USUAL_BYTES: u64 = 64 * 1024;
/// The bytes of a plan for each byte of its debug output. Measured on the operations of `tests/golden/staff`: 2.7 to
/// 3.7.
const PLAN_BYTES_PER_BYTE: u64 = 4;
/// The approximate overhead of an entry, in bytes.
const ENTRY_BYTES: u64 = 256;

/// A parsed document, its approximate size in bytes, and its number, which no other document of the gateway has.
struct CachedDocument {
    document: Document,
    bytes: u64,
    number: u64,
}

/// A plan, its approximate size in bytes, and whether its last run took long.
#[derive(Clone)]
struct CachedPlan {
    plan: Arc<OperationPlan>,
    bytes: u64,
    heavy: Arc<AtomicBool>,
}

/// A document's number, and the key that distinguishes its plans.
type PlanKey = (u64, String);

/// Weighs entries by their approximate bytes.
#[derive(Clone)]
struct Bytes;

impl Weighter<Arc<str>, Arc<CachedDocument>> for Bytes {
    fn weight(&self, text: &Arc<str>, document: &Arc<CachedDocument>) -> u64 {
        // The document has its text, too.
        ENTRY_BYTES + 2 * text.len() as u64 + document.bytes
    }
}

impl Weighter<PlanKey, CachedPlan> for Bytes {
    fn weight(&self, (_, key): &PlanKey, plan: &CachedPlan) -> u64 {
        ENTRY_BYTES + key.len() as u64 + plan.bytes
    }
}

/// The documents and plans of received operations. Each of the two caches has half of the bytes. When it is full, it
/// drops the entries that it needs least.
pub struct OperationCache {
    budgets: OperationBudgets,
    introspection: bool,
    cost: CostLimits,
    single_writes: SingleWrites,
    passes: Passes,
    most_bytes: u64,
    documents: Cache<Arc<str>, Arc<CachedDocument>, Bytes, DefaultHashBuilder, CacheCounter>,
    plans: Cache<PlanKey, CachedPlan, Bytes, DefaultHashBuilder, CacheCounter>,
    /// The look-ups of documents, and those of plans.
    counters: [CacheCounter; 2],
    /// The number of the next document.
    next: AtomicU64,
    heavy_work: Arc<HeavyWork>,
}

/// An operation of a document and its variables, before it is planned.
struct BoundOperation {
    document: Arc<CachedDocument>,
    name: Option<Arc<str>>,
    kind: OperationType,
    variables: Map<String, Value>,
    undeclared: Vec<String>,
    key: PlanKey,
}

/// An operation that is ready to run.
pub struct PlannedOperation {
    document: Arc<CachedDocument>,
    /// Its name.
    pub name: Option<Arc<str>>,
    /// Its steps.
    pub plan: Arc<OperationPlan>,
    /// Whether its last run took long.
    pub heavy: Arc<AtomicBool>,
    /// Its variables, coerced.
    pub variables: Map<String, Value>,
    /// The request's variables that it does not declare, as sentences, if the caller's requests are explained.
    pub undeclared: Vec<String>,
    /// Its kind.
    pub kind: OperationType,
    /// How long all of this took.
    pub preparation: Preparation,
}

impl OperationCache {
    /// An empty cache under a gateway's settings.
    pub fn new(settings: &Settings, heavy_work: Arc<HeavyWork>) -> Self {
        let bytes = settings.plan_cache_bytes / 2;
        let counters = [CacheCounter::default(), CacheCounter::default()];
        let entries = usize::try_from(bytes / USUAL_BYTES).unwrap_or(usize::MAX).max(1);
        Self {
            budgets: budgets(settings),
            introspection: settings.introspection,
            cost: settings.cost,
            single_writes: settings.single_writes,
            passes: settings.passes,
            most_bytes: settings.max_plan_bytes,
            documents: Cache::with(entries, bytes, Bytes, DefaultHashBuilder::default(), counters[0].clone()),
            plans: Cache::with(entries, bytes, Bytes, DefaultHashBuilder::default(), counters[1].clone()),
            counters,
            next: AtomicU64::new(0),
            heavy_work,
        }
    }

    /// Parses, validates, coerces the variables and plans. Requests with the same text wait for the first of them.
    ///
    /// `preparation` has begun before; it learns how long the parts took.
    pub async fn plan(
        &self,
        model: &Arc<Model>,
        request: &Request,
        preparation: &mut Preparation,
    ) -> Result<PlannedOperation, Vec<GraphqlError>> {
        let document = self.document(model, &request.query, &mut preparation.has_parsed).await;
        preparation.parse = preparation.clock.elapsed();
        let document = document?;
        let operation = bind(model, document, request)?;
        let known = self.plans.get(&operation.key);
        self.counters[1].look_up(known.is_some());
        preparation.has_planned = known.is_none();
        let CachedPlan { plan, heavy, .. } = match known {
            Some(known) => known,
            None => {
                let (model, document) = (model.clone(), operation.document.clone());
                let (name, variables) = (operation.name.clone(), operation.variables.clone());
                let (most, passes) = (self.most_bytes, self.passes);
                let planning = self.heavy_work.run(move || {
                    let made = make_plan(&model, &document, name.as_deref(), &variables, passes)?;
                    if made.bytes <= most { Ok(made) } else { Err(vec![plan_too_large(most)]) }
                });
                // Boxed, as most operations have been planned before.
                Box::pin(self.plans.get_or_insert_async(&operation.key, planning)).await?
            }
        };
        if plan.introspects && !self.introspection {
            let message = "Introspection is switched off.";
            return Err(vec![GraphqlError::new(ErrorCode::GraphqlValidationFailed, message)]);
        }
        let BoundOperation { document, name, kind, variables, undeclared, .. } = operation;
        if !self.cost.is_none() {
            self.cost
                .check(&cost_of_operation(model, &plan, &variables, self.single_writes))
                .map_err(|too_costly| vec![refused(too_costly)])?;
        }
        preparation.plan = preparation.clock.elapsed().saturating_sub(preparation.parse);
        Ok(PlannedOperation { document, name, plan, heavy, variables, undeclared, kind, preparation: *preparation })
    }

    /// What was done so far with documents, and with plans.
    pub fn counts(&self) -> [CacheCounts; 2] {
        [self.counters[0].counts(self.documents.weight()), self.counters[1].counts(self.plans.weight())]
    }

    async fn document(
        &self,
        model: &Arc<Model>,
        text: &str,
        is_new: &mut bool,
    ) -> Result<Arc<CachedDocument>, Vec<GraphqlError>> {
        let known = self.documents.get(text);
        self.counters[0].look_up(known.is_some());
        *is_new = known.is_none();
        if let Some(cached) = known {
            return Ok(cached);
        }
        let text: Arc<str> = text.into();
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let parsing = {
            let (model, text, budgets) = (model.clone(), text.clone(), self.budgets.clone());
            self.heavy_work.run(move || parse(&model, &text, &budgets, number))
        };
        // Boxed, as most documents have been parsed before.
        Box::pin(self.documents.get_or_insert_async(&text, parsing)).await
    }
}

/// The plan of an operation, which is not cached, and its greatest cost.
pub fn plan_once(
    model: &Model,
    request: &Request,
    settings: &Settings,
) -> Result<(Arc<OperationPlan>, OperationCost), Vec<GraphqlError>> {
    let document = parse(model, &request.query, &budgets(settings), 0)?;
    let operation = bind(model, document, request)?;
    let plan =
        make_plan(model, &operation.document, operation.name.as_deref(), &operation.variables, settings.passes)?.plan;
    let cost = cost_of_operation(model, &plan, &operation.variables, settings.single_writes);
    Ok((plan, cost))
}

/// What is wrong with a document, whatever its variables are.
pub fn mistakes(model: &Model, text: &str, settings: &Settings) -> Vec<GraphqlError> {
    parse(model, text, &budgets(settings), 0).err().unwrap_or_default()
}

fn budgets(settings: &Settings) -> OperationBudgets {
    let defaults = OperationBudgets::default();
    OperationBudgets {
        depth: settings.max_depth,
        fields: settings.max_fields,
        aliases: settings.max_aliases,
        suggests: settings.introspection,
        ..defaults
    }
}

fn parse(
    model: &Model,
    text: &str,
    budgets: &OperationBudgets,
    number: u64,
) -> Result<Arc<CachedDocument>, Vec<GraphqlError>> {
    let document = Document::parse(&model.api, text, budgets)
        .map_err(|errors| errors.into_iter().map(graphql_error).collect::<Vec<_>>())?;
    Ok(Arc::new(CachedDocument { bytes: bytes_of(&document.parsed), document, number }))
}

/// Chooses the operation of a document, and coerces its variables.
fn bind(model: &Model, cached: Arc<CachedDocument>, request: &Request) -> Result<BoundOperation, Vec<GraphqlError>> {
    let document = &cached.document;
    let operation = document.operation(request.operation_name.as_deref()).map_err(one)?;
    let coerced = coerce_variables(&model.api, document, operation, &request.variables);
    let variables = coerced.map_err(|errors| errors.into_iter().map(graphql_error).collect::<Vec<_>>())?;
    let name = operation.name.as_ref().map(|name| Arc::<str>::from(name.as_str()));
    let own = name.as_deref().unwrap_or_default();
    let sensitivities = document.sensitivities.get(own).map(Vec::as_slice).unwrap_or_default();
    let key = (cached.number, plan_key(own, sensitivities, &variables));
    let kind = operation.operation_type;
    let is_explained = request.caller.is_explained();
    let undeclared = if is_explained { undeclared(operation, &request.variables) } else { Vec::new() };
    Ok(BoundOperation { document: cached, name, kind, variables, undeclared, key })
}

fn make_plan(
    model: &Model,
    cached: &CachedDocument,
    name: Option<&str>,
    variables: &Map<String, Value>,
    passes: Passes,
) -> Result<CachedPlan, Vec<GraphqlError>> {
    let operation = cached.document.operation(name).map_err(one)?;
    let plan = Arc::new(crate::plan::plan(model, &cached.document, operation, variables, passes).map_err(one)?);
    let bytes = printed_length(&plan) * PLAN_BYTES_PER_BYTE;
    Ok(CachedPlan { plan, bytes, heavy: Arc::default() })
}

impl PlannedOperation {
    /// The values of the operation's `__schema` and `__type` fields, by response key.
    pub fn introspect(&self, model: &Model) -> Result<Map<String, Value>, Vec<GraphqlError>> {
        use apollo_compiler::introspection::check_max_depth;
        if !self.plan.introspects {
            return Ok(Map::new());
        }
        let document = &self.document.document.parsed;
        let refuse = |code, message: String| vec![GraphqlError::new(code, message)];
        let operation = document
            .operations
            .get(self.name.as_deref())
            .map_err(|error| refuse(ErrorCode::Internal, format!("{}.", error.message())))?;
        check_max_depth(document, operation)
            .map_err(|error| refuse(ErrorCode::LimitExceeded, format!("{}.", error.message())))?;
        introspect(&model.api, document, self.name.as_deref(), &self.variables)
            .map_err(|error| refuse(ErrorCode::Internal, format!("{}.", error.message())))
    }
}

fn one(error: PlanError) -> Vec<GraphqlError> {
    vec![graphql_error(error)]
}

/// The error for an operation that could not be planned.
fn graphql_error(error: PlanError) -> GraphqlError {
    let code = match error.kind {
        PlanErrorKind::Syntax => ErrorCode::GraphqlParseFailed,
        PlanErrorKind::Validity | PlanErrorKind::NotAvailable => ErrorCode::GraphqlValidationFailed,
        PlanErrorKind::Input => ErrorCode::BadUserInput,
        PlanErrorKind::Limit => ErrorCode::LimitExceeded,
        PlanErrorKind::Internal => ErrorCode::Internal,
    };
    GraphqlError { message: error.message, code, locations: error.locations, path: Vec::new(), details: Vec::new() }
}

fn plan_too_large(most: u64) -> GraphqlError {
    GraphqlError::new(
        ErrorCode::LimitExceeded,
        format!("The operation is too large: its plan has more than {most} bytes."),
    )
}

/// The error for an operation that may cost too much. `extensions` names the field, and the response keys that lead to
/// it.
fn refused(TooCostly { message, field }: TooCostly) -> GraphqlError {
    let mut error = GraphqlError::new(ErrorCode::LimitExceeded, message);
    if let Some(field) = field {
        error.locations.extend((field.location.0 > 0).then_some(field.location));
        error.details = vec![("field", field.coordinate.clone().into()), ("path", field.path.clone().into())];
    }
    error
}

/// The length of a plan's debug output: it names all that the plan holds.
fn printed_length(plan: &OperationPlan) -> u64 {
    struct Length(u64);
    impl std::fmt::Write for Length {
        fn write_str(&mut self, text: &str) -> std::fmt::Result {
            self.0 += text.len() as u64;
            Ok(())
        }
    }
    let mut length = Length(0);
    // Counting cannot fail.
    let _ = write!(length, "{plan:?}");
    length.0
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
mod tests {
    use super::*;
    use crate::schema::load;

    fn model() -> Arc<Model> {
        let text = "extend schema @table(name: \"data\", partitionKey: \"PK\") type A @item(keys: { PK: \"{id}\" }) { id: ID! }
                    type Query { a(id: ID!): A @find }";
        Arc::new(load("s", text, &|_| None).unwrap_or_else(|mistakes| panic!("{}", mistakes.render(false))).0)
    }

    async fn plan(cache: &OperationCache, model: &Arc<Model>, number: usize) -> Arc<OperationPlan> {
        let request = Request { query: format!("{{ a(id: \"{number}\") {{ id }} }}"), ..Request::default() };
        cache.plan(model, &request, &mut Preparation::begin()).await.unwrap_or_else(|_| panic!("{number}")).plan
    }

    #[tokio::test]
    async fn an_operation_is_planned_once() {
        let (model, cache) = (model(), OperationCache::new(&Settings::default(), Arc::default()));
        let plans = futures_util::future::join_all((0..20).map(|_| plan(&cache, &model, 1))).await;
        assert!(plans.iter().all(|plan| Arc::ptr_eq(plan, &plans[0])));
    }

    #[tokio::test]
    async fn a_plan_that_is_too_large_is_refused() {
        let settings = Settings { max_plan_bytes: 100, ..Settings::default() };
        let (model, cache) = (model(), OperationCache::new(&settings, Arc::default()));
        let request = Request { query: "{ a(id: 1) { id } }".to_owned(), ..Request::default() };
        let refused = cache.plan(&model, &request, &mut Preparation::begin()).await.err().unwrap_or_default();
        assert_eq!(refused.first().map(|error| error.code), Some(ErrorCode::LimitExceeded));
    }

    #[tokio::test]
    async fn a_mistake_is_reported_to_all_who_wait() {
        let (model, cache) = (model(), OperationCache::new(&Settings::default(), Arc::default()));
        let request = Request { query: "{ b }".to_owned(), ..Request::default() };
        let answers = futures_util::future::join_all(
            (0..20).map(async |_| cache.plan(&model, &request, &mut Preparation::begin()).await),
        )
        .await;
        assert!(answers.iter().all(Result::is_err));
    }

    #[tokio::test]
    async fn the_cache_keeps_within_its_bytes() {
        let model = model();
        for bytes in [0, 64 * 1024] {
            let cache =
                OperationCache::new(&Settings { plan_cache_bytes: bytes, ..Settings::default() }, Arc::default());
            for number in 0..100 {
                plan(&cache, &model, number).await;
            }
            assert!(cache.documents.weight() + cache.plans.weight() <= bytes, "{bytes}");
            assert_eq!(cache.documents.is_empty() && cache.plans.is_empty(), bytes == 0);
        }
    }
}
