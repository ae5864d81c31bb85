//! Validators of a cached answer: by them its service says that it is still valid, without sending it again.
//!
//! Beside them stand the headers that decide the lifetime, for services whose confirmation leaves them out.
//!
//! Source: RFC 9110 (8.8, 13.1, 15.4.5), RFC 9111 (4.3).

use super::answer_headers::AnswerHeaders;
use crate::cache::rule::Rule;
use http::header::{
    CACHE_CONTROL, DATE, ETAG, EXPIRES, HeaderName, IF_MODIFIED_SINCE, IF_NONE_MATCH, LAST_MODIFIED, VARY,
};
use http::{HeaderMap, HeaderValue};
use weir_engine::source::Headers;

/// Longest validator, in bytes.
const VALIDATOR_BYTES_MAX: usize = 1024;

const CDN_CACHE_CONTROL: HeaderName = HeaderName::from_static("cdn-cache-control");

/// `ETag` or `Last-Modified`, and the headers that decide about the answer's lifetime and audience.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Validators(AnswerHeaders);

impl Validators {
    /// The validators of an answer with `headers`; `None` if it has no usable one.
    pub(crate) fn of(headers: &HeaderMap, rule: &Rule) -> Option<Self> {
        let (name, value) = condition(|name| headers.get(name).cloned())?;
        if name == IF_MODIFIED_SINCE && may_change_unseen(&value, headers) {
            return None;
        }
        let mut names = vec![ETAG, LAST_MODIFIED, CACHE_CONTROL, CDN_CACHE_CONTROL, EXPIRES, VARY];
        names.extend(rule.cache_control.iter().filter(|it| !names.contains(it)).cloned().collect::<Vec<_>>());
        Some(Self(AnswerHeaders::of(headers, &names)))
    }

    /// The header of a request that is answered with 304 if the answer is still valid.
    pub fn condition(&self) -> Option<(HeaderName, HeaderValue)> {
        condition(|name| {
            let mut found = None;
            self.0.each(name.as_str(), &mut |it| {
                found = found.take().or_else(|| HeaderValue::from_bytes(it).ok());
            });
            found
        })
    }

    /// All headers, as they are kept.
    pub(crate) const fn headers(&self) -> &AnswerHeaders {
        &self.0
    }

    /// Headers that were [`Self::headers`]; `None` if there are none.
    #[cfg(feature = "redis")]
    pub(crate) fn from_headers(headers: AnswerHeaders) -> Option<Self> {
        (headers.count() > 0).then_some(Self(headers))
    }
}

/// The condition by the validator that `find` finds: an entity tag if there is one, else a date.
fn condition(find: impl Fn(&HeaderName) -> Option<HeaderValue>) -> Option<(HeaderName, HeaderValue)> {
    let fits = |it: &HeaderValue| it.len() <= VALIDATOR_BYTES_MAX;
    let tag = find(&ETAG).filter(|it| fits(it) && is_entity_tag(it.as_bytes()));
    let date = || {
        find(&LAST_MODIFIED).filter(|it| it.to_str().is_ok_and(|it| httpdate::parse_http_date(it).is_ok()))
    };
    tag.map(|it| (IF_NONE_MATCH, it)).or_else(|| date().map(|it| (IF_MODIFIED_SINCE, it)))
}

/// True if what was last modified at `modified` was sent within the same second: a date cannot tell a later change within that second.
///
/// Source: RFC 9110, section 8.8.2.2.
fn may_change_unseen(modified: &HeaderValue, headers: &HeaderMap) -> bool {
    let read = |it: &HeaderValue| httpdate::parse_http_date(it.to_str().ok()?).ok();
    let sent = headers.get(DATE).and_then(read);
    read(modified).zip(sent).is_some_and(|(modified, sent)| sent <= modified)
}

/// True for `"a"` and `W/"a"`.
fn is_entity_tag(value: &[u8]) -> bool {
    let opaque = value.strip_prefix(b"W/").unwrap_or(value);
    let inner = opaque.strip_prefix(b"\"").and_then(|it| it.strip_suffix(b"\""));
    inner.is_some_and(|it| it.iter().all(|byte| *byte > b' ' && *byte != b'"' && *byte != 0x7f))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cache::tests::kit::Kit;

    fn check(headers: &[(&'static str, &'static str)], expected: Option<(&str, &str)>) {
        let all = headers
            .iter()
            .map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value)));
        let validators = Validators::of(&all.collect(), &Kit::new().rule);
        let condition = validators.and_then(|it| it.condition());
        let condition = condition.as_ref().map(|it| (it.0.as_str(), it.1.to_str().unwrap()));
        assert_eq!(condition, expected, "{headers:?}");
    }

    #[test]
    fn a_tag_comes_before_a_date_and_must_be_one() {
        const DATE: &str = "Tue, 01 Dec 2026 16:00:00 GMT";
        check(&[("etag", "\"a\""), ("last-modified", DATE)], Some(("if-none-match", "\"a\"")));
        check(&[("etag", "W/\"a\"")], Some(("if-none-match", "W/\"a\"")));
        check(&[("etag", "\"\"")], Some(("if-none-match", "\"\"")));
        check(&[("last-modified", DATE)], Some(("if-modified-since", DATE)));
        for tag in ["a", "\"a", "\"", "*", "\"a\", \"b\"", "W/a", ""] {
            check(&[("etag", tag)], None);
            check(&[("etag", tag), ("last-modified", DATE)], Some(("if-modified-since", DATE)));
        }
        check(&[("last-modified", "yesterday")], None);
        check(&[("last-modified", DATE), ("date", DATE)], None);
        check(
            &[("last-modified", DATE), ("date", "Tue, 01 Dec 2026 16:00:01 GMT")],
            Some(("if-modified-since", DATE)),
        );
        check(
            &[("etag", "\"a\""), ("last-modified", DATE), ("date", DATE)],
            Some(("if-none-match", "\"a\"")),
        );
        check(&[("cache-control", "max-age=1")], None);
    }
}
