//! The access log: one line per request, in the form of the other lines.
//!
//! Lines are formatted by hand into memory of the thread, which goes to the writing thread when it is full or a second old: by way of
//! `tracing` a line takes as long as a third of a short request. A program that embeds the server and logs in its own way gets events.
//!
//! **Cost:** nothing is allocated per line.

use super::ACCESS;
use super::noted::{LoggedTrace, Noted};
use super::sink::Sink;
use crate::config::LogFormat;
use crate::observer::observer;
use hyper::http::request::Parts;
use std::cell::RefCell;
use std::fmt::{Arguments, Write};
use std::sync::OnceLock;
use std::time::{Duration, SystemTime};
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::time::{FormatTime, SystemTime as Clock};
use weir_engine::engine::{Execution, Timing};
use weir_engine::usage::KEPT;
use weir_language::json::quote;

/// Batch size at which lines are handed to the sink, in bytes.
const BYTES_MAX: usize = 8 * 1024;
/// Length of a timestamp up to the seconds.
const SECOND_BYTES: usize = "2026-11-24T12:00:00".len();

/// Sink and format of the access log, if the server does its own logging.
static WAY: OnceLock<(Sink, LogFormat)> = OnceLock::new();

thread_local! {
    static LINES: RefCell<Lines> = RefCell::default();
}

/// Lines not handed to the sink yet.
#[derive(Default)]
struct Lines {
    text: String,
    count: u64,
    /// Current second, with its formatted time.
    second: u64,
    stamp: String,
}

/// Makes the process write lines to `sink`.
pub(super) fn write_by(sink: Sink, format: LogFormat) {
    // A second server in the process shares the first one's log.
    let _ = WAY.set((sink, format));
}

/// Hands the thread's lines to the sink. Each thread calls it every second, and when it ends.
pub(crate) fn flush() {
    if let Some((sink, _)) = WAY.get() {
        LINES.with_borrow_mut(|it| it.hand_on(sink));
    }
}

/// Waits until the lines of all threads are written.
pub(super) fn drain() {
    if let Some((sink, _)) = WAY.get() {
        sink.drain();
    }
}

/// Name of a field with its delimiters in JSON and in text.
#[derive(Clone, Copy)]
struct FieldName {
    json: &'static str,
    text: &'static str,
}

macro_rules! name {
    ($name:literal) => {
        FieldName { json: concat!(",\"", $name, "\":"), text: concat!(" ", $name, "=") }
    };
}

/// One request in the access log.
pub(crate) struct Access<'a> {
    pub(crate) request_id: &'a str,
    /// Trace of the request, with its span if traces are recorded.
    pub(crate) trace: Option<LoggedTrace>,
    pub(crate) head: &'a Parts,
    pub(crate) status: u16,
    /// Length of the answer, if known.
    pub(crate) bytes: Option<u64>,
    pub(crate) execution: Option<&'a Execution>,
    pub(crate) noted: &'a Noted,
    pub(crate) total: Duration,
}

/// Writes the line of a request.
pub(crate) fn write(access: &Access<'_>) {
    if !tracing::enabled!(target: ACCESS, tracing::Level::INFO) {
        return;
    }
    match WAY.get() {
        Some((sink, format)) => LINES.with_borrow_mut(|it| {
            it.line(access, *format);
            if it.text.len() >= BYTES_MAX {
                it.hand_on(sink);
            }
        }),
        None => {
            let mut line = Line { out: String::new(), format: LogFormat::Text };
            fields(access, &mut line);
            tracing::info!(target: ACCESS, "request{}", line.out);
        }
    }
}

impl Lines {
    fn line(&mut self, access: &Access<'_>, format: LogFormat) {
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        if self.second != since.as_secs() || self.stamp.is_empty() {
            self.second = since.as_secs();
            self.stamp.clear();
            // `format_time` into a string cannot fail.
            let _ = Clock.format_time(&mut Writer::new(&mut self.stamp));
            self.stamp.truncate(SECOND_BYTES);
        }
        let mut line = Line { out: std::mem::take(&mut self.text), format };
        // Add a million, so that microseconds have six digits.
        let mut digits = itoa::Buffer::new();
        let micros = &digits.format(1_000_000 + since.subsec_micros())[1..];
        let stamp = self.stamp.as_str();
        match format {
            LogFormat::Json => {
                line.all(&["{\"timestamp\":\"", stamp, ".", micros]);
                line.out.push_str("Z\",\"level\":\"INFO\",\"message\":\"request\"");
            }
            LogFormat::Text => line.all(&[stamp, ".", micros, "Z  INFO ", ACCESS, ": request"]),
        }
        fields(access, &mut line);
        match format {
            LogFormat::Json => {
                line.text(name!("target"), ACCESS);
                line.out.push_str("}\n");
            }
            LogFormat::Text => line.out.push('\n'),
        }
        self.text = line.out;
        self.count += 1;
    }

    fn hand_on(&mut self, sink: &Sink) {
        if self.count > 0 {
            sink.send(
                std::mem::replace(&mut self.text, String::with_capacity(BYTES_MAX + 1024)).into(),
                self.count,
            );
            self.count = 0;
        }
    }
}

/// A line under construction.
struct Line {
    out: String,
    format: LogFormat,
}

impl Line {
    fn all(&mut self, texts: &[&str]) {
        texts.iter().for_each(|it| self.out.push_str(it));
    }

    fn name(&mut self, name: FieldName) {
        self.out.push_str(match self.format {
            LogFormat::Json => name.json,
            LogFormat::Text => name.text,
        });
    }

    fn text(&mut self, name: FieldName, value: &str) {
        self.name(name);
        quote(value, &mut self.out);
    }

    fn hex(&mut self, name: FieldName, digits: Arguments<'_>) {
        self.name(name);
        // `write!` to a string cannot fail.
        let _ = write!(self.out, "\"{digits}\"");
    }

    fn number(&mut self, name: FieldName, value: u64) {
        self.name(name);
        self.out.push_str(itoa::Buffer::new().format(value));
    }

    fn flag(&mut self, name: FieldName, value: bool) {
        self.name(name);
        self.out.push_str(if value { "true" } else { "false" });
    }
}

/// Writes the fields of a line, without those that are unknown.
fn fields(access: &Access<'_>, line: &mut Line) {
    let us = |it: Duration| u64::try_from(it.as_micros()).unwrap_or(u64::MAX);
    line.text(name!("request_id"), access.request_id);
    if let Some(LoggedTrace { trace, span }) = access.trace {
        line.hex(name!("trace_id"), format_args!("{trace:032x}"));
        if let Some(span) = span {
            line.hex(name!("span_id"), format_args!("{span:016x}"));
        }
    }
    line.text(name!("method"), access.head.method.as_str());
    line.text(name!("path"), access.head.uri.path());
    line.number(name!("status"), access.status.into());
    if let Some(bytes) = access.bytes {
        line.number(name!("bytes"), bytes);
    }
    if let Some(role) = access.noted.role() {
        line.text(name!("role"), role);
    }
    if let Some(execution) = access.execution {
        write_execution(execution, line);
    }
    line.number(name!("total_us"), us(access.total));
}

/// Writes the fields of an operation.
fn write_execution(execution: &Execution, line: &mut Line) {
    let us = |it: Duration| u64::try_from(it.as_micros()).unwrap_or(u64::MAX);
    if let Some(number) = execution.operation {
        observer().operations.with_name(number, |operation| {
            if !operation.name.is_empty() {
                line.text(name!("operation"), &operation.name);
            }
            line.text(name!("hash"), &operation.hash);
        });
    }
    line.flag(name!("has_errors"), execution.has_errors);
    if let Some(code) = &execution.code {
        line.text(name!("code"), code);
    }
    if let Some(kept) = execution.kept {
        line.text(name!("cache"), KEPT[kept as usize].1);
    }
    let Timing { plan_hit, parse, validate, plan, bind, execute, fetches, busy } = execution.timing;
    line.number(name!("fetches"), fetches.into());
    let planning = [(name!("parse_us"), parse), (name!("validate_us"), validate), (name!("plan_us"), plan)];
    for (name, took) in planning.into_iter().filter(|_| !plan_hit) {
        line.number(name, us(took));
    }
    for (name, took) in [(name!("bind_us"), bind), (name!("execute_us"), execute), (name!("cpu_us"), busy)] {
        line.number(name, us(took));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(format: LogFormat, trace: Option<LoggedTrace>) -> String {
        let (head, ()) = hyper::Request::post("/graphql").body(()).expect("it is right").into_parts();
        let timing =
            Timing { plan_hit: true, fetches: 1, busy: Duration::from_micros(28), ..Timing::default() };
        let execution =
            Execution { timing, has_errors: true, code: Some("A_B".into()), ..Execution::default() };
        let noted = Noted::default();
        let mut lines = Lines::default();
        let access = Access {
            request_id: "a\"b",
            trace,
            head: &head,
            status: 200,
            bytes: None,
            execution: Some(&execution),
            noted: &noted,
            total: Duration::from_millis(2),
        };
        lines.line(&access, format);
        lines.text
    }

    #[test]
    fn lines_are_json_or_text() {
        let json: serde_json::Value =
            serde_json::from_str(&line(LogFormat::Json, Some(LoggedTrace { trace: 0xab, span: None })))
                .expect("it is JSON");
        let stamp = json["timestamp"].as_str().expect("it has one");
        assert_eq!((stamp.len(), &stamp[10..11], &stamp[26..]), (27, "T", "Z"));
        assert_eq!((&json["request_id"], &json["target"]), (&"a\"b".into(), &ACCESS.into()));
        assert_eq!(
            (&json["trace_id"], &json["span_id"]),
            (&"000000000000000000000000000000ab".into(), &serde_json::Value::Null)
        );
        assert_eq!(
            (&json["code"], &json["cpu_us"], &json["role"]),
            (&"A_B".into(), &28.into(), &serde_json::Value::Null)
        );
        let text = line(LogFormat::Text, Some(LoggedTrace { trace: 1, span: Some(2) }));
        let rest = "Z  INFO weir::access: request request_id=\"a\\\"b\" trace_id=\"00000000000000000000000000000001\" span_id=\"0000000000000002\" method=\"POST\" path=\"/graphql\" status=200 has_errors=true code=\"A_B\" fetches=1 bind_us=0 execute_us=0 cpu_us=28 total_us=2000\n";
        assert!(text.ends_with(rest), "{text}");
    }
}
