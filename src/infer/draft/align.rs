//! The texts that a part of a key has in the items of a group in, the attribute that it repeats out.

use super::names;
use crate::infer::shape::electro_db;
use crate::infer::shape::row::Row;
use crate::schema::scalar::date_time;
use crate::schema::scalar::time_form::{self, TimeForm};
use crate::table::data::attribute::Attribute;
use std::collections::BTreeSet;
use time::PrimitiveDateTime;

/// How a part of a key repeats an attribute.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Likeness {
    /// Its text.
    Equal,
    /// Its text in small letters.
    Lower,
    /// Its text in capitals.
    Upper,
    /// Its number, with zeros before it up to these digits.
    Padded(usize),
    /// Its time, in this form. The flag: the form says less of it.
    Time(String, bool),
}

/// An attribute that a part of a key repeats.
#[derive(Debug, Clone, PartialEq)]
pub struct Alignment {
    /// The attribute.
    pub attribute: String,
    /// How.
    pub likeness: Likeness,
    /// The share of the items that have the attribute.
    pub share: f64,
}

/// From how many texts on a likeness in another case is none by chance.
const CASES: usize = 8;
/// The least share of items that show a likeness.
const SHARE: f64 = 0.5;

/// A part of a key in the items of a group.
pub struct Texts<'r, 'i> {
    /// The items.
    pub rows: Vec<&'r Row<'i>>,
    /// The part's text in each of them.
    pub texts: Vec<&'r str>,
    /// The label before it.
    pub label: Option<&'r str>,
    /// The key attribute.
    pub key: &'r str,
    /// Whether it is the table's own: then it must say all of a value.
    pub primary: bool,
}

impl Texts<'_, '_> {
    /// The attribute that the part repeats best.
    pub fn alignment(&self) -> Option<Alignment> {
        let mut names: Vec<&str> = self.rows.iter().flat_map(|row| row.texts.iter().map(|(name, _)| *name)).collect();
        names.sort_unstable();
        names.dedup();
        let mut found: Vec<Alignment> =
            names.into_iter().filter(|name| *name != self.key).filter_map(|name| self.with(name)).collect();
        found.sort_by(|one, other| {
            let rank = |found: &Alignment| (found.likeness.clone(), -self.affinity(&found.attribute));
            other.share.total_cmp(&one.share).then_with(|| {
                let ((one, near), (other, far)) = (rank(one), rank(other));
                one.cmp(&other).then(near.cmp(&far))
            })
        });
        found.into_iter().next()
    }

    /// How near an attribute's name is to the label.
    fn affinity(&self, attribute: &str) -> i32 {
        let attribute = names::plain(attribute);
        let is_near = self.label.map(names::plain).is_some_and(|label| !label.is_empty() && attribute.contains(&label));
        i32::from(is_near) * 2 + i32::from(attribute.ends_with("id"))
    }

    fn with(&self, attribute: &str) -> Option<Alignment> {
        let pairs: Vec<(&str, &str)> =
            self.rows.iter().zip(&self.texts).filter_map(|(row, text)| Some((*text, row.text(attribute)?))).collect();
        let share = pairs.len() as f64 / self.rows.len() as f64;
        if pairs.is_empty() || share < SHARE && pairs.len() < 5 {
            return None;
        }
        // ElectroDB puts the texts of keys in small letters.
        let is_cased = self.rows.iter().all(|row| row.item.contains_key(electro_db::MARK));
        let likeness = likeness(&pairs, is_cased)?;
        let is_number = |row: &&Row<'_>| matches!(row.item.get(attribute), None | Some(Attribute::N(_)));
        if matches!(likeness, Likeness::Padded(_)) && !self.rows.iter().all(is_number)
            || self.primary && matches!(likeness, Likeness::Time(_, true))
        {
            return None;
        }
        Some(Alignment { attribute: attribute.to_owned(), likeness, share })
    }
}

fn likeness(pairs: &[(&str, &str)], is_cased: bool) -> Option<Likeness> {
    let all = |is_like: &dyn Fn(&str, &str) -> bool| pairs.iter().all(|(key, value)| is_like(key, value));
    if all(&|key, value| key == value) {
        return Some(Likeness::Equal);
    }
    // The name `Ann` beside the id `ann` is chance, until there are many.
    let distinct: BTreeSet<&str> = pairs.iter().map(|(key, _)| *key).collect();
    if all(&|key, value| key == value.to_lowercase()) && (is_cased || distinct.len() >= CASES) {
        return Some(Likeness::Lower);
    }
    if all(&|key, value| key == value.to_uppercase()) && (is_cased || distinct.len() >= CASES) {
        return Some(Likeness::Upper);
    }
    padded(pairs).or_else(|| time(pairs))
}

fn padded(pairs: &[(&str, &str)]) -> Option<Likeness> {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let width = pairs.first()?.0.len();
    let is_padded = |(key, value): &(&str, &str)| {
        digits(key)
            && digits(value)
            && key.len() == width
            && key.trim_start_matches('0') == value.trim_start_matches('0')
    };
    pairs.iter().all(is_padded).then_some(Likeness::Padded(width))
}

/// The form in which all keys have the times of the values.
fn time(pairs: &[(&str, &str)]) -> Option<Likeness> {
    let form = common_form(pairs.iter().map(|(key, _)| *key))?;
    let mut is_coarser = false;
    for (key, value) in pairs {
        let clock = clock(value)?;
        if form.write(clock).as_deref() == Some(key) {
            continue;
        }
        // The form of another unit has less of the time.
        let cut = form.read(key)?;
        is_coarser |= cut < clock;
        if cut > clock || !is_cut(&form, cut, clock) {
            return None;
        }
    }
    let says_less =
        is_coarser || pairs.iter().any(|(key, value)| form.length() < value.len() && key.len() < value.len());
    Some(Likeness::Time(form.text().to_owned(), says_less))
}

/// Whether what a form reads back is the time without its finer parts.
fn is_cut(form: &TimeForm, cut: PrimitiveDateTime, clock: PrimitiveDateTime) -> bool {
    let same_day = cut.date() == clock.date();
    let has_clock = form.text().contains("%H");
    same_day && (!has_clock || clock - cut < time::Duration::SECOND)
}

/// The time that a text of an attribute shows, in UTC.
fn clock(text: &str) -> Option<PrimitiveDateTime> {
    date_time::instant_clock(text)
        .or_else(|| date_time::local_clock(text))
        .or_else(|| common_form(std::iter::once(text)).and_then(|form| form.read(text)))
}

/// The usual form of times that all texts are in, as long as each of them.
pub fn common_form<'t>(mut texts: impl Iterator<Item = &'t str>) -> Option<TimeForm> {
    let first = texts.next()?;
    let mut forms: Vec<&'static TimeForm> = usual_of(first);
    for text in texts {
        forms.retain(|form| form.length() == text.len() && form.read(text).is_some());
    }
    forms.first().map(|form| (*form).clone())
}

/// The usual forms that a whole text is in.
fn usual_of(text: &str) -> Vec<&'static TimeForm> {
    time_form::usual(text).into_iter().filter(|form| form.length() == text.len()).collect()
}
