//! Attributes in the order in which the items of a list have them in; items that share their names and one list out.
//! Must not know where they come from.

use super::attribute::{Attribute, AttributeName, Item, NamedAttribute, is_same};
use crate::table::data::text::is_plain;
use std::sync::Arc;

/// Most names that are kept to be shared, one for each bit of a set. Maps with free keys have any number of names.
const MAX_NAMES: usize = u64::BITS as usize;

/// The names that the items of a list have had so far. The items of a list mostly have the same attributes.
#[derive(Debug, Default)]
pub(in crate::table) struct SharedNames {
    known: Vec<AttributeName>,
    /// The places of those that JSON holds without escapes.
    plain: u64,
    /// The place of the name that comes next, if this item is like the one before.
    next: usize,
}

/// A name, and its place among the shared ones if it is shared.
#[derive(Clone)]
pub(in crate::table) struct SharedName {
    name: AttributeName,
    place: Option<usize>,
}

impl SharedNames {
    /// Shares these names from now on. No two of them are equal.
    pub(in crate::table) fn learn(&mut self, names: &[AttributeName]) {
        let before = self.known.len();
        self.known.reserve(names.len().min(MAX_NAMES - before));
        for name in names.iter().take(MAX_NAMES - before) {
            // A name has one place, so that an item which has it twice is noticed.
            if !self.known[..before].contains(name) {
                self.plain |= u64::from(is_plain(name)) << self.known.len();
                self.known.push(name.clone());
            }
        }
    }

    /// The name with this text, shared if it is known.
    pub(in crate::table) fn name(&mut self, text: &str) -> SharedName {
        if let Some(known) = self.find(|_, name| is_same(name, text)) {
            return known;
        }
        let name: AttributeName = text.into();
        let place = self.known.len();
        if place == MAX_NAMES {
            return SharedName { name, place: None };
        }
        self.plain |= u64::from(is_plain(text)) << place;
        self.known.push(name.clone());
        self.next = place + 1;
        SharedName { name, place: Some(place) }
    }

    /// The known name with which JSON goes on within a string, up to the string's end. So a known name is read without
    /// looking for its end. Gives the name and its length.
    #[inline]
    pub(in crate::table) fn in_json(&mut self, rest: &[u8]) -> Option<(SharedName, usize)> {
        let plain = self.plain;
        let known = self.find(|place, name| {
            let ends = rest.get(name.len()) == Some(&b'"') && rest.first() == name.as_bytes().first();
            ends && rest.starts_with(name.as_bytes()) && plain & (1 << place) != 0
        })?;
        let length = known.name.len();
        Some((known, length))
    }

    #[inline]
    fn find(&mut self, is_it: impl Fn(usize, &str) -> bool) -> Option<SharedName> {
        let expected = Some(self.next).filter(|next| self.known.get(*next).is_some_and(|name| is_it(*next, name)));
        let place = expected.or_else(|| (0..self.known.len()).find(|place| is_it(*place, &self.known[*place])))?;
        self.next = place + 1;
        Some(SharedName { name: self.known[place].clone(), place: Some(place) })
    }
}

/// Items to which one attribute after another is added. Their attributes are in one list, which takes less memory and
/// less time than a list for each.
#[derive(Default)]
pub(in crate::table) struct GrowingItems {
    members: Vec<NamedAttribute>,
    /// Where each of the items ends that have all of their attributes.
    ends: Vec<usize>,
    /// The places of the names of the last item so far.
    places: u64,
    /// Whether two of its members may have one name.
    may_repeat: bool,
}

impl GrowingItems {
    /// For one item, which probably has as many attributes as those before it.
    pub(in crate::table) fn for_one(names: &SharedNames) -> Self {
        Self { members: Vec::with_capacity(names.known.len().max(4)), ..Self::default() }
    }

    /// Adds an attribute to the last item. Of several with one name, the last stays.
    #[inline]
    pub(in crate::table) fn add(&mut self, SharedName { name, place }: SharedName, value: Attribute) {
        let place = place.map_or(0, |place| 1 << place);
        self.may_repeat |= place == 0 || self.places & place != 0;
        self.places |= place;
        self.members.push((name, value));
    }

    /// Makes room for the items of a text, given the length of the part that the first item was read from.
    pub(in crate::table) fn reserve_for_rest(&mut self, first: usize, rest: usize) {
        let items = rest / first.max(1);
        self.members.reserve(self.members.len() * items);
        self.ends.reserve(items);
    }

    /// Ends the last item. The next attribute is the first of the next item.
    pub(in crate::table) fn end_item(&mut self) {
        let start = self.ends.last().copied().unwrap_or_default();
        if self.may_repeat {
            let members = self.members.split_off(start);
            self.members.append(&mut Item::from_members(members).take_members());
        } else {
            Item::in_order(&mut self.members[start..]);
        }
        self.ends.push(self.members.len());
        (self.places, self.may_repeat) = (0, false);
    }

    /// The items, as parts of their list.
    pub(in crate::table) fn into_items(mut self) -> Vec<Arc<Item>> {
        self.members.shrink_to_fit();
        let (members, mut start) = (Arc::new(self.members), 0);
        let item = |end| Arc::new(Item::part_of(&members, std::mem::replace(&mut start, end)..end));
        self.ends.into_iter().map(item).collect()
    }

    /// The only item.
    pub(in crate::table) fn into_item(mut self) -> Item {
        self.end_item();
        // A map within an item may have fewer attributes than those before it.
        self.members.shrink_to_fit();
        Item::from_ordered(self.members)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn grown(names: &mut SharedNames, members: &[(String, bool)]) -> Item {
        let mut items = GrowingItems::for_one(names);
        for (name, value) in members {
            let name = names.name(name);
            items.add(name, Attribute::Bool(*value));
        }
        items.into_item()
    }

    proptest! {
        #[test]
        fn an_item_is_the_same_in_any_order(
            items in prop::collection::vec(prop::collection::vec(("[a-h]{1,2}|[a-z]{2}", any::<bool>()), 0..70), 1..5)
        ) {
            let (mut names, mut page) = (SharedNames::default(), GrowingItems::default());
            // Names that were asked for come, or do not, and some are known before.
            let asked: Vec<AttributeName> = ('a'..='h').map(|name| name.to_string().into()).collect();
            asked.iter().take(3).for_each(|name| drop(names.name(name)));
            names.learn(&asked);
            for members in &items {
                for (name, value) in members {
                    page.add(names.name(name), Attribute::Bool(*value));
                }
                page.end_item();
            }
            for (members, mut part) in items.into_iter().zip(page.into_items()) {
                let collected: Item =
                    members.iter().map(|(name, value)| (name.as_str(), Attribute::Bool(*value))).collect();
                prop_assert_eq!(grown(&mut names, &members), collected.clone());
                prop_assert_eq!(&grown(&mut names, &members), &collected, "its names are known now");
                prop_assert_eq!(&*part, &collected);
                let (own, changed) = (Arc::make_mut(&mut part), Attribute::Null);
                for name in collected.keys() {
                    prop_assert_eq!(own.insert(name.clone(), changed.clone()), collected.get(name).cloned());
                    prop_assert_eq!(own.remove(name), Some(changed.clone()));
                }
                prop_assert!(own.is_empty());
            }
        }
    }
}
