//! Key templates: `Group#{groupId}` with typed, ordered, invertible placeholders. Values in, key text out, and back.
//! Must not know tables, indexes or items.
//!
//! The laws, each proved by a property test:
//! - Different tuples of values make different texts, and reading a written text gives back the values that it was
//!   written from.
//! - Reading never fails hard: a text that does not match the template gives `None`.
//! - What is read writes the same text. A text in another spelling (existing data, such as an instant without
//!   milliseconds) gives `None` as well, because its values lead to another key. [`Template::read_any_spelling`] tells
//!   what it spells.
//!
//! They hold because a text is read from left to right, and it is never in doubt where a part ends. `escape` shows this
//! for free text before a literal, and `ends` for free text whose limits show it. `form` gives every other type its own
//! form, and `invertible` refuses templates in which two forms could run together.

pub(in crate::schema) mod automaton;
mod ends;
mod escape;
mod form;
pub mod in_key;
mod invertible;
mod limited;
pub mod limits;
pub mod part;
mod placeholders;
mod syntax;
#[cfg(test)]
mod tests;
mod texts;

use crate::schema::expression::key_condition::HeldCondition;
use crate::schema::scalar::date_time::{DATE_LENGTH, INSTANT_LENGTH};
use crate::schema::scalar::form::Form;
use crate::schema::scalar::value_type::ValueType;
use crate::schema::template::form::Spelling;
use crate::schema::template::limits::{Limits, TextEnd};
use crate::schema::template::part::{
    AsPartValue, Fields, MAX_KEY_BYTES, Misspelling, Part, PartValue, RenderMistake, TemplateMistake, spread_of,
};
use crate::schema::template::syntax::SpannedPart;
use serde_json::Value;
use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::Arc;

/// The bytes of most keys.
const USUAL_KEY: usize = 64;

/// A parsed key template.
#[derive(Debug, Clone)]
pub struct Template {
    /// Literals and placeholders in order. A parsed template never has two adjacent literals.
    pub parts: Vec<Part>,
    /// The condition under which the key of an index is there; `None` if no condition decides it.
    pub when: Option<Arc<HeldCondition>>,
}

/// The value of a placeholder, as it is read from a key text.
struct ReadValue<'t> {
    field: &'t str,
    value: Value,
    /// The bytes of its text.
    length: usize,
    /// Whether it is the text in one case, which several values share.
    is_folded: bool,
}

impl Template {
    /// A template of these parts, under no condition.
    pub fn made_of(parts: Vec<Part>) -> Self {
        Self { parts, when: None }
    }

    /// The fields that decide whether there is a key: those of its text, and those of its condition.
    pub fn deciding_fields(&self) -> impl Iterator<Item = &str> {
        let of_condition = self.when.iter().flat_map(|when| &when.fields).map(|(field, _)| field.as_str());
        self.fields().into_iter().chain(of_condition)
    }

    /// Parses a template and checks that it can be inverted, unless no key is read back. `resolve` gives a field's type
    /// (`Json` for a plain list), `limits` what its values can be as free text. Reports all mistakes.
    pub fn parse(
        text: &str,
        resolve: &dyn Fn(&str) -> Option<ValueType>,
        limits: &dyn Fn(&str) -> Option<Limits>,
        is_read_back: bool,
    ) -> Result<Self, Vec<TemplateMistake>> {
        let (mut parts, mut mistakes) = syntax::parse(text, resolve);
        ends::settle(&mut parts, limits);
        // The number of a shard is read from every key.
        let has_number = |spanned: &SpannedPart| spanned.part.as_ref().is_some_and(|part| spread_of(part).is_some());
        let is_read_back = is_read_back || parts.iter().any(has_number);
        for (position, mistake) in invertible::mistakes(&parts) {
            match parts.get_mut(position).and_then(|spanned| spanned.part.as_mut()).filter(|_| !is_read_back) {
                Some(part) if !part.is_binary() => part.make_unread(),
                _ => mistakes.push(mistake),
            }
        }
        mistakes.sort_by_key(|mistake| mistake.span.start);
        if !mistakes.is_empty() {
            return Err(mistakes);
        }
        Ok(Self::made_of(parts.into_iter().filter_map(|spanned| spanned.part).collect()))
    }

    /// Parses a text that nobody reads back: that of a computed field. `resolve` gives a field's type in the API.
    pub fn parse_text(text: &str, resolve: &dyn Fn(&str) -> Option<ValueType>) -> Result<Self, Vec<TemplateMistake>> {
        let (parts, mistakes) = syntax::parse(text, resolve);
        if !mistakes.is_empty() {
            return Err(mistakes);
        }
        Ok(Self::made_of(parts.into_iter().filter_map(|spanned| spanned.part).collect()))
    }

    /// The text that nobody reads back, of values as the API has them; `None` if one is null. A value without a form is
    /// as it is in JSON, without quotes.
    pub fn render_text(&self, value: &dyn Fn(&str) -> Option<Value>) -> Result<Option<String>, RenderMistake> {
        let mut text = String::new();
        for part in &self.parts {
            let (field, kind, width) = match part {
                Part::Literal(literal) => {
                    text.push_str(literal);
                    continue;
                }
                Part::Placeholder { field, value, width, .. } => (field, value, *width),
            };
            match (value(field), kind.case(), kind.time_form().is_some() || width.is_some()) {
                (None, ..) => return Ok(None),
                (Some(value), None, true) => {
                    let written = form::write(kind, width, kind.cut(&value).as_ref().unwrap_or(&value));
                    text.push_str(&written.map_err(|sentence| RenderMistake::Unfit(field.clone(), sentence))?);
                }
                (Some(Value::String(value)), Some(case), _) => text.push_str(&case.fold(&value)),
                (Some(Value::String(value)), None, _) => text.push_str(&value),
                (Some(value), ..) => text.push_str(&value.to_string()),
            }
        }
        Ok(Some(text))
    }

    /// The first `parts` parts as the schema writes them.
    pub fn as_written(&self, parts: usize) -> String {
        let part = |part: &Part| match part {
            Part::Literal(literal) => literal.clone(),
            Part::Placeholder { field, value, width: None, .. } => match value.time_form() {
                Some(form) => format!("{{{field}:{}}}", form.text()),
                None => match value.case() {
                    Some(Form::Upper) => format!("{{{field}:upper}}"),
                    Some(_) => format!("{{{field}:lower}}"),
                    None => format!("{{{field}}}"),
                },
            },
            Part::Placeholder { field, value: ValueType::Spread(_), .. } => format!("{{{field}}}"),
            Part::Placeholder { field, width: Some(width), .. } => format!("{{{field}:0{width}}}"),
        };
        self.parts.iter().take(parts).map(part).collect()
    }

    /// The key text for the given values; `None` if a value is null or missing. An empty string is written as it is:
    /// the caller decides whether a key may be empty.
    pub fn render<V: AsPartValue>(&self, value: &dyn Fn(&str) -> Option<V>) -> Result<Option<String>, RenderMistake> {
        self.render_parts(self.parts.len(), value)
    }

    /// The text of the first `parts` parts, exactly as a whole key begins. To match only the keys with these values,
    /// let `parts` include the literal after the last placeholder, if there is one: `Group#1` also begins `Group#10`,
    /// but `Group#1#` does not.
    pub fn render_parts<V: AsPartValue>(
        &self,
        parts: usize,
        value: &dyn Fn(&str) -> Option<V>,
    ) -> Result<Option<String>, RenderMistake> {
        let (mut key, mut longest) = (String::with_capacity(USUAL_KEY), (0, ""));
        for (position, part) in self.parts.iter().enumerate().take(parts) {
            let (field, kind, width, limits) = match part {
                Part::Literal(literal) => {
                    key.push_str(literal);
                    continue;
                }
                Part::Placeholder { field, value, width, limits } => (field, value, *width, limits),
            };
            let Some(value) = value(field) else { return Ok(None) };
            let written = |value: &Value| {
                // A key that is not read back may say less of a time than there is.
                let cut = if part.end() == Some(TextEnd::Unread) { kind.cut(value) } else { None };
                let written = form::write(kind, width, cut.as_ref().unwrap_or(value));
                written.map_err(|sentence| RenderMistake::Unfit(field.clone(), sentence))
            };
            let text = match value.as_part_value() {
                PartValue::Json(Value::Null) => return Ok(None),
                PartValue::Text(text) if form::is_free_text(kind) => Cow::Borrowed(text),
                PartValue::Json(Value::String(text)) if form::is_free_text(kind) => Cow::Borrowed(text.as_str()),
                PartValue::Text(text) => Cow::Owned(written(&Value::from(text))?),
                PartValue::Json(value) => Cow::Owned(written(value)?),
            };
            let text = match kind.case() {
                Some(case) => Cow::Owned(case.fold(&text).into_owned()),
                None => text,
            };
            if limits.as_ref().is_some_and(|limits| limits.is_needed && !limits.allow(&text)) {
                let sentence = "It breaks the constraint that the key relies on.".to_owned();
                return Err(RenderMistake::Unfit(field.clone(), sentence));
            }
            longest = longest.max((text.len(), field));
            let is_ended = form::is_free_text(kind) && part.end().is_none();
            match self.literal(position + 1).filter(|_| is_ended) {
                // A value that is too long for a key is refused below, so escaping it would be wasted work.
                Some(literal) if text.len() <= MAX_KEY_BYTES => key.push_str(&escape::write(&text, literal)),
                _ => key.push_str(&text),
            }
        }
        if key.len() > MAX_KEY_BYTES && !self.is_binary() {
            let sentence = format!("It gives a key of {} bytes, but a key has at most {MAX_KEY_BYTES}.", key.len());
            return Err(RenderMistake::Unfit(longest.1.to_owned(), sentence));
        }
        Ok(Some(key))
    }

    /// Whether the text of the first `parts` parts may also begin keys with other values. One enum value may begin with
    /// another and the literal that follows it: `IN_` begins both `IN_2026-11-20` and `IN_PROGRESS_2026-11-20`. A text
    /// whose end is counted back from a later part begins another. Reading the key back distinguishes them.
    pub fn runs_on(&self, parts: usize) -> bool {
        self.is_open(parts)
            || self.parts.iter().take(parts).enumerate().any(|(position, part)| {
                let Part::Placeholder { value: ValueType::Enum(values), .. } = part else { return false };
                let next = self.literal(position + 1).filter(|_| position + 1 < parts).unwrap_or_default();
                let goes_on = |rest: &str| !rest.is_empty() && (rest.starts_with(next) || next.starts_with(rest));
                let texts = || values.stored.values();
                texts().any(|one| texts().any(|other| other.strip_prefix(one.as_str()).is_some_and(goes_on)))
            })
    }

    /// The text that begins every key whose first `parts` parts have the given values and whose next placeholder's
    /// value begins with `prefix`. `None` if a value is null or missing. The text misses no such key. The flag tells
    /// whether the text begins only such keys; if not, the caller must check the value that is read back.
    ///
    /// Free text is exact unless `prefix` holds a character that escaping changes. Instants and dates are expected in
    /// their canonical form. A prefix of any other form has no meaning: the text then matches all keys that begin with
    /// the first `parts` parts.
    pub fn render_begins_with<V: AsPartValue>(
        &self,
        parts: usize,
        prefix: &str,
        value: &dyn Fn(&str) -> Option<V>,
    ) -> Result<Option<(String, bool)>, RenderMistake> {
        let Some(mut key) = self.render_parts(parts, value)? else { return Ok(None) };
        let kind = match self.parts.get(parts) {
            Some(Part::Placeholder { value, .. }) => Some(value),
            _ => None,
        };
        // Whether a final sigma is one depends on what follows it (Unicode Standard, section 3.13).
        let folded = kind.and_then(ValueType::case).map(|case| case.fold(prefix.trim_end_matches('Σ')).into_owned());
        let (prefix, is_whole) = match &folded {
            Some(folded) => (folded.as_str(), !prefix.ends_with('Σ')),
            None => (prefix, true),
        };
        let end = self.parts.get(parts).and_then(Part::end);
        // What follows a shorter value may go on as the prefix does.
        let is_whole = is_whole && end.is_none_or(|_| self.parts[parts].is_beginning(prefix));
        let same = match (kind, self.literal(parts + 1).filter(|_| end.is_none())) {
            (Some(kind), Some(literal)) if form::is_free_text(kind) => escape::unchanged(prefix, literal),
            (Some(kind), None) if form::is_free_text(kind) => prefix,
            // A prefix longer than a whole value begins no value, but uncut it could begin a key.
            (Some(ValueType::DateTime(_)), _) => prefix.get(..INSTANT_LENGTH).unwrap_or(prefix),
            (Some(ValueType::Date), _) => prefix.get(..DATE_LENGTH).unwrap_or(prefix),
            _ => "",
        };
        key.push_str(same);
        Ok(Some((key, same == prefix && is_whole)))
    }

    /// The template of one shard or replica, with its number as a literal.
    pub fn numbered(&self, number: u64) -> Template {
        // Adjacent literals are not merged, so that free text before them ends and is escaped as before.
        let number = |part: &Part| match part {
            Part::Placeholder { value: ValueType::Spread(_), width, .. } => {
                Part::Literal(format!("{number:0width$}", width = usize::from(width.unwrap_or_default())))
            }
            other => other.clone(),
        };
        Template { parts: self.parts.iter().map(number).collect(), when: self.when.clone() }
    }

    /// Reads the fields and claims back from a key text, each once; `None` if their values do not write this text. A
    /// field that it has in one case is not among them.
    pub fn read(&self, text: &str) -> Option<Fields> {
        self.read_values(Spelling::Own, text).map(|values| self.exact_fields(values))
    }

    /// The same, whatever the spelling: `None` only if the text spells no values. For what is no item's identity: the
    /// keys of indexes.
    pub fn read_any_spelling(&self, text: &str) -> Option<Fields> {
        self.read_values(Spelling::Any, text).map(|values| self.exact_fields(values))
    }

    /// The same, with the fields that the text has in one case, in that case: for what compares keys.
    pub fn read_folded(&self, text: &str) -> Option<Fields> {
        self.read_values(Spelling::Any, text).map(|values| self.fields_of(values))
    }

    /// The same of a text that the values write: for what compares items.
    pub fn read_folded_own(&self, text: &str) -> Option<Fields> {
        self.read_values(Spelling::Own, text).map(|values| self.fields_of(values))
    }

    fn exact_fields(&self, mut values: Vec<ReadValue<'_>>) -> Fields {
        values.retain(|value| !value.is_folded);
        self.fields_of(values)
    }

    fn fields_of(&self, values: Vec<ReadValue<'_>>) -> Fields {
        let mut once: Fields = Vec::with_capacity(values.len());
        for ReadValue { field, value, .. } in values {
            if !once.iter().any(|(known, _)| known == field) {
                once.push((field.to_owned(), value));
            }
        }
        // A spread's number is the same wherever it occurs, and it is not a field.
        if let Some(spread) = self.spread() {
            once.retain(|(field, _)| *field != spread.placeholder());
        }
        once
    }

    /// Whether a key may be in a spelling that Keyfold would not write.
    pub fn has_spellings(&self) -> bool {
        self.parts.iter().any(|part| match part {
            Part::Placeholder { value, limits, .. } => {
                form::has_spellings(value) || limits.as_ref().is_some_and(|limits| limits.is_needed)
            }
            Part::Literal(_) => false,
        })
    }

    /// The first value in a key text that is spelt otherwise than Keyfold would write it, or breaks limits that the
    /// template relies on.
    pub fn misspelling(&self, text: &str) -> Option<Misspelling> {
        self.parts.iter().zip(self.split_as(Spelling::Guessed, text)?).find_map(|(part, found)| match part {
            Part::Placeholder { field, limits: Some(limits), .. } if limits.is_needed && !limits.allow(found) => {
                Some(Misspelling { field: field.clone(), found: found.to_owned(), own: None })
            }
            Part::Placeholder { field, value, width, .. } if form::has_spellings(value) => {
                let own = form::write(value, *width, &form::read((value, *width), Spelling::Guessed, found)?).ok()?;
                (own != found).then(|| Misspelling { field: field.clone(), found: found.to_owned(), own: Some(own) })
            }
            _ => None,
        })
    }

    /// The text of each part within a key text, whatever the spelling, in order; `None` if the text does not match this
    /// template. Joined, they are the text.
    pub fn split<'t>(&self, text: &'t str) -> Option<Vec<&'t str>> {
        self.split_as(Spelling::Any, text)
    }

    fn split_as<'t>(&self, spelling: Spelling, text: &'t str) -> Option<Vec<&'t str>> {
        let (values, mut rest) = (self.read_values(spelling, text)?, text);
        let mut lengths = values.iter().map(|value| value.length);
        let own = |part: &Part| {
            let length = match part {
                Part::Literal(literal) => literal.len(),
                Part::Placeholder { .. } => lengths.next()?,
            };
            let (own, after) = rest.split_at_checked(length)?;
            rest = after;
            Some(own)
        };
        self.parts.iter().map(own).collect()
    }

    /// The values of the placeholders in order. Those of one field are equal.
    fn read_values(&self, spelling: Spelling, text: &str) -> Option<Vec<ReadValue<'_>>> {
        // A longer text is not a key. This check also bounds the work.
        if text.len() > MAX_KEY_BYTES && !self.is_binary() {
            return None;
        }
        let mut values = self.read_from((0, text), spelling, &mut HashSet::new())?;
        values.reverse();
        let differs = |(position, value): (usize, &ReadValue<'_>)| {
            values[..position].iter().any(|known| known.field == value.field && known.value != value.value)
        };
        if values.iter().enumerate().any(differs) { None } else { Some(values) }
    }

    /// The template without the number of its shard or replica.
    pub fn without_spread(&self) -> Template {
        let is_number = |part: &&Part| matches!(part, Part::Placeholder { value: ValueType::Spread(_), .. });
        Template {
            parts: self.parts.iter().filter(|part| !is_number(part)).cloned().collect(),
            when: self.when.clone(),
        }
    }

    /// Whether some text could match both templates (conservative: true unless it can be ruled out).
    pub fn overlaps(&self, other: &Template) -> bool {
        texts::meet(&self.parts.iter().collect::<Vec<_>>(), &other.parts.iter().collect::<Vec<_>>())
    }

    /// The text with which each of its keys begins.
    pub fn first_literal(&self) -> &str {
        if let Some(Part::Literal(literal)) = self.parts.first() { literal } else { "" }
    }

    /// The first characters of its literals that could separate values: those that are neither letters nor digits.
    pub fn separators(&self) -> impl Iterator<Item = char> {
        let first = |part: &Part| if let Part::Literal(literal) = part { literal.chars().next() } else { None };
        self.parts.iter().filter_map(first).filter(|letter| letter.is_ascii_punctuation())
    }

    /// Whether every text of this template is one of the others, too. False unless that is certain.
    pub fn is_within(&self, others: &[Template]) -> bool {
        // A field that stands twice has the same value in both places, which the set of texts does not tell. Neither
        // does it tell all limits.
        let repeats = |template: &Template| {
            let mut seen = HashSet::new();
            !template.placeholders().all(|field| seen.insert(field)) || template.spreads().count() > 1
        };
        // Of a character beyond ASCII, it does not tell the case.
        let is_ascii = |part: &Part| match part {
            Part::Literal(literal) => literal.is_ascii(),
            Part::Placeholder { value, .. } => !form::is_free_text(value) && !matches!(value, ValueType::Enum(_)),
        };
        let has_case = |part: &Part| matches!(part, Part::Placeholder { value, .. } if value.case().is_some());
        let folds = |other: &Template| other.parts.iter().any(has_case) && !self.parts.iter().all(is_ascii);
        if others.iter().any(|other| repeats(other) || other.has_limits() || folds(other)) {
            return false;
        }
        let texts = |template: &Template| texts::automaton(&template.parts.iter().collect::<Vec<_>>());
        let of_case = |other: &Template| texts::automaton_of_case(&other.parts.iter().collect::<Vec<_>>());
        texts(self).is_within(&others.iter().map(of_case).collect::<Vec<_>>())
    }

    /// The values of the parts from `position` on, last first. `dead` holds the attempts that failed: position and
    /// length of the remaining text.
    fn read_from<'t>(
        &self,
        (position, text): (usize, &'t str),
        spelling: Spelling,
        dead: &mut HashSet<(usize, usize)>,
    ) -> Option<Vec<ReadValue<'_>>> {
        let (field, kind, width, limits) = match self.parts.get(position) {
            None => return text.is_empty().then(Vec::new),
            Some(Part::Literal(literal)) => {
                return self.read_from((position + 1, text.strip_prefix(literal.as_str())?), spelling, dead);
            }
            Some(Part::Placeholder { field, value, width, limits }) => (field, value, *width, limits),
        };
        if dead.contains(&(position, text.len())) {
            return None;
        }
        let ended = limits.as_ref().filter(|limits| limits.end.is_some());
        let readings: Vec<(usize, Cow<'t, str>)> = if let Some(limits) = ended {
            let end = limits.end_in(text)?;
            vec![(end, Cow::Borrowed(&text[..end]))]
        } else if form::is_free_text(kind) {
            match self.literal(position + 1) {
                Some(literal) => {
                    let end = text.find(literal)?;
                    vec![(end, escape::read(&text[..end], literal))]
                }
                None => vec![(text.len(), Cow::Borrowed(text))],
            }
        } else {
            form::lengths((kind, width), spelling, text)
                .into_iter()
                .map(|length| (length, Cow::Borrowed(&text[..length])))
                .collect()
        };
        for (length, written) in readings {
            let is_reported = |limits: &Limits| limits.is_needed && spelling == Spelling::Guessed;
            if limits.as_ref().is_some_and(|limits| !limits.allow(&written) && !is_reported(limits)) {
                continue;
            }
            let Some(value) = form::read((kind, width), spelling, &written) else { continue };
            if let Some(mut values) = self.read_from((position + 1, &text[length..]), spelling, dead) {
                values.push(ReadValue { field, value, length, is_folded: kind.case().is_some() });
                return Some(values);
            }
        }
        dead.insert((position, text.len()));
        None
    }

    /// Whether the whole key is Binary. Its bytes are shorter than the base64 text, so the limit for keys does not
    /// apply to the text.
    fn is_binary(&self) -> bool {
        matches!(self.parts.as_slice(), [part] if part.is_binary())
    }

    /// The literal at a position.
    fn literal(&self, position: usize) -> Option<&str> {
        self.parts.get(position)?.literal()
    }
}
