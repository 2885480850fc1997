//! What the type of one field is the cause of in, that field's mistake out: `Card.teamId` is an `Int`, and `Team.id` an
//! `ID`. Each place that binds one by the other has found a mistake, and the remedy is one.

use crate::schema::diagnostics::diagnostic::Findings;
use crate::schema::diagnostics::help::Help;
use crate::schema::diagnostics::{rules, span};
use crate::schema::finds::scope::prefixed;
use crate::schema::types::draft::{Declared, GLOBAL_ID, SchemaDraft};
use crate::schema::types::values;

/// Reports each field that is named after the id of a type and has another type, if something else failed because of
/// it. What failed is not reported then.
pub fn settle(draft: &SchemaDraft, findings: &mut Findings) {
    for field in findings.suspected_types() {
        let Some((owner, name)) = field.split_once('.') else { continue };
        let Some(declared) = draft.records.get(owner).and_then(|record| record.get(name)) else { continue };
        let Some((named, id)) = id_named(draft, name).filter(|(_, id)| !values::fits(&id.value, &declared.value))
        else {
            continue;
        };
        let definition = draft.schema.get_object(owner).and_then(|object| object.fields.get(name));
        let Some(definition) = definition.filter(|_| !declared.ty.is_list()) else { continue };
        findings.drop_caused_by(&field);
        let right = id.ty.inner_named_type();
        let wanted = if declared.ty.is_non_null() { format!("{right}!") } else { right.to_string() };
        let message = format!(
            "`{field}` is of type `{}`, but the id of `{named}`, which it names, is of type `{}`",
            declared.ty, id.ty
        );
        let help = Help::edit(format!("make it `{wanted}`"), span::from_type(&definition.ty), right.as_str());
        findings.error(rules::KF0408, &span::from_location(definition.name.location()), message, Some(help));
    }
}

/// The type whose id a field of this name has by its name, with that id.
fn id_named<'d>(draft: &'d SchemaDraft, name: &str) -> Option<(&'d str, &'d Declared)> {
    let mut named = draft.records.iter().filter(|(ty, _)| prefixed(ty, GLOBAL_ID) == name);
    named.find_map(|(ty, record)| Some((ty.as_str(), record.get(GLOBAL_ID)?)))
}
