//! `/mcp`: messages of agents over HTTP, in the Model Context Protocol's form "streamable HTTP".
//!
//! A POST has one message and gets one answer as JSON; nothing is streamed, so there is no GET. No session is kept: what a session would
//! hold stands in the headers and in the message, and a closed connection ends what it asked for.
//!
//! **Invariant:** authentication, roles and the allow list are those of `/graphql`, and a web page of a foreign origin gets nothing.

use super::execute::{count_request, execute, is_text_allowed};
use crate::config::Config;
use crate::operations::tools::answer;
use crate::operations::tools::catalog::ToolCatalog;
use crate::operations::tools::fault::{Era, RpcFault, supported_versions};
use crate::operations::tools::host::{ToolHost, ToolOperation};
use crate::operations::tools::message::{self, AgentMessage, AgentRequest};
use crate::operations::tools::reply::error_reply;
use crate::server::request::answer::Answer;
use crate::server::request::answer::refusal::Refusal;
use crate::server::request::answer::response_body::{ResponseBody, json};
use crate::server::request::auth;
use crate::server::request::client_headers::ClientHeaders;
use crate::server::request::context::RequestContext;
use crate::server::request::engine_request::engine_request;
use crate::server::request::negotiate::{self, Media};
use crate::server::request::receive::{self, Params};
use crate::server::telemetry::metrics::{Endpoint, Verdict};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hyper::body::Incoming;
use hyper::header::{ACCEPT, HeaderValue, WWW_AUTHENTICATE};
use hyper::http::request::Parts;
use hyper::{HeaderMap, Method, Response, StatusCode};
use rmcp::model::ErrorCode;
use std::borrow::Cow;
use std::cell::RefCell;
use weir_engine::engine::{self, Engine, Execution};
use weir_engine::source::Caller;
use weir_language::json::{Json, JsonRef};
use weir_transport::document_id::DocumentText;

/// Header with the version of the protocol.
const VERSION: &str = "mcp-protocol-version";
/// Header with the method of the message.
const METHOD: &str = "mcp-method";
/// Header with the name of the tool.
const NAME: &str = "mcp-name";

/// Answers a POST, or a GET of what clients have to know to get a token.
pub(crate) async fn answer(
    context: &RequestContext,
    head: &Parts,
    body: Incoming,
) -> Result<Answer, Refusal> {
    if head.method == Method::GET {
        return describe_authorization(context);
    }
    check_head(context, head)?;
    match answer_message(context, head, body).await {
        Err(refusal) if refusal.status == StatusCode::UNAUTHORIZED => Ok(denied_answer(context, refusal)),
        answered => answered,
    }
}

/// The metadata of a protected resource. Source: RFC 9728, section 3.2.
fn describe_authorization(context: &RequestContext) -> Result<Answer, Refusal> {
    let mcp = &context.generation.config.operations.mcp;
    let authorization = mcp.authorization.as_ref().filter(|_| mcp.enabled).ok_or_else(Refusal::not_found)?;
    let metadata = serde_json::json!({
        "resource": authorization.resource,
        "authorization_servers": authorization.authorization_servers,
        "scopes_supported": authorization.scopes,
        "bearer_methods_supported": ["header"],
    });
    Ok(Answer::page(json(StatusCode::OK, Media::Json, ResponseBody::whole(metadata.to_string()))))
}

/// A refusal of credentials, which says where the metadata are. Source: RFC 9728, section 5.1.
fn denied_answer(context: &RequestContext, refusal: Refusal) -> Answer {
    let mut answer = refusal.answer(Endpoint::Mcp);
    if let Some(authorization) = &context.generation.config.operations.mcp.authorization {
        let resource = &authorization.resource;
        let host_start = resource.find("://").map_or(0, |it| it + 3);
        let path_start = resource[host_start..].find('/').map_or(resource.len(), |it| host_start + it);
        let (server, _) = resource.split_at(path_start);
        let scope = authorization.scopes.join(" ");
        let scope = if scope.is_empty() { scope } else { format!(", scope=\"{scope}\"") };
        let challenge =
            format!("Bearer resource_metadata=\"{server}/.well-known/oauth-protected-resource/mcp\"{scope}");
        answer
            .response
            .headers_mut()
            .extend(HeaderValue::try_from(challenge).ok().map(|it| (WWW_AUTHENTICATE, it)));
    }
    answer
}

/// Answers the message in `body`.
async fn answer_message(context: &RequestContext, head: &Parts, body: Incoming) -> Result<Answer, Refusal> {
    let headers = &head.headers;
    let caller = auth::caller_before_body(context, headers).await.map_err(Refusal::from_auth_error)?;
    if context.generation.is_waiting {
        return Err(Refusal::no_sources());
    }
    context.has_room(1)?;
    let bytes = receive::body(context, headers, body).await?;
    let caller = match caller {
        Some(caller) => caller,
        None => {
            Box::pin(auth::caller(context, headers, Some(&bytes))).await.map_err(Refusal::from_auth_error)?
        }
    };
    let tape = match Json::parse(&bytes, context.generation.config.limits.nesting_max) {
        Ok(tape) => tape,
        Err(error) => {
            let fault = RpcFault::new(ErrorCode::PARSE_ERROR, format!("the body is not valid JSON: {error}"));
            return Ok(fault_answer(None, &fault, Era::Stateless));
        }
    };
    let request = match message::read(tape.root()) {
        Ok(AgentMessage::Request(request)) => request,
        Ok(AgentMessage::Note { .. }) => return Ok(accepted()),
        Err((id, fault)) => return Ok(fault_answer(id, &fault, Era::Stateless)),
    };
    let client = context.client(headers)?;
    let host = HttpHost { context, client: &client, caller: &caller, execution: RefCell::default() };
    Ok(answer_request(&host, headers, &request).await)
}

/// Checks what the head says of the message.
fn check_head(context: &RequestContext, head: &Parts) -> Result<(), Refusal> {
    if !context.generation.config.operations.mcp.enabled {
        return Err(Refusal::not_found());
    }
    if !context.generation.cors.may_call(head) {
        let message = "a web page of this origin may not call; `cors.origins` names those that may";
        return Err(Refusal::new(StatusCode::FORBIDDEN, "ACCESS_DENIED", message));
    }
    if !negotiate::is_json(&head.headers) {
        let message = "a message needs `content-type: application/json`";
        return Err(Refusal::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "UNSUPPORTED_MEDIA_TYPE", message));
    }
    // Clients name both of the protocol's types, of which answers have this one.
    if head.headers.contains_key(ACCEPT) && negotiate::media(&head.headers) != Some(Media::Json) {
        let message = "answers are application/json";
        return Err(Refusal::new(StatusCode::NOT_ACCEPTABLE, "NOT_ACCEPTABLE", message));
    }
    Ok(())
}

/// Answers a request.
async fn answer_request(host: &HttpHost<'_>, headers: &HeaderMap, request: &AgentRequest<'_>) -> Answer {
    let era = match request.era().and_then(|era| check_headers(headers, request, era).map(|()| era)) {
        Ok(era) => era,
        Err(fault) => return fault_answer(Some(request.id), &fault, Era::Stateless),
    };
    match answer::answer(host, era, request).await {
        Ok(body) => {
            let response = json(StatusCode::OK, Media::Json, ResponseBody::whole(body));
            let execution = host.execution.take();
            Answer { response, endpoint: Endpoint::Mcp, verdict: Verdict::Executed, execution }
        }
        Err(fault) => fault_answer(Some(request.id), &fault, era),
    }
}

/// Checks the headers that repeat what the message says, so that proxies may believe them.
/// # Errors
/// A header is missing, or says another thing.
fn check_headers(headers: &HeaderMap, request: &AgentRequest<'_>, era: Era) -> Result<(), RpcFault> {
    let version = text_header(headers, VERSION)?;
    if era == Era::Handshake {
        let is_known = |version: &str| {
            supported_versions().iter().any(|it| it.as_str() == version && it.has_initialize())
        };
        // The version is agreed on by this method, so it stands in the message.
        let is_agreed = request.method != "initialize";
        return match version.filter(|it| is_agreed && !is_known(it)) {
            Some(version) => Err(RpcFault::unsupported_version(version)),
            None => Ok(()),
        };
    }
    let expect = |name: &str, found: Option<&str>, expected: &str| match found {
        Some(found) if found == expected => Ok(()),
        Some(_) => Err(RpcFault::header(format!("the header `{name}` says another thing than the message"))),
        None => Err(RpcFault::header(format!("the header `{name}` is missing"))),
    };
    expect(VERSION, version, &request.stated_version().unwrap_or_default())?;
    expect(METHOD, text_header(headers, METHOD)?, &request.method)?;
    if request.method != "tools/call" {
        return Ok(());
    }
    let name = text_header(headers, NAME)?.map(decode_name).transpose()?;
    expect(NAME, name.as_deref(), &request.param("name").and_then(JsonRef::as_str).unwrap_or_default())
}

/// The value of a header, which has one value however often it stands there.
fn text_header<'h>(headers: &'h HeaderMap, name: &str) -> Result<Option<&'h str>, RpcFault> {
    let mut values = headers.get_all(name).iter();
    let first = values.next();
    if values.any(|it| Some(it) != first) {
        return Err(RpcFault::header(format!("the header `{name}` stands there with several values")));
    }
    let value = first.map(|it| it.to_str().map(str::trim)).transpose();
    value.map_err(|_| RpcFault::header(format!("the header `{name}` is not in ASCII")))
}

/// The name in a header, which is in Base64 if it is not plain.
fn decode_name(sent: &str) -> Result<Cow<'_, str>, RpcFault> {
    let Some(coded) = sent.strip_prefix("=?base64?").and_then(|it| it.strip_suffix("?=")) else {
        return Ok(Cow::Borrowed(sent));
    };
    let bytes = STANDARD.decode(coded).ok();
    let name = bytes.and_then(|it| String::from_utf8(it).ok());
    name.map(Cow::Owned)
        .ok_or_else(|| RpcFault::header(format!("the header `{NAME}` is no Base64 of a text")))
}

/// Answer to a message that needs none.
fn accepted() -> Answer {
    let mut response = Response::new(ResponseBody::empty());
    *response.status_mut() = StatusCode::ACCEPTED;
    Answer { response, endpoint: Endpoint::Mcp, verdict: Verdict::Executed, execution: None }
}

fn fault_answer(id: Option<&str>, fault: &RpcFault, era: Era) -> Answer {
    let status = StatusCode::from_u16(fault.status(era)).unwrap_or(StatusCode::BAD_REQUEST);
    let response = json(status, Media::Json, ResponseBody::whole(error_reply(id, fault)));
    Answer { response, endpoint: Endpoint::Mcp, verdict: Verdict::Rejected, execution: None }
}

/// The caller of one request.
struct HttpHost<'r> {
    context: &'r RequestContext,
    client: &'r ClientHeaders<'r>,
    caller: &'r Caller,
    /// The operation that ran, for counters and logs.
    execution: RefCell<Option<Execution>>,
}

impl ToolHost for HttpHost<'_> {
    fn caller(&self) -> &Caller {
        self.caller
    }
    fn config(&self) -> &Config {
        &self.context.generation.config
    }
    fn engine(&self) -> &Engine {
        self.context.engine()
    }
    fn catalog(&self) -> &ToolCatalog {
        &self.context.generation.operations.tools
    }
    fn allows(&self, text: &str) -> bool {
        is_text_allowed(self.context, text, self.caller)
    }
    async fn count(&self, text: &str, operation_name: Option<&str>) -> Result<(), String> {
        let counted = count_request(self.context, self.caller, text, operation_name).await;
        counted.map_err(|refusal| refusal.words())
    }
    async fn execute(&self, operation: ToolOperation<'_>) -> engine::Response {
        let ToolOperation { text, operation_name, variables, protocol, queries_only } = operation;
        let params = Params {
            query: DocumentText::Sent(Cow::Borrowed(text)),
            operation_name: operation_name.map(Cow::Borrowed),
            variables,
        };
        let request = engine_request(self.context, &params, self.client, protocol, queries_only);
        let response = Box::pin(execute(self.context, request, self.caller)).await;
        self.execution.replace(Some(response.execution()));
        response
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const META: &str = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;

    fn check(
        headers: &[(&'static str, &'static str)],
        method: &str,
        params: &str,
        expected: Result<(), i32>,
    ) {
        let text = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{{{params}}}}}"#);
        let tape = Json::parse(text.as_bytes(), 20).expect("it is JSON");
        let Ok(AgentMessage::Request(request)) = message::read(tape.root()) else { panic!("{text}") };
        let headers: HeaderMap = headers
            .iter()
            .map(|(name, value)| {
                let name = hyper::header::HeaderName::from_static(name);
                (name, hyper::header::HeaderValue::from_static(value))
            })
            .collect();
        let era = request.era().expect("it has an era");
        let found = check_headers(&headers, &request, era).map_err(|it| it.code.0);
        assert_eq!(found, expected, "{text} {headers:?}");
    }

    #[test]
    fn headers_repeat_the_message() {
        let version = (VERSION, "2026-07-28");
        check(&[version, (METHOD, "tools/list")], "tools/list", META, Ok(()));
        check(&[(METHOD, "tools/list")], "tools/list", META, Err(-32020));
        check(&[version], "tools/list", META, Err(-32020));
        check(&[version, (METHOD, "tools/call")], "tools/list", META, Err(-32020));
        check(&[(VERSION, "2025-11-25"), (METHOD, "tools/list")], "tools/list", META, Err(-32020));
        let named = format!(r#""name":"grün",{META}"#);
        let call = (METHOD, "tools/call");
        check(&[version, call, (NAME, "=?base64?Z3LDvG4=?=")], "tools/call", &named, Ok(()));
        check(&[version, call, (NAME, "=?base64?Z3LDvG4?=")], "tools/call", &named, Err(-32020));
        check(&[version, call], "tools/call", &named, Err(-32020));
        let coded = (NAME, "=?base64?Z3LDvG4=?=");
        check(&[version, call, coded, coded], "tools/call", &named, Ok(()));
        for twice in [(NAME, "drop"), (METHOD, "tools/list"), (VERSION, "2025-11-25")] {
            check(&[version, call, coded, twice], "tools/call", &named, Err(-32020));
        }
        check(
            &[version, call, (NAME, "x")],
            "tools/call",
            r#""name":"y",__"#.replace("__", META).as_str(),
            Err(-32020),
        );
    }

    #[test]
    fn versions_with_a_handshake_need_no_header() {
        check(&[], "tools/list", "", Ok(()));
        check(&[(VERSION, "2025-03-26")], "tools/list", "", Err(-32022));
        check(&[(VERSION, "2025-06-18"), (VERSION, "2024-11-05")], "tools/list", "", Err(-32020));
        check(&[(VERSION, "2025-06-18")], "tools/list", "", Ok(()));
        check(&[(VERSION, "2026-07-28")], "initialize", r#""protocolVersion":"2026-07-28""#, Ok(()));
        check(&[(VERSION, "2026-07-28")], "tools/list", "", Err(-32022));
        check(&[(VERSION, "2099-01-01")], "tools/list", "", Err(-32022));
    }
}
