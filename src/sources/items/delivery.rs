//! The items of a file in, the receiver's calls out: each with its place, in the file's dialect, until the receiver has
//! enough.

use super::dialect::Dialect;
use crate::sources::error::SourceError;
use crate::sources::material::{Receiver, SourcePlace, SourcePosition};
use crate::table::data::attribute::Item;
use serde_json::{Map, Value};

/// The way of a file's items to the receiver.
pub struct Delivery<'r> {
    /// Who receives them.
    pub receiver: &'r mut dyn Receiver,
    /// The file, as a person knows it.
    pub file: String,
    /// The table of the items that name none.
    pub table: Option<String>,
    /// The line of the item that comes, if the file has a line for each.
    pub line: Option<u64>,
    /// How many items came, with those that are none.
    pub items: u64,
    /// Whether the receiver has enough.
    pub is_enough: bool,
    dialect: Option<Dialect>,
}

impl<'r> Delivery<'r> {
    /// The way of a file's items.
    pub fn new(receiver: &'r mut dyn Receiver, file: &str) -> Self {
        let file = file.to_owned();
        Self { receiver, file, table: None, line: None, items: 0, is_enough: false, dialect: None }
    }

    /// The dialect of the file so far.
    pub fn dialect(&self) -> Option<Dialect> {
        self.dialect
    }

    /// Delivers the item with these members.
    pub fn members(&mut self, table: Option<&str>, members: Map<String, Value>) -> Result<(), SourceError> {
        self.dialect = self.dialect.or_else(|| Dialect::seen_in(&members));
        match self.dialect.unwrap_or(Dialect::Typed).item(members) {
            Ok(item) => self.item(table, item),
            Err(problem) => return self.mistake(problem),
        }
        Ok(())
    }

    /// Delivers an item.
    pub fn item(&mut self, table: Option<&str>, item: Item) {
        if self.is_enough {
            return;
        }
        self.items += 1;
        let place = self.place();
        self.receiver.place(&place);
        self.is_enough = self.receiver.item(table.or(self.table.as_deref()), item).is_break();
    }

    /// Reports what stands where an item should.
    pub fn mistake(&mut self, problem: String) -> Result<(), SourceError> {
        if self.is_enough {
            return Ok(());
        }
        self.items += 1;
        let place = self.place();
        if self.receiver.mistake(&place, &problem).is_break() {
            return Err(SourceError::Item { place, problem });
        }
        Ok(())
    }

    /// How many items came, for a person.
    pub fn counted(&self) -> String {
        counted(self.items)
    }

    fn place(&self) -> SourcePlace {
        let position = self.line.map_or(SourcePosition::Item(self.items), SourcePosition::Line);
        SourcePlace { file: self.file.clone(), position }
    }
}

/// A number of items, for a person.
pub fn counted(items: u64) -> String {
    if items == 1 { "1 item".into() } else { format!("{items} items") }
}
