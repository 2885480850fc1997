//! The pages of docs/language/ as text and examples. Must not know what holds of them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A page: its path under docs/language/ without `.md`, and its text.
pub struct Page {
    pub name: String,
    pub text: String,
}

/// An example of a schema.
pub struct Example {
    /// The heading above it, as in links, and its number if the heading has several: `shards`, `shards-2`.
    pub frame: String,
    pub text: String,
}

/// A block of code: what stands behind its three backticks, the line of these, from 0, and its text.
pub struct Fence {
    pub kind: String,
    pub line: usize,
    pub text: String,
}

pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).to_owned()
}

/// Every page, sorted by name.
pub fn pages() -> Vec<Page> {
    let mut pages = Vec::new();
    collect(&root().join("docs/language"), "", &mut pages);
    pages.sort_by(|left, right| left.name.cmp(&right.name));
    assert!(pages.len() > 40, "{} pages", pages.len());
    pages
}

fn collect(folder: &Path, before: &str, pages: &mut Vec<Page>) {
    for path in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        let name = format!("{before}{}", path.file_stem().unwrap().to_str().unwrap());
        if path.is_dir() {
            collect(&path, &format!("{name}/"), pages);
        } else if path.extension().is_some_and(|extension| extension == "md") {
            pages.push(Page { name, text: std::fs::read_to_string(&path).unwrap() });
        }
    }
}

impl Page {
    /// The blocks of code, in their order.
    pub fn fences(&self) -> Vec<Fence> {
        let mut fences = Vec::new();
        let mut open: Option<Fence> = None;
        for (number, line) in self.text.lines().enumerate() {
            match (&mut open, line.strip_prefix("```")) {
                (Some(_), Some("")) => fences.extend(open.take()),
                (Some(fence), _) => fence.text += &format!("{line}\n"),
                (None, Some(kind)) => open = Some(Fence { kind: kind.to_owned(), line: number, text: String::new() }),
                (None, None) => {}
            }
        }
        assert!(open.is_none(), "{}: a block of code has no end", self.name);
        fences
    }

    /// The headings outside of code: the line of each, from 0, and its text without `#`.
    pub fn headings(&self) -> Vec<(usize, String)> {
        let mut inside = false;
        let mut headings = Vec::new();
        for (number, line) in self.text.lines().enumerate() {
            inside ^= line.starts_with("```");
            if let Some(heading) = line.strip_prefix('#').filter(|_| !inside) {
                headings.push((number, heading.trim_start_matches(['#', ' ']).to_owned()));
            }
        }
        headings
    }

    /// The lines under a heading, up to the next one. `None` without the heading.
    pub fn section(&self, heading: &str) -> Option<Vec<&str>> {
        let headings = self.headings();
        let place = headings.iter().position(|(_, text)| text == heading)?;
        let end = headings.get(place + 1).map_or(usize::MAX, |(line, _)| *line);
        let lines = self.text.lines().enumerate().skip(headings[place].0 + 1);
        Some(lines.take_while(|(number, _)| *number < end).map(|(_, line)| line).collect())
    }

    /// The examples of schemas, in their order, each with the line at which it begins.
    pub fn examples(&self) -> Vec<(usize, Example)> {
        let headings = self.headings();
        let mut numbers = BTreeMap::<String, usize>::new();
        let mut examples = Vec::new();
        for fence in self.fences().into_iter().filter(|fence| fence.kind == "graphql") {
            let above = headings.iter().rev().find(|(line, _)| *line < fence.line);
            let heading = slug(&above.expect("a page begins with a heading").1);
            let number = numbers.entry(heading.clone()).or_default();
            *number += 1;
            let frame = if *number == 1 { heading } else { format!("{heading}-{number}") };
            examples.push((fence.line, Example { frame, text: fence.text }));
        }
        examples
    }
}

/// A heading as it stands in links.
pub fn slug(heading: &str) -> String {
    let kept = heading.to_lowercase().replace(' ', "-");
    kept.chars().filter(|letter| letter.is_alphanumeric() || matches!(letter, '-' | '_')).collect()
}

/// The cells of a row of a table. Nothing for other lines, and for the line under the names of the columns.
pub fn cells(line: &str) -> Vec<&str> {
    let inner = line.strip_prefix('|').and_then(|line| line.strip_suffix('|'));
    let cells: Vec<&str> = inner.into_iter().flat_map(|inner| inner.split('|')).map(str::trim).collect();
    if cells.iter().any(|cell| cell.starts_with("--")) { Vec::new() } else { cells }
}
