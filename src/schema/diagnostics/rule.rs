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

/// Constants of rules, each with its code as its name, and a list of all of them: code, title, explanation, example.
macro_rules! rules {
    ($all:ident; $($code:ident: $title:literal, $explanation:literal, $example:literal;)*) => {
        $(
            #[doc = $title]
            pub const $code: &$crate::schema::diagnostics::rule::Rule = &$crate::schema::diagnostics::rule::Rule {
                code: stringify!($code),
                title: $title,
                explanation: $explanation,
                example: $example,
            };
        )*
        /// All of these rules, in the order of their codes.
        pub const $all: &[&$crate::schema::diagnostics::rule::Rule] = &[$($code),*];
    };
}
pub(crate) use rules;
