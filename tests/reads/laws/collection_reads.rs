//! One Query may read an item and its neighbours: the response is the same as by separate reads, with no more calls.
//! This holds for any order, any page, any position of the item and any items in between.

use super::choices::Choices;
use super::world::{self, block_on, item};
use crate::support;
use keyfold::execute::gateway::Gateway;
use keyfold::schema;
use keyfold::schema::model::Model;
use keyfold::table::data::attribute::{Attribute, Item};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::{Arc, LazyLock};

/// Shelves with books; `{shelf}` and `{label}` are replaced by sort keys before or after those of the books.
const SCHEMA: &str = r#"
extend schema @table(name: "library", partitionKey: "pk", sortKey: "sk")
type Shelf @item(keys: { pk: "shelf-{id}", sk: "{shelf}" }) {
  id: ID!
  name: String!
  books(order: Order, first: Int, after: String, last: Int, before: String): BookConnection! @find
  all(order: Order): [Book!] @find(max: 15)
}
type Book @item(keys: { pk: "shelf-{shelfId}", sk: "book#{id}" }) { shelfId: ID! id: ID! }
type Label @item(keys: { pk: "shelf-{shelfId}", sk: "{label}" }) { shelfId: ID! text: String! }
type Room @item(keys: { pk: "room-{id}", sk: "room" }) { id: ID! places: [Place!]! }
type Place { shelfId: ID! shelf: Shelf @find }
type BookConnection { nodes: [Book!]! edges: [BookEdge!]! pageInfo: PageInfo! }
type BookEdge { node: Book! cursor: String! }
type Query { shelf(id: ID!): Shelf @find room(id: ID!): Room @find }
"#;

static BEFORE: LazyLock<Arc<Model>> = LazyLock::new(|| model("a", "b"));
static BEHIND: LazyLock<Arc<Model>> = LazyLock::new(|| model("z", "c"));

fn model(shelf: &str, label: &str) -> Arc<Model> {
    // Placeholders such as `{id}` are not replaced.
    let text = SCHEMA.replace("{shelf}", shelf).replace("{label}", label);
    match schema::load("library.graphql", &text, &|_| None) {
        Ok((model, _)) => Arc::new(model),
        Err(mistakes) => panic!("{}", mistakes.render(false)),
    }
}

/// The items of the shelves: whether the shelf itself exists, its label, an item unknown to the schema, and the books.
struct Library {
    behind: bool,
    shelves: Vec<(bool, bool, bool, usize)>,
    places: Vec<usize>,
}

impl Library {
    fn any(choices: &mut Choices) -> Self {
        let behind = choices.once_in(2);
        let mut shelf = || (!choices.once_in(4), choices.once_in(2), choices.once_in(4), choices.below(26));
        let shelves: Vec<_> = (0..4).map(|_| shelf()).collect();
        Self { behind, shelves, places: (0..choices.below(7)).map(|_| choices.below(4)).collect() }
    }

    fn model(&self) -> &'static Arc<Model> {
        if self.behind { &BEHIND } else { &BEFORE }
    }

    fn items(&self) -> Vec<Item> {
        let (shelf, label) = if self.behind { ("z", "c") } else { ("a", "b") };
        let mut items = Vec::new();
        for (number, (there, labelled, foreign, books)) in self.shelves.iter().enumerate() {
            let pk = format!("shelf-s{number}");
            let mut put = |is_there: bool, sk: &str| {
                items.extend(is_there.then(|| item(&[("pk", &pk), ("sk", sk), ("name", &pk), ("text", "label")])));
            };
            put(*there, shelf);
            put(*labelled, label);
            put(*foreign, if self.behind { "drawer#1" } else { "automat#1" });
            // Beyond the last book, and exactly at it.
            put(*foreign, "book$");
            (0..*books).for_each(|book| put(true, &format!("book#{book:02}")));
        }
        let place = |shelf: &usize| Attribute::M(item(&[("shelfId", &format!("s{shelf}"))]));
        let mut room = item(&[("pk", "room-r"), ("sk", "room")]);
        room.insert("places", Attribute::L(self.places.iter().map(place).collect()));
        items.push(room);
        items
    }

    /// The expected shelf; `books` are its books.
    fn shelf(&self, number: usize, books: Value) -> Value {
        if self.shelves[number].0 { json!({ "name": format!("shelf-s{number}"), "books": books }) } else { Value::Null }
    }

    fn books(&self, number: usize, descending: bool) -> Vec<usize> {
        let books = 0..self.shelves[number].3;
        if descending { books.rev().collect() } else { books.collect() }
    }
}

fn nodes(books: &[usize]) -> Value {
    books.iter().map(|book| json!({ "id": format!("{book:02}") })).collect()
}

/// An operation's response, and its number of calls.
async fn ask(gateway: &Gateway, query: &str) -> (Value, Vec<Value>) {
    let mut response = support::run(gateway, &support::request(query, Value::Null), true).await;
    let calls = response["extensions"]["keyfold"]["calls"].as_array().unwrap().clone();
    response.as_object_mut().unwrap().remove("extensions");
    (response, calls)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn an_item_and_a_page_of_its_neighbours(mut choices in Choices::any(60)) {
        let library = Library::any(&mut choices);
        let (descending, backward, size, goes_on) = (choices.once_in(2), choices.once_in(2), 1 + choices.below(20), choices.once_in(2));
        let there = library.shelves[0].0;
        let order = if descending { "order: DESC" } else { "order: ASC" };
        let query = |paging: &str| format!(
            "{{ shelf(id: \"s0\") {{ name books({order}, {paging}) {{ nodes {{ id }} edges {{ cursor }} pageInfo {{ hasNextPage hasPreviousPage }} }} }} }}"
        );
        block_on(async {
            let (gateway, _) = world::gateway(library.model(), vec![library.items()]).await;
            let all = library.books(0, descending);
            let (whole, _) = ask(&gateway, &query("first: 100")).await;
            let at = if goes_on && there && !all.is_empty() { Some(choices.below(all.len())) } else { None };
            let from = at.map(|at| whole["data"]["shelf"]["books"]["edges"][at]["cursor"].to_string());
            let (count, side) = if backward { ("last", "before") } else { ("first", "after") };
            let from = from.map(|cursor| format!(", {side}: {cursor}")).unwrap_or_default();
            let (response, calls) = ask(&gateway, &query(&format!("{count}: {size}{from}"))).await;

            let left = match (at, backward) {
                (None, _) => &all[..],
                (Some(at), false) => &all[at + 1..],
                (Some(at), true) => &all[..at],
            };
            let cut = if backward { left.len().saturating_sub(size)..left.len() } else { 0..left.len().min(size) };
            let (more, goes_on) = (cut.len() < left.len(), at.is_some());
            let edges = &whole["data"]["shelf"]["books"]["edges"];
            let first = if backward { cut.start } else { cut.start + all.len() - left.len() };
            let books = json!({
                "nodes": nodes(&left[cut.clone()]),
                "edges": cut.clone().map(|position| edges[first + position - cut.start].clone()).collect::<Value>(),
                "pageInfo": if backward { json!({ "hasNextPage": goes_on, "hasPreviousPage": more }) } else { json!({ "hasNextPage": more, "hasPreviousPage": goes_on }) },
            });
            prop_assert_eq!(&response, &json!({ "data": { "shelf": library.shelf(0, books) } }), "{} {}", count, from);

            // The item is read first if it is at the end from which the page is read.
            let reads_up = descending == backward;
            let first = reads_up != library.behind;
            let (foreign, tries) = (library.shelves[0].2, if first { !goes_on } else { size >= 10 });
            prop_assert!(calls.len() <= 2, "no call more than by themselves: {:?}", calls);
            prop_assert!(calls.len() == 2 || tries, "{:?}", calls);
            if tries && !foreign && (first || left.len() <= size) {
                prop_assert_eq!(calls.len(), 1, "nothing else is in the way: {:?}", calls);
            }
            Ok(())
        })?;
    }

    #[test]
    fn an_item_and_all_of_its_neighbours(mut choices in Choices::any(60)) {
        let library = Library::any(&mut choices);
        let order = if choices.once_in(2) { "DESC" } else { "ASC" };
        block_on(async {
            let (gateway, _) = world::gateway(library.model(), vec![library.items()]).await;
            let (response, calls) = ask(&gateway, &format!("{{ shelf(id: \"s0\") {{ name books: all(order: {order}) {{ id }} }} }}")).await;
            let all = library.books(0, order == "DESC");
            let is_short = all.len() <= 15;
            let books = if is_short { nodes(&all) } else { Value::Null };
            prop_assert_eq!(&response["data"], &json!({ "shelf": library.shelf(0, books) }));
            prop_assert_eq!(response.get("errors").is_some(), !is_short && library.shelves[0].0);
            prop_assert!(calls.len() <= if is_short && !library.shelves[0].2 { 1 } else { 2 }, "{:?}", calls);
            Ok(())
        })?;
    }

    #[test]
    fn each_of_several_items_and_its_neighbours(mut choices in Choices::any(60)) {
        let library = Library::any(&mut choices);
        let (descending, backward, size, besides) = (choices.once_in(2), choices.once_in(2), 1 + choices.below(20), choices.once_in(3));
        let paging = format!("order: {}, {}: {size}", if descending { "DESC" } else { "ASC" }, if backward { "last" } else { "first" });
        // In addition to the positions, something that a Get reads in any case.
        let beside = if besides { "beside: places { shelf { name } }" } else { "" };
        block_on(async {
            let (gateway, _) = world::gateway(library.model(), vec![library.items()]).await;
            let query = format!("{{ room(id: \"r\") {{ places {{ shelf {{ name books({paging}) {{ nodes {{ id }} }} }} }} {beside} }} }}");
            let (response, calls) = ask(&gateway, &query).await;
            let shelf = |number: &usize| {
                let all = library.books(*number, descending);
                let page = if backward { &all[all.len().saturating_sub(size)..] } else { &all[..all.len().min(size)] };
                json!({ "shelf": library.shelf(*number, json!({ "nodes": nodes(page) })) })
            };
            let mut room = json!({ "places": library.places.iter().map(shelf).collect::<Value>() });
            if besides {
                let name = |number: &usize| json!({ "shelf": library.shelves[*number].0.then(|| json!({ "name": format!("shelf-s{number}") })) });
                room["beside"] = library.places.iter().map(name).collect();
            }
            prop_assert_eq!(&response, &json!({ "data": { "room": room } }));
            let shelves: BTreeSet<_> = library.places.iter().collect();
            // At most once per shelf, items unknown to the schema are in the way.
            let foreign = shelves.iter().filter(|shelf| library.shelves[***shelf].2).count();
            prop_assert!(calls.len() <= 1 + usize::from(!shelves.is_empty()) + shelves.len() + foreign, "{:?}", calls);
            let last = calls.iter().map(|call| call["wave"].as_u64().unwrap()).max().unwrap();
            prop_assert!(last <= 2 + u64::from(!besides || foreign > 0), "{:?}", calls);
            Ok(())
        })?;
    }
}
