//! The table of addresses: what is there, by which methods, for whom.
//!
//! **Invariant:** an address without an entry does not exist, and every entry says who may use it. The guard test walks
//! this table, so a new page cannot be forgotten.

use super::auth;
use super::body::Reply;
use super::exchange::{Answer, Exchange, Refusal};
use super::heads::STAND_IN_METHOD;
use super::metrics::Door;
use super::worker::Place;
use super::{admin, console, cors, graphql, hasura, health, http2, schema, socket};
use hyper::body::Incoming;
use hyper::header::{ALLOW, AUTHORIZATION, CONTENT_TYPE, HOST, HeaderName, HeaderValue, LOCATION, ORIGIN};
use hyper::http::request::Parts;
use hyper::{HeaderMap, Method, Response, StatusCode};

/// Callers of an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Gate {
    /// Anyone: probes, and pages that check the caller themselves in the words of their protocol.
    Open,
    /// The holder of the admin secret; where none is set, anyone in dev mode.
    Operator,
    /// Anyone, in dev mode only.
    Dev,
}

/// Listener of an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Where {
    Everywhere,
    /// On the admin listener if there is one, else on the only one.
    Admin,
    /// Not on the admin listener.
    Public,
}

/// Handler of an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Page {
    Graphql,
    Hasura,
    Live,
    Ready,
    Health,
    Version,
    Metrics,
    Explain,
    Reload,
    Invalidate,
    Schema,
    Console,
    Icon,
    Root,
}

/// One address.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Route {
    /// The path, or its beginning where it ends in `/`.
    pub(crate) path: &'static str,
    /// For `Allow`.
    pub(crate) methods: &'static str,
    pub(crate) gate: Gate,
    on: Where,
    page: Page,
}

const fn route(path: &'static str, methods: &'static str, gate: Gate, on: Where, page: Page) -> Route {
    Route { path, methods, gate, on, page }
}

/// Every address there is; the busiest first.
pub(crate) const ROUTES: &[Route] = &[
    route("/graphql", "GET, POST", Gate::Open, Where::Public, Page::Graphql),
    route("/v1/graphql", "GET, POST", Gate::Open, Where::Public, Page::Hasura),
    route("/livez", "GET, HEAD", Gate::Open, Where::Everywhere, Page::Live),
    route("/readyz", "GET, HEAD", Gate::Open, Where::Everywhere, Page::Ready),
    route("/healthz", "GET, HEAD", Gate::Open, Where::Everywhere, Page::Health),
    route("/v1/version", "GET, HEAD", Gate::Open, Where::Everywhere, Page::Version),
    route("/metrics", "GET", Gate::Operator, Where::Admin, Page::Metrics),
    route("/v1/explain", "POST", Gate::Operator, Where::Everywhere, Page::Explain),
    route("/v1/reload", "POST", Gate::Operator, Where::Admin, Page::Reload),
    route("/v1/invalidate", "POST", Gate::Operator, Where::Admin, Page::Invalidate),
    route("/admin/schema", "POST", Gate::Operator, Where::Admin, Page::Schema),
    route("/console", "GET, HEAD", Gate::Dev, Where::Public, Page::Console),
    route("/console/", "GET, HEAD", Gate::Dev, Where::Public, Page::Console),
    route("/favicon.ico", "GET, HEAD", Gate::Open, Where::Everywhere, Page::Icon),
    route("/", "GET, HEAD", Gate::Dev, Where::Public, Page::Root),
];

/// The entry for `path` on the listener `place`.
fn find(path: &str, place: Place) -> Option<&'static Route> {
    let fits = |it: &&Route| it.path == path || (it.path == "/console/" && path.starts_with(it.path));
    let here = |it: &&Route| match (it.on, place) {
        (Where::Everywhere, _) | (Where::Public | Where::Admin, Place::Only) => true,
        (Where::Public, Place::Public) | (Where::Admin, Place::Admin) => true,
        (Where::Public, Place::Admin) | (Where::Admin, Place::Public) => false,
    };
    ROUTES.iter().find(fits).filter(here)
}

fn is_allowed(route: &Route, method: &Method) -> bool {
    route.methods.split(',').any(|it| it.trim_ascii_start() == method.as_str())
}

/// Answers a request, whatever it is.
///
/// A future is moved several times before it first runs, so what is seldom asked for is not part of this one.
pub(crate) async fn answer(exchange: &Exchange, place: Place, head: &Parts, body: Incoming) -> Answer {
    let answered = match admit(exchange, place, head) {
        Err(refusal) => Err(refusal),
        Ok(route) if socket::is_offered(&head.headers) => upgrade(exchange, route, head),
        Ok(route) if head.method == Method::OPTIONS => Ok(options(exchange, route, head)),
        Ok(route) => match route.page {
            Page::Graphql => graphql::answer(exchange, head, body).await,
            Page::Hasura => hasura::answer(exchange, head, body).await,
            Page::Live => Ok(health::live()),
            Page::Ready => Ok(Box::pin(health::ready(exchange)).await),
            Page::Health => Ok(health::health(exchange)),
            Page::Version => Ok(admin::version()),
            Page::Metrics => Ok(admin::metrics(exchange)),
            Page::Explain => Box::pin(admin::explain(exchange, head, body)).await,
            Page::Reload => Box::pin(admin::reload(exchange)).await,
            Page::Invalidate => Box::pin(admin::invalidate(exchange, head, body)).await,
            Page::Schema => Box::pin(schema::change(exchange, head, body)).await,
            Page::Console => console::answer(head),
            Page::Icon => Ok(console::icon()),
            Page::Root => Ok(redirect("/console")),
        },
    };
    answered.unwrap_or_else(|refusal| {
        if refusal.code.starts_with("LIMIT_") {
            exchange.worker.metrics.limit(refusal.code);
        }
        let door = match head.uri.path() {
            "/graphql" => Door::Graphql,
            "/v1/graphql" => Door::Hasura,
            _ => Door::Other,
        };
        // The bytes behind such a head may be no HTTP.
        let refusal = if socket::is_offered(&head.headers) { refusal.closing() } else { refusal };
        refusal.answer(door)
    })
}

/// Answers a client that wants a WebSocket.
fn upgrade(exchange: &Exchange, route: &Route, head: &Parts) -> Result<Answer, Refusal> {
    match route.page {
        Page::Graphql => socket::accept(exchange, head, Door::Graphql),
        Page::Hasura => socket::accept(exchange, head, Door::Hasura),
        _ => {
            let message = "WebSockets are taken at /graphql and /v1/graphql";
            Err(Refusal::new(StatusCode::BAD_REQUEST, "UPGRADE_NOT_SUPPORTED", message))
        }
    }
}

/// The entry for what is asked, if the head is sound and its sender may ask.
fn admit(exchange: &Exchange, place: Place, head: &Parts) -> Result<&'static Route, Refusal> {
    check_head(exchange, head)?;
    let route = find(head.uri.path(), place).ok_or_else(Refusal::not_found)?;
    if head.method == Method::OPTIONS {
        return Ok(route);
    }
    if !is_allowed(route, &head.method) {
        return Err(Refusal::method(route.methods));
    }
    pass(exchange, route, head)?;
    Ok(route)
}

/// Checks a head before routing.
fn check_head(exchange: &Exchange, head: &Parts) -> Result<(), Refusal> {
    let (headers, limits) = (&head.headers, &exchange.generation.config.limits);
    let stood_for = exchange.watched.flaw().filter(|_| head.method.as_str() == STAND_IN_METHOD);
    if let Some(flaw) = stood_for.or_else(|| http2::flaw(head, limits)) {
        return Err(flaw.refusal(limits));
    }
    let url_bytes = head.uri.path_and_query().map_or(0, |it| it.as_str().len());
    if url_bytes > limits.url_bytes_max as usize {
        return Err(Refusal::long_url(limits).closing());
    }
    if exchange.generation.local_only && !is_local(head) {
        let message =
            "this server answers to localhost only; set an admin secret to have it answer to other names";
        return Err(Refusal::new(StatusCode::MISDIRECTED_REQUEST, "MISDIRECTED", message));
    }
    match repeated(headers) {
        Some(name) => Err(Refusal::bad_request(format!("the header `{name}` is there twice")).closing()),
        None => Ok(()),
    }
}

/// The first header with two lines of those that must have one: of two lines some readers take the first, others the last.
fn repeated(headers: &HeaderMap) -> Option<&'static HeaderName> {
    static SINGLE: [HeaderName; 5] =
        [CONTENT_TYPE, AUTHORIZATION, ORIGIN, auth::HASURA_SECRET, auth::WEIR_SECRET];
    let any = headers.len() != headers.keys_len();
    SINGLE.iter().find(|it| any && headers.get_all(*it).iter().nth(1).is_some())
}

/// True if the client addresses this machine by an IP address or as `localhost`. A web page can have its own name resolve to
/// 127.0.0.1; served under that name, without a secret, it would be admin.
fn is_local(head: &Parts) -> bool {
    let sent = || head.headers.get(HOST).and_then(|it| it.to_str().ok());
    let authority = head.uri.authority().map(hyper::http::uri::Authority::as_str).or_else(sent);
    authority.is_none_or(is_local_name)
}

/// As [`is_local`], of `name:port`.
fn is_local_name(authority: &str) -> bool {
    let name = match authority.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|it| it.is_ascii_digit()) => name,
        Some(_) | None => authority,
    };
    let name = name.strip_prefix('[').and_then(|it| it.strip_suffix(']')).unwrap_or(name);
    let top = name.rsplit_once('.').map_or(name, |it| it.1);
    top.eq_ignore_ascii_case("localhost") || name.parse::<std::net::IpAddr>().is_ok()
}

/// Lets the request pass the route's gate.
fn pass(exchange: &Exchange, route: &Route, head: &Parts) -> Result<(), Refusal> {
    let generation = &exchange.generation;
    match route.gate {
        Gate::Open => Ok(()),
        Gate::Dev if generation.dev => Ok(()),
        Gate::Dev => Err(Refusal::not_found()),
        // Browsers send a POST of plain text, or of nothing, for any page and ask nobody.
        Gate::Operator if head.method != Method::GET && cors::is_of_another_origin(head) => {
            let message = "a web page of another origin may not use an operator's address";
            Err(Refusal::new(StatusCode::FORBIDDEN, "ACCESS_DENIED", message))
        }
        // A caller that asks for another role is refused, with any secret.
        Gate::Operator if auth::asks_for_other_role(&head.headers) => {
            Err(Refusal::denied(auth::Denied::Role))
        }
        Gate::Operator if generation.secret().is_none() && generation.dev => Ok(()),
        Gate::Operator => auth::operator(exchange, &head.headers).map_err(Refusal::denied),
    }
}

/// A browser's question whether it may call, or anyone's what can be done here.
fn options(exchange: &Exchange, route: &Route, head: &Parts) -> Answer {
    let mut response = Response::new(Reply::empty());
    *response.status_mut() = StatusCode::NO_CONTENT;
    let cors = &exchange.generation.cors;
    let may_call =
        route.gate != Gate::Operator && cors.preflight(&head.headers, route.methods, response.headers_mut());
    if !may_call {
        response.headers_mut().insert(ALLOW, HeaderValue::from_static(route.methods));
    }
    Answer::page(response)
}

fn redirect(to: &'static str) -> Answer {
    let mut response = Response::new(Reply::empty());
    *response.status_mut() = StatusCode::TEMPORARY_REDIRECT;
    response.headers_mut().insert(LOCATION, HeaderValue::from_static(to));
    Answer::page(response)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(path: &str, place: Place, expected: Option<&str>) {
        assert_eq!(find(path, place).map(|it| it.path), expected, "{path}");
    }

    #[test]
    fn only_what_is_in_the_table_exists() {
        check("/graphql", Place::Only, Some("/graphql"));
        check("/graphql/", Place::Only, None);
        check("/console/assets/a.js", Place::Only, Some("/console/"));
        check("/consolation", Place::Only, None);
        check("//graphql", Place::Only, None);
    }

    #[test]
    fn only_addresses_and_localhost_are_this_machine() {
        let (here, elsewhere) = (
            ["localhost", "LocalHost:8080", "127.0.0.1:1", "[::1]:8080", "a.localhost"],
            ["evil.com", "localhost.evil.com:80"],
        );
        assert!(here.iter().all(|it| is_local_name(it)) && !elsewhere.iter().any(|it| is_local_name(it)));
    }

    #[test]
    fn an_admin_listener_takes_the_metrics_and_serves_no_data() {
        check("/metrics", Place::Only, Some("/metrics"));
        check("/metrics", Place::Public, None);
        check("/metrics", Place::Admin, Some("/metrics"));
        check("/graphql", Place::Admin, None);
        check("/readyz", Place::Admin, Some("/readyz"));
    }

    #[test]
    fn every_page_beyond_probes_and_graphql_has_a_gate() {
        let open: Vec<&str> = ROUTES.iter().filter(|it| it.gate == Gate::Open).map(|it| it.path).collect();
        let expected =
            ["/graphql", "/v1/graphql", "/livez", "/readyz", "/healthz", "/v1/version", "/favicon.ico"];
        assert_eq!(open, expected);
    }
}
