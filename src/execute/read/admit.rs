//! The gate. Items that a request found in, those that its caller may see out.
//!
//! Every way by which a response comes to an item leads through a door here:
//!
//! | way | door |
//! |---|---|
//! | a Get, the missing attributes of an index's item, a Get that a collection read answers | [`VisibleItem::by_key`] |
//! | a Query, a Query that a collection read answers, a count that looks at items | [`VisibleItem::in_range`] |
//! | an item that a write gives back, or a change that a subscription shows | [`visible_written`] |
//!
//! What has expired does not pass a door by which items are read. A write gives back what it has written, whatever its
//! time, and a subscription shows the changes of a stream.
//!
//! Nothing else can make a [`VisibleItem`], and reads give no other items. Two ways need no door, because nothing is
//! read on them: a count that DynamoDB makes, which the plan leaves to it only if the range holds no items of other
//! types and no rule hides items, and whose filter leaves out what has expired; and an object whose selected fields its
//! parent's item holds, on which the plan relies only if the schema promises that the item exists, no rule hides it and
//! it does not expire. What a write reads for itself may be hidden from its caller. Must not know rows or calls.

use crate::execute::auth::hiding::{HidingRules, is_hidden};
use crate::execute::context::ExecutionContext;
use crate::execute::item::conditions::Conditions;
use crate::execute::item::strays::TableStrays;
use crate::execute::key::marks::{has_key, have_constants, is_of_narrower, misspelt};
use crate::execute::key::shown::shown;
use crate::execute::values::expiry::{PassedTimes, SecondsLeft};
use crate::plan::tree::{Read, TypeDiscriminator, TypeMarks};
use crate::schema::model::ObjectType;
use crate::schema::template::part::Misspelling;
use crate::table::data::attribute::Item;
use crate::table::data::call::{Expression, Get};
use crate::table::data::error::TableError;
use std::collections::BTreeSet;
use std::ops::Deref;
use std::sync::{Arc, Mutex, PoisonError};

/// The fields of types whose other spellings the log has reported.
static REPORTED: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
/// The most fields that the log reports, also when schemas are reloaded.
const MAX_REPORTED: usize = 1_000;
/// The letter of the placeholders of what expires.
const EXPIRY: char = 'e';

/// An item that the caller may see.
#[derive(Debug, Clone)]
pub struct VisibleItem(Arc<Item>);

/// What a caller may see of the items that a read finds.
#[derive(Debug, Clone)]
pub struct ItemGate {
    types: Arc<TypeDiscriminator>,
    /// Items of no type of its table.
    strays: Option<Arc<TableStrays>>,
    /// `None` if no rule hides items.
    rules: Option<Arc<HidingRules>>,
    /// `None` if items of none of the types expire.
    expiry: Option<Box<Expiry>>,
}

/// Which items are there by their time to live.
#[derive(Debug, Clone)]
struct Expiry {
    /// The times of items that are no longer there.
    passed: PassedTimes,
    /// How many seconds are left to the first of the seen items that expires.
    left: Arc<SecondsLeft>,
}

impl ItemGate {
    /// The gate of a read for the caller of a request.
    pub fn new(read: &Read, context: &ExecutionContext<'_>) -> Self {
        let types = &read.discriminator;
        let of_types = types.types.iter().map(|marks| (marks.item.as_str(), marks.rules.as_slice()));
        let rules = types.hides().then(|| HidingRules::new(of_types, context, read.consistent));
        let strays = context.strays.table(read.table).cloned();
        let expiry = || Box::new(Expiry { passed: context.now.passed(), left: context.left.clone() });
        let expiry = types.times().next().map(|_| expiry());
        Self { types: types.clone(), strays, rules: rules.map(Arc::new), expiry }
    }

    /// The types of its items.
    pub fn types(&self) -> &TypeDiscriminator {
        &self.types
    }

    /// Whether items of its types expire.
    pub fn expires(&self) -> bool {
        self.expiry.is_some()
    }

    /// Looks up what rules demand for items that a read found. A rule that looks items up shows no item before.
    pub async fn look_up(
        &self,
        context: &ExecutionContext<'_>,
        items: impl Iterator<Item = &Arc<Item>>,
    ) -> Result<(), TableError> {
        let Some(rules) = self.rules.as_ref().filter(|rules| rules.look_up_items()) else { return Ok(()) };
        let items: Vec<(&Arc<Item>, Vec<usize>)> = items.map(|item| (item, self.positions(item))).collect();
        // Its future is large, and few rules look items up.
        Box::pin(rules.look_up(context, &items)).await
    }

    /// The reads of what rules demand for items whose keys have these attributes, so that they can be made beside the
    /// items' own.
    pub fn foreseen(&self, context: &ExecutionContext<'_>, known: impl Iterator<Item = Item>) -> Vec<Get> {
        let Some(rules) = self.rules.as_ref().filter(|rules| rules.look_up_items()) else { return Vec::new() };
        known.flat_map(|known| rules.foreseen(context, &known)).collect()
    }

    /// The condition that DynamoDB counts only what has not expired; `None` if nothing expires.
    pub fn unexpired(&self) -> Option<Expression> {
        let Expiry { passed, .. } = self.expiry.as_deref()?;
        let mut conditions = Conditions::lettered(EXPIRY);
        self.types.times().for_each(|time| conditions.not_within(time, passed.bounds()));
        conditions.build()
    }

    /// Whether the item has not expired and no rule hides it from the caller.
    #[inline]
    fn shows(&self, item: &Arc<Item>) -> bool {
        self.is_there(item) && self.rules.as_ref().is_none_or(|rules| rules.show(&self.positions(item), item))
    }

    /// Whether an item has not expired, by the time of a type that it may have.
    #[inline]
    fn is_there(&self, item: &Item) -> bool {
        let Some(Expiry { passed, left: seconds }) = self.expiry.as_deref() else { return true };
        let time = |position: &usize| {
            let attribute = self.types.types.get(*position)?.expires.as_ref()?;
            item.get(attribute)
        };
        let positions = self.positions(item);
        let is_there = positions.iter().any(|position| !passed.have(time(position)));
        let left = positions.iter().filter_map(|position| passed.seconds_until(time(position)));
        left.for_each(|left| seconds.lower(left));
        is_there
    }

    /// The types that an item may have. If an index lacks what distinguishes them, the Get that follows decides.
    fn positions(&self, item: &Item) -> Vec<usize> {
        match (self.types.types.as_slice(), self.types.type_of(item)) {
            ([_], _) => vec![0],
            (_, Some(position)) => vec![position],
            (types, None) => (0..types.len()).collect(),
        }
    }
}

/// Those of the items of a write that its caller may see. Fails if an item that a rule looks up could not be read.
pub async fn visible_written(
    context: &ExecutionContext<'_>,
    ty: &ObjectType,
    items: Vec<Arc<Item>>,
) -> Result<Vec<Arc<Item>>, TableError> {
    let mut seen = Vec::with_capacity(items.len());
    for item in items {
        if !is_hidden(context, ty, &item).await? {
            seen.push(item);
        }
    }
    Ok(seen)
}

impl VisibleItem {
    /// An item that the request asked for by its key; `None` if the key belongs to another type, it has expired, or a
    /// rule hides it.
    pub fn by_key(gate: &ItemGate, item: &Arc<Item>) -> Option<Self> {
        (gate.types.is_of_key(item) && gate.shows(item)).then(|| Self(item.clone()))
    }

    /// An item of a queried range; `None` if it is of another type, has expired, or a rule hides it.
    #[inline]
    pub fn in_range(gate: &ItemGate, item: &Arc<Item>) -> Option<Self> {
        if !gate.types.recognises(item) {
            tell_left_out(&gate.types, item);
            gate.strays.iter().for_each(|strays| strays.see(item));
            return None;
        }
        gate.shows(item).then(|| Self(item.clone()))
    }

    /// The item, to be shared with a write.
    pub fn into_shared(self) -> Arc<Item> {
        self.0
    }
}

impl Deref for VisibleItem {
    type Target = Item;

    fn deref(&self) -> &Item {
        &self.0
    }
}

impl TypeDiscriminator {
    /// Whether an item of a range is of the type, or of one of the types. If an index lacks their constants, it may be:
    /// the Get that follows decides.
    #[inline]
    pub fn recognises(&self, item: &Item) -> bool {
        match self.types.as_slice() {
            [_, _, ..] if self.sees_constants => self.type_of(item).is_some(),
            types => types.iter().any(|marks| marks.fit(item, self.sees_constants)),
        }
    }

    /// Whether an item that was asked for by its key is of the type, or of one of the types.
    fn is_of_key(&self, item: &Item) -> bool {
        match self.types.as_slice() {
            [only] => {
                let fits = !only.key.has_limits || has_key(&only.key, item);
                fits && have_constants(&only.constants, item) && !is_of_narrower(&only.narrower, item)
            }
            _ => self.type_of(item).is_some(),
        }
    }

    /// The positions of the types that a whole item may have.
    pub fn fitting(&self, item: &Item) -> Vec<usize> {
        (0..self.types.len()).filter(|position| self.types[*position].fit(item, self.sees_constants)).collect()
    }

    /// The position of an item's type. If the keys leave several, it is the type whose constants are all present.
    pub fn type_of(&self, item: &Item) -> Option<usize> {
        let mut fitting = (0..self.types.len()).filter(|position| self.types[*position].fit(item, self.sees_constants));
        let first = fitting.next()?;
        if fitting.next().is_none() {
            return Some(first);
        }
        let certain = |marks: &TypeMarks| {
            marks.fit(item, self.sees_constants) && marks.constants.iter().all(|(name, _)| item.contains_key(name))
        };
        self.types.iter().position(certain)
    }
}

impl TypeMarks {
    /// Whether the keys, and the constants that are known, are those of the type. A more specific type is known only if
    /// all constants are.
    #[inline]
    fn fit(&self, item: &Item, sees_constants: bool) -> bool {
        has_key(&self.key, item)
            && have_constants(&self.constants, item)
            && !(sees_constants && is_of_narrower(&self.narrower, item))
    }
}

/// Says once for each field of each type that an item is left out, because its key is spelt otherwise than Keyfold
/// writes it.
fn tell_left_out(types: &TypeDiscriminator, item: &Item) {
    let is_spelt = |marks: &&TypeMarks| marks.key.has_spellings && have_constants(&marks.constants, item);
    for marks in types.types.iter().filter(is_spelt) {
        let Some(misspelling) = misspelt(&marks.key, item) else { continue };
        let form = misspelling.fitting().unwrap_or_default();
        let Misspelling { field, found, own } = misspelling;
        let place = format!("{}.{field}", marks.item);
        if is_first(&REPORTED, MAX_REPORTED, &place) {
            let written = own.unwrap_or_default();
            let key = shown(marks.key.names(), item);
            tracing::warn!(
                field = place,
                key,
                found,
                written,
                form,
                "an item is left out, and so are others like it: Keyfold writes its key otherwise, so nothing could find it by its fields"
            );
        }
    }
}

/// Whether something is reported now, which it is once, as long as there is not too much.
fn is_first(reported: &Mutex<BTreeSet<String>>, most: usize, what: &str) -> bool {
    let mut reported = reported.lock().unwrap_or_else(PoisonError::into_inner);
    reported.len() < most && reported.insert(what.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_field_is_reported_once_and_not_too_many_are() {
        let reported = Mutex::default();
        for number in 0..20 {
            let place = format!("Post.f{number}");
            assert_eq!(is_first(&reported, 10, &place), number < 10, "{place}");
            assert!(!is_first(&reported, 10, &place), "{place} again");
        }
    }
}
