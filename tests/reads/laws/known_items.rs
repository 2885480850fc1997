//! What a request knows changes no answer, and saves what rules would ask for again. Users are in groups by links; the
//! rules of groups, notes and links look up the link of the caller. Requests write between their reads, items expire,
//! types are cached, and the index is behind its table.

use super::world::block_on;
use crate::support;
use crate::support::lagging::Lagging;
use crate::support::rereads::{Rereads, Seen};
use fastrand::Rng;
use keyfold::execute::gateway::{Gateway, plan};
use keyfold::execute::request::{Request, Settings};
use keyfold::plan::passes::Passes;
use keyfold::schema;
use keyfold::schema::model::Model;
use keyfold::table::bulk::export_lines::parse_line;
use keyfold::table::data::attribute::Item;
use keyfold::table::data_store::DataStore;
use keyfold::table::store::TableStore;
use serde_json::{Value, json};
use std::sync::Arc;

const SCHEMA: &str = r##"
extend schema
  @table(
    name: "things"
    partitionKey: "PK"
    sortKey: "SK"
    timeToLive: "ttl"
    indexes: [{ name: "byGroup", partitionKey: "groupPk", sortKey: "SK", projection: PROJECTION }]
  )

type User CACHE_USER @item(keys: { PK: "USER#{id}", SK: "USER" }) @auth(signedIn: true) {
  id: ID!
  name: String
  friendId: ID
  friend: User @find(where: { id: "{friendId}" })
  links: [Link!]! @find(where: { userId: "{id}" })
  page(first: Int = 2, after: String): LinkConnection! @find(where: { userId: "{id}" })
  admins: [Link!]! @find(where: { userId: "{id}" }, filter: "role = 'admin'")
}
type Link CACHE_LINK @item(keys: { PK: "USER#{userId}", SK: "LINK#{groupId}", groupPk: "GROUP#{groupId}" }) LINK_RULE @auth(signedIn: true, on: [WRITE]) {
  userId: ID!
  groupId: ID!
  role: String
  expiresAt: DateTime @attribute(name: "ttl")
  user: User @find
  group: Group @find
}
type LinkConnection { nodes: [Link!]!  pageInfo: PageInfo! }
type PageInfo { hasNextPage: Boolean! }
type Group CACHE_GROUP @item(keys: { PK: "GROUP#{id}", SK: "GROUP" }) GROUP_RULE @auth(signedIn: true, on: [WRITE]) {
  id: ID!
  title: String
  parentId: ID
  parent: Group @find(where: { id: "{parentId}" })
  links: [Link!]! @find(where: { groupId: "{id}" })
  notes: [Note!]! @find(where: { groupId: "{id}" })
}
type Note @item(keys: { PK: "GROUP#{groupId}", SK: "NOTE#{id}" }) NOTE_RULE @auth(signedIn: true, on: [WRITE]) {
  groupId: ID!
  id: ID!
  text: String
  group: Group @find(where: { id: "{groupId}" })
}

type Query {
  me: User @find(where: { id: "{auth.sub}" })
  user(id: ID!): User @find
  strong(id: ID!): User @find(consistent: true)
  group(id: ID!): Group @find
  strongLinks(userId: ID!): [Link!]! @find(consistent: true, where: { userId: "{userId}" })
  all: [Group!]! @find(scan: true)
}
type Mutation {
  join(groupId: ID!, role: String): Link @put(replace: true, set: { userId: "{auth.sub}" })
  leave(groupId: ID!): Link @delete(where: { userId: "{auth.sub}" })
  rename(id: ID!, name: String): User @update
  retitle(id: ID!, title: String): Group @update
  say(groupId: ID!, id: ID!, text: String): Note @put(replace: true)
  friend(id: ID!, friendId: ID): User @update
}
"##;

/// A schema of the family.
fn model(rng: &mut Rng) -> Model {
    let rule = |rng: &mut Rng, id: &str, may_hide: bool| {
        let condition = ["", r#", if: "role = 'admin'""#][rng.usize(..2)];
        let hides = if may_hide && rng.bool() { ", hide: true" } else { "" };
        format!(
            r#"@auth(exists: Link, where: {{ userId: "{{auth.sub}}", groupId: "{{{id}}}" }}{condition}{hides}, on: [READ])"#
        )
    };
    let group = rule(rng, "id", true);
    let note = rule(rng, "groupId", true);
    let hiding =
        r#"@auth(exists: Link, where: { userId: "{auth.sub}", groupId: "{groupId}" }, hide: true, on: [READ])"#;
    let link = ["@auth(signedIn: true, on: [READ])", hiding][rng.usize(..2)];
    let mut text = SCHEMA.replace("PROJECTION", ["ALL", "KEYS_ONLY"][rng.usize(..2)]);
    for (word, rule) in [("LINK_RULE", link), ("GROUP_RULE", &group), ("NOTE_RULE", &note)] {
        text = text.replace(word, rule);
    }
    for word in ["CACHE_USER", "CACHE_LINK", "CACHE_GROUP"] {
        text = text.replace(word, ["", "@cacheControl(maxAge: 60)"][rng.usize(..2)]);
    }
    match schema::load("things.graphql", &text, &|_| None) {
        Ok((model, _)) => model,
        Err(mistakes) => panic!("{}", mistakes.render(false)),
    }
}

fn items(rng: &mut Rng) -> Vec<Item> {
    let mut items = Vec::new();
    let text = |text: &str| json!({ "S": text });
    for user in 0..4 {
        let (pk, name) = (format!("USER#u{user}"), format!("name {user}"));
        let mut item = json!({ "PK": text(&pk), "SK": text("USER"), "name": text(&name) });
        if rng.u8(..4) > 0 {
            item["friendId"] = text(&format!("u{}", rng.u8(..4)));
        }
        items.push(item);
        for group in 0..5 {
            if rng.u8(..3) == 0 {
                continue;
            }
            let (sk, group) = (format!("LINK#g{group}"), format!("GROUP#g{group}"));
            let mut item = json!({ "PK": text(&pk), "SK": text(&sk), "groupPk": text(&group) });
            item["role"] = text(["admin", "guest"][rng.usize(..2)]);
            if rng.u8(..3) == 0 {
                // In November of 2023, or in 2096.
                let time = ["1700000000", "4000000000"][rng.usize(..2)];
                item["ttl"] = json!({ "N": time });
            }
            items.push(item);
        }
    }
    for group in 0..5 {
        let pk = format!("GROUP#g{group}");
        let (title, parent) = (format!("title {group}"), format!("g{}", rng.u8(..5)));
        items.push(json!({ "PK": text(&pk), "SK": text("GROUP"), "title": text(&title), "parentId": text(&parent) }));
        for note in 0..rng.u8(..4) {
            items.push(json!({ "PK": text(&pk), "SK": text(&format!("NOTE#n{note}")), "text": text("hi") }));
        }
    }
    let line = |item: &Value| parse_line(&json!({ "Item": item }).to_string()).unwrap().unwrap();
    items.iter().map(line).collect()
}

async fn store(model: &Model, items: &[Item]) -> TableStore {
    let store = TableStore::in_memory().unwrap();
    store.create_missing(&model.tables).await.unwrap();
    store.load(&model.tables[0], items.to_vec(), support::deadline()).await.unwrap();
    store
}

/// The selections of a type, this many levels deep.
fn selection(rng: &mut Rng, ty: &str, levels: usize) -> String {
    let (fields, finds): (&[&str], &[(&str, &str)]) = match ty {
        "User" => (&["id", "name"], &[("friend", "User"), ("links", "Link"), ("page", "Page"), ("admins", "Link")]),
        "Link" => (&["userId", "groupId", "role", "expiresAt"], &[("user", "User"), ("group", "Group")]),
        "Page" => return format!("{{ nodes {} pageInfo {{ hasNextPage }} }}", selection(rng, "Link", levels)),
        "Group" => (&["id", "title"], &[("parent", "Group"), ("links", "Link"), ("notes", "Note")]),
        _ => (&["id", "text"], &[("group", "Group")]),
    };
    let mut selected: Vec<String> = fields.iter().filter(|_| rng.bool()).map(|field| (*field).to_owned()).collect();
    for (field, of) in finds.iter().filter(|_| levels > 0) {
        if rng.u8(..5) < 3 {
            selected.push(format!("{field} {}", selection(rng, of, levels - 1)));
        }
    }
    selected.push("__typename".to_owned());
    format!("{{ {} }}", selected.join(" "))
}

fn query(rng: &mut Rng) -> String {
    let fields = (0..1 + rng.usize(..3)).map(|number| {
        let (user, group, levels) = (rng.u8(..4), rng.u8(..6), 1 + rng.usize(..4));
        let (field, ty) = match rng.u8(..7) {
            0 | 1 => ("me".to_owned(), "User"),
            2 => (format!("user(id: \"u{user}\")"), "User"),
            3 => (format!("strong(id: \"u{user}\")"), "User"),
            4 => (format!("group(id: \"g{group}\")"), "Group"),
            5 => (format!("strongLinks(userId: \"u{user}\")"), "Link"),
            _ => ("all".to_owned(), "Group"),
        };
        format!("f{number}: {field} {}", selection(rng, ty, levels))
    });
    format!("{{ {} }}", fields.collect::<Vec<_>>().join(" "))
}

fn mutation(rng: &mut Rng) -> String {
    let fields = (0..1 + rng.usize(..3)).map(|number| {
        let (user, other, group, levels) = (rng.u8(..4), rng.u8(..4), rng.u8(..5), 1 + rng.usize(..4));
        let role = ["admin", "guest"][rng.usize(..2)];
        let (field, ty) = match rng.u8(..6) {
            0 => (format!("join(groupId: \"g{group}\", role: \"{role}\")"), "Link"),
            1 => (format!("leave(groupId: \"g{group}\")"), "Link"),
            2 => (format!("rename(id: \"u{user}\", name: \"{role}\")"), "User"),
            3 => (format!("retitle(id: \"g{group}\", title: \"{role}\")"), "Group"),
            4 => (format!("say(groupId: \"g{group}\", id: \"n{other}\", text: \"{role}\")"), "Note"),
            _ => (format!("friend(id: \"u{user}\", friendId: \"u{other}\")"), "User"),
        };
        format!("f{number}: {field} {}", selection(rng, ty, levels))
    });
    format!("mutation {{ {} }}", fields.collect::<Vec<_>>().join(" "))
}

/// A gateway that knows what it has read, or one that does not.
struct Side {
    gateway: Gateway,
    rereads: Arc<Rereads>,
}

impl Side {
    fn new(model: &Arc<Model>, store: Arc<dyn DataStore>, settings: Settings) -> Self {
        let rereads = Rereads::new(store);
        let store: Arc<dyn DataStore> = rereads.clone();
        Self { gateway: Gateway::new(model.clone(), store, settings), rereads }
    }

    fn request(text: &str) -> Request {
        Request { caller: support::caller(json!({ "sub": "u0" })), ..support::request(text, Value::Null) }
    }

    fn plan(&self, text: &str) -> String {
        let model = self.gateway.model();
        plan(model, &Self::request(text), &support::settings()).unwrap().0.to_text(model)
    }

    /// The answer to the user `u0`, and what calls did for it.
    async fn ask(&self, text: &str) -> (Value, Seen) {
        let answer = support::run(&self.gateway, &Self::request(text), false).await;
        (answer, self.rereads.take())
    }
}

fn cases(usual: u64) -> u64 {
    std::env::var("KEYFOLD_LAW_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(usual)
}

#[test]
fn answers_are_the_same_with_and_without_what_a_request_knows() {
    let (mut saved, mut refused, mut known) = (0, 0, 0);
    let (mut worse, mut better) = (0, 0);
    let count = cases(40);
    for seed in 0..count {
        let mut rng = Rng::with_seed(seed);
        let model = Arc::new(model(&mut rng));
        let items = items(&mut rng);
        let cache_bytes = if rng.bool() { 1 << 20 } else { 0 };
        let behind = rng.usize(..3);
        block_on(async {
            let side = async |known_items| {
                let store = (store(&model, &items).await, store(&model, &items).await);
                let passes = Passes { known_items, ..Passes::default() };
                Side::new(&model, Lagging::new(store, behind), Settings { cache_bytes, passes, ..support::settings() })
            };
            let (knowing, other) = (side(true).await, side(false).await);
            let mut past = String::new();
            for _ in 0..6 {
                let text = if rng.u8(..3) == 0 { mutation(&mut rng) } else { query(&mut rng) };
                let ((is, own), (expected, others)) = (knowing.ask(&text).await, other.ask(&text).await);
                assert_eq!(is, expected, "seed {seed}: {text}\nafter\n{past}");
                assert!(
                    own.again.is_empty(),
                    "seed {seed}: {text}\n asks again for {:#?}\n{}\n{:#?}",
                    own.again,
                    knowing.plan(&text),
                    own.calls
                );
                // What a Get brings, the cache keeps for later operations. What is known needs no Get. What rules look
                // up may come in another batch, where an earlier one has become needless.
                let (calls, of_others) = (own.calls.len(), others.calls.len());
                assert!(
                    cache_bytes > 0 || calls <= of_others + 1,
                    "seed {seed}: {text}\n{} calls instead of {}\n{}\n{:#?}\n{:#?}\nafter\n{past}",
                    own.calls.len(),
                    others.calls.len(),
                    knowing.plan(&text),
                    own.calls,
                    others.calls
                );
                if cache_bytes == 0 {
                    worse += usize::from(calls > of_others);
                    better += usize::from(calls < of_others);
                }
                saved += others.gets.saturating_sub(own.gets);
                known += others.again.len();
                refused += usize::from(is.to_string().contains("FORBIDDEN"));
                past += &format!("{text}\n");
            }
        });
    }
    eprintln!("known: {saved} Gets fewer, {known} that ask again without, {refused} refused");
    eprintln!("known: {better} operations with fewer calls, {worse} with one more");
    assert!(worse * 10 <= better, "{worse} operations with one call more, and {better} with fewer");
    let least = usize::try_from(count).unwrap();
    assert!(saved > least && known > least && refused * 4 > least, "the law tries too little");
}

/// An operation that reads the caller's links by a list, and what they lead to.
fn listed(rng: &mut Rng) -> String {
    let notes = ["", "notes { text }"][rng.usize(..2)];
    let parent = ["", "parent { title }", "parent { title parent { title } }"][rng.usize(..3)];
    let group = format!("group {{ title {notes} {parent} }}");
    let role = ["", "role"][rng.usize(..2)];
    let friend = match rng.u8(..3) {
        0 => format!("friend {{ name links {{ {role} {group} }} }}"),
        1 => "friend { name }".to_owned(),
        _ => String::new(),
    };
    format!("{{ me {{ name links {{ {role} {group} }} {friend} }} }}")
}

#[test]
fn rules_cost_no_call_where_a_list_brings_what_they_look_up() {
    let (mut calls, mut there, mut empty) = (0, 0, 0);
    for seed in 0..cases(200) {
        let mut rng = Rng::with_seed(seed);
        let ruled = model(&mut rng);
        let items = items(&mut rng);
        let text = listed(&mut rng);
        let settings = || Settings { cache_bytes: 0, ..support::settings() };
        block_on(async {
            let store: Arc<dyn DataStore> = store(&ruled, &items).await.into();
            let unruled = {
                let mut same = Rng::with_seed(seed);
                Arc::new(model(&mut same).without_rules())
            };
            let with = Side::new(&Arc::new(ruled), store.clone(), settings());
            let without = Side::new(&unruled, store, settings());
            let ((is, own), (_, others)) = (with.ask(&text).await, without.ask(&text).await);
            let more =
                format!("seed {seed}: {text}: {} calls instead of {}\n{is}", own.calls.len(), others.calls.len());
            let more = format!("{more}\n{}\n{:#?}\n{:#?}", with.plan(&text), own.calls, others.calls);
            // Where a rule refuses a list, a Get reads what a Query would have read with it.
            let reads = |seen: &Seen| seen.gets + seen.calls.iter().filter(|call| call.starts_with("Query")).count();
            assert!(own.calls.len() <= others.calls.len() && reads(&own) <= reads(&others), "{more}");
            calls += own.calls.len();
            there += usize::from(is.to_string().contains("title "));
            empty += usize::from(is.to_string().contains("FORBIDDEN"));
        });
    }
    eprintln!("known: {calls} calls, {there} operations show a group, {empty} are refused one");
    let least = usize::try_from(cases(200)).unwrap() / 10;
    assert!(there > 5 * least && empty > least, "{there} operations show a group, {empty} are refused one");
}
