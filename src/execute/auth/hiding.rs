//! The rules that hide items of some types in; out: whether an item is there for the caller. The caller and the item
//! decide most rules at once. An `exists:` rule needs the item that it looks up, which [`HidingRules::look_up`] reads.
//! Must not know how items are found.

use super::lookup::{WantedItem, wanted_items};
use crate::execute::caller::Caller;
use crate::execute::context::ExecutionContext;
use crate::execute::expression::request_time::RequestTime;
use crate::execute::expression::scope::Scope;
use crate::execute::expression::settle::{Residual, settle_rule};
use crate::execute::item::assemble;
use crate::schema::model::auth::{AuthAction, AuthRule};
use crate::schema::model::{Model, ObjectType};
use crate::table::data::attribute::{AttributeName, Item};
use crate::table::data::call::Get;
use crate::table::data::error::TableError;
use serde_json::Map;
use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

/// The rules that hide items of several types, settled for a request.
#[derive(Debug)]
pub struct HidingRules {
    of_types: Vec<TypeRules>,
    now: RequestTime,
    caller: Caller,
    /// Whether to look items up by strong reads.
    consistent: bool,
    /// The items that look-ups let the caller see, by their addresses. They are kept, so that no other item gets an
    /// address.
    let_in: Mutex<HashMap<usize, Arc<Item>>>,
}

/// The rules of one type. Of several, one that lets the caller in is enough; without any, nothing is hidden.
#[derive(Debug)]
struct TypeRules {
    ty: String,
    settled: Vec<Residual>,
    lookups: Vec<Arc<AuthRule>>,
}

impl TypeRules {
    fn shows(&self, item: &Item, scope: &Scope<'_>) -> bool {
        (self.settled.is_empty() && self.lookups.is_empty()) || self.settled.iter().any(|rule| rule.is_met(item, scope))
    }

    /// What the rules look up for an item, by the attributes of it that are known. The caller may see the item if one
    /// look-up finds an item.
    fn wanted<'m>(&self, model: &'m Model, known: &Item, scope: &Scope<'_>) -> Vec<WantedItem<'m>> {
        let Some(ty) = model.types.get(&self.ty).filter(|_| !self.settled.contains(&Residual::Always)) else {
            return Vec::new();
        };
        let lookups = self.lookups.iter().filter_map(|rule| rule.lookup());
        let own = assemble::values_of(model, ty, known).known;
        lookups.flat_map(|lookup| wanted_items(model, lookup, scope, &own)).collect()
    }
}

impl HidingRules {
    /// The rules of each type, by its name, settled for the caller. `consistent` says whether to look items up by
    /// strong reads.
    pub fn new<'r>(
        of_types: impl Iterator<Item = (&'r str, &'r [Arc<AuthRule>])>,
        context: &ExecutionContext<'_>,
        consistent: bool,
    ) -> Self {
        let nothing = Map::new();
        let scope = Scope { arguments: &nothing, now: context.now, caller: context.caller };
        let settled = |(ty, rules): (&str, &[Arc<AuthRule>])| {
            let (lookups, others): (Vec<_>, Vec<_>) = rules.iter().cloned().partition(|rule| rule.lookup().is_some());
            TypeRules {
                ty: ty.to_owned(),
                settled: others.iter().map(|rule| settle_rule(rule, &scope)).collect(),
                lookups,
            }
        };
        let (now, caller) = (context.now.clone(), context.caller.clone());
        Self { of_types: of_types.map(settled).collect(), now, caller, consistent, let_in: Mutex::default() }
    }

    /// Whether some of them look items up.
    pub fn look_up_items(&self) -> bool {
        self.of_types.iter().any(|rules| !rules.lookups.is_empty())
    }

    /// Whether the rules of one of these types, by their positions, let the caller see an item.
    pub fn show(&self, types: &[usize], item: &Arc<Item>) -> bool {
        let by_itself = self.with_scope(|scope| self.type_rules(types).any(|rules| rules.shows(item, scope)));
        by_itself || self.let_in.lock().unwrap_or_else(PoisonError::into_inner).contains_key(&address(item))
    }

    /// Looks up what the rules demand for these items, each with the types that it may have. From then on,
    /// [`Self::show`] knows them.
    pub async fn look_up(
        &self,
        context: &ExecutionContext<'_>,
        items: &[(&Arc<Item>, Vec<usize>)],
    ) -> Result<(), TableError> {
        let asked: Vec<(&Arc<Item>, WantedItem<'_>)> = self.with_scope(|scope| {
            let asked = items.iter().filter(|(item, types)| !self.show(types, item));
            asked
                .flat_map(|(item, types)| {
                    self.wanted(context.model, types, item, scope).into_iter().map(|wanted| (*item, wanted))
                })
                .collect()
        });
        let gets: Vec<Get> = asked.iter().map(|(_, wanted)| get(context.model, wanted, self.consistent)).collect();
        if gets.is_empty() {
            return Ok(());
        }
        for ((item, wanted), found) in asked.iter().zip(context.loaders.get(gets).await) {
            let found = found?;
            if self.with_scope(|scope| wanted.is_met(found.as_deref(), scope)) {
                // What lets the caller in bounds how long the response may be kept.
                let time = found.as_ref().and_then(|item| wanted.seconds_left(item, context.now.passed()));
                time.into_iter().for_each(|left| context.left.lower(left));
                self.let_in.lock().unwrap_or_else(PoisonError::into_inner).insert(address(item), (*item).clone());
            }
        }
        Ok(())
    }

    /// The reads of what the rules demand for items of which these attributes are known, so that they can be made
    /// beside the items' own.
    pub fn foreseen(&self, context: &ExecutionContext<'_>, known: &Item) -> Vec<Get> {
        let types: Vec<usize> = (0..self.of_types.len()).collect();
        let wanted = self.with_scope(|scope| self.wanted(context.model, &types, known, scope));
        wanted.iter().map(|wanted| get(context.model, wanted, self.consistent)).collect()
    }

    fn wanted<'m>(&self, model: &'m Model, types: &[usize], known: &Item, scope: &Scope<'_>) -> Vec<WantedItem<'m>> {
        self.type_rules(types).flat_map(|rules| rules.wanted(model, known, scope)).collect()
    }

    fn type_rules(&self, types: &[usize]) -> impl Iterator<Item = &TypeRules> {
        types.iter().filter_map(|position| self.of_types.get(*position))
    }

    fn with_scope<T>(&self, run: impl FnOnce(&Scope<'_>) -> T) -> T {
        run(&Scope { arguments: &Map::new(), now: &self.now, caller: &self.caller })
    }
}

/// Whether rules hide an item of a type from the caller. Fails if an item that a rule looks up could not be read.
pub async fn is_hidden(context: &ExecutionContext<'_>, ty: &ObjectType, item: &Arc<Item>) -> Result<bool, TableError> {
    if !ty.auth.hide() {
        return Ok(false);
    }
    let rules = HidingRules::new(
        std::iter::once((ty.name.as_str(), ty.auth.for_action(AuthAction::Read).as_slice())),
        context,
        true,
    );
    if rules.look_up_items() {
        // The selection's own rules may ask for the same items.
        context.loaders.keep_gets();
    }
    rules.look_up(context, &[(item, vec![0])]).await?;
    Ok(!rules.show(&[0], item))
}

fn address(item: &Arc<Item>) -> usize {
    Arc::as_ptr(item).addr()
}

/// The read of an item that must exist: its key, and what shows whether it is the one.
fn get(model: &Model, wanted: &WantedItem<'_>, consistent: bool) -> Get {
    let WantedItem { keys, key, condition, .. } = wanted;
    let of_key = std::iter::once(&key.partition).chain(&key.sort).map(|(name, _)| &**name);
    let of_type = keys.telling().chain(keys.expires.as_deref());
    let of_condition = if let Residual::Open(condition) = condition { condition.attributes() } else { Vec::new() };
    let names: BTreeSet<&str> = of_key.chain(of_type).chain(of_condition).collect();
    let table = model.tables[keys.table].name.as_str().into();
    Get {
        table,
        key: key.clone(),
        projection: names.into_iter().map(AttributeName::from).collect(),
        consistent,
        max_age: None,
    }
}
