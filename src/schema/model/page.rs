//! The names of a page's parts and of the arguments that page, in each of the two forms. Plain data; must not know
//! types or plans.

/// The field of a page that says how many items all pages have.
pub const TOTAL_COUNT: &str = "totalCount";

/// The field of a page of AppSync's form that has its items.
pub const ITEMS: &str = "items";

/// The field of a page of AppSync's form from which the next page goes on, and the argument that takes it.
pub const NEXT_TOKEN: &str = "nextToken";

/// The form of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PageForm {
    /// A connection: `nodes`, `edges` and `pageInfo`, with `first`, `after`, `last` and `before` (Relay cursor
    /// connections specification).
    Connection,
    /// A page of AppSync: `items` and `nextToken`, with `limit` and `nextToken` (AWS AppSync developer guide).
    Items,
}

impl PageForm {
    /// The form of a page that has some fields.
    pub fn recognise(has_field: impl Fn(&str) -> bool) -> Self {
        if has_field(ITEMS) { Self::Items } else { Self::Connection }
    }

    /// The arguments that page: the size and the cursor forward, then those backward.
    pub fn arguments(self) -> &'static [&'static str] {
        match self {
            Self::Connection => &["first", "after", "last", "before"],
            Self::Items => &["limit", NEXT_TOKEN],
        }
    }

    /// The arguments for the size of a page and for the cursor where it begins, in one direction. The form of AppSync
    /// has no way back.
    pub fn names(self, backward: bool) -> (&'static str, &'static str) {
        match (self, backward) {
            (Self::Items, _) => ("limit", NEXT_TOKEN),
            (Self::Connection, false) => ("first", "after"),
            (Self::Connection, true) => ("last", "before"),
        }
    }

    /// The arguments of which one alone asks for a page backward.
    pub fn backward(self) -> &'static [&'static str] {
        self.arguments().get(2..).unwrap_or_default()
    }

    /// Whether an argument says how many items a page has. Each other one is a cursor.
    pub fn is_size(argument: &str) -> bool {
        ["first", "last", "limit"].contains(&argument)
    }
}

/// Whether a field of an edge is one of the link that leads to the edge's node: any but those that every edge may have.
pub fn is_of_link(field: &str) -> bool {
    !["node", "cursor", "__typename"].contains(&field)
}
