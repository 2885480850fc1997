//! Two copies on one server whose answers are lost and whose writes are late, one of them killed again and again, and a
//! payments service that loses answers, too. Callers send each payment with its key until its answer is certain, while
//! another changes the orders: then the charges that stand are those of the payments in the table.

use crate::gateway_copy::GatewayCopy;
use crate::lossy::{Losses, in_front_of};
use crate::payments::{answer, post};
use crate::process::{repository, run};
use crate::store::Store;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::{Json, Router};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::task::JoinSet;

const CALLERS: usize = 12;
/// Payments of each caller.
const PAYMENTS: usize = 4;
/// How often a caller sends a payment before something is wrong.
const ATTEMPTS: usize = 300;
/// Errors that leave it open whether a payment is made.
const OPEN: [&str; 5] = ["UNAVAILABLE", "TIMEOUT", "THROTTLED", "IDEMPOTENCY_KEY_IN_USE", "INTERNAL"];

const PAY: &str =
    "mutation ($order: ID!, $key: ID!) { pay(orderId: $order, token: \"t\", key: $key) { chargeId amount } }";

/// The charges of a service by their keys; `None` is undone.
type Charges = BTreeMap<String, Option<(String, i64)>>;

#[derive(Clone)]
struct Till {
    charges: Arc<Mutex<Charges>>,
    rng: Arc<Mutex<fastrand::Rng>>,
}

impl Till {
    fn make(&self, call: &Value) -> Value {
        let mut charges = self.charges.lock().unwrap();
        let (key, count) = (call["key"].as_str().unwrap().to_owned(), charges.len());
        if call["undo"].is_string() {
            charges.insert(key, None);
            return json!({ "data": {} });
        }
        let amount = call["items"][0]["amount"].as_i64().unwrap();
        match charges.entry(key).or_insert_with(|| Some((format!("ch{count}"), amount))) {
            Some((id, charged)) => json!({ "data": { "id": id, "amount": charged } }),
            None => json!({ "error": { "code": "UNDONE", "message": "This charge was given back." } }),
        }
    }
}

/// One call in five is lost, or its answer is.
async fn charge(State(till): State<Till>, body: Bytes) -> Response {
    let fate = till.rng.lock().unwrap().u8(..10);
    if fate == 0 {
        return StatusCode::SERVICE_UNAVAILABLE.into_response();
    }
    let made = till.make(&serde_json::from_slice(&body).unwrap());
    match fate {
        1 => StatusCode::BAD_GATEWAY.into_response(),
        _ => Json(json!({ "results": [made] })).into_response(),
    }
}

async fn pay(urls: &[Mutex<String>; 2], copy: usize, (order, key): (&str, &str)) -> Value {
    let client = reqwest::Client::builder().timeout(Duration::from_secs(20)).build().unwrap();
    for attempt in 0..ATTEMPTS {
        let url = urls[(copy + attempt) % 2].lock().unwrap().clone();
        match answer(post(&client, &url, PAY, json!({ "order": order, "key": key }))).await {
            Some(answer) => {
                let code = answer["errors"][0]["extensions"]["code"].as_str().unwrap_or_default();
                if !OPEN.contains(&code) {
                    return answer;
                }
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
            None => tokio::time::sleep(Duration::from_millis(50)).await,
        }
    }
    panic!("{key} is never answered")
}

async fn make_payments(urls: Arc<[Mutex<String>; 2]>, caller: usize) -> Vec<(String, Value)> {
    let mut made = Vec::new();
    for payment in 0..PAYMENTS {
        // Two callers pay for one order, each with keys of its own.
        let (order, key) = (format!("{}-{payment}", caller / 2), format!("c{caller}-{payment}"));
        let first = pay(&urls, caller, (&order, &key)).await;
        assert_eq!(pay(&urls, caller + 1, (&order, &key)).await["data"], first["data"], "{key} is answered again");
        made.push((order, first));
    }
    made
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn charges_are_those_of_payments_whatever_is_lost_or_killed() {
    let store = Store::start();
    let till = Till { charges: Arc::default(), rng: Arc::new(Mutex::new(fastrand::Rng::with_seed(5))) };
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let service = format!("@service(name: \"payments\", url: \"http://{}/\",", listener.local_addr().unwrap());
    let app = Router::new().fallback(charge).with_state(till.clone());
    tokio::spawn(async move { axum::serve(listener, app).await });
    let text = std::fs::read_to_string(repository("tests/services/payments.graphql")).unwrap();
    let schema = store.directory.path().join("payments.graphql");
    std::fs::write(&schema, text.replace("@service(name: \"payments\",", &service)).unwrap();
    let schema = schema.to_str().unwrap();
    run(store.directory.path(), &["tables", "--create", "--schema", schema, "--endpoint-url", &store.url()]).well();
    let lossy = format!("http://{}", in_front_of(store.url(), Losses { seed: 12, percent: 12, late: true }).await);
    let begin = |endpoint: &str| {
        let serve = ["serve", "--listen", "127.0.0.1:0", "--log-format", "json", "--schema", schema, "--endpoint-url"];
        GatewayCopy::serve(store.directory.path(), &[&serve[..], &[endpoint]].concat())
    };
    let whole = begin(&store.url());
    let client = reqwest::Client::new();
    let set = |mutation: &'static str, order: String, amount: i64| {
        let query = format!("mutation ($id: ID!, $amount: Int!) {{ {mutation}(id: $id, amount: $amount) {{ id }} }}");
        answer(post(&client, &whole.url, &query, json!({ "id": order, "amount": amount })))
    };
    let orders: Vec<String> =
        (0..CALLERS / 2).flat_map(|of| (0..PAYMENTS).map(move |at| format!("{of}-{at}"))).collect();
    for order in &orders {
        let added = set("addOrder", order.clone(), 10).await.unwrap();
        assert!(added["errors"].is_null(), "{added}");
    }

    let mut copies = [begin(&lossy), begin(&lossy)];
    let urls = Arc::new([0, 1].map(|copy: usize| Mutex::new(copies[copy].url.clone())));
    let mut callers = JoinSet::new();
    (0..CALLERS).for_each(|caller| _ = callers.spawn(make_payments(urls.clone(), caller)));
    let ended = Arc::new(AtomicBool::new(false));
    let all = tokio::spawn({
        let ended = ended.clone();
        async move {
            let made = callers.join_all().await;
            ended.store(true, Ordering::SeqCst);
            made.concat()
        }
    });
    let (mut kills, mut amount) = (0, 10);
    while !ended.load(Ordering::SeqCst) && !all.is_finished() {
        for order in &orders {
            amount += 1;
            set("reprice", order.clone(), amount).await;
            tokio::time::sleep(Duration::from_millis(30)).await;
        }
        copies[1].process.kill();
        kills += 1;
        copies[1] = begin(&lossy);
        urls[1].lock().unwrap().clone_from(&copies[1].url);
    }
    let made = all.await.unwrap();
    // What was on its way has arrived.
    tokio::time::sleep(Duration::from_millis(500)).await;
    let mut payments = BTreeMap::new();
    for order in &orders {
        let query = "query ($id: ID!) { order(id: $id) { payments { chargeId amount } } }";
        let read = answer(post(&client, &whole.url, query, json!({ "id": order }))).await.unwrap();
        let own = read["data"]["order"]["payments"].as_array().unwrap().clone();
        assert!(own.len() <= 1, "{order} is paid twice: {own:?}");
        let paid = made.iter().filter(|(of, answer)| of == order && answer["data"]["pay"].is_object()).count();
        assert_eq!(paid, own.len(), "{order}: {made:?}");
        for payment in own {
            payments.insert(payment["chargeId"].as_str().unwrap().to_owned(), payment["amount"].as_i64().unwrap());
        }
    }
    let charges = till.charges.lock().unwrap();
    let standing: BTreeMap<String, i64> = charges.values().flatten().cloned().collect();
    let undone = charges.len() - charges.values().flatten().count();
    eprintln!("{} payments, {undone} charges undone, {kills} kills", payments.len());
    assert_eq!(standing, payments);
    assert!(kills > 0 && payments.len() > CALLERS && undone > 0, "too little is tried");
}
