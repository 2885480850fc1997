//! A find or a write in; the place in an item that each of its arguments stands for out. Must not know values.

use crate::schema::expression::condition::Condition;
use crate::schema::expression::operand::{Comparator, Operand, Path, Segment};
use crate::schema::model::find::{Access, AccessPath, Find, Range, SharedKeys, SortAccess, Via};
use crate::schema::model::source::{Source, TextPart};
use crate::schema::model::write::{Action, ActionKind, Write, WriteTarget};
use crate::schema::model::{FieldKind, Model, ObjectType};
use crate::schema::template::part::Part;

/// How an argument relates to an item.
#[derive(Debug, Clone, PartialEq)]
pub struct ArgumentRole {
    /// The argument; for a field of an input object `input.name`.
    pub argument: String,
    /// The place in the item.
    pub place: FieldPlace,
    /// How its value relates to the value at the place.
    pub relation: Relation,
    /// The texts before and after the argument, if the place has all three.
    pub around: (String, String),
}

/// A field of an item, or of the elements of one of its lists.
#[derive(Debug, Clone, PartialEq)]
pub struct FieldPlace {
    /// The item type.
    pub item: String,
    /// The list.
    pub list: Option<String>,
    /// The field.
    pub field: String,
}

/// How the value of an argument relates to the value at a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Relation {
    /// They are equal: it finds the item.
    Finds,
    /// The argument is no greater.
    Lower,
    /// The argument is no less.
    Upper,
    /// The place's text begins with it.
    Begins,
    /// The place's text contains it.
    Contains,
    /// It is written there.
    Writes,
    /// It is written there, and no other item may have the same value.
    Makes,
}

/// The roles of a find's arguments; `path` is its access path, unless it goes through relations.
pub fn find_roles(model: &Model, parent: &ObjectType, find: &Find, path: Option<&AccessPath>) -> Vec<ArgumentRole> {
    let mut roles = Vec::new();
    if let Via::Through(hops) = &find.via {
        let mut from = Some(parent);
        for hop in hops {
            let Some(FieldKind::Find(find)) = from.and_then(|object| object.fields.get(hop)).map(|field| &field.kind)
            else {
                break;
            };
            if let Some(object) = from {
                roles.extend(find_roles(model, object, find, longest(find)));
            }
            from = model.types.get(target(find));
        }
    }
    if let Some(path) = path.or_else(|| longest(find)) {
        add_path_roles(model, find, path, &mut roles);
    }
    if let (Some(filter), Some(object)) = (&find.filter, model.types.get(target(find))) {
        add_condition_roles(object, filter, &mut roles);
    }
    roles
}

/// The item type whose fields a find's paths name: the first of several types.
pub fn target(find: &Find) -> &str {
    match &find.via {
        Via::AbstractType(shared) => shared.members.first().unwrap_or(&find.item),
        _ => &find.item,
    }
}

/// The access paths of a find; none if it goes through relations.
pub fn paths(find: &Find) -> &[AccessPath] {
    match &find.via {
        Via::Keys(paths) | Via::AbstractType(SharedKeys { paths, .. }) => paths,
        Via::Through(_) => &[],
    }
}

/// The path that takes the most arguments.
fn longest(find: &Find) -> Option<&AccessPath> {
    paths(find).iter().max_by_key(|path| path.when.len())
}

fn add_path_roles(model: &Model, find: &Find, path: &AccessPath, roles: &mut Vec<ArgumentRole>) {
    let item = target(find);
    for (field, source) in &path.bindings {
        // The number of a shard is not a field: any number works.
        if model.types.get(item).is_some_and(|object| object.stored(field).is_some()) {
            add_source_roles(source, &place(item, field), Relation::Finds, roles);
        }
    }
    let Access::Query { sort: SortAccess::Range { template, parts, range }, .. } = &path.access else { return };
    let keys = match &find.via {
        Via::AbstractType(shared) => Some(&shared.keys),
        _ => model.item(item).map(|(_, keys)| keys),
    };
    let field = keys.and_then(|keys| {
        let sort = path.keys(model.tables.get(keys.table)?).sort?;
        match keys.keys.get(&sort.name)?.get(*template)?.parts.get(*parts)? {
            Part::Placeholder { field, .. } => Some(field),
            Part::Literal(_) => None,
        }
    });
    let Some(field) = field else { return };
    let place = place(item, field);
    match range {
        Range::BeginsWith(source) => add_source_roles(source, &place, Relation::Begins, roles),
        Range::Between { lower, upper } => {
            for (bound, relation) in [(lower, Relation::Lower), (upper, Relation::Upper)] {
                if let Some((source, _)) = bound {
                    add_source_roles(source, &place, relation, roles);
                }
            }
        }
    }
}

/// The roles of a write's arguments: first those that find an item, then those that are written.
pub fn write_roles(model: &Model, root: &ObjectType, write: &Write) -> Vec<ArgumentRole> {
    let mut roles = Vec::new();
    for found in &write.finds {
        roles.extend(find_roles(model, root, &found.find, None));
    }
    for action in &write.actions {
        match &action.target {
            WriteTarget::Read { find, .. } => roles.extend(find_roles(model, root, find, None)),
            WriteTarget::Found(_) => {}
            WriteTarget::Key(sources) => {
                // The number of a shard is not a field.
                let is_field =
                    |field: &str| model.types.get(&action.item).is_some_and(|object| object.stored(field).is_some());
                for (field, source) in sources.iter().filter(|(field, _)| is_field(field)) {
                    add_source_roles(source, &place(&action.item, field), Relation::Finds, &mut roles);
                }
            }
        }
        if let Some((at, (field, _, source))) = action.at.as_ref().and_then(|at| Some((at, at.by.as_ref()?))) {
            let place = FieldPlace { item: action.item.clone(), list: Some(at.field.clone()), field: field.clone() };
            add_source_roles(source, &place, Relation::Finds, &mut roles);
        }
        if let (Some(condition), Some(object)) = (&action.condition, model.types.get(&action.item)) {
            add_condition_roles(object, condition, &mut roles);
        }
    }
    for action in &write.actions {
        add_value_roles(model, action, &mut roles);
    }
    roles
}

fn add_value_roles(model: &Model, action: &Action, roles: &mut Vec<ArgumentRole>) {
    let Some((object, keys)) = model.item(&action.item) else { return };
    let primary: Vec<&str> = model
        .tables
        .get(keys.table)
        .into_iter()
        .flat_map(|table| table.primary_key())
        .map(|key| key.name.as_str())
        .collect();
    for (field, value) in &action.values {
        let Some(source) = value.source() else { continue };
        if action.at.is_none() && object.stored(field).is_none() {
            continue;
        }
        let list = action.at.as_ref().map(|at| at.field.clone());
        let whole = object.fields.get(field).filter(|_| list.is_none());
        let rules = whole.map(|field| &field.rules);
        let in_key =
            object.stored(field).is_some_and(|stored| stored.keys.iter().any(|key| primary.contains(&key.as_str())));
        let relation = match &action.kind {
            _ if rules.is_some_and(|rules| rules.version) => Relation::Finds,
            _ if rules.is_some_and(|rules| rules.unique) => Relation::Makes,
            ActionKind::Put { .. } if list.is_none() && in_key => Relation::Makes,
            _ => Relation::Writes,
        };
        add_source_roles(
            source,
            &FieldPlace { item: action.item.clone(), list, field: field.clone() },
            relation,
            roles,
        );
    }
}

fn add_source_roles(source: &Source, place: &FieldPlace, relation: Relation, roles: &mut Vec<ArgumentRole>) {
    let role =
        |argument: &str, around| ArgumentRole { argument: argument.to_owned(), place: place.clone(), relation, around };
    match source {
        Source::Argument(name) => roles.push(role(name, (String::new(), String::new()))),
        Source::Text(parts) => {
            let is_value = |part: &TextPart| matches!(part, TextPart::Value(_));
            let (Some(at), 1) = (parts.iter().position(is_value), parts.iter().filter(|part| is_value(part)).count())
            else {
                return;
            };
            let literal = |parts: &[TextPart]| {
                let texts = parts.iter().filter_map(|part| match part {
                    TextPart::Literal(text) => Some(text.as_str()),
                    TextPart::Value(_) => None,
                });
                texts.collect::<String>()
            };
            if let Some(TextPart::Value(Source::Argument(name))) = parts.get(at) {
                roles.push(role(name, (literal(&parts[..at]), literal(&parts[at + 1..]))));
            }
        }
        _ => {}
    }
}

fn add_condition_roles(object: &ObjectType, condition: &Condition, roles: &mut Vec<ArgumentRole>) {
    let mut push = |path: &Path, operand: &Operand, relation: Relation| {
        let (Operand::Argument(name, _), [Segment::Attribute(attribute)]) = (operand, path.segments.as_slice()) else {
            return;
        };
        let holds = |field: &&String| {
            object
                .stored(field)
                .is_some_and(|stored| stored.attribute.as_ref() == Some(attribute) || stored.keys.contains(attribute))
        };
        if let Some(field) = object.fields.keys().find(holds) {
            add_source_roles(&Source::Argument(name.clone()), &place(&object.name, field), relation, roles);
        }
    };
    match condition {
        Condition::And(all) | Condition::Or(all) => {
            all.iter().for_each(|condition| add_condition_roles(object, condition, roles))
        }
        Condition::Compare(Operand::Path(path), comparator, operand) => match comparator {
            Comparator::Equal => push(path, operand, Relation::Finds),
            Comparator::Less | Comparator::LessOrEqual => push(path, operand, Relation::Upper),
            Comparator::Greater | Comparator::GreaterOrEqual => push(path, operand, Relation::Lower),
            Comparator::NotEqual => {}
        },
        Condition::Between(Operand::Path(path), lower, upper) => {
            push(path, lower, Relation::Lower);
            push(path, upper, Relation::Upper);
        }
        Condition::In(Operand::Path(path), among) => {
            among.iter().for_each(|operand| push(path, operand, Relation::Finds))
        }
        Condition::BeginsWith(path, operand) => push(path, operand, Relation::Begins),
        Condition::Contains(path, operand) => push(path, operand, Relation::Contains),
        _ => {}
    }
}

fn place(item: &str, field: &str) -> FieldPlace {
    FieldPlace { item: item.to_owned(), list: None, field: field.to_owned() }
}
