//! Access logs as loads: Weir's JSON lines by operation, common and combined lines by path.
//!
//! Common and combined lines tell the second alone: the requests of a second are spread evenly over it.

use serde::Deserialize;
use std::collections::HashMap;
use std::io::BufRead;
use std::time::Duration;
use time::format_description::well_known::Rfc3339;
use time::{Month, OffsetDateTime, UtcOffset};

/// Most entries of a log.
const ENTRIES_MAX: usize = 20_000_000;

/// A request of a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Time since the first request.
    pub(crate) at: Duration,
    /// The flow of that operation.
    pub(crate) flow: usize,
    /// Path and query; empty where the operation has them.
    pub(crate) path: Box<str>,
    /// The right status; `None`: what the operation's checks say.
    pub(crate) status: Option<u16>,
}

#[derive(Deserialize)]
struct WeirLine<'l> {
    timestamp: &'l str,
    #[serde(default)]
    operation: Option<String>,
    #[serde(default)]
    total_us: Option<u64>,
}

/// A line: its time in nanoseconds, and an operation's name, or a path and the status of the answer.
enum Line {
    Operation(i128, String),
    Get(i128, String, Option<u16>),
}

/// A request whose time is in nanoseconds.
struct Timed {
    at: i128,
    entry: Entry,
    /// True if its time is a whole second.
    is_by_second: bool,
}

const SECOND_NS: i128 = 1_000_000_000;

/// Statuses of answers that depend on more than the path: on a range or an age that the client asked for, or on its timeout.
const OF_CLIENTS: [u16; 4] = [206, 304, 412, 416];

/// Reads a log. `flow` finds the flow of an operation, `get` is that of plain requests.
pub(super) fn read(
    lines: impl BufRead,
    flow: impl Fn(&str) -> Option<usize>,
    get: Option<usize>,
) -> Result<(Vec<Entry>, u64), String> {
    let mut found: Vec<Timed> = Vec::new();
    let mut skipped = 0;
    let timed = |at: i128, flow: usize, path: Box<str>, status: Option<u16>, is_by_second: bool| Timed {
        at,
        entry: Entry { at: Duration::ZERO, flow, path, status },
        is_by_second,
    };
    for line in lines.lines() {
        let line = line.map_err(|cause| cause.to_string())?;
        let entry = match parse(&line) {
            Some(Line::Operation(at, name)) => {
                flow(&name).map(|flow| timed(at, flow, "".into(), None, false))
            }
            Some(Line::Get(at, path, status)) => get.map(|get| timed(at, get, path.into(), status, true)),
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
    found.sort_by_key(|it| it.at);
    spread_within_seconds(&mut found);
    let Some(first) = found.first().map(|it| it.at) else {
        return Err(format!(
            "no request can be replayed: {skipped} lines, none with the name of an operation of the plan and none `GET` of the \
             common or combined format"
        ));
    };
    let entry = |it: Timed| {
        let nanos = u64::try_from(it.at - first).unwrap_or(u64::MAX);
        Entry { at: Duration::from_nanos(nanos), ..it.entry }
    };
    Ok((found.into_iter().map(entry).collect(), skipped))
}

/// Spreads requests whose second alone is known evenly over it, in their order; `found` is in the order of times, and stays so.
fn spread_within_seconds(found: &mut [Timed]) {
    let mut counts: HashMap<i128, (i128, i128)> = HashMap::new();
    for it in found.iter().filter(|it| it.is_by_second) {
        counts.entry(it.at).or_default().0 += 1;
    }
    for it in found.iter_mut().filter(|it| it.is_by_second) {
        if let Some((count, seen)) = counts.get_mut(&it.at) {
            it.at += *seen * SECOND_NS / *count;
            *seen += 1;
        }
    }
    found.sort_by_key(|it| it.at);
}

fn parse(line: &str) -> Option<Line> {
    if line.starts_with('{') {
        let read: WeirLine<'_> = serde_json::from_str(line).ok()?;
        let end = OffsetDateTime::parse(read.timestamp, &Rfc3339).ok()?;
        let took = i128::from(read.total_us.unwrap_or(0)) * 1000;
        return Some(Line::Operation(end.unix_timestamp_nanos() - took, read.operation?));
    }
    let (_, rest) = line.split_once('[')?;
    let (time, rest) = rest.split_once(']')?;
    let (request, rest) = read_quoted(rest.split_once('"')?.1)?;
    let mut words = request.split(' ');
    let path = (words.next()? == "GET").then(|| words.next())??;
    let is_path = path.starts_with('/') && path.bytes().all(|it| it.is_ascii_graphic());
    let status = rest.split_ascii_whitespace().next().and_then(|it| it.parse().ok());
    let status = status.filter(|it| (200..600).contains(it) && !is_of_client(*it));
    is_path.then_some(Line::Get(common_time(time)?, path.to_owned(), status))
}

/// True for a status that depends on the client, not on the path: nginx logs 499 for a client that went away.
fn is_of_client(status: u16) -> bool {
    OF_CLIENTS.contains(&status) || status == 499
}

/// The text up to the closing quote, and the text after it. Escaped bytes such as `\xC3` or `\"` cannot stand in a path, so they
/// are percent-encoded. Sources: nginx, `log_format`; Apache, `mod_log_config`; RFC 3986, 2.1.
fn read_quoted(text: &str) -> Option<(String, &str)> {
    let mut out = String::new();
    let mut rest = text;
    loop {
        let at = rest.find(['"', '\\'])?;
        out.push_str(&rest[..at]);
        let found = rest[at..].chars().next()?;
        rest = &rest[at + 1..];
        if found == '"' {
            return Some((out, rest));
        }
        let hex = rest
            .strip_prefix('x')
            .and_then(|it| Some((u8::from_str_radix(it.get(..2)?, 16).ok()?, &it[2..])));
        let (byte, after) = match (hex, rest.chars().next()?) {
            (Some(hex), _) => hex,
            (None, 't') => (b'\t', &rest[1..]),
            (None, 'n') => (b'\n', &rest[1..]),
            (None, 'r') => (b'\r', &rest[1..]),
            (None, escaped) => (u8::try_from(escaped).ok()?, &rest[escaped.len_utf8()..]),
        };
        out.push_str(&format!("%{byte:02X}"));
        rest = after;
    }
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
    let hour = number()?;
    let minute = number()?;
    let second = number()?;
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
        let entry = |ms, flow, path: &str, status| {
            let at = Duration::from_millis(ms);
            Entry { at, flow, path: path.into(), status }
        };
        let plain = entry(2000, 4, "/players/7?x=1", Some(200));
        assert_eq!(found, [entry(0, 3, "", None), entry(250, 3, "", None), plain]);
        assert_eq!(skipped, 3);
        let message = read("x\n".as_bytes(), flow, None).expect_err("nothing to replay");
        assert!(message.contains("no request can be replayed: 1 lines"), "{message}");
    }

    /// Offsets in milliseconds, paths and statuses of the common or combined lines with these seconds, requests and ends.
    fn replay_lines(lines: &[(u32, &str, &str)]) -> Vec<(u128, String, Option<u16>)> {
        let line = |(second, request, end): &(u32, &str, &str)| {
            format!("127.0.0.1 - - [02/Jan/2026:03:04:{second:02} +0000] \"{request}\" {end}\n")
        };
        let log: String = lines.iter().map(line).collect();
        let (found, _) = read(log.as_bytes(), |_| None, Some(0)).expect("a log");
        found.into_iter().map(|it| (it.at.as_millis(), it.path.into(), it.status)).collect()
    }

    #[test]
    fn the_lines_of_a_second_are_spread_over_it() {
        let get = |second: u32, path: &'static str| (second, path, "200 1");
        let lines = [
            get(7, "GET /a HTTP/1.1"),
            get(7, "GET /b HTTP/1.1"),
            get(9, "GET /x HTTP/1.1"),
            get(7, "GET /c HTTP/1.1"),
            get(7, "GET /d HTTP/1.1"),
            get(9, "GET /y HTTP/1.1"),
        ];
        let found: Vec<(u128, String)> = replay_lines(&lines).into_iter().map(|it| (it.0, it.1)).collect();
        let expected = [(0, "/a"), (250, "/b"), (500, "/c"), (750, "/d"), (2000, "/x"), (2500, "/y")];
        assert_eq!(found, expected.map(|(at, path)| (at, path.to_owned())));
    }

    #[test]
    fn the_logged_status_is_the_right_one_unless_it_depends_on_the_client() {
        for (end, expected) in [
            ("404 12 \"-\" \"curl\"", Some(404)),
            ("301 0", Some(301)),
            ("503 0", Some(503)),
            ("304 0", None),
            ("206 7", None),
            ("499 0", None),
            ("101 0", None),
            ("- 0", None),
        ] {
            assert_eq!(replay_lines(&[(1, "GET /a HTTP/1.1", end)])[0].2, expected, "{end}");
        }
    }

    #[test]
    fn escapes_of_logs_are_read() {
        for (logged, expected) in [
            (r"/caf\xC3\xA9?q=\x22a\x22", "/caf%C3%A9?q=%22a%22"),
            (r"/a\\b", "/a%5Cb"),
            (r#"/a\"b"#, "/a%22b"),
            (r"/a\tb", "/a%09b"),
            ("/a%20b", "/a%20b"),
        ] {
            let found = replay_lines(&[(1, &format!("GET {logged} HTTP/1.1"), "404 1 \"\\x22\" \"x\"")]);
            assert_eq!(found, [(0, expected.to_owned(), Some(404))], "{logged}");
        }
    }
}
