//! Reads numbers from their digits, never through a float where an integer is meant.

/// Why digits are no integer of the wanted size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NoInteger {
    /// There is something behind the point, or it is no number at all.
    Fraction,
    /// It does not fit.
    Size,
}

/// The integer that `text` writes. A fraction of zeros counts as none (`1.0` is 1), an exponent is allowed only if
/// `exponent` says so.
pub(super) fn integer(text: &str, exponent: bool) -> Result<i64, NoInteger> {
    if !is_number(text) {
        return Err(NoInteger::Fraction);
    }
    let (mantissa, power) = match text.split_once(['e', 'E']) {
        Some((mantissa, power)) if exponent => {
            (mantissa, power.parse::<i32>().map_err(|_| NoInteger::Size)?.clamp(-100_000, 100_000))
        }
        Some(_) => return Err(NoInteger::Fraction),
        None => (text, 0),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let fraction = fraction.trim_end_matches('0');
    let (negative, whole) = match whole.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, whole),
    };
    if power == 0 && fraction.is_empty() {
        return apply_sign(negative, whole.parse().map_err(|_| NoInteger::Size)?);
    }
    apply_exponent(negative, whole, fraction, power)
}

/// Applies the sign last: the magnitude of the least integer does not fit into a positive one.
fn apply_sign(negative: bool, size: u64) -> Result<i64, NoInteger> {
    let int = if negative { 0_i64.checked_sub_unsigned(size) } else { i64::try_from(size).ok() };
    int.ok_or(NoInteger::Size)
}

/// `whole.fraction * 10^power` with `fraction` free of trailing zeros.
fn apply_exponent(negative: bool, whole: &str, fraction: &str, power: i32) -> Result<i64, NoInteger> {
    let digits = || whole.bytes().chain(fraction.bytes());
    if digits().all(|digit| digit == b'0') {
        return Ok(0);
    }
    // Digits before the point once the power is applied.
    let point = whole.len() as i64 + i64::from(power);
    let count = (whole.len() + fraction.len()) as i64;
    if digits().skip(point.max(0) as usize).any(|digit| digit != b'0') {
        return Err(NoInteger::Fraction);
    }
    let mut size = 0_u64;
    for digit in digits().take(point.clamp(0, count) as usize) {
        size = size
            .checked_mul(10)
            .and_then(|it| it.checked_add(u64::from(digit - b'0')))
            .ok_or(NoInteger::Size)?;
    }
    for _ in count..point {
        size = size.checked_mul(10).ok_or(NoInteger::Size)?;
    }
    apply_sign(negative, size)
}

/// The float that `text` writes; `None` if it is no number or not finite.
pub(super) fn float(text: &str) -> Option<f64> {
    if !is_number(text) {
        return None;
    }
    text.parse().ok().filter(|it: &f64| it.is_finite())
}

/// True if `text` is a number in the notation of JSON, which is GraphQL's too.
pub(super) fn is_number(text: &str) -> bool {
    crate::json::is_number(text.as_bytes())
}

/// True if `text` is one of the databases' special numbers: not-a-number or an infinity.
pub(crate) fn is_beyond(text: &str) -> bool {
    let size = text.strip_prefix(['+', '-']).unwrap_or(text);
    let is = |word: &str| size.eq_ignore_ascii_case(word);
    is("infinity") || is("inf") || text.eq_ignore_ascii_case("nan")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: Result<i64, NoInteger>) {
        assert_eq!(integer(text, true), expected, "{text}");
    }

    #[test]
    fn integers_are_read_from_their_digits() {
        check("0", Ok(0));
        check("-0", Ok(0));
        check("1.0", Ok(1));
        check("-12.000", Ok(-12));
        check("9223372036854775807", Ok(i64::MAX));
        check("-9223372036854775808", Ok(i64::MIN));
        check("9223372036854775808", Err(NoInteger::Size));
        check("9007199254740993.0", Ok(9_007_199_254_740_993));
        check("1.5", Err(NoInteger::Fraction));
        check("1e2", Ok(100));
        check("1.25e2", Ok(125));
        check("125e-2", Err(NoInteger::Fraction));
        check("1200e-2", Ok(12));
        check("0e99999999999", Err(NoInteger::Size));
        check("0.0e5", Ok(0));
        check("1e400", Err(NoInteger::Size));
        check("1e-400", Err(NoInteger::Fraction));
        check("", Err(NoInteger::Fraction));
        check("01", Err(NoInteger::Fraction));
        check("+1", Err(NoInteger::Fraction));
        check("1x", Err(NoInteger::Fraction));
    }

    #[test]
    fn an_exponent_is_no_integer_where_it_is_not_allowed() {
        assert_eq!(integer("1e2", false), Err(NoInteger::Fraction));
        assert_eq!(integer("1.0", false), Ok(1));
    }

    #[test]
    fn floats_are_finite_numbers_in_the_form_of_json() {
        assert_eq!(float("1e400"), None);
        assert_eq!(float("NaN"), None);
        assert_eq!(float("inf"), None);
        assert_eq!(float(".5"), None);
        assert_eq!(float("5."), None);
        assert_eq!(float("-0"), Some(-0.0));
        assert_eq!(float("2.5E-3"), Some(0.0025));
        assert_eq!(float(&"9".repeat(300)), Some(1e300));
    }
}
