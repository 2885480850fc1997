//! The text of a number in; an exact decimal with DynamoDB's limits out (developer guide, "Data types", "Number": 38
//! digits, from 1E-130 to 9.9…E+125).

use crate::store::error::{Answer, ModelError};
use bigdecimal::{BigDecimal, Zero};
use std::str::FromStr;

const DIGITS: u64 = 38;
const LARGEST: i64 = 125;
const SMALLEST: i64 = -130;

/// A number without zeros at its ends, so that equal numbers are the same.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Number(BigDecimal);

impl Number {
    pub fn parse(text: &str) -> Answer<Self> {
        let wrong = || {
            let message = "The parameter cannot be converted to a numeric value";
            ModelError::invalid(if text.is_empty() { message.to_owned() } else { format!("{message}: {text}") })
        };
        let is_known = |letter: char| letter.is_ascii_digit() || matches!(letter, '+' | '-' | '.' | 'e' | 'E');
        // No number has an exponent with more digits, and the library would write out its zeros.
        let is_small = text.split_once(['e', 'E']).is_none_or(|(_, exponent)| exponent.len() <= 5);
        if !text.chars().all(is_known) || !text.contains(|letter: char| letter.is_ascii_digit()) || !is_small {
            return Err(wrong());
        }
        Self::checked(BigDecimal::from_str(text).map_err(|_| wrong())?)
    }

    pub fn plus(&self, other: &Self) -> Answer<Self> {
        Self::checked(&self.0 + &other.0)
    }

    pub fn minus(&self, other: &Self) -> Answer<Self> {
        Self::checked(&self.0 - &other.0)
    }

    /// The number as DynamoDB writes it: without an exponent.
    pub fn text(&self) -> String {
        self.0.to_plain_string()
    }

    /// The bytes: one for two significant digits, before the decimal point and behind it, one, and one for a sign.
    pub fn bytes(&self) -> usize {
        if self.0.is_zero() {
            return 1;
        }
        let digits = i64::try_from(self.0.digits()).unwrap_or(i64::MAX);
        let before = (digits - self.0.fractional_digit_count()).clamp(0, digits);
        let pairs = usize::try_from((before + 1) / 2 + (digits - before + 1) / 2).unwrap_or(usize::MAX);
        pairs + 1 + usize::from(self.0 < BigDecimal::zero())
    }

    fn checked(value: BigDecimal) -> Answer<Self> {
        if value.is_zero() {
            return Ok(Self(BigDecimal::zero()));
        }
        let value = value.normalized();
        let digits = value.digits();
        let exponent = i64::try_from(digits).unwrap_or(i64::MAX) - 1 - value.fractional_digit_count();
        let supported = "magnitude larger than supported range";
        if exponent > LARGEST {
            return Err(ModelError::invalid(format!("Number overflow. Attempting to store a number with {supported}")));
        }
        if exponent < SMALLEST {
            let supported = "magnitude smaller than supported range";
            return Err(ModelError::invalid(format!(
                "Number underflow. Attempting to store a number with {supported}"
            )));
        }
        match digits > DIGITS {
            true => Err(ModelError::invalid("Attempting to store more than 38 significant digits in a Number")),
            false => Ok(Self(value)),
        }
    }
}

pub fn numbers_are_normal_and_have_limits() {
    let text = |text: &str| Number::parse(text).map(|number| number.text()).ok();
    for (given, normal) in [
        ("1", "1"),
        ("-0.0", "0"),
        ("007.50", "7.5"),
        ("1E+3", "1000"),
        ("+.5e-1", "0.05"),
        ("12345678901234567890123456789012345678", "12345678901234567890123456789012345678"),
    ] {
        assert_eq!(text(given).as_deref(), Some(normal), "{given}");
    }
    assert_eq!(text("1E125").map(|text| text.len()), Some(126));
    for wrong in ["", "a", "1e", "--1", "123456789012345678901234567890123456789", "1E126", "1E-131", "NaN", "1_0"] {
        assert_eq!(text(wrong), None, "{wrong}");
    }
    assert!(Number::parse("9").unwrap() < Number::parse("10").unwrap());
    assert!(Number::parse("-9").unwrap() > Number::parse("-1E1").unwrap());
}
