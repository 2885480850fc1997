//! A file with one item per line in DynamoDB JSON in (DynamoDB's export to S3 writes it), its items in batches out.
//! Checks it first. Must not know where the items go.

use super::conversion::{self, ItemOrigin, MISTAKES_SHOWN};
use super::places::Places;
use crate::schema::diagnostics::suggestion::near;
use crate::schema::table::{KeyAttribute, KeyType, Table};
use crate::sources::file::TemporaryFile;
use crate::sources::items::lines::MAX_LINE_LENGTH;
use crate::sources::read;
use crate::table::bulk::export_lines::parse_line;
use crate::table::bulk::fit::{KeyDigest, key_digest, misfit};
use crate::table::data::attribute::{Attribute, Item};
use anyhow::{Context, Result, anyhow, bail};
use std::collections::HashMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

/// Items of one batch.
const BATCH: usize = 500;

/// The items of files up to this size, in bytes, are kept when they have been checked. Larger files are read again.
pub const KEPT: u64 = 4 * 1024 * 1024;

/// A file of items that can be read more than once. Other forms of items are written as lines to a temporary file
/// first.
#[derive(Debug)]
pub struct ItemFile {
    /// Where it is.
    pub path: PathBuf,
    name: String,
    _temporary: Option<TemporaryFile>,
    /// Where the lines come from, if they are written from another form of items.
    places: Option<Places>,
    /// Its lines, if they have been parsed.
    parsed: Option<Vec<Line>>,
}

/// The number of a line, and its item or what is wrong with it.
type Line = (u64, Result<Item, String>);

impl ItemFile {
    /// The items of a table at the path, in any form; `-` is standard input. `note` gets what a person may want to
    /// know.
    pub fn for_table(path: &Path, table: &str, note: &mut dyn FnMut(&str)) -> Result<Self> {
        let source = match ItemOrigin::at(path)? {
            ItemOrigin::File(file) if read::is_item_lines(&file)? => {
                let (path, name) = (file.path.clone(), file.name.clone());
                return Ok(Self { path, name, _temporary: file.into_copy(), places: None, parsed: None });
            }
            source => source,
        };
        let lines = conversion::lines_of(source, table)?;
        lines.notes.iter().for_each(|text| note(text));
        let (path, name) = (lines.file.path.clone(), path.display().to_string());
        Ok(Self { path, name, _temporary: Some(lines.file), places: Some(lines.places), parsed: None })
    }

    /// Where the item of a line stands.
    fn place(&self, line: u64) -> String {
        let place = self.places.as_ref().and_then(|places| places.get(line - 1));
        place.map_or_else(|| format!("{}:{line}", self.name), |place| place.to_string())
    }

    /// The same, for who knows the file.
    fn short_place(&self, line: u64) -> String {
        if self.places.is_some() { self.place(line) } else { format!("line {line}") }
    }

    /// Whether it is the file at a path.
    pub fn is_at(&self, path: &Path) -> bool {
        self.name == path.display().to_string()
    }

    /// Its size in bytes.
    pub fn size(&self) -> Result<u64> {
        Ok(std::fs::metadata(&self.path).with_context(|| format!("cannot open {}", self.name))?.len())
    }

    /// Parses the lines that [`check`](Self::check) needs, and keeps them for it.
    pub fn parse(&mut self) -> Result<()> {
        let (mut parsed, mut mistakes) = (Vec::new(), 0);
        for line in self.lines()? {
            let line = line?;
            mistakes += usize::from(line.1.is_err());
            parsed.push(line);
            if mistakes > MISTAKES_SHOWN {
                break;
            }
        }
        self.parsed = Some(parsed);
        Ok(())
    }

    /// Reads the whole file, or lists the lines that are no items of the table. `see` gets each item.
    pub fn check(mut self, table: &Table, see: &mut dyn FnMut(&Item)) -> Result<CheckedItems> {
        let is_small = self.size()? <= KEPT;
        let mut total = 0;
        let mut kept = Vec::new();
        let mut mistakes = Vec::new();
        // 40 bytes for each line.
        let mut keys: HashMap<KeyDigest, u64> = HashMap::new();
        let lines: Box<dyn Iterator<Item = Result<Line>>> = match self.parsed.take() {
            Some(parsed) => Box::new(parsed.into_iter().map(Ok)),
            None => Box::new(self.lines()?),
        };
        for line in lines {
            let (number, parsed) = line?;
            let item = parsed.and_then(|item| fitting(item, table)).and_then(|item| {
                match key_digest(table, &item).and_then(|digest| keys.insert(digest, number)) {
                    Some(before) => Err(format!("the item has the key of {}", self.short_place(before))),
                    None => Ok(item),
                }
            });
            match item {
                Ok(item) => {
                    total += 1;
                    see(&item);
                    kept.extend(is_small.then_some(item));
                }
                Err(mistake) => mistakes.push(format!("  {}: {mistake}", self.place(number))),
            }
            if mistakes.len() > MISTAKES_SHOWN {
                break;
            }
        }
        if !mistakes.is_empty() {
            let listed = conversion::listed(&mut mistakes);
            return Err(listed);
        }
        Ok(CheckedItems { file: self, total, kept: is_small.then_some(kept) })
    }

    /// The lines, parsed. Blank ones are passed over.
    fn lines(&self) -> Result<impl Iterator<Item = Result<Line>> + use<'_>> {
        let file = File::open(&self.path).with_context(|| format!("cannot open {}", self.name))?;
        let mut reader = BufReader::new(file);
        let mut number = 0;
        Ok(std::iter::from_fn(move || {
            loop {
                number += 1;
                let text = match next_line(&mut reader).transpose()? {
                    Ok(text) => text,
                    Err(error) => return Some(Err(error.context(format!("cannot read {}, line {number}", self.name)))),
                };
                if let Some(parsed) = parse_line(&text).map_err(|mistake| mistake.to_string()).transpose() {
                    return Some(Ok((number, parsed)));
                }
            }
        }))
    }
}

/// The items of a file that has been checked.
#[derive(Debug)]
pub struct CheckedItems {
    file: ItemFile,
    /// How many there are.
    pub total: u64,
    /// All of them, if the file is small.
    kept: Option<Vec<Item>>,
}

impl CheckedItems {
    /// The items in order, in batches, for the table that they were checked for.
    pub fn batches<'a>(&'a mut self, table: &'a Table) -> Result<impl Iterator<Item = Result<Vec<Item>>> + 'a> {
        let mut items: Box<dyn Iterator<Item = Result<Item>> + Send + 'a> = match self.kept.take() {
            Some(kept) => Box::new(kept.into_iter().map(Ok)),
            None => Box::new(self.file.lines()?.map(|line| {
                let (number, parsed) = line?;
                parsed
                    .and_then(|item| fitting(item, table))
                    .map_err(|mistake| anyhow!("{}: {mistake}", self.file.place(number)))
            })),
        };
        Ok(std::iter::from_fn(move || {
            let batch: Result<Vec<Item>> = items.by_ref().take(BATCH).collect();
            if matches!(&batch, Ok(items) if items.is_empty()) { None } else { Some(batch) }
        }))
    }
}

fn next_line(reader: &mut impl BufRead) -> Result<Option<String>> {
    let mut line = Vec::new();
    let read = reader.by_ref().take(MAX_LINE_LENGTH + 1).read_until(b'\n', &mut line)?;
    if line.len() as u64 > MAX_LINE_LENGTH {
        bail!("the line is longer than {MAX_LINE_LENGTH} bytes, more than any item");
    }
    if read == 0 {
        return Ok(None);
    }
    String::from_utf8(line).map(Some).context("it is not UTF-8 text")
}

/// What is wrong with an item without a key attribute. One that is nearly called so is probably meant.
fn missing(key: &KeyAttribute, item: &Item, table: &Table) -> String {
    let is_key = |name: &str| table.key_attributes().iter().any(|key| key.name == name);
    let names: Vec<&str> = item.keys().map(|name| &**name).filter(|name| !is_key(name)).collect();
    let meant = near(&key.name, &names).map(|meant| format!("; is it \"{meant}\"?")).unwrap_or_default();
    format!("the key attribute \"{}\" is missing{meant}", key.name)
}

/// Checks an item: every key attribute has its type, the primary key is complete, and DynamoDB takes its values.
fn fitting(item: Item, table: &Table) -> Result<Item, String> {
    for key in table.primary_key() {
        if !item.contains_key(&key.name) {
            return Err(missing(key, &item, table));
        }
    }
    for key in table.key_attributes() {
        if let Some(value) = item.get(&key.name) {
            fits(key, value)?;
        }
    }
    misfit(table, &item).map_or(Ok(item), Err)
}

/// DynamoDB developer guide, "Naming rules and data types": a key attribute is a string, number or binary, and not
/// empty.
fn fits(key: &KeyAttribute, value: &Attribute) -> Result<(), String> {
    let (kind, empty) = match value {
        Attribute::S(text) => (Some(KeyType::S), text.is_empty()),
        Attribute::N(_) => (Some(KeyType::N), false),
        Attribute::B(bytes) => (Some(KeyType::B), bytes.is_empty()),
        _ => (None, false),
    };
    if kind != Some(key.kind) {
        return Err(format!("the key attribute \"{}\" must be of type {:?}", key.name, key.kind));
    }
    if empty { Err(format!("the key attribute \"{}\" is empty", key.name)) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn table() -> Table {
        let key = |name: &str, kind| KeyAttribute { name: name.into(), kind };
        Table::new("t", key("PK", KeyType::S), Some(key("SK", KeyType::N)))
    }

    fn file(text: &[u8]) -> (tempfile::NamedTempFile, ItemFile) {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        let (path, name) = (file.path().to_owned(), file.path().display().to_string());
        let items = ItemFile { path, name, _temporary: None, places: None, parsed: None };
        (file, items)
    }

    fn line(partition: &str, sort: usize) -> String {
        format!("{{\"Item\": {{\"PK\": {{\"S\": \"{partition}\"}}, \"SK\": {{\"N\": \"{sort}\"}}}}}}\n")
    }

    #[test]
    fn items_come_in_order_and_blank_lines_are_passed_over() {
        let text: String = (0..1201).map(|n| line("a", n) + if n % 100 == 0 { "\r\n\n" } else { "" }).collect();
        let (_keep, items) = file(text.as_bytes());
        let mut items = items.check(&table(), &mut |_| {}).unwrap();
        assert_eq!((items.total, items.kept.as_ref().map(Vec::len)), (1201, Some(1201)));
        let mut batches = || items.batches(&table()).unwrap().map(Result::unwrap).collect::<Vec<Vec<Item>>>();
        let kept = batches();
        assert_eq!(kept.iter().map(Vec::len).collect::<Vec<_>>(), [500, 500, 201]);
        assert_eq!(kept[2][200]["SK"], Attribute::N("1200".into()));
        assert_eq!(batches(), kept, "read again");
    }

    #[test]
    fn lines_parsed_ahead_give_the_same_items_and_the_same_mistakes() {
        let mistakes = line("a", 1) + "nonsense\n\n{\"Item\": {\"PK\": {\"S\": \"a\"}}}\n";
        for text in [line("a", 1) + "\n" + &line("b", 2), mistakes.repeat(9), mistakes] {
            let checked = |is_ahead: bool| {
                let (_keep, mut items) = file(text.as_bytes());
                if is_ahead {
                    items.parse().unwrap();
                }
                let name = items.name.clone();
                let checked =
                    items.check(&table(), &mut |_| {}).map_err(|error| error.to_string().replace(&name, "file"))?;
                Ok::<_, String>((checked.total, checked.kept))
            };
            assert_eq!(checked(true), checked(false));
        }
    }

    #[test]
    fn the_items_of_a_large_file_are_not_kept() {
        let filler = "x".repeat(300_000);
        let text: String = (0..20)
            .map(|n| line("a", n).replace("\"SK\"", &format!("\"filler\": {{\"S\": \"{filler}\"}}, \"SK\"")))
            .collect();
        let (_keep, items) = file(text.as_bytes());
        let mut items = items.check(&table(), &mut |_| {}).unwrap();
        assert!(items.kept.is_none());
        let read: Vec<Item> = items.batches(&table()).unwrap().flat_map(Result::unwrap).collect();
        assert_eq!((items.total, read.len(), &read[19]["SK"]), (20, 20, &Attribute::N("19".into())));
    }

    #[test]
    fn bad_lines_are_named_with_their_numbers() {
        let text = format!(
            "{}nonsense\n\n{}{}",
            line("a", 1),
            "{\"Item\": {\"PK\": {\"S\": \"a\"}}}\n",
            "{\"Item\": {\"PK\": {\"S\": \"\"}, \"SK\": {\"N\": \"1\"}}}\n"
        );
        let (_keep, items) = file(text.as_bytes());
        let message = items.check(&table(), &mut |_| {}).unwrap_err().to_string();
        assert!(message.starts_with("nothing was loaded\n"), "{message}");
        assert!(message.contains(":2: ") && message.contains(":4: the key attribute \"SK\" is missing"), "{message}");
        assert!(message.contains(":5: the key attribute \"PK\" is empty") && !message.contains(":1: "), "{message}");
    }

    #[test]
    fn what_dynamodb_would_refuse_or_replace_is_named_before_anything_is_written() {
        let with = |number: usize, more: &str| {
            line("a", number).replace("}}\n", &format!("}}, {more}}}}}\n")).replace("}}, \"", "}, \"")
        };
        let text = |bytes: usize| with(2, &format!("\"filler\": {{\"S\": \"{}\"}}", "x".repeat(bytes)));
        let checked = |lines: &[String]| {
            let (_keep, items) = file(lines.concat().as_bytes());
            items.check(&table(), &mut |_| {}).map(|items| items.total).map_err(|error| error.to_string())
        };
        assert_eq!(checked(&[line("a", 1), line("a", 2), line("b", 1)]), Ok(3));
        for (lines, number, why) in [
            ([line("a", 1), line("b", 1), line("a", 1)], 3, "the item has the key of line 1"),
            (
                [line("a", 1), line("b", 1), line("a", 1).replace("\"1\"", "\"1.0\"")],
                3,
                "the item has the key of line 1",
            ),
            ([line("a", 1), text(409_600), line("b", 1)], 2, "the item has 4096"),
            ([line("a", 1), line(&"k".repeat(2_049), 1), line("b", 1)], 2, "the key attribute \"PK\" has 2049 bytes"),
            (
                [line("a", 1), with(2, r#""set": {"NS": ["1", "2", "1.0"]}"#), line("b", 1)],
                2,
                "the set in \"set\" repeats a value",
            ),
            (
                [line("a", 1), with(2, r#""list": {"L": [{"SS": ["x", "x"]}]}"#), line("b", 1)],
                2,
                "the set in \"list\" repeats a value",
            ),
        ] {
            let message = checked(&lines).unwrap_err();
            assert!(
                message.starts_with("nothing was loaded\n") && message.contains(&format!(":{number}: {why}")),
                "{message}"
            );
        }
        // The largest item, and one of numbers with many zeros.
        let rest = "PK".len() + "a".len() + "SK".len() + 2 + "filler".len();
        assert_eq!(checked(&[text(409_600 - rest)]), Ok(1));
        assert!(checked(&[text(409_600 - rest + 1)]).is_err());
        let zeros: Vec<String> = (0..8_000).map(|n| format!("\"n{n}\": {{\"N\": \"1{}\"}}", "0".repeat(120))).collect();
        assert_eq!(checked(&[with(2, &zeros.join(", "))]), Ok(1));
    }

    #[test]
    fn a_file_full_of_mistakes_names_the_first() {
        let (_keep, items) = file("x\n".repeat(1000).as_bytes());
        let message = items.check(&table(), &mut |_| {}).unwrap_err().to_string();
        assert_eq!(message.lines().count(), 1 + MISTAKES_SHOWN + 1);
    }

    #[test]
    fn a_line_without_end_and_a_file_that_is_not_text_are_refused() {
        let (_keep, endless) = file(&vec![b'x'; MAX_LINE_LENGTH as usize + 10]);
        assert!(
            format!("{:#}", endless.check(&table(), &mut |_| {}).unwrap_err()).contains("line 1: the line is longer")
        );
        let (_keep, binary) = file(b"\xff\n");
        assert!(format!("{:#}", binary.check(&table(), &mut |_| {}).unwrap_err()).contains("not UTF-8"));
    }

    #[test]
    fn an_empty_file_has_no_items() {
        let (_keep, items) = file(b"");
        let mut items = items.check(&table(), &mut |_| {}).unwrap();
        assert_eq!((items.total, items.batches(&table()).unwrap().count()), (0, 0));
    }
}
