//! Points in time in UTC, to the microsecond, and their texts.
//!
//! Source: ISO 8601; the calendar is that of Howard Hinnant's `chrono`-compatible low-level date algorithms.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Microseconds of a second, minute and day.
const SECOND: i64 = 1_000_000;
const MINUTE: i64 = 60 * SECOND;
const DAY: i64 = 24 * 60 * MINUTE;

/// A point in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Moment(i64);

/// A clock that says what time it is.
pub trait Clock: Send + Sync + std::fmt::Debug {
    /// The time.
    fn now(&self) -> Moment;
}

#[derive(Clone, Copy, Debug)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Moment {
        let micros = |it: Duration| i64::try_from(it.as_micros()).unwrap_or(i64::MAX / 2);
        Moment(match SystemTime::now().duration_since(UNIX_EPOCH) {
            Ok(since) => micros(since),
            Err(before) => -micros(before.duration()),
        })
    }
}

/// A day of the calendar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Date {
    pub(crate) year: i64,
    /// 1 to 12.
    pub(crate) month: u8,
    /// 1 to 31.
    pub(crate) day: u8,
}

impl Date {
    /// Days since 1970-01-01.
    pub(crate) fn days(self) -> i64 {
        let year = self.year - i64::from(self.month <= 2);
        let era = year.div_euclid(400);
        let year_of_era = year.rem_euclid(400);
        let month = (i64::from(self.month) + 9) % 12;
        let day_of_year = (153 * month + 2) / 5 + i64::from(self.day) - 1;
        let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
        era * 146_097 + day_of_era - 719_468
    }

    pub(crate) fn from_days(days: i64) -> Self {
        let days = days + 719_468;
        let era = days.div_euclid(146_097);
        let day_of_era = days.rem_euclid(146_097);
        let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
        let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let month_from_march = (5 * day_of_year + 2) / 153;
        let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
        let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
        let year = year_of_era + era * 400 + i64::from(month <= 2);
        // Both are small by their formulas.
        Self { year, month: u8::try_from(month).unwrap_or(1), day: u8::try_from(day).unwrap_or(1) }
    }
}

impl Moment {
    /// The time so many microseconds after 1970-01-01.
    pub const fn from_micros(micros: i64) -> Self {
        Self(micros)
    }

    /// Microseconds since 1970-01-01.
    pub const fn micros(self) -> i64 {
        self.0
    }

    /// The start of a minute, so many minutes after 1970-01-01.
    pub(crate) const fn from_minutes(minutes: i64) -> Self {
        Self(minutes.saturating_mul(MINUTE))
    }

    /// Whole minutes since 1970-01-01.
    pub(crate) const fn minutes(self) -> i64 {
        self.0.div_euclid(MINUTE)
    }

    /// The time `duration` later.
    #[must_use]
    pub fn after(self, duration: Duration) -> Self {
        Self(self.0.saturating_add(i64::try_from(duration.as_micros()).unwrap_or(i64::MAX)))
    }

    /// The time `duration` earlier.
    #[must_use]
    pub fn before(self, duration: Duration) -> Self {
        Self(self.0.saturating_sub(i64::try_from(duration.as_micros()).unwrap_or(i64::MAX)))
    }

    /// The time from `earlier` to this one; zero if that is later.
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_micros(u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or_default())
    }

    /// `2024-05-01T00:00:00.000000Z`: in years of four digits such texts are in the order of their times.
    pub fn to_text(self) -> String {
        format!("{}.{:06}Z", self.seconds_text(), self.0.rem_euclid(SECOND))
    }

    /// `2024-05-01T00:00:00Z`, with as many digits of the second as it has.
    pub fn to_short_text(self) -> String {
        match self.0.rem_euclid(SECOND) {
            0 => format!("{}Z", self.seconds_text()),
            micros => {
                let digits = format!("{micros:06}");
                format!("{}.{}Z", self.seconds_text(), digits.trim_end_matches('0'))
            }
        }
    }

    fn seconds_text(self) -> String {
        let Date { year, month, day } = Date::from_days(self.0.div_euclid(DAY));
        let seconds = self.0.rem_euclid(DAY) / SECOND;
        let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
        format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}")
    }

    /// Reads a date and time with a zone: `2024-05-01T00:00:00Z`, `2024-05-01 02:00:00.5+02:00`.
    pub fn parse(text: &str) -> Option<Self> {
        let mut rest = text;
        let year = take_number(&mut rest, 4)?;
        let month = take_number(eat(&mut rest, "-")?, 2)?;
        let day = take_number(eat(&mut rest, "-")?, 2)?;
        rest = rest.strip_prefix(['T', 't', ' '])?;
        let hour = take_number(&mut rest, 2)?;
        let minute = take_number(eat(&mut rest, ":")?, 2)?;
        let second = match eat(&mut rest, ":") {
            Some(rest) => take_number(rest, 2)?,
            None => 0,
        };
        let micros = take_fraction(&mut rest)?;
        let zone = parse_zone(rest)?;
        let date = Date { year, month: u8::try_from(month).ok()?, day: u8::try_from(day).ok()? };
        let is_date = (1..=12).contains(&month) && Date::from_days(date.days()) == date;
        // A leap second is the first of the next minute.
        if !is_date || hour > 23 || minute > 59 || second > 60 {
            return None;
        }
        let seconds = hour * 3600 + minute * 60 + second;
        Some(Self(date.days() * DAY + (seconds - zone) * SECOND + micros))
    }
}

/// Passes `sign` and returns the text itself for the next look.
fn eat<'r, 't>(rest: &'r mut &'t str, sign: &str) -> Option<&'r mut &'t str> {
    *rest = rest.strip_prefix(sign)?;
    Some(rest)
}

fn take_number(rest: &mut &str, digits: usize) -> Option<i64> {
    let number = rest.get(..digits).filter(|it| it.bytes().all(|it| it.is_ascii_digit()))?;
    *rest = &rest[digits..];
    number.parse().ok()
}

/// Microseconds of a fraction behind a point; more digits are cut.
fn take_fraction(rest: &mut &str) -> Option<i64> {
    let Some(behind) = rest.strip_prefix('.') else { return Some(0) };
    let count = behind.bytes().take_while(u8::is_ascii_digit).count();
    *rest = &behind[count..];
    let digits = &behind[..count.min(6)];
    if digits.is_empty() { None } else { format!("{digits:0<6}").parse().ok() }
}

/// Seconds by which a zone is before UTC.
fn parse_zone(text: &str) -> Option<i64> {
    if text.eq_ignore_ascii_case("z") {
        return Some(0);
    }
    let (sign, mut rest) = match text.split_at_checked(1)? {
        ("+", rest) => (1, rest),
        ("-", rest) => (-1, rest),
        _ => return None,
    };
    let hours = take_number(&mut rest, 2)?;
    let rest = rest.strip_prefix(':').unwrap_or(rest);
    let minutes = match rest {
        "" => 0,
        mut digits => {
            let minutes = take_number(&mut digits, 2)?;
            if digits.is_empty() { minutes } else { return None }
        }
    };
    (hours <= 23 && minutes <= 59).then_some(sign * (hours * 3600 + minutes * 60))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: Option<&str>) {
        assert_eq!(Moment::parse(text).map(Moment::to_short_text).as_deref(), expected, "{text}");
    }

    #[test]
    fn times_have_a_zone() {
        check("2024-05-01T00:00:00Z", Some("2024-05-01T00:00:00Z"));
        check("2024-05-01 02:30:00.25+02:30", Some("2024-05-01T00:00:00.25Z"));
        check("2024-12-31T23:00:00.1234567-0200", Some("2025-01-01T01:00:00.123456Z"));
        check("2024-02-29T10:11z", Some("2024-02-29T10:11:00Z"));
        check("2019-09-09T22:00:00.000Z", Some("2019-09-09T22:00:00Z"));
        check("1969-12-31T23:59:59.5Z", Some("1969-12-31T23:59:59.5Z"));
        for text in [
            "",
            "2024-05-01",
            "2024-05-01T00:00:00",
            "2023-02-29T00:00:00Z",
            "2024-13-01T00:00:00Z",
            "2024-00-01T00:00:00Z",
            "2024-05-01T24:00:00Z",
            "2024-05-01T00:60:00Z",
            "2024-05-01T00:00:00.Z",
            "2024-05-01T00:00:00+2",
            "2024-05-01T00:00:00+02:000",
            "24-05-01T00:00:00Z",
            "2024-05-01T00:00:00Zé",
        ] {
            check(text, None);
        }
    }

    #[test]
    fn days_and_dates_are_each_other_s_inverse() {
        let mut date = Date { year: 1899, month: 12, day: 31 };
        let first = Date { year: 1900, month: 1, day: 1 }.days();
        let end = Date { year: 2201, month: 1, day: 1 }.days();
        for days in first..end {
            let next = Date::from_days(days);
            assert_eq!(next.days(), days);
            let is_next = (next.year, next.month, next.day) > (date.year, date.month, date.day);
            assert!(is_next, "{next:?} after {date:?}");
            date = next;
        }
    }
}
