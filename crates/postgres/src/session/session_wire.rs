//! A connection of a session with its state: whether an answer is pending, and whether a transaction is open.
//!
//! **Invariant:** what was sent is known to be answered whole before anything else is.

use crate::connect::dial::CancelKey;
use crate::error::Error;
use crate::protocol::connection::{Connection, End, Status};
use crate::protocol::statement::Parameters;
use crate::protocol::transaction;
use std::thread::ThreadId;

/// A connection, how to stop it, and how it stands.
#[derive(Debug)]
pub(crate) struct Wire {
    pub(crate) connection: Connection,
    pub(crate) key: CancelKey,
    /// How its transaction stands, by the server's last word.
    pub(crate) status: Status,
    /// Something was sent and not answered whole.
    pub(crate) is_busy: bool,
    /// Thread whose runtime drives the connection.
    pub(crate) home: ThreadId,
}

impl Wire {
    /// A connection that this thread made.
    pub(crate) fn new(connection: Connection, key: CancelKey) -> Self {
        let home = std::thread::current().id();
        Self { connection, key, status: Status::Idle, is_busy: false, home }
    }

    /// True if the server can be asked to stop: behind a pooler the request may arrive late, at another client's statement.
    pub(crate) fn can_stop(&self) -> bool {
        !self.connection.facts.is_pooled && !self.connection.facts.is_single
    }

    pub(crate) fn is_clean(&self) -> bool {
        !self.is_busy && self.status == Status::Idle && !self.connection.is_unsent()
    }

    pub(crate) fn sync(&mut self) {
        self.connection.sync();
        self.is_busy = true;
    }

    /// The next end; the server's being ready is remembered.
    pub(crate) async fn next_end(&mut self) -> Result<End, Error> {
        let end = self.connection.next_end().await?;
        self.note(&end);
        Ok(end)
    }

    pub(crate) fn note(&mut self, end: &End) {
        if let End::Ready(status) = end {
            self.status = *status;
            self.is_busy = false;
        }
    }

    /// Discards answers until the server is ready.
    pub(crate) async fn drain(&mut self) -> Result<(), Error> {
        while self.is_busy {
            match self.next_end().await? {
                End::TooLarge { bytes_max } => return Err(Error::AnswerTooLarge { bytes_max }),
                End::Refused(error) if &*error.severity != "ERROR" => return Err(Error::Unavailable(error)),
                End::Complete(_) | End::Refused(_) | End::Ready(_) => {}
            }
        }
        Ok(())
    }

    /// Drains pending answers and ends the transaction.
    pub(crate) async fn clean(&mut self) -> Result<(), Error> {
        self.drain().await?;
        if self.status != Status::Idle {
            self.connection.push(&transaction::ROLLBACK, &Parameters::new())?;
            self.sync();
            self.drain().await?;
        }
        match self.status {
            Status::Idle => Ok(()),
            Status::InTransaction | Status::Failed => {
                Err(Error::Protocol("a transaction is open that was rolled back".into()))
            }
        }
    }
}
