//! Names and types as `@table` has them in, checked names and types of key attributes out.

use crate::schema::diagnostics::diagnostic::Findings;
use crate::schema::diagnostics::rules;
use crate::schema::diagnostics::span::At;
use crate::schema::table::KeyType;
use apollo_compiler::Node;
use apollo_compiler::ast::Value;

/// A name must be 3 to 255 letters, digits, `_`, `-` and `.` (DynamoDB developer guide, "Naming rules").
pub fn check_name(what: &str, name: &At<String>, findings: &mut Findings) {
    let fits = (3..=255).contains(&name.value.len())
        && name.value.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-.".contains(&b));
    if !fits {
        let message = format!("`{}` is not a valid {what} name in DynamoDB", name.value);
        findings.error(
            rules::KF0103,
            &name.span,
            message,
            Some("use 3 to 255 characters: letters, digits, `_`, `-` and `.`".into()),
        );
    }
}

/// The type of a key attribute: S if none is written.
pub fn key_type(value: Option<&Node<Value>>) -> KeyType {
    match value.and_then(|value| value.as_enum()).map(|name| name.as_str()) {
        Some("N") => KeyType::N,
        Some("B") => KeyType::B,
        _ => KeyType::S,
    }
}
