//! The pantry read field by field, by hand and from a plain list of items: what a planned nested query has to give too.

use crate::choices::Choices;
use crate::selection::{Grammar, Selection, text};
use crate::support;
use crate::world::{self, block_on, pantry};
use keyfold::schema::model::Model;
use keyfold::table::attribute::{Attribute, Item};
use proptest::prelude::*;
use serde_json::{Map, Value, json};
use std::sync::{Arc, LazyLock};

static PANTRY: LazyLock<Arc<Model>> = LazyLock::new(|| support::model("pantry"));

/// A value that may not be null is: its parent gives up.
struct Null;

/// Type and attribute of each stored field; those of the keys are in [`Object::of`].
const STORED: [(&str, &str, &str); 13] = [
    ("User", "name", "UserName"),
    ("User", "email", "EMailAddress"),
    ("Group", "name", "GroupName"),
    ("Container", "name", "ContainerName"),
    ("InvitationLink", "hash", "InvitationLinkHash"),
    ("InvitationLink", "expiresAt", "LinkExpiryDatetime"),
    ("Food", "id", "FoodId"),
    ("Food", "name", "Name"),
    ("Food", "unit", "Unit"),
    ("Food", "quantity", "Quantity"),
    ("Food", "category", "Category"),
    ("Food", "expiry", "Expiry"),
    ("Food", "createdAt", "CreatedAt"),
];

/// Fields that may be null.
const NULLABLE: [(&str, &str); 9] = [
    ("Query", "user"),
    ("Query", "userByEmail"),
    ("Query", "group"),
    ("Query", "container"),
    ("Query", "invitation"),
    ("Group", "invitation"),
    ("Container", "group"),
    ("Food", "unit"),
    ("Food", "quantity"),
];

/// An object: its type, the ids in its key, and its item where it has been read.
#[derive(Clone, Copy)]
struct Object<'i> {
    ty: &'static str,
    id: &'i str,
    other: &'i str,
    item: Option<&'i Item>,
}

struct Naive<'i> {
    items: &'i [Item],
    errors: usize,
}

fn string<'i>(item: &'i Item, name: &str) -> &'i str {
    match item.get(name) {
        Some(Attribute::S(text)) => text,
        _ => "",
    }
}

impl<'i> Naive<'i> {
    fn get(&self, pk: &str, sk: &str) -> Option<&'i Item> {
        self.items.iter().find(|item| string(item, "PK") == pk && string(item, "SK") == sk)
    }

    /// The items whose attribute has a value and whose sort key begins so, in the order of their keys.
    fn query(&self, attribute: &str, value: &str, prefix: &str) -> Vec<&'i Item> {
        let here =
            |item: &&Item| item.contains_key(attribute) && string(item, attribute) == value && string(item, "SK").starts_with(prefix);
        let mut found: Vec<&Item> = self.items.iter().filter(here).collect();
        found.sort_by_key(|item| (string(item, "PK"), string(item, "SK")));
        found
    }

    /// An item with an id, as the operation sees it: what asks for no more than the id is not looked up.
    fn linked(&self, ty: &'static str, id: &'i str, set: &[Selection]) -> Option<Object<'i>> {
        let item = self.get(id, ty);
        let reads = set.iter().any(|one| one.field == "foods" || STORED.iter().any(|(of, field, _)| *of == ty && *field == one.field));
        (item.is_some() || !reads).then_some(Object { ty, id, other: "", item })
    }

    fn membership(item: &'i Item) -> Object<'i> {
        Object { ty: "Membership", id: string(item, "PK"), other: &string(item, "SK")["Group#".len()..], item: Some(item) }
    }

    fn invitation(item: &'i Item) -> Object<'i> {
        Object { ty: "InvitationLink", id: string(item, "PK"), other: "", item: Some(item) }
    }

    fn object(&mut self, of: Object<'i>, set: &[Selection]) -> Result<Value, Null> {
        let mut fields = Map::new();
        for one in set {
            let value = match self.field(of, one) {
                Ok(value) => value,
                Err(Null) if NULLABLE.contains(&(of.ty, one.field.as_str())) => Value::Null,
                Err(Null) => return Err(Null),
            };
            fields.insert(one.key.clone(), value);
        }
        Ok(Value::Object(fields))
    }

    fn field(&mut self, of: Object<'i>, one: &Selection) -> Result<Value, Null> {
        let set = &one.inner;
        let argument = |name: &str| one.argument(name).and_then(Value::as_str).unwrap_or_default();
        Ok(match (of.ty, one.field.as_str()) {
            (ty, "__typename") => json!(ty),
            ("Query", "user") => self.maybe(self.get(argument("id"), "User").map(|item| root("User", item)), set)?,
            ("Query", "group") => self.maybe(self.get(argument("id"), "Group").map(|item| root("Group", item)), set)?,
            ("Query", "container") => self.maybe(self.get(argument("id"), "Container").map(|item| root("Container", item)), set)?,
            ("Query", "userByEmail") => {
                let found = self.query("EMailAddress", argument("email"), "User").first().copied();
                self.maybe(found.map(|item| root("User", item)), set)?
            }
            ("Query", "invitation") => {
                let found = self.query("InvitationLinkHash", argument("hash"), "").first().copied();
                self.maybe(found.map(Self::invitation), set)?
            }
            ("Query", "isMember") => json!(self.get(argument("userId"), &format!("Group#{}", argument("groupId"))).is_some()),
            ("User" | "Group" | "Container", "id") | ("Membership", "userId") | ("InvitationLink", "groupId") => json!(of.id),
            ("Membership", "groupId") => json!(of.other),
            ("Membership", "user") => self.certain(self.linked("User", of.id, set), set)?,
            ("Membership", "group") => self.certain(self.linked("Group", of.other, set), set)?,
            ("InvitationLink", "group") => self.certain(self.linked("Group", of.id, set), set)?,
            ("User", "memberships") => {
                let links = self.query("PK", of.id, "Group#").into_iter().map(Self::membership).collect();
                self.page("Membership", links, one)?
            }
            ("Group", "memberships") => {
                let links = self.query("GroupId", of.id, "Group#").into_iter().map(Self::membership).collect();
                self.page("Membership", links, one)?
            }
            ("User", "groups") => {
                let nodes = nodes(set);
                let links = self.query("PK", of.id, "Group#").into_iter();
                let groups = links.filter_map(|link| self.linked("Group", &string(link, "SK")["Group#".len()..], &nodes)).collect();
                self.page("Group", groups, one)?
            }
            ("Group", "users") => {
                let nodes = nodes(set);
                let links = self.query("GroupId", of.id, "Group#").into_iter();
                let users = links.filter_map(|link| self.linked("User", string(link, "PK"), &nodes)).collect();
                self.page("User", users, one)?
            }
            ("Group", "containers") => {
                let nodes = nodes(set);
                let links = self.query("PK", of.id, "Container#").into_iter();
                let containers = links.filter_map(|link| self.linked("Container", string(link, "ContainerId"), &nodes)).collect();
                self.page("Container", containers, one)?
            }
            ("Group", "invitation") => self.maybe(self.get(of.id, "InvitationLinkHash").map(Self::invitation), set)?,
            ("Container", "group") => {
                let link = self.query("ContainerId", of.id, "Container#").first().copied();
                self.maybe(link.and_then(|link| self.linked("Group", string(link, "PK"), set)), set)?
            }
            ("Container", "foods") => {
                let foods = match of.item.and_then(|item| item.get("Foods")) {
                    Some(Attribute::L(foods)) => foods.iter(),
                    _ => [].iter(),
                };
                let foods = foods.filter_map(|food| if let Attribute::M(food) = food { Some(food) } else { None });
                let foods: Result<Vec<Value>, Null> =
                    foods.map(|food| self.object(Object { ty: "Food", id: "", other: "", item: Some(food) }, set)).collect();
                json!(foods?)
            }
            (ty, field) => {
                let (_, _, attribute) = STORED.iter().find(|(of, name, _)| *of == ty && *name == field).unwrap();
                match of.item.and_then(|item| item.get(*attribute)) {
                    Some(Attribute::S(text)) => json!(text),
                    Some(Attribute::N(number)) => serde_json::from_str(number).unwrap(),
                    _ => Value::Null,
                }
            }
        })
    }

    fn maybe(&mut self, object: Option<Object<'i>>, set: &[Selection]) -> Result<Value, Null> {
        object.map_or(Ok(Value::Null), |object| self.object(object, set))
    }

    fn certain(&mut self, object: Option<Object<'i>>, set: &[Selection]) -> Result<Value, Null> {
        match object {
            Some(object) => self.object(object, set),
            None => {
                self.errors += 1;
                Err(Null)
            }
        }
    }

    /// A page of a whole list.
    fn page(&mut self, ty: &'static str, mut all: Vec<Object<'i>>, one: &Selection) -> Result<Value, Null> {
        let number = |name: &str| one.argument(name).and_then(Value::as_u64);
        let backward = number("last").is_some();
        let size = number("last").or(number("first")).unwrap_or(50) as usize;
        let more = all.len() > size;
        if backward {
            all.drain(..all.len().saturating_sub(size));
        } else {
            all.truncate(size);
        }
        let mut connection = Map::new();
        for part in &one.inner {
            let value = match part.field.as_str() {
                "nodes" => json!(all.iter().map(|node| self.object(*node, &part.inner)).collect::<Result<Vec<_>, _>>()?),
                "edges" => {
                    let mut edges = Vec::new();
                    for node in &all {
                        let mut edge = Map::new();
                        for inner in &part.inner {
                            let value = if inner.field == "node" { self.object(*node, &inner.inner)? } else { json!(format!("{ty}Edge")) };
                            edge.insert(inner.key.clone(), value);
                        }
                        edges.push(Value::Object(edge));
                    }
                    json!(edges)
                }
                "pageInfo" => {
                    let flag = |inner: &Selection| match inner.field.as_str() {
                        "hasNextPage" => json!(more && !backward),
                        "hasPreviousPage" => json!(more && backward),
                        _ => json!("PageInfo"),
                    };
                    Value::Object(part.inner.iter().map(|inner| (inner.key.clone(), flag(inner))).collect())
                }
                _ => json!(format!("{ty}Connection")),
            };
            connection.insert(part.key.clone(), value);
        }
        Ok(Value::Object(connection))
    }
}

fn root<'i>(ty: &'static str, item: &'i Item) -> Object<'i> {
    Object { ty, id: string(item, "PK"), other: "", item: Some(item) }
}

/// The selections on the nodes of a connection, wherever they stand in it.
fn nodes(set: &[Selection]) -> Vec<Selection> {
    let of = |one: &Selection| match one.field.as_str() {
        "nodes" | "node" => one.inner.clone(),
        "edges" => nodes(&one.inner),
        _ => vec![],
    };
    set.iter().flat_map(of).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_planned_query_gives_what_reading_field_by_field_gives(mut world in Choices::any(120), mut choices in Choices::any(200)) {
        let items = pantry(&mut world);
        let texts = ["g0", "u0", "c0", "g1", "u1", "c1", "g2", "hg0", "u1@example.com", "nobody", ""];
        // The pantry alone: what is in the other tables is left out.
        let elsewhere = ["tag", "tags", "favorite", "favorites", "profile", "post", "posts"];
        let without = [&["after", "before", "cursor", "startCursor", "endCursor"][..], &elsewhere].concat();
        let grammar = Grammar { schema: &PANTRY.api, texts: &texts, without: &without, integers: 1..=4 };
        let set = one_way(grammar.operation(&mut choices, 8));
        let query = text(&set);
        let mut naive = Naive { items: &items, errors: 0 };
        let expected = naive.object(Object { ty: "Query", id: "", other: "", item: None }, &set).unwrap_or(Value::Null);
        let response = block_on(async {
            let (gateway, _) = world::gateway(&PANTRY, vec![items.clone()]).await;
            support::run(&gateway, &support::request(&query, Value::Null), false).await
        });
        prop_assert_eq!(&response["data"].to_string(), &expected.to_string(), "{}\n{:#}", query, response);
        prop_assert_eq!(response.get("errors").is_some(), naive.errors > 0, "{}\n{:#}", query, response);
    }
}

/// The same operation with no field paging both ways at once, which is refused.
fn one_way(mut set: Vec<Selection>) -> Vec<Selection> {
    for one in &mut set {
        if one.argument("last").is_some_and(|last| !last.is_null()) {
            one.arguments.retain(|(name, ..)| name != "first");
        }
        one.inner = one_way(std::mem::take(&mut one.inner));
    }
    set
}
