//! Items that other programs wrote in, a line for each thing about them that surprises out: keys and instants in
//! another spelling than Keyfold's, items that lack the constants of their type, and unique values without a guard.

use super::guards::{self, Guards, NeededGuard};
use crate::cli::output::counted;
use crate::execute::key::marks::{misspelling, misspelt};
use crate::execute::key::shown::shown;
use crate::plan::attributes;
use crate::plan::tree::{TypeDiscriminator, TypeMarks};
use crate::schema::model::keys::ItemKeys;
use crate::schema::model::{FieldKind, Model, ObjectType};
use crate::schema::scalar::value_type::ValueType;
use crate::schema::table::Table;
use crate::schema::template::part::Misspelling;
use crate::table::data::attribute::{Attribute, Item};
use indexmap::IndexMap;
use std::sync::Arc;

/// The deepest embedded objects that are looked at: as deep as DynamoDB nests attributes.
const MAX_DEPTH: usize = 32;

/// What is known of the items of one table so far.
#[derive(Debug)]
pub struct Survey<'m> {
    /// The schema.
    pub model: &'m Model,
    types: Vec<(&'m ObjectType, &'m ItemKeys)>,
    marks: Option<Arc<TypeDiscriminator>>,
    found: IndexMap<Surprise, Example>,
    /// The table.
    pub table: &'m Table,
    /// The unique values and their guards.
    pub guards: Guards<'m>,
    /// Whether items are left out, so that guards may be among them.
    is_partial: bool,
}

/// How many items are of one kind, and the first of them.
#[derive(Debug)]
struct Example {
    count: u64,
    misspelling: Misspelling,
    /// The item's key.
    key: String,
}

/// What may surprise about an item: of one kind is one line.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Surprise {
    /// Its key has a value in another spelling, so it is not of the type.
    Key(String),
    /// It has a value in another spelling elsewhere.
    Value(String),
    /// It has a time elsewhere that its field cannot read.
    Unread(String),
    /// It lacks the constants that distinguish these types.
    Constants(String),
}

impl<'m> Survey<'m> {
    /// A survey of the items of a table.
    pub fn new(model: &'m Model, table: &'m Table) -> Self {
        let of_table = |ty: &'m ObjectType| {
            let keys = attributes::keys(ty)?;
            (model.tables[keys.table].name == table.name).then_some((ty, keys))
        };
        let types: Vec<_> = model.types.values().filter_map(of_table).collect();
        let objects: Vec<&ObjectType> = types.iter().map(|(ty, _)| *ty).collect();
        let marks = attributes::discriminator(model, &objects, (None, false), true);
        Self { model, types, marks, found: IndexMap::new(), table, guards: Guards::new(table), is_partial: false }
    }

    /// The names of the table's types, in the order of the schema.
    pub fn type_names(&self) -> impl Iterator<Item = &str> {
        self.types.iter().map(|(ty, _)| ty.name.as_str())
    }

    /// Looks at an item. Gives the positions of the types that it may be of.
    pub fn see(&mut self, item: &Item) -> Vec<usize> {
        self.guards.see_guard(item);
        let Some(marks) = self.marks.clone() else { return Vec::new() };
        let fitting = marks.fitting(item);
        match fitting.as_slice() {
            [] => {
                let of_type = |marks: &TypeMarks| {
                    let misspelling = misspelt(&marks.key, item)?;
                    Some((Surprise::Key(format!("{}.{}", marks.item, misspelling.field)), misspelling))
                };
                if let Some((surprise, misspelling)) = marks.types.iter().find_map(of_type) {
                    self.count(surprise, misspelling, item);
                }
            }
            [only] => self.values(*only, item),
            [first, others @ ..] => {
                let name = |position: &usize| format!("`{}`", marks.types[*position].item);
                let names: Vec<String> = std::iter::once(first).chain(others).map(name).collect();
                let lacks = |position: &usize| {
                    marks.types[*position].constants.iter().any(|(name, _)| !item.contains_key(name))
                };
                if std::iter::once(first).chain(others).all(lacks) {
                    let none = Misspelling { field: String::new(), found: String::new(), own: None };
                    self.count(Surprise::Constants(names.join(" or ")), none, item);
                }
                self.values(*first, item);
            }
        }
        fitting
    }

    /// The guards that an item needs.
    pub fn needed_guards(&self, item: &Item) -> Vec<NeededGuard<'m>> {
        let first = self.marks.as_ref().and_then(|marks| marks.fitting(item).first().copied());
        let ty = first.and_then(|position| self.types.get(position));
        ty.map_or_else(Vec::new, |(ty, _)| guards::needed(self.model, ty, item))
    }

    /// The lines, of what was found first first.
    pub fn lines(&self) -> Vec<String> {
        let found = self.found.iter().map(|(surprise, example)| line(surprise, example));
        let fields = if self.is_partial { Vec::new() } else { self.guards.fields() };
        let unguarded = fields.iter().filter(|field| field.missing > 0).map(|field| {
            let (values, field) = (counted(field.missing, "value"), field.field);
            format!("{values} of `{field}` have no guard, so nothing keeps another item from the same value: `keyfold verify --table {} --write-guards` writes them", self.table.name)
        });
        found.chain(unguarded).collect()
    }

    /// Says that not all items are seen, so that guards may be among the others.
    pub fn leave_out(&mut self) {
        self.is_partial = true;
    }

    /// Looks at the values of an item of a type.
    fn values(&mut self, position: usize, item: &Item) {
        let Some((ty, keys)) = self.types.get(position).copied() else { return };
        self.guards.see_item(&guards::needed(self.model, ty, item), item);
        let table = &self.model.tables[keys.table];
        let mut found: IndexMap<String, Misspelling> = IndexMap::new();
        for (name, templates) in keys.keys.iter().filter(|(name, _)| !table.is_primary_key(name)) {
            let misspelling =
                item.get(name).and_then(|value| templates.iter().find_map(|template| misspelling(template, value)));
            found.extend(misspelling.map(|misspelling| (format!("{}.{}", ty.name, misspelling.field), misspelling)));
        }
        self.instants(ty, item, MAX_DEPTH, &mut found);
        for (place, misspelling) in found {
            let surprise = if misspelling.own.is_some() { Surprise::Value } else { Surprise::Unread };
            self.count(surprise(place), misspelling, item);
        }
    }

    /// The times in the attributes of an item, or of an object in it.
    fn instants(&self, ty: &ObjectType, item: &Item, depth: usize, found: &mut IndexMap<String, Misspelling>) {
        for field in ty.fields.values() {
            let FieldKind::Stored(stored) = &field.kind else { continue };
            let Some(value) = stored.attribute.as_ref().and_then(|name| item.get(name)) else { continue };
            each(value, depth, &mut |value| match (&stored.value, value) {
                (kind, Attribute::S(text)) if kind.is_time() => {
                    let own = kind.from_text(text).and_then(|value| kind.to_text(&value));
                    if own.as_deref() != Some(text) {
                        let misspelling = Misspelling { field: field.name.clone(), found: text.to_string(), own };
                        found.insert(format!("{}.{}", ty.name, field.name), misspelling);
                    }
                }
                (ValueType::Embedded(name), Attribute::M(object)) => {
                    if let (Some(embedded), Some(depth)) = (self.model.types.get(name), depth.checked_sub(1)) {
                        self.instants(embedded, object, depth, found);
                    }
                }
                _ => {}
            });
        }
    }

    fn count(&mut self, surprise: Surprise, misspelling: Misspelling, item: &Item) {
        let names = self.table.primary_key().map(|key| key.name.as_str());
        let first = || Example { count: 0, misspelling, key: shown(names, item) };
        self.found.entry(surprise).or_insert_with(first).count += 1;
    }
}

/// A value, or each element of a list.
fn each<'v>(value: &'v Attribute, depth: usize, see: &mut dyn FnMut(&'v Attribute)) {
    match (value, depth.checked_sub(1)) {
        (Attribute::L(values), Some(depth)) => values.iter().for_each(|value| each(value, depth, see)),
        (Attribute::L(_), None) => {}
        _ => see(value),
    }
}

fn line(surprise: &Surprise, Example { count, misspelling, key }: &Example) -> String {
    let items = match count {
        1 => format!("1 item ({key})"),
        count => format!("{count} items (such as {key})"),
    };
    let found = &misspelling.found;
    let fitting = misspelling.fitting();
    match (surprise, &misspelling.own) {
        (Surprise::Key(place), Some(own)) => {
            let remedy = fitting.map(|form| format!("; `{form}` in its template reads it")).unwrap_or_default();
            format!(
                "{items} will not be seen: `{place}` is \"{found}\" in a key, which Keyfold writes as \"{own}\", so nothing would find the item by its fields{remedy}"
            )
        }
        (Surprise::Unread(place), _) => {
            let form =
                fitting.as_deref().and_then(|form| form.split_once(':')).map(|(_, form)| form.trim_end_matches('}'));
            let remedy = form.map(|form| format!("; `@attribute(form: \"{form}\")` reads it")).unwrap_or_default();
            format!("{items} with an error at `{place}`: \"{found}\" is not in its form{remedy}")
        }
        (Surprise::Key(place), None) => {
            format!("{items} will not be seen: `{place}` cannot be \"{found}\", which a key has")
        }
        (Surprise::Value(place), own) => format!(
            "{items} with `{place}` in another spelling, such as \"{found}\": it is read, but conditions, ranges and relations compare it as a text with \"{}\"",
            own.as_deref().unwrap_or_default()
        ),
        (Surprise::Constants(types), _) => {
            format!("{items} could be {types}, and will be either: the constants that tell them apart are missing")
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
mod tests {
    use super::*;
    use crate::schema::load;
    use crate::table::bulk::export_lines::parse_line;
    use serde_json::{Value, json};

    const SCHEMA: &str = r##"
extend schema @table(name: "things", partitionKey: "pk", sortKey: "sk", indexes: [{ name: "byTime", partitionKey: "g", sortKey: "at" }])
type Post @item(keys: { pk: "USER#{userId}", sk: "POST#{createdAt}", g: "POSTS", at: "{updatedAt}" }) {
  userId: ID! createdAt: DateTime! updatedAt: DateTime seen: [DateTime!] edits: [Edit!]
}
type Edit { at: DateTime! }
type User @item(keys: { pk: "USER#{id}", sk: "USER" }) { id: ID! mail: String @unique }
type Order @item(keys: { pk: "USER#{userId}", sk: "ORDER#{id}" }, attributes: { kind: "order" }) { userId: ID! id: ID! }
type Line @item(keys: { pk: "USER#{userId}", sk: "ORDER#{orderId}#ITEM#{n:03}" }, attributes: { kind: "line" }) { userId: ID! orderId: ID! n: Int! }
type Offer @item(keys: { pk: "USER#{userId}", sk: "ORDER#{id}" }, attributes: { kind: "offer" }) { userId: ID! id: ID! }
type Mark @item(keys: { pk: "USER#{userId}", sk: "MARK#{name}{code}" }) {
  userId: ID! name: String! code: ID! @constraint(pattern: "[A-Z]{2}")
}
type Query { posts(userId: ID!): [Post!]! @find }
"##;

    fn lines(items: &[Value]) -> Vec<String> {
        let (model, _) = load("s", SCHEMA, &|_| None).unwrap_or_else(|mistakes| panic!("{}", mistakes.render(false)));
        let mut survey = Survey::new(&model, &model.tables[0]);
        for item in items {
            survey.see(&parse_line(&json!({ "Item": item }).to_string()).unwrap().unwrap());
        }
        survey.lines()
    }

    fn item(sort: &str, more: Value) -> Value {
        let mut item = json!({ "pk": { "S": "USER#u" }, "sk": { "S": sort } });
        item.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        item
    }

    #[test]
    fn a_form_that_fits_is_named() {
        let at = |at: &str| item(&format!("POST#{at}"), json!({}));
        let seen = item("POST#2021-07-02T17:09:47.000Z", json!({ "seen": { "L": [{ "S": "02/07/2021" }] } }));
        let reported = lines(&[at("2021-07-02T17:09:47Z"), at("1625245787"), at("20210702T170947"), at("soon"), seen]);
        assert_eq!(reported.len(), 2, "{reported:#?}");
        assert!(
            reported[0].starts_with("3 items (such as USER#u, POST#2021-07-02T17:09:47Z) will not be seen"),
            "{}",
            reported[0]
        );
        assert!(reported[0].ends_with("`{createdAt:%Y-%m-%dT%H:%M:%SZ}` in its template reads it"), "{}", reported[0]);
        assert!(reported[1].ends_with("`@attribute(form: \"%d/%m/%Y\")` reads it"), "{}", reported[1]);
    }

    #[test]
    fn a_text_that_breaks_a_constraint_which_the_key_relies_on_is_counted() {
        let marks = ["Annab", "Bobcd", "AnnAB"].map(|mark| item(&format!("MARK#{mark}"), json!({})));
        assert_eq!(
            lines(&marks),
            ["2 items (such as USER#u, MARK#Annab) will not be seen: `Mark.code` cannot be \"ab\", which a key has"]
        );
    }

    #[test]
    fn what_keyfold_would_have_written_surprises_nobody() {
        let own = "2021-07-02T17:09:47.000Z";
        let seen = json!({ "L": [{ "S": own }] });
        let more = json!({ "updatedAt": { "S": own }, "g": { "S": "POSTS" }, "at": { "S": own }, "seen": seen });
        let items = [
            item(&format!("POST#{own}"), more),
            item("ORDER#a", json!({ "kind": { "S": "order" } })),
            item("NOTE#1", json!({})),
        ];
        assert_eq!(lines(&items), Vec::<String>::new());
    }

    #[test]
    fn unique_values_without_a_guard_of_their_item_are_counted() {
        let user = |id: &str, mail: &str| json!({ "pk": { "S": format!("USER#{id}") }, "sk": { "S": "USER" }, "mail": { "S": mail } });
        let guard = |mail: &str, id: &str| {
            let (pk, sk) = (json!({ "S": format!("Unique#User.mail#{mail}") }), json!({ "S": "Unique#User.mail" }));
            json!({ "pk": pk, "sk": sk, "ownerpk": { "S": format!("USER#{id}") }, "ownersk": { "S": "USER" } })
        };
        assert_eq!(lines(&[guard("a", "1"), user("1", "a"), user("2", "b"), guard("b", "2")]), Vec::<String>::new());
        // A guard of another item is none.
        let found = lines(&[user("1", "a"), user("2", "a"), guard("a", "2"), user("3", "c")]);
        assert!(
            matches!(found.as_slice(), [line] if line.starts_with("2 values of `User.mail` have no guard, so ")),
            "{found:#?}"
        );
    }

    #[test]
    fn what_other_programs_write_otherwise_is_counted() {
        let own = "2021-07-02T17:09:47.000Z";
        let (other, later) = ("2021-07-02T17:09:47Z", "2021-07-02T19:09:47.123456+02:00");
        let found = lines(&[
            item(&format!("POST#{other}"), json!({})),
            item(&format!("POST#{later}"), json!({ "updatedAt": { "S": other } })),
            item(
                &format!("POST#{own}"),
                json!({ "updatedAt": { "S": other }, "g": { "S": "POSTS" }, "at": { "S": other } }),
            ),
            item(
                "POST#2021-07-02T17:09:48.000Z",
                json!({
                    "seen": { "L": [{ "S": other }, { "S": later }] },
                    "edits": { "L": [{ "M": { "at": { "S": other } } }] },
                }),
            ),
            item("ORDER#a", json!({})),
            // The key of a line is more specific.
            item("ORDER#a#ITEM#001", json!({})),
        ]);
        let begins = [
            "2 items (such as USER#u, POST#2021-07-02T17:09:47Z) will not be seen: `Post.createdAt` is \"2021-07-02T17:09:47Z\" in a key, which Keyfold writes as \"2021-07-02T17:09:47.000Z\"",
            "1 item (USER#u, POST#2021-07-02T17:09:47.000Z) with `Post.updatedAt` in another spelling, such as \"2021-07-02T17:09:47Z\"",
            "1 item (USER#u, POST#2021-07-02T17:09:48.000Z) with `Post.seen` in another spelling",
            "1 item (USER#u, POST#2021-07-02T17:09:48.000Z) with `Edit.at` in another spelling",
            "1 item (USER#u, ORDER#a) could be `Order` or `Offer`, and will be either",
        ];
        assert_eq!(found.len(), begins.len(), "{found:#?}");
        found.iter().zip(begins).for_each(|(line, begin)| assert!(line.starts_with(begin), "{line}"));
    }
}
