//! Items that have expired are not there: reads, rules and writes give what they give on a table from which such items
//! are deleted at once.

use crate::support;
use keyfold::execute::gateway::Gateway;
use keyfold::execute::request::{Request, Settings};
use keyfold::plan::passes::Passes;
use keyfold::schema;
use keyfold::schema::model::Model;
use keyfold::table::data::attribute::{Attribute, Item, Key};
use keyfold::table::data::write::{WriteAction, WriteCall};
use keyfold::table::data_store::DataStore;
use keyfold::table::embedded::observer::Recorder;
use keyfold::table::store::TableStore;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};
use std::time::{SystemTime, UNIX_EPOCH};

const SCHEMA: &str = include_str!("../schemas/expired.graphql");
const YEAR: i64 = 366 * 24 * 60 * 60;
/// The times of items, in seconds from now. DynamoDB leaves what expired more than five years ago.
const TIMES: [i64; 8] = [-6 * YEAR, -4 * YEAR, -30 * 24 * 3600, -3600, -2, 3600, 24 * 3600, 3 * YEAR];
const CLUBS: [&str; 2] = ["c1", "c2"];
const USERS: [&str; 3] = ["ann", "bob", "cid"];
const IDS: [&str; 3] = ["p1", "p2", "p3"];

static MODEL: LazyLock<Arc<Model>> = LazyLock::new(|| model(SCHEMA));

fn model(text: &str) -> Arc<Model> {
    match schema::load("expired.graphql", text, &|_| None) {
        Ok((model, _)) => Arc::new(model),
        Err(mistakes) => panic!("{}", mistakes.render(false)),
    }
}

fn now() -> i64 {
    i64::try_from(SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs()).unwrap()
}

/// Whether an item or a guard has expired.
fn has_expired(item: &Item, now: i64) -> bool {
    let Some(Attribute::N(time)) = item.get("ttl") else { return false };
    let time: i64 = time.parse().unwrap();
    time <= now && time >= now - 1_826 * 24 * 3600
}

/// A table with its gateway.
struct World {
    store: TableStore,
    gateway: Gateway,
    calls: Arc<Recorder>,
}

impl World {
    async fn new(model: &Arc<Model>, items: &[Item], settings: Settings) -> Self {
        let calls = Arc::new(Recorder::default());
        let store = TableStore::in_memory_observed(calls.clone()).unwrap();
        store.create_missing(&model.tables).await.unwrap();
        store.load(&model.tables[0], items.to_vec(), support::deadline()).await.unwrap();
        calls.take();
        let gateway = Gateway::new(model.clone(), store.clone(), settings);
        Self { store, gateway, calls }
    }

    async fn run(&self, caller: &str, operation: &str) -> Value {
        let request =
            Request { caller: support::caller(json!({ "sub": caller })), ..support::request(operation, Value::Null) };
        support::run(&self.gateway, &request, false).await
    }

    /// All items and guards.
    async fn items(&self) -> Vec<Item> {
        let page = self.store.scan_page("clubs", None, 10_000, support::deadline()).await.unwrap();
        assert!(page.last_key.is_none());
        page.items
    }

    /// Deletes what has expired, at once.
    async fn sweep(&self, now: i64) {
        for item in self.items().await.iter().filter(|item| has_expired(item, now)) {
            let key = Key::new(item, "PK", Some("SK")).unwrap();
            let write = WriteCall { table: "clubs".into(), action: WriteAction::Delete(key), condition: None };
            self.store.write(&write, support::deadline().into()).await.unwrap();
        }
    }

    /// What is there, by its keys.
    async fn there(&self, now: i64) -> BTreeMap<String, String> {
        let items = self.items().await;
        let there = items.into_iter().filter(|item| !has_expired(item, now));
        there.map(|item| (key_text(&item), shown(&item))).collect()
    }
}

fn text(item: &Item, name: &str) -> String {
    if let Some(Attribute::S(text)) = item.get(name) { text.to_string() } else { String::new() }
}

fn key_text(item: &Item) -> String {
    format!("{} {}", text(item, "PK"), text(item, "SK"))
}

fn shown(item: &Item) -> String {
    let all: BTreeMap<&str, String> = item.members().map(|(name, value)| (&**name, format!("{value:?}"))).collect();
    format!("{all:?}")
}

fn item(key: (String, String), attributes: &[(&str, &str)], time: Option<i64>) -> Item {
    let text = |name: &str, value: &str| (name.to_owned(), Attribute::S(value.into()));
    let numbers = ["visits", "likes", "stamps"];
    let value = |(name, value): &(&str, &str)| match numbers.contains(name) {
        true => ((*name).to_owned(), Attribute::N((*value).into())),
        false => text(name, value),
    };
    let mut item: Item = attributes.iter().map(value).chain([text("PK", &key.0), text("SK", &key.1)]).collect();
    item.extend(time.map(|time| ("ttl".to_owned(), Attribute::N(time.to_string().as_str().into()))));
    item
}

/// A membership, with the guard of its code.
fn membership((club, user): (&str, &str), role: &str, code: Option<&str>, time: Option<i64>) -> Vec<Item> {
    let (pk, sk) = (format!("CLUB#{club}"), format!("MEMBER#{user}"));
    let mut attributes = vec![
        ("clubId", club),
        ("userId", user),
        ("user", user),
        ("since", "2020"),
        ("plan", "gold"),
        ("role", role),
        ("visits", "1"),
    ];
    attributes.extend(code.map(|code| ("code", code)));
    attributes.retain(|(name, _)| !["clubId", "userId"].contains(name));
    let guard = code.map(|code| {
        let key = (format!("Unique#Membership.code#{code}"), "Unique#Membership.code".to_owned());
        item(key, &[("ownerPK", &pk), ("ownerSK", &sk)], time)
    });
    std::iter::once(item((pk.clone(), sk.clone()), &attributes, time)).chain(guard).collect()
}

/// A pass with the guard of its chip, or a visa.
fn document((club, id): (&str, &str), is_pass: bool, time: Option<i64>) -> Vec<Item> {
    let (pk, sk, chip) = (format!("CLUB#{club}"), format!("DOC#{id}"), format!("{club}{id}"));
    if !is_pass {
        return vec![item((pk, sk), &[("kind", "VISA"), ("stamps", "0")], time)];
    }
    let guard = (format!("Unique#Pass.chip#{chip}"), "Unique#Pass.chip".to_owned());
    let guard = item(guard, &[("ownerPK", &pk), ("ownerSK", &sk)], time);
    vec![item((pk, sk), &[("kind", "PASS"), ("chip", &chip)], time), guard]
}

/// Random items with times around now.
fn random_items(rng: &mut fastrand::Rng, now: i64) -> Vec<Item> {
    let mut items = Vec::new();
    let time = |rng: &mut fastrand::Rng| rng.u8(..4).gt(&0).then(|| now + TIMES[rng.usize(..TIMES.len())]);
    for user in USERS {
        items.push(item((format!("USER#{user}"), "USER".to_owned()), &[("name", user)], None));
    }
    for club in CLUBS {
        items.push(item((format!("CLUB#{club}"), "CLUB".to_owned()), &[("name", club)], None));
        for user in USERS.into_iter().filter(|_| rng.u8(..4) > 0).collect::<Vec<_>>() {
            let code = format!("{club}{user}");
            let role = ["OWNER", "MEMBER", "GUEST"][rng.usize(..3)];
            items.extend(membership((club, user), role, rng.bool().then_some(code.as_str()), time(rng)));
        }
        for id in IDS.into_iter().filter(|_| rng.u8(..4) > 0).collect::<Vec<_>>() {
            let key = (format!("CLUB#{club}"), format!("POST#{id}"));
            items.push(item(key, &[("topic", "news"), ("text", id), ("likes", "1")], time(rng)));
            let key = (format!("CLUB#{club}"), format!("NOTE#{id}"));
            items.push(item(key, &[("ownerId", USERS[rng.usize(..3)]), ("text", id)], time(rng)));
            items.extend(document((club, id), rng.bool(), time(rng)));
        }
    }
    items
}

const MEMBERSHIP: &str = "{ clubId userId since plan role visits code expiresAt }";

fn read(rng: &mut fastrand::Rng, now: i64) -> String {
    let (club, user, id) = (CLUBS[rng.usize(..2)], USERS[rng.usize(..3)], IDS[rng.usize(..3)]);
    let first = 1 + rng.u8(..3);
    let field = match rng.u8(..17) {
        0 => format!("user(id: {user:?}) {{ name memberships {MEMBERSHIP} isMember }}"),
        1 => format!("user(id: {user:?}) {{ clubs {{ id name }} }}"),
        2 => format!(
            "club(id: {club:?}) {{ name first {MEMBERSHIP} hasPosts posts(first: {first}) {{ nodes {{ id text }} pageInfo {{ hasNextPage }} }} }}"
        ),
        3 => format!(
            "club(id: {club:?}) {{ members(first: {first}) {{ totalCount nodes {MEMBERSHIP} pageInfo {{ hasNextPage }} }} postCount memberCount }}"
        ),
        4 => format!("club(id: {club:?}) {{ memberCount posts(first: 9) {{ nodes {{ id }} }} }}"),
        5 => format!("membership(clubId: {club:?}, userId: {user:?}) {MEMBERSHIP}"),
        6 => format!("memberships(clubId: {club:?}, userIds: [\"ann\", \"cid\", \"ann\", \"bob\"]) {MEMBERSHIP}"),
        7 => format!("isMember(clubId: {club:?}, userId: {user:?})"),
        8 => format!("note(clubId: {club:?}, id: {id:?}) {{ text expiresAt }}"),
        9 => format!("post(clubId: {club:?}, id: {id:?}) {{ text expiresAt likes }}"),
        10 => format!("onPlan(plan: \"gold\") {MEMBERSHIP}"),
        11 => format!("all: onTopic(topic: \"news\") some: onTopic(topic: \"news\", until: {})", now + 5000),
        12 => format!("liked(clubId: {club:?})"),
        13 => "entries { __typename ... on Membership { userId } ... on Note { id } }".to_owned(),
        14 => format!("pass(clubId: {club:?}, id: {id:?}) {{ chip }} visa(clubId: {club:?}, id: {id:?}) {{ stamps }}"),
        15 => format!("membership(clubId: {club:?}, userId: {user:?}) {{ user {{ clubs {{ id }} }} club {{ name }} }}"),
        _ => format!("office(clubId: {club:?})"),
    };
    format!("{{ {field} }}")
}

fn write(rng: &mut fastrand::Rng, now: i64) -> String {
    let (club, user, id) = (CLUBS[rng.usize(..2)], USERS[rng.usize(..3)], IDS[rng.usize(..3)]);
    let key = format!("clubId: {club:?}, userId: {user:?}");
    let post = format!("clubId: {club:?}, id: {id:?}");
    let time = match rng.u8(..4) {
        0 => "null".to_owned(),
        _ => (now + TIMES[rng.usize(..TIMES.len())]).to_string(),
    };
    let code = ["null", "\"x\"", "\"y\"", "\"c1ann\"", "\"c2bob\""][rng.usize(..5)];
    let role = ["\"OWNER\"", "\"MEMBER\"", "\"GUEST\""][rng.usize(..3)];
    let whole = format!("{key}, since: \"2021\", plan: \"gold\", role: {role}");
    let field = match rng.u8(..28) {
        0..3 => format!("enrol({whole}, code: {code}, expiresAt: {time}) {MEMBERSHIP}"),
        3 | 4 => format!("setMembership({whole}, code: {code}, expiresAt: {time}) {MEMBERSHIP}"),
        5 | 6 => format!("join({whole}, expiresAt: {time}) {MEMBERSHIP}"),
        7 => format!("setRole({key}, role: {role}) {MEMBERSHIP}"),
        8 => format!("setCode({key}, code: {code}) {MEMBERSHIP}"),
        9 => format!("prolong({key}, expiresAt: {time}) {MEMBERSHIP}"),
        10 => format!("visit({key}) {MEMBERSHIP}"),
        11 => format!("leave({key}) {MEMBERSHIP}"),
        12 => format!("act({key})"),
        13 => format!("isFree({key})"),
        14 => format!("publish({post}, topic: \"news\", text: \"t\", expiresAt: {time}) {{ text expiresAt likes }}"),
        15 => format!("publishNew({post}, text: \"n\", expiresAt: {time}) {{ text expiresAt likes }}"),
        16 => format!("publishOver({post}, text: \"o\", expiresAt: {time}) {{ text topic expiresAt likes }}"),
        17 => format!("like({post}) {{ text topic expiresAt likes }}"),
        18 => format!("edit({post}, text: \"e\") {{ text topic expiresAt likes }}"),
        19 => format!("unpublish({post}) {{ text }} other: unpublishPlain({post}) {{ text }}"),
        20 => match rng.u8(..3) {
            0 => format!("clear(clubId: {club:?}) {{ id }}"),
            1 => format!("close(id: {club:?}) {{ id }}"),
            _ => format!("found(id: {club:?}, name: \"f\") {{ name }}"),
        },
        21 => format!("copy({key}, id: {id:?}) {{ topic }}"),
        22 => match rng.bool() {
            true => format!("write({post}, ownerId: {user:?}, text: \"w\", expiresAt: {time}) {{ text }}"),
            false => format!("rewrite({post}, text: \"r\") {{ text expiresAt }}"),
        },
        23..27 => write_document(rng, (&post, &time)),
        _ => format!("begin({key}, since: \"2022\", role: {role}, code: {code}, id: {id:?}, expiresAt: {time})"),
    };
    format!("mutation {{ {field} }}")
}

/// A write of a pass or of a visa, whichever has the key.
fn write_document(rng: &mut fastrand::Rng, (key, time): (&str, &str)) -> String {
    let chip = ["null", "\"x\"", "\"c1p1\"", "\"c2p2\""][rng.usize(..4)];
    match rng.u8(..7) {
        0 => format!("issuePass({key}, chip: {chip}, expiresAt: {time}) {{ chip expiresAt }}"),
        1 => format!("renewPass({key}, chip: {chip}, expiresAt: {time}) {{ chip expiresAt }}"),
        2 => format!("issueVisa({key}, expiresAt: {time}) {{ stamps expiresAt }}"),
        3 => format!("renewVisa({key}, expiresAt: {time}) {{ stamps expiresAt }}"),
        4 => format!("stamp({key}) {{ stamps expiresAt }}"),
        5 => format!("prolongVisa({key}, expiresAt: {time}) {{ stamps expiresAt }}"),
        _ => format!("revoke({key}) {{ chip }}"),
    }
}

fn cases(default: u64) -> std::ops::Range<u64> {
    let number = |name: &str, default| std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default);
    let seed = number("KEYFOLD_LAW_SEED", 0);
    seed..seed + number("KEYFOLD_LAW_CASES", default)
}

fn settings(rng: &mut fastrand::Rng) -> Settings {
    let (early_waves, shared_queries, projection) = (rng.bool(), rng.bool(), rng.bool());
    let passes = Passes { early_waves, shared_queries, projection, known_items: rng.bool() };
    Settings { passes, cache_bytes: if rng.bool() { 1 << 20 } else { 0 }, ..support::settings() }
}

/// The first operation of a case whose answer, or what it leaves, is another than on a table without expired items.
async fn difference(model: &Arc<Model>, seed: u64) -> Option<String> {
    let mut rng = fastrand::Rng::with_seed(seed);
    let now = now();
    let items = random_items(&mut rng, now);
    let is = World::new(model, &items, settings(&mut rng)).await;
    let expected = World::new(&MODEL, &items, support::settings()).await;
    expected.sweep(now).await;
    let mut past = Vec::new();
    for _ in 0..30 {
        let caller = USERS[rng.usize(..3)];
        let operation = if rng.bool() { read(&mut rng, now) } else { write(&mut rng, now) };
        past.push(format!("{caller}: {operation}"));
        let (answer, wanted) = (is.run(caller, &operation).await, expected.run(caller, &operation).await);
        expected.sweep(now).await;
        let (left, wanted_left) = (is.there(now).await, expected.there(now).await);
        if answer != wanted || left != wanted_left {
            return Some(format!("seed {seed}\n{}\n{answer}\n{wanted}\n{left:#?}\n{wanted_left:#?}", past.join("\n")));
        }
    }
    None
}

#[tokio::test]
async fn what_has_expired_is_as_if_it_were_deleted() {
    for seed in cases(30) {
        let difference = difference(&MODEL, seed).await;
        assert!(difference.is_none(), "{}", difference.unwrap_or_default());
    }
}

#[tokio::test]
async fn a_table_that_shows_what_has_expired_is_another() {
    let shown = model(&SCHEMA.replace("HIDDEN", "SHOWN"));
    for seed in 0..5 {
        assert!(difference(&shown, seed).await.is_some(), "seed {seed}");
    }
}

#[tokio::test]
async fn no_read_costs_a_call_more_than_without_expiry() {
    let shown = model(&SCHEMA.replace("HIDDEN", "SHOWN"));
    for seed in cases(30) {
        let mut rng = fastrand::Rng::with_seed(seed);
        let now = now();
        let items: Vec<Item> = random_items(&mut rng, now).into_iter().filter(|item| !has_expired(item, now)).collect();
        let settings = settings(&mut rng);
        let (hides, shows) =
            (World::new(&MODEL, &items, settings.clone()).await, World::new(&shown, &items, settings).await);
        for _ in 0..10 {
            let (caller, operation) = (USERS[rng.usize(..3)], read(&mut rng, now));
            assert_eq!(hides.run(caller, &operation).await, shows.run(caller, &operation).await, "{operation}");
            let (of_hides, of_shows) = (hides.calls.take().len(), shows.calls.take().len());
            // The index of plans does not hold the time.
            let most = of_shows + usize::from(operation.contains("onPlan"));
            assert!(of_hides <= most, "seed {seed}: {of_hides} calls instead of {of_shows}\n{operation}");
        }
    }
}

/// Whether each living owner has its guard with its own time, and each living guard its living owner.
async fn check_guards(world: &World, now: i64, past: &str) {
    let there: Vec<Item> = world.items().await.into_iter().filter(|item| !has_expired(item, now)).collect();
    let is_guard = |item: &&Item| text(item, "PK").starts_with("Unique#");
    let unique = |item: &Item| {
        let fields = [("code", "Membership.code"), ("chip", "Pass.chip")];
        fields.into_iter().find(|(name, _)| item.contains_key(name)).map(|(name, field)| (text(item, name), field))
    };
    let mut needed = 0;
    for (owner, (value, field)) in there.iter().filter_map(|item| Some((item, unique(item)?))) {
        let key = format!("Unique#{field}#{value}");
        let guard = there.iter().find(|item| text(item, "PK") == key);
        let guard = guard.unwrap_or_else(|| panic!("{} has no guard\n{past}", shown(owner)));
        let own = [text(owner, "PK"), text(owner, "SK")];
        assert_eq!([text(guard, "ownerPK"), text(guard, "ownerSK")], own, "{}\n{past}", shown(guard));
        assert_eq!(guard.get("ttl"), owner.get("ttl"), "{}\n{past}", shown(owner));
        needed += 1;
    }
    assert_eq!(there.iter().filter(is_guard).count(), needed, "a value is taken by an owner that is not there\n{past}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_unique_value_of_an_expired_owner_is_free_for_one_of_16_writers() {
    for (round, left) in [-2, -30 * 24 * 3600, 3600].into_iter().enumerate() {
        let now = now();
        let items = membership(("c1", "old"), "MEMBER", Some("x"), Some(now + left));
        let world = Arc::new(World::new(&MODEL, &items, support::settings()).await);
        let enrol = |number: usize| {
            // Some take the place of the expired owner itself.
            let user = if number.is_multiple_of(4) { "old".to_owned() } else { format!("u{number}") };
            let time = if number.is_multiple_of(2) { "null".to_owned() } else { (now + 7200).to_string() };
            let world = world.clone();
            async move {
                let operation = format!(
                    "mutation {{ enrol(clubId: \"c1\", userId: {user:?}, since: \"1\", role: \"GUEST\", code: \"x\", expiresAt: {time}) {{ code }} }}"
                );
                world.run("ann", &operation).await
            }
        };
        let answers = futures_util::future::join_all((0..16).map(enrol)).await;
        let won = answers.iter().filter(|answer| answer["data"]["enrol"]["code"] == "x").count();
        assert_eq!(won, usize::from(left < 0), "round {round}: {answers:#?}");
        let others = answers.iter().filter(|answer| answer["errors"][0]["extensions"]["code"] == "CONFLICT").count();
        assert_eq!(won + others, 16, "{answers:#?}");
        check_guards(&world, now, "16 writers of one value").await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_living_owner_is_without_its_guard_whoever_writes_beside() {
    for seed in cases(8) {
        let mut rng = fastrand::Rng::with_seed(seed);
        let now = now();
        let world = World::new(&MODEL, &random_items(&mut rng, now), support::settings()).await;
        let mut past = format!("seed {seed}");
        for round in 0..3 {
            let of_owners = ["enrol", "setMembership", "setCode", "prolong", "leave", "join"];
            let of_documents = ["issuePass", "renewPass", "revoke", "issueVisa", "renewVisa", "stamp"];
            let names = if rng.bool() { of_owners } else { of_documents };
            let is_chosen = |operation: &String| names.iter().any(|name| operation.contains(name));
            let operations = std::iter::repeat_with(|| write(&mut rng, now)).filter(is_chosen).take(16);
            let operations: Vec<String> = operations.collect();
            let answers = operations.iter().map(|operation| world.run("ann", operation));
            for (answer, operation) in futures_util::future::join_all(answers).await.iter().zip(&operations) {
                past.push_str(&format!("\n{round}: {operation} {answer}"));
                let code = &answer["errors"][0]["extensions"]["code"];
                assert!(code.is_null() || code == "CONFLICT" || code == "NOT_FOUND", "{operation}\n{answer}");
            }
            check_guards(&world, now, &past).await;
        }
    }
}

/// A response may be kept until the first of its items expires.
#[tokio::test]
async fn a_response_is_not_kept_beyond_the_time_of_an_item() {
    let now = now();
    for (left, most) in [(100, 100), (10_000, 600)] {
        let mut items = membership(("c1", "ann"), "OWNER", None, Some(now + left));
        items.push(item(("CLUB#c1".to_owned(), "POST#p1".to_owned()), &[("text", "secret")], None));
        // Of the item itself, and of what lets the caller see another.
        let own = format!("{{ membership(clubId: \"c1\", userId: \"ann\") {MEMBERSHIP} }}");
        for operation in [own.as_str(), "{ post(clubId: \"c1\", id: \"p1\") { text } }"] {
            let world = World::new(&MODEL, &items, Settings { cache_bytes: 1 << 20, ..support::settings() }).await;
            let caller = support::caller(json!({ "sub": "ann" }));
            let request = Request { caller, ..support::request(operation, Value::Null) };
            for _ in 0..2 {
                let prepared = world.gateway.prepare(&request).await.unwrap();
                let age = world.gateway.run(&prepared, support::deadline(), false).await.policy.max_age;
                assert!(age <= most && age + 60 > most, "{operation}: {age} seconds, {left} left");
            }
        }
    }
}

/// A membership that lapsed a moment ago lets nobody in, by any kind of rule; one that lasts does.
#[tokio::test]
async fn a_lapsed_membership_lets_nobody_in() {
    let operations = [
        ("of the item, read", "{ club(id: \"c1\") { name } }"),
        ("that hides", "{ post(clubId: \"c1\", id: \"p1\") { text } }"),
        ("of a field, with a condition", "{ office(clubId: \"c1\") }"),
        ("on a path", "{ user(id: \"ann\") { clubs { name } } }"),
        ("of the item, written", "mutation { found(id: \"c1\", name: \"x\") { name } }"),
        ("of a new item", "mutation { publish(clubId: \"c1\", id: \"p9\", text: \"x\") { text } }"),
        ("of a changed item", "mutation { edit(clubId: \"c1\", id: \"p1\", text: \"x\") { text } }"),
        ("of an upsert", "mutation { like(clubId: \"c1\", id: \"p1\") { text } }"),
        ("of a deleted item", "mutation { unpublish(clubId: \"c1\", id: \"p1\") { text } }"),
        ("of many items", "mutation { clear(clubId: \"c1\") { text } }"),
        ("of a check", "mutation { act(clubId: \"c1\", userId: \"ann\") }"),
        ("of a find", "mutation { copy(clubId: \"c1\", userId: \"ann\", id: \"p8\") { topic } }"),
        ("of a cascade", "mutation { close(id: \"c1\") { id } }"),
        ("of a subscription", "subscription { club(id: \"c1\") { name } }"),
        ("of the watched item", "subscription { membership(clubId: \"c1\", userId: \"ann\") { role } }"),
    ];
    for settings in [support::settings(), Settings { cache_bytes: 1 << 20, ..support::settings() }] {
        for (left, is_let_in) in [(-1, false), (3600, true)] {
            for (rule, operation) in &operations {
                let mut items = membership(("c1", "ann"), "OWNER", None, Some(now() + left));
                items.push(item(("USER#ann".to_owned(), "USER".to_owned()), &[("name", "ann")], None));
                items.push(item(("CLUB#c1".to_owned(), "CLUB".to_owned()), &[("name", "c1")], None));
                items.push(item(("CLUB#c1".to_owned(), "POST#p1".to_owned()), &[("text", "secret")], None));
                let world = World::new(&MODEL, &items, settings.clone()).await;
                let before = world.items().await.len();
                let answer = world.run("ann", operation).await;
                let field = answer["data"].as_object().and_then(|data| data.values().next()).unwrap_or(&Value::Null);
                let clubs = &field["clubs"];
                let is_in = match field {
                    Value::Bool(is_in) => *is_in,
                    _ if clubs.is_array() => !clubs.as_array().unwrap().is_empty(),
                    Value::Array(all) => !all.is_empty(),
                    other => !other.is_null(),
                };
                assert_eq!(is_in, is_let_in, "a rule {rule}, {left} seconds left: {answer}");
                if !is_let_in {
                    assert_eq!(world.items().await.len(), before, "a rule {rule}");
                    assert!(!answer.to_string().contains("secret"), "{answer}");
                }
            }
        }
    }
}
