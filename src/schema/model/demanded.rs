//! A write in; the rules that it needs out: those of the types and fields that its actions write, and those of what it
//! reveals to the caller. Must not know callers.

use super::auth::{AuthAction, AuthRules};
use super::write::{Action, ActionKind, Write};
use super::{Field, FieldKind, ObjectType};

/// The rules of a type or a field, its name or coordinate, and for what they are asked.
pub type Demanded<'m> = (String, &'m AuthRules, AuthAction);

impl Write {
    /// The rules that an action on items of this type needs.
    pub fn demanded<'m>(&self, action: &Action, ty: &'m ObjectType) -> Vec<Demanded<'m>> {
        let mut all = vec![(ty.name.clone(), &ty.auth, action.asks())];
        if action.asks() == AuthAction::Write && self.tells_of(action, ty) {
            all.push((ty.name.clone(), &ty.auth, AuthAction::Read));
        }
        let fields = action.written_fields(ty).into_iter();
        all.extend(fields.map(|field| (format!("{}.{}", ty.name, field.name), &field.auth, AuthAction::Write)));
        all
    }

    /// Whether an action reveals something of the item to the caller: the field returns it, or success depends on what
    /// the item holds. Rules that look others up decide about what is returned when it is read, because the same write
    /// may make what they look for. A caller who may not see a hidden item gets null for it.
    fn tells_of(&self, action: &Action, ty: &ObjectType) -> bool {
        let is_returned = self.returns_action(action.position);
        let is_new = matches!(action.kind, ActionKind::Put { replace: false }) && action.at.is_none();
        let depends = action.condition.is_some() || action.at.is_some() || action.seen_version(ty).is_some();
        (is_returned && !ty.auth.hide() && !ty.auth.look_up(AuthAction::Read)) || (depends && !is_new)
    }
}

impl Action {
    /// The fields of the item that the action writes. What a default of a new item gives is the author's. A put that
    /// replaces an item writes every field, because it drops those that have no value.
    pub fn written_fields<'m>(&self, ty: &'m ObjectType) -> Vec<&'m Field> {
        if let Some(element) = &self.at {
            return ty.fields.get(&element.field).into_iter().collect();
        }
        let is_written = |field: &&Field| match &self.kind {
            ActionKind::Put { replace: true } => matches!(field.kind, FieldKind::Stored(_)),
            ActionKind::Update { expression: Some(expression), .. } if expression.changes.contains_key(&field.name) => {
                true
            }
            _ => self.values.get(&field.name).is_some_and(|value| value.given.is_some()),
        };
        ty.fields.values().filter(is_written).collect()
    }

    /// The version that the caller has seen, as the field of the type that holds it.
    pub fn seen_version<'m>(&self, ty: &'m ObjectType) -> Option<&'m Field> {
        let version = ty.fields.values().find(|field| field.rules.version)?;
        self.values.get(&version.name).filter(|value| value.given.is_some()).map(|_| version)
    }
}
