//! A field of the operation in; out: the guard that its rules, and those of the types behind it, make. In a schema with rules, what has none
//! needs a caller who is signed in. Must not know callers.

use super::builder::Builder;
use crate::plan::error::PlanError;
use crate::plan::operation::argument;
use crate::plan::operation::collect::CollectedField;
use crate::plan::tree::{Demand, Guard, GuardId};
use crate::schema::model::auth::{AuthAction, AuthRule, AuthRules, LetsIn};
use crate::schema::model::find::Find;
use crate::schema::model::write::Write;
use crate::schema::model::{Field, FieldKind, ObjectType};
use std::sync::Arc;

impl<'a> Builder<'a> {
    /// Enters a field: from now on, everything that is planned stands behind its guard. Gives the guard, unless the field has none.
    pub fn enter(&mut self, ty: &'a ObjectType, field: &'a Field, collected: &CollectedField<'a>) -> Result<Option<GuardId>, PlanError> {
        if !self.model.ruled {
            return Ok(None);
        }
        let coordinate = format!("{}.{}", ty.name, field.name);
        let mut demands = match &field.kind {
            FieldKind::Find(find) => self.of_find(ty, (field, &coordinate), find),
            FieldKind::Write(write) => self.of_write((field, &coordinate), write)?,
            FieldKind::Stored(_) | FieldKind::Page => demand(&coordinate, &field.auth, AuthAction::Read).into_iter().collect(),
        };
        if let Some(own) = demands.iter_mut().find(|demand| demand.of == coordinate && uses_arguments(&demand.rules)) {
            let arguments = argument::of_field(&self.context, field, collected);
            own.arguments = Some(self.push_arguments(arguments));
        }
        if demands.is_empty() {
            return Ok(None);
        }
        self.guards.push(Guard { within: self.guard, demands });
        self.guard = Some(self.guards.len() - 1);
        Ok(self.guard)
    }

    /// The demands of a find: its own, and those of every item type on its way.
    fn of_find(&self, ty: &'a ObjectType, (field, coordinate): (&Field, &str), find: &'a Find) -> Vec<Demand> {
        let mut demands: Vec<Demand> = demand(coordinate, &field.auth, AuthAction::Read).into_iter().collect();
        let is_ruled = !demands.is_empty();
        self.add_types(&mut demands, (coordinate, is_ruled), self.model.read_by(ty, find), AuthAction::Read);
        demands
    }

    /// The demands of a write: its own, those of the types and fields that it writes, and those of the type that it returns.
    fn of_write(&self, (field, coordinate): (&Field, &str), write: &'a Write) -> Result<Vec<Demand>, PlanError> {
        let mut demands: Vec<Demand> = demand(coordinate, &field.auth, AuthAction::Write).into_iter().collect();
        let is_ruled = !demands.is_empty();
        // A write asks its items what the rules need of them.
        let mut of_items = Vec::new();
        for action in &write.actions {
            let ty = self.type_named(&action.item)?;
            for field in action.written_fields().into_iter().filter_map(|name| ty.fields.get(name)) {
                add(&mut of_items, demand(&format!("{}.{}", ty.name, field.name), &field.auth, AuthAction::Write));
            }
            self.add_types(&mut of_items, (coordinate, is_ruled), vec![ty], action.asks());
        }
        demands.extend(of_items.into_iter().map(|demand| Demand { by_item: true, ..demand }));
        if let Some(ty) = self.model.returned_by(&field.name) {
            add(&mut demands, demand(&ty.name, &ty.auth, AuthAction::Read).filter(|_| !ty.auth.hide()));
        }
        Ok(demands)
    }

    /// Adds the demands of item types. One without rules, behind a field without rules, is for callers who are signed in.
    fn add_types(&self, demands: &mut Vec<Demand>, (coordinate, is_ruled): (&str, bool), types: Vec<&ObjectType>, action: AuthAction) {
        for ty in types {
            // Items that the caller may not see are left out when they are read.
            let hides = action == AuthAction::Read && ty.auth.hide();
            match demand(&ty.name, &ty.auth, action).filter(|_| !hides) {
                Some(of_type) => add(demands, Some(of_type)),
                None if is_ruled || hides => {}
                None => {
                    let rules = vec![Arc::new(AuthRule::signed_in())];
                    add(demands, Some(Demand { of: coordinate.to_owned(), rules, arguments: None, by_item: false }));
                }
            }
        }
    }
}

/// What rules demand for an action; `None` if there are none for it.
fn demand(of: &str, rules: &AuthRules, action: AuthAction) -> Option<Demand> {
    let rules = rules.of(action);
    (!rules.is_empty()).then(|| Demand { of: of.to_owned(), rules, arguments: None, by_item: false })
}

/// Adds a demand, unless the same one is there: of the same type or field, by the same rules.
fn add(demands: &mut Vec<Demand>, another: Option<Demand>) {
    let Some(another) = another else { return };
    if !demands.iter().any(|known| known.of == another.of && known.rules == another.rules) {
        demands.push(another);
    }
}

fn uses_arguments(rules: &[Arc<AuthRule>]) -> bool {
    rules.iter().any(|rule| matches!(&rule.lets_in, LetsIn::If(condition) if !condition.arguments().is_empty()))
}
