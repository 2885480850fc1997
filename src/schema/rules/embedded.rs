//! The default `{}` of embedded fields in; out: mistakes of objects that would lack a value, or never end. Must not
//! know other defaults.

use crate::schema::diagnostics::diagnostic::Findings;
use crate::schema::diagnostics::rules;
use crate::schema::diagnostics::suggestion::list;
use crate::schema::model::rules::DefaultPart;
use crate::schema::rules::literal::EMPTY_OBJECT;
use crate::schema::scalar::value_type::ValueType;
use crate::schema::syntax::directives::place as place_of;
use crate::schema::types::draft::{Declared, SchemaDraft};

/// Why an object of this embedded type cannot have nothing but its defaults, to complete "cannot be …". A list that is
/// never null starts empty.
pub fn misfit_of_empty(draft: &SchemaDraft, embedded: &str) -> Option<String> {
    let record = draft.records.get(embedded)?;
    let lacks =
        |declared: &Declared| declared.ty.is_non_null() && !declared.ty.is_list() && declared.rules.default.is_none();
    let (lacking, _) = record.iter().find(|(_, declared)| lacks(declared))?;
    Some(format!("\"{EMPTY_OBJECT}\", because `{embedded}.{lacking}` is never null and has no default"))
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
            if returns(draft, embedded, &mut path) {
                let message = format!("the default of `{coordinate}` holds itself: {}", list(&path));
                let help = "make one of these fields nullable, without a default";
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
/// circle. A type that is on the path ends the way: its own circle is reported where it begins.
fn returns<'d>(draft: &'d SchemaDraft, embedded: &'d str, path: &mut Vec<&'d str>) -> bool {
    if path.first() == Some(&embedded) {
        return true;
    }
    if path.contains(&embedded) {
        return false;
    }
    path.push(embedded);
    let mut next = draft.records.get(embedded).into_iter().flatten().filter_map(|(_, declared)| empty_object(declared));
    if next.any(|next| returns(draft, next, path)) {
        return true;
    }
    path.pop();
    false
}
