//! `auth`: admin secrets, tokens, webhook and unauthorized role. The keys of `jwt` are those of Hasura's
//! `HASURA_GRAPHQL_JWT_SECRET`, so that its JSON can be pasted; `session` reads them.

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
