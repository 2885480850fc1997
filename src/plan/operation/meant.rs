//! A finding of the compiler about a name in an operation in; out: the name that was probably meant. Only for clients
//! that may ask for the schema: a guess tells of names.

use crate::schema::diagnostics::suggestion::near;
use apollo_compiler::Schema;
use apollo_compiler::schema::ExtendedType;

/// What to write instead, as a sentence.
pub fn meant(api: &Schema, finding: &str) -> Option<String> {
    let parts: Vec<&str> = finding.split('`').collect();
    let (name, choices): (&str, Vec<&str>) = match parts.as_slice() {
        ["type ", ty, " does not have a field ", field, ..] => (field, fields(api, ty)),
        ["the argument ", name, " is not supported by ", coordinate, ..] => (name, arguments(api, coordinate)?),
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
    }
}
