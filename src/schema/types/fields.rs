//! Fields that are stored in, where each is stored out. Must not know finds.
//!
//! A field is stored in the attribute that `@attribute(name:)` names, or in one of the field's own name. But a field
//! without `@attribute(name:)` is stored only in the keys if it can always be read back from one of them. That is so in
//! two cases:
//!
//! - Every template of a table key contains the field.
//! - Every template of an index key contains the field, and one of them has only non-null fields besides it. That key
//!   is then written whenever the field has a value.

use crate::schema::diagnostics::diagnostic::Findings;
use crate::schema::diagnostics::help::Help;
use crate::schema::diagnostics::rules;
use crate::schema::diagnostics::span;
use crate::schema::diagnostics::suggestion::list;
use crate::schema::model::Stored;
use crate::schema::model::keys::ItemKeys;
use crate::schema::model::rules::Rules;
use crate::schema::scalar::aws::AwsScalar;
use crate::schema::scalar::value_type::{Moment, ValueType};
use crate::schema::syntax::directives::{named, text};
use crate::schema::table::{KeyAttribute, KeyType, Table};
use crate::schema::template::Template;
use crate::schema::template::part::Part;
use crate::schema::types::draft::{Declared, Kind, SchemaDraft, StoredFields, is_stored};
use crate::schema::types::{forms, maps, values};
use apollo_compiler::ast::FieldDefinition;
use apollo_compiler::schema::{ExtendedType, ObjectType};

/// The stored fields of a type as declared. `table` is the table of an item type.
pub fn declare(
    draft: &SchemaDraft,
    object: &ObjectType,
    table: Option<&Table>,
    findings: &mut Findings,
) -> StoredFields {
    let mut record = StoredFields::new();
    for field in object.fields.values().filter(|field| is_stored(field) && !draft.is_global_id(object, field)) {
        check_bare(object, field, findings);
        if let Some(declared) = declared(draft, object, field, table, findings) {
            record.insert(field.name.to_string(), declared);
        }
    }
    check_attributes(object, &record, findings);
    record
}

/// A stored field must have no arguments and no write directive.
fn check_bare(object: &ObjectType, field: &FieldDefinition, findings: &mut Findings) {
    if let Some(argument) = field.arguments.first() {
        let message =
            format!("`{}.{}` is stored, so its argument `{}` has no effect", object.name, field.name, argument.name);
        findings.error(
            rules::KF0305,
            &span::from_location(argument.name.location()),
            message,
            Some("leave it out; a relation has arguments, and `@find`".into()),
        );
    }
    if let Some(write) = crate::schema::syntax::directives::write_of(&field.directives) {
        let message = format!(
            "`@{}` is on `{}.{}`, but only fields of the Mutation type write",
            write.name, object.name, field.name
        );
        let slips = ["mutations", "mutate", "mutation", "rootmutation"];
        let is_slip = slips.contains(&object.name.to_lowercase().as_str());
        let help = match is_slip {
            true => Help::edit("name the type `Mutation`", span::from_location(object.name.location()), "Mutation"),
            false => "move the field to `type Mutation`".into(),
        };
        findings.error(rules::KF0505, &named(write), message, Some(help));
    }
}

fn declared(
    draft: &SchemaDraft,
    object: &ObjectType,
    field: &FieldDefinition,
    table: Option<&Table>,
    findings: &mut Findings,
) -> Option<Declared> {
    let place = span::from_location(field.name.location());
    let inner = field.ty.inner_named_type();
    let coordinate = format!("{}.{}", object.name, field.name);
    // A write in a type that is not `Mutation` has been reported.
    if crate::schema::syntax::directives::write_of(&field.directives).is_some() {
        return None;
    }
    let not_stored = match (draft.kind(inner), draft.schema.types.get(inner)) {
        (_, None) | (Some(Kind::Misshapen), _) => return None,
        (Some(Kind::Item), _) => {
            Some((format!("`{coordinate}` holds items of `{inner}`, but an attribute cannot hold items"), true))
        }
        (Some(Kind::Connection(_)), _) => {
            Some((format!("`{coordinate}` is a connection, but an attribute cannot hold one"), true))
        }
        (Some(Kind::Root(_) | Kind::Edge | Kind::PageInfo | Kind::Change(_) | Kind::Payload), _)
        | (None, Some(ExtendedType::InputObject(_))) => {
            Some((format!("`{coordinate}` is a `{inner}`, but an attribute cannot hold one"), false))
        }
        (None, Some(ExtendedType::Interface(_) | ExtendedType::Union(_))) => {
            Some((format!("`{coordinate}` is of the abstract type `{inner}`, but an attribute cannot hold one"), false))
        }
        _ => None,
    };
    if let Some((message, relation)) = not_stored {
        let help = unstored_help(draft, field, relation);
        findings.error(rules::KF0304, &place, message, Some(help));
        return None;
    }
    let attribute = field.directives.get("attribute");
    let written = attribute.and_then(|directive| text(directive, "name"));
    let mut declared = Declared {
        ty: field.ty.clone(),
        value: values::value_type(draft.schema, inner)?,
        attribute: written.as_ref().map_or_else(|| field.name.to_string(), |at| at.value.clone()),
        named: written.is_some(),
        span: written.map_or(place, |at| at.span),
        rules: Rules::default(),
    };
    forms::apply(&mut declared, attribute.map(|directive| &**directive), &coordinate, findings);
    maps::apply(draft, &mut declared, attribute.map(|directive| &**directive), &coordinate, findings);
    if table.is_some_and(|table| table.time_to_live.as_deref() == Some(&declared.attribute)) {
        time_to_live(&mut declared, &coordinate, findings);
    }
    if declared.attribute.is_empty() {
        findings.error(rules::KF0301, &declared.span, format!("the attribute of `{coordinate}` has no name"), None);
    }
    Some(declared)
}

/// What to write in place of a field that no attribute can hold.
fn unstored_help(draft: &SchemaDraft, field: &FieldDefinition, relation: bool) -> Help {
    let inner = field.ty.inner_named_type();
    let end = span::after_type(draft.text, &field.ty);
    match (relation, draft.kind(inner)) {
        (true, Some(Kind::Item)) => Help::edit("add `@find` to make it a relation", end..end, " @find"),
        (true, _) => "add `@find` to make it a relation".into(),
        (false, None) if field.ty.is_named() => "add `@find` to make it a relation, or name one type".into(),
        (false, _) => format!("leave it out, or store its parts: an attribute holds no `{inner}`").into(),
    }
}

/// The time to live must be a number: epoch seconds (DynamoDB developer guide, "Time to Live").
fn time_to_live(declared: &mut Declared, coordinate: &str, findings: &mut Findings) {
    match declared.value {
        _ if declared.value.as_aws() == Some(AwsScalar::Timestamp) && !declared.ty.is_list() => {}
        ValueType::DateTime(_) if !declared.ty.is_list() => declared.value = ValueType::DateTime(Moment::EpochSeconds),
        ValueType::Int | ValueType::Long if !declared.ty.is_list() => {}
        ValueType::InForm(..) => {
            let message = format!("`{coordinate}` is the table's time to live, which is a number of seconds");
            findings.error(rules::KF0307, &declared.span, message, Some("leave its form out".into()));
        }
        _ => {
            let message = format!("`{coordinate}` is the table's time to live, which cannot be a `{}`", declared.ty);
            findings.error(rules::KF0307, &declared.span, message, Some("make it a DateTime".into()));
        }
    }
}

/// No two fields may share an attribute.
fn check_attributes(object: &ObjectType, record: &StoredFields, findings: &mut Findings) {
    for (position, (name, field)) in record.iter().enumerate() {
        if let Some((other, _)) = record.iter().take(position).find(|(_, known)| known.attribute == field.attribute) {
            let message = format!(
                "`{}.{name}` and `{other}` are both stored in the attribute `{}`",
                object.name, field.attribute
            );
            findings.error(
                rules::KF0301,
                &field.span,
                message,
                Some("give one of them another `@attribute(name:)`".into()),
            );
        }
    }
}

/// Where a field of an item is stored, given the item's keys.
pub fn place(name: &str, declared: &Declared, record: &StoredFields, keys: &ItemKeys, table: &Table) -> Stored {
    let held = |templates: &[Template]| templates.iter().all(|template| template.read_fields().contains(&name));
    let own: Vec<&str> = table.primary_key().map(|key| key.name.as_str()).collect();
    let mut holders: Vec<String> =
        keys.keys.iter().filter(|(_, templates)| held(templates)).map(|(key, _)| key.clone()).collect();

    let non_null = |field: &str| field == name || record.get(field).is_some_and(|other| other.ty.is_non_null());
    let always_written = |key: &String| {
        let templates = keys.keys.get(key).map(Vec::as_slice).unwrap_or_default();
        own.contains(&key.as_str())
            || templates.iter().any(|template| template.when.is_none() && template.fields().into_iter().all(non_null))
    };
    // A read takes the field from one key: the table's own keys come first, then keys that are always written with the
    // field.
    holders.sort_by_key(|key| (!own.contains(&key.as_str()), !always_written(key)));
    let same = key_is_the_field(name, declared, keys, table);
    // DynamoDB reads the time to live only from its attribute.
    let expires = table.time_to_live.as_deref() == Some(&declared.attribute);
    let in_keys_only = !declared.named && !same && !expires && holders.iter().any(always_written);
    let identity = holders.iter().filter(|key| own.contains(&key.as_str())).count();
    let is_free = |attribute: &str| {
        !keys.is_constant(attribute) && table.key_attributes().iter().all(|key| key.name != attribute)
    };
    let formerly = (in_keys_only && identity == 0 && is_free(&declared.attribute)).then(|| declared.attribute.clone());
    let attribute = (!in_keys_only).then(|| declared.attribute.clone());
    Stored { attribute, keys: holders, identity, formerly, value: declared.value.clone() }
}

/// Whether the field's attribute is a key attribute that holds the field itself: its template is `{field}`, and its
/// type is the field's.
fn key_is_the_field(name: &str, declared: &Declared, keys: &ItemKeys, table: &Table) -> bool {
    keys.keys.get(&declared.attribute).is_some_and(|templates| is_whole(templates, name))
        && table.key_attributes().iter().any(|key| key.name == declared.attribute && keeps(declared, key.kind))
}

fn keeps(declared: &Declared, kind: KeyType) -> bool {
    !declared.ty.is_list() && values::stored_key_type(&declared.value) == Some(kind)
}

/// Whether the templates are just `{field}`.
pub fn is_whole(templates: &[Template], name: &str) -> bool {
    match templates {
        [template] => {
            let is_field = |part: &Part| matches!(part, Part::Placeholder { field, width: None, .. } if field == name);
            template.parts.len() == 1 && template.parts.iter().all(is_field) && template.case_of(name).is_none()
        }
        _ => false,
    }
}

/// Whether a key of an item has a field in its template.
fn holds(keys: &ItemKeys, key: &KeyAttribute, field: &str) -> bool {
    keys.keys.get(&key.name).into_iter().flatten().any(|template| template.fields().contains(&field))
}

/// A field that only the text of keys holds is not stored as an epoch: a key has the text of its time.
fn check_epoch(type_name: &str, (name, declared): (&str, &Declared), findings: &mut Findings) {
    let word = match declared.value {
        ValueType::DateTime(Moment::EpochSeconds) => "EPOCH_SECONDS",
        ValueType::DateTime(Moment::EpochMillis) => "EPOCH_MILLIS",
        _ => return,
    };
    let message = format!(
        "`stored: {word}` has no effect: `{type_name}.{name}` is part of a key's text, which holds the time as text"
    );
    let help = "leave `stored:` out, make the key a number (`sortKeyType: N`), or store the field in its own attribute as well";
    findings.error(rules::KF0303, &declared.span, message, Some(help.into()));
}

/// A stored attribute must not be a key attribute with other content.
pub fn check_conflicts(
    type_name: &str,
    record: &StoredFields,
    keys: &ItemKeys,
    table: &Table,
    findings: &mut Findings,
) {
    let key_attributes = table.key_attributes();
    for (name, declared) in record {
        let stored = place(name, declared, record, keys, table);
        let Some(attribute) = stored.attribute else {
            let in_number = key_attributes.iter().any(|key| key.kind != KeyType::S && holds(keys, key, name));
            if !in_number {
                check_epoch(type_name, (name, declared), findings);
            }
            continue;
        };
        let clash = key_attributes.iter().find(|key| key.name == attribute).filter(|key| {
            match keys.keys.contains_key(&key.name) {
                true => !key_is_the_field(name, declared, keys, table),
                // The item type is not in that index, but DynamoDB refuses an item whose attribute has another type
                // than the index key.
                false => !keeps(declared, key.kind),
            }
        });
        if let Some(key) = clash {
            let message =
                format!("`{type_name}.{name}` is stored in `{attribute}`, a key attribute with other content");
            let names: Vec<&str> = key_attributes.iter().map(|key| key.name.as_str()).collect();
            let help = match keeps(declared, key.kind) {
                true => format!("make the key `{{{name}}}`, or choose an attribute other than {}", list(&names)),
                false => format!("choose an attribute other than {}", list(&names)),
            };
            findings.error(rules::KF0302, &declared.span, message, Some(help.into()));
        }
    }
}
