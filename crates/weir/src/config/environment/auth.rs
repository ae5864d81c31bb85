//! Settings of the environment that say who may call.

use super::variables::{EnvironmentVariables, read_flag, read_text};
use crate::config::{AuthWebhook, Jwt, Secret, WebhookMode};
use serde::de::DeserializeOwned;

pub(super) fn set(variables: &mut EnvironmentVariables<'_>) {
    variables.set("WEIR_ADMIN_SECRET", read_text, |config, it| {
        config.admin_secret = Some(Secret::new(it.clone()));
    });
    variables.set("WEIR_ADMIN_SECRETS", read_secrets, |config, it| config.auth.admin_secrets.clone_from(it));
    variables.set("WEIR_JWT_SECRET", read_jwt, |config, it| config.auth.jwt = vec![it.clone()]);
    variables.set("WEIR_JWT_SECRETS", read_jwts, |config, it| config.auth.jwt.clone_from(it));
    variables.set("WEIR_AUTH_HOOK", read_text, |config, it| {
        config.auth.webhook = Some(AuthWebhook::at(it.clone()));
    });
    variables.set("WEIR_AUTH_HOOK_MODE", read_mode, |config, it| {
        config.auth.webhook.iter_mut().for_each(|hook| hook.mode = *it);
    });
    variables.set("WEIR_AUTH_HOOK_SEND_REQUEST_BODY", read_flag, |config, it| {
        config.auth.webhook.iter_mut().for_each(|hook| hook.send_request = *it);
    });
    variables.set("WEIR_UNAUTHORIZED_ROLE", read_text, |config, it| {
        config.auth.unauthorized_role = Some(it.clone());
    });
}

fn read_mode(text: &str) -> Result<WebhookMode, String> {
    match &*text.to_ascii_uppercase() {
        "GET" => Ok(WebhookMode::Get),
        "POST" => Ok(WebhookMode::Post),
        _ => Err("is neither GET nor POST".into()),
    }
}

fn read_secrets(text: &str) -> Result<Vec<Secret>, String> {
    serde_json::from_str(text).map_err(|_| r#"is no JSON list of texts, as ["one", "two"]"#.into())
}

fn read_jwt(text: &str) -> Result<Jwt, String> {
    read_json(text, r#"is no configuration as {"type": "HS256", "key": "…"}"#)
}

fn read_jwts(text: &str) -> Result<Vec<Jwt>, String> {
    read_json(text, "is no JSON list of configurations")
}

/// Reads JSON. The message has position and kind of what is wrong: serde's own may contain a part of a key.
fn read_json<T: DeserializeOwned>(text: &str, wrong: &str) -> Result<T, String> {
    serde_json::from_str(text).map_err(|cause| {
        let kind = if cause.is_data() { "an unknown key or a value of a wrong type" } else { "no JSON" };
        format!("{wrong}: {kind} at line {} column {}", cause.line(), cause.column())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::environment::Environment;
    use crate::config::{Config, JwtAlgorithm, TokenHeaderKind};

    fn check(variables: &[(&str, &str)], expected: Result<fn(&Config) -> bool, &str>) {
        let variable = |name: &str| variables.iter().find(|it| it.0 == name).map(|it| it.1.to_owned());
        let (environment, errors) = Environment::read(&variable);
        assert!(!format!("{environment:?}").contains("hush"));
        let mut config = Config::default();
        environment.apply(&mut config);
        match (&errors[..], expected) {
            ([], Ok(holds)) => assert!(holds(&config), "{config:?}"),
            ([message], Err(part)) => {
                assert!(message.contains(part) && !message.contains("hush"), "{message}");
            }
            (found, _) => panic!("{variables:?}: {found:?}"),
        }
    }

    #[test]
    fn hasura_s_variables_are_read_and_ours_go_before_them() {
        let secret = |it: &Config| it.admin_secret.as_ref().map(|it| it.expose().to_owned());
        assert_eq!(secret(&Config::default()), None);
        check(
            &[("HASURA_GRAPHQL_ADMIN_SECRET", "a")],
            Ok(|it| it.admin_secret.as_ref().is_some_and(|it| it.expose() == "a")),
        );
        check(
            &[("HASURA_GRAPHQL_ADMIN_SECRET", "a"), ("WEIR_ADMIN_SECRET", "b")],
            Ok(|it| it.admin_secret.as_ref().is_some_and(|it| it.expose() == "b")),
        );
        check(
            &[("HASURA_GRAPHQL_ADMIN_SECRETS", r#"["a", "b"]"#)],
            Ok(|it| it.auth.admin_secrets.len() == 2),
        );
        let jwt = r#"{"type": "RS512", "jwk_url": "https://a", "audience": "b", "allowed_skew": 60, "header": {"type": "Cookie", "name": "t"}, "claims_map": {"x-hasura-allowed-roles": {"path": "$.r", "default": ["a"]}, "x-hasura-default-role": "a"}}"#;
        check(
            &[("HASURA_GRAPHQL_JWT_SECRET", jwt)],
            Ok(|it| {
                let [jwt] = &it.auth.jwt[..] else { return false };
                jwt.algorithm == Some(JwtAlgorithm::RS512) && jwt.header.kind == TokenHeaderKind::Cookie
            }),
        );
        check(&[("HASURA_GRAPHQL_JWT_SECRETS", "[{}, {}]")], Ok(|it| it.auth.jwt.len() == 2));
        check(
            &[("HASURA_GRAPHQL_AUTH_HOOK", "http://a/"), ("HASURA_GRAPHQL_AUTH_HOOK_MODE", "POST")],
            Ok(|it| it.auth.webhook.as_ref().is_some_and(|it| it.mode == WebhookMode::Post)),
        );
        check(
            &[("HASURA_GRAPHQL_UNAUTHORIZED_ROLE", "anonymous")],
            Ok(|it| it.auth.unauthorized_role.as_deref() == Some("anonymous")),
        );
    }

    #[test]
    fn a_variable_that_cannot_be_read_is_told_without_its_text() {
        check(&[("WEIR_JWT_SECRET", "hush")], Err("WEIR_JWT_SECRET is no configuration as"));
        check(
            &[("WEIR_JWT_SECRET", r#"{"type": "hush"}"#)],
            Err("an unknown key or a value of a wrong type"),
        );
        check(&[("WEIR_JWT_SECRETS", r#"{"key": "hush"}"#)], Err("WEIR_JWT_SECRETS is no JSON list"));
        check(&[("WEIR_ADMIN_SECRETS", "hush")], Err("WEIR_ADMIN_SECRETS is no JSON list"));
        check(&[("WEIR_AUTH_HOOK_MODE", "PUT")], Err("neither GET nor POST"));
        check(&[("WEIR_AUTH_HOOK_SEND_REQUEST_BODY", "1")], Err("neither true nor false"));
    }
}
