//! The texts of the rules for the API, access, writes, subscriptions and caching.

use crate::schema::diagnostics::rule::rules;

// The rules KF05 to KF11, in the order of the codes.
#[rustfmt::skip]
rules! { RULES_OF_OPERATIONS;
    KF0501: "A connection has no other fields",
        "A connection may have `nodes`, `edges`, `pageInfo` and `totalCount`, which is an Int without arguments, and nothing else. A page of AppSync's form has `items`, `nextToken` and `totalCount`. The nodes or items are of one item type.",
        r#"type PostConnection { nodes: [Post!]! pageInfo: PageInfo! totalCount: Int! }"#;
    KF0502: "An edge has a node, a cursor, and fields of a link",
        "An edge has `node` and may have `cursor`. If its connection is found with `through:`, it may also have stored fields of the link: of the item that the page is of, with the same types, without arguments. The fields may be null where those of the link are not.",
        r#"type GroupEdge { node: Group! cursor: String! role: String joinedAt: DateTime! }"#;
    KF0503: "Fields of a page do not read or write",
        "Fields of connections, edges and `PageInfo` cannot have directives that read or write.",
        r#"type PostConnection { nodes: [Post!]! pageInfo: PageInfo! }"#;
    KF0504: "The schema that clients see is valid",
        "An accessible field cannot have an `@inaccessible` type. The schema without its `@inaccessible` parts must be valid.",
        r#"links: [GroupContainer!]! @find @inaccessible"#;
    KF0505: "Only mutations write",
        "`@put`, `@update`, `@delete` and `@check` belong on fields of the `Mutation` type, and each of its fields needs at least one of them.",
        r#"type Mutation { renameUser(id: ID!, name: String!): User @update }"#;

    KF0506: "`PageInfo` tells cursors that may be null, and whether there are more pages",
        "A `PageInfo` of your own has some of `hasNextPage` and `hasPreviousPage`, which are Booleans, and `startCursor` and `endCursor`, which are of the type String or ID. An empty page has no cursors, so these may be null.",
        r#"type PageInfo { hasNextPage: Boolean! hasPreviousPage: Boolean! startCursor: String endCursor: String }"#;

    KF0601: "A claim in a key keeps callers apart",
        "A claim in a key template (`{auth.tenant}`) says whose items are meant, and nothing else may lead to these keys. So the primary key has every claim that the key of an index has, all templates of a key have the same claims, and types whose items could have the same key have them in the same place.",
        r##"type Note @item(keys: { PK: "TENANT#{auth.tenant}#NOTE#{id}", SK: "Note" }) { id: ID! title: String! }"##;
    KF0605: "Keyfold enforces every rule",
        "A form of `@auth` that Keyfold does not enforce is a mistake: an ignored rule would let everybody in. `hide:` is for types. If the rules of a type need its items and do not hide them, no `through:` goes through the items, and no Boolean asks for them among items of other types.",
        r#"type Note @auth(if: "auth.sub = ownerId", hide: true) @item(keys: { PK: "{id}", SK: "Note" }) { id: ID! ownerId: ID! }"#;
    KF0606: "A rule says in one way whom it lets in",
        "A rule has one of `if:`, `exists:`, `public: true` and `signedIn: true`. `public: true` beside an `if:` or `exists:` that names no claim says that callers who are not signed in are meant. With `exists:`, `if:` is about the item that exists. For more rules, repeat `@auth`: one that lets the caller in is enough. `on:` is for item types and stored fields, which are both read and written.",
        r#"type Note @auth(signedIn: true, on: [READ]) @auth(if: "auth.role = 'editor'") @item(keys: { PK: "{id}", SK: "Note" }) { id: ID! }"#;
    KF0607: "A rule guards an item type, an embedded type, a field of an item, a query or a mutation",
        "`@auth` belongs on an item type or an interface of item types, on a field of one, on an embedded type, or on a field of `Query` or `Mutation`. The rules of an interface and of its fields are those of each of its types that has none of its own there. The rules of an embedded type are those of each field of an item that holds it. Rules in several of these places are a mistake. The fields of an embedded object and of a page have the rules of the field that returns it.",
        r#"type Query { reports: [Report!]! @find @auth(if: "auth.role = 'auditor'") }"#;
    KF0608: "The condition of a rule is over claims, arguments and fields",
        "`if:` is a condition over the caller's claims (`auth.sub`, `auth[\"cognito:groups\"]`) and the field's `:arguments`. On a type or its field, it is also over the item's fields: those in attributes and in the primary key. A field that only the key of an index holds is stored in an attribute as well. A claim that is a list is for IN. A comparison with a missing claim does not hold, and neither does its negation.",
        r#"notes(userId: ID!): [Note!]! @find @auth(if: "auth.sub = :userId OR 'admin' IN (auth.groups)")"#;
    KF0609: "A rule decides something",
        "A rule that no caller meets lets nobody in: it demands two values of one claim, field or argument, a number from an empty range, or a claim that is null. Beside a public rule, others decide nothing. Beside a rule for all who are signed in, neither does one that needs a sign-in: a warning.",
        r#"name: String! @auth(if: "auth.role = 'owner' OR auth.role = 'editor'")"#;
    KF0610: "A mutation of a ruled type has a rule",
        "A mutation that writes items of a type with rules needs a rule: its own, or one of the type that is for writes and not public.",
        r#"renameUser(id: ID!, name: String!): User @update @auth(if: "auth.sub = :id")"#;
    KF0611: "What finds by a guarded field has a rule",
        "To find, filter or sort by a field tells something of its value. So do a condition on it and `@unique`. A default made of it tells it, too. So a field or a mutation that uses a guarded field in these ways has a rule of its own.",
        r#"userByEmail(email: String!): User @find @auth(if: "auth.role = 'support'")"#;

    KF0612: "An index holds what a rule reads",
        "A rule that hides items by their fields is decided wherever they are read. So each index that holds them holds these fields, also those of which `where:` makes a key.",
        r#"type Note @auth(if: "auth.sub = ownerId", hide: true, on: [READ]) @item(keys: { PK: "{id}", SK: "Note", GSI1PK: "{tag}" }) { id: ID! ownerId: ID! tag: ID! }"#;

    KF0613: "A rule for writes reads fields whose new values are known",
        "A rule for writes must hold for the item before the write and after it. Keyfold checks the new item before it calls DynamoDB, so it must know the new values of the fields that the rule reads. An update may set these fields to arguments, literals or claims. It may not add to them, copy other attributes into them, or change their elements.",
        r#"assign(id: ID!, ownerId: ID!): Note @update"#;

    KF0614: "A rule looks up an item by its key",
        "`exists:` names an item type, and `where:` binds its key to claims, arguments, and fields of the guarded object. A read may bind a prefix of the key if there is neither `if:` nor `hide: true`. A write needs the whole key, made of arguments, claims, and fields of the primary key of what it writes.",
        r#"group(id: ID!): Group @find @auth(exists: Membership, where: { userId: "{auth.sub}", groupId: "{id}" })"#;

    KF0615: "A rule for reads of a field does not read the field",
        "Whoever is refused a field because of its value learns something of the value. So a rule for reads of a field reads other fields, and claims and arguments. A rule for writes may read the field, and so may the rules of its type.",
        r#"type User @auth(signedIn: true) @item(keys: { PK: "{id}", SK: "User" }) { id: ID! email: String @auth(if: "auth.sub = id") }"#;

    KF0616: "`@claims` declares every claim",
        "A misspelt claim is one that nobody has, so its rule lets nobody in. `@claims` lists the claims that the issuers give. The schema then names no others.",
        r#"extend schema @claims(names: ["sub", "role", "cognito:groups"])"#;

    KF0617: "A field that may be refused may be null",
        "A warning. A refused field is null. If its type does not allow null, all of the object around it becomes null, and callers whom the rule refuses cannot select the field beside others. So let a field be null if its own rules, or those of what it finds, refuse callers who see the object. A never-null field is right where both have the same rules.",
        r#"type User @auth(signedIn: true) @item(keys: { PK: "{id}", SK: "User" }) { id: ID! email: String @auth(if: "auth.sub = id", on: [READ]) }"#;

    KF0618: "A rule for callers who are not signed in says so",
        "A warning. A rule that names no claim is met by callers who are not signed in, too. If they are not meant, compare a claim. If they are, add `public: true` to the rule. Where another rule demands a sign-in in any case, for example that of the field's type, there is no warning.",
        r#"type Post @auth(if: "auth.sub = authorId") @auth(if: "shared = true", public: true) @item(keys: { PK: "{id}", SK: "Post" }) { id: ID! authorId: ID! shared: Boolean }"#;

    KF0701: "A write names an item type",
        "`@put`, `@update`, `@delete`, `@check` and the `@find` of a mutation work on the item type that `item:` names, or on the field's own type. All but `@put` may name an interface or a union of item types of one table.",
        r#"leaveGroup(userId: ID!, groupId: ID!): Boolean! @delete(item: Membership)"#;
    KF0702: "`set:` and `where:` bind fields to templates",
        "Each is an object that gives stored fields templates over arguments and items in scope. The `set:` of a put gives the values of its fields. The `where:` of the other directives finds the item.",
        r#"@put(item: Membership, set: { userId: "{founderId}" })"#;
    KF0703: "A name in `set:` or `where:` is in scope",
        "A placeholder names an argument, a field of an argument's input object (`{input.name}`), or a field of an item that an earlier directive finds or puts (`{Group.id}`, or `{groupId}`).",
        r#"@put(item: Group) @put(item: Membership, set: { groupId: "{Group.id}" })"#;
    KF0704: "A written value has the field's type",
        "A written value has the field's type. ID and String are interchangeable, and a Long or a Float accepts an Int. An embedded object accepts an input object with the same fields.",
        r#"renameGroup(id: ID!, name: String!): Group @update"#;
    KF0705: "A new item has all its non-null fields",
        "Each non-null field of a put gets its value from an argument, an input field, `set:`, an item in scope or a `@default`. A non-null list starts empty.",
        r#"type Tag @item(keys: { PK: "{id}", SK: "Tag" }) { id: ID! @default(value: "{uuid}") name: String! }"#;
    KF0706: "A write finds its item by a key",
        "Arguments, items in scope or `where:` must bind the whole key, or enough of the table's or an index's key to find the item by a Query.",
        r#"deleteTag(userId: ID!, id: ID!): Tag @delete"#;
    KF0707: "A write of several items needs `many: true`",
        "A partition can hold several items, and so can an index whose sort key is not bound at all. Bind more of the key, say in `where:` that the partition has one item, or add `many: true`.",
        r#"deleteNotes(userId: ID!): [Note!]! @delete(many: true)"#;
    KF0708: "Every argument of a write is used",
        "The argument or input field finds nothing, is not written, and is not used in a condition or an expression, so Keyfold would ignore it. Use it or remove it.",
        r#"renameGroup(id: ID!, name: String!): Group @update"#;
    KF0709: "An update does not change the table's key",
        "The table's key identifies the item: another key is another item. `@update(move: true)` moves an item to the key that its `set:` gives. Do not set `@version` fields either; Keyfold counts them. Nor does a write set a field that shows a constant of the type: every new item gets it.",
        r#"moveNote(userId: ID!, id: ID!, to: ID!): Note @update(move: true, set: { userId: "{to}" })"#;
    KF0710: "No key goes stale",
        "When a field changes, Keyfold rewrites the index keys and `@unique` guards that contain it, so it must know the new value. The guards also have the time at which their item expires. It computes values, sums and differences of whole fields of the item, which it reads first. Only DynamoDB knows what else an expression gives, such as a part of an object or of a list. A number that is the whole key may be the result of `a + b`.",
        r#"@update(expression: "SET status = 'DONE', finishedAt = :now")"#;
    KF0711: "`if:` is a condition over the item",
        "`if:` is a DynamoDB condition on the item's stored fields, with `:arguments` and `:now`. It cannot compare a field that is only part of a key's text, but `attribute_exists` works on such a field.",
        r#"@update(expression: "SET coins = coins - :cost", if: "coins >= :cost")"#;
    KF0712: "`expression:` is an update of the item",
        "`expression:` is a DynamoDB update expression (SET, REMOVE, ADD, DELETE) on the item's stored fields, with `:arguments`, `:now`, literals and `[]`. A written value has the field's type, and a non-null field stays non-null.",
        r#"@update(expression: "SET visits = if_not_exists(visits, 0) + 1")"#;
    KF0713: "One input binds each field",
        "Two input objects, or two items in scope, have a field with this name. Choose one of them in `set:` or `where:`.",
        r#"@put(item: Tagging, set: { type: "{Favorite.type}" })"#;
    KF0714: "`at:` names an element of a list",
        "With `at: \"foods\"`, a put appends an element. `at: \"foods[id = :foodId]\"` names the element to change or remove. The list must be a stored list of embedded objects.",
        r#"removeFood(containerId: ID!, foodId: ID!): Container @delete(at: "foods[id = :foodId]")"#;
    KF0715: "`cascade:` names relations",
        "Each entry is a relation of the deleted item, or a path of relations joined by dots. Name the relations that `through:` follows one by one.",
        r#"deleteGroup(id: ID!): Group @delete(cascade: ["memberships", "links.container", "links"])"#;
    KF0716: "An item is written once",
        "All actions of a field are one transaction. DynamoDB allows one action per item and 100 actions per transaction. Two types that only constants tell apart can have one key: it is one item.",
        r#"@update(expression: "SET coins = coins - :cost", if: "coins >= :cost")"#;
    KF0717: "A mutation returns what it writes",
        "The field returns an item type that it writes or finds, `Boolean`, or, with `many: true`, a list of an item type.",
        r#"renameGroup(id: ID!, name: String!): Group @update"#;
    KF0718: "An update changes something",
        "Without an `expression:`, an `@update` sets the fields that arguments and input fields are named after. Add such an argument, or an expression.",
        r#"renameGroup(id: ID!, name: String!): Group @update"#;
    KF0719: "A required value comes from a non-null argument",
        "An argument must be non-null if it finds an item, or if it sets a non-null field that has no default.",
        r#"createTag(userId: ID!, name: String!): Tag! @put"#;
    KF0720: "Options fit together",
        "`at:` works on one element of one item. `upsert:` needs the whole key. `move:` needs a field of the key in `set:`, and goes with neither `upsert:` nor `expression:`. The `@find` of a mutation reads one item by its keys.",
        r#"addFood(containerId: ID!, input: FoodInput!): Container @put(at: "foods")"#;
    KF0721: "An `id` is the id of its own type",
        "An argument `id`, or a field `id` of an input object, binds the id of the field's own type and of no other. A field whose type is no item type has the only item type that its directives name. For another item, name the argument after its type, as `customerId`, or say it in `where:` or `set:`.",
        r#"open(customerId: ID!, id: ID!): Account @check(item: Customer, if: "owner = 'me'") @put"#;
    KF0722: "A move keeps what the item has",
        "A warning. A field that finds an item, puts a copy under another key and deletes the old one keeps only what it copies: the fields that names or `set:` copy. It loses fields that may be null, fields with a default, the `@version`, and attributes that the schema does not know. `@update(move: true)` loses nothing. Or copy in `set:` what has to stay, and write null for what may go.",
        r#"moveNote(folder: ID!, id: ID!, to: ID!): Note @update(move: true, set: { folder: "{to}" })"#;
    KF0723: "A copy has its own unique values",
        "A `@unique` value is reserved for the item that has it, also while a transaction deletes that item. So a put that copies the value of a found item never succeeds. Give the new item another value, or null. `@update(move: true)` moves an item with its value.",
        r#"@find(item: User) @put(item: User, set: { tenant: "{to}", email: "{newEmail}" })"#;
    KF0724: "A read-only type is not written",
        "Items of a type with `@item(readOnly: true)` are written by other programs. They are read and watched, and `@check` may demand something of them. No other directive writes or deletes them.",
        r#"type Reading @item(keys: { PK: "SENSOR#{sensorId}", SK: "{at:%s}" }, readOnly: true) { sensorId: ID! at: DateTime! }"#;
    KF0725: "`each:` names a list whose elements it writes",
        "`each:` is the dotted name of a list argument whose elements are never null. For each element, the names of the element come before those of the field, and what finds an item differs from element to element. It does not go with `at:`, `many:` and `cascade:`, and an item of another list is not in scope.",
        r#"addTags(tags: [TagInput!]!): [Tag!]! @put(each: "tags")"#;
    KF0726: "An alias is a name of its own",
        "Several `@find`s of a mutation put several items in scope, each under its alias: `as:`, or its type. An alias differs from every type, argument and word, and stands where a type stands: `@update(item: from)` writes the found item, so it has no `where:`.",
        r#"@find(item: Account, where: { id: "{fromId}" }, as: from) @find(item: Account, where: { id: "{toId}" }, as: to)"#;
    KF0727: "A payload has what its mutation gives",
        "A payload is an object type that only fields of `Mutation` return. Its fields are items that the mutation writes or finds, lists of such items, and `Boolean`. They have no arguments and no directives of their own: the field of `Mutation` says what is written.",
        r#"type TransferPayload { from: Account! to: Account! }"#;
    KF0728: "What belongs to an item that moves",
        "A warning. A relation finds items by the whole key of the item that moves, or finds that item from another one. Its items keep the old key, so the relation no longer leads from one to the other. Move them in the same field, or give their keys a field that does not change.",
        r#"type Comment @item(keys: { PK: "CARD#{cardId}", SK: "COMMENT#{id}" }) { cardId: ID! id: ID! }"#;
    KF0729: "An idempotent mutation has a key and a record",
        "`@idempotent` stands on a field of `Mutation` that writes. Its key is an argument of type `ID!`, or of type `ID` if the header `Idempotency-Key` may give it. The record of a request is an item of the table that the field writes, so it writes one table only. The table's keys are texts, no item type has a key like that of a record, and the table has a `timeToLive:`, after which DynamoDB deletes the record. A record and all that a request writes fit in one transaction.",
        r#"pay(orderId: ID!, amount: Decimal!, key: ID!): Payment! @idempotent(key: "{key}") @put"#;

    KF0801: "Rules belong on written values",
        "`@default`, `@unique` and `@version` belong on stored fields. `@constraint` also works on arguments and input fields. A field that shows a constant of its type has none of them.",
        r#"input FoodInput { name: String! @constraint(maxLength: 30) }"#;
    KF0802: "A default is text with placeholders",
        "The placeholders are `{uuid}`, `{uuid7}`, `{now}`, `{now+24h}`, `{auth.sub}` and other claims, and `{field}` for another stored field of the type. To write a brace itself, double it.",
        r#"expiresAt: DateTime! @default(value: "{now+24h}")"#;
    KF0803: "A default has the field's type",
        "A default without placeholders is a value of the field's type. UUIDs, hashes and texts with placeholders are for ID and String. `{now}` is for DateTime and String.",
        r#"status: PostStatus! @default(value: "CREATED")"#;
    KF0804: "Keyfold can compute every default",
        "Defaults must not depend on each other in a circle. A field in the table's key cannot have `on: WRITE`. A `@version` field has no default.",
        r#"hash: String! @default(value: "{groupId}{expiresAt}", hash: MD5)"#;
    KF0805: "A constraint fits the type",
        "`minLength`, `maxLength`, `pattern` and `format` are for texts. `min` and `max` are for numbers. On a list, they apply to its elements. `minItems` and `maxItems` are for lists of arguments and of fields of input objects.",
        r#"name: String! @constraint(minLength: 1, maxLength: 30)"#;
    KF0806: "Bounds are in order",
        "The minimum is at most the maximum, a length is 0 or more, and a number of elements is 1 or more.",
        r#"quantity: Float @constraint(min: 0, max: 1000)"#;
    KF0807: "A pattern is a regular expression",
        "A pattern has the syntax of Rust's `regex` crate, which has no look-around and no back-references. It must match the whole text.",
        r#"code: String! @constraint(pattern: "[A-Z]{3}[0-9]+")"#;
    KF0808: "A format is a known one",
        "The formats are `email`, `ulid`, `url` and `uuid`.",
        r#"email: String! @constraint(format: "email")"#;
    KF0809: "A unique field is a single value",
        "`@unique` belongs on a field of an item type. The field is a text, a number, a date or an enum. The keys of its table are texts.",
        r#"email: String! @unique"#;
    KF0810: "Guards are not items",
        "Keyfold stores a guard for each value of a `@unique` field: an item whose keys begin with `Unique#Type.field`. No item type may have such keys.",
        r#"type User @item(keys: { PK: "{id}", SK: "User" }) { id: ID! email: String! @unique }"#;
    KF0811: "A version is an Int of an item",
        "`@version` counts the writes of an item. It belongs on one Int field that is not part of a key.",
        r#"revision: Int! @version"#;
    KF0813: "A default with `on: WRITE` stays current",
        "Keyfold recomputes a default with `on: WRITE` when a field that it uses changes. A value that follows from whole fields, as `SET n = n + 1`, it computes of the item, which it reads first. So no expression may set that field to a value that only DynamoDB knows, such as a part of an object or of a list.",
        r#"label: String @default(value: "{id}/{title}", on: WRITE)"#;
    KF0814: "A write checks every constraint",
        "A warning. Keyfold checks the values that it knows, and DynamoDB checks the numbers that it computes. Nothing checks these: a text or a list that an expression copies from another attribute, a sum of two attributes, and a field of an embedded object that an argument sets as a whole. Give the source the same `@constraint`: the other attribute, or the field of the input object. Or add a condition to `if:`.",
        r#"input AddressInput { city: String! @constraint(maxLength: 80) }"#;
    KF0815: "A list fits in one transaction",
        "All elements of a list with `each:` are written by one transaction, which takes 100 calls: those of its actions, of the guards of `@unique` fields, and of checks. A mistake if `maxItems` or `minItems` is more than can ever fit. A warning if it depends on the values whether so many fit, because a null has no guard and elements may share a check.",
        r#"placeOrder(id: ID!, lines: [LineInput!]! @constraint(maxItems: 49)): Order!"#;

    KF0901: "A subscription watches items",
        "Each field of `Subscription` has `@watch` and no other field has it. The field returns an item type, or a type with `change: ChangeKind!`, `node` and `previous`, and no list. An item that is removed is null.",
        r#"type Subscription { foods(containerId: ID!): FoodChange @watch }"#;
    KF0902: "A watched table has a stream of both images",
        "Changes come from the stream of the item type's table. Each record must have the item before the change and the item after it.",
        r#"extend schema @table(name: "pantry", stream: NEW_AND_OLD_IMAGES)"#;
    KF0903: "A change has a kind and its item",
        "A type with a field of the type `ChangeKind` is a change of an item. It has no fields but `change: ChangeKind!`, `node` and `previous` of one item type, which may be null, and `id: ID!`.",
        r#"type FoodChange { id: ID! change: ChangeKind! node: Food previous: Food }"#;
    KF0904: "A subscription binds fields to values",
        "Names and `where:` bind fields of the item as they do for `@find`, but to single values: a subscription has no ranges and no shards. Every argument binds a field, is part of `filter:`, or is `after: ID`, which takes the id of a change.",
        r#"prices(productId: ID!, after: ID): PriceChange @watch(filter: "price < :below")"#;
    KF1001: "An age is a number of seconds",
        "`maxAge` is the greatest age of what the cache may answer, in seconds. It is 0 or more; 0 caches nothing.",
        r#"product(id: ID!): Product @find @cacheControl(maxAge: 60)"#;
    KF1002: "A hint has an age of its own or inherits one",
        "`inheritMaxAge: true` gives a field the age of the field around it. With `maxAge`, it would have two.",
        r#"owner: User @find @cacheControl(inheritMaxAge: true)"#;
    KF1003: "Only queries are cached",
        "A mutation changes something each time, and a subscription delivers what is new. `@cacheControl` belongs on fields of `Query`, on the types that they return, and on the fields of these.",
        r#"type Product @cacheControl(maxAge: 60) @item(keys: { PK: "{id}", SK: "Product" }) { id: ID! }"#;
    KF1004: "A strong read is not cached",
        "`@find(consistent: true)` reads what is stored now. The cache would give what was stored up to `maxAge` seconds ago.",
        r#"balance(id: ID!): Account @find(consistent: true)"#;
    KF1101: "A service has a name of its own and an address",
        "Each `@service` has another name. Its `url` is an address of HTTP or HTTPS. A `timeout` is a number of seconds or milliseconds, such as `2s` or `500ms`. The claims of a caller are signed, so `claims` need a `secret`.",
        r#"extend schema @service(name: "pricing", url: "${PRICING_URL:-http://127.0.0.1:4001/}", timeout: "2s")"#;
    KF1102: "A service computes a field of an object",
        "`@resolve` belongs on a field of an item type or of an embedded type. The field's type is a scalar, an enum, an embedded type, or a list of these. It is not stored, so no other directive says how it is kept or written.",
        r#"total: Decimal @resolve(service: "pricing", requires: "id lines { sku quantity }")"#;
    KF1103: "A service gets what clients can select",
        "`requires` is a selection on the object of the field: of fields that clients see, without what another service computes.",
        r#"total: Decimal @resolve(service: "pricing", requires: "id lines { sku quantity }")"#;
    KF1104: "A service that gets the tokens of callers is one that may act for them",
        "A warning. With `forwardToken: true`, each call has the token of the caller. Whoever reads it can do all that the caller can, at every program that believes the token, until it ends. `claims` tell a service who calls without that. The address has `https`, or is one of this machine.",
        r#"extend schema @service(name: "pricing", url: "https://pricing.example/", forwardToken: true)"#;
    KF1105: "A mutation calls a service before its write",
        "`@call` stands on a field of `Mutation` that writes. Its key follows from `@idempotent`, or `key:` makes it of arguments that are never null; `undo:` needs `@idempotent`. `set:` takes arguments, claims, fields of found items and of results of the calls before it. A result has the input type that `returns:` names, and is a value for actions: items are found before the calls are made.",
        r#"pay(orderId: ID!, key: ID!): Payment! @idempotent(key: "{key}") @find(item: Order) @call(service: "payments", set: { amount: "{Order.amount}" }, returns: Charge, as: charge, undo: "refund") @put(set: { chargeId: "{charge.id}" })"#;
    KF1201: "An allowed warning has a code and a reason",
        "A warning. `# keyfold: allow KF0433, keys of an existing table` allows a warning of the next line, or of its own line if the comment follows something. The code of one warning follows `allow`, and after a comma the reason. A comment in another form allows nothing.",
        r#"# keyfold: allow KF0433, keys of an existing table"#;
    KF1202: "An allowed warning is there",
        "A warning. The comment allows a warning that its line does not have: it was mended, it stands on another line, or it is a mistake, which nothing allows. Remove the comment.",
        r#"# keyfold: allow KF0433, keys of an existing table"#;
}
