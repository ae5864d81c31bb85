//! The two connections of a stream of changes: one in replication mode, which sends the changes, and one for statements beside it.
//!
//! Source: the manual of PostgreSQL, "Streaming Replication Protocol".
//!
//! **Invariant:** a message larger than [`MESSAGE_BYTES_MAX`] is never held whole: its beginning is given, the rest is thrown away.

use super::streamed_tables::TextRows;
use crate::address::Settings;
use crate::connect::dial::{Dialer, Kind, ReadVersion};
use crate::error::{DatabaseError, Error};
use crate::protocol::facts::Facts;
use crate::protocol::rows::split;
use crate::protocol::stream::Stream;
use crate::script::{ScriptAnswer, ask};
use bytes::{Buf, BufMut, Bytes, BytesMut};
use postgres_protocol::message::frontend::{self, CopyData};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

/// Longest message that is held whole.
const MESSAGE_BYTES_MAX: usize = 16 << 20;
/// Bytes of the beginning of a longer one: it has the kind of the message and the number of the table.
const CUT_BYTES: usize = 64;
/// Tag and length of a message.
const HEADER_BYTES: usize = 5;
/// Bytes of the answer to one statement.
const ANSWER_BYTES_MAX: usize = 64 << 20;
/// Timeout of one statement.
const STATEMENT_MAX: Duration = Duration::from_secs(30);
/// The server's clock begins so long after that of Unix.
const SERVER_EPOCH: Duration = Duration::from_secs(946_684_800);

/// A connection that answers statements, and sends changes after `start`.
pub(super) struct StreamConnection {
    stream: Stream,
    read: BytesMut,
    /// Bytes still to come of a message that is thrown away.
    skip: usize,
    /// Timeout of one statement.
    statement_max: Duration,
    /// The server.
    pub(super) facts: Facts,
}

/// A message of a stream.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Streamed {
    /// A message of the output plugin.
    Change {
        /// The message, or its beginning.
        message: Bytes,
        /// True if the rest was thrown away.
        is_cut: bool,
        /// The position in the log.
        position: u64,
    },
    /// No changes up to a position in the log.
    KeepAlive {
        /// The server's position in the log.
        position: u64,
        /// True if the server wants an answer at once.
        wants_answer: bool,
    },
}

impl StreamConnection {
    /// Connects, in replication mode or for statements.
    pub(super) async fn open(settings: &Settings, kind: Kind) -> Result<Self, Error> {
        let dialer = Dialer::new(settings.clone(), ReadVersion::Present);
        let (connection, _) = dialer.connect(kind, &settings.hosts, settings.target).await?;
        let facts = connection.facts;
        let (stream, read) = connection.into_stream();
        Ok(Self { stream, read, skip: 0, statement_max: STATEMENT_MAX, facts })
    }

    /// The rows of a statement.
    pub(super) async fn rows(&mut self, sql: &str) -> Result<TextRows, Error> {
        let statement_max = self.statement_max;
        let answer = ask(&mut self.stream, &mut self.read, sql, ANSWER_BYTES_MAX);
        match tokio::time::timeout(statement_max, answer).await {
            Ok(Ok(ScriptAnswer::Rows(_, rows))) => Ok(rows),
            Ok(Ok(ScriptAnswer::Done)) => Ok(Vec::new()),
            Ok(Err(error)) => Err(error),
            Err(_) => Err(Error::Timeout),
        }
    }

    /// Has the server stream the changes of a slot, of the tables in the publication of the same name.
    pub(super) async fn start(&mut self, name: &str) -> Result<(), Error> {
        let command = format!(
            "START_REPLICATION SLOT \"{name}\" LOGICAL 0/0 (proto_version '1', publication_names '\"{name}\"')"
        );
        let mut out = BytesMut::new();
        let statement_max = self.statement_max;
        frontend::query(&command, &mut out).map_err(Error::unavailable)?;
        let started = async {
            self.stream.write_all(&out).await.map_err(Error::unavailable)?;
            self.await_start().await
        };
        tokio::time::timeout(statement_max, started).await.unwrap_or(Err(Error::Timeout))
    }

    /// Waits for the answer that the changes follow.
    async fn await_start(&mut self) -> Result<(), Error> {
        loop {
            while let Some((tag, body, _)) = split(&self.read) {
                match tag {
                    b'W' => {
                        let length = body.len() + HEADER_BYTES;
                        self.read.advance(length);
                        return Ok(());
                    }
                    b'E' => return Err(database_error(body)),
                    _ => {}
                }
                let length = body.len() + HEADER_BYTES;
                self.read.advance(length);
            }
            self.fill().await?;
        }
    }

    /// The next message of the stream. Cancelled, it loses nothing.
    pub(super) async fn next(&mut self) -> Result<Streamed, Error> {
        loop {
            if let Some(streamed) = self.take()? {
                return Ok(streamed);
            }
            self.fill().await?;
        }
    }

    /// The next message, if it has come.
    pub(super) fn take(&mut self) -> Result<Option<Streamed>, Error> {
        loop {
            let skipped = self.skip.min(self.read.len());
            self.read.advance(skipped);
            self.skip -= skipped;
            let Some(header) = self.read.first_chunk::<HEADER_BYTES>() else { return Ok(None) };
            let tag = header[0];
            let length = u32::from_be_bytes([header[1], header[2], header[3], header[4]]) as usize + 1;
            let is_cut = length > MESSAGE_BYTES_MAX;
            let here = if is_cut { HEADER_BYTES + CUT_BYTES } else { length.max(HEADER_BYTES) };
            if self.read.len() < here {
                return Ok(None);
            }
            let mut body = self.read.split_to(here).freeze();
            body.advance(HEADER_BYTES);
            self.skip = if is_cut { length - here } else { 0 };
            match tag {
                b'd' => match read_stream_message(body, is_cut) {
                    Some(streamed) => return Ok(Some(streamed)),
                    None => return Err(Error::Protocol("a message of the stream is malformed".into())),
                },
                b'E' => return Err(database_error(&body)),
                b'c' | b'Z' => return Err(Error::unavailable("the server ended the stream")),
                // Notices and settings.
                _ => {}
            }
        }
    }

    async fn fill(&mut self) -> Result<(), Error> {
        match self.stream.read_buf(&mut self.read).await {
            Ok(0) => Err(Error::unavailable("the server closed the connection")),
            Ok(_) => Ok(()),
            Err(error) => Err(Error::unavailable(error)),
        }
    }

    /// Tells the server that it need not keep the log up to `position`; `wants_answer`: it is to say that it lives.
    pub(super) async fn confirm(&mut self, position: u64, wants_answer: bool) -> Result<(), Error> {
        let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH + SERVER_EPOCH).unwrap_or_default();
        let mut status = BytesMut::with_capacity(34);
        status.put_u8(b'r');
        // The positions written, flushed and applied.
        (0..3).for_each(|_| status.put_u64(position));
        status.put_u64(u64::try_from(since_epoch.as_micros()).unwrap_or(0));
        status.put_u8(u8::from(wants_answer));
        let mut out = BytesMut::new();
        let statement_max = self.statement_max;
        CopyData::new(status.freeze()).map_err(Error::unavailable)?.write(&mut out);
        let sent = async {
            self.stream.write_all(&out).await?;
            self.stream.flush().await
        };
        match tokio::time::timeout(statement_max, sent).await {
            Ok(sent) => sent.map_err(Error::unavailable),
            Err(_) => Err(Error::Timeout),
        }
    }
}

/// Reads the server's error message.
fn database_error(body: &[u8]) -> Error {
    Error::Database { error: Box::new(DatabaseError::read(body)), statement: 0 }
}

/// Reads one message of the replication stream; `None` for other kinds.
fn read_stream_message(mut body: Bytes, is_cut: bool) -> Option<Streamed> {
    match body.try_get_u8().ok()? {
        b'w' => {
            let position = body.try_get_u64().ok()?;
            let _end = body.try_get_u64().ok()?;
            let _clock = body.try_get_u64().ok()?;
            Some(Streamed::Change { message: body, is_cut, position })
        }
        b'k' => {
            let position = body.try_get_u64().ok()?;
            let _clock = body.try_get_u64().ok()?;
            Some(Streamed::KeepAlive { position, wants_answer: body.try_get_u8().ok()? == 1 })
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::net::UnixStream;

    const FACTS: Facts = Facts::PLAIN;

    fn pair() -> (StreamConnection, UnixStream) {
        let (client, server) = UnixStream::pair().unwrap();
        let stream = Stream::Unix(client);
        let read = BytesMut::new();
        let statement_max = STATEMENT_MAX;
        (StreamConnection { stream, read, skip: 0, statement_max, facts: FACTS }, server)
    }

    fn data(body: &[u8]) -> Vec<u8> {
        [&b"d"[..], &(body.len() as u32 + 4).to_be_bytes(), body].concat()
    }

    fn change(position: u64, message: &[u8]) -> Vec<u8> {
        data(&[&b"w"[..], &position.to_be_bytes(), &[0; 16], message].concat())
    }

    #[tokio::test]
    async fn changes_and_signs_of_life_come_in_their_order_whatever_the_pieces() {
        let (mut connection, mut server) = pair();
        let life = data(&[&b"k"[..], &9_u64.to_be_bytes(), &[0; 8], &[1]].concat());
        let all = [change(7, b"B..."), NOTICE.to_vec(), life].concat();
        for byte in all {
            server.write_all(&[byte]).await.unwrap();
            tokio::task::yield_now().await;
        }
        let expected = Streamed::Change { message: Bytes::from_static(b"B..."), is_cut: false, position: 7 };
        assert_eq!(connection.next().await.unwrap(), expected);
        let expected = Streamed::KeepAlive { position: 9, wants_answer: true };
        assert_eq!(connection.next().await.unwrap(), expected);
        drop(server);
        assert!(connection.next().await.is_err());
    }

    #[tokio::test]
    async fn of_a_huge_message_the_beginning_is_given_and_the_rest_not_kept() {
        let (mut connection, mut server) = pair();
        let huge = change(7, &[&b"I\0\0\0\x01"[..], &vec![b'x'; MESSAGE_BYTES_MAX]].concat());
        let sending = tokio::spawn(async move {
            server.write_all(&huge).await.unwrap();
            server.write_all(&change(8, b"C")).await.unwrap();
            server
        });
        let Streamed::Change { message, is_cut: true, position: 7 } = connection.next().await.unwrap() else {
            panic!("it is cut")
        };
        assert!(message.starts_with(b"I\0\0\0\x01") && message.len() < CUT_BYTES);
        let expected = Streamed::Change { message: Bytes::from_static(b"C"), is_cut: false, position: 8 };
        assert_eq!(connection.next().await.unwrap(), expected);
        assert!(connection.read.capacity() < MESSAGE_BYTES_MAX);
        drop(sending.await);
    }

    const NOTICE: &[u8] = b"N\0\0\0\x04";

    /// The result of beginning a stream whose server answers with `answer`, and the bytes behind the answer.
    async fn started(answer: &[u8], statement_max: Duration) -> (Result<(), Error>, BytesMut) {
        let (mut connection, mut server) = pair();
        connection.statement_max = statement_max;
        server.write_all(answer).await.unwrap();
        let started = connection.start("weir_live_1").await;
        let mut command = BytesMut::with_capacity(1024);
        server.read_buf(&mut command).await.unwrap();
        assert!(command.starts_with(b"Q"), "{command:?}");
        let sql = b"START_REPLICATION SLOT \"weir_live_1\" LOGICAL 0/0 ";
        assert!(command[HEADER_BYTES..].starts_with(sql), "{command:?}");
        (started, connection.read)
    }

    #[tokio::test]
    async fn a_stream_begins_with_the_answer_to_its_command_or_not_at_all() {
        let begins = [NOTICE, b"W\0\0\0\x07\0\0\0", &change(7, b"B")].concat();
        let (started_well, rest) = started(&begins, STATEMENT_MAX).await;
        assert!(started_well.is_ok());
        assert_eq!(rest, change(7, b"B"));
        let refusal = b"E\0\0\0\x13SERROR\0C42704\0\0";
        let (refused, _) = started(refusal, STATEMENT_MAX).await;
        assert!(matches!(refused, Err(Error::Database { .. })), "{refused:?}");
    }

    #[tokio::test]
    async fn a_server_that_never_begins_the_stream_is_given_up() {
        for answer in [&b""[..], NOTICE, b"W\0\0"] {
            let (started, _) = started(answer, Duration::from_millis(20)).await;
            assert!(matches!(started, Err(Error::Timeout)), "{started:?}");
        }
    }

    #[tokio::test]
    async fn hostile_messages_end_the_stream() {
        for hostile in [
            data(b""),
            data(b"w\0"),
            data(b"k\0\0"),
            data(b"?"),
            b"d\0\0\0\0".to_vec(),
            b"c\0\0\0\x04".to_vec(),
            b"E\0\0\0\x05\0".to_vec(),
        ] {
            let (mut connection, mut server) = pair();
            server.write_all(&hostile).await.unwrap();
            assert!(connection.next().await.is_err(), "{hostile:?}");
        }
    }

    #[tokio::test]
    async fn a_position_is_confirmed_as_the_protocol_has_it() {
        let (mut connection, mut server) = pair();
        connection.confirm(0x0102, true).await.unwrap();
        let mut sent = [0; 39];
        server.read_exact(&mut sent).await.unwrap();
        assert_eq!(&sent[..6], b"d\0\0\0\x26r");
        assert_eq!(&sent[6..30], [[0, 0, 0, 0, 0, 0, 1, 2]; 3].concat());
        assert_eq!(sent[38], 1);
    }
}
