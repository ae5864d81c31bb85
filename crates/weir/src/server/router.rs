//! The route table: paths with their methods and allowed callers.
//!
//! **Invariant:** an address without an entry does not exist, and every entry says who may use it. The guard test walks
//! this table, so a new page cannot be forgotten.

use super::connection::head_guard::STAND_IN_METHOD;
use super::connection::http2_guard;
use super::connection::listener::ListenerRole;
use super::graphql::hasura::Statuses;
use super::graphql::{hasura, mcp, over_http, rest, websocket};
use super::operator::metadata_api::{self, Door, pg_dump};
use super::operator::observed::{
    checks_page, documents_page, live_page, mirror_page, samples_page, services_page, state_page, usage_page,
};
use super::operator::{
    catalog_page, console, explain_page, invalidate, pages, plan_page, probes, profile, reload, row_page,
    schema_page, swagger, tools,
};
use super::request::answer::Answer;
use super::request::answer::refusal::Refusal;
use super::request::answer::response_body::ResponseBody;
use super::request::context::RequestContext;
use super::request::{auth, cors, hasura_error};
use super::telemetry::metrics::Endpoint;
use crate::session::auth_error::AuthError;
use crate::session::secret::SECRET_HEADERS;
use hyper::body::Incoming;
use hyper::header::{
    ACCEPT, ACCESS_CONTROL_REQUEST_METHOD, ALLOW, AUTHORIZATION, CONTENT_TYPE, HOST, HeaderName, HeaderValue,
    LOCATION, ORIGIN,
};
use hyper::http::request::Parts;
use hyper::{HeaderMap, Method, Response, StatusCode, Version};

/// Callers allowed on a route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Gate {
    /// Anyone: probes, and endpoints that authenticate in the format of their protocol.
    Open,
    /// Holders of the admin secret; without a secret, anyone in dev mode.
    Operator,
    /// Like [`Self::Operator`], and any other caller with the role admin. Errors have Hasura's wording.
    Admin,
    /// Anyone, in dev mode only.
    Dev,
}

/// Listeners of a route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Exposure {
    Everywhere,
    /// The admin listener if there is one, else the only one.
    Admin,
    /// All listeners except the admin listener.
    Public,
}

/// Handler of a route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Handler {
    Graphql,
    Hasura,
    /// Like [`Self::Hasura`], with the status of the error.
    HasuraAlpha,
    /// Like [`Self::Hasura`], with Relay's API.
    Relay,
    Rest,
    Mcp,
    Live,
    Ready,
    Health,
    Version,
    Metrics,
    Operations,
    Samples,
    LiveQueries,
    Mirror,
    State,
    Services,
    Documents,
    ServiceChecks,
    Profile,
    Explain,
    ExplainRow,
    Reload,
    Invalidate,
    Schema,
    SchemaPlan,
    Catalog,
    Swagger,
    Config,
    HasuraExplain,
    Commands(Door),
    PgDump,
    Console,
    Icon,
    Root,
}

/// One route.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Route {
    /// The path, or a prefix that ends with `/`.
    pub(crate) path: &'static str,
    /// Value of `Allow`.
    pub(crate) methods: &'static str,
    pub(crate) gate: Gate,
    on: Exposure,
    page: Handler,
}

const fn route(path: &'static str, methods: &'static str, gate: Gate, on: Exposure, page: Handler) -> Route {
    Route { path, methods, gate, on, page }
}

impl Route {
    /// True for endpoints of the API; probes and the pages of operators are answered under any load.
    const fn serves_clients(&self) -> bool {
        matches!(
            self.page,
            Handler::Graphql
                | Handler::Hasura
                | Handler::HasuraAlpha
                | Handler::Relay
                | Handler::Rest
                | Handler::Mcp
        )
    }
}

/// All routes, most frequent first.
pub(crate) const ROUTES: &[Route] = &[
    route("/graphql", "GET, POST, PUT, DELETE", Gate::Open, Exposure::Public, Handler::Graphql),
    route("/v1/graphql", "GET, POST", Gate::Open, Exposure::Public, Handler::Hasura),
    route("/v1alpha1/graphql", "GET, POST", Gate::Open, Exposure::Public, Handler::HasuraAlpha),
    route("/v1beta1/relay", "GET, POST", Gate::Open, Exposure::Public, Handler::Relay),
    route("/api/rest/", "GET, POST, PUT, PATCH, DELETE", Gate::Open, Exposure::Public, Handler::Rest),
    route("/mcp", "POST", Gate::Open, Exposure::Public, Handler::Mcp),
    route("/.well-known/oauth-protected-resource", "GET", Gate::Open, Exposure::Public, Handler::Mcp),
    route("/.well-known/oauth-protected-resource/mcp", "GET", Gate::Open, Exposure::Public, Handler::Mcp),
    route("/livez", "GET, HEAD", Gate::Open, Exposure::Everywhere, Handler::Live),
    route("/readyz", "GET, HEAD", Gate::Open, Exposure::Everywhere, Handler::Ready),
    route("/healthz", "GET, HEAD", Gate::Open, Exposure::Everywhere, Handler::Health),
    route("/hasura/healthz", "GET, HEAD", Gate::Open, Exposure::Everywhere, Handler::Health),
    route("/v1/version", "GET, HEAD", Gate::Open, Exposure::Everywhere, Handler::Version),
    route("/metrics", "GET", Gate::Operator, Exposure::Admin, Handler::Metrics),
    route("/admin/operations", "GET", Gate::Operator, Exposure::Admin, Handler::Operations),
    route("/admin/operations/samples", "POST", Gate::Operator, Exposure::Admin, Handler::Samples),
    route("/admin/live", "GET", Gate::Operator, Exposure::Admin, Handler::LiveQueries),
    route("/admin/mirror", "GET", Gate::Operator, Exposure::Admin, Handler::Mirror),
    route("/admin/state", "GET", Gate::Operator, Exposure::Admin, Handler::State),
    route("/admin/services", "GET", Gate::Operator, Exposure::Admin, Handler::Services),
    route("/admin/documents", "POST", Gate::Operator, Exposure::Admin, Handler::Documents),
    route("/admin/services/check", "POST", Gate::Operator, Exposure::Admin, Handler::ServiceChecks),
    route("/admin/profile", "GET", Gate::Operator, Exposure::Admin, Handler::Profile),
    route("/v1/explain", "POST", Gate::Operator, Exposure::Everywhere, Handler::Explain),
    route("/v1/explain/row", "POST", Gate::Operator, Exposure::Everywhere, Handler::ExplainRow),
    route("/v1/reload", "POST", Gate::Operator, Exposure::Admin, Handler::Reload),
    route("/v1/invalidate", "POST", Gate::Operator, Exposure::Admin, Handler::Invalidate),
    route("/admin/schema", "POST", Gate::Operator, Exposure::Admin, Handler::Schema),
    route("/admin/schema/plan", "POST", Gate::Operator, Exposure::Admin, Handler::SchemaPlan),
    route("/admin/catalog", "POST", Gate::Operator, Exposure::Admin, Handler::Catalog),
    route("/api/swagger/json", "GET", Gate::Admin, Exposure::Everywhere, Handler::Swagger),
    route("/v1/metadata", "POST", Gate::Admin, Exposure::Admin, Handler::Commands(Door::Metadata)),
    route("/v2/query", "POST", Gate::Admin, Exposure::Admin, Handler::Commands(Door::Query)),
    route("/v1/query", "POST", Gate::Admin, Exposure::Admin, Handler::Commands(Door::Both)),
    route("/v1alpha1/pg_dump", "POST", Gate::Admin, Exposure::Admin, Handler::PgDump),
    route("/v1/graphql/explain", "POST", Gate::Admin, Exposure::Everywhere, Handler::HasuraExplain),
    route("/v1alpha1/config", "GET", Gate::Admin, Exposure::Everywhere, Handler::Config),
    route("/console", "GET, HEAD", Gate::Dev, Exposure::Public, Handler::Console),
    route("/console/", "GET, HEAD", Gate::Dev, Exposure::Public, Handler::Console),
    route("/favicon.ico", "GET, HEAD", Gate::Open, Exposure::Everywhere, Handler::Icon),
    route("/", "GET, HEAD", Gate::Dev, Exposure::Public, Handler::Root),
];

/// Route of `path` on the listener `place`.
fn find(path: &str, place: ListenerRole) -> Option<&'static Route> {
    // A path that ends with a slash is a prefix.
    let fits = |it: &&Route| {
        it.path == path || (it.path.len() > 1 && it.path.ends_with('/') && path.starts_with(it.path))
    };
    let here = |it: &&Route| match (it.on, place) {
        (Exposure::Everywhere, _) | (Exposure::Public | Exposure::Admin, ListenerRole::Only) => true,
        (Exposure::Public, ListenerRole::Public) | (Exposure::Admin, ListenerRole::Admin) => true,
        (Exposure::Public, ListenerRole::Admin) | (Exposure::Admin, ListenerRole::Public) => false,
    };
    ROUTES.iter().find(fits).filter(here)
}

fn is_allowed(route: &Route, method: &Method) -> bool {
    let mut methods = route.methods.as_bytes().split(|it| *it == b',');
    methods.any(|it| it.trim_ascii_start() == method.as_str().as_bytes())
}

/// Answers any request.
///
/// A future is moved several times before it first runs, so rare branches are boxed.
pub(crate) async fn answer(
    context: &RequestContext,
    place: ListenerRole,
    head: &Parts,
    body: Incoming,
) -> Answer {
    let answered = match admit(context, place, head).await {
        Err(refusal) => Err(refusal),
        Ok(route) if websocket::is_offered(head) => upgrade(context, route, head),
        Ok(route) if head.method == Method::OPTIONS && !is_bare_options(route, head) => {
            Ok(options(context, route, head))
        }
        Ok(route) => match route.page {
            Handler::Graphql if is_visit(context, head) => Ok(redirect("/console")),
            Handler::Graphql if context.generation.config.relay.graphql => {
                Box::pin(connections(context, head, body, route.page)).await
            }
            Handler::Relay => Box::pin(connections(context, head, body, route.page)).await,
            Handler::Graphql => over_http::answer(context, head, body).await,
            Handler::Hasura => hasura::answer(context, head, body, Statuses::Ok).await,
            Handler::HasuraAlpha => Box::pin(hasura::answer(context, head, body, Statuses::True)).await,
            Handler::Rest => Box::pin(rest::answer(context, head, body)).await,
            Handler::Mcp => Box::pin(mcp::answer(context, head, body)).await,
            Handler::Live => Ok(probes::live()),
            Handler::Ready => Ok(Box::pin(probes::ready(context)).await),
            Handler::Health => Ok(probes::health(context, head)),
            Handler::Version => Ok(pages::version()),
            Handler::Metrics => Ok(pages::metrics(context, head)),
            Handler::Operations => Ok(usage_page::answer()),
            Handler::Samples => Box::pin(samples_page::answer(context, head, body)).await,
            Handler::LiveQueries => Ok(live_page::answer(context)),
            Handler::Mirror => Ok(mirror_page::answer()),
            Handler::State => Ok(state_page::answer(context)),
            Handler::Services => Ok(services_page::answer(context)),
            Handler::Documents => Box::pin(documents_page::answer(context, head, body)).await,
            Handler::ServiceChecks => Ok(Box::pin(checks_page::answer(context)).await),
            Handler::Profile => Box::pin(profile::answer(head)).await,
            Handler::Explain => Box::pin(explain_page::answer(context, head, body)).await,
            Handler::ExplainRow => Box::pin(row_page::answer(context, head, body)).await,
            Handler::Reload => Box::pin(reload::answer(context)).await,
            Handler::Invalidate => Box::pin(invalidate::answer(context, head, body)).await,
            Handler::Schema => Box::pin(schema_page::change(context, head, body)).await,
            Handler::SchemaPlan => Box::pin(plan_page::answer(context, head, body)).await,
            Handler::Catalog => Box::pin(catalog_page::answer(context, head, body)).await,
            Handler::Swagger => Ok(swagger::answer(context)),
            Handler::Config => Ok(tools::config(context)),
            Handler::HasuraExplain => Box::pin(tools::explain(context, head, body)).await,
            Handler::Commands(door) => Box::pin(metadata_api::answer(context, head, body, door)).await,
            Handler::PgDump => Box::pin(pg_dump::answer(context, head, body)).await,
            Handler::Console => console::answer(head),
            Handler::Icon => Ok(console::icon()),
            Handler::Root => Ok(redirect("/console")),
        },
    };
    answered.unwrap_or_else(|refusal| answer_refusal(context, head, refusal))
}

/// Writes a refusal in the format of the address, and counts it if it is one of a limit.
fn answer_refusal(context: &RequestContext, head: &Parts, refusal: Refusal) -> Answer {
    if refusal.code.starts_with("LIMIT_") {
        context.worker.metrics.limit(refusal.code);
    }
    // Bytes after such a head may not be HTTP.
    let is_socket = head.version < Version::HTTP_2 && websocket::is_offered(head);
    let refusal = if is_socket { refusal.with_close() } else { refusal };
    let path = head.uri.path();
    match find_endpoint(path) {
        Endpoint::Other if hasura_error::is_at(path) => hasura_error::refusal_answer(refusal, path),
        endpoint => refusal.answer(endpoint),
    }
}

/// The endpoint at `path`, by which answers are counted.
fn find_endpoint(path: &str) -> Endpoint {
    match path {
        "/graphql" => Endpoint::Graphql,
        "/v1/graphql" | "/v1alpha1/graphql" | "/v1beta1/relay" => Endpoint::Hasura,
        "/mcp" => Endpoint::Mcp,
        _ => Endpoint::Other,
    }
}

/// Answers with Relay's API.
async fn connections(
    context: &RequestContext,
    head: &Parts,
    body: Incoming,
    page: Handler,
) -> Result<Answer, Refusal> {
    // A GET is refused by this API in any case.
    let is_refused = page == Handler::Relay && head.method == Method::GET;
    if context.generation.relay.existing_engine().is_none() && !is_refused {
        // Authenticate first, so that only allowed callers cause the engine to be created.
        match (auth::caller_before_body(context, &head.headers).await, page) {
            (Ok(_), _) => {}
            (Err(error), Handler::Relay) => return hasura::denial_answer(error, Statuses::Ok),
            (Err(error), _) => return Err(Refusal::from_auth_error(error)),
        }
    }
    if !is_refused {
        context.take_connections().await?;
    }
    match page {
        Handler::Relay => hasura::answer(context, head, body, Statuses::Ok).await,
        _ => over_http::answer(context, head, body).await,
    }
}

/// Answers a request for a WebSocket.
fn upgrade(context: &RequestContext, route: &Route, head: &Parts) -> Result<Answer, Refusal> {
    match route.page {
        Handler::Graphql => websocket::accept(context, head, Endpoint::Graphql, false),
        Handler::Hasura | Handler::HasuraAlpha => websocket::accept(context, head, Endpoint::Hasura, false),
        Handler::Relay if context.generation.relay.is_absent() => Err(Refusal::not_found()),
        Handler::Relay => websocket::accept(context, head, Endpoint::Hasura, true),
        _ => {
            let message = "WebSockets are taken at /graphql and /v1/graphql";
            Err(Refusal::new(StatusCode::BAD_REQUEST, "UPGRADE_NOT_SUPPORTED", message))
        }
    }
}

/// Finds the route of a request, if its head is valid and its caller allowed.
async fn admit(
    context: &RequestContext,
    place: ListenerRole,
    head: &Parts,
) -> Result<&'static Route, Refusal> {
    check_head(context, head)?;
    let route = find(head.uri.path(), place).ok_or_else(Refusal::not_found)?;
    if head.method == Method::OPTIONS {
        return Ok(route);
    }
    // REST endpoints refuse HEAD in their own format.
    let is_rest_head = route.page == Handler::Rest && head.method == Method::HEAD;
    let is_answered = is_rest_head || websocket::is_extended_connect(head);
    if !is_answered && !is_allowed(route, &head.method) {
        return Err(Refusal::method(route.methods));
    }
    pass(context, route, head).await?;
    if route.serves_clients() {
        context.check_queue(head.version >= Version::HTTP_2)?;
    }
    Ok(route)
}

/// Checks a head before routing.
fn check_head(context: &RequestContext, head: &Parts) -> Result<(), Refusal> {
    let headers = &head.headers;
    let limits = &context.generation.config.limits;
    let stood_for = context.watched.head_error().filter(|_| head.method.as_str() == STAND_IN_METHOD);
    if let Some(flaw) = stood_for.or_else(|| http2_guard::find_head_error(head, limits)) {
        return Err(flaw.refusal(limits));
    }
    let url_bytes = head.uri.path_and_query().map_or(0, |it| it.as_str().len());
    if url_bytes > limits.url_bytes_max as usize {
        return Err(Refusal::long_url(limits).with_close());
    }
    if context.generation.local_only && !is_local(head) {
        let message =
            "this server answers to localhost only; set an admin secret to have it answer to other names";
        return Err(Refusal::new(StatusCode::MISDIRECTED_REQUEST, "MISDIRECTED", message));
    }
    match find_repeated_header(headers) {
        Some(name) => Err(Refusal::bad_request(format!("the header `{name}` is there twice")).with_close()),
        None => Ok(()),
    }
}

/// The first header that occurs twice although it must be single. Readers would disagree on which value counts.
fn find_repeated_header(headers: &HeaderMap) -> Option<&'static HeaderName> {
    static SINGLE: [HeaderName; 3] = [CONTENT_TYPE, AUTHORIZATION, ORIGIN];
    static ROLES: [HeaderName; 2] = auth::ROLES;
    static SECRETS: [HeaderName; 3] = SECRET_HEADERS;
    let any = headers.len() != headers.keys_len();
    let mut single = SINGLE.iter().chain(&SECRETS).chain(&ROLES);
    single.find(|it| any && headers.get_all(*it).iter().nth(1).is_some())
}

/// True if the client addresses this machine by IP address or as `localhost`. Otherwise a web page could resolve its own name to 127.0.0.1
/// (DNS rebinding) and, without a secret, be admin.
fn is_local(head: &Parts) -> bool {
    let sent = || head.headers.get(HOST).and_then(|it| it.to_str().ok());
    let authority = head.uri.authority().map(hyper::http::uri::Authority::as_str).or_else(sent);
    authority.is_none_or(is_local_name)
}

/// Like [`is_local`], for `name:port`.
fn is_local_name(authority: &str) -> bool {
    let name = match authority.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|it| it.is_ascii_digit()) => name,
        Some(_) | None => authority,
    };
    let name = name.strip_prefix('[').and_then(|it| it.strip_suffix(']')).unwrap_or(name);
    let top = || name.rsplit_once('.').map_or(name, |it| it.1);
    name == "127.0.0.1" || top().eq_ignore_ascii_case("localhost") || name.parse::<std::net::IpAddr>().is_ok()
}

/// Applies the route's gate.
async fn pass(context: &RequestContext, route: &Route, head: &Parts) -> Result<(), Refusal> {
    let generation = &context.generation;
    match route.gate {
        Gate::Open => Ok(()),
        Gate::Dev if generation.dev => Ok(()),
        Gate::Dev => Err(Refusal::not_found()),
        // Browsers send a POST of plain text or without a body for any page, without a preflight.
        // A GET with an origin is a script's: without a secret, in dev mode, its page could read the answer.
        Gate::Operator | Gate::Admin
            if cors::is_of_another_origin(head)
                && (head.method != Method::GET || head.headers.contains_key(ORIGIN)) =>
        {
            let message = "a web page of another origin may not use an operator's address";
            Err(Refusal::new(StatusCode::FORBIDDEN, "ACCESS_DENIED", message))
        }
        // A caller that asks for another role is refused, even with the secret.
        Gate::Operator if auth::asks_for_other_role(&head.headers) => {
            Err(Refusal::from_auth_error(AuthError::role()))
        }
        Gate::Operator if generation.authenticator.is_open() && generation.dev => Ok(()),
        Gate::Admin => Box::pin(auth::admin(context, &head.headers)).await,
        Gate::Operator => {
            Box::pin(auth::operator(context, &head.headers)).await.map_err(Refusal::from_auth_error)
        }
    }
}

/// True for OPTIONS at a REST endpoint without a preflight's headers; endpoints refuse it.
fn is_bare_options(route: &Route, head: &Parts) -> bool {
    route.page == Handler::Rest && !head.headers.contains_key(ACCESS_CONTROL_REQUEST_METHOD)
}

/// Answers a preflight, or lists the allowed methods.
fn options(context: &RequestContext, route: &Route, head: &Parts) -> Answer {
    let mut response = Response::new(ResponseBody::empty());
    *response.status_mut() = StatusCode::NO_CONTENT;
    let cors = &context.generation.cors;
    let may_call = !matches!(route.gate, Gate::Operator | Gate::Admin)
        && cors.preflight(head, route.methods, response.headers_mut());
    if !may_call {
        response.headers_mut().insert(ALLOW, HeaderValue::from_static(route.methods));
    }
    Answer::page(response)
}

/// True if a person opens the printed address of the API in a browser, in dev mode. Clients of the API ask for no HTML.
fn is_visit(context: &RequestContext, head: &Parts) -> bool {
    let asks_page = || head.headers.get(ACCEPT).is_some_and(|it| it.as_bytes().starts_with(b"text/html"));
    head.method == Method::GET && context.generation.dev && head.uri.query().is_none() && asks_page()
}

fn redirect(to: &'static str) -> Answer {
    let mut response = Response::new(ResponseBody::empty());
    *response.status_mut() = StatusCode::TEMPORARY_REDIRECT;
    response.headers_mut().insert(LOCATION, HeaderValue::from_static(to));
    Answer::page(response)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(path: &str, place: ListenerRole, expected: Option<&str>) {
        assert_eq!(find(path, place).map(|it| it.path), expected, "{path}");
    }

    #[test]
    fn only_what_is_in_the_table_exists() {
        check("/graphql", ListenerRole::Only, Some("/graphql"));
        check("/graphql/", ListenerRole::Only, None);
        check("/console/assets/a.js", ListenerRole::Only, Some("/console/"));
        check("/consolation", ListenerRole::Only, None);
        check("//graphql", ListenerRole::Only, None);
    }

    #[test]
    fn only_addresses_and_localhost_are_this_machine() {
        let here = ["localhost", "LocalHost:8080", "127.0.0.1:1", "[::1]:8080", "a.localhost"];
        let elsewhere = ["evil.com", "localhost.evil.com:80"];
        assert!(here.iter().all(|it| is_local_name(it)) && !elsewhere.iter().any(|it| is_local_name(it)));
    }

    #[test]
    fn an_admin_listener_takes_the_metrics_and_serves_no_data() {
        check("/metrics", ListenerRole::Only, Some("/metrics"));
        check("/metrics", ListenerRole::Public, None);
        check("/metrics", ListenerRole::Admin, Some("/metrics"));
        check("/graphql", ListenerRole::Admin, None);
        check("/readyz", ListenerRole::Admin, Some("/readyz"));
    }

    #[test]
    fn every_page_beyond_probes_graphql_and_agents_has_a_gate() {
        let open: Vec<&str> = ROUTES.iter().filter(|it| it.gate == Gate::Open).map(|it| it.path).collect();
        let expected = [
            "/graphql",
            "/v1/graphql",
            "/v1alpha1/graphql",
            "/v1beta1/relay",
            "/api/rest/",
            "/mcp",
            "/.well-known/oauth-protected-resource",
            "/.well-known/oauth-protected-resource/mcp",
            "/livez",
            "/readyz",
            "/healthz",
            "/hasura/healthz",
            "/v1/version",
            "/favicon.ico",
        ];
        assert_eq!(open, expected);
    }
}
