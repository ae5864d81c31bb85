//! Tests of authentication: signers, services on loopback, and the cases of each mode.

mod jwt;
mod key_set;
mod modes;
mod native;
#[path = "../../../engine/tests/service_kit/mod.rs"]
mod service_kit;
mod verified;
mod webhook;

use super::auth_error::{AuthError, AuthFault};
use super::{Authenticator, Session};
use crate::config::{Auth, Config, Jwt, JwtAlgorithm, Secret};
use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use hyper::HeaderMap;
use hyper::header::{HeaderName, HeaderValue};
use ring::rand::SystemRandom;
use ring::signature::{EcdsaKeyPair, Ed25519KeyPair, KeyPair, RsaKeyPair};
use ring::{hmac, signature};
use service_kit::Service;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use weir_http::cache::Clock;

/// A secret of 64 bytes, enough for all HS algorithms.
pub(crate) const HMAC: &str = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
pub(crate) const RSA_PUBLIC: &str = include_str!("tests/keys/rsa_public.pem");
/// The seconds at which simulated time begins.
pub(crate) const NOW_S: u64 = 1_767_225_600;

pub(crate) fn headers(lines: &[(&'static str, &str)]) -> HeaderMap {
    let mut map = HeaderMap::new();
    for (name, value) in lines {
        let value = HeaderValue::from_bytes(value.as_bytes()).expect("it is a value");
        map.append(HeaderName::from_static(name), value);
    }
    map
}

/// Runs `work` with its own event loop.
pub(crate) fn run<T>(work: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.expect("it can be made").block_on(work)
}

/// A configuration with the admin secret `hush`.
pub(crate) fn config(auth: Auth) -> Config {
    Config { admin_secret: Some(Secret::new("hush")), auth, ..Config::default() }
}

pub(crate) fn authenticator(config: &Config, clock: &Clock) -> Authenticator {
    Authenticator::with_clock(config, clock).expect("the configuration is right")
}

/// Authenticates a request with these headers.
pub(crate) fn authenticate(config: &Config, lines: &[(&'static str, &str)]) -> Result<Session, AuthError> {
    let authenticator = authenticator(config, &Clock::new_simulated());
    run(authenticator.authenticate(&headers(lines), None))
}

/// Checks role and fault, and a part of the message.
pub(crate) fn check(found: Result<Session, AuthError>, expected: Result<&str, (AuthFault, &str)>) {
    match (found, expected) {
        (Ok(session), Ok(role)) => assert_eq!(&*session.identity.role, role),
        (Err(error), Err((fault, part))) => {
            assert!(
                error.fault == fault && error.message.contains(part),
                "{error:?} is not {fault:?} {part}"
            );
        }
        (found, expected) => panic!("{found:?} instead of {expected:?}"),
    }
}

/// The session variables.
pub(crate) fn variables(session: &Session) -> Vec<(&str, &str)> {
    session.identity.claims.variables().iter().map(|(name, value)| (&**name, &**value)).collect()
}

/// The configuration of tokens that are signed with [`HMAC`].
pub(crate) fn hs256() -> Jwt {
    Jwt { algorithm: Some(JwtAlgorithm::HS256), key: Some(Secret::new(HMAC)), ..Jwt::default() }
}

/// Claims of the roles `user` and `editor`.
pub(crate) fn claims(more: &str) -> String {
    let own =
        r#""x-hasura-allowed-roles":["user","editor"],"x-hasura-default-role":"user","X-Hasura-User-Id":"7""#;
    format!(r#"{{"https://hasura.io/jwt/claims":{{{own}}}{more}}}"#)
}

/// Signs `head` and `claims`.
pub(crate) fn token(head: &str, claims: &str, sign: impl FnOnce(&[u8]) -> Vec<u8>) -> String {
    let signed = format!("{}.{}", URL_SAFE_NO_PAD.encode(head), URL_SAFE_NO_PAD.encode(claims));
    let signature = URL_SAFE_NO_PAD.encode(sign(signed.as_bytes()));
    format!("{signed}.{signature}")
}

/// A token of HS256 by [`HMAC`].
pub(crate) fn hs(claims: &str) -> String {
    token(r#"{"alg":"HS256","typ":"JWT"}"#, claims, |it| by_hmac(hmac::HMAC_SHA256, HMAC.as_bytes(), it))
}

pub(crate) fn by_hmac(with: hmac::Algorithm, secret: &[u8], message: &[u8]) -> Vec<u8> {
    hmac::sign(&hmac::Key::new(with, secret), message).as_ref().to_vec()
}

/// The DER in a PEM.
fn der(pem: &str) -> Vec<u8> {
    let body: String = pem.lines().filter(|it| !it.starts_with('-')).collect();
    STANDARD.decode(body).expect("it is base64")
}

fn rsa_pair() -> RsaKeyPair {
    RsaKeyPair::from_pkcs8(&der(include_str!("tests/keys/rsa_private.pem"))).expect("it is a key")
}

pub(crate) fn by_rsa(with: &'static dyn signature::RsaEncoding, message: &[u8]) -> Vec<u8> {
    let pair = rsa_pair();
    let mut out = vec![0; pair.public().modulus_len()];
    pair.sign(with, &SystemRandom::new(), message, &mut out).expect("it signs");
    out
}

/// The key of [`by_rsa`] as a member of a key set.
pub(crate) fn rsa_jwk(kid: &str, more: &str) -> String {
    let public: Vec<u8> = rsa_pair().public().as_ref().to_vec();
    let components = signature::RsaPublicKeyComponents::<Vec<u8>>::from(rsa_pair().public());
    assert!(!public.is_empty());
    let n = URL_SAFE_NO_PAD.encode(components.n);
    let e = URL_SAFE_NO_PAD.encode(components.e);
    format!(r#"{{"kty":"RSA","kid":"{kid}","n":"{n}","e":"{e}"{more}}}"#)
}

/// Signs with an elliptic curve or Ed25519; the pair is new.
pub(crate) enum Curve {
    Ecdsa(EcdsaKeyPair),
    Ed25519(Ed25519KeyPair),
}

impl Curve {
    pub(crate) fn ecdsa(with: &'static signature::EcdsaSigningAlgorithm) -> Self {
        let random = SystemRandom::new();
        let pkcs8 = EcdsaKeyPair::generate_pkcs8(with, &random).expect("it is random");
        Self::Ecdsa(EcdsaKeyPair::from_pkcs8(with, pkcs8.as_ref(), &random).expect("it is a key"))
    }
    pub(crate) fn ed25519() -> Self {
        let pkcs8 = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new()).expect("it is random");
        Self::Ed25519(Ed25519KeyPair::from_pkcs8(pkcs8.as_ref()).expect("it is a key"))
    }
    pub(crate) fn sign(&self, message: &[u8]) -> Vec<u8> {
        match self {
            Self::Ecdsa(it) => it.sign(&SystemRandom::new(), message).expect("it signs").as_ref().to_vec(),
            Self::Ed25519(it) => it.sign(message).as_ref().to_vec(),
        }
    }
    fn public(&self) -> Vec<u8> {
        match self {
            Self::Ecdsa(it) => it.public_key().as_ref().to_vec(),
            Self::Ed25519(it) => it.public_key().as_ref().to_vec(),
        }
    }
    /// As a member of a key set.
    pub(crate) fn jwk(&self, curve: &str) -> String {
        let public = self.public();
        match self {
            Self::Ecdsa(_) => {
                let (x, y) = public[1..].split_at(public.len() / 2);
                let x = URL_SAFE_NO_PAD.encode(x);
                let y = URL_SAFE_NO_PAD.encode(y);
                format!(r#"{{"kty":"EC","crv":"{curve}","x":"{x}","y":"{y}"}}"#)
            }
            Self::Ed25519(_) => {
                let x = URL_SAFE_NO_PAD.encode(public);
                format!(r#"{{"kty":"OKP","crv":"{curve}","x":"{x}"}}"#)
            }
        }
    }
    /// As a public key in PEM.
    pub(crate) fn pem(&self) -> String {
        let prefix: &[u8] = match self {
            Self::Ed25519(_) => b"\x30\x2a\x30\x05\x06\x03\x2b\x65\x70\x03\x21\x00",
            Self::Ecdsa(_) if self.public().len() == 65 => {
                b"\x30\x59\x30\x13\x06\x07\x2a\x86\x48\xce\x3d\x02\x01\x06\x08\x2a\x86\x48\xce\x3d\x03\x01\x07\x03\x42\x00"
            }
            Self::Ecdsa(_) => b"\x30\x76\x30\x10\x06\x07\x2a\x86\x48\xce\x3d\x02\x01\x06\x05\x2b\x81\x04\x00\x22\x03\x62\x00",
        };
        let body = STANDARD.encode([prefix, &self.public()].concat());
        format!("-----BEGIN PUBLIC KEY-----\n{body}\n-----END PUBLIC KEY-----\n")
    }
}

/// An answer of [`LoopbackService`].
#[derive(Clone, Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    /// Lines that end in CR LF.
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Reply {
    pub(crate) fn ok(head: &str, body: &str) -> Self {
        Self { status: 200, head: head.into(), body: body.into() }
    }
}

/// A service on loopback that says what it is told to and keeps what it was asked.
pub(crate) struct LoopbackService {
    pub(crate) address: SocketAddr,
    reply: Arc<Mutex<Reply>>,
    asked: Arc<Mutex<Vec<String>>>,
    _service: Service,
}

impl LoopbackService {
    pub(crate) fn start(reply: Reply) -> Self {
        let reply = Arc::new(Mutex::new(reply));
        let asked = Arc::<Mutex<Vec<String>>>::default();
        let shared = (Arc::clone(&reply), Arc::clone(&asked));
        let service = Service::start(move |request| {
            let text = format!("{}{}", request.head, String::from_utf8_lossy(&request.body));
            shared.1.lock().expect("nobody panicked").push(text);
            let Reply { status, head, body } = shared.0.lock().expect("nobody panicked").clone();
            service_kit::reply(status, &format!("connection: close\r\n{head}"), body)
        });
        Self { address: service.address, reply, asked, _service: service }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/it", self.address)
    }
    pub(crate) fn says(&self, reply: Reply) {
        *self.reply.lock().expect("nobody panicked") = reply;
    }
    /// Heads and bodies of all requests so far.
    pub(crate) fn requests(&self) -> Vec<String> {
        self.asked.lock().expect("nobody panicked").clone()
    }
    /// Waits until so many requests came.
    pub(crate) async fn until(&self, count: usize) {
        while self.requests().len() < count {
            tokio::task::yield_now().await;
        }
    }
}
