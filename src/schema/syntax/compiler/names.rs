//! A finding of the compiler about a name or a value in; out: what was probably meant, or the names that there are, and
//! the place to look at where the compiler has none. Must not know what Keyfold's directives mean.

use crate::schema::diagnostics::help::Help;
use crate::schema::diagnostics::span::{self, Span};
use crate::schema::diagnostics::suggestion::{near, suggest};
use crate::schema::syntax::compiler::foreign;
use crate::schema::syntax::definitions::{RESERVED, definitions, directive_name};
use apollo_compiler::Schema;

/// The end of the name of a connection's type.
const CONNECTION: &str = "Connection";

/// What the compiler's finding is about.
pub struct NamedMistake {
    /// Another place than the compiler's.
    pub place: Option<Span>,
    /// What to write instead.
    pub help: Option<Help>,
    /// Whether the same sentence about another place is the same mistake.
    pub once: bool,
    /// Whether what follows can be checked all the same.
    pub goes_on: bool,
}

impl NamedMistake {
    fn help(help: Option<Help>) -> Self {
        Self { place: None, help, once: false, goes_on: false }
    }
}

/// Explains a finding about a schema at a place of its text.
pub fn explain(schema: &Schema, finding: &str, place: (&str, &Span)) -> NamedMistake {
    let parts: Vec<&str> = finding.split('`').collect();
    let help = match parts.as_slice() {
        ["the argument " | "The argument ", name, " is not supported by ", directive, ..] => {
            return NamedMistake::help(argument(name, directive));
        }
        ["value " | "Value ", value, " does not exist on ", ty, ..] => enum_value(value, ty),
        ["field ", field, " does not exist on ", input, ..] => return input_field(field, input, place),
        ["type extension for undefined type ", name, ..] => {
            let own = schema.types.values().filter(|ty| !ty.is_built_in() && !ty.name().starts_with(RESERVED));
            let known: Vec<&str> = own.map(|ty| ty.name().as_str()).collect();
            match near(name, &known) {
                Some(meant) => Some(Help::instead(format!("did you mean `{meant}`?"), name, meant)),
                None => Some(format!("define it: leave out `extend`, or write `type {name} {{ … }}` too").into()),
            }
        }
        ["cannot find type ", name, ..] => return missing_type(schema, name),
        ["cannot find directive ", name, ..] => directive(schema, name.trim_start_matches('@'), place),
        ["the required argument ", coordinate, ..] => required(coordinate),
        ["duplicate definitions for the ", name, ..] => Some(format!("leave one `{name}` out, or rename it").into()),
        ["the type ", name, " is defined multiple times in the schema", ..] => {
            Some(format!("rename one of them; `extend type {name} {{ … }}` adds fields to the other").into())
        }
        [said] if said.starts_with("missing query root operation type") => return missing_query(schema),
        [said] if said.ends_with("found a list") => return NamedMistake { goes_on: true, ..NamedMistake::help(None) },
        [said] if said.starts_with("expected value of type String") => quoted(place),
        _ => None,
    };
    NamedMistake::help(help)
}

/// A finding without the names of Keyfold's own input types and enums, which no author writes.
pub fn in_own_words(message: &str) -> String {
    match message.split_once(" does not exist on `keyfold__") {
        Some((what, _)) => format!("{what} does not exist here"),
        None => message.to_owned(),
    }
}

fn argument(name: &str, directive: &str) -> Option<Help> {
    let directive = directive.strip_prefix('@')?;
    if let Some(help) = foreign::argument(directive, name) {
        return Some(help.into());
    }
    let definitions = &definitions().definitions;
    let known = definitions.iter().find(|known| directive_name(known).is_some_and(|name| name == directive))?;
    suggest(name, known.as_directive_definition()?.arguments.iter().map(|argument| argument.name.as_str()))
}

/// Whether a directive of a type stands beside `@item`.
fn is_beside_item((text, place): (&str, &Span)) -> bool {
    let before = text.get(..place.start).and_then(|before| before.rsplit(['{', '}']).next()).unwrap_or_default();
    let after = text.get(place.end..).unwrap_or_default();
    before.contains("@item") || after.split('{').next().is_some_and(|after| after.contains("@item"))
}

/// A place with the space that follows it.
fn with_space((text, place): (&str, &Span)) -> Span {
    let rest = text.get(place.end..).unwrap_or_default();
    place.start..place.end + (rest.len() - rest.trim_start_matches(' ').len())
}

/// A field of an input object of a directive. The compiler's place is that of its value.
fn input_field(field: &str, input: &str, (text, place): (&str, &Span)) -> NamedMistake {
    let definitions = &definitions().definitions;
    let known =
        definitions.iter().find_map(|known| known.as_input_object_type_definition().filter(|k| k.name == *input));
    let help = known.and_then(|known| suggest(field, known.fields.iter().map(|field| field.name.as_str())));
    let before = text.get(..place.start).unwrap_or_default();
    let named = before.rfind(field).filter(|at| before[at + field.len()..].trim() == ":");
    NamedMistake { place: named.map(|at| at..at + field.len()), ..NamedMistake::help(help) }
}

/// A value of an enum of Keyfold's: one that begins with the text, or one that is near it.
fn enum_value(value: &str, ty: &str) -> Option<Help> {
    let definitions = &definitions().definitions;
    let enums = definitions.iter().filter_map(|known| known.as_enum_type_definition());
    let known = enums.into_iter().find(|known| known.name == *ty)?;
    let names: Vec<&str> = known.values.iter().map(|known| known.value.as_str()).collect();
    let longer: Vec<&str> = names.iter().copied().filter(|name| name.starts_with(value)).collect();
    match longer.as_slice() {
        [only] => Some(Help::instead(format!("did you mean `{only}`?"), value, *only)),
        _ => suggest(value, names),
    }
}

/// What a directive is here that another tool has, or that is misspelt.
fn directive(schema: &Schema, name: &str, place: (&str, &Span)) -> Option<Help> {
    match foreign::directive(name) {
        Some(_) if foreign::says_keys(name) && is_beside_item(place) => {
            let help = "leave it out: `@item` says where the items live";
            Some(Help::edit(help, with_space(place), ""))
        }
        Some(help) => Some(help.into()),
        None => {
            let known: Vec<&str> = schema.directive_definitions.keys().map(|name| name.as_str()).collect();
            let meant = near(name, &known);
            meant.map(|meant| Help::instead(format!("did you mean `@{meant}`?"), name, meant))
        }
    }
}

/// A required argument of a directive: `@table(name:)`.
fn required(coordinate: &str) -> Option<Help> {
    let (directive, argument) = coordinate.strip_prefix('@')?.strip_suffix(":)")?.split_once('(')?;
    Some(format!("write `@{directive}({argument}: …)`").into())
}

/// A type that nothing defines: a misspelt one, one of another language, or a connection that is not written yet.
fn missing_type(schema: &Schema, name: &str) -> NamedMistake {
    let known = schema.types.keys().map(|name| name.as_str()).filter(|name| !name.starts_with(RESERVED));
    let known: Vec<&str> = known.filter(|name| !name.starts_with("__")).collect();
    let node = name.strip_suffix(CONNECTION).filter(|node| schema.get_object(node).is_some());
    if let Some(node) = node {
        let definition = format!("type {name} {{ nodes: [{node}!]! pageInfo: PageInfo! }}");
        let end = last_definition(schema);
        let help = format!("define the connection: `{definition}`");
        let help = end.map_or_else(
            || Help::from(help.clone()),
            |end| Help::edit(help.clone(), end..end, format!("\n\n{definition}")),
        );
        return NamedMistake { once: true, ..NamedMistake::help(Some(help)) };
    }
    let foreign = foreign::scalar(name).filter(|scalar| known.contains(scalar));
    let meant = near(name, &known);
    let help = match (foreign, meant) {
        (Some(scalar), _) => Some(Help::instead(format!("write `{scalar}`"), name, scalar)),
        (None, Some(meant)) => Some(Help::instead(format!("did you mean `{meant}`?"), name, meant)),
        (None, None) => Some(format!("define it, as a `type {name}`, an `enum {name}` or a `scalar {name}`").into()),
    };
    NamedMistake::help(help)
}

/// The end of the last type in the author's text.
fn last_definition(schema: &Schema) -> Option<usize> {
    let own = schema.types.values().filter(|ty| !ty.is_built_in() && !ty.name().starts_with(RESERVED));
    let objects = own.filter(|ty| ty.is_object() && ty.name() != "PageInfo");
    objects.filter_map(|object| object.location()).map(|at| at.end_offset()).max()
}

/// The root type of queries under another name, or none.
fn missing_query(schema: &Schema) -> NamedMistake {
    let objects = schema.types.values().filter_map(|ty| ty.as_object()).filter(|object| !object.name.starts_with("__"));
    let near = objects
        .filter(|object| {
            ["queries", "querys", "query", "rootquery", "queryroot", "queryies"]
                .contains(&object.name.to_lowercase().as_str())
        })
        .find_map(|object| object.name.location().map(|at| (at, &object.name)));
    match near {
        Some((at, name)) => NamedMistake {
            place: Some(span::from_location(Some(at))),
            help: Some(Help::instead("write `type Query`, the type of all that clients can ask for", name, "Query")),
            once: true,
            goes_on: false,
        },
        None => NamedMistake {
            place: None,
            help: Some("add what clients can ask for: `type Query { user(id: ID!): User @find }`".into()),
            once: true,
            goes_on: false,
        },
    }
}

/// A value in quotes.
fn quoted((text, place): (&str, &Span)) -> Option<Help> {
    let written = text.get(place.clone()).unwrap_or_default();
    let is_plain = !written.is_empty() && written.chars().all(|c| c.is_alphanumeric() || "_.-+".contains(c));
    is_plain
        .then(|| Help::edit(format!("write it in quotes: `\"{written}\"`"), place.clone(), format!("\"{written}\"")))
}
