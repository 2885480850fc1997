//! What a call demands of the item under its key, and what follows if it is not so: as text for DynamoDB, and decided
//! on the item that came back. Must not know why an action demands it.

use crate::execute::expression::condition as filter;
use crate::execute::expression::evaluate::{self, equal};
use crate::execute::expression::scope::Scope;
use crate::execute::expression::settle::Residual;
use crate::execute::expression::stored_form::relies_on_null;
use crate::execute::item::conditions::Conditions;
use crate::execute::item::identity;
use crate::execute::item::places::UpdatePlaces;
use crate::execute::values::expiry::PassedTimes;
use crate::execute::write::job::WriteJob;
use crate::execute::write::lookup::found_item::FoundItem;
use crate::execute::write::messages::{FieldErrors, bad_input};
use crate::execute::write::rules::expression::ComputedBound;
use crate::schema::expression::condition::Condition;
use crate::schema::model::ObjectType;
use crate::table::data::attribute::{Attribute, Item, Key};
use crate::table::data::call::Expression;
use std::sync::Arc;

/// The letter of the placeholders of an author's condition.
const AUTHOR: char = 'f';

/// Why a call is not made. Of several reasons, the first in this order counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reason {
    /// `CONFLICT`: another item has the key of the one to make.
    AlreadyExists,
    /// The rules refuse the item. The caller learns nothing else.
    Forbidden,
    /// `NOT_FOUND`.
    NotFound,
    /// The item is gone since it was read, so that the next attempt leaves it out.
    Gone,
    /// There is no such item, and nothing to do: the field returns null.
    Nothing,
    /// `CONFLICT`: the item has another version than the caller has seen.
    VersionChanged,
    /// `CONFLICT`: the author's condition does not hold.
    ConditionFailed,
    /// `CONFLICT`: the list has an equal element.
    HasElement,
    /// What the changes write into is not there: the next attempt makes it.
    Unplaced,
    /// `BAD_USER_INPUT`: a computed value would break this one of the call's bounds.
    OutOfBounds(usize),
    /// `CONFLICT`: another item has the unique value.
    Taken,
    /// The item is stored in another form than its changes take for granted: the next attempt reads it.
    OtherForm,
    /// An item that has expired is in the way of a new one: it is deleted before the next attempt.
    Expired,
    /// What was read has changed: the next attempt reads it again.
    Race,
}

/// What must hold of the item under the key of a call.
#[derive(Debug)]
pub enum ItemCondition {
    /// It exists.
    Exists,
    /// It does not exist.
    Absent,
    /// It does not exist, or is of the type and has expired.
    Vacant,
    /// If it exists, it has not expired.
    Unexpired,
    /// The caller sees an item of the type. No text says so: a call that fails finds it out.
    Visible,
    /// If it exists, it is of the type.
    OfType,
    /// The attribute has this value.
    Equals(String, Attribute),
    /// The attribute is as this item has it, which was read.
    Unchanged(String, Arc<Item>),
    /// The attribute is there.
    Has(String),
    /// The element of a list at this position has this value in an attribute: list, position, attribute, value.
    Element(String, usize, String, Attribute),
    /// The list has no element that equals this one.
    Lacks(String, Attribute),
    /// It meets the rules, or, if it `may_be_absent`, does not exist.
    Ruled { rule: Residual, may_be_absent: bool },
    /// It is the item of the `@find`, unchanged.
    Found(Arc<FoundItem>),
    /// It meets a condition, with placeholders of this letter. A missing item may do so, too.
    Meets(Condition, char),
    /// What the caller sees of it meets the author's condition: the item if it is of the type and meets the rule, or
    /// else nothing.
    VisiblePart(Condition, Residual),
    /// Computed values stay within these bounds.
    Bounds(Vec<ComputedBound>),
    /// It is stored in the form that its changes take for granted, or does not exist.
    Form(Condition),
    /// It is missing, or a guard with these attributes, which name its owner.
    Owned(Vec<(String, Attribute)>),
    /// The same, or a guard that has expired, with its owner, by its time in this attribute. Without attributes, it is
    /// no owner's.
    FreeGuard(Vec<(String, Attribute)>, String),
    /// What this text says. Only DynamoDB evaluates it.
    Text(Expression),
}

/// One demand, and what follows if it is not met.
#[derive(Debug)]
pub struct Requirement {
    /// What must hold.
    pub holds: ItemCondition,
    /// What follows if it does not.
    pub otherwise: Reason,
}

/// What a call demands of its item, in the order of its text.
#[derive(Debug, Default)]
pub struct Requirements(pub Vec<Requirement>);

/// The item that came back with a failed condition.
#[derive(Debug, Clone, Copy)]
pub struct ReturnedItem<'i> {
    /// Whatever has the key.
    pub stored: Option<&'i Item>,
    /// The item, if it is of the type and the caller may know of it.
    pub visible: Option<&'i Item>,
    /// Whether it is of another type.
    pub is_foreign: bool,
    /// Whether it has expired: an item of any type, or a guard.
    pub is_expired: bool,
}

/// The type and the key of an item, and the letter of the placeholders of what is demanded of it.
#[derive(Clone, Copy)]
pub struct RequiredItem<'t> {
    /// The write.
    pub job: &'t WriteJob<'t>,
    /// The type.
    pub ty: &'t ObjectType,
    /// The key.
    pub key: &'t Key,
    /// The letter.
    pub letter: char,
    /// Whether the call may meet an item that has expired. That is not there, whatever it holds.
    pub meets_expired: bool,
}

impl RequiredItem<'_> {
    /// The times of items that are not there.
    fn passed(&self) -> PassedTimes {
        self.job.context.now.passed()
    }
}

impl Requirements {
    /// Adds a demand.
    pub fn add(&mut self, holds: ItemCondition, otherwise: Reason) {
        self.0.push(Requirement { holds, otherwise });
    }

    /// Adds that attributes are as an item has them, which was read.
    pub fn unchanged<'n>(&mut self, attributes: impl IntoIterator<Item = &'n String>, item: &Arc<Item>) {
        let unchanged = attributes.into_iter().map(|name| ItemCondition::Unchanged(name.clone(), item.clone()));
        self.0.extend(unchanged.map(|holds| Requirement { holds, otherwise: Reason::Race }));
    }

    /// Adds that an attribute is there, as it was read, unless it must be unchanged anyway.
    pub fn has(&mut self, attribute: &str) {
        let is_held = |one: &Requirement| matches!(&one.holds, ItemCondition::Unchanged(held, _) if held == attribute);
        if !self.0.iter().any(is_held) {
            self.add(ItemCondition::Has(attribute.to_owned()), Reason::Race);
        }
    }

    /// Adds what the rules demand of the item.
    pub fn ruled(&mut self, rule: Residual, may_be_absent: bool) {
        if rule != Residual::Always {
            self.add(ItemCondition::Ruled { rule, may_be_absent }, Reason::Forbidden);
        }
    }

    /// Adds that an item of a type that expires has not, unless there must be none.
    pub fn unexpired(&mut self, ty: &ObjectType, otherwise: Reason) {
        let is_absent = self.0.iter().any(|one| matches!(one.holds, ItemCondition::Absent));
        if identity::expires(ty).is_some() && !is_absent {
            self.add(ItemCondition::Unexpired, otherwise);
        }
    }

    /// Adds the author's condition.
    pub fn author_demands(&mut self, condition: Condition, otherwise: Reason) {
        self.add(ItemCondition::Meets(condition, AUTHOR), otherwise);
    }

    /// Adds the author's condition of other demands on the same item to that of these.
    pub fn join_author(&mut self, others: &Requirements) {
        let Some(other) = others.author() else { return };
        for one in &mut self.0 {
            if let ItemCondition::VisiblePart(condition, _) = &mut one.holds
                && condition != other
            {
                *condition = Condition::And(vec![other.clone(), condition.clone()]);
            }
        }
    }

    /// Adds what changes take for granted of the item.
    pub fn form(&mut self, granted: Option<Condition>) {
        granted.into_iter().for_each(|granted| self.add(ItemCondition::Form(granted), Reason::OtherForm));
    }

    /// Adds what changes take for granted of the objects that they write into.
    pub fn placed(&mut self, places: &UpdatePlaces) {
        let granted = places.granted();
        granted.into_iter().for_each(|granted| self.add(ItemCondition::Meets(granted, 'q'), Reason::Unplaced));
    }

    /// The text of all demands, joined by AND; `None` if there are none. Fails if a value of the author's condition
    /// does not fit.
    pub fn text(&self, of: RequiredItem<'_>, scope: &Scope<'_>) -> Result<Option<Expression>, FieldErrors> {
        let mut conditions = Conditions::lettered(of.letter);
        let keeps_out = |holds: &ItemCondition| matches!(holds, ItemCondition::Unexpired | ItemCondition::Absent);
        let is_left_out = self.0.iter().any(|one| keeps_out(&one.holds));
        let of = RequiredItem { meets_expired: !is_left_out && identity::expires(of.ty).is_some(), ..of };
        for Requirement { holds, .. } in &self.0 {
            holds.write(of, scope, &mut conditions)?;
        }
        // The filters of all finds of the item are one condition, so that they share no placeholder.
        let mut filters: Vec<Condition> = self.found().filter_map(|found| found.filter.clone()).collect();
        let filter = if filters.len() > 1 { Some(Condition::And(filters)) } else { filters.pop() };
        if let Some(filter) = filter {
            conditions.and(filter::lettered(&filter, scope, 'h').map_err(bad_input)?);
        }
        Ok(conditions.build())
    }

    /// Why the call failed, by the item that came back, and what did not hold. A server may give no item back: then an
    /// item to make counts as refused, and another call as one that has lost a race.
    pub fn reason(&self, returned: ReturnedItem<'_>, scope: &Scope<'_>) -> (Reason, Option<&ItemCondition>) {
        let failed = self
            .0
            .iter()
            .filter_map(|one| Some((one.reason(returned, scope)?, Some(&one.holds))))
            .min_by_key(|(reason, _)| *reason);
        let of_unknown = || match self.0.as_slice() {
            [only] => only.otherwise,
            all => all
                .iter()
                .map(|one| one.otherwise)
                .find(|reason| *reason == Reason::AlreadyExists)
                .unwrap_or(Reason::Race),
        };
        failed.unwrap_or_else(|| (of_unknown(), None))
    }

    /// The rules' demand.
    pub fn rule(&self) -> &Residual {
        let rule = self.0.iter().find_map(|one| match &one.holds {
            ItemCondition::Ruled { rule, .. } | ItemCondition::VisiblePart(_, rule) => Some(rule),
            _ => None,
        });
        rule.unwrap_or(&Residual::Always)
    }

    /// The found items that the call is about: one, or the same item by several finds.
    pub fn found(&self) -> impl Iterator<Item = &FoundItem> {
        self.0.iter().filter_map(|one| if let ItemCondition::Found(found) = &one.holds { Some(&**found) } else { None })
    }

    /// The author's condition.
    pub fn author(&self) -> Option<&Condition> {
        self.0.iter().find_map(|one| match &one.holds {
            ItemCondition::Meets(condition, AUTHOR) | ItemCondition::VisiblePart(condition, _) => Some(condition),
            _ => None,
        })
    }

    /// Whether the call may make an item that does not exist.
    pub fn may_make(&self) -> bool {
        let needs_item = |one: &Requirement| matches!(one.holds, ItemCondition::Exists | ItemCondition::Visible);
        !self.0.iter().any(|one| needs_item(one) && one.otherwise != Reason::Race)
    }

    /// Whether they hold values that were read, so that the call can lose a race.
    pub fn rely_on_reads(&self) -> bool {
        let relies = |holds: &ItemCondition| {
            matches!(
                holds,
                ItemCondition::Unchanged(..)
                    | ItemCondition::Has(_)
                    | ItemCondition::Element(..)
                    | ItemCondition::Found(_)
            )
        };
        self.0.iter().any(|one| relies(&one.holds))
    }

    /// Whether the author, the caller or a rule demands more than that there is an item of the type.
    pub fn ask_more(&self) -> bool {
        let of_caller = |one: &Requirement| {
            matches!(
                (&one.holds, one.otherwise),
                (ItemCondition::Absent | ItemCondition::Vacant, Reason::AlreadyExists) | (_, Reason::VersionChanged)
            )
        };
        self.0.iter().any(of_caller) || self.author().is_some() || *self.rule() != Residual::Always
    }

    /// Whether they rely on a null, which DynamoDB itself would not take for a missing value.
    pub fn rely_on_null(&self) -> bool {
        self.0.iter().any(|one| matches!(&one.holds, ItemCondition::Form(granted) if relies_on_null(granted)))
    }
}

impl Requirement {
    /// Whether the item that came back has expired and must go before the call can make its item. One of another type
    /// always must.
    fn is_in_the_way(&self, returned: ReturnedItem<'_>) -> bool {
        let keeps_out = match self.holds {
            ItemCondition::Absent => true,
            ItemCondition::Vacant => returned.is_foreign,
            ItemCondition::OfType => returned.is_foreign && self.otherwise == Reason::AlreadyExists,
            _ => false,
        };
        returned.is_expired && keeps_out
    }

    /// What follows for the item that came back; `None` if it meets the demand.
    fn reason(&self, returned: ReturnedItem<'_>, scope: &Scope<'_>) -> Option<Reason> {
        match &self.holds {
            ItemCondition::Bounds(bounds) => broken_bound(bounds, returned.visible, scope),
            _ if self.is_in_the_way(returned) => Some(Reason::Expired),
            demand => (!demand.is_met(returned, scope)).then_some(self.otherwise),
        }
    }
}

/// What follows from the first bound that is broken. One that only a null breaks, where a missing value would do, is a
/// matter of form.
fn broken_bound(bounds: &[ComputedBound], item: Option<&Item>, scope: &Scope<'_>) -> Option<Reason> {
    let is_broken = |bound: &ComputedBound| !evaluate::holds(&bound.condition, item, scope).unwrap_or(false);
    let by_null = |bound: &ComputedBound| item.is_some_and(|item| bound.meets_null(item));
    let broken = bounds.iter().enumerate().filter(|(_, bound)| is_broken(bound));
    broken.map(|(position, bound)| if by_null(bound) { Reason::OtherForm } else { Reason::OutOfBounds(position) }).min()
}

/// Adds that the rules are met, or, if the item may be absent, that there is none.
fn write_rule(
    of: RequiredItem<'_>,
    (rule, may_be_absent): (&Residual, bool),
    scope: &Scope<'_>,
    conditions: &mut Conditions,
) -> Result<(), FieldErrors> {
    let RequiredItem { ty, key, meets_expired, .. } = of;
    let partition = &key.partition.0;
    match rule {
        Residual::Always => {}
        Residual::Never if meets_expired && may_be_absent => {
            identity::demand_vacant((ty, key), of.passed(), conditions)
        }
        Residual::Never => conditions.absent(partition),
        Residual::Open(rule) => {
            let rule = filter::lettered(rule, scope, 'r').map_err(bad_input)?;
            let premise = |premise: &mut Conditions| {
                premise.exists(partition);
                if meets_expired {
                    identity::demand_unexpired(ty, of.passed(), premise);
                }
            };
            if may_be_absent { conditions.implies(premise, rule) } else { conditions.and(rule) }
        }
    }
    Ok(())
}

/// Adds a condition on what is seen of an item: the item if the premise holds, or else nothing.
fn write_of_seen(
    (condition, written): (&Condition, Expression),
    premise: impl FnOnce(&mut Conditions),
    scope: &Scope<'_>,
    conditions: &mut Conditions,
) {
    if evaluate::holds(condition, None, scope).unwrap_or(false) {
        conditions.implies(premise, written);
    } else {
        premise(conditions);
        conditions.and(written);
    }
}

/// All bounds; `None` if there are none. A single one is not wrapped in And: DynamoDB refuses double parentheses.
fn joined(bounds: &[ComputedBound]) -> Option<Condition> {
    let mut all: Vec<Condition> = bounds.iter().map(|bound| bound.condition.clone()).collect();
    let last = all.pop()?;
    Some(if all.is_empty() { last } else { Condition::And(all.into_iter().chain([last]).collect()) })
}

impl ItemCondition {
    /// Adds its text.
    fn write(&self, of: RequiredItem<'_>, scope: &Scope<'_>, conditions: &mut Conditions) -> Result<(), FieldErrors> {
        let RequiredItem { job, ty, key, meets_expired, .. } = of;
        let (partition, passed) = (&key.partition.0, of.passed());
        let lettered = |condition, letter| filter::lettered(condition, scope, letter).map_err(bad_input);
        match self {
            Self::Visible => {}
            Self::Exists => conditions.exists(partition),
            Self::Absent => conditions.absent(partition),
            Self::Vacant => identity::demand_vacant((ty, key), passed, conditions),
            Self::Unexpired => identity::demand_unexpired(ty, passed, conditions),
            Self::OfType => identity::demand((ty, key), conditions),
            Self::Equals(attribute, value) => conditions.equals(attribute, value.clone()),
            Self::Unchanged(attribute, item) => conditions.unchanged(attribute, item),
            Self::Has(attribute) => conditions.exists(attribute),
            Self::Element(list, at, attribute, value) => conditions.element_equals(list, *at, attribute, value.clone()),
            Self::Lacks(list, element) => conditions.lacks(list, element.clone()),
            Self::Ruled { rule, may_be_absent } => write_rule(of, (rule, *may_be_absent), scope, conditions)?,
            Self::Found(found) => found.demand(job.type_named(&found.item)?, passed, conditions),
            Self::Meets(condition, letter) if meets_expired => {
                let premise = |premise: &mut Conditions| identity::demand_unexpired(ty, passed, premise);
                write_of_seen((condition, lettered(condition, *letter)?), premise, scope, conditions);
            }
            Self::Meets(condition, letter) => conditions.and(lettered(condition, *letter)?),
            Self::VisiblePart(condition, rule) => {
                let seen = if let Residual::Open(rule) = rule { Some(lettered(rule, 'r')?) } else { None };
                let written = lettered(condition, AUTHOR)?;
                let is_certain = seen.is_none() && identity::is_certain(ty, key);
                let premise = |premise: &mut Conditions| {
                    identity::demand((ty, key), premise);
                    identity::demand_unexpired(ty, passed, premise);
                    seen.into_iter().for_each(|seen| premise.and(seen));
                };
                // An item of another type under the key, and one that the caller does not see, count as missing.
                match is_certain {
                    true => {
                        premise(conditions);
                        conditions.and(written);
                    }
                    false => write_of_seen((condition, written), premise, scope, conditions),
                }
            }
            Self::Bounds(bounds) => {
                if let Some(whole) = joined(bounds) {
                    conditions.and(lettered(&whole, 'b')?);
                }
            }
            Self::Form(granted) => conditions.and(lettered(granted, 't')?),
            Self::Owned(owner) => conditions.absent_or_with(partition, owner.iter().cloned()),
            Self::FreeGuard(owner, time) => conditions.free_guard(partition, owner, (time, passed.bounds())),
            Self::Text(text) => conditions.extend(Some(text.clone())),
        }
        Ok(())
    }

    /// Whether the item that came back meets it. What nothing visible can decide counts as met.
    fn is_met(&self, returned: ReturnedItem<'_>, scope: &Scope<'_>) -> bool {
        let ReturnedItem { stored, visible, is_foreign, is_expired } = returned;
        let holds =
            |condition: &Condition, item: Option<&Item>| evaluate::holds(condition, item, scope).unwrap_or(false);
        match self {
            Self::Exists | Self::Visible => visible.is_some(),
            Self::Absent => stored.is_none(),
            Self::Vacant => stored.is_none() || is_expired,
            Self::Unexpired => !is_expired,
            Self::OfType => !is_foreign,
            Self::Equals(attribute, value) => {
                visible.and_then(|item| item.get(attribute)).is_some_and(|is| equal(is, value))
            }
            Self::Unchanged(attribute, read) => {
                match (read.get(attribute), visible.and_then(|item| item.get(attribute))) {
                    (Some(was), Some(is)) => equal(was, is),
                    (was, is) => was.is_none() && is.is_none(),
                }
            }
            Self::Has(attribute) => visible.is_some_and(|item| item.contains_key(attribute)),
            Self::Lacks(list, element) => match visible.and_then(|item| item.get(list)) {
                Some(Attribute::L(elements)) => !elements.iter().any(|one| equal(one, element)),
                _ => true,
            },
            Self::Ruled { rule, .. } => visible.is_none_or(|item| rule.is_met(item, scope)),
            Self::Found(found) => !is_expired && found.holds(stored, scope),
            Self::Meets(condition, _) => holds(condition, visible),
            Self::VisiblePart(condition, rule) => holds(condition, visible.filter(|item| rule.is_met(item, scope))),
            Self::Form(granted) => visible.is_none_or(|item| holds(granted, Some(item))),
            Self::Owned(owner) => {
                stored.is_none_or(|guard| owner.iter().all(|(name, value)| guard.get(name) == Some(value)))
            }
            Self::FreeGuard(owner, _) => {
                let is_owned = |guard: &Item| owner.iter().all(|(name, value)| guard.get(name) == Some(value));
                is_expired || stored.is_none_or(|guard| !owner.is_empty() && is_owned(guard))
            }
            // Whether the element has moved, and what only a text says, another attempt finds out.
            Self::Element(..) | Self::Text(_) => false,
            // Each bound has a reason of its own.
            Self::Bounds(_) => true,
        }
    }
}
