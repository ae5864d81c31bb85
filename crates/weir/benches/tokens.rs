//! Authentication by a token: at its first request, when its signature is checked, and at later ones, when it is known.
//!
//! `cargo bench -p weir --bench tokens`. Best of several rounds, nanoseconds a request.

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use hyper::HeaderMap;
use hyper::header::{AUTHORIZATION, HeaderValue};
use ring::rand::SystemRandom;
use ring::signature::{RSA_PKCS1_SHA256, RsaKeyPair};
use ring::{hmac, signature};
use std::hint::black_box;
use std::time::Instant;
use weir::config::{Auth, Config, Jwt, JwtAlgorithm, Secret};
use weir::session::Authenticator;

const HMAC: &str = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
const PUBLIC: &str = include_str!("../src/session/tests/keys/rsa_public.pem");
const PRIVATE: &str = include_str!("../src/session/tests/keys/rsa_private.pem");
const ROUNDS: usize = 7;
const TOKENS: usize = 500;

fn sign_headers(alg: &str, user: usize, sign: &dyn Fn(&[u8]) -> Vec<u8>) -> HeaderMap {
    let claims = format!(
        r#"{{"sub":"{user}","exp":4102444800,"https://hasura.io/jwt/claims":{{"x-hasura-allowed-roles":["user","editor"],"x-hasura-default-role":"user","x-hasura-user-id":"{user}","x-hasura-org-id":"of {user}"}}}}"#
    );
    let head = format!(r#"{{"alg":"{alg}","typ":"JWT"}}"#);
    let text = format!("{}.{}", URL_SAFE_NO_PAD.encode(head), URL_SAFE_NO_PAD.encode(claims));
    let token = format!("Bearer {text}.{}", URL_SAFE_NO_PAD.encode(sign(text.as_bytes())));
    let mut headers = HeaderMap::new();
    headers.insert(AUTHORIZATION, HeaderValue::from_str(&token).expect("it is a value"));
    headers
}

/// Nanoseconds a request: of tokens that are new, and of the same when they are known.
fn measure(jwt: &Jwt, requests: &[HeaderMap], runtime: &tokio::runtime::Runtime) -> (u128, u128) {
    let auth = Auth { jwt: vec![jwt.clone()], ..Auth::default() };
    let config = Config { admin_secret: Some(Secret::new("hush")), auth, ..Config::default() };
    let mut new = u128::MAX;
    let mut known = u128::MAX;
    for _ in 0..ROUNDS {
        let authenticator = Authenticator::new(&config).expect("the configuration is right");
        let round = || {
            let begun = Instant::now();
            for headers in requests {
                let session = runtime.block_on(authenticator.authenticate(headers, None));
                black_box(session.expect("the token is good"));
            }
            begun.elapsed().as_nanos() / requests.len() as u128
        };
        (new, known) = (new.min(round()), known.min(round()));
    }
    (new, known)
}

fn main() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("it can be made");
    let der: String = PRIVATE.lines().filter(|it| !it.starts_with('-')).collect();
    let pair = RsaKeyPair::from_pkcs8(&STANDARD.decode(der).expect("base64")).expect("it is a key");
    let by_rsa = |message: &[u8]| {
        let mut out = vec![0; pair.public().modulus_len()];
        pair.sign(&RSA_PKCS1_SHA256, &SystemRandom::new(), message, &mut out).expect("it signs");
        out
    };
    let secret = hmac::Key::new(hmac::HMAC_SHA256, HMAC.as_bytes());
    let by_hmac = |message: &[u8]| hmac::sign(&secret, message).as_ref().to_vec();
    let curve = signature::Ed25519KeyPair::generate_pkcs8(&SystemRandom::new()).expect("it is random");
    let curve = signature::Ed25519KeyPair::from_pkcs8(curve.as_ref()).expect("it is a key");
    let by_curve = |message: &[u8]| curve.sign(message).as_ref().to_vec();
    let public = signature::KeyPair::public_key(&curve).as_ref().to_vec();
    let prefix = b"\x30\x2a\x30\x05\x06\x03\x2b\x65\x70\x03\x21\x00";
    let pem = STANDARD.encode([prefix.as_slice(), &public].concat());
    let pem = format!("-----BEGIN PUBLIC KEY-----\n{pem}\n-----END PUBLIC KEY-----\n");
    type Sign<'s> = &'s dyn Fn(&[u8]) -> Vec<u8>;
    let cases: [(&str, JwtAlgorithm, &str, Sign<'_>); 3] = [
        ("HS256", JwtAlgorithm::HS256, HMAC, &by_hmac),
        ("RS256", JwtAlgorithm::RS256, PUBLIC, &by_rsa),
        ("EdDSA", JwtAlgorithm::Ed25519, &pem, &by_curve),
    ];
    println!("{:<6} {:>10} {:>10} {:>7}", "alg", "new ns", "known ns", "ratio");
    for (alg, algorithm, key, sign) in cases {
        let requests: Vec<HeaderMap> = (0..TOKENS).map(|user| sign_headers(alg, user, sign)).collect();
        let jwt = Jwt { algorithm: Some(algorithm), key: Some(Secret::new(key)), ..Jwt::default() };
        let (new, known) = measure(&jwt, &requests, &runtime);
        println!("{alg:<6} {new:>10} {known:>10} {:>7.1}", new as f64 / known as f64);
    }
}
