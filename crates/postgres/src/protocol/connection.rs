//! A connection that has been let in: statements are appended, sent together, and answered in order.
//!
//! Bytes are written while answers are read, which prevents deadlocks. Rows are cut out of the
//! read buffer as they are, whole messages at a time.
//!
//! **Invariant:** dropping a future of this module loses nothing: what was read stays in the connection.
//!
//! **Cost:** a batch is one write and, mostly, one read; an answer takes no allocation of its own.

use crate::error::{COLUMNS_CHANGED, DatabaseError, Error};
use crate::places::Seat;
use crate::protocol::facts::Facts;
use crate::protocol::message::{self, Name};
use crate::protocol::prepared_cache::{Need, Prepared};
use crate::protocol::rows::Rows;
use crate::protocol::single_turn::SingleTurn;
use crate::protocol::statement::{Parameters, Statement};
use crate::protocol::stream::Stream;
use bytes::{Buf, BytesMut};
use std::collections::VecDeque;
use std::future::poll_fn;
use std::io;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use tokio::io::{AsyncReadExt, AsyncWrite};
use tokio::sync::OwnedSemaphorePermit;

/// Bytes of one read, and size of a part of a stream.
pub(crate) const READ_BYTES: usize = 64 << 10;
/// Tag and length.
const HEADER_BYTES: usize = 5;

/// State of the transaction, from the server's ReadyForQuery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Status {
    Idle,
    InTransaction,
    Failed,
}

/// The end of something in the stream of answers.
#[derive(Debug)]
pub(crate) enum End {
    /// A statement is through.
    Complete(Rows),
    /// The answer exceeds its size limit; its remaining messages still arrive.
    TooLarge {
        /// The limit.
        bytes_max: usize,
    },
    /// A statement failed; messages up to the next sync are skipped.
    Refused(Box<DatabaseError>),
    /// The server waits.
    Ready(Status),
}

#[derive(Debug)]
pub(crate) struct Connection {
    stream: Stream,
    read: BytesMut,
    write: BytesMut,
    /// Position up to which `read` was parsed.
    at: usize,
    /// Start of the rows of the current answer.
    rows_from: usize,
    prepared: Option<Prepared>,
    /// Statements with columns to be looked at, whose parsing is not confirmed, in order.
    described: VecDeque<Arc<Statement>>,
    /// Statements whose binding is not confirmed, in order, with the numbers of their preparations.
    bound: VecDeque<(Arc<Statement>, u64)>,
    answer_bytes_max: usize,
    /// True if the rows of the current answer are discarded.
    discards: bool,
    /// Remaining bytes of a discarded row.
    left: usize,
    /// True if TLS may still buffer bytes.
    is_unflushed: bool,
    pub(crate) facts: Facts,
    /// Becomes true when the server has a name already, as other connections are of the same session.
    has_clashed: Arc<AtomicBool>,
    /// Leave to be connected, where one connection may be at a time. It is dropped after `stream`, which it ends.
    turn: Option<SingleTurn>,
    /// Place at the server, as long as the connection lives.
    seat: Option<Seat>,
}

impl Connection {
    /// `statements_max`: how many may be kept prepared.
    pub(crate) fn new(
        stream: Stream,
        read: BytesMut,
        statements_max: usize,
        answer_bytes_max: usize,
        facts: Facts,
    ) -> Self {
        let prepared = Some(Prepared::new(statements_max));
        Self {
            stream,
            read,
            write: BytesMut::new(),
            at: 0,
            rows_from: 0,
            prepared,
            described: VecDeque::new(),
            bound: VecDeque::new(),
            answer_bytes_max,
            discards: false,
            left: 0,
            is_unflushed: false,
            facts,
            has_clashed: Arc::default(),
            turn: None,
            seat: None,
        }
    }

    /// Notes in `has_clashed` that a name of a statement is taken.
    pub(crate) fn note_clashes_in(&mut self, has_clashed: &Arc<AtomicBool>) {
        self.has_clashed = Arc::clone(has_clashed);
    }

    /// Keeps others from connecting while this one lives.
    pub(crate) fn hold(&mut self, turn: OwnedSemaphorePermit) {
        self.turn = Some(SingleTurn::new(turn, &self.stream));
    }

    /// Takes a place as long as this one lives.
    pub(crate) fn occupy(&mut self, seat: Seat) {
        self.seat = Some(seat);
    }

    /// Takes the place of `other`, which takes its own.
    pub(crate) const fn swap_seats(&mut self, other: &mut Self) {
        std::mem::swap(&mut self.seat, &mut other.seat);
    }

    /// True if others can connect only when this one is closed.
    pub(crate) const fn blocks_connecting(&self) -> bool {
        self.turn.is_some()
    }

    /// True if others may want its place more: see [`Seat::is_used_up`].
    pub(crate) fn is_used_up(&self) -> bool {
        self.seat.as_ref().is_some_and(Seat::is_used_up)
    }

    /// Gives up the connection: its stream, and bytes that were read but not parsed. Nothing may be in flight.
    pub(crate) fn into_stream(self) -> (Stream, BytesMut) {
        let mut read = self.read;
        read.advance(self.at);
        (self.stream, read)
    }

    /// Parses statements each time they run: a pooler may send each batch to another server.
    pub(crate) fn forgo_names(&mut self) {
        self.prepared = None;
    }

    /// Appends a statement, all of whose rows are to be given.
    pub(crate) fn push(&mut self, statement: &Arc<Statement>, parameters: &Parameters) -> Result<(), Error> {
        self.bind(&Name::NONE, statement, parameters)?;
        message::execute(&mut self.write, &Name::NONE, 0);
        Ok(())
    }

    /// Appends a statement whose rows are fetched later, while its transaction lasts. It has no answer of its own.
    pub(crate) fn open(
        &mut self,
        portal: u32,
        statement: &Arc<Statement>,
        parameters: &Parameters,
    ) -> Result<(), Error> {
        self.bind(&Name::of_portal(portal), statement, parameters)
    }

    /// Appends a request for the next rows of a portal: at most `rows_max`.
    pub(crate) fn fetch(&mut self, portal: u32, rows_max: u32) {
        message::execute(&mut self.write, &Name::of_portal(portal), rows_max);
    }

    /// Binds a statement, which is parsed first where it is new to the connection.
    fn bind(
        &mut self,
        portal: &Name,
        statement: &Arc<Statement>,
        parameters: &Parameters,
    ) -> Result<(), Error> {
        let preparation = statement.preparation();
        let name = self.prepare_as(preparation, statement)?;
        message::bind(&mut self.write, portal, &name, parameters, &statement.formats)?;
        self.bound.push_back((Arc::clone(statement), preparation));
        Ok(())
    }

    /// Appends that a statement is parsed where it is new to the connection, and gives its name there.
    fn prepare_as(&mut self, preparation: u64, statement: &Arc<Statement>) -> Result<Name, Error> {
        // For a statement that is prepared here the server itself reports changed columns.
        let has = |it: &Prepared| it.has(statement.id, preparation);
        if !self.prepared.as_ref().is_some_and(has) && statement.is_outdated() {
            return Err(columns_changed_error());
        }
        let need = match &mut self.prepared {
            Some(prepared) => prepared.use_statement(statement.id, preparation),
            None => Need::Parse { close: None },
        };
        let name = if self.prepared.is_some() { Name::of(preparation) } else { Name::NONE };
        if let Need::Parse { close } = need {
            if let Some(other) = close {
                message::close(&mut self.write, &Name::of(other));
            }
            message::parse(&mut self.write, &name, statement);
            if !statement.columns.is_empty() {
                self.described.push_back(Arc::clone(statement));
            }
        }
        Ok(name)
    }

    /// Appends that a statement is parsed, so that its columns are known before it runs.
    pub(crate) fn prepare(&mut self, statement: &Arc<Statement>) -> Result<(), Error> {
        self.prepare_as(statement.preparation(), statement).map(drop)
    }

    /// True if the columns of a statement are looked at only while it runs. Without names it is parsed each time: then it counts
    /// whether the server described it ever.
    pub(crate) fn runs_blindly(&self, statement: &Statement) -> bool {
        !statement.columns.is_empty()
            && match &self.prepared {
                Some(prepared) => !prepared.has(statement.id, statement.preparation()),
                None => !statement.was_described(),
            }
    }

    /// True if the columns of a statement that was appended are not looked at yet.
    pub(crate) fn has_unchecked_columns(&self) -> bool {
        match &self.prepared {
            Some(_) => !self.described.is_empty(),
            None => self.described.iter().any(|it| !it.was_described()),
        }
    }

    /// The server is not to hold back the answers to what was appended, as it does until the batch ends.
    pub(crate) fn ask_for_answers(&mut self) {
        message::flush(&mut self.write);
    }

    /// Ends the batch.
    pub(crate) fn sync(&mut self) {
        message::sync(&mut self.write);
    }

    /// Sends as much as possible without waiting; the rest is sent, and errors are reported, when the answers are read.
    pub(crate) fn send(&mut self) {
        let _ = self.poll_send(&mut Context::from_waker(std::task::Waker::noop()));
    }

    /// True if bytes wait to be sent.
    pub(crate) fn is_unsent(&self) -> bool {
        !self.write.is_empty()
    }

    /// Reads until something ends.
    pub(crate) async fn next_end(&mut self) -> Result<End, Error> {
        loop {
            self.pass_left();
            if let Some(end) = self.scan()? {
                return Ok(end);
            }
            if self.discards {
                self.drop_rows();
            } else if self.at - self.rows_from + self.missing() > self.answer_bytes_max {
                return Ok(End::TooLarge { bytes_max: self.answer_bytes_max });
            }
            self.fill().await.map_err(Error::unavailable)?;
        }
    }

    /// Whole rows of the answer that is being read, as many as are there, and its end if it is there too.
    pub(crate) async fn next_part(&mut self) -> Result<(Rows, Option<End>), Error> {
        loop {
            if let Some(end) = self.scan()? {
                return Ok((Rows::default(), Some(end)));
            }
            let ready = self.at - self.rows_from;
            if ready >= READ_BYTES / 2 {
                return Ok((self.take_rows(0), None));
            }
            if self.missing() > self.answer_bytes_max {
                return Err(Error::AnswerTooLarge { bytes_max: self.answer_bytes_max });
            }
            self.fill().await.map_err(Error::unavailable)?;
        }
    }

    /// Discards the rows of the current answer, which is too large: it ends like an answer without rows.
    pub(crate) fn discard(&mut self) {
        self.discards = true;
    }

    fn drop_rows(&mut self) {
        self.pass(self.at);
        if self.read.first() == Some(&b'D') && self.missing() > READ_BYTES {
            self.left = self.missing();
            self.read.clear();
        }
    }

    /// Skips the bytes that arrived of a discarded row.
    fn pass_left(&mut self) {
        let here = self.left.min(self.read.len());
        if here > 0 {
            self.pass(here);
            self.left -= here;
        }
    }

    /// The rows up to here, taken out of the buffer.
    fn take_rows(&mut self, affected: u64) -> Rows {
        self.read.advance(self.rows_from);
        let rows = self.read.split_to(self.at - self.rows_from).freeze();
        self.at = 0;
        self.rows_from = 0;
        Rows::new(rows, affected)
    }

    /// Passes `bytes` over, from the beginning of the buffer on.
    fn pass(&mut self, bytes: usize) {
        self.read.advance(bytes);
        self.at = 0;
        self.rows_from = 0;
    }

    /// Scans the bytes that were read; `None` when more are needed.
    fn scan(&mut self) -> Result<Option<End>, Error> {
        loop {
            let Some(header) = self.read.get(self.at..self.at + HEADER_BYTES) else { return Ok(None) };
            let tag = header[0];
            let length = u32::from_be_bytes([header[1], header[2], header[3], header[4]]) as usize;
            if !(4..=1 << 30).contains(&length) {
                return Err(Error::Protocol("a message has no length".into()));
            }
            let next = self.at + 1 + length;
            if self.read.len() < next {
                return Ok(None);
            }
            match tag {
                b'D' => self.at = next,
                _ => {
                    if let Some(end) = self.other(tag, next)? {
                        return Ok(Some(end));
                    }
                }
            }
        }
    }

    /// A message that is no row and ends at `next`.
    fn other(&mut self, tag: u8, next: usize) -> Result<Option<End>, Error> {
        let body_from = self.at + HEADER_BYTES;
        match tag {
            // Complete; or suspended, as all rows were given that were fetched.
            b'C' | b's' => {
                let affected = message::read_affected_rows(&self.read[body_from..next]);
                let rows = self.take_rows(affected);
                let rows = if std::mem::take(&mut self.discards) { Rows::default() } else { rows };
                self.pass(next - body_from + HEADER_BYTES);
                Ok(Some(End::Complete(rows)))
            }
            b'E' => Ok(Some(self.read_error(body_from, next))),
            b'Z' => {
                let status = match self.read.get(body_from) {
                    Some(b'I') => Status::Idle,
                    Some(b'T') => Status::InTransaction,
                    Some(b'E') => Status::Failed,
                    other => return Err(Error::Protocol(format!("a status is {other:?}").into())),
                };
                self.pass(next);
                if let Some(prepared) = &mut self.prepared {
                    prepared.undo_unconfirmed();
                }
                self.described.clear();
                self.bound.clear();
                Ok(Some(End::Ready(status)))
            }
            b'I' => {
                self.pass(next);
                Ok(Some(End::Complete(Rows::default())))
            }
            b'T' | b'n' => self.describe(tag, next),
            b'1' | b'3' => {
                if let Some(prepared) = &mut self.prepared {
                    prepared.confirm();
                }
                self.skip(next);
                Ok(None)
            }
            b'2' => {
                self.bound.pop_front();
                self.skip(next);
                Ok(None)
            }
            // Parameter descriptions, and notices, settings and notifications, which come at any time.
            b't' | b'N' | b'S' | b'A' | b'K' => {
                self.skip(next);
                Ok(None)
            }
            other => Err(Error::Protocol(format!("a message is `{}`", char::from(other)).into())),
        }
    }

    /// Reads an error. A statement that the server cannot run as prepared is marked to be prepared anew.
    fn read_error(&mut self, body_from: usize, next: usize) -> End {
        let error = Box::new(DatabaseError::read(&self.read[body_from..next]));
        if error.is_stale_plan()
            && let Some((statement, preparation)) = self.bound.front()
        {
            statement.prepare_anew(*preparation);
        }
        if &error.sqlstate == b"42P05" {
            self.has_clashed.store(true, Ordering::Relaxed);
        }
        self.discards = false;
        self.pass(next);
        End::Refused(error)
    }

    /// Goes on behind a message; between rows it stays, as rows pass over others.
    fn skip(&mut self, next: usize) {
        if self.at == self.rows_from {
            self.rows_from = next;
        }
        self.at = next;
    }

    /// The columns of a statement that was just parsed: a failure if they are not as the plan has them.
    fn describe(&mut self, tag: u8, next: usize) -> Result<Option<End>, Error> {
        let body = &self.read[self.at + HEADER_BYTES..next];
        let statement = self.described.pop_front();
        let is_other = |it: &Arc<Statement>| tag != b'T' || !message::has_columns(body, &it.columns);
        let Some(other) = statement.as_ref().filter(|it| is_other(it)) else {
            statement.iter().for_each(|it| it.renew());
            self.skip(next);
            return Ok(None);
        };
        // The statement goes on to run; its answer cannot be read as planned, so the connection ends here.
        other.outdate();
        Err(columns_changed_error())
    }

    /// Sends queued bytes and reads more.
    async fn fill(&mut self) -> io::Result<()> {
        // Skipped messages do not stay in the buffer: a server may send many that are no answers.
        self.read.advance(self.rows_from);
        (self.at, self.rows_from) = (self.at - self.rows_from, 0);
        let needed = self.missing();
        poll_fn(|context| self.poll_fill(context, needed)).await
    }

    /// Number of missing bytes of an incomplete message.
    fn missing(&self) -> usize {
        let left = self.read.len() - self.at;
        let whole = self
            .read
            .get(self.at + 1..self.at + HEADER_BYTES)
            .map_or(HEADER_BYTES, |it| u32::from_be_bytes([it[0], it[1], it[2], it[3]]) as usize + 1);
        whole.saturating_sub(left)
    }

    fn poll_fill(&mut self, context: &mut Context<'_>, needed: usize) -> Poll<io::Result<()>> {
        let sent = self.poll_send(context);
        let spare = self.read.capacity() - self.read.len();
        if spare < needed.max(READ_BYTES / 8) {
            self.read.reserve(needed.max(READ_BYTES));
        }
        match pin!(self.stream.read_buf(&mut self.read)).poll(context) {
            Poll::Ready(Ok(0)) => Poll::Ready(Err(sent.err().unwrap_or_else(connection_closed_error))),
            Poll::Ready(Ok(_)) => Poll::Ready(Ok(())),
            Poll::Ready(Err(error)) => Poll::Ready(Err(error)),
            // A server that closes the connection says why before: read that message first.
            Poll::Pending => sent.map_or_else(|error| Poll::Ready(Err(error)), |()| Poll::Pending),
        }
    }

    /// Sends as much as goes without waiting.
    fn poll_send(&mut self, context: &mut Context<'_>) -> io::Result<()> {
        while !self.write.is_empty() {
            match Pin::new(&mut self.stream).poll_write(context, &self.write) {
                Poll::Ready(Ok(0)) => return Err(io::ErrorKind::WriteZero.into()),
                Poll::Ready(Ok(sent)) => self.write.advance(sent),
                Poll::Ready(Err(error)) => return Err(error),
                Poll::Pending => return Ok(()),
            }
            self.is_unflushed = true;
        }
        if self.is_unflushed {
            match Pin::new(&mut self.stream).poll_flush(context) {
                Poll::Ready(done) => done?,
                Poll::Pending => return Ok(()),
            }
            self.is_unflushed = false;
        }
        Ok(())
    }

    /// Waits, while nothing was asked, for the connection to break. Messages that come meanwhile are looked through.
    pub(crate) async fn idle(&mut self) -> Error {
        match self.next_end().await {
            Ok(End::Refused(error)) => Error::Database { error, statement: 0 },
            Ok(End::Complete(_) | End::TooLarge { .. } | End::Ready(_)) => {
                Error::Protocol("the server answers what was not asked".into())
            }
            Err(error) => error,
        }
    }

    /// True if the connection is usable, as far as known without a round trip.
    pub(crate) fn is_alive(&mut self) -> bool {
        let mut context = Context::from_waker(std::task::Waker::noop());
        pin!(self.idle()).poll(&mut context).is_pending()
    }
}

/// The failure of a statement whose result types changed.
fn columns_changed_error() -> Error {
    let error = DatabaseError {
        sqlstate: *b"0A000",
        severity: "ERROR".into(),
        message: "the result columns of a statement have other types than planned".into(),
        routine: COLUMNS_CHANGED.into(),
        ..DatabaseError::default()
    };
    Error::Database { error: Box::new(error), statement: 0 }
}

fn connection_closed_error() -> io::Error {
    io::Error::new(io::ErrorKind::UnexpectedEof, "the server closed the connection")
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::AsyncWriteExt;
    use tokio::net::UnixStream;

    const FACTS: Facts = Facts::PLAIN;

    #[tokio::test]
    async fn what_a_server_says_beside_its_answers_is_not_kept() {
        let (client, mut server) = UnixStream::pair().unwrap();
        let mut connection = Connection::new(Stream::Unix(client), BytesMut::new(), 1, 1 << 20, FACTS);
        let notice = [&b"N\0\0\x10\0"[..], &[b'x'; 4092]].concat();
        let talk = async {
            for _ in 0..1000 {
                server.write_all(&notice).await.unwrap();
            }
        };
        tokio::select! {
            end = connection.next_end() => panic!("{end:?}"),
            () = talk => {}
        }
        assert!(connection.read.len() <= 2 * READ_BYTES, "{} bytes are kept", connection.read.len());
        server.write_all(b"Z\0\0\0\x05I").await.unwrap();
        assert!(matches!(connection.next_end().await, Ok(End::Ready(Status::Idle))));
    }
}
