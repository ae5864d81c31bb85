//! Numbers for types that read digits and a point alone: `2.5e1` is written `25`.
//!
//! **Cost:** a look at the type; only a number with a point or an exponent, for such a type, is rewritten.

use crate::exec::cell_value::is_number;
use weir_postgres::statement::Buffer;
use weir_relational::catalog::postgres_types::oid;

/// Digits before the point, and after it, that are written: every such type refuses longer integers and rounds longer fractions.
const DIGITS_MAX: usize = 64;

/// True if the type with this OID accepts no exponent.
const fn is_plain(of: u32) -> bool {
    matches!(
        of,
        oid::MONEY
            | oid::INTERVAL
            | oid::INT2
            | oid::INT4
            | oid::INT8
            | oid::OID
            | oid::XID
            | oid::XID8
            | oid::CID
    )
}

/// Appends `text` for the type with number `of`, without the exponent that this type does not read.
pub(crate) fn push(of: u32, text: &str, out: &mut Buffer) {
    let number = text.trim();
    let is_rewritten = is_plain(of) && number.contains(['.', 'e', 'E']) && is_number(number.as_bytes());
    if is_rewritten { push_plain(number, out) } else { out.extend_from_slice(text.as_bytes()) }
}

/// Appends a JSON number as digits and, before a fraction, a point.
fn push_plain(number: &str, out: &mut Buffer) {
    let (mantissa, power) = number.split_once(['e', 'E']).unwrap_or((number, "0"));
    let power = power.parse::<i64>().unwrap_or(if power.starts_with('-') { i64::MIN } else { i64::MAX });
    let power = power.clamp(-1_000_000_000, 1_000_000_000);
    let (is_negative, mantissa) = match mantissa.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, mantissa),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let all = whole.len() + fraction.len();
    let digits = whole.bytes().chain(fraction.bytes());
    let digits: SmallDigits = digits.skip_while(|it| *it == b'0').collect();
    let digits = digits.as_slice();
    if digits.is_empty() {
        return out.push(b'0');
    }
    // Digits before the point; below zero, zeros after it.
    let point = whole.len() as i64 + power - (all - digits.len()) as i64;
    if is_negative {
        out.push(b'-');
    }
    let before = usize::try_from(point).unwrap_or(0);
    match before {
        0 => out.push(b'0'),
        _ => out.extend((0..before.min(DIGITS_MAX)).map(|at| digits.get(at).copied().unwrap_or(b'0'))),
    }
    let zeros = usize::try_from(-point).unwrap_or(0).min(DIGITS_MAX);
    let rest = digits.get(before..).unwrap_or_default();
    let end = rest.iter().rposition(|it| *it != b'0').map_or(0, |it| it + 1);
    if end > 0 {
        out.push(b'.');
        let places = std::iter::repeat_n(b'0', zeros).chain(rest[..end].iter().copied());
        out.extend(places.take(DIGITS_MAX));
    }
}

/// Digits of one number, mostly few.
type SmallDigits = smallvec::SmallVec<[u8; 32]>;

#[cfg(test)]
mod tests {
    use super::*;

    fn check(of: u32, text: &str, expected: &str) {
        let mut out = Buffer::new();
        push(of, text, &mut out);
        assert_eq!(std::str::from_utf8(&out), Ok(expected), "{text}");
    }

    #[test]
    fn an_exponent_is_written_out_for_types_that_read_none() {
        for (text, plain) in [
            ("2.5e1", "25"),
            ("1e-5", "0.00001"),
            ("-1.25E+2", "-125"),
            ("-12.5e-1", "-1.25"),
            ("1200e-2", "12"),
            ("0.00012e3", "0.12"),
            ("0e99999999999", "0"),
            ("-0.0", "0"),
            ("1.50", "1.5"),
            (" 3e0 ", "3"),
            ("120", "120"),
        ] {
            check(oid::MONEY, text, plain);
        }
    }

    #[test]
    fn other_types_and_other_texts_stay_as_they_are() {
        check(oid::NUMERIC, "2.5e1", "2.5e1");
        check(oid::TEXT, "1e3", "1e3");
        for text in ["$1,000.00", "1e", "e1", "0x1e1", "1e3 seconds", "", "1.", ".5e1", "+1e1"] {
            check(oid::MONEY, text, text);
        }
    }

    #[test]
    fn a_number_of_any_size_has_a_bounded_length() {
        check(oid::INT8, "1e400", &format!("1{}", "0".repeat(63)));
        check(oid::INT8, "1e99999999999999999999", &format!("1{}", "0".repeat(63)));
        check(oid::MONEY, "-1e-400", &format!("-0.{}", "0".repeat(64)));
        check(oid::MONEY, "1e-99999999999999999999", &format!("0.{}", "0".repeat(64)));
    }
}
