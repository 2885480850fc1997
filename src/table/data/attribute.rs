//! Attribute values, items and keys as plain data.

use std::fmt;
use std::ops::Index;
use std::sync::Arc;

/// An attribute value (DynamoDB API reference, `AttributeValue`). Numbers stay text: 38 digits, never through a float.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Attribute {
    /// String.
    S(String),
    /// Number, in decimal text.
    N(String),
    /// Binary.
    B(Vec<u8>),
    /// Boolean.
    Bool(bool),
    /// Null.
    Null,
    /// String set.
    Ss(Vec<String>),
    /// Number set.
    Ns(Vec<String>),
    /// Binary set.
    Bs(Vec<Vec<u8>>),
    /// List.
    L(Vec<Attribute>),
    /// Map.
    M(Item),
}

/// The name of an attribute.
pub type AttributeName = Arc<str>;

/// Up to how many attributes are looked through one by one. Comparing names of the same length only is then faster than bisecting.
const FEW: usize = 16;

/// An item, or a map within one: attribute name → value.
///
/// An item has few attributes, and a page has many items with the same ones. So an item is a sorted list, which is smaller and faster to
/// make and to read than a hash map, and the items of a page share their names.
#[derive(Clone, Default, PartialEq, Eq, Hash)]
pub struct Item {
    /// Sorted by name, each name once.
    members: Vec<(AttributeName, Attribute)>,
}

impl Item {
    /// An item without attributes.
    pub fn new() -> Self {
        Self::default()
    }

    /// An item without attributes that has room for some.
    pub fn with_capacity(attributes: usize) -> Self {
        Self { members: Vec::with_capacity(attributes) }
    }

    /// The item with these attributes. Of several with one name, the last stays.
    pub fn of_members(mut members: Vec<(AttributeName, Attribute)>) -> Self {
        // Answers are often sorted already.
        if !members.is_sorted_by(|(before, _), (after, _)| before < after) {
            members.sort_by(|(a, _), (b, _)| a.cmp(b));
            members.reverse();
            members.dedup_by(|(later, _), (kept, _)| later == kept);
            members.reverse();
        }
        Self { members }
    }

    /// The value of an attribute.
    pub fn get(&self, name: &str) -> Option<&Attribute> {
        self.place(name).map(|place| &self.members[place].1)
    }

    /// Whether the item has an attribute.
    pub fn contains_key(&self, name: &str) -> bool {
        self.place(name).is_some()
    }

    /// Sets an attribute, and gives its value until now.
    pub fn insert(&mut self, name: impl Into<AttributeName>, value: Attribute) -> Option<Attribute> {
        let name = name.into();
        match self.members.binary_search_by(|(known, _)| known.cmp(&name)) {
            Ok(place) => Some(std::mem::replace(&mut self.members[place].1, value)),
            Err(place) => {
                self.members.insert(place, (name, value));
                None
            }
        }
    }

    /// Removes an attribute, and gives its value.
    pub fn remove(&mut self, name: &str) -> Option<Attribute> {
        self.place(name).map(|place| self.members.remove(place).1)
    }

    /// The number of attributes.
    pub fn len(&self) -> usize {
        self.members.len()
    }

    /// Whether the item has no attributes.
    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// The attributes in the order of their names.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&AttributeName, &Attribute)> {
        self.members.iter().map(|(name, value)| (name, value))
    }

    /// The names in their order.
    pub fn keys(&self) -> impl ExactSizeIterator<Item = &AttributeName> {
        self.members.iter().map(|(name, _)| name)
    }

    /// The place of an attribute.
    fn place(&self, name: &str) -> Option<usize> {
        if self.members.len() <= FEW {
            return self.members.iter().position(|(known, _)| **known == *name);
        }
        self.members.binary_search_by(|(known, _)| (**known).cmp(name)).ok()
    }
}

impl fmt::Debug for Item {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_map().entries(self.iter()).finish()
    }
}

impl<N: AsRef<str> + ?Sized> Index<&N> for Item {
    type Output = Attribute;

    fn index(&self, name: &N) -> &Attribute {
        // The value of an attribute that is not there is null.
        self.get(name.as_ref()).unwrap_or(&Attribute::Null)
    }
}

impl<N: Into<AttributeName>> FromIterator<(N, Attribute)> for Item {
    fn from_iter<I: IntoIterator<Item = (N, Attribute)>>(attributes: I) -> Self {
        Self::of_members(attributes.into_iter().map(|(name, value)| (name.into(), value)).collect())
    }
}

impl<N: Into<AttributeName>> Extend<(N, Attribute)> for Item {
    fn extend<I: IntoIterator<Item = (N, Attribute)>>(&mut self, attributes: I) {
        let mut members = std::mem::take(&mut self.members);
        members.extend(attributes.into_iter().map(|(name, value)| (name.into(), value)));
        *self = Self::of_members(members);
    }
}

impl<N: Into<AttributeName>, const L: usize> From<[(N, Attribute); L]> for Item {
    fn from(attributes: [(N, Attribute); L]) -> Self {
        attributes.into_iter().collect()
    }
}

impl IntoIterator for Item {
    type Item = (AttributeName, Attribute);
    type IntoIter = std::vec::IntoIter<(AttributeName, Attribute)>;

    fn into_iter(self) -> Self::IntoIter {
        self.members.into_iter()
    }
}

/// The names that the items of a list have had so far. The items of a list mostly have the same attributes.
#[derive(Debug, Default)]
pub(in crate::table) struct SharedNames {
    known: Vec<AttributeName>,
    /// The place of the name that comes next, if this item is like the one before.
    next: usize,
}

impl SharedNames {
    /// Most names that are kept to be shared. Maps with free keys have any number of names.
    pub(in crate::table) const MOST: usize = 64;

    /// The name with this text, shared if it is known.
    pub(in crate::table) fn name(&mut self, text: &str) -> AttributeName {
        let is_text = |name: &AttributeName| **name == *text;
        let expected = Some(self.next).filter(|next| self.known.get(*next).is_some_and(is_text));
        if let Some(place) = expected.or_else(|| self.known.iter().position(is_text)) {
            self.next = place + 1;
            return self.known[place].clone();
        }
        let name: AttributeName = text.into();
        if self.known.len() < Self::MOST {
            self.known.push(name.clone());
            self.next = self.known.len();
        }
        name
    }

    /// How many attributes the next item probably has.
    pub(in crate::table) fn usual_attributes(&self) -> usize {
        self.known.len().max(4)
    }
}

/// The value of a key attribute. Ordered as DynamoDB orders sort keys only within strings (UTF-8 bytes) and binaries.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum KeyValue {
    /// String.
    S(String),
    /// Number, in decimal text.
    N(String),
    /// Binary.
    B(Vec<u8>),
}

/// A primary key: attribute name and value of the partition key, and of the sort key if the table has one.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Key {
    /// The partition key attribute.
    pub partition: (String, KeyValue),
    /// The sort key attribute.
    pub sort: Option<(String, KeyValue)>,
}

impl KeyValue {
    /// An attribute as the value of a key attribute; `None` if its type cannot be a key.
    pub fn of(attribute: &Attribute) -> Option<Self> {
        match attribute {
            Attribute::S(text) => Some(Self::S(text.clone())),
            Attribute::N(number) => Some(Self::N(number.clone())),
            Attribute::B(bytes) => Some(Self::B(bytes.clone())),
            _ => None,
        }
    }
}

impl From<KeyValue> for Attribute {
    fn from(key: KeyValue) -> Self {
        match key {
            KeyValue::S(text) => Self::S(text),
            KeyValue::N(number) => Self::N(number),
            KeyValue::B(bytes) => Self::B(bytes),
        }
    }
}

impl Key {
    /// The key of an item with these key attributes; `None` if one of them is missing or cannot be a key.
    pub fn of(item: &Item, partition: &str, sort: Option<&str>) -> Option<Self> {
        let read = |name: &str| Some((name.to_owned(), KeyValue::of(item.get(name)?)?));
        let sort = match sort {
            Some(name) => Some(read(name)?),
            None => None,
        };
        Some(Self { partition: read(partition)?, sort })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn n(number: usize) -> Attribute {
        Attribute::N(number.to_string())
    }

    #[test]
    fn an_item_holds_each_name_once() {
        for many in [3, FEW, 3 * FEW] {
            let name = |number: usize| format!("a{}", number * 7 % many);
            let mut inserted = Item::new();
            for number in 0..2 * many {
                assert_eq!(inserted.insert(name(number), n(number)).is_some(), number >= many);
            }
            let collected: Item = (0..2 * many).map(|number| (name(number), n(number))).collect();
            assert_eq!((&collected, collected.len()), (&inserted, many));
            for number in many..2 * many {
                assert_eq!(inserted.get(&name(number)), Some(&n(number)), "the last of a name stays");
                assert_eq!(inserted.remove(&name(number)), Some(n(number)));
                assert!(!inserted.contains_key(&name(number)));
            }
            assert!(inserted.is_empty() && collected.keys().is_sorted());
        }
    }

    #[test]
    fn order_makes_no_difference() {
        let item = |names: [&str; 3]| Item::from(names.map(|name| (name, n(name.len()))));
        assert_eq!(item(["a", "bb", "c"]), item(["c", "a", "bb"]));
        assert_eq!(item(["a", "bb", "c"])["bb"], n(2));
    }
}
