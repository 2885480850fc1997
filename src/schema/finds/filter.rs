//! `filter:` of a find in, a checked condition out. Must not know keys' values or access paths.

use super::wanted::Wanted;
use crate::schema::condition::{Condition, Names};
use crate::schema::diagnostic::Findings;
use crate::schema::draft::{Draft, Record};
use crate::schema::fields;
use crate::schema::span;
use crate::schema::value_type::ValueType;
use crate::schema::values;

/// The condition; `Err` if it has a mistake.
pub fn read(wanted: &Wanted, findings: &mut Findings) -> Result<Option<Condition>, ()> {
    let Some(written) = &wanted.directive.filter else { return Ok(None) };
    if let Some(at) = written.value.find(":auth.") {
        let place = span::within(wanted.draft.text, &written.span, &(at..at + ":auth.".len() - 1));
        findings.error("KF0601", &place, "sign-in is not available yet", Some("take the value from an argument for now".into()));
        return Err(());
    }
    Condition::parse(&written.value, &Scope { wanted }).map(Some).map_err(|mistakes| {
        for mut mistake in mistakes {
            let name = written.value.get(mistake.span.clone()).unwrap_or_default();
            if wanted.record.contains_key(name) && attribute(wanted, name).is_none() {
                mistake.message = format!("`{name}` stands only within the text of a key, where no filter can read it");
                mistake.help = Some(format!("keep it in an attribute of its own as well: `@attribute(name: \"{name}\")`"));
            }
            findings.error("KF0419", &span::within(wanted.draft.text, &written.span, &mistake.span), mistake.message, mistake.help);
        }
    })
}

struct Scope<'a> {
    wanted: &'a Wanted<'a>,
}

impl Names for Scope<'_> {
    fn path(&self, names: &[&str]) -> Result<(Vec<String>, ValueType, bool), (usize, Vec<String>)> {
        let mut record = self.wanted.record;
        let mut attributes = Vec::new();
        let mut kind: Option<(ValueType, bool)> = None;
        for (position, name) in names.iter().enumerate() {
            let own = position == 0;
            let choices = || {
                let visible = record.iter().filter(|(name, _)| !own || attribute(self.wanted, name).is_some());
                (position, visible.map(|(name, _)| name.clone()).collect::<Vec<_>>())
            };
            let declared = record.get(*name).ok_or_else(choices)?;
            let stored = if own { attribute(self.wanted, name) } else { Some(declared.attribute.clone()) };
            attributes.push(stored.ok_or_else(choices)?);
            kind = Some((declared.value.clone(), declared.ty.is_list()));
            if position + 1 < names.len() {
                record = embedded(self.wanted.draft, &declared.value).ok_or((position + 1, Vec::new()))?;
            }
        }
        let (value, list) = kind.ok_or((0, Vec::new()))?;
        Ok((attributes, value, list))
    }

    fn argument(&self, name: &str) -> Result<(ValueType, bool), Vec<String>> {
        let choices = || self.wanted.field.arguments.iter().map(|argument| argument.name.to_string()).collect::<Vec<_>>();
        let argument = self.wanted.argument(name).ok_or_else(choices)?;
        let value = values::of_named(self.wanted.draft.schema, argument.ty.inner_named_type()).ok_or_else(choices)?;
        Ok((value, argument.ty.is_list()))
    }
}

fn embedded<'a>(draft: &'a Draft, value: &ValueType) -> Option<&'a Record> {
    match value {
        ValueType::Embedded(name) => draft.records.get(name),
        _ => None,
    }
}

/// The attribute that holds a field as it is; a field that stands in the text of a key has none.
fn attribute(wanted: &Wanted, name: &str) -> Option<String> {
    let declared = wanted.record.get(name)?;
    let stored = fields::place(name, declared, wanted.record, wanted.keys, wanted.table);
    let whole = |key: &&String| {
        wanted.keys.keys.get(*key).is_some_and(|templates| fields::is_whole(templates, name))
            && wanted
                .table
                .key_attributes()
                .iter()
                .any(|known| known.name == **key && values::stored_key_type(&declared.value) == Some(known.kind))
    };
    stored.attribute.or_else(|| stored.keys.iter().find(whole).cloned())
}
