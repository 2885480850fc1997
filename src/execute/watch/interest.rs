//! The arguments of a subscription in; out: the values of the bound fields that an image must have to concern it. Must
//! not know who subscribes.

use crate::execute::context::ExecutionContext;
use crate::execute::error::{ErrorCode, Failure};
use crate::execute::expression::filter::ItemFilter;
use crate::execute::expression::scope::Scope;
use crate::execute::key::values::MAX_COMBINATIONS;
use crate::execute::read::state::ReadState;
use crate::execute::values::{decode, encode};
use crate::plan::tree::{PlannedWatch, WatchBinding};
use crate::schema::scalar::form::Form;
use crate::table::data::attribute::Item;
use serde_json::Value;
use std::sync::Arc;

/// The values of a subscription's bound fields: for each, the values one of which an image has, or `None` if a null
/// argument binds nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Interest {
    bound: Vec<Option<Vec<String>>>,
}

/// The values of bound fields, as JSON text; `None` for those that a null leaves unbound.
pub type BoundValues = Vec<Option<String>>;

impl Interest {
    /// The interest of a request. If no item can have the values, it has no combinations.
    pub fn new(state: &ReadState<'_>, watch: &PlannedWatch) -> Result<Self, Arc<Failure>> {
        let mut bound = Vec::new();
        let mut combinations = 1_usize;
        for WatchBinding { reader, source, case } in &watch.bindings {
            let values = match state.value(source, 0, 0)? {
                // A claim that the caller lacks is no null.
                None if source.has_claim() => Some(Vec::new()),
                None => None,
                Some(Value::Array(values)) => Some(values),
                Some(value) => Some(vec![value]),
            };
            let texts = values.map(|values| {
                // As an image gives it.
                let text = |value: Value| {
                    let attribute = encode::attribute(&reader.stored.value, &value)?;
                    Some(text_of(&decode::scalar(&reader.stored.value, &attribute)?, case.as_ref()))
                };
                let mut texts: Vec<String> = values.into_iter().filter_map(text).collect();
                texts.sort();
                texts.dedup();
                texts
            });
            combinations = combinations.saturating_mul(texts.as_ref().map_or(1, Vec::len).max(1));
            if combinations > MAX_COMBINATIONS {
                let message = format!("The subscription watches too many values: more than {MAX_COMBINATIONS}.");
                return Err(Failure::new(ErrorCode::LimitExceeded, message));
            }
            bound.push(texts);
        }
        Ok(Self { bound })
    }

    /// Which fields it binds.
    pub fn shape(&self) -> Vec<bool> {
        self.bound.iter().map(Option::is_some).collect()
    }

    /// Each combination of its values.
    pub fn combinations(&self) -> Vec<BoundValues> {
        self.bound.iter().fold(vec![Vec::new()], |all, values| {
            let texts: Vec<Option<String>> = match values {
                None => vec![None],
                Some(texts) => texts.iter().cloned().map(Some).collect(),
            };
            all.iter()
                .flat_map(|first| texts.iter().map(move |text| [first.as_slice(), std::slice::from_ref(text)].concat()))
                .collect()
        })
    }

    /// Whether an image has the values.
    fn is_met(&self, watch: &PlannedWatch, image: &Item) -> bool {
        self.bound.iter().zip(&watch.bindings).all(|(texts, binding)| {
            texts.as_ref().is_none_or(|texts| value_of(binding, image).is_some_and(|value| texts.contains(&value)))
        })
    }
}

/// The values of an image in the fields of a shape. `None` if it lacks one.
pub fn values_of(watch: &PlannedWatch, shape: &[bool], image: &Item) -> Option<BoundValues> {
    let value = |(binding, is_bound): (&WatchBinding, &bool)| match is_bound {
        true => value_of(binding, image).map(Some),
        false => Some(None),
    };
    watch.bindings.iter().zip(shape).map(value).collect()
}

fn value_of(binding: &WatchBinding, image: &Item) -> Option<String> {
    let value = decode::value(&binding.reader, image).filter(|value| !value.is_null());
    value.map(|value| text_of(&value, binding.case.as_ref()))
}

/// A value as bindings compare it.
fn text_of(value: &Value, case: Option<&Form>) -> String {
    match (value, case) {
        (Value::String(text), Some(case)) => case.fold(text).into_owned(),
        _ => value.to_string(),
    }
}

/// Says of images whether a subscription wants them.
pub struct ImageMatcher<'a> {
    watch: &'a PlannedWatch,
    interest: &'a Interest,
    filter: Option<ItemFilter<'a>>,
}

impl<'a> ImageMatcher<'a> {
    /// The matcher of a request.
    pub fn new(
        context: &'a ExecutionContext<'a>,
        state: &'a ReadState<'_>,
        watch: &'a PlannedWatch,
        interest: &'a Interest,
    ) -> Result<Self, Arc<Failure>> {
        let filter = match &watch.filter {
            None => None,
            Some(filter) => {
                let scope = Scope {
                    arguments: state.arguments().values(filter.arguments)?,
                    now: context.now,
                    caller: context.caller,
                };
                Some(ItemFilter::new(filter, scope).map_err(|message| Failure::new(ErrorCode::BadUserInput, message))?)
            }
        };
        Ok(Self { watch, interest, filter })
    }

    /// The image, if it is of the watched type and has what the subscription asks for.
    pub fn wanted(&self, image: Option<&Arc<Item>>) -> Vec<Arc<Item>> {
        let is_wanted = |image: &&Arc<Item>| {
            self.watch.discriminator.recognises(image)
                && self.interest.is_met(self.watch, image)
                && self.filter.as_ref().is_none_or(|filter| filter.lets_through(image).unwrap_or(false))
        };
        image.into_iter().filter(is_wanted).cloned().collect()
    }
}
