//! The operations that the benchmark counts, and the items that they run on. Plain data.

use serde_json::{Value, json};

/// An operation, the schema that it belongs to, and what its response must hold.
pub struct Case {
    /// Its name, as it is recorded.
    pub name: &'static str,
    /// The schema.
    pub system: System,
    /// The operation.
    pub operation: &'static str,
    /// Its variables.
    pub variables: fn() -> Value,
    /// A response key, and how often the response has it.
    pub holds: (&'static str, usize),
}

/// A schema and its items.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum System {
    /// A user's groups, their members and containers, and the foods in these.
    Groups,
    /// The same, with rules that the key and the caller's claims decide.
    RuledGroups,
    /// The same as [`System::Groups`], of which the cache keeps everything.
    KeptGroups,
    /// The same as [`System::Groups`], with metrics and traces of everything.
    ObservedGroups,
    /// A shop's 100 items, links to them, and ten shelves of ten items.
    Shop,
    /// A shop's 100 things with their prices, of which the cache keeps everything, beside a service in the program.
    Prices,
    /// A shop with ten times as many items, links and shelves.
    LargeShop,
}

/// A user's groups with everything in them: 100 objects.
pub const HUNDRED_OBJECTS: &str = "query($id: ID!) { user(id: $id) { id name groups { id name users { id name } containers { id name \
    foods { id name quantity expiry } } } } }";

const NEW_GROUP: &str = "mutation($userId: ID!, $groupId: ID!, $name: String!) { createGroup(userId: $userId, groupId: $groupId, name: $name) { id name } }";

const ONE_OBJECT: &str = "query($id: ID!) { user(id: $id) { id name } }";

/// The rules of [`System::RuledGroups`]: what they replace, and by what.
const RULES: [(&str, &str); 4] = [
    (" @item(keys", " @auth(signedIn: true) @item(keys"),
    ("user(id: ID!): User @find", "user(id: ID!): User @find @auth(if: \"auth.sub = :id\")"),
    ("name: String!): Group!", "name: String!): Group! @auth(if: \"auth.sub = :userId\")"),
    ("foods: [Food!]! @find(where", "foods: [Food!]! @auth(if: \"auth.plan = 'gold'\") @find(where"),
];

/// The claims of the caller.
pub fn claims() -> Value {
    json!({ "sub": id(1, 1), "plan": "gold" })
}

fn user() -> Value {
    json!({ "id": id(1, 1) })
}

fn group() -> Value {
    json!({ "userId": id(1, 1), "groupId": id(2, 99), "name": "A new group" })
}

fn nothing() -> Value {
    json!({})
}

/// Every case.
pub const CASES: [Case; 20] = [
    priced("one-price-none", "{ thing(shopId: \"s\", id: \"0001\") { id } }", ("id", 1)),
    priced("one-price-kept", "{ thing(shopId: \"s\", id: \"0001\") { id price { amount } } }", ("amount", 1)),
    priced("one-price-by-code", "{ thing(shopId: \"s\", id: \"0001\") { id amount } }", ("amount", 1)),
    priced("100-prices-none", "{ shop(id: \"s\") { things { id } } }", ("id", 100)),
    priced("100-prices-kept", "{ shop(id: \"s\") { things { id price { amount } } } }", ("amount", 100)),
    priced("100-prices-by-code", "{ shop(id: \"s\") { things { id amount } } }", ("amount", 100)),
    Case {
        name: "100-objects-ruled",
        system: System::RuledGroups,
        operation: HUNDRED_OBJECTS,
        variables: user,
        holds: ("id", 100),
    },
    Case {
        name: "100-objects-observed",
        system: System::ObservedGroups,
        operation: HUNDRED_OBJECTS,
        variables: user,
        holds: ("id", 100),
    },
    Case {
        name: "transaction-ruled",
        system: System::RuledGroups,
        operation: NEW_GROUP,
        variables: group,
        holds: ("name", 1),
    },
    Case {
        name: "one-object-ruled",
        system: System::RuledGroups,
        operation: ONE_OBJECT,
        variables: user,
        holds: ("name", 1),
    },
    Case {
        name: "100-objects",
        system: System::Groups,
        operation: HUNDRED_OBJECTS,
        variables: user,
        holds: ("id", 100),
    },
    Case {
        name: "one-list",
        system: System::Shop,
        operation: "{ shop(id: \"s\") { items(first: 100) { nodes { id title stock price madeAt } } } }",
        variables: nothing,
        holds: ("title", 100),
    },
    Case {
        name: "lists-of-lists",
        system: System::Shop,
        operation: "{ shop(id: \"s\") { shelves { items { nodes { id title stock price madeAt } } } } }",
        variables: nothing,
        holds: ("title", 100),
    },
    Case {
        name: "links-and-gets",
        system: System::Shop,
        operation: "{ shop(id: \"s\") { linked(first: 100) { nodes { id title stock price madeAt } } } }",
        variables: nothing,
        holds: ("title", 100),
    },
    Case {
        name: "1000-of-one-list",
        system: System::LargeShop,
        operation: "{ shop(id: \"s\") { items(first: 1000) { nodes { id title stock price madeAt } } } }",
        variables: nothing,
        holds: ("title", 1000),
    },
    Case {
        name: "1000-behind-links",
        system: System::LargeShop,
        operation: "{ shop(id: \"s\") { linked(first: 1000) { nodes { id title stock price madeAt } } } }",
        variables: nothing,
        holds: ("title", 1000),
    },
    Case { name: "transaction", system: System::Groups, operation: NEW_GROUP, variables: group, holds: ("name", 1) },
    Case {
        name: "100-objects-kept",
        system: System::KeptGroups,
        operation: HUNDRED_OBJECTS,
        variables: user,
        holds: ("id", 100),
    },
    Case {
        name: "one-object-kept",
        system: System::KeptGroups,
        operation: ONE_OBJECT,
        variables: user,
        holds: ("name", 1),
    },
    Case { name: "one-object", system: System::Groups, operation: ONE_OBJECT, variables: user, holds: ("name", 1) },
];

/// A case of the prices.
const fn priced(name: &'static str, operation: &'static str, holds: (&'static str, usize)) -> Case {
    Case { name, system: System::Prices, operation, variables: nothing, holds }
}

impl Case {
    /// Whether it takes many times longer than the others, or whether the crates that it goes through are slow unless
    /// they are optimised.
    pub fn needs_optimisation(&self) -> bool {
        matches!(self.system, System::LargeShop | System::ObservedGroups)
    }
}

impl System {
    /// The schema's file name and text.
    pub fn schema(self) -> (&'static str, String) {
        let groups = || include_str!("../groups.graphql").to_owned();
        match self {
            Self::Groups | Self::ObservedGroups => ("groups.graphql", groups()),
            Self::RuledGroups => {
                ("groups.graphql", RULES.iter().fold(groups(), |text, (from, to)| text.replace(from, to)))
            }
            Self::KeptGroups => {
                ("groups.graphql", groups().replace(" @item(keys", " @cacheControl(maxAge: 3600) @item(keys"))
            }
            Self::Prices => ("prices.graphql", include_str!("../prices.graphql").to_owned()),
            Self::Shop | Self::LargeShop => ("shop.graphql", include_str!("../shop.graphql").to_owned()),
        }
    }

    /// The items, as lines of an export.
    pub fn lines(self) -> Vec<String> {
        let items = match self {
            Self::Groups | Self::RuledGroups | Self::KeptGroups | Self::ObservedGroups => groups(),
            Self::Prices => prices(),
            Self::Shop => shop(100),
            Self::LargeShop => shop(1000),
        };
        items.into_iter().map(|item| json!({ "Item": item }).to_string()).collect()
    }
}

fn groups() -> Vec<Value> {
    let named = |partition: String, sort: String, kind: u32, number: u32| {
        let name = format!("The name of no. {number}");
        json!({ "PK": s(&partition), "SK": s(&sort), "id": s(&id(kind, number)), "name": s(&name) })
    };
    let mut items = vec![named(format!("USER#{}", id(1, 1)), "PROFILE".to_owned(), 1, 1)];
    for group in 1..=3 {
        items.push(named(format!("USER#{}", id(1, 1)), format!("GROUP#{}", id(2, group)), 2, group));
        let partition = format!("GROUP#{}", id(2, group));
        for number in 4 * group..4 * group + 4 {
            items.push(named(partition.clone(), format!("USER#{}", id(1, number)), 1, number));
            items.push(named(partition.clone(), format!("CONT#{}", id(3, number)), 3, number));
            for food in 6 * number..6 * number + 6 {
                let mut item = named(format!("CONT#{}", id(3, number)), format!("FOOD#{}", id(4, food)), 4, food);
                item["quantity"] = json!({ "N": format!("{}.5", food % 9) });
                item["expiry"] = s(&format!("2027-01-{:02}T00:00:00.000Z", food % 28 + 1));
                items.push(item);
            }
        }
    }
    items
}

/// A shop with this number of items, a link to each, and as many items in shelves of ten.
fn shop(number_of_items: usize) -> Vec<Value> {
    let thing = |partition: &str, number: usize| {
        json!({
            "PK": s(partition),
            "SK": s(&format!("ITEM#{number:04}")),
            "title": s(&format!("Thing no. {number} of the shop")),
            "stock": { "N": (number % 97).to_string() },
            "price": { "N": format!("{}.5", number % 89) },
            "madeAt": s(&format!("2026-11-20T09:{:02}:00.000Z", number % 60)),
        })
    };
    let mut items = vec![json!({ "PK": s("SHOP#s"), "SK": s("#METADATA"), "name": s("The shop") })];
    for number in 0..number_of_items {
        items.push(thing("SHOP#s", number));
        items.push(json!({ "PK": s("SHOP#s"), "SK": s(&format!("LINK#{number:04}")) }));
    }
    for shelf in 0..number_of_items / 10 {
        items.push(json!({ "PK": s("SHOP#s"), "SK": s(&format!("SHELF#{shelf:04}")) }));
        items.extend((0..10).map(|number| thing(&format!("SHOP#s-{shelf}"), number)));
    }
    items
}

/// A shop's things, and the price of each.
fn prices() -> Vec<Value> {
    let mut items = vec![json!({ "PK": s("SHOP#s"), "SK": s("#METADATA") })];
    for number in 0..100 {
        let id = format!("{number:04}");
        let price = format!("price-{number:04}");
        items.push(json!({ "PK": s("SHOP#s"), "SK": s(&format!("ITEM#{id}")), "priceId": s(&price) }));
        let amount = json!({ "N": "12.5" });
        items.push(json!({ "PK": s(&format!("PRICE#{price}")), "SK": s("PRICE"), "amount": amount }));
    }
    items
}

fn s(text: &str) -> Value {
    json!({ "S": text })
}

/// An id as long as a UUID.
fn id(kind: u32, number: u32) -> String {
    format!("{kind:08x}-1111-4111-8111-{number:012x}")
}
