//! What `@cacheControl` says of types and fields. Plain data. Must not know operations.

use indexmap::IndexMap;

/// One `@cacheControl`, with the meaning that Apollo Server gives it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CacheHint {
    /// `maxAge`, in seconds.
    pub max_age: Option<u32>,
    /// `scope: PRIVATE` is true, `scope: PUBLIC` is false.
    pub private: Option<bool>,
    /// `inheritMaxAge: true`: the age of the field that encloses it.
    pub inherits: bool,
}

/// The hints of a schema.
#[derive(Debug, Default)]
pub struct CacheHints {
    /// By `Type` for objects, interfaces and unions, and by `Type.field` for fields.
    hints: IndexMap<String, CacheHint>,
}

impl CacheHints {
    /// The hints of these types and fields.
    pub fn new(hints: IndexMap<String, CacheHint>) -> Self {
        Self { hints }
    }

    /// Whether there are none: then nothing is cached.
    pub fn is_empty(&self) -> bool {
        self.hints.is_empty()
    }

    /// The hint of a type.
    pub fn type_hint(&self, name: &str) -> CacheHint {
        self.hints.get(name).copied().unwrap_or_default()
    }

    /// The hint of a field: its own, or that of the same field of an interface.
    pub fn field_hint(&self, ty: &str, field: &str) -> CacheHint {
        self.type_hint(&format!("{ty}.{field}"))
    }
}

impl CacheHint {
    /// The hint of a field whose type has this hint: what the field says itself comes first. But where it only
    /// inherits, an age of its type holds (Apollo Server, "Server-side caching").
    pub fn over(self, of_type: Self) -> Self {
        let private = self.private.or(of_type.private);
        match self.inherits {
            true if of_type.max_age.is_none() => Self { max_age: None, private, inherits: true },
            _ => Self { max_age: self.max_age.or(of_type.max_age), private, inherits: of_type.inherits },
        }
    }
}
