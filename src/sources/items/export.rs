//! The directory of an export to S3 in (DynamoDB developer guide, "DynamoDB table export output format"), its table and
//! its data files out.

use crate::sources::error::SourceError;
use crate::sources::file::SourceFile;
use serde::Deserialize;
use std::path::{Path, PathBuf};

/// The list of the data files.
pub const FILES: &str = "manifest-files.json";
/// What was exported.
pub const SUMMARY: &str = "manifest-summary.json";

/// An export.
pub struct TableExport {
    /// The table, if the summary is there.
    pub table: Option<String>,
    /// Whether it has changes instead of items.
    pub is_incremental: bool,
    /// Its data files that have items.
    pub files: Vec<PathBuf>,
    /// How many items or changes the manifest promises.
    pub promised: u64,
}

#[derive(Deserialize)]
struct Summary {
    #[serde(rename = "tableArn")]
    table: Option<String>,
    #[serde(rename = "exportType")]
    kind: Option<String>,
    #[serde(rename = "outputFormat")]
    format: Option<String>,
}

#[derive(Deserialize)]
struct DataFile {
    #[serde(rename = "itemCount", default)]
    items: u64,
    #[serde(rename = "dataFileS3Key")]
    key: String,
}

/// Whether a directory is that of an export.
pub fn is_export(directory: &Path) -> bool {
    directory.join(FILES).is_file() || directory.join(SUMMARY).is_file()
}

impl TableExport {
    /// The export in a directory.
    pub fn at(directory: &Path) -> Result<Self, SourceError> {
        let name = directory.display().to_string();
        let mut export = Self { table: None, is_incremental: false, files: Vec::new(), promised: 0 };
        if directory.join(SUMMARY).is_file() {
            export.see_summary(&SourceFile::at(&directory.join(SUMMARY))?)?;
        }
        let manifest = directory.join(FILES);
        if !manifest.is_file() {
            return Err(SourceError::malformed(
                &name,
                format!("the export has no {FILES}, which lists its data files"),
            ));
        }
        let manifest = SourceFile::at(&manifest)?;
        for (line, number) in manifest.text()?.lines().zip(1..).filter(|(line, _)| !line.trim().is_empty()) {
            let file: DataFile = serde_json::from_str(line).map_err(|error| SourceError::Syntax {
                name: manifest.name.clone(),
                line: number,
                problem: format!("this is no data file of an export: {error}"),
            })?;
            let base = file.key.rsplit('/').next().unwrap_or(&file.key);
            let path = directory.join("data").join(base);
            if file.items > 0 && !path.is_file() {
                let problem =
                    format!("the export is incomplete: there is no data/{base}, which has {} items", file.items);
                return Err(SourceError::malformed(&name, problem));
            }
            export.promised += file.items;
            export.files.extend((file.items > 0).then_some(path));
        }
        export.files.sort();
        Ok(export)
    }

    fn see_summary(&mut self, file: &SourceFile) -> Result<(), SourceError> {
        let summary: Summary = serde_json::from_str(&file.text()?)
            .map_err(|error| SourceError::malformed(&file.name, format!("this is no summary of an export: {error}")))?;
        if summary.format.as_deref().is_some_and(|format| format.contains("ION")) {
            return Err(SourceError::Unknown {
                name: file.name.clone(),
                what: "an export in Ion".into(),
                advice: Some("Export the table again with `--export-format DYNAMODB_JSON`".into()),
            });
        }
        self.is_incremental = summary.kind.as_deref().is_some_and(|kind| kind.starts_with("INCREMENTAL"));
        // arn:aws:dynamodb:us-east-1:123456789012:table/orders
        self.table = summary.table.and_then(|arn| Some(arn.split_once(":table/")?.1.split('/').next()?.to_owned()));
        Ok(())
    }
}
