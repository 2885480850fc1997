//! The order of DynamoDB numbers in decimal text: up to 38 digits, so never through a float.

use std::cmp::Ordering;

/// Compares two numbers in decimal text, with or without a fraction and an exponent.
pub fn compare(left: &str, right: &str) -> Ordering {
    let (left, right) = (Parts::of(left), Parts::of(right));
    match (left.sign(), right.sign()) {
        (a, b) if a != b => a.cmp(&b),
        (0, _) => Ordering::Equal,
        (sign, _) => {
            let size = (left.magnitude, &left.digits).cmp(&(right.magnitude, &right.digits));
            if sign < 0 { size.reverse() } else { size }
        }
    }
}

/// A number as 0.DIGITS × 10^magnitude, without zeros at either end of its digits.
struct Parts {
    negative: bool,
    digits: Vec<u8>,
    magnitude: i64,
}

impl Parts {
    fn of(text: &str) -> Self {
        let (negative, text) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text.strip_prefix('+').unwrap_or(text)),
        };
        let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let digits: Vec<u8> = whole.bytes().chain(fraction.bytes()).collect();
        let leading = digits.iter().take_while(|digit| **digit == b'0').count();
        let trailing = digits[leading..].iter().rev().take_while(|digit| **digit == b'0').count();
        let magnitude = whole.len() as i64 - leading as i64 + exponent.parse::<i64>().unwrap_or(0);
        Self { negative, digits: digits[leading..digits.len() - trailing].to_vec(), magnitude }
    }

    fn sign(&self) -> i8 {
        match (self.digits.is_empty(), self.negative) {
            (true, _) => 0,
            (false, true) => -1,
            (false, false) => 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn numbers_are_ordered_by_value_whatever_their_form() {
        for (left, right, order) in [
            ("1", "1.0", Ordering::Equal),
            ("0", "-0.00", Ordering::Equal),
            ("9", "10", Ordering::Less),
            ("-9", "-10", Ordering::Greater),
            ("0.001", "0.01", Ordering::Less),
            ("1E+20", "100000000000000000000", Ordering::Equal),
            ("12345678901234567890123456789012345678", "12345678901234567890123456789012345679", Ordering::Less),
            ("-1", "0", Ordering::Less),
            ("1e-5", "0.00001", Ordering::Equal),
        ] {
            assert_eq!(compare(left, right), order, "{left} and {right}");
        }
    }

    proptest! {
        #[test]
        fn integers_are_ordered_as_integers(left: i64, right: i64) {
            prop_assert_eq!(compare(&left.to_string(), &right.to_string()), left.cmp(&right));
        }
    }
}
