//! A file with a JSON object on each line in, its items out. A line that is no item leaves the others as they are.

use super::delivery::Delivery;
use super::dialect::Dialect;
use super::element::{JsonElement, KeyChange, Members};
use crate::sources::error::SourceError;
use crate::sources::file::SourceFile;
use crate::sources::format::SourceFormat;
use crate::sources::json_text::without_place;
use crate::table::bulk::export_lines::LineError;
use serde_json::Value;
use std::io::{BufRead, Read};

/// The longest line, in bytes: ten times the largest item, since JSON and base64 add to it.
pub const MAX_LINE_LENGTH: u64 = 4 * 1024 * 1024;

/// The number of a line, and its text or what is wrong with it.
type NumberedText = (u64, Result<String, String>);

/// The lines of a file, each with its number. Blank ones are passed over.
pub struct Lines<'f> {
    file: &'f SourceFile,
    bytes: Box<dyn BufRead>,
    number: u64,
}

impl<'f> Lines<'f> {
    /// The lines of a file.
    pub fn new(file: &'f SourceFile) -> Result<Self, SourceError> {
        Ok(Self { file, bytes: file.open()?, number: 0 })
    }

    fn next_line(&mut self) -> Result<Option<NumberedText>, SourceError> {
        loop {
            let mut line = Vec::new();
            let mut bytes = self.bytes.by_ref().take(MAX_LINE_LENGTH + 1);
            let read = bytes.read_until(b'\n', &mut line).map_err(|error| self.file.unread(error))?;
            self.number += 1;
            if read == 0 {
                return Ok(None);
            }
            if line.len() as u64 > MAX_LINE_LENGTH {
                let problem = format!("the line is longer than {MAX_LINE_LENGTH} bytes, more than any item");
                return Err(SourceError::Syntax { name: self.file.name.clone(), line: self.number, problem });
            }
            if !line.trim_ascii().is_empty() {
                let text = String::from_utf8(line).map_err(|_| "it is not UTF-8 text".to_owned());
                return Ok(Some((self.number, text)));
            }
        }
    }
}

impl Iterator for Lines<'_> {
    /// The number of a line, and its object or what is wrong with it.
    type Item = Result<(u64, Result<Members, String>), SourceError>;

    fn next(&mut self) -> Option<Self::Item> {
        let line = self.next_line().transpose()?;
        Some(line.map(|(number, text)| (number, text.and_then(|text| object(&text)))))
    }
}

/// The object that a line is.
pub fn object(line: &str) -> Result<Members, String> {
    match line.parse() {
        Ok(Value::Object(members)) => Ok(members),
        Ok(_) => Err(LineError::Shape.to_string()),
        Err(error) => Err(broken(&error)),
    }
}

/// What is wrong with a line that is no JSON.
fn broken(error: &serde_json::Error) -> String {
    let column = error.column();
    if error.is_eof() {
        return "the line ends in the middle".into();
    }
    format!("this is not JSON: {} at column {column}", without_place(error))
}

/// Delivers the items of a file. `is_wrapped`: each line is `{"Item": …}`.
pub fn read(file: &SourceFile, is_wrapped: bool, delivery: &mut Delivery<'_>) -> Result<(), SourceError> {
    for line in Lines::new(file)? {
        let (number, members) = line?;
        delivery.line = Some(number);
        match members.map(JsonElement::recognised) {
            Ok(JsonElement::Items(_, items)) => {
                for (table, members) in items {
                    delivery.members(table.as_deref(), members)?;
                }
            }
            Ok(JsonElement::Other(members)) if !is_wrapped => delivery.members(None, members)?,
            Ok(_) => delivery.mistake(LineError::Shape.to_string())?,
            Err(problem) => delivery.mistake(problem)?,
        }
        if delivery.is_enough {
            break;
        }
    }
    Ok(())
}

/// The changes of a file, each with its line.
pub fn changes(
    file: &SourceFile,
) -> Result<impl Iterator<Item = Result<(u64, KeyChange), SourceError>> + '_, SourceError> {
    Ok(Lines::new(file)?.map(|line| {
        let (number, members) = line?;
        let problem = match members.map(JsonElement::recognised) {
            Ok(JsonElement::Change(change)) => return Ok((number, change)),
            Ok(_) => "expected a change with \"Metadata\" and \"Keys\"".to_owned(),
            Err(problem) => problem,
        };
        Err(SourceError::Syntax { name: file.name.clone(), line: number, problem })
    }))
}

/// What the lines of a file are, if it has a line for each item: seen from the first of them. `is_document`: whether an
/// object is a model or a table. `None`: the first line is no object, and a longer document may begin there.
pub fn recognised(head: &[u8], is_document: &dyn Fn(&Members) -> bool) -> Option<SourceFormat> {
    let text = String::from_utf8_lossy(head);
    let complete = text.rfind('\n').map_or(text.as_ref(), |end| &text[..=end]);
    for line in complete.lines().filter(|line| !line.trim().is_empty()).take(3) {
        match line.parse::<Value>() {
            Ok(Value::Object(members)) => return format_of_line(members, is_document),
            // Not the end, but a mistake: the next line says more.
            Err(error) if !error.is_eof() => {}
            _ => return None,
        }
    }
    None
}

/// What an object on a line of its own is.
fn format_of_line(members: Members, is_document: &dyn Fn(&Members) -> bool) -> Option<SourceFormat> {
    match JsonElement::recognised(members) {
        JsonElement::Items(format @ (SourceFormat::ItemLines | SourceFormat::GetOutput), _) => Some(format),
        JsonElement::Change(_) => Some(SourceFormat::IncrementalExport),
        JsonElement::Other(members) if !is_document(&members) => {
            Dialect::seen_in(&members).map(|dialect| match dialect {
                Dialect::Typed => SourceFormat::TypedItems,
                Dialect::Plain => SourceFormat::PlainItems,
            })
        }
        _ => None,
    }
}
