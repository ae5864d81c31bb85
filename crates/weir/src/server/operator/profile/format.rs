//! The forms of a profile.
//!
//! Source: `profile.proto` of pprof, whose messages these are as far as they are written.

use flate2::Compression;
use flate2::write::GzEncoder;
use pprof::Report;
use prost::Message;
use std::collections::HashMap;
use std::io::{self, Write};

/// Type and unit of values, as indices of strings.
#[derive(Clone, PartialEq, Message)]
struct ValueType {
    #[prost(int64, tag = "1")]
    ty: i64,
    #[prost(int64, tag = "2")]
    unit: i64,
}

/// A stack with its count.
#[derive(Clone, PartialEq, Message)]
struct Sample {
    /// Locations, innermost first.
    #[prost(uint64, repeated, tag = "1")]
    location_id: Vec<u64>,
    #[prost(int64, repeated, tag = "2")]
    value: Vec<i64>,
    #[prost(message, repeated, tag = "3")]
    label: Vec<Label>,
}

#[derive(Clone, PartialEq, Message)]
struct Label {
    #[prost(int64, tag = "1")]
    key: i64,
    #[prost(int64, tag = "2")]
    text: i64,
}

/// A code location; inlined functions come first.
#[derive(Clone, PartialEq, Message)]
struct Location {
    #[prost(uint64, tag = "1")]
    id: u64,
    #[prost(uint64, tag = "3")]
    address: u64,
    #[prost(message, repeated, tag = "4")]
    line: Vec<SourceLine>,
}

#[derive(Clone, PartialEq, Message)]
struct SourceLine {
    #[prost(uint64, tag = "1")]
    function_id: u64,
    #[prost(int64, tag = "2")]
    line: i64,
}

#[derive(Clone, PartialEq, Message)]
struct Function {
    #[prost(uint64, tag = "1")]
    id: u64,
    #[prost(int64, tag = "2")]
    name: i64,
    #[prost(int64, tag = "3")]
    system_name: i64,
    #[prost(int64, tag = "4")]
    filename: i64,
}

#[derive(Clone, PartialEq, Message)]
struct Profile {
    #[prost(message, repeated, tag = "1")]
    sample_type: Vec<ValueType>,
    #[prost(message, repeated, tag = "2")]
    sample: Vec<Sample>,
    #[prost(message, repeated, tag = "4")]
    location: Vec<Location>,
    #[prost(message, repeated, tag = "5")]
    function: Vec<Function>,
    #[prost(string, repeated, tag = "6")]
    string_table: Vec<String>,
    #[prost(int64, tag = "9")]
    time_nanos: i64,
    #[prost(int64, tag = "10")]
    duration_nanos: i64,
    #[prost(message, optional, tag = "11")]
    period_type: Option<ValueType>,
    #[prost(int64, tag = "12")]
    period: i64,
}

/// Strings by index, each once.
#[derive(Default)]
struct Texts {
    places: HashMap<String, i64>,
    all: Vec<String>,
}

impl Texts {
    fn place(&mut self, text: &str) -> i64 {
        if let Some(place) = self.places.get(text) {
            return *place;
        }
        let place = self.all.len() as i64;
        self.all.push(text.to_owned());
        self.places.insert(text.to_owned(), place);
        place
    }
}

/// Encodes `report` for `pprof`.
pub(super) fn pprof(report: &Report) -> io::Result<Vec<u8>> {
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(&profile(report).encode_to_vec())?;
    packed.finish()
}

fn profile(report: &Report) -> Profile {
    let mut texts = Texts::default();
    // Index 0 must be the empty string.
    texts.place("");
    let mut profile = Profile::default();
    let mut functions = HashMap::new();
    let period = 1_000_000_000 / i64::from(report.timing.frequency.max(1));
    let mut value_type = |ty, unit| ValueType { ty: texts.place(ty), unit: texts.place(unit) };
    profile.sample_type = vec![value_type("samples", "count"), value_type("cpu", "nanoseconds")];
    profile.period_type = Some(value_type("cpu", "nanoseconds"));
    profile.period = period;
    let began = report.timing.start_time.duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    profile.time_nanos = i64::try_from(began.as_nanos()).unwrap_or(0);
    profile.duration_nanos = i64::try_from(report.timing.duration.as_nanos()).unwrap_or(0);
    for (stack, count) in &report.data {
        let mut location_id = Vec::with_capacity(stack.frames.len());
        for symbols in &stack.frames {
            let id = profile.location.len() as u64 + 1;
            let mut line = Vec::with_capacity(symbols.len());
            for symbol in symbols {
                let next = functions.len() as u64 + 1;
                let function_id = *functions.entry(symbol.raw_name().to_vec()).or_insert_with(|| {
                    let name = texts.place(&symbol.name());
                    let system_name = texts.place(&symbol.sys_name());
                    let filename = texts.place(&symbol.filename());
                    profile.function.push(Function { id: next, name, system_name, filename });
                    next
                });
                line.push(SourceLine { function_id, line: symbol.lineno().into() });
            }
            let address = symbols.first().and_then(|it| it.addr).map_or(0, |it| it as u64);
            profile.location.push(Location { id, address, line });
            location_id.push(id);
        }
        let count = *count as i64;
        let label = vec![Label { key: texts.place("thread"), text: texts.place(&stack.thread_name_or_id()) }];
        profile.sample.push(Sample { location_id, value: vec![count, count * period], label });
    }
    profile.string_table = texts.all;
    profile
}
