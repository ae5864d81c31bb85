//! Cron expressions with Hasura's rules: UTC, minutes, five fields with one blank between.
//!
//! Day of month and day of week: if both are restricted, either matches. A field counts as unrestricted by its text, not by its set.
//!
//! **Cost:** the search for the next time goes day by day, over at most `YEARS_MAX` years.

use super::cron_field::{Field, FieldKind};
use crate::moment::{Date, Moment};
use std::fmt;

/// Number of years that are searched for a time: 29 February may be eight years away, and twelve on a certain day of the week.
const YEARS_MAX: i64 = 41;

const MINUTE: FieldKind = FieldKind { first: 0, last: 59, names: &[], names_from: 0 };
const HOUR: FieldKind = FieldKind { first: 0, last: 23, names: &[], names_from: 0 };
const DAY: FieldKind = FieldKind { first: 1, last: 31, names: &[], names_from: 0 };
const MONTH: FieldKind = FieldKind {
    first: 1,
    last: 12,
    names: &["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"],
    names_from: 1,
};
/// Sunday is 0 and 7, and by its name 7.
const WEEKDAY: FieldKind =
    FieldKind { first: 0, last: 7, names: &["mon", "tue", "wed", "thu", "fri", "sat", "sun"], names_from: 1 };

/// Names of expressions.
const SHORTHANDS: [(&str, &str); 5] = [
    ("@yearly", "0 0 1 1 *"),
    ("@monthly", "0 0 1 * *"),
    ("@weekly", "0 0 * * 0"),
    ("@daily", "0 0 * * *"),
    ("@hourly", "0 * * * *"),
];

/// A text that is no schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CronError;

impl fmt::Display for CronError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the schedule is no cron expression of five fields: minute, hour, day of month, month, day of week")
    }
}

impl std::error::Error for CronError {}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CronSchedule {
    minutes: Field,
    hours: Field,
    days: Field,
    months: Field,
    /// Sunday is 0.
    weekdays: Field,
}

impl CronSchedule {
    /// Parses an expression.
    /// # Errors
    /// It is none.
    pub fn parse(text: &str) -> Result<Self, CronError> {
        let named = SHORTHANDS.iter().find(|it| it.0.eq_ignore_ascii_case(text)).map(|it| it.1);
        Self::parse_fields(named.unwrap_or(text)).ok_or(CronError)
    }

    fn parse_fields(text: &str) -> Option<Self> {
        let mut fields = text.split(' ');
        let mut next = |kind: &FieldKind| Field::parse(fields.next()?, kind);
        let mut schedule = Self {
            minutes: next(&MINUTE)?,
            hours: next(&HOUR)?,
            days: next(&DAY)?,
            months: next(&MONTH)?,
            weekdays: next(&WEEKDAY)?,
        };
        // Ranges end at 7, so the two Sundays become one behind them.
        let bits = schedule.weekdays.bits;
        schedule.weekdays.bits = bits & 0x7f | bits >> 7 & 1;
        fields.next().is_none().then_some(schedule)
    }

    /// The first time after `moment`; `None` for a date that never comes.
    pub fn next_after(&self, moment: Moment) -> Option<Moment> {
        let from = moment.minutes() + 1;
        let first_day = from.div_euclid(24 * 60);
        for day in first_day..first_day + YEARS_MAX * 366 {
            if !self.has_day(day) {
                continue;
            }
            let start = if day == first_day { from.rem_euclid(24 * 60) } else { 0 };
            if let Some(minute) = self.next_minute(start) {
                return Some(Moment::from_minutes(day * 24 * 60 + minute));
            }
        }
        None
    }

    /// The first minute of a day from `start` on.
    fn next_minute(&self, start: i64) -> Option<i64> {
        (start..24 * 60).find(|it| {
            // Both are below 60.
            let part = |number: i64| u8::try_from(number).unwrap_or_default();
            self.hours.has(part(it / 60)) && self.minutes.has(part(it % 60))
        })
    }

    /// True if the day, so many after 1970-01-01, is one of the schedule.
    fn has_day(&self, day: i64) -> bool {
        let date = Date::from_days(day);
        if !self.months.has(date.month) {
            return false;
        }
        // 1970-01-01 was a Thursday.
        let weekday = u8::try_from((day + 4).rem_euclid(7)).unwrap_or_default();
        let is_day = self.days.has(date.day);
        let is_weekday = self.weekdays.has(weekday);
        match (self.days.is_free, self.weekdays.is_free) {
            (true, true) => true,
            (true, false) => is_weekday,
            (false, true) => is_day,
            (false, false) => is_day || is_weekday,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The next times from 2026-01-01 00:00 UTC, a Thursday, exclusive; without the year, and without midnight.
    fn next(text: &str, count: usize) -> Result<String, CronError> {
        let schedule = CronSchedule::parse(text)?;
        let mut at = Moment::parse("2026-01-01T00:00:00Z").expect("it is a time");
        let mut times = Vec::new();
        for _ in 0..count {
            let Some(next) = schedule.next_after(at) else { break };
            at = next;
            let text = next.to_short_text();
            let text = text.trim_start_matches("2026-").trim_end_matches(":00Z").trim_end_matches("T00:00");
            times.push(text.to_owned());
        }
        Ok(times.join(" "))
    }

    fn check(text: &str, expected: &str) {
        let count = expected.split(' ').count();
        assert_eq!(next(text, count).as_deref(), Ok(expected), "{text}");
    }

    fn check_refused(texts: &[&str]) {
        for text in texts {
            assert_eq!(CronSchedule::parse(text), Err(CronError), "{text}");
        }
    }

    #[test]
    fn fields_are_numbers_ranges_lists_and_steps() {
        check("* * * * *", "01-01T00:01 01-01T00:02");
        check("*/15 * * * *", "01-01T00:15 01-01T00:30 01-01T00:45 01-01T01:00");
        check("10-40/15 * * * *", "01-01T00:10 01-01T00:25 01-01T00:40 01-01T01:10");
        check("5/15 * * * *", "01-01T00:05 01-01T00:20 01-01T00:35 01-01T00:50 01-01T01:05");
        check("*/90 * * * *", "01-01T01:00 01-01T02:00");
        check("5/70 * * * *", "01-01T00:05 01-01T01:05");
        check("5,5,5 * * * *", "01-01T00:05 01-01T01:05 01-01T02:05");
        check("00 007 * * *", "01-01T07:00 01-02T07:00");
        check("1,59 23 * * *", "01-01T23:01 01-01T23:59 01-02T23:01");
        check("0 0 1 jan,JUL *", "07-01 2027-01-01");
        check("0 0 1 Jan-Mar *", "02-01 03-01 2027-01-01");
    }

    #[test]
    fn sunday_is_0_and_7() {
        check("0 0 * * 7", "01-04 01-11 01-18");
        check("0 0 * * 0", "01-04 01-11 01-18");
        check("0 0 * * sun", "01-04 01-11 01-18");
        check("0 0 * * 0-6", "01-02 01-03 01-04");
        check("0 0 * * 0-7", "01-02 01-03 01-04");
        check("0 0 * * 1-7", "01-02 01-03 01-04");
        check("0 0 * * 5-7", "01-02 01-03 01-04 01-09");
        check("0 0 * * mon,3", "01-05 01-07 01-12");
        check("0 0 * * mon-sun", "01-02 01-03 01-04");
        check("0 0 * * MON-FRI", "01-02 01-05 01-06");
        check("0 0 * * 0/2", "01-03 01-04 01-06 01-08");
        check("0 0 * * 7/2", "01-04 01-11");
        check("0 0 * * mon/2", "01-02 01-04 01-05 01-07 01-09");
        check("0 0 * * */3", "01-03 01-04 01-07 01-10");
        check_refused(&["0 0 * * sun-sat", "0 0 * * fri-mon", "0 0 * * 6-1", "0 0 * * 8", "0 0 * * sunday"]);
    }

    #[test]
    fn either_day_matches_if_both_are_restricted() {
        check("0 0 13 * 5", "01-02 01-09 01-13 01-16");
        check("0 0 */2 * 5", "01-02 01-03 01-05 01-07 01-09");
        check("0 0 13 * */2", "01-03 01-04 01-06 01-08");
        check("0 0 */1 * 5", "01-02 01-09 01-16");
        check("0 0 *,5 * 5", "01-02 01-09 01-16");
        check("0 0 1-31 * 5", "01-02 01-03 01-04");
        check("0 0 13 * *", "01-13 02-13");
        check("0 0 13 * */1", "01-13 02-13");
        check("0 0 31 2 1", "02-02 02-09 02-16 02-23 2027-02-01");
    }

    #[test]
    fn a_date_that_never_comes_has_no_time() {
        for text in ["0 0 31 2 *", "0 0 30 2 *", "0 0 31 4,6 *"] {
            assert_eq!(next(text, 3).as_deref(), Ok(""), "{text}");
        }
        check("0 0 29 2 *", "2028-02-29 2032-02-29");
        let before = Moment::parse("2096-03-01T00:00:00Z").expect("it is a time");
        let leap = CronSchedule::parse("0 0 29 2 *").expect("it is a schedule").next_after(before);
        assert_eq!(leap.map(Moment::to_short_text).as_deref(), Some("2104-02-29T00:00:00Z"));
    }

    #[test]
    fn some_names_stand_for_expressions() {
        check("@yearly", "2027-01-01");
        check("@monthly", "02-01 03-01");
        check("@weekly", "01-04 01-11");
        check("@Daily", "01-02 01-03");
        check("@hourly", "01-01T01:00 01-01T02:00");
        check_refused(&["@annually", "@midnight", "@reboot", "@every 5m", "@", "daily"]);
    }

    #[test]
    fn what_other_parsers_take_is_refused() {
        check_refused(&[
            "",
            "*",
            "* * * *",
            "* * * * * *",
            "0  0 * * *",
            "0\t0 * * *",
            " 0 0 * * *",
            "0 0 * * * ",
            "60 * * * *",
            "* 24 * * *",
            "* * 0 * *",
            "* * 32 * *",
            "* * * 0 *",
            "* * * 13 *",
            "40-10 * * * *",
            "* 22-2 * * *",
            "*/0 * * * *",
            "-5 * * * *",
            "+5 * * * *",
            "5- * * * *",
            "*/5,7 * * * *",
            "1-10/3,30 * * * *",
            "1,2/3 * * * *",
            "*/ * * * *",
            "/5 * * * *",
            "5/5/5 * * * *",
            "*-5 * * * *",
            "5, * * * *",
            ",5 * * * *",
            "0 0 ? * 5",
            "0 0 L * *",
            "0 0 15W * *",
            "0 0 * * 5L",
            "0 0 * * 5#2",
            "0 0 1 january *",
            "0 0 1 1 * 2026",
            "0 0 mon * *",
            "é * * * *",
            "99999999999999999999 * * * *",
        ]);
    }

    #[test]
    fn a_time_has_seconds_only_before_it() {
        let schedule = CronSchedule::parse("* * * * *").expect("it is a schedule");
        let at = |text: &str| Moment::parse(text).expect("it is a time");
        assert_eq!(schedule.next_after(at("2026-01-01T00:00:59.9Z")), Some(at("2026-01-01T00:01:00Z")));
        assert_eq!(schedule.next_after(at("1969-12-31T23:59:30Z")), Some(at("1970-01-01T00:00:00Z")));
    }
}
