//! Tokens that come again: they are verified once, and no longer believed than they and their keys hold.

use super::*;
use crate::session::authorization_line::NativeTokens;
use weir_engine::caller::Token;
use weir_native::model::{Authorization, AuthorizationKeys};

fn set(keys: &[&str]) -> String {
    format!(r#"{{"keys":[{}]}}"#, keys.join(","))
}

fn of_set(service: &LoopbackService) -> Config {
    config(Auth { jwt: vec![Jwt { jwk_url: Some(service.url()), ..Jwt::default() }], ..Auth::default() })
}

fn rsa(kid: &str, claims: &str) -> String {
    token(&format!(r#"{{"alg":"RS256","kid":"{kid}"}}"#), claims, |it| {
        by_rsa(&signature::RSA_PKCS1_SHA256, it)
    })
}

async fn ask(authenticator: &Authenticator, token: &str, role: Option<&str>) -> Result<Session, AuthError> {
    let bearer = format!("Bearer {token}");
    let mut lines = vec![("authorization", &*bearer)];
    lines.extend(role.map(|it| ("x-hasura-role", it)));
    authenticator.authenticate(&headers(&lines), None).await
}

fn user(id: &str) -> String {
    claims("").replace("\"7\"", &format!("\"{id}\""))
}

#[test]
fn users_whose_tokens_are_known_stay_apart_and_choose_their_roles() {
    let config = config(Auth { jwt: vec![hs256()], ..Auth::default() });
    let authenticator = authenticator(&config, &Clock::new_simulated());
    let ann = hs(&user("ann"));
    let bob = hs(&user("bob"));
    run(async {
        for _ in 0..3 {
            for (token, id) in [(&ann, "ann"), (&bob, "bob")] {
                for (asked, role) in [(None, "user"), (Some("editor"), "editor"), (Some("user"), "user")] {
                    let session = ask(&authenticator, token, asked).await.expect("the token is good");
                    let of = |name: &str| session.identity.claims.variable(name).map(str::to_owned);
                    assert_eq!(&*session.identity.role, role);
                    assert_eq!(of("x-hasura-user-id").as_deref(), Some(id));
                    assert_eq!(of("x-hasura-role").as_deref(), Some(role));
                }
                check(ask(&authenticator, token, Some("chief")).await, Err((AuthFault::Role, "")));
            }
        }
        // One letter of a known token is another token.
        let forged = ann.replacen('.', ".A", 1);
        assert!(ask(&authenticator, &forged, None).await.is_err());
        let (signed, signature) = bob.rsplit_once('.').expect("it has parts");
        let (of_ann, _) = ann.rsplit_once('.').expect("it has parts");
        check(
            ask(&authenticator, &format!("{of_ann}.{signature}"), None).await,
            Err((AuthFault::Token, "JWSInvalidSignature")),
        );
        assert!(ask(&authenticator, signed, None).await.is_err());
    });
}

#[test]
fn a_known_token_ends_when_it_says() {
    let config = config(Auth { jwt: vec![hs256()], ..Auth::default() });
    let clock = Clock::new_simulated();
    let authenticator = authenticator(&config, &clock);
    let token = hs(&claims(&format!(r#","exp":{}"#, NOW_S + 10)));
    run(async {
        for _ in 0..2 {
            let session = ask(&authenticator, &token, None).await.expect("the token is good");
            assert_eq!(session.expires_ms, Some((NOW_S + 10) * 1000));
        }
        clock.advance_ms(9_999);
        check(ask(&authenticator, &token, None).await, Ok("user"));
        clock.advance_ms(1);
        check(ask(&authenticator, &token, None).await, Err((AuthFault::Token, "JWTExpired")));
    });
}

#[test]
fn a_known_token_is_believed_no_longer_than_its_key() {
    let both = set(&[&rsa_jwk("a", ""), &rsa_jwk("b", "")]);
    let service = LoopbackService::start(Reply::ok("cache-control: max-age=60\r\n", &both));
    let clock = Clock::new_simulated();
    let authenticator = authenticator(&of_set(&service), &clock);
    run(async {
        let gone = rsa("a", &user("ann"));
        let stays = rsa("b", &user("bob"));
        for _ in 0..2 {
            check(ask(&authenticator, &gone, None).await, Ok("user"));
            check(ask(&authenticator, &stays, None).await, Ok("user"));
        }
        assert_eq!(service.requests().len(), 1);
        service.says(Reply::ok("", &set(&[&rsa_jwk("b", "")])));
        clock.advance_ms(60_000);
        // A known token alone has the keys fetched again.
        check(ask(&authenticator, &gone, None).await, Ok("user"));
        service.until(2).await;
        while ask(&authenticator, &gone, None).await.is_ok() {
            tokio::task::yield_now().await;
        }
        check(ask(&authenticator, &gone, None).await, Err((AuthFault::Token, "JWSInvalidSignature")));
        check(ask(&authenticator, &stays, None).await, Ok("user"));
    });
}

#[test]
fn a_known_token_of_a_native_source_ends_with_its_time_and_its_key() {
    let service =
        LoopbackService::start(Reply::ok("cache-control: max-age=60\r\n", &set(&[&rsa_jwk("a", "")])));
    let clock = Clock::new_simulated();
    let line = Authorization {
        header: "x-auth".into(),
        namespace: "n".into(),
        keys: AuthorizationKeys::Sets(vec![service.url()]),
        audience: Vec::new(),
        closed: false,
    };
    let tokens = NativeTokens::new(&line, &clock).expect("the line is right");
    run(async {
        let read = async |token: &str| tokens.read(&headers(&[("x-auth", token)])).await.map(|it| it.0);
        let claims = |id: &str| Ok(Token::of([("LOGIN".to_owned(), format!("\"{id}\""))]));
        let token = |id: &str| rsa("a", &format!(r#"{{"LOGIN":"{id}"}}"#));
        for _ in 0..2 {
            assert_eq!(read(&token("ann")).await, claims("ann"));
            assert_eq!(read(&token("bob")).await, claims("bob"));
        }
        let ends = rsa("a", &format!(r#"{{"LOGIN":"ann","exp":{}}}"#, NOW_S + 1));
        assert!(matches!(read(&ends).await, Ok(Token::Claims(_))));
        clock.advance_ms(1000);
        assert!(matches!(read(&ends).await, Ok(Token::Refused(words)) if words.contains("expired")));
        service.says(Reply::ok("", &set(&[&rsa_jwk("b", "")])));
        clock.advance_ms(60_000);
        while read(&token("ann")).await == claims("ann") {
            tokio::task::yield_now().await;
        }
        assert!(matches!(read(&token("ann")).await, Ok(Token::Refused(_))));
    });
}
