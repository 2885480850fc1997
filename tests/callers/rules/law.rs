//! Two users' data never mix: whatever a caller asks, the answer is that of the same schema without rules on a table
//! that holds only what the caller may see. The rules are written here a second time, in Rust.

use crate::support;
use keyfold::execute::caller::Caller;
use keyfold::execute::gateway::Gateway;
use keyfold::execute::request::{Request, Settings};
use keyfold::schema::load;
use keyfold::table::bulk::export_lines::parse_line;
use keyfold::table::store::TableStore;
use serde_json::{Value, json};
use std::sync::Arc;

const SCHEMA: &str = include_str!("../../schemas/rules/law.graphql");
const USERS: [&str; 4] = ["ann", "ben", "cy", "dee"];
const BOARDS: [&str; 3] = ["x", "y", "z"];

/// An item, and what its rules look at.
enum Thing {
    User { id: &'static str, open: bool },
    Board { id: &'static str },
    Card { board: &'static str, id: usize, owner: &'static str, level: i64, rank: usize },
    Memo { board: &'static str, id: usize, team: &'static str },
}

impl Thing {
    fn line(&self) -> String {
        let item = match self {
            Self::User { id, open } => json!({ "PK": { "S": id }, "SK": { "S": "User" }, "open": { "BOOL": open } }),
            Self::Board { id } => json!({ "PK": { "S": format!("Board#{id}") }, "SK": { "S": "Board" } }),
            Self::Card { board, id, owner, level, rank } => json!({
                "PK": { "S": format!("Board#{board}") }, "SK": { "S": format!("Card#{id}") },
                "ownerKey": { "S": owner },
                "rankKey": { "S": format!("r{rank}") }, "ownerId": { "S": owner }, "rank": { "S": format!("r{rank}") },
                "level": { "N": level.to_string() }, "text": { "S": format!("{owner} {id}") },
            }),
            Self::Memo { board, id, team } => {
                let (pk, sk) = (format!("Board#{board}"), format!("Memo#{id}"));
                json!({ "PK": { "S": pk }, "SK": { "S": sk }, "team": { "S": team } })
            }
        };
        json!({ "Item": item }).to_string()
    }

    /// Whether a caller with these claims may see it. What is compared with a missing claim is not seen.
    fn is_seen_by(&self, claims: &Value) -> bool {
        match self {
            Self::User { id, open } => *open || claims["sub"] == **id || claims["role"] == "admin",
            Self::Board { .. } => true,
            Self::Card { owner, level, .. } => {
                claims["sub"] == **owner || claims["level"].as_i64().is_some_and(|own| *level <= own)
            }
            Self::Memo { team, .. } => {
                claims["teams"].as_array().is_some_and(|teams| teams.iter().any(|own| own == team))
            }
        }
    }
}

fn things(rng: &mut fastrand::Rng) -> Vec<Thing> {
    let mut things: Vec<Thing> = Vec::new();
    things.extend(USERS.map(|id| Thing::User { id, open: rng.u8(..3) == 0 }));
    for board in BOARDS {
        if rng.u8(..6) > 0 {
            things.push(Thing::Board { id: board });
        }
        for id in 0..rng.usize(..9) {
            things.push(Thing::Card {
                board,
                id,
                owner: USERS[rng.usize(..4)],
                level: rng.i64(0..4),
                rank: rng.usize(..5),
            });
        }
        for id in 0..rng.usize(..4) {
            things.push(Thing::Memo { board, id, team: ["red", "blue"][rng.usize(..2)] });
        }
    }
    things
}

fn claims(rng: &mut fastrand::Rng) -> Value {
    if rng.u8(..6) == 0 {
        return Value::Null;
    }
    let mut claims = json!({});
    if rng.u8(..8) > 0 {
        claims["sub"] = json!(USERS[rng.usize(..4)]);
    }
    match rng.u8(..4) {
        0 => {}
        1 => claims["level"] = json!("much"),
        _ => claims["level"] = json!(rng.i64(0..4)),
    }
    match rng.u8(..4) {
        0 => {}
        1 => claims["teams"] = json!(["red"]),
        _ => claims["teams"] = json!(["green", "blue"]),
    }
    if rng.u8(..8) == 0 {
        claims["role"] = json!("admin");
    }
    claims
}

/// A page of a field: its size, and the end from which it is read. The cursor is a variable.
fn page(rng: &mut fastrand::Rng, field: &str) -> String {
    let size = rng.usize(..4);
    let arguments = match rng.bool() {
        true => format!("first: {size}, after: $after"),
        false => format!("last: {size}, before: $before"),
    };
    let parts = [
        "nodes { id }",
        "edges { cursor node { id owner { id } } }",
        "pageInfo { hasNextPage hasPreviousPage startCursor endCursor }",
    ];
    let parts: Vec<&str> = parts.into_iter().filter(|_| rng.u8(..3) > 0).collect();
    let parts = if parts.is_empty() { "nodes { text }".to_owned() } else { parts.join(" ") };
    format!("{field}({arguments}) {{ {parts} }}")
}

fn of_board(rng: &mut fastrand::Rng) -> String {
    match rng.u8(..9) {
        0 => "cards { id text owner { id open } }".to_owned(),
        1 => format!("cards(order: {}) {{ id board {{ id cardCount }} }}", if rng.bool() { "DESC" } else { "ASC" }),
        2 => format!("search(text: {:?}) {{ id }}", USERS[rng.usize(..4)]),
        3 => "cardCount".to_owned(),
        4 => "memoCount cardCount".to_owned(),
        5 => "things { __typename ... on Card { id level } ... on Memo { id team } }".to_owned(),
        6 => "owners { id }".to_owned(),
        _ => page(rng, "cardPage"),
    }
}

fn of_root(rng: &mut fastrand::Rng) -> String {
    let (user, board, id) = (USERS[rng.usize(..4)], BOARDS[rng.usize(..3)], rng.usize(..9));
    match rng.u8(..10) {
        0 => format!("user(id: {user:?}) {{ id open }}"),
        1 => format!("user(id: {user:?}) {{ {} }}", page(rng, "cards")),
        2 => "users(ids: [\"ann\", \"ben\", \"eve\", \"cy\"]) { id }".to_owned(),
        3 => format!("card(boardId: {board:?}, id: \"{id}\") {{ boardId id owner {{ id }} board {{ memoCount }} }}"),
        4 => format!("hasCard(boardId: {board:?}, id: \"{id}\")"),
        5 => format!("hasMemos(boardId: {board:?})"),
        6 => format!("firstOf(ownerId: {user:?}) {{ id rank }}"),
        7 => format!("countOf(ownerId: {user:?})"),
        _ => format!(
            "board(id: {board:?}) {{ id f: {} g: {} }}",
            of_board(rng).replace("memoCount cardCount", "memoCount"),
            of_board(rng)
        ),
    }
}

fn operation(rng: &mut fastrand::Rng) -> String {
    let roots: Vec<String> = (0..rng.usize(1..4)).map(|number| format!("r{number}: {}", of_root(rng))).collect();
    format!("query ($after: String, $before: String) {{ {} }}", roots.join(" "))
}

async fn gateway(schema: &str, things: impl Iterator<Item = &Thing>, settings: Settings) -> Gateway {
    let (model, _) =
        load("law.graphql", schema, &|_| None).unwrap_or_else(|mistakes| panic!("{}", mistakes.render(false)));
    let store = TableStore::in_memory().unwrap();
    store.create_missing(&model.tables).await.unwrap();
    let items = things.filter_map(|thing| parse_line(&thing.line()).unwrap()).collect();
    store.load(&model.tables[0], items, support::deadline()).await.unwrap();
    Gateway::new(Arc::new(model), store, settings)
}

/// Any cursor of a response.
fn cursor(response: &Value) -> Option<Value> {
    match response {
        Value::Object(fields) => fields.iter().find_map(|(name, value)| {
            let is_cursor = ["cursor", "endCursor", "startCursor"].contains(&name.as_str()) && value.is_string();
            if is_cursor { Some(value.clone()) } else { cursor(value) }
        }),
        Value::Array(values) => values.iter().find_map(cursor),
        _ => None,
    }
}

#[tokio::test]
async fn two_users_data_never_mix() {
    let number = |name: &str, or: u64| std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(or);
    let (cases, first) = (number("KEYFOLD_LAW_CASES", 20), number("KEYFOLD_LAW_SEED", 0));
    let unruled: String =
        SCHEMA.lines().filter(|line| !line.trim_start().starts_with("@auth")).map(|line| format!("{line}\n")).collect();
    for seed in first..first + cases {
        let mut rng = fastrand::Rng::with_seed(seed);
        let things = things(&mut rng);
        let ruled = gateway(SCHEMA, things.iter(), super::any_settings(&mut rng)).await;
        for _ in 0..4 {
            let claims = claims(&mut rng);
            let caller = match &claims {
                Value::Object(claims) => Caller::signed_in(claims.clone()),
                _ => Caller::anonymous(),
            };
            let seen = things.iter().filter(|thing| thing.is_seen_by(&claims));
            let model = gateway(&unruled, seen, super::any_settings(&mut rng)).await;
            let mut variables = json!({});
            for _ in 0..10 {
                let query = operation(&mut rng);
                let request = Request { caller: caller.clone(), ..support::request(&query, variables.clone()) };
                let (is, should) =
                    (support::run(&ruled, &request, false).await, support::run(&model, &request, false).await);
                let codes = |response: &Value| -> Vec<Value> {
                    let errors = response["errors"].as_array().into_iter().flatten();
                    errors.map(|error| json!([error["path"], error["extensions"]["code"]])).collect()
                };
                assert_eq!(
                    (&is["data"], codes(&is)),
                    (&should["data"], codes(&should)),
                    "seed {seed}: {claims} asks {query} with {variables}\n{is}\n{should}"
                );
                if let Some(cursor) = cursor(&is) {
                    let name = if rng.bool() { "after" } else { "before" };
                    variables = if rng.u8(..3) > 0 { json!({ name: cursor }) } else { json!({}) };
                }
            }
        }
    }
}
