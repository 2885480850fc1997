//! Which reads of a partition may share a Query, as the keys of the schema decide: they must be neighbours, without a
//! type with many items in between. `tests/reads/laws/collection_reads.rs` and the goldens test what happens when a
//! plan runs.
use crate::support;
use keyfold::execute::gateway::plan;
use keyfold::plan::passes::shared_query::{GroupMember, Reaches, groups};
use keyfold::schema::load;
use serde_json::Value;

/// A user and the user's orders; `sort` is the user's sort key, `more` are further types.
fn schema(sort: &str, more: &str) -> String {
    format!(
        r#"
extend schema @table(name: "shop", partitionKey: "pk", sortKey: "sk", indexes: [{{ name: "byDay", sortKey: "day" }}])
type User @item(keys: {{ pk: "user-{{id}}", sk: "{sort}" }}, attributes: {{ kind: "User" }}) {{
  id: ID!
  name: String!
  nick: String
  orders(first: Int = 20, after: String, last: Int, before: String): OrderConnection! @find
  allOrders: [Order!]! @find
  strongly: [Order!]! @find(consistent: true)
  bigOrders(least: Int! = 10, first: Int = 20): OrderConnection! @find(filter: "total >= :least")
  ordersSince(since: Date!, first: Int = 20): OrderConnection! @find(where: {{ day: {{ ge: "{{since}}" }} }}, index: "byDay")
  ordersFrom(from: ID!, first: Int = 20): OrderConnection! @find(where: {{ number: {{ ge: "{{from}}" }} }})
  ordersOfNick(first: Int = 20): OrderConnection! @find(where: {{ userId: "{{nick}}" }})
  orderCount: Int! @find(item: Order)
  hasOrders: Boolean! @find(item: Order)
}}
type Order @item(keys: {{ pk: "user-{{userId}}", sk: "order#{{number}}", day: "{{day}}" }}, attributes: {{ kind: "Order" }}) {{
  userId: ID!
  number: ID!
  day: Date!
  total: Int!
}}
{more}
type OrderConnection {{ nodes: [Order!]! }}
type Query {{ user(id: ID!): User @find }}
"#
    )
}

/// Whether one of the plan's Queries may also read the user.
fn folds(sort: &str, more: &str, selection: &str) -> bool {
    let text = schema(sort, more);
    let (model, _) =
        load("schema.graphql", &text, &|_| None).unwrap_or_else(|mistakes| panic!("{}", mistakes.render(false)));
    let declared = match (selection.contains("$n"), selection.contains("$from")) {
        (true, _) => "query($n: Int)",
        (_, true) => "query($from: String)",
        _ => "query",
    };
    let query = format!("{declared} {{ user(id: \"u\") {{ name {selection} }} }}");
    let variables = serde_json::json!({ "n": 20, "from": "x" });
    let (plan, _) = plan(&model, &support::request(&query, variables), &support::settings())
        .unwrap_or_else(|errors| panic!("{errors:?}"));
    let collections = plan.to_json(&model)["collections"].as_array().unwrap().clone();
    assert_eq!(plan.to_text(&model).matches("one Query for #").count(), collections.len());
    // The user is read first.
    collections.iter().any(|collection| collection["reads"].as_array().unwrap().contains(&Value::from(0)))
}

const ORDERS: &str = "orders { nodes { total } }";

#[test]
fn a_neighbour_is_read_along() {
    for sort in ["a", "user", "order", "#{id}", "x#{id}", "order#", "order#a"] {
        assert!(folds(sort, "", ORDERS), "{sort}");
        assert!(folds(sort, "", "allOrders { total }"), "{sort}");
    }
    // The range ends where the orders do, but does not begin where they do.
    assert!(folds("user", "", "ordersFrom(from: \"7\") { nodes { total } }"));
    assert!(!folds("a", "", "ordersFrom(from: \"7\") { nodes { total } }"));
    assert!(folds("user", "", "orderCount"));
}

#[test]
fn an_item_that_may_stand_anywhere_is_not() {
    for sort in ["{id}", "o{id}"] {
        assert!(!folds(sort, "", ORDERS), "{sort}");
    }
}

#[test]
fn what_there_is_one_of_may_stand_between_and_what_there_may_be_many_of_not() {
    let address = |keys: &str| {
        format!(
            "type Address @item(keys: {{ {keys} }}, attributes: {{ kind: \"Address\" }}) {{ userId: ID! street: ID! }}"
        )
    };
    for (keys, expected) in [
        (r#"pk: "user-{userId}", sk: "post""#, true),
        (r#"pk: "user-{userId}", sk: "post#{userId}""#, true),
        (r#"pk: "user-{userId}", sk: "post#{street}""#, false),
        (r#"pk: "user-{userId}", sk: "{street}post""#, false),
        (r#"pk: "{street}", sk: "post#{userId}""#, false),
        // Elsewhere, or beyond the two.
        (r#"pk: "address-{userId}", sk: "post#{street}""#, true),
        (r#"pk: "user-{userId}", sk: "address#{street}""#, true),
        (r#"pk: "user-{userId}", sk: "zip#{street}""#, true),
    ] {
        let more = address(keys);
        assert_eq!(folds("user", &more, ORDERS), expected, "{keys}");
    }
}

#[test]
fn only_a_query_that_gives_whole_items_of_the_same_partition_reads_along() {
    for selection in [
        "bigOrders { nodes { total } }",
        "ordersSince(since: \"2026-11-20\") { nodes { total } }",
        "ordersOfNick { nodes { total } }",
        "strongly { total }",
    ] {
        assert!(!folds("user", "", selection), "{selection}");
    }
}

#[test]
fn it_is_noted_only_where_some_page_may_come_to_it() {
    for (arguments, before, behind) in [
        ("", true, true),
        ("(first: 9)", true, false),
        ("(first: 10)", true, true),
        ("(first: $n)", true, true),
        ("(after: \"x\")", false, true),
        ("(first: 9, after: \"x\")", false, false),
        ("(after: $from)", true, true),
        ("(last: 9)", false, true),
        ("(last: 10)", true, true),
        ("(last: 9, before: \"x\")", false, false),
        ("(last: $n)", true, true),
    ] {
        let orders = format!("orders{arguments} {{ nodes {{ total }} }}");
        assert_eq!([folds("a", "", &orders), folds("user", "", &orders)], [before, behind], "{arguments}");
    }
    // A read that needs a value of the item would wait one wave longer, unless the item is read first.
    let waited_for = "orders(first: 9) { nodes { total } } ordersOfNick { nodes { total } }";
    assert_eq!([folds("a", "", waited_for), folds("user", "", waited_for)], [true, false]);
}

/// Neighbours of every kind: three adjacent ranges, in either order, whose ends are reached rarely, mostly or always.
#[test]
fn a_shared_query_certainly_serves_its_first_member() {
    let kinds = [true, false].into_iter().flat_map(|forward| {
        let reaches = [Reaches::Rarely, Reaches::Mostly, Reaches::Always];
        reaches.into_iter().flat_map(move |reaches| [true, false].map(|may_wait| (forward, reaches, may_wait)))
    });
    let kinds: Vec<_> = kinds.collect();
    let member = |rank: usize, (forward, reaches, may_wait): (bool, Reaches, bool)| GroupMember {
        low: rank,
        high: rank,
        forward: Some(forward),
        wants_all: false,
        reaches,
        may_wait,
        resumes: false,
        is_item: false,
    };
    let mut seen = 0;
    for first in &kinds {
        for second in &kinds {
            for third in &kinds {
                let members = [member(0, *first), member(1, *second), member(2, *third)];
                for group in groups(&members, &|_, _| Some(0)) {
                    seen += 1;
                    assert!(!group.members[0].1, "{members:?}\n{group:?}");
                }
            }
        }
    }
    assert!(seen > 100, "{seen} groups");
}
