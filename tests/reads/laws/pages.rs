//! The pages of a connection together are the whole connection: nothing twice, nothing missing, and every page full but
//! the last. This holds in either direction and from any item, with filters, merged ranges and links to missing items.

use super::choices::Choices;
use super::world::{self, block_on, data, item};
use crate::support;
use keyfold::execute::gateway::Gateway;
use keyfold::schema::model::Model;
use keyfold::table::data::attribute::{Attribute, Item};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::sync::{Arc, LazyLock};

static MODEL: LazyLock<Arc<Model>> = LazyLock::new(|| support::unruled_model("pantry"));
static WORKSHOP: LazyLock<Arc<Model>> = LazyLock::new(|| support::model("workshop"));
static SHARDS: LazyLock<Arc<Model>> = LazyLock::new(|| support::model("shards"));

/// A connection: the operation up to its arguments, which `…` marks, and the path from `data` to it.
pub struct Connection<'a> {
    pub query: &'a str,
    pub way: &'a str,
    /// Whether the operation selects its edges, so that a page may begin after any of them.
    pub edges: bool,
}

impl Connection<'_> {
    pub async fn page(&self, gateway: &Gateway, arguments: &str) -> Value {
        data(gateway, &self.query.replace('…', arguments)).await.pointer(self.way).unwrap().clone()
    }

    /// Reads it at once and page by page, and compares.
    pub async fn check(&self, gateway: &Gateway, sizes: &mut Choices, backward: bool) -> Result<(), TestCaseError> {
        let nodes = |page: &Value| page["nodes"].as_array().unwrap().clone();
        let whole = self.page(gateway, if backward { "last: 1000" } else { "first: 1000" }).await;
        prop_assert_eq!(
            &whole["pageInfo"],
            &json!({"hasNextPage": false, "hasPreviousPage": false,
            "startCursor": whole["pageInfo"]["startCursor"], "endCursor": whole["pageInfo"]["endCursor"]})
        );
        let all = nodes(&whole);
        let (mut read, mut from): (Vec<Value>, Option<String>) = (Vec::new(), None);
        loop {
            let size = 1 + sizes.below(6);
            let (count, side) = if backward { ("last", "before") } else { ("first", "after") };
            let after = from.as_ref().map(|cursor| format!(", {side}: \"{cursor}\"")).unwrap_or_default();
            let page = self.page(gateway, &format!("{count}: {size}{after}")).await;
            let here = nodes(&page);
            let info = &page["pageInfo"];
            let (more, behind) =
                if backward { ("hasPreviousPage", "hasNextPage") } else { ("hasNextPage", "hasPreviousPage") };
            prop_assert_eq!(&info[behind], &json!(from.is_some()));
            let mut taken = here.len();
            if self.edges && taken > 1 && sizes.once_in(3) {
                // The next page may begin in the middle of a page.
                taken = 1 + sizes.below(taken - 1);
            }
            if backward {
                read.splice(0..0, here[here.len() - taken..].to_vec());
            } else {
                read.extend(here[..taken].to_vec());
            }
            let last = if backward { here.len().wrapping_sub(taken) } else { taken.wrapping_sub(1) };
            if self.edges && taken < here.len() {
                from = Some(page["edges"][last]["cursor"].as_str().unwrap().to_owned());
                continue;
            }
            prop_assert_eq!(&info[more], &json!(read.len() < all.len()), "after {} of {}", read.len(), all.len());
            if read.len() >= all.len() {
                break;
            }
            prop_assert_eq!(here.len(), size, "a page with more behind it is full");
            from = Some(info[if backward { "startCursor" } else { "endCursor" }].as_str().unwrap().to_owned());
        }
        prop_assert_eq!(read, all);
        Ok(())
    }

    /// Continues from each item of the list, in alternating directions. In `later`, read from `gateway`, items that are
    /// not `kept` no longer exist, but their cursors still work.
    async fn wander(
        &self,
        gateway: &Gateway,
        later: &Gateway,
        kept: &dyn Fn(&Value) -> bool,
        choices: &mut Choices,
    ) -> Result<(), TestCaseError> {
        let whole = self.page(gateway, "first: 1000").await;
        let (all, edges) = (whole["nodes"].as_array().unwrap(), whole["edges"].as_array().unwrap());
        prop_assert_eq!(
            &whole["edges"],
            &self.page(gateway, "last: 1000").await["edges"],
            "a cursor is of a place, however it was reached"
        );
        for _ in 0..all.len().min(8) {
            let (at, size, backward) = (choices.below(all.len()), 1 + choices.below(6), choices.once_in(2));
            let (count, side) = if backward { ("last", "before") } else { ("first", "after") };
            let page = self.page(later, &format!("{count}: {size}, {side}: {}", edges[at]["cursor"])).await;
            let beyond = if backward { &all[..at] } else { &all[at + 1..] };
            let left: Vec<Value> = beyond.iter().filter(|node| kept(node)).cloned().collect();
            let cut = if backward { left.len().saturating_sub(size)..left.len() } else { 0..left.len().min(size) };
            let more = json!(cut.len() < left.len());
            prop_assert_eq!(&page["nodes"], &json!(left[cut]), "{} {} {} {}", count, size, side, &all[at]);
            let info = if backward { [&more, &json!(true)] } else { [&json!(true), &more] };
            prop_assert_eq!([&page["pageInfo"]["hasPreviousPage"], &page["pageInfo"]["hasNextPage"]], info);
        }
        Ok(())
    }
}

pub const INFO: &str = "pageInfo { hasNextPage hasPreviousPage startCursor endCursor }";

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn through_links_that_may_lead_nowhere(there in proptest::collection::vec(any::<bool>(), 0..30), backward: bool, mut sizes in Choices::any(60)) {
        let mut items = vec![item(&[("PK", "g"), ("SK", "Group"), ("GroupName", "all")])];
        for (user, there) in there.iter().enumerate().map(|(user, there)| (format!("u{user:02}"), there)) {
            items.push(item(&[("PK", &user), ("SK", "Group#g"), ("GroupId", "g")]));
            if *there {
                items.push(item(&[("PK", &user), ("SK", "User"), ("UserName", &user), ("EMailAddress", &user)]));
            }
        }
        let expected: Vec<Value> = (0..there.len()).filter(|user| there[*user]).map(|user| json!({ "name": format!("u{user:02}") })).collect();
        block_on(async {
            let (gateway, _) = world::gateway(&MODEL, vec![items]).await;
            let query = format!("{{ group(id: \"g\") {{ users(…) {{ nodes {{ name }} edges {{ cursor }} {INFO} }} }} }}");
            let connection = Connection { query: &query, way: "/group/users", edges: true };
            let mut all: Vec<Value> = connection.page(&gateway, "first: 1000").await["nodes"].as_array().unwrap().clone();
            // An index without a sort key does not define an order.
            all.sort_by_key(Value::to_string);
            prop_assert_eq!(all, expected);
            connection.check(&gateway, &mut sizes, backward).await?;
            connection.wander(&gateway, &gateway, &|_| true, &mut sizes).await
        })?;
    }

    #[test]
    fn filtered_and_by_type(count in 0usize..40, backward: bool, of_type: bool, filtered: bool, mut choices in Choices::any(120)) {
        let items = (0..count).map(|number| favorite(number, &mut choices)).collect();
        block_on(async {
            let (gateway, _) = world::gateway(&MODEL, vec![vec![], items]).await;
            let conditions = [(of_type, ", type: VIDEO"), (filtered, ", search: \"cat\"")];
            let conditions: String = conditions.iter().filter(|(wanted, _)| *wanted).map(|(_, text)| *text).collect();
            let query = format!("{{ favorites(…{conditions}) {{ nodes {{ id title type }} edges {{ cursor }} {INFO} }} }}");
            let connection = Connection { query: &query, way: "/favorites", edges: true };
            connection.check(&gateway, &mut choices, backward).await?;
            connection.wander(&gateway, &gateway, &|_| true, &mut choices).await
        })?;
    }

    #[test]
    fn merged_of_several_ranges(count in 0usize..40, backward: bool, filtered: bool, mut choices in Choices::any(200)) {
        let items: Vec<Item> = (0..count).map(|number| post(number, &mut choices)).collect();
        let rest: Vec<Item> = items.iter().filter(|_| !choices.once_in(4)).cloned().collect();
        let kept = |node: &Value| rest.iter().any(|item| item["SK"] == Attribute::S(format!("POST#{}#{}", node["id"].as_str().unwrap(), node["createdAt"].as_str().unwrap()).into()));
        let arguments = if filtered { "status: [DELETED, UPDATED, CREATED], search: \"cat\"" } else { "status: [UPDATED, CREATED]" };
        block_on(async {
            let (gateway, _) = world::gateway(&MODEL, vec![vec![], vec![], items.clone()]).await;
            let (later, _) = world::gateway(&MODEL, vec![vec![], vec![], rest.clone()]).await;
            let query = format!("{{ posts({arguments}, …) {{ nodes {{ id createdAt }} edges {{ cursor }} {INFO} }} }}");
            let connection = Connection { query: &query, way: "/posts", edges: true };
            let all = connection.page(&gateway, "first: 1000").await;
            let times: Vec<&str> = all["nodes"].as_array().unwrap().iter().map(|post| post["createdAt"].as_str().unwrap()).collect();
            prop_assert!(times.is_sorted_by(|newer, older| newer >= older), "{:?}", times);
            connection.check(&gateway, &mut choices, backward).await?;
            connection.wander(&gateway, &later, &kept, &mut choices).await
        })?;
    }

    #[test]
    fn merged_of_ranges_of_one_partition_and_of_partitions_without_order(
        count in 0usize..30, backward: bool, sorted: bool, descending: bool, mut choices in Choices::any(200)
    ) {
        let items: Vec<Item> = (0..count).map(|number| game(number, &mut choices)).collect();
        let rest: Vec<Item> = items.iter().filter(|_| !choices.once_in(4)).cloned().collect();
        let kept = |node: &Value| rest.iter().any(|item| item["pk"] == Attribute::S(format!("game-{}", node["id"].as_str().unwrap()).into()));
        let field = match (sorted, descending) {
            (true, false) => "cycleGames(cycle: 7, states: [DONE, OPEN, IN_PROGRESS], …)",
            (true, true) => "cycleGames(cycle: 7, states: [DONE, OPEN, IN_PROGRESS], order: DESC, …)",
            (false, _) => "awardedGames(awards: [\"gold\", \"none\", \"silver\"], …)",
        };
        block_on(async {
            let (gateway, _) = world::gateway(&WORKSHOP, vec![items.clone()]).await;
            let (later, _) = world::gateway(&WORKSHOP, vec![rest.clone()]).await;
            let query = format!("{{ games: {field} {{ nodes {{ id playedOn award }} edges {{ cursor }} {INFO} }} }}");
            let connection = Connection { query: &query, way: "/games", edges: true };
            let all = connection.page(&gateway, "first: 1000").await;
            let all: Vec<&str> = all["nodes"].as_array().unwrap().iter().map(|game| game[if sorted { "playedOn" } else { "award" }].as_str().unwrap()).collect();
            prop_assert!(if sorted && descending { all.is_sorted_by(|left, right| left >= right) } else { all.is_sorted() }, "{:?}", all);
            connection.check(&gateway, &mut choices, backward).await?;
            connection.wander(&gateway, &later, &kept, &mut choices).await
        })?;
    }

    #[test]
    fn merged_of_shards(count in 0usize..40, filtered: bool, some: bool, newest: bool, mut choices in Choices::any(120)) {
        // The item is found in its own shard; a shard number that does not exist finds nothing.
        let votes: Vec<(String, usize, usize)> = (0..count).map(|number| (format!("v{number:02}"), choices.below(11), choices.below(3))).collect();
        let item_of = |(voter, shard, weight): &(String, usize, usize), time: String| {
            let pk = format!("votes#c#{shard}");
            let mut item = item(&[("pk", &pk), ("sk", voter), ("timePk", &pk), ("timeSk", &time)]);
            item.insert("weight", Attribute::N(weight.to_string().into()));
            item
        };
        let items: Vec<Item> = votes.iter().map(|vote| item_of(vote, minute(choices.below(12)))).collect();
        let meant = |(_, shard, weight): &&(String, usize, usize)| (!filtered || *weight >= 2) && if some { [3, 7].contains(shard) } else { *shard < 10 };
        let mut expected: Vec<Value> = votes.iter().filter(meant).map(|(voter, ..)| json!(voter)).collect();
        block_on(async {
            let (gateway, _) = world::gateway(&SHARDS, vec![items]).await;
            let conditions = [(filtered, ", weight: 2"), (some, ", shard: [3, 7]"), (newest, ", order: DESC")];
            let conditions: String = conditions.iter().filter(|(wanted, _)| *wanted).map(|(_, text)| *text).collect();
            let query = format!("{{ votes(candidateId: \"c\"{conditions}, …) {{ nodes {{ voterId castAt }} edges {{ cursor }} {INFO} }} }}");
            let connection = Connection { query: &query, way: "/votes", edges: true };
            let all = connection.page(&gateway, "first: 1000").await["nodes"].as_array().unwrap().clone();
            let times: Vec<&str> = all.iter().map(|vote| vote["castAt"].as_str().unwrap()).collect();
            prop_assert!(times.is_sorted_by(|one, next| if newest { one >= next } else { one <= next }), "{:?}", times);
            let mut voters: Vec<Value> = all.iter().map(|vote| vote["voterId"].clone()).collect();
            voters.sort_by_key(Value::to_string);
            expected.sort_by_key(Value::to_string);
            prop_assert_eq!(voters, expected);
            let counted = data(&gateway, "{ anyVote(candidateId: \"c\") heavyVotes(candidateId: \"c\", weight: 2) votesSince(candidateId: \"c\", since: \"2026-11-20T09:00:00Z\") }").await;
            let shown = votes.iter().filter(|(_, shard, _)| *shard < 10).count();
            let heavy = votes.iter().filter(|(_, shard, weight)| *shard < 10 && *weight >= 2).count();
            prop_assert_eq!(counted, json!({ "anyVote": shown > 0, "heavyVotes": heavy, "votesSince": shown }));
            connection.check(&gateway, &mut choices, false).await
        })?;
    }

    #[test]
    fn through_an_index_with_links_that_lead_nowhere(count in 0usize..25, mut choices in Choices::any(120)) {
        let mut items = vec![item(&[("pk", "Tag#u"), ("sk", "t"), ("tagName", "tag"), ("lsiOneSk", "tag")])];
        for number in 0..count {
            let (id, time) = (format!("f{number:02}"), minute(choices.below(60)));
            if !choices.once_in(2) {
                items.push(favorite(number, &mut choices));
            }
            let (pk, by_tag, at) = (format!("FavoriteDataTag#u#{id}"), "FavoriteDataTag#u#t", format!("{time}#{id}"));
            let keys = [("pk", pk.as_str()), ("sk", "t"), ("gsiOnePk", by_tag), ("gsiOneSk", &at), ("dataType", "video"), ("clipTime", &time)];
            items.push(item(&keys));
        }
        block_on(async {
            let (gateway, _) = world::gateway(&MODEL, vec![vec![], items]).await;
            let query = format!("{{ tag(id: \"t\") {{ favorites(…) {{ nodes {{ id title }} edges {{ cursor }} {INFO} }} }} }}");
            Connection { query: &query, way: "/tag/favorites", edges: true }.check(&gateway, &mut choices, false).await
        })?;
    }
}

fn minute(minute: usize) -> String {
    format!("2026-11-20T09:{minute:02}:00.000Z")
}

fn favorite(number: usize, choices: &mut Choices) -> Item {
    let (id, time) = (format!("f{number:02}"), minute(choices.below(60)));
    let (kind, title) = (["video", "image"][choices.below(2)], ["a cat", "a dog"][choices.below(2)]);
    let (by_type, at) = (format!("FavoriteData#u#{kind}"), format!("{time}#{id}"));
    let keys = [("pk", "FavoriteData#u"), ("sk", &id), ("lsiOneSk", &at), ("gsiOnePk", &by_type), ("gsiOneSk", &at)];
    let values = [("title", title), ("dataType", kind), ("clipTime", &time), ("contentUrl", "")];
    item(&[&keys[..], &values[..]].concat())
}

fn post(number: usize, choices: &mut Choices) -> Item {
    // Only a few times, so that some posts share one.
    let (id, time, status) =
        (format!("p{number:02}"), minute(choices.below(12)), ["CREATED", "UPDATED", "DELETED"][choices.below(3)]);
    let (pk, sk) = (format!("USER#u{}", choices.below(3)), format!("POST#{id}#{time}"));
    let title = ["a cat", "a dog"][choices.below(2)];
    item(&[("PK", &pk), ("SK", &sk), ("title", title), ("status", status), ("createdAt", &time)])
}

fn game(number: usize, choices: &mut Choices) -> Item {
    let (pk, day) = (format!("game-g{number:02}"), format!("2026-11-{:02}", 1 + choices.below(8)));
    let (state, award) =
        (["open", "IN_PROGRESS", "done"][choices.below(3)], ["gold", "none", "silver"][choices.below(3)]);
    let keys = [
        ("pk", pk.as_str()),
        ("sk", "game"),
        ("GSI-1", "cycle:7"),
        ("GSI-1-SK", &format!("{state}_{day}")),
        ("award", award),
    ];
    item(&[&keys[..], &[("kind", "Game"), ("state", state), ("playedOn", &day)]].concat())
}
