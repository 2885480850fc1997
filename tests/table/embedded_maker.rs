//! Law: the embedded engine, called without HTTP and JSON, gives what the AWS SDK and the direct client get from the
//! same engine in place of a server: items, capacity, refusals to the letter, and the calls that an observer sees.

use crate::fixture::{deadline, key, s, sort_key, table};
use crate::makers::{Call, Dice, attributes, describe_result, seeds, written};
use keyfold::table::data::attribute::{Attribute, AttributeName, Item, Key, KeyValue};
use keyfold::table::data::call::{Expression, Query, SortCondition};
use keyfold::table::data::error::TableError;
use keyfold::table::data::write::{BatchWrite, WriteAction, WriteCall};
use keyfold::table::embedded::observer::Recorder;
use keyfold::table::store::{ClientKind, TableStore};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;

const CASES: u64 = 80;
/// The calls of a case, which change what later ones of it find.
const CALLS: usize = 60;
/// Names of attributes, a reserved word and one with a dot among them.
const NAMES: [&str; 10] = ["name", "score", "mail", "GroupId", "tags", "numbers", "list", "map", "a.b", "size"];
const NUMBERS: [&str; 7] = ["0", "-1.5", "7", "12345678901234567890123456789012345678", "1E+125", "-1e-130", "0.001"];
/// More than 38 digits, too large, none.
const BAD_NUMBERS: [&str; 3] = ["123456789012345678901234567890123456789", "1e200", "one"];
const KEYS: [&str; 4] = ["a", "b", "c", "ü"];
const TEXTS: [&str; 5] = ["", "a", "ü", "\"\\\n\u{1}", "a longer text"];

/// Conditions on `#a`, which may hold or fail. The first takes any value.
const CONDITIONS: [&str; 8] = [
    "#a = :v",
    "attribute_exists(#a)",
    "attribute_not_exists(#a)",
    "#a.#b <> :v",
    "#a < :v",
    "size(#a) > :v",
    "contains(#a, :v)",
    "#a BETWEEN :v AND :w",
];
/// A condition for writes only: a filter may not have key attributes.
const IS_NEW: &str = "attribute_not_exists(PK)";

/// Updates of `#a`, which may fit an item or not. The first takes any value.
const UPDATES: [&str; 10] = [
    "SET #a = :v",
    "SET #a = #a + :v",
    "SET #a = if_not_exists(#a, :v)",
    "SET #a = list_append(#a, :v)",
    "SET #a.#b = :v",
    "SET #a[1] = :v",
    "ADD #a :v",
    "DELETE #a :v",
    "REMOVE #a",
    "REMOVE #a.#b, #a[0]",
];

/// Random calls. At most one thing of a call is wrong: which of two mistakes is refused may depend on the order of a
/// map.
struct Calls {
    dice: Dice,
    /// Whether something may still be spoilt.
    may_spoil: bool,
}

impl Calls {
    fn below(&mut self, most: usize) -> usize {
        self.dice.below(most)
    }

    /// Whether to spoil the thing at hand, which one of so many would be.
    fn spoils(&mut self, of: usize) -> bool {
        let spoils = self.may_spoil && self.below(of) == 0;
        self.may_spoil &= !spoils;
        spoils
    }

    /// Some of these, each once, at least one.
    fn some<T: for<'t> From<&'t str>>(&mut self, all: &[&str]) -> Vec<T> {
        let first = self.below(all.len());
        let count = 1 + self.below(all.len() - first);
        all[first..first + count].iter().map(|&text| text.into()).collect()
    }

    fn value(&mut self, depth: usize) -> Attribute {
        match self.below(if depth == 0 { 9 } else { 11 }) {
            0 | 1 => Attribute::S(self.dice.of(&TEXTS).into()),
            2 | 3 => Attribute::N(self.dice.of(&NUMBERS).into()),
            4 => Attribute::Ss(self.some(&KEYS)),
            5 => Attribute::Ns(self.some(&NUMBERS)),
            6 => Attribute::Bs(vec![vec![1], vec![]]),
            7 => self.dice.of(&[Some(true), None]).map_or(Attribute::Null, Attribute::Bool),
            8 => Attribute::B(self.dice.of(&[&[][..], &[0, 255], &[7]]).into()),
            9 => Attribute::L((0..self.below(3)).map(|_| self.value(depth - 1)).collect()),
            _ => Attribute::M((0..self.below(3)).map(|i| (NAMES[i], self.value(depth - 1))).collect()),
        }
    }

    fn bad_value(&mut self) -> Attribute {
        let number = self.dice.of(&BAD_NUMBERS).to_owned();
        match self.below(8) {
            0 => Attribute::N(number.into()),
            1 => Attribute::L(vec![Attribute::M([("n", Attribute::N(number.into()))].into())]),
            2 => Attribute::Ns(vec!["1".into(), number.into()]),
            3 => Attribute::Ss(vec![]),
            4 => Attribute::Ss(vec!["a".into(), "a".into()]),
            5 => Attribute::Ns(vec!["1.5".into(), "1.50".into()]),
            6 => Attribute::M([("", Attribute::Null)].into()),
            // Deeper than an item may be.
            _ => (0..40).fold(Attribute::Null, |value, _| Attribute::L(vec![value])),
        }
    }

    fn key(&mut self) -> Key {
        let text = |calls: &mut Self| KeyValue::S(calls.dice.of(&KEYS).into());
        let mut key = Key { partition: ("PK".into(), text(self)), sort: Some(("SK".into(), text(self))) };
        if self.spoils(8) {
            match self.below(6) {
                0 => key.partition.1 = KeyValue::N("1".into()),
                1 => key.partition.1 = KeyValue::S("k".repeat(3000)),
                2 => key.partition.1 = KeyValue::B(vec![]),
                3 => key.sort = Some(("SK".into(), KeyValue::S(String::new()))),
                4 => key.sort = Some(("other".into(), text(self))),
                _ => key.sort = None,
            }
        }
        key
    }

    fn item(&mut self) -> Item {
        let usual: [(&str, Attribute); 5] = [
            ("score", Attribute::N(self.below(5).to_string().into())),
            ("mail", Attribute::S("m".into())),
            ("GroupId", Attribute::S("g".into())),
            ("tags", Attribute::Ss(vec!["b".into(), "a".into()])),
            ("numbers", Attribute::Ns(vec!["10".into(), "9".into(), "-1".into()])),
        ];
        let mut item: Item = usual.into_iter().filter(|_| self.dice.half()).collect();
        let name = self.dice.of(&["name", "list", "map", "a.b", "size"]);
        item.insert(name, self.value(2));
        if self.spoils(4) {
            match self.below(12) {
                0 => item.insert("long", Attribute::S("x".repeat(410_000).into())),
                1 => item.insert("score", Attribute::S("no number".into())),
                2 => item.insert("mail", Attribute::S(String::new().into())),
                3 => item.insert("", Attribute::Null),
                _ => item.insert("name", self.bad_value()),
            };
        }
        item.extend(attributes(&self.key()));
        item
    }

    /// An expression with what it needs.
    fn expression(&mut self, texts: &[&str]) -> Expression {
        let mut text = self.dice.of(texts);
        let has = |text: &str, placeholder: &&str| text.contains(*placeholder);
        let spoils = self.spoils(4).then(|| self.below(6));
        if let Some(0..=2) = spoils {
            text = texts[0];
        }
        let name = |calls: &mut Self| calls.dice.of(&NAMES).to_owned();
        let mut names: BTreeMap<String, String> =
            ["#a", "#b"].iter().filter(|one| has(text, one)).map(|one| (one.to_string(), name(self))).collect();
        let mut values: BTreeMap<String, Attribute> =
            [":v", ":w"].iter().filter(|one| has(text, one)).map(|one| (one.to_string(), self.value(1))).collect();
        match spoils {
            Some(0..=2) => drop(values.insert(":v".into(), self.bad_value())),
            Some(3) => drop(names.insert("#c".into(), "unused".into())),
            Some(4) => text = "contains(#a",
            Some(_) => drop(values.insert(":c".into(), Attribute::Null)),
            None => {}
        }
        Expression { text: text.into(), names, values }
    }

    fn write(&mut self, in_transaction: bool) -> WriteCall {
        let table = if self.spoils(30) { "missing" } else { "things" };
        let could_spoil = self.may_spoil;
        let action = match self.below(if in_transaction { 6 } else { 5 }) {
            0 | 1 => WriteAction::Put(self.item()),
            2 => WriteAction::Update(self.key(), Some(self.expression(&UPDATES))),
            3 => WriteAction::Update(self.key(), None),
            4 => WriteAction::Delete(self.key()),
            _ => WriteAction::Check(self.key()),
        };
        let checks = in_transaction && matches!(action, WriteAction::Check(_) | WriteAction::Update(_, None));
        let is_spoilt = could_spoil && !self.may_spoil;
        let condition = match self.below(3) {
            _ if checks => Some(self.expression(if is_spoilt { &CONDITIONS[..3] } else { &CONDITIONS })),
            0 if !is_spoilt => Some(self.expression(&CONDITIONS)),
            1 => Some(self.expression(&[IS_NEW])),
            _ => None,
        };
        WriteCall { table: table.into(), action, condition }
    }

    fn query(&mut self) -> Query {
        let text = |calls: &mut Self| KeyValue::S(calls.dice.of(&KEYS).into());
        let index = self.dice.of(&[None, None, None, Some("ByGroup"), Some("ByScore"), Some("ByMail")]);
        let (partition, sort) = match index {
            Some("ByGroup") => (("GroupId", KeyValue::S("g".into())), ("SK", text(self))),
            Some("ByMail") => (("mail", KeyValue::S("m".into())), ("PK", text(self))),
            Some(_) => (("PK", text(self)), ("score", KeyValue::N("2".into()))),
            None => (("PK", text(self)), ("SK", text(self))),
        };
        let condition = match self.below(4) {
            0 => SortCondition::Equal(sort.1.clone()),
            1 if sort.0 != "score" => SortCondition::BeginsWith(sort.1.clone()),
            2 => SortCondition::Between(sort.1.clone(), sort.1.clone()),
            _ => SortCondition::GreaterOrEqual(sort.1.clone()),
        };
        // A start has the keys of the table and of the index. Most are in the partition.
        let start = (self.below(3) == 0).then(|| {
            let mut start = attributes(&self.key());
            start.extend(index.is_some().then(|| (sort.0, sort.1.clone().into())));
            start.extend(self.dice.half().then(|| (partition.0, partition.1.clone().into())));
            start
        });
        let of_partition = self.below(4) > 0;
        Query {
            table: if self.spoils(10) { "missing".into() } else { "things".into() },
            index: if self.spoils(10) { Some("None".into()) } else { index.map(Into::into) },
            partition: of_partition.then(|| (partition.0.to_owned(), partition.1)),
            equal: Vec::new(),
            sort: (of_partition && self.dice.half()).then(|| (sort.0.to_owned(), condition)),
            filter: (self.below(3) == 0).then(|| self.expression(&CONDITIONS)),
            projection: (self.below(5) > 0).then(|| self.projection().into()),
            forward: self.dice.half(),
            limit: self.dice.of(&[0, 1, 2, 100, u32::MAX]),
            start,
            consistent: !matches!(index, Some("ByGroup" | "ByMail")) && self.dice.half(),
            max_age: None,
        }
    }

    fn projection(&mut self) -> Vec<AttributeName> {
        ["PK", "SK", "tags", "map", "a.b", "size"][..self.below(7)].iter().map(|&name| name.into()).collect()
    }

    fn call(&mut self) -> Call {
        self.may_spoil = self.below(3) == 0;
        match self.below(8) {
            0 | 1 => {
                let keys: BTreeMap<String, Key> =
                    (0..=self.below(4)).map(|_| self.key()).map(|key| (format!("{key:?}"), key)).collect();
                Call::Gets(keys.into_values().collect(), self.projection(), self.dice.half())
            }
            2 | 3 => Call::Page(Box::new(self.query())),
            4 | 5 => Call::Write(Box::new(self.write(false))),
            6 => Call::Transact((0..=self.below(3)).map(|_| self.write(true)).collect()),
            _ => {
                let write = |calls: &mut Self| match calls.below(3) {
                    0 => BatchWrite::Delete(calls.key()),
                    _ => BatchWrite::Put(calls.item()),
                };
                Call::Batch((0..=self.below(3)).map(|_| write(self)).collect())
            }
        }
    }
}

/// The random calls of a case: each with the token that it has as a transaction, and its table.
pub fn calls(seed: u64) -> Vec<(Call, String, &'static str)> {
    let mut calls = Calls { dice: Dice(fastrand::Rng::with_seed(seed)), may_spoil: false };
    let mut made: Vec<(Call, String, &'static str)> = Vec::new();
    for number in 0..CALLS {
        // A transaction comes again sometimes, and a token with another transaction.
        let (call, token) = match calls.below(20) {
            0 if !made.is_empty() => {
                let (call, token, _) = &made[calls.below(made.len())];
                (call.clone(), token.clone())
            }
            _ => (calls.call(), format!("token {}", if calls.below(30) == 0 { 0 } else { number })),
        };
        made.push((call, token, if calls.spoils(10) { "missing" } else { "things" }));
    }
    made
}

/// All items of a store, in order.
pub async fn items(store: &TableStore) -> Vec<Value> {
    store.scan_page("things", None, u32::MAX, deadline()).await.unwrap().items.iter().map(written).collect()
}

/// Empty stores with the same table, each with what observes its calls: by the engine itself, the direct client and the
/// AWS SDK.
async fn stores() -> Vec<(TableStore, Arc<Recorder>)> {
    let mut stores = Vec::new();
    for client in [None, Some(ClientKind::Direct), Some(ClientKind::Sdk)] {
        let recorder = Arc::<Recorder>::default();
        let store = TableStore::in_memory_observed(recorder.clone()).unwrap();
        let store = client.map_or_else(|| store.clone().without_client(), |client| store.clone().with_client(client));
        store.create_missing(&[table("things")]).await.unwrap();
        recorder.take();
        stores.push((store, recorder));
    }
    stores
}

fn in_full(error: &TableError) -> String {
    format!("{error:?}")
}

#[tokio::test]
async fn the_engine_gives_what_the_clients_get_from_it() {
    for seed in seeds(CASES) {
        let stores = stores().await;
        for (number, (call, token, table)) in calls(seed).iter().enumerate() {
            let mut seen = Vec::new();
            for (store, recorder) in &stores {
                let result = describe_result(store, call, (table, token), in_full).await;
                seen.push((result, recorder.take()));
            }
            assert!(seen.iter().all(|one| *one == seen[0]), "seed {seed}, call {number}: {call:?}\n{seen:#?}");
        }
        let mut left = Vec::new();
        for (store, _) in &stores {
            left.push(items(store).await);
        }
        assert!(left.iter().all(|one| *one == left[0]), "seed {seed}");
    }
}

/// A BatchGetItem answers with at most 16 MB. The rest is asked for again.
#[tokio::test]
async fn a_batch_of_large_items_is_read_in_parts_by_every_maker() {
    let keys: Vec<Key> = (0..46).map(|number| key("p", &sort_key(number))).collect();
    let mut results = Vec::new();
    for (store, recorder) in stores().await {
        let large = |key: &Key| {
            let mut item = attributes(key);
            item.insert("long", s("x".repeat(390_000)));
            item
        };
        store.load(&table("things"), keys.iter().map(large).collect(), deadline()).await.unwrap();
        let call = Call::Gets(keys.clone(), vec!["PK".into(), "SK".into()], false);
        results.push((describe_result(&store, &call, ("things", ""), in_full).await, recorder.take()));
    }
    assert_eq!(results[0].1.len(), 2, "two calls");
    assert!(results.iter().all(|one| *one == results[0]), "{results:?}");
}
