//! Spans in the binary form of OTLP, written without a tree of values: at hundreds of thousands a second the SDK's own records cost more
//! than the requests they tell of.
//!
//! Source: `opentelemetry/proto/trace/v1/trace.proto` and `common/v1/common.proto`, 1.x.
//!
//! **Cost:** a span is appended to a buffer that its thread keeps; texts are copied once.

use super::{Kind, SpanHead};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Fields of a message with their wire type, as they stand before a value.
mod tag {
    pub(super) const TRACE_ID: u8 = 0x0a;
    pub(super) const SPAN_ID: u8 = 0x12;
    pub(super) const TRACE_STATE: u8 = 0x1a;
    pub(super) const PARENT_SPAN_ID: u8 = 0x22;
    pub(super) const NAME: u8 = 0x2a;
    pub(super) const KIND: u8 = 0x30;
    pub(super) const BEGAN: u8 = 0x39;
    pub(super) const ENDED: u8 = 0x41;
    pub(super) const ATTRIBUTE: u8 = 0x4a;
    pub(super) const STATUS: u8 = 0x7a;
    pub(super) const FLAGS: [u8; 2] = [0x85, 0x01];
    pub(super) const KEY: u8 = 0x0a;
    pub(super) const VALUE: u8 = 0x12;
    pub(super) const TEXT: u8 = 0x0a;
    pub(super) const NUMBER: u8 = 0x18;
}

/// A status with the code `ERROR` and no message.
const ERROR_STATUS: [u8; 2] = [0x18, 2];
/// It is known whether the parent is of another process.
const HAS_REMOTE_MASK: u32 = 0x100;
/// The parent is of another process.
const IS_REMOTE_MASK: u32 = 0x200;
/// The largest number whose varint takes one byte.
const ONE_BYTE_MAX: u8 = 0x7f;
/// Bytes of the fields that all spans have.
const FIXED_BYTES: usize = 54;

/// Appends the rest of a span to its head.
pub(crate) struct SpanWriter<'b> {
    bytes: &'b mut Vec<u8>,
}

impl<'b> SpanWriter<'b> {
    /// Begins a span in `bytes`.
    #[cfg_attr(not(feature = "otlp"), expect(dead_code, reason = "without an exporter nobody writes"))]
    pub(super) fn begin(bytes: &'b mut Vec<u8>, head: &SpanHead<'_>) -> Self {
        let since = head.began.elapsed();
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let began = count_nanos(now).saturating_sub(count_nanos(since));
        let ended = began.saturating_add(count_nanos(head.took));
        let is_remote = head.kind == Kind::Server && head.parent.is_some();
        let remote_mask = if is_remote { IS_REMOTE_MASK } else { 0 };
        let flags = HAS_REMOTE_MASK | remote_mask | u32::from(head.context.is_sampled);
        bytes.reserve(FIXED_BYTES);
        bytes.extend([tag::TRACE_ID, 16]);
        bytes.extend_from_slice(&head.context.trace.to_be_bytes());
        bytes.extend([tag::SPAN_ID, 8]);
        bytes.extend_from_slice(&head.context.span.to_be_bytes());
        bytes.extend([tag::KIND, head.kind as u8, tag::BEGAN]);
        bytes.extend_from_slice(&began.to_le_bytes());
        bytes.push(tag::ENDED);
        bytes.extend_from_slice(&ended.to_le_bytes());
        bytes.extend(tag::FLAGS);
        bytes.extend_from_slice(&flags.to_le_bytes());
        if let Some(parent) = head.parent {
            push_bytes(bytes, tag::PARENT_SPAN_ID, &parent.span.to_be_bytes());
        }
        if let Some(state) = head.trace_state.filter(|it| is_trace_state(it)) {
            push_bytes(bytes, tag::TRACE_STATE, state.as_bytes());
        }
        Self { bytes }
    }

    /// The name of the span, in parts.
    pub(crate) fn name(&mut self, parts: &[&str]) {
        self.bytes.push(tag::NAME);
        push_varint(self.bytes, parts.iter().map(|it| it.len() as u64).sum());
        parts.iter().for_each(|it| self.bytes.extend(it.as_bytes()));
    }

    /// An attribute with a text.
    // The key is known where this is inlined, so that its copy is a few moves.
    #[inline(always)]
    pub(crate) fn text(&mut self, key: &str, value: &str) {
        let bytes = 6 + key.len() + value.len();
        if bytes > usize::from(ONE_BYTE_MAX) {
            return self.long_text(key, value);
        }
        self.bytes.reserve(2 + bytes);
        self.bytes.extend_from_slice(&[tag::ATTRIBUTE, bytes as u8, tag::KEY, key.len() as u8]);
        self.bytes.extend_from_slice(key.as_bytes());
        let text_bytes = value.len() as u8;
        self.bytes.extend_from_slice(&[tag::VALUE, 2 + text_bytes, tag::TEXT, text_bytes]);
        self.bytes.extend_from_slice(value.as_bytes());
    }

    /// An attribute whose lengths may take more than a byte.
    #[inline(never)]
    fn long_text(&mut self, key: &str, value: &str) {
        let text_bytes = 1 + varint_bytes(value.len() as u64) + value.len();
        self.begin_attribute(key, text_bytes);
        push_bytes(self.bytes, tag::TEXT, value.as_bytes());
    }

    /// An attribute with a number.
    pub(crate) fn number(&mut self, key: &str, value: i64) {
        self.begin_attribute(key, 1 + varint_bytes(value as u64));
        self.bytes.push(tag::NUMBER);
        push_varint(self.bytes, value as u64);
    }

    /// Marks the span as failed.
    pub(crate) fn fail(&mut self, code: &str) {
        self.text("error.type", code);
        push_bytes(self.bytes, tag::STATUS, &ERROR_STATUS);
    }

    /// Begins an attribute whose value takes so many bytes.
    fn begin_attribute(&mut self, key: &str, value_bytes: usize) {
        let key_bytes = 1 + varint_bytes(key.len() as u64) + key.len();
        let all = key_bytes + 1 + varint_bytes(value_bytes as u64) + value_bytes;
        self.bytes.push(tag::ATTRIBUTE);
        push_varint(self.bytes, all as u64);
        push_bytes(self.bytes, tag::KEY, key.as_bytes());
        self.bytes.push(tag::VALUE);
        push_varint(self.bytes, value_bytes as u64);
    }
}

/// Nanoseconds, to the largest number that OTLP can say.
fn count_nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

/// Appends `value` with a tag and its length.
pub(super) fn push_bytes(bytes: &mut Vec<u8>, tag: u8, value: &[u8]) {
    bytes.push(tag);
    push_varint(bytes, value.len() as u64);
    bytes.extend_from_slice(value);
}

/// Appends a number of variable length.
pub(super) fn push_varint(bytes: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
}

/// Bytes of a number of variable length.
pub(super) const fn varint_bytes(value: u64) -> usize {
    let bits = u64::BITS - (value | 1).leading_zeros();
    bits.div_ceil(7) as usize
}

/// True for a header `tracestate` that collectors take. Source: W3C Trace Context, section 3.3.1.
fn is_trace_state(text: &str) -> bool {
    let is_key = |key: &str| {
        let is_part = |it: u8| it.is_ascii_lowercase() || it.is_ascii_digit() || b"_-*/@".contains(&it);
        key.starts_with(|first: char| first.is_ascii_lowercase() || first.is_ascii_digit())
            && key.len() <= 256
            && key.bytes().all(is_part)
    };
    let is_value = |value: &str| {
        !value.is_empty()
            && value.len() <= 256
            && value.bytes().all(|it| matches!(it, 0x20..=0x7e) && it != b'=')
    };
    let mut members = text.split(',').map(str::trim_ascii).filter(|it| !it.is_empty());
    members.clone().count() <= 32
        && members.all(|it| it.split_once('=').is_some_and(|(key, value)| is_key(key) && is_value(value)))
}

#[cfg(all(test, feature = "otlp"))]
mod tests {
    use super::*;
    use opentelemetry_proto::tonic::common::v1::any_value::Value as Any;
    use opentelemetry_proto::tonic::trace::v1::Span;
    use prost::Message;
    use std::time::Instant;
    use weir_engine::span::SpanContext;

    const TRACE: u128 = 0x4bf9_2f35_77b3_4da6_a3ce_929d_0e0e_4736;

    fn head(kind: Kind, parent: Option<u64>, trace_state: Option<&str>) -> SpanHead<'_> {
        let context = SpanContext { trace: TRACE, span: 7, is_sampled: true, is_continued: true };
        let parent = parent.map(|span| SpanContext { span, ..context });
        let took = Duration::from_millis(3);
        SpanHead { context, parent, trace_state, kind, began: Instant::now() - took, took }
    }

    fn write(head: &SpanHead<'_>, rest: impl FnOnce(&mut SpanWriter<'_>)) -> Span {
        let mut bytes = Vec::new();
        rest(&mut SpanWriter::begin(&mut bytes, head));
        Span::decode(&bytes[..]).expect("it is in the form of the protocol")
    }

    #[test]
    fn a_span_is_read_as_it_was_written() {
        let texts = [
            "",
            "a",
            &"ü".repeat(30),
            &"f".repeat(60),
            &"g".repeat(61),
            &"ü".repeat(63),
            &"b".repeat(64),
            &"c".repeat(127),
            &"d".repeat(128),
            &"e".repeat(70_000),
        ];
        let numbers = [0, 1, 127, 128, 16_383, 16_384, i64::MAX, -1, i64::MIN];
        let span = write(&head(Kind::Client, Some(9), Some("vendor=1, other@x=2")), |it| {
            it.name(&["fetch ", "pets"]);
            texts.iter().for_each(|text| it.text(text, text));
            numbers.iter().for_each(|&number| it.number("number", number));
        });
        assert_eq!(span.trace_id, TRACE.to_be_bytes());
        assert_eq!(
            (span.span_id, span.parent_span_id),
            (7_u64.to_be_bytes().into(), 9_u64.to_be_bytes().into())
        );
        assert_eq!((span.name.as_str(), span.kind, span.flags), ("fetch pets", 3, 0x101));
        assert_eq!(span.trace_state, "vendor=1, other@x=2");
        assert_eq!(span.end_time_unix_nano - span.start_time_unix_nano, 3_000_000);
        let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("it is after 1970").as_nanos();
        assert!(now.abs_diff(span.end_time_unix_nano.into()) < 60_000_000_000, "{}", span.end_time_unix_nano);
        let values = span.attributes.into_iter().map(|it| (it.key, it.value.and_then(|it| it.value)));
        let expected_texts =
            texts.iter().map(|it| ((*it).to_owned(), Some(Any::StringValue((*it).to_owned()))));
        let expected_numbers = numbers.iter().map(|it| ("number".to_owned(), Some(Any::IntValue(*it))));
        assert_eq!(values.collect::<Vec<_>>(), expected_texts.chain(expected_numbers).collect::<Vec<_>>());
        assert_eq!(span.status, None);
    }

    #[test]
    fn a_failed_span_of_a_remote_parent_says_both() {
        let span = write(&head(Kind::Server, Some(9), None), |it| it.fail("LOST"));
        let status = span.status.expect("it failed");
        assert_eq!((status.code, status.message.as_str(), span.flags, span.kind), (2, "", 0x301, 2));
        assert_eq!(span.attributes[0].key, "error.type");
        let alone = write(&head(Kind::Internal, None, None), |_| {});
        assert_eq!((alone.parent_span_id.len(), alone.flags, alone.kind), (0, 0x101, 1));
    }

    #[test]
    fn a_state_that_is_none_is_left_out() {
        let many = ["a=1"; 33].join(",");
        for wrong in
            ["a", "=1", "a=1=2", "A=1", "a=ü", "a=1,b", "@a=1", &many, &format!("a={}", "1".repeat(257))]
        {
            let span = write(&head(Kind::Server, None, Some(wrong)), |_| {});
            assert_eq!(span.trace_state, "", "{wrong}");
        }
    }
}
