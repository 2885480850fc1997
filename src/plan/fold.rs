//! Folding: a Get and a Query of neighbouring keys of one partition become one Query, where the keys of the schema allow it. Must not know
//! pages: whether a row's Query does come to the item is found when the plan runs.
//!
//! A profile `#METADATA#…` and its posts `POST#…` stand in one partition, with nothing between them but what there is one of. The Query
//! of the posts is then widened to take in the profile.

use super::tree::*;
use super::wave::dependencies;
use crate::schema::model::{Access, Model, SortAccess, TypeKind};
use crate::schema::table::KeyType;
use crate::schema::template::{Part, Template};
use std::cmp::Ordering;

/// The smallest page that is taken to reach an item behind its range: of a smaller one, more often than not, there is more.
pub const REACHING_PAGE: i32 = 10;

/// Notes on each Query the Get that it may answer, and on the Get the Query; each has at most one.
pub(super) fn assign(model: &Model, reads: &mut [Read], spaces: &[Space], arguments: &[Arguments]) {
    for query in 0..reads.len() {
        // The Get of the parent comes first, as parents stand before their children.
        let found = (0..reads.len()).filter(|get| reads[*get].within.is_none()).find_map(|get| {
            let (before, items) = neighbours(model, &reads[get], &reads[query])?;
            let found = Neighbour { get, before, items, may_wait: may_wait(get, reads, spaces), projection: [].into() };
            can_reach(&reads[query], &found, arguments).then_some(found)
        });
        if let (Some(found), Action::Query(binding)) = (found, &mut reads[query].action) {
            let get = found.get;
            binding.neighbour = Some(found);
            reads[get].within = Some(query);
        }
    }
}

/// Whether the item of a Get stands before the range of a Query (or else behind it), and how many items there may be from the one to the
/// other; `None` where the two are no neighbours, or it cannot be told.
fn neighbours(model: &Model, get: &Read, query: &Read) -> Option<(bool, u32)> {
    let (Action::Get(key), Action::Query(binding)) = (&get.action, &query.action) else { return None };
    let side_by_side = (get.space, get.table, get.wave, get.consistent) == (query.space, query.table, query.wave, query.consistent);
    let whole_items = query.index.is_none() && get.yields.is_none() && matches!(binding.want, Want::Whole { .. } | Want::Page { .. });
    // A filter would take away the item, too.
    if !side_by_side || !whole_items || binding.filter.is_some() {
        return None;
    }
    let partition = same_partition(key, &binding.key)?;
    let sort = model.tables[query.table].sort.as_ref().filter(|sort| sort.kind == KeyType::S)?;
    let (Access::Query { sort: SortAccess::Prefix { parts: 1, .. }, .. }, Some(range)) = (&binding.access, &binding.key.sort) else {
        return None;
    };
    let range = Start { text: literal(range)?, is_all: false };
    let own = Start::of(key.sort.as_ref()?);
    let before = own.order(&range)? == Ordering::Less;
    let mut items = 0;
    for keys in model.types.values().filter_map(|ty| if let TypeKind::Item(keys) = &ty.kind { Some(keys) } else { None }) {
        let of = |attribute: &str| keys.keys.get(attribute).map_or(&[][..], Vec::as_slice);
        let partitions: Vec<&Template> =
            of(&model.tables[query.table].partition.name).iter().filter(|ours| ours.overlaps(partition)).collect();
        if keys.table != query.table || partitions.is_empty() {
            continue;
        }
        for template in of(&sort.name) {
            let start = Start::of(template);
            let beyond = |side: Ordering| start.order(&own) == Some(side) || start.order(&range) == Some(side.reverse());
            if start.text.starts_with(range.text) || beyond(if before { Ordering::Less } else { Ordering::Greater }) {
                continue;
            }
            // What the partition already tells is one item; of anything else there may be any number.
            let is_single = partitions.iter().all(|partition| template.fields().iter().all(|field| partition.fields().contains(field)));
            if !is_single {
                return None;
            }
            items += 1;
        }
    }
    Some((before, items))
}

/// The template of the partition, if two keys are bound to the same one. That the values are the same is seen when the plan runs.
fn same_partition<'k>(one: &KeyBinding, other: &'k KeyBinding) -> Option<&'k Template> {
    let (left, right) = (one.partition.as_ref()?, other.partition.as_ref()?);
    let same = |(left, right): (&Part, &Part)| match (left, right) {
        (Part::Literal(left), Part::Literal(right)) => left == right,
        (Part::Placeholder { field: left, .. }, Part::Placeholder { field: right, .. }) => {
            one.fields.get(left).zip(other.fields.get(right)).is_some_and(|(left, right)| same_source(left, right))
        }
        _ => false,
    };
    (left.parts.len() == right.parts.len() && left.parts.iter().zip(&right.parts).all(same)).then_some(right)
}

fn same_source(left: &ValueSource, right: &ValueSource) -> bool {
    match (left, right) {
        (ValueSource::Argument(left, name), ValueSource::Argument(right, other)) => (left, name) == (right, other),
        (ValueSource::Field(left, reader), ValueSource::Field(right, other)) => (left, &reader.field) == (right, &other.field),
        (ValueSource::Text(left), ValueSource::Text(right)) => {
            let same = |(left, right): (&SourceText, &SourceText)| match (left, right) {
                (SourceText::Literal(left), SourceText::Literal(right)) => left == right,
                (SourceText::Value(left), SourceText::Value(right)) => same_source(left, right),
                _ => false,
            };
            left.len() == right.len() && left.iter().zip(right).all(same)
        }
        _ => false,
    }
}

/// Whether nothing but the response takes a value from a Get's item: no other read waits for it, and no page is filled by it.
fn may_wait(get: ReadId, reads: &[Read], spaces: &[Space]) -> bool {
    let waited_for = reads.iter().any(|read| read.elements.contains(&get) || dependencies(read, spaces).contains(&get));
    let holds_rows = spaces.iter().any(|space| match space.origin {
        Origin::Elements(holder, _) => holder == Holder::Read(get),
        Origin::Variant(read, _) => read == get,
        Origin::Operation | Origin::Read(_) | Origin::Seed => false,
    });
    !waited_for && !holds_rows
}

/// Whether a Query comes to its neighbour for some values of the variables: at once, or because it reads far enough.
fn can_reach(query: &Read, neighbour: &Neighbour, arguments: &[Arguments]) -> bool {
    let Action::Query(binding) = &query.action else { return false };
    let first_forward = neighbour.before != binding.descending;
    let Want::Page { arguments: of, .. } = binding.want else { return first_forward || neighbour.may_wait };
    let Some(arguments) = arguments.get(of) else { return false };
    let value = |name: &str| match arguments.values.get(name) {
        None => Given::Nothing,
        Some((_, ArgumentValue::Default(value))) => {
            value.as_i64().and_then(|value| i32::try_from(value).ok()).map_or(Given::Nothing, Given::Number)
        }
        Some((_, ArgumentValue::Literal(literal))) if literal.is_null() => Given::Nothing,
        Some((_, ArgumentValue::Literal(literal))) if literal.as_variable().is_some() => Given::Anything,
        Some((_, ArgumentValue::Literal(literal))) => literal.to_i32().map_or(Given::Text, Given::Number),
    };
    let backward = ["last", "before"].into_iter().filter(|name| arguments.given.iter().any(|given| given == name)).map(value);
    let backward: Vec<Given> = backward.filter(|given| !matches!(given, Given::Nothing)).collect();
    if backward.iter().any(|given| matches!(given, Given::Anything)) {
        // Either way may be meant, and on one of them the item comes first.
        return true;
    }
    let (size, from) = if backward.is_empty() { ("first", "after") } else { ("last", "before") };
    match first_forward == backward.is_empty() {
        true => !matches!(value(from), Given::Text | Given::Number(_)),
        false => neighbour.may_wait && !matches!(value(size), Given::Number(size) if size < REACHING_PAGE),
    }
}

/// What is known of an argument before the variables are.
enum Given {
    Nothing,
    Number(i32),
    Text,
    Anything,
}

/// The text with which all keys of a template begin.
struct Start<'t> {
    text: &'t str,
    /// Whether there is nothing else in the template.
    is_all: bool,
}

impl<'t> Start<'t> {
    fn of(template: &'t Template) -> Self {
        Self { text: literal(template).unwrap_or_default(), is_all: matches!(template.parts.as_slice(), [Part::Literal(_)]) }
    }

    /// How all keys of one template sort to all of another; `None` where that is not the same for all.
    fn order(&self, other: &Start<'_>) -> Option<Ordering> {
        match (other.text.starts_with(self.text), self.text.starts_with(other.text)) {
            (false, false) => Some(self.text.cmp(other.text)),
            (true, false) => self.is_all.then_some(Ordering::Less),
            (false, true) => other.is_all.then_some(Ordering::Greater),
            (true, true) => None,
        }
    }
}

fn literal(template: &Template) -> Option<&str> {
    match template.parts.first()? {
        Part::Literal(literal) => Some(literal),
        Part::Placeholder { .. } => None,
    }
}
