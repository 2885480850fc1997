//! `@table` directives in, plain tables out. Must not know item types.

mod billing;
mod indexes;
mod written;

use super::table::{KeyAttribute, StreamView, Table};
use crate::schema::diagnostics::diagnostic::Findings;
use crate::schema::diagnostics::rules;
use crate::schema::diagnostics::span;
use crate::schema::diagnostics::span::{At, Span};
use crate::schema::diagnostics::suggestion::list;
use crate::schema::syntax::directives::{argument, flag, text};
use crate::schema::syntax::environment::expand;
use apollo_compiler::ast::{Directive, Value};
use apollo_compiler::{Node, Schema};
use indexmap::IndexMap;
use written::{check_name, key_type};

/// The most local indexes that a table may have (DynamoDB developer guide, "Quotas", secondary indexes per table).
const LOCAL_INDEXES: usize = 5;

/// A table as the schema declares it.
#[derive(Debug)]
pub struct DeclaredTable {
    /// Its name in the file, the same in every environment: each variable has its default, or the name is as written if
    /// one has none.
    pub name: String,
    /// The table, with its name in this environment.
    pub table: Table,
    /// The key attributes of indexes whose types are not written, each with its place: their types follow from the
    /// fields that are stored in them. Until then they are texts.
    pub untyped: IndexMap<String, Span>,
}

/// Reads every `@table`. A mistake in one does not hide mistakes in the others.
pub fn read_tables(
    schema: &Schema,
    text: &str,
    environment: &dyn Fn(&str) -> Option<String>,
    findings: &mut Findings,
) -> Vec<DeclaredTable> {
    let mut tables: Vec<DeclaredTable> = Vec::new();
    for directive in schema.schema_definition.directives.iter().filter(|directive| directive.name == "table") {
        let Some(written) = self::text(directive, "name") else { continue };
        let table_name = match expand(&written.value, environment) {
            Ok(name) => {
                check_name("table", &At { value: name.clone(), span: written.span.clone() }, findings);
                name
            }
            Err(unset) => {
                let place = span::within(text, &written.span, &unset.span);
                let help = Some("set it, or give a default: `${NAME:-default}`".into());
                findings.error(rules::KF0103, &place, unset.message, help);
                written.value.clone()
            }
        };
        let name = expand(&written.value, &|_| None).unwrap_or_else(|_| written.value.clone());
        // Two tables with the same name in the file would be one table if no variable is set, and `@item(table:)` could
        // mean either.
        let twice = tables.iter().find_map(|known| {
            let same = [(&known.table.name, &table_name), (&known.name, &name)];
            same.into_iter().find(|(known, this)| known == this).map(|(_, this)| this.clone())
        });
        if let Some(twice) = twice {
            findings.error(
                rules::KF0101,
                &written.span,
                format!("the schema declares the table `{twice}` twice"),
                None,
            );
            continue;
        }
        let (table, untyped) = table(directive, table_name, findings);
        tables.push(DeclaredTable { name, table, untyped });
    }
    tables
}

fn table(directive: &Node<Directive>, name: String, findings: &mut Findings) -> (Table, IndexMap<String, Span>) {
    for key in ["partitionKey", "sortKey"] {
        let Some(written) = argument(directive, key).filter(|value| value.as_list().is_some()) else { continue };
        let help = "the keys of global indexes may have several: `indexes: [{ name: \"byRegion\", partitionKey: [\"game\", \"region\"] }]`";
        findings.error(
            rules::KF0109,
            &span::from_location(written.location()),
            format!("the `{key}` of the table `{name}` is one attribute, not a list"),
            Some(help.into()),
        );
    }
    let partition = KeyAttribute {
        name: text(directive, "partitionKey").map_or_else(|| "pk".to_owned(), |at| at.value),
        kind: key_type(argument(directive, "partitionKeyType")),
    };
    let sort = text(directive, "sortKey")
        .map(|at| KeyAttribute { name: at.value, kind: key_type(argument(directive, "sortKeyType")) });
    let mut table = Table {
        time_to_live: text(directive, "timeToLive").map(|at| at.value),
        shows_expired: shows_expired(directive, findings),
        billing: billing::table_billing(directive, findings),
        stream: argument(directive, "stream").and_then(stream_view),
        point_in_time_recovery: flag(directive, "pointInTimeRecovery"),
        ..Table::new(name, partition, sort)
    };
    if table.repeats_key() {
        let place = text(directive, "sortKey").map(|at| at.span).unwrap_or_default();
        let message = format!("`{}` is already the partition key", table.partition.name);
        let help = "name the attribute of the sort key, such as `SK`; without a sort key, leave `sortKey:` out";
        findings.error(rules::KF0105, &place, message, Some(help.into()));
    }
    let untyped = indexes::read_indexes(&mut table, directive, findings);
    if table.indexes.iter().filter(|index| index.local).count() > LOCAL_INDEXES {
        let message = format!("`{}` has more than {LOCAL_INDEXES} local indexes", table.name);
        findings.error(rules::KF0104, &crate::schema::syntax::directives::named(directive), message, None);
    }
    (table, untyped)
}

/// Whether requests see items that have expired. Only a table with a time to live has such items.
fn shows_expired(directive: &Node<Directive>, findings: &mut Findings) -> bool {
    let written = argument(directive, "expired").filter(|value| value.as_enum().is_some_and(|name| name == "SHOWN"));
    if let Some(written) = written.filter(|_| argument(directive, "timeToLive").is_none()) {
        let help = "leave it out, or name the attribute with the time: `timeToLive: \"ttl\"`";
        let message = "`expired:` has no effect: the table has no `timeToLive`";
        findings.error(rules::KF0111, &span::from_location(written.location()), message, Some(help.into()));
    }
    written.is_some()
}

fn stream_view(value: &Node<Value>) -> Option<StreamView> {
    let name = value.as_enum()?;
    [StreamView::KeysOnly, StreamView::NewImage, StreamView::OldImage, StreamView::NewAndOldImages]
        .into_iter()
        .find(|view| name == view.name())
}

/// The table that a type's `@item` names, by its name in the file or in this environment.
pub fn item_table(
    tables: &[DeclaredTable],
    type_name: &str,
    directive: &Node<Directive>,
    findings: &mut Findings,
) -> Option<usize> {
    let names: Vec<&str> = tables.iter().map(|table| table.name.as_str()).collect();
    let place = crate::schema::syntax::directives::named(directive);
    match (text(directive, "table"), tables.len()) {
        (Some(written), 1..) => {
            // Names in the file come first, so that no environment makes `@item(table:)` mean another table of the
            // file.
            let in_file = tables.iter().position(|table| table.name == written.value);
            let found = in_file.or_else(|| tables.iter().position(|declared| declared.table.name == written.value));
            if found.is_none() {
                let message = format!("the table `{}` does not exist", written.value);
                findings.error(
                    rules::KF0202,
                    &written.span,
                    message,
                    crate::schema::diagnostics::suggestion::suggest(&written.value, names),
                );
            }
            found
        }
        (None, 1) => Some(0),
        (_, 0) => {
            let help = "declare it: `extend schema @table(name: \"data\", partitionKey: \"PK\", sortKey: \"SK\")`";
            findings.error(
                rules::KF0201,
                &place,
                format!("`{type_name}` is an item type, but the schema has no table"),
                Some(help.into()),
            );
            None
        }
        (None, _) => {
            let message = format!("`{type_name}` does not name its table");
            findings.error(
                rules::KF0202,
                &place,
                message,
                Some(format!("add `table:` with one of {}", list(&names)).into()),
            );
            None
        }
    }
}
