//! Callers of a thread by the header bytes that identify them: equal bytes mean the same caller, without checking secrets, tokens and
//! roles again.
//!
//! **Invariant:** an entry serves in its generation, until its token ends, and while the keys are in service that verified the token. Its
//! bytes are compared whole. Callers that a service was asked about, that are refused, or whose requests leave a trace (a cookie, a count of
//! headers that are ignored) are never kept.
//!
//! **Cost:** a hit is one pass over the names of the headers, one hash and one comparison of the deciding bytes. A thread keeps at most
//! [`PLACES`] callers and [`KEY_BYTES_MAX`] bytes for each; a later caller takes the place of an earlier one with the same hash.

use crate::session::{Authenticator, KeyNumber, Session};
use foldhash::quality::RandomState;
use hyper::HeaderMap;
use std::hash::BuildHasher;

/// Number of slots per thread.
const PLACES: usize = 1024;
/// Maximum size of these header bytes. Longer ones, which are unusual, are authenticated each time.
const KEY_BYTES_MAX: usize = 4096;

/// Cache of callers by identifying header bytes.
pub(crate) struct KnownCallers<C> {
    /// The generation whose callers these are.
    generation: u64,
    places: Vec<Option<KnownCaller<C>>>,
    hash: RandomState,
    /// The current request's bytes that identify its caller.
    key: Vec<u8>,
}

struct KnownCaller<C> {
    hash: u64,
    key: Box<[u8]>,
    caller: C,
    expires_ms: Option<u64>,
    keys: KeyNumber,
}

impl<C> Default for KnownCallers<C> {
    fn default() -> Self {
        Self { generation: 0, places: Vec::new(), hash: RandomState::default(), key: Vec::new() }
    }
}

/// A session, and what authenticated it.
pub(crate) struct Authenticated<'a> {
    /// Number of the generation.
    pub(crate) generation: u64,
    pub(crate) authenticator: &'a Authenticator,
    pub(crate) session: &'a Session,
    /// The token keys from before authentication.
    pub(crate) keys: Option<KeyNumber>,
}

impl<C: Clone> KnownCallers<C> {
    /// Caller of a request with these headers, if equal ones were authenticated before.
    pub(crate) fn get(
        &mut self,
        generation: u64,
        authenticator: &Authenticator,
        headers: &HeaderMap,
    ) -> Option<C> {
        let hash = self.read(authenticator, headers)?;
        if self.generation != generation {
            return None;
        }
        let place = self.places.get_mut(slot_index(hash))?;
        let known = place.as_ref().filter(|it| it.hash == hash && *it.key == *self.key)?;
        let is_over = known.expires_ms.is_some_and(|it| authenticator.wall_ms() >= it);
        if is_over || authenticator.key_number() != Some(known.keys) {
            *place = None;
            return None;
        }
        Some(known.caller.clone())
    }

    /// Stores the caller of a session.
    pub(crate) fn put(&mut self, authenticated: &Authenticated<'_>, headers: &HeaderMap, caller: &C) {
        let &Authenticated { generation, authenticator, session, keys } = authenticated;
        let leaves_trace = !session.cookies.is_empty() || !session.ignored.is_empty();
        let Some(keys) = keys.filter(|_| !leaves_trace) else { return };
        let Some(hash) = self.read(authenticator, headers) else { return };
        if self.generation != generation {
            self.generation = generation;
            self.places.clear();
        }
        if self.places.is_empty() {
            self.places.resize_with(PLACES, || None);
        }
        let key = self.key.as_slice().into();
        let caller = caller.clone();
        let known = KnownCaller { hash, key, caller, expires_ms: session.expires_ms, keys };
        self.places[slot_index(hash)] = Some(known);
    }

    /// Reads the identifying bytes into [`Self::key`] and hashes them; `None` if headers alone do not identify the caller, or are too
    /// long.
    fn read(&mut self, authenticator: &Authenticator, headers: &HeaderMap) -> Option<u64> {
        self.key.clear();
        let is_decided = authenticator.deciding_headers(headers, |name, value| {
            for part in [name.as_str().as_bytes(), b"\0", value.as_bytes(), b"\n"] {
                self.key.extend_from_slice(part);
            }
        });
        let is_kept = is_decided && self.key.len() <= KEY_BYTES_MAX;
        is_kept.then(|| self.hash.hash_one(self.key.as_slice()))
    }
}

/// Slot of a hash.
const fn slot_index(hash: u64) -> usize {
    hash as usize % PLACES
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Auth, AuthWebhook, Config, Jwt, JwtAlgorithm, Secret};
    use crate::session::tests::{HMAC, NOW_S, authenticator, by_hmac, config, headers, run, token};
    use ring::hmac::HMAC_SHA256;
    use weir_http::cache::Clock;

    type Lines<'l> = &'l [(&'static str, &'l str)];

    /// Authenticates a request with these headers, and keeps it as `name`. True if it can be found again.
    fn keep(
        known: &mut KnownCallers<&'static str>,
        of: &Authenticator,
        lines: Lines<'_>,
        name: &'static str,
    ) -> bool {
        let headers = headers(lines);
        let keys = of.key_number();
        let session = run(of.authenticate(&headers, None)).expect("it is somebody");
        let authenticated = Authenticated { generation: 1, authenticator: of, session: &session, keys };
        known.put(&authenticated, &headers, &name);
        known.get(1, of, &headers).is_some()
    }

    fn jwt() -> Config {
        let jwt =
            Jwt { algorithm: Some(JwtAlgorithm::HS256), key: Some(Secret::new(HMAC)), ..Jwt::default() };
        config(Auth { jwt: vec![jwt], ..Auth::default() })
    }

    /// A token that ends in `seconds`.
    fn bearer(seconds: u64) -> String {
        let claims = format!(
            r#"{{"exp":{},"https://hasura.io/jwt/claims":{{"x-hasura-default-role":"user","x-hasura-allowed-roles":["user","staff"]}}}}"#,
            NOW_S + seconds
        );
        let head = r#"{"alg":"HS256","typ":"JWT"}"#;
        format!("Bearer {}", token(head, &claims, |it| by_hmac(HMAC_SHA256, HMAC.as_bytes(), it)))
    }

    #[test]
    fn equal_bytes_are_the_equal_caller_and_others_are_not() {
        let of = authenticator(&config(Auth::default()), &Clock::new_simulated());
        let mut known = KnownCallers::default();
        let ann = [("x-hasura-admin-secret", "hush"), ("x-hasura-role", "user"), ("x-hasura-user-id", "1")];
        assert!(keep(&mut known, &of, &ann, "ann"));
        let bob = [ann[0], ann[1], ("x-hasura-user-id", "2")];
        assert_eq!(known.get(1, &of, &headers(&bob)), None);
        assert!(keep(&mut known, &of, &bob, "bob"));
        assert_eq!(known.get(1, &of, &headers(&ann)), Some("ann"));
        let with_others = [("accept", "*/*"), ann[0], ann[1], ("x-weir-consistency", "strong"), ann[2]];
        assert_eq!(known.get(1, &of, &headers(&with_others)), Some("ann"), "they decide nothing");
        for other in [
            &[("x-hasura-admin-secret", "hus"), ann[1], ann[2]][..],
            &[ann[1], ann[2]],
            &ann[..2],
            &[ann[0], ("x-hasura-role", "user\u{a0}"), ann[2]],
            &[ann[0], ann[1], ann[2], ("x-weir-role", "admin")],
            &[ann[0], ann[1], ann[2], ann[2]],
        ] {
            assert_eq!(known.get(1, &of, &headers(other)), None, "{other:?}");
        }
        assert_eq!(known.get(2, &of, &headers(&ann)), None, "another generation has another secret");
    }

    #[test]
    fn a_caller_by_token_ends_with_it() {
        let config = jwt();
        let clock = Clock::new_simulated();
        let of = authenticator(&config, &clock);
        let mut known = KnownCallers::default();
        let bearer = bearer(10);
        let user = [("authorization", bearer.as_str())];
        let staff = [user[0], ("x-hasura-role", "staff")];
        assert!(keep(&mut known, &of, &user, "user") && keep(&mut known, &of, &staff, "staff"));
        assert_eq!(known.get(1, &of, &headers(&staff)), Some("staff"));
        clock.advance_ms(9_999);
        assert_eq!(known.get(1, &of, &headers(&user)), Some("user"));
        clock.advance_ms(1);
        for lines in [&user[..], &staff] {
            assert_eq!(known.get(1, &of, &headers(lines)), None);
            assert!(run(of.authenticate(&headers(lines), None)).is_err(), "the token is over");
        }
    }

    #[test]
    fn a_caller_of_other_keys_is_not_known() {
        let of = authenticator(&jwt(), &Clock::new_simulated());
        let mut known = KnownCallers::default();
        let bearer = bearer(10);
        let headers = headers(&[("authorization", bearer.as_str())]);
        let session = run(of.authenticate(&headers, None)).expect("it is somebody");
        for (keys, is_found) in [(None, false), (Some(KeyNumber::of(7)), false), (of.key_number(), true)] {
            let authenticated = Authenticated { generation: 1, authenticator: &of, session: &session, keys };
            known.put(&authenticated, &headers, &"user");
            assert_eq!(known.get(1, &of, &headers).is_some(), is_found, "{keys:?}");
        }
    }

    #[test]
    fn requests_that_leave_a_trace_or_ask_a_service_are_not_kept() {
        let of = authenticator(&jwt(), &Clock::new_simulated());
        let mut known = KnownCallers::default();
        let bearer = bearer(10);
        let ignored = [("authorization", bearer.as_str()), ("x-hasura-user-id", "1")];
        assert!(!keep(&mut known, &of, &ignored, "its header is counted each time"));
        let hook = AuthWebhook::at("http://127.0.0.1:1/".into());
        let of =
            authenticator(&config(Auth { webhook: Some(hook), ..Auth::default() }), &Clock::new_simulated());
        assert_eq!(known.read(&of, &headers(&[("authorization", "Bearer x")])), None);
        assert!(keep(&mut known, &of, &[("x-hasura-admin-secret", "hush"), ("x-hasura-role", "a")], "a"));
    }

    #[test]
    fn a_thread_keeps_no_more_than_its_places() {
        let of = authenticator(&config(Auth::default()), &Clock::new_simulated());
        let mut known = KnownCallers::default();
        let long = "x".repeat(KEY_BYTES_MAX);
        let secret = ("x-hasura-admin-secret", "hush");
        assert!(!keep(&mut known, &of, &[secret, ("x-hasura-name", &long)], "long"));
        for id in 0..3 * PLACES {
            assert!(keep(&mut known, &of, &[secret, ("x-hasura-user-id", &id.to_string())], "one"));
        }
        assert_eq!(known.places.len(), PLACES);
    }
}
