//! A JSON text in; its values, one after another, out, each as its own bytes. Holds one value at a time. Must not know
//! what they mean.

use super::error::SourceError;
use super::file::{MAX_TEXT_LENGTH, SourceFile};
use serde_json::Value;
use std::io::BufRead;

/// A JSON text while it is read.
pub struct JsonText<'f> {
    file: &'f SourceFile,
    bytes: Box<dyn BufRead>,
    /// The line that it is at, from 1.
    pub line: u64,
}

/// Why a text cannot be read on.
pub enum JsonFailure {
    /// It ends in the middle.
    CutOff,
    /// Anything else.
    Other(SourceError),
}

impl From<SourceError> for JsonFailure {
    fn from(error: SourceError) -> Self {
        Self::Other(error)
    }
}

/// A value as it stands in the text.
pub struct RawValue {
    text: Vec<u8>,
    line: u64,
}

/// What is wrong with a value, and the line.
pub struct JsonMistake {
    /// What is wrong.
    pub problem: String,
    /// Where.
    pub line: u64,
}

impl RawValue {
    /// How many bytes it has.
    pub fn length(&self) -> u64 {
        self.text.len() as u64
    }

    /// Parses the value.
    pub fn parse(&self) -> Result<Value, JsonMistake> {
        let mistake = |problem, line| JsonMistake { problem, line };
        let text = std::str::from_utf8(&self.text).map_err(|_| mistake("it is not UTF-8 text".into(), self.line))?;
        text.parse().map_err(|error: serde_json::Error| {
            mistake(
                format!("this is not JSON: {}", without_place(&error)),
                self.line + (error.line() as u64).saturating_sub(1),
            )
        })
    }
}

/// What an error says, without the place in the value's own text.
pub fn without_place(error: &serde_json::Error) -> String {
    let said = error.to_string();
    said.find(" at line ").map_or(said.as_str(), |end| &said[..end]).to_owned()
}

impl<'f> JsonText<'f> {
    /// The text of a file from its beginning.
    pub fn new(file: &'f SourceFile) -> Result<Self, SourceError> {
        Ok(Self { file, bytes: file.open()?, line: 1 })
    }

    /// The next byte that is no white space; nothing at the end.
    pub fn peek(&mut self) -> Result<Option<u8>, SourceError> {
        loop {
            let chunk = self.bytes.fill_buf().map_err(|error| self.file.unread(error))?;
            if chunk.is_empty() {
                return Ok(None);
            }
            let blanks = chunk.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
            self.line += chunk[..blanks].iter().filter(|byte| **byte == b'\n').count() as u64;
            let next = chunk.get(blanks).copied();
            self.bytes.consume(blanks);
            if next.is_some() {
                return Ok(next);
            }
        }
    }

    /// Goes on behind a byte if it is next.
    pub fn take(&mut self, byte: u8) -> Result<bool, SourceError> {
        let is_next = self.peek()? == Some(byte);
        if is_next {
            self.bytes.consume(1);
        }
        Ok(is_next)
    }

    /// Goes on behind one of two bytes. Gives whether it is the first.
    pub fn either(&mut self, first: u8, second: u8) -> Result<bool, JsonFailure> {
        match self.peek()? {
            None => Err(JsonFailure::CutOff),
            Some(byte) if byte == first || byte == second => {
                self.bytes.consume(1);
                Ok(byte == first)
            }
            Some(_) => Err(self.wrong(format!("expected {} or {}", first as char, second as char))),
        }
    }

    /// The name of an object's member, and the colon.
    pub fn name(&mut self) -> Result<String, JsonFailure> {
        match self.peek()? {
            None => return Err(JsonFailure::CutOff),
            Some(b'"') => {}
            Some(b'}') => return Err(self.wrong("a comma stands before }: leave it out")),
            Some(b'\'') => return Err(self.wrong("expected the name of a member in double quotes")),
            Some(_) => return Err(self.wrong("expected the name of a member in quotes")),
        }
        let name = self.value()?;
        match self.peek()? {
            None => return Err(JsonFailure::CutOff),
            Some(b':') => self.bytes.consume(1),
            Some(_) => return Err(self.wrong("expected a colon")),
        }
        match name.parse() {
            Ok(Value::String(name)) => Ok(name),
            Ok(_) => Err(self.wrong("expected the name of a member")),
            Err(mistake) => Err(self.wrong(mistake.problem)),
        }
    }

    /// The next value.
    pub fn value(&mut self) -> Result<RawValue, JsonFailure> {
        let first = self.peek()?.ok_or(JsonFailure::CutOff)?;
        let mut value = RawValue { text: Vec::new(), line: self.line };
        let mut scan = Scan::new(first);
        loop {
            let chunk = self.bytes.fill_buf().map_err(|error| self.file.unread(error))?;
            if chunk.is_empty() {
                // A number or a word ends with the text.
                return if scan.is_scalar { Ok(value) } else { Err(JsonFailure::CutOff) };
            }
            let (used, is_end) = scan.advance(chunk);
            value.text.extend_from_slice(&chunk[..used]);
            self.bytes.consume(used);
            if is_end {
                self.line += value.text.iter().filter(|byte| **byte == b'\n').count() as u64;
                return Ok(value);
            }
            if value.text.len() as u64 > MAX_TEXT_LENGTH {
                return Err(
                    self.wrong(format!("the value that begins here has more than {} MB", MAX_TEXT_LENGTH >> 20))
                );
            }
        }
    }

    /// The error of what stands here.
    pub fn wrong(&self, problem: impl Into<String>) -> JsonFailure {
        let (name, line) = (self.file.name.clone(), self.line);
        JsonFailure::Other(SourceError::Syntax { name, line, problem: problem.into() })
    }
}

/// Where in a value the text is.
struct Scan {
    depth: usize,
    is_text: bool,
    is_escaped: bool,
    /// Whether the value is a number or a word.
    is_scalar: bool,
    is_begun: bool,
}

impl Scan {
    fn new(first: u8) -> Self {
        let is_scalar = !matches!(first, b'"' | b'{' | b'[');
        Self { depth: 0, is_text: false, is_escaped: false, is_scalar, is_begun: false }
    }

    /// How many bytes of a chunk belong to the value, and whether it ends there.
    fn advance(&mut self, chunk: &[u8]) -> (usize, bool) {
        if self.is_scalar {
            let is_over = |byte: &u8| matches!(byte, b',' | b']' | b'}' | b' ' | b'\t' | b'\r' | b'\n');
            // A byte that no value begins with is a value of its own, so that each value has bytes.
            let from = usize::from(!self.is_begun);
            self.is_begun = true;
            let end = chunk.iter().skip(from).position(is_over).map(|place| place + from);
            return (end.unwrap_or(chunk.len()), end.is_some());
        }
        for (place, byte) in chunk.iter().enumerate() {
            if self.is_text {
                match byte {
                    _ if self.is_escaped => self.is_escaped = false,
                    b'\\' => self.is_escaped = true,
                    b'"' => self.is_text = false,
                    _ => {}
                }
                if self.is_text || self.depth > 0 {
                    continue;
                }
            } else {
                match byte {
                    b'"' => self.is_text = true,
                    b'{' | b'[' => self.depth += 1,
                    b'}' | b']' => self.depth -= 1,
                    _ => {}
                }
                if self.is_text || self.depth > 0 {
                    continue;
                }
            }
            return (place + 1, true);
        }
        (chunk.len(), false)
    }
}
