//! Figures with units, as people write them on a command line and in YAML.

use serde::de::{self, Deserialize, Deserializer};

/// Requests per second: `500`, `250k/s`, `1M/s`, `28M/min`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Rate(pub f64);

/// A part of a whole, above 0: `60%` or `0.6`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Fraction(pub f64);

/// A number above 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Factor(pub f64);

/// A whole number from 1 to `MAX`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Amount<const MAX: u64>(pub u64);

/// Reads requests per second.
/// # Errors
/// A text that is no rate.
pub fn read_rate(text: &str) -> Result<f64, String> {
    let wrong = || format!("`{text}` is no rate; write it as `500`, `250k/s`, `1M/s` or `28M/min`");
    let (number, seconds) = match text.trim().split_once('/') {
        None => (text.trim(), 1.0),
        Some((number, "s")) => (number, 1.0),
        Some((number, "min")) => (number, 60.0),
        Some(_) => return Err(wrong()),
    };
    let (number, scale) = match number.as_bytes().last() {
        Some(b'k') => (&number[..number.len() - 1], 1e3),
        Some(b'M') => (&number[..number.len() - 1], 1e6),
        _ => (number, 1.0),
    };
    let number = number.replace([',', '_'], "").parse::<f64>().map_err(|_| wrong())?;
    let rate = number * scale / seconds;
    if rate > 0.0 && rate <= 1e12 { Ok(rate) } else { Err(wrong()) }
}

/// Reads a part of a whole.
/// # Errors
/// A text that is none.
pub fn read_part(text: &str) -> Result<f64, String> {
    let wrong = || format!("`{text}` is no part; write it as `60%` or `0.6`, between 0 and 100 %");
    let text = text.trim();
    let part = match text.strip_suffix('%') {
        Some(number) => number.trim().parse::<f64>().map_err(|_| wrong())? / 100.0,
        None => text.parse::<f64>().map_err(|_| wrong())?,
    };
    if part > 0.0 && part <= 1.0 { Ok(part) } else { Err(wrong()) }
}

/// Reads a number above 0.
/// # Errors
/// A text that is none.
pub fn read_factor(text: &str) -> Result<f64, String> {
    let number = text.trim().parse::<f64>().ok().filter(|it| *it > 0.0 && *it <= 1e9);
    number.ok_or_else(|| format!("`{text}` is no number above 0"))
}

/// Reads CPU time, in seconds: `190us`, `60ms`.
/// # Errors
/// A text that is no length of time.
pub fn read_seconds(text: &str) -> Result<f64, String> {
    let seconds = crate::notation::yaml::Span::read(text)?.0.as_secs_f64();
    if seconds > 0.0 { Ok(seconds) } else { Err(format!("`{text}` has to be above 0")) }
}

impl<'de> Deserialize<'de> for Rate {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        read_rate(&String::deserialize(deserializer)?).map(Self).map_err(de::Error::custom)
    }
}

impl<'de> Deserialize<'de> for Fraction {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        read_part(&String::deserialize(deserializer)?).map(Self).map_err(de::Error::custom)
    }
}

impl<'de> Deserialize<'de> for Factor {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        read_factor(&String::deserialize(deserializer)?).map(Self).map_err(de::Error::custom)
    }
}

impl<'de, const MAX: u64> Deserialize<'de> for Amount<MAX> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let number = u64::deserialize(deserializer)?;
        if (1..=MAX).contains(&number) {
            Ok(Self(number))
        } else {
            Err(de::Error::custom(format!("{number} is not between 1 and {MAX}")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_and_parts_are_read_as_people_write_them() {
        for (text, expected) in
            [("500", 500.0), ("1M/s", 1e6), ("250k", 250e3), ("60M/min", 1e6), ("1_000_000", 1e6)]
        {
            assert_eq!(read_rate(text), Ok(expected), "{text}");
        }
        for wrong in ["", "M", "-1", "1M/h", "0", "NaN", "1e300", "é"] {
            assert!(read_rate(wrong).is_err(), "{wrong}");
        }
        assert_eq!((read_part("60%"), read_part("0.25"), read_part("100 %")), (Ok(0.6), Ok(0.25), Ok(1.0)));
        for wrong in ["0", "101%", "60", "", "%"] {
            assert!(read_part(wrong).is_err(), "{wrong}");
        }
    }
}
