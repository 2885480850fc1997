//! The default `{}` of embedded fields in; out: mistakes of objects that would lack a value, or never end. Must not
//! know other defaults.

use crate::schema::diagnostics::diagnostic::Findings;
use crate::schema::diagnostics::rules;
use crate::schema::diagnostics::suggestion::list;
use crate::schema::model::rules::DefaultPart;
use crate::schema::rules::literal::EMPTY_OBJECT;
use crate::schema::scalar::value_type::ValueType;
use crate::schema::syntax::directives::place as place_of;
use crate::schema::types::draft::{Declared, SchemaDraft, StoredFields};
use std::collections::{HashMap, HashSet};

/// The most objects that one default `{}` makes, with those that it holds, and how deep it holds them: as deep as a
/// value may be (DynamoDB developer guide, "Supported data types and naming rules", Document types).
const MAX_OBJECTS: u64 = 1_000;
const MAX_DEPTH: usize = 32;

/// Why an object of this embedded type cannot have nothing but its defaults, to complete "cannot be …". A list that is
/// never null starts empty.
pub fn misfit_of_empty(draft: &SchemaDraft, embedded: &str) -> Option<String> {
    let record = draft.records.get(embedded)?;
    let needed = |declared: &Declared| declared.ty.is_non_null() && !declared.ty.is_list();
    let (lacking, declared) =
        record.iter().find(|(name, declared)| needed(declared) && !is_made(record, name, record.len()))?;
    let why = match declared.rules.default {
        None => "has no default",
        Some(_) => "its default uses a claim, or a field that may be null",
    };
    Some(format!("\"{EMPTY_OBJECT}\", because `{embedded}.{lacking}` is never null and {why}"))
}

/// Whether a field of an object of nothing but defaults has a value for certain. `depth` bounds the way from default to
/// default, which may be a circle.
fn is_made(record: &StoredFields, name: &str, depth: usize) -> bool {
    let default = record.get(name).and_then(|declared| declared.rules.default.as_ref());
    default.is_some_and(|default| {
        default.claims().next().is_none()
            && default.fields().all(|field| depth > 0 && is_made(record, field, depth - 1))
    })
}

/// The objects that an object of an embedded type holds by defaults, with itself; `known` has those of types that were
/// counted.
fn count_objects<'d>(
    draft: &'d SchemaDraft,
    embedded: &'d str,
    depth: usize,
    known: &mut HashMap<&'d str, u64>,
) -> u64 {
    if depth >= MAX_DEPTH {
        return u64::MAX;
    }
    if let Some(count) = known.get(embedded) {
        return *count;
    }
    let fields = draft.records.get(embedded).into_iter().flatten();
    let held = fields.filter_map(|(_, declared)| empty_object(declared));
    let mut count: u64 = 1;
    for held in held {
        count = count.saturating_add(count_objects(draft, held, depth + 1, known));
    }
    known.insert(embedded, count);
    count
}

/// Reports each default `{}` whose object would lack a value, or would hold itself.
pub fn check_empty_objects(draft: &SchemaDraft, findings: &mut Findings) {
    for object in draft.objects() {
        for (name, declared) in draft.records.get(object.name.as_str()).into_iter().flatten() {
            let Some(embedded) = empty_object(declared) else { continue };
            let Some(directive) = object.fields.get(name.as_str()).and_then(|field| field.directives.get("default"))
            else {
                continue;
            };
            let (place, coordinate) = (place_of(directive, "value"), format!("{}.{name}", object.name));
            if let Some(misfit) = misfit_of_empty(draft, embedded) {
                let help = "give it a `@default`, or make it nullable";
                findings.error(rules::KF0803, &place, format!("`{coordinate}` cannot be {misfit}"), Some(help.into()));
            }
            let mut path = vec![object.name.as_str()];
            let help = "make one of these fields nullable, without a default";
            if returns(draft, embedded, &mut path, &mut HashSet::new()) {
                let message = format!("the default of `{coordinate}` holds itself: {}", list(&path));
                findings.error(rules::KF0804, &place, message, Some(help.into()));
            } else if count_objects(draft, embedded, 0, &mut HashMap::new()) > MAX_OBJECTS {
                let message = format!(
                    "the default of `{coordinate}` holds more than {MAX_OBJECTS} objects, or more than {MAX_DEPTH} levels"
                );
                findings.error(rules::KF0804, &place, message, Some(help.into()));
            }
        }
    }
}

/// The embedded type of a field whose default is an object of nothing but defaults.
fn empty_object(declared: &Declared) -> Option<&str> {
    let ValueType::Embedded(embedded) = &declared.value else { return None };
    let parts = &declared.rules.default.as_ref()?.parts;
    matches!(parts.as_slice(), [DefaultPart::Literal(text)] if text == EMPTY_OBJECT).then_some(embedded)
}

/// Whether the default objects from an embedded type on lead back to the first type of the path, which is then the
/// circle. A type that was seen ends the way: its own circle is reported where it begins.
fn returns<'d>(
    draft: &'d SchemaDraft,
    embedded: &'d str,
    path: &mut Vec<&'d str>,
    seen: &mut HashSet<&'d str>,
) -> bool {
    if path.first() == Some(&embedded) {
        return true;
    }
    if !seen.insert(embedded) {
        return false;
    }
    path.push(embedded);
    let mut next = draft.records.get(embedded).into_iter().flatten().filter_map(|(_, declared)| empty_object(declared));
    if next.any(|next| returns(draft, next, path, seen)) {
        return true;
    }
    path.pop();
    false
}
