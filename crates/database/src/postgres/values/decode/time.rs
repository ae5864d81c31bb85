//! Dates, times and intervals: ISO 8601 as PostgreSQL writes it in JSON.
//!
//! Source: the binary forms count microseconds and days from 2000-01-01; the calendar is the proleptic Gregorian one.

use super::digits;

const DAY_US: i64 = 86_400_000_000;
/// Days from 0000-03-01 to 2000-01-01.
const EPOCH_DAYS: i64 = 730_425;
/// Days in 400 years.
const ERA_DAYS: i64 = 146_097;

/// Appends `2004-10-19T10:23:54.5` and then `zone`, of microseconds since 2000-01-01.
pub(super) fn timestamp(since_us: i64, zone: &str, out: &mut Vec<u8>) {
    match since_us {
        i64::MAX => out.extend_from_slice(b"infinity"),
        i64::MIN => out.extend_from_slice(b"-infinity"),
        _ => {
            // In 64 bits there are few enough days for 32.
            let day = Day::from_days(since_us.div_euclid(DAY_US) as i32);
            day.write(out);
            out.push(b'T');
            time(since_us.rem_euclid(DAY_US), out);
            out.extend_from_slice(zone.as_bytes());
            day.write_era(out);
        }
    }
}

/// Appends `2004-10-19`, of days since 2000-01-01.
pub(super) fn date(since_days: i32, out: &mut Vec<u8>) {
    match since_days {
        i32::MAX => out.extend_from_slice(b"infinity"),
        i32::MIN => out.extend_from_slice(b"-infinity"),
        _ => {
            let day = Day::from_days(since_days);
            day.write(out);
            day.write_era(out);
        }
    }
}

/// A day of the calendar.
struct Day {
    /// 0 is 1 BC.
    year: i32,
    month: u32,
    day: u32,
}

impl Day {
    /// Years begin in March here, so that the leap day is a year's last: then the month follows from the day by one division.
    fn from_days(since_days: i32) -> Self {
        let days = i64::from(since_days) + EPOCH_DAYS;
        let era = days.div_euclid(ERA_DAYS) as i32;
        let day = days.rem_euclid(ERA_DAYS) as u32;
        let year_of_era = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
        let day_of_year = day - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let month_from_march = (5 * day_of_year + 2) / 153;
        let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
        let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
        Self { year: era * 400 + year_of_era as i32 + i32::from(month <= 2), month, day }
    }

    fn write(&self, out: &mut Vec<u8>) {
        let shown = if self.year > 0 { self.year } else { 1 - self.year }.unsigned_abs();
        let [[a, b], [c, d]] = [shown / 100 % 100, shown % 100].map(two);
        let [[e, f], [g, h]] = [self.month, self.day].map(two);
        let text = [a, b, c, d, b'-', e, f, b'-', g, h];
        if shown < 10_000 {
            out.extend_from_slice(&text);
        } else {
            digits::integer(shown.into(), out);
            out.extend_from_slice(&text[4..]);
        }
    }

    fn write_era(&self, out: &mut Vec<u8>) {
        if self.year <= 0 {
            out.extend_from_slice(b" BC");
        }
    }
}

/// Appends `10:23:54.5`, of microseconds of a day or, in intervals, of any number of hours.
pub(super) fn time(us: i64, out: &mut Vec<u8>) {
    let us = us.unsigned_abs();
    let seconds = us / 1_000_000;
    let fraction = (us % 1_000_000) as u32;
    let hours = seconds / 3600;
    let rest = (seconds % 3600) as u32;
    let [[a, b], [c, d], [e, f]] = [(hours % 100) as u32, rest / 60, rest % 60].map(two);
    let text = [a, b, b':', c, d, b':', e, f];
    if hours < 100 {
        out.extend_from_slice(&text);
    } else {
        digits::integer(hours as i64, out);
        out.extend_from_slice(&text[2..]);
    }
    if fraction != 0 {
        let [[a, b], [c, d], [e, f]] = [fraction / 10_000, fraction / 100 % 100, fraction % 100].map(two);
        let digits = [b'.', a, b, c, d, e, f];
        let zeros = digits.iter().rev().take_while(|&&it| it == b'0').count();
        out.extend_from_slice(&digits[..digits.len() - zeros]);
    }
}

/// Appends `+02` or `-03:30`, of seconds west of Greenwich.
pub(super) fn zone(west_seconds: i32, out: &mut Vec<u8>) {
    out.push(if west_seconds <= 0 { b'+' } else { b'-' });
    let seconds = west_seconds.unsigned_abs();
    out.extend_from_slice(&two(seconds / 3600));
    for (left, part) in [(seconds % 3600, seconds / 60 % 60), (seconds % 60, seconds % 60)] {
        if left != 0 {
            let [a, b] = two(part);
            out.extend_from_slice(&[b':', a, b]);
        }
    }
}

/// Appends `1 year 2 mons -3 days +04:05:06.7`: PostgreSQL's own style. A part that follows a negative one has a sign.
pub(super) fn interval(us: i64, days: i32, months: i32, out: &mut Vec<u8>) {
    match (us, days, months) {
        (i64::MAX, i32::MAX, i32::MAX) => return out.extend_from_slice(b"infinity"),
        (i64::MIN, i32::MIN, i32::MIN) => return out.extend_from_slice(b"-infinity"),
        _ => {}
    }
    let start = out.len();
    let mut after_negative = false;
    for (value, unit) in [(months / 12, " year"), (months % 12, " mon"), (days, " day")] {
        if value == 0 {
            continue;
        }
        if out.len() != start {
            out.push(b' ');
        }
        if after_negative && value > 0 {
            out.push(b'+');
        }
        digits::integer(value.into(), out);
        out.extend_from_slice(unit.as_bytes());
        if value != 1 {
            out.push(b's');
        }
        after_negative = value < 0;
    }
    if us == 0 && out.len() != start {
        return;
    }
    if out.len() != start {
        out.push(b' ');
    }
    if us < 0 {
        out.push(b'-');
    } else if after_negative {
        out.push(b'+');
    }
    time(us, out);
}

/// Two digits.
fn two(value: u32) -> [u8; 2] {
    [b'0' + (value / 10 % 10) as u8, b'0' + (value % 10) as u8]
}
