//! A text in; out: the text with names for the values that a write generates (ids, times, hashes, tokens), the same in
//! every run. Must not know what the text is.

use crate::execute::values::expiry::FIVE_YEARS;
use crate::schema::scalar::date_time::{canonical_instant, epoch_millis, instant_text};
use std::collections::HashMap;
use std::time::{SystemTime, UNIX_EPOCH};

/// The names given so far: the same value has the same name in plan, calls and response.
#[derive(Debug)]
pub struct GeneratedNames {
    /// The text of the system's items and of the operation, whose values are not generated.
    known: String,
    given: HashMap<String, String>,
    uuids: usize,
    hashes: usize,
}

impl GeneratedNames {
    /// GeneratedNames for all values that are not in this text: that of a system's items and of the operation.
    pub fn besides(known: String) -> Self {
        Self { known, given: HashMap::new(), uuids: 0, hashes: 0 }
    }

    /// The text, with each generated value replaced by its name.
    pub fn replace(&mut self, text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(start) = rest.find(|letter: char| letter.is_ascii_alphanumeric()) {
            out.push_str(&rest[..start]);
            rest = &rest[start..];
            let (token, name) = self.made_up(rest);
            out.push_str(&name);
            rest = &rest[token..];
        }
        out + rest
    }

    /// The length of the token at the beginning of a text, and what replaces it.
    fn made_up(&mut self, text: &str) -> (usize, String) {
        let word = |more: &[char]| {
            text.find(|letter: char| !letter.is_ascii_alphanumeric() && !more.contains(&letter)).unwrap_or(text.len())
        };
        if let Some(instant) = text.get(..24).filter(|text| is_instant(text) && !self.known.contains(*text)) {
            return (24, time_name(instant));
        }
        let long = word(&['-']);
        let candidate = &text[..long];
        if is_uuid(candidate) && !self.known.contains(candidate) {
            return (long, self.name(candidate, "uuid"));
        }
        let short = word(&[]);
        let candidate = &text[..short];
        if let Some(name) =
            epoch_name(candidate).filter(|_| !self.known.contains(candidate) && !self.knows_time(candidate))
        {
            return (short, name);
        }
        let is_hex = candidate.bytes().all(|byte| byte.is_ascii_hexdigit());
        if is_hex && short == 36 {
            return (short, "<token>".to_owned());
        }
        if is_hex && (short == 32 || short == 64) && !self.known.contains(candidate) {
            return (short, self.name(candidate, "hash"));
        }
        (short, candidate.to_owned())
    }

    /// Whether a number of seconds is an instant that the known text contains as an instant.
    fn knows_time(&self, seconds: &str) -> bool {
        let instant = seconds.parse().ok().and_then(|seconds: i64| instant_text(seconds * 1000));
        instant.is_some_and(|instant| self.known.contains(&instant[..19]))
    }

    fn name(&mut self, made_up: &str, kind: &str) -> String {
        if let Some(name) = self.given.get(made_up) {
            return name.clone();
        }
        let counter = if kind == "uuid" { &mut self.uuids } else { &mut self.hashes };
        *counter += 1;
        let name = format!("<{kind} {counter}>");
        self.given.insert(made_up.to_owned(), name.clone());
        name
    }
}

fn is_uuid(text: &str) -> bool {
    let groups: Vec<&str> = text.split('-').collect();
    groups.iter().map(|group| group.len()).eq([8, 4, 4, 4, 12])
        && groups.iter().all(|group| group.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

fn is_instant(text: &str) -> bool {
    text.ends_with('Z') && canonical_instant(text).as_deref() == Some(text)
}

/// The name of a time near the present: its distance in hours.
fn time_name(instant: &str) -> String {
    let millis = epoch_millis(instant).unwrap_or(0);
    distance(millis).map_or_else(|| instant.to_owned(), |distance| format!("<now{distance}>"))
}

/// The same for a time in seconds since 1970.
fn epoch_name(digits: &str) -> Option<String> {
    let seconds: i64 = digits.parse().ok().filter(|_| digits.len() == 10)?;
    if distance((seconds + FIVE_YEARS) * 1000).is_some_and(|distance| distance.is_empty()) {
        return Some("<seconds of five years ago>".to_owned());
    }
    distance(seconds * 1000).map(|distance| format!("<seconds of now{distance}>"))
}

/// The distance to the present in hours: empty, `+24h`, `-24h`; `None` if it is far.
fn distance(millis: i64) -> Option<String> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as i64);
    match ((millis - now) as f64 / 3_600_000.0).round() as i64 {
        0 => Some(String::new()),
        hours @ -1000..=1000 => Some(format!("{hours:+}h")),
        _ => None,
    }
}
