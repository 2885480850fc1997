//! Attribute values, items and keys as plain data.

use super::text::Text;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::{Index, Range};
use std::sync::Arc;

/// An attribute value (DynamoDB API reference, `AttributeValue`). Numbers stay text: 38 digits, never through a float.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Attribute {
    /// String.
    S(Text),
    /// Number, in decimal text.
    N(Text),
    /// Binary.
    B(Vec<u8>),
    /// Boolean.
    Bool(bool),
    /// Null.
    Null,
    /// String set.
    Ss(Vec<Text>),
    /// Number set.
    Ns(Vec<Text>),
    /// Binary set.
    Bs(Vec<Vec<u8>>),
    /// List.
    L(Vec<Attribute>),
    /// Map.
    M(Item),
}

impl Attribute {
    /// Its data type descriptor (DynamoDB developer guide, "Data type descriptors").
    pub fn descriptor(&self) -> &'static str {
        match self {
            Self::S(_) => "S",
            Self::N(_) => "N",
            Self::B(_) => "B",
            Self::Bool(_) => "BOOL",
            Self::Null => "NULL",
            Self::Ss(_) => "SS",
            Self::Ns(_) => "NS",
            Self::Bs(_) => "BS",
            Self::L(_) => "L",
            Self::M(_) => "M",
        }
    }

    /// The same value, which keeps nothing of the answer that it came in.
    pub(in crate::table) fn detached(&self) -> Self {
        match self {
            Self::S(text) => Self::S(text.detached()),
            Self::N(text) => Self::N(text.detached()),
            Self::Ss(texts) => Self::Ss(texts.iter().map(Text::detached).collect()),
            Self::Ns(texts) => Self::Ns(texts.iter().map(Text::detached).collect()),
            Self::L(values) => Self::L(values.iter().map(Self::detached).collect()),
            Self::M(map) => Self::M(map.detached()),
            Self::B(_) | Self::Bool(_) | Self::Null | Self::Bs(_) => self.clone(),
        }
    }
}

/// The name of an attribute.
pub type AttributeName = Arc<str>;

/// The attributes that a read asks for, sorted; none are all. Items of its answer share these names.
pub type AttributeNames = Arc<[AttributeName]>;

/// Up to how many attributes are looked through one by one. Comparing names of the same length only is then faster than
/// bisecting.
const FEW: usize = 16;

/// An item, or a map within one: attribute name → value.
///
/// An item has few attributes, and a page has many items with the same ones. So an item is a list, which is smaller and
/// faster to make and to read than a hash map. The items of a page share their names, and are parts of one list.
/// Whoever keeps an item for longer than a request keeps a copy of its own, because a part keeps the whole page.
#[derive(Clone, Default)]
pub struct Item(Members);

/// A name and its value.
pub(super) type NamedAttribute = (AttributeName, Attribute);

/// The attributes of an item, each name once. More than [`FEW`] are sorted by name.
#[derive(Clone)]
enum Members {
    Own(Vec<NamedAttribute>),
    /// As large as the other: a pointer and two halves of a word.
    Part(Arc<Vec<NamedAttribute>>, u32, u32),
}

impl Default for Members {
    fn default() -> Self {
        Self::Own(Vec::new())
    }
}

impl Item {
    /// An item without attributes.
    pub fn new() -> Self {
        Self::default()
    }

    /// An item without attributes that has room for some.
    pub fn with_capacity(attributes: usize) -> Self {
        Self(Members::Own(Vec::with_capacity(attributes)))
    }

    /// The item with these attributes. Of several with one name, the last stays.
    pub fn from_members(mut members: Vec<NamedAttribute>) -> Self {
        // Answers are often sorted already.
        if !members.is_sorted_by(|(before, _), (after, _)| before < after) {
            members.sort_by(|(a, _), (b, _)| a.cmp(b));
            members.reverse();
            members.dedup_by(|(later, _), (kept, _)| later == kept);
            members.reverse();
        }
        Self(Members::Own(members))
    }

    /// The same item, which keeps nothing of the answer that it came in. Whoever keeps items for longer than a request
    /// keeps these.
    pub(in crate::table) fn detached(&self) -> Self {
        Self(Members::Own(self.as_slice().iter().map(|(name, value)| (name.clone(), value.detached())).collect()))
    }

    /// The part of a page's list that has the attributes of an item, as [`Self::in_order`] puts them. A part that no
    /// `u32` can name is copied.
    pub(super) fn part_of(page: &Arc<Vec<NamedAttribute>>, members: Range<usize>) -> Self {
        match (u32::try_from(members.start), u32::try_from(members.end)) {
            (Ok(start), Ok(end)) => Self(Members::Part(page.clone(), start, end)),
            _ => Self(Members::Own(page.get(members).unwrap_or_default().to_vec())),
        }
    }

    /// The item with these attributes, which are as [`Self::in_order`] puts them.
    pub(super) fn from_ordered(members: Vec<NamedAttribute>) -> Self {
        Self(Members::Own(members))
    }

    /// Puts attributes with different names into the order that an item has them in.
    pub(super) fn in_order(members: &mut [NamedAttribute]) {
        if members.len() > FEW {
            members.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
        }
    }

    #[inline]
    fn as_slice(&self) -> &[NamedAttribute] {
        match &self.0 {
            Members::Own(members) => members,
            Members::Part(page, start, end) => page.get(*start as usize..*end as usize).unwrap_or_default(),
        }
    }

    /// The attributes as a list of its own. It leaves an item without attributes.
    pub(super) fn take_members(&mut self) -> Vec<NamedAttribute> {
        match std::mem::take(&mut self.0) {
            Members::Own(members) => members,
            part @ Members::Part(..) => Self(part).as_slice().to_vec(),
        }
    }

    /// The value of an attribute.
    #[inline]
    pub fn get(&self, name: &str) -> Option<&Attribute> {
        let members = self.as_slice();
        let member = match members.len() {
            ..=FEW => members.iter().find(|(known, _)| is_same(known, name)),
            _ => members.binary_search_by(|(known, _)| (**known).cmp(name)).ok().map(|place| &members[place]),
        };
        member.map(|(_, value)| value)
    }

    /// Whether the item has an attribute.
    pub fn contains_key(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    /// Sets an attribute, and gives its value until now.
    pub fn insert(&mut self, name: impl Into<AttributeName>, value: Attribute) -> Option<Attribute> {
        let name = name.into();
        let place = self.place(&name);
        let mut members = self.take_members();
        let before = match place {
            Some(place) => Some(std::mem::replace(&mut members[place].1, value)),
            None => {
                let place = if members.len() > FEW {
                    members.partition_point(|(known, _)| *known < name)
                } else {
                    members.len()
                };
                members.insert(place, (name, value));
                if members.len() == FEW + 1 {
                    Self::in_order(&mut members);
                }
                None
            }
        };
        self.0 = Members::Own(members);
        before
    }

    /// Removes an attribute, and gives its value.
    pub fn remove(&mut self, name: &str) -> Option<Attribute> {
        let place = self.place(name)?;
        let mut members = self.take_members();
        let (_, value) = members.remove(place);
        self.0 = Members::Own(members);
        Some(value)
    }

    /// The number of attributes.
    pub fn len(&self) -> usize {
        self.as_slice().len()
    }

    /// Whether the item has no attributes.
    pub fn is_empty(&self) -> bool {
        self.as_slice().is_empty()
    }

    /// The attributes in any order.
    pub fn members(&self) -> impl ExactSizeIterator<Item = (&AttributeName, &Attribute)> {
        self.as_slice().iter().map(|(name, value)| (name, value))
    }

    /// The attributes in the order of their names.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&AttributeName, &Attribute)> {
        let mut members: Vec<_> = self.members().collect();
        members.sort_unstable_by_key(|(name, _)| *name);
        members.into_iter()
    }

    /// The names in their order.
    pub fn keys(&self) -> impl ExactSizeIterator<Item = &AttributeName> {
        self.iter().map(|(name, _)| name)
    }

    /// The place of an attribute.
    fn place(&self, name: &str) -> Option<usize> {
        self.as_slice().iter().position(|(known, _)| is_same(known, name))
    }
}

/// Whether two names are the same. Most that are not differ in their lengths or their first bytes.
#[inline]
pub(super) fn is_same(one: &str, other: &str) -> bool {
    one.len() == other.len() && one.as_bytes().first() == other.as_bytes().first() && one == other
}

impl PartialEq for Item {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && self.members().all(|(name, value)| other.get(name) == Some(value))
    }
}

impl Eq for Item {}

impl Hash for Item {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.len().hash(state);
        self.iter().for_each(|member| member.hash(state));
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
        Self::from_members(attributes.into_iter().map(|(name, value)| (name.into(), value)).collect())
    }
}

impl<N: Into<AttributeName>> Extend<(N, Attribute)> for Item {
    fn extend<I: IntoIterator<Item = (N, Attribute)>>(&mut self, attributes: I) {
        let mut members = self.take_members();
        members.extend(attributes.into_iter().map(|(name, value)| (name.into(), value)));
        *self = Self::from_members(members);
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

    /// The attributes in the order of their names.
    fn into_iter(mut self) -> Self::IntoIter {
        let mut members = self.take_members();
        members.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
        members.into_iter()
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
    pub partition: (AttributeName, KeyValue),
    /// The sort key attribute.
    pub sort: Option<(AttributeName, KeyValue)>,
}

impl KeyValue {
    /// An attribute as the value of a key attribute; `None` if its type cannot be a key.
    pub fn new(attribute: &Attribute) -> Option<Self> {
        match attribute {
            Attribute::S(text) => Some(Self::S(text.as_str().to_owned())),
            Attribute::N(number) => Some(Self::N(number.as_str().to_owned())),
            Attribute::B(bytes) => Some(Self::B(bytes.clone())),
            _ => None,
        }
    }
}

impl From<KeyValue> for Attribute {
    fn from(key: KeyValue) -> Self {
        match key {
            KeyValue::S(text) => Self::S(text.into()),
            KeyValue::N(number) => Self::N(number.into()),
            KeyValue::B(bytes) => Self::B(bytes),
        }
    }
}

impl Key {
    /// The key of an item with these key attributes; `None` if one of them is missing or cannot be a key.
    pub fn new(item: &Item, partition: &str, sort: Option<&str>) -> Option<Self> {
        let read = |name: &str| Some((name.into(), KeyValue::new(item.get(name)?)?));
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
        Attribute::N(number.to_string().into())
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
