//! Numbers, digit by digit as PostgreSQL writes them.
//!
//! A `numeric` never becomes a float: its digits come in groups of four and leave in the number of decimals the value has.
//!
//! Floats have the fewest digits that read back as the same number. PostgreSQL sometimes writes one more: it takes a decimal
//! that lies just between two floats for neither, where IEEE 754 reads it as the even one.

/// JSON kind of the written text.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Is {
    Number,
    /// A string that needs no escapes.
    Text,
}

/// Appends the digits of `value`.
pub(super) fn integer(value: i64, out: &mut Vec<u8>) -> Is {
    out.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
    Is::Number
}

/// Appends a `float8` by its shortest digits, with an exponent from 1e15 on and below 1e-4.
pub(super) fn float8(value: f64, out: &mut Vec<u8>) -> Is {
    let size = value.abs();
    if (1e-4..1e15).contains(&size) || size == 0.0 {
        plain(zmij::Buffer::new().format_finite(value), out)
    } else if value.is_finite() {
        scientific(zmij::Buffer::new().format_finite(value), out)
    } else {
        not_finite(value.is_nan(), value < 0.0, out)
    }
}

/// Appends a `float4` by its shortest digits, with an exponent from 1e6 on and below 1e-4.
pub(super) fn float4(value: f32, out: &mut Vec<u8>) -> Is {
    let size = value.abs();
    if (1e-4..1e6).contains(&size) || size == 0.0 {
        plain(zmij::Buffer::new().format_finite(value), out)
    } else if value.is_finite() {
        scientific(zmij::Buffer::new().format_finite(value), out)
    } else {
        not_finite(value.is_nan(), value < 0.0, out)
    }
}

fn not_finite(nan: bool, negative: bool, out: &mut Vec<u8>) -> Is {
    let text: &[u8] = match (nan, negative) {
        (true, _) => b"NaN",
        (false, true) => b"-Infinity",
        (false, false) => b"Infinity",
    };
    out.extend_from_slice(text);
    Is::Text
}

/// `2.0` is `2`.
fn plain(digits: &str, out: &mut Vec<u8>) -> Is {
    out.extend_from_slice(digits.strip_suffix(".0").unwrap_or(digits).as_bytes());
    Is::Number
}

/// `1e30`, `123450000.0` or `0.00001` with one digit before the point and an exponent of a sign and at least two digits.
fn scientific(text: &str, out: &mut Vec<u8>) -> Is {
    let (text, negative) = text.strip_prefix('-').map_or((text, false), |rest| (rest, true));
    let (mantissa, exponent) = text.split_once('e').unwrap_or((text, "0"));
    let (whole, part) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let zeros = |digits: &str| digits.bytes().take_while(|&it| it == b'0').count();
    let mut digits = [0; 32];
    let mut len = 0;
    for byte in whole.bytes().chain(part.bytes()) {
        digits[len] = byte;
        len += 1;
    }
    let all = std::str::from_utf8(&digits[..len]).unwrap_or("");
    let first = zeros(all);
    let all = all[first..].trim_end_matches('0');
    let exponent = exponent.parse::<i32>().unwrap_or(0) + whole.len() as i32 - 1 - first as i32;
    if negative {
        out.push(b'-');
    }
    out.extend_from_slice(&all.as_bytes()[..1]);
    if all.len() > 1 {
        out.push(b'.');
        out.extend_from_slice(&all.as_bytes()[1..]);
    }
    out.extend_from_slice(if exponent < 0 { b"e-" } else { b"e+" });
    if exponent.abs() < 10 {
        out.push(b'0');
    }
    integer(exponent.abs().into(), out)
}

/// Signs of a `numeric`.
const NEGATIVE: u16 = 0x4000;
const NAN: u16 = 0xC000;
const INFINITY: u16 = 0xD000;
const MINUS_INFINITY: u16 = 0xF000;

/// Appends a `numeric` with as many decimals as it has. `None`: the bytes are none.
///
/// The bytes: number of groups, place of the first group (0 is the one before the point), sign, decimals, groups. Each
/// group is four digits; groups of zeros at both ends are left out.
pub(super) fn decimal(bytes: &[u8], out: &mut Vec<u8>) -> Option<Is> {
    let (head, groups) = bytes.split_first_chunk::<8>()?;
    let [count, weight, sign, scale] = [0, 2, 4, 6].map(|at| u16::from_be_bytes([head[at], head[at + 1]]));
    if groups.len() != 2 * usize::from(count) {
        return None;
    }
    match sign {
        0 => {}
        NEGATIVE => out.push(b'-'),
        NAN | INFINITY | MINUS_INFINITY => {
            return Some(not_finite(sign == NAN, sign == MINUS_INFINITY, out));
        }
        _ => return None,
    }
    let weight = i32::from(weight as i16);
    let group = |place: i32| -> Option<u16> {
        let at = usize::try_from(place).ok().filter(|&at| at < usize::from(count));
        let value = at.map_or(0, |at| u16::from_be_bytes([groups[2 * at], groups[2 * at + 1]]));
        (value < 10_000).then_some(value)
    };
    if weight < 0 {
        out.push(b'0');
    }
    for place in 0..=weight {
        let digits = group_digits(group(place)?);
        let skipped = if place == 0 { digits[..3].iter().take_while(|&&it| it == b'0').count() } else { 0 };
        out.extend_from_slice(&digits[skipped..]);
    }
    let mut left = usize::from(scale);
    if left != 0 {
        out.push(b'.');
    }
    let mut place = weight + 1;
    while left != 0 {
        let taken = left.min(4);
        out.extend_from_slice(&group_digits(group(place)?)[..taken]);
        left -= taken;
        place += 1;
    }
    Some(Is::Number)
}

fn group_digits(group: u16) -> [u8; 4] {
    [group / 1000, group / 100 % 10, group / 10 % 10, group % 10].map(|digit| b'0' + digit as u8)
}
