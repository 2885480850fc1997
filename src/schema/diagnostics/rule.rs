//! One rule for schemas, as plain data.

/// A rule.
#[derive(Debug, Clone, Copy)]
pub struct Rule {
    /// The stable code; the first two digits group it.
    pub code: &'static str,
    /// The rule in a few words.
    pub title: &'static str,
    /// The reason for the rule, and what to do.
    pub explanation: &'static str,
    /// A line that follows the rule.
    pub example: &'static str,
}

/// A rule of these texts.
pub const fn rule(code: &'static str, title: &'static str, explanation: &'static str, example: &'static str) -> Rule {
    Rule { code, title, explanation, example }
}
