//! The texts of numbers in the API: numerals and floats in, canonical text out. Must not know items, keys or GraphQL.

use crate::schema::table::number::{Number, NumeralMistake};

/// The canonical text of a decimal number: plain digits, without an exponent, needless zeros or `-0`. Unlike DynamoDB,
/// the API does not accept `+1`, `.5` or `1.`.
pub fn canonical_decimal(text: &str) -> Result<String, NumeralMistake> {
    if is_short_and_canonical(text) {
        return Ok(text.to_owned());
    }
    if numeral_length(text) != Some(text.len()) {
        return Err(NumeralMistake::Syntax);
    }
    Number::parse(text).map(|number| number.canonical())
}

/// Whether a text is that of a number as it is, in so few bytes that DynamoDB stores it. Most texts of numbers are.
fn is_short_and_canonical(text: &str) -> bool {
    const MAX_BYTES: usize = 38;
    let bytes = text.as_bytes();
    let unsigned = bytes.strip_prefix(b"-").unwrap_or(bytes);
    let mut point = unsigned.len();
    for (position, byte) in unsigned.iter().enumerate() {
        match byte {
            b'0'..=b'9' => {}
            b'.' if point == unsigned.len() => point = position,
            _ => return false,
        }
    }
    match (&unsigned[..point], unsigned[point..].last()) {
        _ if unsigned.len() > MAX_BYTES => false,
        (b"" | [b'0', _, ..], _) | (_, Some(b'0' | b'.')) => false,
        (b"0", None) => bytes == unsigned,
        _ => true,
    }
}

/// The canonical text of a float: the shortest that reads back as the same float. `None` if the float is not finite or
/// is outside DynamoDB's range of numbers.
pub fn canonical_float(float: f64) -> Option<String> {
    let magnitude = float.abs();
    match magnitude {
        0.0 => Some("0".to_owned()),
        _ if !(1e-130..1e126).contains(&magnitude) => None,
        _ if (1e-7..1e21).contains(&magnitude) => Some(format!("{float}")),
        _ => Some(format!("{float:e}")),
    }
}

/// The length of the longest numeral at the beginning of a text: `-?digits(.digits)?([eE][+-]?digits)?`.
pub fn numeral_length(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let digits_from =
        |from: usize| bytes.get(from..).map_or(0, |rest| rest.iter().take_while(|byte| byte.is_ascii_digit()).count());
    let sign = usize::from(bytes.first() == Some(&b'-'));
    let mut end = match sign + digits_from(sign) {
        end if end > sign => end,
        _ => return None,
    };
    if bytes.get(end) == Some(&b'.') && digits_from(end + 1) > 0 {
        end += 1 + digits_from(end + 1);
    }
    if matches!(bytes.get(end), Some(b'e' | b'E')) {
        let signed = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
        let digits = digits_from(end + 1 + signed);
        if digits > 0 {
            end += 1 + signed + digits;
        }
    }
    Some(end)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn equal_numbers_have_one_text() {
        for (text, canonical) in [
            ("0", "0"),
            ("-0", "0"),
            ("-0.00e5", "0"),
            ("0e99999999999", "0"),
            ("007.50", "7.5"),
            ("-12.340e1", "-123.4"),
            ("1E3", "1000"),
            ("1.5e-3", "0.0015"),
            ("100", "100"),
            ("0.1", "0.1"),
            ("12345e-2", "123.45"),
            ("99999999999999999999999999999999999999", "99999999999999999999999999999999999999"),
        ] {
            assert_eq!(canonical_decimal(text).as_deref(), Ok(canonical), "{text}");
        }
        assert_eq!(canonical_decimal("1e125").unwrap().len(), 126);
        assert_eq!(canonical_decimal("1e-130").unwrap().len(), 132);
        assert_eq!(canonical_decimal(&format!("0.{}1e200", "0".repeat(200))).unwrap(), "0.1");
    }

    proptest! {
        #[test]
        fn a_text_that_stays_as_it_is_is_canonical(
            text in "-?(0|[0-9]{1,5}|[0-9]{30,45})?(\\.[0-9]{0,4}|\\.0{0,40}1?)?",
        ) {
            let canonical = Number::parse(&text).map(|number| number.canonical());
            prop_assert!(!is_short_and_canonical(&text) || canonical.as_deref() == Ok(text.as_str()), "{text}");
            let is_short = text.len() <= 38 && numeral_length(&text) == Some(text.len());
            prop_assert!(!is_short || is_short_and_canonical(&text) == (canonical.as_deref() == Ok(text.as_str())), "{text}");
        }
    }

    #[test]
    fn what_dynamodb_does_not_keep_is_refused() {
        for text in ["", "-", "+", "+1", "+-1", "-+1", "1.", ".5", "1e", "1 ", "０", "NaN", "1,5", "--1", "1e5.5"] {
            assert_eq!(canonical_decimal(text), Err(NumeralMistake::Syntax), "{text}");
        }
        assert_eq!(canonical_decimal("100000000000000000000000000000000000001"), Err(NumeralMistake::Precision));
        for text in ["1e126", "1e-131", "1e999999999999", "-1e-999999999999"] {
            assert_eq!(canonical_decimal(text), Err(NumeralMistake::Magnitude), "{text}");
        }
    }

    #[test]
    fn floats_have_their_shortest_text() {
        for (float, text) in [(1.0, "1"), (-0.0, "0"), (0.1, "0.1"), (1e21, "1e21"), (1.5e-9, "1.5e-9"), (-2.5, "-2.5")]
        {
            assert_eq!(canonical_float(float).as_deref(), Some(text));
        }
        for float in [f64::NAN, f64::INFINITY, 1e126, 1e-131, f64::MAX, f64::MIN_POSITIVE] {
            assert_eq!(canonical_float(float), None);
        }
    }

    proptest! {
        #[test]
        fn canonical_text_is_its_own(text in "[+-]?[0-9]{1,45}(\\.[0-9]{1,45})?([eE][+-]?[0-9]{1,4})?") {
            if let Ok(canonical) = canonical_decimal(&text) {
                prop_assert_eq!(canonical_decimal(&canonical), Ok(canonical.clone()));
                prop_assert_eq!(numeral_length(&canonical), Some(canonical.len()));
            }
        }

        #[test]
        fn agrees_with_floats(float in proptest::num::f64::NORMAL) {
            if let Some(text) = canonical_float(float) {
                prop_assert_eq!(text.parse::<f64>().unwrap(), float);
                prop_assert_eq!(canonical_decimal(&text).unwrap().parse::<f64>().unwrap(), float);
            }
        }

        #[test]
        fn no_text_panics(text in "\\PC*|[-+0-9eE.]{0,20}") {
            let _ = canonical_decimal(&text);
            if let Some(length) = numeral_length(&text) {
                prop_assert!(text.is_char_boundary(length));
            }
        }
    }
}
