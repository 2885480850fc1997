//! The gateway evaluates conditions as DynamoDB does: each random condition is evaluated on a random item and also sent
//! as a check to the embedded store.

use keyfold::execute::caller::Caller;
use keyfold::execute::expression::condition::{expression, lettered};
use keyfold::execute::expression::evaluate::holds;
use keyfold::execute::expression::filter::applicable;
use keyfold::execute::expression::request_time::RequestTime;
use keyfold::execute::expression::scope::Scope;
use keyfold::plan::tree::Filter;
use keyfold::schema::expression::condition::Condition;
use keyfold::schema::expression::operand::{ArgumentType, Comparator, Operand, Path, Segment};
use keyfold::schema::scalar::value_type::{Moment, ValueType};
use keyfold::schema::table::{KeyAttribute, KeyType, Table};
use keyfold::table::data::attribute::{Attribute, Item, Key, KeyValue};
use keyfold::table::data::call::Expression;
use keyfold::table::data::write::{WriteAction, WriteCall, WriteError};
use keyfold::table::request::loaders::Loaders;
use keyfold::table::store::TableStore;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use proptest::test_runner::{Config, TestRunner};
use serde_json::{Map, Value, json};
use std::cell::Cell;
use std::time::Duration;
use tokio::time::Instant;

const NOW: &str = "2026-11-20T09:30:00.000Z";
/// The same, in milliseconds since 1970.
const NOW_MILLIS: i64 = 1_795_167_000_000;

/// Values of every type that a request can give, few enough to equal those of items.
fn request_values() -> Vec<(Value, ValueType)> {
    let set = |element: ValueType| ValueType::Set(Box::new(element));
    let mut values = Vec::new();
    for text in ["", "a", "ab", "b", "é", "a😀", "\u{ffff}", "2026-11-20T09:30:00.000Z"] {
        values.push((json!(text), ValueType::String));
    }
    for number in [
        "0",
        "1",
        "1.0",
        "2",
        "-1.5",
        "12345678901234567890123456789012345678",
        "12345678901234567890123456789012345679",
    ] {
        values.push((json!(number), ValueType::Decimal));
    }
    values.extend([(json!(1), ValueType::Int), (json!(0.1), ValueType::Float), (json!(3), ValueType::Long)]);
    values.extend(["", "AA==", "AAE=", "/w=="].map(|bytes| (json!(bytes), ValueType::Binary)));
    values.extend([json!(true), json!(false)].map(|truth| (truth, ValueType::Boolean)));
    values.push((json!(NOW), ValueType::DateTime(Moment::EpochSeconds)));
    values.extend([json!(["a", "b"]), json!(["b", "a"]), json!(["a"])].map(|texts| (texts, set(ValueType::String))));
    // A set cannot be empty, so this does not fit.
    values.push((json!([]), set(ValueType::String)));
    values.extend([json!([1, 2]), json!([2, 1]), json!([3])].map(|numbers| (numbers, set(ValueType::Int))));
    values.extend([json!(["a", "b"]), json!([])].map(|texts| (texts, ValueType::String)));
    for any in [
        json!({}),
        json!({ "x": 1 }),
        json!({ "x": 1, "y": "a" }),
        json!([1, "a"]),
        json!([null]),
        json!(null),
        json!(1),
    ] {
        values.push((any, ValueType::Json));
    }
    values
}

/// The arguments `v0`, `v1` …: every second one is in an input object, some are lists for IN, and one is null.
fn arguments() -> Map<String, Value> {
    let (mut arguments, mut input) = (Map::new(), Map::new());
    for (i, (value, _)) in request_values().into_iter().enumerate() {
        let holder = if i.is_multiple_of(2) { &mut arguments } else { &mut input };
        holder.insert(format!("v{i}"), value);
    }
    arguments.insert("input".into(), Value::Object(input));
    arguments.insert("nothing".into(), Value::Null);
    arguments.insert("texts".into(), json!(["a", "é", "zz"]));
    arguments.insert("numbers".into(), json!([0, 1, 7]));
    arguments.insert("none".into(), json!([]));
    arguments
}

fn number() -> impl Strategy<Value = String> {
    let spellings =
        ["0", "-0.0", "1", "1.0", "1e0", "2", "0.1", "-1.5", "-15E-1", "3", "1795167000", "1E-130", "9.9E125"];
    let long = ["12345678901234567890123456789012345678", "12345678901234567890123456789012345679"];
    select([spellings.as_slice(), &long].concat()).prop_map(str::to_owned)
}

fn text() -> impl Strategy<Value = String> {
    select(vec!["", "a", "ab", "abc", "b", "é", "😀", "a😀", "\u{ffff}", "\u{10000}", NOW]).prop_map(str::to_owned)
}

fn bytes() -> impl Strategy<Value = Vec<u8>> {
    select(vec![vec![], vec![0], vec![0, 1], vec![1, 0, 1], vec![255]])
}

fn attribute() -> impl Strategy<Value = Attribute> {
    let leaf = prop_oneof![
        4 => text().prop_map(|text| Attribute::S(text.into())),
        4 => number().prop_map(|number| Attribute::N(number.into())),
        2 => bytes().prop_map(Attribute::B),
        1 => any::<bool>().prop_map(Attribute::Bool),
        1 => Just(Attribute::Null),
        2 => subsequence(vec!["b", "a", "é"], 1..=3).prop_map(|set| Attribute::Ss(set.into_iter().map(Into::into).collect())),
        2 => subsequence(vec!["2.0", "1", "30e-1", "-1.5"], 1..=4).prop_shuffle()
            .prop_map(|set| Attribute::Ns(set.into_iter().map(Into::into).collect())),
        1 => subsequence(vec![vec![0], vec![0, 1], vec![255]], 1..=3).prop_map(Attribute::Bs),
    ];
    leaf.prop_recursive(2, 12, 3, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..3).prop_map(Attribute::L),
            prop::collection::hash_map(select(vec!["x", "y"]), inner, 0..3)
                .prop_map(|members| Attribute::M(members.into_iter().collect())),
        ]
    })
}

fn item() -> impl Strategy<Value = Item> {
    prop::collection::hash_map(select(vec!["a", "b", "c", "d", "size"]), attribute(), 0..6)
        .prop_map(|members| members.into_iter().collect())
}

fn path() -> impl Strategy<Value = Path> {
    let first =
        select(vec!["a", "b", "c", "d", "size", "missing"]).prop_map(|name| Segment::Attribute(name.to_owned()));
    let deeper = prop_oneof![
        select(vec!["x", "y"]).prop_map(|name| Segment::Attribute(name.to_owned())),
        (0..3u32).prop_map(Segment::Index),
    ];
    (first, prop_oneof![3 => Just(0usize), 1 => Just(1), 1 => Just(2)], vec(deeper, 2)).prop_map(
        |(first, depth, deeper)| {
            let segments = std::iter::once(first).chain(deeper.into_iter().take(depth)).collect();
            Path { segments }
        },
    )
}

fn operand() -> impl Strategy<Value = Operand> {
    let values = request_values();
    let argument = |i: usize| if i.is_multiple_of(2) { format!("v{i}") } else { format!("input.v{i}") };
    let given = (0..values.len(), any::<bool>()).prop_map(move |(i, literal)| {
        let (value, kind) = values[i].clone();
        if literal {
            Operand::Literal(value, ArgumentType(kind))
        } else {
            Operand::Argument(argument(i), ArgumentType(kind))
        }
    });
    let now = |kind: ValueType| Just(Operand::Now(ArgumentType(kind)));
    prop_oneof![
        8 => given,
        5 => path().prop_map(Operand::Path),
        2 => path().prop_map(Operand::Size),
        1 => now(ValueType::DateTime(Moment::Text)),
        1 => now(ValueType::DateTime(Moment::EpochSeconds)),
        1 => Just(Operand::Argument("nothing".into(), ArgumentType(ValueType::String))),
        1 => Just(Operand::Argument("input.nothing.there".into(), ArgumentType(ValueType::Int))),
    ]
}

fn list() -> impl Strategy<Value = Operand> {
    let whole = |name: &str, kind: ValueType| Just(Operand::Argument(name.to_owned(), ArgumentType(kind)));
    prop_oneof![
        6 => operand(),
        1 => whole("texts", ValueType::String),
        1 => whole("numbers", ValueType::Int),
        1 => whole("none", ValueType::String),
    ]
}

fn condition() -> impl Strategy<Value = Condition> {
    use Comparator::*;
    let comparator = select(vec![Equal, Equal, NotEqual, Less, LessOrEqual, Greater, GreaterOrEqual]);
    let subject =
        || prop_oneof![4 => path().prop_map(Operand::Path), 1 => path().prop_map(Operand::Size), 1 => operand()];
    let descriptor = select(vec!["S", "SS", "N", "NS", "B", "BS", "BOOL", "NULL", "L", "M"]).prop_map(str::to_owned);
    let leaf = prop_oneof![
        6 => (subject(), comparator, operand()).prop_map(|(left, comparator, right)| Condition::Compare(left, comparator, right)),
        3 => (subject(), operand(), operand()).prop_map(|(value, low, high)| Condition::Between(value, low, high)),
        2 => (subject(), vec(list(), 0..4)).prop_map(|(value, list)| Condition::In(value, list)),
        1 => path().prop_map(Condition::Exists),
        1 => path().prop_map(Condition::NotExists),
        3 => (path(), operand()).prop_map(|(path, operand)| Condition::BeginsWith(path, operand)),
        4 => (path(), operand()).prop_map(|(path, operand)| Condition::Contains(path, operand)),
        2 => (path(), descriptor).prop_map(|(path, descriptor)| Condition::AttributeType(path, descriptor)),
    ];
    leaf.prop_recursive(2, 6, 3, |inner| {
        prop_oneof![
            vec(inner.clone(), 2..4).prop_map(Condition::And),
            vec(inner.clone(), 2..4).prop_map(Condition::Or),
            inner.prop_map(|condition| Condition::Not(Box::new(condition))),
        ]
    })
}

fn key(name: &str) -> Key {
    Key { partition: ("PK".into(), KeyValue::S(name.into())), sort: None }
}

/// The embedded store with one table.
struct Checks {
    runtime: tokio::runtime::Runtime,
    store: TableStore,
    table: Table,
    sent: Cell<u64>,
}

impl Checks {
    fn new() -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let store = TableStore::in_memory().unwrap();
        let partition = KeyAttribute { name: "PK".into(), kind: KeyType::S };
        let table = Table::new("things", partition, None);
        runtime.block_on(store.create_missing(std::slice::from_ref(&table))).unwrap();
        Self { runtime, store, table, sent: Cell::new(0) }
    }

    fn loaders(&self) -> Loaders {
        let _inside = self.runtime.enter();
        Loaders::new(&self.store, Instant::now() + Duration::from_secs(60))
    }

    fn put(&self, item: &Item) {
        let mut item = item.clone();
        item.insert("PK", Attribute::S("one".into()));
        let put = WriteCall { table: self.table.name.as_str().into(), action: WriteAction::Put(item), condition: None };
        self.runtime.block_on(self.loaders().write(&put)).unwrap();
    }

    /// The store's result of a condition on the item with this key.
    fn verdict(&self, name: &str, condition: Expression) -> bool {
        let action = WriteAction::Check(key(name));
        let check = WriteCall { table: self.table.name.as_str().into(), action, condition: Some(condition) };
        let token = self.sent.replace(self.sent.get() + 1).to_string();
        match self.runtime.block_on(self.loaders().transact(std::slice::from_ref(&check), &token)) {
            Ok(()) => true,
            Err(WriteError::Conditions(failed)) => {
                assert_eq!((failed.len(), failed[0].position, failed[0].item.is_some()), (1, 0, name == "one"));
                false
            }
            Err(other) => panic!("{other:?} of {check:?}"),
        }
    }
}

#[test]
fn the_gateway_and_the_store_agree() {
    let checks = Checks::new();
    let arguments = arguments();
    let anonymous = Caller::anonymous();
    let now = RequestTime::at(NOW_MILLIS);
    let scope = Scope { arguments: &arguments, now: &now, caller: &anonymous };
    // How many conditions hold, do not hold, have a value that does not fit, and are dropped from a filter completely:
    // each must occur.
    let tally = Cell::new([0; 4]);
    let count = |outcome: usize| {
        let mut counts = tally.get();
        counts[outcome] += 1;
        tally.set(counts);
    };
    let mut runner =
        TestRunner::new(Config { cases: 150, max_shrink_iters: 400, failure_persistence: None, ..Config::default() });
    let agree = |(item, conditions): (Item, Vec<Condition>)| {
        checks.put(&item);
        for condition in conditions {
            let condition = &condition;
            // The schema refuses a condition that names one path twice.
            if names_itself(condition) {
                continue;
            }
            let (there, missing) = (holds(condition, Some(&item), &scope), holds(condition, None, &scope));
            match lettered(condition, &scope, 'f') {
                Err(sentence) => {
                    count(2);
                    prop_assert_eq!(there, Err(sentence.clone()));
                    prop_assert_eq!(missing, Err(sentence));
                }
                Ok(sent) => {
                    count(usize::from(there == Ok(false)));
                    prop_assert_eq!(
                        there,
                        Ok(checks.verdict("one", sent.clone())),
                        "{:?} of {:?}: {:?}",
                        &sent,
                        &item,
                        condition
                    );
                    prop_assert_eq!(
                        missing,
                        Ok(checks.verdict("missing", sent.clone())),
                        "{:?} of no item: {:?}",
                        &sent,
                        condition
                    );
                }
            }
            // As a filter, the condition loses the parts whose argument is null.
            let is_null = |name: &str| scope.argument(name).is_none_or(Value::is_null);
            match condition.without(&is_null) {
                None => count(3),
                Some(rest) => {
                    let filter = Filter::new(condition, 0);
                    prop_assert_eq!(
                        expression(&applicable(&filter, &scope), &scope),
                        lettered(&rest, &scope, 'f').map(Some)
                    );
                }
            }
        }
        Ok(())
    };
    runner.run(&(item(), vec(condition(), 8)), agree).unwrap();
    // The rarest of them occurs about 25 times.
    assert!(tally.get().iter().all(|count| *count > 0), "{:?}", tally.get());
}

fn names_itself(condition: &Condition) -> bool {
    match condition {
        Condition::And(all) | Condition::Or(all) => all.iter().any(names_itself),
        Condition::Not(inner) => names_itself(inner),
        Condition::Contains(path, Operand::Path(other)) => path == other,
        _ => false,
    }
}

/// Rules that random conditions seldom reach.
#[test]
fn the_semantics_are_those_of_the_guide() {
    let item = Item::from([
        ("text".to_owned(), Attribute::S("a😀".into())),
        ("numbers".to_owned(), Attribute::Ns(vec!["1.0".into(), "2".into()])),
        (
            "list".to_owned(),
            Attribute::L(vec![
                Attribute::N("10".into()),
                Attribute::M(Item::from([("x".to_owned(), Attribute::Null)])),
            ]),
        ),
        ("nothing".to_owned(), Attribute::Null),
    ]);
    let path = |name: &str| Path { segments: vec![Segment::Attribute(name.into())] };
    let at = |name: &str| Operand::Path(path(name));
    let number = |text: &str| Operand::Literal(json!(text), ArgumentType(ValueType::Decimal));
    let string = |text: &str| Operand::Literal(json!(text), ArgumentType(ValueType::String));
    let null = || Operand::Literal(Value::Null, ArgumentType(ValueType::String));
    let compare = Condition::Compare;
    let second =
        Path { segments: vec![Segment::Attribute("list".into()), Segment::Index(1), Segment::Attribute("x".into())] };
    use Comparator::*;
    let arguments =
        json!({ "input": { "name": "a😀", "ids": ["b"] }, "many": vec!["x"; 101] }).as_object().unwrap().clone();
    let anonymous = Caller::anonymous();
    let now = RequestTime::at(NOW_MILLIS);
    let scope = Scope { arguments: &arguments, now: &now, caller: &anonymous };
    let argument = |name: &str| Operand::Argument(name.into(), ArgumentType(ValueType::String));
    for (condition, expected) in [
        (compare(at("text"), Equal, argument("input.name")), true),
        (compare(at("text"), Equal, argument("input.other")), false),
        (compare(at("nothing"), Equal, argument("input.other")), true),
        (Condition::In(at("text"), vec![argument("input.ids")]), false),
        (compare(at("missing"), NotEqual, string("a")), true),
        (compare(at("missing"), Equal, at("gone")), false),
        (compare(at("text"), Less, number("1")), false),
        (compare(at("text"), NotEqual, number("1")), true),
        (compare(at("nothing"), Equal, null()), true),
        (compare(at("nothing"), GreaterOrEqual, null()), false),
        (compare(Operand::Size(path("text")), Equal, number("3")), true),
        (Condition::Not(Box::new(compare(Operand::Size(path("nothing")), GreaterOrEqual, number("0")))), true),
        (Condition::Contains(path("numbers"), number("1")), true),
        (Condition::Contains(path("list"), number("1E1")), true),
        (Condition::Exists(second.clone()), true),
        (Condition::AttributeType(second, "NULL".into()), true),
        (Condition::Between(number("5"), number("9"), number("1")), false),
        (Condition::Not(Box::new(Condition::In(at("text"), vec![]))), true),
    ] {
        assert_eq!(holds(&condition, Some(&item), &scope), Ok(expected), "{condition:?}");
    }
    let many = Condition::In(at("text"), vec![argument("many")]);
    let sentence = "Argument \"many\" has 101 values; a condition takes at most 100.";
    assert_eq!(holds(&many, Some(&item), &scope), Err(sentence.to_owned()));
    assert_eq!(lettered(&many, &scope, 'f'), Err(sentence.to_owned()));

    // If DynamoDB would refuse a condition, the gateway sends one that never holds.
    let never = "attribute_exists(#f0) AND attribute_not_exists(#f0)";
    let sent = |condition: &Condition| lettered(condition, &scope, 'f').unwrap();
    for condition in [
        Condition::Between(at("text"), number("9"), number("1")),
        Condition::Between(at("text"), number("1"), string("2")),
        Condition::Between(at("text"), null(), number("1")),
        Condition::In(Operand::Size(path("text")), vec![]),
        compare(at("text"), Less, argument("input.other")),
        Condition::BeginsWith(path("text"), argument("input.other")),
        Condition::BeginsWith(path("text"), number("1")),
    ] {
        assert_eq!((sent(&condition).text.as_str(), sent(&condition).values.len()), (never, 0), "{condition:?}");
    }
    assert_eq!(sent(&Condition::Between(at("text"), number("1"), number("1.0"))).text, "#f0 BETWEEN :f0 AND :f0");
    // Nested parentheses have a limit, too.
    let both = Condition::And(vec![Condition::In(at("text"), vec![]), Condition::Exists(path("text"))]);
    assert_eq!(sent(&both).text, format!("({never}) AND (attribute_exists(#f1))"));
}
