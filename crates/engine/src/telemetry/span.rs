//! Spans of distributed traces, as far as an engine and its sources pass them on.
//!
//! Source: W3C Trace Context, sections 3.2 and 3.3.

use std::fmt::Write;

/// The header of the values that tracing systems keep for a trace.
pub const TRACE_STATE: &str = "tracestate";

/// The header of values that clients give to all that work for a request. Source: W3C Baggage, section 3.
pub const BAGGAGE: &str = "baggage";

/// Place of a span in a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpanContext {
    /// Number of the trace; not 0.
    pub trace: u128,
    /// Number of the span; not 0.
    pub span: u64,
    /// True if the trace is recorded.
    pub is_sampled: bool,
    /// True if the trace began before this process, whose client's `tracestate` belongs to it.
    pub is_continued: bool,
}

impl SpanContext {
    /// Bytes of [`Self::traceparent`].
    pub const TEXT_BYTES: usize = 55;

    /// Reads the header `traceparent` of a client. `None` if it is none that may be taken over.
    pub fn read(header: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(header).ok()?.trim_ascii();
        let mut parts = text.split('-');
        let mut part = |digits: usize| {
            let part = parts.next()?;
            let is_hex = part.bytes().all(|it| matches!(it, b'0'..=b'9' | b'a'..=b'f'));
            (part.len() == digits && is_hex).then_some(part)
        };
        let version = part(2)?;
        let trace = part(32)?;
        let span = part(16)?;
        let flags = part(2)?;
        let may_follow = version != "00" && version != "ff";
        if version == "ff" || parts.next().is_some() && !may_follow {
            return None;
        }
        let read = Self {
            trace: u128::from_str_radix(trace, 16).ok()?,
            span: u64::from_str_radix(span, 16).ok()?,
            is_sampled: u8::from_str_radix(flags, 16).ok()? & 1 == 1,
            is_continued: true,
        };
        (read.trace != 0 && read.span != 0).then_some(read)
    }

    /// The header `traceparent` for those who are called within the span.
    pub fn traceparent(&self) -> String {
        let mut text = String::with_capacity(Self::TEXT_BYTES);
        let flags = u8::from(self.is_sampled);
        // Writing to a string cannot fail.
        let _ = write!(text, "00-{:032x}-{:016x}-{flags:02x}", self.trace, self.span);
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SENT: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

    fn check(header: &str, expected: Option<(u64, bool)>) {
        let read = SpanContext::read(header.as_bytes());
        assert_eq!(read.map(|it| (it.span, it.is_sampled)), expected, "{header}");
    }

    #[test]
    fn a_header_is_read_and_written() {
        let read = SpanContext::read(SENT.as_bytes()).expect("it is right");
        assert_eq!(read.trace, 0x4bf9_2f35_77b3_4da6_a3ce_929d_0e0e_4736);
        assert_eq!((read.traceparent().as_str(), SENT.len()), (SENT, SpanContext::TEXT_BYTES));
        let unsampled = SpanContext { trace: 1, span: 2, is_sampled: false, is_continued: false };
        assert_eq!(unsampled.traceparent(), "00-00000000000000000000000000000001-0000000000000002-00");
    }

    #[test]
    fn what_is_not_in_the_form_is_no_parent() {
        let span = 0x00f0_67aa_0ba9_02b7;
        check(SENT, Some((span, true)));
        check(&SENT.replace("-01", "-02"), Some((span, false)));
        check(&SENT.replace("-01", "-ff"), Some((span, true)));
        // A later version may have more behind it.
        check(&format!("{}-more", SENT.replacen("00-", "cc-", 1)), Some((span, true)));
        check(&format!("{SENT}-more"), None);
        check(&SENT.replacen("00-", "ff-", 1), None);
        check(&SENT.to_uppercase(), None);
        check(&SENT.replace("4bf92f3577b34da6a3ce929d0e0e4736", &"0".repeat(32)), None);
        check(&SENT.replace("00f067aa0ba902b7", &"0".repeat(16)), None);
        check(&SENT[..54], None);
        for wrong in ["", "-", "00", "00-+bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", "ü"] {
            check(wrong, None);
        }
    }
}
