//! `@table` directives in, plain tables out. Must not know item types.

mod billing;

use super::table::{Index, KeyAttribute, KeyType, Projection, StreamView, Table};
use crate::schema::diagnostics::diagnostic::Findings;
use crate::schema::diagnostics::rules;
use crate::schema::diagnostics::span;
use crate::schema::diagnostics::span::At;
use crate::schema::diagnostics::suggestion::list;
use crate::schema::syntax::directives::{argument, flag, items, member, string, text};
use crate::schema::syntax::environment::expand;
use apollo_compiler::ast::{Directive, Value};
use apollo_compiler::{Node, Schema};

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
                let help = Some("set it, or give a default: `${NAME:-default}`".to_owned());
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
        tables.push(DeclaredTable { name, table: table(directive, table_name, findings) });
    }
    tables
}

fn table(directive: &Node<Directive>, name: String, findings: &mut Findings) -> Table {
    let partition = KeyAttribute {
        name: text(directive, "partitionKey").map_or_else(|| "pk".to_owned(), |at| at.value),
        kind: key_type(argument(directive, "partitionKeyType")),
    };
    let sort = text(directive, "sortKey")
        .map(|at| KeyAttribute { name: at.value, kind: key_type(argument(directive, "sortKeyType")) });
    let mut table = Table {
        time_to_live: text(directive, "timeToLive").map(|at| at.value),
        billing: billing::table_billing(directive, findings),
        stream: argument(directive, "stream").and_then(stream_view),
        point_in_time_recovery: flag(directive, "pointInTimeRecovery"),
        ..Table::new(name, partition, sort)
    };
    if table.sort.as_ref().is_some_and(|sort| sort.name == table.partition.name) {
        let place = text(directive, "sortKey").map(|at| at.span).unwrap_or_default();
        findings.error(rules::KF0105, &place, format!("`{}` is already the partition key", table.partition.name), None);
    }
    for written in argument(directive, "indexes").map(items).unwrap_or_default() {
        if let Some(index) = index(&table, written, findings) {
            check_types(&table, &index, written, findings);
            table.indexes.push(index);
        }
    }
    if table.indexes.iter().filter(|index| index.local).count() > LOCAL_INDEXES {
        let message = format!("`{}` has more than {LOCAL_INDEXES} local indexes", table.name);
        findings.error(rules::KF0104, &crate::schema::syntax::directives::named(directive), message, None);
    }
    table
}

fn index(table: &Table, written: &Node<Value>, findings: &mut Findings) -> Option<Index> {
    let name = member(written, "name").and_then(string)?;
    check_name("index", &name, findings);
    if table.indexes.iter().any(|index| index.name == name.value) {
        findings.error(rules::KF0102, &name.span, format!("the table declares the index `{}` twice", name.value), None);
        return None;
    }
    let key = |attribute: &str, kind: &str| {
        member(written, attribute).and_then(string).map(|at| At {
            value: KeyAttribute { name: at.value, kind: key_type(member(written, kind)) },
            span: at.span,
        })
    };
    let (partition, sort) = (key("partitionKey", "partitionKeyType"), key("sortKey", "sortKeyType"));
    let local = partition.is_none();
    if local && (sort.is_none() || table.sort.is_none()) {
        let message = match sort {
            None => format!("the index `{}` does not have its own key attribute", name.value),
            Some(_) => format!("the index `{}` is local, and `{}` has no sort key", name.value, table.name),
        };
        findings.error(
            rules::KF0104,
            &name.span,
            message,
            Some("a local index needs a `sortKey`, and a global index needs a `partitionKey`".into()),
        );
        return None;
    }
    let used = partition.as_ref().map_or(&table.partition.name, |partition| &partition.value.name);
    if let Some(sort) = sort.as_ref().filter(|sort| sort.value.name == *used) {
        findings.error(rules::KF0105, &sort.span, format!("`{}` is already the partition key", sort.value.name), None);
    }
    Some(Index {
        local,
        partition: vec![partition.map_or_else(|| table.partition.clone(), |at| at.value)],
        sort: sort.into_iter().map(|at| at.value).collect(),
        projection: projection(&name, written, findings),
        capacity: billing::index_capacity(table.billing, local, written, findings),
        name: name.value,
    })
}

fn projection(name: &At<String>, written: &Node<Value>, findings: &mut Findings) -> Projection {
    let kind = member(written, "projection").and_then(|value| value.as_enum()).map(|name| name.as_str());
    let included: Vec<String> = member(written, "include")
        .map(items)
        .unwrap_or_default()
        .iter()
        .filter_map(|value| value.as_str().map(str::to_owned))
        .collect();
    match (kind, included.is_empty()) {
        (Some("INCLUDE"), true) => {
            let message = format!("the index `{}` has the projection INCLUDE, but names no attributes", name.value);
            findings.error(rules::KF0106, &name.span, message, Some("list them: `include: [\"title\"]`".into()));
        }
        (Some("INCLUDE"), false) | (_, true) => {}
        (_, false) => {
            let message =
                format!("the index `{}` has an `include` list, but its projection is not INCLUDE", name.value);
            findings.error(
                rules::KF0106,
                &name.span,
                message,
                Some("write `projection: INCLUDE`, or leave `include` out".into()),
            );
        }
    }
    match kind {
        Some("KEYS_ONLY") => Projection::KeysOnly,
        Some("INCLUDE") => Projection::Include(included),
        _ => Projection::All,
    }
}

/// An attribute must have the same type in all the keys of a table.
fn check_types(table: &Table, index: &Index, written: &Node<Value>, findings: &mut Findings) {
    let partition = index.partition.iter().map(|key| (key, "partitionKey"));
    let own = partition.chain(index.sort.iter().map(|sort| (sort, "sortKey")));
    for (key, member_name) in own {
        let other = table.key_attributes().into_iter().find(|known| known.name == key.name && known.kind != key.kind);
        if let Some(other) = other {
            let place =
                member(written, member_name).map(|value| span::from_location(value.location())).unwrap_or_default();
            let message = format!(
                "`{}` has the type {:?} here, but {:?} in another key of `{}`",
                key.name, key.kind, other.kind, table.name
            );
            findings.error(
                rules::KF0107,
                &place,
                message,
                Some(format!("write `{member_name}Type: {:?}`", other.kind)),
            );
        }
    }
}

/// A name must be 3 to 255 letters, digits, `_`, `-` and `.` (DynamoDB developer guide, "Naming rules").
fn check_name(what: &str, name: &At<String>, findings: &mut Findings) {
    let fits = (3..=255).contains(&name.value.len())
        && name.value.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-.".contains(&b));
    if !fits {
        let message = format!("`{}` is not a valid {what} name in DynamoDB", name.value);
        findings.error(
            rules::KF0103,
            &name.span,
            message,
            Some("use 3 to 255 characters: letters, digits, `_`, `-` and `.`".into()),
        );
    }
}

fn stream_view(value: &Node<Value>) -> Option<StreamView> {
    let name = value.as_enum()?;
    [StreamView::KeysOnly, StreamView::NewImage, StreamView::OldImage, StreamView::NewAndOldImages]
        .into_iter()
        .find(|view| name == view.name())
}

fn key_type(value: Option<&Node<Value>>) -> KeyType {
    match value.and_then(|value| value.as_enum()).map(|name| name.as_str()) {
        Some("N") => KeyType::N,
        Some("B") => KeyType::B,
        _ => KeyType::S,
    }
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
            findings.error(rules::KF0202, &place, message, Some(format!("add `table:` with one of {}", list(&names))));
            None
        }
    }
}
