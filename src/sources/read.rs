//! Paths in; what is in the files, to the receiver, out. Recognises the format of each file by its content.

use super::documents;
use super::error::SourceError;
use super::file::SourceFile;
use super::foreign::{self, ForeignFile};
use super::format::SourceFormat;
use super::items::delivery::Delivery;
use super::items::document::{DocumentReader, TextContents};
use super::items::export::{self, TableExport};
use super::items::{changes, csv, lines};
use super::material::{PatternHint, Receiver, TypeHint};
use crate::schema::table::Table;
use crate::table::data::attribute::Item;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

/// How much of a file shows its format, in bytes: more than the longest item that DynamoDB keeps.
const HEAD: u64 = 1024 * 1024;

/// The deepest directories.
const MAX_DEPTH: usize = 8;

/// What was read of a file, or of a directory that is an export.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceSummary {
    /// Its name, as a person knows it.
    pub name: String,
    /// What it is.
    pub format: SourceFormat,
    /// How many items it gave.
    pub items: u64,
}

/// Reads files and directories. `-` is standard input.
pub fn read(paths: &[PathBuf], receiver: &mut dyn Receiver) -> Result<Vec<SourceSummary>, SourceError> {
    let mut reading = Reading { receiver, summaries: Vec::new(), changes: Vec::new(), is_enough: false };
    for path in paths {
        let is_manifest =
            [export::FILES, export::SUMMARY].iter().any(|name| path.file_name().is_some_and(|file| file == *name));
        match path.parent() {
            Some(directory) if is_manifest => reading.export(directory)?,
            _ if path.is_dir() => reading.directory(path)?,
            _ => reading.file(SourceFile::at(path)?)?,
        }
    }
    reading.all_changes()?;
    Ok(reading.summaries)
}

/// Reads one file.
pub fn read_file(file: SourceFile, receiver: &mut dyn Receiver) -> Result<Vec<SourceSummary>, SourceError> {
    let mut reading = Reading { receiver, summaries: Vec::new(), changes: Vec::new(), is_enough: false };
    reading.file(file)?;
    reading.all_changes()?;
    Ok(reading.summaries)
}

/// What a file is. No more of it is read than that takes.
pub fn recognised(file: SourceFile) -> Result<SourceFormat, SourceError> {
    let summaries = read_file(file, &mut FirstItem)?;
    Ok(summaries.first().map_or(SourceFormat::Empty, |summary| summary.format))
}

/// Has enough with the first item.
struct FirstItem;

impl Receiver for FirstItem {
    fn table(&mut self, _: Table) {}

    fn item(&mut self, _: Option<&str>, _: Item) -> ControlFlow<()> {
        ControlFlow::Break(())
    }

    fn type_hint(&mut self, _: Option<&str>, _: TypeHint) {}

    fn pattern_hint(&mut self, _: PatternHint) {}

    fn note(&mut self, _: String) {}
}

/// Whether a file has lines of `{"Item": …}` as they are, or nothing.
pub fn is_item_lines(file: &SourceFile) -> Result<bool, SourceError> {
    let format = format_of(file)?;
    Ok(file.is_plain() && matches!(format, TextFormat::Empty | TextFormat::Lines(SourceFormat::ItemLines)))
}

/// The format of a file, from its beginning.
fn format_of(file: &SourceFile) -> Result<TextFormat, SourceError> {
    let head = file.head(HEAD)?;
    let is_document = |members: &_| documents::format_of(members).is_some();
    Ok(match head.trim_ascii_start().first() {
        None => TextFormat::Empty,
        Some(b'{') => lines::recognised(&head, &is_document).map_or(TextFormat::Json, TextFormat::Lines),
        Some(b'[') => TextFormat::Json,
        _ => format_of_words(&head, file),
    })
}

/// The format of a file that is no JSON.
fn format_of_words(head: &[u8], file: &SourceFile) -> TextFormat {
    let foreign = foreign::described(head);
    if !foreign.is_text {
        return TextFormat::Foreign(foreign);
    }
    let extension = file.extension();
    if let Some(format) = documents::format_of_text(&String::from_utf8_lossy(head), extension.as_deref()) {
        return TextFormat::Document(format);
    }
    csv::separator(head).map_or(TextFormat::Foreign(foreign), TextFormat::Csv)
}

/// How the text of a file is to be read.
enum TextFormat {
    /// It has no text.
    Empty,
    /// An object on each line.
    Lines(SourceFormat),
    /// Any other JSON.
    Json,
    /// A document that is no JSON.
    Document(SourceFormat),
    /// Rows with this separator.
    Csv(u8),
    /// In no way.
    Foreign(ForeignFile),
}

struct Reading<'r> {
    receiver: &'r mut dyn Receiver,
    summaries: Vec<SourceSummary>,
    /// Files of changes, which are read together.
    changes: Vec<SourceFile>,
    is_enough: bool,
}

impl Reading<'_> {
    fn directory(&mut self, directory: &Path) -> Result<(), SourceError> {
        let before = self.summaries.len() + self.changes.len();
        let mut foreign = Vec::new();
        self.walk(directory, 0, &mut foreign)?;
        if self.summaries.len() + self.changes.len() > before {
            foreign.into_iter().for_each(|note| self.receiver.note(note));
            return Ok(());
        }
        let what = match foreign.is_empty() {
            true => "an empty directory".to_owned(),
            false => "a directory of files in no known format".to_owned(),
        };
        Err(SourceError::Unknown { name: directory.display().to_string(), what, advice: foreign.into_iter().next() })
    }

    fn walk(&mut self, directory: &Path, depth: usize, foreign: &mut Vec<String>) -> Result<(), SourceError> {
        if export::is_export(directory) {
            return self.export(directory);
        }
        let unread = |why| SourceError::Read { name: directory.display().to_string(), why };
        let entries = std::fs::read_dir(directory).map_err(unread)?;
        let mut paths = entries.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>, _>>().map_err(unread)?;
        paths.sort();
        let is_hidden = |path: &Path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
        for path in paths.iter().filter(|path| !is_hidden(path)) {
            if path.is_dir() && depth < MAX_DEPTH {
                self.walk(path, depth + 1, foreign)?;
            } else if path.is_file() {
                match self.file(SourceFile::at(path)?) {
                    Err(SourceError::Unknown { name, what, .. }) => foreign.push(format!("{name} is left out: {what}")),
                    read => read?,
                }
            }
        }
        Ok(())
    }

    fn export(&mut self, directory: &Path) -> Result<(), SourceError> {
        let export = TableExport::at(directory)?;
        let name = directory.display().to_string();
        let files = export.files.iter().map(|path| SourceFile::at(path)).collect::<Result<Vec<_>, _>>()?;
        let mut delivery = Delivery::new(self.receiver, &name);
        delivery.table.clone_from(&export.table);
        delivery.is_enough = self.is_enough;
        if export.is_incremental {
            changes::read(&files, &mut delivery)?;
        } else {
            for file in &files {
                delivery.file.clone_from(&file.name);
                lines::read(file, true, &mut delivery)?;
            }
        }
        let (items, is_enough, counted) = (delivery.items, delivery.is_enough, delivery.counted());
        if !is_enough && !export.is_incremental && items != export.promised {
            let promised = export.promised;
            self.receiver.note(format!("{name} has {counted}, and its manifest promises {promised}"));
        }
        self.is_enough = is_enough;
        let format = if export.is_incremental { SourceFormat::IncrementalExport } else { SourceFormat::Export };
        self.summaries.push(SourceSummary { name, format, items });
        Ok(())
    }

    fn file(&mut self, file: SourceFile) -> Result<(), SourceError> {
        let format = format_of(&file)?;
        if let TextFormat::Lines(SourceFormat::IncrementalExport) = format {
            self.changes.push(file);
            return Ok(());
        }
        let mut delivery = Delivery::new(self.receiver, &file.name);
        delivery.is_enough = self.is_enough;
        let format = match format {
            TextFormat::Empty => SourceFormat::Empty,
            TextFormat::Lines(format) => {
                lines::read(&file, format == SourceFormat::ItemLines, &mut delivery)?;
                format
            }
            TextFormat::Json => json(&file, &mut delivery)?,
            TextFormat::Csv(separator) => {
                csv::read(&file, separator, &mut delivery)?;
                SourceFormat::Csv
            }
            TextFormat::Document(format) => {
                documents::read_text(format, &file.text()?, &mut delivery)?;
                format
            }
            TextFormat::Foreign(foreign) => return Err(unknown(&file.name, foreign)),
        };
        let items = delivery.items;
        self.is_enough = delivery.is_enough;
        self.summaries.push(SourceSummary { name: file.name.clone(), format, items });
        Ok(())
    }

    fn all_changes(&mut self) -> Result<(), SourceError> {
        let files = std::mem::take(&mut self.changes);
        let Some(first) = files.first() else { return Ok(()) };
        let mut delivery = Delivery::new(self.receiver, &first.name);
        delivery.is_enough = self.is_enough;
        changes::read(&files, &mut delivery)?;
        let (name, items) = (first.name.clone(), delivery.items);
        self.summaries.push(SourceSummary { name, format: SourceFormat::IncrementalExport, items });
        Ok(())
    }
}

/// Reads JSON: items, or a document.
fn json(file: &SourceFile, delivery: &mut Delivery<'_>) -> Result<SourceFormat, SourceError> {
    let mut take = |members, delivery: &mut Delivery<'_>| match documents::format_of(&members) {
        Some(format) => documents::read(format, members, delivery).map(|()| Ok(format)),
        None => Ok(Err(members)),
    };
    match DocumentReader::read(file, delivery, &mut take)? {
        TextContents::Known(format) => Ok(format),
        TextContents::Unknown(members) => Err(unknown(&file.name, foreign::json(&members))),
        TextContents::NoObject => Err(unknown(&file.name, foreign::described(&file.head(HEAD)?))),
    }
}

fn unknown(name: &str, foreign: ForeignFile) -> SourceError {
    let advice = foreign.advice.map(|advice| advice.replace("FILE", name));
    SourceError::Unknown { name: name.to_owned(), what: foreign.what, advice }
}
