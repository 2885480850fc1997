//! A GraphQL document in: it is planned, or refused with a short message. The same document has the same plan.

use crate::golden_file::{Section, files, read};
use crate::run::run;
use keyfold::execute::gateway::{Response, plan};
use keyfold::execute::request::{Request, Settings};
use keyfold::schema::{self, model::Model};
use std::path::PathBuf;
use std::sync::LazyLock;

/// The most bytes of a refusal: 20 mistakes.
const LONGEST_REFUSAL: usize = 20_000;

static MODEL: LazyLock<Model> = LazyLock::new(|| {
    let text = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/schema.graphql")).unwrap();
    schema::load("schema.graphql", &text, &|_| None).unwrap_or_else(|mistakes| panic!("{}", mistakes.render(false))).0
});

fn target(input: &[u8]) -> String {
    let query = String::from_utf8_lossy(input).into_owned();
    let request = Request { query, ..Request::default() };
    let planned = || plan(&MODEL, &request, &Settings::default()).map(|(plan, _)| plan);
    match planned() {
        Ok(first) => {
            let text = first.to_text(&MODEL);
            assert_eq!(planned().unwrap().to_text(&MODEL), text, "a plan is a function of the document");
            format!("planned {}", text.lines().count())
        }
        Err(errors) => {
            let refused = Response::refused(&errors);
            assert!(refused.body.len() <= LONGEST_REFUSAL, "{} bytes", refused.body.len());
            let words: String =
                errors[0].message.chars().filter(|letter| letter.is_alphabetic() || *letter == ' ').take(24).collect();
            format!("{:?} {words}", errors[0].code)
        }
    }
}

#[test]
fn any_document_is_planned_or_refused() {
    let goldens = ["pantry", "favorites", "posts"].iter().flat_map(|system| files(system).unwrap());
    let operation = |file: PathBuf| read(&file).unwrap().get(Section::Operation).unwrap().as_bytes().to_vec();
    run("document", target, goldens.map(operation).collect());
}
