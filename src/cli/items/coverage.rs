//! Items of a table in, how many of them each type of the schema covers out, and what the others look like.

use super::survey::Survey;
use crate::cli::output::{aligned, counted};
use crate::execute::key::shown::shown;
use crate::infer::material::{is_guard, is_record};
use crate::infer::shape::atoms::{Atom, atom};
use crate::schema::model::{Model, ObjectType};
use crate::schema::table::Table;
use crate::table::data::attribute::{Attribute, Item};
use crate::table::store::TableStore;
use indexmap::IndexMap;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// The most forms of keys that are kept: 200 bytes each, and three keys.
const MAX_FORMS: usize = 1_000;
/// Keys that are shown of each form.
const KEYS_SHOWN: usize = 3;
/// Forms that are shown.
const FORMS_SHOWN: usize = 10;
/// The longest key that is kept, in characters.
const KEY_LENGTH: usize = 120;

/// The most items of a table that are looked at in a store.
const MAX_KEYS: usize = 100_000;
/// Items read at once.
const PAGE: u32 = 1_000;
/// How long reading them may take.
const PAGE_BOUND: Duration = Duration::from_secs(30);

/// Looks at the first items of each table in a store, and prints the lines as warnings.
pub async fn warn_of_store(store: TableStore, model: Arc<Model>) {
    for table in &model.tables {
        let mut coverage = Coverage::new(&model, table);
        let (mut seen, mut start) = (0, None);
        while seen < MAX_KEYS {
            // A table that cannot be read is reported by the first request.
            let Ok(page) = store.scan_page(&table.name, start.take(), PAGE, Instant::now() + PAGE_BOUND).await else {
                coverage.survey.leave_out();
                break;
            };
            page.items.iter().for_each(|item| _ = coverage.see(item));
            seen += page.items.len();
            start = page.last_key;
            if start.is_none() {
                break;
            }
        }
        if start.is_some() {
            coverage.survey.leave_out();
        }
        coverage.warn();
    }
}

/// How many items of a table are of which type.
#[derive(Debug)]
pub struct Coverage<'m> {
    table: &'m Table,
    /// What is known of the items beside their types.
    pub survey: Survey<'m>,
    /// The items of each type, in the order of the schema.
    types: Vec<(String, u64)>,
    /// All items.
    items: u64,
    /// Guards of unique values, which are items of no type.
    guards: u64,
    /// Records of requests, which are items of no type.
    records: u64,
    /// Items that could be of several types.
    several: u64,
    /// Items of no type, by the form of their keys.
    uncovered: IndexMap<String, Uncovered>,
    /// Items of no type whose form was not kept.
    others: u64,
}

/// Items of no type whose keys have one form.
#[derive(Debug, Default)]
struct Uncovered {
    count: u64,
    keys: Vec<String>,
}

impl<'m> Coverage<'m> {
    /// The coverage of a table, before any item is seen.
    pub fn new(model: &'m Model, table: &'m Table) -> Self {
        let survey = Survey::new(model, table);
        let types = survey.type_names().map(|name| (name.to_owned(), 0)).collect();
        Self {
            table,
            survey,
            types,
            items: 0,
            guards: 0,
            records: 0,
            several: 0,
            uncovered: IndexMap::new(),
            others: 0,
        }
    }

    /// Whether it is that of a table.
    pub fn is_of(&self, table: &Table) -> bool {
        self.table.name == table.name
    }

    /// Looks at an item. Gives its type.
    pub fn see(&mut self, item: &Item) -> Option<&'m ObjectType> {
        self.items += 1;
        let fitting = self.survey.see(item);
        if is_guard(self.table, item) {
            self.guards += 1;
            return None;
        }
        if is_record(self.table, item) {
            self.records += 1;
            return None;
        }
        let Some(position) = fitting.first() else {
            self.uncover(item);
            return None;
        };
        self.several += u64::from(fitting.len() > 1);
        if let Some((_, count)) = self.types.get_mut(*position) {
            *count += 1;
        }
        self.survey.ty(*position)
    }

    /// Whether every item is of a type, guards and records set apart.
    pub fn is_whole(&self) -> bool {
        self.uncovered.is_empty() && self.others == 0
    }

    /// The first line: how many items are of a type.
    pub fn summary(&self) -> String {
        let uncovered: u64 = self.uncovered.values().map(|of| of.count).sum::<u64>() + self.others;
        let items = self.items - self.guards - self.records;
        let counts = [(self.guards, "guard", "unique values"), (self.records, "record", "requests")];
        let there = counts.into_iter().filter(|(count, ..)| *count > 0);
        let guards: String = there.map(|(count, word, of)| format!(", and {} of {of}", counted(count, word))).collect();
        if items == 0 {
            return format!("{}: no items{guards}", self.table.name);
        }
        let share = (items - uncovered) as f64 * 100.0 / items as f64;
        // Only all items are 100 %.
        let share = if uncovered > 0 { share.min(99.9) } else { share };
        format!(
            "{}: {} of {} are of a type ({share:.1} %){guards}",
            self.table.name,
            items - uncovered,
            counted(items, "item")
        )
    }

    /// Prints what a person should know as warnings.
    pub fn warn(&self) {
        if !self.is_whole() {
            let first = self.uncovered.values().find_map(|of| of.keys.first());
            let first = first.map(|key| format!("; no type has the key {key}")).unwrap_or_default();
            eprintln!("warning: {}{first}; `keyfold verify FILE…` lists all such items", self.summary());
        }
        self.survey.lines().iter().for_each(|line| eprintln!("warning: {line}"));
    }

    /// The report as text: the types, the items of none, and what surprises about items.
    pub fn text(&self) -> String {
        let mut text = format!("{}\n", self.summary());
        let all = (self.items - self.guards - self.records).max(1);
        let row = |(name, count): &(String, u64)| {
            vec![format!("  {name}"), count.to_string(), format!("{:.1} %", *count as f64 * 100.0 / all as f64)]
        };
        text.push_str(&aligned(&self.types.iter().map(row).collect::<Vec<_>>()));
        if self.several > 0 {
            text.push_str(&format!(
                "  {} could be of several types, and count as the first\n",
                counted(self.several, "item")
            ));
        }
        for (form, of) in self.uncovered.iter().take(FORMS_SHOWN) {
            text.push_str(&format!(
                "  no type: {} like {form}, such as {}\n",
                counted(of.count, "item"),
                of.keys.join("; ")
            ));
        }
        let more: u64 = self.uncovered.values().skip(FORMS_SHOWN).map(|of| of.count).sum::<u64>() + self.others;
        if more > 0 {
            text.push_str(&format!("  no type: {} more, in other forms\n", counted(more, "item")));
        }
        for line in self.survey.lines() {
            text.push_str(&format!("  {line}\n"));
        }
        for note in self.survey.notes() {
            text.push_str(&format!("  note: {note}\n"));
        }
        text
    }

    /// The report as JSON.
    pub fn json(&self) -> Value {
        let types: Vec<Value> =
            self.types.iter().map(|(name, count)| json!({ "type": name, "items": count })).collect();
        let uncovered: Vec<Value> = self
            .uncovered
            .iter()
            .map(|(form, of)| json!({ "keys": form, "items": of.count, "examples": of.keys }))
            .collect();
        json!({
            "table": self.table.name, "items": self.items, "guards": self.guards, "records": self.records,
            "types": types, "ofSeveralTypes": self.several, "ofNoType": uncovered,
            "ofNoTypeInOtherForms": self.others, "warnings": self.survey.lines(),
            "findings": self.survey.json(), "notes": self.survey.notes(),
        })
    }

    fn uncover(&mut self, item: &Item) {
        let form = form(self.table, item);
        let is_full = self.uncovered.len() >= MAX_FORMS && !self.uncovered.contains_key(&form);
        if is_full {
            self.others += 1;
            return;
        }
        let of = self.uncovered.entry(form).or_default();
        of.count += 1;
        if of.keys.len() < KEYS_SHOWN {
            let key = shown(self.table.primary_key().map(|key| key.name.as_str()), item);
            of.keys.push(key.chars().take(KEY_LENGTH).collect());
        }
    }
}

/// The form of an item's key: its words, and `…` for all else.
fn form(table: &Table, item: &Item) -> String {
    let of_key = |name: &str| match item.get(name) {
        Some(Attribute::S(text)) => masked(text.as_str()),
        Some(Attribute::N(_)) => "a number".to_owned(),
        Some(Attribute::B(_)) => "bytes".to_owned(),
        Some(_) => "no key".to_owned(),
        None => "no key".to_owned(),
    };
    table.primary_key().map(|key| of_key(&key.name)).collect::<Vec<_>>().join(" | ")
}

fn masked(text: &str) -> String {
    let mut masked = String::new();
    let is_part = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '-' | '.' | '@' | ' ' | '%');
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let end = rest.find(|letter| is_part(letter) != is_part(first)).unwrap_or(rest.len());
        let part = &rest[..end];
        let is_label = !is_part(first)
            || atom(part) == Atom::Word
                && (masked.is_empty() || part.len() > 2 && !part.chars().any(char::is_lowercase));
        masked.push_str(if is_label { part } else { "…" });
        rest = &rest[end..];
    }
    masked.chars().take(KEY_LENGTH).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_form_of_a_key_is_its_words() {
        assert_eq!(masked("USER#ann"), "USER#…");
        assert_eq!(masked("ORDER#2026-01-01#ITEM#7"), "ORDER#…#ITEM#…");
        assert_eq!(masked("PROFILE"), "PROFILE");
        assert_eq!(masked("a1b2"), "…");
    }
}
