//! Modes: no secret, secrets, the unauthorized role; and configurations that are refused.

use super::*;
use crate::config::{AuthWebhook, ClaimSource, OneOrMany, TokenHeader, TokenHeaderKind};

fn with_secret() -> Config {
    config(Auth::default())
}

#[test]
fn without_a_secret_headers_are_the_session() {
    let config = Config::default();
    check(authenticate(&config, &[]), Ok("admin"));
    check(authenticate(&config, &[("x-hasura-role", "")]), Ok("admin"));
    check(authenticate(&config, &[("x-hasura-role", "Admin")]), Ok("Admin"));
    check(authenticate(&config, &[("x-hasura-admin-secret", "any")]), Ok("admin"));
    let lines = [("x-hasura-role", "user"), ("x-weir-user-id", "7"), ("x-hasura-admin-secret", "any")];
    let session = authenticate(&config, &lines).expect("it is trusted");
    let variables = variables(&session);
    assert_eq!(variables, [("x-hasura-role", "user"), ("x-hasura-user-id", "7")]);
    assert!(session.ignored.is_empty() && !session.identity.is_backend);
}

#[test]
fn a_secret_decides_alone() {
    let config = with_secret();
    check(authenticate(&config, &[]), Err((AuthFault::SecretMissing, "required, but not found")));
    check(authenticate(&config, &[("x-hasura-role", "user")]), Err((AuthFault::SecretMissing, "required")));
    for name in ["x-hasura-admin-secret", "x-hasura-access-key", "x-weir-admin-secret"] {
        check(authenticate(&config, &[(name, "hush")]), Ok("admin"));
        for wrong in ["", "hus", "hushh", "Hush", "hush ", "ｈush"] {
            check(
                authenticate(&config, &[(name, wrong)]),
                Err((AuthFault::SecretWrong, "invalid \"x-hasura-admin")),
            );
        }
    }
    check(authenticate(&config, &[("x-hasura-admin-secret", "hush"), ("x-hasura-role", "user")]), Ok("user"));
    let tokens = super::config(Auth { jwt: vec![hs256()], ..Auth::default() });
    let bearer = format!("Bearer {}", hs(&claims("")));
    let lines = [("x-hasura-admin-secret", "husk"), ("authorization", &*bearer)];
    check(authenticate(&tokens, &lines), Err((AuthFault::SecretWrong, "invalid")));
    let lines = [("x-hasura-admin-secret", "hush"), ("authorization", "Bearer forged")];
    check(authenticate(&tokens, &lines), Ok("admin"));
}

#[test]
fn several_secrets_serve_while_one_is_replaced() {
    let auth = Auth { admin_secrets: vec![Secret::new("old"), Secret::new("new")], ..Auth::default() };
    let config = Config { auth, ..Config::default() };
    for (secret, is_right) in [("old", true), ("new", true), ("hush", false)] {
        assert_eq!(authenticate(&config, &[("x-hasura-admin-secret", secret)]).is_ok(), is_right, "{secret}");
    }
}

#[test]
fn backend_permissions_need_a_trusted_sender_and_a_role() {
    let secret = ("x-hasura-admin-secret", "hush");
    let wish = ("x-hasura-use-backend-only-permissions", "true");
    let backend = |config: &Config, lines: &[(&'static str, &str)]| {
        authenticate(config, lines).map(|it| it.identity.is_backend).map_err(|it| it.fault)
    };
    assert_eq!(backend(&with_secret(), &[secret, wish, ("x-hasura-role", "user")]), Ok(true));
    assert_eq!(backend(&with_secret(), &[secret, ("x-hasura-role", "user")]), Ok(false));
    assert_eq!(backend(&Config::default(), &[wish, ("x-hasura-role", "user")]), Ok(true));
    let odd = ("x-hasura-use-backend-only-permissions", "1");
    assert_eq!(backend(&with_secret(), &[secret, odd]), Err(AuthFault::SessionHeader));
    let tokens = super::config(Auth { jwt: vec![hs256()], ..Auth::default() });
    let bearer = format!("Bearer {}", hs(&claims("")));
    assert_eq!(backend(&tokens, &[("authorization", &bearer), wish]), Ok(false));
}

#[test]
fn the_unauthorized_role_has_no_session_of_its_own() {
    let role = Some("anonymous".to_owned());
    let lines = [("x-hasura-role", "admin"), ("x-hasura-user-id", "7"), ("accept", "a")];
    for jwt in [Vec::new(), vec![hs256()]] {
        let config = config(Auth { unauthorized_role: role.clone(), jwt, ..Auth::default() });
        let session = authenticate(&config, &lines).expect("there is a role");
        assert_eq!(variables(&session), [("x-hasura-role", "anonymous")]);
        assert_eq!(session.ignored, ["x-hasura-role", "x-hasura-user-id"]);
        check(authenticate(&config, &[("x-hasura-admin-secret", "husk")]), Err((AuthFault::SecretWrong, "")));
    }
}

/// Checks that a configuration is refused with the path of the key and these words.
fn check_refusal(config: &Config, part: &str) {
    let message = Authenticator::new(config).map(|_| ()).expect_err(part);
    assert!(message.contains(part), "{part} is not in {message}");
    assert!(!message.contains(HMAC) && !message.contains("hush"), "{message}");
}

fn refused_jwt(jwt: Jwt, part: &str) {
    check_refusal(&config(Auth { jwt: vec![jwt], ..Auth::default() }), part);
}

#[test]
fn configurations_that_contradict_themselves_are_refused() {
    let hook = Some(AuthWebhook::at("http://127.0.0.1:1/".into()));
    let role = |role: &str| Some(role.to_owned());
    for (auth, key) in [
        (Auth { jwt: vec![hs256()], ..Auth::default() }, "auth.jwt"),
        (Auth { webhook: hook.clone(), ..Auth::default() }, "auth.webhook"),
        (Auth { unauthorized_role: role("a"), ..Auth::default() }, "auth.unauthorized_role"),
    ] {
        let words = format!("{key}: needs an admin secret");
        check_refusal(&Config { auth: auth.clone(), ..Config::default() }, &words);
        assert!(Authenticator::new(&config(auth)).is_ok(), "{key}");
    }
    let both = Auth { jwt: vec![hs256()], webhook: hook.clone(), ..Auth::default() };
    check_refusal(&config(both), "auth.webhook: excludes `auth.jwt`");
    let both = Auth { unauthorized_role: role("a"), webhook: hook, ..Auth::default() };
    check_refusal(&config(both), "auth.unauthorized_role: excludes `auth.webhook`");
    for (wrong, part) in [("admin", "would make everyone admin"), (" ", "is blank")] {
        check_refusal(&config(Auth { unauthorized_role: role(wrong), ..Auth::default() }), part);
    }
    let blank = Auth { admin_secrets: vec![Secret::new("a"), Secret::new(" ")], ..Auth::default() };
    check_refusal(&config(blank), "auth.admin_secrets[1]: the secret is blank");
    let nowhere = Auth { webhook: Some(AuthWebhook::at("nowhere".into())), ..Auth::default() };
    check_refusal(&config(nowhere), "auth.webhook.url: `nowhere` is no address");
}

#[test]
fn tokens_that_cannot_be_checked_are_refused_at_load() {
    let key = |algorithm, text: &str| Jwt {
        algorithm: Some(algorithm),
        key: Some(Secret::new(text)),
        ..Jwt::default()
    };
    refused_jwt(Jwt::default(), "auth.jwt[0].key: is missing");
    refused_jwt(Jwt { algorithm: None, ..hs256() }, "auth.jwt[0].type: is missing");
    refused_jwt(Jwt { jwk_url: Some("https://a".into()), ..hs256() }, "auth.jwt[0].jwk_url: excludes `key`");
    refused_jwt(key(JwtAlgorithm::HS256, "short"), "Key size too small; should be atleast 32 characters");
    refused_jwt(key(JwtAlgorithm::HS512, &HMAC[..63]), "should be atleast 64 characters");
    refused_jwt(key(JwtAlgorithm::HS256, RSA_PUBLIC), "needs a secret; this is a key in PEM");
    refused_jwt(key(JwtAlgorithm::RS256, HMAC), "in PEM begins with");
    refused_jwt(key(JwtAlgorithm::RS256, include_str!("keys/rsa_private.pem")), "this is a private key");
    refused_jwt(key(JwtAlgorithm::RS256, include_str!("keys/rsa_1024.pem")), "2048 to 8192 bits");
    refused_jwt(key(JwtAlgorithm::ES256, RSA_PUBLIC), "ES256 does not go with this key, which is an RSA key");
    refused_jwt(key(JwtAlgorithm::ES512, RSA_PUBLIC), "ES512 is not supported");
    let set = |algorithm| Jwt { algorithm, jwk_url: Some("https://a/".into()), ..Jwt::default() };
    refused_jwt(set(Some(JwtAlgorithm::HS256)), "auth.jwt[0].type: HS256 needs a `key`");
    refused_jwt(
        Jwt { jwk_url: Some("a".into()), ..Jwt::default() },
        "auth.jwt[0].jwk_url: `a` is no address",
    );
    let audience = Some(OneOrMany::Many(Vec::new()));
    refused_jwt(Jwt { audience, ..hs256() }, "auth.jwt[0].audience: is empty");
    let header = TokenHeader { kind: TokenHeaderKind::Cookie, name: None };
    refused_jwt(Jwt { header, ..hs256() }, "auth.jwt[0].header: `type: Cookie` needs a `name`");
    let two =
        Jwt { claims_namespace: Some("a".into()), claims_namespace_path: Some("$.a".into()), ..hs256() };
    refused_jwt(two, "exclude each other");
    let odd = Jwt { claims_namespace_path: Some("$..a".into()), ..hs256() };
    refused_jwt(odd, "auth.jwt[0].claims_namespace_path: `$..a` is no path");
    let map = |entries: &[(&str, &str)]| {
        let literal = |text: &str| ClaimSource::Literal(OneOrMany::One(text.into()));
        let map = entries.iter().map(|(name, text)| ((*name).to_owned(), literal(text))).collect();
        Jwt { claims_map: Some(map), ..hs256() }
    };
    refused_jwt(map(&[]), "auth.jwt[0].claims_map: `x-hasura-allowed-roles` is needed");
    refused_jwt(map(&[("x-hasura-allowed-roles", "a")]), "has to be a list of texts");
    refused_jwt(map(&[("user-id", "a")]), "its name begins with `x-hasura-`");
    let twice = Auth { jwt: vec![hs256(), hs256()], ..Auth::default() };
    check_refusal(&config(twice), "auth.jwt[1].issuer: two kinds of tokens");
}
