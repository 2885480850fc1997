//! Where fields are stored, what clients see of a schema, and what definitions authors may write.

use keyfold::schema::load;
use keyfold::schema::model::keys::ConstantValue;
use keyfold::schema::model::rules::{DefaultPart, Format};
use keyfold::schema::model::source::Source;
use keyfold::schema::model::write::{ActionKind, ReturnedFrom, ReturnedItems, Write, WriteReturns, WriteTarget};
use keyfold::schema::model::{FieldKind, Model, Stored, TypeKind};
use keyfold::schema::scalar::coerce::coerce;
use keyfold::schema::scalar::value_type::{Moment, ValueType};
use keyfold::schema::syntax::definitions::DIRECTIVES;
use keyfold::schema::table::{Billing, Capacity, KeyType, Projection, StreamView};
use serde_json::json;

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

/// The item, or the items, of the action at a position.
fn of_action(position: usize, many: bool, never_null: bool) -> WriteReturns {
    WriteReturns::Items(ReturnedItems { from: ReturnedFrom::Action(position), many, never_null })
}

#[test]
fn a_field_lives_in_its_attribute_or_in_the_keys() {
    let model = model(include_str!("../schemas/reads.graphql"));
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
    let ValueType::Enum(values) = &stored(&model, "Favorite", "type").value else { panic!("an enum") };
    assert_eq!(values.stored["IMAGE"], "image");
}

#[test]
fn a_table_says_how_it_is_billed_streamed_and_backed_up() {
    let model = model(
        r#"extend schema
          @table(name: "plain", indexes: [{ name: "byKind", partitionKey: "kind" }])
          @table(name: "usual", sortKey: "sk", billing: PROVISIONED, indexes: [{ name: "byKind", partitionKey: "kind" } { name: "byName", sortKey: "name" }])
          @table(name: "set", billing: PROVISIONED, readCapacity: 100, stream: OLD_IMAGE, pointInTimeRecovery: true, indexes: [
            { name: "byKind", partitionKey: "kind", writeCapacity: 7 }])
        type User @item(table: "plain", keys: { pk: "{id}" }) { id: ID! }
        type Query { user(id: ID!): User @find }"#,
    );
    let [plain, usual, set] = &model.tables[..] else { panic!("three tables") };
    assert_eq!((plain.billing, plain.indexes[0].capacity, plain.stream), (Billing::PayPerRequest, None, None));
    assert!(!plain.point_in_time_recovery && set.point_in_time_recovery);
    let five = Capacity { read: 5, write: 5 };
    assert_eq!(
        (usual.billing, usual.indexes[0].capacity, usual.indexes[1].capacity),
        (Billing::Provisioned(five), Some(five), None)
    );
    assert_eq!(set.billing, Billing::Provisioned(Capacity { read: 100, write: 5 }));
    assert_eq!(
        (set.indexes[0].capacity, set.stream),
        (Some(Capacity { read: 100, write: 7 }), Some(StreamView::OldImage))
    );
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
    // Without a worker, the key is not written, even if the kind is known.
    assert_stored(&model, "Job.kind", Some("kind"), &["a"]);
    // With a worker, `a` is written, because the kind is never null; `b` holds it in only one alternative.
    assert_stored(&model, "Job.worker", None, &["a"]);
    assert_stored(&model, "Job.place", Some("place"), &[]);
    assert_stored(&model, "Job.due", None, &["n"]);
    // DynamoDB looks for the time to live only in its attribute.
    assert_stored(&model, "Job.ends", Some("ttl"), &["pk"]);
    assert!(matches!(stored(&model, "Job", "ends").value, ValueType::DateTime(Moment::EpochSeconds)));
    assert!(matches!(stored(&model, "Job", "until").value, ValueType::DateTime(Moment::Text)));
    let ValueType::Set(element) = &stored(&model, "Job", "tags").value else { panic!("a set") };
    assert!(matches!(**element, ValueType::String));
    let (_, keys) = model.item("Job").unwrap();
    assert_eq!(
        (keys.constants.clone(), keys.keys["b"].len()),
        (vec![("v".to_owned(), ConstantValue::Text("1".to_owned()))], 2)
    );
    assert!(model.item("Query").is_none());
}

#[test]
fn a_field_in_a_key_that_is_not_read_back_has_an_attribute() {
    let model = model(
        r#"extend schema @table(name: "data", indexes: [
          { name: "one", partitionKey: "a" } { name: "two", partitionKey: "b" } { name: "three", partitionKey: "c", sortKey: "d" }])
        type Job @item(keys: { pk: "Job#{id}", a: "{city}{street}", b: "{number}{zip}", c: "{at:%Y-%m}{of}", d: "{at}" }) {
          id: ID! city: String! street: String! number: Int! zip: String! of: Date! at: DateTime!
        }
        type Query { job(id: ID!): Job @find }"#,
    );
    for field in ["city", "street", "zip", "number", "of"] {
        assert_stored(&model, &format!("Job.{field}"), Some(field), &[]);
    }
    assert_stored(&model, "Job.at", None, &["d"]);
    let (_, keys) = model.item("Job").unwrap();
    let values = json!({ "city": "A#", "street": "%41", "number": 7, "zip": "0", "of": "2026-02-03", "at": "2026-01-31T23:59:59.999Z" });
    for (key, text) in [("a", "A#%41"), ("b", "70"), ("c", "2026-012026-02-03")] {
        let template = &keys.keys[key][0];
        let made = template.render(&|field| values.get(field).cloned()).unwrap();
        assert_eq!((made.as_deref(), template.read_any_spelling(text)), (Some(text), None));
    }
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
    let mistakes =
        load("s", &schema("Int!"), &|_| None).expect_err("DynamoDB refuses a number in an index key of type S");
    assert_eq!(mistakes.list.iter().map(|mistake| mistake.code).collect::<Vec<_>>(), ["KF0302"]);
}

#[test]
fn tables_are_as_they_are_declared() {
    let text = include_str!("../schemas/reads.graphql");
    let environment = |name: &str| (name == "PANTRY_TABLE").then(|| "pantry-test".to_owned());
    let renamed = text.replace("table: \"nishiki-table-dev-db\"", "table: \"pantry-test\"");
    let (model, warnings) = load("schema.graphql", &renamed, &environment).expect("a schema");
    assert!(warnings.list.is_empty());
    assert_eq!(
        model.tables.iter().map(|table| table.name.as_str()).collect::<Vec<_>>(),
        ["pantry-test", "develop.Favorite", "data"]
    );
    let favorites = &model.tables[1];
    assert_eq!(
        (favorites.partition.name.as_str(), favorites.partition.kind, favorites.time_to_live.as_deref()),
        ("pk", KeyType::S, Some("ttl"))
    );
    assert_eq!(favorites.indexes.iter().map(|index| index.local).collect::<Vec<_>>(), [false, false, true, true, true]);
    assert_eq!(favorites.indexes[2].partition[0].name, "pk");
    assert_eq!(model.tables[0].indexes[3].projection, Projection::Include(vec!["LinkExpiryDatetime".to_owned()]));
}

#[test]
fn an_item_names_its_table_as_the_file_does() {
    let schema = |of_a: &str| {
        format!(
            r#"extend schema @table(name: "${{ONE:-first}}") @table(name: "${{TWO}}")
            type A @item(table: "{of_a}", keys: {{ pk: "A#{{id}}" }}) {{ id: ID! }}
            type B @item(table: "${{TWO}}", keys: {{ pk: "B#{{id}}" }}) {{ id: ID! }}
            type Query {{ a(id: ID!): A @find b(id: ID!): B @find }}"#
        )
    };
    let tables = |text: &str, environment: &dyn Fn(&str) -> Option<String>| {
        let (model, _) =
            load("schema.graphql", text, environment).unwrap_or_else(|mistakes| panic!("{}", mistakes.render(false)));
        ["A", "B"].map(|name| model.tables[model.item(name).unwrap().1.table].name.clone())
    };
    let plain = |name: &str| (name == "TWO").then(|| "second".to_owned());
    let moved = |name: &str| Some(if name == "ONE" { "elsewhere" } else { "first" }.to_owned());
    assert_eq!(tables(&schema("first"), &plain), ["first", "second"]);
    // Even if the environment gives the table another name.
    assert_eq!(tables(&schema("first"), &moved), ["elsewhere", "first"]);
    // The table's current name works, too.
    assert_eq!(tables(&schema("elsewhere"), &moved), ["elsewhere", "first"]);

    let codes = |text: &str, environment: &dyn Fn(&str) -> Option<String>| {
        load("schema.graphql", text, environment)
            .unwrap_err()
            .list
            .iter()
            .map(|mistake| mistake.code)
            .collect::<Vec<_>>()
    };
    assert_eq!(codes(&schema("elsewhere"), &plain), ["KF0202"]);
    // Two tables with one name in the file are a mistake, even if the environment gives them different names.
    let twice = schema("first").replace("\"${TWO}\"", "\"${TWO:-first}\"");
    assert_eq!(codes(&twice, &moved), ["KF0101", "KF0202"]);
}

#[test]
fn the_default_schema_follows_its_tables_wherever_they_are() {
    let environment = |name: &str| name.starts_with("KEYFOLD_").then(|| format!("prod-{}", name.len()));
    let (model, warnings) =
        load("schema.graphql", include_str!("../../schema.graphql"), &environment).expect("a schema");
    assert!(warnings.list.is_empty());
    let of = |name: &str| model.tables[model.item(name).unwrap().1.table].name.as_str();
    let names = ["KEYFOLD_PANTRY_TABLE", "KEYFOLD_FAVORITES_TABLE", "KEYFOLD_POSTS_TABLE"]
        .map(|name| environment(name).unwrap());
    assert_eq!(["User", "Favorite", "Post"].map(of), names.each_ref().map(String::as_str));
}

#[test]
fn clients_see_the_authors_schema_without_its_inner_parts() {
    let model = model(include_str!("../schemas/reads.graphql"));
    let sdl = model.api.to_string();
    for absent in
        ["keyfold__", "@item", "@find", "@default", "@table", "GroupContainer", "links", "scalar Long", "scalar JSON"]
    {
        assert!(!sdl.contains(absent), "{absent} in\n{sdl}");
    }
    for present in
        ["scalar DateTime", "enum Order", "type PageInfo", "\"\"\"Somebody with an account.\"\"\"", "type Mutation"]
    {
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
        assert!(
            sdl.contains("@specifiedBy(url: \"https://example.org/day\")")
                && sdl.contains("@deprecated(reason: \"slow\")"),
            "{sdl}"
        );
        assert!(!sdl.contains("keyfold__"), "{sdl}");
        keyfold_reparses(&sdl);
    }
}

/// The codes of what is found in a schema whose type has a field `at: LocalDateTime`, and the type of its values. A
/// caller's values are of the same type.
fn local(definition: &str) -> (Vec<&'static str>, ValueType) {
    let text = format!(
        r#"extend schema @table(name: "shop", partitionKey: "PK")
        {definition}
        type Call @item(keys: {{ PK: "{{id}}" }}) {{ id: ID! at: LocalDateTime @attribute(name: "when") }}
        type Query {{ call(id: ID!): Call @find }}"#
    );
    let loaded = load("schema.graphql", &text, &|_| None);
    let (model, found) = loaded.unwrap_or_else(|mistakes| panic!("{}", mistakes.render(false)));
    keyfold_reparses(&model.api.to_string());
    let value = stored(&model, "Call", "at").value.clone();
    let given = coerce(&model.api, &model.types["Call"].fields["at"].ty, &serde_json::json!({ "day": 1 }));
    assert_eq!(given.is_ok(), matches!(value, ValueType::Json), "{given:?}");
    (found.list.iter().map(|found| found.code).collect(), value)
}

#[test]
fn a_scalar_that_the_schema_defines_is_its_own_unless_it_says_that_it_is_keyfolds() {
    let known = DIRECTIVES.lines().find(|line| line.starts_with("scalar LocalDateTime")).unwrap();
    for definition in ["", known] {
        let (found, value) = local(definition);
        assert!(found.is_empty() && matches!(value.in_api(), ValueType::LocalDateTime), "{definition}: {found:?}");
    }
    let (found, value) = local("scalar LocalDateTime @specifiedBy(url: \"https://example.org/local\")");
    assert!(found.is_empty() && matches!(value, ValueType::Json), "{found:?}");
    // Most such lines are for editors, so it is said that this one is more.
    let (found, value) = local("scalar LocalDateTime");
    assert!(found == ["KF0310"] && matches!(value, ValueType::Json), "{found:?}");
}

#[test]
fn every_part_of_the_definitions_is_described() {
    let schema = apollo_compiler::Schema::parse(DIRECTIVES, "keyfold.graphql").expect("valid definitions");
    let described = schema
        .types
        .iter()
        .filter(|(_, definition)| !definition.is_built_in())
        .all(|(_, definition)| definition.description().is_some());
    let ours = schema.directive_definitions.values().filter(|directive| !directive.is_built_in());
    assert!(described && ours.clone().all(|directive| directive.description.is_some()));
    assert!(ours.count() > 10);
}

fn write<'m>(model: &'m Model, field: &str) -> &'m Write {
    match &model.types["Mutation"].fields[field].kind {
        FieldKind::Write(write) => write,
        other => panic!("{field} is {other:?}"),
    }
}

fn argument(name: &str) -> Source {
    Source::Argument(name.to_owned())
}

fn item(ty: &str, field: &str) -> Source {
    Source::Item(ty.to_owned(), field.to_owned())
}

#[test]
fn what_is_put_is_in_scope_for_what_follows() {
    let model = model(include_str!("../../schema.graphql"));
    let write = write(&model, "createContainer");
    assert_eq!(write.returns, of_action(1, false, true));
    assert!(matches!(write.actions[0].kind, ActionKind::Check) && write.actions[0].message.is_some());
    assert!(matches!(&write.actions[0].target, WriteTarget::Key(key) if key["id"] == argument("groupId")));
    let container = &write.actions[1].values;
    assert_eq!(
        (container["name"].source().cloned(), container["id"].source().cloned()),
        (Some(argument("name")), None)
    );
    assert_eq!(container["id"].default.as_ref().map(|default| default.parts.clone()), Some(vec![DefaultPart::Uuid]));
    assert_eq!(
        container["foods"].default.as_ref().map(|default| default.parts.clone()),
        Some(vec![DefaultPart::Literal("[]".into())])
    );
    let link = &write.actions[2].values;
    assert_eq!(link["containerId"].source().cloned(), Some(item("Container", "id")));
    assert_eq!(link["groupId"].source().cloned(), Some(argument("groupId")));
    assert!(matches!(&write.actions[2].target, WriteTarget::Key(key) if key.is_empty()));
}

#[test]
fn what_is_found_is_in_scope_and_what_finds_is_not_written() {
    let model = model(include_str!("../../schema.graphql"));
    let join = write(&model, "joinGroup");
    assert_eq!(join.finds.iter().map(|found| found.find.item.as_str()).collect::<Vec<_>>(), ["InvitationLink"]);
    assert!(
        matches!(&join.actions[0].target, WriteTarget::Key(key) if key["groupId"] == item("InvitationLink", "groupId"))
    );
    assert_eq!(
        join.actions[0].condition.as_ref().map(ToString::to_string).as_deref(),
        Some("InvitationLinkHash = :hash AND LinkExpiryDatetime > :now")
    );
    assert_eq!(join.actions[2].values["groupId"].source().cloned(), Some(item("InvitationLink", "groupId")));
    let rename = &write(&model, "renameUser").actions[0];
    assert_eq!(rename.values.keys().collect::<Vec<_>>(), ["name"]);
    let food = &write(&model, "updateFood").actions[1];
    let at = food.at.as_ref().unwrap();
    assert_eq!(
        (at.attribute.as_str(), at.element.as_str(), at.by.clone()),
        ("Foods", "Food", Some(("id".into(), "FoodId".into(), argument("foodId"))))
    );
    assert_eq!(food.values.keys().collect::<Vec<_>>(), ["name", "unit", "quantity", "category", "expiry"]);
    assert_eq!(food.values["unit"].source().cloned(), Some(argument("input.unit")));
    let cascade = &write(&model, "deleteGroup").actions[0].kind;
    assert!(
        matches!(cascade, ActionKind::Delete { cascade } if cascade[1] == ["links", "container"] && cascade.len() == 4)
    );
}

#[test]
fn rules_and_constraints_are_where_values_are_written() {
    let pantry = model(include_str!("../../schema.graphql"));
    let rules = |field: &str| pantry.types["User"].fields[field].rules.clone();
    assert!(rules("email").unique && rules("email").constraint.unwrap().format == Some(Format::Email));
    assert_eq!(rules("name").constraint.map(|rule| (rule.min_length, rule.max_length)), Some((Some(1), Some(30))));
    let hash = pantry.types["InvitationLink"].fields["hash"].rules.default.clone().unwrap();
    assert_eq!(hash.parts, [DefaultPart::Uuid]);
    let expires = pantry.types["InvitationLink"].fields["expiresAt"].rules.default.clone().unwrap();
    assert_eq!(expires.parts, [DefaultPart::Now { offset: 86_400 }]);
    assert!(pantry.constraints.is_empty());

    let workshop = model(include_str!("../systems/workshop/schema.graphql"));
    assert_eq!(workshop.constraints.keys().collect::<Vec<_>>(), ["Mutation.creditBest.by", "MoveInput.by"]);
    let sheet = &workshop.types["Sheet"].fields;
    assert!(sheet["revision"].rules.version && sheet["editedAt"].rules.default.as_ref().unwrap().every_write);
}

#[test]
fn a_version_is_expected_and_never_written() {
    let model = model(include_str!("../systems/workshop/schema.graphql"));
    assert!(!write(&model, "writeSheet").actions[0].values.contains_key("revision"));
    for field in ["editSheet", "deleteSheet"] {
        assert_eq!(write(&model, field).actions[0].values["revision"].source().cloned(), Some(argument("revision")));
    }
    let edit = &write(&model, "editSheet").actions[0].values["editedAt"];
    assert!(edit.given.is_none() && edit.default.is_some());
}

#[test]
fn several_items_are_read_before_they_are_written() {
    let model = model(include_str!("../systems/workshop/schema.graphql"));
    let clear = write(&model, "clearFolder");
    assert_eq!(clear.returns, of_action(0, true, true));
    assert!(matches!(&clear.actions[0].target, WriteTarget::Read { find, many: true } if find.consistent));
    let edit = write(&model, "editNote");
    assert_eq!(edit.returns, of_action(0, false, false));
    assert!(matches!(edit.actions[0].target, WriteTarget::Read { many: false, .. }));
    assert_eq!(edit.actions[0].values.keys().collect::<Vec<_>>(), ["text"]);
}

#[test]
fn an_expression_tells_what_it_changes_in_keys() {
    let model = model(include_str!("../systems/workshop/schema.graphql"));
    let update = |field: &str| match &write(&model, field).actions[0].kind {
        ActionKind::Update { expression: Some(update), .. } => update.clone(),
        other => panic!("{field} is {other:?}"),
    };
    let close = update("close");
    assert_eq!(
        (close.to_string().as_str(), close.changes.keys().map(String::as_str).collect::<Vec<_>>()),
        ("", vec!["state", "playedOn"])
    );
    assert!(close.changes.values().all(Option::is_some));
    assert_eq!(update("score").to_string(), "ADD points :points");
}

#[test]
fn conditions_may_ask_of_a_key_field_what_the_key_cannot_be() {
    let text = r#"extend schema @table(name: "data", partitionKey: "PK", indexes: [{ name: "byState", partitionKey: "state" }])
        type Job @item(keys: { PK: "Job#{id}", state: "{state}" }) { id: ID! state: String! }
        type Query { job(id: ID!): Job @find }
        type Mutation { drop(id: ID!, state: [String!]!): Job @delete(if: "state IN (:state)") }"#;
    let model = model(text);
    assert!(matches!(&write(&model, "drop").actions[0].target, WriteTarget::Key(key) if key.len() == 1));
}
