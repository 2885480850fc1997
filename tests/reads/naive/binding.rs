//! The text of a schema in; the bindings of each find, by the rules of docs/language/binding.md alone, out. Must
//! not know the model: if the model binds a find otherwise, one of the two is wrong.

use super::computed::WrittenComputation;
use apollo_compiler::Node;
use apollo_compiler::ast::{Definition, Document, FieldDefinition, Value};
use keyfold::schema::expression::claim::ClaimPath;
use keyfold::schema::model::find::Range;
use keyfold::schema::model::source::{Source, TextPart};
use std::collections::{BTreeMap, HashSet};

/// Arguments that page and sort; they bind nothing.
const PAGING: [&str; 6] = ["first", "after", "last", "before", "orderBy", "order"];

/// The object types of a schema, each with its fields as written.
pub struct Rules {
    types: BTreeMap<String, Vec<Node<FieldDefinition>>>,
    /// For each type, the fields in the templates of its keys.
    in_keys: BTreeMap<String, HashSet<String>>,
    /// For each type, the fields in the templates of its table's own keys.
    in_primary: BTreeMap<String, HashSet<String>>,
}

/// A binding of a field of a find's target.
#[derive(Debug, Clone, PartialEq)]
pub enum Bound {
    /// By equality. Rules 1 to 6 select the items, so a read uses all of them; it may ignore a bare name.
    Equal { source: Source, is_bare: bool },
    /// By a range in `where:`.
    Within(Range),
}

impl Rules {
    /// Reads the text of a schema.
    pub fn of(text: &str) -> Self {
        let document = Document::parse(text, "schema.graphql").unwrap_or_else(|mistakes| panic!("{mistakes}"));
        let mut rules = Self { types: BTreeMap::new(), in_keys: BTreeMap::new(), in_primary: BTreeMap::new() };
        let primary = primary_keys(&document);
        for definition in &document.definitions {
            if let Definition::ObjectTypeDefinition(ty) = definition {
                rules.types.insert(ty.name.to_string(), ty.fields.clone());
                let keys = ty.directives.get("item").and_then(|item| item.specified_argument_by_name("keys"));
                let mut fields = HashSet::new();
                keys.iter().for_each(|keys| placeholders_in(keys, &mut fields));
                rules.in_keys.insert(ty.name.to_string(), fields);
                let own = keys
                    .iter()
                    .filter_map(|keys| keys.as_object())
                    .flatten()
                    .filter(|(name, _)| primary.contains(name.as_str()));
                let mut fields = HashSet::new();
                own.for_each(|(_, templates)| placeholders_in(templates, &mut fields));
                rules.in_primary.insert(ty.name.to_string(), fields);
            }
        }
        rules
    }

    fn field(&self, ty: &str, name: &str) -> Option<&Node<FieldDefinition>> {
        self.types.get(ty)?.iter().find(|field| field.name == name)
    }

    /// The stored fields of a type.
    fn stored(&self, ty: &str) -> impl Iterator<Item = &Node<FieldDefinition>> {
        self.types
            .get(ty)
            .into_iter()
            .flatten()
            .filter(|field| !field.directives.has("find") && !field.directives.has("computed"))
    }

    /// The bindings of a find's target (`owner.name`), for fields that are in its keys or in `where:`.
    pub fn bound(&self, (owner, name): (&str, &str), target: &str) -> BTreeMap<String, Bound> {
        let field = self.field(owner, name).unwrap_or_else(|| panic!("no field {owner}.{name}"));
        let find = Finding { rules: self, owner, field, target };
        let mut bound = BTreeMap::new();
        for own in self.stored(target).map(|field| field.name.as_str()) {
            if let Some(by) = find.bound(own) {
                bound.insert(own.to_owned(), by);
            }
        }
        bound
    }

    /// What a field is computed of, as written.
    pub fn computed(&self, ty: &str, name: &str) -> Option<WrittenComputation> {
        let directive = self.field(ty, name)?.directives.get("computed")?;
        let text = |argument: &str| Some(directive.specified_argument_by_name(argument)?.as_str()?.to_owned());
        text("value").map(WrittenComputation::Text).or_else(|| text("expression").map(WrittenComputation::Number))
    }

    /// Whether a field is in a template of its table's own keys.
    pub fn is_in_primary(&self, ty: &str, field: &str) -> bool {
        self.in_primary.get(ty).is_some_and(|fields| fields.contains(field))
    }

    /// The fields in the templates of a type's own keys of its table.
    pub fn primary(&self, ty: &str) -> impl Iterator<Item = &str> {
        self.in_primary.get(ty).into_iter().flatten().map(String::as_str)
    }

    /// The name of a field's innermost type.
    pub fn type_of(&self, ty: &str, field: &str) -> Option<&str> {
        self.field(ty, field).map(|field| field.ty.inner_named_type().as_str())
    }

    /// Whether a field is in a template of its type's keys.
    pub fn is_in_keys(&self, ty: &str, field: &str) -> bool {
        self.in_keys.get(ty).is_some_and(|fields| fields.contains(field))
    }
}

/// The names of the key attributes of all tables.
fn primary_keys(document: &Document) -> HashSet<String> {
    let extensions = document.definitions.iter().filter_map(|definition| match definition {
        Definition::SchemaExtension(extension) => Some(&extension.directives),
        Definition::SchemaDefinition(schema) => Some(&schema.directives),
        _ => None,
    });
    let tables = extensions.flat_map(|directives| directives.get_all("table"));
    let names =
        tables.flat_map(|table| ["partitionKey", "sortKey"].map(|key| table.specified_argument_by_name(key).cloned()));
    names.flatten().filter_map(|name| name.as_str().map(str::to_owned)).collect()
}

/// A find and one of the types that it finds.
struct Finding<'r> {
    rules: &'r Rules,
    owner: &'r str,
    field: &'r FieldDefinition,
    target: &'r str,
}

impl Finding<'_> {
    /// The binding of a field of the target: the first rule that applies.
    fn bound(&self, own: &str) -> Option<Bound> {
        if let Some(value) = self.of_where(own) {
            return self.by_where(value);
        }
        let certain = |source| Some(Bound::Equal { source, is_bare: false });
        let (as_id, plain) = self.names(own);
        // 2 and 3: arguments.
        for name in [own.to_owned(), format!("{}{}", small(self.target), large(&plain))] {
            if self.is_argument(&name) {
                return certain(Source::Argument(name));
            }
        }
        // 4, 5 and 6: names of the parent that point to the field.
        let names = [
            Some(format!("{}{}", self.field.name, large(&plain))),
            self.seen_from_parent(own),
            Some(format!("{}{}", small(self.target), large(&plain))),
        ];
        if let Some(name) = names.into_iter().flatten().find(|name| self.has(name)) {
            return certain(Source::Parent(name));
        }
        // 7: the bare name.
        let is_id = as_id || own == "id";
        let is_other_id = is_id && self.owner != self.target;
        let is_free = self.has(own) && !is_other_id && !self.is_used(own);
        is_free.then(|| Bound::Equal { source: Source::Parent(own.to_owned()), is_bare: true })
    }

    /// A field's name under rules 3 to 6: if a type calls its own id `userId`, it counts as `id`.
    fn names(&self, own: &str) -> (bool, String) {
        match own.strip_prefix(&small(self.target)).filter(|rest| *rest == "Id") {
            Some(_) => (true, "id".to_owned()),
            None => (false, own.to_owned()),
        }
    }

    /// Rule 5: the field of the parent that is seen as `<parent><Field>`.
    fn seen_from_parent(&self, own: &str) -> Option<String> {
        let rest = own.strip_prefix(&small(self.owner))?;
        let name = format!("{}{}", rest.chars().next()?.to_lowercase(), &rest[1..]);
        let as_own_id = (name == "id").then(|| own.to_owned());
        if large(&name) != rest {
            return None;
        }
        match self.has(&name) {
            true => Some(name),
            false => as_own_id,
        }
    }

    /// Whether rule 4, 5 or 6 uses a field of the parent for some field of the target.
    fn is_used(&self, name: &str) -> bool {
        self.rules.stored(self.target).any(|own| {
            let own = own.name.as_str();
            own != name && {
                let (_, plain) = self.names(own);
                let four = format!("{}{}", self.field.name, large(&plain));
                let six = format!("{}{}", small(self.target), large(&plain));
                four == name || six == name || self.seen_from_parent(own).as_deref() == Some(name)
            }
        })
    }

    /// Whether the parent has a stored field with a name that `where:` does not use.
    fn has(&self, name: &str) -> bool {
        self.rules.stored(self.owner).any(|field| field.name == name) && !self.where_names().contains(name)
    }

    fn is_argument(&self, name: &str) -> bool {
        let is_there = self.field.arguments.iter().any(|argument| argument.name == name);
        is_there && !PAGING.contains(&name) && !self.filter_names().contains(name)
    }

    fn option(&self, name: &str) -> Option<&Node<Value>> {
        self.field.directives.get("find")?.specified_argument_by_name(name)
    }

    /// Rule 1: the binding of a field in `where:`.
    fn of_where(&self, own: &str) -> Option<&Node<Value>> {
        self.option("where")?.as_object()?.iter().find(|(name, _)| name == own).map(|(_, value)| value)
    }

    fn by_where(&self, value: &Node<Value>) -> Option<Bound> {
        let source = |value: &Node<Value>| self.source(value.as_str().unwrap_or_default());
        let Some(operators) = value.as_object() else {
            // A null leaves the field unbound.
            return value.as_str().map(|text| Bound::Equal { source: self.source(text), is_bare: false });
        };
        let (mut lower, mut upper) = (None, None);
        for (operator, value) in operators {
            match operator.as_str() {
                "beginsWith" => return Some(Bound::Within(Range::BeginsWith(source(value)))),
                "gt" => lower = Some((source(value), false)),
                "ge" => lower = Some((source(value), true)),
                "lt" => upper = Some((source(value), false)),
                "le" => upper = Some((source(value), true)),
                _ => {
                    let ends = value.as_list().unwrap_or_default();
                    (lower, upper) =
                        (ends.first().map(|end| (source(end), true)), ends.get(1).map(|end| (source(end), true)));
                }
            }
        }
        Some(Bound::Within(Range::Between { lower, upper }))
    }

    /// A text in `where:`: a name in braces is a claim, an argument, or otherwise a field of the parent.
    fn source(&self, text: &str) -> Source {
        let mut parts = Vec::new();
        for part in pieces(text) {
            parts.push(match part {
                Piece::Text(text) => TextPart::Literal(text),
                Piece::Name(name) if ClaimPath::parse(&name).is_some() => {
                    TextPart::Value(Source::Claim(ClaimPath::parse(&name).unwrap()))
                }
                Piece::Name(name) => {
                    let first = name.split('.').next().unwrap_or_default();
                    let is_argument = self.field.arguments.iter().any(|argument| argument.name == first);
                    TextPart::Value(if is_argument { Source::Argument(name) } else { Source::Parent(name) })
                }
            });
        }
        match parts.as_slice() {
            [TextPart::Value(source)] => source.clone(),
            _ => Source::Text(parts),
        }
    }

    /// The fields of the parent that `where:` uses.
    fn where_names(&self) -> HashSet<String> {
        let mut names = HashSet::new();
        self.option("where").iter().for_each(|value| placeholders_in(value, &mut names));
        names.retain(|name| !self.field.arguments.iter().any(|argument| argument.name == name.as_str()));
        names
    }

    /// The arguments that the filter uses.
    fn filter_names(&self) -> HashSet<String> {
        let text = self.option("filter").and_then(|filter| filter.as_str()).unwrap_or_default();
        let name = |rest: &str| {
            rest.split(|letter: char| !letter.is_alphanumeric() && letter != '_').next().map(str::to_owned)
        };
        text.split(':').skip(1).filter_map(name).collect()
    }
}

/// A part of a template.
enum Piece {
    Text(String),
    Name(String),
}

/// The parts of a template; a doubled brace is text.
fn pieces(text: &str) -> Vec<Piece> {
    let (mut pieces, mut literal, mut letters) = (Vec::new(), String::new(), text.chars().peekable());
    while let Some(letter) = letters.next() {
        match letter {
            '{' | '}' if letters.peek() == Some(&letter) => literal.extend(letters.next()),
            '{' => {
                if !literal.is_empty() {
                    pieces.push(Piece::Text(std::mem::take(&mut literal)));
                }
                pieces.push(Piece::Name(letters.by_ref().take_while(|letter| *letter != '}').collect()));
            }
            other => literal.push(other),
        }
    }
    if !literal.is_empty() || pieces.is_empty() {
        pieces.push(Piece::Text(literal));
    }
    pieces
}

/// The names in braces anywhere in a value, without widths.
fn placeholders_in(value: &Value, names: &mut HashSet<String>) {
    match value {
        Value::String(text) => names.extend(pieces(text).into_iter().filter_map(|piece| match piece {
            Piece::Name(name) => name.split([':', '.']).next().map(str::to_owned),
            Piece::Text(_) => None,
        })),
        Value::List(values) => values.iter().for_each(|value| placeholders_in(value, names)),
        Value::Object(members) => members.iter().for_each(|(_, value)| placeholders_in(value, names)),
        _ => {}
    }
}

fn small(name: &str) -> String {
    with_first(name, char::to_lowercase)
}

fn large(name: &str) -> String {
    with_first(name, char::to_uppercase)
}

fn with_first<I: Iterator<Item = char>>(name: &str, case: impl Fn(char) -> I) -> String {
    let mut letters = name.chars();
    letters.next().map(|first| case(first).chain(letters).collect()).unwrap_or_default()
}

#[test]
fn the_reference_example_is_bound_as_it_says() {
    let rules = Rules::of(
        r#"
type Employee @item(keys: { pk: "EMPLOYEE#{id}", sk: "EMPLOYEE", repPk: "MANAGER#{managerId}", repSk: "{id}" }) {
  id: ID!
  managerId: ID
  manager: Employee @find
  reports: [Employee!]! @find(where: { managerId: "{id}" })
  peers: [Employee!]! @find(where: { id: null })
  customers: [Customer!]! @find(where: { accountRepId: "{id}" })
}
type Customer @item(keys: { pk: "CUSTOMER#{id}", sk: "CUSTOMER", repPk: "REP#{accountRepId}", repSk: "{id}" }) {
  id: ID!
  accountRepId: ID!
  accountRep: Employee @find
}
"#,
    );
    let parent = |name: &str, is_bare: bool| Bound::Equal { source: Source::Parent(name.to_owned()), is_bare };
    let cases = [
        (("Employee", "manager"), "Employee", "id", Some(parent("managerId", false))),
        (("Employee", "reports"), "Employee", "managerId", Some(parent("id", false))),
        (("Employee", "reports"), "Employee", "id", None),
        (("Employee", "peers"), "Employee", "managerId", Some(parent("managerId", true))),
        (("Employee", "peers"), "Employee", "id", None),
        (("Employee", "customers"), "Customer", "accountRepId", Some(parent("id", false))),
        (("Employee", "customers"), "Customer", "id", None),
        (("Customer", "accountRep"), "Employee", "id", Some(parent("accountRepId", false))),
    ];
    for (find, target, field, expected) in cases {
        assert_eq!(rules.bound(find, target).remove(field), expected, "{find:?} {field}");
    }
}
