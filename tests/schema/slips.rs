//! Slips in a schema: each is one mistake at its place, with a remedy. Where the remedy has edits, the schema with them
//! has no mistake.

use keyfold::schema::diagnostics::help::edited;
use keyfold::schema::load;

/// The schema without slips.
const KANBAN: &str = include_str!("../served/slips/kanban.graphql");

/// What follows from the remedy.
#[derive(Clone, Copy, PartialEq)]
enum Remedy {
    /// Its edits make the schema right.
    Edits,
    /// The author decides, and the sentence says between what.
    Choice,
}

/// A slip: the text, what stands in its place, the code, what is marked, and what the help holds.
type Slip = (&'static str, &'static str, &'static str, &'static str, &'static str, Remedy);

const SLIPS: [Slip; 27] = [
    (
        "partitionKey: \"GSI1PK\"",
        "partitionkey: \"GSI1PK\"",
        "KF0002",
        "partitionkey",
        "did you mean `partitionKey`?",
        Remedy::Edits,
    ),
    (
        "@find(orderBy: \"dueDate\", filter",
        "@find(index: \"byteam\", orderBy: \"dueDate\", filter",
        "KF0416",
        "\"byteam\"",
        "`byTeam`",
        Remedy::Edits,
    ),
    (
        "createUser(name: String!, email: String!)",
        "createUser(input: NewUser!)",
        "KF0002",
        "NewUser",
        "`type NewUser`",
        Remedy::Choice,
    ),
    (
        "enum Role",
        "extend type Taem { motto: String }\nenum Role",
        "KF0002",
        "Taem",
        "did you mean `Team`?",
        Remedy::Edits,
    ),
    ("enum Role", "type Team { id: ID! }\nenum Role", "KF0002", "Team", "extend type Team", Remedy::Choice),
    (
        "type Query {",
        "type Subscription { card(teamId: ID!): Card @subscribe }\ntype Query {",
        "KF0002",
        "@subscribe",
        "`@watch`",
        Remedy::Choice,
    ),
    ("  points: Int!\n", "  points: Int!\n  ends: Int @ttl\n", "KF0002", "@ttl", "timeToLive", Remedy::Choice),
    (
        "deleteCard(teamId: ID!, id: ID!): Card @delete",
        "deleteCard(teamId: ID!, id: ID!): [Card] @delete",
        "KF0717",
        "deleteCard",
        "make it `Card`",
        Remedy::Choice,
    ),
    (
        "type User @item(keys: { PK: \"USER#{id}\", SK: \"USER\" })",
        "type User @item",
        "KF0002",
        "@item",
        "`@item(keys: …)`",
        Remedy::Choice,
    ),
    (
        "  points: Int!\n",
        "  points: Int!\n  at: DateTime! @default(value: \"{NOW}\")\n",
        "KF0802",
        "{NOW}",
        "did you mean `now`?",
        Remedy::Edits,
    ),
    (
        "renameTeam(id: ID!, name: String!)",
        "renameTeam(id: ID!)",
        "KF0718",
        "@update",
        "add an argument",
        Remedy::Choice,
    ),
    ("where: { dueDate: { ge:", "where: { dueDate: { gte:", "KF0406", "gte", "did you mean `ge`?", Remedy::Edits),
    ("where: { dueDate: { ge:", "where: { due: { ge:", "KF0405", "due", "did you mean `dueDate`?", Remedy::Edits),
    (
        "@check(item: Team, if: \"attribute_exists(id)\"",
        "@check(item: Team, if: \"exists(id)\"",
        "KF0711",
        "exists",
        "write `attribute_exists`",
        Remedy::Edits,
    ),
    (
        "@check(item: Team, if: \"attribute_exists(id)\", message: \"No such team.\")",
        "@check(item: Team)",
        "KF0002",
        "@check(item: Team)",
        "`@check(if: …)`",
        Remedy::Choice,
    ),
    (
        "@default(value: \"MEMBER\")",
        "@default(value: \"member\")",
        "KF0803",
        "\"member\"",
        "did you mean `MEMBER`?",
        Remedy::Edits,
    ),
    (
        "  name: \"kanban\"\n",
        "  name: \"${TABLE_NAME}\"\n",
        "KF0103",
        "${TABLE_NAME}",
        "`${NAME:-default}`",
        Remedy::Choice,
    ),
    (
        "type CardConnection { nodes: [Card!]!",
        "type CardConnection { nodes: Card!",
        "KF0501",
        "nodes",
        "`nodes: [Item!]!`",
        Remedy::Choice,
    ),
    (
        "user(id: ID!): User @find",
        "user(id: ID!): User @find(by: \"id\")",
        "KF0002",
        "by: \"id\"",
        "arguments bind fields by their names",
        Remedy::Choice,
    ),
    (
        "type Card @item",
        "type Card @auth(owner: \"assigneeId\") @item",
        "KF0002",
        "owner: \"assigneeId\"",
        "`@auth(if: \"ownerId = auth.sub\")`",
        Remedy::Choice,
    ),
    (
        "user(id: ID!): User @find",
        "user(id: ID!): User @find @auth(if: \"sub = :id\")",
        "KF0608",
        "sub",
        "a claim of the caller is `auth.sub`",
        Remedy::Edits,
    ),
    ("sortKey: \"SK\"", "sortKey: \"PK\"", "KF0105", "\"PK\"", "name the attribute of the sort key", Remedy::Choice),
    (
        "type Query {",
        "interface Node { id: ID! }\ntype Query {\n  node(id: ID!): Node @find",
        "KF0427",
        "node",
        "`interface Node @node { id: ID! }`",
        Remedy::Choice,
    ),
    (
        "  points: Int!\n",
        "  points: Int!\n  day: Date @default(value: \"{now}\")\n",
        "KF0803",
        "\"{now}\"",
        "`AWSDate`, which takes the day",
        Remedy::Choice,
    ),
    (
        "@find(orderBy: \"dueDate\", filter",
        "@find(orderBy: \"title\", filter",
        "KF0413",
        "\"title\"",
        "sortKey: \"titleKey\" }]` to `@table`, `titleKey: \"{title}\"` to the keys of `Card`",
        Remedy::Choice,
    ),
    (
        "type Query {",
        "type Subscription { cardAdded(teamId: ID!): Card }\ntype Query {",
        "KF0901",
        "cardAdded",
        "`@table(…, stream: NEW_AND_OLD_IMAGES)`",
        Remedy::Edits,
    ),
    (
        "  deleteCard(",
        "  moveCard(teamId: ID!, id: ID!, to: ID!): Card @update(item: Card, expression: \"SET teamId = :to\")\n  deleteCard(",
        "KF0709",
        "teamId",
        "`@update(move: true, set: { teamId: \"{to}\" })`",
        Remedy::Choice,
    ),
];

fn mistakes(text: &str) -> Vec<keyfold::schema::diagnostics::diagnostic::Diagnostic> {
    load("schema.graphql", text, &|_| None).map_or_else(|mistakes| mistakes.list, |_| Vec::new())
}

#[test]
fn a_slip_is_one_mistake_with_its_remedy() {
    assert!(mistakes(KANBAN).is_empty());
    for (right, wrong, code, marked, help, remedy) in SLIPS {
        assert!(KANBAN.contains(right), "{right}");
        let text = KANBAN.replacen(right, wrong, 1);
        let found = mistakes(&text);
        let [one] = found.as_slice() else { panic!("{wrong}: {found:#?}") };
        assert_eq!((one.code, &text[one.span.clone()]), (code, marked), "{wrong}: {one:#?}");
        assert!(one.help.as_deref().is_some_and(|said| said.contains(help)), "{wrong}: {one:#?}");
        assert_eq!(one.fix.is_empty(), remedy == Remedy::Choice, "{wrong}: {one:#?}");
        if remedy == Remedy::Edits {
            let mended = mistakes(&edited(&text, &one.fix));
            assert!(mended.is_empty(), "{wrong}: {mended:#?}");
        }
    }
}

#[test]
fn an_order_has_its_index_by_the_help() {
    let wrong = KANBAN.replacen("orderBy: \"dueDate\", filter", "orderBy: \"title\", filter", 1);
    let found = mistakes(&wrong);
    let help = found[0].help.clone().unwrap();
    let said: Vec<&str> = help.split('`').collect();
    let index = said.iter().find_map(|part| part.strip_prefix("indexes: [")?.strip_suffix(']')).unwrap();
    let key = said.iter().find(|part| part.starts_with("titleKey")).unwrap();
    let right = wrong.replacen("sortKey: \"GSI1SK\" }", &format!("sortKey: \"GSI1SK\" }}, {index}"), 1);
    let right = right.replacen("GSI1SK: \"{dueDate}", &format!("{key}, GSI1SK: \"{{dueDate}}"), 1);
    let attribute = said.iter().find(|part| part.starts_with("@attribute")).unwrap();
    let right = right.replacen("  title: String!\n", &format!("  title: String! {attribute}\n"), 1);
    let left = mistakes(&right);
    assert!(left.is_empty(), "{left:#?}\n{right}");
}

#[test]
fn an_id_of_another_type_is_one_mistake_wherever_it_binds() {
    let right = "teamId: ID!\n  id: ID! @default(value: \"{uuid}\")\n  title";
    let text = KANBAN.replacen(right, &right.replacen("ID!", "Int!", 1), 1);
    let found = mistakes(&text);
    let [one] = found.as_slice() else { panic!("{found:#?}") };
    assert_eq!((one.code, &text[one.span.clone()], one.help.as_deref()), ("KF0408", "teamId", Some("make it `ID!`")));
    assert_eq!(edited(&text, &one.fix), KANBAN);

    // An argument of another type is a mistake of its own.
    let text = KANBAN.replacen("cards(teamId: ID!", "cards(teamId: Int!", 1);
    let found = mistakes(&text);
    assert!(found.len() == 1 && found[0].message.contains("the argument `teamId` of type `Int!`"), "{found:#?}");
}
