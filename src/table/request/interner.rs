//! The Gets of one request in, a small number for each distinct one out. The loader clones and hashes its keys many times, which is cheap
//! for a number. Must not know calls.

use crate::table::data::call::Get;
use std::collections::HashMap;
use std::sync::Arc;

/// A Get of this request: twice its position among the distinct ones, plus one for a strong read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct GetId(usize);

impl GetId {
    /// Whether to read strongly.
    pub(super) fn consistent(self) -> bool {
        self.0 & 1 == 1
    }

    /// The same Get, read with eventual consistency.
    pub(super) fn eventual(self) -> Self {
        Self(self.0 & !1)
    }
}

/// The distinct Gets of a request, whether read strongly or not. The limits of a request bound it.
#[derive(Default)]
pub(super) struct Interner {
    places: HashMap<Arc<Get>, usize>,
    gets: Vec<Arc<Get>>,
}

impl Interner {
    /// The id of a Get, known or new.
    pub(super) fn id(&mut self, mut get: Get) -> GetId {
        let consistent = std::mem::take(&mut get.consistent);
        let place = self.places.get(&get).copied().unwrap_or_else(|| {
            let get = Arc::new(get);
            self.places.insert(get.clone(), self.gets.len());
            self.gets.push(get);
            self.gets.len() - 1
        });
        GetId(place * 2 + usize::from(consistent))
    }

    /// The Get of an id, with eventual consistency. The id of another request gives any Get or none.
    pub(super) fn get(&self, id: GetId) -> Option<Arc<Get>> {
        self.gets.get(id.0 / 2).cloned()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::table::data::attribute::{Key, KeyValue};

    fn get(id: &str, projection: &[&str], consistent: bool) -> Get {
        let projection = projection.iter().map(|name| (*name).to_owned()).collect();
        let key = Key { partition: ("id".into(), KeyValue::S(id.into())), sort: None };
        Get { table: "things".into(), key, projection, consistent }
    }

    #[test]
    fn equal_gets_have_one_id_and_others_have_another() {
        let mut interner = Interner::default();
        let first = interner.id(get("a", &["id"], false));
        assert_eq!(interner.id(get("a", &["id"], false)), first);
        assert_ne!(interner.id(get("b", &["id"], false)), first);
        assert_ne!(interner.id(get("a", &["id", "name"], false)), first, "it reads less than this one wants");
        assert_ne!(interner.id(Get { table: "others".into(), ..get("a", &["id"], false) }), first);
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
