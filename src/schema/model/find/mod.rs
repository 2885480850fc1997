//! What a `@find` field reads, with every access path. Plain data; must not know how requests are planned or run.

pub mod sharding;

use super::keys::ItemKeys;
use super::source::{BindingRule, Source};
use crate::schema::expression::condition::Condition;
use crate::schema::table::{KeyAttribute, Table};
use crate::schema::template::Template;
use indexmap::IndexMap;

/// What a `@find` field wants, with every way to get it.
#[derive(Debug, Clone)]
pub struct Find {
    /// The item type that is read. With `through`, the type of the last hop. For items of several types, their
    /// interface or union.
    pub item: String,
    /// What the field returns.
    pub returns: Returns,
    /// How it is reached.
    pub via: Via,
    /// The condition that found items must meet.
    pub filter: Option<Condition>,
    /// The longest plain list, and the largest page of a connection.
    pub max: u32,
    /// Whether reads are strongly consistent.
    pub consistent: bool,
}

impl Find {
    /// The access path for the arguments that are present (not null) and the value of the `orderBy` argument. `None`
    /// for a find through relations, for a value that is not an order of the find, and for arguments that [need
    /// others](Find::lacking).
    pub fn path(&self, present: &dyn Fn(&str) -> bool, order_by: Option<&str>) -> Option<&AccessPath> {
        let (Via::Keys(paths) | Via::AbstractType(SharedKeys { paths, .. })) = &self.via else { return None };
        // Every optional argument that matters is in the `when` of some path.
        let there: Vec<&String> = paths.iter().flat_map(|path| &path.when).filter(|name| present(name)).collect();
        paths.iter().find(|path| {
            let exact =
                path.when.iter().all(|name| there.contains(&name)) && there.iter().all(|name| path.when.contains(name));
            exact && path.order_by.as_deref() == order_by
        })
    }

    /// The sources of its keys. A find through relations has none of its own.
    pub fn sources(&self) -> Vec<&Source> {
        match &self.via {
            Via::Keys(paths) | Via::AbstractType(SharedKeys { paths, .. }) => {
                paths.iter().flat_map(AccessPath::sources).collect()
            }
            Via::Through(_) => Vec::new(),
        }
    }

    /// Gives each argument and each item in scope that its keys and its filter name another name.
    pub fn rename(&mut self, argument: &dyn Fn(&mut String), item: &dyn Fn(&mut String)) {
        if let Via::Keys(paths) | Via::AbstractType(SharedKeys { paths, .. }) = &mut self.via {
            paths.iter_mut().flat_map(AccessPath::sources_mut).for_each(|source| source.rename(argument, item));
        }
        self.filter.iter_mut().for_each(|filter| filter.rename_arguments(argument));
    }

    /// For arguments that need others before them in the key: the arguments that are present, and the fewest that are
    /// missing. Both lists are empty if no more arguments help.
    pub fn lacking(&self, present: &dyn Fn(&str) -> bool) -> (Vec<&str>, Vec<&str>) {
        let (Via::Keys(paths) | Via::AbstractType(SharedKeys { paths, .. })) = &self.via else {
            return Default::default();
        };
        let there = paths.iter().flat_map(|path| &path.when).filter(|name| present(name));
        let more = paths
            .iter()
            .filter(|path| there.clone().all(|name| path.when.contains(name)))
            .min_by_key(|path| path.when.len());
        more.map(|path| path.when.iter().map(String::as_str).partition(|name| present(name))).unwrap_or_default()
    }
}

/// What a find returns of the items that it reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Returns {
    /// One item or null.
    One,
    /// A plain list, read whole up to [`Find::max`].
    List,
    /// A page.
    Connection,
    /// Whether there is one (`Boolean`).
    Exists,
    /// How many there are (`Int`).
    Count,
}

/// How a find reaches its items.
#[derive(Debug, Clone)]
pub enum Via {
    /// By keys: one access path for each combination of optional arguments and each value of an `orderBy` argument.
    Keys(Vec<AccessPath>),
    /// By the common part of the keys of several item types.
    AbstractType(SharedKeys),
    /// Over relations: field names. The first is on the parent's type, each other on the item type that the one before
    /// it reaches.
    Through(Vec<String>),
}

/// What a find of an interface or a union reads: items of several types, with one read.
#[derive(Debug, Clone)]
pub struct SharedKeys {
    /// The item types, in the order of their declaration; at least one.
    pub members: Vec<String>,
    /// The table, and the templates of the common part of all members' keys, with the first member's field names.
    /// Positions in the paths refer to these templates, not to the members' own. The constants are empty.
    pub keys: ItemKeys,
    /// One access path for each combination of optional arguments and each value of an `orderBy` argument.
    pub paths: Vec<AccessPath>,
}

/// One way to read a find's items: the table or an index, and how its key is bound.
#[derive(Debug, Clone)]
pub struct AccessPath {
    /// The optional arguments that are present (not null) when this path is taken, in the order of their declaration.
    /// Required arguments, paging and sorting arguments, and arguments that only the filter uses are not listed.
    pub when: Vec<String>,
    /// The value of the `orderBy` argument for which this path is taken; `None` where the field has none or it is null.
    pub order_by: Option<String>,
    /// The index that is read, by its position in the table; `None` is the table itself.
    pub index: Option<usize>,
    /// The key condition.
    pub access: Access,
    /// The attributes of an index's key that the condition also binds whole, in the order of the key: those of the
    /// partition key after the first, then those of the sort key before the one of [`SortAccess`]. For each, the
    /// position of its template. Empty for keys of one attribute each.
    pub equal: Vec<usize>,
    /// Item field → what it is bound to, for the fields that the key condition uses by equality.
    pub bindings: IndexMap<String, Source>,
    /// Item field → the rule by which it is bound, for the same fields.
    pub rules: IndexMap<String, BindingRule>,
    /// For a find of several types: the other types' sort key templates, if they write the last bound part differently.
    /// The Query reads the longest common prefix of these keys.
    pub prefix_alternatives: Vec<Template>,
    /// Whether the items come in descending order of the sort key, if no `order` argument says otherwise.
    pub descending: bool,
}

/// The attributes of a key by what an access path does with them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathKeys<'t> {
    /// The first attribute of the partition key.
    pub partition: &'t KeyAttribute,
    /// The attributes that [`AccessPath::equal`] binds.
    pub equal: Vec<&'t KeyAttribute>,
    /// The attribute of the sort key that [`SortAccess`] is about, and by which the items come sorted first.
    pub sort: Option<&'t KeyAttribute>,
}

impl<'t> PathKeys<'t> {
    /// The attributes that have one value each in all items that the path reads.
    pub fn one_valued(&self) -> impl Iterator<Item = &'t KeyAttribute> {
        std::iter::once(self.partition).chain(self.equal.iter().copied())
    }

    /// The attributes that the path binds or may bind: all of the key but those that sort after [`Self::sort`].
    pub fn all(&self) -> impl Iterator<Item = &'t KeyAttribute> {
        self.one_valued().chain(self.sort)
    }
}

impl AccessPath {
    /// The key attributes of what it reads, by what it does with them. A path that binds no key, as that of a Scan, has
    /// the first ones.
    pub fn keys<'t>(&self, table: &'t Table) -> PathKeys<'t> {
        let keys = table.keys_of(self.index);
        let further = keys.partition.iter().skip(1);
        let leading = self.equal.len().saturating_sub(further.len());
        let mut sort = keys.sort.iter();
        let equal = further.chain(sort.by_ref().take(leading)).take(self.equal.len()).collect();
        PathKeys { partition: &keys.partition[0], equal, sort: sort.next() }
    }

    /// The sources of its key: of the fields that are bound by equality, then of its range.
    pub fn sources(&self) -> Vec<&Source> {
        let mut sources: Vec<&Source> = self.bindings.values().collect();
        if let Access::Query { sort: SortAccess::Range { range, .. }, .. } = &self.access {
            match range {
                Range::BeginsWith(source) => sources.push(source),
                Range::Between { lower, upper } => sources.extend(lower.iter().chain(upper).map(|(source, _)| source)),
            }
        }
        sources
    }

    fn sources_mut(&mut self) -> Vec<&mut Source> {
        let mut sources: Vec<&mut Source> = self.bindings.values_mut().collect();
        if let Access::Query { sort: SortAccess::Range { range, .. }, .. } = &mut self.access {
            match range {
                Range::BeginsWith(source) => sources.push(source),
                Range::Between { lower, upper } => {
                    sources.extend(lower.iter_mut().chain(upper).map(|(source, _)| source));
                }
            }
        }
        sources
    }

    /// The fields of the parent of which its key is made.
    pub fn parent_fields(&self) -> Vec<&str> {
        let leaves = self.sources().into_iter().flat_map(Source::leaves);
        leaves.filter_map(|leaf| if let Source::Parent(field) = leaf { Some(field.as_str()) } else { None }).collect()
    }
}

/// The key condition of an access path. It names templates by their positions in [`ItemKeys::keys`] of the find's item,
/// or of its [`SharedKeys`].
#[derive(Debug, Clone)]
pub enum Access {
    /// The whole primary key: GetItem. A list without an order also uses it, with one GetItem for each value of a list
    /// argument.
    Get {
        /// Position of the partition key's template.
        partition: usize,
        /// Position of the sort key's template; `None` where the table has no sort key.
        sort: Option<usize>,
    },
    /// One partition, or one for each value of a list argument: Query.
    Query {
        /// Position of the partition key's template.
        partition: usize,
        /// The condition on the sort key.
        sort: SortAccess,
    },
    /// The whole table or index, only where the author says `scan: true`.
    Scan,
}

/// The sort key's part of a key condition.
#[derive(Debug, Clone)]
pub enum SortAccess {
    /// No condition.
    All,
    /// The whole sort key is bound.
    Equal {
        /// Position of the sort key's template.
        template: usize,
    },
    /// The first `parts` parts of the template are bound and the rest is free: `begins_with`.
    Prefix {
        /// Position of the sort key's template.
        template: usize,
        /// How many parts of the template (literals and placeholders) make the prefix.
        parts: usize,
    },
    /// The first `parts` parts are bound and the placeholder that follows them is within a range.
    Range {
        /// Position of the sort key's template.
        template: usize,
        /// How many parts of the template stand before the ranged placeholder.
        parts: usize,
        /// The bounds, over GraphQL values of the ranged field.
        range: Range,
    },
}

impl SortAccess {
    /// The position of the sort key's template that it reads; `None` if it reads all.
    pub fn template(&self) -> Option<usize> {
        match self {
            Self::All => None,
            Self::Equal { template } | Self::Prefix { template, .. } | Self::Range { template, .. } => Some(*template),
        }
    }
}

/// The bounds of a range. At least one is set.
#[derive(Debug, Clone, PartialEq)]
pub enum Range {
    /// Lower and upper bound, each with whether it is inclusive.
    Between {
        /// The lower bound and whether it is inclusive.
        lower: Option<(Source, bool)>,
        /// The upper bound and whether it is inclusive.
        upper: Option<(Source, bool)>,
    },
    /// Text that the value begins with; [`Template::render_begins_with`] writes it.
    BeginsWith(Source),
}
