//! Which shards or replicas an access path reads. Must not know how a key's number is found.

use crate::schema::model::find::{Access, AccessPath, SortAccess};
use crate::schema::model::keys::ItemKeys;
use crate::schema::scalar::spread::{Spread, SpreadKind};
use crate::schema::table::Table;
use crate::schema::template::Template;
use crate::schema::template::part::spread_of;

/// Which keys of a spread an access path reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reading {
    /// The spread.
    pub spread: Spread,
    /// Which of its keys.
    pub which: KeyChoice,
}

/// Which keys of a spread are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyChoice {
    /// All shards, side by side.
    Every,
    /// The shard that the rest of the primary key determines, or the replica that the rest of the bound key chooses. A
    /// shard that another program assigned is neither.
    OfKey,
    /// The shards whose numbers the caller gives, or the replicas that the bound values choose.
    Bound,
}

impl ItemKeys {
    /// How the items of the type are spread. The checker allows at most one way.
    pub fn spread(&self) -> Option<Spread> {
        self.keys.values().flatten().find_map(Template::spread)
    }

    /// The shards that another program assigned to the items, if one did.
    pub fn assigned(&self) -> Option<Spread> {
        self.spread().filter(|spread| spread.assigned.is_some())
    }

    /// The replicas of the items, if they have any.
    pub fn replicas(&self) -> Option<Spread> {
        self.spread().filter(|spread| spread.kind == SpreadKind::Replica)
    }
}

impl AccessPath {
    /// Which shards or replicas the path reads; `None` if the part of the key that it binds has no such number.
    pub fn reading(&self, table: &Table, keys: &ItemKeys) -> Option<Reading> {
        let (partition, sort) = match &self.access {
            Access::Scan => return None,
            Access::Get { partition, sort } => {
                (*partition, sort.map_or(SortAccess::All, |template| SortAccess::Equal { template }))
            }
            Access::Query { partition, sort } => (*partition, sort.clone()),
        };
        let of_path = self.keys(table);
        let template = |attribute: &str, position: usize| keys.keys.get(attribute)?.get(position);
        let bound = of_path.sort.and_then(|key| match &sort {
            SortAccess::All => None,
            SortAccess::Equal { template: position } => Some(template(&key.name, *position)?.parts.as_slice()),
            SortAccess::Prefix { template: position, parts } | SortAccess::Range { template: position, parts, .. } => {
                template(&key.name, *position)?.parts.get(..*parts)
            }
        });
        let first = template(&of_path.partition.name, partition)?;
        let further =
            of_path.equal.iter().zip(&self.equal).filter_map(|(key, position)| template(&key.name, *position));
        let of_whole = std::iter::once(first).chain(further).find_map(Template::spread);
        let spread = of_whole.or_else(|| bound?.iter().find_map(spread_of))?;
        let whole = self.index.is_none() && (of_path.sort.is_none() || matches!(sort, SortAccess::Equal { .. }));
        let which = match spread.kind {
            _ if self.bindings.contains_key(&spread.placeholder()) => KeyChoice::Bound,
            SpreadKind::Shard if !whole || spread.assigned.is_some() => KeyChoice::Every,
            _ => KeyChoice::OfKey,
        };
        Some(Reading { spread, which })
    }
}

impl std::fmt::Display for Reading {
    /// For people: `10 shards`, `1 of 10 shards, by its key`, `those bound of 10 shards`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Spread { kind, count, .. } = self.spread;
        match self.which {
            KeyChoice::Every => write!(f, "{count} {}s", kind.word()),
            KeyChoice::OfKey => write!(f, "1 of {count} {}s, by its key", kind.word()),
            KeyChoice::Bound => write!(f, "those bound of {count} {}s", kind.word()),
        }
    }
}
