//! Decimal arithmetic on JSON numbers: exact, with doubles only for numbers that are too long.
//!
//! **Invariant:** a [`Decimal`] is `digits * 10^-scale` with a scale of at most [`SCALE_MAX`]; what does not fit is no result
//! rather than a wrong one.

use super::method::Method;
use std::borrow::Cow;
use std::cmp::Ordering;

/// Maximum number of digits in canonical form without an exponent.
const PLAIN_MAX: usize = 256;

/// Maximum number of decimal places.
const SCALE_MAX: u32 = 18;

/// A number in exact range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Decimal {
    digits: i128,
    scale: u32,
}

impl Decimal {
    /// Parses a JSON number.
    pub(crate) fn read(text: &str) -> Option<Self> {
        let (number, exponent) = match text.find(['e', 'E']) {
            Some(at) => (&text[..at], text[at + 1..].parse::<i32>().ok()?),
            None => (text, 0),
        };
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        let fraction = fraction.trim_end_matches('0');
        let digits: i128 = format!("{whole}{fraction}").parse().ok()?;
        let scale = i32::try_from(fraction.len()).ok()?.checked_sub(exponent)?;
        if digits == 0 {
            return Some(Self { digits: 0, scale: 0 });
        }
        if scale <= 0 {
            let factor = 10_i128.checked_pow(scale.unsigned_abs())?;
            return Some(Self { digits: digits.checked_mul(factor)?, scale: 0 });
        }
        Some(Self { digits, scale: scale as u32 }.shortest()).filter(|it| it.scale <= SCALE_MAX)
    }

    /// The number without trailing zeros.
    fn shortest(mut self) -> Self {
        while self.scale > 0 && self.digits % 10 == 0 {
            self.digits /= 10;
            self.scale -= 1;
        }
        self
    }

    /// JSON digits of the number.
    pub(crate) fn write(self) -> String {
        let Self { digits, scale } = self.shortest();
        if scale == 0 {
            return digits.to_string();
        }
        let text = format!("{:0>width$}", digits.unsigned_abs(), width = scale as usize + 1);
        let (whole, fraction) = text.split_at(text.len() - scale as usize);
        format!("{}{whole}.{fraction}", if digits < 0 { "-" } else { "" })
    }

    /// The integral value, if it has one.
    pub(crate) fn whole(self) -> Option<i128> {
        let it = self.shortest();
        (it.scale == 0).then_some(it.digits)
    }

    fn digits_at_scale(self, scale: u32) -> Option<i128> {
        self.digits.checked_mul(10_i128.checked_pow(scale.checked_sub(self.scale)?)?)
    }
}

/// True for digits with a point or exponent: `1.0` and `1e2`.
pub(crate) fn is_float(digits: &str) -> bool {
    digits.contains(['.', 'e', 'E'])
}

/// Order of two JSON numbers: exact, or as doubles if one is out of range.
pub(crate) fn compare(a: &str, b: &str) -> Option<Ordering> {
    let exact = || {
        let a = Decimal::read(a)?;
        let b = Decimal::read(b)?;
        let scale = a.scale.max(b.scale);
        Some(a.digits_at_scale(scale)?.cmp(&b.digits_at_scale(scale)?))
    };
    exact().or_else(|| a.parse::<f64>().ok()?.partial_cmp(&b.parse::<f64>().ok()?))
}

/// Integer part, if it fits 64 bits.
pub(crate) fn truncate(digits: &str) -> Option<i64> {
    match Decimal::read(digits) {
        Some(it) => i64::try_from(it.digits / 10_i128.checked_pow(it.scale)?).ok(),
        // A number with so many digits is small, as they are decimal places.
        None => {
            let value = digits.parse::<f64>().ok()?.trunc();
            (value.abs() < 9.0e18).then_some(value as i64)
        }
    }
}

/// Canonical digits of a number: `1` for `1.0` and `10e-1`; with an exponent where plain digits would be long.
pub(crate) fn canonical(digits: &str) -> Cow<'_, str> {
    // Fast path: most numbers are canonical already.
    if !is_float(digits) && digits.len() <= PLAIN_MAX && digits != "-0" {
        return digits.into();
    }
    spell_number(digits).map_or(digits.into(), Cow::Owned)
}

/// Implements [`canonical`]; `None` if the exponent overflows.
fn spell_number(digits: &str) -> Option<String> {
    let (number, exponent) = match digits.find(['e', 'E']) {
        Some(at) => (&digits[..at], digits[at + 1..].parse::<i64>().ok()?),
        None => (digits, 0),
    };
    let (sign, number) = number.strip_prefix('-').map_or(("", number), |it| ("-", it));
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let all = format!("{whole}{fraction}");
    let all = all.trim_start_matches('0');
    let significant = all.trim_end_matches('0');
    if significant.is_empty() {
        return Some("0".to_owned());
    }
    let exponent = exponent.checked_sub(fraction.len() as i64)?;
    let exponent = exponent.checked_add((all.len() - significant.len()) as i64)?;
    let shift = usize::try_from(exponent.unsigned_abs()).ok()?;
    Some(match exponent {
        0.. if significant.len().checked_add(shift)? <= PLAIN_MAX => {
            format!("{sign}{significant}{:0<shift$}", "")
        }
        ..0 if shift <= PLAIN_MAX => {
            let padded = format!("{significant:0>width$}", width = shift + 1);
            let (whole, fraction) = padded.split_at(padded.len() - shift);
            format!("{sign}{whole}.{fraction}")
        }
        _ => format!("{sign}{significant}e{exponent}"),
    })
}

/// One step of `add`, `sub`, `mul`, `div` or `mod`: exact if possible, else as doubles; `None` if undefined. Integers give integers,
/// except for `div`.
pub(crate) fn calculate(method: Method, a: &str, b: &str) -> Option<String> {
    let float = is_float(a) || is_float(b) || method == Method::Div;
    let exact = Decimal::read(a).zip(Decimal::read(b)).and_then(|(a, b)| calculate_exactly(method, a, b));
    match exact.map(Decimal::write) {
        Some(digits) if float && !is_float(&digits) => Some(digits + ".0"),
        Some(digits) => Some(digits),
        None if float => doubles(method, a.parse().ok()?, b.parse().ok()?),
        None => None,
    }
}

fn doubles(method: Method, a: f64, b: f64) -> Option<String> {
    let result = match method {
        Method::Add => a + b,
        Method::Sub => a - b,
        Method::Mul => a * b,
        Method::Mod => a % b,
        _ => a / b,
    };
    result.is_finite().then(|| zmij::Buffer::new().format(result).to_owned())
}

fn calculate_exactly(method: Method, a: Decimal, b: Decimal) -> Option<Decimal> {
    let scale = a.scale.max(b.scale);
    let left = a.digits_at_scale(scale)?;
    let right = b.digits_at_scale(scale)?;
    let digits = match method {
        Method::Add => left.checked_add(right)?,
        Method::Sub => left.checked_sub(right)?,
        Method::Mod => left.checked_rem(right)?,
        Method::Mul => {
            let product =
                Decimal { digits: a.digits.checked_mul(b.digits)?, scale: a.scale + b.scale }.shortest();
            return (product.scale <= SCALE_MAX).then_some(product);
        }
        _ => return divide(left, right),
    };
    Some(Decimal { digits, scale }.shortest())
}

/// Quotient with as many decimal places as needed, at most [`SCALE_MAX`]. The last one is rounded half away from zero.
fn divide(a: i128, b: i128) -> Option<Decimal> {
    let mut quotient = Decimal { digits: a.checked_div(b)?, scale: 0 };
    let mut rest = a.checked_rem(b)?;
    while rest != 0 && quotient.scale < SCALE_MAX {
        rest = rest.checked_mul(10)?;
        let Some(digits) = quotient.digits.checked_mul(10).and_then(|it| it.checked_add(rest / b)) else {
            break;
        };
        quotient = Decimal { digits, scale: quotient.scale + 1 };
        rest %= b;
    }
    if rest.checked_mul(2)?.unsigned_abs() >= b.unsigned_abs() {
        let away = if (a < 0) == (b < 0) { 1 } else { -1 };
        quotient.digits = quotient.digits.checked_add(away)?;
    }
    Some(quotient.shortest())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_one_value_have_one_form() {
        let long = "1234567890123456789012345678901234567890123";
        for (forms, expected) in [
            (&["1", "1.0", "10e-1", "0.1E+1", "100e-2"][..], "1"),
            (&["0", "-0", "0.0", "-0e9", "0E400"], "0"),
            (&["-2.5", "-2.50", "-25e-1"], "-2.5"),
            (&["0.001", "1e-3", "0.1e-2"], "0.001"),
            (&["1e30", "1000000000000000000000000000000"], "1000000000000000000000000000000"),
            (&["1e400", "10e399", "0.1e401"], "1e400"),
            (&["1e-400", "10e-401"], "1e-400"),
            (&[long, &format!("{long}.0"), &format!("{long}0e-1")], long),
            (&["1e300", &format!("1{:0<300}", "")], "1e300"),
        ] {
            for form in forms {
                assert_eq!(canonical(form), expected, "{form}");
            }
        }
    }
}
