//! A token as text: its three parts, its head, and the claims about time, audience and issuer.
//!
//! **Invariant:** of the head only `alg`, `kid` and `crit` are read; no address or key in it is ever followed or used.
//!
//! Sources: RFC 7515 (compact form), RFC 7519 (claims).

use super::key;
use super::verified::Validity;
use crate::config::JwtAlgorithm;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use weir_language::json::{Json, JsonRef};

/// Maximum length of a token, in bytes.
pub(crate) const TOKEN_BYTES_MAX: usize = 16 * 1024;
/// Maximum length of a key id, in bytes.
pub(crate) const KID_BYTES_MAX: usize = 256;
/// Maximum nesting in a token.
pub(crate) const NESTING_MAX: u32 = 50;

/// A token whose signature was not verified yet.
#[derive(Debug)]
pub(crate) struct UncheckedToken<'t> {
    /// The signed bytes.
    signed: &'t str,
    signature: Vec<u8>,
    /// Algorithm from the head.
    pub(crate) algorithm: JwtAlgorithm,
    /// Key id from the head.
    pub(crate) kid: Option<Box<str>>,
    /// Claims as JSON.
    pub(crate) payload: Vec<u8>,
}

/// Reason why a token cannot be parsed; messages follow `JWSError`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unreadable {
    /// It is not a token, or is too long.
    Form,
    /// The algorithm is unknown or `none`.
    Algorithm,
}

impl Unreadable {
    /// Message of Hasura's library.
    pub(crate) const fn words(self) -> &'static str {
        match self {
            Self::Form => "JWSError (CompactDecodeError Invalid number of parts or invalid part)",
            Self::Algorithm => "JWSError AlgorithmNotSupported",
        }
    }
}

impl<'t> UncheckedToken<'t> {
    /// Parses `text`.
    pub(crate) fn read(text: &'t str) -> Result<Self, Unreadable> {
        if text.len() > TOKEN_BYTES_MAX {
            return Err(Unreadable::Form);
        }
        let (signed, signature) = text.rsplit_once('.').ok_or(Unreadable::Form)?;
        let (head, payload) = signed.split_once('.').ok_or(Unreadable::Form)?;
        let part = |text: &str| URL_SAFE_NO_PAD.decode(text).map_err(|_| Unreadable::Form);
        let head = part(head)?;
        let payload = part(payload)?;
        let signature = part(signature)?;
        let head = Json::parse(&head, NESTING_MAX).map_err(|_| Unreadable::Form)?;
        let head = head.root();
        // No critical extension is supported.
        if head.get("crit").is_some() {
            return Err(Unreadable::Form);
        }
        let name = head.get("alg").and_then(JsonRef::as_str).ok_or(Unreadable::Algorithm)?;
        let algorithm = key::algorithm(&name).ok_or(Unreadable::Algorithm)?;
        let kid = match head.get("kid") {
            None => None,
            Some(kid) => {
                let kid = kid.as_str().filter(|it| it.len() <= KID_BYTES_MAX).ok_or(Unreadable::Form)?;
                Some(kid.into())
            }
        };
        let claims = Json::parse(&payload, NESTING_MAX).map_err(|_| Unreadable::Form)?;
        if !claims.root().is_object() {
            return Err(Unreadable::Form);
        }
        drop(claims);
        Ok(Self { signed, signature, algorithm, kid, payload })
    }

    /// True if `key` signed it.
    pub(crate) fn is_signed_by(&self, key: &key::VerificationKey) -> bool {
        key.verifies(self.algorithm, self.signed.as_bytes(), &self.signature)
    }
}

/// Conditions on the claims of a token.
#[derive(Clone, Debug, Default)]
pub(crate) struct ClaimRules {
    /// Values of which one must be in `aud`.
    pub(crate) audience: Option<Box<[String]>>,
    /// The value that `iss` must have.
    pub(crate) issuer: Option<String>,
    /// Tolerance of times, in milliseconds.
    pub(crate) skew_ms: u64,
}

/// Reason why claims are refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ClaimFault {
    /// A time or list has another type.
    Type,
    /// `exp` has passed.
    Expired,
    /// `nbf` is in the future.
    NotYet,
    /// `aud` contains none of the audiences.
    Audience,
    /// `iss` differs.
    Issuer,
}

impl ClaimFault {
    /// Message of Hasura's library.
    pub(crate) const fn words(self) -> &'static str {
        match self {
            Self::Type => "JWTClaimsSetDecodeError",
            Self::Expired => "JWTExpired",
            Self::NotYet => "JWTNotYetValid",
            Self::Audience => "JWTNotInAudience",
            Self::Issuer => "JWTNotInIssuer",
        }
    }
}

impl ClaimRules {
    /// Checks `claims` at `wall_ms`; returns the validity of the token.
    pub(crate) fn check(&self, claims: JsonRef<'_>, wall_ms: u64) -> Result<Validity, ClaimFault> {
        let ends_ms = time_ms(claims, "exp")?.map(|it| it.saturating_add(self.skew_ms));
        if ends_ms.is_some_and(|it| wall_ms >= it) {
            return Err(ClaimFault::Expired);
        }
        let begins_ms = time_ms(claims, "nbf")?.map_or(0, |it| it.saturating_sub(self.skew_ms));
        if wall_ms < begins_ms {
            return Err(ClaimFault::NotYet);
        }
        if let Some(issuer) = &self.issuer
            && claims.get("iss").and_then(JsonRef::as_str).as_deref() != Some(issuer)
        {
            return Err(ClaimFault::Issuer);
        }
        match &self.audience {
            Some(audience) if !is_for(claims, audience)? => Err(ClaimFault::Audience),
            Some(_) | None => Ok(Validity { begins_ms, ends_ms }),
        }
    }
}

/// True if `aud`, a text or list, contains one of `audience`.
fn is_for(claims: JsonRef<'_>, audience: &[String]) -> Result<bool, ClaimFault> {
    let Some(own) = claims.get("aud") else { return Ok(false) };
    let is_one = |it: JsonRef<'_>| {
        it.as_str().map(|it| audience.iter().any(|one| **one == *it)).ok_or(ClaimFault::Type)
    };
    if !own.is_array() {
        return is_one(own);
    }
    own.items().try_fold(false, |any, it| is_one(it).map(|it| any || it))
}

/// The time `name` in milliseconds since 1970, at least 0 and without fractions of a second.
fn time_ms(claims: JsonRef<'_>, name: &str) -> Result<Option<u64>, ClaimFault> {
    let Some(time) = claims.get(name) else { return Ok(None) };
    let digits = time.as_number().ok_or(ClaimFault::Type)?;
    let whole = digits.split_once('.').map_or(digits, |(whole, part)| {
        if part.bytes().all(|it| it.is_ascii_digit()) { whole } else { digits }
    });
    if let Some(before) = whole.strip_prefix('-') {
        return if before.bytes().all(|it| it.is_ascii_digit()) {
            Ok(Some(0))
        } else {
            Err(ClaimFault::Type)
        };
    }
    if !whole.bytes().all(|it| it.is_ascii_digit()) {
        return Err(ClaimFault::Type);
    }
    // Digits that overflow mean a distant future.
    Ok(Some(whole.parse::<u64>().unwrap_or(u64::MAX).saturating_mul(1000)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW_MS: u64 = 1_800_000_000_000;

    fn check(claims: &str, expected: Result<Option<u64>, ClaimFault>) {
        let audience = vec!["a".to_owned(), "b".to_owned()].into();
        let rules = ClaimRules { audience: Some(audience), issuer: Some("i".into()), skew_ms: 60_000 };
        let claims = format!(r#"{{{claims}}}"#);
        let json = Json::parse(claims.as_bytes(), 9).expect("it is JSON");
        assert_eq!(rules.check(json.root(), NOW_MS).map(|it| it.ends_ms), expected, "{claims}");
    }

    #[test]
    fn jwt_times_have_the_edge_of_the_skew() {
        const OWN: &str = r#""iss":"i","aud":"a""#;
        check(OWN, Ok(None));
        check(&format!(r#"{OWN},"exp":1799999941"#), Ok(Some(1_800_000_001_000)));
        check(&format!(r#"{OWN},"exp":1799999940"#), Err(ClaimFault::Expired));
        check(&format!(r#"{OWN},"exp":1799999940.9"#), Err(ClaimFault::Expired));
        check(&format!(r#"{OWN},"exp":-1"#), Err(ClaimFault::Expired));
        check(&format!(r#"{OWN},"nbf":1800000060"#), Ok(None));
        check(&format!(r#"{OWN},"nbf":1800000061"#), Err(ClaimFault::NotYet));
        check(&format!(r#"{OWN},"exp":99999999999999999999999"#), Ok(Some(u64::MAX)));
        for time in ["\"1900000000\"", "null", "[1900000000]", "19e8", "1.9e9", "{}", "true"] {
            check(&format!(r#"{OWN},"exp":{time}"#), Err(ClaimFault::Type));
        }
    }

    #[test]
    fn jwt_audience_and_issuer_have_to_be_there_and_right() {
        check(r#""iss":"i","aud":["x","b"]"#, Ok(None));
        for aud in ["\"c\"", "[]", "[\"A\"]", "\"\""] {
            check(&format!(r#""iss":"i","aud":{aud}"#), Err(ClaimFault::Audience));
        }
        for aud in ["7", "[7, \"c\"]", "{\"a\":1}", "null"] {
            check(&format!(r#""iss":"i","aud":{aud}"#), Err(ClaimFault::Type));
        }
        check(r#""iss":"i""#, Err(ClaimFault::Audience));
        for iss in ["\"j\"", "[\"i\"]", "null", "\"i \""] {
            check(&format!(r#""aud":"a","iss":{iss}"#), Err(ClaimFault::Issuer));
        }
        check(r#""aud":"a""#, Err(ClaimFault::Issuer));
    }
}
