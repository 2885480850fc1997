//! A folder in; the files of its cases, and the golden and the operation of each, out.

use crate::cli::folder::{files_below, text};
use crate::cli::goldens::golden_file::{GoldenFile, Section};
use crate::plan::operation::definitions::definitions;
use anyhow::{Result, anyhow, ensure};
use apollo_compiler::Schema;
use std::path::{Path, PathBuf};

/// The ending of a golden's name.
const GOLDEN: &str = "golden";
/// That of an operation's.
const OPERATION: &str = "graphql";
/// The folder of operations beside a schema.
const OPERATIONS: &str = "operations";

/// The goldens of the cases below a folder, or of a file, sorted. A file with an operation stands for the golden beside
/// it, which may be missing.
pub fn case_files(folder: &Path, api: &Schema) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for path in files_below(folder, &[GOLDEN, OPERATION])? {
        let golden = path.with_extension(GOLDEN);
        if golden == path || has_operation(&path, api)? {
            found.push(golden);
        }
    }
    found.sort();
    found.dedup();
    ensure!(!found.is_empty(), "{} has no cases: no file *.{GOLDEN}, and no operation", folder.display());
    Ok(found)
}

/// Whether a file has an operation, or is not GraphQL: then its case says so.
fn has_operation(path: &Path, api: &Schema) -> Result<bool> {
    let found = definitions(api, &text(path)?);
    Ok(found.map_or(true, |found| found.iter().any(|one| !one.is_fragment)))
}

/// The golden of a file; an empty one if there is no such file yet.
pub fn golden_of(file: &Path) -> Result<GoldenFile> {
    if !file.exists() {
        return Ok(GoldenFile::default());
    }
    GoldenFile::parse(&text(file)?).map_err(|mistake| anyhow!("line {mistake}"))
}

/// The operation of a case: that of its golden, or the file of its name beside it, or in `operations/` beside the
/// schema.
pub fn operation_of(golden: &GoldenFile, file: &Path, schema: &Path) -> Result<String> {
    let beside = file.with_extension(OPERATION);
    let name = beside.file_name().unwrap_or_default();
    let of_schema = schema.with_file_name(OPERATIONS).join(name);
    let place = [&beside, &of_schema].into_iter().find(|path| path.is_file());
    match (golden.get(Section::Operation), place) {
        (Some(operation), _) => Ok(operation.to_owned()),
        (None, Some(path)) => text(path),
        (None, None) => Err(anyhow!(
            "it has no section `operation`, and there is neither {} nor {}",
            beside.display(),
            of_schema.display()
        )),
    }
}
