//! A folder and the endings of names in; the files in it and below it out. Must not know what they hold.

use anyhow::{Context, Result, ensure};
use std::fs;
use std::path::{Path, PathBuf};

/// The most files that are found.
const MAX_FILES: usize = 20_000;
/// The most folders inside each other: links may lead back.
const MAX_DEPTH: usize = 32;
/// The most bytes of a file.
const MAX_BYTES: u64 = 8 << 20;
/// A folder of packages of others.
const PACKAGES: &str = "node_modules";

/// The files below a folder whose names have one of these endings, sorted. What is hidden, and packages of npm, are
/// left out. A file stands for itself.
pub fn files_below(folder: &Path, endings: &[&str]) -> Result<Vec<PathBuf>> {
    ensure!(folder.exists(), "there is no file or folder at {}", folder.display());
    let mut found = Vec::new();
    let mut open = vec![(folder.to_owned(), 0)];
    while let Some((path, depth)) = open.pop() {
        if !path.is_dir() {
            let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
            found.extend(endings.contains(&ending).then_some(path));
            ensure!(found.len() <= MAX_FILES, "{} has more than {MAX_FILES} files", folder.display());
            continue;
        }
        ensure!(depth < MAX_DEPTH, "{}: more than {MAX_DEPTH} folders are inside each other", path.display());
        for entry in fs::read_dir(&path).with_context(|| format!("cannot read {}", path.display()))? {
            let entry = entry.with_context(|| format!("cannot read {}", path.display()))?;
            let name = entry.file_name();
            let is_left_out = name.to_string_lossy().starts_with('.') || name == PACKAGES;
            open.extend((!is_left_out).then(|| (entry.path(), depth + 1)));
        }
    }
    found.sort();
    Ok(found)
}

/// The text of a file.
pub fn text(path: &Path) -> Result<String> {
    let cannot = || format!("cannot read {}", path.display());
    let bytes = fs::metadata(path).with_context(cannot)?.len();
    ensure!(bytes <= MAX_BYTES, "{} has more than {} MiB", path.display(), MAX_BYTES >> 20);
    fs::read_to_string(path).with_context(cannot)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn files_are_found_at_any_depth_by_their_endings() {
        let root = tempfile::tempdir().unwrap();
        for name in ["b.gql", "a/c/d.graphql", "a/x.txt", ".git/e.gql", "node_modules/f/g.gql", "h.gql.orig"] {
            let path = root.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, name).unwrap();
        }
        let found = files_below(root.path(), &["graphql", "gql"]).unwrap();
        let names: Vec<_> = found.iter().map(|path| path.strip_prefix(root.path()).unwrap()).collect();
        assert_eq!(names, [Path::new("a/c/d.graphql"), Path::new("b.gql")]);
        assert_eq!(files_below(&root.path().join("b.gql"), &["gql"]).unwrap(), [root.path().join("b.gql")]);
        assert!(files_below(&root.path().join("none"), &["gql"]).is_err());
        assert_eq!(text(&root.path().join("b.gql")).unwrap(), "b.gql");
        let large = fs::File::create(root.path().join("large.gql")).unwrap();
        large.set_len(MAX_BYTES + 1).unwrap();
        assert!(text(&root.path().join("large.gql")).unwrap_err().to_string().ends_with("has more than 8 MiB"));
    }

    #[cfg(unix)]
    #[test]
    fn a_link_that_leads_back_ends() {
        let root = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink(root.path(), root.path().join("again")).unwrap();
        assert!(files_below(root.path(), &["gql"]).unwrap_err().to_string().contains("inside each other"));
    }
}
