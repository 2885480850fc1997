//! Fields of `Mutation` as plain data, and their text. [`super::writes`] makes them.

use super::sdl::type_of;
use super::{Kind, Schema};
use serde_json::Value;

/// A field of `Mutation`.
#[derive(Debug, Clone)]
pub struct Mutation {
    pub name: String,
    pub arguments: Vec<Argument>,
    /// `@find`.
    pub found: Option<Found>,
    pub actions: Vec<Action>,
    pub returns: Returns,
    /// Whether what it returns is never null.
    pub non_null: bool,
    /// Whether its only argument is the list [`LIST`], for each of whose elements everything is done. The arguments are
    /// then the fields of an element.
    pub is_listed: bool,
    /// Whether what it returns is the field `one` of a payload, whose other field is `ok`.
    pub is_wrapped: bool,
}

/// The argument of a mutation that does everything for each element of a list.
pub const LIST: &str = "lines";
/// The argument with the key of a mutation with `@idempotent`.
pub const REQUEST_KEY: &str = "requestKey";

/// An argument, whose kind is that of a type's field.
#[derive(Debug, Clone)]
pub struct Argument {
    pub name: String,
    pub kind: Kind,
    /// The position of the type.
    pub of: usize,
    pub non_null: bool,
    /// The field that it is written to, if any.
    pub field: Option<String>,
}

/// The `@find` of a mutation.
#[derive(Debug, Clone)]
pub struct Found {
    /// The position of the type.
    pub item: usize,
    pub key: Vec<(String, Source)>,
}

/// What a field returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Returns {
    /// The item of the action at this position.
    Item(usize),
    /// All items of the action at this position.
    Items(usize),
    True,
}

/// What a field is bound to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    Argument(String),
    /// A field of the item that was found.
    Found(String),
    /// A literal in `set:`.
    Made(Value),
    /// An argument and one, which the expression of a put computes.
    Next(String),
}

/// A directive that writes or checks.
#[derive(Debug, Clone)]
pub struct Action {
    pub verb: Verb,
    /// The position of the type.
    pub item: usize,
    /// The key of the item to find. Empty for a put.
    pub key: Vec<(String, Source)>,
    /// What is written.
    pub values: Vec<(String, Source)>,
    pub condition: Option<Condition>,
    /// The argument with the number of the item's shard, if another program assigns it.
    pub number: Option<String>,
    /// The argument with the version that the caller has seen.
    pub version: Option<String>,
    /// Whether fields are bound by the names of arguments.
    pub by_name: bool,
}

/// What an action does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verb {
    Check,
    Put {
        replace: bool,
    },
    Update {
        upsert: bool,
        many: bool,
    },
    Change(Vec<Clause>),
    /// An update that may give the item another key.
    Move,
    Delete {
        many: bool,
        cascade: Vec<String>,
    },
    /// Appends an element to the list `parts`.
    Append,
    /// Changes the element whose id the argument `part` gives.
    ChangeElement,
    /// Removes the element whose id the argument `part` gives.
    RemoveElement,
    /// Changes an entry of a map, whose key the argument `part` gives.
    Entry(String, Entry),
}

/// What is done to an entry of a map.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Entry {
    /// Adds the argument `more` to its number.
    Add,
    /// Sets its `text`.
    Set,
    /// Puts the argument `input`.
    Put,
    /// Removes it.
    Remove,
    /// Writes the whole map.
    Whole,
}

/// A clause of an update expression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Clause {
    /// `SET field = :argument`
    Set(String, String),
    /// `SET field = other`
    Copy(String, String),
    /// `SET field = field + :argument`
    Plus(String, String),
    /// `SET field = field - :argument`
    Minus(String, String),
    /// `SET field = field + 1`
    Next(String),
    /// `SET field = if_not_exists(field, :argument)`
    Once(String, String),
    /// `SET field = list_append(field, :argument)`
    Append(String, String),
    /// `ADD field :argument`
    Add(String, String),
    /// `DELETE field :argument`
    Take(String, String),
    /// `REMOVE field`
    Remove(String),
}

/// An `if:`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Condition {
    /// `attribute_exists(field)`
    Exists(String),
    /// `attribute_not_exists(field)`
    Missing(String),
    /// `field >= :argument`
    AtLeast(String, String),
    /// `field = :argument`
    Equal(String, String),
    Or(Box<Condition>, Box<Condition>),
    And(Box<Condition>, Box<Condition>),
}

impl Mutation {
    /// Whether it has `@idempotent`: it writes items of one table.
    pub fn is_idempotent(&self, schema: &Schema) -> bool {
        let written = self.actions.iter().filter(|action| action.verb != Verb::Check);
        let mut tables = written.map(|action| schema.types[action.item].table);
        let first = tables.next();
        schema.idempotent && first.is_some() && tables.all(|table| Some(table) == first)
    }

    /// The field's text.
    pub fn sdl(&self, schema: &Schema) -> String {
        let argument =
            |one: &Argument| format!("{}: {}", one.name, type_of(&schema.types[one.of], one.kind, one.non_null, true));
        let mut arguments: Vec<String> = self.arguments.iter().map(argument).collect();
        if self.is_listed {
            arguments = vec![format!("{LIST}: {}", self.list_type())];
        }
        let is_idempotent = self.is_idempotent(schema);
        arguments.extend(is_idempotent.then(|| format!("{REQUEST_KEY}: ID!")));
        let ty = if self.is_wrapped { format!("{}Payload!", self.name) } else { self.returned_type(schema) };
        let mut sdl = format!("{}({}): {ty}", self.name, arguments.join(", "));
        if let Some(found) = &self.found {
            sdl += &format!(
                " @find(item: {}, where: {{ {} }}{})",
                schema.types[found.item].name,
                self.bindings(schema, &found.key).join(", "),
                self.each()
            );
        }
        for action in &self.actions {
            sdl += &format!(" {}", self.directive(schema, action));
        }
        sdl += if is_idempotent { " @idempotent(key: \"{requestKey}\")" } else { "" };
        sdl
    }

    /// The payload's type; empty without one.
    pub fn payload_sdl(&self, schema: &Schema) -> String {
        if !self.is_wrapped {
            return String::new();
        }
        format!("type {}Payload {{\n  one: {}\n  ok: Boolean!\n}}\n\n", self.name, self.returned_type(schema))
    }

    fn returned_type(&self, schema: &Schema) -> String {
        let mut ty = match self.returns {
            Returns::Item(action) if !self.is_listed => schema.types[self.actions[action].item].name.clone(),
            Returns::Item(action) | Returns::Items(action) => {
                format!("[{}!]", schema.types[self.actions[action].item].name)
            }
            Returns::True => "Boolean".to_owned(),
        };
        ty += if self.non_null { "!" } else { "" };
        ty
    }

    fn directive(&self, schema: &Schema, action: &Action) -> String {
        let mut options = vec![format!("item: {}", schema.types[action.item].name)];
        let (name, clause) = match &action.verb {
            Verb::Check => ("check", "where"),
            Verb::Put { .. } => ("put", "set"),
            Verb::Append | Verb::Entry(_, Entry::Put) => ("put", "where"),
            Verb::Entry(_, Entry::Remove) => ("delete", "where"),
            Verb::Entry(..) => ("update", "where"),
            Verb::Update { .. } | Verb::Change(_) | Verb::Move | Verb::ChangeElement => ("update", "where"),
            Verb::Delete { .. } | Verb::RemoveElement => ("delete", "where"),
        };
        let is_put = matches!(action.verb, Verb::Put { .. });
        if action.verb == Verb::Move {
            options.push(format!("set: {{ {} }}, move: true", self.bindings(schema, &action.values).join(", ")));
        }
        if matches!(action.verb, Verb::Update { .. }) && action.values.iter().any(is_made) {
            options.push(format!("set: {{ {} }}", made(&action.values).join(", ")));
        }
        if !action.by_name || action.number.is_some() || is_put && action.values.iter().any(is_made) {
            let bound = if is_put { &action.values } else { &action.key };
            let mut bound = if action.by_name && is_put {
                made(&action.values)
            } else if action.by_name {
                Vec::new()
            } else {
                self.bindings(schema, bound)
            };
            bound.extend(action.number.iter().map(|number| format!("shard: \"{{{number}}}\"")));
            if matches!(action.verb, Verb::Update { many: true, .. }) {
                // The written fields do not help to find the items.
                bound.extend(action.values.iter().map(|(field, _)| format!("{field}: null")));
            }
            options.push(format!("{clause}: {{ {} }}", bound.join(", ")));
        }
        let next = |(field, source): &(String, Source)| match source {
            Source::Next(argument) => Some(format!("{field} = :{argument} + 1")),
            Source::Argument(_) | Source::Found(_) | Source::Made(_) => None,
        };
        let computed: Vec<String> = action.values.iter().filter_map(next).collect();
        options.extend((!computed.is_empty()).then(|| format!("expression: \"SET {}\"", computed.join(", "))));
        match &action.verb {
            Verb::Put { replace: true } => options.push("replace: true".to_owned()),
            Verb::Update { upsert, many } => {
                options.extend(upsert.then(|| "upsert: true".to_owned()));
                options.extend(many.then(|| "many: true".to_owned()));
            }
            Verb::Change(clauses) => options.push(format!("expression: {:?}", expression(clauses))),
            Verb::Delete { many, cascade } => {
                options.extend(many.then(|| "many: true".to_owned()));
                options.extend((!cascade.is_empty()).then(|| format!("cascade: {cascade:?}")));
            }
            Verb::Append => options.push("at: \"parts\"".to_owned()),
            Verb::ChangeElement | Verb::RemoveElement => options.push("at: \"parts[id = :part]\"".to_owned()),
            Verb::Entry(map, entry) => {
                let (key, number) = if map == "counts" { ("day", "n") } else { ("id", "count") };
                let named = if *entry == Entry::Put { String::new() } else { format!("[{key} = :part]") };
                options.push(format!("at: \"{map}{named}\""));
                options.extend((*entry == Entry::Add).then(|| format!("expression: \"ADD {number} :more\"")));
            }
            Verb::Check | Verb::Put { .. } | Verb::Move => {}
        }
        options.extend(action.condition.as_ref().map(|condition| format!("if: {:?}", condition.to_string())));
        format!("@{name}({}{})", options.join(", "), self.each())
    }

    /// The option that does something for each element of the list.
    fn each(&self) -> String {
        if self.is_listed { format!(", each: {LIST:?}") } else { String::new() }
    }

    /// The type of the list.
    pub fn list_type(&self) -> String {
        format!("[{}Line!]!", self.name)
    }

    /// The input object of an element of the list; empty without one.
    pub fn element_sdl(&self, schema: &Schema) -> String {
        if !self.is_listed {
            return String::new();
        }
        let field = |one: &Argument| {
            format!("  {}: {}\n", one.name, type_of(&schema.types[one.of], one.kind, one.non_null, true))
        };
        format!("input {}Line {{\n{}}}\n\n", self.name, self.arguments.iter().map(field).collect::<String>())
    }

    fn bindings(&self, schema: &Schema, bound: &[(String, Source)]) -> Vec<String> {
        let one = |(field, source): &(String, Source)| match source {
            Source::Argument(argument) => Some(format!("{field}: \"{{{argument}}}\"")),
            Source::Made(value) => Some(format!("{field}: {value}")),
            Source::Next(_) => None,
            Source::Found(of) => {
                Some(format!("{field}: \"{{{}.{of}}}\"", schema.types[self.found.as_ref().unwrap().item].name))
            }
        };
        bound.iter().filter_map(one).collect()
    }

    /// An argument.
    pub fn argument(&self, name: &str) -> &Argument {
        self.arguments.iter().find(|argument| argument.name == name).unwrap()
    }
}

fn is_made((_, source): &(String, Source)) -> bool {
    matches!(source, Source::Made(_))
}

/// The bindings of literals.
fn made(values: &[(String, Source)]) -> Vec<String> {
    values
        .iter()
        .filter(|bound| is_made(bound))
        .filter_map(|(field, source)| match source {
            Source::Made(value) => Some(format!("{field}: {value}")),
            Source::Argument(_) | Source::Found(_) | Source::Next(_) => None,
        })
        .collect()
}

fn expression(clauses: &[Clause]) -> String {
    let texts = |of: &dyn Fn(&Clause) -> Option<String>| clauses.iter().filter_map(of).collect::<Vec<_>>().join(", ");
    let set = texts(&|clause| match clause {
        Clause::Set(field, argument) => Some(format!("{field} = :{argument}")),
        Clause::Copy(field, other) => Some(format!("{field} = {other}")),
        Clause::Plus(field, argument) => Some(format!("{field} = {field} + :{argument}")),
        Clause::Minus(field, argument) => Some(format!("{field} = {field} - :{argument}")),
        Clause::Next(field) => Some(format!("{field} = {field} + 1")),
        Clause::Once(field, argument) => Some(format!("{field} = if_not_exists({field}, :{argument})")),
        Clause::Append(field, argument) => Some(format!("{field} = list_append({field}, :{argument})")),
        _ => None,
    });
    let add = texts(&|clause| {
        if let Clause::Add(field, argument) = clause { Some(format!("{field} :{argument}")) } else { None }
    });
    let take = texts(&|clause| {
        if let Clause::Take(field, argument) = clause { Some(format!("{field} :{argument}")) } else { None }
    });
    let remove = texts(&|clause| if let Clause::Remove(field) = clause { Some(field.clone()) } else { None });
    let all = [("SET", set), ("REMOVE", remove), ("ADD", add), ("DELETE", take)];
    let all = all.iter().filter(|(_, text)| !text.is_empty()).map(|(word, text)| format!("{word} {text}"));
    all.collect::<Vec<_>>().join(" ")
}

impl Clause {
    /// The field that it changes.
    pub fn field(&self) -> &str {
        match self {
            Clause::Set(field, _)
            | Clause::Copy(field, _)
            | Clause::Plus(field, _)
            | Clause::Minus(field, _)
            | Clause::Next(field)
            | Clause::Once(field, _)
            | Clause::Append(field, _)
            | Clause::Add(field, _)
            | Clause::Take(field, _)
            | Clause::Remove(field) => field,
        }
    }
}

impl std::fmt::Display for Condition {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Condition::Exists(field) => write!(f, "attribute_exists({field})"),
            Condition::Missing(field) => write!(f, "attribute_not_exists({field})"),
            Condition::AtLeast(field, argument) => write!(f, "{field} >= :{argument}"),
            Condition::Equal(field, argument) => write!(f, "{field} = :{argument}"),
            Condition::Or(one, other) => write!(f, "({one}) OR ({other})"),
            Condition::And(one, other) => write!(f, "({one}) AND ({other})"),
        }
    }
}
