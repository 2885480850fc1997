//! CHANGELOG.md and the files of `changelog.d/` in, every mistake in them out. `changelog.d/README.md` says what the
//! files look like.

/// The kinds of changes, in the order of a release.
pub const KINDS: [&str; 4] = ["breaking", "feature", "fix", "internal"];

/// The mistakes of CHANGELOG.md.
pub fn page(text: &str) -> Vec<String> {
    let has = text.lines().any(|line| line.trim_end() == "## Unreleased");
    if has { Vec::new() } else { vec!["CHANGELOG.md:1: there is no section `## Unreleased`".to_owned()] }
}

/// The mistakes of files of `changelog.d/`, each a path and a text.
pub fn fragments(files: &[(String, String)]) -> Vec<String> {
    files
        .iter()
        .filter(|(path, _)| path != "changelog.d/README.md")
        .filter_map(|(path, text)| mistake(path, text))
        .collect()
}

fn mistake(path: &str, text: &str) -> Option<String> {
    if !is_named_well(path.trim_start_matches("changelog.d/")) {
        return Some(format!(
            "{path}:1: a change is `changelog.d/<slug>.<kind>.md`, the kind one of {}",
            KINDS.join(", ")
        ));
    }
    let said = |what: &str| Some(format!("{path}:1: {what}"));
    match text {
        _ if text.trim().is_empty() => said("the change says nothing"),
        _ if !text.ends_with('\n') => said("the last line has no end"),
        _ if text.starts_with(['-', '*', '#', ' ', '\n']) => said("a change begins with its first sentence"),
        _ if text.contains("\n\n") || text.lines().any(|line| line.starts_with(['-', '#'])) => {
            said("one file is one change, in one paragraph")
        }
        _ if text.contains("**Breaking**") => said("that it breaks something is its kind: name it `….breaking.md`"),
        _ => None,
    }
}

fn is_named_well(name: &str) -> bool {
    let parts: Vec<&str> = name.split('.').collect();
    let [slug, kind, "md"] = parts.as_slice() else { return false };
    let letters = slug.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-');
    letters && slug.starts_with(|letter: char| letter != '-') && KINDS.contains(kind)
}

#[test]
fn a_page_without_unreleased_is_found() {
    assert_eq!(page("# Changelog\n\n## 0.1.0\n").len(), 1);
    assert!(page("# Changelog\n\n## Unreleased\n").is_empty());
}

#[test]
fn fragments_out_of_form_are_found() {
    let found = |path: &str, text: &str| fragments(&[(format!("changelog.d/{path}"), text.to_owned())]);
    assert!(found("a-list-of-3.fix.md", "A list of three\nhas `three` items.\n").is_empty());
    assert!(found("README.md", "# Changes\n").is_empty());
    for path in ["a.md", "a.bug.md", "A.fix.md", ".fix.md", "-a.fix.md", "a.b.fix.md", "a.fix.txt", "more/a.fix.md"] {
        assert_eq!(found(path, "A.\n").len(), 1, "{path}");
    }
    for text in ["", "\n", "A", "- A.\n", "# A\n", "A.\n\nB.\n", "A.\n- B.\n", "**Breaking**: A.\n"] {
        assert_eq!(found("a.fix.md", text).len(), 1, "{text:?}");
    }
}

/// Runs `.ci/changelog` on files of its own.
#[cfg(unix)]
#[test]
fn a_release_gathers_what_breaks_first() {
    use std::fs;
    use std::process::Command;

    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let directory = tempfile::tempdir().unwrap();
    let at = |path: &str| directory.path().join(path);
    fs::create_dir_all(at(".ci")).unwrap();
    fs::create_dir_all(at("changelog.d")).unwrap();
    fs::copy(root.join(".ci/changelog"), at(".ci/changelog")).unwrap();
    for (path, text) in [
        ("CHANGELOG.md", "# Changelog\n\n## Unreleased\n\n### Writes\n\n- Older.\n"),
        ("changelog.d/README.md", "# Changes\n"),
        ("changelog.d/a.fix.md", "Fixed,\nin two lines.\n"),
        ("changelog.d/c.breaking.md", "Third.\n"),
        ("changelog.d/b.breaking.md", "Second.\n"),
        ("changelog.d/a.internal.md", "Ours.\n"),
    ] {
        fs::write(at(path), text).unwrap();
    }
    let run = |arguments: &[&str]| Command::new("bash").arg(at(".ci/changelog")).args(arguments).output().unwrap();
    let gathered = "### Breaking\n\n- Second.\n- Third.\n\n### Fixed\n\n- Fixed,\n  in two lines.\n\n### For contributors\n\n- Ours.\n\n";
    assert_eq!(String::from_utf8_lossy(&run(&[]).stdout), gathered);
    assert!(!run(&["next"]).status.success());
    assert!(run(&["1.2.3"]).status.success());
    let page = fs::read_to_string(at("CHANGELOG.md")).unwrap();
    assert_eq!(page, format!("# Changelog\n\n## Unreleased\n\n## 1.2.3\n\n{gathered}### Writes\n\n- Older.\n"));
    let left: Vec<_> = fs::read_dir(at("changelog.d")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["README.md"]);
    assert!(!run(&["1.2.3"]).status.success());
}
