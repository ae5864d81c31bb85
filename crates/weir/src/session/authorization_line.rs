//! Tokens of a native source, as its line `# Dgraph.Authorization {…}` describes them: the claims that `@auth` rules read,
//! or the words of the refusal that stands in the source's errors.
//!
//! **Invariant:** a token that is not accepted gives no claims; a source that is closed by default takes a missing one as
//! refused.

use super::jwt::KeySource;
use super::jwt::key::{VerificationKey, algorithm};
use super::jwt::key_set::KeySet;
use super::jwt::members;
use super::jwt::token::{ClaimFault, ClaimRules, NESTING_MAX, UncheckedToken, Unreadable};
use super::jwt::verified::{Validity, Verified, VerifiedTokens, digest};
use crate::config::JwtAlgorithm;
use hyper::HeaderMap;
use hyper::header::HeaderName;
use std::sync::Arc;
use weir_engine::caller::Token;
use weir_http::cache::Clock;
use weir_language::json::{Json, JsonRef};
use weir_native::model::{Authorization, AuthorizationKeys};

/// All algorithms of the line.
const ALGORITHMS: [&str; 6] = ["HS256", "HS384", "HS512", "RS256", "RS384", "RS512"];
/// Error for a missing token.
const REQUIRED: &str = "a valid JWT is required but was not provided";

/// Token reader of one native source.
#[derive(Debug)]
pub struct NativeTokens {
    header: HeaderName,
    namespace: Box<str>,
    keys: Vec<KeySource>,
    audience: Vec<String>,
    closed: bool,
    clock: Clock,
    /// Cache of verified tokens, each with the index of the keys that verified it.
    verified: VerifiedTokens<(usize, Token)>,
}

/// An invalid header, which refuses the whole request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MalformedBearer(pub String);

impl NativeTokens {
    /// Reads the settings of `line`, without fetching key sets.
    /// # Errors
    /// Message for the author of the line.
    pub fn new(line: &Authorization, clock: &Clock) -> Result<Self, String> {
        let header = line.header.parse().map_err(|_| format!("`{}` is no name of a header", line.header))?;
        let keys = match &line.keys {
            AuthorizationKeys::Key { text, algorithm: name } => {
                let known = algorithm(name).filter(|_| ALGORITHMS.contains(&&**name));
                let known = known.ok_or_else(|| {
                    let list = ALGORITHMS.join(", ");
                    format!("invalid jwt algorithm: found {name}, but supported options are: {list}")
                })?;
                vec![KeySource::Fixed(key(text, known)?, known)]
            }
            AuthorizationKeys::Sets(urls) => {
                let sets =
                    urls.iter().map(|url| Ok(KeySource::Set(Arc::new(KeySet::new(url, clock)?), None)));
                sets.collect::<Result<_, String>>()?
            }
        };
        let namespace = line.namespace.as_str().into();
        let audience = line.audience.clone();
        let clock = clock.clone();
        let verified = VerifiedTokens::default();
        Ok(Self { header, namespace, keys, audience, closed: line.closed, clock, verified })
    }

    /// True if the request has a non-empty header.
    pub(crate) fn is_sent(&self, headers: &HeaderMap) -> bool {
        headers.get_all(&self.header).iter().any(|it| !it.is_empty())
    }

    /// Name of the header.
    pub(crate) const fn header(&self) -> &HeaderName {
        &self.header
    }

    /// Claims of the request's token, with its expiry in milliseconds since 1970.
    /// # Errors
    /// The header begins with `Bearer` but contains no token.
    pub async fn read(&self, headers: &HeaderMap) -> Result<(Token, Option<u64>), MalformedBearer> {
        let mut lines = headers.get_all(&self.header).iter().map(|it| it.to_str().unwrap_or_default());
        let text = match (lines.next().unwrap_or_default(), lines.next()) {
            (one, None) => bare(one)?,
            (_, Some(_)) => return Ok((refused_token("token is malformed: several tokens"), None)),
        };
        if text.is_empty() {
            return Ok((if self.closed { Token::Refused(REQUIRED.into()) } else { Token::Absent }, None));
        }
        let digest = digest(std::iter::once((0, text)));
        let epoch = |it: &(usize, Token)| self.keys[it.0].epoch();
        if let Some(known) = self.verified.get(&digest, self.clock.wall_ms(), epoch) {
            return Ok((known.value.1.clone(), known.validity.ends_ms));
        }
        let token = match UncheckedToken::read(text) {
            Ok(token) => match self.verify_token(&token).await {
                Ok(known) => {
                    let ends_ms = known.validity.ends_ms;
                    return Ok((self.verified.put(digest, known).value.1.clone(), ends_ms));
                }
                Err(refused) => refused,
            },
            Err(Unreadable::Form) => refused_token("token is malformed: it cannot be read"),
            Err(Unreadable::Algorithm) => {
                refused_token("token is unverifiable: signing method (alg) is unavailable.")
            }
        };
        Ok((token, None))
    }

    /// Verifies signature and claims. A refused token is returned as the error.
    async fn verify_token(&self, token: &UncheckedToken<'_>) -> Result<Verified<(usize, Token)>, Token> {
        const KEYFUNC: &str = "token is unverifiable: error while executing keyfunc";
        let mut signed = None;
        for (at, source) in self.keys.iter().enumerate() {
            match source {
                KeySource::Fixed(_, expected) if *expected != token.algorithm => {
                    let found = algorithm_name(token.algorithm);
                    let words = format!("unexpected signing method: Expected {expected:?} Found {found}");
                    return Err(refused_token(&format!("{KEYFUNC}: {words}")));
                }
                KeySource::Set(..) if token.kid.is_none() => {
                    return Err(refused_token(&format!("{KEYFUNC}: kid not present in JWT")));
                }
                _ if signed.is_none() => {
                    signed = source.verifies(token).await.unwrap_or_default().map(|epoch| (at, epoch));
                }
                _ => {}
            }
        }
        let Some((at, epoch)) = signed else {
            return Err(refused_token("token signature is invalid: signature is invalid"));
        };
        let json = Json::parse(&token.payload, NESTING_MAX);
        let json = json.map_err(|_| refused_token("token is malformed: it cannot be read"))?;
        let (claims, validity) = self.claims(json.root())?;
        Ok(Verified { value: (at, claims), validity, epoch, bytes: token.payload.len() })
    }

    fn claims(&self, claims: JsonRef<'_>) -> Result<(Token, Validity), Token> {
        let validity =
            ClaimRules::default().check(claims, self.clock.wall_ms()).map_err(|fault| match fault {
                ClaimFault::Expired => refused_token("token has invalid claims: token is expired"),
                ClaimFault::NotYet => refused_token("token has invalid claims: token is not valid yet"),
                ClaimFault::Type | ClaimFault::Audience | ClaimFault::Issuer => {
                    refused_token("token has invalid claims: invalid type for claim")
                }
            })?;
        if claims.get("aud").is_some() {
            if self.audience.is_empty() {
                return Err(Token::Refused("audience value was expected but not provided".into()));
            }
            let rules = ClaimRules { audience: Some(self.audience.clone().into()), ..ClaimRules::default() };
            if rules.check(claims, self.clock.wall_ms()).is_err() {
                let words = "JWT `aud` value doesn't match with the audience";
                return Err(Token::Refused(words.into()));
            }
        }
        let namespace = claims.get(&self.namespace);
        let text = namespace.and_then(JsonRef::as_str);
        let inner = match &text {
            None => None,
            Some(text) => match Json::parse(text.as_bytes(), NESTING_MAX) {
                Ok(json) if json.root().is_object() => Some(json),
                Ok(_) | Err(_) => return Err(refused_token("the namespace claim holds no JSON object")),
            },
        };
        let inner = inner.as_ref().map(Json::root).or(namespace);
        let top = members(claims).filter(|it| *it.0 != *self.namespace);
        // For equal names the first claim counts, so the namespace takes precedence.
        Ok((Token::of(inner.into_iter().flat_map(members).chain(top)), validity))
    }
}

/// Reads the key `text`.
fn key(text: &str, algorithm: JwtAlgorithm) -> Result<VerificationKey, String> {
    let is_secret = matches!(algorithm, JwtAlgorithm::HS256 | JwtAlgorithm::HS384 | JwtAlgorithm::HS512);
    if is_secret && !text.is_empty() && !text.trim_start().starts_with("-----BEGIN") {
        // Dgraph has no minimum length for secrets.
        return Ok(VerificationKey::Hmac(text.as_bytes().into()));
    }
    VerificationKey::from_text(&text.replace("\\n", "\n"), algorithm)
}

/// The token in the header, with or without `Bearer`.
fn bare(text: &str) -> Result<&str, MalformedBearer> {
    let begins = text.get(..6).is_some_and(|it| it.eq_ignore_ascii_case("bearer"));
    if !begins {
        return Ok(text);
    }
    let token = text[6..].strip_prefix(' ').filter(|it| !it.is_empty() && !it.contains(' '));
    token.ok_or_else(|| MalformedBearer(format!("invalid Bearer-formatted header value for JWT ({text})")))
}

const fn algorithm_name(algorithm: JwtAlgorithm) -> &'static str {
    match algorithm {
        JwtAlgorithm::HS256 => "HS256",
        JwtAlgorithm::HS384 => "HS384",
        JwtAlgorithm::HS512 => "HS512",
        JwtAlgorithm::RS256 => "RS256",
        JwtAlgorithm::RS384 => "RS384",
        JwtAlgorithm::RS512 => "RS512",
        JwtAlgorithm::PS256 => "PS256",
        JwtAlgorithm::PS384 => "PS384",
        JwtAlgorithm::PS512 => "PS512",
        JwtAlgorithm::ES256 => "ES256",
        JwtAlgorithm::ES384 => "ES384",
        JwtAlgorithm::ES512 => "ES512",
        JwtAlgorithm::Ed25519 => "EdDSA",
    }
}

fn refused_token(cause: &str) -> Token {
    Token::Refused(format!("unable to parse jwt token:{cause}").into())
}
