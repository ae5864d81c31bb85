//! The form of an answer, chosen by `Accept`.
//!
//! Sources: RFC 9110, section 12.5; GraphQL over HTTP, section 5.

use http::header::{ACCEPT, HeaderMap};
use std::cmp::Reverse;
use weir_engine::engine::IncrementForm;

/// Forms of answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Accepted {
    /// `application/json`: status 200 for every well-formed request.
    Json,
    /// `application/graphql-response+json`: the status says whether the request was executed.
    GraphqlResponse,
    /// `text/event-stream`: an event per result.
    Events,
}

impl Accepted {
    /// The header's value.
    pub(super) const fn content_type(self) -> &'static str {
        match self {
            Self::Json => "application/json; charset=utf-8",
            Self::GraphqlResponse => "application/graphql-response+json; charset=utf-8",
            Self::Events => "text/event-stream; charset=utf-8",
        }
    }
}

/// A client's form of answers in parts: `multipart/mixed`, and the parameter that names the shape of the parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PartsForm {
    pub(super) form: IncrementForm,
    pub(super) content_type: &'static str,
}

/// Parameters of `multipart/mixed` that name a shape.
const SHAPES: [(&str, PartsForm); 4] = [
    ("", parts(IncrementForm::Paths, "multipart/mixed; boundary=\"-\"")),
    (
        "deferSpec=20220824",
        parts(IncrementForm::Paths, "multipart/mixed; boundary=\"-\"; deferSpec=20220824"),
    ),
    (
        "incrementalSpec=v0.1",
        parts(IncrementForm::Paths, "multipart/mixed; boundary=\"-\"; incrementalSpec=v0.1"),
    ),
    (
        "incrementalSpec=v0.2",
        parts(IncrementForm::Ids, "multipart/mixed; boundary=\"-\"; incrementalSpec=v0.2"),
    ),
];

const fn parts(form: IncrementForm, content_type: &'static str) -> PartsForm {
    PartsForm { form, content_type }
}

/// The last one wins where `Accept` says no more of one than of another.
const FORMS: [(Accepted, &str); 3] = [
    (Accepted::Events, "text/event-stream"),
    (Accepted::GraphqlResponse, "application/graphql-response+json"),
    (Accepted::Json, "application/json"),
];

/// The weight of a range, in thousandths.
fn weight(parameters: &str) -> u16 {
    let quality = parameters.split(';').find_map(|it| it.trim().strip_prefix("q="));
    quality.map_or(1_000, |it| (it.trim().parse::<f32>().unwrap_or(0.0).clamp(0.0, 1.0) * 1_000.0) as u16)
}

/// Precision with which `range` fits `media`: 3 for the media type itself, 2 for `application/*`, 1 for `*/*`.
fn precision(range: &str, media: &str) -> u8 {
    let wide = |it: &str| it.strip_suffix("/*").is_some_and(|kind| media.starts_with(&format!("{kind}/")));
    match range {
        "*/*" => 1,
        range if range == media => 3,
        range if wide(range) => 2,
        _ => 0,
    }
}

/// The ranges of `Accept` with their parameters, in lower case but for the parameters.
fn ranges(headers: &HeaderMap) -> impl Iterator<Item = (String, &str)> {
    let lines = headers.get_all(ACCEPT).into_iter().filter_map(|it| it.to_str().ok());
    lines.flat_map(|it| it.split(',')).map(|item| {
        let (range, parameters) = item.split_once(';').unwrap_or((item, ""));
        (range.trim().to_ascii_lowercase(), parameters)
    })
}

/// The form in which the client takes an answer in parts; `None`: it takes none.
pub(super) fn increments(headers: &HeaderMap) -> Option<PartsForm> {
    let mut named = ranges(headers).filter(|it| it.0 == "multipart/mixed" && weight(it.1) > 0);
    named.find_map(|(_, parameters)| {
        let all = parameters.split(';').map(|it| it.trim().replace('"', ""));
        let shape = all.filter(|it| it.contains("Spec=")).collect::<Vec<_>>().join(";");
        SHAPES.iter().find(|it| it.0 == shape).map(|it| it.1)
    })
}

/// The form that the client weighs most; without a wish JSON, `None` if it takes none. The most precise range decides on a form.
pub(super) fn accepted(headers: &HeaderMap) -> Option<Accepted> {
    if !headers.contains_key(ACCEPT) {
        return Some(Accepted::Json);
    }
    let mut found = [Wish::default(); FORMS.len()];
    for (order, (range, parameters)) in ranges(headers).enumerate() {
        let weight = weight(parameters);
        for (found, (_, media)) in found.iter_mut().zip(FORMS) {
            let precision = precision(&range, media);
            if precision > found.precision {
                *found = Wish { precision, weight, order };
            }
        }
    }
    // By weight, then what is named, then whole answers by the client's order.
    let rank = |(wish, (form, _)): &(Wish, (Accepted, &str))| {
        let is_named = wish.precision == 3;
        let order = if is_named { wish.order } else { 0 };
        (wish.weight, is_named, *form != Accepted::Events, Reverse(order))
    };
    match found.into_iter().zip(FORMS).filter(|it| it.0.weight > 0).max_by_key(rank) {
        Some((_, (form, _))) => Some(form),
        // Clients that read an answer in parts read one that is whole, too.
        None => increments(headers).map(|_| Accepted::Json),
    }
}

/// A client's wish for a form.
#[derive(Clone, Copy, Default)]
struct Wish {
    precision: u8,
    weight: u16,
    /// Place of its range in the header.
    order: usize,
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderValue;

    fn check(accept: &'static str, expected: Option<Accepted>) {
        let mut headers = HeaderMap::new();
        headers.insert(ACCEPT, HeaderValue::from_static(accept));
        assert_eq!(accepted(&headers), expected, "{accept}");
    }

    #[test]
    fn the_most_precise_range_with_the_highest_weight_decides() {
        check("*/*", Some(Accepted::Json));
        check("application/*", Some(Accepted::Json));
        check("application/json", Some(Accepted::Json));
        check("application/graphql-response+json, application/json;q=0.9", Some(Accepted::GraphqlResponse));
        check("application/json, application/graphql-response+json", Some(Accepted::Json));
        check("application/graphql-response+json, application/json", Some(Accepted::GraphqlResponse));
        check("*/*, application/graphql-response+json", Some(Accepted::GraphqlResponse));
        check("text/event-stream, application/json", Some(Accepted::Json));
        check("application/graphql-response+json;q=0.5, application/json", Some(Accepted::Json));
        check("text/event-stream", Some(Accepted::Events));
        check("text/event-stream;q=0, */*", Some(Accepted::Json));
        check("application/json, text/event-stream", Some(Accepted::Json));
        check("text/html", None);
        check("application/json;q=0", None);
        check("multipart/mixed", Some(Accepted::Json));
    }

    #[test]
    fn parts_are_named_by_their_shape() {
        let check = |accept: &'static str, expected: Option<IncrementForm>| {
            let mut headers = HeaderMap::new();
            headers.insert(ACCEPT, HeaderValue::from_static(accept));
            assert_eq!(increments(&headers).map(|it| it.form), expected, "{accept}");
        };
        check("multipart/mixed;deferSpec=20220824, application/json", Some(IncrementForm::Paths));
        check("multipart/mixed; incrementalSpec=\"v0.2\"", Some(IncrementForm::Ids));
        check("multipart/mixed", Some(IncrementForm::Paths));
        check("multipart/mixed;subscriptionSpec=1.0", None);
        check("multipart/mixed;q=0", None);
        check("*/*", None);
    }

    #[test]
    fn without_the_header_the_answer_is_json() {
        assert_eq!(accepted(&HeaderMap::new()), Some(Accepted::Json));
    }
}
