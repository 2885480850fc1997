//! The schema files of the project: they load without a mistake, and with a warning only if a comment before its place
//! explains it. The sample items of the examples follow their schemas.
use crate::support;
use keyfold::execute::caller::Caller;
use keyfold::execute::key::sharding::item_values;
use keyfold::execute::request::Request;
use keyfold::schema;
use keyfold::schema::diagnostics::diagnostic::{Diagnostic, Severity};
use keyfold::schema::model::keys::{ConstantValue, ItemKeys};
use keyfold::schema::model::{FieldKind, Model, ObjectType};
use keyfold::schema::scalar::spread::SpreadKind;
use keyfold::table::bulk::export_lines::parse_line;
use keyfold::table::data::attribute::{Attribute, Item};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The examples, as systems.
const EXAMPLES: [&str; 10] =
    ["cycles", "patterns", "audiobooks", "tenants", "members", "company", "order-entry", "bank", "tournaments", "shop"];

fn schemas() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let examples =
        std::fs::read_dir(root.join("examples")).unwrap().map(|entry| entry.unwrap().path().join("schema.graphql"));
    // A program brings no schema.
    let examples = examples.filter(|schema| schema.is_file());
    let found: Vec<PathBuf> = std::iter::once(root.join("schema.graphql")).chain(examples).collect();
    assert_eq!(found.len(), 1 + EXAMPLES.len(), "an example that is no system");
    found
}

/// The warnings and errors without a comment that explains them, in the line before or in the line itself.
fn unexplained<'d>(text: &str, found: &'d [Diagnostic]) -> Vec<&'d Diagnostic> {
    let is_explained = |finding: &Diagnostic| {
        let mut lines = text[..finding.span.start].lines().rev();
        // Text before the place on its own line counts first, unless the place begins the line.
        let before = if text[..finding.span.start].ends_with('\n') { lines.next() } else { lines.nth(1) };
        before.is_some_and(|line| {
            line.trim_start().strip_prefix('#').is_some_and(|words| words.split_whitespace().count() > 3)
        })
    };
    found.iter().filter(|finding| finding.severity == Severity::Error || !is_explained(finding)).collect()
}

#[test]
fn every_warning_is_explained_beside_its_place() {
    for file in schemas() {
        let text = std::fs::read_to_string(&file).unwrap();
        let found = match schema::load(&file.display().to_string(), &text, &|_| None) {
            Ok((_, warnings)) => warnings.list,
            Err(mistakes) => panic!("{}", mistakes.render(false)),
        };
        let unexplained = unexplained(&text, &found);
        assert!(unexplained.is_empty(), "{}: {unexplained:?}", file.display());
    }
}

#[test]
fn a_comment_elsewhere_explains_nothing() {
    let schema = |before: &str, within: &str| {
        format!(
            "extend schema @table(name: \"things\", partitionKey: \"pk\", sortKey: \"sk\")\n# A type of things.\ntype T\n  @item(keys: {{\n    \
             pk: \"T#{{id}}\"{within}\n{before}    sk: \"{{number}}\"\n  }}) {{\n  id: ID!\n  number: Int!\n}}\n\
             type Query {{\n  all(id: ID!): [T!]! @find\n}}\n"
        )
    };
    let count = |text: &str| {
        let (_, warnings) =
            schema::load("t", text, &|_| None).unwrap_or_else(|mistakes| panic!("{}", mistakes.render(false)));
        assert_eq!(warnings.list.len(), 1, "{}", warnings.render(false));
        unexplained(text, &warnings.list).len()
    };
    assert_eq!(count(&schema("", "")), 1);
    assert_eq!(count(&schema("", " # Not here.")), 1);
    assert_eq!(count(&schema("    # why\n", "")), 1, "one word is no explanation");
    assert_eq!(count(&schema("    # Numbers stand so in what is there.\n", "")), 0);
}

/// Whether an item has the primary key and the constants of a type.
fn is_of(model: &Model, keys: &ItemKeys, item: &Item) -> bool {
    let reads = |attribute: &str| match item.get(attribute) {
        Some(Attribute::S(text)) => keys.keys[attribute].iter().any(|template| template.read(text).is_some()),
        Some(_) => true,
        None => false,
    };
    // The examples have texts alone.
    let constant = |name: &String, value: &ConstantValue| match value {
        ConstantValue::Text(text) => item.get(name) == Some(&Attribute::S(text.clone().into())),
        other => panic!("{name}: {other}"),
    };
    model.tables[keys.table].primary_key().all(|key| reads(&key.name))
        && keys.constants.iter().all(|(name, value)| constant(name, value))
}

/// The attributes of a type's items: keys, constants and stored fields.
fn attributes<'m>(ty: &'m ObjectType, keys: &'m ItemKeys) -> BTreeSet<&'m str> {
    let stored = ty.fields.values().filter_map(|field| match &field.kind {
        FieldKind::Stored(stored) => stored.attribute.as_deref(),
        _ => None,
    });
    keys.keys.keys().chain(keys.constants.iter().map(|(name, _)| name)).map(String::as_str).chain(stored).collect()
}

/// An item's key attributes follow its type's templates, and it is in the shard of its primary key.
fn check_keys(model: &Model, keys: &ItemKeys, item: &Item) {
    for (attribute, templates) in &keys.keys {
        let Some(Attribute::S(text)) = item.get(attribute) else { continue };
        let fields = templates.iter().find_map(|template| template.read(text));
        assert!(fields.is_some(), "{attribute} is of no template: {item:?}");
    }
    if keys.spread().is_none_or(|spread| spread.kind != SpreadKind::Shard) {
        return;
    }
    let fields = keys.keys.iter().filter_map(|(attribute, templates)| match item.get(attribute)? {
        Attribute::S(text) => templates.iter().find_map(|template| template.read(text)),
        _ => None,
    });
    let fields: Vec<_> = fields.flatten().collect();
    let value = |name: &str| fields.iter().find(|(field, _)| field == name).map(|(_, value)| value.clone());
    let caller = Caller::anonymous();
    let value = item_values(&model.tables[keys.table], keys, &caller, &value);
    for (attribute, templates) in keys.keys.iter().filter(|(name, _)| matches!(item.get(name), Some(Attribute::S(_)))) {
        let text = templates[0].render(&value).unwrap();
        assert_eq!(
            item.get(attribute),
            text.map(|text| Attribute::S(text.into())).as_ref(),
            "{item:?} is in another shard"
        );
    }
}

#[test]
fn the_samples_of_the_examples_are_items_of_their_types() {
    for example in EXAMPLES {
        let model = support::model(example);
        let (_, samples) = support::places(example);
        let mut missing: BTreeSet<&str> =
            model.types.keys().filter(|name| model.item(name).is_some()).map(String::as_str).collect();
        let mut files = 0;
        for (position, table) in model.tables.iter().enumerate() {
            let text = std::fs::read_to_string(samples.join(format!("{}.jsonl", table.name))).unwrap();
            files += 1;
            // Guards of unique values are items of no type.
            let is_guard = |item: &Item| item.get("ownerPK").is_some();
            for item in text.lines().map(|line| parse_line(line).unwrap().unwrap()).filter(|item| !is_guard(item)) {
                let types = model.types.keys().filter_map(|name| model.item(name));
                let found: Vec<_> =
                    types.filter(|(_, keys)| keys.table == position && is_of(&model, keys, &item)).collect();
                let [(ty, keys)] = found.as_slice() else { panic!("{example}: {item:?} is of {} types", found.len()) };
                let strange: Vec<_> = item.keys().filter(|name| !attributes(ty, keys).contains(&***name)).collect();
                assert!(strange.is_empty(), "{example}: {} has no {strange:?}", ty.name);
                check_keys(&model, keys, &item);
                missing.remove(ty.name.as_str());
            }
        }
        assert!(missing.is_empty(), "{example}: no sample is a {missing:?}");
        let lines = std::fs::read_dir(samples)
            .unwrap()
            .filter(|entry| entry.as_ref().unwrap().path().extension().unwrap() == "jsonl");
        assert_eq!(lines.count(), files, "{example}: samples of no table");
    }
}

#[test]
fn what_the_readmes_say_to_paste_runs() {
    for example in EXAMPLES {
        let readme = std::fs::read_to_string(support::places(example).0.with_file_name("README.md")).unwrap();
        let operations: Vec<&str> =
            readme.split("```graphql\n").skip(1).map(|rest| rest.split("```").next().unwrap_or_default()).collect();
        assert!(operations.len() >= 3, "{example}: three operations to paste");
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        for operation in operations {
            let response = runtime.block_on(async {
                let (gateway, _) = support::system(example).await;
                let request = Request {
                    caller: support::first_caller(example),
                    ..support::request(operation, serde_json::Value::Null)
                };
                support::run(&gateway, &request, false).await
            });
            assert!(response["errors"].is_null() && response["data"].is_object(), "{operation}{response:#}");
        }
    }
}
