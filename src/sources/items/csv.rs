//! Rows with a header in (NoSQL Workbench, DynamoDB's console, a spreadsheet; RFC 4180), an item for each out.
//!
//! A cell is a text, as DynamoDB's import from S3 reads it (DynamoDB developer guide, "Amazon S3 import formats"). A
//! cell with a map or a list is one. An empty cell is no attribute.

use super::delivery::Delivery;
use super::dialect::loose_value;
use crate::sources::error::SourceError;
use crate::sources::file::SourceFile;
use crate::table::data::attribute::{Attribute, Item};
use serde_json::Value;
use std::io::{BufRead, Read};

/// The longest row, in bytes.
const MAX_ROW_LENGTH: usize = 4 * 1024 * 1024;

/// The characters that may stand between cells.
const SEPARATORS: [u8; 3] = [b',', b';', b'\t'];

/// Rows while they are read.
struct Rows<'f> {
    file: &'f SourceFile,
    bytes: std::io::Bytes<Box<dyn BufRead>>,
    separator: u8,
    line: u64,
    next: Option<u8>,
}

/// What separates the cells of a header; `None` if the first line is none.
pub fn separator(head: &[u8]) -> Option<u8> {
    let line = head.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let count = |separator: &u8| line.iter().filter(|byte| *byte == separator).count();
    let separator = SEPARATORS.into_iter().max_by_key(|separator| (count(separator), *separator == b','))?;
    let names: Vec<&[u8]> = line.split(|byte| *byte == separator).map(<[u8]>::trim_ascii).collect();
    let is_name = |name: &&[u8]| !name.is_empty() && !name.iter().any(|byte| b"{}<>()=".contains(byte));
    (names.len() > 1 && names.iter().all(is_name)).then_some(separator)
}

/// Delivers the rows of a file as items.
pub fn read(file: &SourceFile, separator: u8, delivery: &mut Delivery<'_>) -> Result<(), SourceError> {
    let mut rows = Rows { file, bytes: file.open()?.bytes(), separator, line: 1, next: None };
    let Some((_, header)) = rows.row()? else { return Ok(()) };
    let names: Vec<String> = header.iter().map(|cell| attribute_name(cell)).collect();
    while let Some((line, cells)) = rows.row()? {
        if cells.iter().all(String::is_empty) {
            continue;
        }
        delivery.line = Some(line);
        if cells.len() > names.len() {
            delivery.mistake(format!("the row has {} cells, and the header {}", cells.len(), names.len()))?;
        } else {
            let members = names.iter().zip(cells).filter(|(_, cell)| !cell.is_empty());
            let item: Item = members.map(|(name, cell)| (name.as_str(), value(cell))).collect();
            delivery.item(None, item);
        }
        if delivery.is_enough {
            return Ok(());
        }
    }
    Ok(())
}

/// A name of the header. DynamoDB's console writes the type behind the name.
fn attribute_name(cell: &str) -> String {
    let cell = cell.trim();
    let typed = [" (S)", " (N)", " (B)"].iter().find_map(|kind| cell.strip_suffix(kind));
    typed.unwrap_or(cell).to_owned()
}

/// A cell as a value. The console writes maps and lists in DynamoDB's JSON.
fn value(cell: String) -> Attribute {
    if cell.starts_with(['{', '['])
        && let Ok(value) = cell.parse::<Value>()
    {
        return loose_value(value);
    }
    Attribute::S(cell.into())
}

impl Rows<'_> {
    /// The cells of the next row, and its line.
    fn row(&mut self) -> Result<Option<(u64, Vec<String>)>, SourceError> {
        let Some(mut byte) = self.byte()? else { return Ok(None) };
        let (line, mut cells, mut cell) = (self.line, Vec::new(), Vec::new());
        let (mut is_quoted, mut length) = (false, 0);
        loop {
            length += 1;
            match byte {
                b'"' if is_quoted => {
                    is_quoted = self.byte()?.is_some_and(|next| {
                        self.next = Some(next);
                        next == b'"'
                    });
                    if is_quoted {
                        self.next = None;
                        cell.push(b'"');
                    }
                }
                b'"' if cell.is_empty() => is_quoted = true,
                b'\n' if !is_quoted => break,
                b'\r' if !is_quoted => {}
                byte if byte == self.separator && !is_quoted => cells.push(self.text(std::mem::take(&mut cell))?),
                byte => cell.push(byte),
            }
            if length > MAX_ROW_LENGTH {
                return Err(self.wrong("the row is longer than any item".into()));
            }
            match self.byte()? {
                Some(next) => byte = next,
                None if is_quoted => return Err(self.wrong("the file ends in a quoted cell".into())),
                None => break,
            }
        }
        self.line += u64::from(byte == b'\n');
        cells.push(self.text(cell)?);
        Ok(Some((line, cells)))
    }

    fn byte(&mut self) -> Result<Option<u8>, SourceError> {
        if let Some(next) = self.next.take() {
            return Ok(Some(next));
        }
        self.bytes.next().transpose().map_err(|error| self.file.unread(error))
    }

    fn text(&self, cell: Vec<u8>) -> Result<String, SourceError> {
        String::from_utf8(cell).map_err(|_| self.wrong("it is not UTF-8 text".into()))
    }

    fn wrong(&self, problem: String) -> SourceError {
        SourceError::Syntax { name: self.file.name.clone(), line: self.line, problem }
    }
}
