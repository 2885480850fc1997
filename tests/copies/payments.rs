//! Two copies on one server whose answers are lost and whose writes are late, one of them killed again and again, and
//! callers who send each payment with its key until it is answered: every payment is made once, and every answer to it
//! is the same.

use crate::gateway_copy::GatewayCopy;
use crate::lossy::{Losses, busy_in_front_of, in_front_of};
use crate::process::{KEY, repository, run};
use crate::store::Store;
use futures_util::future::join_all;
use reqwest::RequestBuilder;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::task::JoinSet;

/// The callers of each copy, and the payments of each of them.
const CALLERS: usize = 16;
const PAYMENTS: usize = 6;
const ACCOUNTS: usize = 8;
const BALANCE: u64 = 1_000_000;
/// How often a caller sends a payment before something is wrong.
const ATTEMPTS: usize = 200;

const PAY: &str =
    "mutation ($from: ID!, $amount: Decimal!) { pay(fromId: $from, amount: $amount, to: \"Shop\") { id at amount } }";

pub fn post(client: &reqwest::Client, url: &str, query: &str, variables: Value) -> RequestBuilder {
    let body = json!({ "query": query, "variables": variables });
    client.post(format!("{url}/graphql")).header("x-api-key", KEY).json(&body)
}

pub async fn answer(request: RequestBuilder) -> Option<Value> {
    request.send().await.ok()?.json().await.ok()
}

/// Sends a payment with its key, as the header brings it, until it is answered.
async fn pay(urls: &[Mutex<String>; 2], copy: usize, (key, account): (&str, usize)) -> Value {
    let client = reqwest::Client::builder().timeout(Duration::from_secs(20)).build().unwrap();
    for attempt in 0..ATTEMPTS {
        let url = urls[(copy + attempt) % 2].lock().unwrap().clone();
        let variables = json!({ "from": format!("a{account}"), "amount": "1" });
        let request = post(&client, &url, PAY, variables).header("idempotency-key", format!("{key:?}"));
        match answer(request).await {
            Some(answer) if answer["data"]["pay"].is_object() => return answer["data"]["pay"].clone(),
            Some(answer) => {
                let code = answer["errors"][0]["extensions"]["code"].as_str().unwrap().to_owned();
                assert_ne!(code, "IDEMPOTENCY_KEY_REUSED", "{key}: {answer}");
            }
            None => tokio::time::sleep(Duration::from_millis(50)).await,
        }
    }
    panic!("{key} is never answered")
}

/// Makes the payments of a caller: each is answered twice, by two copies. Gives what they answered.
async fn make_payments(urls: Arc<[Mutex<String>; 2]>, caller: usize) -> Vec<(usize, Value)> {
    let mut made = Vec::new();
    for payment in 0..PAYMENTS {
        let (key, account) = (format!("c{caller}-{payment}"), (caller + payment) % ACCOUNTS);
        let first = pay(&urls, caller, (&key, account)).await;
        assert_eq!(pay(&urls, caller + 1, (&key, account)).await, first, "{key} is answered again");
        made.push((account, first));
    }
    made
}

/// Of each account, its balance and the ids of its payments.
async fn read(url: &str) -> Vec<(String, Vec<String>)> {
    let client = reqwest::Client::new();
    let query = "query ($id: ID!) { account(id: $id) { balance entries(first: 1000) { nodes { id } } } }";
    let mut accounts = Vec::new();
    for account in 0..ACCOUNTS {
        let read = answer(post(&client, url, query, json!({ "id": format!("a{account}") }))).await.unwrap();
        let ids = read["data"]["account"]["entries"]["nodes"].as_array().unwrap_or_else(|| panic!("{read}")).iter();
        let ids = ids.map(|entry| entry["id"].as_str().unwrap().to_owned()).collect();
        accounts.push((read["data"]["account"]["balance"].as_str().unwrap().to_owned(), ids));
    }
    accounts
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_payment_is_made_once_whatever_is_lost_or_killed() {
    let store = Store::start();
    let schema = repository("examples/bank/schema.graphql");
    let schema = schema.to_str().unwrap();
    run(store.directory.path(), &["tables", "--create", "--schema", schema, "--endpoint-url", &store.url()]).well();
    let lossy = format!("http://{}", in_front_of(store.url(), Losses { seed: 11, percent: 15, late: true }).await);
    let begin = |endpoint: &str| {
        let serve = ["serve", "--listen", "127.0.0.1:0", "--log-format", "json", "--schema", schema, "--endpoint-url"];
        GatewayCopy::serve(store.directory.path(), &[&serve[..], &[endpoint]].concat())
    };
    // What there is at first gets there for certain.
    let whole = begin(&store.url());
    let client = reqwest::Client::new();
    for account in 0..ACCOUNTS {
        let query = "mutation ($id: ID!, $balance: Decimal!) { openAccount(personId: \"p\", id: $id, name: \"A\", balance: $balance) { id } }";
        let variables = json!({ "id": format!("a{account}"), "balance": BALANCE.to_string() });
        let opened = answer(post(&client, &whole.url, query, variables)).await.unwrap();
        assert!(opened["errors"].is_null(), "{opened}");
    }

    let mut copies = [begin(&lossy), begin(&lossy)];
    let urls = Arc::new([0, 1].map(|copy: usize| Mutex::new(copies[copy].url.clone())));
    let mut callers = JoinSet::new();
    (0..2 * CALLERS).for_each(|caller| _ = callers.spawn(make_payments(urls.clone(), caller)));
    let ended = Arc::new(AtomicBool::new(false));
    let all = tokio::spawn({
        let ended = ended.clone();
        async move {
            let made = callers.join_all().await;
            ended.store(true, Ordering::SeqCst);
            made.concat()
        }
    });
    let mut kills = 0;
    while !ended.load(Ordering::SeqCst) && !all.is_finished() {
        tokio::time::sleep(Duration::from_millis(700)).await;
        copies[1].process.kill();
        kills += 1;
        copies[1] = begin(&lossy);
        urls[1].lock().unwrap().clone_from(&copies[1].url);
    }
    let made = all.await.unwrap();
    // What was on its way has arrived.
    tokio::time::sleep(Duration::from_millis(300)).await;
    eprintln!("{} payments, {kills} kills", made.len());
    assert!(kills > 0 && made.len() == 2 * CALLERS * PAYMENTS, "too little is tried");
    let mut expected: BTreeMap<usize, Vec<String>> = BTreeMap::new();
    for (account, payment) in &made {
        expected.entry(*account).or_default().push(payment["id"].as_str().unwrap().to_owned());
    }
    for (account, (balance, mut ids)) in read(&whole.url).await.into_iter().enumerate() {
        let mut paid = expected.remove(&account).unwrap_or_default();
        ids.sort();
        paid.sort();
        assert_eq!(ids, paid, "the payments of a{account}");
        assert_eq!(balance, (BALANCE - paid.len() as u64).to_string(), "the balance of a{account}");
    }
}

/// Equal requests to two copies at once, and others with their key: by HTTP, with the statuses of the keys.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_64_equal_payments_to_two_copies_one_is_made() {
    let store = Store::start();
    let schema = repository("examples/bank/schema.graphql");
    let schema = schema.to_str().unwrap();
    run(store.directory.path(), &["tables", "--create", "--schema", schema, "--endpoint-url", &store.url()]).well();
    let serve = ["serve", "--listen", "127.0.0.1:0", "--log-format", "json", "--schema", schema, "--endpoint-url"];
    let begin = || GatewayCopy::serve(store.directory.path(), &[&serve[..], &[&store.url()]].concat());
    let copies = [begin(), begin()];
    let client = reqwest::Client::new();
    let open = "mutation { openAccount(personId: \"p\", id: \"a0\", name: \"A\", balance: \"100\") { id } }";
    answer(post(&client, &copies[0].url, open, json!({}))).await.unwrap();
    let send = |copy: usize, amount: &str, key: &str| {
        let request = post(&client, &copies[copy].url, PAY, json!({ "from": "a0", "amount": amount }));
        request.header("accept", "application/graphql-response+json").header("idempotency-key", key)
    };
    let answers = join_all((0..64).map(|number| answer(send(number % 2, "3", "one")))).await;
    assert!(answers.iter().all(|one| one == &answers[0]), "{answers:?}");
    assert!(answers[0].as_ref().is_some_and(|first| first["data"]["pay"]["id"].is_string()), "{answers:?}");
    // The same key in quotes, and a key that is none.
    for (amount, key, status, code) in [
        ("3", "\"one\"", 200, Value::Null),
        ("4", "\"one\"", 422, json!("IDEMPOTENCY_KEY_REUSED")),
        ("3", "\"one", 200, json!("BAD_USER_INPUT")),
    ] {
        let response = send(1, amount, key).send().await.unwrap();
        let is = response.status().as_u16();
        let answered: Value = response.json().await.unwrap();
        assert_eq!((is, &answered["errors"][0]["extensions"]["code"]), (status, &code), "{key}: {answered}");
    }
    // In the older media type, every answer to an operation that ran has the status 200.
    let request = post(&client, &copies[0].url, PAY, json!({ "from": "a0", "amount": "4" }));
    let plain = request.header("accept", "application/json").header("idempotency-key", "one").send().await.unwrap();
    assert_eq!(plain.status(), 200);
    // A list of operations has no key.
    let body = json!([{ "query": PAY, "variables": { "from": "a0", "amount": "3" } }]);
    let list = client.post(format!("{}/graphql", copies[0].url)).json(&body).header("idempotency-key", "one");
    let list: Value = list.send().await.unwrap().json().await.unwrap();
    assert!(list[0]["errors"].is_array() || list["errors"].is_array(), "{list}");
    let read = read_balance(&client, &copies[0].url).await;
    assert_eq!(read, "97");
}

/// A key that others are at work on until the deadline: the status says it, and a repeat makes the payment.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_key_in_flight_has_a_status_of_its_own() {
    let store = Store::start();
    let schema = repository("examples/bank/schema.graphql");
    let schema = schema.to_str().unwrap();
    run(store.directory.path(), &["tables", "--create", "--schema", schema, "--endpoint-url", &store.url()]).well();
    let busy = format!("http://{}", busy_in_front_of(store.url()).await);
    let begin = |endpoint: &str| {
        let serve = ["serve", "--listen", "127.0.0.1:0", "--request-timeout", "2s", "--schema", schema, "--log-format"];
        GatewayCopy::serve(store.directory.path(), &[&serve[..], &["json", "--endpoint-url", endpoint]].concat())
    };
    let (free, stuck) = (begin(&store.url()), begin(&busy));
    let client = reqwest::Client::new();
    let open = "mutation { openAccount(personId: \"p\", id: \"a0\", name: \"A\", balance: \"100\") { id } }";
    answer(post(&client, &free.url, open, json!({}))).await.unwrap();
    let send = async |url: &str, media: &str| {
        let request = post(&client, url, PAY, json!({ "from": "a0", "amount": "3" }));
        let response = request.header("accept", media).header("idempotency-key", "one").send().await.unwrap();
        let status = response.status().as_u16();
        (status, response.json::<Value>().await.unwrap()["errors"][0]["extensions"]["code"].clone())
    };
    let in_use = json!("IDEMPOTENCY_KEY_IN_USE");
    assert_eq!(send(&stuck.url, "application/graphql-response+json").await, (409, in_use.clone()));
    // In the older media type, every answer to an operation that ran has the status 200.
    assert_eq!(send(&stuck.url, "application/json").await, (200, in_use));
    assert_eq!(read_balance(&client, &free.url).await, "100");
    assert_eq!(send(&free.url, "application/graphql-response+json").await, (200, Value::Null));
    assert_eq!(read_balance(&client, &free.url).await, "97");
}

async fn read_balance(client: &reqwest::Client, url: &str) -> String {
    let read = answer(post(client, url, "{ account(id: \"a0\") { balance } }", json!({}))).await.unwrap();
    read["data"]["account"]["balance"].as_str().unwrap().to_owned()
}
