//! Reads a `DateTime`: RFC 3339, or what is left of it when the offset, the time, the day or the month is not given.
//!
//! The text itself is kept as it was given; what is read here is what filters, order and aggregates compare.
//!
//! **Cost:** one pass, nothing allocated. Source: RFC 3339, section 5.6.

/// Microseconds since the beginning of 1970 in UTC; `None` if `text` is no point in time. What has no offset is in UTC, what
/// is finer than a microsecond is cut off.
#[must_use]
pub fn parse(text: &str) -> Option<i64> {
    let mut rest = text.as_bytes();
    let year = digits(&mut rest, 4)?;
    let month = part(&mut rest, b'-')?.unwrap_or(1);
    let day = part(&mut rest, b'-')?.unwrap_or(1);
    let is_date = (1..=12).contains(&month) && (1..=days_in(year, month)).contains(&day);
    if !is_date {
        return None;
    }
    let days = days_since_1970(year, month, day);
    if rest.is_empty() {
        return Some(days * 86_400_000_000);
    }
    // A time stands only behind a whole date.
    if text.len() - rest.len() != 10 || !matches!(rest[0], b'T' | b't' | b' ') {
        return None;
    }
    rest = &rest[1..];
    let hour = digits(&mut rest, 2)?;
    let minute = part(&mut rest, b':')??;
    let second = part(&mut rest, b':')??;
    let micros = fraction(&mut rest)?;
    let offset_minutes = offset(rest)?;
    let is_time = hour < 24 && minute < 60 && second < 60;
    let seconds = days * 86_400 + hour * 3600 + minute * 60 + second - offset_minutes * 60;
    is_time.then_some(seconds * 1_000_000 + micros)
}

/// RFC 3339 of a point in time, in UTC.
#[must_use]
pub fn format(at_us: i64) -> String {
    let (days, of_day) = (at_us.div_euclid(86_400_000_000), at_us.rem_euclid(86_400_000_000));
    let (year, month, day) = date_of(days);
    let (seconds, micros) = (of_day / 1_000_000, of_day % 1_000_000);
    let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{micros:06}Z")
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

fn fraction(rest: &mut &[u8]) -> Option<i64> {
    let Some((b'.', after)) = rest.split_first() else { return Some(0) };
    let len = after.iter().take_while(|it| it.is_ascii_digit()).count();
    let (taken, after) = after.split_at(len);
    *rest = after;
    let digit = |at: usize| taken.get(at).map_or(0, |it| i64::from(it - b'0'));
    (len > 0).then(|| (0..6).fold(0, |number, at| number * 10 + digit(at)))
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
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

/// Year, month and day. Source: as above, `civil_from_days`.
fn date_of(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let (era, of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
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
        assert_eq!(format(1_709_209_815_250_000), "2024-02-29T12:30:15.250000Z");
    }
}
