//! Access logs as loads: Weir's JSON lines by operation, common and combined lines by path.

use serde::Deserialize;
use std::io::BufRead;
use std::time::Duration;
use time::format_description::well_known::Rfc3339;
use time::{Month, OffsetDateTime, UtcOffset};

/// Most entries of a log.
const ENTRIES_MAX: usize = 20_000_000;

/// A request of a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// From the first request.
    pub(crate) at: Duration,
    /// The flow of that operation.
    pub(crate) flow: usize,
    /// Path and query; empty where the operation has them.
    pub(crate) path: Box<str>,
}

#[derive(Deserialize)]
struct WeirLine<'l> {
    timestamp: &'l str,
    #[serde(default)]
    operation: Option<String>,
    #[serde(default)]
    total_us: Option<u64>,
}

/// A line: its time in nanoseconds, and an operation's name or a path.
enum Line<'l> {
    Operation(i128, String),
    Get(i128, &'l str),
}

/// Reads a log. `flow` finds the flow of an operation, `get` is that of plain requests.
pub(super) fn read(
    lines: impl BufRead,
    flow: impl Fn(&str) -> Option<usize>,
    get: Option<usize>,
) -> Result<(Vec<Entry>, u64), String> {
    let mut found: Vec<(i128, usize, Box<str>)> = Vec::new();
    let mut skipped = 0;
    for line in lines.lines() {
        let line = line.map_err(|cause| cause.to_string())?;
        let entry = match parse(&line) {
            Some(Line::Operation(at, name)) => flow(&name).map(|flow| (at, flow, "".into())),
            Some(Line::Get(at, path)) => get.map(|get| (at, get, path.into())),
            None => None,
        };
        match entry {
            Some(entry) => found.push(entry),
            None => skipped += 1,
        }
        if found.len() > ENTRIES_MAX {
            return Err(format!("a log has at most {ENTRIES_MAX} requests; cut it"));
        }
    }
    // Lines are written at the end of requests, so they are not in the order of their starts.
    found.sort_by_key(|it| it.0);
    let Some(first) = found.first().map(|it| it.0) else {
        return Err(format!(
            "no request can be replayed: {skipped} lines, none with the name of an operation of the plan and none `GET` of the \
             common or combined format"
        ));
    };
    let entry = |(at, flow, path): (i128, usize, Box<str>)| {
        let nanos = u64::try_from(at - first).unwrap_or(u64::MAX);
        Entry { at: Duration::from_nanos(nanos), flow, path }
    };
    Ok((found.into_iter().map(entry).collect(), skipped))
}

fn parse(line: &str) -> Option<Line<'_>> {
    if line.starts_with('{') {
        let read: WeirLine<'_> = serde_json::from_str(line).ok()?;
        let end = OffsetDateTime::parse(read.timestamp, &Rfc3339).ok()?;
        let took = i128::from(read.total_us.unwrap_or(0)) * 1000;
        return Some(Line::Operation(end.unix_timestamp_nanos() - took, read.operation?));
    }
    let (_, rest) = line.split_once('[')?;
    let (time, rest) = rest.split_once(']')?;
    let request = rest.split('"').nth(1)?;
    let mut words = request.split(' ');
    let path = (words.next()? == "GET").then(|| words.next())??;
    let is_path = path.starts_with('/') && path.bytes().all(|it| it.is_ascii_graphic());
    is_path.then_some(Line::Get(common_time(time)?, path))
}

/// Reads `10/Oct/2000:13:55:36 -0700`.
fn common_time(text: &str) -> Option<i128> {
    const MONTHS: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let (stamp, zone) = text.split_once(' ')?;
    let mut parts = stamp.split(['/', ':']);
    let day: u8 = parts.next()?.parse().ok()?;
    let month = parts.next()?;
    let month = u8::try_from(MONTHS.iter().position(|it| *it == month)? + 1).ok()?;
    let year: i32 = parts.next()?.parse().ok()?;
    let mut number = || parts.next()?.parse::<u8>().ok();
    let (hour, minute, second) = (number()?, number()?, number()?);
    let zone_minutes: i32 = zone.get(3..5)?.parse().ok()?;
    let zone_hours: i32 = zone.get(1..3)?.parse().ok()?;
    let sign = if zone.starts_with('-') { -1 } else { 1 };
    let offset = UtcOffset::from_whole_seconds(sign * (zone_hours * 60 + zone_minutes) * 60).ok()?;
    let date = time::Date::from_calendar_date(year, Month::try_from(month).ok()?, day).ok()?;
    let clock = time::Time::from_hms(hour, minute, second).ok()?;
    Some(time::PrimitiveDateTime::new(date, clock).assume_offset(offset).unix_timestamp_nanos())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_formats_keep_their_own_timing() {
        let log = "\
{\"timestamp\":\"2026-01-02T03:04:05.500000Z\",\"level\":\"INFO\",\"message\":\"request\",\"operation\":\"Match\",\"total_us\":500000,\"target\":\"weir::access\"}
{\"timestamp\":\"2026-01-02T03:04:06Z\",\"operation\":\"Other\"}
127.0.0.1 - - [02/Jan/2026:04:04:07 +0100] \"GET /players/7?x=1 HTTP/1.1\" 200 12 \"-\" \"curl\"
127.0.0.1 - - [02/Jan/2026:03:04:07 +0000] \"POST /graphql HTTP/1.1\" 200 12
{\"timestamp\":\"2026-01-02T03:04:05.25Z\",\"operation\":\"Match\"}
nonsense
";
        let flow = |name: &str| (name == "Match").then_some(3);
        let (found, skipped) = read(log.as_bytes(), flow, Some(4)).expect("a log");
        let entry = |ms, flow, path: &str| Entry { at: Duration::from_millis(ms), flow, path: path.into() };
        assert_eq!(found, [entry(0, 3, ""), entry(250, 3, ""), entry(2000, 4, "/players/7?x=1")]);
        assert_eq!(skipped, 3);
        let message = read("x\n".as_bytes(), flow, None).expect_err("nothing to replay");
        assert!(message.contains("no request can be replayed: 1 lines"), "{message}");
    }
}
