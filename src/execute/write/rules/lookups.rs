//! The `exists:` rules of a write in; out: which items must exist for it. Each becomes a ConditionCheck in the write's
//! transaction, so that who loses a membership a moment before loses the write. Must not know actions nor drafts.
//!
//! If one look-up alone can let the caller in, nothing is read for it. Of several, the first that is found to hold is
//! checked.

use crate::execute::auth::lookup::{WantedItem, wanted_items};
use crate::execute::error::FieldError;
use crate::execute::expression::condition::lettered;
use crate::execute::expression::settle::{Residual, one_of, settle_rule};
use crate::execute::item::conditions::Conditions;
use crate::execute::item::identity;
use crate::execute::write::job::WriteJob;
use crate::execute::write::messages::{FieldErrors, bad_input, table_error};
use crate::execute::write::rules::item_rules::refused;
use crate::schema::model::auth::{AuthAction, AuthRules, RuleLookup};
use crate::table::data::attribute::{Item, Key};
use crate::table::data::call::{Expression, Get};
use serde_json::{Map, Value};
use std::sync::Arc;

/// An item that must exist for a write, by an `exists:` rule.
pub struct RuleCheck {
    /// The type or the field that has the rule.
    pub of: String,
    /// For what the rule is asked.
    pub asked: AuthAction,
    /// The item type.
    pub item: String,
    /// The table.
    pub table: Arc<str>,
    /// The item's key.
    pub key: Key,
    /// What the item must meet.
    pub condition: Residual,
    /// Whether it was read and found to hold.
    pub was_read: bool,
}

/// What rules demand without their look-ups, and the look-ups that may let the caller in instead. `own`: the values of
/// the guarded item's key.
pub fn alternatives(
    job: &WriteJob<'_>,
    of: &str,
    (rules, action): (&AuthRules, AuthAction),
    own: &Map<String, Value>,
) -> (Residual, Vec<RuleCheck>) {
    let scope = job.scope();
    let others = rules.each(action).filter(|rule| rule.lookup().is_none());
    let others = one_of(others.map(|rule| settle_rule(rule, &scope)).collect());
    let check = |WantedItem { ty, key, condition, .. }: WantedItem<'_>| {
        let (of, item, table) = (of.to_owned(), ty.name.clone(), job.table_of(ty));
        RuleCheck { of, asked: action, item, table, key, condition, was_read: false }
    };
    let checks = |lookup: &RuleLookup| {
        let wanted = wanted_items(job.context.model, lookup, &scope, own);
        wanted.into_iter().map(check).collect::<Vec<_>>()
    };
    let checks = match others {
        Residual::Always => Vec::new(),
        _ => rules.each(action).filter_map(|rule| rule.lookup()).flat_map(checks).collect(),
    };
    (others, checks)
}

/// Whether what decides a demand is read ahead of the write. If only one look-up can let the caller in, the write
/// itself checks it.
pub fn are_read(others: &Residual, checks: &[RuleCheck], may_refuse: bool) -> bool {
    let is_checked = *others == Residual::Never && checks.len() == 1 && may_refuse;
    !(checks.is_empty() || is_checked)
}

/// What is left of the demand, and the look-up that must hold for that. Unless `may_refuse`, the item counts as missing
/// where none holds, so each is read first.
pub async fn choose(
    job: &WriteJob<'_>,
    (others, mut checks): (Residual, Vec<RuleCheck>),
    may_refuse: bool,
) -> Result<(Residual, Option<RuleCheck>), FieldErrors> {
    if !are_read(&others, &checks, may_refuse)
        && let Some(check) = checks.pop()
    {
        return Ok((Residual::Always, Some(check)));
    }
    // One item may be in any of its shards: they are read together, and the loader keeps what they have.
    let model = job.context.model;
    let is_sought = |check: &&RuleCheck| model.item(&check.item).is_some_and(|(_, keys)| keys.assigned().is_some());
    let gets: Vec<Get> = checks.iter().filter(is_sought).filter_map(|check| get(job, check).ok()).collect();
    job.context.loaders.get(gets).await;
    for mut check in checks {
        if holds(job, &check).await? {
            check.was_read = true;
            return Ok((Residual::Always, Some(check)));
        }
    }
    Ok((others, None))
}

/// Whether rules with look-ups let the caller write an item that was read.
pub async fn let_write(
    job: &WriteJob<'_>,
    (others, checks): (Residual, Vec<RuleCheck>),
    item: &Item,
) -> Result<bool, FieldErrors> {
    if others.is_met(item, &job.scope()) {
        return Ok(true);
    }
    for check in checks {
        if holds(job, &check).await? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Reads what the rules look up, ahead of the write, which checks it again. Fails if they refuse the caller: who is
/// refused learns nothing else.
pub async fn decide(job: &WriteJob<'_>, checks: &mut [RuleCheck]) -> Result<(), FieldErrors> {
    for check in checks.iter_mut().filter(|check| !check.was_read) {
        if !holds(job, check).await? {
            return Err(vec![refusal(job, check)]);
        }
        check.was_read = true;
    }
    Ok(())
}

/// The error of a write whose look-up finds nothing.
pub fn refusal(job: &WriteJob<'_>, check: &RuleCheck) -> FieldError {
    refused(job.context, (&check.of, check.asked))
}

/// Whether an item, as it is under the key of a look-up, is what the rule demands.
pub fn is_met(job: &WriteJob<'_>, check: &RuleCheck, item: Option<&Item>) -> bool {
    let passed = job.context.now.passed();
    let is_of = |item: &Item| {
        let ty = job.type_named(&check.item);
        ty.is_ok_and(|ty| identity::is_of(ty, item) && !identity::has_expired(ty, item, passed))
    };
    item.is_some_and(|item| is_of(item) && check.condition.is_met(item, &job.scope()))
}

/// What a check demands of its item, with placeholders of this letter.
pub fn text(job: &WriteJob<'_>, check: &RuleCheck, letter: char) -> Result<Option<Expression>, FieldErrors> {
    let mut conditions = Conditions::lettered(letter);
    conditions.exists(&check.key.partition.0);
    let ty = job.type_named(&check.item)?;
    identity::demand((ty, &check.key), &mut conditions);
    identity::demand_unexpired(ty, job.context.now.passed(), &mut conditions);
    if let Residual::Open(condition) = &check.condition {
        let written = lettered(condition, &job.scope(), letter.to_ascii_uppercase());
        conditions.and(written.map_err(bad_input)?);
    }
    Ok(conditions.build())
}

/// The read of the item that a check demands.
pub fn get(job: &WriteJob<'_>, check: &RuleCheck) -> Result<Get, FieldErrors> {
    Ok(job.get(job.type_named(&check.item)?, &check.key))
}

/// Whether the item that a check demands is there now.
pub async fn holds(job: &WriteJob<'_>, check: &RuleCheck) -> Result<bool, FieldErrors> {
    let found = job.context.loaders.get(&[get(job, check)?]).await.into_iter().next().unwrap_or(Ok(None));
    let item: Option<Arc<Item>> = found.map_err(|error| vec![table_error(&error)])?;
    Ok(is_met(job, check, item.as_deref()))
}
