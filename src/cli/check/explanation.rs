//! The code of a mistake or a warning in; out, what docs/errors.md says of it: its meaning, the smallest schema that
//! has it, and what is right.

use crate::schema::diagnostics::rules;
use crate::serve::console::docs;
use anyhow::{Context, Result, bail};

/// The page of all codes, below docs/.
const ERRORS: &str = "errors.md";

/// The section of a code (`KF0431`), in upper or lower case, and the page of the language that it belongs to.
pub fn explanation(code: &str) -> Result<String> {
    let code = code.to_uppercase();
    let Some(rule) = rules::rule_of(&code) else {
        bail!(
            "there is no code {code:?}: codes are KF0001 to KF{}",
            rules::rules().map(|rule| &rule.code[2..]).max().unwrap_or_default()
        );
    };
    let errors = docs::text(ERRORS).context("this build has no documentation")?;
    let heading = format!("### {}: {}\n", rule.code, rule.title);
    let (_, section) = errors.split_once(&heading).with_context(|| format!("{ERRORS} has no section {code}"))?;
    let end = section.match_indices("\n##").map(|(at, _)| at).next().unwrap_or(section.len());
    let page = docs::holding(&format!("- [{code}](")).find(|page| page.starts_with("language/"));
    let page =
        page.map(|page| format!("\n\nThe page of the language: docs/{page}; `keyfold dev` shows it at /docs/{page}."));
    Ok(format!("{}: {}\n\n{}{}\n", rule.code, rule.title, section[..end].trim(), page.unwrap_or_default()))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn every_code_is_explained_with_a_schema_and_a_page() {
        for rule in rules::rules() {
            let text = explanation(rule.code).unwrap();
            assert!(text.contains("```graphql") && text.contains("/docs/language/"), "{text}");
        }
        assert_eq!(explanation("kf0431").unwrap(), explanation("KF0431").unwrap());
        assert!(explanation("KF9999").unwrap_err().to_string().starts_with("there is no code"));
    }
}
