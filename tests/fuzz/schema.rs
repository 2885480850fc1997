//! A schema in: it is loaded, or its mistakes are reported within bounds. A loaded schema prints an API that is itself
//! a schema.

use crate::run::{run, texts};
use keyfold::schema::load;

/// The most bytes of reported mistakes: a hundred of them.
const LONGEST_REPORT: usize = 600_000;

fn target(input: &[u8]) -> String {
    let text = String::from_utf8_lossy(input).into_owned();
    let loaded = || load("fuzz.graphql", &text, &|_| None);
    match loaded() {
        Ok((model, warnings)) => {
            assert!(warnings.render(false).len() <= LONGEST_REPORT);
            let printed = model.api.to_string();
            if let Err(trouble) = apollo_compiler::Schema::parse_and_validate(&printed, "printed.graphql") {
                panic!("{}\n{printed}", trouble.errors);
            }
            let again = loaded().map(|(model, _)| model.api.to_string());
            assert_eq!(again.ok(), Some(printed), "a model is a function of the schema");
            format!("loaded {}", warnings.list.len())
        }
        Err(mistakes) => {
            assert!(mistakes.render(true).len() <= LONGEST_REPORT, "{} bytes", mistakes.render(true).len());
            let mut codes: Vec<&str> = mistakes.list.iter().map(|mistake| mistake.code).collect();
            codes.sort_unstable();
            codes.dedup();
            codes.join(" ")
        }
    }
}

#[test]
fn any_schema_is_loaded_or_its_mistakes_are_reported() {
    let known =
        ["tests/language", "tests/diagnostics", "tests/systems"].iter().flat_map(|folder| texts(folder, ".graphql"));
    run("schema", target, known.collect());
}
