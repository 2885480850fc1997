//! A line of an import in: it is an item, blank, or refused with a short message. An item is written as a line that
//! gives the same item.

use crate::run::{run, texts};
use keyfold::table::bulk::export_lines::{parse_line, write_line};

/// The most bytes of a refusal.
const LONGEST_REFUSAL: usize = 1_000;

fn target(input: &[u8]) -> String {
    let line = String::from_utf8_lossy(input);
    match parse_line(&line) {
        Ok(Some(item)) => {
            let written = write_line(&item);
            assert!(!written.contains('\n'), "a line is one line: {written}");
            assert_eq!(parse_line(&written).as_ref(), Ok(&Some(item.clone())), "{written}");
            assert_eq!(written, write_line(&item), "equal items make equal lines");
            format!("an item of {}", item.len().min(8))
        }
        Ok(None) => "blank".to_owned(),
        Err(refusal) => {
            let said = refusal.to_string();
            assert!(said.len() <= LONGEST_REFUSAL, "{} bytes: {}", said.len(), &said[..200]);
            said.chars().filter(|letter| letter.is_alphabetic() || *letter == ' ').take(40).collect()
        }
    }
}

#[test]
fn any_line_is_an_item_or_refused() {
    let lines = texts("samples", ".jsonl")
        .into_iter()
        .flat_map(|file| file.split(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect::<Vec<_>>());
    run("import_line", target, lines.step_by(40).collect());
}
