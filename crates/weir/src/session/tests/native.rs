//! Tokens of a native source: the claims that its rules read, and the words of refusals.

use super::*;
use crate::session::authorization_line::{MalformedBearer, NativeTokens};
use weir_engine::caller::Token;
use weir_language::json::Json;
use weir_native::model::{Authorization, AuthorizationKeys};

const NAMESPACE: &str = "https://harbour.example/claims";

fn line() -> Authorization {
    Authorization {
        header: "X-Harbour-Auth".into(),
        namespace: NAMESPACE.into(),
        keys: AuthorizationKeys::Key { text: "short".into(), algorithm: "HS256".into() },
        audience: Vec::new(),
        closed: false,
    }
}

fn sign_claims(claims: &str) -> String {
    token(r#"{"alg":"HS256"}"#, claims, |it| by_hmac(hmac::HMAC_SHA256, b"short", it))
}

fn read(line: &Authorization, lines: &[(&'static str, &str)]) -> Result<Token, MalformedBearer> {
    let tokens = NativeTokens::new(line, &Clock::new_simulated()).expect("the line is right");
    run(tokens.read(&headers(lines))).map(|it| it.0)
}

/// The claims of an object as JSON text.
fn claims_in(object: &str) -> Token {
    let json = Json::parse(object.as_bytes(), 9).expect("it is JSON");
    Token::of(json.root().members().map(|(name, value)| (name.into_owned(), value.raw().to_owned())))
}

fn claims_of(line: &Authorization, claims: &str, expected: &str) {
    let found = read(line, &[("x-harbour-auth", &sign_claims(claims))]);
    assert_eq!(found, Ok(claims_in(expected)), "{claims}");
}

fn check_refusal(line: &Authorization, token: &str, part: &str) {
    match read(line, &[("x-harbour-auth", token)]) {
        Ok(Token::Refused(words)) => assert!(words.contains(part), "{part} is not in {words}"),
        found => panic!("{found:?} instead of {part}"),
    }
}

#[test]
fn native_claims_are_those_of_the_token_and_of_its_namespace() {
    claims_of(&line(), r#"{"sub":"a"}"#, r#"{"sub":"a"}"#);
    let members = format!(r#"{{"sub":"a","ROLE":"x","{NAMESPACE}":{{"ROLE":["b"],"N":1.50}}}}"#);
    claims_of(&line(), &members, r#"{"sub":"a","ROLE":["b"],"N":1.50}"#);
    let text = format!(r#"{{"{NAMESPACE}":"{{\"ROLE\":\"b\"}}"}}"#);
    claims_of(&line(), &text, r#"{"ROLE":"b"}"#);
    claims_of(&line(), &format!(r#"{{"a":1,"{NAMESPACE}":7}}"#), r#"{"a":1}"#);
    check_refusal(
        &line(),
        &sign_claims(&format!(r#"{{"{NAMESPACE}":"no JSON"}}"#)),
        "unable to parse jwt token:",
    );
}

#[test]
fn a_native_token_may_be_bare_or_a_bearer_s() {
    let token = sign_claims("{}");
    let claims = Ok(claims_in("{}"));
    for text in [token.clone(), format!("Bearer {token}"), format!("bEARER {token}")] {
        assert_eq!(read(&line(), &[("x-harbour-auth", &text)]), claims);
    }
    for odd in ["Bearer", "Bearer ", "Bearer  a", "Bearer a b", "bearerx"] {
        let words = format!("invalid Bearer-formatted header value for JWT ({odd})");
        assert_eq!(read(&line(), &[("x-harbour-auth", odd)]), Err(MalformedBearer(words)));
    }
    let closed = Authorization { closed: true, ..line() };
    for lines in [&[][..], &[("x-harbour-auth", "")], &[("authorization", &*token)]] {
        assert_eq!(read(&line(), lines), Ok(Token::Absent));
        let words = "a valid JWT is required but was not provided";
        assert_eq!(read(&closed, lines), Ok(Token::Refused(words.into())));
    }
}

#[test]
fn a_native_token_that_is_not_accepted_says_why() {
    let expired = format!(r#"{{"exp":{NOW_S}}}"#);
    check_refusal(
        &line(),
        &sign_claims(&expired),
        "unable to parse jwt token:token has invalid claims: token is expired",
    );
    check_refusal(&line(), &sign_claims(&format!(r#"{{"nbf":{}}}"#, NOW_S + 1)), "token is not valid yet");
    check_refusal(&line(), &hs("{}"), "token signature is invalid: signature is invalid");
    let rs = token(r#"{"alg":"RS256"}"#, "{}", |it| by_rsa(&signature::RSA_PKCS1_SHA256, it));
    check_refusal(&line(), &rs, "keyfunc: unexpected signing method: Expected HS256 Found RS256");
    check_refusal(
        &line(),
        &token(r#"{"alg":"none"}"#, "{}", |_| Vec::new()),
        "signing method (alg) is unavailable",
    );
    check_refusal(&line(), "x", "token is malformed");
    let audience = Authorization { audience: vec!["a".into()], ..line() };
    claims_of(&audience, r#"{"aud":["a","b"]}"#, r#"{"aud":["a","b"]}"#);
    claims_of(&audience, "{}", "{}");
    check_refusal(
        &audience,
        &sign_claims(r#"{"aud":"b"}"#),
        "JWT `aud` value doesn't match with the audience",
    );
    check_refusal(&line(), &sign_claims(r#"{"aud":"b"}"#), "audience value was expected but not provided");
}

#[test]
fn native_key_sets_need_a_kid_and_the_first_that_verifies_wins() {
    let keys = |kid: &str| Reply::ok("", &format!(r#"{{"keys":[{}]}}"#, rsa_jwk(kid, "")));
    let one = LoopbackService::start(keys("a"));
    let other = LoopbackService::start(keys("b"));
    let line = Authorization { keys: AuthorizationKeys::Sets(vec![one.url(), other.url()]), ..line() };
    let rs = |head: &str| token(head, "{}", |it| by_rsa(&signature::RSA_PKCS1_SHA256, it));
    for kid in ["a", "b"] {
        let token = rs(&format!(r#"{{"alg":"RS256","kid":"{kid}"}}"#));
        assert_eq!(read(&line, &[("x-harbour-auth", &token)]), Ok(claims_in("{}")));
    }
    check_refusal(&line, &rs(r#"{"alg":"RS256","kid":"c"}"#), "signature is invalid");
    check_refusal(&line, &rs(r#"{"alg":"RS256"}"#), "keyfunc: kid not present in JWT");
}

#[test]
fn a_native_line_that_cannot_be_is_refused() {
    let with = |text: &str, algorithm: &str| {
        let keys = AuthorizationKeys::Key { text: text.into(), algorithm: algorithm.into() };
        NativeTokens::new(&Authorization { keys, ..line() }, &Clock::new_simulated()).map(|_| ())
    };
    assert_eq!(with(&RSA_PUBLIC.replace('\n', "\\n"), "RS256"), Ok(()));
    for (text, algorithm, part) in [
        ("a", "ES256", "invalid jwt algorithm: found ES256, but supported options are: HS256, "),
        ("a", "none", "invalid jwt algorithm: found none"),
        ("a", "RS256", "in PEM begins with"),
        ("", "HS256", "Key size too small"),
        (RSA_PUBLIC, "HS256", "needs a secret"),
    ] {
        let message = with(text, algorithm).expect_err(part);
        assert!(message.contains(part), "{part} is not in {message}");
    }
}
