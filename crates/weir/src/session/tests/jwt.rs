//! Tokens: algorithms, attacks on heads and signatures, claims, roles, places.

use super::*;
use crate::config::{ClaimPath, ClaimSource, ClaimsFormat, OneOrMany, TokenHeader, TokenHeaderKind};
use std::collections::BTreeMap;

const HEAD: &str = r#"{"alg":"HS256","typ":"JWT"}"#;
const NAMESPACE: &str = "https://hasura.io/jwt/claims";

/// Asks with the token in `Authorization`.
fn ask(jwt: &Jwt, token: &str) -> Result<Session, AuthError> {
    let config = config(Auth { jwt: vec![jwt.clone()], ..Auth::default() });
    authenticate(&config, &[("authorization", &format!("Bearer {token}"))])
}

fn of(algorithm: JwtAlgorithm, key: &str) -> Jwt {
    Jwt { algorithm: Some(algorithm), key: Some(Secret::new(key)), ..Jwt::default() }
}

fn by_hs256(message: &[u8]) -> Vec<u8> {
    by_hmac(hmac::HMAC_SHA256, HMAC.as_bytes(), message)
}

fn check_denial(found: Result<Session, AuthError>, part: &str) {
    check(found, Err((AuthFault::Token, part)));
}

#[test]
fn jwt_of_every_algorithm_is_checked() {
    let head = |name: &str| format!(r#"{{"alg":"{name}"}}"#);
    for (name, algorithm, with) in [
        ("HS256", JwtAlgorithm::HS256, hmac::HMAC_SHA256),
        ("HS384", JwtAlgorithm::HS384, hmac::HMAC_SHA384),
        ("HS512", JwtAlgorithm::HS512, hmac::HMAC_SHA512),
    ] {
        let token = token(&head(name), &claims(""), |it| by_hmac(with, HMAC.as_bytes(), it));
        check(ask(&of(algorithm, HMAC), &token), Ok("user"));
    }
    let public = [RSA_PUBLIC, include_str!("keys/rsa_pkcs1.pem"), include_str!("keys/rsa_certificate.pem")];
    let of_rsa: [(&str, JwtAlgorithm, &'static dyn signature::RsaEncoding); 6] = [
        ("RS256", JwtAlgorithm::RS256, &signature::RSA_PKCS1_SHA256),
        ("RS384", JwtAlgorithm::RS384, &signature::RSA_PKCS1_SHA384),
        ("RS512", JwtAlgorithm::RS512, &signature::RSA_PKCS1_SHA512),
        ("PS256", JwtAlgorithm::PS256, &signature::RSA_PSS_SHA256),
        ("PS384", JwtAlgorithm::PS384, &signature::RSA_PSS_SHA384),
        ("PS512", JwtAlgorithm::PS512, &signature::RSA_PSS_SHA512),
    ];
    for (name, algorithm, with) in of_rsa {
        let token = token(&head(name), &claims(""), |it| by_rsa(with, it));
        for key in public {
            check(ask(&of(algorithm, key), &token), Ok("user"));
        }
    }
    for (name, algorithm, curve) in [
        ("ES256", JwtAlgorithm::ES256, Curve::ecdsa(&signature::ECDSA_P256_SHA256_FIXED_SIGNING)),
        ("ES384", JwtAlgorithm::ES384, Curve::ecdsa(&signature::ECDSA_P384_SHA384_FIXED_SIGNING)),
        ("EdDSA", JwtAlgorithm::Ed25519, Curve::ed25519()),
    ] {
        let token = token(&head(name), &claims(""), |it| curve.sign(it));
        check(ask(&of(algorithm, &curve.pem()), &token), Ok("user"));
        let (signed, signature) = token.rsplit_once('.').expect("it has parts");
        let zero = URL_SAFE_NO_PAD.encode(vec![0; URL_SAFE_NO_PAD.decode(signature).expect("base64").len()]);
        check_denial(ask(&of(algorithm, &curve.pem()), &format!("{signed}.{zero}")), "JWSInvalidSignature");
    }
}

#[test]
fn jwt_attack_alg_none_or_of_another_family_is_refused() {
    for name in ["none", "None", "NONE", "", "HS257", "hs256", "RSA", "HS256 "] {
        let head = format!(r#"{{"alg":"{name}"}}"#);
        check_denial(ask(&hs256(), &token(&head, &claims(""), |_| Vec::new())), "AlgorithmNotSupported");
        check_denial(ask(&hs256(), &token(&head, &claims(""), by_hs256)), "AlgorithmNotSupported");
    }
    for head in ["{}", r#"{"alg":7}"#, r#"{"alg":["HS256"]}"#, r#"{"alg":null}"#] {
        check_denial(ask(&hs256(), &token(head, &claims(""), by_hs256)), "AlgorithmNotSupported");
    }
    // The public key, in every form somebody may take for a secret.
    for secret in [RSA_PUBLIC, RSA_PUBLIC.trim(), &RSA_PUBLIC.replace('\n', "")] {
        let forged = token(HEAD, &claims(""), |it| by_hmac(hmac::HMAC_SHA256, secret.as_bytes(), it));
        check_denial(ask(&of(JwtAlgorithm::RS256, RSA_PUBLIC), &forged), "JWSInvalidSignature");
    }
    let other =
        token(r#"{"alg":"HS512"}"#, &claims(""), |it| by_hmac(hmac::HMAC_SHA512, HMAC.as_bytes(), it));
    check_denial(ask(&hs256(), &other), "JWSInvalidSignature");
    let pss = token(r#"{"alg":"PS256"}"#, &claims(""), |it| by_rsa(&signature::RSA_PSS_SHA256, it));
    check_denial(ask(&of(JwtAlgorithm::RS256, RSA_PUBLIC), &pss), "JWSInvalidSignature");
}

#[test]
fn jwt_attack_on_the_signature_is_refused() {
    let good = hs(&claims(""));
    let (signed, signature) = good.rsplit_once('.').expect("it has parts");
    let (head, payload) = signed.split_once('.').expect("it has parts");
    for forged in
        [format!("{signed}."), format!("{signed}.AAAA"), format!("{head}.{payload}.{}", &signature[..20])]
    {
        check_denial(ask(&hs256(), &forged), "Could not verify JWT: JWSError");
    }
    let admin = URL_SAFE_NO_PAD.encode(claims(r#","a":1"#));
    check_denial(ask(&hs256(), &format!("{head}.{admin}.{signature}")), "JWSInvalidSignature");
    for broken in [
        signed.to_owned(),
        head.to_owned(),
        format!("{good}.x"),
        format!("{good}="),
        format!("{head}.{payload}=.{signature}"),
        format!(".{payload}.{signature}"),
        format!("{head}..{signature}"),
        "..".into(),
        format!("{head}.{payload}.!!"),
    ] {
        check_denial(ask(&hs256(), &broken), "CompactDecodeError");
    }
    let es = Curve::ecdsa(&signature::ECDSA_P256_SHA256_FIXED_SIGNING);
    let zero = token(r#"{"alg":"ES256"}"#, &claims(""), |_| vec![0; 64]);
    check_denial(ask(&of(JwtAlgorithm::ES256, &es.pem()), &zero), "JWSInvalidSignature");
}

#[test]
fn jwt_attack_through_the_head_is_refused_or_without_effect() {
    let with =
        |more: &str| ask(&hs256(), &token(&format!(r#"{{"alg":"HS256",{more}}}"#), &claims(""), by_hs256));
    for kid in ["../../../../dev/null", "' OR 1=1 --", "http://169.254.169.254/", "|ls", ""] {
        check(with(&format!(r#""kid":"{kid}""#)), Ok("user"));
    }
    let long = "k".repeat(1024 * 1024);
    for kid in
        [format!("\"{long}\""), format!("\"{}\"", &long[..257]), "[\"a\"]".into(), "7".into(), "null".into()]
    {
        check_denial(with(&format!(r#""kid":{kid}"#)), "CompactDecodeError");
    }
    // A listener that is never called.
    let elsewhere = LoopbackService::start(Reply::ok("", "{}"));
    let url = elsewhere.url();
    let curve = Curve::ed25519();
    let jwk = curve.jwk("Ed25519");
    for more in [
        format!(r#""jku":"{url}""#),
        format!(r#""x5u":"{url}""#),
        format!(r#""jwk":{jwk}"#),
        format!(r#""x5c":["{url}"]"#),
    ] {
        check(with(&more), Ok("user"));
        let forged = token(&format!(r#"{{"alg":"EdDSA",{more}}}"#), &claims(""), |it| curve.sign(it));
        check_denial(ask(&hs256(), &forged), "JWSInvalidSignature");
        let own = Curve::ed25519();
        check_denial(ask(&of(JwtAlgorithm::Ed25519, &own.pem()), &forged), "JWSInvalidSignature");
    }
    check_denial(with(r#""crit":["exp"],"exp":1"#), "CompactDecodeError");
    check_denial(with(r#""alg":"none""#), "CompactDecodeError");
    assert_eq!(elsewhere.requests(), [""; 0]);
}

#[test]
fn jwt_attack_by_size_nesting_or_duplicates_is_refused() {
    let padded = |bytes: usize| hs(&claims(&format!(r#","pad":"{}""#, "x".repeat(bytes))));
    check(ask(&hs256(), &padded(8 * 1024)), Ok("user"));
    check_denial(ask(&hs256(), &padded(100 * 1024)), "CompactDecodeError");
    let deep = format!(r#","a":{}{}"#, "[".repeat(200), "]".repeat(200));
    check_denial(ask(&hs256(), &hs(&claims(&deep))), "CompactDecodeError");
    let open = format!(r#"{{"a":{}"#, "[".repeat(9000));
    check_denial(ask(&hs256(), &hs(&open)), "CompactDecodeError");
    for twice in [
        format!(r#"{{"exp":1,"exp":9999999999,"{NAMESPACE}":{{}}}}"#),
        claims(&format!(r#","{NAMESPACE}":{{}}"#)),
        claims(r#","sub":"a","sub":"b""#),
    ] {
        check_denial(ask(&hs256(), &hs(&twice)), "CompactDecodeError");
    }
    for payload in ["", "null", "[]", "\"a\"", "7", "{", "{} {}"] {
        check_denial(ask(&hs256(), &hs(payload)), "CompactDecodeError");
    }
    let folded = format!(
        r#"{{"{NAMESPACE}":{{"x-hasura-allowed-roles":["user"],"X-Hasura-Allowed-Roles":["admin"],"x-hasura-default-role":"user"}}}}"#
    );
    check(ask(&hs256(), &hs(&folded)), Err((AuthFault::Claims, "is there twice")));
}

#[test]
fn jwt_times_audience_and_issuer_are_checked() {
    let strict = Jwt {
        audience: Some(OneOrMany::One("app".into())),
        issuer: Some("me".into()),
        allowed_skew: 60,
        ..hs256()
    };
    let with = |jwt: &Jwt, more: &str| ask(jwt, &hs(&claims(more)));
    check(with(&hs256(), ""), Ok("user"));
    check(with(&hs256(), r#","exp":9999999999,"aud":"any","iss":"any""#), Ok("user"));
    check_denial(with(&hs256(), &format!(r#","exp":{NOW_S}"#)), "Could not verify JWT: JWTExpired");
    check_denial(with(&hs256(), &format!(r#","nbf":{}"#, NOW_S + 1)), "JWTNotYetValid");
    check_denial(with(&hs256(), r#","exp":"9999999999""#), "JWTClaimsSetDecodeError");
    const OWN: &str = r#","aud":["b","app"],"iss":"me""#;
    check(with(&strict, &format!(r#"{OWN},"exp":{}"#, NOW_S - 59)), Ok("user"));
    check_denial(with(&strict, &format!(r#"{OWN},"exp":{}"#, NOW_S - 60)), "JWTExpired");
    check(with(&strict, &format!(r#"{OWN},"nbf":{}"#, NOW_S + 60)), Ok("user"));
    check_denial(with(&strict, &format!(r#"{OWN},"nbf":{}"#, NOW_S + 61)), "JWTNotYetValid");
    check_denial(with(&strict, r#","iss":"me","aud":["b"]"#), "JWTNotInAudience");
    check_denial(with(&strict, r#","iss":"me""#), "JWTNotInAudience");
    check_denial(with(&strict, r#","aud":"app","iss":"you""#), "JWTNotInIssuer");
    check_denial(with(&strict, r#","aud":"app""#), "JWTNotInIssuer");
    let session = with(&strict, &format!(r#"{OWN},"exp":{NOW_S}"#)).expect("it is in time");
    assert_eq!(session.expires_ms, Some((NOW_S + 60) * 1000));
}

#[test]
fn jwt_role_is_one_of_the_token_s() {
    let config = config(Auth { jwt: vec![hs256()], ..Auth::default() });
    let bearer = format!("Bearer {}", hs(&claims(r#","sub":"ada""#)));
    let with = |role: &str| authenticate(&config, &[("authorization", &bearer), ("x-hasura-role", role)]);
    check(with("editor"), Ok("editor"));
    check(with(""), Ok("user"));
    // Letters of other alphabets, of another width, with marks and invisible ones.
    for role in [
        "admin",
        "User",
        "USER",
        "user ",
        "uѕer",
        "ｕser",
        "u\u{301}ser",
        "user\u{200b}",
        "user,editor",
        "[\"user\"]",
    ] {
        check(with(role), Err((AuthFault::Role, "Your requested role is not in allowed roles")));
    }
    let lines = [("authorization", &*bearer), ("x-hasura-role", "user"), ("x-hasura-role", "admin")];
    check(authenticate(&config, &lines), Err((AuthFault::SessionHeader, "is there twice")));
    let lines =
        [("authorization", &*bearer), ("x-weir-role", "editor"), ("x-hasura-user-id", "8"), ("x-weir-a", "")];
    let session = authenticate(&config, &lines).expect("it is allowed");
    let variables = variables(&session);
    assert_eq!(variables, [("x-hasura-role", "editor"), ("x-hasura-user-id", "7")]);
    assert_eq!(session.ignored, ["x-hasura-user-id", "x-weir-a"]);
    assert_eq!(session.identity.claims.claim("sub"), Some("\"ada\""));
}

#[test]
fn jwt_claims_of_another_form_are_told_in_hasura_s_words() {
    let of = |object: &str| ask(&hs256(), &hs(&format!(r#"{{"{NAMESPACE}":{object}}}"#)));
    let both = |allowed: &str, default: &str| {
        of(&format!(r#"{{"x-hasura-allowed-roles":{allowed},"x-hasura-default-role":{default}}}"#))
    };
    check(
        ask(&hs256(), &hs("{}")),
        Err((AuthFault::Claims, "claims key: 'https://hasura.io/jwt/claims' not found")),
    );
    for object in ["null", "[]", "\"{}\"", "7"] {
        check(of(object), Err((AuthFault::Claims, "expecting a json object when claims_format is json")));
    }
    check(of("{}"), Err((AuthFault::RoleClaims, "does not contain \"x-hasura-allowed-roles\"")));
    let alone = r#"{"x-hasura-allowed-roles":["a"]}"#;
    check(of(alone), Err((AuthFault::RoleClaims, "does not contain \"x-hasura-default-role\"")));
    for allowed in ["\"a\"", "{\"a\":1}", "7", "null", "[7]", "[[\"a\"]]", "[null]", "[\"\"]"] {
        check(both(allowed, "\"a\""), Err((AuthFault::Claims, "should be a list of roles")));
    }
    for default in ["[\"a\"]", "{}", "7", "null", "\"\""] {
        check(both("[\"a\"]", default), Err((AuthFault::Claims, "should be a single role name")));
    }
    check(both("[\"a\"]", "\"b\""), Err((AuthFault::Role, "not in allowed roles")));
    check(both("[]", "\"b\""), Err((AuthFault::Role, "not in allowed roles")));
    for value in ["7", "[1,2]", "null", "true", "{}"] {
        let more = format!(
            r#"{{"x-hasura-allowed-roles":["a"],"x-hasura-default-role":"a","X-Hasura-Id":{value},"other":1}}"#
        );
        check(of(&more), Err((AuthFault::Claims, "x-hasura-* claims: x-hasura-id: expected a string")));
    }
}

#[test]
fn jwt_claims_are_found_by_namespace_path_text_and_map() {
    const OBJECT: &str = r#"{"x-hasura-allowed-roles":["a"],"x-hasura-default-role":"a"}"#;
    let text = format!("{OBJECT:?}");
    let named = Jwt { claims_namespace: Some("app".into()), ..hs256() };
    check(ask(&named, &hs(&format!(r#"{{"app":{OBJECT}}}"#))), Ok("a"));
    let path = |path: &str| Jwt { claims_namespace_path: Some(path.into()), ..hs256() };
    check(ask(&path("$.app.hasura[0]"), &hs(&format!(r#"{{"app":{{"hasura":[{OBJECT}]}}}}"#))), Ok("a"));
    check(ask(&path("$"), &hs(OBJECT)), Ok("a"));
    let missing = "claims not found at claims_namespace_path: '$.b'";
    check(ask(&path("$.b"), &hs(OBJECT)), Err((AuthFault::Claims, missing)));
    let texts = Jwt { claims_format: ClaimsFormat::StringifiedJson, ..hs256() };
    let of = |value: &str| ask(&texts, &hs(&format!(r#"{{"{NAMESPACE}":{value}}}"#)));
    check(of(&text), Ok("a"));
    check(of(OBJECT), Err((AuthFault::Claims, "expecting a string when claims_format is stringified_json")));
    for value in ["\"\"", "\"[]\"", "\"{\"", "\"a\""] {
        check(of(value), Err((AuthFault::Claims, "expecting stringified json at: 'https://hasura.io")));
    }
    let at =
        |path: &str, default: Option<OneOrMany>| ClaimSource::Path(ClaimPath { path: path.into(), default });
    let map = BTreeMap::from([
        ("X-Hasura-Allowed-Roles".to_owned(), at("$.realm.roles", None)),
        ("x-hasura-default-role".to_owned(), at("$.realm.roles[0]", Some(OneOrMany::One("guest".into())))),
        ("x-hasura-org".to_owned(), at("$[\"https://e/org\"]", Some(OneOrMany::One("none".into())))),
        ("x-hasura-fleet".to_owned(), at("$.fleet", None)),
        ("x-hasura-kind".to_owned(), ClaimSource::Literal(OneOrMany::One("web".into()))),
    ]);
    let mapped = Jwt { claims_map: Some(map), ..hs256() };
    let session = ask(&mapped, &hs(r#"{"realm":{"roles":["a","b"]},"fleet":"f"}"#)).expect("it is all there");
    let found = variables(&session);
    let expected =
        [("x-hasura-fleet", "f"), ("x-hasura-kind", "web"), ("x-hasura-org", "none"), ("x-hasura-role", "a")];
    assert_eq!(found, expected);
    check(
        ask(&mapped, &hs(r#"{"realm":{"roles":["a"]}}"#)),
        Err((AuthFault::Claims, "JWT claim from claims_map, x-hasura-fleet not found")),
    );
    check(
        ask(&mapped, &hs(r#"{"realm":{"roles":["a"]},"fleet":7}"#)),
        Err((AuthFault::Claims, "x-hasura-fleet: expected a string")),
    );
}

#[test]
fn jwt_place_is_exactly_the_configured_one() {
    let at = |kind, name: Option<&str>| {
        let header = TokenHeader { kind, name: name.map(str::to_owned) };
        config(Auth { jwt: vec![Jwt { header, ..hs256() }], ..Auth::default() })
    };
    let token = hs(&claims(""));
    let bearer = format!("Bearer {token}");
    let own = at(TokenHeaderKind::Authorization, None);
    let missing = Err((AuthFault::TokenHeader, "Missing 'Authorization' or 'Cookie' header in JWT"));
    check(authenticate(&own, &[]), missing);
    check(authenticate(&own, &[("cookie", &*format!("token={token}"))]), missing);
    let basic = format!("Basic {token}");
    for odd in [
        "",
        "Bearer",
        "Bearer ",
        "bearer",
        &token,
        &basic,
        &format!("Bearer  {token}"),
        &format!("{bearer} x"),
    ] {
        check(
            authenticate(&own, &[("authorization", odd)]),
            Err((AuthFault::TokenHeader, "Malformed Authorization header")),
        );
    }
    for scheme in ["bearer", "BEARER"] {
        check(authenticate(&own, &[("authorization", &*format!("{scheme} {token}"))]), Ok("user"));
    }
    let twice = [("authorization", &*bearer), ("authorization", &*bearer)];
    check(authenticate(&own, &twice), Err((AuthFault::TokenHeader, "Multiple JWTs found")));
    let cookie = at(TokenHeaderKind::Cookie, Some("token"));
    check(authenticate(&cookie, &[("cookie", &*format!("a=b; token={token}; c=d"))]), Ok("user"));
    check(authenticate(&cookie, &[("authorization", &*bearer)]), missing);
    check(authenticate(&cookie, &[("cookie", &*format!("xtoken={token}"))]), missing);
    let twice = format!("token=x; token={token}");
    check(
        authenticate(&cookie, &[("cookie", &*twice)]),
        Err((AuthFault::TokenHeader, "Multiple JWTs found")),
    );
    let header = at(TokenHeaderKind::CustomHeader, Some("X-Token"));
    check(authenticate(&header, &[("x-token", &*token)]), Ok("user"));
    check(
        authenticate(&header, &[("x-token", &*token), ("x-token", "x")]),
        Err((AuthFault::TokenHeader, "Multiple")),
    );
}

#[test]
fn jwt_kinds_are_told_apart_by_place_and_issuer() {
    let issuer = |issuer: Option<&str>| Jwt { issuer: issuer.map(str::to_owned), ..hs256() };
    let jwt = vec![issuer(Some("a")), issuer(Some("b"))];
    let auth = Auth { jwt: jwt.clone(), unauthorized_role: Some("anonymous".into()), ..Auth::default() };
    let both = config(auth);
    let ask = |config: &Config, claims: &str| {
        authenticate(config, &[("authorization", &*format!("Bearer {}", hs(claims)))])
    };
    check(ask(&both, &claims(r#","iss":"b""#)), Ok("user"));
    check(authenticate(&both, &[]), Ok("anonymous"));
    // A token that is there and not accepted never makes its sender anonymous.
    check_denial(ask(&both, &claims(r#","iss":"c""#)), "JWTNotInIssuer");
    check(ask(&both, &claims("")), Err((AuthFault::TokenHeader, "Multiple JWTs found")));
    let any = config(Auth { jwt: vec![issuer(Some("a")), issuer(None)], ..Auth::default() });
    check(ask(&any, &claims(r#","iss":"c""#)), Ok("user"));
    check(ask(&any, &claims(r#","iss":"a""#)), Err((AuthFault::TokenHeader, "Multiple JWTs found")));
}

#[test]
fn jwt_faults_have_hasura_s_codes_and_statuses_and_ours() {
    for (fault, hasura, ours) in [
        (AuthFault::SecretMissing, ("access-denied", 401), ("ACCESS_DENIED", 401)),
        (AuthFault::SecretWrong, ("access-denied", 401), ("ACCESS_DENIED", 401)),
        (AuthFault::TooOften, ("access-denied", 429), ("LIMIT_SECRET", 429)),
        (AuthFault::Role, ("access-denied", 400), ("ACCESS_DENIED", 403)),
        (AuthFault::TokenHeader, ("invalid-headers", 400), ("INVALID_TOKEN", 401)),
        (AuthFault::Token, ("invalid-jwt", 400), ("INVALID_TOKEN", 401)),
        (AuthFault::Claims, ("jwt-invalid-claims", 400), ("INVALID_TOKEN", 401)),
        (AuthFault::RoleClaims, ("jwt-missing-role-claims", 400), ("INVALID_TOKEN", 401)),
        (AuthFault::SessionHeader, ("bad-request", 400), ("BAD_REQUEST", 400)),
        (AuthFault::HookDenied, ("access-denied", 401), ("ACCESS_DENIED", 401)),
        (AuthFault::HookRole, ("invalid-params", 400), ("AUTH_UNAVAILABLE", 503)),
        (AuthFault::Unavailable, ("unexpected", 500), ("AUTH_UNAVAILABLE", 503)),
    ] {
        let error = AuthError::new(fault, "");
        assert_eq!((error.hasura_code(), error.hasura_status()), hasura, "{fault:?}");
        assert_eq!((error.code(), error.status()), ours, "{fault:?}");
    }
}
