//! Each file and each directory of `formats/<format>/` in, its listing out: `<name>.received` beside it.
//! `UPDATE_EXPECT=1` writes the listings.

use crate::listing::Listing;
use keyfold::sources::read::read;
use std::path::{Path, PathBuf};

/// Where the formats are, from the directory that tests run in. The names of files are in the listings.
const FORMATS: &str = "tests/sources/formats";

fn entries(directory: &Path) -> Vec<PathBuf> {
    let mut all: Vec<PathBuf> = std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    all.sort();
    all
}

fn listing(path: &Path) -> String {
    let mut listing = Listing::default();
    let end = match read(&[path.to_owned()], &mut listing) {
        Ok(summaries) => {
            let line = |summary: &keyfold::sources::read::SourceSummary| {
                format!("= {}: {}, {} items", summary.name, summary.format, summary.items)
            };
            summaries.iter().map(line).collect()
        }
        Err(error) => vec![format!("error: {error}")],
    };
    [listing.lines, end].concat().join("\n") + "\n"
}

#[test]
fn each_file_gives_its_listing() {
    let mut differences = Vec::new();
    for format in entries(Path::new(FORMATS)) {
        let cases: Vec<PathBuf> =
            entries(&format).into_iter().filter(|path| path.extension().is_none_or(|end| end != "received")).collect();
        assert!(cases.len() > 1, "{} has an usual file and an odd one", format.display());
        for case in cases {
            let (is, golden) = (listing(&case), PathBuf::from(format!("{}.received", case.display())));
            if std::env::var_os("UPDATE_EXPECT").is_some() {
                std::fs::write(&golden, &is).unwrap();
            }
            let was = std::fs::read_to_string(&golden).unwrap_or_default();
            if was != is {
                differences.push(format!("{}:\n{was}---\n{is}", golden.display()));
            }
        }
    }
    assert!(differences.is_empty(), "UPDATE_EXPECT=1 takes the new form:\n{}", differences.join("\n"));
}

#[test]
fn each_listing_has_its_file() {
    for format in entries(Path::new(FORMATS)) {
        for listing in entries(&format).iter().filter(|path| path.extension().is_some_and(|end| end == "received")) {
            assert!(listing.with_extension("").exists(), "{} is of no file", listing.display());
        }
    }
}
