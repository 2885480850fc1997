//! The messages about wrong schemas: `tests/diagnostics/<case>.graphql` gives `<case>.txt`; `UPDATE_EXPECT=1` refreshes
//! it. A case named after a code must report that code, every rule must have its case, and docs/errors.md must match
//! the rules and the smallest schemas.

use keyfold::schema::diagnostics::diagnostic::Diagnostic;
use keyfold::schema::diagnostics::help::edited;
use keyfold::schema::diagnostics::rules;
use keyfold::schema::load;
use libtest_mimic::{Failed, Trial};
use std::path::{Path, PathBuf};

/// A test a schema, and those that hold schemas, rules and the page together.
pub fn trials() -> Vec<Trial> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut cases: Vec<PathBuf> = std::fs::read_dir(root.join("tests/diagnostics"))
        .expect("the cases")
        .map(|entry| entry.expect("a case").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "graphql"))
        .collect();
    cases.sort();
    let names: Vec<String> =
        cases.iter().map(|path| path.file_stem().expect("a name").to_string_lossy().into_owned()).collect();
    let trial =
        |(path, name): (PathBuf, String)| Trial::test(format!("diagnostics::{name}"), move || golden(&path, &name));
    let fix = |(path, name): (PathBuf, String)| Trial::test(format!("diagnostics::fix::{name}"), move || fixes(&path));
    let fixed: Vec<Trial> = cases.iter().cloned().zip(names.clone()).map(fix).collect();
    let mut trials: Vec<Trial> = cases.into_iter().zip(names.clone()).map(trial).collect();
    trials.extend(fixed);
    trials.push(Trial::test("diagnostics::every_rule_has_a_case", move || every_rule_has_a_case(&names)));
    trials.push(Trial::test("diagnostics::docs_errors_page", || {
        expect(&root.join("docs/errors.md"), &super::errors_page::page()?)
    }));
    trials.push(Trial::test("diagnostics::the_page_has_every_rule", the_page_has_every_rule));
    trials
}

fn the_page_has_every_rule() -> Result<(), Failed> {
    let page = super::errors_page::page()?;
    let is_missing = |code: &&str| !page.contains(&format!("\n### {code}: "));
    let missing: Vec<&str> = rules::rules().map(|rule| rule.code).filter(is_missing).collect();
    if missing.is_empty() { Ok(()) } else { Err(format!("docs/errors.md lacks {missing:?}").into()) }
}

/// The environment of every case.
fn environment(name: &str) -> Option<String> {
    (name == "STAGE").then(|| "dev".to_owned())
}

fn golden(path: &Path, name: &str) -> Result<(), Failed> {
    let text = std::fs::read_to_string(path)?;
    let file = path.file_name().expect("a name").to_string_lossy();
    let diagnostics = match load(&file, &text, &environment) {
        Ok((_, warnings)) => warnings,
        Err(mistakes) => mistakes,
    };
    if name.starts_with("KF") && !diagnostics.list.iter().any(|found| name.starts_with(found.code)) {
        return Err(format!("{name} is not found:\n{}", diagnostics.render(false)).into());
    }
    if name == "ten_mistakes" && diagnostics.list.len() != 10 {
        return Err(
            format!("{} findings instead of ten:\n{}", diagnostics.list.len(), diagnostics.render(false)).into()
        );
    }
    expect(&path.with_extension("txt"), &diagnostics.render(false))
}

/// Each help with edits repairs its mistake: after them, the mistake is gone, and no new one is there.
fn fixes(path: &Path) -> Result<(), Failed> {
    let text = std::fs::read_to_string(path)?;
    let check = |text: &str| match load("s", text, &environment) {
        Ok((_, warnings)) => warnings.list,
        Err(mistakes) => mistakes.list,
    };
    let before = check(&text);
    let said = |list: &[Diagnostic]| -> Vec<String> {
        list.iter().map(|found| format!("{} {}", found.code, found.message)).collect()
    };
    for found in before.iter().filter(|found| !found.fix.is_empty()) {
        let own = format!("{} {}", found.code, found.message);
        let mut rest = said(&before);
        rest.remove(rest.iter().position(|known| *known == own).expect("the finding"));
        let right = edited(&text, &found.fix);
        let new: Vec<String> = said(&check(&right)).into_iter().filter(|one| !take(&mut rest, one)).collect();
        if !new.is_empty() {
            return Err(format!("the fix of `{own}` leaves or brings {new:#?}:\n{right}").into());
        }
    }
    Ok(())
}

/// Takes an element out of a list that has it.
fn take(list: &mut Vec<String>, one: &str) -> bool {
    list.iter().position(|known| known == one).map(|at| list.swap_remove(at)).is_some()
}

/// Compares with the file, or writes it.
fn expect(path: &Path, actual: &str) -> Result<(), Failed> {
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        return Ok(std::fs::write(path, actual)?);
    }
    let expected = std::fs::read_to_string(path).unwrap_or_default();
    if expected == actual {
        return Ok(());
    }
    let difference = similar::TextDiff::from_lines(expected.as_str(), actual)
        .unified_diff()
        .header("expected", "actual")
        .to_string();
    Err(format!("{} differs (UPDATE_EXPECT=1 refreshes it):\n{difference}", path.display()).into())
}

fn every_rule_has_a_case(names: &[String]) -> Result<(), Failed> {
    let missing: Vec<&str> =
        rules::rules().map(|rule| rule.code).filter(|code| !names.iter().any(|name| name.starts_with(code))).collect();
    if missing.is_empty() { Ok(()) } else { Err(format!("no case for {missing:?}").into()) }
}
