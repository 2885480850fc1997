//! Items in, the guards that their unique values need and lack, and values that several items have, out. Another
//! program that writes items writes no guards, and then nothing keeps a second item from the same value.

use super::byte_budget::ByteBudget;
use crate::execute::item::{assemble, identity, replicas, unique};
use crate::execute::key::shown::shown;
use crate::execute::values::expiry::PassedTimes;
use crate::schema::model::{Model, ObjectType};
use crate::schema::table::Table;
use crate::table::data::attribute::{Attribute, Item, Key};
use indexmap::IndexSet;
use std::collections::{BTreeMap, HashMap};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

/// The bytes of a value or a guard in a hash map, without its owner.
const ENTRY_BYTES: usize = 64;
/// Values of several items that are listed.
const CONFLICTS_SHOWN: usize = 20;

/// The guard that a unique value of an item needs.
#[derive(Debug)]
pub struct NeededGuard<'m> {
    /// The item's type.
    pub ty: &'m ObjectType,
    /// The name of the unique field.
    pub field: &'m str,
    /// The guard.
    pub guard: Item,
    /// The item's key.
    pub owner: Key,
}

/// The guards that the unique values of an item need. Of replicas, only the first has them.
pub fn needed<'m>(model: &'m Model, ty: &'m ObjectType, item: &Item) -> Vec<NeededGuard<'m>> {
    let mut unique = ty.fields.values().filter(|field| field.rules.unique).peekable();
    if unique.peek().is_none() {
        return Vec::new();
    }
    // One that has expired is not there: its value is free, and its guard ends with it.
    if identity::has_expired(ty, item, passed_now()) {
        return Vec::new();
    }
    let Some(owner) = assemble::key_of(model, ty, item) else { return Vec::new() };
    let first = replicas::first(model, &ty.name, Arc::new(item.clone()));
    if assemble::key_of(model, ty, &first).as_ref() != Some(&owner) {
        return Vec::new();
    }
    let values = assemble::values_of(model, ty, item).known;
    let guard = |field: &'m str| {
        let mut guard = unique::guard(model, ty, field, values.get(field)?, &owner).ok()??;
        unique::end_with_item(&mut guard, ty, identity::expires(ty).and_then(|time| item.get(time)));
        Some(NeededGuard { ty, field, guard, owner: owner.clone() })
    };
    unique.filter_map(|field| guard(&field.name)).collect()
}

/// The times to live that have passed.
fn passed_now() -> PassedTimes {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    PassedTimes::at(i64::try_from(now).unwrap_or(i64::MAX))
}

/// The unique values and the guards of a table so far.
#[derive(Debug)]
pub struct Guards<'m> {
    model: &'m Model,
    table: &'m Table,
    /// The guards that items need, by the hashes of their keys.
    needed: HashMap<u64, Owned>,
    /// The guards that there are, by the hashes of their keys.
    there: HashMap<u64, Owned>,
    /// The needed guards of values that an item before has, with the hashes of their keys.
    repeated: HashMap<u64, Vec<Owned>>,
    /// The coordinates of the fields, such as `User.email`.
    fields: IndexSet<String>,
    /// A line for each of the first values that several items have.
    conflicts: Vec<String>,
    budget: ByteBudget,
}

/// A guard, as it is kept.
#[derive(Debug)]
struct Owned {
    /// The place of its field; none of a guard that is there.
    field: Option<usize>,
    /// The hash of the guard without its time.
    guard: u64,
    /// The hash of the time at which it expires.
    time: u64,
    /// Whether another item has the value, too.
    is_shared: bool,
    /// The key of its owner, for a person to read.
    owner: Box<str>,
}

/// What is known of a field's values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UniqueField<'g> {
    /// The field's coordinate.
    pub field: &'g str,
    /// Its values.
    pub values: u64,
    /// Those that no guard reserves for their item.
    pub missing: u64,
    /// Those of the missing that another item has, or has the guard for.
    pub conflicts: u64,
}

impl<'m> Guards<'m> {
    /// Those of a table, before any item is seen.
    pub fn new(model: &'m Model, table: &'m Table) -> Self {
        Self {
            model,
            table,
            needed: HashMap::new(),
            there: HashMap::new(),
            repeated: HashMap::new(),
            fields: IndexSet::new(),
            conflicts: Vec::new(),
            budget: ByteBudget::default(),
        }
    }

    /// Looks at the guards that an item needs.
    pub fn see_item(&mut self, needed: &[NeededGuard<'_>], item: &Item) {
        for needed in needed {
            let (place, _) = self.fields.insert_full(format!("{}.{}", needed.ty.name, needed.field));
            let owner = shown(self.table.primary_key().map(|key| key.name.as_str()), item);
            let (key, (guard, time)) = (self.key(&needed.guard), self.hashes(&needed.guard));
            if !self.has_room(owner.len()) {
                return;
            }
            let owned = Owned { field: Some(place), guard, time, is_shared: false, owner: owner.into() };
            match self.needed.get_mut(&key) {
                None => _ = self.needed.insert(key, owned),
                Some(first) if first.guard == guard => {}
                Some(first) => {
                    first.is_shared = true;
                    if self.conflicts.len() < CONFLICTS_SHOWN {
                        let (field, first, second) = (&self.fields[place], &first.owner, &owned.owner);
                        self.conflicts.push(format!("{field} of {first} and of {second} are equal"));
                    }
                    self.repeated.entry(key).or_default().push(Owned { is_shared: true, ..owned });
                }
            }
        }
    }

    /// Looks at an item that may be a guard.
    pub fn see_guard(&mut self, item: &Item) {
        let time = self.table.time_to_live.as_ref().filter(|_| !self.table.shows_expired);
        if time.is_some_and(|time| passed_now().have(item.get(time))) {
            return;
        }
        let guard = unique::reservation(self.model, self.table, item);
        if guard.is_some() && self.has_room(0) {
            let (guard, time) = self.hashes(item);
            let owned = Owned { field: None, guard, time, is_shared: false, owner: "".into() };
            self.there.insert(self.key(item), owned);
        }
    }

    /// The fields that have values. Nothing, if there are too many to know.
    pub fn fields(&self) -> Vec<UniqueField<'_>> {
        if self.is_over() {
            return Vec::new();
        }
        let field = |field| UniqueField { field, values: 0, missing: 0, conflicts: 0 };
        let mut found: Vec<UniqueField<'_>> = self.fields.iter().map(|name| field(name.as_str())).collect();
        for (key, needed) in self.all_needed() {
            let Some(field) = needed.field.and_then(|place| found.get_mut(place)) else { continue };
            field.values += 1;
            let there = self.owned(*key);
            let has_guard = there.map(|there| there.guard == needed.guard);
            let is_right = there.is_some_and(|there| there.guard == needed.guard && there.time == needed.time);
            field.missing += u64::from(!is_right);
            field.conflicts += u64::from(has_guard == Some(false) || has_guard.is_none() && needed.is_shared);
        }
        found
    }

    /// How many guards can be written.
    pub fn to_write(&self) -> u64 {
        self.fields().iter().map(|field| field.missing - field.conflicts).sum()
    }

    /// How many guards reserve a value that no item has. None, if there are too many to know.
    pub fn orphans(&self) -> u64 {
        let is_orphan = |key: &&u64| self.owned(**key).is_none();
        if self.is_over() { 0 } else { self.there.keys().filter(is_orphan).count() as u64 }
    }

    /// Whether an item is a guard that reserves a value which no item has.
    pub fn is_orphan(&self, guard: &Item) -> bool {
        let key = self.key(guard);
        self.there.get(&key).is_some_and(|there| there.guard == self.hashes(guard).0) && self.owned(key).is_none()
    }

    /// Forgets a guard, which is gone.
    pub fn forget(&mut self, guard: &Item) {
        self.there.remove(&self.key(guard));
    }

    /// The guard under a key, if one of the items that need it is its owner.
    fn owned(&self, key: u64) -> Option<&Owned> {
        let there = self.there.get(&key)?;
        let mut needed = self.needed.get(&key).into_iter().chain(self.repeated.get(&key).into_iter().flatten());
        needed.any(|needed| needed.guard == there.guard).then_some(there)
    }

    /// Whether there are more values than are kept.
    pub fn is_over(&self) -> bool {
        self.budget.is_over()
    }

    /// Whether a guard is missing, or has another time than its item, and no other item has its value or the guard for
    /// it.
    pub fn is_missing(&self, guard: &Item) -> bool {
        let (key, (own, time)) = (self.key(guard), self.hashes(guard));
        let is_its_own = |needed: &Owned| !needed.is_shared && needed.guard == own;
        let is_free = self.owned(key).is_none_or(|there| there.guard == own && there.time != time);
        is_free && self.needed.get(&key).is_some_and(is_its_own)
    }

    /// A line for each value that several items have, up to 20.
    pub fn conflicts(&self) -> Vec<String> {
        self.conflicts.clone()
    }

    fn all_needed(&self) -> impl Iterator<Item = (&u64, &Owned)> {
        let repeated = self.repeated.iter().flat_map(|(key, all)| all.iter().map(move |needed| (key, needed)));
        self.needed.iter().chain(repeated)
    }

    fn has_room(&mut self, owner: usize) -> bool {
        self.budget.take(ENTRY_BYTES + owner)
    }

    /// The hashes of a guard without its time, and of its time.
    fn hashes(&self, guard: &Item) -> (u64, u64) {
        let time = self.table.time_to_live.as_deref();
        let others: BTreeMap<&Arc<str>, &Attribute> =
            guard.members().filter(|(name, _)| Some(&***name) != time).collect();
        (hash(&others), hash(&time.and_then(|time| guard.get(time))))
    }

    /// The hash of a guard's key.
    fn key(&self, guard: &Item) -> u64 {
        hash(&self.table.primary_key().map(|key| guard.get(&key.name)).collect::<Vec<_>>())
    }
}

fn hash(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::schema::load;

    const SCHEMA: &str = r#"
extend schema @table(name: "tab", partitionKey: "pk", timeToLive: "ttl")
type Session @item(keys: { pk: "S#{id}" }) { id: ID! code: String! @unique expiresAt: DateTime @attribute(name: "ttl") }
type Query { session(id: ID!): Session @find }
"#;

    #[test]
    fn the_value_of_an_expired_item_is_free() {
        let (model, _) = load("test.graphql", SCHEMA, &|_| None).ok().unwrap();
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
        let session = |id: &str, time: u64| {
            let texts = [("pk", format!("S#{id}")), ("code", "lost".to_owned())];
            let texts = texts.map(|(name, value)| (name.to_owned(), Attribute::S(value.as_str().into())));
            let time = ("ttl".to_owned(), Attribute::N(time.to_string().as_str().into()));
            texts.into_iter().chain([time]).collect::<Item>()
        };
        let mut guards = Guards::new(&model, &model.tables[0]);
        let (expired, living) = (session("a", now - 100), session("b", now + 1_000));
        for item in [&expired, &living] {
            guards.see_item(&needed(&model, &model.types["Session"], item), item);
        }
        let of_living = needed(&model, &model.types["Session"], &living).remove(0).guard;
        let expected = UniqueField { field: "Session.code", values: 1, missing: 1, conflicts: 0 };
        assert_eq!((guards.fields(), guards.conflicts()), (vec![expected], Vec::new()));
        // A guard that has expired reserves nothing.
        let mut old = of_living.clone();
        old.insert("ttl".to_owned(), Attribute::N((now - 100).to_string().as_str().into()));
        guards.see_guard(&old);
        assert_eq!((guards.orphans(), guards.is_missing(&of_living)), (0, true));
        guards.see_guard(&of_living);
        assert_eq!(guards.fields()[0].missing, 0);
    }
}
