//! The law of calls before writes: once each client has repeated its request to a certain answer, the charges that
//! stand at the service are those of the payments in the table, or are named in the client's answer. Answers and calls
//! are lost, calls and writes arrive late, requests stop in the middle, and others change the orders meanwhile.

use crate::support;
use crate::till::Till;
use crate::unsteady::{Chances, Unsteady};
use keyfold::execute::gateway::Gateway;
use keyfold::execute::request::{Request, Settings};
use keyfold::schema;
use keyfold::schema::model::Model;
use keyfold::table::data_store::DataStore;
use keyfold::table::store::TableStore;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

const ORDERS: u64 = 4;
const CLIENTS: u64 = 10;
/// Errors that leave it open whether a request is made.
const OPEN: [&str; 5] = ["UNAVAILABLE", "TIMEOUT", "THROTTLED", "IDEMPOTENCY_KEY_IN_USE", "INTERNAL"];

pub fn model() -> Arc<Model> {
    let text = include_str!("payments.graphql");
    let loaded = schema::load("payments.graphql", text, &|_| None);
    Arc::new(loaded.unwrap_or_else(|found| panic!("{}", found.render(false))).0)
}

/// The gateways of a law: two copies over one store.
struct World {
    copies: Vec<Gateway>,
    chances: Chances,
    till: Till,
}

impl World {
    async fn new(seed: u64, percent: u8) -> Self {
        let (model, chances) = (model(), Chances::new(seed, percent));
        let store = Arc::new(TableStore::in_memory().unwrap());
        store.create_missing(&model.tables).await.unwrap();
        let (till, calm) = (Till::new(chances.clone()), Chances::new(0, 0));
        let copy = |chances: Chances| {
            let store: Arc<dyn DataStore> = Arc::new(Unsteady { store: store.clone(), chances });
            let settings = Settings { services: Some(Arc::new(till.clone())), ..support::settings() };
            Gateway::new(model.clone(), store, settings)
        };
        let copies = vec![copy(chances.clone()), copy(chances.clone()), copy(calm)];
        let world = Self { copies, chances, till };
        for order in 0..ORDERS {
            let amount = 5 + order * 10;
            world.calmly(&format!("mutation {{ addOrder(id: \"{order}\", amount: {amount}) {{ id }} }}")).await;
        }
        world
    }

    async fn ask(&self, copy: usize, query: &str) -> Value {
        support::run(&self.copies[copy], &caller(query), false).await
    }

    async fn calmly(&self, query: &str) -> Value {
        self.ask(2, query).await
    }

    /// Sends a request until its answer is certain. Some attempts stop in the middle.
    async fn insist(&self, query: &str) -> Value {
        loop {
            let copy = usize::try_from(self.chances.below(2)).unwrap();
            let stops = self.chances.below(8) == 0;
            let time = Duration::from_millis(if stops { self.chances.below(400) } else { 60_000 });
            let Ok(response) = tokio::time::timeout(time, self.ask(copy, query)).await else { continue };
            let code = response["errors"][0]["extensions"]["code"].as_str().unwrap_or_default();
            if !OPEN.contains(&code) {
                return response;
            }
            tokio::time::sleep(Duration::from_millis(self.chances.below(2_000))).await;
        }
    }
}

fn caller(query: &str) -> Request {
    Request { caller: support::caller(json!({ "sub": "u1" })), ..support::request(query, json!({})) }
}

/// A client's request: a payment of one kind or another of some order, with its key.
fn request(chances: &Chances, client: u64) -> String {
    let order = chances.below(ORDERS + 1);
    // Some send the request of another one again.
    let key = client - if client > 0 && chances.below(6) == 0 { 1 } else { 0 };
    match chances.below(4) {
        0 => format!("mutation {{ payForGood(orderId: \"{order}\", key: \"k{key}\") {{ chargeId amount }} }}"),
        1 => format!("mutation {{ send(orderId: \"{order}\", key: \"k{key}\") {{ id }} }}"),
        _ => {
            let token = if chances.below(5) == 0 { "bad" } else { "good" };
            format!(
                "mutation {{ pay(orderId: \"{order}\", token: \"{token}\", key: \"k{key}\") {{ chargeId amount }} }}"
            )
        }
    }
}

#[tokio::test(start_paused = true)]
async fn charges_are_those_of_payments_once_each_answer_is_certain() {
    let number = |name: &str, usual| std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(usual);
    let (cases, first) = (number("KEYFOLD_LAW_CASES", 60), number("KEYFOLD_LAW_SEED", 0));
    let (mut paid, mut given_back, mut named) = (0, 0, 0);
    for seed in first..first + cases {
        let world = World::new(seed, [0, 10, 30, 50][usize::try_from(seed % 4).unwrap()]).await;
        let queries: Vec<String> = (0..CLIENTS).map(|client| request(&world.chances, client)).collect();
        let clients = futures_util::future::join_all(queries.iter().map(|query| world.insist(query)));
        let others = async {
            for _ in 0..12 {
                tokio::time::sleep(Duration::from_millis(world.chances.below(900))).await;
                let (order, amount) = (world.chances.below(ORDERS), world.chances.below(40));
                world.calmly(&format!("mutation {{ reprice(id: \"{order}\", amount: {amount}) {{ id }} }}")).await;
            }
        };
        let (answers, ()) = futures_util::future::join(clients, others).await;
        world.chances.end();
        // What is late arrives.
        tokio::time::sleep(Duration::from_secs(30)).await;
        let mut standing = world.till.standing();
        for (query, answer) in queries.iter().zip(&answers) {
            let calls = answer["errors"][0]["extensions"]["calls"].as_array().map_or(0, Vec::len);
            assert!(calls == 0 || query.contains("payForGood"), "{seed} {query}: {answer}");
            named += calls;
        }
        let mut payments = BTreeMap::new();
        let (mut sent, mut noted) = (0, 0);
        for order in 0..ORDERS {
            let query = format!("{{ order(id: \"{order}\") {{ status note payments {{ chargeId amount }} }} }}");
            let answer = world.calmly(&query).await;
            let is_sent = answer["data"]["order"]["status"] == "SENT";
            sent += usize::from(is_sent);
            noted += usize::from(is_sent && answer["data"]["order"]["note"].is_string());
            for payment in answer["data"]["order"]["payments"].as_array().unwrap() {
                let id = payment["chargeId"].as_str().unwrap().to_owned();
                assert!(payments.insert(id, payment["amount"].as_i64().unwrap()).is_none(), "{seed}: twice {payment}");
            }
        }
        for (id, amount) in &payments {
            let charged = standing.remove(id).map(|charge| charge.amount);
            assert_eq!(charged, Some(*amount), "{seed}: a payment {id} without its charge\n{answers:#?}");
        }
        // An order that is sent has a charge, and a parcel if it was worth it, under no payment.
        let of = |field: &str, is_parcel: bool| {
            standing.values().filter(|charge| charge.field == field && charge.is_parcel == is_parcel).count()
        };
        let left = (of("Mutation.pay", false), of("Mutation.send", false), of("Mutation.send", true));
        assert_eq!(left, (0, sent, noted), "{seed}: {standing:#?}\n{queries:#?}\n{answers:#?}");
        let is_named = |(query, answer): &(&String, &Value)| {
            query.contains("payForGood") && answer["errors"][0]["extensions"].get("calls").is_some()
        };
        let most = queries.iter().zip(&answers).filter(is_named).count();
        assert!(of("Mutation.payForGood", false) <= most, "{seed}: {standing:#?}\n{queries:#?}\n{answers:#?}");
        paid += payments.len();
        given_back += world.till.given_back();
    }
    assert!(first > 0 || paid as u64 > 2 * cases && given_back > 0 && named > 0, "{paid} {given_back} {named}");
}
