//! A finding of the compiler about a name or a value in; out: what was probably meant, or the names that there are, and
//! the place to look at where the compiler has none. Must not know what Keyfold's directives mean.

use crate::schema::diagnostics::help::Help;
use crate::schema::diagnostics::span::{self, Span};
use crate::schema::diagnostics::suggestion::{near, suggest};
use crate::schema::syntax::compiler::foreign;
use crate::schema::syntax::definitions::{RESERVED, definitions, directive_name};
use apollo_compiler::Schema;
use apollo_compiler::ast::Definition;

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

/// Explains a finding about a schema, whose place has this text.
pub fn explain(schema: &Schema, finding: &str, place: (&str, &Span)) -> NamedMistake {
    let parts: Vec<&str> = finding.split('`').collect();
    let definitions = &definitions().definitions;
    let help = match parts.as_slice() {
        ["the argument " | "The argument ", name, " is not supported by ", directive, ..] => {
            return NamedMistake::help(argument(name, directive));
        }
        ["value " | "Value ", value, " does not exist on ", ty, ..] => {
            let of_type = |definition: &Definition| {
                definition.as_enum_type_definition().filter(|known| known.name == *ty).cloned()
            };
            let known = definitions.iter().find_map(of_type);
            known.and_then(|known| suggest(value, known.values.iter().map(|known| known.value.as_str())))
        }
        ["cannot find type ", name, ..] => return missing_type(schema, name),
        ["cannot find directive ", directive, ..] => {
            let name = directive.trim_start_matches('@');
            match foreign::directive(name) {
                Some(help) => Some(help.into()),
                None => {
                    let known: Vec<&str> = schema.directive_definitions.keys().map(|name| name.as_str()).collect();
                    let meant = near(name, &known);
                    meant.map(|meant| Help::instead(format!("did you mean `@{meant}`?"), name, meant))
                }
            }
        }
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

fn argument(name: &str, directive: &str) -> Option<Help> {
    let directive = directive.strip_prefix('@')?;
    if (name, directive) == ("rules", "auth") {
        let help = "AWS AppSync's rules are conditions here: `@auth(if: \"ownerId = auth.sub\")` for its owner, \
                    `@auth(signedIn: true)` for whoever signs in, `@auth(public: true)` for everybody";
        return Some(help.into());
    }
    let definitions = &definitions().definitions;
    let known = definitions.iter().find(|known| directive_name(known).is_some_and(|name| name == directive))?;
    suggest(name, known.as_directive_definition()?.arguments.iter().map(|argument| argument.name.as_str()))
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
fn quoted((written, place): (&str, &Span)) -> Option<Help> {
    let is_plain = !written.is_empty() && written.chars().all(|c| c.is_alphanumeric() || "_.-+".contains(c));
    is_plain
        .then(|| Help::edit(format!("write it in quotes: `\"{written}\"`"), place.clone(), format!("\"{written}\"")))
}
