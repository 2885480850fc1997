//! Keys as other programs spell them: what a list shows, a Get by its fields finds, and so do `node`, an update, a
//! delete and a cascade. What no list shows is found and deleted by nothing. The law holds for every scalar in every
//! place of a key, and for number keys.

use super::choices::Choices;
use super::world::{self, block_on};
use crate::support;
use keyfold::execute::gateway::Gateway;
use keyfold::schema::load;
use keyfold::table::data::attribute::{Attribute, Item};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::sync::Arc;

/// Scalars, each with texts that other programs write for them. The first of each line is Keyfold's own.
/// A form or a constraint follows its scalar.
const SCALARS: [(&str, &[&str]); 18] = [
    (
        "DateTime",
        &[
            "2021-07-02T17:09:47.000Z",
            "2021-07-02T17:09:47Z",
            "2021-07-02T17:09:47.000000Z",
            "2021-07-02T17:09:47.000+00:00",
            "2021-07-02T19:09:47.000+0200",
            "2021-07-02t17:09:47.000z",
            "2021-07-02 17:09:47.000Z",
            "2021-07-02T17:09:47,000Z",
            "2021-07-02T17:09Z",
            "2021-02-30T17:09:47.000Z",
            "2016-12-31T23:59:60.000Z",
        ],
    ),
    ("Date", &["2021-07-02", "2021-7-2", "2021-02-30", "20210702"]),
    ("Int", &["7", "007", "+7", "-0", "0", "-7", "7.0", "99999999999"]),
    ("Long", &["7", "07", "-7", "9007199254740993", "9223372036854775808"]),
    ("Decimal", &["1.5", "1.50", "01.5", "15e-1", "-0", "0", "100", "1e2", "-1.5", "0.00"]),
    ("Float", &["1000", "1e3", "1000.0", "0.1", "0.10", "1e21", "1E21", "1e+21", "0.10000000000000000001", "-0"]),
    ("Boolean", &["true", "false", "TRUE", "1"]),
    ("Mood", &["in", "in-bed", "IN", "calm", "in-"]),
    ("LocalDateTime", &["2021-07-02T17:09:47", "2021-07-02T17:09:47Z", "2021-07-02T17:09:47.000", "2021-07-02T17:09"]),
    (
        "DateTime %Y-%m-%dT%H:%M:%SZ",
        &["2021-07-02T17:09:47Z", "2021-07-02T17:09:47.000Z", "2021-07-02T17:09:47+00:00", "2021-02-30T17:09:47Z"],
    ),
    (
        "DateTime %Y-%m-%dT%H:%M:%S.%6f+02:00",
        &["2021-07-02T17:09:47.000001+02:00", "2021-07-02T17:09:47.000001Z", "2021-07-02T17:09:47.001+02:00"],
    ),
    ("DateTime %s", &["1625245787", "0625245787", "625245787", "1625245787000", "1625245787.5", "9999999999"]),
    ("DateTime %s%3f", &["1625245787001", "1625245787", "1625245787000000"]),
    ("Date %d/%m/%Y", &["02/07/2021", "2/7/2021", "30/02/2021", "2021-07-02", "31/12/9999"]),
    ("ID", &["a", "a#b", "a%23b", "a%23", "%2f", "%2F", "a%2523b", "100%", "%41", "", "a b"]),
    (LIMITED[0], &["AB", "ZZ", "ab", "A", "ABC", "", "A5", "%2", "A#", "é"]),
    (LIMITED[1], &["AB", "éü", "#%", "5a", "A", "ABC", "", "%23"]),
    ("String", &["a", "x--y", "a%2D%2Db", "a%2d%2db", "%25", "%", "é", "%C3%A9"]),
];

/// The templates of a text key that hold the scalar.
const TEMPLATES: [&str; 8] =
    ["{x}", "T#{x}", "{name}#{x}", "{x}#{name}", "T#{name}--{x}--end", "{x}#{x}", "{box}#{x}", "{x:05}"];

/// Scalars of one length.
const LIMITED: [&str; 2] = ["ID @constraint(pattern: \"[A-Z]{2}\")", "String @constraint(minLength: 2, maxLength: 2)"];

/// The templates of a text key that hold a scalar of one length.
const LIMITED_TEMPLATES: [&str; 7] =
    ["{x}", "{x}#{name}", "{name}#{x}", "{x}{name}", "T#{name}{x}", "{x}5{name}", "{x}{x}-{name}"];

/// A table of items whose key holds a scalar.
struct Case {
    scalar: &'static str,
    /// `None` is a number key.
    template: Option<&'static str>,
    keys: Vec<String>,
}

impl Case {
    fn any() -> impl Strategy<Value = Case> {
        Choices::any(60).prop_map(|mut choices| {
            let (scalar, texts) = *choices.of(&SCALARS);
            let is_integer = matches!(scalar, "Int" | "Long");
            let is_number = is_integer || matches!(scalar, "Decimal" | "Float");
            let template = if LIMITED.contains(&scalar) {
                Some(*choices.of(&LIMITED_TEMPLATES))
            } else if is_number && choices.once_in(4) {
                None
            } else {
                Some(TEMPLATES[choices.below(TEMPLATES.len() - usize::from(!is_integer))])
            };
            let names = SCALARS.iter().find(|(scalar, _)| *scalar == "ID").unwrap().1;
            let key = |choices: &mut Choices| {
                let (text, name, other_box) = (*choices.of(texts), *choices.of(names), *choices.of(&["b", "b", "c"]));
                let padded = format!("{text:0>width$}", width = 4 + choices.below(3));
                let again = if choices.once_in(3) { choices.of(texts) } else { text };
                match template {
                    Some("{x:05}") => padded,
                    Some(template) => template
                        .replacen("{x}", text, 1)
                        .replace("{x}", again)
                        .replace("{name}", name)
                        .replace("{box}", other_box),
                    None => text.to_owned(),
                }
            };
            let mut keys: Vec<String> =
                (0..1 + choices.below(8)).map(|_| key(&mut choices)).filter(|key| !key.is_empty()).collect();
            keys.sort();
            keys.dedup();
            Case { scalar, template, keys }
        })
    }

    fn schema(&self) -> String {
        let (scalar, template) = (self.scalar_name(), self.template.unwrap_or("{x}"));
        let form = self.scalar.split_once(' ').map(|(_, form)| match form.starts_with('@') {
            true => form.to_owned(),
            false => format!("@attribute(form: \"{form}\")"),
        });
        let form = form.unwrap_or_default();
        let kind = if self.template.is_none() { ", sortKeyType: N" } else { "" };
        let has_name = template.contains("{name}");
        let (name, argument) = if has_name { ("name: String!", ", name: String!") } else { ("", "") };
        format!(
            r#"
extend schema @table(name: "boxes", partitionKey: "pk") @table(
  name: "things", partitionKey: "pk", sortKey: "sk"{kind}, indexes: [{{ name: "byMark", partitionKey: "mark" }}]
)
enum Mood {{ IN @attribute(name: "in") IN_BED @attribute(name: "in-bed") CALM @attribute(name: "calm") }}
interface Node @node {{ id: ID! }}
type Box @item(table: "boxes", keys: {{ pk: "B#{{box}}" }}) {{ box: ID! things: [Thing!]! @find }}
type Thing implements Node @item(table: "things", keys: {{ pk: "B#{{box}}", sk: "{template}", mark: "{{mark}}" }}) {{
  id: ID! box: ID! x: {scalar}! {form} {name} mark: String! seen: Boolean
}}
type Query {{
  node(id: ID!): Node
  box(box: ID!): Box @find
  things(box: ID!): [Thing!]! @find
  count(box: ID!): Int! @find(item: Thing)
  any(box: ID!): Boolean! @find(item: Thing)
  marked(mark: String!): [Thing!]! @find
  thing(box: ID!, x: {scalar}!{argument}): Thing @find
}}
type Mutation {{
  see(box: ID!, x: {scalar}!{argument}, seen: Boolean = true): Thing @update
  drop(box: ID!, x: {scalar}!{argument}): Thing @delete
  dropBox(box: ID!): Box @delete(cascade: ["things"])
}}
"#
        )
    }

    fn item(&self, number: usize, key: &str) -> Item {
        let sort = match self.template {
            Some(_) => Attribute::S(key.into()),
            None => Attribute::N(key.trim_start_matches('+').into()),
        };
        let text = |text: String| Attribute::S(text.into());
        [("pk", text("B#b".into())), ("sk", sort), ("mark", text(format!("m{number}")))]
            .into_iter()
            .map(|(name, value)| (name.to_owned(), value))
            .collect()
    }

    /// A fresh gateway on the items, and on the box that they are in.
    async fn gateway(&self) -> Gateway {
        let (model, _) = load("schema.graphql", &self.schema(), &|_| None)
            .unwrap_or_else(|mistakes| panic!("{}", mistakes.render(false)));
        let items = self.keys.iter().enumerate().map(|(number, key)| self.item(number, key)).collect();
        world::gateway(&Arc::new(model), vec![vec![world::item(&[("pk", "B#b")])], items]).await.0
    }

    async fn holds(&self) {
        let gateway = self.gateway().await;
        let ask = async |text: String, x: &Value, name: &Value| {
            let variables = json!({ "x": x, "name": name });
            let (types, _) =
                (format!("$x: {}! {}", self.scalar_name(), if name.is_null() { "" } else { "$name: String!" }), ());
            let (kind, text) = text.split_once(' ').unwrap();
            let response =
                support::run(&gateway, &support::request(&format!("{kind}({types}) {text}"), variables), false).await;
            assert_eq!(response.get("errors"), None, "{text}");
            response["data"]["a"].clone()
        };
        let list = "{ a: things(box: \"b\") { id x mark } count(box: \"b\") any(box: \"b\") box(box: \"b\") { things { mark } } }";
        let list = if self.has_name() { list.replace("x mark }", "x name mark }") } else { list.to_owned() };
        let data = world::data(&gateway, &list).await;
        let shown = data["a"].as_array().unwrap().clone();
        assert_eq!((&data["count"], &data["any"]), (&json!(shown.len()), &json!(!shown.is_empty())));
        assert_eq!(data["box"]["things"].as_array().unwrap().len(), shown.len());
        let arguments = if self.has_name() { "box: \"b\", x: $x, name: $name" } else { "box: \"b\", x: $x" };
        for item in &shown {
            let (mark, x, name) = (&item["mark"], &item["x"], &item["name"]);
            let own = json!({ "mark": mark });
            assert_eq!(
                ask(format!("query {{ a: thing({arguments}) {{ mark }} }}"), x, name).await,
                own,
                "a Get of {item}"
            );
            let node =
                world::data(&gateway, &format!("{{ a: node(id: {}) {{ ... on Thing {{ mark }} }} }}", item["id"]))
                    .await;
            assert_eq!(node["a"], own, "the node of {item}");
            let marked = world::data(&gateway, &format!("{{ a: marked(mark: {mark}) {{ id mark }} }}")).await;
            assert_eq!(marked["a"], json!([{ "id": item["id"], "mark": mark }]), "in the index");
            let seen = ask(format!("mutation {{ a: see({arguments}) {{ mark seen }} }}"), x, name).await;
            assert_eq!(seen, json!({ "mark": mark, "seen": true }), "an update of {item}");
        }
        // What no list of the table shows, no list of an index shows.
        for number in 0..self.keys.len() {
            let is_shown = shown.iter().any(|item| item["mark"] == format!("m{number}"));
            let marked = world::data(&gateway, &format!("{{ a: marked(mark: \"m{number}\") {{ mark }} }}")).await;
            assert_eq!(marked["a"].as_array().unwrap().len(), usize::from(is_shown), "m{number} in the index");
        }
        for item in &shown {
            let dropped =
                ask(format!("mutation {{ a: drop({arguments}) {{ mark }} }}"), &item["x"], &item["name"]).await;
            assert_eq!(dropped, json!({ "mark": item["mark"] }), "a delete of {item}");
        }
        assert_eq!(world::data(&gateway, "{ count(box: \"b\") }").await, json!({ "count": 0 }));
        let gateway = self.gateway().await;
        world::data(&gateway, "mutation { dropBox(box: \"b\") { box } }").await;
        assert_eq!(world::data(&gateway, "{ count(box: \"b\") }").await, json!({ "count": 0 }), "after the cascade");
    }

    fn scalar_name(&self) -> &str {
        self.scalar.split_once(' ').map_or(self.scalar, |(name, _)| name)
    }

    fn has_name(&self) -> bool {
        self.template.is_some_and(|template| template.contains("{name}"))
    }
}

impl std::fmt::Debug for Case {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} in {:?}: {:?}", self.scalar, self.template, self.keys)
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_a_list_shows_is_found_by_its_fields(case in Case::any()) {
        block_on(case.holds());
    }
}
