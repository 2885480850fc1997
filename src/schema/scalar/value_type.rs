//! Scalar and enum types as they are kept in items, and the text and JSON forms of their values: any JSON in, the
//! canonical value or its key text out. Must not know where a value comes from or goes.

use crate::schema::scalar::aws::AwsScalar;
use crate::schema::scalar::claim_text;
use crate::schema::scalar::date_time::{
    DATE_LENGTH, canonical_instant, clock_text, day_clock, fine_text, instant_clock, is_canonical_instant, is_date,
    local_clock,
};
use crate::schema::scalar::decimal::{canonical_decimal, canonical_float, numeral_length};
use crate::schema::scalar::form::{Form, MapForm};
use crate::schema::scalar::json::{excerpt, integer, integer_text, is_quoted_number, numbers_fit};
use crate::schema::scalar::spread::Spread;
use crate::schema::scalar::time_form::{TimeForm, Unit, usual};
use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::Value;
use std::cmp::Ordering;
use std::sync::Arc;
use time::{Duration, PrimitiveDateTime};

/// The decimals of the seconds of every instant that no form says otherwise.
const INSTANT_DECIMALS: usize = 3;

/// How a leaf or embedded value is stored in an item.
#[derive(Debug, Clone)]
pub enum ValueType {
    /// `ID`: a string in the API; stored as a string.
    Id,
    /// `String`.
    String,
    /// `Int`: 32 bits.
    Int,
    /// `Float`.
    Float,
    /// `Boolean`.
    Boolean,
    /// `DateTime`: in the API and as text, always UTC with milliseconds, `2026-11-20T09:30:00.000Z`.
    DateTime(Moment),
    /// `LocalDateTime`: a date and time without an offset, `2026-11-20T09:30:00`.
    LocalDateTime,
    /// `Date`: `2026-11-20`.
    Date,
    /// `Long`: 64 bits.
    Long,
    /// `Decimal`: up to 38 significant digits, a JSON string in the API, never converted through a float.
    Decimal,
    /// `JSON` and the schema's own scalars: any value.
    Json,
    /// `Binary`: base64 in the API.
    Binary,
    /// An enum, with the stored value of each of its values.
    Enum(Arc<EnumValues>),
    /// An object type without `@item`, stored as a map.
    Embedded(String),
    /// A list stored as a DynamoDB set of this element type (`stored: SET`).
    Set(Box<ValueType>),
    /// A list of embedded objects stored as a map by one of their fields (`stored: MAP`).
    Map(Arc<MapForm>),
    /// A value in a form of its own, wherever it is kept: another type's.
    InForm(Box<ValueType>, Arc<Form>),
    /// The number of a shard or replica, from 0. Occurs only in key templates and in what binds the number.
    Spread(Spread),
    /// A claim of the caller, as text. Occurs only in key templates.
    Claim,
}

/// How a DateTime is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moment {
    /// ISO 8601 text.
    Text,
    /// A number of seconds since 1970.
    EpochSeconds,
    /// A number of milliseconds since 1970.
    EpochMillis,
}

/// The values of an enum.
#[derive(Debug, Clone)]
pub struct EnumValues {
    /// The enum's name.
    pub name: String,
    /// API name → stored text, in the order of the schema.
    pub stored: indexmap::IndexMap<String, String>,
}

impl ValueType {
    /// The type's name in the API, where a set is a list.
    pub fn name(&self) -> String {
        match self {
            ValueType::Id => "ID".to_owned(),
            ValueType::String => "String".to_owned(),
            ValueType::Int => "Int".to_owned(),
            ValueType::Float => "Float".to_owned(),
            ValueType::Boolean => "Boolean".to_owned(),
            ValueType::DateTime(_) => "DateTime".to_owned(),
            ValueType::LocalDateTime => "LocalDateTime".to_owned(),
            ValueType::Date => "Date".to_owned(),
            ValueType::Long => "Long".to_owned(),
            ValueType::Decimal => "Decimal".to_owned(),
            ValueType::Json => "JSON".to_owned(),
            ValueType::Binary => "Binary".to_owned(),
            ValueType::Enum(values) => values.name.clone(),
            ValueType::Embedded(name) => name.clone(),
            ValueType::Set(element) => format!("[{}]", element.name()),
            ValueType::Map(form) => format!("[{}]", form.element),
            ValueType::InForm(kind, form) => match **form {
                Form::Aws(scalar) => scalar.name().to_owned(),
                _ => kind.name(),
            },
            ValueType::Spread(_) => "Int".to_owned(),
            ValueType::Claim => "String".to_owned(),
        }
    }

    /// The type of the embedded object that a value is, or of those that its map holds.
    pub fn embedded(&self) -> Option<&String> {
        match self {
            ValueType::Embedded(name) => Some(name),
            ValueType::Map(form) => Some(&form.element),
            _ => None,
        }
    }

    /// The text of a value in a key. It is canonical, so equal values have equal text. `None` for null and for values
    /// that do not fit. An enum value is given by its API name and written as its stored text.
    pub fn to_text(&self, value: &Value) -> Option<String> {
        let value = self.coerce(value).ok()?;
        match self {
            ValueType::Json | ValueType::Embedded(_) | ValueType::Set(_) | ValueType::Map(_) => None,
            ValueType::Enum(values) => values.stored.get(value.as_str()?).cloned(),
            ValueType::Float => canonical_float(value.as_f64()?),
            ValueType::Claim => value.as_str().map(claim_text::write),
            ValueType::InForm(kind, form) => kind.text_in(form, &value),
            _ => match value {
                Value::String(text) => Some(text),
                Value::Number(number) => Some(number.to_string()),
                Value::Bool(bool) => Some(bool.to_string()),
                _ => None,
            },
        }
    }

    /// Reads a value back from the text of a key, and an enum's stored text back to its API name. Instants and decimal
    /// numbers may be in another spelling there; the canonical spelling is returned.
    pub fn from_text(&self, text: &str) -> Option<Value> {
        match self {
            ValueType::Json | ValueType::Embedded(_) | ValueType::Set(_) | ValueType::Map(_) => None,
            ValueType::Int | ValueType::Long => {
                let integer: i64 = text.parse().ok()?;
                // A number has only one text, so `+7`, `007` and `-0` are refused.
                (integer.to_string() == text).then(|| self.coerce(&integer.into()).ok()).flatten()
            }
            ValueType::Spread(_) => {
                let number: u64 = text.parse().ok()?;
                (number.to_string() == text).then(|| self.coerce(&number.into()).ok()).flatten()
            }
            ValueType::Float => (numeral_length(text)? == text.len()).then(|| float(text.parse().ok()?)).flatten(),
            ValueType::Claim => claim_text::read(text).map(Value::from),
            ValueType::Boolean => text.parse().ok().map(Value::Bool),
            ValueType::Enum(values) => values.api_name(text).map(Value::from),
            ValueType::InForm(kind, form) => kind.value_in(form, text),
            _ => self.coerce(&Value::from(text)).ok(),
        }
    }

    /// Reads a value back from its own text: the one that [`to_text`](Self::to_text) writes. `None` for every other
    /// spelling.
    pub fn from_own_text(&self, text: &str) -> Option<Value> {
        match self {
            ValueType::DateTime(_) => is_canonical_instant(text).then(|| Value::from(text)),
            ValueType::Float | ValueType::Decimal => {
                self.from_text(text).filter(|value| self.to_text(value).as_deref() == Some(text))
            }
            // The others have one spelling.
            _ => self.from_text(text),
        }
    }

    /// Coerces a JSON value to the canonical value, for Keyfold's scalars (DateTime, Date, Long, Decimal, JSON, Binary)
    /// and the built-in ones. The error is a sentence for the caller. Null stays null: the field's or argument's type
    /// decides whether it may be null. The fields of an object are left to their own types (GraphQL spec section 3.5,
    /// "Scalars", input coercion).
    pub fn coerce(&self, value: &Value) -> Result<Value, String> {
        let canonical = match (self, value) {
            (_, Value::Null) | (ValueType::Embedded(_), Value::Object(_)) => Some(value.clone()),
            (ValueType::Json, _) => return numbers_fit(value).map(|()| value.clone()),
            (ValueType::Id | ValueType::String | ValueType::Claim, Value::String(_))
            | (ValueType::Boolean, Value::Bool(_)) => Some(value.clone()),
            (ValueType::Id, Value::Number(number)) => integer_text(number).map(Value::from),
            (ValueType::Int, _) => integer(value).and_then(|integer| i32::try_from(integer).ok()).map(Value::from),
            (ValueType::Long, Value::String(text)) => text.parse::<i64>().ok().map(Value::from),
            (ValueType::Long, _) => integer(value).map(Value::from),
            (ValueType::Float, Value::Number(number)) => number.as_f64().and_then(float),
            (ValueType::DateTime(_), Value::String(text)) => canonical_instant(text).map(Value::from),
            (ValueType::LocalDateTime, Value::String(text)) => {
                local_clock(text).and_then(|clock| clock_text(clock, 0)).map(Value::from)
            }
            (ValueType::Date, Value::String(text)) => is_date(text).then(|| value.clone()),
            (ValueType::Decimal, Value::String(text)) => return decimal(text),
            (ValueType::Decimal, Value::Number(number)) if !number.is_f64() => return decimal(&number.to_string()),
            (ValueType::Binary, Value::String(text)) => STANDARD.decode(text).is_ok().then(|| value.clone()),
            (ValueType::Enum(values), Value::String(name)) => values.stored.contains_key(name).then(|| value.clone()),
            (ValueType::Set(element), Value::Array(elements)) => return set(element, elements),
            (ValueType::InForm(kind, form), _) => match (&**form, value) {
                (Form::Aws(scalar), Value::String(text)) if scalar.accepts(text) => Some(value.clone()),
                (Form::Aws(AwsScalar::Timestamp), _) => kind.coerce(value).ok(),
                (Form::Aws(_), _) => None,
                _ => return kind.coerce_in(form, value),
            },
            (ValueType::Spread(spread), _) => spread.number(value).map(Value::from),
            // A single value stands for a list of one (GraphQL spec section 3.11, "List", input coercion).
            (ValueType::Set(element), _) => return set(element, std::slice::from_ref(value)),
            _ => None,
        };
        canonical.ok_or_else(|| {
            let is_number = matches!(self, Self::Int | Self::Long | Self::Float);
            let bare = if is_number && is_quoted_number(value) { ", without quotes" } else { "" };
            format!("{} cannot be {}: {}{bare}.", self.name(), excerpt(value), self.expectation())
        })
    }

    /// The same for an argument, whose field is not known yet: the decimals of a second that are not zero stay. A field
    /// keeps as many as its form has.
    pub fn coerce_argument(&self, value: &Value) -> Result<Value, String> {
        let coerced = self.coerce(value)?;
        let (Value::String(text), true) = (value, self.is_time()) else { return Ok(coerced) };
        let fine = match self {
            ValueType::DateTime(_) => instant_clock(text).and_then(|clock| fine_text(clock, INSTANT_DECIMALS)),
            ValueType::LocalDateTime => local_clock(text).and_then(|clock| fine_text(clock, 0)),
            _ => None,
        };
        let zone = if matches!(self, ValueType::DateTime(_)) { "Z" } else { "" };
        Ok(fine.map_or(coerced, |fine| Value::from(fine + zone)))
    }

    /// What a value of this type must be, for a caller who gave another value.
    fn expectation(&self) -> String {
        match self {
            ValueType::Id => "it is a string or an integer".to_owned(),
            ValueType::String | ValueType::Claim => "it is a string".to_owned(),
            ValueType::Int => "it is an integer of 32 bits".to_owned(),
            ValueType::Float => "it is a number with a magnitude from 1E-130 to 9.9E+125, or 0".to_owned(),
            ValueType::Boolean => "it is true or false".to_owned(),
            ValueType::DateTime(_) => {
                "it is a date and time with an offset, such as \"2026-11-20T09:30:00Z\"".to_owned()
            }
            ValueType::LocalDateTime => {
                "it is a date and time without an offset, such as \"2026-11-20T09:30:00\"".to_owned()
            }
            ValueType::Date => "it is a day of the calendar, such as \"2026-11-20\"".to_owned(),
            ValueType::Long => "it is an integer of 64 bits".to_owned(),
            ValueType::Decimal => "it is a string such as \"12.50\", because JSON numbers may lose decimals".to_owned(),
            ValueType::Json => "it is any value".to_owned(),
            ValueType::Binary => "it is a string in base64, with padding".to_owned(),
            ValueType::Enum(values) => {
                format!("it is one of {}", values.stored.keys().map(String::as_str).collect::<Vec<_>>().join(", "))
            }
            ValueType::Embedded(_) => "it is an object".to_owned(),
            ValueType::Set(_) | ValueType::Map(_) => "it is a list".to_owned(),
            ValueType::InForm(kind, form) => match **form {
                Form::Aws(scalar) => scalar.expectation().to_owned(),
                _ => kind.expectation(),
            },
            ValueType::Spread(spread) => {
                format!("it is an integer from {} to {}", spread.numbers().start, spread.numbers().end - 1)
            }
        }
    }
}

/// Values in forms.
impl ValueType {
    /// The type in the API: without the form in which it is kept.
    pub fn in_api(&self) -> &ValueType {
        match self {
            ValueType::InForm(kind, _) => kind,
            other => other,
        }
    }

    /// This type of times in a form; the error is a sentence.
    pub fn in_form(&self, form: TimeForm) -> Result<ValueType, String> {
        let kind = self.in_api();
        match kind {
            ValueType::Date if form.finest() > Unit::Day => {
                Err(format!("`{}` says a time of day, but a Date has none.", form.text()))
            }
            ValueType::LocalDateTime if form.is_epoch() || form.zone().is_some() => {
                Err(format!("`{}` says an instant, but a LocalDateTime is in no zone.", form.text()))
            }
            _ => Ok(ValueType::InForm(Box::new(kind.clone()), Arc::new(Form::Time(form)))),
        }
    }

    /// The form of times in which values are kept as text.
    pub fn time_form(&self) -> Option<&TimeForm> {
        match self {
            ValueType::InForm(_, form) => form.as_time(),
            _ => None,
        }
    }

    /// The scalar of AWS AppSync, if it is one.
    pub fn as_aws(&self) -> Option<AwsScalar> {
        match self {
            ValueType::InForm(_, form) => match **form {
                Form::Aws(scalar) => Some(scalar),
                _ => None,
            },
            _ => None,
        }
    }

    /// The type as which values are kept: that of the text or number which a scalar of AWS AppSync is.
    pub fn plain(&self) -> &ValueType {
        match self {
            ValueType::InForm(kind, _) if self.as_aws().is_some() => kind,
            other => other,
        }
    }

    /// The case in which a key has a text of this type, if it is one.
    pub fn case(&self) -> Option<&Form> {
        match self {
            ValueType::InForm(_, form) if form.is_case() => Some(form),
            _ => None,
        }
    }

    /// Whether the type is a time or a day in the API.
    pub fn is_time(&self) -> bool {
        matches!(self.in_api(), ValueType::DateTime(_) | ValueType::LocalDateTime | ValueType::Date)
    }

    /// The form, if there is one, and whether instants are kept as numbers: values of types that differ in these are
    /// kept in different ways.
    fn kept(&self) -> (Option<&Form>, Option<Moment>) {
        match self {
            ValueType::InForm(_, form) if self.as_aws().is_none() => (Some(form), None),
            ValueType::DateTime(moment) => (None, Some(*moment)),
            _ => (None, None),
        }
    }

    /// Whether equal values of both types, which are equal in the API, are kept in the same way.
    pub fn is_kept_as(&self, other: &ValueType) -> bool {
        let by = |kind: &ValueType| if let ValueType::Map(form) = kind { Some(form.clone()) } else { None };
        self.kept() == other.kept() && by(self) == by(other)
    }

    /// The value without what is finer than the type keeps: for what is computed, such as the time of a request. `None`
    /// if it is no value of the type.
    pub fn cut(&self, value: &Value) -> Option<Value> {
        match (self, self.time_form(), value) {
            (ValueType::InForm(kind, _), Some(form), Value::String(text)) => {
                kind.clock_value(form, form.read(&form.write(kind.clock(form, text)?)?)?)
            }
            (_, _, Value::String(instant)) if let Some(scalar) = self.as_aws() => scalar.value_at(instant),
            _ => self.coerce(value).ok(),
        }
    }

    /// Whether the type can say all of a time, to the nanosecond. It can of any other value.
    pub fn holds_all_of(&self, value: &Value) -> bool {
        let unit = match self {
            ValueType::DateTime(Moment::EpochSeconds) => 1_000_000_000,
            ValueType::DateTime(Moment::Text | Moment::EpochMillis) => 1_000_000,
            _ => return self.time_form().is_none() || self.coerce(value).is_ok(),
        };
        let clock = value.as_str().and_then(instant_clock);
        clock.is_none_or(|clock| clock.nanosecond().is_multiple_of(unit))
    }

    /// Whether a time is before or after all that the form can say; `None` if it is not, or the type has no such form.
    pub fn beyond_form(&self, value: &Value) -> Option<Ordering> {
        let ValueType::InForm(kind, form) = self else { return None };
        let form = form.as_time()?;
        let clock = kind.clock(form, value.as_str()?)?;
        form.write(clock).is_none().then(|| form.side(clock))
    }

    /// The time that a text is in one of the usual forms of other programs, cut to what this type keeps.
    pub fn guessed(&self, text: &str) -> Option<Value> {
        let form = usual(text).into_iter().find(|form| form.length() == text.len())?;
        self.cut(&self.in_api().clock_value(form, form.read(text)?)?)
    }

    /// What a clock in the form's zone shows at a time of this type, in the API's text.
    fn clock(&self, form: &TimeForm, text: &str) -> Option<PrimitiveDateTime> {
        match self {
            ValueType::DateTime(_) => instant_clock(text)?.checked_add(Duration::minutes(form.zone().unwrap_or(0))),
            ValueType::LocalDateTime => local_clock(text),
            ValueType::Date => day_clock(text),
            _ => None,
        }
    }

    /// The API's text of what a clock in the form's zone shows, with the decimals that the form has.
    fn clock_value(&self, form: &TimeForm, clock: PrimitiveDateTime) -> Option<Value> {
        let text = match self {
            ValueType::DateTime(_) => {
                let clock = clock.checked_sub(Duration::minutes(form.zone().unwrap_or(0)))?;
                clock_text(clock, form.decimals().max(INSTANT_DECIMALS))? + "Z"
            }
            ValueType::LocalDateTime => clock_text(clock, form.decimals())?,
            ValueType::Date => clock_text(clock, 0)?.get(..DATE_LENGTH)?.to_owned(),
            _ => return None,
        };
        Some(Value::from(text))
    }

    /// The canonical value of this type that the form can hold; the error is a sentence for the caller.
    fn coerce_in(&self, form: &Form, value: &Value) -> Result<Value, String> {
        let coerced = self.coerce(value)?;
        match (form, value) {
            (Form::Time(form), Value::String(text)) => {
                let clock = self.clock(form, text).filter(|clock| form.holds(*clock));
                let held = clock.and_then(|clock| self.clock_value(form, clock));
                held.ok_or_else(|| {
                    format!("{} cannot be {}: it is kept as `{}`.", self.name(), excerpt(value), form.text())
                })
            }
            (Form::Number, _) if !coerced.is_null() && self.text_in(form, &coerced).is_none() => {
                Err(format!("{} cannot be {}: it is kept as a number.", self.name(), excerpt(value)))
            }
            _ => Ok(coerced),
        }
    }

    /// The text of a canonical value in the form.
    fn text_in(&self, form: &Form, value: &Value) -> Option<String> {
        match (form, self) {
            (Form::Time(form), _) => form.write(self.clock(form, value.as_str()?)?),
            (Form::Text | Form::Aws(_), _) => self.to_text(value),
            (Form::Lower | Form::Upper, _) => self.to_text(value).map(|text| form.fold(&text).into_owned()),
            (Form::Number, ValueType::Boolean) => value.as_bool().map(|truth| u8::from(truth).to_string()),
            // A number is read back as DynamoDB writes it, so no other spelling is one.
            (Form::Number, _) => {
                self.to_text(value).filter(|text| canonical_decimal(text).is_ok_and(|canonical| canonical == *text))
            }
        }
    }

    /// The value of a text in the form.
    pub fn value_in(&self, form: &Form, text: &str) -> Option<Value> {
        match (form, self) {
            (Form::Time(form), _) => self.clock_value(form, form.read(text)?),
            // Other programs spell numbers as they like.
            (Form::Text, _) => self.from_text(text),
            (Form::Lower | Form::Upper, _) => self.from_text(text).filter(|_| form.fold(text) == text),
            (Form::Number, ValueType::Boolean) => match text {
                "0" => Some(Value::Bool(false)),
                "1" => Some(Value::Bool(true)),
                _ => None,
            },
            (Form::Number | Form::Aws(_), _) => self.from_text(text),
        }
    }
}

impl EnumValues {
    /// The API name of a stored text.
    pub fn api_name(&self, stored: &str) -> Option<&str> {
        self.stored.iter().find(|(_, text)| *text == stored).map(|(name, _)| name.as_str())
    }
}

/// The canonical JSON value of a float. A float without a fraction becomes an integer, so that equal floats are equal
/// values.
fn float(float: f64) -> Option<Value> {
    canonical_float(float)?;
    Some(integer(&Value::from(float)).map_or_else(|| Value::from(float), Value::from))
}

fn decimal(text: &str) -> Result<Value, String> {
    canonical_decimal(text)
        .map(Value::from)
        .map_err(|mistake| format!("Decimal cannot be {}: {mistake}.", excerpt(&text.into())))
}

/// The canonical elements of a set, each once: DynamoDB refuses a set with duplicates.
fn set(element: &ValueType, values: &[Value]) -> Result<Value, String> {
    let mut seen = std::collections::HashSet::new();
    let mut elements = Vec::with_capacity(values.len());
    for value in values {
        let value = element.coerce(value)?;
        if value.is_null() {
            return Err(format!("[{}] cannot hold null: it is stored as a set.", element.name()));
        }
        if seen.insert(value.to_string()) {
            elements.push(value);
        }
    }
    Ok(Value::Array(elements))
}

#[cfg(test)]
#[path = "value_type_tests.rs"]
mod tests;
