//! Two copies on one server whose answers are lost, one of them killed again and again, and callers who place orders of
//! several lines: what is gone from the stock is what the orders have, and no line is without its order.

use crate::gateway_copy::GatewayCopy;
use crate::lossy::{Losses, in_front_of};
use crate::process::{KEY, repository, run};
use crate::store::Store;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::task::JoinSet;

/// The callers of each copy, and the orders of each of them.
const CALLERS: usize = 16;
const ORDERS: usize = 8;
const PRODUCTS: usize = 24;
const STOCK: u64 = 40;
/// The most lines of an order.
const LINES: usize = 4;

async fn ask(client: &reqwest::Client, url: &str, query: &str, variables: Value) -> Option<Value> {
    let body = json!({ "query": query, "variables": variables });
    let sent = client.post(format!("{url}/graphql")).header("x-api-key", KEY).json(&body).send().await;
    sent.ok()?.json().await.ok()
}

/// Places orders, and gives the ids of those that are acknowledged. An id ends in the number of its lines.
async fn place_orders(urls: Arc<[Mutex<String>; 2]>, caller: usize) -> Vec<String> {
    let client = reqwest::Client::builder().timeout(Duration::from_secs(60)).build().unwrap();
    let mut rng = fastrand::Rng::with_seed(caller as u64);
    let mut made = Vec::new();
    for order in 0..ORDERS {
        let count = 1 + rng.usize(..LINES);
        let products = rng.choose_multiple(0..PRODUCTS, count);
        let id = format!("c{caller}-{order}-{}", products.len());
        let lines: Vec<Value> =
            products.iter().map(|product| json!({ "sku": format!("p{product}"), "quantity": rng.u64(1..4) })).collect();
        let query = "mutation ($id: ID!, $lines: [LineInput!]!) { placeOrder(customerId: \"c\", id: $id, lines: $lines) { id } }";
        let url = urls[caller % 2].lock().unwrap().clone();
        let answer = ask(&client, &url, query, json!({ "id": id, "lines": lines })).await;
        let is_made = |answer: &Value| answer["data"]["placeOrder"]["id"] == json!(id);
        made.extend(answer.as_ref().is_some_and(is_made).then_some(id));
        // Whoever gets no answer waits for another copy.
        if answer.is_none() {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }
    made
}

/// What is there at the end: the lines of each order, and of each product its stock, what is sold, and its lines.
async fn read(url: &str) -> (BTreeMap<String, usize>, Vec<(u64, u64, Value)>) {
    let client = reqwest::Client::new();
    let query = "{ customer(id: \"c\") { orders(first: 1000) { nodes { id lines { sku } } } } }";
    let orders = ask(&client, url, query, json!({})).await.unwrap();
    let orders = orders["data"]["customer"]["orders"]["nodes"].as_array().unwrap_or_else(|| panic!("{orders}")).iter();
    let lines = |order: &Value| order["lines"].as_array().unwrap().len();
    let orders = orders.map(|order| (order["id"].as_str().unwrap().to_owned(), lines(order))).collect();
    let mut products = Vec::new();
    for product in 0..PRODUCTS {
        let query =
            "query ($sku: ID!) { product(sku: $sku) { stock sold lines(first: 1000) { nodes { orderId quantity } } } }";
        let answer = ask(&client, url, query, json!({ "sku": format!("p{product}") })).await.unwrap();
        let product = &answer["data"]["product"];
        let number = |name: &str| product[name].as_u64().unwrap_or_else(|| panic!("{answer}"));
        products.push((number("stock"), number("sold"), product["lines"]["nodes"].clone()));
    }
    (orders, products)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn orders_take_their_stock_whatever_is_lost_or_killed() {
    let store = Store::start();
    let schema = repository("examples/order-entry/schema.graphql");
    let schema = schema.to_str().unwrap();
    run(store.directory.path(), &["tables", "--create", "--schema", schema, "--endpoint-url", &store.url()]).well();
    let lossy = format!("http://{}", in_front_of(store.url(), Losses { seed: 7, percent: 15, late: true }).await);
    let begin = |endpoint: &str| {
        let serve = ["serve", "--listen", "127.0.0.1:0", "--log-format", "json", "--schema", schema, "--endpoint-url"];
        GatewayCopy::serve(store.directory.path(), &[&serve[..], &[endpoint]].concat())
    };
    // What there is at first gets there for certain.
    let whole = begin(&store.url());
    let client = reqwest::Client::new();
    let product = |product: usize| json!({ "sku": format!("p{product}"), "name": "P", "price": "1.5", "stock": STOCK });
    let products: Vec<Value> = (0..PRODUCTS).map(product).collect();
    let query = "mutation ($products: [ProductInput!]!) { addCustomer(id: \"c\", name: \"C\") { id } addProducts(products: $products) { sku } }";
    let added = ask(&client, &whole.url, query, json!({ "products": products })).await.unwrap();
    assert!(added["errors"].is_null(), "{added}");

    let mut copies = [begin(&lossy), begin(&lossy)];
    let urls = Arc::new([0, 1].map(|copy: usize| Mutex::new(copies[copy].url.clone())));
    let mut callers = JoinSet::new();
    (0..2 * CALLERS).for_each(|caller| _ = callers.spawn(place_orders(urls.clone(), caller)));
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
    while !ended.load(Ordering::SeqCst) {
        tokio::time::sleep(Duration::from_millis(700)).await;
        copies[1].process.kill();
        kills += 1;
        copies[1] = begin(&lossy);
        urls[1].lock().unwrap().clone_from(&copies[1].url);
    }
    let acknowledged: BTreeSet<String> = all.await.unwrap().into_iter().collect();
    // What was on its way has arrived.
    tokio::time::sleep(Duration::from_millis(300)).await;

    let (orders, products) = read(&whole.url).await;
    eprintln!("{} orders, {} of them acknowledged, {kills} kills", orders.len(), acknowledged.len());
    assert!(kills > 0 && acknowledged.len() > CALLERS, "too little is tried");
    let lost: Vec<&String> = acknowledged.iter().filter(|id| !orders.contains_key(*id)).collect();
    assert!(lost.is_empty(), "acknowledged and not there: {lost:?}");
    for (id, lines) in &orders {
        assert!(id.ends_with(&format!("-{lines}")), "{id} has {lines} lines");
    }
    for (product, (stock, sold, lines)) in products.iter().enumerate() {
        assert_eq!(stock + sold, STOCK, "the stock of p{product}");
        let lines = lines.as_array().unwrap();
        let ordered: u64 = lines.iter().map(|line| line["quantity"].as_u64().unwrap()).sum();
        assert_eq!(ordered, *sold, "the lines of p{product}");
        let alone = lines.iter().find(|line| !orders.contains_key(line["orderId"].as_str().unwrap()));
        assert_eq!(alone, None, "a line of p{product} without its order");
    }
}
