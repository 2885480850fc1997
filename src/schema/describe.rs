//! A model in, its access paths and writes as rows for `keyfold check` out. Must not know how a table is printed.

use super::model::{Access, AccessPath, FieldKind, Find, ItemKeys, Model, ObjectType, Range, SortAccess, Source, TextPart, Via};
use super::table::{KeyAttribute, Table};
use super::template::{Part, Template};
use super::write::{Action, ActionKind, WriteTarget};

/// One way in which a field is read, or one action of a field that writes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathRow {
    /// `Type.field`.
    pub field: String,
    /// The optional arguments that are present, and the order: `type, orderBy: NAME`; empty where there is only one way.
    pub when: String,
    /// The table or the index that is read; of a find through relations the relations.
    pub place: String,
    /// `GetItem`, `Query`, `Scan` or `through`; of an action `PutItem`, `UpdateItem`, `DeleteItem` or `ConditionCheck`.
    pub operation: &'static str,
    /// The key condition with the target's fields in it: `PK = {id} AND begins_with(SK, "Group#")`.
    pub condition: String,
    /// Where each bound field comes from: `userId = parent.id`.
    pub bindings: String,
}

/// The rows of every find and every write, in the order of the schema.
pub fn describe(model: &Model) -> Vec<PathRow> {
    let mut rows = Vec::new();
    for object in model.types.values() {
        for field in object.fields.values() {
            let coordinate = format!("{}.{}", object.name, field.name);
            match &field.kind {
                FieldKind::Find(find) => rows.extend(rows_of(model, coordinate, find)),
                FieldKind::Write(write) => {
                    rows.extend(write.find.iter().flat_map(|find| rows_of(model, coordinate.clone(), find)));
                    rows.extend(write.actions.iter().flat_map(|action| rows_of_action(model, &coordinate, action)));
                }
                FieldKind::Stored(_) | FieldKind::Page => {}
            }
        }
    }
    rows
}

fn rows_of(model: &Model, field: String, find: &Find) -> Vec<PathRow> {
    let (paths, keys) = match &find.via {
        Via::Through(hops) => {
            let place = hops.join(".");
            let row =
                PathRow { field, when: String::new(), place, operation: "through", condition: String::new(), bindings: String::new() };
            return vec![row];
        }
        Via::Keys(paths) => match model.item(&find.item) {
            Some((_, keys)) => (paths, keys),
            None => return Vec::new(),
        },
        Via::Mixed(mixed) => (&mixed.paths, &mixed.keys),
    };
    let Some(table) = model.tables.get(keys.table) else { return Vec::new() };
    let row = |path: &AccessPath| PathRow {
        field: field.clone(),
        when: path.when.iter().cloned().chain(path.order_by.iter().map(|value| format!("orderBy: {value}"))).collect::<Vec<_>>().join(", "),
        place: path.index.and_then(|index| table.indexes.get(index)).map_or_else(|| table.name.clone(), |index| index.name.clone()),
        operation: match path.access {
            Access::Get { .. } => "GetItem",
            Access::Query { .. } => "Query",
            Access::Scan => "Scan",
        },
        condition: condition(table, keys, path),
        bindings: bindings(table, keys, path).join(", "),
    };
    paths.iter().map(row).collect()
}

/// The read of an action, if it needs one, and the action.
fn rows_of_action(model: &Model, field: &str, action: &Action) -> Vec<PathRow> {
    let mut rows = match &action.target {
        WriteTarget::Read { find, .. } => rows_of(model, field.to_owned(), find),
        WriteTarget::Key(_) => Vec::new(),
    };
    rows.extend(row_of_action(model, field, action, &text_of));
    rows
}

/// The relations on the paths of a cascade that a global index finds: an item that is put just before the delete, and that the index does
/// not show yet, may stay.
fn late<'m>(model: &'m Model, object: &'m ObjectType, cascade: &'m [Vec<String>]) -> Vec<(&'m str, &'m str)> {
    let mut late = Vec::new();
    for path in cascade {
        let mut of = object;
        for name in path {
            let Some(FieldKind::Find(find)) = of.fields.get(name).map(|field| &field.kind) else { break };
            let Some((next, keys)) = model.item(&find.item) else { break };
            if let Via::Keys(paths) = &find.via
                && let Some(index) = paths.iter().find(|path| path.when.is_empty()).and_then(|path| path.index)
                && let Some(index) = model.tables.get(keys.table).and_then(|table| table.indexes.get(index)).filter(|index| !index.local)
            {
                late.push((name.as_str(), index.name.as_str()));
            }
            of = next;
        }
    }
    late.sort_unstable();
    late.dedup();
    late
}

/// An action: the key that it works on, and what it writes; `text` says how a source is written.
pub fn row_of_action(model: &Model, field: &str, action: &Action, text: &dyn Fn(&Source) -> String) -> Option<PathRow> {
    let (object, keys) = model.item(&action.item)?;
    let table = model.tables.get(keys.table)?;
    let mut bindings = Vec::new();
    if let WriteTarget::Key(sources) = &action.target {
        bindings.extend(sources.iter().map(|(name, source)| format!("{name} = {}", text(source))));
    }
    bindings.extend(action.at.as_ref().map(|at| match &at.by {
        Some((name, _, source)) => format!("at {}[{name} = {}]", at.field, text(source)),
        None => format!("at {}", at.field),
    }));
    bindings.extend(action.values.iter().map(|(name, value)| match &value.source {
        Some(source) => format!("{name} = {}", text(source)),
        None => format!("{name} by default"),
    }));
    match &action.kind {
        ActionKind::Update { expression: Some(expression), .. } => {
            // What stands only in the key of an index is in no clause.
            let in_keys = |name: &str| match object.fields.get(name).map(|field| &field.kind) {
                Some(FieldKind::Stored(stored)) => stored.attribute.is_none(),
                _ => false,
            };
            let changes = expression.changes.iter().filter(|(name, _)| in_keys(name));
            bindings.extend(changes.filter_map(|(name, value)| Some(format!("{name} = {}", value.as_ref()?))));
            bindings.extend(Some(expression.to_string()).filter(|text| !text.is_empty()));
        }
        ActionKind::Delete { cascade } if !cascade.is_empty() => {
            let paths: Vec<String> = cascade.iter().map(|path| path.join(".")).collect();
            bindings.push(format!("with its {}", paths.join(", ")));
            bindings.extend(late(model, object, cascade).into_iter().map(|(field, index)| format!("{field} by {index}, perhaps late")));
        }
        _ => {}
    }
    bindings.extend(action.condition.iter().map(|condition| format!("if {condition}")));
    let operation = match (&action.kind, &action.at) {
        (ActionKind::Check, _) => "ConditionCheck",
        (ActionKind::Put { .. }, None) => "PutItem",
        (ActionKind::Delete { .. }, None) => "DeleteItem",
        _ => "UpdateItem",
    };
    let key = |key: &KeyAttribute| {
        let templates = keys.keys.get(&key.name).into_iter().flatten();
        let texts: Vec<String> = templates.map(|template| parts(template, template.parts.len())).collect();
        format!("{} = {}", key.name, texts.join(" or "))
    };
    let condition = table.primary_key().map(key).collect::<Vec<_>>().join(" AND ");
    let (field, place, bindings) = (field.to_owned(), table.name.clone(), bindings.join(", "));
    Some(PathRow { field, when: String::new(), place, operation, condition, bindings })
}

/// What the fields are bound to, and the shards or the replica that is read.
fn bindings(table: &Table, keys: &ItemKeys, path: &AccessPath) -> Vec<String> {
    let bound = path.bindings.iter().map(|(name, source)| format!("{name} = {}", text_of(source)));
    bound.chain(path.reading(table, keys).map(|reading| reading.to_string())).collect()
}

fn condition(table: &Table, keys: &ItemKeys, path: &AccessPath) -> String {
    let (partition_key, sort_key) = table.keys_of(path.index);
    let template = |key: &KeyAttribute, position: usize| keys.keys.get(&key.name).and_then(|templates| templates.get(position));
    let equal = |key: &KeyAttribute, position: usize| {
        template(key, position).map(|template| format!("{} = {}", key.name, parts(template, template.parts.len()))).unwrap_or_default()
    };
    let (partition, sort) = match &path.access {
        Access::Scan => return String::new(),
        Access::Get { partition, sort: Some(template) } => (*partition, SortAccess::Equal { template: *template }),
        Access::Get { partition, sort: None } => (*partition, SortAccess::All),
        Access::Query { partition, sort } => (*partition, sort.clone()),
    };
    let first = equal(partition_key, partition);
    let second = sort_key.and_then(|key| match &sort {
        SortAccess::All => None,
        SortAccess::Equal { template } => Some(equal(key, *template)),
        SortAccess::Prefix { template: position, parts: count } => {
            Some(format!("begins_with({}, {})", key.name, parts(template(key, *position)?, *count)))
        }
        SortAccess::Range { template: position, parts: count, range: bounds } => {
            Some(range(key, template(key, *position)?, *count, bounds))
        }
    });
    second.into_iter().fold(first, |first, second| format!("{first} AND {second}"))
}

fn range(key: &KeyAttribute, template: &Template, count: usize, bounds: &Range) -> String {
    let value = |source: &Source| match source {
        Source::Text(parts) => text_of_parts(parts),
        other => format!("{{{}}}", text_of(other)),
    };
    let bound = |source: &Source| match (count, source) {
        (0, Source::Argument(_) | Source::Parent(_)) => value(source),
        _ => format!("\"{}{}\"", text(template, count), value(source)),
    };
    match bounds {
        Range::BeginsWith(source) => format!("begins_with({}, {})", key.name, bound(source)),
        Range::Between { lower: Some((lower, true)), upper: Some((upper, true)) } => {
            format!("{} BETWEEN {} AND {}", key.name, bound(lower), bound(upper))
        }
        Range::Between { lower, upper } => {
            let side = |side: &Option<(Source, bool)>, sign: &str| {
                side.as_ref()
                    .map(|(source, inclusive)| format!("{} {sign}{} {}", key.name, if *inclusive { "=" } else { "" }, bound(source)))
            };
            // A range that is open at one side still ends with the values before the ranged one.
            let within = (count > 0 && (lower.is_none() || upper.is_none()))
                .then(|| format!("begins_with({}, {})", key.name, parts(template, count)));
            side(lower, ">").into_iter().chain(side(upper, "<")).chain(within).collect::<Vec<_>>().join(" AND ")
        }
    }
}

/// The first parts of a template: a lone placeholder as `{id}`, anything else in quotes.
fn parts(template: &Template, count: usize) -> String {
    match template.parts.get(..count) {
        Some([Part::Placeholder { .. }]) => text(template, count),
        _ => format!("\"{}\"", text(template, count)),
    }
}

/// The first parts of a template as the schema writes them.
pub fn text(template: &Template, count: usize) -> String {
    let part = |part: &Part| match part {
        Part::Literal(literal) => literal.clone(),
        Part::Placeholder { field, width: None, .. } => format!("{{{field}}}"),
        Part::Placeholder { field, width: Some(width), .. } => format!("{{{field}:0{width}}}"),
    };
    template.parts.iter().take(count).map(part).collect()
}

fn text_of(source: &Source) -> String {
    match source {
        Source::Argument(name) => name.clone(),
        Source::Parent(name) => format!("parent.{name}"),
        Source::Item(ty, name) => format!("{ty}.{name}"),
        Source::Text(parts) => format!("\"{}\"", text_of_parts(parts)),
    }
}

fn text_of_parts(parts: &[TextPart]) -> String {
    let part = |part: &TextPart| match part {
        TextPart::Literal(literal) => literal.clone(),
        TextPart::Value(source) => format!("{{{}}}", text_of(source)),
    };
    parts.iter().map(part).collect()
}
