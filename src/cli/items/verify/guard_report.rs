//! What is known of a table's unique values in, the report for a person or a program out.

use super::guard_writes::{UNITS_OF_GUARD, WrittenGuards};
use crate::cli::items::guards::UniqueField;
use crate::cli::output::{aligned, counted};
use serde_json::{Value, json};

/// The unique values of a table, and what became of their guards.
#[derive(Debug)]
pub struct GuardReport<'g> {
    /// The table's name.
    pub table: &'g str,
    /// The unique fields.
    pub fields: Vec<UniqueField<'g>>,
    /// A line for each of the first values that several items have.
    pub conflicts: Vec<String>,
    /// Guards of values that no item has.
    pub orphans: u64,
    /// What was written; `None` if nothing was to be.
    pub written: Option<WrittenGuards>,
}

impl GuardReport<'_> {
    /// How many guards can be written.
    pub fn to_write(&self) -> u64 {
        self.fields.iter().map(|field| field.missing - field.conflicts).sum()
    }

    /// Whether each value has the guard of its item, and each guard an item with its value.
    pub fn is_whole(&self) -> bool {
        let written = self.written.map_or(0, |written| written.written);
        self.fields.iter().map(|field| field.missing).sum::<u64>() == written && self.orphans == 0
    }

    /// The report as text.
    pub fn text(&self) -> String {
        if self.fields.is_empty() && self.orphans == 0 && self.written.is_none() {
            return "no unique values\n".to_owned();
        }
        let row = |field: &UniqueField<'_>| {
            let (guarded, conflicts) = (field.values - field.missing, field.conflicts);
            vec![
                format!("  {}", field.field),
                counted(field.values, "value"),
                format!("{guarded} with a guard"),
                format!("{} without", field.missing - conflicts),
                format!("{conflicts} that another item has"),
            ]
        };
        let mut text = format!("Unique values\n{}", aligned(&self.fields.iter().map(row).collect::<Vec<_>>()));
        self.conflicts.iter().for_each(|line| text.push_str(&format!("  conflict: {line}\n")));
        let conflicts: u64 = self.fields.iter().map(|field| field.conflicts).sum();
        let more = conflicts.saturating_sub(self.conflicts.len() as u64);
        if more > 0 {
            text.push_str(&format!("  {} more\n", counted(more, "conflict")));
        }
        text.push_str(&self.outcome());
        text
    }

    /// What was written, or would be.
    fn outcome(&self) -> String {
        let orphans = |guards: u64| format!("{} of values that no item has", counted(guards, "guard"));
        let Some(WrittenGuards { written, overtaken, deleted }) = self.written else {
            let writes = (self.to_write() > 0).then(|| format!("writes {}", counted(self.to_write(), "guard")));
            let deletes = (self.orphans > 0).then(|| format!("deletes {}", orphans(self.orphans)));
            let does: Vec<String> = writes.into_iter().chain(deletes).collect();
            if does.is_empty() {
                return String::new();
            }
            return format!(
                "Nothing is written yet: `keyfold verify --table {} --write-guards --yes` {}, with {UNITS_OF_GUARD} write units each\n",
                self.table,
                does.join(" and ")
            );
        };
        let mut text = String::new();
        if deleted > 0 {
            text.push_str(&format!("{} deleted\n", orphans(deleted)));
        }
        text.push_str(&format!("{} written\n", counted(written, "guard")));
        if overtaken > 0 {
            text.push_str(&format!(
                "{} not written: the item has changed meanwhile, or another one got the value; run the command again\n",
                counted(overtaken, "guard")
            ));
        }
        if self.orphans > 0 {
            text.push_str(&format!(
                "{} not deleted: its item has changed meanwhile; run the command again\n",
                orphans(self.orphans)
            ));
        }
        text
    }

    /// The report as JSON.
    pub fn json(&self) -> Value {
        let field = |field: &UniqueField<'_>| {
            json!({
                "field": field.field, "values": field.values, "withoutGuard": field.missing,
                "ofSeveralItems": field.conflicts,
            })
        };
        let written = self.written.unwrap_or_default();
        json!({
            "fields": self.fields.iter().map(field).collect::<Vec<_>>(), "conflicts": self.conflicts,
            "written": written.written, "overtaken": written.overtaken, "ofNoItem": self.orphans,
            "deleted": written.deleted,
        })
    }
}
