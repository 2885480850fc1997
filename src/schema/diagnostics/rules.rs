//! The rules for schemas: the meaning of each code, for docs/errors.md. Must not know how rules are checked.

use crate::schema::diagnostics::rule::Rule;
pub use crate::schema::diagnostics::rules_of_operations::*;
pub use crate::schema::diagnostics::rules_of_types::*;

/// The groups of codes: the prefix of their codes, and their title.
pub const GROUPS: &[(&str, &str)] = &[
    ("KF00", "The text"),
    ("KF01", "Tables"),
    ("KF02", "Items and key templates"),
    ("KF03", "Stored fields"),
    ("KF04", "Finds"),
    ("KF05", "Connections and the API"),
    ("KF06", "Access rules"),
    ("KF07", "Writes"),
    ("KF08", "Rules for written values"),
    ("KF09", "Subscriptions"),
    ("KF10", "Caching"),
    ("KF11", "Services"),
    ("KF12", "Allowed warnings"),
];

/// Every rule, in the order of the codes.
pub fn rules() -> impl Iterator<Item = &'static Rule> {
    RULES_OF_TYPES.iter().chain(RULES_OF_OPERATIONS).copied()
}

/// The rule of a code.
pub fn rule_of(code: &str) -> Option<&'static Rule> {
    rules().find(|rule| rule.code == code)
}
