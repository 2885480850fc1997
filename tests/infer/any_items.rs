//! Whatever items are: the schema that is written for them passes every check, and nothing panics.

use crate::inferred_of;
use keyfold::infer::material::Gathered;
use keyfold::schema::table::{Index, KeyAttribute, KeyType, Projection, Table};
use keyfold::sources::material::{Receiver, SourcePlace, SourcePosition};
use keyfold::table::data::attribute::{Attribute, Item};
use proptest::prelude::*;

fn key(name: &str) -> KeyAttribute {
    KeyAttribute { name: name.to_owned(), kind: KeyType::S }
}

/// A table with a global and a local index.
fn table(name: &str) -> Table {
    let mut table = Table::new(name, key("pk"), Some(key("sk")));
    let index = |name: &str, partition: &str, sort: &str, local| Index {
        name: name.to_owned(),
        local,
        partition: vec![key(partition)],
        sort: vec![key(sort)],
        projection: Projection::All,
        capacity: None,
    };
    table.indexes = vec![index("byOther", "Status#At", "sk2", false), index("local", "pk", "lsi-sk", true)];
    table
}

/// Texts of keys: labels, values and separators of any kind, quotes and breaks among them.
fn text() -> impl Strategy<Value = String> {
    let part = prop_oneof![
        "USER|ORDER|user|Item|query|meta|a|K",
        "[a-c]{1,3}",
        "[0-9]{1,5}",
        "2026-1[0-2]-0[1-9](T0[0-9]:00:00Z)?",
        ".{1,3}",
        Just(String::new()),
    ];
    let separator = prop_oneof!["[#|:/\\\\_{}\"$ -]", Just("#".to_owned()), Just(String::new())];
    proptest::collection::vec((part, separator), 1..4)
        .prop_map(|parts| parts.into_iter().map(|(part, separator)| part + &separator).collect::<String>())
        .prop_filter("a key is not empty", |text| !text.is_empty())
}

fn value() -> impl Strategy<Value = Attribute> {
    let leaf = prop_oneof![
        text().prop_map(|text| Attribute::S(text.into())),
        (-5_i64..2_000_000_000).prop_map(|number| Attribute::N(number.to_string().into())),
        any::<bool>().prop_map(Attribute::Bool),
        Just(Attribute::Null),
        Just(Attribute::B(vec![1])),
        text().prop_map(|text| Attribute::Ss(vec![text.into()])),
    ];
    leaf.prop_recursive(2, 8, 3, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..3).prop_map(Attribute::L),
            proptest::collection::vec((name(), inner), 0..3)
                .prop_map(|members| Attribute::M(members.into_iter().collect())),
        ]
    })
}

/// Names of attributes, of those that GraphQL has none for, too.
fn name() -> impl Strategy<Value = String> {
    prop_oneof!["id|type|kind|line|user|order_id|Query|info|__typename", "[a-zA-Z_# -]{1,6}", "[0-9é\"\\\\]{1,3}"]
}

fn item() -> impl Strategy<Value = Item> {
    let more = proptest::collection::vec((name(), value()), 0..5);
    let indexes = (proptest::option::of(text()), proptest::option::of(text()), proptest::option::of(text()));
    (text(), text(), indexes, more).prop_map(|(pk, sk, (other, sk2, local), more)| {
        let mut item: Item = more.into_iter().filter(|(name, _)| name != "pk" && name != "sk").collect();
        item.insert("pk", Attribute::S(pk.into()));
        item.insert("sk", Attribute::S(sk.into()));
        for (name, text) in [("Status#At", other), ("sk2", sk2), ("lsi-sk", local)] {
            if let Some(text) = text {
                item.insert(name, Attribute::S(text.into()));
            }
        }
        item
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(cases()) })]

    #[test]
    fn the_schema_of_any_items_passes_every_check(
        items in proptest::collection::vec(item(), 0..24),
        described in any::<bool>(),
    ) {
        let mut gathered = Gathered::new(100);
        if described {
            gathered.table(table("things"));
        }
        for (position, item) in items.into_iter().enumerate() {
            let file = format!("dir/items{}.json", position % 2);
            gathered.place(&SourcePlace { file, position: SourcePosition::Item(position as u64 + 1) });
            let _ = gathered.item(None, item);
        }
        inferred_of(&gathered.material());
    }
}

fn cases() -> u32 {
    std::env::var("KEYFOLD_LAW_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(40)
}

#[test]
fn items_of_a_file_are_of_the_table_of_its_name() {
    let mut gathered = Gathered::new(100);
    gathered.table(table("todos"));
    gathered.table(table("posts"));
    for (file, text) in [("a/posts.json", "POST#1"), ("a/todos.json.gz", "TODO#1"), ("b/todos.json", "TODO#2")] {
        gathered.place(&SourcePlace { file: file.to_owned(), position: SourcePosition::Item(1) });
        let texts = [("pk", text), ("sk", "META")];
        let _ = gathered
            .item(None, texts.map(|(name, text)| (name.to_owned(), Attribute::S(text.into()))).into_iter().collect());
    }
    let tables = gathered.material().tables;
    let found: Vec<(&str, usize)> = tables.iter().map(|of| (of.table.name.as_str(), of.items.len())).collect();
    assert_eq!(found, [("todos", 2), ("posts", 1)]);
}

#[test]
fn an_object_has_no_name_of_an_item_type() {
    let mut gathered = Gathered::new(100);
    gathered.table(table("things"));
    let member = |name: &str| -> Item { [(name.to_owned(), Attribute::S("x".into()))].into_iter().collect() };
    for (pk, sk, map) in [("ORDER#1", "META", "line"), ("ORDER_LINE#1", "META", "x"), ("PAGE#1", "META", "info")] {
        let mut item: Item = [("pk", pk), ("sk", sk)]
            .map(|(name, text)| (name.to_owned(), Attribute::S(text.into())))
            .into_iter()
            .collect();
        item.insert(map, Attribute::M(member("sku")));
        let _ = gathered.item(None, item);
    }
    let text = inferred_of(&gathered.material()).0;
    assert!(text.contains("type OrderLine2 {") && text.contains("line: OrderLine2"), "{text}");
    assert!(text.contains("type PageInfo2 {"), "{text}");
}
