//! Attributes in the order in which the items of a list have them in; items that share their names out. Must not know where they come from.

use super::attribute::{Attribute, AttributeName, Item, is_same};
use crate::table::json::string::is_plain;

/// Most names that are kept to be shared, one for each bit of a set. Maps with free keys have any number of names.
const MOST: usize = u64::BITS as usize;

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
pub(in crate::table) struct SharedName {
    name: AttributeName,
    place: Option<usize>,
}

impl SharedNames {
    /// The name with this text, shared if it is known.
    pub(in crate::table) fn name(&mut self, text: &str) -> SharedName {
        if let Some(known) = self.find(|_, name| is_same(name, text)) {
            return known;
        }
        let name: AttributeName = text.into();
        let place = self.known.len();
        if place == MOST {
            return SharedName { name, place: None };
        }
        self.plain |= u64::from(is_plain(text)) << place;
        self.known.push(name.clone());
        self.next = place + 1;
        SharedName { name, place: Some(place) }
    }

    /// The known name with which JSON goes on within a string, up to the string's end. So a known name is read without looking for its end.
    /// Gives the name and its length.
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

/// An item to which one attribute after another is added.
pub(in crate::table) struct GrowingItem {
    members: Vec<(AttributeName, Attribute)>,
    /// The places of the names so far.
    places: u64,
    /// Whether two members may have one name.
    may_repeat: bool,
}

impl GrowingItem {
    /// An item that probably has as many attributes as those before it.
    pub(in crate::table) fn like_others(names: &SharedNames) -> Self {
        Self { members: Vec::with_capacity(names.known.len().max(4)), places: 0, may_repeat: false }
    }

    /// Adds an attribute. Of several with one name, the last stays.
    pub(in crate::table) fn add(&mut self, SharedName { name, place }: SharedName, value: Attribute) {
        let place = place.map_or(0, |place| 1 << place);
        self.may_repeat |= place == 0 || self.places & place != 0;
        self.places |= place;
        self.members.push((name, value));
    }

    /// The item.
    pub(in crate::table) fn finish(self) -> Item {
        match self.may_repeat {
            true => Item::of_members(self.members),
            false => Item::of_distinct(self.members),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn grown(names: &mut SharedNames, members: &[(String, bool)]) -> Item {
        let mut item = GrowingItem::like_others(names);
        for (name, value) in members {
            let name = names.name(name);
            item.add(name, Attribute::Bool(*value));
        }
        item.finish()
    }

    proptest! {
        #[test]
        fn an_item_is_the_same_in_any_order(items in prop::collection::vec(prop::collection::vec(("[a-h]{1,2}|[a-z]{2}", any::<bool>()), 0..70), 1..5)) {
            let mut names = SharedNames::default();
            for members in items {
                let collected: Item = members.iter().map(|(name, value)| (name.as_str(), Attribute::Bool(*value))).collect();
                prop_assert_eq!(grown(&mut names, &members), collected.clone());
                prop_assert_eq!(grown(&mut names, &members), collected, "its names are known now");
            }
        }
    }
}
