//! A model in; JSON Schema (draft 2020-12) of what each service gets and answers out. Authors of services use it.

use crate::schema::model::service::{MutationCall, Resolution};
use crate::schema::model::{Field, FieldKind, Model, ObjectType, Stored};
use crate::schema::scalar::value_type::ValueType;
use apollo_compiler::Node;
use apollo_compiler::ast::{InputValueDefinition, Type};
use apollo_compiler::executable::{Selection, SelectionSet};
use apollo_compiler::schema::ExtendedType;
use serde_json::{Map, Value, json};

/// The JSON Schema of each service's fields: service → field → request and answer.
pub fn service_schemas(model: &Model) -> Value {
    let mut services = Map::new();
    for (position, service) in model.services.iter().enumerate() {
        let mut fields = Map::new();
        for (ty, field, resolution) in resolved(model).filter(|(.., resolution)| resolution.service == position) {
            fields.insert(format!("{}.{}", ty.name, field.name), field_schema(model, (ty, field, resolution)));
        }
        for (coordinate, call) in calls(model).filter(|(_, call)| call.service == position) {
            fields.insert(coordinate.clone(), call_schema(model, (&coordinate, call)));
        }
        services.insert(service.name.clone(), Value::Object(fields));
    }
    json!({ "$schema": "https://json-schema.org/draft/2020-12/schema", "services": services })
}

fn resolved(model: &Model) -> impl Iterator<Item = (&ObjectType, &Field, &Resolution)> {
    model.types.values().flat_map(|ty| ty.fields.values().map(move |field| (ty, field))).filter_map(|(ty, field)| {
        match &field.kind {
            FieldKind::Resolved(resolution) => Some((ty, field, &**resolution)),
            _ => None,
        }
    })
}

/// The calls of mutations, each with the coordinate of its field.
fn calls(model: &Model) -> impl Iterator<Item = (String, &MutationCall)> {
    model.types.values().flat_map(|ty| ty.fields.values().map(move |field| (ty, field))).flat_map(|(ty, field)| {
        let calls = if let FieldKind::Write(write) = &field.kind { write.calls.as_slice() } else { &[] };
        calls.iter().map(move |call| (format!("{}.{}", ty.name, field.name), call))
    })
}

/// A call of a mutation has one item, and a key. What undoes it has no part of the item.
fn call_schema(model: &Model, (coordinate, call): (&str, &MutationCall)) -> Value {
    let inputs: Map<String, Value> = call.inputs.keys().map(|name| (name.clone(), json!({}))).collect();
    let item = json!({ "type": "object", "properties": inputs });
    let mut request = json!({
        "type": "object",
        "required": ["field", "caller", "key", "items"],
        "properties": {
            "field": { "const": coordinate },
            "caller": caller(&model.services[call.service].claims),
            "key": { "type": "string" },
            "items": { "type": "array", "minItems": 1, "maxItems": 1, "items": item },
        },
    });
    if let Some(undo) = &call.undo {
        request["properties"]["undo"] = json!({ "const": undo });
    }
    let data = match &call.returns {
        Some(ty) => result_schema(model, ty.inner_named_type()),
        None => json!({}),
    };
    json!({ "request": request, "answer": answer(data) })
}

/// The object that a call's result is. Members that the input type does not have are left out of it.
fn result_schema(model: &Model, name: &str) -> Value {
    let Some(ExtendedType::InputObject(object)) = model.api.types.get(name) else { return json!({ "type": "object" }) };
    let is_required = |field: &&Node<InputValueDefinition>| field.ty.is_non_null() && field.default_value.is_none();
    let fields = object.fields.values().map(|field| &field.node);
    let required: Vec<&str> = fields.clone().filter(is_required).map(|field| field.name.as_str()).collect();
    let properties: Map<String, Value> =
        fields.map(|field| (field.name.to_string(), input_schema(model, &field.ty))).collect();
    json!({ "type": "object", "required": required, "properties": properties })
}

/// An answer whose results have this data.
fn answer(data: Value) -> Value {
    let error = json!({
        "type": "object",
        "required": ["code", "message"],
        "properties": { "code": { "type": "string" }, "message": { "type": "string" } },
    });
    let result = json!({ "oneOf": [
        { "type": "object", "required": ["data"], "properties": { "data": data } },
        { "type": "object", "required": ["error"], "properties": { "error": error } },
    ] });
    json!({
        "type": "object",
        "required": ["results"],
        "properties": { "results": { "type": "array", "items": result } },
    })
}

fn field_schema(model: &Model, (ty, field, resolution): (&ObjectType, &Field, &Resolution)) -> Value {
    let claims = &model.services[resolution.service].claims;
    let mut request = json!({
        "type": "object",
        "required": ["field", "caller", "items"],
        "properties": {
            "field": { "const": format!("{}.{}", ty.name, field.name) },
            "caller": caller(claims),
            "items": { "type": "array", "maxItems": resolution.max, "items": selected(model, &resolution.requires) },
        },
    });
    if !field.arguments.is_empty() {
        let arguments =
            field.arguments.iter().map(|argument| (argument.name.clone(), input_schema(model, &argument.ty)));
        let arguments: Map<String, Value> = arguments.collect();
        request["properties"]["arguments"] = json!({ "type": "object", "properties": arguments });
    }
    let data = value(model, (&field.ty, &resolution.kind), &[]);
    json!({ "request": request, "answer": answer(data) })
}

/// The claims of a caller, or null.
fn caller(claims: &[String]) -> Value {
    let properties: Map<String, Value> = claims.iter().map(|claim| (claim.clone(), json!({}))).collect();
    match claims.is_empty() {
        true => json!({ "type": "null" }),
        false => json!({ "type": ["object", "null"], "properties": properties }),
    }
}

/// An object with the selected fields.
fn selected(model: &Model, set: &SelectionSet) -> Value {
    let mut properties = Map::new();
    add_selected(model, set, &mut properties);
    json!({ "type": "object", "properties": properties })
}

fn add_selected(model: &Model, set: &SelectionSet, properties: &mut Map<String, Value>) {
    for selection in &set.selections {
        match selection {
            Selection::Field(field) => {
                let inner = match field.selection_set.selections.is_empty() {
                    true => leaf(model, field.ty().inner_named_type()),
                    false => selected(model, &field.selection_set),
                };
                properties.insert(field.response_key().to_string(), wrapped(field.ty(), inner));
            }
            Selection::InlineFragment(fragment) => add_selected(model, &fragment.selection_set, properties),
            Selection::FragmentSpread(_) => {}
        }
    }
}

/// A declared value.
fn value(model: &Model, (ty, kind): (&Type, &ValueType), within: &[&str]) -> Value {
    let inner = match kind.embedded().and_then(|name| model.types.get(name)) {
        // A type within itself has no end.
        Some(object) if within.contains(&object.name.as_str()) => json!({ "type": "object" }),
        None => leaf(model, ty.inner_named_type()),
        Some(object) => {
            let stored = object.fields.values().filter_map(|field| Some((field, object.stored(&field.name)?)));
            let within: Vec<&str> = within.iter().copied().chain([object.name.as_str()]).collect();
            let member = |(field, stored): (&Field, &Stored)| {
                (field.name.clone(), value(model, (&field.ty, &stored.value), &within))
            };
            let fields: Map<String, Value> = stored.map(member).collect();
            json!({ "type": "object", "properties": fields, "additionalProperties": false })
        }
    };
    wrapped(ty, inner)
}

/// The schema of an input of a type, or of its elements. Input objects are any objects.
fn input_schema(model: &Model, ty: &Type) -> Value {
    wrapped(ty, leaf(model, ty.inner_named_type()))
}

/// A value in the lists of its type, with the nulls that it allows.
fn wrapped(ty: &Type, inner: Value) -> Value {
    let schema = match ty {
        Type::List(element) | Type::NonNullList(element) => {
            json!({ "type": "array", "items": wrapped(element, inner) })
        }
        Type::Named(_) | Type::NonNullNamed(_) => inner,
    };
    if ty.is_non_null() { schema } else { json!({ "anyOf": [schema, { "type": "null" }] }) }
}

/// A scalar or an enum.
fn leaf(model: &Model, name: &str) -> Value {
    match (name, model.api.types.get(name)) {
        ("Int" | "Long" | "AWSTimestamp", _) => json!({ "type": "integer" }),
        ("Float", _) => json!({ "type": "number" }),
        ("Boolean", _) => json!({ "type": "boolean" }),
        ("JSON", _) => json!({}),
        (_, Some(ExtendedType::Enum(values))) => {
            json!({ "enum": values.values.keys().map(|value| value.as_str()).collect::<Vec<_>>() })
        }
        (_, Some(ExtendedType::InputObject(_))) => json!({ "type": "object" }),
        _ => json!({ "type": "string" }),
    }
}
