//! A computed field is what its fields give, exactly; null where one of them is; an error where one cannot be read or
//! the result is no value of its type. Nothing but its fields is asked for.

use crate::naive::binding::Rules;
use crate::naive::pages::Cursors;
use crate::oracle::seen::Measured;
use crate::random::operations::{Maker, Node, Pool, What, Written, write};
use crate::random::trial::Seen;
use crate::random_operations::{MOST, cases};
use crate::random_schema::Rng;
use crate::random_schemas::Made;
use crate::support;
use keyfold::execute::caller::Caller;
use keyfold::execute::gateway::Gateway;
use keyfold::execute::request::{Request, Settings};
use keyfold::schema::load;
use keyfold::table::bulk::export_lines::parse_line;
use keyfold::table::data_store::DataStore;
use keyfold::table::store::TableStore;
use serde_json::{Value, json};
use std::sync::Arc;

/// How many schemas are tried.
const USUAL: u64 = 20;

#[test]
fn a_computed_field_of_any_schema_is_what_its_fields_give() {
    let (mut seen, mut failures) = (Seen::default(), Vec::new());
    let (mut schemas, mut texts, mut numbers) = (0, 0, 0);
    let range = cases(USUAL);
    let count = range.end - range.start;
    for seed in range {
        let Some(made) = Made::computed(seed) else { continue };
        schemas += 1;
        texts += made.sdl.matches("@computed(value:").count();
        numbers += made.sdl.matches("@computed(expression:").count();
        let failure = made.tried_by(seed, &Caller::anonymous(), |trial, maker| {
            (0..12).find_map(|_| {
                let set = maker.operation();
                let mut cursors = Cursors::default();
                let before = cursors.clone();
                trial.differs(&set, &mut cursors, &mut seen).map(|_| trial.minimised(&set, &before))
            })
        });
        failures.extend(failure.map(|failure| format!("seed {seed}: {failure}\n{}", made.sdl)));
        if failures.len() >= MOST {
            break;
        }
    }
    eprintln!("computed: {seen:?}, {schemas} schemas, {texts} texts, {numbers} numbers");
    assert!(failures.is_empty(), "{} operations differ:\n\n{}", failures.len(), failures.join("\n\n"));
    assert!(count < USUAL || (schemas > 15 && texts > 60 && numbers > 25), "{schemas} {texts} {numbers}");
}

/// A selection with the fields of which computed fields are, in place of these.
fn with_parts(set: &[Node], rules: &Rules, count: &mut usize) -> Vec<Node> {
    let mut parts = Vec::new();
    for node in set {
        let written = match &node.what {
            What::Field { of: (ty, name), .. } => rules.computed(ty, name).map(|written| (ty, written)),
            What::Fragment { .. } => None,
        };
        match written {
            Some((ty, written)) => parts.extend(written.fields().into_iter().map(|field| {
                *count += 1;
                let what = What::Field { of: (ty.clone(), field), arguments: Vec::new() };
                Node { key: format!("part{count}"), what, set: Vec::new() }
            })),
            None => parts.push(Node { set: with_parts(&node.set, rules, count), ..node.clone() }),
        }
    }
    parts
}

/// The calls of an operation, each with its round trip.
async fn calls(made: &Made, set: &[Node]) -> Vec<(usize, String)> {
    let store = TableStore::in_memory().unwrap();
    store.create_missing(&made.model.tables).await.unwrap();
    for (table, items) in made.model.tables.iter().zip(&made.items) {
        store.load(table, items.clone(), support::deadline()).await.unwrap();
    }
    let measured = Measured::new(store.into());
    let settings = Settings { max_aliases: 10_000, ..support::settings() };
    let gateway = Gateway::new(made.model.clone(), measured.clone() as Arc<dyn DataStore>, settings);
    let Written { text, variables } = write(set);
    let request = Request { variables, ..Request::new(text) };
    support::run(&gateway, &request, false).await;
    let mut calls: Vec<_> = measured.take().calls.into_iter().map(|call| (call.wave, call.text)).collect();
    calls.sort();
    calls
}

#[tokio::test]
async fn a_query_of_computed_fields_makes_the_calls_of_one_of_their_fields() {
    let (mut compared, mut with_calls) = (0, 0);
    for seed in cases(12) {
        let Some(made) = Made::computed(seed) else { continue };
        let (rules, pool) = (Rules::of(&made.sdl), Pool::of(&made.model, &made.items));
        let mut maker = Maker::new(&made.model, &pool, Rng::with_seed(seed));
        for _ in 0..12 {
            let (set, mut count) = (maker.operation(), 0);
            let parts = with_parts(&set, &rules, &mut count);
            if count == 0 {
                continue;
            }
            let (own, of_parts) = (calls(&made, &set).await, calls(&made, &parts).await);
            compared += 1;
            with_calls += usize::from(!own.is_empty());
            assert_eq!(own, of_parts, "seed {seed}:\n{}\n{}", write(&set).text, write(&parts).text);
        }
    }
    assert!(with_calls > 20, "{with_calls} of {compared} operations");
}

/// A gateway with one item, whose fields beside the key are these attributes in DynamoDB's JSON.
async fn gateway(fields: &str, item: Value) -> Gateway {
    let sdl = format!(
        "extend schema @table(name: \"data\", partitionKey: \"PK\")\n\
         type Thing @item(keys: {{ PK: \"THING#{{id}}\" }}) {{\n  id: ID!\n{fields}\n}}\n\
         type Query {{ thing(id: ID!): Thing @find }}\n"
    );
    let (model, _) =
        load("thing.graphql", &sdl, &|_| None).unwrap_or_else(|mistakes| panic!("{}", mistakes.render(false)));
    let store = TableStore::in_memory().unwrap();
    store.create_missing(&model.tables).await.unwrap();
    let mut item = item;
    item["PK"] = json!({ "S": "THING#1" });
    let item = parse_line(&json!({ "Item": item }).to_string()).unwrap().unwrap();
    store.load(&model.tables[0], vec![item], support::deadline()).await.unwrap();
    Gateway::new(Arc::new(model), store, support::settings())
}

/// The value of a field of the item, or the code and the message of its error.
async fn value(gateway: &Gateway, field: &str) -> Result<Value, (Value, String)> {
    let query = format!("{{ thing(id: \"1\") {{ it: {field} }} }}");
    let response = support::run(gateway, &support::request(&query, json!({})), false).await;
    match response["errors"].get(0) {
        Some(error) => {
            assert_eq!(error["path"], json!(["thing", "it"]), "{response}");
            Err((error["extensions"]["code"].clone(), error["message"].as_str().unwrap().to_owned()))
        }
        None => Ok(response["data"]["thing"]["it"].clone()),
    }
}

/// An error at the field, which says this.
fn internal(message: &str) -> Result<Value, (Value, String)> {
    Err((json!("INTERNAL"), message.to_owned()))
}

#[tokio::test]
async fn a_number_is_exact_and_of_its_type() {
    let (high, low) = ("9".repeat(38), format!("0.{}1", "0".repeat(36)));
    let fields = r#"
        a: Decimal!
        b: Decimal!
        i: Int!
        l: Long!
        f: Float!
        big: Decimal!
        small: Decimal!
        none: Int
        strange: Int
        sum: Decimal @computed(expression: "a + b - 0.30")
        product: Decimal @computed(expression: "a * b * a")
        nested: Decimal @computed(expression: "(a - b) * (a + b) - 2 * (a - (b - 1))")
        negative: Decimal @computed(expression: "-2 * i")
        whole: Int @computed(expression: "i * 0.5 + 0.5")
        fraction: Int @computed(expression: "i * 0.3")
        beyond: Int @computed(expression: "i * 1000000000")
        long: Long @computed(expression: "l * 3")
        beyondLong: Long @computed(expression: "l * 4")
        float: Float @computed(expression: "f * 3")
        long39: Decimal @computed(expression: "big + small")
        wide: Decimal @computed(expression: "big * 10")
        asFloat: Float @computed(expression: "big * big * small")
        beyondFloat: Float @computed(expression: "big * big * big * big")
        zero: Decimal @computed(expression: "a - a")
        ofNull: Int @computed(expression: "none + 1")
        ofNullTwice: Int @computed(expression: "0 * none")
        ofStrange: Int @computed(expression: "none + strange")
    "#;
    let number = |text: &str| json!({ "N": text });
    let item = json!({
        "a": number("0.1"), "b": number("0.2"), "i": number("7"), "l": number("3000000000000000000"),
        "f": number("0.1"), "big": number(&high), "small": number(&low), "strange": { "S": "seven" },
    });
    let gateway = gateway(fields, item).await;
    for (field, expected) in [
        ("sum", Ok(json!("0"))),
        ("product", Ok(json!("0.002"))),
        ("nested", Ok(json!("-1.83"))),
        ("negative", Ok(json!("-14"))),
        ("whole", Ok(json!(4))),
        ("fraction", internal("Thing.fraction would be 2.1, which is not of type Int.")),
        ("beyond", internal("Thing.beyond would be 7000000000, which is not of type Int.")),
        ("long", Ok(json!(9_000_000_000_000_000_000_i64))),
        ("beyondLong", internal("Thing.beyondLong would be 12000000000000000000, which is not of type Long.")),
        ("float", Ok(json!(0.3))),
        ("wide", Ok(json!(format!("{high}0")))),
        ("asFloat", Ok(json!(1e39))),
        ("zero", Ok(json!("0"))),
        ("ofNull", Ok(Value::Null)),
        ("ofNullTwice", Ok(Value::Null)),
        ("ofStrange", internal("A stored value of which the field is computed does not fit its type.")),
    ] {
        assert_eq!(value(&gateway, field).await, expected, "{field}");
    }
    for field in ["long39", "beyondFloat"] {
        let (code, message) = value(&gateway, field).await.unwrap_err();
        assert!(code == "INTERNAL" && message.contains("DynamoDB"), "{field}: {message}");
    }
}

#[tokio::test]
async fn a_text_has_the_values_of_the_api() {
    let fields = r#"
        name: String!
        count: Int!
        open: Boolean!
        at: DateTime! @attribute(stored: EPOCH_SECONDS)
        fine: DateTime! @attribute(form: "%Y-%m-%dT%H:%M:%S.%6fZ")
        day: Date! @attribute(form: "%d/%m/%Y")
        rate: Float!
        mail: AWSEmail
        none: String
        braces: String! @computed(value: "{{{name}}} }} {{")
        cases: String! @computed(value: "{name:lower}{name:upper}{id}")
        all: ID! @computed(value: "{count} {open} {at} {fine} {day} {rate}")
        padded: String @computed(value: "{count:05}")
        narrow: String @computed(value: "{count:01}")
        forms: String! @computed(value: "{at:%Y} {at:%s} {fine:%Y-%m-%d %H:%M:%S.%3f} {day:%d.%m.%y}")
        ofNull: String @computed(value: "{name} {none}")
        ofMail: String @computed(value: "mailto:{mail:lower}")
    "#;
    let fields = fields.replace("{day:%d.%m.%y}", "{day:%d.%m.%Y}");
    let item = json!({
        "name": { "S": "Ann ß#%\"\n" }, "count": { "N": "42" }, "open": { "BOOL": false }, "at": { "N": "1795000000" },
        "fine": { "S": "2026-11-20T09:30:07.123456Z" }, "day": { "S": "20/11/2026" }, "rate": { "N": "1E3" },
        "mail": { "S": "Ann@Example.org" },
    });
    let gateway = gateway(&fields, item).await;
    for (field, expected) in [
        ("braces", Ok(json!("{Ann ß#%\"\n} } {"))),
        ("cases", Ok(json!("ann ß#%\"\nANN SS#%\"\n1"))),
        ("all", Ok(json!("42 false 2026-11-18T11:06:40.000Z 2026-11-20T09:30:07.123456Z 2026-11-20 1000"))),
        ("padded", Ok(json!("00042"))),
        ("narrow", internal("Thing.narrow has no text: 42 has more than the 1 digits that its placeholder allows.")),
        ("forms", Ok(json!("2026 1795000000 2026-11-20 09:30:07.123 20.11.2026"))),
        ("ofNull", Ok(Value::Null)),
        ("ofMail", Ok(json!("mailto:ann@example.org"))),
    ] {
        assert_eq!(value(&gateway, field).await, expected, "{field}");
    }
}
