//! What breaks a rule today. These lists only get shorter: an entry that is no longer needed fails its rule. Must not
//! know the rules.

/// Functions with more parameters than five: the file, and the function with its type or trait.
pub const MANY_PARAMETERS: [(&str, &str); 10] = [
    ("src/schema/auth/exists.rs", "path"),
    ("src/schema/finds/abstract_type/shared_access.rs", "same_form"),
    ("src/schema/finds/abstract_type/shared_access.rs", "same_part"),
    ("src/schema/finds/candidates.rs", "sort_choice"),
    ("src/schema/finds/diagnosis/undecided.rs", "check_path"),
    ("src/schema/rules/constraint.rs", "ordered"),
    ("src/schema/rules/unique.rs", "check"),
    ("src/schema/writes/binding.rs", "report_other_id"),
    ("src/schema/writes/element.rs", "named_by"),
    ("src/schema/writes/expressions.rs", "check_change"),
];

/// Types that are named by a participle: the file, and the type.
pub const TYPES_THAT_ARE_NO_NOUNS: [(&str, &str); 0] = [];
