//! Tables and indexes as `@table` declares them: names, key attributes, projections, and how DynamoDB is to run them.
//! Plain data; must not know AWS types.

pub mod number;

/// A DynamoDB table: its key attributes and its indexes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Table {
    /// The table's name, environment placeholders already replaced.
    pub name: String,
    /// The partition key attribute.
    pub partition: KeyAttribute,
    /// The sort key attribute, if the table has one.
    pub sort: Option<KeyAttribute>,
    /// Secondary indexes, in the order of the schema.
    pub indexes: Vec<Index>,
    /// The attribute that holds an item's time to live (epoch seconds).
    pub time_to_live: Option<String>,
    /// Whether requests see items that have expired, until they are deleted.
    pub shows_expired: bool,
    /// How reads and writes are billed.
    pub billing: Billing,
    /// What the table's stream holds of each changed item; `None` if the table has no stream.
    pub stream: Option<StreamView>,
    /// Whether the table can be restored to any second of the last 35 days.
    pub point_in_time_recovery: bool,
}

/// How a table is billed (DynamoDB developer guide, "Read/write capacity mode").
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Billing {
    /// Each request is paid for.
    PayPerRequest,
    /// The table's own capacity is paid for; each global index has one of its own ([`Index::capacity`]).
    Provisioned(Capacity),
}

/// What a table or a global index can do in each second.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Capacity {
    /// Read capacity units: strong reads of 4 KB a second, or twice as many that are eventually consistent.
    pub read: u32,
    /// Write capacity units: writes of 1 KB a second.
    pub write: u32,
}

/// What a stream's record holds of the item that changed (DynamoDB API reference, `StreamSpecification`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StreamView {
    /// The item's key.
    KeysOnly,
    /// The whole item after the change.
    NewImage,
    /// The whole item before the change.
    OldImage,
    /// The whole item before and after the change.
    NewAndOldImages,
}

/// A secondary index of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Index {
    /// The index's name.
    pub name: String,
    /// Whether it is a local index: same partition key as the table, strongly readable.
    pub local: bool,
    /// The attributes of the partition key, at least one (of a local index: the table's alone).
    pub partition: Vec<KeyAttribute>,
    /// The attributes of the sort key, in the order in which they sort; none if the index has no sort key.
    pub sort: Vec<KeyAttribute>,
    /// Which attributes are copied into the index.
    pub projection: Projection,
    /// The capacity of a global index of a table with [`Billing::Provisioned`]; `None` for any other index.
    pub capacity: Option<Capacity>,
}

/// The most attributes of the partition key of a global index, and of its sort key (DynamoDB developer guide,
/// "Multi-attribute keys"). A table and a local index have one of each.
pub const MOST_KEY_ATTRIBUTES: usize = 4;

/// The key attributes of a table or of an index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeyAttributes<'t> {
    /// Those of the partition key, at least one.
    pub partition: &'t [KeyAttribute],
    /// Those of the sort key, in the order in which they sort; none if there is no sort key.
    pub sort: &'t [KeyAttribute],
}

impl<'t> KeyAttributes<'t> {
    /// All of them: partition, then sort.
    pub fn all(self) -> impl Iterator<Item = &'t KeyAttribute> + Clone {
        self.partition.iter().chain(self.sort)
    }

    /// Whether an attribute is one of them.
    pub fn contains(self, attribute: &str) -> bool {
        self.all().any(|key| key.name == attribute)
    }
}

/// A key attribute's name and type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyAttribute {
    /// The attribute's name.
    pub name: String,
    /// The attribute's type.
    pub kind: KeyType,
}

/// The types that a key attribute may have
/// (DynamoDB developer guide, "Naming rules and data types", key attributes: string, number or binary).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum KeyType {
    /// String.
    S,
    /// Number.
    N,
    /// Binary.
    B,
}

/// What an index holds in addition to the keys of the table and of itself, which it always holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Projection {
    /// Every attribute.
    All,
    /// Nothing more.
    KeysOnly,
    /// The attributes named.
    Include(Vec<String>),
}

impl Billing {
    /// The mode as DynamoDB names it.
    pub fn mode(self) -> &'static str {
        match self {
            Billing::PayPerRequest => "PAY_PER_REQUEST",
            Billing::Provisioned(_) => "PROVISIONED",
        }
    }
}

impl StreamView {
    /// The view as DynamoDB names it.
    pub fn name(self) -> &'static str {
        match self {
            StreamView::KeysOnly => "KEYS_ONLY",
            StreamView::NewImage => "NEW_IMAGE",
            StreamView::OldImage => "OLD_IMAGE",
            StreamView::NewAndOldImages => "NEW_AND_OLD_IMAGES",
        }
    }
}

impl KeyType {
    /// The type as DynamoDB names it.
    pub fn name(self) -> &'static str {
        match self {
            KeyType::S => "S",
            KeyType::N => "N",
            KeyType::B => "B",
        }
    }
}

impl Projection {
    /// The projection as DynamoDB names it.
    pub fn name(&self) -> &'static str {
        match self {
            Projection::All => "ALL",
            Projection::KeysOnly => "KEYS_ONLY",
            Projection::Include(_) => "INCLUDE",
        }
    }
}

impl Index {
    /// Its key attributes.
    pub fn keys(&self) -> KeyAttributes<'_> {
        KeyAttributes { partition: &self.partition, sort: &self.sort }
    }
}

impl Table {
    /// A table with these keys, billed by request, and nothing else.
    pub fn new(name: impl Into<String>, partition: KeyAttribute, sort: Option<KeyAttribute>) -> Self {
        Self {
            name: name.into(),
            partition,
            sort,
            indexes: Vec::new(),
            time_to_live: None,
            shows_expired: false,
            billing: Billing::PayPerRequest,
            stream: None,
            point_in_time_recovery: false,
        }
    }

    /// The key attributes of the table (`None`) or of one of its indexes, by position.
    pub fn keys_of(&self, index: Option<usize>) -> KeyAttributes<'_> {
        match index.map(|i| &self.indexes[i]) {
            None => KeyAttributes { partition: std::slice::from_ref(&self.partition), sort: self.sort.as_slice() },
            Some(index) => index.keys(),
        }
    }

    /// Whether reading the table (`None`) or the index gives this attribute without another read.
    pub fn holds(&self, index: Option<usize>, attribute: &str) -> bool {
        let Some(index) = index.map(|i| &self.indexes[i]) else { return true };
        self.is_primary_key(attribute)
            || index.keys().contains(attribute)
            || match &index.projection {
                Projection::All => true,
                Projection::KeysOnly => false,
                Projection::Include(names) => names.iter().any(|name| name == attribute),
            }
    }

    /// Whether the sort key is the partition key, which is a mistake of the schema.
    pub fn repeats_key(&self) -> bool {
        self.sort.as_ref().is_some_and(|sort| sort.name == self.partition.name)
    }

    /// The table's own key attributes: partition, then sort.
    pub fn primary_key(&self) -> impl Iterator<Item = &KeyAttribute> {
        std::iter::once(&self.partition).chain(self.sort.as_ref())
    }

    /// Whether an attribute is one of the table's own key.
    pub fn is_primary_key(&self, attribute: &str) -> bool {
        self.primary_key().any(|key| key.name == attribute)
    }

    /// Sets the type of an attribute in the keys of all indexes.
    pub fn set_key_type(&mut self, attribute: &str, kind: KeyType) {
        let of_indexes = self.indexes.iter_mut().flat_map(|index| index.partition.iter_mut().chain(&mut index.sort));
        of_indexes.filter(|key| key.name == attribute).for_each(|key| key.kind = kind);
    }

    /// Every key attribute of the table and its indexes, each once, in the order of their declaration.
    pub fn key_attributes(&self) -> Vec<&KeyAttribute> {
        let mut all: Vec<&KeyAttribute> = self.primary_key().collect();
        for key in self.indexes.iter().flat_map(|index| index.keys().all()) {
            if !all.iter().any(|known| known.name == key.name) {
                all.push(key);
            }
        }
        all
    }
}
