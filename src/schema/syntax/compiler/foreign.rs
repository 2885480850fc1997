//! Words of other tools in; out: what says the same here. Must not know where they stand.

const RELATION: &str = "AWS Amplify's relation is `@find` here: names of fields bind the keys of the items";
const ACCESS: &str =
    "AWS AppSync's rule is `@auth` here: `@auth(signedIn: true)`, or `@auth(if: \"ownerId = auth.sub\")`";
const FEDERATION: &str = "it is Apollo Federation's; a gateway of Keyfold is no subgraph, so leave it out";
const KEY: &str = "here, `@item` says where items live: `@item(keys: { PK: \"USER#{id}\", SK: \"USER\" })`, with the table's own keys";

const PROGRAM: &str = "here, `@resolve(service: \"…\")` computes a field by a program";

const TTL: &str = "here, `@table(timeToLive: \"expiresAt\")` names the attribute of items that expire";

/// Names in lists, each list with what is written in their place.
type Words = [(&'static [&'static str], &'static str)];

/// Directives that schemas of other tools have.
const DIRECTIVES: &Words = &[
    (&["model", "key", "primaryKey"], KEY),
    (&["index"], "here, `@table` declares an index, and `@item(keys:)` has the templates of its keys"),
    (&["connection", "hasOne", "hasMany", "belongsTo", "manyToMany", "relation"], RELATION),
    (&["function", "http"], PROGRAM),
    (&["searchable"], "Keyfold reads DynamoDB only: leave it out"),
    (&["versioned"], "here, a field `version: Int! @version` counts the writes of an item"),
    (&["aws_auth", "aws_api_key", "aws_iam", "aws_oidc", "aws_lambda", "aws_cognito_user_pools"], ACCESS),
    (
        &["aws_subscribe", "subscribe", "subscription", "live"],
        "here, `@watch` makes a field of `Subscription` follow the items of a type",
    ),
    (&["ttl", "expires", "timeToLive"], TTL),
    (&["createdAt"], "here, a default does so: `@default(value: \"{now}\")`"),
    (&["updatedAt"], "here, a default of every write does so: `@default(value: \"{now}\", on: WRITE)`"),
    (&["id"], "here, `@default(value: \"{uuid}\")` makes an id"),
    (&["shareable", "external", "requires", "provides", "extends", "override", "link", "tag"], FEDERATION),
    (&["composeDirective", "interfaceObject"], FEDERATION),
];

/// Arguments that directives of other tools have, or that a beginner expects.
const ARGUMENTS: &[(&str, &[&str], &str)] = &[
    (
        "auth",
        &["rules"],
        "AWS AppSync's rules are conditions here: `@auth(if: \"ownerId = auth.sub\")` for its owner, \
         `@auth(signedIn: true)` for whoever signs in, `@auth(public: true)` for everybody",
    ),
    ("auth", &["owner", "ownerField"], "here, a condition says so: `@auth(if: \"ownerId = auth.sub\")`"),
    ("auth", &["role", "roles", "group", "groups"], "here, a condition says so: `@auth(if: \"auth.role = 'admin'\")`"),
    ("auth", &["requires", "scopes"], "here, a condition says so: `@auth(if: \"auth.scope = 'admin'\")`"),
    (
        "find",
        &["by", "key", "on", "fields"],
        "here, arguments bind fields by their names, and `where: { id: \"{teamId}\" }` others",
    ),
    (
        "find",
        &["sort", "sortBy", "sortOrder", "order_by"],
        "write `orderBy: \"dueDate\"`, and `order: DESC` for the last first",
    ),
    (
        "find",
        &["limit", "first", "pageSize"],
        "a page's size is an argument of the field: `cards(first: Int = 10, after: String)`",
    ),
    ("table", &["pk", "hashKey", "hash", "partition"], "write `partitionKey: \"PK\"`"),
    ("table", &["sk", "rangeKey", "range", "sort"], "write `sortKey: \"SK\"`"),
    (
        "table",
        &["gsis", "gsi", "globalSecondaryIndexes"],
        "write `indexes: [{ name: \"byTeam\", partitionKey: \"GSI1PK\" }]`",
    ),
    ("table", &["ttl"], "write `timeToLive: \"expiresAt\"`"),
    ("constraint", &["length", "maxLen", "max_length"], "write `minLength: 1, maxLength: 100`"),
    ("constraint", &["regex", "regexp", "match"], "write `pattern: \"[a-z]+\"`"),
];

/// What is written here in place of an argument that a directive does not have.
pub fn argument(directive: &str, name: &str) -> Option<&'static str> {
    let mut known = ARGUMENTS.iter().filter(|(of, names, _)| *of == directive && names.contains(&name));
    known.next().map(|(.., instead)| *instead)
}

/// What is written here in place of another tool's directive.
pub fn directive(name: &str) -> Option<&'static str> {
    instead(DIRECTIVES, name)
}

/// Whether a directive of another tool says where items live.
pub fn says_keys(name: &str) -> bool {
    directive(name) == Some(KEY)
}

fn instead(words: &Words, name: &str) -> Option<&'static str> {
    words.iter().find(|(names, _)| names.contains(&name)).map(|(_, instead)| *instead)
}

/// Scalars by the names that other languages and schemas have for them.
const SCALARS: &Words = &[
    (&["text", "str", "varchar", "char", "url", "uri", "email", "phone", "emailaddress"], "String"),
    (&["uuid", "guid", "objectid", "key", "ulid"], "ID"),
    (&["integer", "number", "int32", "short", "positiveint", "nonnegativeint", "unsignedint"], "Int"),
    (&["bigint", "int64", "longint"], "Long"),
    (&["double", "real", "float64", "float32"], "Float"),
    (&["money", "bigdecimal", "numeric", "currency"], "Decimal"),
    (&["bool"], "Boolean"),
    (&["timestamp", "time", "instant", "datetimeiso", "isodate", "offsetdatetime", "zoneddatetime"], "DateTime"),
    (&["localdate", "day"], "Date"),
    (&["object", "map", "any", "jsonobject", "dict", "record", "hash"], "JSON"),
    (&["bytes", "blob", "buffer", "base64"], "Binary"),
    (&["void", "null", "nil", "unit", "none"], "Boolean"),
];

/// The scalar that a name of another language means.
pub fn scalar(name: &str) -> Option<&'static str> {
    instead(SCALARS, &name.to_lowercase())
}
