//! Object types in, the model's types with their fields out: each field is read by the folder of its subject. Must not
//! know how a find is served.

use crate::schema::diagnostics::diagnostic::Findings;
use crate::schema::diagnostics::help::{Edit, Help};
use crate::schema::diagnostics::rules;
use crate::schema::diagnostics::span;
use crate::schema::model::auth::AuthRules;
use crate::schema::model::rules::Rules;
use crate::schema::model::watch::ChangePart;
use crate::schema::model::{Argument, Field, FieldKind, ObjectType, TypeKind};
use crate::schema::services::resolve;
use crate::schema::syntax::directives::{named, write_of};
use crate::schema::types::draft::{Kind, SchemaDraft};
use crate::schema::types::{computed, fields};
use crate::schema::{finds, nodes, rules as field_rules, watches, writes};
use apollo_compiler::ast::{FieldDefinition, InputValueDefinition, OperationType, Type, Value};
use indexmap::IndexMap;
use std::sync::Arc;

/// Every object type, without the fields that have mistakes.
pub fn read_object_types(draft: &SchemaDraft, findings: &mut Findings) -> IndexMap<String, ObjectType> {
    let mut types = IndexMap::new();
    for object in draft.objects() {
        let name = object.name.to_string();
        let Some(kind) = draft.kind(&name) else { continue };
        let mut read = IndexMap::new();
        for field in object.fields.values() {
            if let Some(field_kind) = field_kind(draft, (&name, kind), field, findings) {
                let rules = draft.records.get(&name).and_then(|record| record.get(field.name.as_str()));
                let rules = rules.map(|declared| declared.rules.clone()).unwrap_or_default();
                read.insert(field.name.to_string(), model_field(draft, field, field_kind, rules));
            }
        }
        let Some(kind) = type_kind(draft, &name, kind) else { continue };
        let defaults = field_rules::in_order(&read);
        types.insert(name.clone(), ObjectType { name, kind, fields: read, defaults, auth: AuthRules::default() });
    }
    types
}

fn type_kind(draft: &SchemaDraft, name: &str, kind: &Kind) -> Option<TypeKind> {
    Some(match kind {
        Kind::Root(_) => TypeKind::Root,
        Kind::Item => TypeKind::Item(draft.items.get(name)?.clone()),
        Kind::Embedded => TypeKind::Embedded,
        Kind::Connection(node) => TypeKind::Connection(node.clone()),
        Kind::Edge => TypeKind::Edge,
        Kind::PageInfo => TypeKind::PageInfo,
        Kind::Change(item) => TypeKind::Change(item.clone()),
        Kind::Payload => TypeKind::Payload,
        Kind::Misshapen => return None,
    })
}

fn field_kind(
    draft: &SchemaDraft,
    (type_name, kind): (&str, &Kind),
    field: &FieldDefinition,
    findings: &mut Findings,
) -> Option<FieldKind> {
    let find = field.directives.get("find");
    let coordinate = format!("{type_name}.{}", field.name);
    match kind {
        Kind::Root(OperationType::Subscription) => watching(draft, type_name, field, findings),
        _ if let Some(watch) = field.directives.get("watch") => {
            let message = format!("`@watch` is on `{coordinate}`, but only fields of the Subscription type watch");
            findings.error(rules::KF0901, &named(watch), message, None);
            None
        }
        Kind::Root(operation) => reading_or_writing(draft, (type_name, *operation), field, findings),
        Kind::Item | Kind::Embedded if let Some(directive) = field.directives.get("resolve") => {
            let resolution = resolve::read_resolution(draft, type_name, (field, directive), findings)?;
            Some(FieldKind::Resolved(Box::new(resolution)))
        }
        Kind::Item | Kind::Embedded => match find {
            _ if draft.schema.get_object(type_name).is_some_and(|object| draft.is_global_id(object, field)) => {
                nodes::types::global_id(draft, type_name).map(|id| FieldKind::GlobalId(Arc::new(id)))
            }
            _ if let Some(directive) = field.directives.get("computed") => {
                let read = computed::read(draft, type_name, (field, directive), findings);
                read.map(|computed| FieldKind::Computed(Arc::new(computed)))
            }
            Some(find) => finds::read_find(draft, type_name, field, find, findings).map(FieldKind::Find),
            None => stored(draft, type_name, &field.name).map(FieldKind::Stored),
        },
        Kind::Connection(_) | Kind::Edge | Kind::PageInfo => {
            if let Some(directive) = find.or(write_of(&field.directives)) {
                let message = format!("`{coordinate}` is part of a page, so `@{}` has no effect", directive.name);
                findings.error(rules::KF0503, &named(directive), message, Some("leave it out".into()));
            }
            Some(FieldKind::Page)
        }
        Kind::Change(_) => {
            if let Some(directive) = find.or(write_of(&field.directives)) {
                let message = format!("`{coordinate}` is part of a change, so `@{}` has no effect", directive.name);
                findings.error(rules::KF0903, &named(directive), message, Some("leave it out".into()));
            }
            ChangePart::named(&field.name).map(FieldKind::Change)
        }
        Kind::Payload => {
            check_payload_field(&coordinate, field, findings);
            Some(FieldKind::Payload)
        }
        Kind::Misshapen => None,
    }
}

/// Reports what has no effect on a field of a payload.
fn check_payload_field(coordinate: &str, field: &FieldDefinition, findings: &mut Findings) {
    let help = "put it on the field of `Mutation` that returns the payload";
    let without_effect = ["find", "attribute", "cacheControl"].iter().find_map(|name| field.directives.get(name));
    if let Some(directive) = without_effect.or(write_of(&field.directives)) {
        let message = format!("`{coordinate}` is part of a payload, so `@{}` has no effect", directive.name);
        findings.error(rules::KF0727, &named(directive), message, Some(help.into()));
    }
    if let Some(argument) = field.arguments.first() {
        let message = format!("`{coordinate}` is part of a payload, so the argument `{}` has no effect", argument.name);
        findings.error(rules::KF0727, &span::from_location(argument.name.location()), message, Some(help.into()));
    }
}

/// What a field of the Subscription type is.
fn watching(
    draft: &SchemaDraft,
    type_name: &str,
    field: &FieldDefinition,
    findings: &mut Findings,
) -> Option<FieldKind> {
    let coordinate = format!("{type_name}.{}", field.name);
    if let Some(other) = field.directives.get("find").or(write_of(&field.directives)) {
        let message = format!("`@{}` is on `{coordinate}`, but fields of the Subscription type only watch", other.name);
        findings.error(rules::KF0901, &named(other), message, Some("use `@watch` alone".into()));
        return None;
    }
    let Some(directive) = field.directives.get("watch") else {
        unwatched(draft, (type_name, field), findings);
        return None;
    };
    watches::read_watch(draft, type_name, field, directive, findings).map(|watch| FieldKind::Watch(Box::new(watch)))
}

/// Reports a field that watches nothing; of a type that is meant as data, only that its name is taken.
fn unwatched(draft: &SchemaDraft, (type_name, field): (&str, &FieldDefinition), findings: &mut Findings) {
    let Some(object) = draft.schema.get_object(type_name) else { return };
    let is_value = |ty: &Type| draft.schema.get_object(ty.inner_named_type()).is_none();
    if object.directives.has("item") {
        return;
    }
    if object.fields.values().all(|field| is_value(&field.ty) && !field.directives.has("watch")) {
        let message = format!("`{type_name}` is the root type of every subscription, but its fields are values");
        let help = format!(
            "give the type another name, such as `{type_name}Plan`; clients subscribe to a field with `@watch`"
        );
        findings.error_once(rules::KF0901, &span::from_location(object.name.location()), message, Some(help.into()));
        return;
    }
    let message = format!("`{type_name}.{}` does not say what it watches", field.name);
    let end = span::after_type(draft.text, &field.ty);
    let stream = watches::missing_stream(draft);
    let said = match stream {
        None => "add `@watch`",
        Some(_) => "add `@watch`, and a stream to the table: `@table(…, stream: NEW_AND_OLD_IMAGES)`",
    };
    let watch = Edit { span: end..end, text: " @watch".to_owned() };
    let help = Help::edits(said, stream.into_iter().chain([watch]).collect());
    findings.error(rules::KF0901, &span::from_location(field.name.location()), message, Some(help));
}

/// What a field of the Query or the Mutation type is.
fn reading_or_writing(
    draft: &SchemaDraft,
    (type_name, operation): (&str, OperationType),
    field: &FieldDefinition,
    findings: &mut Findings,
) -> Option<FieldKind> {
    let coordinate = format!("{type_name}.{}", field.name);
    match (operation, write_of(&field.directives), field.directives.get("find")) {
        (OperationType::Mutation, Some(_), _) => {
            return writes::read_write(draft, type_name, field, findings)
                .map(|write| FieldKind::Write(Box::new(write)));
        }
        (OperationType::Mutation, None, Some(find)) => {
            let help = "add `@put`, `@update` or `@delete`, or move the field to `Query`";
            findings.error(
                rules::KF0505,
                &named(find),
                format!("`{coordinate}` reads but does not write"),
                Some(help.into()),
            );
        }
        (_, Some(write), _) => {
            let message = format!("`@{}` is on `{coordinate}`, but only fields of the Mutation type write", write.name);
            findings.error(rules::KF0505, &named(write), message, None);
        }
        (OperationType::Query, None, None) if nodes::fields::gives_nodes(draft, field) => {
            return nodes::fields::read_field(draft, type_name, field, findings).map(FieldKind::Nodes);
        }
        (_, None, Some(find)) => return finds::read_find(draft, type_name, field, find, findings).map(FieldKind::Find),
        // Reported as what it is.
        (_, None, None) if field.directives.has("resolve") => {}
        (_, None, None) => {
            let is_item = draft.kind(field.ty.inner_named_type()) == Some(&Kind::Item);
            let end = span::after_type(draft.text, &field.ty);
            let help: Help = match operation {
                OperationType::Mutation => "add `@put`, `@update` or `@delete`".into(),
                _ if is_item => Help::edit("add `@find`", end..end, " @find"),
                _ => "add `@find`".into(),
            };
            let place = span::from_location(field.name.location());
            findings.error(rules::KF0401, &place, format!("`{coordinate}` neither reads nor writes"), Some(help));
        }
    }
    None
}

fn stored(draft: &SchemaDraft, type_name: &str, field_name: &str) -> Option<crate::schema::model::Stored> {
    let record = draft.records.get(type_name)?;
    let declared = record.get(field_name)?;
    match draft.kind(type_name) {
        Some(Kind::Item) => {
            let keys = draft.items.get(type_name)?;
            Some(fields::place(field_name, declared, record, keys, draft.tables.get(keys.table)?))
        }
        _ => Some(crate::schema::model::Stored::alone(&declared.attribute, declared.value.clone())),
    }
}

fn model_field(draft: &SchemaDraft, field: &FieldDefinition, kind: FieldKind, rules: Rules) -> Field {
    let argument = |argument: &InputValueDefinition| Argument {
        name: argument.name.to_string(),
        ty: (*argument.ty).clone(),
        default: argument.default_value.as_ref().map(|value| json(value)),
    };
    let arguments = field.arguments.iter().map(|definition| argument(definition)).collect();
    let constrains_arguments = field_rules::constrains_arguments(draft.schema, field);
    let (name, ty, auth) = (field.name.to_string(), field.ty.clone(), AuthRules::default());
    Field { name, ty, arguments, kind, rules, constrains_arguments, auth }
}

/// A constant of the schema as JSON. An enum value becomes its name.
fn json(value: &Value) -> serde_json::Value {
    match value {
        Value::Null | Value::Variable(_) => serde_json::Value::Null,
        Value::Enum(name) => name.as_str().into(),
        Value::String(text) => text.as_str().into(),
        Value::Boolean(value) => (*value).into(),
        Value::Int(number) => serde_json::from_str(number.as_str()).unwrap_or_default(),
        Value::Float(number) => serde_json::from_str(number.as_str()).unwrap_or_default(),
        Value::List(items) => items.iter().map(|item| json(item)).collect(),
        Value::Object(members) => members
            .iter()
            .map(|(name, member)| (name.to_string(), json(member)))
            .collect::<serde_json::Map<_, _>>()
            .into(),
    }
}
