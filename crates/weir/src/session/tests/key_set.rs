//! Key sets from a server on loopback, with a clock that the test moves.

use super::*;

fn set(keys: &[&str]) -> String {
    format!(r#"{{"keys":[{}]}}"#, keys.join(","))
}

fn of(service: &LoopbackService) -> Config {
    let jwt = Jwt { jwk_url: Some(service.url()), ..Jwt::default() };
    config(Auth { jwt: vec![jwt], ..Auth::default() })
}

fn rsa(kid: &str) -> String {
    let head = format!(r#"{{"alg":"RS256","kid":"{kid}"}}"#);
    token(&head, &claims(""), |it| by_rsa(&signature::RSA_PKCS1_SHA256, it))
}

async fn ask(authenticator: &Authenticator, token: &str) -> Result<Session, AuthError> {
    authenticator.authenticate(&headers(&[("authorization", &format!("Bearer {token}"))]), None).await
}

const FORGED: Result<&str, (AuthFault, &str)> = Err((AuthFault::Token, "JWSInvalidSignature"));

#[test]
fn a_key_set_is_fetched_once_and_again_when_its_time_is_over() {
    let service =
        LoopbackService::start(Reply::ok("cache-control: max-age=60\r\n", &set(&[&rsa_jwk("a", "")])));
    let clock = Clock::new_simulated();
    let authenticator = authenticator(&of(&service), &clock);
    run(async {
        let token = rsa("a");
        let together = futures_util::future::join_all((0..8).map(|_| ask(&authenticator, &token)));
        together.await.into_iter().for_each(|it| check(it, Ok("user")));
        assert_eq!(service.requests().len(), 1);
        assert!(service.requests()[0].starts_with("GET /it HTTP/1.1\r\n"), "{:?}", service.requests());
        clock.advance_ms(59_999);
        check(ask(&authenticator, &token).await, Ok("user"));
        assert_eq!(service.requests().len(), 1);
        // Its time is over: it serves while the next one is fetched, and when that fails.
        service.says(Reply { status: 404, head: String::new(), body: String::new() });
        for count in 2..4 {
            clock.advance_ms(10_000);
            // A fetch that is still under way stands for the next one.
            while service.requests().len() < count {
                check(ask(&authenticator, &token).await, Ok("user"));
                tokio::task::yield_now().await;
            }
            check(ask(&authenticator, &token).await, Ok("user"));
            assert_eq!(service.requests().len(), count);
        }
    });
}

#[test]
fn an_unknown_kid_causes_one_fetch_per_interval() {
    let service = LoopbackService::start(Reply::ok("", &set(&[&rsa_jwk("a", "")])));
    let clock = Clock::new_simulated();
    let authenticator = authenticator(&of(&service), &clock);
    run(async {
        for kid in ["b", "../a", "http://169.254.169.254/", "A"] {
            check(ask(&authenticator, &rsa(kid)).await, FORGED);
        }
        check(ask(&authenticator, &rsa("a")).await, Ok("user"));
        assert_eq!(service.requests().len(), 1);
        service.says(Reply::ok("", &set(&[&rsa_jwk("a", ""), &rsa_jwk("b", "")])));
        check(ask(&authenticator, &rsa("b")).await, FORGED);
        clock.advance_ms(10_000);
        check(ask(&authenticator, &rsa("b")).await, Ok("user"));
        check(ask(&authenticator, &rsa("c")).await, FORGED);
        assert_eq!(service.requests().len(), 2);
    });
}

#[test]
fn a_signature_that_fails_asks_for_the_keys_once_per_interval_whatever_names_they_have() {
    for (own, named) in [("", ""), (r#""kid":"a","#, r#","kid":"a""#), (r#""kid":"a","#, "")] {
        let curves = [(); 2].map(|()| Curve::ecdsa(&signature::ECDSA_P256_SHA256_FIXED_SIGNING));
        let key = |at: usize| curves[at].jwk("P-256").replacen('{', &format!("{{{own}"), 1);
        let head = format!(r#"{{"alg":"ES256"{named}}}"#);
        let [old, new] = [0, 1].map(|at: usize| token(&head, &claims(""), |it| curves[at].sign(it)));
        let service = LoopbackService::start(Reply::ok("", &set(&[&key(0)])));
        let clock = Clock::new_simulated();
        let authenticator = authenticator(&of(&service), &clock);
        run(async {
            check(ask(&authenticator, &old).await, Ok("user"));
            service.says(Reply::ok("", &set(&[&key(1)])));
            check(ask(&authenticator, &new).await, FORGED);
            assert_eq!(service.requests().len(), 1);
            clock.advance_ms(10_000);
            check(ask(&authenticator, &new).await, Ok("user"));
            // The one that the new key took the place of is no more; a flood of such tokens asks once.
            for _ in 0..8 {
                check(ask(&authenticator, &old).await, FORGED);
            }
            assert_eq!(service.requests().len(), 2);
            clock.advance_ms(10_000);
            let head = format!(r#"{{"alg":"HS256"{named}}}"#);
            let secret = token(&head, &claims(""), |it| by_hmac(hmac::HMAC_SHA256, HMAC.as_bytes(), it));
            check(ask(&authenticator, &secret).await, FORGED);
            assert_eq!(service.requests().len(), 2, "no key of a set is a secret");
            let flood = (0..8).map(|_| ask(&authenticator, &old));
            futures_util::future::join_all(flood).await.into_iter().for_each(|it| check(it, FORGED));
            assert_eq!(service.requests().len(), 3);
            check(ask(&authenticator, &new).await, Ok("user"));
        });
    }
}

#[test]
fn without_keys_no_token_is_accepted_until_they_can_be_fetched() {
    let service = LoopbackService::start(Reply::ok("", "no JSON"));
    let clock = Clock::new_simulated();
    let authenticator = authenticator(&of(&service), &clock);
    run(async {
        for reply in
            ["no JSON", "{}", r#"{"keys":{}}"#, r#"{"keys":[]}"#, r#"{"keys":[{"kty":"oct","k":"AAAA"}]}"#]
        {
            service.says(Reply::ok("", reply));
            clock.advance_ms(1000);
            check(ask(&authenticator, &rsa("a")).await, Err((AuthFault::Unavailable, "cannot be fetched")));
        }
        assert_eq!(service.requests().len(), 5);
        check(ask(&authenticator, &rsa("a")).await, Err((AuthFault::Unavailable, "cannot be fetched")));
        assert_eq!(service.requests().len(), 5);
        service.says(Reply::ok("", &set(&[&rsa_jwk("a", "")])));
        clock.advance_ms(1000);
        check(ask(&authenticator, &rsa("a")).await, Ok("user"));
    });
}

#[test]
fn a_key_of_a_set_serves_its_own_family_use_and_algorithm() {
    let p256 = Curve::ecdsa(&signature::ECDSA_P256_SHA256_FIXED_SIGNING);
    let ed25519 = Curve::ed25519();
    let secret = format!(r#"{{"kty":"oct","kid":"s","k":"{}"}}"#, URL_SAFE_NO_PAD.encode(HMAC));
    let keys = [
        rsa_jwk("enc", r#","use":"enc""#),
        rsa_jwk("wrap", r#","key_ops":["wrapKey"]"#),
        rsa_jwk("512", r#","use":"sig","alg":"RS512""#),
        rsa_jwk("oaep", r#","alg":"RSA-OAEP""#),
        rsa_jwk("ops", r#","key_ops":["verify"]"#),
        p256.jwk("P-256"),
        ed25519.jwk("Ed25519"),
        secret,
        r#"{"kty":"EC","crv":"P-256","x":"AA","y":"AA"}"#.into(),
    ];
    let service = LoopbackService::start(Reply::ok("", &set(&keys.each_ref().map(|it| &**it))));
    let authenticator = authenticator(&of(&service), &Clock::new_simulated());
    run(async {
        for (kid, expected) in
            [("ops", Ok("user")), ("enc", FORGED), ("wrap", FORGED), ("512", FORGED), ("oaep", FORGED)]
        {
            check(ask(&authenticator, &rsa(kid)).await, expected);
        }
        let es = token(r#"{"alg":"ES256"}"#, &claims(""), |it| p256.sign(it));
        check(ask(&authenticator, &es).await, Ok("user"));
        let ed = token(r#"{"alg":"EdDSA","kid":"none"}"#, &claims(""), |it| ed25519.sign(it));
        check(ask(&authenticator, &ed).await, Ok("user"));
        // No key of a public set is a secret, whatever it says of itself.
        let head = r#"{"alg":"HS256","kid":"s"}"#;
        let hs = token(head, &claims(""), |it| by_hmac(hmac::HMAC_SHA256, HMAC.as_bytes(), it));
        check(ask(&authenticator, &hs).await, FORGED);
        let head = r#"{"alg":"HS256","kid":"ops"}"#;
        let hs = token(head, &claims(""), |it| by_hmac(hmac::HMAC_SHA256, RSA_PUBLIC.as_bytes(), it));
        check(ask(&authenticator, &hs).await, FORGED);
    });
}

#[test]
fn a_reload_keeps_the_keys_of_the_same_address() {
    let service = LoopbackService::start(Reply::ok("", &set(&[&rsa_jwk("a", "")])));
    let config = of(&service);
    let clock = Clock::new_simulated();
    let before = authenticator(&config, &clock);
    let mut after = authenticator(&config, &clock);
    run(async {
        check(ask(&before, &rsa("a")).await, Ok("user"));
        after.keep_keys_of(&before);
        check(ask(&after, &rsa("a")).await, Ok("user"));
        assert_eq!(service.requests().len(), 1);
    });
}
