//! Lists of interfaces and unions: a query returns the same as item-by-item reads, and its pages together are the whole
//! list in either direction, with items of other types in between.

use super::choices::Choices;
use super::pages::{Connection, INFO};
use super::world::{self, block_on, data, item};
use crate::support;
use keyfold::schema::model::Model;
use keyfold::table::data::attribute::{Attribute, Item};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::sync::{Arc, LazyLock};

static TIMELINE: LazyLock<Arc<Model>> = LazyLock::new(|| support::model("timeline"));

/// The items of a user's partition.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Kind {
    Post,
    Favorite,
    Membership,
    Login,
    Strange,
}

/// An event of a user; `other` names another user or a group.
#[derive(Debug)]
struct Event {
    kind: Kind,
    user: String,
    other: String,
    id: String,
    time: String,
}

impl Event {
    fn any(number: usize, choices: &mut Choices) -> Self {
        let kind =
            *choices.of(&[Kind::Post, Kind::Favorite, Kind::Membership, Kind::Login, Kind::Login, Kind::Strange]);
        let (user, other) = (format!("u{}", choices.below(2)), choices.below(4));
        let other = if kind == Kind::Favorite { format!("u{other}") } else { format!("g{other}") };
        // Only a few times, so that several events share one.
        let time = format!("2026-11-20T09:{:02}:00.000Z", choices.below(9));
        Self { kind, user, other, id: format!("{number:03}"), time }
    }

    fn sort_key(&self) -> String {
        let Self { kind, other, id, time, .. } = self;
        match kind {
            Kind::Post => format!("EVENT#{time}#post#{id}"),
            Kind::Favorite => format!("EVENT#{time}#fav#{id}"),
            Kind::Membership => format!("EVENT#{time}#join#{other}"),
            Kind::Login => format!("EVENT#{time}#login"),
            Kind::Strange => format!("EVENT#{time}#{id}"),
        }
    }

    fn item(&self) -> Item {
        let (pk, sk) = (format!("USER#{}", self.user), self.sort_key());
        let keys = [("PK", pk.as_str()), ("SK", sk.as_str())];
        // Posts and memberships are in the index of circles, and so are logins, which no query asks for.
        let circle = [("circle", self.other.as_str()), ("at", self.time.as_str())];
        match self.kind {
            Kind::Post => item(&[&keys[..], &circle, &[("title", &self.id), ("postedAt", &self.time)]].concat()),
            Kind::Membership => item(&[&keys[..], &circle, &[("role", "guest"), ("createdAt", &self.time)]].concat()),
            Kind::Login => item(&[&keys[..], &circle].concat()),
            Kind::Favorite => item(&[&keys[..], &[("authorId", self.other.as_str())]].concat()),
            Kind::Strange => item(&keys),
        }
    }

    fn is_activity(&self) -> bool {
        matches!(self.kind, Kind::Post | Kind::Favorite | Kind::Membership)
    }

    /// The selection of the law's query.
    fn expected(&self, there: &dyn Fn(&str) -> bool) -> Value {
        let user =
            |id: &str| if there(id) { json!({ "id": id, "name": format!("name of {id}") }) } else { Value::Null };
        let group =
            || if there(&self.other) { json!({ "name": format!("name of {}", self.other) }) } else { Value::Null };
        match self.kind {
            Kind::Post => {
                json!({ "__typename": "Post", "user": user(&self.user), "title": self.id, "circle": self.other })
            }
            Kind::Favorite => json!({ "__typename": "Favorite", "user": user(&self.user), "by": user(&self.other) }),
            _ => json!({ "__typename": "Membership", "user": user(&self.user), "role": "guest", "group": group() }),
        }
    }
}

/// Random events, each key once, in the order of their keys.
fn events(count: usize, choices: &mut Choices) -> Vec<Event> {
    let mut events: Vec<Event> = (0..count).map(|number| Event::any(number, choices)).collect();
    events.sort_by_key(|event| (event.user.clone(), event.sort_key()));
    events.dedup_by_key(|event| (event.user.clone(), event.sort_key()));
    events
}

/// Users and groups; some are missing.
fn others(choices: &mut Choices) -> (Vec<String>, Vec<Item>) {
    let all = (0..4).flat_map(|number| [format!("u{number}"), format!("g{number}")]);
    let there: Vec<String> = all.filter(|_| !choices.once_in(3)).collect();
    let items = there.iter().map(|id| {
        let (name, user) = (format!("name of {id}"), format!("USER#{id}"));
        let keys = if id.starts_with('u') {
            [("PK", user.as_str()), ("SK", "#PROFILE")]
        } else {
            [("PK", id.as_str()), ("SK", "GROUP")]
        };
        item(&[&keys[..], &[("name", name.as_str())]].concat())
    });
    let items = items.collect();
    (there, items)
}

/// A card: a note, a task or a sketch, distinguished only by a constant.
fn card(number: usize, choices: &mut Choices) -> (Item, bool) {
    let (sk, kind) = (format!("CARD#c{number:03}"), *choices.of(&["note", "task", "sketch", "sketch"]));
    let mut card =
        item(&[("PK", "CARDS#u"), ("SK", &sk), ("kind", kind), ("board", "b"), ("what", "text"), ("assigneeId", "u0")]);
    card.insert("rank", Attribute::N(choices.below(20).to_string().into()));
    (card, kind != "sketch")
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_planned_query_gives_what_reading_item_by_item_gives(count in 0usize..40, mut choices in Choices::any(200)) {
        let events = events(count, &mut choices);
        let (there, mut items) = others(&mut choices);
        let is_there = |id: &str| there.iter().any(|known| known == id);
        items.extend(events.iter().map(Event::item));
        let fields = "__typename user { id name } ... on Post { title circle } ... on Favorite { by: author { id name } } \
            ... on Membership { role group { name } }";
        let story = "__typename ... on Post { user { id name } title circle } ... on Membership { user { id name } role group { name } }";
        let query = format!("{{ activity(userId: \"u0\", last: 1000) {{ nodes {{ {fields} }} }} \
            stories(circles: [\"g0\", \"g1\"], first: 1000) {{ nodes {{ {story} }} }} }}");
        let found = block_on(async {
            let (gateway, _) = world::gateway(&TIMELINE, vec![items]).await;
            data(&gateway, &query).await
        });
        let activity: Vec<Value> =
            events.iter().rev().filter(|event| event.user == "u0" && event.is_activity()).map(|event| event.expected(&is_there)).collect();
        prop_assert_eq!(&found["activity"]["nodes"], &json!(activity));
        let in_circles = |event: &&Event| ["g0", "g1"].contains(&event.other.as_str()) && matches!(event.kind, Kind::Post | Kind::Membership);
        let mut stories: Vec<String> = events.iter().filter(in_circles).map(|event| event.expected(&is_there).to_string()).collect();
        let mut read: Vec<String> = found["stories"]["nodes"].as_array().unwrap().iter().map(Value::to_string).collect();
        // Cards with the same time come in any order.
        stories.sort();
        read.sort();
        prop_assert_eq!(read, stories);
    }

    #[test]
    fn among_items_of_other_types(count in 0usize..50, backward: bool, mut choices in Choices::any(200)) {
        let items = events(count, &mut choices).iter().map(Event::item).collect();
        block_on(async {
            let (gateway, _) = world::gateway(&TIMELINE, vec![items]).await;
            let fields = "__typename ... on Post { title } ... on Membership { groupId role group { name } } ... on Activity { createdAt }";
            let query = format!("{{ activity(userId: \"u1\", …) {{ nodes {{ {fields} }} edges {{ cursor }} {INFO} }} }}");
            Connection { query: &query, way: "/activity", edges: true }.check(&gateway, &mut choices, backward).await
        })?;
    }

    #[test]
    fn pages_of_several_partitions_of_an_index(count in 0usize..50, mut choices in Choices::any(200)) {
        let items = events(count, &mut choices).iter().map(Event::item).collect();
        block_on(async {
            let (gateway, _) = world::gateway(&TIMELINE, vec![items]).await;
            let fields = "__typename ... on Post { id title createdAt } ... on Membership { userId groupId role group { name } createdAt }";
            let query = format!("{{ stories(circles: [\"g0\", \"g1\", \"g3\"], …) {{ nodes {{ {fields} }} edges {{ cursor }} {INFO} }} }}");
            let connection = Connection { query: &query, way: "/stories", edges: true };
            let all = connection.page(&gateway, "first: 1000").await;
            let times: Vec<&str> = all["nodes"].as_array().unwrap().iter().map(|story| story["createdAt"].as_str().unwrap()).collect();
            prop_assert!(times.is_sorted_by(|newer, older| newer >= older), "{:?}", times);
            connection.check(&gateway, &mut choices, false).await
        })?;
    }

    #[test]
    fn distinguished_only_by_what_the_index_does_not_hold(count in 0usize..40, backward: bool, mut choices in Choices::any(120)) {
        let (items, shown): (Vec<Item>, Vec<bool>) = (0..count).map(|number| card(number, &mut choices)).unzip();
        let shown = shown.into_iter().filter(|shown| *shown).count();
        block_on(async {
            let (gateway, _) = world::gateway(&TIMELINE, vec![items]).await;
            let fields = "__typename id ... on Task { text assignee { name } } ... on Note { rank }";
            let query = format!("{{ board(board: \"b\", …) {{ nodes {{ {fields} }} edges {{ cursor }} {INFO} }} }}");
            let connection = Connection { query: &query, way: "/board", edges: true };
            let all = connection.page(&gateway, "first: 1000").await;
            prop_assert_eq!(all["nodes"].as_array().unwrap().len(), shown);
            connection.check(&gateway, &mut choices, backward).await
        })?;
    }
}
