//! The fields of a path with the values of their arguments in, the text of an operation out. Must not know how values
//! are chosen.

use crate::schema::model::page::{ITEMS, PageForm};
use crate::schema::model::{Argument, Field, FieldKind, Model, ObjectType, TypeKind};
use apollo_compiler::Name;
use apollo_compiler::ast::{InputValueDefinition, Type};
use apollo_compiler::schema::{Component, ExtendedType};
use serde_json::{Map, Value, json};

/// How deep embedded objects are selected. Deeper ones do not change the requests.
const MAX_DEPTH: usize = 3;

/// One field of an operation.
#[derive(Clone)]
pub struct FieldCall {
    /// The field's name.
    pub field: String,
    /// `(id: "1")`, or nothing.
    pub arguments: String,
    /// The type that has the field.
    pub parent: String,
}

/// The text of an operation with nested fields. Without `innermost`, the last field is left out, and each object
/// selects everything that is stored in it, so that it is read.
pub fn text(model: &Model, keyword: &str, calls: &[FieldCall], innermost: bool) -> Option<String> {
    let mut lines = Vec::new();
    level(model, calls, innermost, 1, &mut lines)?;
    let keyword = if keyword == "query" { String::new() } else { format!("{keyword} ") };
    Some(format!("{keyword}{{\n{}\n}}\n", lines.join("\n")))
}

fn level(model: &Model, calls: &[FieldCall], innermost: bool, depth: usize, lines: &mut Vec<String>) -> Option<()> {
    let indent = "  ".repeat(depth);
    let (call, rest) = calls.split_first()?;
    let ty = &model.api.type_field(&call.parent, &call.field).ok()?.ty;
    let inner = ty.inner_named_type().as_str();
    let head = format!("{indent}{}{}", call.field, call.arguments);
    if rest.is_empty() {
        let selection = leafs(model, inner, 0);
        if selection.is_empty() {
            lines.push(head);
        } else {
            lines.push(format!("{head} {{"));
            lines.extend(selection.into_iter().map(|line| format!("{indent}  {line}")));
            lines.push(format!("{indent}}}"));
        }
        return Some(());
    }
    let mut page: Vec<String> = page(model, inner).into_iter().map(str::to_owned).collect();
    let next = &rest.first()?.parent;
    let given = match model.types.get(inner).map(|object| &object.kind) {
        Some(TypeKind::Connection(node)) => node.as_str(),
        _ => inner,
    };
    if given != next {
        page.push(format!("... on {next}"));
    }
    lines.push(format!("{head} {{"));
    let mut depth = depth + 1;
    for part in &page {
        lines.push(format!("{}{part} {{", "  ".repeat(depth)));
        depth += 1;
    }
    let stored = if innermost { Vec::new() } else { leafs(model, next, 0) };
    lines.extend(stored.into_iter().map(|line| format!("{}{line}", "  ".repeat(depth))));
    if rest.len() > 1 || innermost {
        level(model, rest, innermost, depth, lines)?;
    }
    for depth in (depth - page.len() - 1..depth).rev() {
        lines.push(format!("{}}}", "  ".repeat(depth)));
    }
    Some(())
}

/// The fields that lead from a connection to its objects; none for other types.
fn page(model: &Model, type_name: &str) -> Vec<&'static str> {
    let has = |field: &str| model.api.type_field(type_name, field).is_ok();
    match model.types.get(type_name).map(|object| &object.kind) {
        Some(TypeKind::Connection(_)) if has("nodes") => vec!["nodes"],
        Some(TypeKind::Connection(_)) if has("edges") => vec!["edges", "node"],
        Some(TypeKind::Connection(_)) if has(ITEMS) => vec![ITEMS],
        _ => Vec::new(),
    }
}

/// Lines that select everything stored in an object of a type; none for a scalar.
fn leafs(model: &Model, type_name: &str, depth: usize) -> Vec<String> {
    let nested = |head: String, lines: Vec<String>| {
        let inner = lines.into_iter().map(|line| format!("  {line}"));
        std::iter::once(format!("{head} {{")).chain(inner).chain(["}".to_owned()]).collect::<Vec<_>>()
    };
    match model.api.types.get(type_name) {
        Some(ExtendedType::Object(_)) => {
            let Some(object) = model.types.get(type_name) else { return vec!["__typename".into()] };
            if let TypeKind::Connection(node) = &object.kind {
                let lines = leafs(model, node, depth);
                let wrapped =
                    page(model, type_name).into_iter().rev().fold(lines, |lines, part| nested(part.into(), lines));
                let paged = model.api.type_field(type_name, "pageInfo").is_ok() && page(model, type_name).is_empty();
                return if paged { vec!["pageInfo { hasNextPage }".into()] } else { wrapped };
            }
            let lines = stored(model, object, depth);
            if lines.is_empty() { vec!["__typename".into()] } else { lines }
        }
        Some(ExtendedType::Union(union)) => members(model, union.members.iter().map(|name| name.as_str()), depth),
        Some(ExtendedType::Interface(interface)) => {
            let implements = |object: &&ObjectType| match model.api.types.get(object.name.as_str()) {
                Some(ExtendedType::Object(definition)) => {
                    definition.implements_interfaces.iter().any(|name| **name == interface.name)
                }
                _ => false,
            };
            members(model, model.types.values().filter(implements).map(|object| object.name.as_str()), depth)
        }
        _ => Vec::new(),
    }
}

fn stored(model: &Model, object: &ObjectType, depth: usize) -> Vec<String> {
    let mut lines = Vec::new();
    // Computed fields, and those of a payload, are selected as stored fields are.
    let is_there =
        |field: &&Field| matches!(field.kind, FieldKind::Stored(_) | FieldKind::Computed(_) | FieldKind::Payload);
    for field in object.fields.values().filter(is_there) {
        let Ok(definition) = model.api.type_field(&object.name, &field.name) else { continue };
        let inner = definition.ty.inner_named_type().as_str();
        match model.api.types.get(inner) {
            Some(ExtendedType::Object(_)) if depth >= MAX_DEPTH => {}
            Some(ExtendedType::Object(_)) => {
                lines.push(format!("{} {{", field.name));
                lines.extend(leafs(model, inner, depth + 1).into_iter().map(|line| format!("  {line}")));
                lines.push("}".into());
            }
            _ => lines.push(field.name.clone()),
        }
    }
    lines
}

/// One fragment for each type. A field with different types in two fragments gets an alias (GraphQL spec section 5.3.2,
/// "Field Selection Merging").
fn members<'m>(model: &Model, names: impl Iterator<Item = &'m str>, depth: usize) -> Vec<String> {
    let objects: Vec<&ObjectType> = names.filter_map(|name| model.types.get(name)).collect();
    let ty =
        |object: &ObjectType, field: &str| model.api.type_field(&object.name, field).ok().map(|field| field.ty.clone());
    let clashes = |object: &ObjectType, field: &str| {
        let own = ty(object, field);
        objects.iter().filter_map(|other| ty(other, field)).any(|other| own.as_ref() != Some(&other))
    };
    let mut lines = vec!["__typename".to_owned()];
    for object in &objects {
        lines.push(format!("... on {} {{", object.name));
        let stored = stored(model, object, depth);
        if stored.is_empty() {
            lines.push("  __typename".into());
        }
        for line in stored {
            let field = line.trim_end_matches(" {");
            // Lines of embedded objects are indented.
            let alias = if clashes(object, field) { format!("{}_{field}: ", object.name) } else { String::new() };
            lines.push(format!("  {alias}{line}"));
        }
        lines.push("}".into());
    }
    lines
}

/// `(id: "1", first: 2)`: the arguments that have a value.
pub fn arguments(model: &Model, given: &[(String, &Type, Value)]) -> String {
    let written: Vec<String> =
        given.iter().map(|(name, ty, value)| format!("{name}: {}", literal(model, ty, value))).collect();
    if written.is_empty() { String::new() } else { format!("({})", written.join(", ")) }
}

/// A value as GraphQL writes it (GraphQL spec section 2.9, "Input Values").
pub fn literal(model: &Model, ty: &Type, value: &Value) -> String {
    let element = match ty {
        Type::List(element) | Type::NonNullList(element) => Some(element),
        _ => None,
    };
    match (value, element) {
        (Value::Null, _) => "null".into(),
        (Value::Array(values), Some(element)) => {
            format!("[{}]", values.iter().map(|value| literal(model, element, value)).collect::<Vec<_>>().join(", "))
        }
        (value, Some(element)) => format!("[{}]", literal(model, element, value)),
        (value, None) => match (model.api.types.get(ty.inner_named_type()), value) {
            (Some(ExtendedType::Enum(_)), Value::String(name)) => name.clone(),
            (kind, Value::Object(members)) => {
                // An input object may lack fields that an item has.
                let is_input = matches!(kind, Some(ExtendedType::InputObject(_)));
                let fields = members.iter().filter_map(|(name, value)| match input_field(model, ty, name) {
                    Some(ty) => Some(format!("{name}: {}", literal(model, &ty, value))),
                    None => (!is_input).then(|| format!("{name}: {value}")),
                });
                format!("{{ {} }}", fields.collect::<Vec<_>>().join(", "))
            }
            (_, value) => value.to_string(),
        },
    }
}

fn input_field(model: &Model, ty: &Type, name: &str) -> Option<Type> {
    match model.api.types.get(ty.inner_named_type())? {
        ExtendedType::InputObject(input) => Some(input.fields.get(name)?.ty.as_ref().clone()),
        _ => None,
    }
}

/// The value of an argument or of an input object's field: the chosen one, or any that its type accepts. `None` if none
/// was chosen and none is required.
pub fn value(
    model: &Model,
    path: &str,
    ty: &Type,
    chosen: &dyn Fn(&str) -> Option<Value>,
    depth: usize,
) -> Option<Value> {
    if let Some(value) = chosen(path) {
        return Some(value);
    }
    let required = ty.is_non_null();
    match model.api.types.get(ty.inner_named_type()) {
        Some(ExtendedType::InputObject(input)) if depth < MAX_DEPTH => {
            let mut members = Map::new();
            for field in input.fields.values() {
                let inner = value(model, &format!("{path}.{}", field.name), &field.ty, chosen, depth + 1);
                let inner = inner
                    .filter(|_| field.default_value.is_none() || chosen(&format!("{path}.{}", field.name)).is_some());
                members.extend(inner.map(|value| (field.name.to_string(), value)));
            }
            (required || !members.is_empty()).then_some(Value::Object(members))
        }
        _ if !required => None,
        Some(ExtendedType::Enum(definition)) => definition.values.keys().next().map(|name| json!(name.as_str())),
        _ if ty.is_list() => Some(json!([])),
        _ => Some(match ty.inner_named_type().as_str() {
            "Int" | "Long" | "Float" => json!(1),
            "Boolean" => json!(true),
            "DateTime" => json!("2026-01-01T00:00:00.000Z"),
            "Date" => json!("2026-01-01"),
            "Decimal" => json!("1"),
            "Binary" => json!("AA=="),
            _ => json!(path.rsplit('.').next().unwrap_or(path)),
        }),
    }
}

/// The chosen value of an argument or of an input object's field, with nothing that was not chosen.
pub fn chosen_value(
    model: &Model,
    path: &str,
    ty: &Type,
    chosen: &dyn Fn(&str) -> Option<Value>,
    depth: usize,
) -> Option<Value> {
    let of_fields = || {
        let Some(ExtendedType::InputObject(input)) = model.api.types.get(ty.inner_named_type()) else { return None };
        let member = |(name, field): (&Name, &Component<InputValueDefinition>)| {
            let value = chosen_value(model, &format!("{path}.{name}"), &field.ty, chosen, depth + 1)?;
            Some((name.to_string(), value))
        };
        let members: Map<String, Value> = input.fields.iter().filter_map(member).collect();
        (!members.is_empty()).then_some(Value::Object(members))
    };
    chosen(path).or_else(|| if ty.is_list() || depth == MAX_DEPTH { None } else { of_fields() })
}

/// Whether an argument of a field pages or sorts, so that it chooses no path.
pub fn is_paging(model: &Model, field: &Field, argument: &Argument) -> bool {
    let of_page = model.page_form(field).unwrap_or(PageForm::Connection).arguments();
    of_page.iter().chain(&["orderBy", "order"]).any(|name| argument.name == *name)
}
