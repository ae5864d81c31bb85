//! JSON Web Tokens: selects the configuration for a token, verifies it, and derives the session.
//!
//! **Invariant:** a token that is there and not accepted is an error, never a caller without a token.
//!
//! **Cost:** a token that was verified before costs a hash ([`verified`]); else a signature is checked and its claims are read.

pub(crate) mod claims;
pub(crate) mod key;
pub(crate) mod key_set;
pub(crate) mod path;
pub(crate) mod token;
pub(crate) mod verified;

use super::auth_error::{AuthError, AuthFault};
use super::{ConfigFault, KeyNumber, Session, bearer_of, session_headers};
use crate::config::{Auth, Jwt, JwtAlgorithm, TokenHeader, TokenHeaderKind};
use claims::{ClaimsPlace, RoleClaims};
use hyper::HeaderMap;
use hyper::header::{AUTHORIZATION, COOKIE, HeaderName};
use key::VerificationKey;
use key_set::KeySet;
use std::sync::Arc;
use token::{ClaimFault, ClaimRules, UncheckedToken};
use verified::{KeyEpoch, Verified, VerifiedTokens, digest};
use weir_engine::caller::{Identity, Token};
use weir_http::cache::Clock;
use weir_language::json::{Json, JsonRef};

/// All kinds of tokens that are accepted.
#[derive(Debug)]
pub(super) struct TokenKinds {
    kinds: Vec<TokenKind>,
    clock: Clock,
    verified: VerifiedTokens<KnownToken>,
}

/// Contents of a verified token.
#[derive(Debug)]
struct KnownToken {
    /// Index of its kind.
    kind: usize,
    roles: RoleClaims,
    token: Token,
    /// Identity in the default role.
    identity: Identity,
}

/// One accepted kind.
#[derive(Debug)]
struct TokenKind {
    place: TokenPlace,
    keys: KeySource,
    rules: ClaimRules,
    claims: ClaimsPlace,
}

/// Where a request contains a token.
#[derive(Clone, Debug, PartialEq, Eq)]
enum TokenPlace {
    Bearer,
    Cookie(Box<str>),
    Header(HeaderName),
}

/// Source of keys.
#[derive(Clone, Debug)]
pub(crate) enum KeySource {
    /// One key for one algorithm.
    Fixed(VerificationKey, JwtAlgorithm),
    /// A key set, and its only allowed algorithm if configured.
    Set(Arc<KeySet>, Option<JwtAlgorithm>),
}

impl TokenKinds {
    /// Reads the settings of `auth.jwt`.
    pub(super) fn new(auth: &Auth, clock: &Clock) -> Result<Self, ConfigFault> {
        let mut kinds: Vec<TokenKind> = Vec::with_capacity(auth.jwt.len());
        for (at, jwt) in auth.jwt.iter().enumerate() {
            let made =
                TokenKind::new(jwt, clock).map_err(|(key, message)| ConfigFault::jwt(at, key, message))?;
            let is_same =
                |it: &&TokenKind| (&it.place, &it.rules.issuer) == (&made.place, &made.rules.issuer);
            if kinds.iter().any(|it| is_same(&it)) {
                let message = "two kinds of tokens have the same place and issuer, so no token would be of one \
                               alone; give each its own `issuer` or `header`";
                return Err(ConfigFault::jwt(at, "issuer", message.into()));
            }
            kinds.push(made);
        }
        Ok(Self { kinds, clock: clock.clone(), verified: VerifiedTokens::default() })
    }

    /// True if a token is read from `Authorization`.
    pub(super) fn reads_bearer(&self) -> bool {
        self.kinds.iter().any(|it| it.place == TokenPlace::Bearer)
    }

    /// True if a token may be read from the header `name`.
    pub(super) fn reads(&self, name: &HeaderName) -> bool {
        self.kinds.iter().any(|it| match &it.place {
            TokenPlace::Bearer => *name == AUTHORIZATION,
            TokenPlace::Cookie(_) => *name == COOKIE,
            TokenPlace::Header(own) => own == name,
        })
    }

    /// Sum of the epochs of all keys, each of which grows with a fetch.
    pub(super) fn key_number(&self) -> Option<KeyNumber> {
        let epochs = self.kinds.iter().map(|it| it.keys.epoch().map(|it| it.0));
        epochs.sum::<Option<u64>>().map(KeyNumber)
    }

    /// Current time for token checks.
    pub(super) fn wall_ms(&self) -> u64 {
        self.clock.wall_ms()
    }

    /// Headers with tokens and roles.
    pub(super) fn headers(&self) -> impl Iterator<Item = &str> {
        let places = self.kinds.iter().map(|it| match &it.place {
            TokenPlace::Bearer => AUTHORIZATION.as_str(),
            TokenPlace::Cookie(_) => COOKIE.as_str(),
            TokenPlace::Header(name) => name.as_str(),
        });
        places.chain(["x-weir-role"])
    }

    /// Reuses the key sets that `before` fetched from the same URLs.
    pub(super) fn keep_keys_of(&mut self, before: &Self) {
        for kind in &mut self.kinds {
            let KeySource::Set(set, _) = &mut kind.keys else { continue };
            let known = before.kinds.iter().find_map(|it| match &it.keys {
                KeySource::Set(known, _) if known.url() == set.url() => Some(known),
                KeySource::Set(..) | KeySource::Fixed(..) => None,
            });
            if let Some(known) = known {
                *set = Arc::clone(known);
            }
        }
    }

    /// Session of the request's token; `None` without a token.
    pub(super) async fn session(&self, headers: &HeaderMap) -> Result<Option<Session>, AuthError> {
        let mut found: Vec<(usize, &str)> = Vec::new();
        for (at, kind) in self.kinds.iter().enumerate() {
            if let Some(token) = kind.place.token(headers)? {
                found.push((at, token));
            }
        }
        if found.is_empty() {
            return Ok(None);
        }
        let digest = digest(found.iter().copied());
        let epoch = |it: &KnownToken| self.kinds[it.kind].keys.epoch();
        if let Some(known) = self.verified.get(&digest, self.clock.wall_ms(), epoch) {
            return known.session(headers).map(Some);
        }
        let mut tokens = Vec::with_capacity(found.len());
        for (at, text) in found {
            let token = UncheckedToken::read(text).map_err(|it| AuthError::token(it.words()))?;
            if self.kinds[at].is_of(&token) {
                tokens.push((at, token));
            }
        }
        match &tokens[..] {
            [] => Err(AuthError::token(ClaimFault::Issuer.words())),
            [(at, token)] => {
                let known = self.kinds[*at].verify_token(*at, token, &self.clock).await?;
                self.verified.put(digest, known).session(headers).map(Some)
            }
            _ => Err(AuthError::new(AuthFault::TokenHeader, "Could not verify JWT: Multiple JWTs found")),
        }
    }
}

impl Verified<KnownToken> {
    /// Session of the token, in the role that the headers request.
    fn session(&self, headers: &HeaderMap) -> Result<Session, AuthError> {
        let KnownToken { roles, token, identity, .. } = &self.value;
        let role = session_headers::role(headers)?.unwrap_or(&roles.default);
        if !roles.allowed.iter().any(|it| it == role) {
            return Err(AuthError::role());
        }
        let session = if role == roles.default {
            Session::of(identity.clone())
        } else {
            Session::new(role, roles.variables.clone(), token.clone())
        };
        Ok(Session {
            expires_ms: self.validity.ends_ms,
            ignored: session_headers::ignored_names(headers, true),
            ..session
        })
    }
}

impl TokenKind {
    fn new(jwt: &Jwt, clock: &Clock) -> Result<Self, (&'static str, String)> {
        if jwt.audience.as_ref().is_some_and(|it| it.all().is_empty()) {
            let message = "is empty, which would refuse every token; leave it out, or name an audience";
            return Err(("audience", message.into()));
        }
        let rules = ClaimRules {
            audience: jwt.audience.as_ref().map(|it| it.all().into()),
            issuer: jwt.issuer.clone(),
            skew_ms: u64::from(jwt.allowed_skew) * 1000,
        };
        let place = TokenPlace::new(&jwt.header).map_err(|cause| ("header", cause))?;
        Ok(Self { place, keys: KeySource::new(jwt, clock)?, rules, claims: ClaimsPlace::new(jwt)? })
    }

    /// True unless token and kind name different issuers. The token is not verified yet.
    fn is_of(&self, token: &UncheckedToken<'_>) -> bool {
        let Some(issuer) = &self.rules.issuer else { return true };
        let json = Json::parse(&token.payload, token::NESTING_MAX).ok();
        let named = json.as_ref().and_then(|it| it.root().get("iss"));
        named.is_none_or(|it| it.as_str().as_deref() == Some(issuer))
    }

    /// Verifies the token and reads its claims; `kind` is the index of this kind.
    async fn verify_token(
        &self,
        kind: usize,
        token: &UncheckedToken<'_>,
        clock: &Clock,
    ) -> Result<Verified<KnownToken>, AuthError> {
        let epoch = self.keys.verifies(token).await?;
        let epoch = epoch.ok_or_else(|| AuthError::token("JWSError JWSInvalidSignature"))?;
        let json = Json::parse(&token.payload, token::NESTING_MAX)
            .map_err(|_| AuthError::token(token::Unreadable::Form.words()))?;
        let validity =
            self.rules.check(json.root(), clock.wall_ms()).map_err(|it| AuthError::token(it.words()))?;
        let roles = self.claims.read(json.root())?;
        let bytes = token.payload.len();
        let token = Token::of(members(json.root()));
        let identity = Session::new(&roles.default, roles.variables.clone(), token.clone()).identity;
        Ok(Verified { value: KnownToken { kind, roles, token, identity }, validity, epoch, bytes })
    }
}

impl KeySource {
    fn new(jwt: &Jwt, clock: &Clock) -> Result<Self, (&'static str, String)> {
        match (&jwt.key, &jwt.jwk_url) {
            (Some(key), None) => {
                let algorithm = jwt.algorithm.ok_or_else(|| {
                    ("type", "is missing: the algorithm of the key, as `type: RS256`".to_owned())
                })?;
                let key = VerificationKey::from_text(key.expose(), algorithm).map_err(|it| ("key", it))?;
                Ok(Self::Fixed(key, algorithm))
            }
            (None, Some(url)) => match jwt.algorithm {
                Some(it @ (JwtAlgorithm::HS256 | JwtAlgorithm::HS384 | JwtAlgorithm::HS512)) => {
                    Err(("type", format!("{it:?} needs a `key`: the keys at a `jwk_url` are public")))
                }
                Some(JwtAlgorithm::ES512) => {
                    Err(("type", "ES512 is not supported; sign with ES256, ES384 or Ed25519".into()))
                }
                algorithm => {
                    let set = KeySet::new(url, clock).map_err(|cause| ("jwk_url", cause))?;
                    Ok(Self::Set(Arc::new(set), algorithm))
                }
            },
            (Some(_), Some(_)) => Err(("jwk_url", "excludes `key`; leave one of them out".into())),
            (None, None) => Err(("key", "is missing: give `type` and `key`, or `jwk_url`".into())),
        }
    }

    /// Epoch of the keys, if one of them signed `token`.
    pub(crate) async fn verifies(&self, token: &UncheckedToken<'_>) -> Result<Option<KeyEpoch>, AuthError> {
        match self {
            Self::Fixed(key, algorithm) => {
                let is_signed = token.algorithm == *algorithm && token.is_signed_by(key);
                Ok(is_signed.then_some(KeyEpoch(0)))
            }
            Self::Set(_, Some(algorithm)) if token.algorithm != *algorithm => Ok(None),
            Self::Set(set, _) => Box::pin(set.verifies(token)).await.map_err(|_| {
                AuthError::new(AuthFault::Unavailable, "the keys of tokens cannot be fetched: try again")
            }),
        }
    }
}

impl KeySource {
    /// Epoch of the current keys; `None` while none are known.
    pub(crate) fn epoch(&self) -> Option<KeyEpoch> {
        match self {
            Self::Fixed(..) => Some(KeyEpoch(0)),
            Self::Set(set, _) => set.epoch(),
        }
    }
}

impl TokenPlace {
    fn new(header: &TokenHeader) -> Result<Self, String> {
        match (header.kind, &header.name) {
            (TokenHeaderKind::Authorization, None) => Ok(Self::Bearer),
            (TokenHeaderKind::Authorization, Some(_)) => {
                Err("`Authorization` has no `name`; another header is of `type: CustomHeader`".into())
            }
            (kind, None) => Err(format!("`type: {kind:?}` needs a `name`")),
            (TokenHeaderKind::Cookie, Some(name)) => Ok(Self::Cookie(name.as_str().into())),
            (TokenHeaderKind::CustomHeader, Some(name)) => {
                name.parse().map(Self::Header).map_err(|_| format!("`{name}` is no name of a header"))
            }
        }
    }

    /// The token at this place, if present.
    fn token<'h>(&self, headers: &'h HeaderMap) -> Result<Option<&'h str>, AuthError> {
        let malformed = |words: &'static str| AuthError::new(AuthFault::TokenHeader, words);
        let twice = || malformed("Could not verify JWT: Multiple JWTs found");
        let mut found = None;
        match self {
            Self::Bearer => {
                for line in headers.get_all(AUTHORIZATION) {
                    let words = bearer_of(line.as_bytes()).and_then(|it| std::str::from_utf8(it).ok());
                    let token = words.filter(|it| !it.is_empty() && !it.contains(' '));
                    let token = token.ok_or_else(|| malformed("Malformed Authorization header"))?;
                    if found.replace(token).is_some() {
                        return Err(twice());
                    }
                }
            }
            Self::Header(name) => {
                for line in headers.get_all(name) {
                    let token = line.to_str().map_err(|_| malformed("Malformed token header"))?;
                    if found.replace(token).is_some() {
                        return Err(twice());
                    }
                }
            }
            Self::Cookie(name) => {
                let lines = headers.get_all(COOKIE).iter().filter_map(|it| it.to_str().ok());
                for (own, token) in lines.flat_map(|it| it.split(';')).filter_map(|it| it.split_once('=')) {
                    if own.trim() == &**name && found.replace(token.trim()).is_some() {
                        return Err(twice());
                    }
                }
            }
        }
        Ok(found.filter(|it| !it.is_empty()))
    }
}

/// Members of an object, with values as JSON text.
pub(super) fn members(object: JsonRef<'_>) -> impl Iterator<Item = (String, String)> {
    object.members().map(|(name, value)| (name.into_owned(), value.raw().to_owned()))
}
