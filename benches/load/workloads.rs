//! What Keyfold and the servers that teams write are measured with: schemas, their items, and operations. Plain data.

use super::cases::{CASES, System};
use super::tables::Stock;
use serde_json::{Value, json};

/// A schema, its items, and the operations on them. Each server has a program for it.
pub struct Workload {
    /// Its name, which is the folder of the servers in `benches/peers`.
    pub name: &'static str,
    /// Keyfold's schema, from the project's folder.
    pub schema: &'static str,
    /// The files of the program by hand, from the project's folder.
    pub by_hand: &'static [&'static str],
    /// Whether a gateway of subgraphs has it, too.
    pub is_federated: bool,
    /// The numbers of connections that ask at once.
    pub connections: [usize; 3],
    /// The operations.
    pub operations: fn() -> Vec<Operation>,
    /// The items, as lines of an export.
    lines: fn() -> Vec<String>,
}

/// An operation that is measured.
pub struct Operation {
    /// What the tables of figures call it.
    pub name: &'static str,
    /// The body of its request.
    pub body: String,
}

/// All of them.
pub const WORKLOADS: [Workload; 2] = [
    Workload {
        name: "groups",
        schema: "benches/groups.graphql",
        by_hand: &["benches/load/by_hand.rs", "benches/load/by_hand_groups.rs"],
        is_federated: false,
        connections: [1, 32, 256],
        operations: || ["one-object", "100-objects"].map(case).into(),
        lines: groups,
    },
    // The shape of graphql-hive/graphql-gateways-benchmark, with texts of the same lengths.
    Workload {
        name: "reviews",
        schema: "benches/reviews.graphql",
        by_hand: &["benches/load/by_hand.rs", "benches/load/by_hand_reviews.rs"],
        is_federated: true,
        // 50 virtual users are that benchmark's.
        connections: [1, 50, 256],
        operations: || {
            vec![Operation { name: "389-objects", body: json!({ "query": USERS_AND_TOP_PRODUCTS }).to_string() }]
        },
        lines: reviews,
    },
];

/// Users and products to a depth of five relations.
const USERS_AND_TOP_PRODUCTS: &str = "{ \
    users { ...U reviews { ...R product { ...P reviews { ...R author { ...U reviews { ...R product { ...P } } } } } } } \
    topProducts { ...P reviews { ...R author { ...U reviews { ...R product { ...P } } } } } } \
    fragment U on User { id username name } \
    fragment R on Review { id body } \
    fragment P on Product { inStock name price shippingEstimate upc weight }";

/// The lengths of the reviews' texts, and the number of the product that each is about.
const REVIEWS: [(usize, usize); 11] =
    [(446, 1), (290, 1), (276, 1), (144, 1), (446, 2), (290, 2), (276, 2), (144, 2), (144, 3), (144, 4), (845, 4)];

impl Workload {
    /// What its table holds.
    pub fn stock(&self) -> Stock {
        let path = format!("{}/{}", env!("CARGO_MANIFEST_DIR"), self.schema);
        Stock { file: self.schema, schema: std::fs::read_to_string(path).unwrap(), lines: (self.lines)() }
    }
}

/// A case of the benchmarks of Keyfold alone.
fn case(name: &'static str) -> Operation {
    let case = CASES.iter().find(|case| case.name == name).unwrap();
    Operation { name, body: json!({ "query": case.operation, "variables": (case.variables)() }).to_string() }
}

/// What the load benchmark serves, as ElectroDB keeps it: each item says which entity it is, and in which version.
fn groups() -> Vec<String> {
    let entity = |sort: &str| match sort.split('#').next().unwrap() {
        "PROFILE" => "user",
        "GROUP" => "group",
        "USER" => "member",
        "CONT" => "container",
        _ => "food",
    };
    let line = |line: &String| {
        let mut line: Value = serde_json::from_str(line).unwrap();
        let item = line["Item"].take();
        let entity = entity(item["SK"]["S"].as_str().unwrap());
        marked(item, entity)
    };
    System::Groups.lines().iter().map(line).collect()
}

/// Six users, who are linked to the same two reviews each; five products; and reviews, which are all by the first user.
fn reviews() -> Vec<String> {
    let item = |entity: &str, keys: [String; 2], attributes: Value| {
        let mut item = json!({ "PK": { "S": keys[0] }, "SK": { "S": keys[1] } });
        item.as_object_mut().unwrap().extend(attributes.as_object().unwrap().clone());
        marked(item, entity)
    };
    let text = |text: &str| json!({ "S": text });
    let number = |number: usize| json!({ "N": number.to_string() });
    let mut lines = Vec::new();
    for id in 1..=6 {
        let own = json!({ "id": text(&id.to_string()), "username": text(&format!("user-no-{id}")), "name": text(&format!("The User No. {id}")) });
        lines.push(item("user", ["USERS".to_owned(), format!("USER#{id}")], own));
        for review in 1..=2 {
            let link =
                json!({ "userId": text(&id.to_string()), "reviewId": text(&review.to_string()), "upc": text("1") });
            lines.push(item("reviewed", [format!("USER#{id}"), format!("REVIEW#{review}")], link));
        }
    }
    for upc in 1..=5 {
        let mut product = json!({ "upc": text(&upc.to_string()), "name": text(&format!("Ware {upc}")), "price": number(upc * 399), "weight": number(upc * 100), "inStock": { "BOOL": upc % 2 == 1 } });
        // Those of more than 1,000 are not shipped.
        if upc < 3 {
            product["shippingEstimate"] = number(upc * 50);
        }
        lines.push(item("product", ["PRODUCTS".to_owned(), format!("PRODUCT#{upc}")], product));
    }
    for (number, (length, upc)) in REVIEWS.into_iter().enumerate() {
        let (id, upc) = (number + 1, upc.to_string());
        let body: String = "I would buy it again, and said so to a friend. ".chars().cycle().take(length).collect();
        let review =
            json!({ "upc": text(&upc), "id": text(&id.to_string()), "body": text(&body), "authorId": text("1") });
        lines.push(item("review", [format!("PRODUCT#{upc}"), format!("REVIEW#{id}")], review));
    }
    lines
}

/// The line of an item, with ElectroDB's attributes.
fn marked(mut item: Value, entity: &str) -> String {
    item["__edb_e__"] = json!({ "S": entity });
    item["__edb_v__"] = json!({ "S": "1" });
    json!({ "Item": item }).to_string()
}
