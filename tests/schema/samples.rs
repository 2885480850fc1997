//! The sample items: each has exactly one type, its keys agree with its attributes, and the items that it refers to
//! exist.
use crate::support;
use keyfold::schema::model::keys::ItemKeys;
use keyfold::schema::model::{FieldKind, Model, ObjectType};
use keyfold::schema::scalar::date_time::epoch_millis;
use keyfold::schema::scalar::value_type::ValueType;
use keyfold::table::bulk::export_lines::parse_line;
use keyfold::table::data::attribute::{Attribute, Item};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// An item's stored fields that are single texts, by name.
type Fields = BTreeMap<String, Value>;

/// References: a type and some of its fields, and the type and fields that must exist.
const REFERENCES: [(&str, &[&str], &str, &[&str]); 14] = [
    ("Membership", &["userId"], "User", &["id"]),
    ("Membership", &["groupId"], "Group", &["id"]),
    ("GroupContainer", &["groupId"], "Group", &["id"]),
    ("GroupContainer", &["containerId"], "Container", &["id"]),
    ("InvitationLink", &["groupId"], "Group", &["id"]),
    ("Tag", &["userId"], "User", &["id"]),
    ("Favorite", &["userId"], "User", &["id"]),
    ("Favorite", &["creatorId"], "User", &["id"]),
    ("Tagging", &["userId", "tagId"], "Tag", &["userId", "id"]),
    ("Tagging", &["userId", "favoriteId", "type", "clippedAt"], "Favorite", &["userId", "id", "type", "clippedAt"]),
    ("Profile", &["userId"], "User", &["id"]),
    ("Post", &["userId"], "User", &["id"]),
    ("Comment", &["postId", "postCreatedAt"], "Post", &["id", "createdAt"]),
    ("Comment", &["userId"], "User", &["id"]),
];

fn lines(table: &str) -> Vec<Item> {
    let (_, samples) = support::places("pantry");
    let text = std::fs::read_to_string(samples.join(format!("{table}.jsonl"))).unwrap();
    text.lines().map(|line| parse_line(line).unwrap().unwrap()).collect()
}

/// The values in a key, whatever names its templates use.
fn key_value(keys: &ItemKeys, attribute: &str, item: &Item) -> Option<Vec<(String, Value)>> {
    let Some(Attribute::S(text)) = item.get(attribute) else { return None };
    keys.keys[attribute].iter().find_map(|template| template.read(text))
}

/// The fields of an item of the type; `None` if it has another type.
fn fields(model: &Model, object: &ObjectType, keys: &ItemKeys, item: &Item) -> Option<Fields> {
    let table = &model.tables[keys.table];
    let mut fields = Fields::new();
    for key in table.primary_key() {
        fields.extend(key_value(keys, &key.name, item)?);
    }
    for attribute in keys.keys.keys() {
        for (field, value) in
            key_value(keys, attribute, item).unwrap_or_else(|| panic!("{attribute} is of no template: {item:?}"))
        {
            assert_eq!(*fields.entry(field.clone()).or_insert(value.clone()), value, "{field} of {item:?}");
        }
    }
    for field in object.fields.values() {
        let FieldKind::Stored(stored) = &field.kind else { continue };
        let Some(Attribute::S(text)) = stored.attribute.as_ref().and_then(|name| item.get(name)) else {
            let there = fields.contains_key(&field.name)
                || stored.attribute.as_ref().is_some_and(|name| item.contains_key(name));
            assert!(there || !field.ty.is_non_null(), "{}.{} is missing: {item:?}", object.name, field.name);
            continue;
        };
        let value = match &stored.value {
            ValueType::Enum(values) => json!(values.stored.iter().find(|(_, stored)| *text == **stored).unwrap().0),
            _ => json!(text),
        };
        assert_eq!(*fields.entry(field.name.clone()).or_insert(value.clone()), value, "{} of {item:?}", field.name);
    }
    Some(fields)
}

/// Every sample item with a type, by type.
fn read(model: &Model) -> BTreeMap<String, Vec<Fields>> {
    let mut read: BTreeMap<String, Vec<Fields>> = BTreeMap::new();
    for (position, table) in model.tables.iter().enumerate() {
        let types: Vec<_> =
            model.types.keys().filter_map(|name| model.item(name)).filter(|(_, keys)| keys.table == position).collect();
        let known: BTreeSet<&str> = types
            .iter()
            .flat_map(|(object, keys)| {
                let stored = object.fields.values().filter_map(|field| match &field.kind {
                    FieldKind::Stored(stored) => stored.attribute.as_deref(),
                    _ => None,
                });
                keys.keys.keys().map(String::as_str).chain(stored)
            })
            .collect();
        for item in lines(&table.name) {
            let found: Vec<_> = types
                .iter()
                .filter_map(|(object, keys)| Some((object.name.clone(), fields(model, object, keys, &item)?)))
                .collect();
            let guard = matches!(item.get("PK"), Some(Attribute::S(key)) if key.starts_with("Unique#"));
            assert_eq!(found.len(), usize::from(!guard), "{found:?}: {item:?}");
            assert!(guard || item.keys().all(|name| known.contains(&**name)), "an attribute of nothing: {item:?}");
            found.into_iter().for_each(|(name, fields)| read.entry(name).or_default().push(fields));
        }
    }
    read
}

#[test]
fn every_item_is_of_one_type_and_what_it_refers_to_is_there() {
    let items = read(&support::model("pantry"));
    let values = |item: &Fields, names: &[&str]| {
        names.iter().map(|name| item.get(*name).cloned()).collect::<Option<Vec<Value>>>()
    };
    for (ty, from, target, to) in REFERENCES {
        let there: Vec<_> = items[target].iter().filter_map(|item| values(item, to)).collect();
        for item in &items[ty] {
            let wanted = values(item, from);
            assert!(wanted.as_ref().is_none_or(|wanted| there.contains(wanted)), "{ty} leads to no {target}: {item:?}");
            assert!(wanted.is_some() || from == ["creatorId"], "{ty} has no {from:?}: {item:?}");
        }
    }
}

#[test]
fn ids_that_sort_by_time_do() {
    let items = read(&support::model("pantry"));
    for item in items["Post"].iter().chain(&items["Comment"]) {
        let (id, at) = (item["id"].as_str().unwrap(), item["createdAt"].as_str().unwrap());
        // RFC 9562, section 5.7: the first 48 bits are the milliseconds.
        let millis = i64::from_str_radix(&id.replace('-', "")[..12], 16).unwrap();
        assert_eq!((Some(millis), &id[14..15]), (epoch_millis(at), "7"), "{item:?}");
    }
}

#[test]
fn there_is_enough_to_look_at() {
    let items = read(&support::model("pantry"));
    let owners = |ty: &str| items[ty].iter().map(|item| item["userId"].to_string()).collect::<BTreeSet<_>>().len();
    let kinds =
        |ty: &str, field: &str| items[ty].iter().map(|item| item[field].to_string()).collect::<BTreeSet<_>>().len();
    let users = items["User"].len();
    for (ty, least) in [("Tag", 12), ("Favorite", 60), ("Tagging", 40), ("Profile", 30), ("Post", 40), ("Comment", 80)]
    {
        assert!(items[ty].len() >= least && owners(ty) < users, "{ty}: {} of {} users", items[ty].len(), owners(ty));
    }
    assert_eq!((kinds("Favorite", "type"), kinds("Post", "status")), (9, 3));
    assert!(owners("Favorite") >= 30 && owners("Post") >= 30, "{} and {}", owners("Favorite"), owners("Post"));
    // Some user has none of these, and some user has all.
    let of = |ty: &str| items[ty].iter().map(|item| item["userId"].to_string()).collect::<BTreeSet<_>>();
    let any = ["Tag", "Favorite", "Profile", "Post"].map(of);
    let everybody = items["User"].iter().map(|user| user["id"].to_string());
    assert!(everybody.clone().any(|user| any.iter().all(|some| !some.contains(&user))), "everybody has something");
    assert!(everybody.clone().any(|user| any.iter().all(|some| some.contains(&user))), "nobody has everything");
}
