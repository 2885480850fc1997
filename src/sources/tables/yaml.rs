//! YAML in, the same as JSON out: a tag of CloudFormation (`!Ref X`) becomes the function that it is short for. Must
//! not know what it describes.

use saphyr_parser::{Event, Parser, ScalarStyle, Tag};
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::collections::HashMap;

/// The most values of a document, with those that its aliases repeat.
const MAX_VALUES: usize = 200_000;
/// The deepest lists and maps within each other.
const MAX_DEPTH: usize = 64;

/// Why a text is not read.
pub struct YamlMistake {
    /// The line, from 1.
    pub line: u64,
    /// What is wrong.
    pub problem: String,
}

/// Reads the first document of a text.
pub fn parse(text: &str) -> Result<Value, YamlMistake> {
    let mut reader = Reader { events: Parser::new_from_str(text), anchors: HashMap::new(), values: 0, line: 1 };
    loop {
        match reader.event()? {
            Event::StreamEnd => return Ok(Value::Null),
            Event::StreamStart | Event::DocumentStart(_) | Event::DocumentEnd | Event::Nothing => {}
            event => return reader.value(event, 0),
        }
    }
}

struct Reader<'t> {
    events: Parser<'t, saphyr_parser::StrInput<'t>>,
    /// The values with an anchor, and how many values each has.
    anchors: HashMap<usize, (Value, usize)>,
    values: usize,
    line: u64,
}

impl<'t> Reader<'t> {
    fn event(&mut self) -> Result<Event<'t>, YamlMistake> {
        match self.events.next() {
            None => Ok(Event::StreamEnd),
            Some(Ok((event, span))) => {
                self.line = span.start.line() as u64;
                Ok(event)
            }
            Some(Err(error)) => Err(YamlMistake {
                line: error.marker().line() as u64,
                problem: format!("this is not YAML: {}", error.info()),
            }),
        }
    }

    fn count(&mut self, values: usize, depth: usize) -> Result<(), YamlMistake> {
        self.values += values;
        let problem = match () {
            () if depth > MAX_DEPTH => format!("lists and maps nest deeper than {MAX_DEPTH} levels"),
            () if self.values > MAX_VALUES => format!("the document has more than {MAX_VALUES} values"),
            () => return Ok(()),
        };
        Err(YamlMistake { line: self.line, problem })
    }

    fn value(&mut self, event: Event<'t>, depth: usize) -> Result<Value, YamlMistake> {
        self.count(1, depth)?;
        let before = self.values;
        let (anchor, value) = match event {
            Event::Alias(anchor) => {
                let (value, values) = self.anchors.get(&anchor).cloned().unwrap_or_default();
                self.count(values, depth)?;
                return Ok(value);
            }
            Event::Scalar(text, style, anchor, tag) => (anchor, scalar(text, style, tag.as_deref())),
            Event::SequenceStart(anchor, tag) => {
                let mut values = Vec::new();
                loop {
                    match self.event()? {
                        Event::SequenceEnd | Event::StreamEnd => break,
                        event => values.push(self.value(event, depth + 1)?),
                    }
                }
                (anchor, tagged(tag, Value::Array(values)))
            }
            Event::MappingStart(anchor, tag) => (anchor, tagged(tag, Value::Object(self.members(depth)?))),
            _ => (0, Value::Null),
        };
        if anchor > 0 {
            self.anchors.insert(anchor, (value.clone(), self.values - before));
        }
        Ok(value)
    }

    fn members(&mut self, depth: usize) -> Result<Map<String, Value>, YamlMistake> {
        let mut members = Map::new();
        let mut merged = Vec::new();
        loop {
            let name = match self.event()? {
                Event::MappingEnd | Event::StreamEnd => break,
                event => self.value(event, depth + 1)?,
            };
            let event = self.event()?;
            let value = self.value(event, depth + 1)?;
            match (name, value) {
                (Value::String(name), Value::Object(value)) if name == "<<" => merged.extend(value),
                (Value::String(name), value) => _ = members.insert(name, value),
                (name, value) => _ = members.insert(name.to_string(), value),
            }
        }
        for (name, value) in merged {
            members.entry(name).or_insert(value);
        }
        Ok(members)
    }
}

/// A scalar by YAML's core schema.
fn scalar(text: Cow<'_, str>, style: ScalarStyle, tag: Option<&Tag>) -> Value {
    let value = match &*text {
        _ if style != ScalarStyle::Plain || tag.is_some() => Value::String(text.into_owned()),
        "" | "~" | "null" | "Null" | "NULL" => Value::Null,
        "true" | "True" | "TRUE" => Value::Bool(true),
        "false" | "False" | "FALSE" => Value::Bool(false),
        plain => plain.parse::<serde_json::Number>().map_or_else(|_| Value::String(plain.to_owned()), Value::Number),
    };
    function(tag, value)
}

fn tagged(tag: Option<Cow<'_, Tag>>, value: Value) -> Value {
    function(tag.as_deref(), value)
}

/// The function that a tag is short for (AWS CloudFormation user guide, "Intrinsic function reference").
fn function(tag: Option<&Tag>, value: Value) -> Value {
    let Some(tag) = tag.filter(|tag| tag.handle == "!") else { return value };
    let name = match tag.suffix.as_str() {
        name @ ("Ref" | "Condition") => name.to_owned(),
        name => format!("Fn::{name}"),
    };
    Value::Object(Map::from_iter([(name, value)]))
}
