//! `schema.graphql` in, a checked [`model::Model`] or every mistake in it out. Must not know AWS, async or HTTP.
//!
//! [`load`] runs the passes in the order in which their files build on each other: the text ([`parse`]), tables ([`tables`]), what each
//! type stands for ([`kinds`]), stored fields ([`fields`]), keys ([`items`]), the proof that items cannot be confused ([`confusion`]),
//! relations ([`finds`]), and the API as clients see it ([`api`]).

mod api;
mod billing;
pub mod coerce;
pub mod condition;
mod confusion;
pub mod date_time;
pub mod decimal;
pub mod describe;
pub mod diagnostic;
mod directives;
mod draft;
mod environment;
mod field_rules;
mod fields;
mod finds;
mod input_defaults;
mod inputs;
mod items;
mod kinds;
mod later;
pub mod model;
mod names;
pub mod one_of;
mod parse;
mod render;
pub mod rules;
mod span;
pub mod spread;
mod suggest;
pub mod table;
mod tables;
pub mod template;
mod types;
pub mod update;
pub mod value_type;
mod values;
pub mod write;
mod writes;

use diagnostic::{Diagnostics, Findings};
use draft::{Draft, Kind};
use indexmap::IndexMap;
use model::Model;

/// Our directive and scalar definitions, as `keyfold schema --directives` prints them.
pub const DIRECTIVES: &str = include_str!("directives.graphql");

/// Loads a schema: the model and its warnings, or every mistake. `environment` gives the values for `${NAME:-default}`.
pub fn load(file: &str, text: &str, environment: &dyn Fn(&str) -> Option<String>) -> Result<(Model, Diagnostics), Diagnostics> {
    let mut findings = Findings::default();
    let model = checked(file, text, environment, &mut findings);
    let failed = findings.failed();
    let diagnostics = findings.into_diagnostics(file, text);
    match model {
        Some(model) if !failed => Ok((model, diagnostics)),
        _ => Err(diagnostics),
    }
}

fn checked(file: &str, text: &str, environment: &dyn Fn(&str) -> Option<String>, findings: &mut Findings) -> Option<Model> {
    let schema = parse::parse(file, text, findings)?;
    let declared = tables::read(&schema, text, environment, findings);
    let tables = declared.iter().map(|declared| declared.table.clone()).collect();
    let kinds = kinds::classify(&schema, findings);
    let mut draft = Draft { text, schema: &schema, tables, kinds, records: IndexMap::new(), items: IndexMap::new() };
    values::check_enums(&schema, findings);
    later::check(&schema, findings);
    read_records(&mut draft, &declared, findings);
    field_rules::read(&mut draft, findings);
    let constraints = field_rules::constraints(&draft, findings);
    confusion::check(&mut draft, findings);
    let types = types::read(&draft, findings);
    api::check(&schema, findings);
    if findings.failed() {
        return None;
    }
    Some(Model { api: api::build(&schema, findings)?, tables: draft.tables, types, constraints })
}

/// The stored fields of every item type and embedded type, and the keys of every item type.
fn read_records(draft: &mut Draft, tables: &[tables::DeclaredTable], findings: &mut Findings) {
    let mut tableless = false;
    for object in draft.objects() {
        let name = object.name.to_string();
        match draft.kind(&name) {
            Some(Kind::Embedded) => {
                let record = fields::declare(draft, object, None, findings);
                draft.records.insert(name, record);
            }
            Some(Kind::Item) => {
                let Some(directive) = object.directives.get("item") else { continue };
                // That there is no table at all is said once.
                let position = if tableless { None } else { tables::of_item(tables, &name, directive, findings) };
                tableless |= draft.tables.is_empty();
                let table = position.and_then(|position| Some((draft.tables.get(position)?, position)));
                let record = fields::declare(draft, object, table.map(|(table, _)| table), findings);
                let keys = table.and_then(|table| {
                    items::read(&items::ItemType { text: draft.text, object, directive, table, record: &record }, findings)
                });
                if let (Some(keys), Some((table, _))) = (&keys, table) {
                    fields::check_conflicts(&name, &record, keys, table, findings);
                }
                draft.items.extend(keys.map(|keys| (name.clone(), keys)));
                draft.records.insert(name, record);
            }
            _ => {}
        }
    }
}
