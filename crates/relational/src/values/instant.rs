//! Reads a `DateTime`: RFC 3339, or what is left of it when the offset, the time, the day or the month is not given.
//!
//! A store holds its normal text, which answers give, and its point in time, which filters, order and aggregates compare.
//!
//! **Cost:** one pass; [`normal`] and [`format()`] make one text. Source: RFC 3339, section 5.6.

use std::borrow::Cow;

/// Digits of a fraction that are kept.
const FRACTION_DIGITS_MAX: usize = 9;

/// The beginning of the year 0, in microseconds since 1970.
const FIRST_US: i64 = -62_167_219_200_000_000;
/// The last microsecond of the year 9999.
const LAST_US: i64 = 253_402_300_799_999_999;

/// A `DateTime` in its parts. What is not given is the beginning, in UTC.
struct DateTimeParts<'t> {
    /// Year, month and day.
    date: [i64; 3],
    /// Hour, minute and second.
    time: [i64; 3],
    /// Decimal digits.
    fraction: &'t [u8],
    /// Minutes that the local time is ahead of UTC.
    offset: i64,
}

/// Microseconds since the beginning of 1970 in UTC; `None` if `text` is no point in time. A text without an offset is in UTC;
/// digits beyond microseconds are cut off.
pub fn parse(text: &str) -> Option<i64> {
    if text.starts_with('@') {
        return seconds(text);
    }
    let DateTimeParts { date: [year, month, day], time: [hour, minute, second], fraction, offset } =
        read(text)?;
    let digit = |at: usize| fraction.get(at).map_or(0, |it| i64::from(it - b'0'));
    let micros = (0..6).fold(0, |number, at| number * 10 + digit(at));
    let days = days_since_1970(year, month, day);
    let seconds = days * 86_400 + hour * 3600 + minute * 60 + second - offset * 60;
    Some(seconds * 1_000_000 + micros)
}

/// The text of `text` that is stored and answered: `2003` is `2003-01-01T00:00:00Z`, `.700Z` is `.7Z`. The offset is kept,
/// and a fraction to the nanosecond. `None` if `text` is no point in time.
pub fn normal(text: &str) -> Option<Cow<'_, str>> {
    if text.starts_with('@') {
        return seconds(text).map(|at_us| Cow::Owned(format(at_us)));
    }
    let normal = write(&read(text)?);
    Some(if normal == text { Cow::Borrowed(text) } else { Cow::Owned(normal) })
}

/// The normal text of a point in time, in UTC.
pub fn format(at_us: i64) -> String {
    let days = at_us.div_euclid(86_400_000_000);
    let of_day = at_us.rem_euclid(86_400_000_000);
    let seconds = of_day / 1_000_000;
    let micros = of_day % 1_000_000;
    let time = [seconds / 3600, seconds / 60 % 60, seconds % 60];
    let (year, month, day) = date_of(days);
    write(&DateTimeParts {
        date: [year, month, day],
        time,
        fraction: format!("{micros:06}").as_bytes(),
        offset: 0,
    })
}

/// Microseconds of `@1.5`, which is one and a half second after the beginning of 1970; `None` beyond the years of four digits.
fn seconds(text: &str) -> Option<i64> {
    let number = text.strip_prefix('@')?;
    let at_us = match number.parse::<i64>() {
        Ok(whole) => whole.checked_mul(1_000_000)?,
        Err(_) => (number.parse::<f64>().ok().filter(|it| it.is_finite())? * 1e6).round() as i64,
    };
    (FIRST_US..=LAST_US).contains(&at_us).then_some(at_us)
}

fn write(parts: &DateTimeParts<'_>) -> String {
    let DateTimeParts { date: [year, month, day], time: [hour, minute, second], fraction, offset } = *parts;
    let mut out = format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}");
    let fraction = &fraction[..fraction.len().min(FRACTION_DIGITS_MAX)];
    let len = fraction.iter().rposition(|it| *it != b'0').map_or(0, |it| it + 1);
    if len > 0 {
        out.push('.');
        out.extend(fraction[..len].iter().map(|it| char::from(*it)));
    }
    match offset {
        0 => out.push('Z'),
        _ => {
            let sign = if offset < 0 { '-' } else { '+' };
            let minutes = offset.abs();
            out.push_str(&format!("{sign}{:02}:{:02}", minutes / 60, minutes % 60));
        }
    }
    out
}

fn read(text: &str) -> Option<DateTimeParts<'_>> {
    let mut rest = text.as_bytes();
    let year = digits(&mut rest, 4)?;
    let month = part(&mut rest, b'-')?.unwrap_or(1);
    let day = part(&mut rest, b'-')?.unwrap_or(1);
    let is_date = (1..=12).contains(&month) && (1..=days_in(year, month)).contains(&day);
    if !is_date {
        return None;
    }
    let date = [year, month, day];
    if rest.is_empty() {
        return Some(DateTimeParts { date, time: [0; 3], fraction: &[], offset: 0 });
    }
    // A time stands only behind a whole date.
    if text.len() - rest.len() != 10 || !matches!(rest[0], b'T' | b't' | b' ') {
        return None;
    }
    rest = &rest[1..];
    let hour = digits(&mut rest, 2)?;
    let minute = part(&mut rest, b':')??;
    let second = part(&mut rest, b':')??;
    let fraction = fraction(&mut rest)?;
    let offset = offset(rest)?;
    let is_time = hour < 24 && minute < 60 && second < 60;
    is_time.then_some(DateTimeParts { date, time: [hour, minute, second], fraction, offset })
}

fn digits(rest: &mut &[u8], count: usize) -> Option<i64> {
    let (taken, after) = rest.split_at_checked(count)?;
    if !taken.iter().all(u8::is_ascii_digit) {
        return None;
    }
    *rest = after;
    Some(taken.iter().fold(0, |number, digit| number * 10 + i64::from(digit - b'0')))
}

/// Two digits behind `mark`; `Some(None)` if the mark does not follow.
fn part(rest: &mut &[u8], mark: u8) -> Option<Option<i64>> {
    match rest.split_first() {
        Some((first, after)) if *first == mark => {
            *rest = after;
            digits(rest, 2).map(Some)
        }
        Some(_) | None => Some(None),
    }
}

/// The digits behind a point; none without it.
fn fraction<'t>(rest: &mut &'t [u8]) -> Option<&'t [u8]> {
    let Some((b'.', after)) = rest.split_first() else { return Some(&[]) };
    let len = after.iter().take_while(|it| it.is_ascii_digit()).count();
    let (taken, after) = after.split_at(len);
    *rest = after;
    (len > 0).then_some(taken)
}

/// Minutes that the offset is ahead of UTC.
fn offset(mut rest: &[u8]) -> Option<i64> {
    let sign = match rest.split_first() {
        None => return Some(0),
        Some((b'Z' | b'z', after)) => return after.is_empty().then_some(0),
        Some((b'+', after)) => {
            rest = after;
            1
        }
        Some((b'-', after)) => {
            rest = after;
            -1
        }
        Some(_) => return None,
    };
    let hours = digits(&mut rest, 2)?;
    let minutes = part(&mut rest, b':')??;
    (rest.is_empty() && hours < 24 && minutes < 60).then_some(sign * (hours * 60 + minutes))
}

fn is_leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

fn days_in(year: i64, month: i64) -> i64 {
    match month {
        2 => 28 + i64::from(is_leap(year)),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Source: Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms", `days_from_civil`.
fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    let year = year - i64::from(month <= 2);
    let era = year.div_euclid(400);
    let of_era = year.rem_euclid(400);
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

/// Year, month and day. Source: as above, `civil_from_days`.
fn date_of(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let of_era = days.rem_euclid(146_097);
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let shifted = (5 * of_year + 2) / 153;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    (year + era * 400 + i64::from(month <= 2), month, of_year - (153 * shifted + 2) / 5 + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: Option<i64>) {
        assert_eq!(parse(text), expected, "{text}");
    }

    #[test]
    fn a_number_counts_seconds() {
        check("@0", Some(0));
        check("@1000000000", Some(1_000_000_000_000_000));
        check("@-1.5", Some(-1_500_000));
        check("@1e9", Some(1_000_000_000_000_000));
        check("@253402300799.5", Some(LAST_US - 499_999));
        check("@253402300800", None);
        check("@-62167219201", None);
        check("@9223372036854775807", None);
        check("@nan", None);
        check("@", None);
        assert_eq!(normal("@2003").as_deref(), Some("1970-01-01T00:33:23Z"));
        assert_eq!(normal("@-1.5").as_deref(), Some("1969-12-31T23:59:58.5Z"));
    }

    #[test]
    fn a_point_in_time_is_read_with_its_offset() {
        check("1970-01-01T00:00:00Z", Some(0));
        check("2024-02-29T12:30:15.25Z", Some(1_709_209_815_250_000));
        check("2024-02-29T14:30:15.250+02:00", Some(1_709_209_815_250_000));
        check("2024-02-29T07:00:15.2500009-05:30", Some(1_709_209_815_250_000));
        check("1969-12-31T23:59:59.999999Z", Some(-1));
        check("0001-01-01T00:00:00Z", Some(-62_135_596_800_000_000));
    }

    #[test]
    fn what_is_not_given_is_the_beginning() {
        check("2024-02-29T12:30:15", Some(1_709_209_815_000_000));
        check("2024-02-29", Some(1_709_164_800_000_000));
        check("2024-02", Some(1_706_745_600_000_000));
        check("2024", Some(1_704_067_200_000_000));
    }

    #[test]
    fn what_is_no_point_in_time_is_refused() {
        for text in [
            "",
            "24",
            "2024-",
            "2024-13",
            "2023-02-29",
            "2024-2-1",
            "2024T10:00:00Z",
            "2024-01-01T",
            "2024-01-01T10",
            "2024-01-01T10:00",
            "2024-01-01T24:00:00Z",
            "2024-01-01T10:00:60Z",
            "2024-01-01T10:00:00.Z",
            "2024-01-01T10:00:00+2",
            "2024-01-01T10:00:00Zulu",
            "yesterday",
            "２０２４",
            "-001-01-01",
        ] {
            check(text, None);
        }
    }

    #[test]
    fn what_is_written_is_read_again() {
        for at_us in [0, -1, 1_709_209_815_250_000, -62_135_596_800_000_000, 253_402_300_799_999_999] {
            check(&format(at_us), Some(at_us));
        }
        assert_eq!(format(1_709_209_815_250_000), "2024-02-29T12:30:15.25Z");
    }

    #[test]
    fn a_text_is_made_normal_once() {
        for (text, expected) in [
            ("2003", "2003-01-01T00:00:00Z"),
            ("2003-07", "2003-07-01T00:00:00Z"),
            ("1999-12-31", "1999-12-31T00:00:00Z"),
            ("1999-12-31T23:59:59", "1999-12-31T23:59:59Z"),
            ("1999-12-31t23:59:59z", "1999-12-31T23:59:59Z"),
            ("1999-12-31 23:59:59.000", "1999-12-31T23:59:59Z"),
            ("2019-03-28T14:41:57.700Z", "2019-03-28T14:41:57.7Z"),
            ("2019-03-28T14:41:57.1234567899Z", "2019-03-28T14:41:57.123456789Z"),
            ("2019-03-28T14:41:57.0000000009+02:00", "2019-03-28T14:41:57+02:00"),
            ("2019-03-28T14:41:57.70-05:30", "2019-03-28T14:41:57.7-05:30"),
            ("2019-03-28T14:41:57-00:30", "2019-03-28T14:41:57-00:30"),
            ("2019-03-28T14:41:57+00:00", "2019-03-28T14:41:57Z"),
            ("2019-03-28T14:41:57-00:00", "2019-03-28T14:41:57Z"),
        ] {
            assert_eq!(normal(text).as_deref(), Some(expected), "{text}");
            assert_eq!(normal(expected), Some(Cow::Borrowed(expected)));
            assert_eq!(parse(text), parse(expected), "{text}");
        }
        assert_eq!(normal("yesterday"), None);
    }
}
