//! OneOf input objects (GraphQL specification of September 2025, section 3.10.1), which apollo-compiler 1 does not
//! support. A schema in; out, the same schema with `@oneOf` and `__Type.isOneOf` as if they were built in, or the
//! mistakes in its OneOf input objects.

use crate::schema::diagnostics::diagnostic::Findings;
use crate::schema::diagnostics::rules;
use crate::schema::diagnostics::span;
use crate::schema::scalar::coerce::{ONE_OF, is_one_of};
use apollo_compiler::ast::{DirectiveLocation, Type};
use apollo_compiler::schema::ExtendedType;
use apollo_compiler::{Name, Schema};

/// The field of `__Type` that tells whether a type is a OneOf input object.
pub const IS_ONE_OF: Name = Name::new_static_unchecked("isOneOf");

/// Adds the directive and the introspection field. Both are copies of built-in neighbours, so they count as built in
/// and a printed schema leaves them out.
pub fn define(schema: &mut Schema) {
    if !schema.directive_definitions.contains_key(&ONE_OF)
        && let Some(mut definition) = schema.directive_definitions.get("specifiedBy").cloned()
    {
        let of = definition.make_mut();
        of.description = Some("Indicates exactly one field must be supplied and this field must not be `null`.".into());
        of.name = ONE_OF;
        of.arguments.clear();
        of.locations = vec![DirectiveLocation::InputObject];
        schema.directive_definitions.insert(ONE_OF, definition);
    }
    if let Some(ExtendedType::Object(ty)) = schema.types.get_mut("__Type")
        && let Some(mut field) = ty.fields.get("specifiedByURL").cloned()
    {
        let of = field.make_mut();
        of.name = IS_ONE_OF;
        of.ty = Type::Named(Name::new_static_unchecked("Boolean"));
        ty.make_mut().fields.insert(IS_ONE_OF, field);
    }
}

/// Reports fields of OneOf input objects that are non-null or have a default.
pub fn check(schema: &Schema, findings: &mut Findings) {
    let inputs = schema.types.values().filter_map(|ty| ty.as_input_object()).filter(|input| is_one_of(input));
    for (input, field) in inputs.flat_map(|input| input.fields.values().map(move |field| (input, field))) {
        let place = span::from_location(field.name.location());
        if field.ty.is_non_null() {
            let message = format!(
                "`{}.{}` is non-null, but clients give exactly one field of a `@oneOf` input",
                input.name, field.name
            );
            findings.error(
                rules::KF0002,
                &place,
                message,
                Some(format!("make it `{}`", (*field.ty).clone().nullable()).into()),
            );
        }
        if field.default_value.is_some() {
            let message = format!(
                "`{}.{}` has a default, but clients give exactly one field of a `@oneOf` input",
                input.name, field.name
            );
            findings.error(rules::KF0002, &place, message, Some("leave the default out".into()));
        }
    }
}
