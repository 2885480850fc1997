//! Many concurrent writers: what is acknowledged is there, nothing else is, and of rivals one wins.

use crate::support;
use keyfold::execute::gateway::Gateway;
use keyfold::execute::request::Request;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use tokio::task::JoinSet;

const CLIENTS: usize = 64;
const GROUP: &str = "22222222-2222-4222-8222-222222222222";
const CONTAINER: &str = "33333333-3333-4333-8333-333333333333";

/// Runs an operation as the first caller of the pantry's samples.
async fn run(gateway: &Gateway, operation: &str, variables: Value) -> Value {
    let request = Request { caller: support::first_caller("pantry"), ..support::request(operation, variables) };
    support::run(gateway, &request, false).await
}

/// Runs one task for each client concurrently. Gives their results in the order of the clients.
async fn together<T, F, R>(client: F) -> Vec<T>
where
    F: Fn(usize) -> R,
    R: Future<Output = T> + Send + 'static,
    T: Send + 'static,
{
    let mut tasks = JoinSet::new();
    for number in 0..CLIENTS {
        let client = client(number);
        tasks.spawn(async move { (number, client.await) });
    }
    let mut all: Vec<(usize, T)> = tasks.join_all().await;
    all.sort_by_key(|(number, _)| *number);
    all.into_iter().map(|(_, result)| result).collect()
}

/// Changes foods of the container. Gives what this client's foods must be afterwards: name → quantity.
async fn keep_house(gateway: Gateway, number: usize) -> Vec<(String, f64)> {
    let add = "mutation ($g: ID!, $c: ID!, $input: FoodInput!) { addFood(groupId: $g, containerId: $c, input: $input) { foods { id name } } }";
    let update = "mutation ($g: ID!, $c: ID!, $f: ID!, $input: FoodPatch!) { updateFood(groupId: $g, containerId: $c, foodId: $f, input: $input) { id } }";
    let remove = "mutation ($g: ID!, $c: ID!, $f: ID!) { removeFood(groupId: $g, containerId: $c, foodId: $f) { id } }";
    let mut mine = BTreeMap::new();
    for round in 0..3 {
        let name = format!("food {number} {round}");
        let input = json!({ "name": name, "quantity": 1, "category": "test" });
        let added = run(&gateway, add, json!({ "g": GROUP, "c": CONTAINER, "input": input })).await;
        assert_eq!(added["errors"], Value::Null, "{added}");
        let foods = added["data"]["addFood"]["foods"].as_array().unwrap();
        let id = foods.iter().find(|food| food["name"] == name.as_str()).unwrap()["id"].clone();
        let patch = json!({ "quantity": number as f64 + 0.5 });
        let updated = run(&gateway, update, json!({ "g": GROUP, "c": CONTAINER, "f": id, "input": patch })).await;
        assert_eq!(updated["errors"], Value::Null, "{updated}");
        mine.insert(name.clone(), number as f64 + 0.5);
        if round == 1 {
            let removed = run(&gateway, remove, json!({ "g": GROUP, "c": CONTAINER, "f": id })).await;
            assert_eq!(removed["errors"], Value::Null, "{removed}");
            mine.remove(&name);
        }
    }
    mine.into_iter().collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn writers_of_one_containers_foods_lose_nothing() {
    let (gateway, _) = support::system("pantry").await;
    let foods = "query ($g: ID!, $c: ID!) { group(id: $g) { container(containerId: $c) { foods { name quantity } } } }";
    let read = |answer: &Value| -> BTreeMap<String, Option<f64>> {
        let foods = answer["data"]["group"]["container"]["foods"].as_array().unwrap();
        foods.iter().map(|food| (food["name"].as_str().unwrap().to_owned(), food["quantity"].as_f64())).collect()
    };
    let mut expected = read(&run(&gateway, foods, json!({ "g": GROUP, "c": CONTAINER })).await);
    let kept = together(|number| keep_house(gateway.clone(), number)).await;
    expected.extend(kept.into_iter().flatten().map(|(name, quantity)| (name, Some(quantity))));
    assert_eq!(read(&run(&gateway, foods, json!({ "g": GROUP, "c": CONTAINER })).await), expected);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn concurrent_changes_of_one_food_none_is_half_made() {
    let (gateway, _) = support::system("pantry").await;
    let add = "mutation ($g: ID!, $c: ID!, $input: FoodInput!) { addFood(groupId: $g, containerId: $c, input: $input) { foods { id name } } }";
    let input = json!({ "name": "the food", "category": "test" });
    let added = run(&gateway, add, json!({ "g": GROUP, "c": CONTAINER, "input": input })).await;
    let id = added["data"]["addFood"]["foods"]
        .as_array()
        .unwrap()
        .iter()
        .find(|food| food["name"] == "the food")
        .unwrap()["id"]
        .clone();
    let update = "mutation ($g: ID!, $c: ID!, $f: ID!, $input: FoodPatch!) { updateFood(groupId: $g, containerId: $c, foodId: $f, input: $input) { id } }";
    let answers = together(|number| {
        let (gateway, id) = (gateway.clone(), id.clone());
        async move {
            let patch =
                json!({ "name": format!("name {number}"), "quantity": number, "unit": format!("unit {number}") });
            run(&gateway, update, json!({ "g": GROUP, "c": CONTAINER, "f": id, "input": patch })).await
        }
    })
    .await;
    assert!(answers.iter().all(|answer| answer["errors"].is_null()), "{answers:?}");
    let foods = run(
        &gateway,
        "query ($g: ID!, $c: ID!) { group(id: $g) { container(containerId: $c) { foods { id name quantity unit } } } }",
        json!({ "g": GROUP, "c": CONTAINER }),
    )
    .await;
    let food = foods["data"]["group"]["container"]["foods"]
        .as_array()
        .unwrap()
        .iter()
        .find(|food| food["id"] == id)
        .unwrap()
        .clone();
    let number = food["quantity"].as_f64().unwrap();
    assert_eq!(food["name"], format!("name {number}"));
    assert_eq!(food["unit"], format!("unit {number}"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn concurrent_sign_ups_with_one_address_one_wins() {
    let (gateway, _) = support::system("pantry").await;
    let sign_up = "mutation ($name: String!, $email: String!) { createUser(name: $name, email: $email) { id } }";
    let answers = together(|number| {
        let gateway = gateway.clone();
        async move {
            let variables = json!({ "name": format!("user {number}"), "email": "one@example.com" });
            let caller = support::caller(json!({ "sub": format!("user {number}") }));
            support::run(&gateway, &Request { caller, ..support::request(sign_up, variables) }, false).await
        }
    })
    .await;
    let won: Vec<&Value> = answers.iter().filter(|answer| answer["errors"].is_null()).collect();
    assert_eq!(won.len(), 1, "{answers:?}");
    let lost = answers.iter().filter(|answer| answer["errors"][0]["extensions"]["code"] == "CONFLICT").count();
    assert_eq!(lost, CLIENTS - 1);
    let found = run(&gateway, "{ userByEmail(email: \"one@example.com\") { id } }", json!({})).await;
    assert_eq!(found["data"]["userByEmail"]["id"], won[0]["data"]["createUser"]["id"]);
}

/// Adds a mark to the page's title under the version that was read, until it succeeds. Gives the number of attempts.
async fn sign(gateway: Gateway, mark: String) -> usize {
    let edit = "mutation ($v: Int!, $t: String!) { editPage(id: \"p\", version: $v, title: $t) { version title } }";
    for attempt in 1.. {
        let read = run(&gateway, "{ page(id: \"p\") { version title } }", json!({})).await["data"]["page"].take();
        let (version, title) =
            (read["version"].as_u64().unwrap(), format!("{}{mark}", read["title"].as_str().unwrap()));
        let answer = run(&gateway, edit, json!({ "v": version, "t": title })).await;
        if answer["errors"].is_null() {
            assert_eq!(answer["data"]["editPage"], json!({ "version": version + 1, "title": title }));
            return attempt;
        }
        let details = &answer["errors"][0]["extensions"];
        assert_eq!(details["code"], "CONFLICT", "{answer}");
        assert!(details["currentVersion"].as_u64().unwrap() > version, "{answer}");
    }
    0
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn concurrent_writes_of_a_versioned_item_none_is_lost() {
    let (gateway, _) = support::system("ledger").await;
    run(&gateway, "mutation { createPage(id: \"p\", title: \"\") { version } }", json!({})).await;
    let attempts = together(|number| sign(gateway.clone(), format!("<{number}>"))).await;
    let page = run(&gateway, "{ page(id: \"p\") { version title } }", json!({})).await["data"]["page"].take();
    assert_eq!(page["version"], CLIENTS + 1);
    let title = page["title"].as_str().unwrap();
    assert!((0..CLIENTS).all(|number| title.matches(&format!("<{number}>")).count() == 1), "{title}");
    assert!(attempts.iter().sum::<usize>() > CLIENTS, "nobody was in anybody's way: {attempts:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn concurrent_counts_none_is_lost_and_none_goes_too_far() {
    let (gateway, _) = support::system("ledger").await;
    run(
        &gateway,
        "mutation { open(id: \"a\", coins: 100) { coins } b: open(id: \"b\", coins: 0) { coins } }",
        json!({}),
    )
    .await;
    let answers = together(|number| {
        let gateway = gateway.clone();
        async move {
            let buy = "mutation { buy(id: \"a\", cost: 3) { coins } }";
            let transfer = "mutation { transfer(from: \"a\", to: \"b\", amount: 3) { coins } }";
            run(&gateway, if number % 2 == 0 { buy } else { transfer }, json!({})).await
        }
    })
    .await;
    let done = |field: &str| answers.iter().filter(|answer| !answer["data"][field].is_null()).count();
    let (bought, moved) = (done("buy"), done("transfer"));
    assert_eq!(bought + moved, 33, "{answers:?}");
    let refused = answers.iter().filter(|answer| !answer["errors"].is_null());
    assert!(refused.clone().all(|answer| answer["errors"][0]["message"] == "Not enough coins."), "{answers:?}");
    let coins = run(&gateway, "{ a: account(id: \"a\") { coins } b: account(id: \"b\") { coins } }", json!({})).await;
    assert_eq!(coins["data"], json!({ "a": { "coins": 1 }, "b": { "coins": 3 * moved } }));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn copies_are_the_same_after_writers_of_one_item() {
    let (gateway, _) = support::system("shards").await;
    let review = "mutation { reviewBoth(titleId: \"dune\", id: \"a\", other: \"b\", stars: 0) { id } }";
    assert_eq!(run(&gateway, review, json!({})).await["errors"], Value::Null);
    // A mark is written to all replicas in one transaction. The stars of two reviews do not fit into one.
    let answers = together(|number| {
        let gateway = gateway.clone();
        async move {
            let mark = run(&gateway, "mutation { mark(id: \"dune\", text: \"x\") { id } }", json!({})).await;
            let restar = "mutation ($s: Int!) { restarBoth(titleId: \"dune\", one: \"a\", other: \"b\", stars: $s) }";
            let stars = if number % 8 == 0 { run(&gateway, restar, json!({ "s": number })).await } else { json!({}) };
            (mark, stars)
        }
    })
    .await;
    for (mark, stars) in &answers {
        assert_eq!((&mark["errors"], &stars["errors"]), (&Value::Null, &Value::Null));
    }
    let readers: Vec<String> = (0..40)
        .map(|reader| format!("r{reader}: reviews(titleId: \"dune\", reader: \"{reader}\") {{ id stars }}"))
        .collect();
    let titles: Vec<String> = (0..20)
        .map(|reader| {
            format!("t{reader}: titleFor(id: \"dune\", listener: \"{reader}\") {{ revision marks {{ id }} }}")
        })
        .collect();
    for (queries, marks) in [(&readers[..20], None), (&readers[20..], None), (&titles[..], Some(CLIENTS))] {
        let read = run(&gateway, &format!("{{ {} }}", queries.join(" ")), json!({})).await;
        let seen: Vec<&Value> = read["data"].as_object().unwrap().values().collect();
        assert!(seen.iter().all(|one| *one == seen[0]), "{read}");
        if let Some(marks) = marks {
            assert_eq!((seen[0]["marks"].as_array().unwrap().len(), &seen[0]["revision"]), (marks, &json!(marks + 1)));
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_counter_gives_every_writer_a_number_of_its_own() {
    let (gateway, recorder) = support::system("depot").await;
    run(&gateway, "mutation { addRepo(name: \"r\", nextNumber: 1) { name } }", json!({})).await;
    recorder.take();
    let answers = together(|number| {
        let gateway = gateway.clone();
        async move {
            let open = "mutation ($t: String!) { openIssue(name: \"r\", title: $t) { number title } }";
            run(&gateway, open, json!({ "t": format!("issue {number}") })).await
        }
    })
    .await;
    let mut numbers: Vec<u64> = answers
        .iter()
        .enumerate()
        .map(|(client, answer)| {
            let issue = &answer["data"]["openIssue"];
            assert_eq!(issue["title"], format!("issue {client}"), "{answer}");
            issue["number"].as_u64().unwrap()
        })
        .collect();
    numbers.sort_unstable();
    assert_eq!(numbers, (1..=CLIENTS as u64).collect::<Vec<_>>());
    let tries = recorder.take().iter().filter(|(operation, _)| operation == "TransactWriteItems").count();
    assert!(tries <= 4 * CLIENTS, "{tries} tries");
    println!("{tries} tries of {CLIENTS} writers");
    let read =
        run(&gateway, "{ repo(name: \"r\") { nextNumber } issues(repoName: \"r\") { number title } }", json!({})).await;
    assert_eq!(read["data"]["repo"]["nextNumber"], CLIENTS + 1);
    assert_eq!(read["data"]["issues"].as_array().unwrap().len(), CLIENTS);
}

/// Votes for a card wherever it is, until it succeeds, and then moves the card. Gives the number of votes.
async fn vote_and_move(gateway: Gateway, client: usize) -> usize {
    let lists = ["a", "b", "c"];
    let mut votes = 0;
    for round in 0..8 {
        loop {
            let cards = run(&gateway, "{ cards(boardId: \"x\") { listId } }", json!({})).await;
            let list = cards["data"]["cards"][0]["listId"].clone();
            let vote = "mutation ($l: ID!) { voteCard(boardId: \"x\", listId: $l, id: \"1\") { votes } }";
            let answer = run(&gateway, vote, json!({ "l": list })).await;
            if answer["errors"].is_null() {
                votes += 1;
                break;
            }
            assert_eq!(answer["errors"][0]["extensions"]["code"], "NOT_FOUND", "{answer}");
        }
        let (from, to) = (lists[(client + round) % 3], lists[(client + round + 1) % 3]);
        let moving = "mutation ($f: ID!, $t: ID!) { moveCard(boardId: \"x\", from: $f, to: $t, id: \"1\") { listId } }";
        let answer = run(&gateway, moving, json!({ "f": from, "t": to })).await;
        let code = &answer["errors"][0]["extensions"]["code"];
        assert!(code.is_null() || code == "NOT_FOUND", "{answer}");
    }
    votes
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_item_that_moves_loses_nothing() {
    let (gateway, _) = support::system("depot").await;
    run(&gateway, "mutation { addCard(boardId: \"x\", listId: \"a\", id: \"1\", title: \"t\") { id } }", json!({}))
        .await;
    let mut clients = JoinSet::new();
    for client in 0..16 {
        clients.spawn(vote_and_move(gateway.clone(), client));
    }
    let votes: usize = clients.join_all().await.into_iter().sum();
    let cards = run(&gateway, "{ cards(boardId: \"x\") { title votes } }", json!({})).await;
    assert_eq!(cards["data"]["cards"], json!([{ "title": "t", "votes": votes }]));
    assert_eq!(votes, 16 * 8);
}
