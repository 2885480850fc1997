//! Two copies on one server whose answers are lost, one of them killed again and again, and callers who count in maps,
//! in an object that is missing at first, and in the key of an index. Everything acknowledged is counted once, whoever
//! made the map, the entry or the object, and an index key is what its fields say at every moment.

use crate::gateway_copy::GatewayCopy;
use crate::lossy::{Losses, in_front_of};
use crate::process::{KEY, repository, run};
use crate::store::Store;
use keyfold::table::data::attribute::{Attribute, Item, Key, KeyValue};
use keyfold::table::data::call::Get;
use keyfold::table::data_store::DataStore;
use keyfold::table::store::TableStore;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::task::JoinSet;

/// The callers of each copy, and the operations of each of them.
const CALLERS: usize = 16;
const OPERATIONS: usize = 40;
const POSTS: usize = 6;
const NAMES: [&str; 3] = ["like", "sad", "party"];

/// What is counted: its post, and its name there.
type Counter = (usize, String);

/// How many were acknowledged, and of how many nobody knows.
type Counts = BTreeMap<Counter, (usize, usize)>;

/// What callers share: the URLs of the copies, and what they have counted.
struct Shared {
    urls: [Mutex<String>; 2],
    counts: Mutex<Counts>,
}

async fn ask(client: &reqwest::Client, url: &str, query: &str, variables: Value) -> Option<Value> {
    let body = json!({ "query": query, "variables": variables });
    let sent = client.post(format!("{url}/graphql")).header("x-api-key", KEY).json(&body).send().await;
    sent.ok()?.json().await.ok()
}

/// Counts.
async fn count(shared: Arc<Shared>, caller: usize) {
    let client = reqwest::Client::builder().timeout(Duration::from_secs(60)).build().unwrap();
    let mut rng = fastrand::Rng::with_seed(caller as u64);
    for _ in 0..OPERATIONS {
        let (post, name) = (rng.usize(..POSTS), NAMES[rng.usize(..3)]);
        let (counter, query) = match rng.usize(..4) {
            0 => (format!("reactions {name}"), "($i: ID!, $n: String!) { w: react(id: $i, kind: $n) { id } }"),
            1 => (format!("visits {name}"), "($i: ID!, $n: String!) { w: visit(id: $i, day: $n) { id } }"),
            2 => ("moves".to_owned(), "($i: ID!, $n: String!) { w: move(id: $i, city: $n) { id } }"),
            _ => ("rank".to_owned(), "($i: ID!) { w: raise(id: $i) { id } }"),
        };
        let url = shared.urls[caller % 2].lock().unwrap().clone();
        let variables = json!({ "i": post.to_string(), "n": name });
        let answer = ask(&client, &url, &format!("mutation {query}"), variables).await;
        let code = answer.as_ref().and_then(|answer| answer["errors"][0]["extensions"]["code"].as_str());
        {
            let mut counts = shared.counts.lock().unwrap();
            let (certain, open) = counts.entry((post, counter)).or_default();
            match (&answer, code) {
                (Some(_), None) => *certain += 1,
                (Some(_), Some("THROTTLED")) => {}
                (None, _) | (_, Some("TIMEOUT" | "UNAVAILABLE")) => *open += 1,
                (Some(answer), _) => panic!("{answer}"),
            }
        }
        // Whoever gets no answer waits for another copy.
        if answer.is_none() {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }
}

/// A post as a strong read shows it. The key of its index is what its rank says.
async fn post(client: &TableStore, id: usize) -> Arc<Item> {
    let key = Key {
        partition: ("PK".into(), KeyValue::S(format!("POST#{id}"))),
        sort: Some(("SK".into(), KeyValue::S("POST".into()))),
    };
    let get = Get { table: "counters".into(), key, projection: [].into(), consistent: true, max_age: None };
    let deadline = tokio::time::Instant::now() + Duration::from_secs(60);
    let (mut found, _) = client.get_items(&[get.request()], deadline.into()).await;
    let item = found.remove(0).unwrap().unwrap_or_else(|| panic!("the post {id} is gone"));
    let rank = number(item.get("rank"));
    assert_eq!(item.get("RankSort"), Some(&Attribute::S(format!("{rank:08}#{id}").into())), "{item:?}");
    item
}

fn number(attribute: Option<&Attribute>) -> usize {
    match attribute {
        Some(Attribute::N(number)) => number.parse().unwrap(),
        None => 0,
        Some(other) => panic!("{other:?}"),
    }
}

/// What a post has counted under a name.
fn counted(post: &Item, counter: &str) -> usize {
    let within = |map: &str, name: &str| match post.get(map) {
        Some(Attribute::M(map)) => map.get(name).cloned(),
        _ => None,
    };
    match counter.split_once(' ') {
        Some(("reactions", kind)) => match within("reactions", kind) {
            Some(Attribute::M(entry)) => number(entry.get("count")),
            other => number(other.as_ref()),
        },
        Some((map, day)) => number(within(map, day).as_ref()),
        None if counter == "moves" => number(within("place", "moves").as_ref()),
        None => number(post.get(counter)),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn counters_in_maps_count_each_once_whatever_is_lost_or_killed() {
    let store = Store::start();
    let schema = repository("tests/schemas/copies/counters.graphql");
    let schema = schema.to_str().unwrap();
    run(store.directory.path(), &["tables", "--create", "--schema", schema, "--endpoint-url", &store.url()]).well();
    let lossy = format!("http://{}", in_front_of(store.url(), Losses { seed: 23, percent: 15, late: false }).await);
    let copy = |endpoint: &str| {
        let serve = ["serve", "--listen", "127.0.0.1:0", "--log-format", "json", "--schema", schema, "--endpoint-url"];
        GatewayCopy::serve(store.directory.path(), &[&serve[..], &[endpoint]].concat())
    };
    let (whole, client) = (copy(&store.url()), store.client().await);
    for id in 0..POSTS {
        let query = "mutation ($i: ID!) { addPost(id: $i) { id } }";
        let made = ask(&reqwest::Client::new(), &whole.url, query, json!({ "i": id.to_string() })).await.unwrap();
        assert!(made["errors"].is_null(), "{made}");
    }
    let mut copies = [copy(&lossy), copy(&lossy)];
    let urls = [0, 1].map(|at: usize| Mutex::new(copies[at].url.clone()));
    let shared = Arc::new(Shared { urls, counts: Mutex::default() });
    let mut callers = JoinSet::new();
    (0..2 * CALLERS).for_each(|caller| _ = callers.spawn(count(shared.clone(), caller)));
    let ended = Arc::new(AtomicBool::new(false));
    let all = tokio::spawn({
        let ended = ended.clone();
        async move {
            callers.join_all().await;
            ended.store(true, Ordering::SeqCst);
        }
    });
    let (mut kills, mut killed) = (0, std::time::Instant::now());
    while !ended.load(Ordering::SeqCst) {
        for id in 0..POSTS {
            post(&client, id).await;
        }
        if killed.elapsed() > Duration::from_millis(700) {
            copies[1].process.kill();
            kills += 1;
            copies[1] = copy(&lossy);
            shared.urls[1].lock().unwrap().clone_from(&copies[1].url);
            killed = std::time::Instant::now();
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    all.await.unwrap();
    // What was on its way has arrived.
    tokio::time::sleep(Duration::from_millis(300)).await;
    let counts = shared.counts.lock().unwrap().clone();
    let mut acknowledged = 0;
    for ((id, counter), (certain, open)) in &counts {
        let item = post(&client, *id).await;
        let is = counted(&item, counter);
        acknowledged += certain;
        let expected = *certain..=certain + open;
        assert!(expected.contains(&is), "{counter} of the post {id}: {is}, of {certain} and perhaps {open} more");
    }
    eprintln!("{acknowledged} counts acknowledged, {kills} kills");
    assert!(kills > 0 && acknowledged > 10 * CALLERS, "too little is tried: {acknowledged} counts, {kills} kills");
}
