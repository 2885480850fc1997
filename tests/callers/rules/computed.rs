//! A computed field is refused where a field of which it is computed is refused, or by its own rules, and by nothing
//! else: random rules, items and callers. A stored field with the same rules as a computed one says what those refuse.

use crate::support;
use fastrand::Rng;
use keyfold::execute::caller::Caller;
use keyfold::execute::gateway::Gateway;
use keyfold::execute::request::Request;
use keyfold::schema::load;
use keyfold::table::bulk::export_lines::parse_line;
use keyfold::table::store::TableStore;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::Arc;

/// The fields, each with the fields of which it is computed, and the stored field with its rules.
const COMPUTED: [(&str, &[&str], &str); 3] =
    [("text", &["a", "b"], "asText"), ("product", &["n", "m"], "asProduct"), ("key", &["id"], "asKey")];

/// A random rule of a field.
fn rule(rng: &mut Rng) -> &'static str {
    match rng.u8(..9) {
        0 => "@auth(signedIn: true)",
        1 => "@auth(if: \"auth.level > 1\")",
        2 => "@auth(if: \"auth.sub = owner\")",
        3 => "@auth(exists: Member, where: { owner: \"{owner}\", name: \"{auth.sub}\" }, on: [READ])",
        4 => {
            "@auth(exists: Member, where: { owner: \"x\", name: \"{auth.sub}\" }, on: [READ]) \
             @auth(if: \"level <= auth.level\", on: [READ])"
        }
        _ => "",
    }
}

fn schema(rng: &mut Rng) -> String {
    let mut fields = String::new();
    for (name, ty) in [("a", "String"), ("b", "String"), ("n", "Int"), ("m", "Decimal")] {
        fields += &format!("  {name}: {ty} {}\n", rule(rng));
    }
    for ((computed, _, twin), by) in COMPUTED.iter().zip([
        "String @computed(value: \"{a}, {b:upper}\")",
        "Decimal @computed(expression: \"n * m\")",
        "ID @computed(value: \"thing-{id}\")",
    ]) {
        let rule = rule(rng);
        // Nothing writes a computed field, so its rule is for reads in any case.
        let of_computed = rule.replace(", on: [READ]", "");
        fields += &format!("  {computed}: {by} {of_computed}\n  {twin}: String {rule}\n");
    }
    let hide = ["", "@auth(signedIn: true)", "@auth(if: \"level < 3\", public: true, hide: true)"][rng.usize(..3)];
    format!(
        "extend schema @table(name: \"data\", partitionKey: \"PK\", sortKey: \"SK\", indexes: [\n\
         {{ name: \"byOwner\", partitionKey: \"GSI1PK\", sortKey: \"SK\", projection: INCLUDE, include: [\"level\"] }}])\n\
         type Thing @item(keys: {{ PK: \"THING#{{id}}\", SK: \"THING\", GSI1PK: \"OWNER#{{owner}}\" }}) {hide} {{\n\
           id: ID!\n  owner: ID! @attribute(name: \"owner\")\n  level: Int!\n{fields}}}\n\
         type Member @item(keys: {{ PK: \"MEMBERS#{{owner}}\", SK: \"{{name}}\" }}) @auth(public: true) {{\n  owner: ID!\n  name: ID!\n}}\n\
         type Query {{\n  thing(id: ID!): Thing @find @auth(public: true)\n\
           things(owner: ID!): [Thing!]! @find @auth(public: true)\n}}\n"
    )
}

fn items(rng: &mut Rng) -> Vec<Value> {
    let thing = |id: usize, rng: &mut Rng| {
        let owner = ["x", "y"][rng.usize(..2)];
        let mut item = json!({
            "PK": { "S": format!("THING#{id}") }, "SK": { "S": "THING" }, "GSI1PK": { "S": format!("OWNER#{owner}") },
            "level": { "N": rng.u8(0..4).to_string() }, "owner": { "S": owner },
        });
        for (name, value) in [
            ("a", json!({ "S": "A" })),
            ("b", json!({ "S": "b" })),
            ("n", json!({ "N": "3" })),
            ("m", json!({ "N": "0.5" })),
        ] {
            if rng.u8(..5) > 0 {
                item[name] = value;
            }
        }
        item
    };
    let mut items: Vec<Value> = (0..4).map(|id| thing(id, rng)).collect();
    for (owner, name) in [("x", "x"), ("x", "ann"), ("y", "ann")] {
        if rng.bool() {
            items.push(json!({ "PK": { "S": format!("MEMBERS#{owner}") }, "SK": { "S": name } }));
        }
    }
    items
}

fn caller(rng: &mut Rng) -> Caller {
    if rng.u8(..4) == 0 {
        return Caller::anonymous();
    }
    let sub = ["x", "y", "ann"][rng.usize(..3)];
    super::caller(json!({ "sub": sub, "level": rng.u8(0..4) }))
}

/// The paths of what is refused.
fn refused(response: &Value) -> BTreeSet<String> {
    let errors = response["errors"].as_array().into_iter().flatten();
    let is_refusal = |error: &&Value| {
        let code = error["extensions"]["code"].as_str().unwrap();
        assert!(["FORBIDDEN", "UNAUTHENTICATED"].contains(&code), "{error}");
        true
    };
    errors.filter(is_refusal).map(|error| error["path"].to_string()).collect()
}

/// Holds the computed fields of an object against its other fields. Counts those that are refused and those that are
/// not.
fn check(object: &Value, path: &[Value], refused: &BTreeSet<String>, count: &mut (usize, usize)) {
    let is_refused = |field: &str| refused.contains(&json!([path, &[json!(field)]].concat()).to_string());
    for (field, parts, twin) in COMPUTED {
        let expected = parts.iter().chain([&twin]).any(|part| is_refused(part));
        assert_eq!(is_refused(field), expected, "{field} of {object} at {path:?}: {refused:?}");
        if expected {
            count.0 += 1;
            assert!(object[field].is_null(), "{field} of {object}");
            continue;
        }
        count.1 += 1;
        let has_all = parts.iter().all(|part| !object[part].is_null());
        let value = match field {
            "text" => json!("A, B"),
            "product" => json!("1.5"),
            _ => json!(format!("thing-{}", object["id"].as_str().unwrap())),
        };
        assert_eq!(object[field], if has_all { value } else { Value::Null }, "{field} of {object}");
    }
}

#[tokio::test]
async fn a_computed_field_has_the_rules_of_its_fields() {
    let number = |name: &str, or: u64| std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(or);
    let (cases, first) = (number("KEYFOLD_LAW_CASES", 60), number("KEYFOLD_LAW_SEED", 0));
    let mut count = (0, 0);
    for seed in first..first + cases {
        let mut rng = Rng::with_seed(seed);
        let sdl = schema(&mut rng);
        let (model, _) = load("computed.graphql", &sdl, &|_| None)
            .unwrap_or_else(|mistakes| panic!("seed {seed}: {}", mistakes.render(false)));
        let store = TableStore::in_memory().unwrap();
        store.create_missing(&model.tables).await.unwrap();
        let lines = items(&mut rng).into_iter().map(|item| json!({ "Item": item }).to_string());
        let items = lines.map(|line| parse_line(&line).unwrap().unwrap()).collect();
        store.load(&model.tables[0], items, support::deadline()).await.unwrap();
        let gateway = Gateway::new(Arc::new(model), store, super::any_settings(&mut rng));
        for _ in 0..4 {
            let caller = caller(&mut rng);
            // What is computed is written before its fields, after them, or between them.
            let mut fields = vec!["id", "a", "b", "n", "m", "text", "product", "key", "asText", "asProduct", "asKey"];
            rng.shuffle(&mut fields);
            let fields = fields.join(" ");
            let query = format!("{{ things(owner: \"x\") {{ {fields} }} thing(id: \"1\") {{ {fields} }} }}");
            let request = Request { caller, ..support::request(&query, json!({})) };
            let response = support::run(&gateway, &request, false).await;
            let refused = refused(&response);
            let things = response["data"]["things"].as_array().into_iter().flatten().enumerate();
            for (position, thing) in things {
                check(thing, &[json!("things"), json!(position)], &refused, &mut count);
            }
            if response["data"]["thing"].is_object() {
                check(&response["data"]["thing"], &[json!("thing")], &refused, &mut count);
            }
            // Alone, it is refused no less.
            let alone = r#"{ things(owner: "x") { text product key } thing(id: "1") { text product key } }"#;
            let request = Request { caller: request.caller, ..support::request(alone, json!({})) };
            let alone = support::run(&gateway, &request, false).await;
            let of_computed = |path: &&String| {
                ["text\"]", "product\"]", "key\"]"].iter().any(|end| path.ends_with(&format!("\"{end}")))
            };
            let expected: BTreeSet<String> = refused.iter().filter(of_computed).cloned().collect();
            assert_eq!(
                self::refused(&alone).iter().filter(of_computed).cloned().collect::<BTreeSet<_>>(),
                expected,
                "seed {seed}: {sdl}"
            );
        }
    }
    assert!(cases < 60 || count.0 > 200 && count.1 > 200, "{count:?}");
}
