//! Media types: the one of an answer by `Accept`, and the one of a request's body.
//!
//! **Cost:** usual headers are compared as a whole; lists are read once, in linear time.
//! Sources: RFC 9110, section 12.5; GraphQL over HTTP, section 5.

use http::StatusCode;
use http::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use std::cmp::Ordering;
use weir_engine::engine::IncrementForm;

/// The media types of GraphQL answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Media {
    /// `application/json`: status 200 for every well-formed request.
    Json,
    /// `application/graphql-response+json`: the status says whether the request was executed.
    GraphqlResponse,
}

impl Media {
    /// The header's value.
    pub const fn content_type(self) -> &'static str {
        match self {
            Self::Json => "application/json; charset=utf-8",
            Self::GraphqlResponse => "application/graphql-response+json; charset=utf-8",
        }
    }
    /// The status of a request that was not executed.
    pub const fn refused_status(self) -> StatusCode {
        match self {
            Self::Json => StatusCode::OK,
            Self::GraphqlResponse => StatusCode::BAD_REQUEST,
        }
    }
    const fn essence(self) -> &'static str {
        match self {
            Self::Json => "application/json",
            Self::GraphqlResponse => "application/graphql-response+json",
        }
    }
}

/// Chooses by `Accept`; `None` if neither type is acceptable. With equal weights, a type named explicitly wins over one matched by
/// a wildcard, and the first of two named types wins; a wildcard that matches both means JSON.
pub fn media(headers: &HeaderMap) -> Option<Media> {
    let Some(only) = headers.get(ACCEPT) else { return Some(Media::Json) };
    match only.as_bytes() {
        b"*/*" | b"application/json" => return Some(Media::Json),
        b"application/graphql-response+json" => return Some(Media::GraphqlResponse),
        _ => {}
    }
    let mut best = [(0u8, 0u16, 0usize); 2];
    for (order, item) in items(headers, &ACCEPT).enumerate() {
        for (place, media) in [Media::Json, Media::GraphqlResponse].into_iter().enumerate() {
            let precision = match item.name {
                name if name.eq_ignore_ascii_case(media.essence()) => 3,
                name if name.eq_ignore_ascii_case("application/*") => 2,
                "*/*" => 1,
                _ => continue,
            };
            // The most precise range that fits decides, however low its weight.
            if precision > best[place].0 {
                best[place] = (precision, item.weight, order);
            }
        }
    }
    let [(json_precision, json, json_order), (telling_precision, telling, telling_order)] = best;
    let is_telling = match json.cmp(&telling) {
        // Clients that accept an answer in parts also accept a whole answer.
        _ if (json, telling) == (0, 0) => return accepts(headers, "multipart/mixed").then_some(Media::Json),
        Ordering::Less => true,
        Ordering::Equal if json_precision == 3 && telling_precision == 3 => telling_order < json_order,
        Ordering::Equal => telling_precision == 3,
        Ordering::Greater => false,
    };
    Some(if is_telling { Media::GraphqlResponse } else { Media::Json })
}

/// Forms of a stream of results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StreamForm {
    /// `text/event-stream`.
    Events,
    /// `multipart/mixed` with `subscriptionSpec=1.0`.
    Multipart,
    /// `multipart/mixed` with one answer in parts.
    Parts(IncrementSpec),
}

/// The shape of an answer in parts, as a client names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IncrementSpec {
    /// `deferSpec=20220824`.
    Defer2022,
    /// `incrementalSpec=v0.1`, the same shape.
    V01,
    /// `incrementalSpec=v0.2`.
    V02,
    /// Nothing: the oldest shape, which all clients read.
    Unnamed,
}

impl IncrementSpec {
    /// Reads the parameters of a media type; `None` if they name another protocol.
    fn of<'p>(parameters: impl Iterator<Item = &'p str>) -> Option<Self> {
        let mut found = Self::Unnamed;
        for parameter in parameters {
            let Some((name, value)) = parameter.split_once('=') else { continue };
            let name = name.trim();
            let value = value.trim().trim_matches('"');
            let is = |it: &str| name.eq_ignore_ascii_case(it);
            found = match value {
                _ if is("subscriptionSpec") => return None,
                "20220824" if is("deferSpec") => Self::Defer2022,
                "v0.1" if is("incrementalSpec") => Self::V01,
                "v0.2" if is("incrementalSpec") => Self::V02,
                _ if is("deferSpec") || is("incrementalSpec") => return None,
                _ => found,
            };
        }
        Some(found)
    }

    /// The shape of the parts.
    pub const fn form(self) -> IncrementForm {
        match self {
            Self::V02 => IncrementForm::Ids,
            Self::Defer2022 | Self::V01 | Self::Unnamed => IncrementForm::Paths,
        }
    }
}

/// Form in which the client accepts an answer in parts: multipart if it accepts both, else events; `None` if it accepts neither.
pub fn increments(headers: &HeaderMap) -> Option<(IncrementForm, StreamForm)> {
    let only = headers.get(ACCEPT)?.as_bytes();
    if matches!(only, b"*/*" | b"application/json" | b"application/graphql-response+json") {
        return None;
    }
    let lines = || headers.get_all(ACCEPT).into_iter().filter_map(|it| it.to_str().ok());
    let spec = |media: &str| {
        lines().flat_map(|it| it.split(',')).find_map(|item| {
            let mut parts = item.split(';').map(str::trim);
            let is_named = parts.next().is_some_and(|it| it.eq_ignore_ascii_case(media));
            IncrementSpec::of(parts).filter(|_| is_named)
        })
    };
    let parts = spec("multipart/mixed").filter(|_| accepts(headers, "multipart/mixed"));
    let parts = parts.map(|it| (it.form(), StreamForm::Parts(it)));
    parts.or_else(|| {
        let events = spec("text/event-stream").filter(|_| accepts(headers, "text/event-stream"))?;
        Some((events.form(), StreamForm::Events))
    })
}

/// Form in which the client accepts several results; events if it accepts both, `None` if neither.
pub fn stream(headers: &HeaderMap) -> Option<StreamForm> {
    let only = headers.get(ACCEPT)?.as_bytes();
    if matches!(only, b"*/*" | b"application/json" | b"application/graphql-response+json") {
        return None;
    }
    if accepts(headers, "text/event-stream") {
        return Some(StreamForm::Events);
    }
    let lines = headers.get_all(ACCEPT).into_iter().filter_map(|it| it.to_str().ok());
    let is_part = |item: &str| {
        let mut parts = item.split(';').map(str::trim);
        let is_mixed = parts.next().is_some_and(|it| it.eq_ignore_ascii_case("multipart/mixed"));
        is_mixed && parts.any(|it| it.replace('"', "").eq_ignore_ascii_case("subscriptionSpec=1.0"))
    };
    lines.flat_map(|it| it.split(',')).any(is_part).then_some(StreamForm::Multipart)
}

/// True if the client takes events and no JSON.
pub fn wants_events(headers: &HeaderMap) -> bool {
    media(headers).is_none() && accepts(headers, "text/event-stream")
}

/// True if `Accept` names OpenMetrics 1.0, and plain text with no greater weight.
pub fn wants_openmetrics(headers: &HeaderMap) -> bool {
    let is_readable = |item: &&str| {
        let mut parts = item.split(';').map(str::trim);
        let is_named = parts.next().is_some_and(|it| it.eq_ignore_ascii_case(OPENMETRICS));
        is_named
            && parts.filter_map(|it| it.strip_prefix("version=")).all(|it| it.trim_matches('"') == "1.0.0")
    };
    let lines = headers.get_all(ACCEPT).into_iter().filter_map(|it| it.to_str().ok());
    let wanted = lines.flat_map(|it| it.split(',')).filter(is_readable).map(weight).max().unwrap_or(0);
    let plain = items(headers, &ACCEPT).filter(|it| it.name.eq_ignore_ascii_case("text/plain"));
    wanted > 0 && plain.map(|it| it.weight).max().unwrap_or(0) <= wanted
}

/// The media type of OpenMetrics.
const OPENMETRICS: &str = "application/openmetrics-text";

/// True if `Accept` names `media` with a weight above zero.
fn accepts(headers: &HeaderMap, media: &str) -> bool {
    items(headers, &ACCEPT).any(|it| it.weight > 0 && it.name.eq_ignore_ascii_case(media))
}

/// True if the headers claim a body of JSON in UTF-8.
pub fn is_json(headers: &HeaderMap) -> bool {
    let value = headers.get(CONTENT_TYPE).map(HeaderValue::as_bytes);
    match value {
        Some(b"application/json" | b"application/json; charset=utf-8") => true,
        Some(_) => is_in_utf_8(headers, "application/json"),
        None => false,
    }
}

/// True if the headers claim a body that is an operation in UTF-8.
pub fn is_graphql(headers: &HeaderMap) -> bool {
    is_in_utf_8(headers, "application/graphql")
}

/// True if the headers claim a form with files.
pub fn is_form(headers: &HeaderMap) -> bool {
    let value = headers.get(CONTENT_TYPE).and_then(|it| it.to_str().ok()).unwrap_or_default();
    value.split(';').next().is_some_and(|it| it.trim().eq_ignore_ascii_case("multipart/form-data"))
}

fn is_in_utf_8(headers: &HeaderMap, media: &str) -> bool {
    let Some(Ok(value)) = headers.get(CONTENT_TYPE).map(HeaderValue::to_str) else { return false };
    let mut parts = value.split(';').map(str::trim);
    if !parts.next().is_some_and(|it| it.eq_ignore_ascii_case(media)) {
        return false;
    }
    parts.all(|parameter| match parameter.split_once('=') {
        Some((name, value)) if name.trim().eq_ignore_ascii_case("charset") => {
            let value = value.trim().trim_matches('"');
            value.eq_ignore_ascii_case("utf-8") || value.eq_ignore_ascii_case("utf8")
        }
        Some(_) | None => true,
    })
}

/// One member of a header list: its name and its weight in thousandths.
pub struct Item<'h> {
    /// The name, without parameters.
    pub name: &'h str,
    /// `1000` for a weight of 1.
    pub weight: u16,
}

/// The members of a header list that has weights.
pub fn items<'h>(headers: &'h HeaderMap, name: &HeaderName) -> impl Iterator<Item = Item<'h>> {
    let values = headers.get_all(name).into_iter().filter_map(|it| it.to_str().ok());
    values.flat_map(|it| it.split(',')).filter_map(|item| {
        let name = item.split(';').map(str::trim).next().filter(|it| !it.is_empty())?;
        Some(Item { name, weight: weight(item) })
    })
}

/// The weight of a member of a header list, in thousandths.
fn weight(item: &str) -> u16 {
    let mut parameters = item.split(';').skip(1).map(str::trim);
    let weight = parameters.find_map(|it| it.strip_prefix("q=").or_else(|| it.strip_prefix("Q=")));
    weight.map_or(1000, thousandths)
}

/// Parses `0.5` as 500; an invalid weight counts as 0.
fn thousandths(weight: &str) -> u16 {
    match weight.parse::<f32>() {
        Ok(it) if (0.0..=1.0).contains(&it) => (it * 1000.0).round() as u16,
        Ok(_) | Err(_) => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(name: HeaderName, value: &str) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(name, HeaderValue::from_str(value).expect("a test's header is valid"));
        headers
    }

    #[test]
    fn accept_decides_the_media_type() {
        fn check(accept: &str, expected: Option<Media>) {
            assert_eq!(media(&with(ACCEPT, accept)), expected, "{accept}");
        }
        assert_eq!(media(&HeaderMap::new()), Some(Media::Json));
        check("*/*", Some(Media::Json));
        check("application/*", Some(Media::Json));
        check("Application/JSON; charset=utf-8", Some(Media::Json));
        check(
            "application/graphql-response+json; charset=utf-8, application/json;q=0.9",
            Some(Media::GraphqlResponse),
        );
        check("application/json, application/graphql-response+json", Some(Media::Json));
        check("application/graphql-response+json, application/json", Some(Media::GraphqlResponse));
        check("application/json;q=0.5, application/graphql-response+json;q=0.5", Some(Media::Json));
        check("application/json;q=0.5, application/graphql-response+json", Some(Media::GraphqlResponse));
        check("*/*, application/graphql-response+json", Some(Media::GraphqlResponse));
        check("application/graphql-response+json, */*", Some(Media::GraphqlResponse));
        check("application/*, application/json", Some(Media::Json));
        check("application/graphql-response+json;q=0.1, application/json;q=0.2", Some(Media::Json));
        check("application/json;q=0, */*", Some(Media::GraphqlResponse));
        check("application/graphql-response+json;q=0, application/json", Some(Media::Json));
        check("text/html,application/xhtml+xml,*/*;q=0.8", Some(Media::Json));
        check("multipart/mixed;subscriptionSpec=1.0, application/json", Some(Media::Json));
        check("multipart/mixed; deferSpec=20220824", Some(Media::Json));
        check("multipart/mixed;q=0", None);
        check("text/event-stream", None);
        check("image/png", None);
        check("application/json;q=0", None);
        check("application/json;q=nonsense", None);
        check(&"x/y;q=0.5,".repeat(800), None);
    }

    #[test]
    fn openmetrics_is_for_who_asks() {
        let check = |accept: &str, expected: bool| {
            assert_eq!(wants_openmetrics(&with(ACCEPT, accept)), expected, "{accept}");
        };
        assert!(!wants_openmetrics(&HeaderMap::new()));
        check("*/*", false);
        check("text/plain", false);
        check("application/openmetrics-text", true);
        check("Application/OpenMetrics-Text; version=1.0.0; charset=utf-8", true);
        check("application/openmetrics-text;version=0.0.1", false);
        check("application/openmetrics-text;q=0, */*", false);
        check("application/openmetrics-text;q=0.3,text/plain;q=0.8", false);
        check(
            "application/openmetrics-text;version=1.0.0;q=0.5,application/openmetrics-text;version=0.0.1;q=0.4,text/plain;version=0.0.4;q=0.3,*/*;q=0.2",
            true,
        );
    }

    #[test]
    fn parts_come_in_the_shape_that_was_asked_for() {
        use IncrementForm::{Ids, Paths};
        fn check(accept: &str, expected: Option<(IncrementForm, StreamForm)>) {
            assert_eq!(increments(&with(ACCEPT, accept)), expected, "{accept}");
        }
        let parts = |form, spec| Some((form, StreamForm::Parts(spec)));
        check("multipart/mixed;deferSpec=20220824,application/json", parts(Paths, IncrementSpec::Defer2022));
        check("Multipart/Mixed; DeferSpec=\"20220824\"", parts(Paths, IncrementSpec::Defer2022));
        check("multipart/mixed;incrementalSpec=v0.1", parts(Paths, IncrementSpec::V01));
        check("application/json, multipart/mixed;incrementalSpec=v0.2", parts(Ids, IncrementSpec::V02));
        check("application/json, text/event-stream, multipart/mixed", parts(Paths, IncrementSpec::Unnamed));
        check("text/event-stream", Some((Paths, StreamForm::Events)));
        check("text/event-stream;incrementalSpec=v0.2", Some((Ids, StreamForm::Events)));
        check("multipart/mixed;subscriptionSpec=1.0, application/json", None);
        check("multipart/mixed;deferSpec=20300101", None);
        check("multipart/mixed;q=0", None);
        check("application/json", None);
        check("application/json, */*", None);
        assert_eq!(increments(&HeaderMap::new()), None);
    }

    #[test]
    fn only_who_takes_nothing_else_wants_events() {
        for (accept, expected) in [
            ("text/event-stream", true),
            ("Text/Event-Stream; charset=utf-8, image/png", true),
            ("text/event-stream, application/json", false),
            ("text/event-stream, */*;q=0.1", false),
            ("text/event-stream;q=0", false),
            ("image/png", false),
        ] {
            assert_eq!(wants_events(&with(ACCEPT, accept)), expected, "{accept}");
        }
    }

    #[test]
    fn a_body_is_json_in_utf_8_or_refused() {
        fn check(value: &str, expected: bool) {
            assert_eq!(is_json(&with(CONTENT_TYPE, value)), expected, "{value}");
        }
        assert!(!is_json(&HeaderMap::new()));
        check("application/json", true);
        check("Application/JSON;charset=\"UTF-8\"", true);
        check("application/json; charset=latin1", false);
        check("application/json; charset=utf-16", false);
        check("application/graphql", false);
        check("text/plain", false);
        check("application/x-www-form-urlencoded", false);
        check("multipart/form-data; boundary=x", false);
    }
}
