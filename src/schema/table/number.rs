//! Numbers as DynamoDB stores them: decimal text in, one canonical text or an order out. Must not know items, keys or
//! the AWS SDK.
//!
//! DynamoDB takes a number in any decimal spelling and gives it back in its own (`1.50` comes back as `1.5`), so two
//! spellings of one number are one key. No float is involved: 38 digits do not fit one.
//!
//! DynamoDB developer guide, "Constraints in Amazon DynamoDB", numbers: up to 38 digits of precision, magnitudes from
//! 1E-130 to 9.9999999999999999999999999999999999999E+125, leading and trailing zeros trimmed.

use std::cmp::Ordering;

/// Most significant digits of a number.
const PRECISION: usize = 38;

/// The powers of ten of the smallest and the largest first digit.
const MAGNITUDES: std::ops::RangeInclusive<i64> = -130..=125;

/// Why DynamoDB does not store a text as a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NumeralMistake {
    /// The text is not written as a number.
    #[error("it is not written as a number")]
    Syntax,
    /// More than 38 significant digits.
    #[error("it has more than 38 significant digits")]
    Precision,
    /// Too large or too small.
    #[error("it is outside of 1E-130 to 9.9E+125, the range of DynamoDB's numbers")]
    Magnitude,
}

/// A decimal number: sign, significant digits, and the power of ten of the first of them. Zero has no digits.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Number {
    negative: bool,
    digits: String,
    magnitude: i64,
}

impl Number {
    /// Reads decimal text with an optional sign, point and exponent, as DynamoDB takes it.
    pub fn parse(text: &str) -> Result<Self, NumeralMistake> {
        let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
        let negative = mantissa.starts_with('-');
        let unsigned = mantissa.strip_prefix(['-', '+']).unwrap_or(mantissa);
        let (whole, fraction) = unsigned.split_once('.').unwrap_or((unsigned, ""));
        let all = [whole, fraction].concat();
        let is_digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        if !is_digits(&all) || !is_digits(exponent.strip_prefix(['-', '+']).unwrap_or(exponent)) {
            return Err(NumeralMistake::Syntax);
        }
        let significant = all.trim_start_matches('0');
        let digits = significant.trim_end_matches('0').to_owned();
        if digits.is_empty() {
            return Ok(Self { negative: false, digits, magnitude: 0 });
        }
        if digits.len() > PRECISION {
            return Err(NumeralMistake::Precision);
        }
        // An exponent of more than 32 bits is out of range by far, whatever the number of digits before it.
        let exponent = exponent.parse::<i32>().map_err(|_| NumeralMistake::Magnitude)?;
        let length = |text: &str| i64::try_from(text.len()).map_err(|_| NumeralMistake::Magnitude);
        let magnitude = length(whole)? - (length(&all)? - length(significant)?) - 1 + i64::from(exponent);
        if !MAGNITUDES.contains(&magnitude) {
            return Err(NumeralMistake::Magnitude);
        }
        Ok(Self { negative, digits, magnitude })
    }

    /// The one canonical text of the number: plain digits, without an exponent, needless zeros or `-0`.
    pub fn canonical(&self) -> String {
        let (digits, sign) = (&self.digits, if self.negative { "-" } else { "" });
        match usize::try_from(self.magnitude + 1) {
            _ if digits.is_empty() => "0".to_owned(),
            Ok(point) if point >= digits.len() => format!("{sign}{digits:0<point$}"),
            Ok(point) if point > 0 => format!("{sign}{}.{}", &digits[..point], &digits[point..]),
            _ => format!("{sign}0.{}{digits}", "0".repeat(usize::try_from(-self.magnitude - 1).unwrap_or_default())),
        }
    }
}

/// The order of two numbers in decimal text. A text that is not a number comes first.
pub fn compare(left: &str, right: &str) -> Ordering {
    Number::parse(left).ok().cmp(&Number::parse(right).ok())
}

impl Ord for Number {
    fn cmp(&self, other: &Self) -> Ordering {
        let sign = |number: &Self| match (number.digits.is_empty(), number.negative) {
            (true, _) => 0,
            (false, true) => -1,
            (false, false) => 1,
        };
        // Digits have no zeros at either end, so their order as text is their order as fractions.
        let size = || self.magnitude.cmp(&other.magnitude).then_with(|| self.digits.cmp(&other.digits));
        sign(self).cmp(&sign(other)).then_with(|| if self.negative { size().reverse() } else { size() })
    }
}

impl PartialOrd for Number {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_one_number_are_equal() {
        for spellings in [
            ["1.5", "1.50", "+01.5", "15e-1", "0.15E1"].as_slice(),
            ["0", "-0", "0.00", "0e99", "000"].as_slice(),
            ["-120", "-1.2E+2", "-0120.0", "-12e1"].as_slice(),
            ["0.001", ".001", "1E-3", "0.0010"].as_slice(),
        ] {
            let canonical: Vec<String> =
                spellings.iter().map(|text| Number::parse(text).unwrap().canonical()).collect();
            assert!(canonical.windows(2).all(|pair| pair[0] == pair[1]), "{spellings:?}: {canonical:?}");
            assert_eq!(
                Number::parse(&canonical[0]),
                Number::parse(spellings[0]),
                "the canonical text is a spelling too"
            );
        }
    }

    #[test]
    fn what_dynamodb_refuses_is_refused() {
        let too_long = "1".repeat(39);
        for text in [
            "",
            "-",
            ".",
            "1e",
            "e1",
            "1.2.3",
            "--1",
            "NaN",
            "Infinity",
            "1 ",
            "１",
            "1E126",
            "1E-131",
            "1e99999999999",
            &too_long,
        ] {
            assert!(Number::parse(text).is_err(), "{text:?}");
        }
        for text in
            ["9.9999999999999999999999999999999999999E+125", "1E-130", &"9".repeat(38), &format!("1{}", "0".repeat(60))]
        {
            assert!(Number::parse(text).is_ok(), "{text:?}");
        }
    }

    #[test]
    fn order_is_numeric() {
        let rising =
            ["-1E10", "-200", "-20", "-3", "-0.5", "-0.05", "0", "0.05", "0.5", "2.99", "3", "20", "87", "350", "1E10"];
        for (low, high) in
            rising.iter().enumerate().flat_map(|(i, low)| rising[i + 1..].iter().map(move |high| (low, high)))
        {
            let (a, b) = (Number::parse(low).unwrap(), Number::parse(high).unwrap());
            assert_eq!((a.cmp(&b), b.cmp(&a)), (Ordering::Less, Ordering::Greater), "{low} < {high}");
        }
    }
}
