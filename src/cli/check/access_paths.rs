//! A model in, the access paths of its fields out, as a table of 100 columns or as JSON: the output of `keyfold check`.

use crate::cli::output::{counted, line, wrapped};
use crate::plan::cost::find::{FindCost, cost_of_find, cost_of_nodes};
use crate::plan::cost::price::UnitPrice;
use crate::schema::describe::{self, BoundField, PathRow};
use crate::schema::model::find::Returns;
use crate::schema::model::page::TOTAL_COUNT;
use crate::schema::model::{FieldKind, Model};
use serde_json::{Value, json};

/// The widths of the columns. With two spaces between them, a line has 100.
type Widths = [usize; 4];

/// The first column is as wide as the fields need, within bounds. The second has the rest.
fn widths(rows: &[PathRow]) -> Widths {
    let field = rows.iter().map(|row| row.field.chars().count()).max().unwrap_or(0).clamp(12, 26);
    [field, 62 - field, 28, 4]
}

/// The rules of names, as in docs/language/binding.md.
const BINDING: &str = "\
RULE  1 `where:`                                5 a field of the parent, seen as <parent><Field>
      2 an argument of the field's name         6 a field of the parent, <type><Field>
      3 an argument <type><Field>               7 a field of the parent, of the same name
      4 a field of the parent, <field><Field>";

/// The rules of names where items are written, as in docs/language/binding-in-writes.md.
const WRITING: &str = "\
RULE of mutations
      1 `set:` or `where:`                      4 a field of an input object
      2 an argument of the field's name         5 a field of an item in scope, seen as <type><Field>
      3 an argument <type><Field>               6 a field of an item in scope, of the same name";

/// The access paths of all fields, or of one type's fields, each with its greatest cost for one object.
pub fn rows(model: &Model, of: Option<&str>, price: &UnitPrice) -> Vec<PathRow> {
    let mine = |row: &PathRow| of.is_none_or(|name| row.field.split('.').next() == Some(name));
    let mut rows: Vec<PathRow> = describe::describe(model).into_iter().filter(mine).collect();
    for row in &mut rows {
        let notes = cost_notes(model, row, price);
        row.notes.extend(notes.into_iter().flatten());
    }
    rows
}

/// The greatest cost of a field that finds items, and that of counting the items of all its pages.
fn cost_notes(model: &Model, row: &PathRow, price: &UnitPrice) -> Option<Vec<String>> {
    let (ty, field) = row.field.split_once('.')?;
    let gets = match row.operation {
        "GetItem" => true,
        "Query" | "Scan" => false,
        _ => return None,
    };
    let field = model.types.get(ty)?.fields.get(field)?;
    let (FindCost { items, calls, units }, total) = match &field.kind {
        FieldKind::Find(find) => {
            let page = model.types.get(field.ty.inner_named_type().as_str());
            let total = page.is_some_and(|page| page.fields.contains_key(TOTAL_COUNT));
            let total = total.then(|| cost_of_find(find, Returns::Count, gets));
            (cost_of_find(find, find.returns, gets), total)
        }
        FieldKind::Nodes(nodes) => (cost_of_nodes(nodes), None),
        _ => return None,
    };
    let of_units = |units: f64| format!("{units} read units, {} a million", price.dollars_a_million(units, 0.0));
    let of_all = format!("at most {}, {}, {}", counted(items, "item"), counted(calls, "call"), of_units(units));
    let mut notes = vec![of_all];
    if let Some(FindCost { calls, units, .. }) = total {
        notes.push(format!("{TOTAL_COUNT}: at most {} more, {}", counted(calls, "call"), of_units(units)));
    }
    Some(notes)
}

/// A field that a service computes.
pub struct FieldOfService<'m> {
    field: String,
    service: &'m str,
    /// The most objects of a call.
    max: usize,
    /// What the service gets of each.
    gets: &'m str,
}

/// The fields that services compute, or those of one type.
fn services<'m>(model: &'m Model, of: Option<&str>) -> Vec<FieldOfService<'m>> {
    let types = model.types.values().filter(|ty| of.is_none_or(|name| ty.name == name));
    let fields = types.flat_map(|ty| ty.fields.values().map(move |field| (ty, field)));
    let resolved = fields.filter_map(|(ty, field)| match &field.kind {
        FieldKind::Resolved(resolution) => Some(FieldOfService {
            field: format!("{}.{}", ty.name, field.name),
            service: &model.services[resolution.service].name,
            max: resolution.max,
            gets: &resolution.requires_text,
        }),
        _ => None,
    });
    resolved.collect()
}

/// The fields that services compute, as JSON.
pub fn services_json(model: &Model, of: Option<&str>) -> Value {
    let one = |FieldOfService { field, service, max, gets }| json!({ "field": field, "service": service, "max": max, "gets": gets, "cost": "unknown" });
    services(model, of).into_iter().map(one).collect()
}

/// The rows as a table, with the meaning of the rules' numbers.
pub fn table((model, of): (&Model, Option<&str>), rows: &[PathRow], price: &UnitPrice) -> String {
    let widths = widths(rows);
    let mut text = line(&widths, &["FIELD", "CALL AND KEY", "BOUND", "RULE"]);
    let mut before = "";
    let (mut reads, mut writes) = (false, false);
    for row in rows {
        let written = is_written(model, row);
        reads |= !row.bound.is_empty() && !written;
        writes |= !row.bound.is_empty() && written;
        text.push_str(&lines(widths, row, row.field == before));
        before = &row.field;
    }
    for service in services(model, of) {
        let FieldOfService { field, service, max, gets } = service;
        let objects = counted(max as u64, "object");
        text.push_str(&format!("\n{field} by {service}: a call for at most {objects}, cost unknown\n"));
        text.extend(wrapped(&format!("gets {gets}"), 98).iter().map(|line| format!("  {line}\n")));
    }
    if rows.iter().any(|row| row.notes.iter().any(|note| note.ends_with("a million"))) {
        text.push_str(&format!("\nA million such reads cost so much on demand ({}).\n", price.place()));
    }
    for (_, legend) in [(reads, BINDING), (writes, WRITING)].iter().filter(|(shown, _)| *shown) {
        text.push_str(&format!("\n{legend}\n"));
    }
    text
}

/// Whether the row is of a field that writes.
fn is_written(model: &Model, row: &PathRow) -> bool {
    row.field.split_once('.').is_some_and(|(_, field)| {
        let root = model.api.root_operation(apollo_compiler::ast::OperationType::Mutation);
        root.is_some_and(|root| row.field == format!("{root}.{field}")) && model.mutation(field).is_some()
    })
}

/// A row as lines of the table. A field with several rows is named once.
fn lines(widths: Widths, row: &PathRow, again: bool) -> String {
    let mut field: Vec<String> = if again { Vec::new() } else { vec![row.field.clone()] };
    field.extend((!row.when.is_empty()).then(|| format!("  with {}", row.when)));
    let mut call = place(row, widths[1]);
    call.extend(clauses(&row.condition, widths[1] - 2).iter().chain(&row.notes).map(|text| format!("  {text}")));
    let wrap = |texts: Vec<String>, column: usize| -> Vec<String> {
        texts.iter().flat_map(|text| wrapped(text, widths[column])).collect()
    };
    let (field, call) = (wrap(field, 0), wrap(call, 1));
    let bound: Vec<(String, String)> = row.bound.iter().flat_map(|bound| bound_lines(bound, widths[2])).collect();
    let height = field.len().max(call.len()).max(bound.len());
    let cell = |lines: &[String], at: usize| lines.get(at).cloned().unwrap_or_default();
    let all = (0..height).map(|at| {
        let (bound, rule) = bound.get(at).cloned().unwrap_or_default();
        line(&widths, &[cell(&field, at), cell(&call, at), bound, rule])
    });
    all.collect()
}

/// The call and its table. An index that does not fit next to the table goes below it.
fn place(row: &PathRow, width: usize) -> Vec<String> {
    let table = if row.table.is_empty() { &row.place } else { &row.table };
    let call = format!("{} {table}", row.operation);
    match &row.index {
        None => vec![call],
        Some(index) => {
            let whole = format!("{call}/{index}");
            if whole.chars().count() <= width { vec![whole] } else { vec![call, format!("  index {index}")] }
        }
    }
}

/// A key condition on one line if it fits, otherwise each of its parts on a line.
fn clauses(condition: &str, width: usize) -> Vec<String> {
    if condition.is_empty() || condition.chars().count() <= width {
        return (!condition.is_empty()).then(|| condition.to_owned()).into_iter().collect();
    }
    let mut clauses: Vec<String> = Vec::new();
    for part in condition.split(" AND ") {
        match clauses.last_mut() {
            // The bounds of a range belong together.
            Some(last) if last.contains(" BETWEEN ") && !last.contains(" AND ") => {
                last.push_str(&format!(" AND {part}"))
            }
            Some(last) => {
                last.push_str(" AND");
                clauses.push(part.to_owned());
            }
            None => clauses.push(part.to_owned()),
        }
    }
    clauses
}

/// What binds a field, with the rule's number on its first line.
fn bound_lines(bound: &BoundField, width: usize) -> Vec<(String, String)> {
    let texts = wrapped(&format!("{} {} {}", bound.field, bound.operator, bound.source), width);
    let rule = |at: usize| if at == 0 { bound.rule.to_string() } else { String::new() };
    texts.into_iter().enumerate().map(|(at, text)| (text, rule(at))).collect()
}

/// The rows as JSON.
pub fn json(rows: &[PathRow]) -> Value {
    let bound = |row: &PathRow| -> Vec<Value> {
        let one = |bound: &BoundField| json!({ "field": bound.field, "operator": bound.operator, "source": bound.source, "rule": bound.rule });
        row.bound.iter().map(one).collect()
    };
    let row = |row: &PathRow| {
        json!({
            "field": row.field, "when": row.when, "operation": row.operation, "table": row.table, "index": row.index,
            "through": if row.table.is_empty() { Some(&row.place) } else { None },
            "condition": row.condition, "bound": bound(row), "notes": row.notes,
        })
    };
    rows.iter().map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row() -> PathRow {
        let bound = |field: &str, operator, source: &str, rule| BoundField {
            field: field.into(),
            operator,
            source: source.into(),
            rule,
        };
        PathRow {
            field: "User.favorites".into(),
            when: "type, since".into(),
            place: "gsiOne".into(),
            operation: "Query",
            condition: "gsiOnePk = \"FavoriteData#{userId}#{type}\" AND gsiOneSk >= {since}".into(),
            bindings: String::new(),
            bound: vec![
                bound("userId", "=", "parent.id", 5),
                bound("clippedAt", ">=", ":aVeryLongNameOfAnArgument", 1),
            ],
            notes: vec!["descending".into()],
            table: "develop.Favorite".into(),
            index: Some("gsiOne".into()),
        }
    }

    #[test]
    fn a_row_is_wrapped_within_its_columns() {
        let row = row();
        let widths = widths(std::slice::from_ref(&row));
        assert_eq!(widths.iter().sum::<usize>() + 6, 100);
        let text = "\
User.favorites  Query develop.Favorite/gsiOne                     userId = parent.id            5
  with type,      gsiOnePk = \"FavoriteData#{userId}#{type}\" AND   clippedAt >=                  1
    since         gsiOneSk >= {since}                               :aVeryLongNameOfAnArgument
                  descending
";
        assert_eq!(lines(widths, &row, false), text);
        assert!(lines(widths, &row, true).starts_with("  with type,"));
    }

    #[test]
    fn the_bounds_of_a_range_stay_together() {
        let condition = "pk = {owner} AND sk BETWEEN {from} AND {to} AND begins_with(sk, \"A\")";
        assert_eq!(
            clauses(condition, 20),
            ["pk = {owner} AND", "sk BETWEEN {from} AND {to} AND", "begins_with(sk, \"A\")"]
        );
        assert_eq!(clauses("pk = {id}", 20), ["pk = {id}"]);
        assert!(clauses("", 20).is_empty());
    }
}
