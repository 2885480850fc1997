//! The published designs, row by row: each row of docs/systems.md is one test here, by its id.
//!
//! A row's operations are the goldens whose names hold its id (`c03_…`, `a02_a03_…`, `write_f07_…`); what no golden can
//! show is a check of `support::rows`. A row passes if all of them do, and if its access path on the page stands in
//! their plans. A row that nothing proves, a name with an id that is no row, and a page that lists other operations
//! fail; `UPDATE_EXPECT=1` lists them anew.

use super::golden::Golden;
use crate::support::golden::Case;
use crate::support::golden_file::Section;
use crate::support::rows::{CHECKS, Row, read};
use libtest_mimic::{Failed, Trial};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Row → the goldens that prove it.
type Proofs = BTreeMap<String, Vec<Arc<Golden>>>;

/// Each design's letter and how many rows it has.
const DESIGNS: [(char, usize); 11] =
    [('N', 11), ('F', 10), ('P', 8), ('C', 9), ('D', 12), ('A', 20), ('E', 8), ('O', 8), ('B', 5), ('T', 14), ('S', 5)];

/// A test a row, and the two that hold the page and the names of goldens together.
pub fn trials(goldens: &[Arc<Golden>]) -> Vec<Trial> {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/systems.md");
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        list_anew(&page, &proofs(goldens));
    }
    let rows = read(&std::fs::read_to_string(&page).unwrap());
    let proofs = proofs(goldens);
    let ids: Vec<String> = rows.iter().map(|row| row.id.clone()).collect();
    let of_names: BTreeSet<String> = proofs.keys().cloned().collect();
    let mut trials: Vec<Trial> = vec![
        Trial::test("systems::the_page_has_every_row", {
            let ids = ids.clone();
            move || every_row(&ids)
        }),
        Trial::test("systems::no_test_is_of_no_row", move || known(&of_names, &ids)),
    ];
    for row in rows {
        let cases = proofs.get(&row.id).cloned().unwrap_or_default();
        trials.push(Trial::test(format!("systems::{}", row.id), move || passes(&row, &cases)));
    }
    trials
}

fn proofs(goldens: &[Arc<Golden>]) -> Proofs {
    let mut proofs = Proofs::new();
    for golden in goldens {
        for id in ids_of(&golden.name) {
            proofs.entry(id).or_default().push(golden.clone());
        }
    }
    proofs
}

/// The ids in a case's name: a letter and two digits between underscores, `a02` for A2.
fn ids_of(name: &str) -> Vec<String> {
    let id = |word: &str| {
        let number =
            word.get(1..).filter(|digits| digits.len() == 2 && digits.bytes().all(|byte| byte.is_ascii_digit()))?;
        let letter = word.chars().next().filter(char::is_ascii_lowercase)?;
        Some(format!("{}{}", letter.to_ascii_uppercase(), number.parse::<u8>().ok()?))
    };
    name.split('_').filter_map(id).collect()
}

fn every_row(ids: &[String]) -> Result<(), Failed> {
    let expected: Vec<String> =
        DESIGNS.iter().flat_map(|(letter, rows)| (1..=*rows).map(move |row| format!("{letter}{row}"))).collect();
    let missing: Vec<&String> = expected.iter().filter(|id| !ids.contains(id)).collect();
    let extra: Vec<&String> = ids.iter().filter(|id| !expected.contains(id)).collect();
    let twice: Vec<&String> = ids.iter().filter(|id| ids.iter().filter(|other| other == id).count() > 1).collect();
    if missing.is_empty() && extra.is_empty() && twice.is_empty() {
        return Ok(());
    }
    Err(format!(
        "docs/systems.md lacks {missing:?}, and has {extra:?} that no design has, and {twice:?} more than once"
    )
    .into())
}

fn known(of_names: &BTreeSet<String>, ids: &[String]) -> Result<(), Failed> {
    let checks = CHECKS.iter().map(|(id, ..)| (*id).to_owned());
    let strange: Vec<String> = of_names.iter().cloned().chain(checks).filter(|id| !ids.contains(id)).collect();
    if strange.is_empty() { Ok(()) } else { Err(format!("{strange:?} are no rows of docs/systems.md").into()) }
}

fn passes(row: &Row, cases: &[Arc<Golden>]) -> Result<(), Failed> {
    let checks: Vec<_> = CHECKS.iter().filter(|(id, ..)| *id == row.id).collect();
    if cases.is_empty() && checks.is_empty() {
        return Err("nothing proves this row".into());
    }
    for case in cases {
        case.check().map_err(|failed| {
            Failed::from(format!("{}::{}: {}", case.system, case.name, failed.message().unwrap_or_default()))
        })?;
    }
    for (_, _, check) in checks {
        check()?;
    }
    let plans: String = cases.iter().map(|case| case.section(Section::Plan)).collect::<Result<_, _>>()?;
    if let Some(path) = row.paths.iter().find(|path| !cases.is_empty() && !plans.contains(path.as_str())) {
        return Err(format!("no plan of the row says `{path}`").into());
    }
    let listed = proof(&row.id, cases);
    if row.proof != listed {
        return Err(
            format!("docs/systems.md lists {}, and it is {listed} (UPDATE_EXPECT=1 lists it anew)", row.proof).into()
        );
    }
    Ok(())
}

/// The proof of a row, as the page lists it: links to the operations, and the names of checks.
fn proof(id: &str, cases: &[Arc<Golden>]) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let link = |case: &Case| {
        let path: PathBuf = case.operation.strip_prefix(root).unwrap_or(&case.operation).to_owned();
        format!("[{}](../{})", case.name, path.display())
    };
    let checks = CHECKS.iter().filter(|(of, ..)| *of == id).map(|(_, name, _)| format!("`{name}`"));
    cases.iter().map(|golden| link(golden)).chain(checks).collect::<Vec<_>>().join(", ")
}

/// Writes the last column of each row again.
fn list_anew(page: &Path, proofs: &Proofs) {
    let line = |line: &str| match Row::of(line) {
        Some(row) => row.with_proof(&proof(&row.id, proofs.get(&row.id).map(Vec::as_slice).unwrap_or_default())),
        None => line.to_owned(),
    };
    let text: String = std::fs::read_to_string(page).unwrap().lines().map(|each| line(each) + "\n").collect();
    std::fs::write(page, text).unwrap();
}
