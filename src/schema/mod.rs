//! `schema.graphql` in, a checked [`model::Model`] or every mistake in it out. Must not know AWS, async or HTTP.
//!
//! [`load`] runs the passes. Each uses the results of those before it, and [`ParsedSchema`] stands between the first
//! two and the others:
//!
//! | folder | in → out |
//! |---|---|
//! | [`syntax`] | text → apollo-compiler's schema, Keyfold's directives with their places |
//! | `table_directive` | `@table` → [`table`], plain data |
//! | `types` | object types → what each stands for, and where its fields are stored |
//! | `keys` | `@item` → key templates ([`template`]), and the proof that no item can be taken for one of another type |
//! | `rules` | `@default`, `@constraint`, `@unique`, `@version` → rules of stored fields |
//! | `finds` | `@find` → access paths |
//! | `nodes` | `@node` → the global ids of items, and the fields that find items by them |
//! | `writes` | `@put`, `@update`, `@delete`, `@check` → writes; [`expression`] reads conditions and update expressions |
//! | `watches` | `@watch` → what a field of `Subscription` watches |
//! | `object_types` | object types → the model's types, by the folders above |
//! | `auth` | `@auth` → who may read and write each type and field |
//! | `cache_control` | `@cacheControl` → how long what is read may be kept |
//! | `mistyped_ids` | mistakes that the type of one field is the cause of → that field's mistake |
//! | `api` | the schema → what clients see of it |
//!
//! [`scalar`] knows leaf values, [`diagnostics`] reports mistakes, and [`model`] is the result.

mod api;
mod auth;
mod cache_control;
pub mod describe;
pub mod diagnostics;
pub mod expression;
mod finds;
mod keys;
mod mistyped_ids;
pub mod model;
mod nodes;
mod object_types;
mod rules;
pub mod scalar;
mod services;
pub mod syntax;
pub mod table;
mod table_directive;
pub mod template;
mod types;
mod watches;
mod writes;

use crate::schema::diagnostics::allowed;
use crate::schema::diagnostics::diagnostic::{Diagnostics, Findings};
use crate::schema::model::service::Service;
use crate::schema::table::Table;
use crate::schema::table_directive::DeclaredTable;
use crate::schema::types::draft::{Kind, SchemaDraft};
use apollo_compiler::Schema;
use indexmap::IndexMap;
use model::Model;

/// Loads a schema: the model and its warnings, or every mistake. `environment` gives the values for `${NAME:-default}`.
pub fn load(
    file: &str,
    text: &str,
    environment: &dyn Fn(&str) -> Option<String>,
) -> Result<(Model, Diagnostics), Diagnostics> {
    ParsedSchema::parse(file, text, environment)?.check()
}

/// A schema whose syntax and tables have been read. The rest takes as long again.
#[derive(Debug)]
pub struct ParsedSchema<'t> {
    file: &'t str,
    text: &'t str,
    schema: Schema,
    declared: Vec<DeclaredTable>,
    services: Vec<Service>,
    findings: Findings,
}

impl<'t> ParsedSchema<'t> {
    /// Reads the syntax and the tables. After a mistake in the syntax, nothing else is looked at.
    pub fn parse(
        file: &'t str,
        text: &'t str,
        environment: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Self, Diagnostics> {
        let mut findings = Findings::default();
        let Some(schema) = syntax::parse::parse(file, text, &mut findings) else {
            return Err(findings.into_diagnostics(file, text));
        };
        let mut declared = table_directive::read_tables(&schema, text, environment, &mut findings);
        keys::native_types::settle(&schema, text, &mut declared, &mut findings);
        let services = services::declared::read_services(&schema, text, environment, &mut findings);
        Ok(Self { file, text, schema, declared, services, findings })
    }

    /// The tables. They count only if [`check`](Self::check) finds no mistake.
    pub fn tables(&self) -> Vec<Table> {
        self.declared.iter().map(|declared| declared.table.clone()).collect()
    }

    /// Checks the rest: the model and its warnings, or every mistake.
    pub fn check(self) -> Result<(Model, Diagnostics), Diagnostics> {
        let tables = self.tables();
        let Self { file, text, schema, declared, services, mut findings } = self;
        let kinds = types::kinds::classify(&schema, &mut findings);
        let node = nodes::interface::read(&schema, &mut findings);
        let draft = SchemaDraft {
            text,
            schema: &schema,
            tables,
            services,
            kinds,
            node,
            records: IndexMap::new(),
            items: IndexMap::new(),
        };
        let model = checked(draft, &declared, &mut findings);
        let failed = findings.failed();
        let mut diagnostics = findings.into_diagnostics(file, text);
        allowed::leave_out(&mut diagnostics, !failed);
        match model {
            Some(model) if !failed => Ok((model, diagnostics)),
            _ => Err(diagnostics),
        }
    }
}

fn checked(mut draft: SchemaDraft<'_>, declared: &[DeclaredTable], findings: &mut Findings) -> Option<Model> {
    let schema = draft.schema;
    types::values::check_scalars(schema, findings);
    types::values::check_enums(schema, findings);
    read_records(&mut draft, declared, findings);
    rules::read_rules(&mut draft, findings);
    let constraints = rules::constraints(&draft, findings);
    keys::ambiguity::check(&mut draft, findings);
    types::computed::check_places(&draft, findings);
    let mut types = object_types::read_object_types(&draft, findings);
    auth::read_rules(&draft, &mut types, findings);
    writes::checks::room::check(&draft, &types, findings);
    writes::checks::idempotent::check_places(&draft, findings);
    writes::checks::relations::check(&draft, &types, findings);
    let cache = cache_control::read_hints(&draft, findings);
    nodes::types::check(&draft, &types, findings);
    services::resolve::check_places(&draft, findings);
    api::check(schema, findings);
    syntax::deprecated::check(schema, findings);
    mistyped_ids::settle(&draft, findings);
    if findings.failed() {
        return None;
    }
    let ruled = types.values().any(|ty| !ty.auth.is_empty() || ty.fields.values().any(|field| !field.auth.is_empty()));
    let api = api::build(schema, findings)?;
    services::requires::read_requires((schema, &api), &mut types, findings);
    let SchemaDraft { tables, services, .. } = draft;
    Some(Model { api, tables, services, types, constraints, ruled, cache })
}

/// Reads the stored fields of every item type and embedded type, and the keys of every item type.
fn read_records(draft: &mut SchemaDraft, tables: &[DeclaredTable], findings: &mut Findings) {
    let mut tableless = false;
    let held_by_roots = types::kinds::held_by_roots(draft.schema, &draft.kinds);
    for object in draft.objects() {
        let name = object.name.to_string();
        match draft.kind(&name) {
            Some(Kind::Embedded) => {
                let mut unsaid = Findings::default();
                let said = if held_by_roots.contains(name.as_str()) { &mut unsaid } else { &mut *findings };
                let record = types::fields::declare(draft, object, None, said);
                draft.records.insert(name, record);
            }
            Some(Kind::Item) => {
                let Some(directive) = object.directives.get("item") else { continue };
                // Report only once that there is no table at all.
                let position =
                    if tableless { None } else { table_directive::item_table(tables, &name, directive, findings) };
                tableless |= draft.tables.is_empty();
                let table = position.and_then(|position| Some((draft.tables.get(position)?, position)));
                let record = types::fields::declare(draft, object, table.map(|(table, _)| table), findings);
                let read = table.and_then(|table| {
                    let item = keys::items::ItemType {
                        text: draft.text,
                        object,
                        directive,
                        table,
                        record: &record,
                        is_node: draft.is_node(object),
                    };
                    let mut keys = keys::items::read_item_keys(&item, findings)?;
                    let record = keys::forms::settle(&item, &mut keys, findings);
                    keys.expires = keys::expiry::expires(&item, findings);
                    Some((keys, record))
                });
                let (keys, record) = match read {
                    Some((keys, record)) => (Some(keys), record),
                    None => (None, record),
                };
                if let (Some(keys), Some((table, _))) = (&keys, table) {
                    types::fields::check_conflicts(&name, &record, keys, table, findings);
                    keys::constants::check_shown(&name, &record, keys, findings);
                }
                draft.items.extend(keys.map(|keys| (name.clone(), keys)));
                draft.records.insert(name, record);
            }
            _ => {}
        }
    }
}
