//! The `@cacheControl` of a field and of its type in; out: how old its reads may be. Must not know callers or HTTP.
//!
//! The rules are those of Apollo Server ("Server-side caching"): a field's hint comes before its type's. Without an
//! age, a field that finds something else has the age 0, as every field of a root type has, and a field of the object
//! itself has the age of the object. Keyfold counts embedded objects and the parts of a page among the latter, because
//! nothing is read for them.

use crate::plan::planner::builder::Builder;
use crate::plan::planner::entity::Entity;
use crate::plan::tree::{Holder, Origin};
use crate::schema::model::cache::CacheHint;
use crate::schema::model::find::{Find, Returns};
use crate::schema::model::{Field, FieldKind, TypeKind};

impl<'a> Builder<'a> {
    /// Enters a field: what is planned within is as old as its hint allows. Gives the age around it, to be set again
    /// afterwards.
    pub fn enter_cached(&mut self, of: &Entity<'a>, field: &'a Field) -> Option<u32> {
        let around = self.caching.age;
        if self.model.cache.is_empty() {
            return around;
        }
        let hint = self.hint_of(&of.ty.name, field);
        let is_root = matches!(of.ty.kind, TypeKind::Root);
        let reads = matches!(field.kind, FieldKind::Nodes(_))
            || matches!(&field.kind, FieldKind::Find(find) if !is_scalar(find));
        let is_strong = matches!(&field.kind, FieldKind::Find(find) if find.consistent);
        let age = match (hint.max_age, around) {
            _ if is_strong => 0,
            (Some(age), _) => age,
            (None, None) => 0,
            (None, Some(_)) if is_root || (reads && !hint.inherits) => 0,
            (None, Some(around)) => around,
        };
        if matches!(field.kind, FieldKind::Resolved(_)) {
            self.caching.private |= hint.private == Some(true);
            // Nobody knows for how long a service's answer holds. What it gets is as old as its object may be.
            self.caching.restrict(hint.max_age.filter(|_| !hint.inherits).unwrap_or(0));
            return around;
        }
        // What is computed is kept as long as each field of which it is.
        let parts = of.ty.read_with(field).skip(1).map(|part| self.hint_of(&of.ty.name, part));
        let parts: Vec<CacheHint> = parts.collect();
        let age = parts.iter().fold(age, |age, part| age.min(part.max_age.or(around).unwrap_or(0)));
        self.caching.private |= parts.iter().chain([&hint]).any(|hint| hint.private == Some(true));
        self.caching.restrict(age);
        self.caching.age = Some(age);
        if matches!(field.kind, FieldKind::Stored(_) | FieldKind::GlobalId(_) | FieldKind::Computed(_)) {
            self.limit_age(of, age);
        }
        around
    }

    /// Enters an object of an interface or a union as one of its types: its hint holds as well.
    pub fn enter_cached_type(&mut self, of: &Entity<'a>) -> Option<u32> {
        self.enter_within(of, self.model.cache.type_hint(&of.ty.name))
    }

    /// Enters a part of a page, such as `Connection.edges`: its hint holds as well. `node` is the object that the page
    /// shows.
    pub fn enter_cached_part(&mut self, node: &Entity<'a>, ty: &str, part: &str) -> Option<u32> {
        match self.model.cache.is_empty() {
            true => self.caching.age,
            false => self.enter_within(node, self.model.cache.field_hint(ty, part)),
        }
    }

    /// Enters something for which nothing more is read.
    fn enter_within(&mut self, of: &Entity<'a>, hint: CacheHint) -> Option<u32> {
        let around = self.caching.age;
        self.caching.private |= hint.private == Some(true);
        if let (Some(age), Some(outer)) = (hint.max_age, around) {
            let age = age.min(outer);
            self.caching.restrict(age);
            self.caching.age = Some(age);
            self.limit_age(of, age);
        }
        around
    }

    /// The greatest age of a read that is planned now; `None` if it is not cached.
    pub fn max_age(&self, is_strong: bool) -> Option<u32> {
        self.caching.age.filter(|age| *age > 0 && self.caching.is_query && !is_strong && !self.unhidden)
    }

    /// The hint of a field, over that of its type.
    fn hint_of(&self, ty: &str, field: &Field) -> CacheHint {
        let hints = &self.model.cache;
        let named = field.ty.inner_named_type().as_str();
        let of_type = match &field.kind {
            // A connection has the hint of its nodes' type, if it has none.
            FieldKind::Find(find) if find.returns == Returns::Connection => {
                hints.type_hint(named).over(hints.type_hint(&find.item))
            }
            FieldKind::Find(find) if is_scalar(find) => CacheHint::default(),
            FieldKind::Find(_) | FieldKind::Nodes(_) => hints.type_hint(named),
            FieldKind::Stored(stored) if stored.value.embedded().is_some() => hints.type_hint(named),
            _ => CacheHint::default(),
        };
        hints.field_hint(ty, &field.name).over(of_type)
    }

    /// Lowers the age of every read that holds the attributes of an object.
    fn limit_age(&mut self, of: &Entity<'a>, age: u32) {
        for (holder, _) in &of.held {
            let mut next = Some(*holder);
            while let Some(holder) = next {
                next = match holder {
                    Holder::Read(read) => {
                        let read = &mut self.reads[read];
                        read.max_age = read.max_age.map(|known| known.min(age)).filter(|age| *age > 0);
                        None
                    }
                    Holder::Element(space) => match &self.spaces[space].origin {
                        Origin::Elements(outer, _) => Some(*outer),
                        _ => None,
                    },
                    Holder::Resolved(_) => None,
                };
            }
        }
    }
}

/// Whether a find gives no objects: a Boolean or a count.
fn is_scalar(find: &Find) -> bool {
    matches!(find.returns, Returns::Exists | Returns::Count)
}
