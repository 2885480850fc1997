//! Reads of one partition share a Query: the response is the same as by separate reads, with no more calls. This holds
//! for any order, page and cursor, on the table and on an index, with missing items and with items in between that the
//! schema does not know.

use super::choices::Choices;
use super::world::{block_on, item};
use crate::support;
use keyfold::execute::gateway::Gateway;
use keyfold::execute::request::Settings;
use keyfold::plan::passes::Passes;
use keyfold::schema;
use keyfold::schema::model::Model;
use keyfold::table::data::attribute::{Attribute, Item};
use keyfold::table::store::TableStore;
use proptest::prelude::*;
use serde_json::{Value, json};
use std::sync::{Arc, LazyLock};

/// Employees with relations of every kind in one partition; keys begin with letters in the order of the fields.
const SCHEMA: &str = r#"
extend schema @table(name: "staff", partitionKey: "pk", sortKey: "sk", indexes: [
  { name: "byDay", partitionKey: "dayPk", sortKey: "day" }
  { name: "byPoints", partitionKey: "dayPk", sortKey: "points", sortKeyType: N }
])
type Employee @item(keys: { pk: "E#{id}", sk: "D" }) {
  id: ID!
  name: String
  address: Address @find
  note: Note @find
  jobs(order: Order): [Job!] @find(max: 15)
  projects(order: Order, first: Int = 20, after: String, last: Int, before: String): ProjectConnection! @find
  project(id: ID!): Project @find
  reviews(order: Order, since: ID, until: ID, first: Int = 20, after: String, last: Int, before: String): ReviewConnection!
    @find(where: { day: { ge: "{since}", lt: "{until}" } })
  latest: Review @find(order: DESC)
  skills(level: Level, order: Order): [Skill!]! @find
  skillCount(level: Level): Int! @find(item: Skill)
  isSkilled: Boolean! @find(item: Skill)
  work(order: Order, first: Int = 20, after: String, last: Int, before: String): WorkConnection! @find
  shifts(order: Order): [Shift!]! @find(index: "byDay")
  trips(order: Order, first: Int = 20, after: String, last: Int, before: String): TripConnection! @find(index: "byDay")
  tripCount: Int! @find(item: Trip, index: "byDay")
  best(least: Int, first: Int = 10): TripConnection! @find(index: "byPoints", orderBy: "points", order: DESC, where: { points: { ge: "{least}" } })
}
type Address @item(keys: { pk: "E#{employeeId}", sk: "A" }) { employeeId: ID! name: String }
type Note @item(keys: { pk: "E#{employeeId}", sk: "N#{employeeId}" }) { employeeId: ID! name: String }
type Job @item(keys: { pk: "E#{employeeId}", sk: "J#{id}" }) { employeeId: ID! id: ID! name: String }
type Project @item(keys: { pk: "E#{employeeId}", sk: "P#{id}" }) { employeeId: ID! id: ID! name: String leaderId: ID leader: Employee @find(where: { id: "{leaderId}" }) }
type Review @item(keys: { pk: "E#{employeeId}", sk: "R#{day}" }) { employeeId: ID! day: ID! name: String }
enum Level { BASIC EXPERT }
type Skill @item(keys: { pk: "E#{employeeId}", sk: "S#{level}#{id}" }) { employeeId: ID! level: Level! id: ID! name: String }
type Shift @item(keys: { pk: "SHIFT#{id}", sk: "S", dayPk: "E#{employeeId}", day: "S#{day}" }) { id: ID! employeeId: ID! day: ID! name: String }
type Trip @item(keys: { pk: "TRIP#{id}", sk: "T", dayPk: "E#{employeeId}", day: "T#{day}", points: "{points}" }) { id: ID! employeeId: ID! day: ID! points: Int! name: String }
union Work = Project | Review
type Team @item(keys: { pk: "TEAM#{id}", sk: "TEAM" }) { id: ID! members: [Member!]! }
type Member { employeeId: ID! employee: Employee @find }
type ProjectConnection { nodes: [Project!]! edges: [ProjectEdge!]! pageInfo: PageInfo! }
type ProjectEdge { node: Project! cursor: String! }
type ReviewConnection { nodes: [Review!]! edges: [ReviewEdge!]! pageInfo: PageInfo! }
type ReviewEdge { node: Review! cursor: String! }
type TripConnection { nodes: [Trip!]! edges: [TripEdge!]! pageInfo: PageInfo! }
type TripEdge { node: Trip! cursor: String! }
type WorkConnection { nodes: [Work!]! edges: [WorkEdge!]! pageInfo: PageInfo! }
type WorkEdge { node: Work! cursor: String! }
type Query { employee(id: ID!): Employee @find team(id: ID!): Team @find }
"#;

static STAFF: LazyLock<Arc<Model>> = LazyLock::new(|| match schema::load("staff.graphql", SCHEMA, &|_| None) {
    Ok((model, _)) => Arc::new(model),
    Err(mistakes) => panic!("{}", mistakes.render(false)),
});

const EMPLOYEES: usize = 3;

/// Employees, each with any number of related items and perhaps items unknown to the schema; the flag says whether
/// there are any.
fn items(choices: &mut Choices) -> (Vec<Item>, bool) {
    let mut items = Vec::new();
    let is_foreign = choices.once_in(2);
    for employee in 0..EMPLOYEES {
        let pk = format!("E#e{employee}");
        let mut put = |is_there: bool, sk: &str| {
            let mut one =
                item(&[("pk", &pk), ("sk", sk), ("name", sk), ("leaderId", ["e0", "e1", "gone"][sk.len() % 3])]);
            if !sk.starts_with("P#") {
                one.remove("leaderId");
            }
            items.extend(is_there.then_some(one));
        };
        put(!choices.once_in(4), "D");
        put(!choices.once_in(3), "A");
        put(!choices.once_in(3), &format!("N#e{employee}"));
        for start in ["J", "P", "R", "S#BASIC", "S#EXPERT"] {
            let count = [0, 1, 3, 12, 26][choices.below(5)];
            (0..count).for_each(|number| put(true, &format!("{start}#{number:02}")));
        }
        for foreign in ["0", "B", "J", "K#1", "K#2", "P$", "Q", "R#", "S#", "Z"] {
            put(is_foreign && choices.once_in(3), foreign);
        }
        for (kind, start) in [("SHIFT", "S"), ("TRIP", "T")] {
            for number in 0..[0, 1, 4, 26][choices.below(4)] {
                // Several on the same day.
                let (own, day) = (format!("{kind}#{employee}-{number:02}"), format!("{start}#{:02}", number / 3));
                let mut one = item(&[("pk", &own), ("sk", start), ("dayPk", &pk), ("day", &day), ("name", &own)]);
                if kind == "TRIP" {
                    one.insert("points", Attribute::N((number / 4).to_string().into()));
                }
                items.push(one);
            }
        }
    }
    let member = |employee: usize| Attribute::M(item(&[("employeeId", &format!("e{employee}"))]));
    let mut team = item(&[("pk", "TEAM#t"), ("sk", "TEAM")]);
    team.insert("members", Attribute::L((0..choices.below(6)).map(|_| member(choices.below(EMPLOYEES + 1))).collect()));
    items.push(team);
    (items, is_foreign)
}

/// Some fields of an employee, with aliases; `cursors` are the cursors of each connection.
fn fields(choices: &mut Choices, cursors: &Value) -> String {
    let mut fields = String::new();
    for alias in 0..2 + choices.below(7) {
        let order = *choices.of(&["", "order: DESC", "order: ASC"]);
        let nodes = *choices.of(&[
            "nodes { name }",
            "nodes { __typename }",
            "nodes { name } pageInfo { hasNextPage hasPreviousPage }",
            "edges { cursor node { __typename } }",
        ]);
        let field = *choices.of(&[
            "name",
            "address",
            "note",
            "jobs",
            "projects",
            "project",
            "reviews",
            "latest",
            "skills",
            "skillCount",
            "isSkilled",
            "work",
            "shifts",
            "trips",
            "tripCount",
            "best",
            "led",
        ]);
        let paging = |choices: &mut Choices, of: &str| {
            let backward = choices.once_in(3);
            let (size, from) = if backward { ("last", "before") } else { ("first", "after") };
            let known = cursors[of]["edges"].as_array().filter(|known| !known.is_empty() && choices.once_in(4));
            let from = known.map(|known| format!("{from}: {}", choices.of(known)["cursor"])).unwrap_or_default();
            format!("{size}: {} {from}", [0, 1, 5, 10, 20, 60][choices.below(6)])
        };
        let text = match field {
            "name" => "name".to_owned(),
            "address" | "note" | "latest" => format!("{field} {{ name }}"),
            "jobs" | "shifts" => {
                format!("{field}{} {{ name }}", if order.is_empty() { String::new() } else { format!("({order})") })
            }
            "project" => format!("project(id: \"{:02}\") {{ name }}", choices.below(30)),
            "projects" | "work" | "trips" => {
                let nodes = if field == "work" {
                    nodes.replace("{ name }", "{ ... on Project { name } ... on Review { day } }")
                } else {
                    nodes.to_owned()
                };
                format!("{field}({order} {}) {{ {nodes} }}", paging(choices, field))
            }
            "led" => "projects(first: 3) { nodes { leader { name } } }".to_owned(),
            "reviews" => {
                let since =
                    if choices.once_in(2) { format!("since: \"{:02}\"", choices.below(30)) } else { String::new() };
                let until =
                    if choices.once_in(2) { format!("until: \"{:02}\"", choices.below(30)) } else { String::new() };
                let paging = if since.is_empty() && until.is_empty() {
                    paging(choices, field)
                } else {
                    format!("first: {}", choices.below(30))
                };
                format!("reviews({order} {since} {until} {paging}) {{ {nodes} }}")
            }
            "skills" | "skillCount" => {
                let level = *choices.of(&["level: BASIC", "level: EXPERT", ""]);
                let arguments = if field == "skills" { format!("{level} {order}") } else { level.to_owned() };
                let arguments = if arguments.trim().is_empty() { String::new() } else { format!("({arguments})") };
                format!("{field}{arguments}{}", if field == "skills" { " { name }" } else { "" })
            }
            "best" => format!("best(first: {} least: {}) {{ {nodes} }}", 1 + choices.below(30), choices.below(5)),
            other => other.to_owned(),
        };
        fields += &format!("f{alias}: {text} ");
    }
    fields
}

/// An operation's response, and its number of calls.
async fn ask(gateway: &Gateway, query: &str) -> (Value, Vec<Value>) {
    let mut response = support::run(gateway, &support::request(query, Value::Null), true).await;
    let calls = response["extensions"]["keyfold"]["calls"]
        .as_array()
        .unwrap_or_else(|| panic!("{query}\n{response:#}"))
        .clone();
    response.as_object_mut().unwrap().remove("extensions");
    (response, calls)
}

/// The cursors of all of an employee's connections.
async fn cursors(gateway: &Gateway) -> Value {
    let edges = "(first: 60) { edges { cursor } }";
    let (all, _) = ask(
        gateway,
        &format!("{{ employee(id: \"e0\") {{ projects{edges} reviews{edges} work{edges} trips{edges} }} }}"),
    )
    .await;
    all["data"]["employee"].clone()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_shares_a_query_gives_what_it_gives_by_itself(mut world in Choices::any(80), mut choices in Choices::any(120)) {
        block_on(async {
            let store = TableStore::in_memory().unwrap();
            store.create_missing(&STAFF.tables).await.unwrap();
            let (items, is_foreign) = items(&mut world);
            store.load(&STAFF.tables[0], items, support::deadline()).await.unwrap();
            let gateway = |shared_queries| {
                let passes = Passes { shared_queries, ..Passes::default() };
                let settings = Settings { max_aliases: 1_000, passes, ..support::settings() };
                Gateway::new(STAFF.clone(), store.clone(), settings)
            };
            let (sharing, alone) = (gateway(true), gateway(false));
            let cursors = cursors(&alone).await;
            let query = match choices.once_in(3) {
                false => format!("{{ employee(id: \"e0\") {{ {} }} }}", fields(&mut choices, &cursors)),
                true => format!("{{ team(id: \"t\") {{ members {{ employee {{ {} }} }} }} }}", fields(&mut choices, &json!({}))),
            };
            let (expected, calls) = ask(&alone, &query).await;
            let (response, fewer) = ask(&sharing, &query).await;
            prop_assert_eq!(&response, &expected, "{}", query);
            // At most once per employee, items are in the way: unknown ones, or those of a list that is too long. A
            // missing employee hides the error of such a list.
            let is_missing = expected.to_string().contains("\"employee\":null");
            let is_too_long = expected.get("errors").is_some() || is_missing && query.contains("jobs");
            let most = calls.len() + if is_foreign || is_too_long { EMPLOYEES } else { 0 };
            prop_assert!(fewer.len() <= most, "{}\n{:#?}\ninstead of\n{:#?}", query, fewer, calls);
            Ok(())
        })?;
    }
}
