//! Instants and dates: ISO 8601 text in, canonical text or milliseconds since 1970 out. Must not know items, keys or
//! GraphQL.
//!
//! An instant is written as in RFC 3339, or in one of the ISO 8601 spellings that occur in existing data: a space or a
//! small `t` before the time, no seconds, any number of decimals (three are kept), an offset written `Z`, `+09:00`,
//! `+0900` or `+09`.

use time::format_description::well_known::Rfc3339;
use time::macros::format_description;
use time::{Date, Month, OffsetDateTime, PrimitiveDateTime, Time, UtcOffset};

/// The length of every canonical instant, `2026-11-20T09:30:00.000Z`.
pub const INSTANT_LENGTH: usize = 24;

/// The length of a date and a time without decimals, `2026-11-20T09:30:00`.
const CLOCK_LENGTH: usize = 19;

/// The length of every date, `2026-11-20`.
pub const DATE_LENGTH: usize = 10;

/// The canonical text of an instant: UTC with milliseconds; finer digits are cut off. `None` if the text is not an
/// instant in the years 0000 to 9999.
pub fn canonical_instant(text: &str) -> Option<String> {
    if is_canonical_instant(text) { Some(text.to_owned()) } else { instant_text(epoch_millis(text)?) }
}

/// Whether the text is the canonical text of an instant.
pub fn is_canonical_instant(text: &str) -> bool {
    let parsed = || {
        let mut scan = Scan { text, at: 0 };
        scan.date()?;
        let mut part = |before: &[u8], digits| scan.byte(before).and_then(|()| scan.digits(digits))?.parse().ok();
        let (hour, minute, second) = (part(b"T", 2)?, part(b":", 2)?, part(b":", 2)?);
        Time::from_hms(hour, minute, second).ok()?;
        scan.byte(b".").and_then(|()| scan.digits(3))?;
        scan.byte(b"Z")?;
        (scan.at == text.len()).then_some(())
    };
    parsed().is_some()
}

/// Milliseconds since 1970 of an instant in any accepted spelling.
pub fn epoch_millis(text: &str) -> Option<i64> {
    i64::try_from(instant(text, 3)?.unix_timestamp_nanos().div_euclid(1_000_000)).ok()
}

/// What a clock in UTC shows at an instant in any accepted spelling; finer digits than nanoseconds are cut off.
pub fn instant_clock(text: &str) -> Option<PrimitiveDateTime> {
    let at = instant(text, 9)?.checked_to_offset(UtcOffset::UTC)?;
    Some(PrimitiveDateTime::new(at.date(), at.time()))
}

/// What a clock shows at a local time: an accepted spelling of an instant without its offset.
pub fn local_clock(text: &str) -> Option<PrimitiveDateTime> {
    let (clock, length) = clock(text, 9)?;
    let at = OffsetDateTime::parse(&format!("{clock}Z"), &Rfc3339).ok().filter(|_| length == text.len())?;
    Some(PrimitiveDateTime::new(at.date(), at.time()))
}

/// What a clock shows at the beginning of a day, `2026-11-20`.
pub fn day_clock(text: &str) -> Option<PrimitiveDateTime> {
    let mut scan = Scan { text, at: 0 };
    let date = scan.date()?;
    (scan.at == text.len()).then(|| date.midnight())
}

/// What a clock shows, as `2026-11-20T09:30:00` with so many decimals of the second; `None` outside the years 0000 to
/// 9999.
pub fn clock_text(clock: PrimitiveDateTime, decimals: usize) -> Option<String> {
    let format = format_description!("[year]-[month]-[day]T[hour]:[minute]:[second].[subsecond digits:9]");
    let mut text = if (0..=9999).contains(&clock.year()) { clock.format(format).ok()? } else { return None };
    text.truncate(if decimals == 0 { CLOCK_LENGTH } else { CLOCK_LENGTH + 1 + decimals });
    Some(text)
}

/// What a clock shows, with as few decimals as hold it: at least so many, and in threes.
pub fn fine_text(clock: PrimitiveDateTime, least: usize) -> Option<String> {
    let nanos = clock.nanosecond();
    let units = [(1_000_000_000, 0), (1_000_000, 3), (1_000, 6)];
    let decimals = units.into_iter().find(|(unit, _)| nanos.is_multiple_of(*unit));
    clock_text(clock, decimals.map_or(9, |(_, decimals)| decimals).max(least))
}

/// An instant in any accepted spelling, with so many decimals of the second; others are cut off.
fn instant(text: &str, decimals: usize) -> Option<OffsetDateTime> {
    let (clock, length) = clock(text, decimals)?;
    let zone = text.get(length..)?;
    let (_, offset) = zones(zone).into_iter().find(|(length, _)| *length == zone.len())?;
    OffsetDateTime::parse(&format!("{clock}{offset}"), &Rfc3339).ok()
}

/// The canonical text of milliseconds since 1970; `None` outside the years 0000 to 9999, where the text would have
/// another length.
pub fn instant_text(millis: i64) -> Option<String> {
    let at = OffsetDateTime::from_unix_timestamp_nanos(i128::from(millis) * 1_000_000).ok()?;
    let format = format_description!("[year]-[month]-[day]T[hour]:[minute]:[second].[subsecond digits:3]Z");
    if (0..=9999).contains(&at.year()) { at.format(format).ok() } else { None }
}

/// The possible lengths of an instant at the beginning of a text, longest first: `…+09:00` is an instant, and so is
/// `…+09`.
pub fn instant_lengths(text: &str) -> Vec<usize> {
    let Some((_, length)) = clock(text, 3) else { return Vec::new() };
    zones(text.get(length..).unwrap_or_default()).into_iter().map(|(zone, _)| length + zone).collect()
}

/// Whether the text is a calendar day, `2026-11-20`.
pub fn is_date(text: &str) -> bool {
    day_clock(text).is_some()
}

/// The date and time at the beginning of a text, written as in RFC 3339 with so many decimals, and their length in
/// bytes.
fn clock(text: &str, kept: usize) -> Option<(String, usize)> {
    let mut scan = Scan { text, at: 0 };
    scan.digits(4)?;
    scan.byte(b"-")?;
    scan.digits(2)?;
    scan.byte(b"-")?;
    scan.digits(2)?;
    let date = text.get(..scan.at)?;
    scan.byte(b"Tt ")?;
    let hour = scan.digits(2)?;
    scan.byte(b":")?;
    let minute = scan.digits(2)?;
    let (mut second, mut decimals) = ("00", String::new());
    if scan.byte(b":").is_some() {
        second = scan.digits(2)?;
        if scan.byte(b".,").is_some() {
            let from = scan.at;
            while scan.digits(1).is_some() {}
            decimals = text.get(from..scan.at)?.chars().take(kept).collect();
            if decimals.is_empty() {
                return None;
            }
        }
    }
    Some((format!("{date}T{hour}:{minute}:{second}.{decimals:0<kept$}"), scan.at))
}

/// The possible offsets at the beginning of a text: their lengths, longest first, and how RFC 3339 writes them.
fn zones(text: &str) -> Vec<(usize, String)> {
    let mut scan = Scan { text, at: 0 };
    if scan.byte(b"Zz").is_some() {
        return vec![(1, "Z".to_owned())];
    }
    let mut found = Vec::new();
    let mut offset = || {
        scan.byte(b"+-")?;
        scan.digits(2)?;
        let hours = text.get(..scan.at)?;
        found.push((scan.at, format!("{hours}:00")));
        // The colon is optional in ISO 8601's basic form.
        let _ = scan.byte(b":");
        let minutes = scan.digits(2)?;
        found.insert(0, (scan.at, format!("{hours}:{minutes}")));
        Some(())
    };
    offset();
    found
}

/// A position in a text, before which everything is ASCII.
struct Scan<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Scan<'a> {
    /// Consumes a day of the calendar.
    fn date(&mut self) -> Option<Date> {
        let year = self.digits(4)?.parse().ok()?;
        let month: u8 = self.byte(b"-").and_then(|()| self.digits(2))?.parse().ok()?;
        let day = self.byte(b"-").and_then(|()| self.digits(2))?.parse().ok()?;
        Date::from_calendar_date(year, Month::try_from(month).ok()?, day).ok()
    }

    /// Consumes the next `count` bytes if they are digits.
    fn digits(&mut self, count: usize) -> Option<&'a str> {
        let digits = self.text.get(self.at..self.at + count)?;
        digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| {
            self.at += count;
            digits
        })
    }

    /// Consumes the next byte if it is one of these.
    fn byte(&mut self, any: &[u8]) -> Option<()> {
        let next = self.text.as_bytes().get(self.at)?;
        any.contains(next).then(|| self.at += 1)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn every_spelling_has_one_canonical_text() {
        for (text, canonical) in [
            ("2026-11-20T09:30:00Z", "2026-11-20T09:30:00.000Z"),
            ("2026-11-20T09:30:00.1Z", "2026-11-20T09:30:00.100Z"),
            ("2026-11-20T09:30:00.123999Z", "2026-11-20T09:30:00.123Z"),
            ("2026-11-20t09:30:00,5z", "2026-11-20T09:30:00.500Z"),
            ("2026-11-20 09:30+09:00", "2026-11-20T00:30:00.000Z"),
            ("2026-11-20T00:30:00+0930", "2026-11-19T15:00:00.000Z"),
            ("2026-11-20T23:30:00-01", "2026-11-21T00:30:00.000Z"),
            ("1969-12-31T23:59:59.9999Z", "1969-12-31T23:59:59.999Z"),
            ("2016-12-31T23:59:60Z", "2016-12-31T23:59:59.999Z"),
            ("0000-01-01T00:00:00Z", "0000-01-01T00:00:00.000Z"),
        ] {
            assert_eq!(canonical_instant(text).as_deref(), Some(canonical), "{text}");
        }
    }

    #[test]
    fn what_is_no_instant_is_none() {
        for text in [
            "",
            "2026-11-20",
            "2026-11-20T09:30:00",
            "2026-02-30T00:00:00Z",
            "2026-11-20T24:00:00Z",
            "2026-11-20T09:30:00.Z",
            "2026-11-20T09:30:00Z ",
            "2026-11-20T09:30:00+99:00",
            "0000-01-01T00:00:00+09:00",
            "9999-12-31T23:59:59-09:00",
            "2026-11-20T09:30:00+",
            "２０２６-11-20T09:30:00Z",
            "+2026-11-20T09:30:00Z",
        ] {
            assert_eq!(canonical_instant(text), None, "{text}");
        }
        assert_eq!(instant_text(i64::MAX), None);
        assert_eq!(instant_text(i64::MIN), None);
    }

    #[test]
    fn an_offset_may_end_in_two_places() {
        assert_eq!(instant_lengths("2026-11-20T09:30+09:00#x"), [22, 19]);
        assert_eq!(instant_lengths("2026-11-20T09:30:00.000Z+09:00"), [24]);
        assert_eq!(instant_lengths("2026-11-20T09:30#x"), Vec::<usize>::new());
    }

    #[test]
    fn dates_are_days_of_the_calendar() {
        assert!(is_date("2024-02-29"));
        for text in ["2023-02-29", "2023-2-9", "2023-02-09 ", "", "20230209", "2023-13-01", "+023-01-01", "2023-0é-01"]
        {
            assert!(!is_date(text), "{text}");
        }
    }

    proptest! {
        #[test]
        fn canonical_text_has_one_length_and_stands_for_its_instant(
            millis in -62_167_219_200_000_i64..=253_402_300_799_999
        ) {
            let text = instant_text(millis).unwrap();
            prop_assert_eq!(text.len(), INSTANT_LENGTH);
            prop_assert_eq!(epoch_millis(&text), Some(millis));
            prop_assert!(is_canonical_instant(&text));
            prop_assert_eq!(canonical_instant(&text), Some(text));
        }

        #[test]
        fn no_text_panics(text in "\\PC*|[-0-9:.,TtZz+ ]{0,40}") {
            for length in instant_lengths(&text) {
                prop_assert!(text.is_char_boundary(length));
            }
            canonical_instant(&text);
            is_date(&text);
        }

        #[test]
        fn only_the_text_that_is_written_is_canonical(text in "20(2[3-6]|16)-(0[0-9]|1[0-3])-[0-3][0-9][Tt ][0-2][0-9]:[0-6][0-9]:[0-6][0-9][.,][0-9]{2,4}(Z|z|[+]00:00)") {
            let written = epoch_millis(&text).and_then(instant_text);
            prop_assert_eq!(is_canonical_instant(&text), written.as_ref() == Some(&text));
        }
    }
}
