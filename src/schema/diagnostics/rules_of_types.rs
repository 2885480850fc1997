//! The texts of the rules for files, tables, items, fields and finds.

use crate::schema::diagnostics::rule::rules;

// The rules KF00 to KF04, in the order of the codes.
#[rustfmt::skip]
rules! { RULES_OF_TYPES;
    KF0001: "The file is GraphQL",
        "The file is not in the syntax of the GraphQL schema language. Keyfold checks nothing else until it is.",
        r#"type Query { user(id: ID!): User @find }"#;
    KF0002: "The schema is valid",
        "The schema must follow the GraphQL specification: types exist, names are defined once, and directives have their required arguments. A required argument or input field is not `@deprecated`. Do not declare Keyfold's own directives and scalars.",
        r#"type User @item(keys: { PK: "{id}", SK: "User" }) { id: ID! }"#;

    KF0101: "A table is declared once",
        "Two `@table` directives have the same name. Rename or remove one.",
        r#"extend schema @table(name: "data", partitionKey: "PK", sortKey: "SK")"#;
    KF0102: "An index is declared once",
        "Two indexes of a table have the same name. Rename or remove one.",
        r#"indexes: [{ name: "byEmail", partitionKey: "email" }]"#;
    KF0103: "Table and index names follow DynamoDB's rules",
        "A name has 3 to 255 characters: letters, digits, `_`, `-` and `.`. In a table's name, Keyfold replaces `${NAME}` and `${NAME:-default}` by environment variables. A variable without a default must be set.",
        r#"@table(name: "${TABLE:-shop-dev}", partitionKey: "PK", sortKey: "SK")"#;
    KF0104: "An index has its own keys",
        "A global index needs a partition key. A local index uses the table's partition key and needs only a sort key; its table must have a sort key too. A table has at most five local indexes.",
        r#"indexes: [{ name: "byName", sortKey: "name" }]"#;
    KF0105: "A key has two different attributes",
        "The partition key and the sort key must be different attributes.",
        r#"@table(name: "data", partitionKey: "PK", sortKey: "SK")"#;
    KF0106: "`include` needs the projection INCLUDE",
        "`include` lists the attributes that an index with the projection INCLUDE holds in addition to the keys. Other projections do not take it.",
        r#"{ name: "byHash", partitionKey: "hash", projection: INCLUDE, include: ["expiry"] }"#;
    KF0107: "A key attribute has one type",
        "In DynamoDB, an attribute has the same type in every key of a table and its indexes.",
        r#"{ name: "byScore", partitionKey: "game", sortKey: "score", sortKeyType: N }"#;
    KF0108: "Only provisioned tables have a capacity",
        "`readCapacity` and `writeCapacity` are whole numbers of at least 1. Only tables with `billing: PROVISIONED` and their global indexes have them; a local index shares the capacity of its table.",
        r#"@table(name: "data", billing: PROVISIONED, readCapacity: 10, writeCapacity: 5)"#;
    KF0109: "Keys of global indexes have up to four attributes",
        "Each key of a global index has one to four attributes: `partitionKey` and `sortKey` may be lists. The keys of a table and of a local index have one attribute each. `partitionKeyType` and `sortKeyType` have one type for each attribute, or are left out.",
        r#"{ name: "byRound", partitionKey: ["tournamentId", "region"], sortKey: ["round", "bracket"] }"#;
    KF0110: "The type of a key attribute follows from fields that agree",
        "If a key of an index is a list, each attribute of the index has the type of the fields that are stored in it, unless `partitionKeyType` or `sortKeyType` says its type. All types of the table that have such a field, or a template for the attribute, store it in the same type: DynamoDB refuses an item whose attribute has another type than the key.",
        r#"{ name: "byRound", partitionKey: ["tournamentId", "region"], sortKey: ["round"] }"#;
    KF0111: "What expires has a time to live",
        "`@item(expires: true)` and `expired: SHOWN` are about items with a time in the attribute that the table names by `timeToLive`. A table that shows items which have expired takes no `expires: true`. Guards of `@unique` end with their item, so the time of a type with `@unique` is one of its fields.",
        r#"extend schema @table(name: "data", partitionKey: "PK", sortKey: "SK", timeToLive: "ttl")"#;

    KF0201: "Items need a table",
        "A type has `@item`, but the schema has no `@table`. Declare the table.",
        r#"extend schema @table(name: "data", partitionKey: "PK", sortKey: "SK")"#;
    KF0202: "An item names its table",
        "If a schema has several tables, `@item(table:)` must name one of them.",
        r#"type Post @item(table: "data", keys: { PK: "POST#{id}", SK: "POST" }) { id: ID! }"#;
    KF0203: "A root type is not an item",
        "`Query`, `Mutation` and `Subscription` are entry points of operations and are not stored. Remove `@item`.",
        r#"type Query { user(id: ID!): User @find }"#;
    KF0204: "Keys are attributes with templates",
        "`keys:` is an object that gives each key attribute a template. If an attribute's name is not a GraphQL name, use a list of `{ attribute, template }` instead; an entry has no other word. A template may be a list of alternatives.",
        r#"@item(keys: [{ attribute: "GSI-1", template: "{asin}" }, { attribute: "pk", template: "{id}" }])"#;
    KF0205: "`keys:` names key attributes",
        "Each attribute in `keys:` is a key attribute of the item's table or of one of its indexes.",
        r#"@item(keys: { PK: "{id}", SK: "User", EMailAddress: "{email}" })"#;
    KF0206: "A placeholder is a name in braces",
        "A template is text with placeholders: `{field}`, or `{field:08}` for a number padded to eight digits.",
        r#"SK: "Group#{groupId}""#;
    KF0207: "A placeholder names a stored field",
        "A template uses stored fields of its own type. Keyfold does not know relations and fields of other types when it writes an item.",
        r#"type Membership @item(keys: { PK: "{userId}", SK: "Group#{groupId}" }) { userId: ID! groupId: ID! }"#;
    KF0208: "A key holds simple values",
        "A key cannot hold lists, embedded objects, JSON or sets.",
        r#"type Tag @item(keys: { PK: "{userId}", SK: "{name}" }) { userId: ID! name: String! }"#;
    KF0209: "A template can be read back",
        "Keyfold reads fields back out of keys, so two different values must never produce the same key text. Put a separator between two text fields, or give one of them one length by a `@constraint`, and begin each alternative with a different text. The key of an index may have texts whose ends nothing shows: it is not read back then.",
        r#"SK: "{city}#{office}""#;
    KF0210: "Number and binary keys are one field",
        "A key attribute of type N or B holds exactly one field of that type and no other text.",
        r#"keys: { game: "{game}", score: "{score}" }"#;
    KF0211: "Every item has the table's keys",
        "`keys:` must have a template for the table's partition key, and for its sort key if it has one.",
        r#"@item(keys: { PK: "{id}", SK: "User" })"#;
    KF0212: "The table's keys are never null",
        "DynamoDB cannot store an item without its keys. So the fields in the table's keys must be non-null, or one alternative must have only non-null fields. Fields in an index's keys may be null; the item is then not in that index.",
        r#"type User @item(keys: { PK: "{id}", SK: "User" }) { id: ID! }"#;
    KF0213: "Numbers in sort keys are padded",
        "A warning. Text sorts character by character, so 350 comes before 87. Pad the number to a fixed width, or make the key a number.",
        r#"SK: "item:assigned:{score:08}""#;
    KF0214: "An item has all keys of an index, or none",
        "An item is in an index only if it has all of the index's key attributes. Give all of them templates, or none.",
        r#"keys: { PK: "{id}", SK: "Post", status: "{status}", createdAt: "{createdAt}" }"#;
    KF0215: "Constants are plain attributes",
        "`attributes:` sets attributes that are not keys, each to one constant: a text, a number or a Boolean. If a name is no GraphQL name, write a list.",
        r#"@item(keys: { PK: "{id}", SK: "{date}" }, attributes: [{ attribute: "entity-type", value: "Order" }, { attribute: "version", value: 1 }])"#;
    KF0216: "Each item has one type",
        "Keyfold recognises the type of an item by its keys. If items of two types could have the same key, add a distinct text to one of the keys, give the types different constants in `attributes:`, or exclude the separator from a field: `@constraint(pattern: \"[^#]+\")`.",
        r#"type Group @item(keys: { PK: "{id}", SK: "Group" }) { id: ID! }"#;
    KF0217: "Shards and replicas have a number",
        "`{shard:n}` spreads items over n keys, and `{replica:n}` copies each item to n keys. n is a whole number from 2 to 100, without leading zeros. `{shard:01..10}` has the numbers that other programs assigned, from the first to the last, 2 to 100 of them. Both have as many digits as the keys have.",
        r#"PK: "VOTES#{candidateId}#{shard:10}""#;
    KF0218: "A type has either shards or replicas",
        "An item has one shard number, the same in all its keys. So all `{shard:n}` of a type must have the same n, and so must all `{replica:n}`. A type cannot have both.",
        r#"@item(keys: { PK: "VOTES#{candidateId}#{shard:10}", SK: "{voterId}", byTime: "VOTES#{shard:10}" })"#;
    KF0219: "Every partition key has the replica's number",
        "A read uses one replica of an item. Put `{replica:n}` into the partition key of the table and of every index of the type; otherwise a read returns every replica.",
        r#"@item(keys: { PK: "ITEM#{id}#{replica:5}", SK: "ITEM", genre: "GENRE#{genre}#{replica:5}" })"#;
    KF0220: "A global id is not stored",
        "The `id` of a type that implements the interface with `@node` is made of the type's name and its key. So no key holds it, and nothing says how it is stored or found. Give the key fields of its own.",
        r#"type User implements Node @item(keys: { PK: "{userId}", SK: "User" }) { id: ID! userId: ID! }"#;
    KF0221: "A global id names an item by its key",
        "A type that implements the interface with `@node` has `@item`, and one template for each attribute of its primary key. An embedded object has no key, and a key with alternatives has no one form.",
        r#"type User implements Node @item(keys: { PK: "{userId}", SK: "User" }) { id: ID! userId: ID! }"#;
    KF0222: "A global id hides nothing",
        "Everybody can read the values in an id. So a field of the key cannot be `@inaccessible` and has no rule for reads of its own. A claim in the key is not in the id.",
        r#"type User implements Node @item(keys: { PK: "{userId}", SK: "User" }) { id: ID! userId: ID! }"#;
    KF0223: "One interface is `@node`",
        "Clients such as Relay know one interface whose objects can be fetched again by their ids. It has `id: ID!` and no other field.",
        r#"interface Node @node { id: ID! }"#;
    KF0224: "Every alternative of a key is used",
        "A write uses the first alternative of a template whose fields all have a value, and a Get the first whose fields are bound. In the table's key, an alternative that has all fields of an earlier one is never reached: items under it could not be found. Leave it out, or put the one with more fields first.",
        r#"type Guest @item(keys: { PK: "GUESTS", SK: ["VIP#{name}#{id}", "GUEST#{id}"] }) { id: ID! name: String @constraint(pattern: "[^#]+") }"#;
    KF0225: "Whoever makes an item gives the number of its shard",
        "`{shard:01..10}` says that another program chooses each item's shard in a way of its own. Keyfold finds an item in any shard, and updates and deletes it there. But it cannot compute the number of a new item: a `@put`, and an `@update` with `upsert: true`, need a value for `shard` that is never null. It comes from an argument of that name, from `set:`, or from the `where:` of an upsert, which must be part of the table's key.",
        r#"record(day: Date!, id: ID!, shard: Int!): Event! @put"#;
    KF0226: "A key of several attributes has no alternatives",
        "A template may be a list of alternatives, but not for an attribute of a key that has several: each attribute of such a key has one template, or is a field itself.",
        r#"keys: [{ attribute: "region", template: "{country}#{city}" }]"#;

    KF0227: "A condition decides whether an item has the key of an index",
        "`when:` in an entry of `keys:` is a condition over fields of the item that have single values, without arguments, claims and `:now`. The item has the key while it holds. A key of the table has none, nor has a key that is a field's own attribute.",
        r#"{ attribute: "GSI3PK", template: "OPEN#{shard:15}", when: "status = 'OPEN'" }"#;
    KF0301: "An attribute holds one field",
        "Two fields of a type cannot share an attribute, and an attribute's name cannot be empty. Change the name with `@attribute(name:)`.",
        r#"name: String! @attribute(name: "UserName")"#;
    KF0302: "A field does not overwrite a key",
        "A field cannot use the attribute of a key with other content. It may share the attribute of a key that is exactly this field, and it may show a constant of `attributes:` that its type reads, if it is in no key.",
        r#"email: String! @attribute(name: "EMailAddress")  # with the key EMailAddress: "{email}""#;
    KF0303: "`stored:`, `form:` and `type:` fit the type",
        "EPOCH_SECONDS and EPOCH_MILLIS are for DateTime. The text of a key always holds the text of the time, so a field that only such keys hold has no `stored:`. SET is for lists of texts, numbers or binary values. `form:` is for DateTime, LocalDateTime, Date, AWSDateTime and AWSDate; its words are `%Y %m %d %j %G %V %H %M %S %3f %6f %9f %s`. `type: S` is for numbers, Booleans and epochs, `type: N` for IDs, Booleans and enums whose values are stored as numbers.",
        r#"seen: DateTime @attribute(stored: EPOCH_SECONDS)"#;
    KF0304: "A relation has `@find`",
        "A stored field holds scalars, enums, embedded objects or lists of them. A field whose type is another item needs `@find`.",
        r#"memberships: [Membership!]! @find"#;
    KF0305: "A stored field has no arguments",
        "A stored field is read as it is. Remove its arguments, or add `@find`.",
        r#"tags(first: Int = 20): TagConnection! @find"#;
    KF0306: "Enum values are stored as different texts",
        "`@attribute(name:)` gives the stored text of an enum value. Each value needs a different, non-empty text.",
        r#"enum Kind { IMAGE @attribute(name: "image") VIDEO @attribute(name: "video") }"#;
    KF0307: "The time to live is a time",
        "DynamoDB expects the time to live in seconds since 1970. So its field is a DateTime, an Int or a Long.",
        r#"expiresAt: DateTime @attribute(name: "ttl")"#;

    KF0308: "All places of a time say as much of it",
        "A time can stand in an attribute and in several keys, each with a form of its own. Keyfold reads the field from one of them, so all say as much of the time. Only the key of an index may say less: Keyfold does not read it back then.",
        r#"type Visit @item(keys: { PK: "{id}", SK: "VISIT#{at:%Y-%m-%dT%H:%M:%SZ}" }) { id: ID! at: DateTime! }"#;
    KF0309: "A field has one case in all keys",
        "`{name:lower}` and `{name:upper}` decide which values are one: `Ann` and `ann` are then the same item. So all keys of a type have a field in the same case. The value as it was given is in an attribute of its own.",
        r#"type User @item(keys: { PK: "USER#{name:lower}", SK: "USER" }) { name: String! }"#;
    KF0310: "A scalar is Keyfold's or the schema's own",
        "A warning. The schema defines a scalar by a name that Keyfold knows, so it is a scalar of the schema's own: it takes any value, like `JSON`, and no key holds it. For Keyfold's scalar, leave the definition out, or write the one that `keyfold schema --directives` prints. For a scalar of your own, say which it is by `@specifiedBy(url:)`.",
        r#"scalar LocalDateTime @specifiedBy(url: "https://example.org/local-date-time")"#;
    KF0311: "A map has a field for its keys",
        "`stored: MAP` keeps a list of embedded objects as a map, and `by:` names the field of the objects that is the key of each entry: one that is never null, has a single value and is kept as text. With `value:`, the entries are no objects but the values of the only other field, which is a scalar or an enum and never null.",
        r#"reactions: [Reaction!]! @attribute(stored: MAP, by: "kind")"#;

    KF0312: "A computed field is a text or a number of its own object",
        "`@computed` is on a field of an item type or of an embedded type, and says by `value:` or by `expression:` what the field is computed of. A text is a String or an ID; a number is an Int, a Long, a Float or a Decimal. Nothing stores the field, so it has no arguments and no `@attribute`, and it finds nothing.",
        r#"label: String! @computed(value: "{number} of {customerName}")"#;
    KF0313: "A computed field is made of stored fields",
        "The names in `value:` and `expression:` are stored fields of the same object, each a single value. So no computed field is made of another, of a relation, of a list or of what is inside an object. An expression has numbers, `+`, `-`, `*` and parentheses, and no division, whose result may have no last digit.",
        r#"total: Decimal! @computed(expression: "price * quantity")"#;
    KF0314: "What is computed of null is null",
        "A computed field is null where one of its fields is. So it may be null if one of them may be.",
        r#"label: String @computed(value: "{number} of {nickname}")"#;
    KF0401: "A root field reads or writes",
        "Fields of `Query` need `@find`. Fields of `Mutation` need `@put`, `@update`, `@delete` or `@check`.",
        r#"type Query { user(id: ID!): User @find }"#;
    KF0402: "A find returns items",
        "A `@find` field returns an item type, an interface or a union of item types, a list or connection of one of these, `Boolean` (does an item exist?) or `Int` (how many items exist?).",
        r#"isMember(userId: ID!, groupId: ID!): Boolean! @find(item: Membership)"#;
    KF0403: "A find knows its item type",
        "If the field's type is not the item type, name the item type with `item:`. Otherwise leave `item:` out.",
        r#"memberCount(groupId: ID!): Int! @find(item: Membership)"#;
    KF0404: "`where:` binds fields to templates",
        "`where:` is an object. It binds each field to a template over arguments and the parent's fields, or to a range.",
        r#"@find(where: { userId: "{ownerId}" })"#;
    KF0405: "`where:` names fields of the item",
        "Each name in `where:` is a stored field of the items that is not a list.",
        r#"@find(where: { userId: "{ownerId}" })"#;
    KF0406: "A range has bounds",
        "A range has a lower bound (`gt` or `ge`), an upper bound (`lt` or `le`), or both. `between` gives two bounds. `beginsWith` is for text.",
        r#"@find(where: { clippedAt: { ge: "{since}", lt: "{until}" } })"#;
    KF0407: "A name in `where:` is in scope",
        "A placeholder in `where:` names an argument of the field or a stored field of its parent.",
        r#"favorites(owner: ID!): [Favorite!]! @find(where: { userId: "{owner}" })"#;
    KF0408: "A bound value has the field's type",
        "A value that binds a field has the field's type. ID and String are interchangeable, and an Int may bind a Long or a Float. A list can bind only equality, and only if the field returns several items.",
        r#"posts(status: [PostStatus!]!): [Post!]! @find"#;
    KF0409: "Arguments that page and sort have their types",
        "`first` and `last` are Int, and `after` and `before` are String; all four are for connections only. A type with `items` and `nextToken` is paged by `limit`, an Int, and `nextToken`, a String. `orderBy` is an enum of fields, and `order` is `Order`. To bind a stored field with such a name, use the argument in `where:`.",
        r#"posts(first: Int = 20, after: String, order: Order = DESC): PostConnection! @find"#;
    KF0410: "Items are sorted by their fields",
        "`orderBy:` names a stored field of the items. A field that finds one item by its whole key has no order. The values of an `orderBy` argument are such names in upper case.",
        r#"enum TagOrder { NAME CREATED_AT }"#;
    KF0411: "Every argument is used",
        "The argument binds no field, does not page, and is not used in `where:` or `filter:`, so Keyfold would ignore it. Use it or remove it.",
        r#"favorites(userId: ID!, search: String): [Favorite!]! @find(filter: "contains(title, :search)")"#;
    KF0412: "At most six optional arguments take part in keys",
        "Keyfold chooses an access path for every combination of optional arguments, and each argument doubles the number of combinations.",
        r#"posts(status: PostStatus!, day: Date): [Post!]! @find"#;
    KF0413: "A sort key provides the order",
        "DynamoDB sorts by sort keys only. In the sort key that Keyfold reads, the field to sort by must directly follow the bound fields. Pad numbers, or make the key a number.",
        r#"type Favorite @item(keys: { pk: "{userId}", sk: "{id}", lsiOneSk: "{clippedAt}#{id}" }) { id: ID! }"#;
    KF0414: "A key or an index serves every find",
        "Arguments, the parent's fields or `where:` must bind a whole partition key, and the access path must use every binding. Keyfold scans only with `scan: true`.",
        r#"type User @item(keys: { PK: "{id}", SK: "User", EMailAddress: "{email}" }) { id: ID! email: String! }"#;
    KF0415: "Every combination of optional arguments is served",
        "An argument that is null binds nothing. If no key serves the find without it, make it non-null.",
        r#"user(id: ID!): User @find"#;
    KF0416: "`index:` names an index that holds the item",
        "An item is in an index if `keys:` has templates for the index's keys.",
        r#"@find(index: "byEmail")"#;
    KF0417: "Global indexes have no strongly consistent reads",
        "DynamoDB offers strongly consistent reads of tables and local indexes, but not of global indexes.",
        r#"user(id: ID!): User @find(consistent: true)"#;
    KF0418: "`max:` limits the length of a list",
        "Keyfold holds a plain list in memory, so its length is limited. `max:` sets the limit: 1,000 items by default, and 100,000 at most.",
        r#"tags: [Tag!]! @find(max: 200)"#;
    KF0419: "A filter is a condition over the item",
        "`filter:` is a DynamoDB condition on the item's stored fields, with `:arguments`. It cannot use a field that is only part of a key's text.",
        r#"@find(filter: "contains(title, :search)")"#;
    KF0420: "`through:` follows relations",
        "Each name is a `@find` field that returns items. The first belongs to the field's own type, and each next one to the type that the previous one returns.",
        r#"groups: GroupConnection! @find(through: "memberships.group")"#;
    KF0421: "`through:` reaches the field's items",
        "The last relation must return the field's item type. If the field returns one item, every relation must return one. If it returns a connection, exactly one relation must return several, and the connection has no `totalCount`.",
        r#"group: Group @find(through: "link.group")"#;
    KF0422: "An argument goes to a relation",
        "With `through:`, Keyfold passes an argument to the relation that has an argument of the same name and type. Declare every argument that a relation requires.",
        r#"favorites(type: FavoriteType): [Favorite!]! @find(through: "taggings.favorite")"#;
    KF0423: "`through:` allows no other options",
        "Other options of `@find` belong to the relations that `through:` follows. The relations must not lead back to the field itself.",
        r#"tags: [Tag!]! @find(through: "taggings.tag")"#;
    KF0424: "A scan reads everything",
        "`scan: true` reads a whole table or index, so it binds no key and has no order. A filter may read what the table or index holds.",
        r#"awards: [Game!]! @find(index: "byAward", scan: true)"#;
    KF0425: "A range is a range of keys",
        "A range needs values whose key texts sort like the values: DateTime, Date, padded numbers, number keys, text at the end of a template, or text of one length (`@constraint`).",
        r#"lsiOneSk: "{clippedAt}#{id}""#;
    KF0426: "A filter reads what the index holds",
        "A filter can read the attributes in the index's projection. It cannot read the key that the Query uses.",
        r#"{ name: "byHash", partitionKey: "hash", projection: INCLUDE, include: ["expiry"] }"#;
    KF0427: "A find of an interface or a union reads item types",
        "A find of an interface or a union reads the items of all its types, so each type needs `@item`. To read only one type, name it with `item:`.",
        r#"union Activity = Favorite | Tagging"#;
    KF0428: "Item types of an interface or a union share a partition",
        "One Query reads the items of all types of an interface or a union. So the types must be in one table and have the same partition key, in the table or in an index. Types with the same shards in their partition key share a find. Types with replicas need their own.",
        r#"type Tagging @item(keys: { pk: "USER#{userId}", sk: "TAG#{tagId}" }) { userId: ID! tagId: ID! }"#;
    KF0429: "A find of several item types works for all of them",
        "In every type's key, the fields that the find binds, ranges over or sorts by must follow the same prefix. A filter must read the same attribute, stored in the same way, in every type. If the field returns one item, a count or a connection with `totalCount`, the index must hold the constants that distinguish the types.",
        r#"type Tagging @item(keys: { pk: "USER#{userId}", sk: "EVENT#{createdAt}#tag#{tagId}" }) { createdAt: DateTime! }"#;
    KF0430: "An index holds the constants of a type",
        "If a field returns one item, a Boolean, a count or a connection with `totalCount`, its index must hold the constants that distinguish the type from others. Add them to the projection.",
        r#"{ name: "byBoard", partitionKey: "board", projection: INCLUDE, include: ["kind"] }"#;
    KF0431: "An access path uses every binding",
        "`where:`, arguments, and parent fields named after a type or the field (`List.id` binds `listId`) select the items. An access path that ignores one of these bindings would also find other items, so Keyfold does not use it. Add an index whose key has all bound fields. If a name binds a field by accident, write `where: { listId: null }`. If the parent's fields give the whole key of a single item, the path need not use other names.",
        r#"type Card @item(keys: { PK: "BOARD#{boardId}", SK: "CARD#{id}", GSI1PK: "LIST#{listId}" }) { boardId: ID! id: ID! listId: ID! }"#;
    KF0432: "A list can hold several items",
        "If the whole primary key is bound, a list or a connection holds at most one item. Return the item itself, take a list as an argument, or bind less: a value or null in `where:` replaces a binding by name.",
        r#"children: [Node!]! @find(where: { parentId: "{id}" })"#;
    KF0433: "Keys sort like values",
        "A warning. In a sort key, a separator after a free text can change the order of values: `Ann Lee#2` sorts before `Ann#1`, because a space is less than `#`. The order is right for values that hold no character up to the separator. Either end an index's sort key with the text; the keys of an index need not be unique. Or limit the text by a `@constraint`: a pattern, one length, a UUID or a ULID. Keyfold assumes that an `ID` holds no character below `-`.",
        r#"type Tag @item(keys: { PK: "{userId}", SK: "{id}", nameKey: "{name}" }) { userId: ID! id: ID! name: String! }"#;
    KF0434: "An argument of a mutation either finds items or is written",
        "If less than the whole key is bound, an argument named after a field of another key is ambiguous: it could find the items or be written. If it finds them, write `where: { listId: \"{listId}\" }`; otherwise write `where: { listId: null }`.",
        r#"archive(listId: ID!, archived: Boolean!): [Card!]! @update(many: true, where: { listId: "{listId}" })"#;
    KF0435: "A field finds items by an id or by a list of ids",
        "A field of `Query` that returns the interface with `@node` takes one argument. With `ID!`, it gives an item or null. With `[ID!]!`, it gives a list that has an item or null for each id. An id may name nothing, so an item may be null.",
        r#"nodes(ids: [ID!]!): [Node]!"#;
    KF0436: "A relation says whether it finds by a part of its parent's key",
        "A name is in the primary key of the parent, and the access path could use it as well: `date` of a day, in the key of its slots. Without it, each day would have the slots of all days, and a cascade would delete them. A bare name of another type than `ID` binds only if nothing else serves, so say which items are meant: `where: { date: \"{date}\" }` finds those of the parent's `date`, and `where: { date: null }` finds all.",
        r#"type Day @item(keys: { PK: "{calendar}", SK: "DAY#{date}" }) { calendar: ID! date: Date! slots: [Slot!]! @find(where: { date: "{date}" }) }"#;
    KF0437: "Names decide which items a field finds",
        "Two access paths use different bare names, or each is an index that leaves out other items, and no rule of the language prefers one of them. The order in which the schema lists its indexes must not decide which items are found. Leave a name out by a null in `where:`, bind it there, or name the index.",
        r#"neighbours: [Shop!]! @find(where: { trade: null })"#;
    KF0438: "A name stands in braces",
        "A warning. Text in `where:`, `set:` or `@default` that is the name of a field, an argument or a claim is that text itself. To use the value, put the name in braces. The signs of other languages are text, too: `:id`, `$id`, `<id>`, `{{id}}`, and the `$` of `${id}`. So a key with them has no value of the field.",
        r#"posts: [Post!]! @find(where: { userId: "{userId}" })"#;
    KF0439: "An expression is as long as DynamoDB allows",
        "DynamoDB takes 300 operators and functions, and 4 KB of text, in one expression. What Keyfold adds to a condition counts: that the item exists, is of its type and meets the rules for the write. Names and values have short placeholders in the text.",
        r#"posts(userId: ID!, kinds: [String!]!): [Post!]! @find(filter: "kind IN (:kinds)")"#;
    KF0440: "A find reaches every alternative that holds what it binds",
        "An item stands under the first alternative of a key whose fields all have values. If several alternatives hold the fields that a find binds, the items that it means may stand under any of them, and a read of one would leave out the others. Bind the other fields of the alternative, or read by another key. A find of one item by its whole key means the first alternative that it binds.",
        r#"type Post @item(keys: { PK: "{userId}", SK: ["Pinned#{at}#{rank}", "Post#{at}"] }) { … }"#;
    KF0443: "One item and a count need the time to live",
        "Items of the type expire, and the index does not hold the attribute with their time. A list or a page reads each item again and leaves out what has expired. But the first item in the index may have expired, and a count cannot tell. Include the attribute in the index, or return a list.",
        r#"indexes: [{ name: "byUser", partitionKey: "userId", projection: INCLUDE, include: ["ttl"] }]"#;
    KF0444: "An index holds the time to live",
        "A warning. Items of the type expire, and the index does not hold the attribute with their time. So each item that the field finds in the index costs one read more: a Get from the table, which takes one more round trip for the whole list. Include the attribute in the index.",
        r#"indexes: [{ name: "byUser", partitionKey: "userId", projection: INCLUDE, include: ["ttl"] }]"#;
}
