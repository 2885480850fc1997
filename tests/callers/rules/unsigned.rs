//! Without a claim, an id reveals nothing: over random rules, a caller who lacks what a rule needs gets the same answer
//! for an item that exists and for one that does not, and nothing is read for either.

use super::mixing::{Rules, World, of_tenant, refusal};
use crate::support;
use keyfold::execute::gateway::Gateway;
use keyfold::execute::request::{Request, Settings};
use keyfold::schema::load;
use keyfold::table::data_store::DataStore;
use keyfold::table::embedded::observer::Recorder;
use keyfold::table::store::TableStore;
use serde_json::{Value, json};
use std::sync::Arc;

/// Operations with one id, and the places whose rules they ask of the caller.
const OPERATIONS: [(&str, &[&str]); 13] = [
    (r#"{ r: room(id: "<room>") { name } }"#, &["room"]),
    (r#"{ r: card(roomId: "<room>", id: "<id>") { id } }"#, &["reads"]),
    (r#"{ r: hasCard(roomId: "<room>", id: "<id>") }"#, &["reads"]),
    (r#"{ r: cards(roomId: "<room>") { id } }"#, &["reads", "find"]),
    (r#"{ r: page(roomId: "<room>", first: 2) { nodes { id } } }"#, &["reads"]),
    (r#"{ r: count(roomId: "<room>") }"#, &["reads"]),
    (r#"{ r: comments(roomId: "<room>") { id } }"#, &["comments"]),
    (r#"mutation { r: put(roomId: "<room>", id: "<id>", ownerId: "ann") { id } }"#, &["reads", "writes", "mutation"]),
    (r#"mutation { r: save(roomId: "<room>", id: "<id>", ownerId: "ann") { id } }"#, &["reads", "writes", "mutation"]),
    (r#"mutation { r: edit(roomId: "<room>", id: "<id>", text: "x") { id } }"#, &["reads", "writes", "mutation"]),
    (
        r#"mutation { r: upsert(roomId: "<room>", id: "<id>", ownerId: "ann") { id } }"#,
        &["reads", "writes", "mutation"],
    ),
    (r#"mutation { r: drop(roomId: "<room>", id: "<id>") { id } }"#, &["reads", "writes", "mutation"]),
    (r#"mutation { r: clear(roomId: "<room>") { id } }"#, &["reads", "writes", "mutation"]),
];

/// Answers and the calls made for them, of a caller.
async fn asked(gateway: &Gateway, recorder: &Recorder, claims: &Value, query: &str) -> (Value, usize) {
    recorder.take();
    let request = Request { caller: super::caller(claims.clone()), ..support::request(query, json!({})) };
    let answer = support::run(gateway, &request, false).await;
    (answer, recorder.take().len())
}

#[tokio::test]
async fn without_the_claim_that_a_rule_needs_an_id_tells_nothing() {
    let number = |name: &str, or: u64| std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(or);
    let (cases, first) = (number("KEYFOLD_LAW_CASES", 40), number("KEYFOLD_LAW_SEED", 0));
    let mut refused = 0;
    for seed in first..first + cases {
        let mut rng = fastrand::Rng::with_seed(seed);
        let rules = Arc::new(Rules::random(&mut rng));
        if rules.are_refused() {
            continue;
        }
        let text = rules.schema();
        let unruled: String = text
            .lines()
            .filter(|line| !line.trim_start().starts_with("@auth"))
            .map(|line| format!("{line}\n"))
            .collect();
        let made = |text: &str| {
            Arc::new(load("mixing.graphql", text, &|_| None).unwrap_or_else(|all| panic!("{}", all.render(false))).0)
        };
        let recorder = Arc::new(Recorder::default());
        let store = TableStore::in_memory_observed(recorder.clone()).unwrap();
        let model = made(&text);
        store.create_missing(&model.tables).await.unwrap();
        let store: Arc<dyn DataStore> = Arc::new(store);
        let unruled =
            Gateway::new(made(&unruled), store.clone(), Settings { max_aliases: 1_000, ..support::settings() });
        let open = r#"mutation { open(id: "x", name: "x") { id } put(roomId: "x", id: "1", ownerId: "ann") { id }
            comment(roomId: "x", cardId: "1", id: "1") { id } join(userId: "ann", roomId: "x", role: "OWNER") { roomId } }"#;
        let filled = of_tenant(&unruled, "one", open).await;
        assert_eq!(filled["errors"], Value::Null, "{filled}");
        let gateway = Gateway::new(model, store, super::any_settings(&mut rng));
        let world = World::of_rules(&rules);
        // Nobody, and callers who are signed in without the claims that the rules name.
        for claims in [Value::Null, json!({}), json!({ "tenant": "one" }), json!({ "sub": ["ann"], "tenant": "one" })] {
            for (query, places) in OPERATIONS {
                // A write asks rules that hide items of what it gives back only.
                let is_asked = |place: &&&str| !(rules.hide && **place == "reads" && query.starts_with("mutation"));
                let mut refusing =
                    places.iter().filter(is_asked).filter(|place| world.is_refused_at(place, &claims)).peekable();
                if refusing.peek().is_none() {
                    continue;
                }
                let of = |room: &str, id: &str| query.replace("<room>", room).replace("<id>", id);
                let there = asked(&gateway, &recorder, &claims, &of("x", "1")).await;
                let missing = asked(&gateway, &recorder, &claims, &of("none", "none")).await;
                let what = format!("seed {seed}: {claims} asks {query}\n{there:?}\n{missing:?}\n{text}");
                assert_eq!(there, missing, "{what}");
                assert_eq!(there.1, 0, "{what}");
                // What is hidden looks as if it were not there.
                if !rules.hide || refusing.any(|place| *place != "reads") {
                    assert_eq!(super::errors(&there.0), [format!("{} r", refusal(&claims))], "{what}");
                    refused += 1;
                }
            }
        }
    }
    assert!(refused > cases, "the rules refuse too little to prove anything: {refused}");
}
