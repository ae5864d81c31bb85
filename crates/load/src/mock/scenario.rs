//! A scenario: which services there are, what they answer, how long they take, how often they fail.
//!
//! **Invariant:** a scenario that was read can be served; every mistake in its text is reported with line, column and a fix.

use super::body_template::{Names, Template, Words};
use super::latency::{Failures, LatencyModel, Status};
use super::scenario_names::Name;
use crate::notation::expression::mix;
use crate::notation::yaml;
use crate::notation::yaml::{Mistake, Pairs, Span, Tree, header_name, range, unknown_name};
use http::{HeaderName, Method};
use serde::Deserialize;
use serde_saphyr::Spanned;
use std::ops::RangeInclusive;
use std::time::Duration;

/// The YAML of a scenario.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Text {
    #[serde(default)]
    seed: u64,
    #[serde(default)]
    version: Option<Span>,
    #[serde(default)]
    latency: LatencyModel,
    #[serde(default)]
    errors: Option<Failures>,
    #[serde(default)]
    headers: Pairs<Spanned<String>>,
    #[serde(default)]
    objects: Pairs<Spanned<Tree>>,
    endpoints: Pairs<EndpointText>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct EndpointText {
    #[serde(default)]
    latency: Option<LatencyModel>,
    #[serde(default)]
    errors: Option<Failures>,
    #[serde(default)]
    headers: Pairs<Spanned<String>>,
    #[serde(default)]
    status: Option<Status>,
    #[serde(default)]
    known: Option<Spanned<String>>,
    #[serde(default)]
    body: Option<Spanned<Tree>>,
}

/// The endpoints and data of a mock.
#[derive(Debug)]
pub struct Scenario {
    pub(crate) seed: u64,
    /// Lifetime of a version of the data; without the key unlimited.
    pub(crate) version: Option<Duration>,
    pub(crate) objects: Vec<Template>,
    pub(crate) endpoints: Vec<Endpoint>,
}

/// One service's endpoint.
#[derive(Debug)]
pub(crate) struct Endpoint {
    /// `GET /players/{id}`.
    pub name: String,
    pub method: Method,
    path: Vec<Segment>,
    pub status: http::StatusCode,
    pub latency: LatencyModel,
    pub failures: Failures,
    pub headers: Vec<(HeaderName, Words)>,
    /// The ids that exist; others are 404 in a path and left out of a batch.
    pub known: Option<RangeInclusive<i64>>,
    pub body: Option<Template>,
    pub seed: u64,
    /// True if the target and the version alone decide the body, so that it can be cached.
    pub kept: bool,
    /// True if the target and the version alone decide the headers.
    pub headers_kept: bool,
    /// True if it reads the body of a request.
    pub reads_body: bool,
    /// The place of `{id}` among the path's parameters.
    pub id: Option<usize>,
}

/// Literals stand before parameters, so that `/users/me` is found before `/users/{id}`.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Segment {
    Literal(String),
    Parameter(String),
}

impl Scenario {
    /// Reads the YAML of a scenario.
    /// # Errors
    /// The first mistake in it.
    pub fn read(text: &str) -> Result<Self, Mistake> {
        let Text { seed, version, latency, errors, headers, objects, endpoints } = yaml::read(text)?;
        if version.is_some_and(|it| it.0.is_zero()) {
            return Err(Mistake {
                line: 0,
                column: 0,
                message: "`version` has to be longer than nothing".into(),
            });
        }
        let names: Vec<String> = objects.0.iter().map(|it| it.0.value.clone()).collect();
        let mut calls = 0;
        let mut read = Vec::new();
        for (at, (_, tree)) in objects.0.iter().enumerate() {
            let names = Names { parameters: &[], objects: &names, usable: at };
            read.push(Template::read(tree, &names, &mut calls)?);
        }
        let shared =
            Shared { seed, latency, errors: errors.unwrap_or_default(), headers, names, objects: &read };
        let mut all: Vec<Endpoint> = Vec::new();
        for (key, text) in endpoints.0 {
            let endpoint = shared.endpoint(&key, text, &mut calls)?;
            if let Some(same) = all.iter().find(|it| it.matches_same_requests(&endpoint)) {
                let message = format!("`{}` answers the same requests; remove one of them", same.name);
                return Err(Mistake::at(key.referenced, message));
            }
            all.push(endpoint);
        }
        all.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(Self { seed, version: version.map(|it| it.0), objects: read, endpoints: all })
    }

    /// The endpoints' names, as `GET /players/{id}`.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.endpoints.iter().map(|it| it.name.as_str())
    }

    /// The endpoint that answers `path`'s decoded segments, and the values of its parameters.
    pub(crate) fn find(&self, method: &Method, path: &[String]) -> Option<(usize, Vec<String>)> {
        self.endpoints.iter().enumerate().find_map(|(at, it)| Some((at, it.parameters(method, path)?)))
    }
}

/// Settings that all endpoints of a scenario share.
struct Shared<'a> {
    seed: u64,
    latency: LatencyModel,
    errors: Failures,
    headers: Pairs<Spanned<String>>,
    names: Vec<String>,
    objects: &'a [Template],
}

impl Shared<'_> {
    fn endpoint(
        &self,
        key: &Spanned<String>,
        text: EndpointText,
        calls: &mut u64,
    ) -> Result<Endpoint, Mistake> {
        let (method, path) = address(key)?;
        let parameters: Vec<String> = path
            .iter()
            .filter_map(|it| match it {
                Segment::Parameter(name) => Some(name.clone()),
                Segment::Literal(_) => None,
            })
            .collect();
        let names = Names { parameters: &parameters, objects: &self.names, usable: self.names.len() };
        let body = text.body.map(|it| Template::read(&it, &names, calls)).transpose()?;
        let mut headers: Vec<(HeaderName, Words)> = Vec::new();
        for (name, value) in self.headers.0.iter().chain(&text.headers.0) {
            let header = header_name(name, value)?;
            headers.retain(|it| it.0 != header);
            headers.push((header, Words::read(value, &names, calls)?));
        }
        let foreign = |name: &Name| matches!(name, Name::Header(_) | Name::Body(_) | Name::VersionLeft);
        let of_body = |name: &Name| matches!(name, Name::Body(_));
        let in_headers = headers.iter().any(|it| it.1.any_name(&of_body));
        Ok(Endpoint {
            reads_body: in_headers || body.as_ref().is_some_and(|it| it.any_name(self.objects, &of_body)),
            headers_kept: !headers.iter().any(|it| it.1.any_name(&foreign)),
            kept: !body.as_ref().is_some_and(|it| it.any_name(self.objects, &foreign)),
            name: key.value.clone(),
            status: text.status.map_or(http::StatusCode::OK, |it| it.0),
            latency: text.latency.unwrap_or(self.latency),
            failures: text.errors.unwrap_or_else(|| self.errors.clone()),
            headers,
            known: text.known.as_ref().map(range).transpose()?,
            seed: key.value.bytes().fold(self.seed, |seed, byte| mix(seed, byte.into())),
            id: parameters.iter().position(|it| it == "id"),
            method,
            path,
            body,
        })
    }
}

impl Endpoint {
    fn parameters(&self, method: &Method, path: &[String]) -> Option<Vec<String>> {
        if *method != self.method || path.len() != self.path.len() {
            return None;
        }
        let mut found = Vec::new();
        for (segment, given) in self.path.iter().zip(path) {
            match segment {
                Segment::Literal(it) if it == given => {}
                Segment::Literal(_) => return None,
                Segment::Parameter(_) => found.push(given.clone()),
            }
        }
        Some(found)
    }

    /// True if both patterns match exactly the same requests.
    fn matches_same_requests(&self, other: &Self) -> bool {
        let same = |(a, b): (&Segment, &Segment)| match (a, b) {
            (Segment::Literal(a), Segment::Literal(b)) => a == b,
            (Segment::Parameter(_), Segment::Parameter(_)) => true,
            (Segment::Literal(_), Segment::Parameter(_)) | (Segment::Parameter(_), Segment::Literal(_)) => {
                false
            }
        };
        self.method == other.method
            && self.path.len() == other.path.len()
            && self.path.iter().zip(&other.path).all(same)
    }
}

/// Reads `GET /players/{id}`.
fn address(key: &Spanned<String>) -> Result<(Method, Vec<Segment>), Mistake> {
    const METHODS: [&str; 6] = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD"];
    let wrong = |message: String| Mistake::at(key.referenced, message);
    let (method, path) = key
        .value
        .split_once(' ')
        .ok_or_else(|| wrong(format!("`{}` is no endpoint; write `GET /players/{{id}}`", key.value)))?;
    if !METHODS.contains(&method) {
        return Err(wrong(unknown_name("method", method, &METHODS)));
    }
    let path = path
        .trim()
        .strip_prefix('/')
        .ok_or_else(|| wrong(format!("the path `{path}` has to begin with `/`")))?;
    if path.contains('?') {
        return Err(wrong("a query is no part of the path; read its parameters as `query.name`".into()));
    }
    if path.starts_with("__") {
        return Err(wrong("paths that begin with `/__` belong to the mock itself".into()));
    }
    let mut segments = Vec::new();
    for segment in path.split('/') {
        segments.push(match segment.strip_prefix('{').map(|it| it.strip_suffix('}')) {
            Some(Some(name))
                if !name.is_empty() && name.chars().all(|it| it.is_alphanumeric() || it == '_') =>
            {
                Segment::Parameter(name.to_string())
            }
            Some(_) => return Err(wrong(format!("`{segment}` is no parameter; write `{{id}}`"))),
            None => Segment::Literal(segment.to_string()),
        });
    }
    let method = Method::from_bytes(method.as_bytes()).map_err(|cause| wrong(cause.to_string()))?;
    Ok((method, segments))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(yaml: &str, expected: &str) {
        match Scenario::read(yaml) {
            Ok(it) => assert_eq!(it.names().collect::<Vec<_>>().join(", "), expected),
            Err(mistake) => assert_eq!(mistake.to_string(), expected),
        }
    }

    #[test]
    fn literals_are_found_before_parameters() {
        check("endpoints:\n  GET /users/{id}: {}\n  GET /users/me: {}\n", "GET /users/me, GET /users/{id}");
    }

    #[test]
    fn mistakes_name_their_place_and_the_way_out() {
        check("endpoint: {}\n", "1:1: unknown key `endpoint`; did you mean `endpoints`?");
        check("endpoints:\n  GET /a: {boddy: 1}\n", "2:12: unknown key `boddy`; did you mean `body`?");
        check("endpoints:\n  GTE /a: {}\n", "2:3: unknown method `GTE`; did you mean `GET`?");
        check("endpoints:\n  /a: {}\n", "2:3: `/a` is no endpoint; write `GET /players/{id}`");
        check("endpoints:\n  GET a: {}\n", "2:3: the path `a` has to begin with `/`");
        check(
            "endpoints:\n  GET /a?b=1: {}\n",
            "2:3: a query is no part of the path; read its parameters as `query.name`",
        );
        check("endpoints:\n  GET /{}: {}\n", "2:3: `{}` is no parameter; write `{id}`");
        check(
            "endpoints:\n  GET /{a}: {}\n  GET /{b}: {}\n",
            "3:3: `GET /{a}` answers the same requests; remove one of them",
        );
        check(
            "endpoints:\n  GET /a: {latency: 5}\n",
            "2:12: invalid type: integer `5`, expected a latency such as `5ms` or `{median: 5ms, sigma: 0.4}`",
        );
        check(
            "endpoints:\n  GET /a:\n    latency: {mediann: 5ms}\n",
            "3:15: unknown key `mediann`; did you mean `median`?",
        );
        check(
            "endpoints:\n  GET /a:\n    errors: {rate: 7}\n",
            "3:20: 7 is no probability; write one from 0 to 1",
        );
        check(
            "endpoints:\n  GET /a: {status: 99}\n",
            "2:20: 99 is no status of an answer; write one from 200 to 599",
        );
        check("endpoints:\n  GET /a: {known: 5}\n", "2:19: `5` is no range of ids; write `1..5000`");
        check("endpoints:\n  GET /a: {known: 5..1}\n", "2:19: no id is from 5 to 1; write `1..5`");
    }

    #[test]
    fn mistakes_in_bodies_do_too() {
        check(
            "endpoints:\n  GET /a:\n    body: {name: $(wrods 2)}\n",
            "3:18: in `$(wrods 2)`: unknown name `wrods`; did you mean `words`?",
        );
        check(
            "endpoints:\n  GET /a:\n    body: {$lists: 2, a: 1}\n",
            "3:12: unknown key `$lists`; did you mean `$list`?",
        );
        check(
            "objects: {player: {a: 1}}\nendpoints:\n  GET /a:\n    body: {$of: playr}\n",
            "4:17: unknown object `playr`; did you mean `player`?",
        );
        check(
            "objects: {a: {$of: b}, b: {x: 1}}\nendpoints: {}\n",
            "1:20: `b` stands further down in `objects`; move it before what uses it",
        );
        check(
            "endpoints:\n  GET /a:\n    body: {$list: 2}\n",
            "3:11: say what stands there once: by `$of`, by `$item`, or by fields",
        );
        check(
            "endpoints:\n  GET /a:\n    body: {$ids: header.x, a: 1}\n",
            "3:18: ids are read from `query.…` or `body.…`",
        );
        check("endpoints:\n  GET /a: {headers: {X-TTL: $(}}\n", "2:29: `$(` has no closing `)`");
    }
}
