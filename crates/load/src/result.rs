//! The results of a load test as JSON: the interface to reports, baselines and other programs.
//!
//! **Invariant:** times are in microseconds and counts are exact; every histogram can be added to another of the same field.

pub(crate) mod machine;
pub(crate) mod statistics;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Deserializer, Serializer, V2DeflateSerializer};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The version of this format.
pub const FORMAT: u32 = 1;

/// Name of the generator's own process in a result.
pub const GENERATOR: &str = "generator";

/// Highest recorded latency: 10 minutes; longer ones count as this.
pub const LATENCY_MAX_US: u64 = 600_000_000;

/// Significant digits of a recorded latency.
const DIGITS: u8 = 3;

/// The result of `weir load run`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct RunResult {
    /// 1.
    pub format: u32,
    /// The plan's name, or the target.
    pub name: String,
    /// RFC 3339, UTC.
    pub started_at: String,
    /// Target and machine of the measurement.
    pub setup: Setup,
    /// Verdict: valid or void.
    pub verdict: Verdict,
    /// All operations together.
    pub total: OperationResult,
    /// In the order of the plan.
    pub operations: Vec<OperationResult>,
    /// One element per second of the measured period, by scheduled time.
    pub timeline: Vec<Slice>,
    /// The watched processes, and the generator itself as `generator`.
    pub processes: Vec<ProcessSeries>,
}

/// The set-up of a run.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct Setup {
    /// Version of the generator.
    pub weir_version: String,
    /// Model of the processor.
    pub machine: String,
    /// Cores that the generator's machine has.
    pub cores: u32,
    /// Memory of the generator's machine.
    pub memory_bytes: u64,
    /// The operating system's kernel and its version.
    pub kernel: String,
    /// The URL that was called.
    pub target: String,
    /// `http1` or `http2`, with `tls` behind it for https.
    pub protocol: String,
    /// Connections of all generators.
    pub connections: u32,
    /// Generator processes.
    pub generators: u32,
    /// The load in words: `500/s for 10s, poisson`.
    pub load: String,
    /// Length of the measured period, without warm-up.
    pub duration_s: f64,
    /// Seed of values and arrivals.
    pub seed: u64,
}

/// Verdict of a run: valid or void, with the reasons.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct Verdict {
    /// False if the generator was too slow to offer its load: the figures then say nothing about the server.
    pub valid: bool,
    /// Why the run is void.
    pub void_because: Vec<String>,
    /// Cautions about single figures of a valid run.
    #[serde(default)]
    pub notes: Vec<String>,
    /// Median of the time from a scheduled instant to its dispatch; 0 in a closed loop.
    #[serde(default)]
    pub lag_p50_us: u64,
    /// 99th percentile of the time from a scheduled instant to its dispatch.
    pub lag_p99_us: u64,
    /// Completed requests in percent of the scheduled ones; 100 in a closed loop.
    pub achieved_percent: f64,
}

/// The kinds of operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum OperationKind {
    /// A GraphQL query.
    Query,
    /// A GraphQL mutation.
    Mutation,
    /// A GraphQL subscription over WebSocket or server-sent events.
    Subscription,
    /// Any HTTP request.
    Http,
}

/// Figures of one operation, or of all together.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct OperationResult {
    /// Operation name; `total` for all together.
    pub name: String,
    /// Kind of the operation.
    pub kind: OperationKind,
    /// Weight in the mix; 0 for steps of a flow and for all together.
    pub weight: f64,
    /// Requests that the schedule asked for.
    pub scheduled: u64,
    /// Requests that were begun.
    pub sent: u64,
    /// Answers that came, with and without errors.
    pub completed: u64,
    /// Failed requests by cause: `status 503`, `graphql`, `check data.id`, `connect`, `timeout`, `closed`.
    pub errors: BTreeMap<String, u64>,
    /// A few failed requests.
    pub error_samples: Vec<ErrorSample>,
    /// Bytes of answers, heads included.
    pub bytes_received: u64,
    /// From the scheduled instant to the end of the answer.
    pub latency: Latency,
    /// From sending the request to the end of the answer.
    pub service: Latency,
    /// From the start of a mutation to the push it causes; subscriptions only.
    pub push: Option<Latency>,
    /// Answers by the outcome of a cache, as their headers tell it: `hit`, `miss`, `joined`, `stale`, ….
    pub cache: BTreeMap<String, u64>,
}

impl OperationResult {
    /// Failed requests.
    pub fn error_count(&self) -> u64 {
        self.errors.values().sum()
    }

    /// Failed requests in percent of all that ended.
    #[expect(clippy::cast_precision_loss, reason = "a percentage")]
    pub fn error_percent(&self) -> f64 {
        let ended = self.completed.max(self.error_count());
        if ended == 0 { 0.0 } else { self.error_count() as f64 * 100.0 / ended as f64 }
    }
}

/// A failed request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ErrorSample {
    /// Cause, a key of `errors`.
    pub label: String,
    /// The answer's status; 0 if there was none.
    pub status: u16,
    /// The answer's first 300 bytes, or the cause if there was no answer.
    pub body: String,
}

/// A distribution of times.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "the names are the field's")]
pub struct Latency {
    pub count: u64,
    pub mean_us: f64,
    pub min_us: u64,
    pub max_us: u64,
    pub p50_us: u64,
    pub p75_us: u64,
    pub p90_us: u64,
    pub p95_us: u64,
    pub p99_us: u64,
    pub p99_9_us: u64,
    pub p99_99_us: u64,
    /// HdrHistogram of microseconds: V2, compressed, base64.
    pub histogram: String,
}

/// An empty histogram of microseconds.
#[expect(clippy::expect_used, reason = "the bounds are constants")]
pub fn new_histogram() -> Histogram<u64> {
    Histogram::new_with_bounds(1, LATENCY_MAX_US, DIGITS).expect("the bounds are in order")
}

impl Latency {
    /// The figures of `histogram`.
    pub fn of(histogram: &Histogram<u64>) -> Self {
        let at = |percentile: f64| histogram.value_at_quantile(percentile / 100.0);
        Self {
            count: histogram.len(),
            mean_us: histogram.mean(),
            min_us: histogram.min(),
            max_us: histogram.max(),
            p50_us: at(50.0),
            p75_us: at(75.0),
            p90_us: at(90.0),
            p95_us: at(95.0),
            p99_us: at(99.0),
            p99_9_us: at(99.9),
            p99_99_us: at(99.99),
            histogram: encode(histogram),
        }
    }

    /// The histogram.
    /// # Errors
    /// A text that is none.
    pub fn histogram(&self) -> Result<Histogram<u64>, String> {
        decode(&self.histogram)
    }

    /// The figure of any percentile, as 99.9.
    /// # Errors
    /// A histogram that cannot be read.
    pub fn percentile(&self, percentile: f64) -> Result<u64, String> {
        Ok(self.histogram()?.value_at_quantile(percentile / 100.0))
    }
}

/// A histogram as V2, compressed, base64.
#[expect(clippy::expect_used, reason = "writing to memory")]
pub fn encode(histogram: &Histogram<u64>) -> String {
    let mut bytes = Vec::new();
    V2DeflateSerializer::new().serialize(histogram, &mut bytes).expect("memory takes it");
    STANDARD.encode(bytes)
}

/// Reads what [`encode`] writes, and V2 without compression.
/// # Errors
/// A text that is no histogram.
pub fn decode(text: &str) -> Result<Histogram<u64>, String> {
    let bytes = STANDARD.decode(text).map_err(|cause| format!("a histogram is no base64: {cause}"))?;
    Deserializer::new()
        .deserialize(&mut bytes.as_slice())
        .map_err(|cause| format!("a histogram is no HdrHistogram V2: {cause}"))
}

/// One second of a run; requests belong to the second of their scheduled instant.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "the names are the field's")]
pub struct Slice {
    /// From 0.
    pub second: u64,
    /// Requests that the schedule asked for; in a closed loop as `sent`.
    pub offered: u64,
    pub sent: u64,
    pub completed: u64,
    pub errors: u64,
    pub p50_us: u64,
    pub p90_us: u64,
    pub p99_us: u64,
    pub max_us: u64,
    /// Latencies by bucket: upper bound in microseconds (powers of the square root of 2) and count; empty ones are left out.
    pub heat: Vec<(u64, u64)>,
}

/// Resources that a process used under load.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct ProcessSeries {
    /// Name in the plan; several processes of one name are summed.
    pub name: String,
    /// The process, the first if there are several.
    pub pid: u32,
    /// CPU time of user and kernel per completed request.
    pub cpu_us_per_request: f64,
    /// CPU time in the measured period.
    pub cpu_s: f64,
    /// One element per second.
    pub samples: Vec<ProcessSample>,
}

/// One second of a process.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "the names are the field's")]
pub struct ProcessSample {
    pub second: u64,
    /// 100 is one core.
    pub cpu_percent: f64,
    pub rss_bytes: u64,
    /// Context switches in this second.
    pub voluntary_switches: u64,
    pub involuntary_switches: u64,
}

/// The result of `weir load max`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct MaxResult {
    /// 1.
    pub format: u32,
    /// The plan's name, or the target.
    pub name: String,
    /// RFC 3339, UTC.
    pub started_at: String,
    /// Target and machine of the measurement.
    pub setup: Setup,
    /// The bound in words: `p50 < 200ms, errors < 0.1 %`.
    pub bound: String,
    /// Each operation alone, then the mix as `mix`.
    pub maxima: Vec<Maximum>,
}

/// The most requests per second of one operation within the bound.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Maximum {
    /// The operation, or `mix`.
    pub name: String,
    /// Median of the confirmations, achieved requests per second; 0 if not even the lowest rate held the bound.
    pub requests_per_s: f64,
    /// True if the generator, not the server, was the limit.
    pub is_generator_bound: bool,
    /// The latency at that rate, of the median confirmation.
    pub latency: Latency,
    /// CPU time of the watched processes per request at that rate, by name.
    pub cpu_us_per_request: BTreeMap<String, f64>,
    /// Every rate that was tried, in order.
    pub probes: Vec<Probe>,
}

/// One rate that was tried.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "the names are the field's")]
pub struct Probe {
    pub offered_per_s: f64,
    pub achieved_per_s: f64,
    /// The bounded percentile.
    pub percentile_us: u64,
    pub error_percent: f64,
    pub holds: bool,
    /// Empty, or why the rate does not hold.
    pub reason: String,
    /// True for one of the last, longer probes.
    pub is_confirmation: bool,
    /// True if the generator, not the server, is why the rate does not hold.
    #[serde(default)]
    pub is_generators: bool,
}

/// The result of `weir load compare`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct CompareResult {
    /// 1.
    pub format: u32,
    /// RFC 3339, UTC.
    pub started_at: String,
    /// Target and machine of the measurement; `target` is A.
    pub setup: Setup,
    /// The two sides.
    pub a: String,
    /// The other side.
    pub b: String,
    /// Ratios B/A.
    pub measures: Vec<Measure>,
    /// Verdict over all measures.
    pub verdict: Comparison,
    /// Answers that differ.
    pub differences: Vec<AnswerDifference>,
    /// Answers that were compared.
    pub answers_compared: u64,
}

/// One measure of both sides.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Measure {
    /// `throughput`, `latency p50`, `latency p99`, `cpu per request`.
    pub name: String,
    /// The unit of `a` and `b`.
    pub unit: String,
    /// Geometric mean over A's slices.
    pub a: f64,
    /// Geometric mean over B's slices.
    pub b: f64,
    /// B/A.
    pub ratio: f64,
    /// Lower end of the 99 % confidence interval of the ratio.
    pub low: f64,
    /// Upper end of the 99 % confidence interval of the ratio.
    pub high: f64,
    /// Verdict on this measure.
    pub verdict: Comparison,
}

/// B against A.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Comparison {
    /// B is better.
    Better,
    /// B is worse.
    Worse,
    /// The difference is within the noise.
    CannotTell,
}

/// An operation that both sides answer differently.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct AnswerDifference {
    /// The operation.
    pub operation: String,
    /// A JSON pointer to the first difference; empty for the whole answer.
    pub path: String,
    /// The value of A, shortened.
    pub a: String,
    /// The value of B, shortened.
    pub b: String,
}
