//! Numbers of key attributes as text in; a canonical text or an order out. Must not know the AWS SDK.
//!
//! DynamoDB accepts a number in any decimal spelling and returns it in its own: `1.50` comes back as `1.5`. So two spellings of one number
//! are one key. Floats cannot be used: they do not hold 38 digits.

use std::cmp::Ordering;

/// Significant digits of a number (DynamoDB developer guide, "Supported data types and naming rules", Number).
const MAX_DIGITS: usize = 38;
/// Decimal exponent of the first digit of the largest number, 9.99…E+125.
const MAX_MAGNITUDE: i64 = 125;
/// Decimal exponent of the smallest positive number, 1E-130.
const MIN_MAGNITUDE: i64 = -130;

/// A decimal number: sign, significant digits, and the power of ten of the first of them. Zero has no digits.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(in crate::table) struct Number {
    negative: bool,
    digits: String,
    magnitude: i64,
}

impl Number {
    /// Reads decimal text with an optional sign, point and exponent; `None` if DynamoDB would refuse it.
    pub(in crate::table) fn parse(text: &str) -> Option<Self> {
        let (mantissa, exponent) = match text.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok()?),
            None => (text, 0),
        };
        let negative = mantissa.starts_with('-');
        let unsigned = mantissa.strip_prefix(['-', '+']).unwrap_or(mantissa);
        let (whole, fraction) = unsigned.split_once('.').unwrap_or((unsigned, ""));
        let all = [whole, fraction].concat();
        if all.is_empty() || !all.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        let significant = all.trim_start_matches('0');
        let leading_zeros = all.len() - significant.len();
        let digits = significant.trim_end_matches('0').to_owned();
        if digits.is_empty() {
            return Some(Self { negative: false, digits, magnitude: 0 });
        }
        let magnitude = i64::try_from(whole.len()).ok()? - i64::try_from(leading_zeros).ok()? - 1 + i64::from(exponent);
        let fits = digits.len() <= MAX_DIGITS && (MIN_MAGNITUDE..=MAX_MAGNITUDE).contains(&magnitude);
        fits.then_some(Self { negative, digits, magnitude })
    }

    /// One spelling for all spellings of a number.
    pub(in crate::table) fn canonical(&self) -> String {
        let sign = if self.negative { "-" } else { "" };
        if self.digits.is_empty() { "0".to_owned() } else { format!("{sign}0.{}E{}", self.digits, self.magnitude + 1) }
    }
}

/// The order of two numbers in decimal text. A text that is no number comes first.
pub fn compare(left: &str, right: &str) -> Ordering {
    Number::parse(left).cmp(&Number::parse(right))
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
            let canonical: Vec<String> = spellings.iter().map(|text| Number::parse(text).unwrap().canonical()).collect();
            assert!(canonical.windows(2).all(|pair| pair[0] == pair[1]), "{spellings:?}: {canonical:?}");
            assert_eq!(Number::parse(&canonical[0]), Number::parse(spellings[0]), "the canonical text is a spelling too");
        }
    }

    #[test]
    fn what_dynamodb_refuses_is_refused() {
        let too_long = "1".repeat(39);
        for text in ["", "-", ".", "1e", "e1", "1.2.3", "--1", "NaN", "Infinity", "1 ", "１", "1E126", "1E-131", "1e99999999999", &too_long]
        {
            assert_eq!(Number::parse(text), None, "{text:?}");
        }
        for text in ["9.9999999999999999999999999999999999999E+125", "1E-130", &"9".repeat(38), &format!("1{}", "0".repeat(60))] {
            assert!(Number::parse(text).is_some(), "{text:?}");
        }
    }

    #[test]
    fn order_is_numeric() {
        let rising = ["-1E10", "-200", "-20", "-3", "-0.5", "-0.05", "0", "0.05", "0.5", "2.99", "3", "20", "87", "350", "1E10"];
        for (low, high) in rising.iter().enumerate().flat_map(|(i, low)| rising[i + 1..].iter().map(move |high| (low, high))) {
            let (a, b) = (Number::parse(low).unwrap(), Number::parse(high).unwrap());
            assert_eq!((a.cmp(&b), b.cmp(&a)), (Ordering::Less, Ordering::Greater), "{low} < {high}");
        }
    }
}
