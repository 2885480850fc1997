//! `@default`, `@constraint`, `@unique` and `@version` in; out: the rules of each stored field, and the constraints of
//! arguments and input fields. Must not know mutations.

pub mod constraint;
mod default;
pub mod embedded;
pub mod literal;
pub mod unique;

use crate::schema::diagnostics::diagnostic::Findings;
use crate::schema::diagnostics::rules;
use crate::schema::model::rules::{Constraint, Rules};
pub use crate::schema::rules::default::in_order;
use crate::schema::scalar::value_type::ValueType;
use crate::schema::syntax::directives::named;
use crate::schema::types::draft::{Declared, Kind, SchemaDraft, StoredFields, is_stored};
use apollo_compiler::ast::{FieldDefinition, InputValueDefinition};
use apollo_compiler::schema::{ExtendedType, ObjectType};
use apollo_compiler::{Node, Schema};
use indexmap::{IndexMap, IndexSet};

const RULES: [&str; 4] = ["default", "constraint", "unique", "version"];

/// Reads the rules of every stored field into its record.
pub fn read_rules(draft: &mut SchemaDraft, findings: &mut Findings) {
    let mut all: Vec<(String, String, Rules)> = Vec::new();
    for object in draft.objects() {
        let record = draft.records.get(object.name.as_str());
        for field in object.fields.values() {
            match record.and_then(|record| record.get(field.name.as_str())) {
                Some(declared) if is_stored(field) => {
                    let rules = field_rules(draft, (object, field), declared, findings);
                    all.push((object.name.to_string(), field.name.to_string(), rules));
                }
                _ => misplaced(draft, object, field, findings),
            }
        }
    }
    for (object, field, rules) in all {
        if let Some(declared) = draft.records.get_mut(&object).and_then(|record| record.get_mut(&field)) {
            declared.rules = rules;
        }
    }
    for object in draft.objects() {
        if let Some(record) = draft.records.get(object.name.as_str()) {
            default::check_circles(object, record, findings);
            check_versions(object, record, findings);
        }
    }
    embedded::check_empty_objects(draft, findings);
    unique::check_guards(draft, findings);
}

fn field_rules(
    draft: &SchemaDraft,
    (object, field): (&ObjectType, &FieldDefinition),
    declared: &Declared,
    findings: &mut Findings,
) -> Rules {
    let record = draft.records.get(object.name.as_str());
    let of = default::FieldWithDefault { draft, object, field, declared, record };
    let default = field.directives.get("default").and_then(|directive| default::read_default(&of, directive, findings));
    let constraint = field.directives.get("constraint").and_then(|directive| {
        let what =
            constraint::ConstraintTarget { coordinate: format!("{}.{}", object.name, field.name), ty: &field.ty };
        constraint::refuse_count(&what, directive, findings);
        constraint::read_constraint(&what, Some(&declared.value), directive, findings)
    });
    let unique = field
        .directives
        .get("unique")
        .is_some_and(|directive| unique::check(draft, (object, field), declared, directive, findings));
    let version = field.directives.get("version").is_some_and(|directive| {
        let item = draft.kind(&object.name) == Some(&Kind::Item);
        let integer = matches!(declared.value, ValueType::Int) && !declared.ty.is_list();
        let in_key = draft.items.get(object.name.as_str()).is_some_and(|keys| {
            keys.keys.values().flatten().any(|template| template.fields().contains(&field.name.as_str()))
        });
        if !item || !integer || in_key {
            let message = match () {
                () if !item => format!("`{}` is not an item type, so it has no versions", object.name),
                () if !integer => {
                    format!("`{}.{}` is of type `{}`, which cannot count versions", object.name, field.name, field.ty)
                }
                () => {
                    format!("`{}.{}` changes with every write, so it cannot be part of a key", object.name, field.name)
                }
            };
            findings.error(
                rules::KF0811,
                &named(directive),
                message,
                Some("make it an `Int!` of an item type, and do not use it in keys".into()),
            );
        }
        item && integer && !in_key
    });
    let constant = is_constant(draft, object, declared);
    if let Some(directive) = RULES.iter().find_map(|name| field.directives.get(name)).filter(|_| constant) {
        let message = format!(
            "`{}.{}` is a constant of the type, so `@{}` has no meaning",
            object.name, field.name, directive.name
        );
        findings.error(rules::KF0801, &named(directive), message, Some("leave it out".into()));
    }
    Rules { default, constraint, unique, version, constant }
}

/// Whether a field shows a constant of its type.
fn is_constant(draft: &SchemaDraft, object: &ObjectType, declared: &Declared) -> bool {
    draft.items.get(object.name.as_str()).is_some_and(|keys| keys.is_constant(&declared.attribute))
}

/// Reports rules on a field that is not stored: nothing is written to it.
fn misplaced(draft: &SchemaDraft, object: &ObjectType, field: &FieldDefinition, findings: &mut Findings) {
    // Of a type that is none, all fields are without a place.
    if draft.kind(&object.name) == Some(&Kind::Misshapen) {
        return;
    }
    for directive in field.directives.iter().filter(|directive| RULES.contains(&directive.name.as_str())) {
        let message =
            format!("`{}.{}` is not stored, so `@{}` has no meaning", object.name, field.name, directive.name);
        let help =
            "put it on the stored field, or, for `@constraint`, on the argument or input field that gives the value";
        findings.error(rules::KF0801, &named(directive), message, Some(help.into()));
    }
}

/// A type must not have two `@version` fields.
fn check_versions(object: &ObjectType, record: &StoredFields, findings: &mut Findings) {
    let mut versions = record.iter().filter(|(_, declared)| declared.rules.version).map(|(name, _)| name);
    let first = versions.next();
    for second in versions {
        let field = object.fields.get(second.as_str());
        if let (Some(first), Some(directive)) = (first, field.and_then(|field| field.directives.get("version"))) {
            let message = format!("`{}` has two `@version` fields, `{first}` and `{second}`", object.name);
            findings.error(rules::KF0811, &named(directive), message, Some("remove one of them".into()));
        }
    }
}

/// The constraints of arguments (`Mutation.createUser.name`) and input fields (`FoodInput.name`), by coordinate.
pub fn constraints(draft: &SchemaDraft, findings: &mut Findings) -> IndexMap<String, Constraint> {
    let mut all = IndexMap::new();
    let mut see = |coordinate: String, input: &InputValueDefinition| {
        if let Some(directive) = input.directives.get("default") {
            let message = format!("`{coordinate}` is not stored, so `@default` has no meaning");
            let help = "put it on the stored field, or use a default value of GraphQL: `unit: String = \"g\"`";
            findings.error(rules::KF0801, &named(directive), message, Some(help.into()));
        }
        if let Some(directive) = input.directives.get("constraint") {
            let value = crate::schema::types::values::value_type(draft.schema, input.ty.inner_named_type());
            let what = constraint::ConstraintTarget { coordinate: coordinate.clone(), ty: &input.ty };
            all.extend(
                constraint::read_constraint(&what, value.as_ref(), directive, findings).map(|read| (coordinate, read)),
            );
        }
    };
    for definition in draft.schema.types.values().filter(|definition| !definition.is_built_in()) {
        match definition {
            ExtendedType::InputObject(object) => {
                object.fields.values().for_each(|field| see(format!("{}.{}", object.name, field.name), field));
            }
            ExtendedType::Object(object) => {
                for field in object.fields.values() {
                    field.arguments.iter().for_each(|argument| {
                        see(format!("{}.{}.{}", object.name, field.name, argument.name), argument)
                    });
                }
            }
            _ => {}
        }
    }
    all
}

/// Whether a `@constraint` is on an argument of a field, or on a field of an input object inside one.
pub fn constrains_arguments(schema: &Schema, field: &FieldDefinition) -> bool {
    let mut types: IndexSet<&str> = IndexSet::new();
    let mut waiting: Vec<&Node<InputValueDefinition>> = field.arguments.iter().collect();
    while let Some(input) = waiting.pop() {
        if input.directives.has("constraint") {
            return true;
        }
        let name = input.ty.inner_named_type().as_str();
        if let Some(ExtendedType::InputObject(object)) = schema.types.get(name).filter(|_| types.insert(name)) {
            waiting.extend(object.fields.values().map(|field| &field.node));
        }
    }
    false
}
