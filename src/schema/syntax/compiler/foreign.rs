//! Words of other tools in; out: what says the same here. Must not know where they stand.

/// A directive of another tool, and what is written instead.
pub struct ForeignDirective {
    /// Its name, without `@`.
    pub name: &'static str,
    /// Whose it is, and the remedy.
    pub help: &'static str,
}

const RELATION: &str = "AWS Amplify's relation is `@find` here: names of fields bind the keys of the items";
const ACCESS: &str =
    "AWS AppSync's rule is `@auth` here: `@auth(signedIn: true)`, or `@auth(if: \"ownerId = auth.sub\")`";
const FEDERATION: &str = "it is Apollo Federation's; a gateway of Keyfold is no subgraph, so leave it out";
const KEY: &str = "here, `@item` says where items live: `@item(keys: { PK: \"USER#{id}\", SK: \"USER\" })`, with the table's own keys";

/// Directives that schemas of other tools have.
const DIRECTIVES: &[ForeignDirective] = &[
    ForeignDirective { name: "model", help: KEY },
    ForeignDirective { name: "key", help: KEY },
    ForeignDirective { name: "primaryKey", help: KEY },
    ForeignDirective {
        name: "index",
        help: "here, `@table` declares an index, and `@item(keys:)` has the templates of its keys",
    },
    ForeignDirective { name: "connection", help: RELATION },
    ForeignDirective { name: "hasOne", help: RELATION },
    ForeignDirective { name: "hasMany", help: RELATION },
    ForeignDirective { name: "belongsTo", help: RELATION },
    ForeignDirective { name: "manyToMany", help: RELATION },
    ForeignDirective { name: "relation", help: RELATION },
    ForeignDirective { name: "function", help: "here, `@resolve(service: \"…\")` computes a field by a program" },
    ForeignDirective { name: "http", help: "here, `@resolve(service: \"…\")` computes a field by a program" },
    ForeignDirective { name: "searchable", help: "Keyfold reads DynamoDB only: leave it out" },
    ForeignDirective { name: "versioned", help: "here, a field `version: Int! @version` counts the writes of an item" },
    ForeignDirective { name: "aws_auth", help: ACCESS },
    ForeignDirective { name: "aws_api_key", help: ACCESS },
    ForeignDirective { name: "aws_iam", help: ACCESS },
    ForeignDirective { name: "aws_oidc", help: ACCESS },
    ForeignDirective { name: "aws_lambda", help: ACCESS },
    ForeignDirective { name: "aws_cognito_user_pools", help: ACCESS },
    ForeignDirective {
        name: "aws_subscribe",
        help: "here, `@watch` makes a field of `Subscription` follow the items of a type",
    },
    ForeignDirective { name: "createdAt", help: "here, a default does so: `@default(value: \"{now}\")`" },
    ForeignDirective {
        name: "updatedAt",
        help: "here, a default of every write does so: `@default(value: \"{now}\", on: WRITE)`",
    },
    ForeignDirective { name: "id", help: "here, `@default(value: \"{uuid}\")` makes an id" },
    ForeignDirective { name: "shareable", help: FEDERATION },
    ForeignDirective { name: "external", help: FEDERATION },
    ForeignDirective { name: "requires", help: FEDERATION },
    ForeignDirective { name: "provides", help: FEDERATION },
    ForeignDirective { name: "extends", help: FEDERATION },
    ForeignDirective { name: "override", help: FEDERATION },
    ForeignDirective { name: "link", help: FEDERATION },
    ForeignDirective { name: "tag", help: FEDERATION },
    ForeignDirective { name: "composeDirective", help: FEDERATION },
    ForeignDirective { name: "interfaceObject", help: FEDERATION },
];

/// What is written here in place of another tool's directive.
pub fn directive(name: &str) -> Option<&'static str> {
    DIRECTIVES.iter().find(|known| known.name == name).map(|known| known.help)
}

/// Scalars by the names that other languages and schemas have for them.
const SCALARS: &[(&[&str], &str)] = &[
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
    let lower = name.to_lowercase();
    SCALARS.iter().find(|(names, _)| names.contains(&lower.as_str())).map(|(_, scalar)| *scalar)
}
