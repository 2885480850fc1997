//! The rules and their smallest schemas in; docs/errors.md out: of each code its meaning, the smallest schema that has
//! the mistake (`tests/diagnostics/smallest/<code>.graphql`) with its message and its help, and what is right.

use keyfold::schema::diagnostics::rule::Rule;
use keyfold::schema::diagnostics::rules::{GROUPS, rules};
use keyfold::schema::load;
use libtest_mimic::Failed;
use std::path::Path;

const BEGINNING: &str = "\
# Errors in a schema

Every mistake that `keyfold check` finds has one of these codes. They are stable: a code keeps its meaning. Under each
stand the smallest schema that has it, what `keyfold check` says of this schema and how to repair it, and what is right.
";

/// The page. A schema that does not have the mistake of its name fails.
pub fn page() -> Result<String, Failed> {
    let mut page = BEGINNING.to_owned();
    for (group, title) in GROUPS {
        page += &format!("\n## {title}\n");
        for rule in rules().filter(|rule| rule.code.starts_with(group)) {
            page += &entry(rule)?;
        }
    }
    Ok(page)
}

fn entry(rule: &Rule) -> Result<String, Failed> {
    let file = format!("tests/diagnostics/smallest/{}.graphql", rule.code);
    let schema = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(&file))
        .map_err(|error| format!("{file}: {error}"))?;
    let found = match load("schema.graphql", &schema, &|_| None) {
        Ok((_, warnings)) => warnings,
        Err(mistakes) => mistakes,
    };
    if !found.list.iter().any(|found| found.code == rule.code) {
        return Err(format!("{file} has another mistake:\n{}", found.render(false)).into());
    }
    let rendered = found.render(false);
    // The last line counts the mistakes.
    let said = rendered.trim_end().rsplit_once('\n').map_or("", |(said, _)| said.trim_end());
    let Rule { code, title, explanation, example, .. } = rule;
    Ok(format!(
        "\n### {code}: {title}\n\n{explanation}\n\n```graphql\n{}\n```\n\n```text\n{said}\n```\n\nRight:\n\n```graphql\n{example}\n```\n",
        schema.trim_end()
    ))
}
