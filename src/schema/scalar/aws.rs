//! The scalars of AWS AppSync: their names, the texts that each accepts, and the time of a request as a value of each.
//! Must not know how values are stored. (AWS AppSync developer guide, "Scalar types in GraphQL".)

use crate::schema::scalar::date_time::{DATE_LENGTH, epoch_millis, is_date};
use serde::de::IgnoredAny;
use serde_json::Value;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use time::Time;
use url::Url;

/// The specification of all of them.
pub const AWS_SCALARS: &str = "https://docs.aws.amazon.com/appsync/latest/devguide/scalars.html";

/// The most hours of an offset from UTC.
const MAX_OFFSET: u8 = 18;

/// A scalar of AWS AppSync. All but the number of seconds are texts, which are kept as they were given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AwsScalar {
    /// `AWSDateTime`: an instant with its offset, `2026-11-20T09:30:00+09:00`.
    DateTime,
    /// `AWSDate`: a day, perhaps with an offset, `2026-11-20`.
    Date,
    /// `AWSTime`: a time of day, perhaps with an offset, `09:30:00`.
    Time,
    /// `AWSTimestamp`: whole seconds since 1970.
    Timestamp,
    /// `AWSEmail`: an e-mail address.
    Email,
    /// `AWSURL`: an absolute URL.
    Url,
    /// `AWSPhone`: a telephone number.
    Phone,
    /// `AWSIPAddress`: an address of IPv4 or IPv6, perhaps with the length of its network's prefix.
    IpAddress,
    /// `AWSJSON`: any JSON, as a text.
    Json,
}

impl AwsScalar {
    /// The scalar of a name.
    pub fn named(name: &str) -> Option<Self> {
        Some(match name {
            "AWSDateTime" => Self::DateTime,
            "AWSDate" => Self::Date,
            "AWSTime" => Self::Time,
            "AWSTimestamp" => Self::Timestamp,
            "AWSEmail" => Self::Email,
            "AWSURL" => Self::Url,
            "AWSPhone" => Self::Phone,
            "AWSIPAddress" => Self::IpAddress,
            "AWSJSON" => Self::Json,
            _ => return None,
        })
    }

    /// The name in the API.
    pub fn name(self) -> &'static str {
        match self {
            Self::DateTime => "AWSDateTime",
            Self::Date => "AWSDate",
            Self::Time => "AWSTime",
            Self::Timestamp => "AWSTimestamp",
            Self::Email => "AWSEmail",
            Self::Url => "AWSURL",
            Self::Phone => "AWSPhone",
            Self::IpAddress => "AWSIPAddress",
            Self::Json => "AWSJSON",
        }
    }

    /// What a value must be, for a caller who gave another one.
    pub fn expectation(self) -> &'static str {
        match self {
            Self::DateTime => "it is a date and time with an offset, such as \"2026-11-20T09:30:00Z\"",
            Self::Date => "it is a day of the calendar, such as \"2026-11-20\" or \"2026-11-20+09:00\"",
            Self::Time => "it is a time of day, such as \"09:30:00\" or \"09:30:00.5Z\"",
            Self::Timestamp => "it is a whole number of seconds since 1970",
            Self::Email => "it is an e-mail address, such as \"ann@example.com\"",
            Self::Url => "it is a URL with its scheme and without `//` in its path, such as \"https://example.com\"",
            Self::Phone => "it is a telephone number, such as \"+44 20 7946 0958\"",
            Self::IpAddress => "it is an address of IPv4 or IPv6, such as \"192.0.2.1\" or \"2001:db8::/32\"",
            Self::Json => "it is JSON as a text, such as \"{\\\"a\\\":1}\"",
        }
    }

    /// Whether a text is a value. What AppSync accepts beyond its documentation is none.
    pub fn accepts(self, text: &str) -> bool {
        match self {
            Self::DateTime => text.split_once('T').is_some_and(|(day, time)| is_date(day) && is_time(time, true)),
            Self::Date => {
                let (day, offset) = text.split_at_checked(DATE_LENGTH).unwrap_or((text, ""));
                is_date(day) && (offset.is_empty() || is_offset(offset))
            }
            Self::Time => is_time(text, false),
            Self::Timestamp => false,
            Self::Email => is_email(text),
            Self::Url => is_url(text),
            Self::Phone => is_phone(text),
            Self::IpAddress => is_ip_address(text),
            Self::Json => serde_json::from_str::<IgnoredAny>(text).is_ok(),
        }
    }

    /// Whether the order of texts is that of values. One instant has several texts.
    pub fn sorts(self) -> bool {
        !matches!(self, Self::DateTime | Self::Date | Self::Time | Self::Json)
    }

    /// Whether the time of a request is a value.
    pub fn takes_now(self) -> bool {
        matches!(self, Self::DateTime | Self::Date | Self::Time | Self::Timestamp)
    }

    /// A canonical instant as a value, in UTC.
    pub fn value_at(self, instant: &str) -> Option<Value> {
        match self {
            Self::DateTime => Some(instant.into()),
            Self::Date => instant.get(..DATE_LENGTH).map(Value::from),
            Self::Time => instant.get(DATE_LENGTH + 1..).map(Value::from),
            Self::Timestamp => epoch_millis(instant).map(|millis| millis.div_euclid(1000).into()),
            _ => None,
        }
    }
}

/// Whether a text is `hh:mm`, `hh:mm:ss` or `hh:mm:ss.` with one to nine decimals, and an offset, which may be missing
/// unless it is needed.
fn is_time(text: &str, needs_offset: bool) -> bool {
    let (clock, offset) = text.split_at(text.find(['Z', '+', '-']).unwrap_or(text.len()));
    let (clock, decimals) = clock.split_once('.').map_or((clock, None), |(clock, decimals)| (clock, Some(decimals)));
    let is_fraction = |text: &str| (1..=9).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    let fits = match (numbers(clock).as_deref(), decimals) {
        (Some([hour, minute]), None) => Time::from_hms(*hour, *minute, 0).is_ok(),
        (Some([hour, minute, second]), decimals) => {
            Time::from_hms(*hour, *minute, *second).is_ok() && decimals.is_none_or(is_fraction)
        }
        _ => false,
    };
    fits && (if offset.is_empty() { !needs_offset } else { is_offset(offset) })
}

/// Whether a text is `Z`, or hours and minutes, perhaps with seconds, after a sign.
fn is_offset(text: &str) -> bool {
    let fits = |numbers: &[u8]| match numbers {
        [hours, minutes] | [hours, minutes, _] => *hours <= MAX_OFFSET && *minutes < 60,
        _ => false,
    };
    text == "Z"
        || text
            .strip_prefix(['+', '-'])
            .and_then(numbers)
            .is_some_and(|numbers| fits(&numbers) && numbers.get(2).is_none_or(|seconds| *seconds < 60))
}

/// Numbers of two digits with colons between them.
fn numbers(text: &str) -> Option<Vec<u8>> {
    let number = |digits: &str| {
        let is_number = digits.len() == 2 && digits.bytes().all(|byte| byte.is_ascii_digit());
        if is_number { digits.parse().ok() } else { None }
    };
    text.split(':').map(number).collect()
}

/// Whether a text is `local-part@domain-part`, without white space.
fn is_email(text: &str) -> bool {
    let unusual = |sign: char| sign.is_whitespace() || sign.is_control();
    text.rsplit_once('@').is_some_and(|(local, domain)| {
        !local.is_empty() && !text.contains(unusual) && domain.split('.').all(|label| !label.is_empty())
    })
}

/// Whether a text is a URL with a scheme, without white space, and without `//` in its path.
fn is_url(text: &str) -> bool {
    let unusual = |sign: char| sign.is_whitespace() || sign.is_control();
    !text.contains(unusual) && Url::parse(text).is_ok_and(|url| !url.path().contains("//"))
}

/// Whether a text is the digits of a telephone number, with spaces and hyphens between them. Without `+` and a country
/// code, it is one of North America.
fn is_phone(text: &str) -> bool {
    let (international, groups) = text.strip_prefix('+').map_or((false, text), |groups| (true, groups));
    let is_group = |group: &str| !group.is_empty() && group.bytes().all(|byte| byte.is_ascii_digit());
    let digits: String = groups.split([' ', '-']).collect();
    let count = digits.len();
    let fits = match international {
        true => (7..=15).contains(&count),
        false => count == 10 || count == 11 && digits.starts_with('1'),
    };
    fits && groups.split([' ', '-']).all(is_group)
}

fn is_ip_address(text: &str) -> bool {
    let (address, prefix) = text.split_once('/').map_or((text, None), |(address, prefix)| (address, Some(prefix)));
    let longest = match address.parse::<IpAddr>() {
        Ok(IpAddr::V4(_)) => Ipv4Addr::BITS,
        Ok(IpAddr::V6(_)) => Ipv6Addr::BITS,
        Err(_) => return false,
    };
    let is_length = |length: &str| length.bytes().all(|byte| byte.is_ascii_digit()) && !length.is_empty();
    prefix.is_none_or(|prefix| is_length(prefix) && prefix.parse::<u32>().is_ok_and(|length| length <= longest))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    /// Texts that a scalar accepts, and texts that it does not: those of AppSync's documentation first.
    const TEXTS: [(AwsScalar, &[&str], &[&str]); 8] = [
        (
            AwsScalar::DateTime,
            &[
                "1970-01-01T12:30:00.000Z",
                "1970-01-01T12:30Z",
                "2024-02-29T23:59:59.123456789+05:30",
                "1970-01-01T00:00-07:00:30",
            ],
            &[
                "1970-01-01T12:30:00",
                "1970-01-01",
                "1970-01-01 12:30Z",
                "1970-01-01t12:30z",
                "2023-02-29T00:00Z",
                "1970-01-01T24:00Z",
                "1970-01-01T12:30:00.Z",
                "1970-01-01T12:30.5Z",
                "1970-01-01T12:30:00.1234567890Z",
                "1970-01-01T12:30+0530",
                "1970-01-01T12:30+19:00",
                "1970-01-01T12:30+05:60",
                "1970-01-01T12Z",
                "",
            ],
        ),
        (
            AwsScalar::Date,
            &["1970-01-01", "1970-01-01Z", "1970-01-01-07:00", "1970-01-01+05:30", "1970-01-01+05:30:15"],
            &["1970-1-1", "1970-13-01", "1970-01-01T", "1970-01-01+5", "1970-01-01+05:30:60", "1970-01-0é", ""],
        ),
        (
            AwsScalar::Time,
            &["12:30Z", "12:30:24-07:00", "12:30:24.500+05:30", "12:30", "12:30:24.5"],
            &["24:00", "12", "12:30:60", "1:30", "12:30:24.", "12:30Zulu", "12:30:00:00", "+12:30", "Z", ""],
        ),
        (
            AwsScalar::Email,
            &["username@example.com", "a+b.c@localhost", "\"@\"@example.com", "é@exämple.com"],
            &["example.com", "@example.com", "a@", "a b@example.com", "a@example..com", "a@.com", "a\n@b", ""],
        ),
        (
            AwsScalar::Url,
            &[
                "https://www.amazon.com/dp/B000NZW3KC/",
                "mailto:example@example.com",
                "http://a?b//c",
                "https://exämple.com/é",
            ],
            &["www.amazon.com", "http://", "https://example.com/a//b", "https://example.com/a b", "//example.com", ""],
        ),
        (
            AwsScalar::Phone,
            &["+1 555-0100-123", "555 010 0123", "15550100123", "+442079460958"],
            &[
                "555 0100",
                "25550100123",
                "+1 555",
                "555  010 0123",
                "-5550100123",
                "(555) 010 0123",
                "555010012x",
                "+",
                "",
            ],
        ),
        (
            AwsScalar::IpAddress,
            &["123.12.34.56", "123.45.67.89/16", "1a2b:3c4b::1234:4567", "::/128"],
            &["123.12.34", "123.12.34.256", "123.45.67.89/33", "::/129", "::/", "::/+1", "1.2.3.4/", "example.com", ""],
        ),
        (AwsScalar::Json, &["{\"a\":[1,\"b\",null]}", "\"a\"", "1e400", " true "], &["a", "{a:1}", "{", "1 2", ""]),
    ];

    #[test]
    fn texts_are_checked_as_appsync_documents_them() {
        for (scalar, fit, unfit) in TEXTS {
            for text in fit {
                assert!(scalar.accepts(text), "{scalar:?} {text}");
            }
            for text in unfit {
                assert!(!scalar.accepts(text), "{scalar:?} {text}");
            }
        }
    }

    #[test]
    fn the_time_of_a_request_is_a_value() {
        let now = |scalar: AwsScalar| scalar.value_at("2026-11-20T09:30:00.250Z");
        assert_eq!(now(AwsScalar::DateTime), Some(json!("2026-11-20T09:30:00.250Z")));
        assert_eq!(now(AwsScalar::Date), Some(json!("2026-11-20")));
        assert_eq!(now(AwsScalar::Time), Some(json!("09:30:00.250Z")));
        assert_eq!(now(AwsScalar::Timestamp), Some(json!(1_795_167_000)));
        assert_eq!(now(AwsScalar::Email), None);
        for scalar in [AwsScalar::DateTime, AwsScalar::Date, AwsScalar::Time] {
            let text = now(scalar).and_then(|value| value.as_str().map(str::to_owned));
            assert!(text.is_some_and(|text| scalar.accepts(&text)), "{scalar:?}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_accepted_or_not(text in "\\PC{0,30}|[-0-9TZ:.+é@/]{0,30}") {
            for (scalar, ..) in TEXTS {
                prop_assert_eq!(AwsScalar::named(scalar.name()), Some(scalar));
                let _ = scalar.accepts(&text);
            }
        }
    }
}
