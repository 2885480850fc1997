//! A model in, one line for each way that each field is read or written out: what `keyfold check` shows.

use super::output::aligned;
use crate::schema::describe;
use crate::schema::model::{Access, AccessPath, Find, Model, ObjectType, Range, SortAccess, Source, TextPart, TypeKind, Via};
use crate::schema::model::{FieldKind, ItemKeys};
use crate::schema::table::KeyAttribute;
use crate::schema::template::{Part, Template};
use crate::schema::write::{Write, WriteTarget};

/// Every field that reads or writes items, with its access paths and actions, as aligned columns.
pub fn table(model: &Model) -> String {
    let heading = ["FIELD", "WHEN", "CALL", "FROM", "KEY CONDITION", "BOUND"].map(str::to_owned).to_vec();
    let mut rows = vec![heading];
    for parent in model.types.values() {
        for field in parent.fields.values() {
            match &field.kind {
                FieldKind::Find(find) => rows.extend(find_rows(model, parent, &field.name, find)),
                FieldKind::Write(write) => rows.extend(write_rows(model, parent, &field.name, write)),
                FieldKind::Stored(_) | FieldKind::Page => {}
            }
        }
    }
    aligned(&rows)
}

fn find_rows(model: &Model, parent: &ObjectType, field: &str, find: &Find) -> Vec<Vec<String>> {
    let name = format!("{}.{field}", parent.name);
    match &find.via {
        Via::Through(relations) => vec![vec![name, String::new(), "through".into(), relations.join(".")]],
        Via::Keys(paths) => {
            let Some(keys) = item_keys(model, &find.item) else { return Vec::new() };
            paths.iter().map(|path| path_row(model, keys, path, name.clone())).collect()
        }
        Via::Mixed(mixed) => {
            let name = format!("{name}: {}", mixed.members.join(" | "));
            mixed.paths.iter().map(|path| path_row(model, &mixed.keys, path, name.clone())).collect()
        }
    }
}

/// What a mutation reads first, and its actions in their order.
fn write_rows(model: &Model, parent: &ObjectType, field: &str, write: &Write) -> Vec<Vec<String>> {
    let mut rows: Vec<Vec<String>> = write.find.iter().flat_map(|find| find_rows(model, parent, field, find)).collect();
    for action in &write.actions {
        if let WriteTarget::Read { find, .. } = &action.target {
            rows.extend(find_rows(model, parent, field, find));
        }
        let row = describe::row_of_action(model, &format!("{}.{field}", parent.name), action, &source_text);
        rows.extend(row.map(|row| vec![row.field, row.when, row.operation.to_owned(), row.place, row.condition, row.bindings]));
    }
    rows
}

fn item_keys<'a>(model: &'a Model, item: &str) -> Option<&'a ItemKeys> {
    match &model.types.get(item)?.kind {
        TypeKind::Item(keys) => Some(keys),
        _ => None,
    }
}

fn path_row(model: &Model, keys: &ItemKeys, path: &AccessPath, name: String) -> Vec<String> {
    let Some(table) = model.tables.get(keys.table) else { return vec![name] };
    let (partition, sort) = table.keys_of(path.index);
    let (call, condition) = match &path.access {
        Access::Scan => ("Scan", String::new()),
        Access::Get { partition: first, sort: second } => {
            let mut condition = equal(keys, partition, *first);
            if let (Some(sort), Some(second)) = (sort, second) {
                condition.push_str(&format!(" AND {}", equal(keys, sort, *second)));
            }
            ("GetItem", condition)
        }
        Access::Query { partition: first, sort: access } => {
            let mut condition = equal(keys, partition, *first);
            if let Some(more) = sort.and_then(|sort| sort_condition(keys, sort, access)) {
                condition.push_str(&format!(" AND {more}"));
            }
            ("Query", condition)
        }
    };
    let index = path.index.and_then(|index| table.indexes.get(index));
    let from = index.map_or_else(|| table.name.clone(), |index| format!("{}/{}", table.name, index.name));
    let mut when: Vec<String> = path.when.clone();
    when.extend(path.order_by.iter().map(|value| format!("orderBy: {value}")));
    let mut bound: Vec<String> = path.bindings.iter().map(|(field, source)| format!("{field} = {}", source_text(source))).collect();
    bound.extend(path.reading(table, keys).map(|reading| reading.to_string()));
    if path.descending {
        bound.push("descending".into());
    }
    vec![name, when.join(", "), call.into(), from, condition, bound.join(", ")]
}

fn sort_condition(keys: &ItemKeys, sort: &KeyAttribute, access: &SortAccess) -> Option<String> {
    let name = &sort.name;
    match access {
        SortAccess::All => None,
        SortAccess::Equal { template } => Some(equal(keys, sort, *template)),
        SortAccess::Prefix { template, parts } => {
            let text = template_at(keys, sort, *template).map(|template| parts_text(template, *parts)).unwrap_or_default();
            Some(format!("begins_with({name}, \"{text}\")"))
        }
        SortAccess::Range { template, parts, range } => {
            let template = template_at(keys, sort, *template)?;
            let field = match template.parts.get(*parts) {
                Some(Part::Placeholder { field, .. }) => field.as_str(),
                _ => "",
            };
            Some(format!("{name} \"{}\" with {}", parts_text(template, parts + 1), range_text(field, range)))
        }
    }
}

fn range_text(field: &str, range: &Range) -> String {
    match range {
        Range::BeginsWith(source) => format!("begins_with({field}, {})", source_text(source)),
        Range::Between { lower, upper } => {
            let lower = lower.iter().map(|(source, inclusive)| (if *inclusive { ">=" } else { ">" }, source));
            let upper = upper.iter().map(|(source, inclusive)| (if *inclusive { "<=" } else { "<" }, source));
            lower.chain(upper).map(|(sign, source)| format!("{field} {sign} {}", source_text(source))).collect::<Vec<_>>().join(" AND ")
        }
    }
}

fn template_at<'a>(keys: &'a ItemKeys, key: &KeyAttribute, position: usize) -> Option<&'a Template> {
    keys.keys.get(&key.name)?.get(position)
}

fn equal(keys: &ItemKeys, key: &KeyAttribute, position: usize) -> String {
    let text = template_at(keys, key, position).map(|template| parts_text(template, template.parts.len())).unwrap_or_default();
    format!("{} = \"{text}\"", key.name)
}

/// The first parts of a template as the schema writes them.
fn parts_text(template: &Template, parts: usize) -> String {
    let text = template.parts.iter().take(parts).map(|part| match part {
        Part::Literal(text) => text.clone(),
        Part::Placeholder { field, width: None, .. } => format!("{{{field}}}"),
        Part::Placeholder { field, width: Some(width), .. } => format!("{{{field}:0{width}}}"),
    });
    text.collect()
}

fn source_text(source: &Source) -> String {
    match source {
        Source::Argument(name) => format!(":{name}"),
        Source::Parent(field) => format!("parent.{field}"),
        Source::Item(ty, field) => format!("{ty}.{field}"),
        Source::Text(parts) => {
            let parts = parts.iter().map(|part| match part {
                TextPart::Literal(text) => text.clone(),
                TextPart::Value(source) => format!("{{{}}}", source_text(source)),
            });
            format!("\"{}\"", parts.collect::<String>())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::table::KeyType;
    use crate::schema::value_type::ValueType;

    fn keys() -> ItemKeys {
        let placeholder = |field: &str, width| Part::Placeholder { field: field.into(), value: ValueType::Id, width };
        let pk = Template { parts: vec![Part::Literal("U#".into()), placeholder("userId", None)] };
        let sk = Template { parts: vec![placeholder("kind", None), Part::Literal("#".into()), placeholder("score", Some(8))] };
        let keys = [("PK".to_owned(), vec![pk]), ("SK".to_owned(), vec![sk])].into_iter().collect();
        ItemKeys { table: 0, keys, constants: vec![], shares_keys: false }
    }

    fn key(name: &str) -> KeyAttribute {
        KeyAttribute { name: name.into(), kind: KeyType::S }
    }

    #[test]
    fn conditions_are_written_as_the_schema_writes_templates() {
        assert_eq!(equal(&keys(), &key("PK"), 0), "PK = \"U#{userId}\"");
        assert_eq!(equal(&keys(), &key("SK"), 0), "SK = \"{kind}#{score:08}\"");
        let prefix = SortAccess::Prefix { template: 0, parts: 2 };
        assert_eq!(sort_condition(&keys(), &key("SK"), &prefix).as_deref(), Some("begins_with(SK, \"{kind}#\")"));
        let range =
            Range::Between { lower: Some((Source::Argument("min".into()), true)), upper: Some((Source::Parent("top".into()), false)) };
        let range = SortAccess::Range { template: 0, parts: 2, range };
        assert_eq!(
            sort_condition(&keys(), &key("SK"), &range).as_deref(),
            Some("SK \"{kind}#{score:08}\" with score >= :min AND score < parent.top")
        );
        assert_eq!(sort_condition(&keys(), &key("SK"), &SortAccess::All), None);
    }

    #[test]
    fn a_source_made_of_text_is_quoted() {
        let text = Source::Text(vec![TextPart::Literal("user-".into()), TextPart::Value(Source::Argument("id".into()))]);
        assert_eq!(source_text(&text), "\"user-{:id}\"");
    }
}
