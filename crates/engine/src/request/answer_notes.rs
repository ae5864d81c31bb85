//! Notes of sources about the answer to one request, beside its bytes: cookies and headers for the client, how handlers refused, and
//! whether the answer can change any more.
//!
//! **Cost:** a request without notes takes one lock when its answer leaves, and no memory.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Maximum number of cookies of one answer.
const COOKIES_MAX: usize = 100;

/// Maximum number of headers of one answer, before they are merged.
const HEADERS_MAX: usize = 100;

/// Maximum size of the headers of one answer, names and values together, in bytes.
const HEADER_BYTES_MAX: usize = 16 * 1024;

/// Maximum number of refusals that are noted; they are looked up by their messages.
const REFUSALS_MAX: usize = 100;

/// Notes of one request.
#[derive(Debug, Default)]
pub struct AnswerNotes(Mutex<Noted>);

#[derive(Debug, Default)]
struct Noted {
    cookies: Vec<Box<[u8]>>,
    headers: Vec<ForwardedHeader>,
    header_bytes: usize,
    refusals: Vec<HandlerRefusal>,
    is_final: bool,
}

/// A header of a service's answer that goes to the client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForwardedHeader {
    /// Name, in lower case.
    pub name: Box<str>,
    /// Value.
    pub value: Box<[u8]>,
    /// Rule for several values.
    pub merge: HeaderMerge,
    /// Position of the field in the operation that caused the call: values are merged in this order, whichever came first.
    pub place: u64,
}

/// Rules for a header that several answers have, or one several times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeaderMerge {
    /// Each value is a header of its own.
    Append,
    /// The first value.
    First,
    /// The last value.
    Last,
    /// One header with all values, separated by commas.
    Join,
}

/// A field that the handler of its service refused, for endpoints that answer with a status.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HandlerRefusal {
    /// Message of the field's error.
    pub message: Box<str>,
    /// Status of the handler's answer, 400 to 499.
    pub status: u16,
    /// Code in the handler's answer.
    pub code: Option<Box<str>>,
    /// JSON that the handler gave as `extensions`.
    pub extensions: Option<Box<str>>,
}

impl AnswerNotes {
    fn lock(&self) -> MutexGuard<'_, Noted> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds the value of a `Set-Cookie` header. Values beyond `COOKIES_MAX` are dropped.
    pub fn add_cookie(&self, value: &[u8]) {
        let mut noted = self.lock();
        if noted.cookies.len() < COOKIES_MAX {
            noted.cookies.push(value.into());
        }
    }

    /// Adds a header. Those beyond `HEADERS_MAX` or `HEADER_BYTES_MAX` are dropped.
    pub fn add_header(&self, header: ForwardedHeader) {
        let mut noted = self.lock();
        let bytes = noted.header_bytes + header.name.len() + header.value.len();
        if noted.headers.len() < HEADERS_MAX && bytes <= HEADER_BYTES_MAX {
            noted.header_bytes = bytes;
            noted.headers.push(header);
        }
    }

    /// Takes all headers as names with values, merged; cookies are the first.
    pub fn take_headers(&self) -> Vec<(Box<str>, Vec<u8>)> {
        let mut noted = self.lock();
        let cookies = std::mem::take(&mut noted.cookies);
        let mut headers = std::mem::take(&mut noted.headers);
        drop(noted);
        headers.sort_by_key(|it| it.place);
        let cookie = |value: Box<[u8]>| ("set-cookie".into(), value.into_vec());
        let mut merged: Vec<(Box<str>, Vec<u8>)> = cookies.into_iter().map(cookie).collect();
        for ForwardedHeader { name, value, merge, .. } in headers {
            let known = merged.iter_mut().find(|it| it.0 == name);
            match (merge, known) {
                (HeaderMerge::Append, _) | (_, None) => merged.push((name, value.into_vec())),
                (HeaderMerge::First, Some(_)) => {}
                (HeaderMerge::Last, Some(known)) => known.1 = value.into_vec(),
                (HeaderMerge::Join, Some(known)) => {
                    known.1.extend_from_slice(b", ");
                    known.1.extend_from_slice(&value);
                }
            }
        }
        merged
    }

    /// Adds a refusal. Those beyond `REFUSALS_MAX` are dropped.
    pub fn add_refusal(&self, refusal: HandlerRefusal) {
        let mut noted = self.lock();
        if noted.refusals.len() < REFUSALS_MAX {
            noted.refusals.push(refusal);
        }
    }

    /// Notes that what the root fields of the source show never changes any more: a subscription ends with it.
    pub fn set_final(&self) {
        self.lock().is_final = true;
    }

    /// True after [`Self::set_final`].
    pub fn is_final(&self) -> bool {
        self.lock().is_final
    }

    /// The first refusal with this message.
    pub fn find_refusal(&self, message: &str) -> Option<HandlerRefusal> {
        self.lock().refusals.iter().find(|it| &*it.message == message).cloned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(merge: HeaderMerge, expected: &[&str]) {
        let notes = AnswerNotes::default();
        for (place, value) in [(2, "c"), (0, "a"), (1, "b")] {
            notes.add_header(ForwardedHeader {
                name: "x-seen".into(),
                value: value.as_bytes().into(),
                merge,
                place,
            });
        }
        let merged = notes.take_headers();
        let values: Vec<_> = merged.iter().map(|it| String::from_utf8_lossy(&it.1)).collect();
        assert_eq!(values, expected, "{merge:?}");
        assert_eq!(notes.take_headers(), []);
    }

    #[test]
    fn headers_are_merged_in_the_order_of_the_fields() {
        check(HeaderMerge::Append, &["a", "b", "c"]);
        check(HeaderMerge::First, &["a"]);
        check(HeaderMerge::Last, &["c"]);
        check(HeaderMerge::Join, &["a, b, c"]);
    }

    #[test]
    fn headers_beyond_the_limits_are_dropped() {
        let add = |notes: &AnswerNotes, bytes: usize| {
            let value = vec![b'a'; bytes].into();
            notes.add_header(ForwardedHeader {
                name: "a".into(),
                value,
                merge: HeaderMerge::Append,
                place: 0,
            });
        };
        let many = AnswerNotes::default();
        (0..HEADERS_MAX + 5).for_each(|_| add(&many, 1));
        assert_eq!(many.take_headers().len(), HEADERS_MAX);
        let long = AnswerNotes::default();
        add(&long, HEADER_BYTES_MAX);
        add(&long, HEADER_BYTES_MAX - 1);
        add(&long, 1);
        assert_eq!(long.take_headers().len(), 1);
    }
}
