//! Compares two answers to one request, as JSON where both are.
//!
//! **Invariant:** no digit of a number is lost: numbers are compared as decimals, at any length.
//!
//! **Cost:** each level of JSON is read once more for the levels above it, of which there are at most [`DEPTH_MAX`].

use serde::Deserialize;
use serde_json::value::RawValue;
use std::collections::BTreeMap;

/// Levels of JSON that are compared by their members; what is deeper is compared by bytes.
const DEPTH_MAX: usize = 64;

/// An answer to compare.
#[derive(Clone, Copy, Debug)]
pub struct ComparedAnswer<'a> {
    /// Status of the answer.
    pub status: u16,
    /// The whole body.
    pub body: &'a [u8],
}

/// The first place where two answers differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FirstDifference {
    /// A JSON pointer; empty for the whole answer, and `status` for another status.
    pub path: String,
    /// The value there in the first answer, as it is written.
    pub a: String,
    /// The value there in the second answer, as it is written.
    pub b: String,
}

/// Compares two answers: their statuses, then their bodies as JSON, in which the order of keys does not count. Bodies that are no JSON are
/// compared by bytes.
pub fn compare_answers(one: ComparedAnswer<'_>, other: ComparedAnswer<'_>) -> Option<FirstDifference> {
    if one.status != other.status {
        let path = "status".to_owned();
        return Some(FirstDifference { path, a: one.status.to_string(), b: other.status.to_string() });
    }
    if let (Some(x), Some(y)) = (read(one.body), read(other.body)) {
        return find_difference(x, y, &mut Vec::new());
    }
    let text = |body: &[u8]| String::from_utf8_lossy(body).into_owned();
    (one.body != other.body).then(|| FirstDifference {
        path: String::new(),
        a: text(one.body),
        b: text(other.body),
    })
}

fn read(body: &[u8]) -> Option<&RawValue> {
    serde_json::from_slice(body).ok()
}

/// The value of `json` in another form.
fn read_as<'j, T: Deserialize<'j>>(json: &'j RawValue) -> Option<T> {
    serde_json::from_str(json.get()).ok()
}

/// The first difference of the values at `path`.
fn find_difference(a: &RawValue, b: &RawValue, path: &mut Vec<String>) -> Option<FirstDifference> {
    if a.get() == b.get() {
        return None;
    }
    let is_deep = path.len() >= DEPTH_MAX;
    match (a.get().as_bytes().first()?, b.get().as_bytes().first()?) {
        (b'{', b'{') if !is_deep => {
            let x: Option<BTreeMap<String, &RawValue>> = read_as(a);
            let y: Option<BTreeMap<String, &RawValue>> = read_as(b);
            if let Some((x, y)) = x.zip(y).filter(|(x, y)| x.keys().eq(y.keys())) {
                let pairs = x.into_iter().zip(y.into_values());
                return find_in(pairs.map(|((key, x), y)| (key, x, y)), path);
            }
        }
        (b'[', b'[') if !is_deep => {
            let x: Option<Vec<&RawValue>> = read_as(a);
            let y: Option<Vec<&RawValue>> = read_as(b);
            if let Some((x, y)) = x.zip(y).filter(|(x, y)| x.len() == y.len()) {
                let pairs = x.into_iter().zip(y).enumerate();
                return find_in(pairs.map(|(at, (x, y))| (at.to_string(), x, y)), path);
            }
        }
        (b'"', b'"') if read_as::<String>(a).is_some_and(|it| Some(it) == read_as(b)) => return None,
        (b'-' | b'0'..=b'9', b'-' | b'0'..=b'9') if are_equal_numbers(a.get(), b.get()) => return None,
        _ => {}
    }
    let pointer = path.iter().map(|it| format!("/{}", it.replace('~', "~0").replace('/', "~1"))).collect();
    Some(FirstDifference { path: pointer, a: a.get().to_owned(), b: b.get().to_owned() })
}

/// The first difference of `members`, which are below `path`.
fn find_in<'j>(
    mut members: impl Iterator<Item = (String, &'j RawValue, &'j RawValue)>,
    path: &mut Vec<String>,
) -> Option<FirstDifference> {
    members.find_map(|(key, x, y)| {
        path.push(key);
        let difference = find_difference(x, y, path);
        path.pop();
        difference
    })
}

/// True if two numbers of JSON have the same value, as `1.50` and `15e-1`.
fn are_equal_numbers(a: &str, b: &str) -> bool {
    let x = Decimal::parse(a);
    x.is_some() && x == Decimal::parse(b)
}

/// A number of JSON in the only form that its value has.
#[derive(PartialEq, Eq)]
struct Decimal {
    is_negative: bool,
    /// Digits without zeros at either end; none for zero.
    digits: String,
    /// Power of ten of the last digit.
    exponent: i64,
}

impl Decimal {
    /// The number in `text`; `None` if its exponent is beyond all bounds.
    fn parse(text: &str) -> Option<Self> {
        let unsigned = text.strip_prefix('-');
        let (mantissa, exponent) = match unsigned.unwrap_or(text).split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, exponent.parse::<i64>().ok()?),
            None => (unsigned.unwrap_or(text), 0),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let all = format!("{whole}{fraction}");
        let digits = all.trim_end_matches('0');
        let zeros = i64::try_from(all.len() - digits.len()).ok()?;
        let exponent = exponent.checked_sub(i64::try_from(fraction.len()).ok()?)?.checked_add(zeros)?;
        let digits = digits.trim_start_matches('0').to_owned();
        if digits.is_empty() {
            return Some(Self { is_negative: false, digits, exponent: 0 });
        }
        Some(Self { is_negative: unsigned.is_some(), digits, exponent })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compare(one: (u16, &str), other: (u16, &str)) -> Option<FirstDifference> {
        let one = ComparedAnswer { status: one.0, body: one.1.as_bytes() };
        let other = ComparedAnswer { status: other.0, body: other.1.as_bytes() };
        compare_answers(one, other)
    }

    #[test]
    fn answers_are_compared_by_status_then_by_json_then_by_bytes() {
        let check = |one, other, expected: Option<(&str, &str, &str)>| {
            let found = compare(one, other);
            let found = found.as_ref().map(|it| (it.path.as_str(), it.a.as_str(), it.b.as_str()));
            assert_eq!(found, expected, "{one:?} {other:?}");
        };
        check((200, r#"{"a":1, "b":[1,2]}"#), (200, r#" {"b":[1, 2],"a":1}"#), None);
        check((200, r#"{"a":1}"#), (503, r#"{"a":1}"#), Some(("status", "200", "503")));
        check((200, r#"{"a":1}"#), (200, r#"{"a":"1"}"#), Some(("/a", "1", "\"1\"")));
        check((200, r#"{"a":{"b":[1,2]}}"#), (200, r#"{"a":{"b":[1,3]}}"#), Some(("/a/b/1", "2", "3")));
        check((200, r#"{"a":1}"#), (200, r#"{"b":1}"#), Some(("", "{\"a\":1}", "{\"b\":1}")));
        check((200, "[1]"), (200, "[1,2]"), Some(("", "[1]", "[1,2]")));
        check((200, r#"["\u0061"]"#), (200, r#"["a"]"#), None);
        check((200, "[null]"), (200, "[false]"), Some(("/0", "null", "false")));
        check((200, r#"{"a/b~":1}"#), (200, r#"{"a/b~":2}"#), Some(("/a~1b~0", "1", "2")));
        // Halves of letters are no text, and still differ.
        check((200, r#"["\ud800"]"#), (200, r#"["\ud801"]"#), Some(("/0", r#""\ud800""#, r#""\ud801""#)));
        check(
            (200, r#"{"\ud800":1}"#),
            (200, r#"{"\ud800":2}"#),
            Some(("", r#"{"\ud800":1}"#, r#"{"\ud800":2}"#)),
        );
        check((200, "no JSON"), (200, "no JSON"), None);
        check((200, "{}"), (200, "<html>"), Some(("", "{}", "<html>")));
    }

    #[test]
    fn numbers_are_equal_by_value_and_to_the_last_digit() {
        let check = |one: &str, other: &str, expected: bool| {
            assert_eq!(compare((200, one), (200, other)).is_none(), expected, "{one} {other}");
            assert_eq!(compare((200, other), (200, one)).is_none(), expected, "{other} {one}");
        };
        check("1.50", "15e-1", true);
        check("1", "1.0", true);
        check("-0.0", "0", true);
        check("100", "1E+2", true);
        check("-1", "1", false);
        check("1e1", "1e2", false);
        check("9007199254740993", "9007199254740992", false);
        check("0.10000000000000000555", "0.1", false);
        check("123456789012345678901234567890", "123456789012345678901234567891", false);
        check("1e99999999999999999999", "1e99999999999999999998", false);
    }

    #[test]
    fn what_is_deep_is_compared_by_bytes() {
        let deep = |inner: &str| format!("{}{inner}{}", "[".repeat(100_000), "]".repeat(100_000));
        assert_eq!(compare((200, &deep("1")), (200, &deep("1"))), None);
        let found = compare((200, &deep("1")), (200, &deep("2"))).expect("they differ");
        assert_eq!(found.path, "/0".repeat(DEPTH_MAX));
    }
}
