//! A finding of the compiler about a name in an operation in; out: the name that was probably meant. Only for clients
//! that may ask for the schema: a guess tells of names.

use crate::schema::diagnostics::suggestion::{list, near};
use apollo_compiler::Schema;
use apollo_compiler::schema::ExtendedType;

/// What to write instead, as a sentence.
pub fn meant(api: &Schema, finding: &str) -> Option<String> {
    let parts: Vec<&str> = finding.split('`').collect();
    let (name, choices): (&str, Vec<&str>) = match parts.as_slice() {
        ["type ", ty, " does not have a field ", field, ..] => {
            let known = fields(api, ty);
            if near(field, &known).is_none() {
                return elsewhere(api, ty, field);
            }
            (field, known)
        }
        ["the required argument ", coordinate, ..] => {
            let (field, argument) = coordinate.split_once('.')?.1.strip_suffix(":)")?.split_once('(')?;
            return Some(format!("Write `{field}({argument}: …)`."));
        }
        ["variable ", variable, " is not defined"] => {
            return Some(format!("Declare it with its type, as in `query ({variable}: ID!)`."));
        }
        ["variable ", variable, " of type ", _, " cannot be used for argument ", _, " of type ", ty, ..] => {
            return Some(format!("Declare it as `{variable}: {ty}`."));
        }
        ["", root @ ("mutation" | "subscription"), " root operation type is not defined"] => {
            return Some(format!("The API has no {root}s."));
        }
        [said] if said.starts_with("interface, union and object types must have a subselection set") => {
            return Some("Write the fields that you want in braces behind it, as in `{ __typename }`.".to_owned());
        }
        [said] if said.starts_with("expected value of type") && said.ends_with("found a string") => {
            return bare_value(api, said);
        }
        ["the argument ", name, " is not supported by ", coordinate, ..] => {
            let known = arguments(api, coordinate)?;
            if near(name, &known).is_none() {
                return Some(known_arguments(&known));
            }
            (name, known)
        }
        ["cannot find type ", name, ..] => (name, names(api, &ExtendedType::is_input_type)),
        ["type condition ", name, ..] => (name, names(api, &|ty| ty.is_object() || ty.is_interface() || ty.is_union())),
        [said] if said.starts_with("expected value of type") && said.ends_with("found an enum") => {
            let is_text = [" String,", " String!,", " ID,", " ID!,"].iter().any(|ty| said.contains(ty));
            return is_text.then(|| "Write a text in quotes.".to_owned());
        }
        _ => return None,
    };
    near(name, &choices).map(|choice| format!("Did you mean `{choice}`?"))
}

/// A field that another type has: another root type, or the items of a list.
fn elsewhere(api: &Schema, ty: &str, field: &str) -> Option<String> {
    let roots = [("Query", "query"), ("Mutation", "mutation"), ("Subscription", "subscription")];
    if roots.iter().any(|(root, _)| *root == ty) {
        let (root, word) = roots.iter().find(|(root, _)| *root != ty && api.type_field(root, field).is_ok())?;
        return Some(format!("It is a field of `{root}`: begin the operation with `{word}`."));
    }
    let inside = |path: &[&str]| {
        let last = path.iter().try_fold(ty.to_owned(), |ty, step| {
            Some(api.type_field(&ty, step).ok()?.ty.inner_named_type().to_string())
        })?;
        api.type_field(&last, field).ok()
    };
    let paths: [&[&str]; 3] = [&["nodes"], &["items"], &["edges", "node"]];
    let path = paths.into_iter().find(|path| inside(path).is_some())?;
    let (open, close) = (path.join(" { "), " }".repeat(path.len()));
    Some(format!("It is a field of the items: `{open} {{ {field} }}{}`.", &close[2..]))
}

/// A value in quotes that stands without them.
fn bare_value(api: &Schema, said: &str) -> Option<String> {
    let ty = said.strip_prefix("expected value of type ")?.split(',').next()?.trim_matches(['!', '[', ']']);
    let is_bare = matches!(ty, "Int" | "Float" | "Boolean") || api.get_enum(ty).is_some();
    is_bare.then(|| "Write it without quotes.".to_owned())
}

fn fields<'s>(api: &'s Schema, ty: &str) -> Vec<&'s str> {
    match api.types.get(ty) {
        Some(ExtendedType::Object(object)) => object.fields.keys().map(|name| name.as_str()).collect(),
        Some(ExtendedType::Interface(interface)) => interface.fields.keys().map(|name| name.as_str()).collect(),
        _ => Vec::new(),
    }
}

/// The arguments of a field, `Query.user`.
fn arguments<'s>(api: &'s Schema, coordinate: &str) -> Option<Vec<&'s str>> {
    let (ty, field) = coordinate.split_once('.')?;
    let field = api.type_field(ty, field).ok()?;
    Some(field.arguments.iter().map(|argument| argument.name.as_str()).collect())
}

/// What a field takes in place of an argument that it lacks.
fn known_arguments(known: &[&str]) -> String {
    match known {
        [] => "It has no arguments.".to_owned(),
        known => format!("It takes {}.", list(known)),
    }
}

/// The types of some kind that are not those of introspection.
fn names<'s>(api: &'s Schema, is: &dyn Fn(&ExtendedType) -> bool) -> Vec<&'s str> {
    let all = api.types.iter().filter(|(name, ty)| is(ty) && !name.starts_with("__"));
    all.map(|(name, _)| name.as_str()).collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::meant;
    use apollo_compiler::Schema;

    #[test]
    fn a_near_name_is_meant() {
        let text = "type Query { team(id: ID!): Team } type Team { name: String }";
        let api = Schema::parse_and_validate(text, "s").unwrap();
        let said = |finding: &str| meant(&api, finding);
        let did = |name: &str| Some(format!("Did you mean `{name}`?"));
        assert_eq!(said("type `Team` does not have a field `nam`"), did("name"));
        assert_eq!(said("type `Query` does not have a field `taem`"), did("team"));
        assert_eq!(said("the argument `ide` is not supported by `Query.team`"), did("id"));
        assert_eq!(said("cannot find type `Id` in this document"), did("ID"));
        assert_eq!(said("type condition `Teem` of inline fragment is not a type defined in the schema"), did("Team"));
        assert_eq!(said("expected value of type ID!, found an enum").as_deref(), Some("Write a text in quotes."));
        assert_eq!(said("type `Team` does not have a field `__schema`"), None);
        let other = said("the argument `name` is not supported by `Query.team`");
        assert_eq!(other.as_deref(), Some("It takes `id`."));
    }

    #[test]
    fn what_is_at_another_place_is_said_with_it() {
        let text = "type Query { teams: Page all: Edges size(n: Int): Int } type Mutation { rename(id: ID!): Team } \
                    type Team { name: String } type Page { nodes: [Team] } type Edges { edges: [Edge] } \
                    type Edge { node: Team } enum Role { OWNER }";
        let api = Schema::parse_and_validate(text, "s").unwrap();
        for (finding, remedy) in [
            ("type `Query` does not have a field `rename`", "begin the operation with `mutation`."),
            ("type `Mutation` does not have a field `teams`", "begin the operation with `query`."),
            ("type `Page` does not have a field `name`", "It is a field of the items: `nodes { name }`."),
            ("type `Edges` does not have a field `name`", "`edges { node { name } }`."),
            ("the required argument `Mutation.rename(id:)` is not provided", "Write `rename(id: …)`."),
            ("variable `$id` is not defined", "as in `query ($id: ID!)`."),
            ("variable `$n` of type `String` cannot be used for argument `n` of type `Int`", "as `$n: Int`."),
            ("`subscription` root operation type is not defined", "The API has no subscriptions."),
            ("interface, union and object types must have a subselection set", "`{ __typename }`."),
            ("expected value of type Int, found a string", "without quotes."),
            ("expected value of type Role!, found a string", "without quotes."),
        ] {
            let said = meant(&api, finding);
            assert!(said.as_deref().is_some_and(|said| said.ends_with(remedy)), "{finding}: {said:?}");
        }
        assert_eq!(meant(&api, "expected value of type Team, found a string"), None);
        assert_eq!(meant(&api, "type `Page` does not have a field `nothing`"), None);
    }
}
