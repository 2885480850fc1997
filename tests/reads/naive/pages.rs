//! Paging arguments and the length of a list in, the page out (GraphQL cursor connections specification, "Pagination
//! algorithm"). Also the gateway's cursors, with their places.

use super::document::Arguments;
use super::rows::Code;
use keyfold::schema::model::Field;
use serde_json::Value;
use std::collections::BTreeMap;
use std::ops::Range;

/// The size of a page if the field declares none.
const USUAL: u32 = 50;

/// The requested page.
#[derive(Clone)]
pub struct Paging {
    pub size: usize,
    pub backward: bool,
    pub from: Option<String>,
}

/// A page: the positions that it shows, and whether the list continues.
pub struct Page {
    pub shown: Range<usize>,
    pub has_next: bool,
    pub has_previous: bool,
}

/// Cursors and their places: `position of list`.
#[derive(Debug, Default, Clone)]
pub struct Cursors {
    known: BTreeMap<String, String>,
}

impl Cursors {
    /// Records the place of a cursor. A cursor has only one place.
    pub fn note(&mut self, cursor: &str, place: &str) -> Result<(), String> {
        match self.known.insert(cursor.to_owned(), place.to_owned()) {
            Some(other) if other != place => Err(format!("one cursor stands for {other} and for {place}")),
            _ => Ok(()),
        }
    }

    /// The cursors of lists of a field, in the order of their places.
    pub fn of_field(&self, ty: &str, field: &str) -> Vec<&str> {
        let of = format!(" of {ty}.{field} of ");
        let mut known: Vec<(&String, &String)> = self.known.iter().filter(|(_, place)| place.contains(&of)).collect();
        known.sort_by_key(|(_, place)| *place);
        known.into_iter().map(|(cursor, _)| cursor.as_str()).collect()
    }

    /// The position of a cursor in a list, if it belongs to the list.
    pub fn place(&self, cursor: &str, list: &str) -> Result<usize, Code> {
        let place = self.known.get(cursor).and_then(|place| place.split_once(" of "));
        let position = place.filter(|(_, of)| *of == list).and_then(|(position, _)| position.parse().ok());
        position.ok_or("BAD_USER_INPUT")
    }
}

impl Paging {
    /// The page for the arguments.
    pub fn of(arguments: &Arguments, field: &Field, (max, is_of_items): (u32, bool)) -> Result<Self, Code> {
        let value = |name: &str| arguments.values.get(name).filter(|value| !value.is_null());
        let given = |name: &str| arguments.given.iter().any(|known| known == name) && value(name).is_some();
        let backward = !is_of_items && (given("last") || given("before"));
        if backward && (given("first") || given("after")) {
            return Err("BAD_USER_INPUT");
        }
        let (size, other, from) = match (is_of_items, backward) {
            (true, _) => ("limit", "limit", "nextToken"),
            (false, true) => ("last", "first", "before"),
            (false, false) => ("first", "last", "after"),
        };
        // Without a size, the field's declared size applies in both directions.
        let declared =
            |name: &str| field.arguments.iter().find(|argument| argument.name == name)?.default.as_ref()?.as_i64();
        let usual = declared(size).or(declared(other)).unwrap_or(i64::from(USUAL.min(max)));
        let size = value(size).and_then(Value::as_i64).unwrap_or(usual);
        if !(0..=i64::from(max)).contains(&size) {
            return Err("BAD_USER_INPUT");
        }
        Ok(Self {
            size: usize::try_from(size).unwrap(),
            backward,
            from: value(from).and_then(Value::as_str).map(str::to_owned),
        })
    }

    /// The page of a list of places, after or before one.
    pub fn cut(&self, places: &[usize], from: Option<usize>) -> Page {
        if self.backward {
            let end = from.map_or(places.len(), |from| places.partition_point(|place| *place < from));
            let start = end.saturating_sub(self.size);
            Page { shown: start..end, has_next: from.is_some(), has_previous: start > 0 }
        } else {
            let start = from.map_or(0, |from| places.partition_point(|place| *place <= from));
            let end = places.len().min(start + self.size);
            Page { shown: start..end, has_next: end < places.len(), has_previous: from.is_some() }
        }
    }
}
