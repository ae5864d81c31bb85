//! `/api/rest/…`: saved endpoints that run queries of collections.
//!
//! An answer is the data alone, without the member `data` around it, as Hasura's endpoints give it.
//!
//! **Invariant:** authentication, roles and the allow list are those of `/v1/graphql`; what a URL or a form says is coerced by
//! the declared types, and a variable that is not declared is refused.

use super::engine_response::respond;
use super::execute::{check_origin, execute};
use crate::operations::endpoint_variables::pairs;
use crate::operations::saved_endpoint::{Found, SavedEndpoint};
use crate::server::request::answer::Answer;
use crate::server::request::answer::cache_headers;
use crate::server::request::answer::refusal::{Refusal, string};
use crate::server::request::auth;
use crate::server::request::context::RequestContext;
use crate::server::request::engine_request::engine_request;
use crate::server::request::hasura_error::HasuraError;
use crate::server::request::negotiate::{self, Media};
use crate::server::request::receive::{self, Params};
use crate::server::telemetry::metrics::{self, Verdict};
use crate::session::auth_error::{AuthError, AuthFault};
use bytes::Bytes;
use hyper::body::Incoming;
use hyper::header::CONTENT_TYPE;
use hyper::http::request::Parts;
use hyper::{Method, StatusCode};
use std::borrow::Cow;
use std::collections::BTreeMap;
use weir_engine::engine::{self, Body, Outcome};
use weir_engine::source::Protocol;
use weir_language::json::{Json, JsonBuffer};
use weir_transport::document_id::DocumentText;

/// Prefix of all paths.
pub(crate) const START: &str = "/api/rest/";

/// JSON of variables by name.
type VariableTexts = BTreeMap<String, String>;

/// Answers a request; errors have Hasura's format.
pub(crate) async fn answer(
    context: &RequestContext,
    head: &Parts,
    body: Incoming,
) -> Result<Answer, Refusal> {
    match run(context, head, body).await {
        Ok(answer) => Ok(answer),
        Err(Trouble::Refusal(refusal)) => Err(refusal),
        Err(Trouble::Error(error)) => Ok(error.answer(metrics::Endpoint::Hasura)),
    }
}

/// Path variables with their texts.
type PathTexts<'c> = Vec<(&'c str, String)>;

/// Reason why a request is not executed.
enum Trouble {
    Refusal(Refusal),
    Error(HasuraError),
}

impl From<Refusal> for Trouble {
    fn from(refusal: Refusal) -> Self {
        Self::Refusal(refusal)
    }
}

impl From<HasuraError> for Trouble {
    fn from(error: HasuraError) -> Self {
        Self::Error(error)
    }
}

impl From<AuthError> for Trouble {
    fn from(error: AuthError) -> Self {
        match error.fault {
            AuthFault::TooOften => Refusal::from_auth_error(error).into(),
            _ => HasuraError::from(error).into(),
        }
    }
}

async fn run(context: &RequestContext, head: &Parts, body: Incoming) -> Result<Answer, Trouble> {
    let headers = &head.headers;
    if head.method == Method::HEAD || head.method == Method::OPTIONS {
        let message = "endpoints answer GET, POST, PUT, PATCH and DELETE";
        return Err(HasuraError::new("bad-request", "$", message).into());
    }
    let caller = auth::caller(context, headers, None).await?;
    if context.generation.is_waiting {
        return Err(Refusal::no_sources().into());
    }
    context.has_room(1)?;
    let path = head.uri.path().strip_prefix(START).unwrap_or_default();
    let (endpoint, in_path) = find_endpoint(context, path, head)?;
    // Browsers send forms, plain text and every GET without a preflight.
    let is_asked_for = head.method != Method::GET && negotiate::is_json(headers);
    if !is_asked_for
        && (endpoint.is_mutation || head.method != Method::GET)
        && !context.generation.cors.may_call(head)
    {
        let message = "a web page of another origin has to send `content-type: application/json`";
        return Err(Refusal::new(StatusCode::FORBIDDEN, "ACCESS_DENIED", message).into());
    }
    let bytes = receive::body(context, headers, body).await?;
    let query = head.uri.query().unwrap_or_default();
    let variables = variables(context, endpoint, head, &bytes, UrlVariables { path: &in_path, query })?;
    let text = object(&variables);
    let limits = &context.generation.config.limits;
    let tape = receive::json(JsonBuffer::default(), &text, limits)?;
    let query = DocumentText::Sent(Cow::Borrowed(&endpoint.query));
    let params = Params { query, operation_name: None, variables: Some(tape.root()) };
    let client = context.client(headers)?;
    let request = engine_request(context, &params, &client, Protocol::Hasura, false);
    if !is_asked_for {
        Box::pin(check_origin(context, head, request, &caller)).await?;
    }
    let made = execute(context, request, &caller).await;
    Ok(to_answer(context, made, head))
}

/// Finds the endpoint for the request, with the path variables.
fn find_endpoint<'c>(
    context: &'c RequestContext,
    path: &str,
    head: &Parts,
) -> Result<(&'c SavedEndpoint, PathTexts<'c>), HasuraError> {
    match context.generation.operations.endpoints.find(path, head.method.as_str()) {
        Found::One(endpoint, variables) => Ok((endpoint, variables)),
        Found::Several => {
            let error = HasuraError::new("unexpected", "$", "Multiple endpoints match request");
            Err(error.with_status(StatusCode::INTERNAL_SERVER_ERROR))
        }
        Found::OtherMethods(methods) => {
            let error = HasuraError::new("method-not-allowed", "$", format!("Allowed methods: {methods}"));
            Err(error.with_status(StatusCode::METHOD_NOT_ALLOWED))
        }
        Found::Nothing => {
            Err(HasuraError::new("not-found", "$", "Endpoint not found").with_status(StatusCode::NOT_FOUND))
        }
    }
}

/// Variables in a URL.
#[derive(Clone, Copy)]
struct UrlVariables<'u> {
    /// Names and values of the path's segments.
    path: &'u [(&'u str, String)],
    query: &'u str,
}

/// Variables of body, query and path. For equal names the path takes precedence, then the query.
fn variables(
    context: &RequestContext,
    endpoint: &SavedEndpoint,
    head: &Parts,
    body: &Bytes,
    url: UrlVariables<'_>,
) -> Result<VariableTexts, Trouble> {
    let mut found = VariableTexts::new();
    let content_type = head.headers.get(CONTENT_TYPE).and_then(|it| it.to_str().ok()).unwrap_or_default();
    let not_utf_8 = || HasuraError::new("bad-request", "$", "a variable is not in UTF-8");
    if content_type.starts_with("application/x-www-form-urlencoded") {
        let form = std::str::from_utf8(body).ok().and_then(pairs).ok_or_else(not_utf_8)?;
        form.iter().try_for_each(|(name, text)| set(&mut found, endpoint, name, text))?;
    } else if !body.is_empty() {
        let nesting_max = context.generation.config.limits.nesting_max;
        match Json::parse(body, nesting_max) {
            Ok(json) if json.root().is_object() => {
                for (name, value) in json.root().members() {
                    find_declaration(endpoint, &name)?;
                    found.insert(name.into_owned(), value.raw().to_owned());
                }
            }
            // Bodies of other types are ignored.
            Ok(_) => {}
            Err(error) if negotiate::is_json(&head.headers) => {
                return Err(HasuraError::new("invalid-json", "$", error.to_string()).into());
            }
            Err(_) => {}
        }
    }
    let query = pairs(url.query).ok_or_else(not_utf_8)?;
    query.iter().try_for_each(|(name, text)| set(&mut found, endpoint, name, text))?;
    url.path.iter().try_for_each(|(name, text)| set(&mut found, endpoint, name, text))?;
    Ok(found)
}

/// Declaration of the variable `name`.
fn find_declaration<'e>(
    endpoint: &'e SavedEndpoint,
    name: &str,
) -> Result<&'e crate::operations::endpoint_variables::Declared, HasuraError> {
    let declared = endpoint.variables.iter().find(|it| it.name == name);
    declared.ok_or_else(|| HasuraError::new("bad-request", "$", format!("Unexpected variable {name}")))
}

/// Sets a variable to `text`, converted by its type.
fn set(
    found: &mut VariableTexts,
    endpoint: &SavedEndpoint,
    name: &str,
    text: &str,
) -> Result<(), HasuraError> {
    let declared = find_declaration(endpoint, name)?;
    let json = declared.json(text).map_err(|message| HasuraError::new("bad-request", "$", message))?;
    match json {
        Some(json) => found.insert(name.to_owned(), json),
        None => found.remove(name),
    };
    Ok(())
}

/// JSON object of `variables`.
fn object(variables: &VariableTexts) -> Vec<u8> {
    let mut out = vec![b'{'];
    for (name, json) in variables {
        if out.len() > 1 {
            out.push(b',');
        }
        string(&mut out, name);
        out.push(b':');
        out.extend_from_slice(json.as_bytes());
    }
    out.push(b'}');
    out
}

/// Converts the engine's response: an error in Hasura's format with its status, or the data with an `ETag`.
fn to_answer(context: &RequestContext, made: engine::Response, head: &Parts) -> Answer {
    let outcome = made.outcome;
    let execution = Some(made.execution());
    if let Some(error) = failure(first_bytes(&made.body)) {
        let refusal = context.notes.find_refusal(&error.message);
        let error = match refusal {
            Some(refusal) => error.of_handler(refusal),
            None => error,
        };
        let mut answer = error.answer(metrics::Endpoint::Hasura);
        answer.execution = execution;
        return answer;
    }
    let tag = (head.method == Method::GET).then(|| cache_headers::tag(&made)).flatten();
    let made = engine::Response { body: open_envelope(made.body), ..made };
    let mut response = respond(context, made, StatusCode::OK, Media::Json, &head.headers);
    response.body_mut().drop_last_byte_of_stream();
    if let Some(tag) = tag {
        cache_headers::mark(&tag, &head.headers, &mut response);
    }
    if head.method == Method::GET && context.generation.config.compression.enabled {
        cache_headers::differs_by(response.headers_mut(), "accept-encoding");
    }
    let verdict = match outcome {
        Outcome::Executed => Verdict::Executed,
        Outcome::Refused | Outcome::Subscription | Outcome::MethodNotAllowed(_) => Verdict::Refused,
    };
    Answer { response, endpoint: metrics::Endpoint::Hasura, verdict, execution }
}

/// Start of a successful answer, which ends with a brace.
const HEAD: &[u8] = b"{\"data\":";

/// Data of a successful answer. For a stream the final brace is cut off later.
fn open_envelope(body: Body) -> Body {
    match body {
        Body::Whole(mut bytes) if bytes.starts_with(HEAD) => {
            bytes.pop();
            bytes.drain(..HEAD.len());
            Body::Whole(bytes)
        }
        Body::Shared(bytes) if bytes.starts_with(HEAD) => {
            Body::Shared(bytes.slice(HEAD.len()..bytes.len() - 1))
        }
        Body::Stream { mut head, rest } | Body::Increments { first: mut head, rest } => {
            head.drain(..HEAD.len());
            Body::Stream { head, rest }
        }
        Body::Whole(_) | Body::Shared(_) => body,
    }
}

/// Available bytes of an answer; an answer with errors is complete.
pub(super) fn first_bytes(body: &Body) -> &[u8] {
    match body {
        Body::Whole(bytes) => bytes,
        Body::Shared(bytes) => bytes,
        Body::Stream { head, .. } | Body::Increments { first: head, .. } => head,
    }
}

/// First error of an answer, since this format has no errors beside data.
pub(super) fn failure(answer: &[u8]) -> Option<HasuraError> {
    if !answer.starts_with(b"{\"errors\"") {
        return None;
    }
    let json = Json::parse(answer, u32::MAX).ok()?;
    let first = json.root().get("errors")?.items().next()?;
    let text =
        |it: Option<weir_language::json::JsonRef<'_>>| it.and_then(|it| it.as_str().map(Cow::into_owned));
    let extensions = first.get("extensions");
    let code = text(extensions.and_then(|it| it.get("code"))).unwrap_or_else(|| "unexpected".into());
    let path = text(extensions.and_then(|it| it.get("path"))).unwrap_or_else(|| "$".into());
    let status = match code.as_str() {
        "unexpected" | "postgres-error" => StatusCode::INTERNAL_SERVER_ERROR,
        "timeout" => StatusCode::GATEWAY_TIMEOUT,
        _ => StatusCode::BAD_REQUEST,
    };
    let error = HasuraError::new(&code, &path, text(first.get("message")).unwrap_or_default());
    let error = error.with_status(status);
    Some(match extensions.and_then(|it| it.get("internal")) {
        Some(internal) => error.with_internal(internal.raw().to_owned()),
        None => error,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_without_data_is_its_first_error_with_a_status() {
        let check = |answer: &str, expected: Option<(u16, &str)>| {
            let found = failure(answer.as_bytes());
            let found = found
                .as_ref()
                .map(|it| (it.status.as_u16(), String::from_utf8_lossy(&it.body()).into_owned()));
            assert_eq!(found, expected.map(|it| (it.0, it.1.to_owned())), "{answer}");
        };
        check(r#"{"data":{"a":1}}"#, None);
        check(
            r#"{"errors":[{"message":"m"}],"data":{"a":1}}"#,
            Some((500, r#"{"error":"m","path":"$","code":"unexpected"}"#)),
        );
        check(
            r#"{"errors":[{"message":"m","extensions":{"path":"$.a","code":"validation-failed"}}]}"#,
            Some((400, r#"{"error":"m","path":"$.a","code":"validation-failed"}"#)),
        );
        check(
            r#"{"errors":[{"message":"m","extensions":{"path":"$","code":"unexpected"}}],"data":null}"#,
            Some((500, r#"{"error":"m","path":"$","code":"unexpected"}"#)),
        );
        check(
            r#"{"errors":[{"message":"m"}]}"#,
            Some((500, r#"{"error":"m","path":"$","code":"unexpected"}"#)),
        );
    }

    #[test]
    fn variables_are_one_object() {
        assert_eq!(object(&VariableTexts::new()), b"{}");
        let all =
            VariableTexts::from([("a".to_owned(), "1".to_owned()), ("b\"".to_owned(), "\"x\"".to_owned())]);
        assert_eq!(object(&all), br#"{"a":1,"b\"":"x"}"#);
    }
}
