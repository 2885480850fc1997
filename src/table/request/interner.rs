//! The Gets of one request in, a small number for each distinct one out. The loader clones and hashes its keys many
//! times, which is cheap for a number. Must not know calls.

use crate::table::data::call::Get;
use foldhash::quality::RandomState;
use std::collections::HashMap;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// A Get of this request: twice its position among the distinct ones, plus one for a strong read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct GetId(usize);

impl GetId {
    /// Whether to read strongly.
    pub(super) fn consistent(self) -> bool {
        self.0 & 1 == 1
    }

    /// The id as a position in a list.
    pub(super) fn place(self) -> usize {
        self.0
    }

    /// The same Get, read with eventual consistency.
    pub(super) fn eventual(self) -> Self {
        Self(self.0 & !1)
    }
}

/// A Get, whether read strongly or not.
#[derive(Eq)]
struct Distinct(Arc<Get>);

impl PartialEq for Distinct {
    fn eq(&self, other: &Self) -> bool {
        let (Get { table, key, projection, consistent: _, max_age }, other) = (&*self.0, &*other.0);
        *key == other.key && *table == other.table && *projection == other.projection && *max_age == other.max_age
    }
}

impl Hash for Distinct {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.hash(state);
    }
}

/// The distinct Gets of a request, whether read strongly or not. The limits of a request bound it.
#[derive(Default)]
pub(super) struct Interner {
    /// The seed is random, so nobody can choose keys with equal hashes.
    places: HashMap<Distinct, usize, RandomState>,
    gets: Vec<Arc<Get>>,
}

impl Interner {
    /// Makes room for more Gets.
    pub(super) fn reserve(&mut self, gets: usize) {
        self.places.reserve(gets);
        self.gets.reserve(gets);
    }

    /// The id of a Get, known or new.
    pub(super) fn id(&mut self, get: Arc<Get>) -> GetId {
        let (consistent, next) = (get.consistent, self.gets.len());
        let place = *self.places.entry(Distinct(get.clone())).or_insert(next);
        if place == next {
            self.gets.push(get);
        }
        GetId(place * 2 + usize::from(consistent))
    }

    /// The Get of an id, whether read strongly or not. The id of another request gives any Get or none.
    pub(super) fn get(&self, id: GetId) -> Option<Arc<Get>> {
        self.gets.get(id.0 / 2).cloned()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::table::data::attribute::{AttributeName, Key, KeyValue};

    fn get(id: &str, projection: &[&str], consistent: bool) -> Arc<Get> {
        let projection = projection.iter().map(|name| AttributeName::from(*name)).collect();
        let key = Key { partition: ("id".into(), KeyValue::S(id.into())), sort: None };
        Arc::new(Get { table: "things".into(), key, projection, consistent, max_age: None })
    }

    #[test]
    fn equal_gets_have_one_id_and_others_have_another() {
        let mut interner = Interner::default();
        let first = interner.id(get("a", &["id"], false));
        assert_eq!(interner.id(get("a", &["id"], false)), first);
        assert_ne!(interner.id(get("b", &["id"], false)), first);
        assert_ne!(interner.id(get("a", &["id", "name"], false)), first, "it reads less than this one wants");
        let kept = Arc::new(Get { max_age: Some(1), ..(*get("a", &["id"], false)).clone() });
        assert_ne!(interner.id(kept), first, "the cache may not answer the first");
        assert_ne!(interner.id(Arc::new(Get { table: "others".into(), ..(*get("a", &["id"], false)).clone() })), first);
    }

    #[test]
    fn a_strong_get_knows_its_eventual_one() {
        let mut interner = Interner::default();
        let strong = interner.id(get("a", &["id"], true));
        let eventual = interner.id(get("a", &["id"], false));
        assert_ne!(strong, eventual);
        assert!(strong.consistent() && !eventual.consistent());
        assert_eq!((strong.eventual(), eventual.eventual()), (eventual, eventual));
        assert_eq!(interner.get(strong).unwrap().key, get("a", &[], false).key);
    }
}
