//! The partition key that a read names in; the attributes to ask for without it, and the attribute to add to the items,
//! out.
//!
//! Every item of the answer has the same partition key, and whoever asks knows it. In a single-table design it is often
//! among the longest attributes of an item, so answers are much shorter without it.

use crate::table::data::attribute::{Attribute, AttributeName, Item, KeyValue};
use crate::table::data::text::Text;
use crate::table::data::text::is_plain;
use std::sync::Arc;

/// The partition key of all items of an answer. It is not asked for, but added to each of them.
#[derive(Debug, Clone, Copy)]
pub(in crate::table) struct KnownPartition<'a> {
    name: &'a AttributeName,
    value: &'a str,
}

impl<'a> KnownPartition<'a> {
    /// The partition key of a read with this projection. `None` if the answer must have it: without another attribute,
    /// there would be no projection at all, and a number comes back in another form than it was sent in (DynamoDB
    /// developer guide, "Data types", number).
    pub(in crate::table) fn new(projection: &'a [AttributeName], (name, value): (&str, &'a KeyValue)) -> Option<Self> {
        let KeyValue::S(value) = value else { return None };
        let name = projection.iter().find(|attribute| ***attribute == *name)?;
        (projection.len() > 1).then_some(Self { name, value })
    }

    /// Its name and its value, to be added to items. They share its text.
    pub(in crate::table) fn attribute(self) -> (&'a AttributeName, Attribute) {
        let text = match is_plain(self.value) {
            true => Text::from_answer(&Arc::new(self.value.to_owned()), 0..self.value.len()),
            // A part of an answer is written into JSON as it is.
            false => self.value.into(),
        };
        (self.name, Attribute::S(text))
    }

    /// Adds it to items that came without it.
    pub(in crate::table) fn add_to<'i>(known: Option<Self>, items: impl IntoIterator<Item = &'i mut Arc<Item>>) {
        let Some((name, value)) = known.map(Self::attribute) else { return };
        for item in items.into_iter().filter(|item| item.get(name).is_none()) {
            Arc::make_mut(item).insert(name.clone(), value.clone());
        }
    }
}

/// The attributes to ask for: those of a projection, without the partition key that is known.
pub(in crate::table) fn asked_attributes<'p>(
    projection: &'p [AttributeName],
    known: Option<KnownPartition<'_>>,
) -> impl Iterator<Item = &'p str> + use<'p> {
    let known = known.and_then(|known| projection.iter().position(|attribute| attribute == known.name));
    let (before, after) = match known {
        Some(known) => (&projection[..known], &projection[known + 1..]),
        None => (projection, &[][..]),
    };
    before.iter().chain(after).map(|name| &**name)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn list(names: &[&str]) -> Vec<AttributeName> {
        names.iter().map(|name| (*name).into()).collect()
    }

    fn asked(projection: &[&str], value: KeyValue) -> Vec<String> {
        let projection = list(projection);
        let known = KnownPartition::new(&projection, ("PK", &value));
        asked_attributes(&projection, known).map(str::to_owned).collect()
    }

    #[test]
    fn a_text_is_not_asked_for_beside_other_attributes() {
        let text = || KeyValue::S("p".into());
        assert_eq!(asked(&["PK", "SK", "name"], text()), ["SK", "name"]);
        assert_eq!(asked(&["GSI", "PK", "SK"], text()), ["GSI", "SK"]);
        assert_eq!(asked(&["PK"], text()), ["PK"], "none would be all");
        assert_eq!(asked(&["SK", "name"], text()), ["SK", "name"], "nobody wants it");
        assert_eq!(asked(&[], text()), [""; 0]);
        assert_eq!(asked(&["PK", "SK"], KeyValue::N("1.0".into())), ["PK", "SK"]);
        assert_eq!(asked(&["PK", "SK"], KeyValue::B(vec![1])), ["PK", "SK"]);
    }

    #[test]
    fn items_get_it_back_and_share_its_text() {
        for value in ["USER#1", "a \"quoted\" key"] {
            let (projection, key) = (list(&["PK", "SK"]), KeyValue::S(value.into()));
            let known = KnownPartition::new(&projection, ("PK", &key));
            let one = |sort: &str| Arc::new(Item::from([("SK", Attribute::S(sort.into()))]));
            let mut items = [one("a"), one("b")];
            KnownPartition::add_to(known, &mut items);
            let whole =
                |sort: &str| Item::from([("PK", Attribute::S(value.into())), ("SK", Attribute::S(sort.into()))]);
            assert_eq!([&*items[0], &*items[1]], [&whole("a"), &whole("b")]);
            let names: Vec<_> = items.iter().map(|item| item.keys().find(|name| ***name == *"PK").unwrap()).collect();
            assert!(Arc::ptr_eq(names[0], names[1]));
        }
    }
}
