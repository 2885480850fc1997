//! Forms of times, such as `%Y-%m-%dT%H:%M:%SZ`: a form's text in; out, texts in this form ⇄ what a clock shows. Must
//! not know fields, keys or GraphQL.
//!
//! | word | digits |
//! |---|---|
//! | `%Y` `%m` `%d` | 4, 2, 2: year, month and day |
//! | `%j` | 3: day of the year |
//! | `%G` `%V` | 4, 2: year and week of ISO 8601, whose weeks begin on Monday |
//! | `%H` `%M` `%S` | 2 each: hour, minute and second |
//! | `%3f` `%6f` `%9f` | 3, 6 or 9: decimals of the second |
//! | `%s` | 10: seconds since 1970 |
//!
//! They are those of `strftime` (POSIX.1-2024), with as many digits as they have in every usual text. So every text of
//! a form has one length, and shows where it ends.

use std::cmp::Ordering;
use std::sync::LazyLock;
use time::{Date, Duration, Month, PrimitiveDateTime, Time, Weekday};

/// The words, as a message lists them.
const WORDS: &str = "%Y %m %d %j %G %V %H %M %S %3f %6f %9f %s";

/// The forms that other programs write most: what a text may be in that is not in the form of its field.
const USUAL: [&str; 18] = [
    "%Y-%m-%dT%H:%M:%SZ",
    "%Y-%m-%dT%H:%M:%S.%3fZ",
    "%Y-%m-%dT%H:%M:%S.%6fZ",
    "%Y-%m-%dT%H:%M:%S.%9fZ",
    "%Y-%m-%dT%H:%M:%S+00:00",
    "%Y-%m-%dT%H:%M:%S.%6f+00:00",
    "%Y-%m-%dT%H:%M:%S.%6f",
    "%Y-%m-%dT%H:%M:%S",
    "%Y-%m-%d %H:%M:%S",
    "%Y-%m-%dT%H:%MZ",
    "%Y%m%dT%H%M%SZ",
    "%Y%m%dT%H%M%S",
    "%Y-%m-%d",
    "%d/%m/%Y",
    "%d.%m.%Y",
    "%s%3f",
    "%s",
    "%Y%m%d",
];

/// The usual forms that a text begins with, the longest first.
pub fn usual(text: &str) -> Vec<&'static TimeForm> {
    static FORMS: LazyLock<Vec<TimeForm>> = LazyLock::new(|| {
        let mut forms: Vec<TimeForm> = USUAL.iter().filter_map(|form| TimeForm::parse(form).ok()).collect();
        forms.sort_by_key(|form| std::cmp::Reverse(form.length()));
        forms
    });
    let begins = |form: &&TimeForm| text.get(..form.length()).is_some_and(|text| form.read(text).is_some());
    FORMS.iter().filter(begins).collect()
}

/// The digits of an epoch in seconds: from 2001-09-09T01:46:40Z until 2286.
const EPOCH_DIGITS: usize = 10;

const EPOCH: PrimitiveDateTime = PrimitiveDateTime::new(time::macros::date!(1970 - 01 - 01), Time::MIDNIGHT);

/// A form of times.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TimeForm {
    text: String,
    parts: Vec<FormPart>,
    finest: Unit,
}

/// A part of a form.
#[derive(Debug, Clone, PartialEq, Eq)]
enum FormPart {
    Literal(String),
    Word(Word),
}

/// A part of a form's texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FixedPart<'f> {
    /// This text.
    Literal(&'f str),
    /// So many digits.
    Digits(usize),
}

/// What a part of a time is, from the coarsest to the finest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Unit {
    /// A year.
    Year,
    /// A month.
    Month,
    /// A week of ISO 8601.
    Week,
    /// A day.
    Day,
    /// An hour.
    Hour,
    /// A minute.
    Minute,
    /// A second.
    Second,
    /// A thousandth of a second.
    Milli,
    /// A millionth of a second.
    Micro,
    /// A billionth of a second.
    Nano,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Word {
    Year,
    Month,
    Day,
    DayOfYear,
    WeekYear,
    Week,
    Hour,
    Minute,
    Second,
    /// So many decimals of the second.
    Decimals(u8),
    Epoch,
}

impl Word {
    fn digits(self) -> usize {
        match self {
            Word::Year | Word::WeekYear => 4,
            Word::DayOfYear => 3,
            Word::Epoch => EPOCH_DIGITS,
            Word::Decimals(digits) => digits.into(),
            _ => 2,
        }
    }

    fn unit(self) -> Unit {
        match self {
            Word::Year | Word::WeekYear => Unit::Year,
            Word::Month => Unit::Month,
            Word::Week => Unit::Week,
            Word::Day | Word::DayOfYear => Unit::Day,
            Word::Hour => Unit::Hour,
            Word::Minute => Unit::Minute,
            Word::Second | Word::Epoch => Unit::Second,
            Word::Decimals(3) => Unit::Milli,
            Word::Decimals(6) => Unit::Micro,
            Word::Decimals(_) => Unit::Nano,
        }
    }

    /// The words that say nothing without this one are useless without these: an hour without its day, a day without
    /// its month.
    fn needs(self) -> &'static [Word] {
        match self {
            Word::Month | Word::DayOfYear => &[Word::Year],
            Word::Day => &[Word::Month],
            Word::Week => &[Word::WeekYear],
            Word::WeekYear => &[Word::Week],
            Word::Hour => &[Word::Day, Word::DayOfYear],
            Word::Minute => &[Word::Hour],
            Word::Second => &[Word::Minute],
            Word::Decimals(_) => &[Word::Second, Word::Epoch],
            Word::Year | Word::Epoch => &[],
        }
    }

    fn text(self) -> &'static str {
        match self {
            Word::Year => "%Y",
            Word::Month => "%m",
            Word::Day => "%d",
            Word::DayOfYear => "%j",
            Word::WeekYear => "%G",
            Word::Week => "%V",
            Word::Hour => "%H",
            Word::Minute => "%M",
            Word::Second => "%S",
            Word::Decimals(3) => "%3f",
            Word::Decimals(6) => "%6f",
            Word::Decimals(_) => "%9f",
            Word::Epoch => "%s",
        }
    }
}

impl TimeForm {
    /// Reads a form.
    ///
    /// # Errors
    /// A sentence that says what is wrong with it.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut parts: Vec<FormPart> = Vec::new();
        let mut rest = text;
        while !rest.is_empty() {
            let Some(at) = rest.find('%') else {
                parts.push(FormPart::Literal(rest.to_owned()));
                break;
            };
            if at > 0 {
                parts.push(FormPart::Literal(rest[..at].to_owned()));
            }
            let (word, after) = word(&rest[at..])?;
            parts.push(FormPart::Word(word));
            rest = after;
        }
        if text.contains(['{', '}']) {
            return Err("A form has no braces.".to_owned());
        }
        let words: Vec<Word> = words(&parts).collect();
        let Some(finest) = words.iter().map(|word| word.unit()).max() else {
            return Err(format!("A form has words, such as `%Y-%m-%d`; the words are {WORDS}."));
        };
        for (position, word) in words.iter().enumerate() {
            let needs = word.needs();
            if !needs.is_empty() && !needs.iter().any(|need| words.contains(need)) {
                let needed: Vec<String> = needs.iter().map(|need| format!("`{}`", need.text())).collect();
                return Err(format!("`{}` says nothing without {}.", word.text(), needed.join(" or ")));
            }
            if words[..position].contains(word) {
                return Err(format!("`{}` stands twice.", word.text()));
            }
        }
        let has = |word: Word| words.contains(&word);
        let kinds = [has(Word::Epoch), has(Word::WeekYear), has(Word::Year)];
        let decimals = words.iter().filter(|word| matches!(word, Word::Decimals(_))).count();
        if kinds.into_iter().filter(|is| *is).count() != 1 || has(Word::Day) && has(Word::DayOfYear) || decimals > 1 {
            return Err(
                "A form says each part of a time in one way: by `%Y` with its day, by `%G` and `%V`, or by `%s`."
                    .to_owned(),
            );
        }
        Ok(Self { text: text.to_owned(), parts, finest })
    }

    /// The form as the schema writes it.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The finest part of a time that it says.
    pub fn finest(&self) -> Unit {
        self.finest
    }

    /// The decimals of seconds that it says: 0, 3, 6 or 9.
    pub fn decimals(&self) -> usize {
        let decimals = words(&self.parts).find(|word| matches!(word, Word::Decimals(_)));
        decimals.map_or(0, Word::digits)
    }

    /// Whether it counts from 1970.
    pub fn is_epoch(&self) -> bool {
        words(&self.parts).any(|word| word == Word::Epoch)
    }

    /// The zone that its last literal names, in minutes east of UTC; `None` if it names none. Only a form with a time
    /// of day has one.
    pub fn zone(&self) -> Option<i64> {
        let has_time = words(&self.parts).any(|word| word == Word::Hour);
        match self.parts.last() {
            Some(FormPart::Literal(literal)) if has_time => zone(literal),
            _ => None,
        }
    }

    /// Whether its texts sort as their times do: the coarser part stands before the finer, and no part is left out.
    pub fn sorts(&self) -> bool {
        let units: Vec<Unit> = words(&self.parts).map(Word::unit).collect();
        units.is_sorted()
    }

    /// The bytes of each of its texts.
    pub fn length(&self) -> usize {
        let length = |part: FixedPart<'_>| match part {
            FixedPart::Literal(literal) => literal.len(),
            FixedPart::Digits(count) => count,
        };
        self.text_parts().map(length).sum()
    }

    /// What each of its texts is made of.
    pub fn text_parts(&self) -> impl Iterator<Item = FixedPart<'_>> {
        self.parts.iter().map(|part| match part {
            FormPart::Literal(literal) => FixedPart::Literal(literal),
            FormPart::Word(word) => FixedPart::Digits(word.digits()),
        })
    }

    /// The text of what a clock shows; what is finer than the form is cut off. `None` if the form has no text for it:
    /// a year beyond 0000 to 9999, or an epoch of other than ten digits.
    pub fn write(&self, clock: PrimitiveDateTime) -> Option<String> {
        let mut text = String::with_capacity(self.text.len() * 2);
        for part in &self.parts {
            match part {
                FormPart::Literal(literal) => text.push_str(literal),
                FormPart::Word(word) => {
                    let (number, digits) = (number(*word, clock), word.digits());
                    let written = format!("{number:0digits$}");
                    // A negative number, or one with more digits, has another length.
                    if number < 0 || written.len() != digits {
                        return None;
                    }
                    if *word == Word::Epoch && written.starts_with('0') {
                        return None;
                    }
                    text.push_str(&written);
                }
            }
        }
        Some(text)
    }

    /// On which side of all times that the form can say a time lies that it cannot.
    pub fn side(&self, clock: PrimitiveDateTime) -> Ordering {
        // All forms can say the 21st century.
        clock.cmp(&PrimitiveDateTime::new(time::macros::date!(2050 - 01 - 01), Time::MIDNIGHT))
    }

    /// What a clock shows at the beginning of the year, day, second … that a text says; `None` if the text is not in
    /// the form.
    pub fn read(&self, text: &str) -> Option<PrimitiveDateTime> {
        let (mut year, mut month, mut day, mut ordinal, mut week) = (None, 1, 1, None, None);
        let (mut hour, mut minute, mut second, mut nanos, mut epoch) = (0, 0, 0, 0, None);
        let mut rest = text;
        for part in &self.parts {
            let word = match part {
                FormPart::Literal(literal) => {
                    rest = rest.strip_prefix(literal.as_str())?;
                    continue;
                }
                FormPart::Word(word) => *word,
            };
            let (digits, after) = rest.split_at_checked(word.digits())?;
            rest = after;
            if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
                return None;
            }
            let number: u32 = if word == Word::Epoch { 0 } else { digits.parse().ok()? };
            let small = || u8::try_from(number).ok();
            match word {
                Word::Year | Word::WeekYear => year = i32::try_from(number).ok(),
                Word::Month => month = small()?,
                Word::Day => day = small()?,
                Word::DayOfYear => ordinal = u16::try_from(number).ok(),
                Word::Week => week = small(),
                Word::Hour => hour = small()?,
                Word::Minute => minute = small()?,
                Word::Second => second = small()?,
                Word::Decimals(digits) => nanos = number.checked_mul(10_u32.pow(9 - u32::from(digits)))?,
                Word::Epoch => epoch = Some(digits.parse::<i64>().ok()?),
            }
        }
        if !rest.is_empty() {
            return None;
        }
        let clock = match (epoch, year) {
            (Some(seconds), _) => EPOCH.checked_add(Duration::new(seconds, i32::try_from(nanos).ok()?))?,
            (None, year) => {
                let date = match (week, ordinal) {
                    (Some(week), _) => Date::from_iso_week_date(year?, week, Weekday::Monday).ok()?,
                    (None, Some(ordinal)) => Date::from_ordinal_date(year?, ordinal).ok()?,
                    (None, None) => Date::from_calendar_date(year?, Month::try_from(month).ok()?, day).ok()?,
                };
                PrimitiveDateTime::new(date, Time::from_hms_nano(hour, minute, second, nanos).ok()?)
            }
        };
        // An epoch of fewer digits than ten, and week 1 of a year before 0000, would be written otherwise.
        (self.write(clock)? == text).then_some(clock)
    }

    /// Whether a text of the form says all of what a clock shows.
    pub fn holds(&self, clock: PrimitiveDateTime) -> bool {
        self.write(clock).and_then(|text| self.read(&text)) == Some(clock)
    }
}

fn words(parts: &[FormPart]) -> impl Iterator<Item = Word> {
    parts.iter().filter_map(|part| match part {
        FormPart::Word(word) => Some(*word),
        FormPart::Literal(_) => None,
    })
}

/// The word at the beginning of a text, and what follows it.
fn word(text: &str) -> Result<(Word, &str), String> {
    const ALL: [Word; 13] = [
        Word::Year,
        Word::Month,
        Word::Day,
        Word::DayOfYear,
        Word::WeekYear,
        Word::Week,
        Word::Hour,
        Word::Minute,
        Word::Second,
        Word::Decimals(3),
        Word::Decimals(6),
        Word::Decimals(9),
        Word::Epoch,
    ];
    let found = ALL.into_iter().find_map(|word| Some((word, text.strip_prefix(word.text())?)));
    found.ok_or_else(|| {
        let unknown: String = text.chars().take(2).collect();
        format!("A form has no `{unknown}`; its words are {WORDS}.")
    })
}

/// What a clock shows of a word.
fn number(word: Word, clock: PrimitiveDateTime) -> i64 {
    match word {
        Word::Year => clock.year().into(),
        Word::Month => u8::from(clock.month()).into(),
        Word::Day => clock.day().into(),
        Word::DayOfYear => clock.ordinal().into(),
        Word::WeekYear => clock.to_iso_week_date().0.into(),
        Word::Week => clock.to_iso_week_date().1.into(),
        Word::Hour => clock.hour().into(),
        Word::Minute => clock.minute().into(),
        Word::Second => clock.second().into(),
        Word::Decimals(digits) => (clock.nanosecond() / 10_u32.pow(9 - u32::from(digits))).into(),
        Word::Epoch => (clock - EPOCH).whole_nanoseconds().div_euclid(1_000_000_000).try_into().unwrap_or(i64::MIN),
    }
}

/// The zone that a literal is, in minutes east of UTC: `Z`, `+09:00` or `+0900`.
fn zone(literal: &str) -> Option<i64> {
    if literal.ends_with(['Z', 'z']) {
        return Some(0);
    }
    let short = literal.len().checked_sub(5).and_then(|at| literal.get(at..));
    let long = literal.len().checked_sub(6).and_then(|at| literal.get(at..));
    [long, short].into_iter().flatten().find_map(|text| {
        let (sign, digits) = (text.get(..1)?, text.get(1..)?.replacen(':', "", 1));
        let sign = match sign {
            "+" => 1,
            "-" => -1,
            _ => return None,
        };
        let number: i64 = (digits.len() == 4 && digits.bytes().all(|byte| byte.is_ascii_digit()))
            .then(|| digits.parse().ok())
            .flatten()?;
        let (hours, minutes) = (number / 100, number % 100);
        (hours < 24 && minutes < 60).then_some(sign * (hours * 60 + minutes))
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
    use super::*;
    use proptest::prelude::*;
    use time::macros::datetime;

    /// Forms that published designs have, each with the text of one moment.
    const FORMS: [(&str, &str); 16] = [
        ("%Y-%m-%dT%H:%M:%SZ", "2026-01-02T03:04:05Z"),
        ("%Y-%m-%dT%H:%M:%S.%3fZ", "2026-01-02T03:04:05.678Z"),
        ("%Y-%m-%dT%H:%M:%S.%6f+00:00", "2026-01-02T03:04:05.678901+00:00"),
        ("%Y-%m-%dT%H:%M:%S.%9f", "2026-01-02T03:04:05.678901234"),
        ("%Y%m%dT%H%M%S", "20260102T030405"),
        ("%Y%m%d%H%M%S%3f", "20260102030405678"),
        ("%d/%m/%Y", "02/01/2026"),
        ("%d-%m-%Y %H:%M", "02-01-2026 03:04"),
        ("%Y-%m-%d", "2026-01-02"),
        ("%Y-%m", "2026-01"),
        ("%Y", "2026"),
        ("%Y-%j", "2026-002"),
        ("%G-W%V", "2026-W01"),
        ("%s", "1767323045"),
        ("%s%3f", "1767323045678"),
        ("%s.%6f", "1767323045.678901"),
    ];

    const CLOCK: PrimitiveDateTime = datetime!(2026-01-02 03:04:05.678901234);

    #[test]
    fn forms_of_published_designs() {
        for (form, text) in FORMS {
            let form = TimeForm::parse(form).unwrap();
            assert_eq!(form.write(CLOCK).as_deref(), Some(text));
            assert_eq!(form.length(), text.len());
            let read = form.read(text).unwrap();
            assert!(read <= CLOCK && form.holds(read), "{text} {read}");
            assert_eq!(form.holds(CLOCK), form.finest() == Unit::Nano, "{text}");
        }
        let sorts = |text: &str| TimeForm::parse(text).unwrap().sorts();
        assert!(FORMS.iter().all(|(form, _)| sorts(form) != form.starts_with("%d")));
        assert!(!sorts("%H:%M %Y-%m-%d") && sorts("%Y/%m"));
    }

    #[test]
    fn what_is_no_form_is_refused() {
        for (form, why) in [
            ("", "has words"),
            ("noon", "has words"),
            ("%y", "has no `%y`"),
            ("%f", "has no `%f`"),
            ("%", "has no `%`"),
            ("%é", "has no `%é`"),
            ("%Y-%d", "`%d` says nothing without `%m`"),
            ("%m", "`%m` says nothing without `%Y`"),
            ("%Y-%m-%d %M", "`%M` says nothing without `%H`"),
            ("%Y-%m-%d.%3f", "`%3f` says nothing without `%S` or `%s`"),
            ("%Y %Y", "`%Y` stands twice"),
            ("%Y %s", "in one way"),
            ("%Y-%m-%d %j", "in one way"),
            ("%Y %G %V", "in one way"),
            ("%s %3f %6f", "in one way"),
            ("%Y{", "no braces"),
        ] {
            let mistake = TimeForm::parse(form).unwrap_err();
            assert!(mistake.contains(why), "{form}: {mistake}");
        }
    }

    #[test]
    fn what_is_not_in_the_form_is_not_read() {
        for (form, text) in [
            ("%Y-%m-%d", "2026-02-30"),
            ("%Y-%m-%d", "2026-2-03"),
            ("%Y-%m-%d", "2026-02-03 "),
            ("%Y-%m-%d", "+026-02-03"),
            ("%Y-%m-%d", "２０２６-02-03"),
            ("%Y-%j", "2026-366"),
            ("%G-W%V", "2026-W54"),
            ("%s", "0767323045"),
            ("%s", "767323045"),
            ("%s", "17673230456"),
            ("%Y-%m-%dT%H:%M:%SZ", "2026-02-03T24:00:00Z"),
            ("%Y-%m-%dT%H:%M:%SZ", "2026-02-03T23:59:60Z"),
            ("%Y-%m-%dT%H:%M:%SZ", "2026-02-03T23:59:59"),
        ] {
            assert_eq!(TimeForm::parse(form).unwrap().read(text), None, "{form} {text}");
        }
        let epoch = TimeForm::parse("%s").unwrap();
        assert_eq!(epoch.write(datetime!(2001-09-09 01:46:39)), None);
        assert_eq!(epoch.write(datetime!(2001-09-09 01:46:40)).as_deref(), Some("1000000000"));
        assert_eq!(epoch.write(datetime!(1969-12-31 23:59:59)), None);
    }

    #[test]
    fn a_literal_at_the_end_is_a_zone() {
        for (form, minutes) in [
            ("%Y-%m-%dT%H:%MZ", Some(0)),
            ("%Y-%m-%dT%H:%M+00:00", Some(0)),
            ("%Y-%m-%dT%H:%M-05:30", Some(-330)),
            ("%Y-%m-%dT%H:%M+0900", Some(540)),
            ("%Y-%m-%dT%H:%M", None),
            ("%Y-%m-%d+09:00", None),
            ("%Y-%m-%dT%H:%M+99:00", None),
            ("%Y-%m-%dT%H:%M é", None),
        ] {
            assert_eq!(TimeForm::parse(form).unwrap().zone(), minutes, "{form}");
        }
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(
            form in 0..FORMS.len(),
            seconds in -62_167_219_200_i64..253_402_300_800,
            nanos in 0..1_000_000_000
        ) {
            let form = TimeForm::parse(FORMS[form].0).unwrap();
            let clock = EPOCH + Duration::new(seconds, nanos);
            if let Some(text) = form.write(clock) {
                let read = form.read(&text).unwrap();
                prop_assert!(read <= clock);
                prop_assert_eq!(form.write(read), Some(text.clone()));
                prop_assert_eq!(text.len(), form.length());
                prop_assert!(form.holds(read));
            } else {
                prop_assert!(form.is_epoch());
            }
        }

        #[test]
        fn forms_that_sort_keep_the_order(
            form in 0..FORMS.len(),
            one in 1_000_000_000..9_999_999_999_i64,
            other in 1_000_000_000..9_999_999_999_i64
        ) {
            let form = TimeForm::parse(FORMS[form].0).unwrap();
            let [one, other] = [one, other].map(|seconds| EPOCH + Duration::seconds(seconds));
            let texts = [one, other].map(|clock| form.write(clock).unwrap());
            if form.sorts() {
                let order = texts[0].cmp(&texts[1]);
                prop_assert!(order == one.cmp(&other) || order.is_eq());
            }
        }

        #[test]
        fn no_text_panics(form in "(%[YmdjGVHMSs3-9f]|[-a-zé:+]){0,8}", text in "\\PC{0,12}") {
            if let Ok(form) = TimeForm::parse(&form) {
                form.read(&text);
                form.zone();
            }
        }
    }
}
