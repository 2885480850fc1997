//! A file that somebody brings in, any bytes: what it is and how much of it is read, or a short message. Its items are
//! items that a table takes as they are.

use crate::run::{files, run};
use keyfold::schema::table::Table;
use keyfold::sources::material::{PatternHint, Receiver, SourcePlace, TypeHint};
use keyfold::sources::read::read;
use keyfold::table::bulk::export_lines::{parse_line, write_line};
use keyfold::table::data::attribute::Item;
use std::ops::ControlFlow;
use std::path::Path;

/// The most bytes of a refusal.
const LONGEST_REFUSAL: usize = 3_000;

/// Counts what it gets.
#[derive(Default)]
struct Counts {
    tables: usize,
    items: usize,
    hints: usize,
    notes: usize,
    mistakes: usize,
}

impl Receiver for Counts {
    fn table(&mut self, _: Table) {
        self.tables += 1;
    }

    fn item(&mut self, _: Option<&str>, item: Item) -> ControlFlow<()> {
        self.items += 1;
        assert_eq!(parse_line(&write_line(&item)), Ok(Some(item)));
        ControlFlow::Continue(())
    }

    fn type_hint(&mut self, _: Option<&str>, _: TypeHint) {
        self.hints += 1;
    }

    fn pattern_hint(&mut self, _: PatternHint) {
        self.hints += 1;
    }

    fn note(&mut self, _: String) {
        self.notes += 1;
    }

    fn mistake(&mut self, _: &SourcePlace, problem: &str) -> ControlFlow<()> {
        self.mistakes += 1;
        assert!(problem.len() <= LONGEST_REFUSAL, "{} bytes", problem.len());
        ControlFlow::Continue(())
    }
}

fn target(input: &[u8]) -> String {
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("fuzz-source-file");
    std::fs::write(&file, input).unwrap();
    let mut counts = Counts::default();
    let few = |count: usize| count.min(3);
    match read(&[file], &mut counts) {
        Ok(summaries) => {
            let counts = [counts.tables, counts.items, counts.hints, counts.notes, counts.mistakes].map(few);
            format!("{} {counts:?}", summaries[0].format)
        }
        Err(refusal) => {
            let said = refusal.to_string();
            assert!(said.len() <= LONGEST_REFUSAL, "{} bytes: {}", said.len(), &said[..200]);
            said.chars().filter(|letter| letter.is_alphabetic() || *letter == ' ').skip(60).take(40).collect()
        }
    }
}

#[test]
fn any_file_is_read_or_refused() {
    let samples = files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sources/formats"), "");
    let usual = samples.iter().filter(|path| path.extension().is_none_or(|end| end != "received"));
    run("source", target, usual.map(|file| std::fs::read(file).unwrap()).collect());
}
