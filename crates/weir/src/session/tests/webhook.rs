//! The webhook: what it is sent, what its answers mean, and how long they are kept.

use super::*;
use crate::config::{AuthWebhook, WebhookMode};

const USER: &str = r#"{"X-Hasura-Role":"user","x-hasura-user-id":"7","other":"a"}"#;

fn of(service: &LoopbackService, mode: WebhookMode, send_request: bool) -> Config {
    let webhook = Some(AuthWebhook { mode, send_request, ..AuthWebhook::at(service.url()) });
    config(Auth { webhook, ..Auth::default() })
}

async fn ask(authenticator: &Authenticator, lines: &[(&'static str, &str)]) -> Result<Session, AuthError> {
    authenticator.authenticate(&headers(lines), None).await
}

#[test]
fn a_get_has_the_client_s_headers_and_the_answer_is_the_session() {
    let service = LoopbackService::start(Reply::ok("set-cookie: a=b\r\nset-cookie: c=d\r\n", USER));
    let authenticator = authenticator(&of(&service, WebhookMode::Get, true), &Clock::new_simulated());
    let lines = [
        ("authorization", "Bearer t"),
        ("cookie", "s=1"),
        ("host", "elsewhere"),
        ("user-agent", "curl"),
        ("x-hasura-role", "admin"),
        ("content-type", "application/json"),
    ];
    let session = run(ask(&authenticator, &lines)).expect("the hook says so");
    assert_eq!(variables(&session), [("x-hasura-role", "user"), ("x-hasura-user-id", "7")]);
    assert_eq!(session.cookies, ["a=b", "c=d"]);
    let asked = service.requests().concat();
    for part in ["GET /it HTTP/1.1", "authorization: Bearer t", "cookie: s=1", "x-hasura-role: admin"] {
        assert!(asked.contains(part), "{part} is not in {asked}");
    }
    for part in ["elsewhere", "curl", "application/json"] {
        assert!(!asked.contains(part), "{part} is in {asked}");
    }
}

#[test]
fn a_post_has_headers_and_request_as_json() {
    let service = LoopbackService::start(Reply::ok("", USER));
    let post = authenticator(&of(&service, WebhookMode::Post, true), &Clock::new_simulated());
    let lines = headers(&[("authorization", "Bearer t"), ("x-a", "\"1\"")]);
    assert!(post.needs_request(&lines));
    assert!(!post.needs_request(&headers(&[("x-hasura-admin-secret", "hush")])));
    let body = |asked: &str| asked.split_once("\r\n\r\n").map(|it| it.1.to_owned()).unwrap_or_default();
    let last = || body(service.requests().last().map_or("", |it| it));
    run(async {
        for (sent, request) in [
            (
                r#"{"query":"{ a }","variables":{"b":1.0},"operationName":null,"extensions":{}}"#,
                r#","request":{"query":"{ a }","variables":{"b":1.0},"operationName":null}"#,
            ),
            (
                r#"[{"query":"{ a }"},{"query":"{ b }"}]"#,
                r#","request":[{"query":"{ a }"},{"query":"{ b }"}]"#,
            ),
            ("no JSON", ""),
        ] {
            check(post.authenticate(&lines, Some(sent.as_bytes())).await, Ok("user"));
            assert_eq!(
                last(),
                format!(r#"{{"headers":{{"authorization":"Bearer t","x-a":"\"1\""}}{request}}}"#)
            );
        }
        let without = authenticator(&of(&service, WebhookMode::Post, false), &Clock::new_simulated());
        assert!(!without.needs_request(&lines));
        check(without.authenticate(&lines, Some(br#"{"query":"{ a }"}"#)).await, Ok("user"));
        assert!(!last().contains("request"), "{}", last());
    });
}

#[test]
fn answers_of_the_webhook_have_hasura_s_meaning() {
    let service = LoopbackService::start(Reply::ok("", ""));
    let authenticator = authenticator(&of(&service, WebhookMode::Get, true), &Clock::new_simulated());
    let unusable = Err((AuthFault::Unavailable, "Invalid response from authorization hook"));
    let denied = Err((AuthFault::HookDenied, "Authentication hook unauthorized this request"));
    let no_role = Err((AuthFault::HookRole, "\"x-hasura-role\" not found in session variables"));
    run(async {
        for (status, body, expected) in [
            (200, USER, Ok("user")),
            (401, USER, denied),
            (403, USER, unusable),
            (500, "", unusable),
            (201, USER, unusable),
            (200, "", unusable),
            (200, "[]", unusable),
            (200, r#"{"x-hasura-role":7}"#, unusable),
            (200, r#"{"x-hasura-role":"user","x-hasura-ids":[1]}"#, unusable),
            (200, r#"{"x-hasura-role":"user","X-Hasura-Role":"admin"}"#, unusable),
            (200, "{}", no_role),
            (200, r#"{"x-hasura-role":""}"#, no_role),
        ] {
            service.says(Reply { status, head: String::new(), body: body.into() });
            check(ask(&authenticator, &[]).await, expected);
        }
        let gone = LoopbackService::start(Reply::ok("", USER));
        let mut config = of(&gone, WebhookMode::Get, true);
        if let Some(hook) = &mut config.auth.webhook {
            hook.url = "http://127.0.0.1:1/".into();
        }
        let authenticator = super::authenticator(&config, &Clock::new_simulated());
        let failed = Err((AuthFault::Unavailable, "webhook authentication request failed"));
        check(ask(&authenticator, &[]).await, failed);
    });
}

#[test]
fn the_session_ends_when_the_webhook_says() {
    let service = LoopbackService::start(Reply::ok("", ""));
    let authenticator = authenticator(&of(&service, WebhookMode::Get, true), &Clock::new_simulated());
    run(async {
        for (more, expected) in [
            ("", None),
            (r#","Cache-Control":"max-age=60""#, Some(NOW_S + 60)),
            (r#","Expires":"Thu, 01 Jan 2026 00:02:00 GMT""#, Some(NOW_S + 120)),
            (r#","Cache-Control":"max-age=60","Expires":"Thu, 01 Jan 2026 00:02:00 GMT""#, Some(NOW_S + 60)),
            (r#","cache-control":"max-age=60""#, None),
        ] {
            service.says(Reply::ok("", &format!(r#"{{"x-hasura-role":"user"{more}}}"#)));
            let session = ask(&authenticator, &[]).await.expect("the hook says so");
            assert_eq!(session.expires_ms, expected.map(|it| it * 1000), "{more}");
        }
    });
}

#[test]
fn an_answer_with_a_lifetime_is_kept_for_equal_headers_alone() {
    let service = LoopbackService::start(Reply::ok("cache-control: max-age=60\r\n", USER));
    let clock = Clock::new_simulated();
    let authenticator = authenticator(&of(&service, WebhookMode::Get, true), &clock);
    let ada = [("authorization", "Bearer a")];
    let bob = [("authorization", "Bearer b")];
    run(async {
        for _ in 0..3 {
            check(ask(&authenticator, &ada).await, Ok("user"));
        }
        check(ask(&authenticator, &[("authorization", "Bearer a"), ("x-request-id", "1")]).await, Ok("user"));
        assert_eq!(service.requests().len(), 1);
        service.says(Reply::ok("cache-control: max-age=60\r\n", r#"{"x-hasura-role":"other"}"#));
        check(ask(&authenticator, &bob).await, Ok("other"));
        check(
            ask(&authenticator, &[("authorization", "Bearer a"), ("x-hasura-role", "b")]).await,
            Ok("other"),
        );
        check(ask(&authenticator, &[]).await, Ok("other"));
        check(ask(&authenticator, &ada).await, Ok("user"));
        clock.advance_ms(60_000);
        check(ask(&authenticator, &ada).await, Ok("other"));
        assert_eq!(service.requests().len(), 5);
    });
}

#[test]
fn denials_cookies_and_answers_without_a_lifetime_are_not_kept() {
    let service = LoopbackService::start(Reply::ok("", USER));
    let authenticator = authenticator(&of(&service, WebhookMode::Get, true), &Clock::new_simulated());
    let mut count = 0;
    run(async {
        for (status, head) in [
            (200, ""),
            (200, "cache-control: no-store, max-age=60\r\n"),
            (200, "cache-control: max-age=60\r\nset-cookie: a=b\r\n"),
            (401, "cache-control: max-age=60\r\n"),
        ] {
            service.says(Reply { status, head: head.into(), body: USER.into() });
            for _ in 0..2 {
                assert_eq!(ask(&authenticator, &[]).await.is_ok(), status == 200);
                count += 1;
                assert_eq!(service.requests().len(), count, "{head}");
            }
        }
    });
}

#[test]
fn a_call_that_nobody_waits_for_answers_nobody_later() {
    use crate::session::Mode;
    use futures_util::future::{Either, select};

    let service = LoopbackService::start(Reply::ok("", USER));
    let authenticator = authenticator(&of(&service, WebhookMode::Get, true), &Clock::new_simulated());
    let Mode::Webhook(hook) = &authenticator.mode else { panic!("it is another mode") };
    run(async {
        let first = Box::pin(ask(&authenticator, &[]));
        let asked = Box::pin(service.until(1));
        match select(asked, first).await {
            Either::Left((_, left)) => drop(left),
            Either::Right(_) => {}
        }
        while hook.under_way() > 0 {
            tokio::task::yield_now().await;
        }
        service.says(Reply::ok("", r#"{"x-hasura-role":"other"}"#));
        check(ask(&authenticator, &[]).await, Ok("other"));
        let together = futures_util::future::join_all((0..8).map(|_| ask(&authenticator, &[])));
        together.await.into_iter().for_each(|it| check(it, Ok("other")));
        assert_eq!((service.requests().len(), hook.under_way()), (3, 0));
    });
}
