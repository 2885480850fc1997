//! A JSON text of documents, lists and pages in, the items in it out as they come. What is no item goes to who knows
//! documents. Holds one item at a time, and what a document is made of besides items.

use super::delivery::Delivery;
use super::dialect::Dialect;
use super::element::{JsonElement, Members, is_beside};
use crate::sources::error::SourceError;
use crate::sources::file::{MAX_TEXT_LENGTH, SourceFile};
use crate::sources::format::SourceFormat;
use crate::sources::json_text::{JsonFailure, JsonText, RawValue};
use serde_json::Value;

/// Takes an object that holds no items in a known form: a model or a table. Gives the object back if it is neither.
pub type TakeDocument<'t> =
    dyn FnMut(Members, &mut Delivery<'_>) -> Result<Result<SourceFormat, Members>, SourceError> + 't;

/// A text while it is read.
pub struct DocumentReader<'a, 'f, 'r> {
    text: JsonText<'f>,
    name: &'f str,
    delivery: &'a mut Delivery<'r>,
    take: &'a mut TakeDocument<'a>,
    format: Option<SourceFormat>,
    /// Whether the last page says that there are more.
    is_partial: bool,
    /// The first object that is no item in a known form. It is one if more of them follow.
    first: Option<Members>,
}

/// What a text is.
pub enum TextContents {
    /// A known format.
    Known(SourceFormat),
    /// JSON of another shape: the first members.
    Unknown(Vec<String>),
    /// JSON of another shape, and no object.
    NoObject,
}

impl<'a, 'f, 'r> DocumentReader<'a, 'f, 'r> {
    /// Reads a file.
    pub fn read(
        file: &'f SourceFile,
        delivery: &'a mut Delivery<'r>,
        take: &'a mut TakeDocument<'a>,
    ) -> Result<TextContents, SourceError> {
        let text = JsonText::new(file)?;
        let mut reader = Self { text, name: &file.name, delivery, take, format: None, is_partial: false, first: None };
        match reader.values() {
            Ok(contents) => Ok(contents),
            Err(JsonFailure::Other(error)) => Err(error),
            Err(JsonFailure::CutOff) => {
                Err(SourceError::CutOff { name: file.name.clone(), items: reader.delivery.counted() })
            }
        }
    }

    fn values(&mut self) -> Result<TextContents, JsonFailure> {
        let mut is_list = false;
        while let Some(next) = self.text.peek()?
            && !self.delivery.is_enough
        {
            match next {
                b'{' => self.object()?,
                b'[' => {
                    is_list = true;
                    self.list()?;
                }
                _ if self.format.is_none() && self.first.is_none() => return Ok(TextContents::NoObject),
                b',' => return Err(self.text.wrong("a comma stands between two objects: leave it out")),
                _ => return Err(self.text.wrong("expected an object or a list")),
            }
        }
        if self.is_partial && !self.delivery.is_enough {
            let name = self.name;
            self.delivery
                .receiver
                .note(format!("{name} ends with a page that others follow: the table has more items"));
        }
        Ok(match (self.format, self.first.take()) {
            (Some(format), _) => TextContents::Known(format),
            (None, Some(first)) => TextContents::Unknown(first.keys().cloned().collect()),
            (None, None) if is_list => TextContents::Known(SourceFormat::PlainItems),
            (None, None) => TextContents::NoObject,
        })
    }

    /// A list of items, of what calls give, or of tables.
    fn list(&mut self) -> Result<(), JsonFailure> {
        self.elements(|reader, value| {
            let Some(members) = reader.parsed(value)? else { return Ok(()) };
            reader.element(members, true)
        })
    }

    /// Reads a list, and calls for each element, until the receiver has enough.
    fn elements(
        &mut self,
        mut each: impl FnMut(&mut Self, &RawValue) -> Result<(), JsonFailure>,
    ) -> Result<(), JsonFailure> {
        self.text.take(b'[')?;
        if self.text.take(b']')? {
            return Ok(());
        }
        loop {
            if self.text.peek()? == Some(b']') {
                return Err(self.text.wrong("a comma stands before ]: leave it out"));
            }
            let value = self.text.value()?;
            each(self, &value)?;
            if self.delivery.is_enough || !self.text.either(b',', b']')? {
                return Ok(());
            }
        }
    }

    /// The object that a value is. Anything else is a mistake.
    fn parsed(&mut self, value: &RawValue) -> Result<Option<Members>, JsonFailure> {
        match value.parse() {
            Ok(Value::Object(members)) => Ok(Some(members)),
            Ok(_) => {
                self.delivery.mistake("expected an object".into())?;
                Ok(None)
            }
            Err(mistake) => {
                self.delivery.mistake(format!("{} (line {})", mistake.problem, mistake.line))?;
                Ok(None)
            }
        }
    }

    /// An object of its own, member by member.
    fn object(&mut self) -> Result<(), JsonFailure> {
        self.text.take(b'{')?;
        let mut members = Members::new();
        let mut length = 0;
        let mut streamed = None;
        if !self.text.take(b'}')? {
            loop {
                let name = self.text.name()?;
                let is_list = self.text.peek()? == Some(b'[');
                if let Some(format) = if is_list { self.streamed(&name, &mut members)? } else { None } {
                    streamed = Some(format);
                } else if !is_list {
                    let value = self.text.value()?;
                    length += value.length();
                    members.insert(name, self.value(&value)?);
                }
                if length > MAX_TEXT_LENGTH {
                    return Err(self.text.wrong(format!("the object has more than {} MB", MAX_TEXT_LENGTH >> 20)));
                }
                if self.delivery.is_enough || !self.text.either(b',', b'}')? {
                    break;
                }
            }
        }
        let Some(format) = streamed else { return self.element(members, false) };
        self.format.get_or_insert(format);
        self.is_partial = members.contains_key("LastEvaluatedKey") || members.contains_key("NextToken");
        Ok(())
    }

    /// Reads a list in an object. Items and writes are delivered, and it gives the format. Any other list becomes a
    /// member.
    fn streamed(&mut self, name: &str, members: &mut Members) -> Result<Option<SourceFormat>, JsonFailure> {
        let (mut values, mut length, mut format) = (Vec::new(), 0, None);
        let is_items = name == "Items" && members.keys().all(|name| is_beside(name));
        self.elements(|reader, value| {
            if is_items {
                let Some(members) = reader.parsed(value)? else { return Ok(()) };
                format = Some(SourceFormat::ScanOutput);
                return Ok(reader.delivery.members(None, members)?);
            }
            length += value.length();
            if length > MAX_TEXT_LENGTH && format.is_none() {
                return Err(reader.text.wrong(format!("the list has more than {} MB", MAX_TEXT_LENGTH >> 20)));
            }
            match reader.value(value)? {
                Value::Object(write) if write.contains_key("PutRequest") || write.contains_key("DeleteRequest") => {
                    format = Some(SourceFormat::WriteRequest);
                    reader.writes(name, write)
                }
                value => {
                    values.push(value);
                    Ok(())
                }
            }
        })?;
        if is_items && format.is_none() {
            format = Some(SourceFormat::ScanOutput);
        }
        if format.is_none() {
            members.insert(name.to_owned(), Value::Array(values));
        }
        Ok(format)
    }

    /// Delivers the items of a write to a table.
    fn writes(&mut self, table: &str, write: Members) -> Result<(), JsonFailure> {
        if let JsonElement::Items(_, items) = JsonElement::recognised(write) {
            for (own, item) in items {
                self.delivery.members(Some(own.as_deref().unwrap_or(table)), item)?;
            }
        }
        Ok(())
    }

    fn value(&self, value: &RawValue) -> Result<Value, JsonFailure> {
        value.parse().map_err(|mistake| {
            let (name, line) = (self.name.to_owned(), mistake.line);
            JsonFailure::Other(SourceError::Syntax { name, line, problem: mistake.problem })
        })
    }

    /// An object as a whole: what a call gives, a model, a table, or an item.
    fn element(&mut self, members: Members, is_listed: bool) -> Result<(), JsonFailure> {
        let members = match JsonElement::recognised(members) {
            JsonElement::Items(format, items) => {
                self.format.get_or_insert(format);
                for (table, item) in items {
                    self.delivery.members(table.as_deref(), item)?;
                }
                return Ok(());
            }
            JsonElement::Change(_) => {
                let problem = "a change of an incremental export among items; changes stand on a line each";
                return Ok(self.delivery.mistake(problem.into())?);
            }
            JsonElement::Other(members) => members,
        };
        let is_typed = Dialect::seen_in(&members) == Some(Dialect::Typed);
        let members = if is_typed || self.format == Some(SourceFormat::PlainItems) {
            members
        } else {
            match (self.take)(members, self.delivery)? {
                Ok(format) => {
                    self.format.get_or_insert(format);
                    return Ok(());
                }
                Err(members) => members,
            }
        };
        if is_typed || is_listed || self.format.is_some() {
            return self.bare_item(members);
        }
        match self.first.take() {
            None => self.first = Some(members),
            Some(first) => {
                self.bare_item(first)?;
                self.bare_item(members)?;
            }
        }
        Ok(())
    }

    /// An object that is an item itself.
    fn bare_item(&mut self, members: Members) -> Result<(), JsonFailure> {
        self.delivery.members(None, members)?;
        let is_plain = self.delivery.dialect() == Some(Dialect::Plain);
        self.format.get_or_insert(if is_plain { SourceFormat::PlainItems } else { SourceFormat::TypedItems });
        Ok(())
    }
}
