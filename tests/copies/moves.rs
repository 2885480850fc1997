//! Two copies on one server whose answers are lost, one of them killed again and again, and callers who move items and
//! change them. At every moment, an item is in one place, with all that it has: what the schema does not know, its
//! version, its guard, its replicas and its keys of indexes, one of them under a condition.

use crate::gateway_copy::GatewayCopy;
use crate::lossy::{Losses, in_front_of};
use crate::process::{KEY, repository, run};
use crate::store::Store;
use keyfold::table::data::attribute::{Attribute, Item, Key, KeyValue};
use keyfold::table::data::write::{WriteAction, WriteCall};
use keyfold::table::data_store::DataStore;
use serde_json::{Value, json};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::task::JoinSet;

/// The callers of each copy, and the operations of each of them.
const CALLERS: usize = 16;
const OPERATIONS: usize = 40;
const ITEMS: usize = 4;
const BOARDS: [&str; 3] = ["a", "b", "c"];
const STATES: [&str; 2] = ["OPEN", "DONE"];

/// What the operations on an item came to.
#[derive(Default)]
struct Made {
    /// Those that were acknowledged, and those of which nobody knows.
    votes: [AtomicUsize; 2],
    writes: [AtomicUsize; 2],
    moves: AtomicUsize,
}

/// What callers share: the URLs of the copies, and what came of the cards and the posters.
struct Shared {
    urls: [Mutex<String>; 2],
    cards: [Made; ITEMS],
    posters: [Made; ITEMS],
}

async fn ask(client: &reqwest::Client, url: &str, query: &str, variables: Value) -> Option<Value> {
    let body = json!({ "query": query, "variables": variables });
    let sent = client.post(format!("{url}/graphql")).header("x-api-key", KEY).json(&body).send().await;
    sent.ok()?.json().await.ok()
}

/// Moves and changes items.
async fn write(shared: Arc<Shared>, caller: usize) {
    let client = reqwest::Client::builder().timeout(Duration::from_secs(60)).build().unwrap();
    let mut rng = fastrand::Rng::with_seed(caller as u64);
    for _ in 0..OPERATIONS {
        let (item, at, is_card) = (rng.usize(..ITEMS), rng.usize(..3), rng.bool());
        let to = BOARDS[(at + rng.usize(1..=2)) % 3];
        let kind = if is_card { "Card" } else { "Poster" };
        let (name, query) = match rng.usize(..5) {
            0 | 1 => (
                "move",
                format!("($b: ID!, $i: ID!, $to: ID!) {{ w: move{kind}(boardId: $b, id: $i, to: $to) {{ votes }} }}"),
            ),
            2 if is_card => (
                "set",
                "($b: ID!, $i: ID!, $s: String!) { w: setState(boardId: $b, id: $i, state: $s) { votes } }".into(),
            ),
            _ => ("vote", format!("($b: ID!, $i: ID!) {{ w: vote{kind}(boardId: $b, id: $i) {{ votes }} }}")),
        };
        let variables = json!({ "b": BOARDS[at], "i": item.to_string(), "to": to, "s": STATES[rng.usize(..2)] });
        let url = shared.urls[caller % 2].lock().unwrap().clone();
        let answer = ask(&client, &url, &format!("mutation {query}"), variables).await;
        let made = if is_card { &shared.cards[item] } else { &shared.posters[item] };
        let code = answer.as_ref().and_then(|answer| answer["errors"][0]["extensions"]["code"].as_str());
        // Whether it was made, or may have been.
        let certainty = match (&answer, code) {
            (Some(_), None) => 0,
            (Some(answer), Some("NOT_FOUND" | "CONFLICT" | "THROTTLED")) => {
                assert!(answer["data"]["w"].is_null(), "{answer}");
                continue;
            }
            (None, _) | (_, Some("TIMEOUT" | "UNAVAILABLE")) => 1,
            (Some(answer), _) => panic!("{answer}"),
        };
        made.writes[certainty].fetch_add(1, Ordering::SeqCst);
        if name == "vote" {
            made.votes[certainty].fetch_add(1, Ordering::SeqCst);
        }
        made.moves.fetch_add(usize::from(name == "move" && certainty == 0), Ordering::SeqCst);
        // Whoever gets no answer waits for another copy.
        if answer.is_none() {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }
}

/// The items under these keys at one moment.
async fn at_once(client: &reqwest::Client, url: &str, keys: &[(String, String)]) -> Vec<Value> {
    let get = |(pk, sk): &(String, String)| json!({ "Get": { "TableName": "moves", "Key": { "PK": { "S": pk }, "SK": { "S": sk } } } });
    let body = json!({ "TransactItems": keys.iter().map(get).collect::<Vec<_>>() });
    let sent = client
        .post(url)
        .header("x-amz-target", "DynamoDB_20120810.TransactGetItems")
        .header("content-type", "application/x-amz-json-1.0")
        .header(
            "authorization",
            "AWS4-HMAC-SHA256 Credential=a/20260101/local/dynamodb/aws4_request, SignedHeaders=host, Signature=0",
        )
        .header("x-amz-date", "20260101T000000Z")
        .body(body.to_string());
    let answer: Value = serde_json::from_str(&sent.send().await.unwrap().text().await.unwrap()).unwrap();
    let items = answer["Responses"].as_array().unwrap_or_else(|| panic!("{answer}"));
    assert_eq!(items.len(), keys.len(), "{answer}");
    items.iter().map(|item| item["Item"].clone()).collect()
}

/// The card with this number, which is whole and in one place.
async fn whole_card(client: &reqwest::Client, url: &str, id: usize) -> Value {
    let cards = BOARDS.map(|board| (format!("BOARD#{board}"), format!("CARD#{id}")));
    let guard = (format!("Unique#Card.code#C{id}"), "Unique#Card.code".to_owned());
    let mut found = at_once(client, url, &[&cards[..], &[guard]].concat()).await;
    let guard = found.pop().unwrap();
    let there: Vec<usize> = (0..3).filter(|at| !found[*at].is_null()).collect();
    let [at] = there[..] else { panic!("the card {id} is in {} places: {found:?}", there.len()) };
    let card = found.swap_remove(at);
    assert_eq!(guard["ownerPK"], card["PK"], "the guard of {card}");
    assert_eq!(
        card["legacy"],
        json!({ "M": { "of": { "N": id.to_string() } } }),
        "what the schema does not know of {card}"
    );
    assert_eq!(card["code"]["S"], format!("C{id}"), "{card}");
    let state = card["state"]["S"].as_str().unwrap();
    assert_eq!(card["StateKey"]["S"], format!("{state}#{}", BOARDS[at]), "the index key of {card}");
    let open = if state == "OPEN" { json!({ "S": format!("OPEN#{}", BOARDS[at]) }) } else { Value::Null };
    assert_eq!(card["OpenKey"], open, "the key under a condition of {card}");
    card
}

/// The poster with this number, whose replicas are equal and in one place.
async fn whole_poster(client: &reqwest::Client, url: &str, id: usize) -> Value {
    let keys: Vec<(String, String)> = BOARDS
        .iter()
        .flat_map(|board| (0..3).map(move |replica| (format!("POSTER#{board}#{replica}"), format!("POSTER#{id}"))))
        .collect();
    let mut found = at_once(client, url, &keys).await;
    found.retain(|item| !item.is_null());
    let key = |item: &Value| item["PK"]["S"].as_str().unwrap().rsplit_once('#').unwrap().0.to_owned();
    assert!(found.len() == 3 && found.iter().all(|item| key(item) == key(&found[0])), "the poster {id}: {found:?}");
    assert!(found.iter().all(|item| item["votes"] == found[0]["votes"]), "the replicas of {found:?}");
    found.swap_remove(0)
}

fn number(item: &Value, attribute: &str) -> usize {
    item[attribute]["N"].as_str().unwrap_or_else(|| panic!("{item}")).parse().unwrap()
}

/// Makes the items, each with an attribute that the schema does not know.
async fn begin(store: &Store, url: &str) {
    let client = reqwest::Client::new();
    for id in 0..ITEMS {
        let query = "mutation ($i: ID!, $c: String!) { addCard(boardId: \"a\", id: $i, state: \"OPEN\", code: $c) { id } addPoster(boardId: \"a\", id: $i) { id } }";
        let made = ask(&client, url, query, json!({ "i": id.to_string(), "c": format!("C{id}") })).await.unwrap();
        assert!(made["errors"].is_null(), "{made}");
        let key = Key {
            partition: ("PK".into(), KeyValue::S("BOARD#a".into())),
            sort: Some(("SK".into(), KeyValue::S(format!("CARD#{id}")))),
        };
        let legacy = Attribute::M(Item::from([("of", Attribute::N(id.to_string().into()))]));
        let set = keyfold::table::data::call::Expression {
            text: "SET legacy = :l".to_owned(),
            names: Default::default(),
            values: [(":l".to_owned(), legacy)].into(),
        };
        let call = WriteCall { table: "moves".into(), action: WriteAction::Update(key, Some(set)), condition: None };
        let deadline = tokio::time::Instant::now() + Duration::from_secs(60);
        store.client().await.write(&call, deadline.into()).await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_item_that_moves_is_whole_and_in_one_place_whatever_is_lost_or_killed() {
    let store = Store::start();
    let schema = repository("tests/schemas/copies/moves.graphql");
    let schema = schema.to_str().unwrap();
    run(store.directory.path(), &["tables", "--create", "--schema", schema, "--endpoint-url", &store.url()]).well();
    let lossy = format!("http://{}", in_front_of(store.url(), Losses { seed: 11, percent: 15, late: false }).await);
    let copy = |endpoint: &str| {
        let serve = ["serve", "--listen", "127.0.0.1:0", "--log-format", "json", "--schema", schema, "--endpoint-url"];
        GatewayCopy::serve(store.directory.path(), &[&serve[..], &[endpoint]].concat())
    };
    let whole = copy(&store.url());
    begin(&store, &whole.url).await;
    let mut copies = [copy(&lossy), copy(&lossy)];
    let urls = [0, 1].map(|at: usize| Mutex::new(copies[at].url.clone()));
    let shared = Arc::new(Shared { urls, cards: Default::default(), posters: Default::default() });
    let mut callers = JoinSet::new();
    (0..2 * CALLERS).for_each(|caller| _ = callers.spawn(write(shared.clone(), caller)));
    let ended = Arc::new(AtomicBool::new(false));
    let all = tokio::spawn({
        let ended = ended.clone();
        async move {
            callers.join_all().await;
            ended.store(true, Ordering::SeqCst);
        }
    });
    let (client, mut kills, mut looks) = (reqwest::Client::new(), 0, 0);
    let mut killed = std::time::Instant::now();
    while !ended.load(Ordering::SeqCst) {
        for id in 0..ITEMS {
            whole_card(&client, &store.url(), id).await;
            whole_poster(&client, &store.url(), id).await;
            looks += 1;
        }
        if killed.elapsed() > Duration::from_millis(700) {
            copies[1].process.kill();
            kills += 1;
            copies[1] = copy(&lossy);
            shared.urls[1].lock().unwrap().clone_from(&copies[1].url);
            killed = std::time::Instant::now();
        }
    }
    all.await.unwrap();
    // What was on its way has arrived.
    tokio::time::sleep(Duration::from_millis(300)).await;
    let mut moves = 0;
    for id in 0..ITEMS {
        let (card, poster) =
            (whole_card(&client, &store.url(), id).await, whole_poster(&client, &store.url(), id).await);
        let within = |made: &[AtomicUsize; 2], is: usize| {
            let [certain, open] = [0, 1].map(|at: usize| made[at].load(Ordering::SeqCst));
            assert!((certain..=certain + open).contains(&is), "{is} of {certain} and perhaps {open} more");
        };
        within(&shared.cards[id].votes, number(&card, "votes"));
        within(&shared.posters[id].votes, number(&poster, "votes"));
        within(&shared.cards[id].writes, number(&card, "version") - 1);
        moves += shared.cards[id].moves.load(Ordering::SeqCst) + shared.posters[id].moves.load(Ordering::SeqCst);
    }
    eprintln!("{moves} moves acknowledged, {kills} kills, {looks} looks at each kind of item");
    assert!(
        kills > 0 && moves > CALLERS && looks > 50,
        "too little is tried: {moves} moves, {kills} kills, {looks} looks"
    );
}
