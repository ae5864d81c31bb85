//! Authenticates a connection, by a password in clear text, by MD5 or by SCRAM-SHA-256.
//!
//! **Invariant:** a server that was asked by SCRAM proves that it knows the password too.

use crate::address::Settings;
use crate::error::DatabaseError;
use bytes::BytesMut;
use postgres_protocol::authentication::md5_hash;
use postgres_protocol::authentication::sasl::{ChannelBinding, SCRAM_SHA_256, ScramSha256};
use postgres_protocol::message::frontend;
use std::io;

/// Why one attempt failed.
pub(crate) enum Refusal {
    Broken(io::Error),
    Said(Box<DatabaseError>),
}

impl From<io::Error> for Refusal {
    fn from(error: io::Error) -> Self {
        Self::Broken(error)
    }
}

/// Authenticates.
pub(crate) struct Proof<'s> {
    pub(crate) settings: &'s Settings,
    /// Begun and not ended.
    pub(crate) scram: Option<ScramSha256>,
    /// The server lets us in.
    pub(crate) is_over: bool,
}

impl Proof<'_> {
    /// Appends the answer to an authentication request. Source: the manual of PostgreSQL, "Message Formats", Authentication….
    pub(crate) fn answer(&mut self, asked: &[u8], out: &mut BytesMut) -> Result<(), Refusal> {
        let wrong = |words: &'static str| io::Error::other(words);
        let (kind, data) = asked.split_first_chunk::<4>().ok_or_else(|| wrong("an empty question"))?;
        let password = self.settings.password.as_ref().map(|it| it.0.as_bytes());
        let password = password.ok_or_else(no_password);
        let begun = || wrong("the server authenticates out of turn");
        match u32::from_be_bytes(*kind) {
            0 if self.scram.is_none() => self.is_over = true,
            3 => frontend::password_message(password?, out)?,
            5 => {
                let salt = data.try_into().map_err(|_| wrong("a salt is too short"))?;
                let hash = md5_hash(self.settings.user.as_bytes(), password?, salt);
                frontend::password_message(hash.as_bytes(), out)?;
            }
            10 => {
                if !data.split(|it| *it == 0).any(|it| it == SCRAM_SHA_256.as_bytes()) {
                    return Err(wrong("the server takes no SCRAM-SHA-256").into());
                }
                let scram = ScramSha256::new(password?, ChannelBinding::unsupported());
                frontend::sasl_initial_response(SCRAM_SHA_256, scram.message(), out)?;
                self.scram = Some(scram);
            }
            11 => {
                let scram = self.scram.as_mut().ok_or_else(begun)?;
                scram.update(data)?;
                frontend::sasl_response(scram.message(), out)?;
            }
            // The server proves that it knows the password too.
            12 => self.scram.take().ok_or_else(begun)?.finish(data)?,
            0 => return Err(wrong("the server does not prove that it knows the password").into()),
            _ => return Err(wrong("the server asks for an authentication that is not supported").into()),
        }
        Ok(())
    }
}

/// Reports a missing password with the server's error for a wrong one.
fn no_password() -> Refusal {
    let sqlstate = *b"28P01";
    let message = "the server asks for a password and none is given".into();
    Refusal::Said(Box::new(DatabaseError {
        sqlstate,
        severity: "FATAL".into(),
        message,
        ..DatabaseError::default()
    }))
}
