//! Authentication over real sockets: statuses and codes of each address, tokens, the webhook, the environment, the log.

use crate::support::{Answer, Folder, Weir, body, command, until};
use crate::upstream_kit::{Answer as HookAnswer, Upstream};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::hmac;
use std::collections::BTreeMap;

const ASK: &str = "{ pet_by_pk(id: 1) { name } }";
const ADA: &str = r#"{"data":{"pet_by_pk":{"name":"Ada"}}}"#;
const SECRET: &str = "0123456789abcdef0123456789abcdef";
pub(crate) const JWT: &str =
    "admin_secret: hush\nauth:\n  jwt:\n    - {type: HS256, key: 0123456789abcdef0123456789abcdef}";
/// The addresses of GraphQL.
const DOORS: [&str; 3] = ["/graphql", "/v1/graphql", "/v1alpha1/graphql"];

/// A token of these roles, the first the default one, with further claims.
pub(crate) fn token(roles: &[&str], more: &str) -> String {
    let roles: Vec<String> = roles.iter().map(|it| format!("\"{it}\"")).collect();
    let default = &roles[0];
    let all = roles.join(",");
    let own = format!(r#""x-hasura-allowed-roles":[{all}],"x-hasura-default-role":{default}"#);
    let claims = format!(r#"{{"https://hasura.io/jwt/claims":{{{own}}}{more}}}"#);
    let signed =
        format!("{}.{}", URL_SAFE_NO_PAD.encode(r#"{"alg":"HS256"}"#), URL_SAFE_NO_PAD.encode(claims));
    let signature = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, SECRET.as_bytes()), signed.as_bytes());
    format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature))
}

/// Checks status, code and a part of the message at each address of [`DOORS`].
fn check(weir: &Weir, headers: &[(&str, &str)], expected: [(u16, &str); 3], part: &str) {
    for (door, (status, code)) in DOORS.into_iter().zip(expected) {
        let answer = weir.post(door, headers, body(ASK).as_bytes());
        assert_eq!((answer.status, answer.code().as_str()), (status, code), "{door}: {}", answer.text());
        assert!(answer.text().contains(part) && !answer.text().contains("\"data\""), "{}", answer.text());
    }
}

fn check_served(weir: &Weir, headers: &[(&str, &str)]) {
    for door in DOORS {
        let answer = weir.post(door, headers, body(ASK).as_bytes());
        assert_eq!((answer.status, answer.text()), (200, ADA), "{door}");
    }
}

#[test]
fn each_address_has_the_statuses_and_codes_of_its_protocol() {
    let weir = Weir::with_settings(JWT);
    let denied = [(401, "ACCESS_DENIED"), (200, "access-denied"), (401, "access-denied")];
    check(&weir, &[("x-hasura-admin-secret", "husk")], denied, "invalid \\\"x-hasura-admin-secret\\\"");
    let forged = [(401, "INVALID_TOKEN"), (200, "invalid-jwt"), (400, "invalid-jwt")];
    let expired = format!("Bearer {}", token(&["admin"], r#","exp":1"#));
    check(&weir, &[("authorization", &expired)], forged, "Could not verify JWT: JWTExpired");
    let none = [(401, "INVALID_TOKEN"), (200, "invalid-headers"), (400, "invalid-headers")];
    check(&weir, &[], none, "Missing 'Authorization' or 'Cookie' header in JWT authentication mode");
    check(&weir, &[("authorization", "Basic YTpi")], none, "Malformed Authorization header");
    let role = [(403, "ACCESS_DENIED"), (200, "access-denied"), (400, "access-denied")];
    let user = format!("Bearer {}", token(&["user"], ""));
    check(&weir, &[("authorization", &user), ("x-hasura-role", "admin")], role, "not in allowed roles");
    // A role without permissions sees nothing.
    let unknown =
        [(200, "GRAPHQL_VALIDATION_FAILED"), (200, "validation-failed"), (400, "validation-failed")];
    check(&weir, &[("authorization", &user)], unknown, "pet_by_pk");
    check_served(
        &weir,
        &[
            ("authorization", &format!("Bearer {}", token(&["user", "admin"], ""))),
            ("x-hasura-role", "admin"),
        ],
    );
    check_served(&weir, &[("x-hasura-admin-secret", "hush"), ("authorization", "Bearer forged")]);
    let get = |path: &str| weir.get(path, &[("authorization", &user)]).status;
    assert_eq!([get("/graphql?query={__typename}"), get("/metrics")], [200, 403]);
}

#[test]
fn errors_of_requests_have_their_status_at_the_older_address() {
    let weir = Weir::pets(&[]);
    let ask = |text: &str| weir.post("/v1alpha1/graphql", &[], text.as_bytes());
    let told = |answer: &Answer| (answer.status, answer.code());
    assert_eq!(told(&ask(r#"{"query":"{ nothing }"}"#)), (400, "validation-failed".into()));
    assert_eq!(told(&ask("{")), (400, "invalid-json".into()));
    assert_eq!(told(&ask("{}")), (400, "parse-failed".into()));
    assert_eq!(ask(&body(ASK)).text(), ADA);
}

#[test]
fn session_headers_that_do_not_count_are_logged_and_counted() {
    let weir = Weir::with_settings(JWT);
    let bearer = format!("Bearer {}", token(&["admin"], ""));
    for id in ["7", "8"] {
        check_served(&weir, &[("authorization", &bearer), ("x-hasura-user-id", id), ("x-weir-org", "a")]);
    }
    let words = "session headers of a caller without an admin secret are ignored";
    until("it is logged", || weir.log().contains(words));
    assert_eq!(weir.log().matches(words).count(), 1, "{}", weir.log());
    assert!(weir.log().contains("x-hasura-user-id, x-weir-org"), "{}", weir.log());
    let metrics = weir.get("/metrics", &[("x-hasura-admin-secret", "hush")]);
    assert!(metrics.text().contains("weir_ignored_session_headers_total 6\n"), "{}", metrics.text());
}

fn hook(ask: &str, status: u16, headers: &[(&str, &str)], text: &str) -> HookAnswer {
    let headers: BTreeMap<String, String> =
        headers.iter().map(|it| (it.0.to_owned(), it.1.to_owned())).collect();
    let ask = ask.to_owned();
    let text = Some(text.to_owned());
    HookAnswer { ask, when: BTreeMap::new(), status, headers, answer: None, text }
}

#[test]
fn the_webhook_says_who_calls() {
    let service = Upstream::start(vec![hook(
        "GET /who",
        200,
        &[("set-cookie", "s=1")],
        r#"{"x-hasura-role":"admin"}"#,
    )]);
    let url = format!("http://{}/who", service.address);
    let weir = Weir::with_settings(&format!("admin_secret: hush\nauth: {{webhook: {{url: \"{url}\"}}}}"));
    check_served(&weir, &[("authorization", "Bearer a")]);
    let answer = weir.post("/graphql", &[], body(ASK).as_bytes());
    assert_eq!(answer.header("set-cookie"), Some("s=1"));
    service.set(vec![hook("GET /who", 401, &[], "")]);
    let denied = [(401, "ACCESS_DENIED"), (200, "access-denied"), (401, "access-denied")];
    check(&weir, &[], denied, "Authentication hook unauthorized this request");
    service.set(vec![hook("GET /who", 200, &[], r#"{"x-hasura-role":"user"}"#)]);
    let unknown =
        [(200, "GRAPHQL_VALIDATION_FAILED"), (200, "validation-failed"), (400, "validation-failed")];
    check(&weir, &[], unknown, "pet_by_pk");
    service.set(vec![hook("GET /who", 500, &[], "")]);
    let broken = [(503, "AUTH_UNAVAILABLE"), (200, "unexpected"), (500, "unexpected")];
    check(&weir, &[], broken, "Invalid response from authorization hook");
    let asked = service.take_requests();
    assert!(
        asked.iter().any(|it| it.headers.contains(&("authorization".into(), "Bearer a".into()))),
        "{asked:?}"
    );
    check_served(&weir, &[("x-hasura-admin-secret", "hush")]);
    assert!(service.take_requests().is_empty());
}

#[test]
fn the_webhook_gets_the_request_by_post() {
    let service = Upstream::start(vec![hook("POST /who", 200, &[], r#"{"x-hasura-role":"admin"}"#)]);
    let url = format!("http://{}/who", service.address);
    let weir = Weir::with_settings(&format!(
        "admin_secret: hush\nauth: {{webhook: {{url: \"{url}\", mode: POST}}}}"
    ));
    check_served(&weir, &[]);
    let asked = service.take_requests();
    assert_eq!(asked.len(), 3);
    let request = format!(r#","request":{}}}"#, body(ASK));
    assert!(asked.iter().all(|it| it.body.ends_with(&request)), "{asked:?}");
    assert_eq!(weir.get(&"/graphql?query={__typename}".replace(' ', "%20"), &[]).status, 200);
    assert!(service.take_requests().iter().all(|it| !it.body.contains("\"request\"")));
}

#[test]
fn hasura_s_variables_set_secret_and_tokens() {
    let folder = Folder::new();
    let target = format!("sqlite:{}", folder.pets().display());
    let jwt = format!(r#"{{"type":"HS256","key":"{SECRET}"}}"#);
    let weir = Weir::run(
        command()
            .args(["serve", &target, "--listen", "127.0.0.1:0"])
            .env("HASURA_GRAPHQL_ADMIN_SECRET", "hush")
            .env("HASURA_GRAPHQL_JWT_SECRET", jwt),
        folder,
    );
    check_served(&weir, &[("x-hasura-admin-secret", "hush")]);
    check_served(&weir, &[("authorization", &format!("Bearer {}", token(&["admin"], "")))]);
    assert_eq!(weir.post("/graphql", &[], body(ASK).as_bytes()).status, 401);
}

#[test]
fn check_tells_faults_of_auth_with_line_and_way_out() {
    let folder = Folder::new();
    folder.pets();
    let file = folder.file("weir.yaml").display().to_string();
    for (yaml, part) in [
        (
            "auth:\n  unauthorized_role: anonymous",
            "weir.yaml:4:3: auth.unauthorized_role: needs an admin secret",
        ),
        (
            "admin_secret: hush\nauth:\n  jwt:\n    - type: HS256\n      key: hush",
            "weir.yaml:7:7: auth.jwt[0].key: Key size too small; should be atleast 32 characters",
        ),
        ("admin_secret: hush\nauth: {jwt: [{type: none}]}", "`none` is none of: HS256, HS384"),
        ("admin_secret: hush\nauth: {jwt: [{jwk_uri: a}]}", "unknown key `jwk_uri`; did you mean `jwk_url`?"),
        (
            "admin_secret: hush\nauth: {jwt: [{jwk_url: \"https://a\", claims_map: {x-hasura-user-id: 7}}]}",
            "a text, a list of texts, or `{path: …, default: …}`",
        ),
    ] {
        folder.write("weir.yaml", &crate::support::config(yaml));
        let run = command().args(["check", &file]).output().expect("it runs");
        let words = String::from_utf8_lossy(&run.stderr);
        assert!(!run.status.success() && words.contains(part), "{part} is not in {words}");
        assert!(!words.contains("hush"), "{words}");
    }
}
