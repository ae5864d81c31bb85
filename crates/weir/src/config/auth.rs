//! `auth`: admin secrets, tokens, webhook and unauthorized role. The keys of `jwt` are those of Hasura's
//! `HASURA_GRAPHQL_JWT_SECRET`, so that its JSON can be pasted; `session` reads them.
//!
//! [`AuthOverrides`] are the same settings from the environment.

use super::Secret;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// `auth`: who may call, and as which role.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Auth {
    /// Further admin secrets, beside `admin_secret`: the old one and the new one while clients change over.
    pub admin_secrets: Vec<Secret>,
    /// Kinds of JSON Web Tokens that are accepted.
    pub jwt: Vec<Jwt>,
    /// A service that says who a caller is, instead of tokens.
    pub webhook: Option<AuthWebhook>,
    /// Role of callers that send neither secret nor token.
    pub unauthorized_role: Option<String>,
}

/// One of `auth.jwt`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Jwt {
    /// Algorithm of the signatures; a token that names another one is refused. Needed with `key`.
    #[serde(rename = "type")]
    pub algorithm: Option<JwtAlgorithm>,
    /// The secret of HS algorithms, or the public key or X.509 certificate of the others in PEM.
    pub key: Option<Secret>,
    /// Instead of `key`: address of a JSON Web Key Set.
    pub jwk_url: Option<String>,
    /// The token's `aud` has to hold one of these.
    pub audience: Option<OneOrMany>,
    /// The token's `iss` has to be this.
    pub issuer: Option<String>,
    /// Tolerance of `exp` and `nbf`, in seconds.
    pub allowed_skew: u32,
    /// Name of the top-level claim that holds roles and session variables; default `https://hasura.io/jwt/claims`.
    pub claims_namespace: Option<String>,
    /// Instead of `claims_namespace`: path of that claim, `$.hasura.claims`; `$` is the token itself.
    pub claims_namespace_path: Option<String>,
    /// Form of that claim.
    pub claims_format: ClaimsFormat,
    /// Instead of such a claim: each session variable by its path in the token, or as a fixed text.
    pub claims_map: Option<BTreeMap<String, ClaimSource>>,
    /// Place of the token in a request; default the header `Authorization`.
    pub header: TokenHeader,
}

/// `auth.jwt[].type`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "the names of RFC 7518 and RFC 8037")]
pub enum JwtAlgorithm {
    HS256,
    HS384,
    HS512,
    RS256,
    RS384,
    RS512,
    PS256,
    PS384,
    PS512,
    ES256,
    ES384,
    ES512,
    #[serde(alias = "EdDSA")]
    Ed25519,
}

impl JwtAlgorithm {
    /// True if the key is a shared secret.
    pub(crate) const fn is_of_secrets(self) -> bool {
        matches!(self, Self::HS256 | Self::HS384 | Self::HS512)
    }
}

/// A text, or a list of texts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged, expecting = "a text or a list of texts")]
pub enum OneOrMany {
    /// One.
    One(String),
    /// Several.
    Many(Vec<String>),
}

impl OneOrMany {
    /// All of the values.
    pub fn all(&self) -> &[String] {
        match self {
            Self::One(one) => std::slice::from_ref(one),
            Self::Many(many) => many,
        }
    }
}

/// `auth.jwt[].claims_format`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ClaimsFormat {
    /// An object.
    #[default]
    Json,
    /// A text that holds a JSON object.
    StringifiedJson,
}

/// One of `auth.jwt[].claims_map`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged, expecting = "a text, a list of texts, or `{path: …, default: …}`")]
pub enum ClaimSource {
    /// The value itself.
    Literal(OneOrMany),
    /// The path of the value in the token.
    Path(ClaimPath),
}

/// A path of `auth.jwt[].claims_map`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClaimPath {
    /// `$.user.roles`, `$["https://app.example/roles"][0]`.
    pub path: String,
    /// The value where the token has none at the path.
    #[serde(default)]
    pub default: Option<OneOrMany>,
}

/// `auth.jwt[].header`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct TokenHeader {
    /// Kind of the place.
    #[serde(rename = "type")]
    pub kind: TokenHeaderKind,
    /// Name of the cookie or of the header.
    pub name: Option<String>,
}

/// `auth.jwt[].header.type`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum TokenHeaderKind {
    /// `Authorization: Bearer TOKEN`.
    #[default]
    Authorization,
    /// The cookie `name`.
    Cookie,
    /// The header `name`, which holds the token alone.
    CustomHeader,
}

/// `auth.webhook`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AuthWebhook {
    /// Address of the service.
    pub url: String,
    /// Method: GET with the client's headers, or POST with them as JSON.
    #[serde(default)]
    pub mode: WebhookMode,
    /// False leaves the GraphQL request out of the body of a POST; answers can then be cached.
    #[serde(default = "default_true")]
    pub send_request: bool,
    /// Timeout of a call, in milliseconds.
    #[serde(default = "AuthWebhook::timeout_ms")]
    pub timeout_ms: u32,
}

const fn default_true() -> bool {
    true
}

impl AuthWebhook {
    const fn timeout_ms() -> u32 {
        10_000
    }

    /// The service at `url`, with the defaults.
    pub fn at(url: String) -> Self {
        let mode = WebhookMode::default();
        let send_request = default_true();
        let timeout_ms = Self::timeout_ms();
        Self { url, mode, send_request, timeout_ms }
    }
}

/// `auth.webhook.mode`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum WebhookMode {
    /// GET.
    #[default]
    #[serde(rename = "GET", alias = "get")]
    Get,
    /// POST.
    #[serde(rename = "POST", alias = "post")]
    Post,
}

/// Settings of the environment; each overrules the key of the file. Weir's name of a variable goes before Hasura's.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AuthOverrides {
    admin_secret: Option<Secret>,
    admin_secrets: Option<Vec<Secret>>,
    jwt: Option<Vec<Jwt>>,
    hook_url: Option<String>,
    hook_mode: Option<WebhookMode>,
    hook_send_request: Option<bool>,
    unauthorized_role: Option<String>,
}

impl AuthOverrides {
    /// Reads the variables through `variable`.
    /// # Errors
    /// A variable whose text cannot be read, by its name. The message never holds the text of a key.
    pub fn read(variable: impl Fn(&str) -> Option<String>) -> Result<Self, String> {
        let named = |name: &str| {
            let hasura = name.replacen("WEIR_", "HASURA_GRAPHQL_", 1);
            [name.to_owned(), hasura].into_iter().find_map(|it| variable(&it).map(|text| (it, text)))
        };
        let text = |name: &str| named(name).map(|it| it.1);
        let json_list = named("WEIR_ADMIN_SECRETS");
        let admin_secrets = json_list.map(|(name, text)| {
            serde_json::from_str(&text)
                .map_err(|_| format!("{name} is no JSON list of texts, as [\"one\", \"two\"]"))
        });
        let one = named("WEIR_JWT_SECRET")
            .map(|(name, text)| jwt(&text).map(|it| vec![it]).map_err(|cause| format!("{name}: {cause}")));
        let several = named("WEIR_JWT_SECRETS").map(|(name, text)| {
            let read = serde_json::from_str(&text);
            read.map_err(|cause| format!("{name} is no JSON list of configurations: {}", place(&cause)))
        });
        let mode = named("WEIR_AUTH_HOOK_MODE").map(|(name, text)| match &*text.to_ascii_uppercase() {
            "GET" => Ok(WebhookMode::Get),
            "POST" => Ok(WebhookMode::Post),
            _ => Err(format!("{name} is neither GET nor POST")),
        });
        let send =
            named("WEIR_AUTH_HOOK_SEND_REQUEST_BODY").map(|(name, text)| match &*text.to_ascii_lowercase() {
                "true" => Ok(true),
                "false" => Ok(false),
                _ => Err(format!("{name} is neither true nor false")),
            });
        Ok(Self {
            admin_secret: text("WEIR_ADMIN_SECRET").map(Secret::new),
            admin_secrets: admin_secrets.transpose()?,
            jwt: several.or(one).transpose()?,
            hook_url: text("WEIR_AUTH_HOOK"),
            hook_mode: mode.transpose()?,
            hook_send_request: send.transpose()?,
            unauthorized_role: text("WEIR_UNAUTHORIZED_ROLE"),
        })
    }

    /// Overrides the keys of the file.
    pub fn apply(&self, admin_secret: &mut Option<Secret>, auth: &mut Auth) {
        if self.admin_secret.is_some() {
            admin_secret.clone_from(&self.admin_secret);
        }
        if let Some(secrets) = &self.admin_secrets {
            auth.admin_secrets.clone_from(secrets);
        }
        if let Some(jwt) = &self.jwt {
            auth.jwt.clone_from(jwt);
        }
        if let Some(url) = &self.hook_url {
            auth.webhook = Some(AuthWebhook::at(url.clone()));
        }
        if let Some(hook) = &mut auth.webhook {
            hook.mode = self.hook_mode.unwrap_or(hook.mode);
            hook.send_request = self.hook_send_request.unwrap_or(hook.send_request);
        }
        if self.unauthorized_role.is_some() {
            auth.unauthorized_role.clone_from(&self.unauthorized_role);
        }
    }
}

/// Parses one configuration from JSON.
fn jwt(text: &str) -> Result<Jwt, String> {
    serde_json::from_str(text).map_err(|cause| {
        format!("no configuration as {{\"type\": \"HS256\", \"key\": \"…\"}}: {}", place(&cause))
    })
}

/// Position and kind of a JSON error. Its own message may contain a part of a key.
fn place(cause: &serde_json::Error) -> String {
    let kind = if cause.is_data() { "an unknown key or a value of a wrong type" } else { "no JSON" };
    format!("{kind} at line {} column {}", cause.line(), cause.column())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    fn check(variables: &[(&str, &str)], expected: Result<fn(&Config) -> bool, &str>) {
        let variable = |name: &str| variables.iter().find(|it| it.0 == name).map(|it| it.1.to_owned());
        let read = AuthOverrides::read(variable).map(|it| {
            let mut config = Config::default();
            it.apply(&mut config.admin_secret, &mut config.auth);
            config
        });
        match (read, expected) {
            (Ok(config), Ok(holds)) => assert!(holds(&config), "{config:?}"),
            (Err(message), Err(part)) => {
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
        check(&[("WEIR_JWT_SECRET", "hush")], Err("WEIR_JWT_SECRET: no configuration as"));
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
