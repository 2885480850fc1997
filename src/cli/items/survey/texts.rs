//! The text fields of types with their values in; out: those that hold nothing but times, or nothing but numbers, which
//! another type of the field would compare and sort as such.

use crate::infer::draft::scalars::may_be_id;
use crate::plan::tree::FieldReader;
use crate::schema::scalar::time_form::{self, TimeForm};
use crate::schema::scalar::value_type::ValueType;
use crate::table::data::attribute::{Attribute, Item};
use indexmap::IndexMap;

/// From how many values on it is no chance that all of them are alike.
const ENOUGH: u64 = 5;
/// The most digits of a number: more are an id, such as that of a card.
const MOST_DIGITS: usize = 15;

/// What the texts of each field are, by its coordinate.
#[derive(Debug, Default)]
pub struct TextFields(IndexMap<String, TextField>);

/// What the texts of a field have in common so far.
#[derive(Debug)]
struct TextField {
    values: u64,
    forms: Vec<&'static TimeForm>,
    is_numbers: bool,
    /// Whether one of them has decimals. Digits alone are as often an id, a code or a telephone number.
    has_decimals: bool,
}

impl TextFields {
    /// Looks at the value of a field, if it is a text that says nothing of what it means.
    pub fn see(&mut self, ty: &str, reader: &FieldReader, item: &Item) {
        if reader.ty.is_list() || !matches!(reader.stored.value, ValueType::String) {
            return;
        }
        let Some(Attribute::S(text)) = reader.stored.attribute.as_ref().and_then(|name| item.get(name)) else { return };
        let place = format!("{ty}.{}", reader.field);
        let first = || TextField { values: 0, forms: time_form::usual(text), is_numbers: true, has_decimals: false };
        let field = self.0.entry(place).or_insert_with(first);
        field.values += 1;
        field.is_numbers &= is_number(text);
        field.has_decimals |= text.as_str().contains('.');
        let is_in = |form: &TimeForm| form.length() == text.len() && form.read(text).is_some();
        field.forms.retain(|form| !may_be_id(form) && is_in(form));
    }

    /// A line for each field whose texts are all times or all numbers.
    pub fn notes(&self) -> impl Iterator<Item = String> {
        let enough = self.0.iter().filter(|(_, field)| field.values >= ENOUGH);
        enough.filter_map(|(place, TextField { values, forms, is_numbers, has_decimals })| match forms.first() {
            Some(form) => Some(format!(
                "`{place}` is a `String`, and all {values} values are times: a `DateTime`, a `LocalDateTime` or a `Date` with `@attribute(form: \"{}\")` compares them as such",
                form.text()
            )),
            None if *is_numbers && *has_decimals => Some(format!(
                "`{place}` is a `String`, and all {values} values are numbers: a `Decimal` with `@attribute(type: S)` reads them as such"
            )),
            None => None,
        })
    }
}

/// Whether a text is a number as one writes it: without zeros before it, which a code or a telephone number has.
fn is_number(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let (whole, rest) = digits.split_once('.').unwrap_or((digits, "0"));
    let all_digits = |part: &str| !part.is_empty() && part.chars().all(|letter| letter.is_ascii_digit());
    all_digits(whole) && all_digits(rest) && (whole == "0" || !whole.starts_with('0')) && digits.len() <= MOST_DIGITS
}
