//! The schemas of published designs load, and each find reads what its design says: table or index, operation and key
//! condition.

use keyfold::schema::describe::describe;
use keyfold::schema::diagnostics::diagnostic::Severity;
use keyfold::schema::load;
use keyfold::schema::model::find::Find;
use keyfold::schema::model::{FieldKind, Model};

fn model(text: &str) -> Model {
    load("schema.graphql", text, &|_| None).unwrap_or_else(|mistakes| panic!("{}", mistakes.render(false))).0
}

fn find<'m>(model: &'m Model, type_name: &str, field: &str) -> &'m Find {
    match &model.types[type_name].fields[field].kind {
        FieldKind::Find(find) => find,
        other => panic!("{type_name}.{field} is {other:?}"),
    }
}

/// `when | place | operation | condition | bindings`, a line for each access path of a field.
fn rows(model: &Model, field: &str) -> Vec<String> {
    let rows = describe(model).into_iter().filter(|row| row.field == field);
    rows.map(|row| format!("{} | {} | {} | {} | {}", row.when, row.place, row.operation, row.condition, row.bindings))
        .collect()
}

#[track_caller]
fn assert_rows(model: &Model, field: &str, expected: &[&str]) {
    assert_eq!(rows(model, field), expected, "{field}");
}

#[test]
fn the_published_designs_are_read_as_they_say() {
    let model = model(include_str!("../schemas/reads.graphql"));
    let pantry = "nishiki-table-dev-db";
    let by_id =
        |sort: &str, from: &str| format!(" | {pantry} | GetItem | PK = {{id}} AND SK = \"{sort}\" | id = {from}");
    let get = |field: &str, sort: &str, from: &str| assert_rows(&model, field, &[&by_id(sort, from)]);
    get("Query.user", "User", "id"); // N1
    get("Query.group", "Group", "id"); // N5
    get("Query.container", "Container", "id"); // N9
    get("Membership.user", "User", "parent.userId");
    get("Membership.group", "Group", "parent.groupId");
    get("GroupContainer.group", "Group", "parent.groupId");
    get("GroupContainer.container", "Container", "parent.containerId");
    get("InvitationLink.group", "Group", "parent.groupId");
    get("Post.author", "User", "parent.userId");
    get("Comment.author", "User", "parent.userId");

    let one = |field: &str, expected: &str| assert_rows(&model, field, &[expected]);
    // N2, N3, N10, N11
    one(
        "Query.isMember",
        &format!(
            " | {pantry} | GetItem | PK = {{userId}} AND SK = \"Group#{{groupId}}\" | userId = userId, groupId = groupId"
        ),
    );
    one("Query.userByEmail", " | EMailAndUserIdRelationship | Query | EMailAddress = {email} | email = email");
    one("Query.invitation", " | InvitationHash | Query | InvitationLinkHash = {hash} | hash = hash");
    one(
        "Group.invitation",
        &format!(" | {pantry} | GetItem | PK = {{groupId}} AND SK = \"InvitationLinkHash\" | groupId = parent.id"),
    );
    // N4, N6, N7, N8
    one(
        "User.memberships",
        &format!(" | {pantry} | Query | PK = {{userId}} AND begins_with(SK, \"Group#\") | userId = parent.id"),
    );
    one("User.groups", " | memberships.group | through |  | ");
    one(
        "Container.link",
        " | GroupAndContainerRelationship | Query | ContainerId = {containerId} | containerId = parent.id",
    );
    one("Container.group", " | link.group | through |  | ");
    one(
        "Group.links",
        &format!(" | {pantry} | Query | PK = {{groupId}} AND begins_with(SK, \"Container#\") | groupId = parent.id"),
    );
    one("Group.containers", " | links.container | through |  | ");
    one("Group.memberships", " | UserAndGroupRelationship | Query | GroupId = {groupId} | groupId = parent.id");
    one("Group.users", " | memberships.user | through |  | ");

    // F3, F4, F10
    let favorites = [
        " | lsiOne | Query | pk = \"FavoriteData#{userId}\" | userId = parent.id",
        "type | gsiOne | Query | gsiOnePk = \"FavoriteData#{userId}#{type}\" | userId = parent.id, type = type",
    ];
    assert_rows(&model, "User.favorites", &favorites);
    // F6
    let tags = [
        " | develop.Favorite | Query | pk = \"Tag#{userId}\" | userId = parent.id",
        "orderBy: NAME | lsiOne | Query | pk = \"Tag#{userId}\" | userId = parent.id",
        "orderBy: CREATED_AT | lsiTwo | Query | pk = \"Tag#{userId}\" | userId = parent.id",
        "orderBy: LAST_ACCESSED_AT | lsiThree | Query | pk = \"Tag#{userId}\" | userId = parent.id",
    ];
    assert_rows(&model, "User.tags", &tags);
    // F7, F8, F9
    let taggings = "pk = \"FavoriteDataTag#{userId}#{favoriteId}\" | userId = parent.userId, favoriteId = parent.id";
    one("Favorite.taggings", &format!(" | develop.Favorite | Query | {taggings}"));
    one("Favorite.tags", " | taggings.tag | through |  | ");
    one(
        "Tagging.tag",
        " | develop.Favorite | GetItem | pk = \"Tag#{userId}\" AND sk = {id} | userId = parent.userId, id = parent.tagId",
    );
    one(
        "Tagging.favorite",
        " | develop.Favorite | GetItem | pk = \"FavoriteData#{userId}\" AND sk = {id} | userId = parent.userId, id = parent.favoriteId",
    );
    let of_tag = [
        " | gsiOne | Query | gsiOnePk = \"FavoriteDataTag#{userId}#{tagId}\" | userId = parent.userId, tagId = parent.id",
        "type | gsiTwo | Query | gsiTwoPk = \"FavoriteDataTag#{userId}#{tagId}#{type}\" | userId = parent.userId, tagId = parent.id, type = type",
    ];
    assert_rows(&model, "Tag.taggings", &of_tag);
    one("Tag.favorites", " | taggings.favorite | through |  | ");

    // P3, P6, P7, P8
    one(
        "User.profile",
        " | data | GetItem | PK = \"USER#{userId}\" AND SK = \"#METADATA#{userId}\" | userId = parent.id",
    );
    one("User.posts", " | data | Query | PK = \"USER#{userId}\" AND begins_with(SK, \"POST#\") | userId = parent.id");
    one(
        "Query.post",
        " | data | Query | PK = \"USER#{userId}\" AND begins_with(SK, \"POST#{id}#\") | userId = userId, id = id",
    );
    one(
        "Post.comments",
        " | data | Query | PK = \"POST#{postId}#{postCreatedAt}\" AND begins_with(SK, \"COMMENT#\") | postId = parent.id, postCreatedAt = parent.createdAt",
    );
    one("Query.posts", " | GS1 | Query | status = {status} | status = status");
    assert!(find(&model, "Query", "posts").path(&|_| false, None).unwrap().descending);
}

#[test]
fn a_path_is_found_for_the_arguments_that_are_present() {
    let model = model(include_str!("../schemas/reads.graphql"));
    let index = |field: &str, present: &[&str], order: Option<&str>| {
        find(&model, "User", field).path(&|name| present.contains(&name), order).map(|path| path.index)
    };
    let (gsi_one, lsi_one, lsi_two) = (Some(Some(0)), Some(Some(2)), Some(Some(3)));
    assert_eq!(index("favorites", &["type", "first"], None), gsi_one);
    assert_eq!(index("favorites", &["search", "first"], None), lsi_one);
    assert_eq!(index("tags", &["order"], Some("CREATED_AT")), lsi_two);
    assert_eq!(index("tags", &[], None), Some(None));
    assert_eq!(index("tags", &[], Some("SIZE")), None);
    assert_eq!(index("groups", &[], None), None);
}

const TABLE: &str = r#"extend schema @table(name: "data", partitionKey: "PK", sortKey: "SK", indexes: [
  { name: "byTime", sortKey: "time" }
  { name: "byCity", partitionKey: "city", sortKey: "cityTime" }
  { name: "byAward", partitionKey: "award" }])
"#;

#[test]
fn plain_texts_bind_only_where_nothing_else_does() {
    let text = format!(
        r#"{TABLE}
        type Country @item(keys: {{ PK: "{{country}}", SK: "Country" }}) {{
          country: String!
          offices: [Office!]! @find
        }}
        type Office @item(keys: {{ PK: "{{country}}", SK: "Office#{{state}}#{{town}}#{{office}}" }}) {{
          country: String! state: String! town: String! office: String!
          neighbours: [Office!]! @find(where: {{ office: {{ beginsWith: "A" }} }})
        }}
        type Query {{
          country(country: String!): Country @find
          offices(country: String!, state: String): [Office!]! @find(where: {{ state: "{{state}}" }})
        }}"#
    );
    let model = model(&text);
    assert_rows(
        &model,
        "Country.offices",
        &[" | data | Query | PK = {country} AND begins_with(SK, \"Office#\") | country = parent.country"],
    );
    let neighbours = "PK = {country} AND begins_with(SK, \"Office#{state}#{town}#A\")";
    assert_rows(
        &model,
        "Office.neighbours",
        &[&format!(
            " | data | Query | {neighbours} | country = parent.country, state = parent.state, town = parent.town"
        )],
    );
    assert_rows(
        &model,
        "Query.offices",
        &[
            " | data | Query | PK = {country} AND begins_with(SK, \"Office#\") | country = country",
            "state | data | Query | PK = {country} AND begins_with(SK, \"Office#{state}#\") | country = country, state = state",
        ],
    );
}

const BOARD: &str = r#"extend schema @table(name: "boards", partitionKey: "PK", sortKey: "SK", indexes: [
  { name: "byList", partitionKey: "GSI1PK", sortKey: "GSI1SK" }
  { name: "byTime", sortKey: "time" }])
"#;

/// A board whose cards are also read by list; `id` is what the list calls its own id.
fn board(id: &str) -> Model {
    model(&format!(
        r#"{BOARD}
        enum CardOrder {{ RANK CREATED_AT }}
        type List @item(keys: {{ PK: "BOARD#{{boardId}}", SK: "LIST#{{{id}}}" }}) {{
          boardId: ID!
          {id}: ID!
          cards: [Card!]! @find
          ranked: [Card!]! @find(orderBy: "kind")
          cardCount: Int! @find(item: Card)
          hasCards: Boolean! @find(item: Card)
          of(kind: ID): [Card!]! @find(where: {{ kind: "{{kind}}" }})
          ofBoard: [Card!]! @find(where: {{ listId: null }})
        }}
        type Card @item(keys: {{
          PK: "BOARD#{{boardId}}", SK: "CARD#{{id}}", GSI1PK: "LIST#{{listId}}", GSI1SK: "{{kind}}#{{rank:06}}#{{id}}", time: "{{createdAt}}"
        }}) {{
          boardId: ID! id: ID! listId: ID! kind: ID! rank: Int! createdAt: DateTime!
          list: List @find
        }}
        type Query {{ list(boardId: ID!, {id}: ID!): List @find }}
        type Mutation {{ deleteList(boardId: ID!, {id}: ID!): List @delete(cascade: ["cards"]) }}"#
    ))
}

#[test]
fn a_relation_uses_every_name_that_says_what_it_is_of() {
    for id in ["id", "listId"] {
        let model = board(id);
        let of_list = format!(" | byList | Query | GSI1PK = \"LIST#{{listId}}\" | listId = parent.{id}");
        for field in ["List.cards", "List.ranked", "List.cardCount", "List.hasCards"] {
            assert_rows(&model, field, &[&of_list]);
        }
        let kind = format!(
            "kind | byList | Query | GSI1PK = \"LIST#{{listId}}\" AND begins_with(GSI1SK, \"{{kind}}#\") | listId = parent.{id}, kind = kind"
        );
        assert_rows(&model, "List.of", &[&of_list, &kind]);
        let whole = format!(
            " | boards | GetItem | PK = \"BOARD#{{boardId}}\" AND SK = \"LIST#{{{id}}}\" | boardId = parent.boardId, {id} = parent.listId"
        );
        assert_rows(&model, "Card.list", &[&whole]);
        // A binding that `where:` excludes may be left out.
        let all =
            " | boards | Query | PK = \"BOARD#{boardId}\" AND begins_with(SK, \"CARD#\") | boardId = parent.boardId";
        assert_rows(&model, "List.ofBoard", &[all]);
    }
}

#[test]
fn an_id_is_the_id_of_its_own_type() {
    let model = model(
        r#"extend schema @table(name: "shop", partitionKey: "PK", sortKey: "SK", indexes: [{ name: "byRep", partitionKey: "rep", sortKey: "repSort" }])
        type Employee @item(keys: { PK: "EMPLOYEE#{id}", SK: "EMPLOYEE", rep: "MANAGER#{managerId}", repSort: "{id}" }) {
          id: ID! managerId: ID
          customers: [Customer!]! @find(where: { accountRepId: "{id}" })
          manager: Employee @find
          reports: [Employee!]! @find(where: { managerId: "{id}" })
          self: Employee @find
        }
        type Customer @item(keys: { PK: "CUSTOMER#{id}", SK: "CUSTOMER", rep: "REP#{accountRepId}", repSort: "{id}" }) {
          id: ID! accountRepId: ID!
          accountRep: Employee @find
        }
        type Order @item(keys: { PK: "CUSTOMER#{customerId}", SK: "ORDER#{id}" }) {
          id: ID! customerId: ID! customerAccountRepId: ID sellerId: ID employeeId: ID
          "A copy that stands in a key of the customer's asks for nothing where the id tells who it is."
          customer: Customer @find
          seller: Employee @find
          packer: Employee @find
        }
        type Query { employee(id: ID!): Employee @find }"#,
    );
    let one = |field: &str, expected: &str| assert_rows(&model, field, &[expected]);
    one("Employee.customers", " | byRep | Query | rep = \"REP#{accountRepId}\" | accountRepId = parent.id");
    one("Employee.reports", " | byRep | Query | rep = \"MANAGER#{managerId}\" | managerId = parent.id");
    let employee =
        |from: &str| format!(" | shop | GetItem | PK = \"EMPLOYEE#{{id}}\" AND SK = \"EMPLOYEE\" | id = parent.{from}");
    one("Employee.manager", &employee("managerId"));
    one("Employee.self", &employee("id"));
    one("Customer.accountRep", &employee("accountRepId"));
    one("Order.customer", " | shop | GetItem | PK = \"CUSTOMER#{id}\" AND SK = \"CUSTOMER\" | id = parent.customerId");
    // The field's own name takes precedence over the type's.
    one("Order.seller", &employee("sellerId"));
    one("Order.packer", &employee("employeeId"));
}

#[test]
fn a_fields_own_name_goes_first_where_ids_name_their_type() {
    let model = model(
        r#"extend schema @table(name: "blog", partitionKey: "PK", sortKey: "SK")
        type User @item(keys: { PK: "USER#{userId}", SK: "USER" }) { userId: ID! }
        type Comment @item(keys: { PK: "USER#{userId}", SK: "COMMENT#{commentId}" }) {
          userId: ID! commentId: ID! authorId: ID! replyToCommentId: ID
          author: User @find
          owner: User @find
          replyTo: Comment @find
        }
        type Query { comment(userId: ID!, commentId: ID!): Comment @find }"#,
    );
    let user =
        |from: &str| format!(" | blog | GetItem | PK = \"USER#{{userId}}\" AND SK = \"USER\" | userId = parent.{from}");
    assert_rows(&model, "Comment.author", &[&user("authorId")]);
    assert_rows(&model, "Comment.owner", &[&user("userId")]);
    let reply = "PK = \"USER#{userId}\" AND SK = \"COMMENT#{commentId}\" | userId = parent.userId, commentId = parent.replyToCommentId";
    assert_rows(&model, "Comment.replyTo", &[&format!(" | blog | GetItem | {reply}")]);
}

/// The codes of the mistakes in a schema.
fn mistakes(text: &str) -> Vec<&'static str> {
    let found =
        load("schema.graphql", text, &|_| None).map(|(_, warnings)| warnings).unwrap_or_else(|mistakes| mistakes);
    found.list.iter().filter(|found| found.severity == Severity::Error).map(|mistake| mistake.code).collect()
}

#[test]
fn an_id_that_several_types_share_is_bound_by_where() {
    let schema = |find: &str| {
        format!(
            r#"extend schema @table(name: "users", partitionKey: "PK", sortKey: "SK")
            type User @item(keys: {{ PK: "{{id}}", SK: "USER" }}) {{ id: ID! profile: Profile {find} }}
            type Profile @item(keys: {{ PK: "{{id}}", SK: "PROFILE" }}) {{ id: ID! }}
            type Query {{ user(id: ID!): User @find }}"#
        )
    };
    assert_eq!(mistakes(&schema("@find")), ["KF0414"]);
    assert_eq!(mistakes(&schema("@find(where: { id: \"{id}\" })")), Vec::<&str>::new());
}

#[test]
fn a_reference_to_the_parent_is_no_copy() {
    let schema = |find: &str| {
        format!(
            r#"extend schema @table(name: "boards", partitionKey: "PK", sortKey: "SK")
            type List @item(keys: {{ PK: "BOARD#{{boardId}}", SK: "LIST#{{id}}" }}) {{
              boardId: ID! id: ID! name: String
              cards: [Card!]! {find}
            }}
            type Card @item(keys: {{ PK: "BOARD#{{boardId}}", SK: "CARD#{{id}}" }}) {{
              boardId: ID! id: ID! listId: ID! listName: String
            }}
            type Query {{ list(boardId: ID!, id: ID!): List @find }}"#
        )
    };
    // No key has `listId`, so the path could read only the whole board.
    assert_eq!(mistakes(&schema("@find")), ["KF0431"]);
    let model = model(&schema("@find(where: { listId: null })"));
    let board = "PK = \"BOARD#{boardId}\" AND begins_with(SK, \"CARD#\") | boardId = parent.boardId";
    assert_rows(&model, "List.cards", &[&format!(" | boards | Query | {board}")]);
}

#[test]
fn a_sparse_index_does_not_stand_for_the_table() {
    let schema = |rank: &str| {
        model(&format!(
            r#"extend schema @table(name: "cats", partitionKey: "PK", sortKey: "SK", indexes: [{{ name: "byRank", partitionKey: "G1P", sortKey: "G1S" }}])
            type Bee @item(keys: {{ PK: "BEE#{{id}}", SK: "BEE" }}) {{ id: ID! cats: [Cat!]! @find }}
            type Cat @item(keys: {{ PK: "CAT#{{beeId}}", SK: "CAT#{{id}}", G1P: "CAT#{{beeId}}", G1S: "{{beeId}}#{{rank:04}}" }}) {{
              beeId: ID! id: ID! rank: {rank}
            }}
            type Query {{ cats(beeId: ID!, rank: Int): [Cat!]! @find }}
            type Mutation {{ drop(beeId: ID!): [Cat!]! @delete(many: true) }}"#
        ))
    };
    // A cat without a rank is not in the index.
    let sparse = schema("Int");
    let table = "PK = \"CAT#{beeId}\" AND begins_with(SK, \"CAT#\") | beeId = ";
    assert_rows(&sparse, "Bee.cats", &[&format!(" | cats | Query | {table}parent.id")]);
    assert_eq!(rows(&sparse, "Query.cats").first().unwrap(), &format!(" | cats | Query | {table}beeId"));
    assert!(rows(&sparse, "Query.cats")[1].starts_with("rank | byRank | Query | "));
    assert_eq!(rows(&sparse, "Mutation.drop").first().unwrap(), &format!(" | cats | Query | {table}beeId"));
    // Every cat has one.
    assert!(rows(&schema("Int!"), "Bee.cats")[0].starts_with(" | byRank | Query | "));
}

#[test]
fn items_of_several_types_use_every_name_too() {
    let schema = |note: &str| {
        format!(
            r#"{BOARD}
            union Entry = Card | Note
            type List @item(keys: {{ PK: "BOARD#{{boardId}}", SK: "LIST#{{id}}" }}) {{
              boardId: ID! id: ID!
              entries: [Entry!]! @find
            }}
            type Card @item(keys: {{ PK: "BOARD#{{boardId}}", SK: "CARD#{{id}}", GSI1PK: "LIST#{{listId}}", GSI1SK: "CARD#{{id}}" }}) {{
              boardId: ID! id: ID! listId: ID!
            }}
            type Note @item(keys: {{ PK: "BOARD#{{boardId}}", SK: "NOTE#{{id}}"{note} }}) {{ boardId: ID! id: ID! listId: ID }}
            type Query {{ list(boardId: ID!, id: ID!): List @find }}"#
        )
    };
    assert_eq!(mistakes(&schema("")), ["KF0431"]);
    let model = model(&schema(", GSI1PK: \"LIST#{listId}\", GSI1SK: \"NOTE#{id}\""));
    assert_rows(&model, "List.entries", &[" | byList | Query | GSI1PK = \"LIST#{listId}\" | listId = parent.id"]);
}

const NOTE: &str = r#"
type Note @item(keys: { PK: "User#{userId}", SK: "Note#{id}", time: "{createdAt}#{id}", city: "{town}", cityTime: "{createdAt}", award: "{prize}" }) {
  userId: ID! id: ID! createdAt: DateTime! town: String prize: String score: Int
}
"#;

#[test]
fn bounds_that_are_null_drop_out() {
    let model = model(&format!(
        r#"{TABLE}{NOTE}
        type Query {{
          notes(userId: ID!, since: DateTime, until: DateTime): [Note!]! @find(where: {{ createdAt: {{ ge: "{{since}}", lt: "{{until}}" }} }})
          numbered(userId: ID!, from: ID): [Note!]! @find(where: {{ id: {{ gt: "{{from}}" }} }})
          between(town: String!, a: DateTime!, b: DateTime!): [Note!]! @find(where: {{ createdAt: {{ between: ["{{a}}", "{{b}}"] }} }})
        }}"#
    ));
    let expected = [
        " | data | Query | PK = \"User#{userId}\" AND begins_with(SK, \"Note#\") | userId = userId",
        "since | byTime | Query | PK = \"User#{userId}\" AND time >= {since} | userId = userId",
        "until | byTime | Query | PK = \"User#{userId}\" AND time < {until} | userId = userId",
        "since, until | byTime | Query | PK = \"User#{userId}\" AND time >= {since} AND time < {until} | userId = userId",
    ];
    assert_rows(&model, "Query.notes", &expected);
    let numbered = [
        " | data | Query | PK = \"User#{userId}\" AND begins_with(SK, \"Note#\") | userId = userId",
        "from | data | Query | PK = \"User#{userId}\" AND SK > \"Note#{from}\" AND begins_with(SK, \"Note#\") | userId = userId",
    ];
    assert_rows(&model, "Query.numbered", &numbered);
    assert_rows(
        &model,
        "Query.between",
        &[" | byCity | Query | city = {town} AND cityTime BETWEEN {a} AND {b} | town = town"],
    );
}

#[test]
fn lists_scans_and_filters() {
    let model = model(&format!(
        r#"{TABLE}{NOTE}
        type Query {{
          some(userId: ID!, ids: [ID!]!): [Note!]! @find(where: {{ id: "{{ids}}" }})
          someHigh(userId: ID!, ids: [ID!]!, least: Int): [Note!]! @find(where: {{ id: "{{ids}}" }}, filter: "score >= :least")
          scored(userId: ID!, score: Int, town: String): [Note!]! @find(filter: "score = :score AND town = :town")
          winners: [Note!]! @find(index: "byAward", scan: true, filter: "attribute_exists(score)")
          strong(userId: ID!): [Note!]! @find(orderBy: "createdAt", consistent: true, max: 7)
          mine(noteUserId: ID!): Int! @find(item: Note)
        }}"#
    ));
    let key = "PK = \"User#{userId}\" AND SK = \"Note#{id}\" | userId = userId, id = ids";
    assert_rows(&model, "Query.some", &[&format!(" | data | GetItem | {key}")]);
    // The gateway evaluates the filter on the items that the keys find.
    assert_rows(&model, "Query.someHigh", &[&format!(" | data | GetItem | {key}")]);
    // An argument of the filter belongs to the filter, even if it has the name of a field.
    let notes = "PK = \"User#{userId}\" AND begins_with(SK, \"Note#\") | userId = userId";
    assert_rows(&model, "Query.scored", &[&format!(" | data | Query | {notes}")]);
    assert_rows(&model, "Query.winners", &[" | byAward | Scan |  | "]);
    assert_rows(&model, "Query.strong", &[" | byTime | Query | PK = \"User#{userId}\" | userId = userId"]);
    assert_rows(
        &model,
        "Query.mine",
        &[" | data | Query | PK = \"User#{userId}\" AND begins_with(SK, \"Note#\") | userId = noteUserId"],
    );
    assert_eq!((find(&model, "Query", "strong").max, find(&model, "Query", "some").max), (7, 1000));
    assert!(find(&model, "Query", "strong").consistent);
}

#[test]
fn alternatives_and_attributes_that_are_no_names() {
    let model = model(
        r#"extend schema @table(name: "table", indexes: [{ name: "GSI-1", partitionKey: "GSI-1", sortKey: "score", sortKeyType: N }])
        type Item @item(keys: [
          { attribute: "pk", template: "item-{id}" }
          { attribute: "GSI-1", template: ["global-cycle:{cycle}", "user-cycle:{userCycle}"] }
          { attribute: "score", template: "{score}" }
        ]) { id: ID! cycle: Int userCycle: Int score: Int }
        type Query {
          item(id: ID!): Item @find
          items(ids: [ID!]!): [Item!]! @find(where: { id: "{ids}" })
          best(cycle: Int!): [Item!]! @find(orderBy: "score", order: DESC)
          own(userCycle: Int!, least: Int): [Item!]! @find(where: { score: { gt: "{least}" } })
        }"#,
    );
    assert_rows(&model, "Query.item", &[" | table | GetItem | pk = \"item-{id}\" | id = id"]);
    assert_rows(&model, "Query.items", &[" | table | GetItem | pk = \"item-{id}\" | id = ids"]);
    assert_rows(&model, "Query.best", &[" | GSI-1 | Query | GSI-1 = \"global-cycle:{cycle}\" | cycle = cycle"]);
    let own = "GSI-1 = \"user-cycle:{userCycle}\"";
    let expected = [
        format!(" | GSI-1 | Query | {own} | userCycle = userCycle"),
        format!("least | GSI-1 | Query | {own} AND score > {{least}} | userCycle = userCycle"),
    ];
    assert_eq!(rows(&model, "Query.own"), expected);
}

#[test]
fn a_prefix_holds_whole_values_only() {
    // `A` is a prefix of `AB`, so a key that begins with `A` may not have the status `A`; with `B` instead of `AB` it
    // has.
    let schema = |values: &str| {
        format!(
            r#"{TABLE}
            enum Status {{ {values} }}
            type Game @item(keys: {{ PK: "{{player}}", SK: "{{status}}{{day}}" }}) {{ player: ID! status: Status! day: Date! }}
            type Query {{ games(player: ID!, status: Status!): [Game!]! @find }}"#
        )
    };
    let exact = model(&schema("A B"));
    assert_rows(
        &exact,
        "Query.games",
        &[" | data | Query | PK = {player} AND begins_with(SK, {status}) | player = player, status = status"],
    );
    assert!(load("s", &schema("A AB"), &|_| None).is_err());
}

#[test]
fn writes_of_the_published_designs_work_on_their_keys() {
    let project = model(include_str!("../../schema.graphql"));
    // F2, F5, F7
    assert_rows(
        &project,
        "Mutation.cancelFavorite",
        &[
            " | develop.Favorite | DeleteItem | pk = \"FavoriteData#{userId}\" AND sk = {id} | userId = auth.sub, id = id, with its taggings",
        ],
    );
    assert_rows(
        &project,
        "Mutation.renameTag",
        &[
            " | develop.Favorite | UpdateItem | pk = \"Tag#{userId}\" AND sk = {id} | userId = auth.sub, id = id, name = name",
        ],
    );
    assert_eq!(
        rows(&project, "Mutation.tagFavorite").last().map(String::as_str),
        Some(
            " | develop.Favorite | PutItem | pk = \"FavoriteDataTag#{userId}#{favoriteId}\" AND sk = {tagId} | userId = auth.sub, favoriteId = favoriteId, tagId = tagId, type = Favorite.type, clippedAt = Favorite.clippedAt"
        )
    );
    // P5
    assert_rows(
        &project,
        "Mutation.updatePost",
        &[
            " | data | Query | PK = \"USER#{userId}\" AND begins_with(SK, \"POST#{id}#\") | userId = auth.sub, id = id",
            " | data | UpdateItem | PK = \"USER#{userId}\" AND SK = \"POST#{id}#{createdAt}\" | SET title = :input.title, text = :input.text, status = 'UPDATED', if status <> 'DELETED'",
        ],
    );
    // C9
    let cycles = model(include_str!("../../examples/cycle-items/schema.graphql"));
    assert_rows(
        &cycles,
        "Mutation.finish",
        &[
            " | example-api-table | DeleteItem | pk = \"user-{userId}\" AND sk = \"item:in-progress\" | userId = userId, if itemId = :itemId",
            " | example-api-table | PutItem | pk = \"user-{userId}\" AND sk = \"item:completed:{completedAt}\" | userId = userId, completedAt by default, itemId = itemId",
            " | example-api-table | UpdateItem | pk = \"user-{userId}\" AND sk = \"stats\" | userId = userId, ADD completed 1, liveCompleted :live, correctGuesses :correct",
        ],
    );
}

/// Two item types with these sort keys, found together by the argument `by`, which is a field of both.
fn mixed(first: &str, second: &str, find: &str) -> Result<Vec<String>, Vec<&'static str>> {
    let text = format!(
        r#"
        extend schema @table(name: "data", partitionKey: "pk", sortKey: "sk")
        enum Kind {{ A B }}
        union Both = First | Second
        type First @item(keys: {{ pk: "P#{{owner}}", sk: "{first}" }}, attributes: {{ type: "first" }}) {{
          owner: ID! id: ID! kind: Kind! name: String! at: DateTime! n: Int!
        }}
        type Second @item(keys: {{ pk: "P#{{owner}}", sk: "{second}" }}, attributes: {{ type: "second" }}) {{
          owner: ID! id: ID! kind: Kind! name: String! at: DateTime! @attribute(name: "time", stored: EPOCH_SECONDS) n: Int!
        }}
        type Query {{ both{find} }}
        "#
    );
    match load("schema.graphql", &text, &|_| None) {
        Ok((model, _)) => {
            Ok(rows(&model, "Query.both").into_iter().map(|row| row.split(" | ").nth(3).unwrap().to_owned()).collect())
        }
        Err(found) => Err(found
            .list
            .iter()
            .filter(|found| found.severity == Severity::Error)
            .map(|mistake| mistake.code)
            .collect()),
    }
}

#[test]
fn what_sort_keys_of_several_types_have_in_common_is_read() {
    let all = "(owner: ID!): [Both!]! @find";
    let is = |first: &str, second: &str, find: &str, condition: &str| {
        let condition = format!("pk = \"P#{owner}\"{condition}", owner = "{owner}");
        assert_eq!(mixed(first, second, find), Ok(vec![condition]), "{first} and {second} by {find}");
    };
    // The common prefix ends within a literal, also if one key ends there.
    is("POST#{id}", "POLL#{id}", all, " AND begins_with(sk, \"PO\")");
    is("PO", "POLL#{id}", all, " AND begins_with(sk, \"PO\")");
    is("ä#{id}", "ü#{id}", all, "");
    is("A#{id}", "{id}", all, "");
    // It contains the bound fields, and the text after them as far as it is equal.
    let by_kind = "(owner: ID!, kind: Kind!): [Both!]! @find";
    is("{kind}#A#{id}", "{kind}#B#{id}", by_kind, " AND begins_with(sk, \"{kind}#\")");
    is("{kind}#{id}", "{kind}#{n}", by_kind, " AND begins_with(sk, \"{kind}#\")");
    is("X#{kind}#{id}", "X#{kind}", by_kind, " AND begins_with(sk, \"X#{kind}\")");
    let by_name = "(owner: ID!, name: String!): [Both!]! @find";
    is("{name}#{id}", "{name}#{at}", by_name, " AND begins_with(sk, \"{name}#\")");
    // An instant has the same text in keys, whatever its attributes are.
    is("{at}#A", "{at}#B", "(owner: ID!): [Both!]! @find(orderBy: \"at\")", "");
    let since = "(owner: ID!, since: DateTime!): [Both!]! @find(where: { at: { gt: \"{since}\" } })";
    is("E#{at}#A", "E#{at}#B", since, " AND sk > \"E#{since}\" AND begins_with(sk, \"E#\")");
    is("E#{at}", "E#{at}", since, " AND sk > \"E#{since}\" AND begins_with(sk, \"E#\")");
    is(
        "{name}#{id}",
        "{name}#{n}",
        "(owner: ID!, start: String!): [Both!]! @find(where: { name: { beginsWith: \"{start}\" } })",
        " AND begins_with(sk, {start})",
    );
    // Equal keys that only a constant distinguishes are one item.
    is("{kind}#{id}", "{kind}#{id}", "(owner: ID!, kind: Kind!, id: ID!): Both @find", " AND sk = \"{kind}#{id}\"");
}

#[test]
fn what_several_types_do_not_share_is_refused() {
    let refused = |first: &str, second: &str, find: &str, code: &'static str| {
        assert_eq!(mixed(first, second, find), Err(vec![code]), "{first} and {second} by {find}");
    };
    let by_name = "(owner: ID!, name: String!): [Both!]! @find";
    // The escapes of free text depend on all the text that follows it.
    refused("{name}#A#{id}", "{name}#B#{id}", by_name, "KF0429");
    refused("{name}#{id}", "{name}", by_name, "KF0429");
    // A number can be the prefix of other numbers.
    refused("{n}#{id}", "{n}/{id}", "(owner: ID!, n: Int!): [Both!]! @find", "KF0429");
    refused("{n:04}#{id}", "{n:05}#{id}", "(owner: ID!, n: Int!): [Both!]! @find", "KF0429");
    refused("A#{at}", "B#{at}", "(owner: ID!): [Both!]! @find(orderBy: \"at\")", "KF0429");
    let since = "(owner: ID!, since: DateTime!): [Both!]! @find(where: { at: { gt: \"{since}\" } })";
    refused("{at}", "{at}#B", since, "KF0429");
    refused("A#{at}", "B#{at}", since, "KF0429");
    // A mistake of a single type is reported for that type.
    refused("{id}", "{name}#{id}", by_name, "KF0414");
}

/// A field that is in several index keys is read from one that every item has.
#[test]
fn a_field_is_read_from_a_key_that_is_always_there() {
    let model = model(
        r#"extend schema @table(name: "data", partitionKey: "PK", sortKey: "SK", indexes: [
            { name: "one", partitionKey: "AP", sortKey: "AS" } { name: "two", partitionKey: "BP", sortKey: "BS" }])
        type Cat @item(keys: { PK: "CAT#{id}", SK: "CAT", AP: "CATS", AS: "{name}#{email}", BP: "CATS", BS: "{id}#{email}" }) { id: ID! name: String email: String! }
        type Query { cat(id: ID!): Cat @find }"#,
    );
    let stored = model.types["Cat"].stored("email").unwrap();
    assert_eq!((stored.attribute.as_deref(), stored.keys.as_slice()), (None, &["BS".to_owned(), "AS".to_owned()][..]));
}
