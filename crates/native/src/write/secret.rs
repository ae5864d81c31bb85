//! Passwords: kept as Argon2id hashes, made and compared on threads of their own.
//!
//! A hash costs tens of milliseconds and megabytes on purpose, so it never runs on an event loop or on the thread that
//! writes, and only a few at a time.
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

/// See the module's words.
#[derive(Debug)]
pub(super) struct Hashing {
    free: Arc<Semaphore>,
}

impl Hashing {
    pub(super) fn new() -> Self {
        Self { free: Arc::new(Semaphore::new(HASHES_AT_A_TIME)) }
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
        let free = Arc::clone(&self.free).acquire_owned().await.map_err(|_| failed())?;
        let work = move || {
            let done = work();
            drop(free);
            done
        };
        tokio::task::spawn_blocking(work).await.map_err(|_| failed())
    }
}

#[cold]
fn failed() -> FieldError {
    FieldError { code: "INTERNAL", message: "a password could not be hashed".into(), hasura_path: None }
}
