//! Kills the gateway while it writes, round after round, and checks the rest: nothing is half written, and nothing
//! acknowledged is lost.

use crate::support;
use keyfold::table::data::attribute::{Attribute, Item};
use keyfold::table::store::TableStore;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tempfile::NamedTempFile;

const ROUNDS: usize = 50;
const WRITERS: usize = 4;
/// The most users that a writer signs up in a round.
const USERS: usize = 32;

/// The gateway in its own process, on a data directory.
struct Process {
    child: Child,
    url: String,
    /// The file with the keys of the users.
    _keys: NamedTempFile,
}

impl Process {
    /// Each user signs in with a key that is the user's name.
    fn start(schema: &str, data: &Path, users: impl Iterator<Item = String>) -> Self {
        let hash = |user: &str| Sha256::digest(user).iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        let users: Vec<Value> = users.map(|user| json!({ "name": user, "sha256": hash(&user) })).collect();
        let keys = NamedTempFile::new().unwrap();
        std::fs::write(keys.path(), Value::from(users).to_string()).unwrap();
        let mut child = Command::new(env!("CARGO_BIN_EXE_keyfold"))
            .args(["dev", "--listen", "127.0.0.1:0", "--no-sample", "--schema", schema, "--data"])
            .arg(data)
            .arg("--api-keys-file")
            .arg(keys.path())
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut lines = lines.map(|line| line.unwrap());
        let url = lines
            .find_map(|line| line.split_whitespace().find(|word| word.ends_with("/graphql")).map(str::to_owned))
            .unwrap();
        // A process that writes to a closed pipe dies, so read the rest, too.
        std::thread::spawn(move || lines.for_each(drop));
        Self { child, url, _keys: keys }
    }

    fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

/// What a round acknowledged: ids by type.
#[derive(Default, Debug)]
struct Acknowledged {
    users: BTreeSet<String>,
    groups: BTreeSet<String>,
    containers: BTreeSet<String>,
    deleted: BTreeSet<String>,
}

/// A gateway, and who writes there.
struct Writer<'a> {
    url: &'a str,
    client: &'a reqwest::Client,
    user: &'a str,
}

impl Writer<'_> {
    async fn post(&self, query: &str, variables: Value) -> Option<Value> {
        let answer = self
            .client
            .post(self.url)
            .header("x-api-key", self.user)
            .json(&json!({ "query": query, "variables": variables }))
            .send()
            .await
            .ok()?;
        let answer: Value = answer.json().await.ok()?;
        assert_eq!(answer["errors"], Value::Null, "{answer}");
        Some(answer["data"].clone())
    }
}

/// Writes until the gateway is gone.
async fn write(url: String, writer: String, count: Arc<AtomicUsize>) -> Acknowledged {
    let client = reqwest::Client::builder().timeout(Duration::from_secs(60)).build().unwrap();
    let mut done = Acknowledged::default();
    for turn in 0..USERS {
        let user = format!("{writer}t{turn}");
        let by_user = Writer { url: &url, client: &client, user: &user };
        let email = format!("{writer}-{turn}@example.com");
        let sign_up = "mutation ($e: String!) { createUser(name: \"U\", email: $e) { id } }";
        if by_user.post(sign_up, json!({ "e": email })).await.is_none() {
            break;
        }
        done.users.insert(user.clone());
        let group = "mutation { createGroup(name: \"G\") { id } }";
        let Some(group) = by_user.post(group, json!({})).await else { break };
        let group = group["createGroup"]["id"].as_str().unwrap().to_owned();
        done.groups.insert(group.clone());
        let container = "mutation ($g: ID!) { createContainer(groupId: $g, name: \"C\") { id } }";
        let Some(container) = by_user.post(container, json!({ "g": group })).await else { break };
        let container = container["createContainer"]["id"].as_str().unwrap().to_owned();
        done.containers.insert(container.clone());
        let change = "mutation ($e: String!) { changeEmail(email: $e) { id } }";
        if by_user.post(change, json!({ "e": format!("new-{email}") })).await.is_none() {
            break;
        }
        count.fetch_add(1, Ordering::Relaxed);
        if turn % 2 == 0 {
            // The outcome of an interrupted delete is unknown, so expect neither.
            done.groups.remove(&group);
            done.containers.remove(&container);
            if by_user.post("mutation ($g: ID!) { deleteGroup(id: $g) }", json!({ "g": group })).await.is_none() {
                break;
            }
            done.deleted.extend([group, container]);
        }
    }
    done
}

fn text(item: &Item, attribute: &str) -> String {
    match item.get(attribute) {
        Some(Attribute::S(text)) => text.clone().into(),
        other => panic!("{attribute} is {other:?}"),
    }
}

async fn everything(table: &str, data: &Path) -> Vec<Item> {
    let store = TableStore::in_directory(data).unwrap();
    let mut items = Vec::new();
    let mut start = None;
    loop {
        let page = store.scan_page(table, start, 1_000, support::deadline()).await.unwrap();
        items.extend(page.items);
        start = page.last_key;
        if start.is_none() {
            return items;
        }
    }
}

/// Checks that the items in the table are whole.
fn check(items: &[Item], acknowledged: &Acknowledged) {
    let keys: BTreeMap<(String, String), &Item> =
        items.iter().map(|item| ((text(item, "PK"), text(item, "SK")), item)).collect();
    let has = |pk: &str, sk: &str| keys.contains_key(&(pk.to_owned(), sk.to_owned()));
    let mut guarded = BTreeSet::new();
    for ((pk, sk), item) in &keys {
        if pk.starts_with("Unique#") {
            let owner = items.iter().find(|owner| {
                owner.get("SK") == Some(&Attribute::S("User".into()))
                    && pk.ends_with(&format!("#{}", text(owner, "EMailAddress")))
            });
            assert!(owner.is_some(), "the guard {pk} {sk} has no owner");
            guarded.insert(pk.clone());
        } else if sk == "Group" {
            let members =
                items.iter().filter(|link| link.get("SK") == Some(&Attribute::S(format!("Group#{pk}").into()))).count();
            assert!(members > 0, "the group {pk} has no member");
        } else if sk == "Container" {
            let link = items.iter().any(|link| link.get("SK") == Some(&Attribute::S(format!("Container#{pk}").into())));
            assert!(link, "the container {pk} belongs to no group");
        } else if let Some(group) = sk.strip_prefix("Group#") {
            assert!(has(group, "Group"), "the membership {pk} {sk} is of no group");
        } else if let Some(container) = sk.strip_prefix("Container#") {
            assert!(has(container, "Container") && has(pk, "Group"), "the link {pk} {sk} leads to nothing");
        } else if sk == "User" {
            let guard = keys.keys().any(|(key, _)| {
                key.starts_with("Unique#") && key.ends_with(&format!("#{}", text(item, "EMailAddress")))
            });
            assert!(guard, "the user {pk} has no guard for {}", text(item, "EMailAddress"));
        }
    }
    for (ids, sk) in
        [(&acknowledged.users, "User"), (&acknowledged.groups, "Group"), (&acknowledged.containers, "Container")]
    {
        ids.iter().for_each(|id| assert!(has(id, sk), "{sk} {id} was acknowledged and is lost"));
    }
    acknowledged
        .deleted
        .iter()
        .for_each(|id| assert!(!has(id, "Group") && !has(id, "Container"), "{id} was deleted and is there"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_half_written_when_the_gateway_is_killed() {
    let data = tempfile::tempdir().unwrap();
    let mut acknowledged = Acknowledged::default();
    let mut turns = 0;
    for round in 0..ROUNDS {
        let users = (0..WRITERS).flat_map(|writer| (0..USERS).map(move |turn| format!("r{round}w{writer}t{turn}")));
        let process = Process::start("schema.graphql", data.path(), users);
        let count = Arc::new(AtomicUsize::new(0));
        let writers: Vec<_> = (0..WRITERS)
            .map(|writer| tokio::spawn(write(process.url.clone(), format!("r{round}w{writer}"), count.clone())))
            .collect();
        // After a number of turns that differs from round to round, in the middle of a write.
        let until = round % 7;
        while count.load(Ordering::Relaxed) < until {
            tokio::task::yield_now().await;
        }
        process.kill();
        for writer in writers {
            let done = writer.await.unwrap();
            acknowledged.users.extend(done.users);
            acknowledged.groups.extend(done.groups);
            acknowledged.containers.extend(done.containers);
            acknowledged.deleted.extend(done.deleted);
        }
        turns += count.load(Ordering::Relaxed);
        check(&everything("nishiki-table-dev-db", data.path()).await, &acknowledged);
    }
    assert!(turns > ROUNDS, "hardly anything was written in {ROUNDS} rounds: {turns} turns");
}

/// Tags favorites and deletes the tags again until the gateway is gone; the tags whose deletion was acknowledged.
async fn tag(url: String, writer: String, count: Arc<AtomicUsize>) -> BTreeSet<String> {
    let client = reqwest::Client::builder().timeout(Duration::from_secs(60)).build().unwrap();
    let mut deleted = BTreeSet::new();
    let sign_up = "mutation ($e: String!) { createUser(name: \"U\", email: $e) { id } }";
    let by_user = Writer { url: &url, client: &client, user: &writer };
    if by_user.post(sign_up, json!({ "e": format!("{writer}@example.com") })).await.is_none() {
        return deleted;
    }
    loop {
        let tag = "mutation { createTag(name: \"T\") { id } }";
        let Some(tag) = by_user.post(tag, json!({})).await else { break };
        let tag = tag["createTag"]["id"].clone();
        let input = json!({ "title": "F", "contentUrl": "https://example.com", "type": "LINK" });
        for _ in 0..3 {
            let collect = "mutation ($i: FavoriteInput!) { collectFavorite(input: $i) { id } }";
            let Some(favorite) = by_user.post(collect, json!({ "i": input })).await else { return deleted };
            let link = "mutation ($f: ID!, $t: ID!) { tagFavorite(favoriteId: $f, tagId: $t) { tagId } }";
            let variables = json!({ "f": favorite["collectFavorite"]["id"], "t": tag });
            if by_user.post(link, variables).await.is_none() {
                return deleted;
            }
        }
        count.fetch_add(1, Ordering::Relaxed);
        let delete = "mutation ($t: ID!) { deleteTag(id: $t) { id } }";
        if by_user.post(delete, json!({ "t": tag })).await.is_none() {
            break;
        }
        deleted.insert(tag.as_str().unwrap().to_owned());
    }
    deleted
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_tagging_of_a_deleted_tag_is_left_when_the_gateway_is_killed() {
    let data = tempfile::tempdir().unwrap();
    let (mut turns, mut deleted) = (0, BTreeSet::new());
    for round in 0..ROUNDS {
        let users = (0..WRITERS).map(|writer| format!("r{round}w{writer}"));
        let process = Process::start("schema.graphql", data.path(), users);
        let count = Arc::new(AtomicUsize::new(0));
        let writers: Vec<_> = (0..WRITERS)
            .map(|writer| tokio::spawn(tag(process.url.clone(), format!("r{round}w{writer}"), count.clone())))
            .collect();
        while count.load(Ordering::Relaxed) < round % 7 {
            tokio::task::yield_now().await;
        }
        process.kill();
        for writer in writers {
            deleted.extend(writer.await.unwrap());
        }
        turns += count.load(Ordering::Relaxed);
        let items = everything("develop.Favorite", data.path()).await;
        let of = |prefix: &str| items.iter().filter(|item| text(item, "pk").starts_with(prefix)).collect::<Vec<_>>();
        let tags: BTreeSet<String> = of("Tag#").into_iter().map(|tag| text(tag, "sk")).collect();
        for tagging in of("FavoriteDataTag#") {
            assert!(tags.contains(&text(tagging, "sk")), "a tagging of a tag that is not there: {tagging:?}");
        }
        deleted.iter().for_each(|tag| assert!(!tags.contains(tag), "{tag} was deleted and is there"));
    }
    assert!(turns > ROUNDS, "hardly anything was written in {ROUNDS} rounds: {turns} turns");
}
