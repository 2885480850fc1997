//! Shared by tests: a system's model, its tables and items in an embedded store, and a record of the calls made of it.

#![allow(dead_code, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

pub mod golden;
pub mod golden_file;
pub mod lagging;
pub mod rereads;
pub mod rows;

use keyfold::cli::goldens::made::GeneratedNames;
use keyfold::cli::goldens::outcome;
use keyfold::cli::selftest::goldens::systems;
use keyfold::cli::service_answers::WrittenServices;
use keyfold::execute::caller::Caller;
use keyfold::execute::gateway::Gateway;
use keyfold::execute::request::{Request, Settings};
use keyfold::execute::service::call::ServiceConnector;
use keyfold::plan::passes::Passes;
use keyfold::schema;
use keyfold::schema::model::Model;
use keyfold::table::bulk::export_lines::parse_line;
use keyfold::table::embedded::observer::Recorder;
use keyfold::table::store::TableStore;
use serde_json::{Map, Value};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// The paths of a system's schema and items. The ledger and the orders have no items.
pub fn places(system: &str) -> (PathBuf, PathBuf) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let (schema, items) = match system {
        "ledger" | "orders" => (format!("tests/schemas/faults/{system}.graphql"), "tests/schemas/faults".to_owned()),
        _ => systems::places(system),
    };
    (root.join(schema), root.join(items))
}

/// GeneratedNames for the values that an operation generates: those that neither it nor a system's items have.
pub fn names(system: &str, operation: &str) -> GeneratedNames {
    let (_, items) = places(system);
    let mut known = operation.to_owned();
    for file in std::fs::read_dir(items).into_iter().flatten().flatten() {
        if file.path().extension().is_some_and(|extension| extension == "jsonl") {
            known += &std::fs::read_to_string(file.path()).unwrap_or_default();
        }
    }
    GeneratedNames::besides(known)
}

/// A system's model. Mistakes in its schema fail the test.
pub fn model(system: &str) -> Arc<Model> {
    Arc::new(loaded(system))
}

/// A system's model without its rules: for tests of what rules do not change, by callers who may do everything.
pub fn unruled_model(system: &str) -> Arc<Model> {
    Arc::new(loaded(system).without_rules())
}

fn loaded(system: &str) -> Model {
    let (schema, _) = places(system);
    let text = std::fs::read_to_string(&schema).unwrap();
    match schema::load(&schema.display().to_string(), &text, &|_| None) {
        Ok((model, _)) => model,
        Err(mistakes) => panic!("{}", mistakes.render(false)),
    }
}

/// A minute from now: longer than any test takes.
pub fn deadline() -> Instant {
    Instant::now() + Duration::from_secs(60)
}

/// Creates a system's tables in a store and puts its items, table by table.
pub async fn fill(store: &TableStore, model: &Model, system: &str) {
    let (_, items) = places(system);
    store.create_missing(&model.tables).await.unwrap();
    for table in &model.tables {
        let file = items.join(format!("{}.jsonl", table.name));
        let Ok(text) = std::fs::read_to_string(&file) else { continue };
        let items = text.lines().filter_map(|line| parse_line(line).unwrap()).collect();
        store.load(table, items, deadline()).await.unwrap();
    }
}

/// A system on an embedded store in memory, and the recorder of the calls made from now on.
pub async fn system(name: &str) -> (Gateway, Arc<Recorder>) {
    system_of(model(name), name).await
}

/// A model on an embedded store in memory with a system's items, and the recorder of the calls made from now on.
pub async fn system_of(model: Arc<Model>, name: &str) -> (Gateway, Arc<Recorder>) {
    let recorder = Arc::new(Recorder::default());
    let store = TableStore::in_memory_observed(recorder.clone()).unwrap();
    fill(&store, &model, name).await;
    recorder.take();
    (Gateway::new(model, store, settings_of(name)), recorder)
}

/// The default settings with what a system's services answer.
pub fn settings_of(system: &str) -> Settings {
    Settings { services: services(system), ..settings() }
}

/// What a system's services answer: the files of `services/` beside its schema. `None` if it has none.
fn services(system: &str) -> Option<Arc<dyn ServiceConnector>> {
    let (schema, _) = places(system);
    let files = std::fs::read_dir(schema.with_file_name("services")).ok()?;
    let mut services = WrittenServices::default();
    for file in files.map(|file| file.unwrap().path()) {
        let name = file.file_stem().unwrap().to_str().unwrap();
        services.add(name, &std::fs::read_to_string(&file).unwrap()).unwrap();
    }
    Some(Arc::new(services))
}

/// The default settings with a cursor key, so that cursors are the same in every run.
pub fn settings() -> Settings {
    outcome::settings(None)
}

/// The default settings with any of the savings of plans. The response is the same with each of them.
pub fn any_settings(rng: &mut fastrand::Rng) -> Settings {
    let (early_waves, shared_queries, projection) = (rng.bool(), rng.bool(), rng.bool());
    let passes = Passes { early_waves, shared_queries, projection, known_items: rng.clone().bool() };
    Settings { passes, ..settings() }
}

/// A request with these variables.
pub fn request(query: &str, variables: Value) -> Request {
    let variables = match variables {
        Value::Object(map) => map,
        _ => Map::new(),
    };
    Request { query: query.to_owned(), variables, ..Request::default() }
}

/// How the calls of an explained response exceed what it says that they cost at most, if they do.
#[allow(dead_code)]
pub fn costs_more(response: &Value) -> Option<String> {
    let keyfold = response["extensions"].get("keyfold")?;
    let at_most = &keyfold["atMost"];
    // What the cache answered is no call.
    let is_call = |call: &&Value| call["cached"] != true;
    let calls = keyfold["calls"].as_array().unwrap().iter().filter(is_call).count() as f64;
    let number = |value: &Value| value.as_f64().unwrap();
    let measured = [
        ("calls", calls, number(&at_most["calls"])),
        ("read units", number(&keyfold["capacity"]["read"]), number(&at_most["capacity"]["read"])),
        ("write units", number(&keyfold["capacity"]["write"]), number(&at_most["capacity"]["write"])),
    ];
    let excess: Vec<String> = measured
        .into_iter()
        .filter(|(_, is, most)| is > most)
        .map(|(what, is, most)| format!("{is} {what} instead of {most}"))
        .collect();
    (!excess.is_empty()).then(|| excess.join(", "))
}

/// Runs a request. A refusal before it runs is a response, too. A subscription gives its first one.
pub async fn run(gateway: &Gateway, request: &Request, explain: bool) -> Value {
    outcome::respond(gateway, request, deadline(), explain).await.unwrap()
}

/// A caller with these claims; null is an anonymous one.
pub fn caller(claims: Value) -> Caller {
    match claims {
        Value::Object(claims) => Caller::signed_in(claims),
        _ => Caller::anonymous(),
    }
}

/// The first caller of a system's samples, or an anonymous one.
pub fn first_caller(system: &str) -> Caller {
    let (_, items) = places(system);
    let Ok(text) = std::fs::read_to_string(items.join("callers.json")) else { return Caller::anonymous() };
    let callers: Value = serde_json::from_str(&text).unwrap();
    caller(callers[0]["claims"].clone())
}
