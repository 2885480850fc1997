//! Text in `where:`, `set:` or `@default` that is exactly a name in scope in, a warning out: most likely its braces are
//! missing.

use crate::schema::diagnostics::diagnostic::Findings;
use crate::schema::diagnostics::rules;
use crate::schema::diagnostics::span::At;
use crate::schema::expression::claim::ClaimPath;

/// Warns of a text that is a claim, or one of these names, each with what it names.
pub fn warn_of_name(text: &At<String>, known: impl Fn(&str) -> Option<String>, findings: &mut Findings) {
    let name = &text.value;
    let what = known(name).or_else(|| ClaimPath::parse(name).map(|_| "a claim".to_owned()));
    let Some(what) = what else { return };
    let message = format!("\"{name}\" is the text itself, not the value of {what} of this name");
    findings.warning(rules::KF0438, &text.span, message, Some(format!("write `\"{{{name}}}\"` if you mean the value")));
}
