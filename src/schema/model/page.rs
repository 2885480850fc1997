//! The names of a page's parts. Plain data; must not know types or plans.

/// The field of a connection that says how many items all of its pages have.
pub const TOTAL_COUNT: &str = "totalCount";

/// Whether a field of an edge is one of the link that leads to the edge's node: any but those that every edge may have.
pub fn is_of_link(field: &str) -> bool {
    !["node", "cursor", "__typename"].contains(&field)
}
