//! Tests of access, generated from the table of addresses: new addresses are tested too.

use super::faults::{ask, server, start_configured};
use crate::config::{Auth, Config, Mcp, Operations};
use crate::server::router::{Gate, ROUTES, Route};
use crate::session::tests::{claims, config, hs, hs256};

/// The status of a request without a body.
fn status(answer: &str) -> u16 {
    answer.split(' ').nth(1).and_then(|it| it.parse().ok()).unwrap_or(0)
}

#[test]
fn no_page_of_another_origin_reaches_an_operator_s_address() {
    let server = server();
    let own = server.listen().to_string();
    let mut guarded = Vec::new();
    for route in ROUTES.iter().filter(|it| matches!(it.gate, Gate::Operator | Gate::Admin)) {
        for method in route.methods.split(", ").filter(|it| *it != "GET" && *it != "HEAD") {
            let head = |host: &str, origin: &str| {
                let head = format!("{method} {} HTTP/1.1\r\norigin: {origin}", route.path);
                let answer = ask(&server, &head, host, "");
                let is_denied = answer.contains("ACCESS_DENIED") || answer.contains("access-denied");
                (status(&answer), is_denied)
            };
            for origin in
                ["http://evil.com", "http://localhost:3000", "null", "", &format!("http://{own}.evil.com")]
            {
                assert_eq!(head(&own, origin), (403, true), "{} {origin}", route.path);
            }
            assert!(!head(&own, &format!("http://{own}")).1, "{}", route.path);
            guarded.push(route.path);
        }
    }
    assert_eq!(
        guarded,
        [
            "/admin/operations/samples",
            "/admin/documents",
            "/admin/services/check",
            "/v1/explain",
            "/v1/explain/row",
            "/v1/reload",
            "/v1/invalidate",
            "/admin/schema",
            "/admin/schema/plan",
            "/admin/catalog",
            "/v1/metadata",
            "/v2/query",
            "/v1/query",
            "/v1alpha1/pg_dump",
            "/v1/graphql/explain"
        ]
    );
    assert_eq!(server.stop(), Ok(()));
}

/// The claims of a caller whose only role is admin.
const ADMIN_CLAIMS: &str =
    r#"{"https://hasura.io/jwt/claims":{"x-hasura-allowed-roles":["admin"],"x-hasura-default-role":"admin"}"#;

/// The statuses that one who is not the admin may get.
fn for_strangers(route: &Route, method: &str) -> &'static [u16] {
    match (route.gate, route.path, method) {
        (Gate::Operator, ..) | (Gate::Open, "/graphql", _) => &[401, 403],
        (Gate::Open, "/v1/graphql", "POST") => &[200],
        // No database, nothing of Relay's.
        (Gate::Open, "/v1beta1/relay", _) => &[200, 404],
        (Gate::Admin, ..) | (Gate::Open, "/v1alpha1/graphql", "POST") => &[400, 401, 403],
        (Gate::Open, "/api/rest/", _) => &[400, 401, 404],
        (Gate::Open, "/mcp", _) => &[400, 401, 403, 415],
        (Gate::Open, path, _) if path.starts_with("/.well-known/") => &[404],
        (Gate::Dev, ..) | (Gate::Open, "/v1/graphql" | "/v1alpha1/graphql", _) => &[404],
        (Gate::Open, ..) => &[200],
    }
}

/// True for an address where clients ask, as callers of all roles.
fn is_of_clients(path: &str) -> bool {
    path.ends_with("graphql")
        || path.ends_with("relay")
        || path.starts_with("/api/")
        || path == "/mcp"
        || path.starts_with("/.well-known/")
}

#[test]
fn every_address_denies_whoever_is_not_admin() {
    let auth = Auth { jwt: vec![hs256()], ..Auth::default() };
    let operations = Operations { mcp: Mcp { enabled: true, ..Mcp::default() }, ..Operations::default() };
    let server = start_configured(Config { dev: Some(false), operations, ..config(auth) });
    let bearer = |claims: &str| format!("authorization: Bearer {}", hs(claims));
    let expired = bearer(&format!("{ADMIN_CLAIMS},\"exp\":1}}"));
    let user = bearer(&claims(""));
    let strangers = [
        "x-anonymous: 1",
        "x-hasura-role: admin",
        "x-hasura-admin-secret: husk",
        "authorization: Bearer hush",
        &user,
        &format!("{user}\r\nx-hasura-role: admin"),
        &expired,
    ];
    let admins = ["x-weir-admin-secret: hush", &bearer(&format!("{ADMIN_CLAIMS}}}"))];
    let mut open = Vec::new();
    for route in ROUTES {
        for method in route.methods.split(", ") {
            let told = |line: &str| {
                // A profile takes as long as it is told to.
                let query = if route.path == "/admin/profile" { "?seconds=1" } else { "" };
                let head = format!("{method} {}{query} HTTP/1.1\r\n{line}", route.path);
                let body = if method == "POST" { r#"{"query":"{ __typename }"}"# } else { "" };
                let answer = ask(&server, &head, "localhost", body);
                assert!(
                    !answer.contains("\"data\"") || admins.contains(&line),
                    "{method} {}: {line}",
                    route.path
                );
                status(&answer)
            };
            for line in strangers.into_iter().filter(|it| !(route.path.ends_with("/graphql") && *it == user))
            {
                let expected = for_strangers(route, method);
                assert!(expected.contains(&told(line)), "{method} {}: {line}: {}", route.path, told(line));
            }
            match route.gate {
                Gate::Operator | Gate::Admin => {
                    for line in admins {
                        assert!(!matches!(told(line), 401 | 403), "{method} {}: {line}", route.path);
                    }
                }
                Gate::Open if !is_of_clients(route.path) => open.push(route.path),
                Gate::Open | Gate::Dev => {}
            }
        }
    }
    open.dedup();
    assert_eq!(open, ["/livez", "/readyz", "/healthz", "/hasura/healthz", "/v1/version", "/favicon.ico"]);
    assert_eq!(server.stop(), Ok(()));
}
