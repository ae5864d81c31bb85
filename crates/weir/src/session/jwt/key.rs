//! Verification keys: from secrets, PEM and JSON Web Keys. Signatures are checked by `ring`, which lacks ES512.
//!
//! **Invariant:** an algorithm is checked only by a key of its own family, so a public key is never taken for an HMAC secret;
//! key sets hold public keys alone.
//!
//! Sources: RFC 7518 (algorithms, keys), RFC 8037 (Ed25519), RFC 5280 and RFC 8017 (DER of keys).

use crate::config::JwtAlgorithm;
use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use ring::{hmac, signature};
use rustls_pki_types::{CertificateDer, alg_id};
use webpki::EndEntityCert;
use weir_language::json::JsonRef;

/// A key that verifies signatures.
#[derive(Clone, PartialEq, Eq)]
pub(crate) enum VerificationKey {
    /// A secret.
    Hmac(Box<[u8]>),
    /// Modulus and exponent, without leading zeros.
    Rsa {
        /// The modulus.
        n: Box<[u8]>,
        /// The exponent.
        e: Box<[u8]>,
    },
    /// A point of P-256, uncompressed.
    P256(Box<[u8]>),
    /// A point of P-384, uncompressed.
    P384(Box<[u8]>),
    /// A public key of Ed25519.
    Ed25519(Box<[u8]>),
}

impl std::fmt::Debug for VerificationKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.family())
    }
}

impl VerificationKey {
    /// Reads the key `text` for `algorithm`: a secret, or PEM.
    /// # Errors
    /// A message for the operator, without the text.
    pub(crate) fn from_text(text: &str, algorithm: JwtAlgorithm) -> Result<Self, String> {
        let shortest = match algorithm {
            JwtAlgorithm::HS256 => 32,
            JwtAlgorithm::HS384 => 48,
            JwtAlgorithm::HS512 => 64,
            JwtAlgorithm::ES512 => {
                return Err("ES512 is not supported; sign with ES256, ES384 or Ed25519".into());
            }
            _ => {
                let key = Self::from_pem(text)?;
                return if key.fits(algorithm) {
                    Ok(key)
                } else {
                    Err(format!("{algorithm:?} does not go with this key, which is {}", key.family()))
                };
            }
        };
        if text.trim_start().starts_with("-----BEGIN") {
            return Err(format!("{algorithm:?} needs a secret; this is a key in PEM, which others may know"));
        }
        if text.len() < shortest {
            return Err(format!("Key size too small; should be atleast {shortest} characters"));
        }
        Ok(Self::Hmac(text.as_bytes().into()))
    }

    /// First public key, or key of the first certificate, in `text`.
    fn from_pem(text: &str) -> Result<Self, String> {
        const FORMS: &str = "a public key or an X.509 certificate in PEM begins with \
                             `-----BEGIN PUBLIC KEY-----` or `-----BEGIN CERTIFICATE-----`";
        let (_, from) = text.split_once("-----BEGIN ").ok_or(FORMS)?;
        let (label, from) = from.split_once("-----").ok_or(FORMS)?;
        let (body, _) = from.split_once("-----END ").ok_or("the PEM has no end")?;
        let body: String = body.split_ascii_whitespace().collect();
        let der = STANDARD.decode(body).map_err(|_| "the PEM is not in base64")?;
        let key = match label {
            "PUBLIC KEY" => Self::from_info(&der),
            "RSA PUBLIC KEY" => Self::from_rsa(&der),
            "CERTIFICATE" => {
                let certificate = CertificateDer::from(der);
                let certificate = EndEntityCert::try_from(&certificate)
                    .map_err(|cause| format!("the certificate cannot be read: {cause}"))?;
                Self::from_info(&certificate.subject_public_key_info())
            }
            _ if label.ends_with("PRIVATE KEY") => {
                return Err(
                    "this is a private key; give the public key, which suffices to check tokens".into()
                );
            }
            _ => return Err(format!("PEM of `{label}` is no key; {FORMS}")),
        };
        match key {
            Some(Self::Rsa { n, .. }) if !(256..=1024).contains(&n.len()) => {
                Err("an RSA key needs 2048 to 8192 bits".into())
            }
            Some(key) => Ok(key),
            None => Err("this is no key of RSA, of the curves P-256 or P-384, or of Ed25519".into()),
        }
    }

    /// Parses a `SubjectPublicKeyInfo`.
    fn from_info(der: &[u8]) -> Option<Self> {
        let (info, _) = value(SEQUENCE, der)?;
        let (algorithm, rest) = value(SEQUENCE, info)?;
        let (bits, _) = value(BIT_STRING, rest)?;
        let (0, key) = bits.split_first().map(|(unused, key)| (*unused, key))? else { return None };
        match algorithm {
            it if it == alg_id::RSA_ENCRYPTION.as_ref() => Self::from_rsa(key),
            it if it == alg_id::ECDSA_P256.as_ref() => point(key, 32).map(Self::P256),
            it if it == alg_id::ECDSA_P384.as_ref() => point(key, 48).map(Self::P384),
            it if it == alg_id::ED25519.as_ref() && key.len() == 32 => Some(Self::Ed25519(key.into())),
            _ => None,
        }
    }

    /// Parses an `RSAPublicKey`.
    fn from_rsa(der: &[u8]) -> Option<Self> {
        let (key, _) = value(SEQUENCE, der)?;
        let (n, rest) = value(INTEGER, key)?;
        let (e, _) = value(INTEGER, rest)?;
        Some(Self::Rsa { n: strip_leading_zeros(n), e: strip_leading_zeros(e) })
    }

    /// Kind of the key, for messages.
    pub(crate) const fn family(&self) -> &'static str {
        match self {
            Self::Hmac(_) => "a secret",
            Self::Rsa { .. } => "an RSA key",
            Self::P256(_) => "a key of the curve P-256",
            Self::P384(_) => "a key of the curve P-384",
            Self::Ed25519(_) => "a key of Ed25519",
        }
    }

    /// True if `algorithm` uses keys of this kind.
    pub(crate) const fn fits(&self, algorithm: JwtAlgorithm) -> bool {
        use JwtAlgorithm::{ES256, ES384, Ed25519, HS256, HS384, HS512};
        use JwtAlgorithm::{PS256, PS384, PS512, RS256, RS384, RS512};
        match self {
            Self::Hmac(_) => matches!(algorithm, HS256 | HS384 | HS512),
            Self::Rsa { .. } => matches!(algorithm, RS256 | RS384 | RS512 | PS256 | PS384 | PS512),
            Self::P256(_) => matches!(algorithm, ES256),
            Self::P384(_) => matches!(algorithm, ES384),
            Self::Ed25519(_) => matches!(algorithm, Ed25519),
        }
    }

    /// True if `signature` is valid for `message` with this key and `algorithm`.
    pub(crate) fn verifies(&self, algorithm: JwtAlgorithm, message: &[u8], signature: &[u8]) -> bool {
        if !self.fits(algorithm) {
            return false;
        }
        let by = |with: &'static dyn signature::VerificationAlgorithm, key: &[u8]| {
            signature::UnparsedPublicKey::new(with, key).verify(message, signature).is_ok()
        };
        match self {
            Self::Hmac(secret) => {
                let with = match algorithm {
                    JwtAlgorithm::HS384 => hmac::HMAC_SHA384,
                    JwtAlgorithm::HS512 => hmac::HMAC_SHA512,
                    _ => hmac::HMAC_SHA256,
                };
                hmac::verify(&hmac::Key::new(with, secret), message, signature).is_ok()
            }
            Self::Rsa { n, e } => {
                let with = match algorithm {
                    JwtAlgorithm::RS384 => &signature::RSA_PKCS1_2048_8192_SHA384,
                    JwtAlgorithm::RS512 => &signature::RSA_PKCS1_2048_8192_SHA512,
                    JwtAlgorithm::PS256 => &signature::RSA_PSS_2048_8192_SHA256,
                    JwtAlgorithm::PS384 => &signature::RSA_PSS_2048_8192_SHA384,
                    JwtAlgorithm::PS512 => &signature::RSA_PSS_2048_8192_SHA512,
                    _ => &signature::RSA_PKCS1_2048_8192_SHA256,
                };
                signature::RsaPublicKeyComponents { n, e }.verify(with, message, signature).is_ok()
            }
            Self::P256(point) => by(&signature::ECDSA_P256_SHA256_FIXED, point),
            Self::P384(point) => by(&signature::ECDSA_P384_SHA384_FIXED, point),
            Self::Ed25519(key) => by(&signature::ED25519, key),
        }
    }
}

/// Algorithm by its name in a token's head.
pub(crate) fn algorithm(name: &str) -> Option<JwtAlgorithm> {
    Some(match name {
        "HS256" => JwtAlgorithm::HS256,
        "HS384" => JwtAlgorithm::HS384,
        "HS512" => JwtAlgorithm::HS512,
        "RS256" => JwtAlgorithm::RS256,
        "RS384" => JwtAlgorithm::RS384,
        "RS512" => JwtAlgorithm::RS512,
        "PS256" => JwtAlgorithm::PS256,
        "PS384" => JwtAlgorithm::PS384,
        "PS512" => JwtAlgorithm::PS512,
        "ES256" => JwtAlgorithm::ES256,
        "ES384" => JwtAlgorithm::ES384,
        "EdDSA" | "Ed25519" => JwtAlgorithm::Ed25519,
        _ => return None,
    })
}

/// One key of a key set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct JsonWebKey {
    /// Id of the key.
    pub(crate) kid: Option<Box<str>>,
    /// The only algorithm it may be used for, if stated.
    pub(crate) algorithm: Option<JwtAlgorithm>,
    /// The key.
    pub(crate) key: VerificationKey,
}

impl JsonWebKey {
    /// Parses a member of `keys`; `None` for other kinds and uses of keys.
    pub(crate) fn read(jwk: JsonRef<'_>) -> Option<Self> {
        let text = |name: &str| jwk.get(name).and_then(JsonRef::as_str);
        let bytes = |name: &str| URL_SAFE_NO_PAD.decode(text(name)?.trim_end_matches('=')).ok();
        if jwk.get("use").is_some_and(|it| it.as_str().as_deref() != Some("sig")) {
            return None;
        }
        let can_verify = |it: JsonRef<'_>| it.items().any(|it| it.as_str().as_deref() == Some("verify"));
        if jwk.get("key_ops").is_some_and(|it| !it.is_array() || !can_verify(it)) {
            return None;
        }
        let at = |coordinate: &str, length: usize| bytes(coordinate).filter(|it| it.len() == length);
        let on_curve = |length: usize| Some([&[4], &*at("x", length)?, &*at("y", length)?].concat().into());
        let key = match (&*text("kty")?, text("crv").as_deref()) {
            ("RSA", _) => VerificationKey::Rsa {
                n: strip_leading_zeros(&bytes("n")?),
                e: strip_leading_zeros(&bytes("e")?),
            },
            ("EC", Some("P-256")) => VerificationKey::P256(on_curve(32)?),
            ("EC", Some("P-384")) => VerificationKey::P384(on_curve(48)?),
            ("OKP", Some("Ed25519")) => VerificationKey::Ed25519(at("x", 32)?.into()),
            _ => return None,
        };
        let named = match jwk.get("alg") {
            None => None,
            Some(name) => Some(algorithm(&name.as_str()?).filter(|it| key.fits(*it))?),
        };
        Some(Self { kid: text("kid").map(|it| it.into()), algorithm: named, key })
    }

    /// True if a token with this head may be signed by the key. A key with an id matches tokens with that id or none.
    pub(crate) fn may_sign(&self, algorithm: JwtAlgorithm, kid: Option<&str>) -> bool {
        let is_named = self.kid.as_deref().zip(kid).is_none_or(|(own, named)| own == named);
        is_named && self.key.fits(algorithm) && self.algorithm.is_none_or(|it| it == algorithm)
    }
}

const INTEGER: u8 = 0x02;
const BIT_STRING: u8 = 0x03;
const SEQUENCE: u8 = 0x30;

/// Contents of the DER value with `tag` at the start of `der`, and the rest. Lengths have at most two bytes.
fn value(tag: u8, der: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, rest) = match der {
        [it, length @ 0..=0x7f, rest @ ..] if *it == tag => (usize::from(*length), rest),
        [it, 0x81, length, rest @ ..] if *it == tag => (usize::from(*length), rest),
        [it, 0x82, high, low, rest @ ..] if *it == tag => {
            (usize::from(u16::from_be_bytes([*high, *low])), rest)
        }
        _ => return None,
    };
    rest.split_at_checked(length)
}

/// A point of a curve with coordinates of `length` bytes.
fn point(bytes: &[u8], length: usize) -> Option<Box<[u8]>> {
    (bytes.len() == 1 + 2 * length && bytes[0] == 4).then(|| bytes.into())
}

/// A number without its leading zeros.
fn strip_leading_zeros(number: &[u8]) -> Box<[u8]> {
    let zeros = number.iter().take_while(|it| **it == 0).count();
    number[zeros..].into()
}
