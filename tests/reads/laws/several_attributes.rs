//! Indexes whose keys have several attributes, in any number and of any type: at each prefix of the sort key, a list
//! has the items that a plain filter gives, in the order of the attributes; so do a range on the next attribute, pages
//! put together, a count, a list of values, and all of them after a write.

use super::choices::Choices;
use super::world::{self, block_on};
use crate::support;
use keyfold::execute::gateway::Gateway;
use keyfold::schema::load;
use keyfold::table::data::attribute::{Attribute, Item};
use proptest::prelude::*;
use serde_json::{Map, Value, json};
use std::cmp::Ordering;
use std::sync::Arc;

/// Scalars, each with values in ascending order, and whether it is stored as a number.
const SCALARS: [(&str, [&str; 4], bool); 5] = [
    ("Int", ["-1", "2", "10", "350"], true),
    ("Long", ["-9007199254740993", "0", "7", "30"], true),
    ("ID", ["a", "a#", "ab", "b"], false),
    ("String", ["A", "Z z", "a", "é"], false),
    ("Date", ["0999-12-31", "2026-01-02", "2026-01-10", "9999-12-31"], false),
];

/// A field that is an attribute of the index's key.
#[derive(Debug, Clone)]
struct KeyField {
    name: String,
    scalar: usize,
    nullable: bool,
}

#[derive(Debug)]
struct Case {
    partition: Vec<KeyField>,
    sort: Vec<KeyField>,
    /// For each item, the position of its value in each field of the key; `None` is null.
    items: Vec<Vec<Option<usize>>>,
    choices: Choices,
}

impl KeyField {
    fn scalar(&self) -> &'static str {
        SCALARS[self.scalar].0
    }

    fn json(&self, value: usize) -> Value {
        let text = SCALARS[self.scalar].1[value];
        match self.scalar() {
            "Int" => json!(text.parse::<i64>().unwrap()),
            _ => json!(text),
        }
    }

    fn attribute(&self, value: usize) -> Attribute {
        let (_, values, is_number) = SCALARS[self.scalar];
        if is_number { Attribute::N(values[value].into()) } else { Attribute::S(values[value].into()) }
    }
}

impl Case {
    fn any() -> impl Strategy<Value = Case> {
        Choices::any(160).prop_map(|mut choices| {
            let field = |name: String, choices: &mut Choices| {
                let (scalar, nullable) = (choices.below(SCALARS.len()), choices.once_in(5));
                KeyField { name, scalar, nullable }
            };
            let (partition, sort) = (1 + choices.below(4), choices.below(5));
            let partition: Vec<KeyField> = (0..partition).map(|at| field(format!("p{at}"), &mut choices)).collect();
            let sort: Vec<KeyField> = (0..sort).map(|at| field(format!("s{at}"), &mut choices)).collect();
            let item = |choices: &mut Choices| {
                // Most items are in few partitions.
                let of_partition = partition.iter().map(|field| (field, 1 + usize::from(choices.once_in(4))));
                let bounds: Vec<(&KeyField, usize)> =
                    of_partition.collect::<Vec<_>>().into_iter().chain(sort.iter().map(|field| (field, 3))).collect();
                let value = |(field, most): (&KeyField, usize)| {
                    (!(field.nullable && choices.once_in(6))).then(|| choices.below(most + 1).min(3))
                };
                bounds.into_iter().map(value).collect::<Vec<_>>()
            };
            let items = (0..choices.below(14)).map(|_| item(&mut choices)).collect();
            Case { partition, sort, items, choices }
        })
    }

    fn fields(&self) -> impl Iterator<Item = &KeyField> {
        self.partition.iter().chain(&self.sort)
    }

    fn schema(&self) -> String {
        let names = |fields: &[KeyField]| fields.iter().map(|field| format!("{:?}", field.name)).collect::<Vec<_>>();
        let sort = match self.sort.is_empty() {
            true => String::new(),
            false => format!(", sortKey: [{}]", names(&self.sort).join(", ")),
        };
        let stored =
            |field: &KeyField| format!("{}: {}{}", field.name, field.scalar(), if field.nullable { "" } else { "!" });
        let given = |field: &KeyField| format!("{}: {}!", field.name, field.scalar());
        let mut finds = String::new();
        for bound in 0..=self.sort.len() {
            let all: Vec<String> = self.partition.iter().chain(&self.sort[..bound]).map(given).collect();
            let (all, lists) = (all.join(", "), all[1..].join(", "));
            let first = &self.partition[0];
            finds += &format!("  list{bound}({all}, order: Order): [Thing!]! @find\n");
            finds += &format!("  page{bound}({all}, order: Order, first: Int, after: String): Things! @find\n");
            finds += &format!("  count{bound}({all}): Int! @find(item: Thing)\n");
            finds += &format!("  several{bound}({}: [{}!]!, {lists}): [Thing!]! @find\n", first.name, first.scalar());
            if let Some(next) = self.sort.get(bound) {
                let (name, scalar) = (&next.name, next.scalar());
                let condition = format!("{{ {name}: {{ ge: \"{{low}}\", lt: \"{{high}}\" }} }}");
                finds += &format!(
                    "  range{bound}({all}, low: {scalar}, high: {scalar}): [Thing!]! @find(where: {condition})\n"
                );
            }
        }
        let fields: Vec<String> = self.fields().map(stored).collect();
        let changed: Vec<String> = self.fields().map(|field| format!("{}: {}", field.name, field.scalar())).collect();
        format!(
            "extend schema @table(name: \"things\", partitionKey: \"id\", indexes: [\n  \
             {{ name: \"byAll\", partitionKey: [{}]{sort} }}])\n\
             type Thing @item(keys: {{ id: \"{{id}}\" }}) {{ id: ID! {} }}\n\
             type Things {{ nodes: [Thing!]! pageInfo: PageInfo! }}\n\
             type PageInfo {{ hasNextPage: Boolean! endCursor: String }}\n\
             type Query {{\n{finds}}}\n\
             type Mutation {{ change(id: ID!, {}): Thing @update }}\n",
            names(&self.partition).join(", "),
            fields.join(" "),
            changed.join(", ")
        )
    }

    fn stored(&self) -> Vec<Item> {
        let item = |(position, values): (usize, &Vec<Option<usize>>)| {
            let of_fields = self.fields().zip(values);
            let known = of_fields.filter_map(|(field, value)| Some((field.name.clone(), field.attribute((*value)?))));
            known.chain([("id".to_owned(), Attribute::S(format!("t{position}").as_str().into()))]).collect()
        };
        self.items.iter().enumerate().map(item).collect()
    }

    /// The items that have these values at the beginning of the key and all of the rest, by the attributes of the sort
    /// key.
    fn expected(&self, prefix: &[usize]) -> Vec<(String, Vec<usize>)> {
        let whole = |values: &Vec<Option<usize>>| values.iter().copied().collect::<Option<Vec<usize>>>();
        let all = self.items.iter().enumerate().filter_map(|(at, values)| Some((format!("t{at}"), whole(values)?)));
        let mut found: Vec<(String, Vec<usize>)> = all.filter(|(_, values)| values.starts_with(prefix)).collect();
        found.sort_by(|(_, left), (_, right)| left.cmp(right));
        found
    }

    /// Whether the ids are those of the expected items, in their order as far as the sort key determines it.
    fn check(&self, ids: &Value, expected: &[(String, Vec<usize>)], what: &str) {
        let ids: Vec<&str> = ids.as_array().unwrap().iter().map(|item| item["id"].as_str().unwrap()).collect();
        let place = |id: &&str| expected.iter().find(|(known, _)| known == id).map(|(_, values)| values.clone());
        let places: Vec<Vec<usize>> =
            ids.iter().map(|id| place(id).unwrap_or_else(|| panic!("{what}: {id}"))).collect();
        let wanted: Vec<Vec<usize>> = expected.iter().map(|(_, values)| values.clone()).collect();
        assert_eq!(places, wanted, "{what}: {ids:?}");
        let (mut found, mut known) = (ids.clone(), expected.iter().map(|(id, _)| id.as_str()).collect::<Vec<_>>());
        found.sort_unstable();
        known.sort_unstable();
        assert_eq!(found, known, "{what}");
    }

    async fn holds(&mut self, gateway: &Gateway) {
        for bound in 0..=self.sort.len() {
            let prefix: Vec<usize> = match self.items.is_empty() || self.choices.once_in(4) {
                true => (0..self.partition.len() + bound).map(|_| self.choices.below(3)).collect(),
                false => {
                    let at = self.choices.below(self.items.len());
                    let known = self.items[at].iter().take(self.partition.len() + bound);
                    known.map(|value| value.unwrap_or(0)).collect()
                }
            };
            let mut arguments: Map<String, Value> = Map::new();
            self.fields().zip(&prefix).for_each(|(field, value)| {
                arguments.insert(field.name.clone(), field.json(*value));
            });
            let expected = self.expected(&prefix);
            let what = format!("{bound} of {prefix:?}");
            let ask = async |name: &str, more: &[(&str, Value)], selection: &str| {
                let mut given = arguments.clone();
                more.iter().for_each(|(name, value)| {
                    given.insert((*name).to_owned(), value.clone());
                });
                run(gateway, "query", &format!("{name}{bound}"), &given, selection).await
            };
            self.check(&ask("list", &[], "{ id }").await, &expected, &what);
            let mut reversed = expected.clone();
            reversed.reverse();
            self.check(&ask("list", &[("order", json!("DESC"))], "{ id }").await, &reversed, &what);
            assert_eq!(ask("count", &[], "").await, json!(expected.len()), "{what}");
            let several = json!([arguments[&self.partition[0].name], arguments[&self.partition[0].name]]);
            let of_several = ask("several", &[(&self.partition[0].name, several)], "{ id }").await;
            self.check(&of_several, &expected, &what);
            let (size, mut nodes, mut after) = (1 + self.choices.below(3), Vec::new(), Value::Null);
            loop {
                let paging = [("first", json!(size)), ("after", after.clone())];
                let page = ask("page", &paging, "{ nodes { id } pageInfo { hasNextPage endCursor } }").await;
                nodes.extend(page["nodes"].as_array().unwrap().clone());
                after = page["pageInfo"]["endCursor"].clone();
                if page["pageInfo"]["hasNextPage"] != true {
                    break;
                }
            }
            self.check(&json!(nodes), &expected, &format!("pages of {size}, {what}"));
            if let Some(next) = self.sort.get(bound) {
                let mut end = || (!self.choices.once_in(3)).then(|| self.choices.below(4));
                let (low, high) = (end(), end());
                let value = |end: Option<usize>| end.map_or(Value::Null, |end| next.json(end));
                let within = |(_, values): &&(String, Vec<usize>)| {
                    let own = values[prefix.len()];
                    low.is_none_or(|low| own.cmp(&low) != Ordering::Less) && high.is_none_or(|high| own < high)
                };
                let ranged: Vec<_> = expected.iter().filter(within).cloned().collect();
                let found = ask("range", &[("low", value(low)), ("high", value(high))], "{ id }").await;
                self.check(&found, &ranged, &format!("{low:?}..{high:?}, {what}"));
            }
        }
    }

    /// Changes a value of an item in the store and here.
    async fn change(&mut self, gateway: &Gateway) {
        if self.items.is_empty() {
            return;
        }
        let (at, field) = (self.choices.below(self.items.len()), self.choices.below(self.fields().count()));
        let key = self.fields().nth(field).unwrap().clone();
        let value = (!(key.nullable && self.choices.once_in(2))).then(|| self.choices.below(4));
        let given = value.map_or(Value::Null, |value| key.json(value));
        let arguments = Map::from_iter([("id".to_owned(), json!(format!("t{at}"))), (key.name.clone(), given)]);
        run(gateway, "mutation", "change", &arguments, "{ id }").await;
        self.items[at][field] = value;
    }
}

/// What a field gives with these arguments.
async fn run(gateway: &Gateway, kind: &str, field: &str, arguments: &Map<String, Value>, selection: &str) -> Value {
    let literal = |value: &Value| match value.as_str() {
        Some("DESC") => "DESC".to_owned(),
        _ => value.to_string(),
    };
    let given: Vec<String> = arguments.iter().map(|(name, value)| format!("{name}: {}", literal(value))).collect();
    let operation = format!("{kind} {{ {field}({}) {selection} }}", given.join(", "));
    let response = support::run(gateway, &support::request(&operation, Value::Null), false).await;
    assert_eq!(response.get("errors"), None, "{operation}");
    response["data"][field].clone()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn each_prefix_of_a_key_reads_what_a_filter_gives(mut case in Case::any()) {
        block_on(async {
            let (model, _) = load("schema.graphql", &case.schema(), &|_| None)
                .unwrap_or_else(|mistakes| panic!("{}", mistakes.render(false)));
            let (gateway, _) = world::gateway(&Arc::new(model), vec![case.stored()]).await;
            case.holds(&gateway).await;
            for _ in 0..3 {
                case.change(&gateway).await;
            }
            case.holds(&gateway).await;
        });
    }
}
