//! Items in any form in; a file of lines with the items of one table, and where each of them stands,
//! out. Must not know what is done with the lines.

use super::places::Places;
use crate::cli::output::counted;
use crate::schema::table::Table;
use crate::sources::error::SourceError;
use crate::sources::file::{SourceFile, TemporaryFile};
use crate::sources::material::{PatternHint, Receiver, SourcePlace, TypeHint};
use crate::sources::read::{SourceSummary, read, read_file};
use crate::table::bulk::export_lines::write_line;
use crate::table::data::attribute::Item;
use anyhow::{Context, Result, anyhow, bail};
use indexmap::IndexMap;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

/// Most mistakes that are listed.
pub const MISTAKES_SHOWN: usize = 10;

/// The lines of a table's items, with their places.
pub struct TableLines {
    /// The lines.
    pub file: TemporaryFile,
    /// Where each line's item stands.
    pub places: Places,
    /// What a person may want to know of them.
    pub notes: Vec<String>,
}

/// Writes the items of a table as lines. A source whose items are all of another table is one of this table, too: who
/// brings it says so.
pub fn lines_of(source: ItemOrigin, table: &str) -> Result<TableLines> {
    let mut conversion = Conversion {
        table,
        own: LineFile::create()?,
        other: LineFile::create()?,
        others: IndexMap::new(),
        place: None,
        mistakes: Vec::new(),
        notes: Vec::new(),
    };
    let summaries = match source {
        ItemOrigin::File(file) => read_file(file, &mut conversion),
        ItemOrigin::Directory(directory) => read(&[directory], &mut conversion),
    };
    conversion.finish(summaries)
}

/// What is brought.
pub enum ItemOrigin {
    /// A file.
    File(SourceFile),
    /// All files of a directory, or an export.
    Directory(PathBuf),
}

impl ItemOrigin {
    /// Finds out what a path leads to; `-` is standard input.
    pub fn at(path: &Path) -> Result<Self, SourceError> {
        if path.is_dir() { Ok(Self::Directory(path.to_owned())) } else { SourceFile::at(path).map(Self::File) }
    }
}

/// A mistake as lists of them have it.
pub fn listed(mistakes: &mut Vec<String>) -> anyhow::Error {
    if mistakes.len() > MISTAKES_SHOWN {
        mistakes.truncate(MISTAKES_SHOWN);
        mistakes.push("  … and perhaps more".into());
    }
    anyhow!("nothing was loaded\n{}", mistakes.join("\n"))
}

struct LineFile {
    file: TemporaryFile,
    out: BufWriter<File>,
    places: Places,
    /// Why a line could not be written.
    failure: Option<io::Error>,
}

impl LineFile {
    fn create() -> Result<Self> {
        let (file, out) = TemporaryFile::create().context("cannot write a temporary file")?;
        Ok(Self { file, out: BufWriter::new(out), places: Places::default(), failure: None })
    }

    fn write(&mut self, item: &Item, place: Option<SourcePlace>) -> ControlFlow<()> {
        let written = writeln!(self.out, "{}", write_line(item));
        self.failure = written.err();
        if let Some(place) = place {
            self.places.push(place);
        }
        if self.failure.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

struct Conversion<'t> {
    table: &'t str,
    own: LineFile,
    /// The items of the only other table.
    other: LineFile,
    /// The other tables, and how many items each has.
    others: IndexMap<String, u64>,
    place: Option<SourcePlace>,
    mistakes: Vec<String>,
    notes: Vec<String>,
}

impl Receiver for Conversion<'_> {
    fn table(&mut self, _: Table) {}

    fn item(&mut self, table: Option<&str>, item: Item) -> ControlFlow<()> {
        let place = self.place.take();
        let Some(other) = table.filter(|table| *table != self.table) else { return self.own.write(&item, place) };
        *self.others.entry(other.to_owned()).or_default() += 1;
        if self.others.len() > 1 { ControlFlow::Continue(()) } else { self.other.write(&item, place) }
    }

    fn type_hint(&mut self, _: Option<&str>, _: TypeHint) {}

    fn pattern_hint(&mut self, _: PatternHint) {}

    fn note(&mut self, note: String) {
        self.notes.push(note);
    }

    fn place(&mut self, place: &SourcePlace) {
        self.place = Some(place.clone());
    }

    fn mistake(&mut self, place: &SourcePlace, problem: &str) -> ControlFlow<()> {
        self.mistakes.push(format!("  {place}: {problem}"));
        if self.mistakes.len() > MISTAKES_SHOWN { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

impl Conversion<'_> {
    fn finish(mut self, summaries: Result<Vec<SourceSummary>, SourceError>) -> Result<TableLines> {
        for file in [&mut self.own, &mut self.other] {
            let failure = file.failure.take().or_else(|| file.out.flush().err());
            failure.map_or(Ok(()), Err).context("cannot write a temporary file")?;
        }
        if !self.mistakes.is_empty() {
            return Err(listed(&mut self.mistakes));
        }
        let summaries = summaries?;
        let (name, counts) = (self.table, self.counts());
        let chosen = if self.own.places.is_empty() && !self.others.is_empty() {
            let (Some((other, count)), 1) = (self.others.first(), self.others.len()) else {
                bail!("there are no items of the table {name}, but of {counts}");
            };
            self.notes.push(format!("{} of the table {other} are loaded into {name}", counted(*count, "item")));
            self.other
        } else {
            if !self.others.is_empty() {
                self.notes.push(format!("items of other tables are left out: of {counts}"));
            }
            self.own
        };
        if chosen.places.is_empty()
            && let Some(summary) = summaries.iter().find(|summary| !summary.format.holds_items())
        {
            bail!("{} is {}: it has no items", summary.name, summary.format);
        }
        Ok(TableLines { file: chosen.file, places: chosen.places, notes: self.notes })
    }

    /// The other tables, with how many items each has.
    fn counts(&self) -> String {
        let all: Vec<String> =
            self.others.iter().map(|(name, count)| format!("{name} ({})", counted(*count, "item"))).collect();
        all.join(", ")
    }
}
