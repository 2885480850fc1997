//! A field of the operation, or an object, in; out: the guard that its rules, those of the types behind it and the
//! constraints of its arguments make, with the look-ups that they need. In a schema with rules, what has none needs a
//! caller who is signed in. Must not know callers.

use super::builder::{Builder, internal};
use super::entity::Entity;
use super::relation::RelationRequest;
use crate::plan::error::PlanError;
use crate::plan::operation::argument;
use crate::plan::operation::collect::CollectedField;
use crate::plan::tree::{
    Arguments, ArgumentsId, ConstrainedInputs, DecidedBy, Demand, Guard, GuardId, Presence, ReadId, ValueSource, Want,
};
use crate::schema::model::auth::{AuthAction, AuthRule, AuthRules, LetsIn, RuleLookup};
use crate::schema::model::find::Find;
use crate::schema::model::watch::Watch;
use crate::schema::model::write::Write;
use crate::schema::model::{Field, FieldKind, ObjectType};
use indexmap::IndexMap;
use std::sync::Arc;

/// What rules guard.
struct GuardTarget<'e, 'a> {
    /// The object.
    of: &'e Entity<'a>,
    /// Its field; any, if all of the object is guarded.
    field: &'a Field,
    /// What the rules may name.
    arguments: ArgumentsId,
}

impl<'a> Builder<'a> {
    /// Enters a field of an object: from now on, everything that is planned stands behind its guard. Gives the guard,
    /// unless the field has none.
    pub fn enter(
        &mut self,
        of: &Entity<'a>,
        field: &'a Field,
        collected: &CollectedField<'a>,
    ) -> Result<Option<GuardId>, PlanError> {
        // A write checks its arguments itself, with what it does with them.
        let is_constrained = field.constrains_arguments && !matches!(field.kind, FieldKind::Write(_));
        let inputs = is_constrained.then(|| {
            let arguments = argument::field_arguments(&self.context, field, collected);
            let arguments = self.push_arguments(arguments);
            ConstrainedInputs { type_name: of.ty.name.clone(), field: field.name.clone(), arguments }
        });
        let demands = if self.model.ruled { self.demands(of, field, collected)? } else { Vec::new() };
        Ok(self.guarded(of, demands, inputs))
    }

    /// What the rules of a field, and of the types behind it, demand.
    fn demands(
        &mut self,
        of: &Entity<'a>,
        field: &'a Field,
        collected: &CollectedField<'a>,
    ) -> Result<Vec<Demand>, PlanError> {
        let coordinate = format!("{}.{}", of.ty.name, field.name);
        let mut demands = match &field.kind {
            FieldKind::Find(find) => self.find_demands(of.ty, (field, &coordinate), find),
            FieldKind::Write(write) => self.write_demands(of.ty, (field, &coordinate), write)?,
            FieldKind::Watch(watch) => self.watch_demands((field, &coordinate), watch)?,
            FieldKind::Computed(_) => return self.computed_demands(of, field, collected),
            FieldKind::Stored(_)
            | FieldKind::Nodes(_)
            | FieldKind::GlobalId(_)
            | FieldKind::Resolved(_)
            | FieldKind::Page
            | FieldKind::Change(_)
            | FieldKind::Payload => demand(&coordinate, &field.auth, AuthAction::Read).into_iter().collect(),
        };
        if let Some(own) = demands.iter_mut().find(|demand| demand.of == coordinate && need_more(&demand.rules)) {
            let arguments = argument::field_arguments(&self.context, field, collected);
            let arguments = self.push_arguments(arguments);
            own.arguments = Some(arguments);
            own.decided = self.decided_by(&GuardTarget { of, field, arguments }, &field.auth)?;
        }
        Ok(demands)
    }

    /// The demands of a computed field: its own, and those of the fields of which it is computed.
    fn computed_demands(
        &mut self,
        of: &Entity<'a>,
        field: &'a Field,
        collected: &CollectedField<'a>,
    ) -> Result<Vec<Demand>, PlanError> {
        let mut demands = Vec::new();
        for read in of.ty.read_with(field) {
            let coordinate = format!("{}.{}", of.ty.name, read.name);
            let Some(mut demand) = demand(&coordinate, &read.auth, AuthAction::Read) else { continue };
            if need_more(&demand.rules) {
                // None of these fields has arguments.
                let arguments = argument::field_arguments(&self.context, field, collected);
                let arguments = self.push_arguments(arguments);
                demand.arguments = Some(arguments);
                demand.decided = self.decided_by(&GuardTarget { of, field: read, arguments }, &read.auth)?;
            }
            demands.push(demand);
        }
        Ok(demands)
    }

    /// Enters an item that an id names, of a field that finds items of several types: what is planned within stands
    /// behind the rules of its own type, and of no other.
    pub fn enter_node(&mut self, of: &Entity<'a>, field: &Field, coordinate: &str) -> Option<GuardId> {
        if !self.model.ruled {
            return None;
        }
        let is_ruled = demand(coordinate, &field.auth, AuthAction::Read).is_some();
        let mut demands = Vec::new();
        self.add_types(&mut demands, (coordinate, is_ruled), vec![of.ty], AuthAction::Read);
        self.guarded(of, demands.into_iter().map(later).collect(), None)
    }

    /// Enters an object: what is planned within stands behind the rules of its type that need the item.
    pub fn enter_item(&mut self, of: &Entity<'a>) -> Result<Option<GuardId>, PlanError> {
        let rules = &of.ty.auth;
        let is_asked = rules.need_item(AuthAction::Read) && !rules.hide() && !self.unhidden;
        let (true, Some(field), Some(demand)) =
            (is_asked, of.ty.fields.values().next(), demand(&of.ty.name, rules, AuthAction::Read))
        else {
            return Ok(None);
        };
        let arguments = self.push_arguments(Arguments { values: IndexMap::new(), given: Vec::new(), location: (0, 0) });
        let decided = self.decided_by(&GuardTarget { of, field, arguments }, rules)?;
        Ok(self.guarded(of, vec![Demand { decided, ..demand }], None))
    }

    fn guarded(&mut self, of: &Entity<'a>, demands: Vec<Demand>, inputs: Option<ConstrainedInputs>) -> Option<GuardId> {
        if demands.is_empty() && inputs.is_none() {
            return None;
        }
        self.guards.push(Guard { space: of.space, within: self.guard, demands, inputs });
        self.guard = Some(self.guards.len() - 1);
        self.guard
    }

    /// What decides the rules for reads of a field, or of an object.
    fn decided_by(&mut self, guarded: &GuardTarget<'_, 'a>, rules: &'a AuthRules) -> Result<DecidedBy, PlanError> {
        if matches!(guarded.field.kind, FieldKind::Write(_)) {
            return Ok(DecidedBy::Later);
        }
        let mut lookups = Vec::new();
        for rule in rules.each(AuthAction::Read) {
            lookups.push(match rule.lookup() {
                Some(lookup) => Some(self.look_up_rule(guarded, lookup)?),
                None => None,
            });
        }
        Ok(DecidedBy::Rows { holder: guarded.of.held.last().map(|(holder, _)| *holder), lookups })
    }

    /// Adds the read of a rule's look-up.
    fn look_up_rule(&mut self, guarded: &GuardTarget<'_, 'a>, lookup: &'a RuleLookup) -> Result<ReadId, PlanError> {
        let of = guarded.of;
        let mut sources = self.arguments[guarded.arguments].clone();
        // It has one path, whatever order the field asks for.
        sources.values.shift_remove("orderBy");
        let relation = RelationRequest {
            coordinate: format!("@auth of {}", of.ty.name),
            field: guarded.field,
            find: &lookup.find,
            arguments: self.push_arguments(sources),
            needs: Vec::new(),
            must_exist: true,
            waits_for_parent: false,
            want: Want::First,
        };
        // A look-up whose key the request alone gives is made once, whatever the rows.
        let is_single =
            lookup.parent_fields().iter().all(|field| of.known.get(*field).is_some_and(ValueSource::is_of_request));
        let mut around = self.guard;
        while let Some(guard) = around.map(|guard| &self.guards[guard]).filter(|guard| is_single && guard.space != 0) {
            around = guard.within;
        }
        let from = if is_single { Entity { space: 0, presence: None, ..of.clone() } } else { of.clone() };
        let outer = (std::mem::replace(&mut self.unhidden, true), std::mem::replace(&mut self.guard, around));
        let found = self.follow(&from, relation);
        (self.unhidden, self.guard) = outer;
        let (entity, _) = found?;
        let Some(Presence::Read(read)) = entity.presence else { return Err(internal("a look-up that reads nothing")) };
        self.reads[read].ruled =
            lookup.condition.iter().flat_map(|condition| condition.attributes()).map(str::to_owned).collect();
        Ok(read)
    }

    /// The fields of a type of which the look-ups of its own rules for reads, and of those of a field, are made.
    pub fn asked_fields(rules: &AuthRules) -> impl Iterator<Item = &str> {
        rules.each(AuthAction::Read).filter_map(|rule| rule.lookup()).flat_map(RuleLookup::parent_fields)
    }

    /// The demands of a find: its own, and those of every item type on its way.
    fn find_demands(&self, ty: &'a ObjectType, (field, coordinate): (&Field, &str), find: &'a Find) -> Vec<Demand> {
        let mut demands: Vec<Demand> = demand(coordinate, &field.auth, AuthAction::Read).into_iter().collect();
        let is_ruled = !demands.is_empty();
        let mut of_types = Vec::new();
        self.add_types(&mut of_types, (coordinate, is_ruled), self.model.read_by(ty, find), AuthAction::Read);
        demands.extend(of_types.into_iter().map(later));
        demands
    }

    /// The demands of a field of `Subscription`: its own, and those of the type that it watches.
    fn watch_demands(&self, (field, coordinate): (&Field, &str), watch: &'a Watch) -> Result<Vec<Demand>, PlanError> {
        let mut demands: Vec<Demand> = demand(coordinate, &field.auth, AuthAction::Read).into_iter().collect();
        let is_ruled = !demands.is_empty();
        let mut of_types = Vec::new();
        self.add_types(&mut of_types, (coordinate, is_ruled), vec![self.type_named(&watch.item)?], AuthAction::Read);
        demands.extend(of_types.into_iter().map(later));
        Ok(demands)
    }

    /// The demands of a write: its own, those of the item that it finds, of the types and fields that it writes, and of
    /// the type that it returns.
    fn write_demands(
        &self,
        ty: &'a ObjectType,
        (field, coordinate): (&Field, &str),
        write: &'a Write,
    ) -> Result<Vec<Demand>, PlanError> {
        let mut demands: Vec<Demand> = demand(coordinate, &field.auth, AuthAction::Write).into_iter().collect();
        let is_ruled = !demands.is_empty();
        // A write asks its items what the rules need of them.
        let mut of_items = Vec::new();
        for found in write.finds.iter().flat_map(|found| self.model.read_by(ty, &found.find)) {
            add(&mut of_items, demand(&found.name, &found.auth, AuthAction::Read).filter(|_| !found.auth.hide()));
        }
        for action in &write.actions {
            let ty = self.type_named(&action.item)?;
            for (of, rules, asked) in write.demanded(action, ty).into_iter().skip(1) {
                let hides = asked == AuthAction::Read && rules.hide();
                add(&mut of_items, demand(&of, rules, asked).filter(|_| !hides));
            }
            self.add_types(&mut of_items, (coordinate, is_ruled), vec![ty], action.asks());
        }
        demands.extend(of_items.into_iter().map(later));
        for ty in self.model.returned_by(&field.name) {
            add(&mut demands, demand(&ty.name, &ty.auth, AuthAction::Read).filter(|_| !ty.auth.hide()).map(later));
        }
        Ok(demands)
    }

    /// Adds the demands of item types. One without rules, behind a field without rules, is for callers who are signed
    /// in.
    fn add_types(
        &self,
        demands: &mut Vec<Demand>,
        (coordinate, is_ruled): (&str, bool),
        types: Vec<&ObjectType>,
        action: AuthAction,
    ) {
        for ty in types {
            // Items that the caller may not see are left out when they are read.
            let hides = action == AuthAction::Read && ty.auth.hide();
            match demand(&ty.name, &ty.auth, action).filter(|_| !hides) {
                Some(of_type) => add(demands, Some(of_type)),
                None if is_ruled || hides => {}
                None => {
                    let rules = vec![Arc::new(AuthRule::signed_in())];
                    add(
                        demands,
                        Some(Demand { of: coordinate.to_owned(), rules, arguments: None, decided: DecidedBy::Caller }),
                    );
                }
            }
        }
    }
}

/// What rules demand for an action; `None` if there are none for it.
fn demand(of: &str, rules: &AuthRules, action: AuthAction) -> Option<Demand> {
    let rules = rules.for_action(action);
    (!rules.is_empty()).then(|| Demand { of: of.to_owned(), rules, arguments: None, decided: DecidedBy::Caller })
}

/// A demand whose rules that need an item are decided by the guard of each object, or by the write.
fn later(demand: Demand) -> Demand {
    Demand { decided: DecidedBy::Later, ..demand }
}

/// Adds a demand, unless the same one is there: of the same type or field, by the same rules.
fn add(demands: &mut Vec<Demand>, another: Option<Demand>) {
    let Some(another) = another else { return };
    let same = |known: &Demand| known.of == another.of && known.to_string() == another.to_string();
    if !demands.iter().any(same) {
        demands.push(another);
    }
}

/// Whether rules need more than the caller.
fn need_more(rules: &[Arc<AuthRule>]) -> bool {
    rules.iter().any(|rule| match &rule.lets_in {
        LetsIn::If(condition) => !condition.arguments().is_empty() || !condition.attributes().is_empty(),
        LetsIn::Exists(_) => true,
        LetsIn::Everybody | LetsIn::SignedIn => false,
    })
}
