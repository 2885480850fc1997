//! The names of a page's parts. Plain data; must not know types or plans.

/// The field of a connection that says how many items all of its pages have.
pub const TOTAL_COUNT: &str = "totalCount";
