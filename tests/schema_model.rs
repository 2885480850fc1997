//! Where fields are stored, what clients see of a schema, and what an author's own definitions may be.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

use keyfold::schema::model::{FieldKind, Model, Stored, TypeKind};
use keyfold::schema::table::{KeyType, Projection};
use keyfold::schema::value_type::{Moment, ValueType};
use keyfold::schema::{DIRECTIVES, load};

fn model(text: &str) -> Model {
    load("schema.graphql", text, &|_| None).unwrap_or_else(|mistakes| panic!("{}", mistakes.render(false))).0
}

fn stored<'m>(model: &'m Model, type_name: &str, field: &str) -> &'m Stored {
    match &model.types[type_name].fields[field].kind {
        FieldKind::Stored(stored) => stored,
        other => panic!("{type_name}.{field} is {other:?}"),
    }
}

/// The attribute of a field, if it has one, and the keys that hold it.
#[track_caller]
fn assert_stored(model: &Model, coordinate: &str, attribute: Option<&str>, keys: &[&str]) {
    let (type_name, field) = coordinate.split_once('.').unwrap();
    let stored = stored(model, type_name, field);
    assert_eq!(
        (stored.attribute.as_deref(), stored.keys.iter().map(String::as_str).collect::<Vec<_>>()),
        (attribute, keys.to_vec()),
        "{coordinate}"
    );
}

#[test]
fn a_field_lives_in_its_attribute_or_in_the_keys() {
    let model = model(include_str!("schemas/reads.graphql"));
    assert_stored(&model, "User.id", None, &["PK"]);
    assert_stored(&model, "User.name", Some("UserName"), &[]);
    assert_stored(&model, "User.email", Some("EMailAddress"), &["EMailAddress"]);
    assert_stored(&model, "Membership.groupId", None, &["SK", "GroupId"]);
    assert_stored(&model, "InvitationLink.hash", None, &["InvitationLinkHash"]);
    assert_stored(&model, "Favorite.userId", None, &["pk", "gsiOnePk"]);
    assert_stored(&model, "Favorite.type", Some("dataType"), &["gsiOnePk"]);
    assert_stored(&model, "Post.status", Some("status"), &["status"]);
    assert_stored(&model, "Post.createdAt", Some("createdAt"), &["SK", "createdAt"]);
    assert_stored(&model, "Food.unit", Some("Unit"), &[]);
    assert!(matches!(stored(&model, "Container", "foods").value, ValueType::Embedded(ref name) if name == "Food"));
    assert!(matches!(&stored(&model, "Favorite", "type").value, ValueType::Enum(values) if values.stored["IMAGE"] == "image"));
}

#[test]
fn an_index_key_alone_holds_a_field_only_if_it_is_always_written_with_it() {
    let model = model(
        r#"extend schema @table(name: "data", timeToLive: "ttl", indexes: [
          { name: "one", partitionKey: "a" } { name: "two", partitionKey: "b" } { name: "three", partitionKey: "n", partitionKeyType: N }])
        type Job @item(keys: { pk: "Job#{id}#{ends}", a: "{kind}#{worker}", b: ["w-{worker}", "p-{place}"], n: "{due}" }, attributes: { v: "1" }) {
          id: ID! kind: String! worker: String place: String
          due: DateTime @attribute(stored: EPOCH_SECONDS)
          ends: DateTime! @attribute(name: "ttl")
          until: DateTime
          tags: [String!] @attribute(stored: SET)
        }
        type Query { job(id: ID!, ends: DateTime!): Job @find }"#,
    );
    // Without a worker the key is not written, though the kind is known.
    assert_stored(&model, "Job.kind", Some("kind"), &["a"]);
    // With a worker `a` is written, for the kind is never null; `b` holds it in one alternative only.
    assert_stored(&model, "Job.worker", None, &["a"]);
    assert_stored(&model, "Job.place", Some("place"), &[]);
    assert_stored(&model, "Job.due", None, &["n"]);
    // DynamoDB looks for the time to live in its attribute only.
    assert_stored(&model, "Job.ends", Some("ttl"), &["pk"]);
    assert!(matches!(stored(&model, "Job", "ends").value, ValueType::DateTime(Moment::EpochSeconds)));
    assert!(matches!(stored(&model, "Job", "until").value, ValueType::DateTime(Moment::Text)));
    assert!(matches!(&stored(&model, "Job", "tags").value, ValueType::Set(element) if matches!(**element, ValueType::String)));
    let (_, keys) = model.item("Job").unwrap();
    assert_eq!((keys.constants.clone(), keys.keys["b"].len()), (vec![("v".to_owned(), "1".to_owned())], 2));
    assert!(model.item("Query").is_none());
}

#[test]
fn an_attribute_of_another_types_index_is_no_conflict() {
    let schema = |ty: &str| {
        format!(
            r#"extend schema @table(name: "data", indexes: [{{ name: "byTime", partitionKey: "status", sortKey: "createdAt" }}])
            type Post @item(keys: {{ pk: "Post#{{id}}", status: "{{status}}", createdAt: "{{createdAt}}" }}) {{ id: ID! status: String! createdAt: DateTime! }}
            type User @item(keys: {{ pk: "User#{{id}}" }}) {{ id: ID! createdAt: {ty} }}
            type Query {{ user(id: ID!): User @find }}"#
        )
    };
    assert_stored(&model(&schema("DateTime!")), "User.createdAt", Some("createdAt"), &[]);
    let mistakes = load("s", &schema("Int!"), &|_| None).expect_err("DynamoDB refuses a number in an index key of type S");
    assert_eq!(mistakes.list.iter().map(|mistake| mistake.code).collect::<Vec<_>>(), ["KF0302"]);
}

#[test]
fn tables_are_as_they_are_declared() {
    let text = include_str!("schemas/reads.graphql");
    let environment = |name: &str| (name == "PANTRY_TABLE").then(|| "pantry-test".to_owned());
    let renamed = text.replace("table: \"nishiki-table-dev-db\"", "table: \"pantry-test\"");
    let (model, warnings) = load("schema.graphql", &renamed, &environment).expect("a schema");
    assert!(warnings.list.is_empty());
    assert_eq!(model.tables.iter().map(|table| table.name.as_str()).collect::<Vec<_>>(), ["pantry-test", "develop.Favorite", "data"]);
    let favorites = &model.tables[1];
    assert_eq!(
        (favorites.partition.name.as_str(), favorites.partition.kind, favorites.time_to_live.as_deref()),
        ("pk", KeyType::S, Some("ttl"))
    );
    assert_eq!(favorites.indexes.iter().map(|index| index.local).collect::<Vec<_>>(), [false, false, true, true, true]);
    assert_eq!(favorites.indexes[2].partition.name, "pk");
    assert_eq!(model.tables[0].indexes[3].projection, Projection::Include(vec!["LinkExpiryDatetime".to_owned()]));
}

#[test]
fn clients_see_the_authors_schema_without_its_inner_parts() {
    let model = model(include_str!("schemas/reads.graphql"));
    let sdl = model.api.to_string();
    for absent in ["keyfold__", "@item", "@find", "@default", "@table", "GroupContainer", "links", "scalar Long", "scalar JSON"] {
        assert!(!sdl.contains(absent), "{absent} in\n{sdl}");
    }
    for present in ["scalar DateTime", "enum Order", "type PageInfo", "\"\"\"Somebody with an account.\"\"\"", "type Mutation"] {
        assert!(sdl.contains(present), "{present} not in\n{sdl}");
    }
    assert!(matches!(model.types["GroupContainer"].kind, TypeKind::Item(_)));
    assert!(matches!(&model.types["UserConnection"].kind, TypeKind::Connection(node) if node == "User"));
    assert!(matches!(model.types["UserEdge"].kind, TypeKind::Edge));
    assert!(matches!(model.types["PageInfo"].kind, TypeKind::PageInfo));
    assert!(matches!(model.types["Mutation"].fields["joinGroup"].kind, FieldKind::Write(_)));
    let default = model.types["Query"].fields["posts"].arguments[0].default.clone();
    assert_eq!(default, Some(serde_json::json!(["CREATED", "UPDATED"])));
    keyfold_reparses(&sdl);
}

fn keyfold_reparses(sdl: &str) {
    apollo_compiler::Schema::parse_and_validate(sdl, "api.graphql").unwrap_or_else(|errors| panic!("{errors}"));
}

#[test]
fn an_author_may_use_provided_names_and_carry_the_definitions() {
    let own = r#"
        extend schema @table(name: "shop", partitionKey: "PK", sortKey: "SK")
        "A day as shops have it." scalar Date @specifiedBy(url: "https://example.org/day")
        type Order @item(keys: { PK: "Customer#{customerId}", SK: "Order#{id}" }) { customerId: ID! id: ID! day: Date condition: Condition! }
        enum Condition { NEW USED }
        enum Direction { ASC DESC }
        type PageInfo { hasNextPage: Boolean! endCursor: ID }
        type OrderConnection { nodes: [Order!]! pageInfo: PageInfo! }
        type Query { orders(customerId: ID!, first: Int, after: ID, order: Direction): OrderConnection! @find @deprecated(reason: "slow") }
    "#;
    for text in [own.to_owned(), format!("{own}\n{}", DIRECTIVES.split("\"A moment").next().unwrap())] {
        let model = model(&text);
        let sdl = model.api.to_string();
        assert!(matches!(model.types["Order"].kind, TypeKind::Item(_)));
        assert!(sdl.contains("@specifiedBy(url: \"https://example.org/day\")") && sdl.contains("@deprecated(reason: \"slow\")"), "{sdl}");
        assert!(!sdl.contains("keyfold__"), "{sdl}");
        keyfold_reparses(&sdl);
    }
}

#[test]
fn every_part_of_the_definitions_is_described() {
    let schema = apollo_compiler::Schema::parse(DIRECTIVES, "keyfold.graphql").expect("valid definitions");
    let described =
        schema.types.iter().filter(|(_, definition)| !definition.is_built_in()).all(|(_, definition)| definition.description().is_some());
    let ours = schema.directive_definitions.values().filter(|directive| !directive.is_built_in());
    assert!(described && ours.clone().all(|directive| directive.description.is_some()));
    assert!(ours.count() > 10);
}
