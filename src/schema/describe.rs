//! A model in; out: its access paths and writes as rows for `keyfold check`, each with what it binds and by which rule.
//! Must not know how a table is printed.

use super::finds::scope::prefixed;
use super::table::{KeyAttribute, Table};
use crate::schema::model::find::{Access, AccessPath, Find, Range, SortAccess, Via};
use crate::schema::model::keys::ItemKeys;
use crate::schema::model::node::{NodeFind, NodeType};
use crate::schema::model::source::{BindingRule, Source, TextPart};
use crate::schema::model::write::{Action, ActionKind, GivenValue, WriteFind, WriteTarget, WrittenValue};
use crate::schema::model::{FieldKind, Model, ObjectType};
use crate::schema::template::Template;
use crate::schema::template::part::Part;
use crate::schema::writes::checks::room::{self, Room};

/// One access path of a field, or one action of a mutation field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathRow {
    /// `Type.field`.
    pub field: String,
    /// The optional arguments that are present, and the order: `type, orderBy: NAME`; empty if neither plays a part.
    pub when: String,
    /// The table or the index that is read or written; for a find through relations, the relations.
    pub place: String,
    /// `GetItem`, `Query`, `Scan` or `through`; for an action, `PutItem`, `UpdateItem`, `DeleteItem` or
    /// `ConditionCheck`.
    pub operation: &'static str,
    /// The key condition with the target's fields in it: `PK = {id} AND begins_with(SK, "Group#")`.
    pub condition: String,
    /// Where each bound field comes from: `userId = parent.id`.
    pub bindings: String,
    /// The bindings field by field. Their rules are those of docs/language/binding.md or, in writes, of
    /// docs/language/binding-in-writes.md.
    pub bound: Vec<BoundField>,
    /// Further notes: the shards that are read, the order of the items, the effect of an expression.
    pub notes: Vec<String>,
    /// The table; empty for a find through relations.
    pub table: String,
    /// The index, if one is read.
    pub index: Option<String>,
}

/// What binds a field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BoundField {
    /// The field of the item.
    pub field: String,
    /// `=`, one of `<`, `<=`, `>`, `>=`, or `begins with`.
    pub operator: &'static str,
    /// Where its value comes from: `:id` of an argument, `parent.id`, `Group.id` of an item in scope, or a quoted text.
    pub source: String,
    /// The number of the rule that binds it; 1 means that the author wrote the binding for this field.
    pub rule: u8,
}

/// The rows of every find and every write, in the order of the schema.
pub fn describe(model: &Model) -> Vec<PathRow> {
    let mut rows = Vec::new();
    for object in model.types.values() {
        for field in object.fields.values() {
            let coordinate = format!("{}.{}", object.name, field.name);
            match &field.kind {
                FieldKind::Find(find) => rows.extend(rows_of(model, coordinate, find, &|_, rule, _| rule as u8 + 1)),
                FieldKind::Write(write) => {
                    let before = rows.len();
                    rows.extend(write.finds.iter().flat_map(|found| rows_of_found(model, &coordinate, found)));
                    rows.extend(write.actions.iter().flat_map(|action| rows_of_action(model, &coordinate, action)));
                    let written = rows.get_mut(before..).unwrap_or_default();
                    note_rooms(&room::rooms(&model.types, field, write), written);
                    written.last_mut().into_iter().for_each(|row| {
                        row.notes.extend(write.call_notes(&model.services));
                        row.notes.extend(write.record_note());
                    });
                }
                FieldKind::Nodes(nodes) => rows.extend(rows_of_nodes(model, &coordinate, nodes)),
                // Nothing is found or written for the others.
                _ => {}
            }
        }
    }
    rows
}

/// Notes how many elements of each list of a field fit in its transaction, at the first row of the list.
fn note_rooms(rooms: &[Room], rows: &mut [PathRow]) {
    for room in rooms {
        let of_list = format!("for each of {}", room.list);
        let at = |row: &PathRow| row.notes.iter().position(|note| *note == of_list);
        if let Some((row, position)) = rows.iter_mut().find_map(|row| Some((at(row)?, row))).map(|(at, row)| (row, at))
        {
            row.notes.insert(position + 1, room.text());
        }
    }
}

/// The rows of a field that finds items by their ids: one for each type. The id gives the fields of the key, which no
/// name binds.
fn rows_of_nodes(model: &Model, coordinate: &str, nodes: &NodeFind) -> Vec<PathRow> {
    let row = |ty: &NodeType, row: PathRow| PathRow {
        when: format!("{} of {}", nodes.argument, ty.find.item),
        bindings: format!("by the id of {}", ty.find.item),
        bound: Vec::new(),
        ..row
    };
    let of_type = |ty: &NodeType| {
        rows_of(model, coordinate.to_owned(), &ty.find, &|_, rule, _| rule as u8 + 1)
            .into_iter()
            .map(|of| row(ty, of))
            .collect::<Vec<_>>()
    };
    nodes.types.iter().flat_map(of_type).collect()
}

/// The rows of a read that comes before a write. In it, names bind by the rules of writes.
fn rows_before(model: &Model, field: String, find: &Find) -> Vec<PathRow> {
    rows_of(model, field, find, &|name, rule, source| match rule {
        BindingRule::Where => 1,
        _ => rule_of_write(&find.item, name, source),
    })
}

/// The rows of a `@find` of a mutation.
fn rows_of_found(model: &Model, field: &str, found: &WriteFind) -> Vec<PathRow> {
    let mut rows = rows_before(model, field.to_owned(), &found.find);
    if let Some(list) = &found.each {
        rows.iter_mut().for_each(|row| row.notes.insert(0, format!("for each of {list}")));
    }
    rows
}

/// Gives the rule's number for a bound field, from the field, its rule in the path and its source.
type Numbered<'a> = &'a dyn Fn(&str, BindingRule, &Source) -> u8;

fn rows_of(model: &Model, field: String, find: &Find, number: Numbered) -> Vec<PathRow> {
    let (paths, keys) = match &find.via {
        Via::Through(hops) => {
            return vec![PathRow {
                field,
                when: String::new(),
                place: hops.join("."),
                operation: "through",
                condition: String::new(),
                bindings: String::new(),
                bound: Vec::new(),
                notes: Vec::new(),
                table: String::new(),
                index: None,
            }];
        }
        Via::Keys(paths) => match model.item(&find.item) {
            Some((_, keys)) => (paths, keys),
            None => return Vec::new(),
        },
        Via::AbstractType(shared) => (&shared.paths, &shared.keys),
    };
    let Some(table) = model.tables.get(keys.table) else { return Vec::new() };
    let row = |path: &AccessPath| PathRow {
        field: field.clone(),
        when: path
            .when
            .iter()
            .cloned()
            .chain(path.order_by.iter().map(|value| format!("orderBy: {value}")))
            .collect::<Vec<_>>()
            .join(", "),
        place: path
            .index
            .and_then(|index| table.indexes.get(index))
            .map_or_else(|| table.name.clone(), |index| index.name.clone()),
        operation: match path.access {
            Access::Get { .. } => "GetItem",
            Access::Query { .. } => "Query",
            Access::Scan => "Scan",
        },
        condition: condition(table, keys, path),
        bindings: bindings(table, keys, path).join(", "),
        bound: bound_fields(keys, table, path, number),
        notes: notes(find, path, path.reading(table, keys).map(|reading| reading.to_string())),
        table: table.name.clone(),
        index: path.index.and_then(|index| table.indexes.get(index)).map(|index| index.name.clone()),
    };
    paths.iter().map(row).collect()
}

/// The rows of an action: its read, if it needs one, and the action itself.
pub fn rows_of_action(model: &Model, field: &str, action: &Action) -> Vec<PathRow> {
    let mut rows = match &action.target {
        WriteTarget::Read { find, .. } => rows_before(model, field.to_owned(), find),
        WriteTarget::Key(_) | WriteTarget::Found(_) => Vec::new(),
    };
    rows.extend(row_of_action(model, field, action));
    rows
}

/// The relations of a cascade that read a global index, each with its index. The index is eventually consistent: an
/// item that is put just before the delete may not be in it yet, and then is not deleted.
fn late<'m>(model: &'m Model, object: &'m ObjectType, cascade: &'m [Vec<String>]) -> Vec<(&'m str, &'m str)> {
    let mut late = Vec::new();
    for path in cascade {
        let mut of = object;
        for name in path {
            let Some(FieldKind::Find(find)) = of.fields.get(name).map(|field| &field.kind) else { break };
            let Some((next, keys)) = model.item(&find.item) else { break };
            if let Via::Keys(paths) = &find.via
                && let Some(index) = paths.iter().find(|path| path.when.is_empty()).and_then(|path| path.index)
                && let Some(index) =
                    model.tables.get(keys.table).and_then(|table| table.indexes.get(index)).filter(|index| !index.local)
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

/// The row of an action: the key that it works on, and what it writes.
fn row_of_action(model: &Model, field: &str, action: &Action) -> Option<PathRow> {
    let (object, keys) = model.item(&action.item)?;
    let table = model.tables.get(keys.table)?;
    let mut bindings = Vec::new();
    let mut bound = Vec::new();
    let of_each = action.each.iter().map(|list| format!("for each of {list}"));
    let of_found =
        if let WriteTarget::Found(alias) = &action.target { Some(format!("the found {alias}")) } else { None };
    bindings.extend(of_each.chain(of_found));
    let mut notes = bindings.clone();
    if let WriteTarget::Key(sources) = &action.target {
        bindings.extend(sources.iter().map(|(name, source)| format!("{name} = {}", text_of(source))));
        let sources = sources.iter().map(|(name, source)| (name, GivenValue::Source(source.clone())));
        bound.extend(sources.map(|(name, source)| bound_of_write(&action.item, name, &source)));
    }
    let owner = action.at.as_ref().map_or(&action.item, |at| &at.element);
    let moved = if action.moves() { keys.primary_fields(table) } else { Vec::new() };
    let becomes = |name: &str| if moved.contains(&name) { "becomes" } else { "=" };
    let values = action.values.iter();
    bound.extend(values.filter_map(|(name, value)| {
        let bound = bound_of_write(owner, name, value.given.as_ref()?);
        Some(BoundField { operator: becomes(name), ..bound })
    }));
    let at = |text: &dyn Fn(&Source) -> String| {
        action.at.as_ref().map(|at| match &at.by {
            Some((name, _, source)) => format!("at {}[{name} = {}]", at.field, text(source)),
            None => format!("at {}", at.field),
        })
    };
    bindings.extend(at(&text_of));
    bindings.extend(action.values.iter().map(|(name, value)| written_text(name, becomes(name), value)));
    let defaults =
        action.values.iter().filter(|(_, value)| value.given.is_none()).map(|(name, _)| format!("{name} by default"));
    notes.extend(at(&said).into_iter().chain(defaults));
    let before = bindings.len();
    bindings.extend(changes_of(model, object, action));
    bindings.extend(action.condition.iter().map(|condition| format!("if {condition}")));
    notes.extend(bindings.iter().skip(before).cloned());
    let key = |key: &KeyAttribute| {
        let templates = keys.keys.get(&key.name).into_iter().flatten();
        let texts: Vec<String> = templates.map(|template| parts(template, template.parts.len())).collect();
        format!("{} = {}", key.name, texts.join(" or "))
    };
    let condition = table.primary_key().map(key).collect::<Vec<_>>().join(" AND ");
    Some(PathRow {
        field: field.to_owned(),
        when: String::new(),
        place: table.name.clone(),
        operation: operation_of(action),
        condition,
        bindings: bindings.join(", "),
        bound,
        notes,
        table: table.name.clone(),
        index: None,
    })
}

/// What is written to a field, in words.
fn written_text(name: &str, operator: &str, value: &WrittenValue) -> String {
    match &value.given {
        Some(GivenValue::Source(source)) => format!("{name} {operator} {}", text_of(source)),
        Some(GivenValue::Made(made)) => format!("{name} {operator} {made}"),
        Some(GivenValue::Computed(computed)) => format!("{name} = {computed}"),
        None => format!("{name} by default"),
    }
}

/// What gives a field of the owner its value.
fn bound_of_write(owner: &str, name: &str, given: &GivenValue) -> BoundField {
    let (source, rule) = match given {
        GivenValue::Source(source) => (said(source), rule_of_write(owner, name, source)),
        GivenValue::Made(made) => (made.to_string(), 1),
        GivenValue::Computed(computed) => (computed.to_string(), 1),
    };
    BoundField { field: name.to_owned(), operator: "=", source, rule }
}

/// What an action changes besides what binds its fields: by its expression, or by its cascade.
fn changes_of(model: &Model, object: &ObjectType, action: &Action) -> Vec<String> {
    let mut changed = Vec::from_iter(action.at.as_ref().and_then(|at| at.expression.as_ref()).map(ToString::to_string));
    match &action.kind {
        ActionKind::Update { expression: Some(expression), .. } => {
            // A field that is stored only in an index key appears in no clause of the expression.
            let in_keys = |name: &str| match object.fields.get(name).map(|field| &field.kind) {
                Some(FieldKind::Stored(stored)) => stored.attribute.is_none(),
                _ => false,
            };
            let changes = expression.changes.iter().filter(|(name, _)| in_keys(name));
            changed.extend(changes.filter_map(|(name, value)| Some(format!("{name} = {}", value.as_ref()?))));
            changed.extend(Some(expression.to_string()).filter(|text| !text.is_empty()));
        }
        ActionKind::Delete { cascade } if !cascade.is_empty() => {
            let paths: Vec<String> = cascade.iter().map(|path| path.join(".")).collect();
            changed.push(format!("with its {}", paths.join(", ")));
            changed.extend(
                late(model, object, cascade)
                    .into_iter()
                    .map(|(field, index)| format!("{field} by {index}, eventually consistent")),
            );
        }
        _ => {}
    }
    changed
}

/// The call of DynamoDB that an action is.
fn operation_of(action: &Action) -> &'static str {
    match (&action.kind, &action.at) {
        (ActionKind::Check, _) => "ConditionCheck",
        (ActionKind::Put { .. }, None) => "PutItem",
        (ActionKind::Delete { .. }, None) => "DeleteItem",
        (ActionKind::Update { moves: true, .. }, None) => "DeleteItem and PutItem",
        _ => "UpdateItem",
    }
}

/// The number of the rule that binds a field in a write, inferred from the names
/// (docs/language/binding-in-writes.md).
fn rule_of_write(owner: &str, name: &str, source: &Source) -> u8 {
    // The number of a shard is bound by its word.
    let name = name.split_once(':').map_or(name, |(word, _)| word);
    match source {
        Source::Argument(argument) if argument == name => 2,
        Source::Argument(argument) if *argument == prefixed(owner, name) => 3,
        Source::Argument(argument) if argument.split_once('.').is_some_and(|(_, field)| field == name) => 4,
        Source::Item(item, field) if prefixed(item, field) == name => 5,
        Source::Item(_, field) if field == name => 6,
        _ => 1,
    }
}

/// The fields that a path binds, by equality and in a range.
fn bound_fields(keys: &ItemKeys, table: &Table, path: &AccessPath, number: Numbered) -> Vec<BoundField> {
    let equal = own(path).filter_map(|(field, source)| {
        let rule = number(field, *path.rules.get(field)?, source);
        Some(BoundField {
            field: field.split(':').next().unwrap_or(field).to_owned(),
            operator: "=",
            source: said(source),
            rule,
        })
    });
    let mut bound: Vec<BoundField> = equal.collect();
    let Access::Query { sort: SortAccess::Range { template, parts, range }, .. } = &path.access else { return bound };
    let part = path.keys(table).sort.and_then(|key| keys.keys.get(&key.name)?.get(*template)?.parts.get(*parts));
    let Some(Part::Placeholder { field, .. }) = part else { return bound };
    let mut ranged = |operator, source: &Source| {
        bound.push(BoundField { field: field.clone(), operator, source: said(source), rule: 1 })
    };
    match range {
        Range::BeginsWith(source) => ranged("begins with", source),
        Range::Between { lower, upper } => {
            lower.iter().for_each(|(source, inclusive)| ranged(if *inclusive { ">=" } else { ">" }, source));
            upper.iter().for_each(|(source, inclusive)| ranged(if *inclusive { "<=" } else { "<" }, source));
        }
    }
    bound
}

/// Notes on a path: the types if there are several, the shards or replicas that it reads, and a descending order.
fn notes(find: &Find, path: &AccessPath, reading: Option<String>) -> Vec<String> {
    let types = match &find.via {
        Via::AbstractType(shared) => Some(format!("items of {}", shared.members.join(", "))),
        _ => None,
    };
    types.into_iter().chain(reading).chain(path.descending.then(|| "descending".to_owned())).collect()
}

/// A source in the syntax of conditions: `:id` is an argument.
fn said(source: &Source) -> String {
    match source {
        Source::Argument(name) => format!(":{name}"),
        Source::Claim(claim) => format!(":{claim}"),
        Source::Text(parts) => {
            let part = |part: &TextPart| match part {
                TextPart::Literal(literal) => literal.clone(),
                TextPart::Value(source) => format!("{{{}}}", said(source)),
            };
            format!("\"{}\"", parts.iter().map(part).collect::<String>())
        }
        other => text_of(other),
    }
}

/// The bindings of fields. What a claim in a template is bound to, the template says itself.
fn own(path: &AccessPath) -> impl Iterator<Item = (&String, &Source)> {
    path.bindings.iter().filter(|(name, _)| path.rules.get(*name) != Some(&BindingRule::Template))
}

/// The bindings of the fields, and the shards or the replica that is read.
fn bindings(table: &Table, keys: &ItemKeys, path: &AccessPath) -> Vec<String> {
    let bound = own(path).map(|(name, source)| format!("{name} = {}", text_of(source)));
    bound.chain(path.reading(table, keys).map(|reading| reading.to_string())).collect()
}

fn condition(table: &Table, keys: &ItemKeys, path: &AccessPath) -> String {
    let of_path = path.keys(table);
    let template =
        |key: &KeyAttribute, position: usize| keys.keys.get(&key.name).and_then(|templates| templates.get(position));
    let equal = |key: &KeyAttribute, position: usize| {
        template(key, position)
            .map(|template| format!("{} = {}", key.name, parts(template, template.parts.len())))
            .unwrap_or_default()
    };
    let (partition, sort) = match &path.access {
        Access::Scan => return String::new(),
        Access::Get { partition, sort: Some(template) } => (*partition, SortAccess::Equal { template: *template }),
        Access::Get { partition, sort: None } => (*partition, SortAccess::All),
        Access::Query { partition, sort } => (*partition, sort.clone()),
    };
    let positions = std::iter::once(&partition).chain(&path.equal);
    let bound = of_path.one_valued().zip(positions).map(|(key, position)| equal(key, *position));
    let last = of_path.sort.and_then(|key| match &sort {
        SortAccess::All => None,
        SortAccess::Equal { template } => Some(equal(key, *template)),
        SortAccess::Prefix { template: position, parts: count } => {
            Some(format!("begins_with({}, {})", key.name, parts(template(key, *position)?, *count)))
        }
        SortAccess::Range { template: position, parts: count, range: bounds } => {
            Some(range(key, template(key, *position)?, *count, bounds))
        }
    });
    bound.chain(last).collect::<Vec<_>>().join(" AND ")
}

fn range(key: &KeyAttribute, template: &Template, count: usize, bounds: &Range) -> String {
    let value = |source: &Source| match source {
        Source::Text(parts) => text_of_parts(parts),
        other => format!("{{{}}}", text_of(other)),
    };
    let bound = |source: &Source| match (count, source) {
        (0, Source::Argument(_) | Source::Claim(_) | Source::Parent(_)) => value(source),
        _ => format!("\"{}{}\"", template.as_written(count), value(source)),
    };
    match bounds {
        Range::BeginsWith(source) => format!("begins_with({}, {})", key.name, bound(source)),
        Range::Between { lower: Some((lower, true)), upper: Some((upper, true)) } => {
            format!("{} BETWEEN {} AND {}", key.name, bound(lower), bound(upper))
        }
        Range::Between { lower, upper } => {
            let side = |side: &Option<(Source, bool)>, sign: &str| {
                side.as_ref().map(|(source, inclusive)| {
                    format!("{} {sign}{} {}", key.name, if *inclusive { "=" } else { "" }, bound(source))
                })
            };
            // A range that is open on one side still stays within the template's parts before the ranged value.
            let within = (count > 0 && (lower.is_none() || upper.is_none()))
                .then(|| format!("begins_with({}, {})", key.name, parts(template, count)));
            side(lower, ">").into_iter().chain(side(upper, "<")).chain(within).collect::<Vec<_>>().join(" AND ")
        }
    }
}

/// The first parts of a template: a lone placeholder as `{id}`, anything else in quotes.
fn parts(template: &Template, count: usize) -> String {
    match template.parts.get(..count) {
        Some([Part::Placeholder { .. }]) => template.as_written(count),
        _ => format!("\"{}\"", template.as_written(count)),
    }
}

fn text_of(source: &Source) -> String {
    match source {
        Source::Argument(name) => name.clone(),
        Source::Claim(claim) => claim.to_string(),
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
