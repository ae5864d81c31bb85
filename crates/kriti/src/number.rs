//! Exact decimals: digits of JSON numbers, compared by value.
//!
//! **Invariant:** no digit passes through a floating-point number.

use std::cmp::Ordering;

/// Number of digits of a quotient that does not end.
const QUOTIENT_DIGITS: usize = 34;

/// Digits of a divisor that count: a remainder times ten has to fit into 128 bits.
const DIVISOR_DIGITS: usize = 36;

/// A number that is `0.DIGITS * 10^magnitude`.
struct Decimal<'t> {
    is_negative: bool,
    whole: &'t str,
    fraction: &'t str,
    /// Power of ten of the first digit that is not 0, plus 1.
    magnitude: i128,
}

impl<'t> Decimal<'t> {
    /// The number that `digits`, a number of JSON, stand for; `None` for 0.
    fn read(digits: &'t str) -> Option<Self> {
        let (is_negative, unsigned) = match digits.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, digits),
        };
        let (mantissa, exponent) = match unsigned.find(['e', 'E']) {
            Some(at) => (&unsigned[..at], read_exponent(&unsigned[at + 1..])),
            None => (unsigned, 0),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let fraction = fraction.trim_end_matches('0');
        let significant = whole.trim_start_matches('0');
        if !significant.is_empty() {
            let magnitude = significant.len() as i128 + exponent;
            return Some(Self { is_negative, whole: significant, fraction, magnitude });
        }
        let significant = fraction.trim_start_matches('0');
        let zeros = fraction.len() - significant.len();
        let magnitude = exponent - zeros as i128;
        (!significant.is_empty()).then_some(Self { is_negative, whole: "", fraction: significant, magnitude })
    }

    /// Digits from the first that is not 0.
    fn digits(&self) -> impl Iterator<Item = u8> + '_ {
        self.whole.bytes().chain(self.fraction.bytes())
    }

    /// Digits without zeros at the end.
    fn significant(&self) -> Vec<u8> {
        let mut digits: Vec<u8> = self.digits().collect();
        while digits.last() == Some(&b'0') {
            digits.pop();
        }
        digits
    }

    fn compare_size(&self, other: &Self) -> Ordering {
        self.magnitude.cmp(&other.magnitude).then_with(|| {
            let mut left = self.digits();
            let mut right = other.digits();
            loop {
                match (left.next(), right.next()) {
                    (None, None) => return Ordering::Equal,
                    (one, two) => match one.unwrap_or(b'0').cmp(&two.unwrap_or(b'0')) {
                        Ordering::Equal => {}
                        order => return order,
                    },
                }
            }
        })
    }
}

/// An exponent, or the largest that fits in place of a larger one.
fn read_exponent(text: &str) -> i128 {
    let (sign, digits) = match text.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, text.strip_prefix('+').unwrap_or(text)),
    };
    sign * digits.parse::<i128>().unwrap_or(i128::MAX / 4).min(i128::MAX / 4)
}

/// Compares two numbers of JSON by value.
pub(crate) fn compare_numbers(one: &str, other: &str) -> Ordering {
    match (Decimal::read(one), Decimal::read(other)) {
        (None, None) => Ordering::Equal,
        (Some(it), None) => {
            if it.is_negative {
                Ordering::Less
            } else {
                Ordering::Greater
            }
        }
        (None, Some(it)) => {
            if it.is_negative {
                Ordering::Greater
            } else {
                Ordering::Less
            }
        }
        (Some(left), Some(right)) => match (left.is_negative, right.is_negative) {
            (true, false) => Ordering::Less,
            (false, true) => Ordering::Greater,
            (false, false) => left.compare_size(&right),
            (true, true) => right.compare_size(&left),
        },
    }
}

/// True if the number of JSON is 0.
pub(crate) fn is_zero(digits: &str) -> bool {
    Decimal::read(digits).is_none()
}

/// The number as an index; `None` if it is negative, no whole number, or larger than any list.
pub(crate) fn to_index(digits: &str) -> Option<usize> {
    let Some(number) = Decimal::read(digits) else { return Some(0) };
    let significant = number.significant();
    let length = usize::try_from(number.magnitude).ok().filter(|it| *it <= 18)?;
    if number.is_negative || significant.len() > length {
        return None;
    }
    let mut index = 0_usize;
    for at in 0..length {
        let digit = significant.get(at).map_or(0, |it| usize::from(it - b'0'));
        index = index.checked_mul(10)?.checked_add(digit)?;
    }
    Some(index)
}

/// `1 / number`: exact where it ends within 34 digits, else cut there. `None` for 0, and for exponents that do not fit.
pub(crate) fn invert(digits: &str) -> Option<String> {
    let number = Decimal::read(digits)?;
    let mut significant = number.significant();
    significant.truncate(DIVISOR_DIGITS);
    let divisor = significant.iter().fold(0_u128, |sum, it| sum * 10 + u128::from(it - b'0'));
    // The number is 0.SIGNIFICANT * 10^magnitude = divisor * 10^(magnitude - length).
    let mut exponent = (significant.len() as i128).checked_sub(number.magnitude)?;
    let mut remainder = 1_u128;
    let mut quotient = String::new();
    while remainder != 0 && quotient.len() < QUOTIENT_DIGITS {
        let digit = remainder / divisor;
        remainder = (remainder % divisor) * 10;
        if !(digit == 0 && quotient.is_empty()) {
            quotient.push(char::from(b'0' + u8::try_from(digit).ok()?));
        }
        exponent -= 1;
    }
    exponent += 1;
    Some(write_plain(number.is_negative, &quotient, exponent))
}

/// `digits * 10^exponent` without an exponent where it is short.
fn write_plain(is_negative: bool, digits: &str, exponent: i128) -> String {
    let sign = if is_negative { "-" } else { "" };
    let length = digits.len() as i128;
    if !(-60..=30).contains(&exponent) {
        return format!("{sign}{digits}e{exponent}");
    }
    if exponent >= 0 {
        let zeros = usize::try_from(exponent).unwrap_or_default();
        return format!("{sign}{digits}{}", "0".repeat(zeros));
    }
    if -exponent < length {
        let (whole, fraction) = digits.split_at(usize::try_from(length + exponent).unwrap_or_default());
        return format!("{sign}{whole}.{fraction}");
    }
    let zeros = usize::try_from(-exponent - length).unwrap_or_default();
    format!("{sign}0.{}{digits}", "0".repeat(zeros))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_compared_by_value() {
        for (one, other, expected) in [
            ("1", "1.0", Ordering::Equal),
            ("100", "1e2", Ordering::Equal),
            ("0", "-0.00e7", Ordering::Equal),
            ("0.001", "1E-3", Ordering::Equal),
            ("9007199254740993", "9007199254740992", Ordering::Greater),
            ("0.1", "0.10000000000000000000000000001", Ordering::Less),
            ("-2", "1", Ordering::Less),
            ("-2", "-1", Ordering::Less),
            ("0", "-1", Ordering::Greater),
            ("10", "9", Ordering::Greater),
            ("1e999999999999999999999999999999999999999999", "2", Ordering::Greater),
            ("1e-999999999999999999999999999999999999999999", "0", Ordering::Greater),
        ] {
            assert_eq!(compare_numbers(one, other), expected, "{one} {other}");
            assert_eq!(compare_numbers(other, one), expected.reverse(), "{other} {one}");
        }
    }

    #[test]
    fn an_index_is_whole_and_not_negative() {
        for (digits, expected) in [
            ("0", Some(0)),
            ("-0", Some(0)),
            ("12", Some(12)),
            ("1.0", Some(1)),
            ("1.2e1", Some(12)),
            ("120e-1", Some(12)),
            ("1.5", None),
            ("-1", None),
            ("0.5", None),
            ("1e30", None),
        ] {
            assert_eq!(to_index(digits), expected, "{digits}");
        }
    }

    #[test]
    fn a_quotient_is_exact_or_cut() {
        for (digits, expected) in [
            ("4", Some("0.25")),
            ("-0.5", Some("-2")),
            ("1", Some("1")),
            ("10", Some("0.1")),
            ("0.001", Some("1000")),
            ("1e-3", Some("1000")),
            ("3", Some("0.3333333333333333333333333333333333")),
            ("1e100", Some("1e-100")),
            ("0", None),
            ("0.0", None),
        ] {
            assert_eq!(invert(digits).as_deref(), expected, "{digits}");
        }
    }
}
