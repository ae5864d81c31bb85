//! Callers of services: what is shared between them, what they see, and what of a session reaches a service.

use crate::served_kit::engine;
use crate::wire_kit::{self, Service};
use std::sync::Arc;
use std::time::{Duration, Instant};
use weir_engine::caller::{Claims, Identity, Token};
use weir_engine::engine::{Body, Engine, Request};
use weir_engine::source::{CacheScope, Headers};

const SDL: &str = r#"
extend schema
  @link(url: "https://specs.apollo.dev/connect/v0.3", import: ["@source", "@connect"])
  @link(url: "https://weir.example/spec/v1", import: ["@cache", "@authenticated", "@requiresScopes", "@allow"])
  @source(name: "s", http: {baseURL: "http://upstream"})
  @cache(source: "s", default: 3600)
  @source(name: "p", http: {baseURL: "http://upstream/p"})
  @cache(source: "p", default: 3600, scope: PRIVATE, key: ["X-Hasura-User-Id"])
type Query {
  me: User @connect(source: "s", http: {GET: "/users/{$claims.'user-id'}"}, selection: "id name of: { id: team }")
  tenant: Text @connect(source: "s", http: {GET: "/tenant", headers: [{name: "x-tenant", value: "{$claims.org.id}"}, {name: "x-role", value: "{$role}"}]}, selection: "text")
  said: Text @connect(source: "s", http: {GET: "/said"}, selection: "text: $($claims.sub ?? 'nobody')")
  news: Text @connect(source: "s", http: {GET: "/news"}, selection: "text")
  own: Text @connect(source: "p", http: {GET: "/own"}, selection: "text")
  inside: Text @connect(source: "s", http: {GET: "/inside"}, selection: "text") @authenticated
  edited: Text @connect(source: "s", http: {GET: "/edited"}, selection: "text") @allow(roles: ["editor", "chief"])
  mail: Text @connect(source: "s", http: {GET: "/mail"}, selection: "text") @requiresScopes(scopes: [["read", "mail"], ["all"]])
  secret: Secret @connect(source: "s", http: {GET: "/secret"}, selection: "text")
}
type User { id: ID! name: String of: Team }
type Team @connect(source: "s", http: {GET: "/teams", queryParams: "of: $claims.'user-id' id: $batch.id"}, batch: {maxSize: 9}, selection: "id name") { id: ID! name: String }
type Text { text: String }
type Secret @allow(roles: "chief") { text: String }
"#;

/// A caller with this role, variable `x-hasura-user-id` and token.
fn caller(role: &str, user: Option<&str>, token: &[(&str, &str)]) -> Identity {
    let variables = user.map(|it| ("X-Hasura-User-Id".to_owned(), it.to_owned()));
    let token = token.iter().map(|it| (it.0.to_owned(), it.1.to_owned()));
    let claims = Arc::new(Claims::new(variables, Token::of(token)));
    Identity { role: role.into(), is_backend: false, is_anonymous: false, claims }
}

fn nobody() -> Identity {
    Identity { is_anonymous: true, ..caller("anonymous", None, &[]) }
}

/// Headers by which a client says that it is another.
struct Liar;

impl Headers for Liar {
    fn each<'h>(&'h self, name: &str, take: &mut dyn FnMut(&'h [u8])) {
        if name.starts_with("x-hasura-") {
            take(b"666");
        }
    }
}

/// The answer, and its lifetime's scope and `Vary`.
async fn ask(engine: &Engine, identity: &Identity, query: &str) -> (String, Option<(CacheScope, String)>) {
    let request = Request { headers: &Liar, ..Request::new(query, Instant::now() + Duration::from_secs(60)) };
    let response = engine.execute(request, &engine.caller(identity)).await;
    let told = response.lifetime.map(|it| (it.cache_control.scope, it.vary.to_string()));
    let body = match response.body {
        Body::Whole(bytes) => bytes,
        Body::Shared(bytes) => bytes.to_vec(),
        Body::Stream { .. } | Body::Increments { .. } => panic!("services do not stream"),
    };
    (String::from_utf8(body).unwrap(), told)
}

fn text(name: &str, text: &str) -> String {
    format!(r#"{{"data":{{"{name}":{{"text":"{text}"}}}}}}"#)
}

/// A service that answers with what it was asked.
fn echo() -> Service {
    Service::start_by(|head| {
        let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
        let sent = |name: &str| {
            let value = head.lines().find_map(|it| it.strip_prefix(name)?.strip_prefix(": "));
            value.unwrap_or("none").to_owned()
        };
        let body = match path.strip_prefix("/users/") {
            Some(id) => format!(r#"{{"id":"{id}","name":"n{id}","team":"t"}}"#),
            None if path.starts_with("/teams") => {
                let of = path.trim_start_matches("/teams?of=").split('&').next().unwrap_or_default();
                format!(r#"[{{"id":"t","name":"team of {of}"}}]"#)
            }
            None => format!(r#"{{"text":"{path} {} {}"}}"#, sent("x-tenant"), sent("x-role")),
        };
        wire_kit::answer("200 OK", "", &body)
    })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn users_who_ask_the_same_at_once_never_get_the_answers_of_each_other() {
    let engine = Arc::new(engine(SDL, &echo()));
    let users: Vec<Identity> = (0..4).map(|it| caller("user", Some(&format!("{}", it % 2)), &[])).collect();
    let asked = (0..400).map(|at| {
        let engine = Arc::clone(&engine);
        let identity = users[at % 4].clone();
        tokio::spawn(async move {
            let user = at % 2;
            let (body, _) = ask(&engine, &identity, "{ me { id name of { name } } }").await;
            let expected = format!(
                r#"{{"data":{{"me":{{"id":"{user}","name":"n{user}","of":{{"name":"team of {user}"}}}}}}}}"#
            );
            assert_eq!(body, expected);
        })
    });
    for told in asked.collect::<Vec<_>>() {
        told.await.unwrap();
    }
}

#[tokio::test]
async fn what_is_kept_is_one_users_and_made_once() {
    let service = echo();
    let engine = engine(SDL, &service);
    let ann = caller("user", Some("1"), &[]);
    let bob = caller("user", Some("2"), &[]);
    for _ in 0..3 {
        for (identity, user) in [(&ann, 1), (&bob, 2)] {
            let (body, told) = ask(&engine, identity, "{ me { of { name } } }").await;
            assert_eq!(body, format!(r#"{{"data":{{"me":{{"of":{{"name":"team of {user}"}}}}}}}}"#));
            assert_eq!(told, Some((CacheScope::Private, String::new())));
        }
    }
    assert_eq!(service.calls(), 4, "a user and a team for each");
}

#[tokio::test]
async fn a_session_variable_in_the_key_of_a_private_source_is_no_header() {
    let service = echo();
    let engine = engine(SDL, &service);
    let users = [("1", 1), ("1", 1), ("2", 2), ("1", 2), ("2", 2)];
    for (user, calls) in users {
        let (body, told) = ask(&engine, &caller("user", Some(user), &[]), "{ own { text } }").await;
        assert_eq!(
            (body, told),
            (text("own", "/p/own none none"), Some((CacheScope::Private, String::new())))
        );
        assert_eq!(service.calls(), calls, "{user}");
    }
    // Without the variable nothing is kept, whatever the header says.
    for calls in 3..5 {
        ask(&engine, &caller("user", None, &[]), "{ own { text } }").await;
        assert_eq!(service.calls(), calls);
    }
}

#[tokio::test]
async fn claims_come_from_who_vouches_for_them() {
    let service = echo();
    let engine = engine(SDL, &service);
    let org = [("org", r#"{"id":"a b","n":[1]}"#), ("sub", "\"ann\"")];
    let ann = caller("editor", None, &org);
    assert_eq!(ask(&engine, &ann, "{ tenant { text } }").await.0, text("tenant", "/tenant a b editor"));
    assert_eq!(ask(&engine, &ann, "{ said { text } }").await.0, text("said", "ann"));
    // The same token with another role: its answer is made anew.
    let chief = caller("chief", None, &org);
    assert_eq!(ask(&engine, &chief, "{ tenant { text } }").await.0, text("tenant", "/tenant a b chief"));
    assert_eq!(ask(&engine, &nobody(), "{ said { text } }").await.0, text("said", "nobody"));
    assert_eq!(
        ask(&engine, &nobody(), "{ tenant { text } }").await.0,
        text("tenant", "/tenant none anonymous")
    );
    let calls = service.calls();
    let (missing, _) = ask(&engine, &nobody(), "{ me { id } }").await;
    assert!(
        missing.contains("is missing or cannot be part of a path") && !missing.contains("666"),
        "{missing}"
    );
    let climbs = caller("user", Some(".."), &[]);
    assert!(ask(&engine, &climbs, "{ me { id } }").await.0.contains("cannot be part of a path"));
    let splits = caller("user", None, &[("org", r#"{"id":"a\r\nx-role: chief"}"#)]);
    let (split, _) = ask(&engine, &splits, "{ tenant { text } }").await;
    assert!(split.contains("control characters"), "{split}");
    assert_eq!(service.calls(), calls, "none of these is sent");
    let segment = caller("user", Some("../x?y"), &[]);
    let (body, _) = ask(&engine, &segment, "{ me { id } }").await;
    assert_eq!(body, r#"{"data":{"me":{"id":"..%2Fx%3Fy"}}}"#);
    assert!((0..service.calls()).all(|it| !service.head(it).contains("666")));
}

#[tokio::test]
async fn who_sends_no_credential_shares_with_everybody_and_only_with_such() {
    let service = echo();
    let engine = engine(SDL, &service);
    let (body, told) = ask(&engine, &nobody(), "{ news { text } }").await;
    assert_eq!((body, told), (text("news", "/news none none"), Some((CacheScope::Public, String::new()))));
    let (_, told) = ask(&engine, &nobody(), "{ said { text } }").await;
    assert_eq!(told, Some((CacheScope::Public, String::new())));
    // Where callers see different things, the answer of one with a credential is private, be he admin.
    for known in [caller("user", None, &[]), Identity { is_anonymous: false, ..Identity::admin() }] {
        let (_, told) = ask(&engine, &known, "{ news { text } }").await;
        assert_eq!(told, Some((CacheScope::Private, String::new())));
    }
    assert_eq!(service.calls(), 2, "the service's own answers are everybody's");
}

#[tokio::test]
async fn a_field_that_a_caller_may_not_see_is_absent_and_not_asked_for() {
    let service = echo();
    let engine = engine(SDL, &service);
    let scoped = |name: &str, value: &str| caller("user", None, &[(name, value)]);
    let chief = caller("chief", None, &[("scp", r#"["all"]"#)]);
    let cases = [
        (nobody(), ["news"].as_slice()),
        (caller("user", None, &[]), &["news", "inside"]),
        (caller("editor", None, &[]), &["news", "inside", "edited"]),
        (scoped("scope", "\"mail x read\""), &["news", "inside", "mail"]),
        (scoped("scope", "\"mail\""), &["news", "inside"]),
        (scoped("scope", "\"readmail all2\""), &["news", "inside"]),
        (scoped("scp", r#"["read","mail"]"#), &["news", "inside", "mail"]),
        (scoped("scp", r#"["read mail"]"#), &["news", "inside"]),
        (scoped("scp", r#"{"all":"all"}"#), &["news", "inside"]),
        (chief, &["news", "inside", "edited", "mail", "secret"]),
        (Identity::admin(), &["news", "inside", "edited", "mail", "secret"]),
    ];
    for (identity, expected) in cases {
        let (schema, _) =
            ask(&engine, &identity, "{ __schema { queryType { fields { name } } types { name } } }").await;
        assert_eq!(schema.contains("\"Secret\""), expected.contains(&"secret"), "{identity:?}");
        for field in ["news", "inside", "edited", "mail", "secret"] {
            let is_seen = expected.contains(&field);
            assert_eq!(schema.contains(&format!("\"{field}\"")), is_seen, "{field} {identity:?}");
            let calls = service.calls();
            let (body, _) = ask(&engine, &identity, &format!("{{ {field} {{ text }} }}")).await;
            if is_seen {
                assert_eq!(body, text(field, &format!("/{field} none none")))
            } else {
                assert!(body.contains(&format!("Cannot query field \\\"{field}\\\"")), "{body}");
                assert_eq!(service.calls(), calls, "{field}");
            }
        }
    }
}
