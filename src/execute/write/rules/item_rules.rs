//! The rules of an action's item type and of the fields that it writes, settled for the caller, in; out: what they
//! demand of the stored item and of the item as it will be. Must not know calls.
//!
//! A check is refused what a read is refused. What the key and the claims decide is decided here, before anything is
//! sent. The rest becomes a condition of the call, so that a caller who loses a right a moment before loses the write.

use crate::execute::auth::hiding::is_hidden;
use crate::execute::auth::refusals;
use crate::execute::context::ExecutionContext;
use crate::execute::error::FieldError;
use crate::execute::expression::narrow::{KnownAttributes, narrowed};
use crate::execute::expression::scope::Scope;
use crate::execute::expression::settle::{Residual, all_of, one_of, settle_rule};
use crate::execute::expression::update::attribute;
use crate::execute::write::messages::{FieldErrors, table_error};
use crate::schema::expression::condition::Condition;
use crate::schema::expression::operand::Path;
use crate::schema::model::ObjectType;
use crate::schema::model::auth::{AuthAction, AuthRule};
use crate::schema::model::demanded::Demanded;
use crate::table::data::attribute::{Attribute, Item, Key};
use serde_json::Map;
use std::sync::Arc;

/// What the rules demand of an item of a type.
pub struct ItemRules<'a> {
    context: &'a ExecutionContext<'a>,
    ty: &'a ObjectType,
    demanded: Vec<Demanded<'a>>,
    demand: Residual,
}

impl<'a> ItemRules<'a> {
    /// The rules that are demanded of an item of this type.
    pub fn new(context: &'a ExecutionContext<'a>, ty: &'a ObjectType, demanded: Vec<Demanded<'a>>) -> Self {
        let nothing = Map::new();
        let scope = Scope { arguments: &nothing, now: context.now, caller: context.caller };
        let demand = all_of(demanded.iter().map(|one| settled(one, &scope)).collect());
        Self { context, ty, demanded, demand }
    }

    /// Adds what rules with look-ups demand besides.
    pub fn also(&mut self, demand: Residual) {
        self.demand = all_of(vec![std::mem::replace(&mut self.demand, Residual::Always), demand]);
    }

    /// What a stored item must meet, as far as these attributes do not decide it.
    pub fn narrowed(&self, known: &KnownAttributes) -> Residual {
        self.with_scope(|scope| narrowed(&self.demand, known, scope))
    }

    /// What the stored item with this key must meet. `None`: whatever has the key is hidden from the caller, so it
    /// counts as missing. Fails if no item with the key meets it.
    pub fn for_stored(&self, key: &Key) -> Result<Option<Residual>, FieldErrors> {
        let known = KnownAttributes::from_key(key);
        match self.narrowed(&known) {
            Residual::Never if self.is_hidden(&known) => Ok(None),
            Residual::Never => {
                Err(self.refused_where(|settled, scope| narrowed(settled, &known, scope) == Residual::Never))
            }
            stored => Ok(Some(stored)),
        }
    }

    /// Whether the key decides that the rules hide every item that has it. What the claims alone refuse is no secret.
    fn is_hidden(&self, key: &KnownAttributes) -> bool {
        let hiding = &self.ty.auth;
        if !hiding.hide() || hiding.look_up(AuthAction::Read) || self.demand == Residual::Never {
            return false;
        }
        let hides = |rule: &Arc<AuthRule>, scope: &Scope<'_>| {
            narrowed(&settle_rule(rule, scope), key, scope) == Residual::Never
        };
        self.with_scope(|scope| hiding.each(AuthAction::Read).all(|rule| hides(rule, scope)))
    }

    /// What the stored item with this key must meet to be seen by a check. Never: it counts as missing.
    pub fn for_seen(&self, key: &Key) -> Result<Residual, FieldErrors> {
        if self.ty.auth.hide() {
            return Ok(self.narrowed(&KnownAttributes::from_key(key)));
        }
        self.for_stored(key).map(|stored| stored.unwrap_or(Residual::Never))
    }

    /// What the stored item must meet if an update sets these attributes. If it meets that, it meets the rules before
    /// and after. An `initial` attribute is set only if the item lacks it.
    pub fn for_changed(&self, key: &Key, changed: &KnownAttributes, initial: &[(String, Attribute)]) -> Residual {
        let before = self.narrowed(&KnownAttributes::from_key(key));
        let read: Vec<&str> = match &self.demand {
            Residual::Open(condition) => condition.attributes(),
            _ => Vec::new(),
        };
        let initial: Vec<_> = initial.iter().filter(|(name, _)| read.contains(&name.as_str())).collect();
        all_of(vec![before, self.after(changed, &initial)])
    }

    fn after(&self, known: &KnownAttributes, initial: &[&(String, Attribute)]) -> Residual {
        let Some(((name, value), rest)) = initial.split_first().map(|(first, rest)| ((&first.0, &first.1), rest))
        else {
            return self.narrowed(known);
        };
        let mut made = known.clone();
        made.set(name, Some(value.clone()));
        let path = || Path { segments: attribute(name) };
        let there = Residual::Open(Box::new(Condition::Exists(path())));
        let lacking = Residual::Open(Box::new(Condition::NotExists(path())));
        one_of(vec![all_of(vec![there, self.after(known, rest)]), all_of(vec![lacking, self.after(&made, rest)])])
    }

    /// Whether a new item meets the rules.
    pub fn lets_make(&self, item: &Item) -> bool {
        self.is_met(item)
    }

    /// Fails if a new item does not meet the rules.
    pub fn check_new(&self, item: &Item) -> Result<(), FieldErrors> {
        if self.lets_make(item) { Ok(()) } else { Err(self.refused(Some(item))) }
    }

    /// Fails if an item that a put replaces does not meet the rules.
    pub fn check_replaced(&self, old: Option<&Item>) -> Result<(), FieldErrors> {
        old.map_or(Ok(()), |old| self.check_new(old))
    }

    /// Whether an item that was read is there for the action. Fails if the caller sees the item and is refused.
    pub async fn admits(&self, item: &Arc<Item>) -> Result<bool, FieldErrors> {
        match self.is_met(item) {
            true => Ok(true),
            false if is_hidden(self.context, self.ty, item).await.map_err(|error| vec![table_error(&error)])? => {
                Ok(false)
            }
            false => Err(self.refused(Some(item))),
        }
    }

    /// An item that was read, if it is there for the action.
    pub async fn admitted(&self, item: Option<Arc<Item>>) -> Result<Option<Arc<Item>>, FieldErrors> {
        match item {
            Some(item) if self.admits(&item).await? => Ok(Some(item)),
            _ => Ok(None),
        }
    }

    /// The error of an action that the rules refuse. The audit log names those that refuse this item; `None`: any item.
    pub fn refused(&self, item: Option<&Item>) -> FieldErrors {
        self.refused_where(|settled, scope| {
            *settled == Residual::Never || item.is_some_and(|item| !settled.is_met(item, scope))
        })
    }

    /// The same. The audit log names the first demand that `refuses`.
    fn refused_where(&self, refuses: impl Fn(&Residual, &Scope<'_>) -> bool) -> FieldErrors {
        let refuses = |one: &&Demanded<'_>| self.with_scope(|scope| refuses(&settled(one, scope), scope));
        let of_type = || (self.ty.name.as_str(), AuthAction::Write);
        let (of, asked) = self.demanded.iter().find(refuses).map_or_else(of_type, |(of, _, asked)| (of, *asked));
        vec![refused(self.context, (of, asked))]
    }

    fn is_met(&self, item: &Item) -> bool {
        self.with_scope(|scope| self.demand.is_met(item, scope))
    }

    fn with_scope<T>(&self, run: impl FnOnce(&Scope<'_>) -> T) -> T {
        let nothing = Map::new();
        run(&Scope { arguments: &nothing, now: self.context.now, caller: self.context.caller })
    }
}

/// What rules demand. Where they look items up, a look-up of the write decides: see [`ItemRules::also`].
fn settled((_, rules, asked): &Demanded<'_>, scope: &Scope<'_>) -> Residual {
    match rules.each(*asked).next() {
        Some(_) if !rules.look_up(*asked) => one_of(rules.each(*asked).map(|rule| settle_rule(rule, scope)).collect()),
        _ => Residual::Always,
    }
}

/// The error of a write that the rules of a type or a field refuse an action.
pub fn refused(context: &ExecutionContext<'_>, (of, asked): (&str, AuthAction)) -> FieldError {
    let (ty, field) = of.split_once('.').map_or((of, None), |(ty, field)| (ty, Some(field)));
    let of_type = context.model.types.get(ty);
    let rules = match field {
        Some(field) => of_type.and_then(|ty| ty.fields.get(field)).map(|field| &field.auth),
        None => of_type.map(|ty| &ty.auth),
    };
    refusals::refuse_item(context.caller, of, &rules.map(|rules| rules.for_action(asked)).unwrap_or_default())
}
