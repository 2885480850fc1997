//! The number of elements that fit in one transaction: what `keyfold check` says is exact, for the values that need the
//! most calls and for those that need the fewest.

use super::backend::{Backend, error};
use keyfold::schema::{describe::describe, load};
use serde_json::{Value, json};

const SHOP: &str = r#"extend schema @table(name: "shop", partitionKey: "PK", sortKey: "SK")
type Query { thing(id: ID!): Thing @find }
type Mutation {
  addThings(things: [ThingInput!]!): Boolean! @put(item: Thing, each: "things")
  place(orderId: ID!, lines: [LineInput!]!): Order!
    @find(item: Thing, each: "lines", where: { id: "{id}" })
    @put(set: { id: "{orderId}" })
    @put(item: Line, each: "lines", set: { number: "{index}", name: "{Thing.name}", thingId: "{id}" })
    @update(item: Thing, each: "lines", where: { id: "{id}" }, expression: "SET count = count - :quantity")
  addPeople(people: [PersonInput!]!): Boolean! @put(item: Person, each: "people")
  label(labels: [LabelInput!]!): Boolean!
    @find(item: Thing, each: "labels", where: { id: "{of}" })
    @put(item: Label, each: "labels", set: { id: "{id}", text: "{Thing.name}" })
  demand(ids: [ID!]!, id: ID!): Boolean!
    @check(item: Thing, each: "ids", where: { id: "{each}" }, if: "attribute_exists(id)")
    @put(item: Order, set: { id: "{id}" })
  register(people: [CheckedInput!]!): Boolean!
    @check(item: Thing, each: "people", where: { id: "{of}" }, if: "attribute_exists(id)")
    @put(item: Person, each: "people", set: { id: "{id}" })
  both(things: [ThingInput!]!, people: [PersonInput!]!): Boolean!
    @put(item: Thing, each: "things")
    @put(item: Person, each: "people")
  rehang(lines: [MoveInput!]!): Boolean!
    @update(item: Line, each: "lines", move: true, where: { orderId: "{from}" }, set: { orderId: "{to}" })
  clear(ids: [ID!]!, orderId: ID!): Boolean!
    @delete(item: Thing, each: "ids", where: { id: "{each}" })
    @delete(item: Order, where: { id: "{orderId}" }, cascade: ["lines"])
}
type Thing @item(keys: { PK: "THING#{id}", SK: "THING" }) { id: ID! name: String! count: Int! @default(value: "9") }
type Order @item(keys: { PK: "ORDER#{id}", SK: "ORDER" }) { id: ID! lines: [Line!]! @find }
type Line @item(keys: { PK: "ORDER#{orderId}", SK: "LINE#{number:03}" }) {
  orderId: ID! number: Int! name: String! thingId: ID! quantity: Int!
}
type Label @item(keys: { PK: "LABEL#{id}", SK: "LABEL" }) { id: ID! text: String! }
type Person @item(keys: { PK: "PERSON#{id}", SK: "PERSON" }) { id: ID! phone: String! @unique email: String @unique }
input ThingInput { id: ID! name: String! }
input LineInput { id: ID! quantity: Int! }
input MoveInput { from: ID! number: Int! to: ID! }
input PersonInput { id: ID! phone: String! email: String }
input CheckedInput { id: ID! phone: String! of: ID! }
input LabelInput { id: ID! of: ID! }
"#;

/// What `keyfold check` says of the room for the lists of a field.
fn said(field: &str) -> Vec<String> {
    let (model, _) = load("shop.graphql", SHOP, &|_| None).unwrap_or_else(|found| panic!("{}", found.render(false)));
    let rows = describe(&model).into_iter().filter(|row| row.field == format!("Mutation.{field}"));
    rows.flat_map(|row| row.notes).filter(|note| note.contains("transaction")).collect()
}

/// This many elements that need a call each for whatever may need one, or as few calls as possible.
fn elements(field: &str, count: usize, most: bool) -> Value {
    let thing = |at: usize| if most { format!("t{at}") } else { "t0".to_owned() };
    let one = |at: usize| match field {
        "addThings" => json!({ "id": format!("new-{at}"), "name": "New" }),
        "place" => json!({ "id": format!("t{at}"), "quantity": 1 }),
        "addPeople" if most => json!({ "id": at.to_string(), "phone": format!("{at}"), "email": format!("{at}@x") }),
        "addPeople" => json!({ "id": at.to_string(), "phone": format!("{at}") }),
        "register" => json!({ "id": at.to_string(), "phone": at.to_string(), "of": thing(at) }),
        "label" => json!({ "id": at.to_string(), "of": thing(at) }),
        _ => json!(thing(at)),
    };
    (0..count).map(one).collect()
}

#[tokio::test(start_paused = true)]
async fn as_many_elements_fit_as_the_check_says() {
    let cases = [
        ("addThings", "mutation ($l: [ThingInput!]!) { addThings(things: $l) }", (100, 100)),
        ("place", r#"mutation ($l: [LineInput!]!) { place(orderId: "o", lines: $l) { id } }"#, (49, 49)),
        ("addPeople", "mutation ($l: [PersonInput!]!) { addPeople(people: $l) }", (33, 50)),
        ("label", "mutation ($l: [LabelInput!]!) { label(labels: $l) }", (50, 99)),
        ("register", "mutation ($l: [CheckedInput!]!) { register(people: $l) }", (33, 49)),
        ("demand", r#"mutation ($l: [ID!]!) { demand(ids: $l, id: "o") }"#, (99, 99)),
    ];
    for (field, query, (certain, possible)) in cases {
        let with_all =
            if certain < possible { format!(", {certain} with all guards and checks") } else { String::new() };
        let [note] = &said(field)[..] else { panic!("{field} has several notes") };
        assert!(note.starts_with(&format!("at most {possible} elements of ")), "{field}: {note}");
        assert!(note.ends_with(&format!("fit in one transaction{with_all}")), "{field}: {note}");
        for (count, most, fits) in
            [(certain, true, true), (certain + 1, true, false), (possible, false, true), (possible + 1, false, false)]
        {
            let backend = Backend::of_text(SHOP).await;
            let things = (0..=100).map(|at| json!({ "id": format!("t{at}"), "name": "T" })).collect::<Vec<_>>();
            for some in things.chunks(60) {
                let add = "mutation ($l: [ThingInput!]!) { addThings(things: $l) }";
                backend.ok(add, json!({ "l": some })).await;
            }
            let answer = backend.run(query, json!({ "l": elements(field, count, most) })).await;
            match fits {
                true => assert_eq!(answer.get("errors"), None, "{field} {count}"),
                false => assert_eq!(error(&answer).0, "LIMIT_EXCEEDED", "{field} {count}: {answer}"),
            }
        }
    }
}

#[test]
fn several_lists_have_their_own_room_and_a_cascade_has_any_number() {
    assert_eq!(
        said("both"),
        [
            "at most 100 elements of things fit in one transaction if the other lists are empty",
            "at most 50 elements of people fit in one transaction if the other lists are empty, 33 with all guards and checks"
        ]
    );
    assert_eq!(said("clear"), Vec::<String>::new());
    // An item that keeps its key takes one call, and one that moves takes two.
    assert_eq!(
        said("rehang"),
        ["at most 100 elements of lines fit in one transaction, 50 with all moves, guards and checks"]
    );
}
