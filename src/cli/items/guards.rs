//! Items in, how many of their unique values have no guard out. Another program that writes items writes no guards, and
//! then nothing keeps a second item from the same value.

use crate::execute::item::{assemble, unique};
use crate::schema::model::{Model, ObjectType};
use crate::table::data::attribute::{Attribute, Item};
use indexmap::IndexSet;
use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

/// The most values and guards that are kept, about 64 MiB.
const MAX_GUARDS: usize = 2 << 20;

/// The unique values and the guards of a table so far, as hashes of the guards.
#[derive(Debug, Default)]
pub struct Guards {
    /// Each guard that an item needs, and the coordinate of its field.
    needed: HashMap<u64, usize>,
    there: HashSet<u64>,
    /// The coordinates of the fields, such as `User.email`.
    fields: IndexSet<String>,
    is_over: bool,
}

impl Guards {
    /// Looks at an item of a type.
    pub fn see_item(&mut self, model: &Model, ty: &ObjectType, item: &Item) {
        let mut unique = ty.fields.values().filter(|field| field.rules.unique).peekable();
        if unique.peek().is_none() {
            return;
        }
        let Some(key) = assemble::key_of(model, ty, item) else { return };
        let values = assemble::values_of(model, ty, item).known;
        for field in unique {
            let Some(value) = values.get(&field.name) else { continue };
            let Ok(Some(guard)) = unique::guard(model, ty, &field.name, value, &key) else { continue };
            let (place, _) = self.fields.insert_full(format!("{}.{}", ty.name, field.name));
            self.keep(|guards| _ = guards.needed.insert(hash(&guard), place));
        }
    }

    /// Looks at an item that may be a guard.
    pub fn see_guard(&mut self, partition: &str, item: &Item) {
        if matches!(item.get(partition), Some(Attribute::S(text)) if text.starts_with(unique::MARK)) {
            self.keep(|guards| _ = guards.there.insert(hash(item)));
        }
    }

    /// The fields that have values without a guard of their item, with the number of these values. Nothing, if there
    /// are too many to know.
    pub fn missing(&self) -> Vec<(&str, u64)> {
        let mut counts = vec![0; self.fields.len()];
        for place in self
            .needed
            .iter()
            .filter(|(guard, _)| !self.is_over && !self.there.contains(guard))
            .map(|(_, place)| *place)
        {
            counts[place] += 1;
        }
        self.fields.iter().map(String::as_str).zip(counts).filter(|(_, count)| *count > 0).collect()
    }

    fn keep(&mut self, keep: impl FnOnce(&mut Self)) {
        self.is_over |= self.needed.len() + self.there.len() >= MAX_GUARDS;
        if !self.is_over {
            keep(self);
        }
    }
}

fn hash(guard: &Item) -> u64 {
    let mut hasher = DefaultHasher::new();
    guard.hash(&mut hasher);
    hasher.finish()
}
