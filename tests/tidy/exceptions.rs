//! What breaks a rule today. These lists only get shorter: an entry that is no longer needed fails its rule. Must not know the rules.

/// Arrows between siblings that close a circle: the folder or file that uses, and the one that is used.
pub const ARROWS_OF_CIRCLES: [(&str, &str); 8] = [
    ("src/execute/auth", "src/execute/read"),
    ("src/execute/auth", "src/execute/write"),
    ("src/execute/context.rs", "src/execute/write"),
    ("src/execute/expression", "src/execute/write"),
    ("src/execute/watch/history", "src/execute/watch/feeds.rs"),
    ("src/execute/watch/operation.rs", "src/execute/watch/history"),
    ("src/execute/write/item", "src/execute/write/job.rs"),
    ("src/execute/write/rules", "src/execute/write/draft"),
];

/// Functions with more parameters than five: the file, and the function with its type or trait.
pub const MANY_PARAMETERS: [(&str, &str); 23] = [
    ("src/cli/docs/recording/uses.rs", "reading"),
    ("src/cli/docs/recording/uses.rs", "writing"),
    ("src/execute/watch/delivery.rs", "respond"),
    ("src/execute/write/dispatch/unanswered.rs", "holds"),
    ("src/execute/write/draft/element.rs", "Drafting::element_call"),
    ("src/execute/write/item/identity.rs", "demand_of"),
    ("src/execute/write/rules/arguments.rs", "of_field"),
    ("src/execute/write/rules/arguments.rs", "walk"),
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
    ("src/serve/http/graphql.rs", "answer"),
    ("src/serve/websocket/connection.rs", "handle"),
    ("src/serve/websocket/connection.rs", "serve"),
    ("src/table/request/cached_reads.rs", "read_page"),
    ("src/table/stream/shared/message.rs", "Message::split"),
];
