//! Passwords: kept as Argon2id hashes, made and compared on threads of their own.
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

/// So many run at a time: each takes 19 MiB.
const HASHES_AT_A_TIME: usize = 4;
/// So many more wait for their turn.
const WAITING_MAX: usize = 128;

/// See the module's words.
#[derive(Debug)]
pub(super) struct Hashing {
    free: Arc<Semaphore>,
    /// One for each that runs or waits.
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
            hash.map(|it| Arc::from(it.to_string())).map_err(|_| failed())
        })
        .await?
    }

    /// Whether `hash` is that of `password`. Without a hash it takes as long to say no.
    pub(super) async fn is_right(
        &self,
        password: Arc<str>,
        hash: Option<Box<str>>,
    ) -> Result<bool, FieldError> {
        self.run(move || match hash.as_deref().map(PasswordHash::new) {
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
        let free = Arc::clone(&self.free).acquire_owned().await.map_err(|_| failed())?;
        let work = move || {
            let done = work();
            drop((free, place));
            done
        };
        tokio::task::spawn_blocking(work).await.map_err(|_| failed())
    }
}

#[cold]
fn busy() -> FieldError {
    let message = "too many passwords are looked at; try again".into();
    FieldError { code: "POOL_TIMEOUT", message, hasura_path: None, extensions: None }
}

#[cold]
fn failed() -> FieldError {
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
