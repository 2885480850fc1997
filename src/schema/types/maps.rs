//! `@attribute(stored: MAP, by:, value:)` in, how a list of embedded objects is kept as a map out. Must not know keys.

use crate::schema::diagnostics::diagnostic::Findings;
use crate::schema::diagnostics::help::Help;
use crate::schema::diagnostics::rules;
use crate::schema::diagnostics::span::{At, Span, from_location};
use crate::schema::diagnostics::suggestion::suggest;
use crate::schema::model::rules::Rules;
use crate::schema::scalar::form::{MapField, MapForm};
use crate::schema::scalar::value_type::ValueType;
use crate::schema::syntax::directives::{name, text};
use crate::schema::table::KeyType;
use crate::schema::types::draft::{Declared, Kind, SchemaDraft, is_stored};
use crate::schema::types::{forms, inputs, values};
use apollo_compiler::ast::{Directive, FieldDefinition};
use apollo_compiler::schema::ObjectType;
use std::sync::Arc;

/// A mistake: its place, its message and its help.
type Mistake = (Span, String, Option<Help>);

/// Gives a field the map that its `@attribute` says. `coordinate` is `Type.field`.
pub fn apply(
    draft: &SchemaDraft,
    declared: &mut Declared,
    attribute: Option<&Directive>,
    coordinate: &str,
    findings: &mut Findings,
) {
    let Some(attribute) = attribute else { return };
    let stored = name(attribute, "stored").filter(|stored| stored.value == "MAP");
    let lone = ["by", "value"].into_iter().find_map(|word| Some((word, text(attribute, word)?)));
    let found = match (stored, lone) {
        (None, None) => return,
        (None, Some((word, at))) => {
            let message = format!("`{word}:` has no effect on `{coordinate}`, which is not stored as MAP");
            Err((at.span, message, Some("add `stored: MAP`, or leave it out".into())))
        }
        (Some(stored), _) => form(draft, (declared, coordinate), attribute, &stored.span),
    };
    match found {
        Ok(form) => declared.value = ValueType::Map(Arc::new(form)),
        Err((span, message, help)) => findings.error(rules::KF0311, &span, message, help),
    }
}

/// The map of a field.
fn form(
    draft: &SchemaDraft,
    (declared, coordinate): (&Declared, &str),
    attribute: &Directive,
    stored: &Span,
) -> Result<MapForm, Mistake> {
    let embedded = declared.value.embedded().filter(|_| inputs::depth_of(&declared.ty) == 1);
    let object = embedded.filter(|name| draft.kind(name) == Some(&Kind::Embedded));
    let Some(object) = object.and_then(|name| draft.schema.get_object(name)) else {
        let message = format!("`{coordinate}` of type `{}` cannot be stored as MAP", declared.ty);
        return Err((stored.clone(), message, Some("only a list of embedded objects is kept as a map".into())));
    };
    let Some(by) = text(attribute, "by") else {
        let message = format!("`{coordinate}` is stored as MAP, but no field of `{}` is the key", object.name);
        let help = format!("write `by: \"…\"` with {}", one_of(draft, object));
        return Err((stored.clone(), message, Some(help.into())));
    };
    let key = key_field(draft, object, &by)?;
    let value = text(attribute, "value").map(|value| value_field(draft, object, (&by, &value))).transpose()?;
    Ok(MapForm { element: object.name.to_string(), by: key, value })
}

/// The field that is the key of each entry.
fn key_field(draft: &SchemaDraft, object: &ObjectType, by: &At<String>) -> Result<MapField, Mistake> {
    let of = &object.name;
    let fail = |message: String, help: Option<Help>| Err((by.span.clone(), message, help));
    let Some((field, declared)) = stored_field(draft, object, &by.value) else {
        let stored = object.fields.values().filter(|field| is_stored(field)).map(|field| field.name.as_str());
        let help = suggest(&by.value, stored).or_else(|| Some(format!("name {}", one_of(draft, object)).into()));
        return fail(format!("`{}` is not a stored field of `{of}`", by.value), help);
    };
    if !field.ty.is_non_null() {
        let message = format!("`{of}.{}` may be null, so it cannot be the key of a map", by.value);
        return fail(message, Some(format!("make it `{}!`", field.ty).into()));
    }
    if !is_key(&declared) {
        let message = format!("`{of}.{}` of type `{}` cannot be the key of a map, which is a text", by.value, field.ty);
        return fail(message, Some(format!("name {}", one_of(draft, object)).into()));
    }
    Ok(MapField { field: by.value.clone(), attribute: declared.attribute })
}

/// The field that is the value of each entry.
fn value_field(
    draft: &SchemaDraft,
    object: &ObjectType,
    (by, value): (&At<String>, &At<String>),
) -> Result<MapField, Mistake> {
    let of = &object.name;
    let fail = |message: String, help: Help| Err((value.span.clone(), message, Some(help)));
    let others: Vec<&str> = object
        .fields
        .values()
        .filter(|field| is_stored(field) && field.name != by.value.as_str())
        .map(|field| field.name.as_str())
        .collect();
    let own = stored_field(draft, object, &value.value).filter(|_| value.value != by.value);
    let Some((field, declared)) = own else {
        let help = suggest(&value.value, others.iter().copied()).unwrap_or_else(|| "leave `value:` out".into());
        return fail(format!("`{}` is not another stored field of `{of}`", value.value), help);
    };
    if let Some(other) = others.iter().find(|other| **other != value.value.as_str()) {
        let message = format!("an entry that is only its `{}` has no place for `{of}.{other}`", value.value);
        return fail(message, "leave `value:` out, so that each entry is an object".into());
    }
    if !field.ty.is_non_null() {
        let message = format!("`{of}.{}` may be null, so it cannot be all that an entry is", value.value);
        return fail(message, format!("make it `{}!`", field.ty).into());
    }
    if field.ty.is_list() || declared.value.embedded().is_some() {
        let message = format!("`{of}.{}` of type `{}` is no single value", value.value, field.ty);
        return fail(message, "leave `value:` out, so that each entry is an object".into());
    }
    Ok(MapField { field: value.value.clone(), attribute: declared.attribute })
}

/// A stored field of an embedded type, by itself.
fn stored_field<'d>(
    draft: &'d SchemaDraft,
    object: &'d ObjectType,
    name: &str,
) -> Option<(&'d FieldDefinition, Declared)> {
    let field = object.fields.get(name).filter(|field| is_stored(field))?;
    let attribute = field.directives.get("attribute");
    let stored_as = attribute.and_then(|directive| text(directive, "name"));
    let mut declared = Declared {
        ty: field.ty.clone(),
        value: values::value_type(draft.schema, field.ty.inner_named_type())?,
        attribute: stored_as.as_ref().map_or_else(|| field.name.to_string(), |at| at.value.clone()),
        named: stored_as.is_some(),
        span: from_location(field.name.location()),
        rules: Rules::default(),
    };
    // A mistake in the form is reported where the field's own type is read.
    forms::apply(&mut declared, attribute.map(|directive| &**directive), name, &mut Findings::default());
    Some((field, declared))
}

/// Whether the text of a field can be a key.
fn is_key(declared: &Declared) -> bool {
    !declared.ty.is_list() && values::stored_key_type(&declared.value) == Some(KeyType::S)
}

/// What may be named as the key, to complete a help.
fn one_of(draft: &SchemaDraft, object: &ObjectType) -> String {
    let fits = |name: &str| {
        stored_field(draft, object, name).is_some_and(|(field, declared)| field.ty.is_non_null() && is_key(&declared))
    };
    let fields: Vec<String> = object.fields.keys().filter(|name| fits(name)).map(|name| format!("`{name}`")).collect();
    match fields.as_slice() {
        [] => "a field that is never null and kept as text, such as a `String!` or an enum".to_owned(),
        fields => fields.join(" or "),
    }
}
