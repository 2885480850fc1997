//! The actions of a field in; out: the fields that they take from the items its `@find`s found. Must not know how
//! the write makes sure that the items are unchanged.

use super::acting::Writing;
use crate::schema::expression::condition::Condition;
use crate::schema::model::service::{CallInput, MutationCall};
use crate::schema::model::source::{Source, TextPart};
use crate::schema::model::write::{Action, ActionKind, WriteFind, WriteTarget, WrittenValue};
use crate::schema::types::inputs;

/// What the actions take from a found item.
#[derive(Default)]
pub struct FoundFields {
    /// The fields, each once.
    pub fields: Vec<String>,
    /// Whether a condition or an expression names any field of the item.
    pub named: bool,
}

/// The field of the found item with this alias that a name in a condition or an expression means: `Repo.nextNumber`. An
/// argument named like the item takes precedence.
pub fn named<'n>(writing: &Writing, alias: &str, name: &'n str) -> Option<&'n str> {
    let (first, field) = name.split_once('.')?;
    (first == alias && inputs::input(writing.draft.schema, writing.field, first).is_none()).then_some(field)
}

/// What may take values from found items.
pub struct Takers<'w> {
    /// Other finds.
    pub finds: &'w [WriteFind],
    /// Calls of services.
    pub calls: &'w [MutationCall],
    /// Actions.
    pub actions: &'w [Action],
}

/// Collects what other finds and the actions take from the item that is found for this list, if for one, under this
/// alias.
pub fn taken(writing: &Writing, (alias, each): (&str, Option<&str>), takers: &Takers) -> FoundFields {
    let Takers { finds, calls, actions } = *takers;
    let mut taken = FoundFields::default();
    finds.iter().flat_map(|other| other.find.sources()).for_each(|source| taken.copied(source, alias));
    for call in calls {
        call.inputs.values().filter_map(CallInput::source).for_each(|source| taken.copied(source, alias));
        let names = call.condition.iter().flat_map(Condition::arguments);
        taken.name_all(writing, alias, names);
    }
    // After a put of the same name, its item is in scope instead of the found one.
    let mut hidden_for: Vec<Option<&str>> = Vec::new();
    for action in actions {
        let of = action.each.as_deref();
        if each.is_some() && each != of {
            continue;
        }
        if !(hidden_for.contains(&None) || hidden_for.contains(&of)) {
            sources(action, &mut |source| taken.copied(source, alias));
        }
        if action.name() == alias && action.at.is_none() && matches!(action.kind, ActionKind::Put { .. }) {
            hidden_for.push(of);
        }
        let mut names: Vec<&str> = action.condition.iter().flat_map(Condition::arguments).collect();
        names.extend(action.named_by_expression());
        taken.name_all(writing, alias, names.into_iter());
    }
    taken
}

/// Visits every source of an action: those that find its item or element, and those that it writes.
fn sources(action: &Action, see: &mut dyn FnMut(&Source)) {
    match &action.target {
        WriteTarget::Key(sources) => sources.values().for_each(&mut *see),
        WriteTarget::Found(_) => {}
        WriteTarget::Read { find, .. } => find.sources().into_iter().for_each(&mut *see),
    }
    action.values.values().filter_map(WrittenValue::source).for_each(&mut *see);
    if let Some((_, _, source)) = action.at.as_ref().and_then(|at| at.by.as_ref()) {
        see(source);
    }
}

impl FoundFields {
    fn copied(&mut self, source: &Source, item: &str) {
        match source {
            Source::Item(of, field) if of == item => self.add(field),
            Source::Text(parts) => parts.iter().for_each(|part| match part {
                TextPart::Value(source) => self.copied(source, item),
                TextPart::Literal(_) => {}
            }),
            Source::Item(..) | Source::Argument(_) | Source::Claim(_) | Source::Parent(_) => {}
        }
    }

    fn name_all<'n>(&mut self, writing: &Writing, alias: &str, names: impl Iterator<Item = &'n str>) {
        for field in names.filter_map(|name| named(writing, alias, name)) {
            self.named = true;
            self.add(field);
        }
    }

    fn add(&mut self, field: &str) {
        if !self.fields.iter().any(|known| known == field) {
            self.fields.push(field.to_owned());
        }
    }
}
