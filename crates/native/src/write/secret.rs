//! Passwords: kept as Argon2id hashes, made and compared on threads of their own. Hashes of bcrypt come with a load from Dgraph.
//!
//! A hash costs tens of milliseconds and megabytes on purpose, so it never runs on an event loop or on the thread that
//! writes, and only a few at a time; some more wait, and who comes then is told so.
//!
//! **Invariant:** a password is in no log, no error and no plan; only its hash is stored.

use argon2::Argon2;
use argon2::password_hash::phc::PasswordHash;
use argon2::password_hash::{PasswordHasher, PasswordVerifier};
use std::sync::Arc;
use tokio::sync::Semaphore;
use weir_engine::source::FieldError;

/// Maximum number of hashes at a time: each takes 19 MiB.
const HASHES_AT_A_TIME: usize = 4;
/// Maximum number of hashes that wait.
const WAITING_MAX: usize = 128;

/// Each step more takes twice the time: this one some seconds.
const BCRYPT_COST_MAX: u32 = 15;

/// True if a load accepts `text` as the hash of a password: Argon2's, or bcrypt's, which Dgraph uses.
pub(crate) fn is_hash(text: &str) -> bool {
    text.starts_with("$argon2") || is_bcrypt(text)
}

/// `$2a$10$` and 53 characters of salt and hash.
fn is_bcrypt(text: &str) -> bool {
    let Some(rest) = ["$2a$", "$2b$", "$2y$"].iter().find_map(|it| text.strip_prefix(it)) else {
        return false;
    };
    let Some((cost, digest)) = rest.split_once('$') else { return false };
    let is_cost = cost.len() == 2 && cost.parse().is_ok_and(|it: u32| (4..=BCRYPT_COST_MAX).contains(&it));
    let is_digit = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'/');
    is_cost && digest.len() == 53 && digest.bytes().all(is_digit)
}

/// Limits how many passwords are hashed at a time, and how many wait.
#[derive(Debug)]
pub(super) struct Hashing {
    free: Arc<Semaphore>,
    /// Permits for running and waiting hashes.
    places: Arc<Semaphore>,
}

impl Hashing {
    pub(super) fn new() -> Self {
        let of = |count| Arc::new(Semaphore::new(count));
        Self { free: of(HASHES_AT_A_TIME), places: of(HASHES_AT_A_TIME + WAITING_MAX) }
    }

    /// The hash of `password`, with a salt of its own, as PHC's text.
    pub(super) async fn hash(&self, password: Arc<str>) -> Result<Arc<str>, FieldError> {
        self.run(move || {
            let hash = Argon2::default().hash_password(password.as_bytes());
            hash.map(|it| Arc::from(it.to_string())).map_err(|_| hash_error())
        })
        .await?
    }

    /// True if `hash` is that of `password`. Without a hash the check takes the same time.
    pub(super) async fn is_right(
        &self,
        password: Arc<str>,
        hash: Option<Box<str>>,
    ) -> Result<bool, FieldError> {
        self.run(move || match hash.as_deref().map(PasswordHash::new) {
            _ if hash.as_deref().is_some_and(is_bcrypt) => {
                hash.is_some_and(|it| bcrypt::verify(password.as_bytes(), &it).is_ok_and(|right| right))
            }
            Some(Ok(hash)) => Argon2::default().verify_password(password.as_bytes(), &hash).is_ok(),
            Some(Err(_)) | None => {
                let _ = Argon2::default().hash_password(password.as_bytes());
                false
            }
        })
        .await
    }

    async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, FieldError> {
        let place = Arc::clone(&self.places).try_acquire_owned().map_err(|_| busy())?;
        let free = Arc::clone(&self.free).acquire_owned().await.map_err(|_| hash_error())?;
        let work = move || {
            let done = work();
            drop((free, place));
            done
        };
        tokio::task::spawn_blocking(work).await.map_err(|_| hash_error())
    }
}

#[cold]
fn busy() -> FieldError {
    let message = "too many passwords are looked at; try again".into();
    FieldError { code: "POOL_TIMEOUT", message, hasura_path: None, extensions: None }
}

#[cold]
fn hash_error() -> FieldError {
    FieldError {
        code: "INTERNAL",
        message: "a password could not be hashed".into(),
        hasura_path: None,
        extensions: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_of_bcrypt_are_compared() {
        // From the test vectors of OpenBSD and of Go's golang.org/x/crypto/bcrypt.
        let vectors = [
            ("$2a$06$m0CrhHm10qJ3lXRY.5zDGO3rS2KdeeWLuGmsfGlMfOxih58VYVfxe", "a"),
            ("$2a$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW", "U*U"),
            ("$2a$10$XajjQvNhvvRt5GSeFk1xFeyqRrsxkhBkUiQeg0dt.wU1qD4aFDcga", "allmine"),
        ];
        let hashing = Hashing::new();
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        for (hash, password) in vectors {
            assert!(is_hash(hash), "{hash}");
            let compare = |given: &str| runtime.block_on(hashing.is_right(given.into(), Some(hash.into())));
            assert_eq!((compare(password), compare("wrong")), (Ok(true), Ok(false)), "{hash}");
        }
        for none in ["secret", "$2a$31$m0CrhHm10qJ3lXRY.5zDGO3rS2KdeeWLuGmsfGlMfOxih58VYVfxe", "$2a$06$short"]
        {
            assert!(!is_hash(none), "{none}");
        }
    }

    #[test]
    fn who_finds_all_places_taken_is_told_so_at_once() {
        let hashing = Hashing::new();
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let taken =
            hashing.places.clone().try_acquire_many_owned(HASHES_AT_A_TIME as u32 + WAITING_MAX as u32);
        let refused = runtime.block_on(hashing.is_right("secret".into(), None));
        assert_eq!(refused.map_err(|it| it.code), Err("POOL_TIMEOUT"));
        drop(taken);
        assert_eq!(runtime.block_on(hashing.is_right("secret".into(), None)), Ok(false));
    }
}
