//! WebSockets on `/graphql` and `/v1/graphql`: the frames and their limits. `handshake` agrees to them, `weir_transport::socket`
//! knows the messages, `client` who sends them, and `operations` what runs.
//!
//! A socket is a connection like any other: it counts as one, the clock closes it when its client is silent, and where there
//! are too many the one that is silent longest makes room. A client is asked for a sign of life after half of that time.
//!
//! **Invariant:** an answer is written before the next message is read and before the next answer is taken, so a client that does
//! not read grows nothing here.
//!
//! Sources: RFC 6455; the protocols of the npm packages graphql-ws and subscriptions-transport-ws.

mod client;
mod handshake;
mod operations;
mod result_frame;

use crate::server::connection::client_address::client_address;
use crate::server::connection::guarded_io::{REST_BYTES_MAX, TimedIo};
use crate::server::connection::timeouts::{ConnectionCommand, ConnectionState};
use crate::server::connection::websocket_terms::WebSocketTerms;
use crate::server::request::context::WorkerContext;
use client::SocketClient;
use futures_util::{SinkExt, StreamExt};
pub(crate) use handshake::{accept, is_extended_connect, is_offered};
use operations::{Happened, OperationStep, RunningOperations};
use result_frame::ResultFrame;
use std::net::IpAddr;
use std::rc::Rc;
use std::task::Poll;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::time::{Instant, sleep_until};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::protocol::frame::CloseFrame;
use tokio_tungstenite::tungstenite::protocol::{Role, WebSocketConfig};
use tokio_tungstenite::tungstenite::{Error, Message};
use weir_transport::socket::{Close, SocketSession, Step};

/// Size of an idle socket's buffer for reads, in bytes. It is small because the library zeroes it before each read.
const READ_BYTES: usize = 512;

/// Time that a closed socket waits for its client to read the close frame.
const LINGER: Duration = Duration::from_secs(2);

/// Limits of the frames.
fn config(terms: &WebSocketTerms) -> WebSocketConfig {
    WebSocketConfig::default()
        .read_buffer_size(READ_BYTES)
        .write_buffer_size(0)
        .max_message_size(Some(terms.message_bytes_max))
        .max_frame_size(Some(terms.message_bytes_max))
}

/// The connection below a socket.
#[derive(Clone, Copy)]
pub(crate) struct SocketConnection<'c> {
    pub(crate) worker: &'c Rc<WorkerContext>,
    pub(crate) watched: &'c Rc<ConnectionState>,
    pub(crate) peer: IpAddr,
}

/// Serves a connection that became a WebSocket until either side ends it. `held` are bytes received before the response to its head.
pub(crate) async fn serve<S>(
    socket: TimedIo<S>,
    held: Vec<u8>,
    terms: WebSocketTerms,
    connection: SocketConnection<'_>,
) where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let SocketConnection { worker, watched, peer } = connection;
    // A login may change headers, but not the address.
    let trusted_hops = worker.live.current().config.limits.trusted_hops;
    let peer = client_address(peer, &terms.headers, trusted_hops);
    watched.alive();
    let work = async {
        let mut socket =
            WebSocketStream::from_partially_read(socket, held, Role::Server, Some(config(&terms))).await;
        let pace = Pace::new(terms.messages_per_second);
        let init = terms.init;
        let mut conversation = Conversation {
            session: SocketSession::new(terms.subprotocol, terms.endpoint.dialect()),
            operations: RunningOperations::new(terms.operations_max),
            pace,
            init_until: Instant::now() + init,
            client: SocketClient::new(worker, watched, peer, terms),
        };
        if let Some(close) = conversation.run(&mut socket, watched).await {
            drop(conversation);
            leave(socket, close).await;
        }
    };
    tokio::select! {
        () = await_command(watched, |it| it == ConnectionCommand::Close) => {}
        () = work => {}
    }
}

/// Waits for a command that `matters`.
async fn await_command(watched: &ConnectionState, matters: impl Fn(ConnectionCommand) -> bool) {
    std::future::poll_fn(|cx| if matters(watched.command(cx)) { Poll::Ready(()) } else { Poll::Pending })
        .await;
}

/// A socket with its protocol state.
struct Conversation {
    session: SocketSession,
    client: SocketClient,
    operations: RunningOperations,
    pace: Pace,
    init_until: Instant,
}

impl Conversation {
    /// Handles messages and operations until the socket must be closed; `None` if the client closed it.
    async fn run<S>(
        &mut self,
        socket: &mut WebSocketStream<TimedIo<S>>,
        watched: &ConnectionState,
    ) -> Option<Close>
    where
        S: AsyncRead + AsyncWrite + Unpin,
    {
        let quiet = Duration::from_secs(u64::from(watched.idle_s())) / 2;
        let mut ping_at = Instant::now() + quiet;
        // The timer is reset when it fires, not with every message.
        let mut ping = std::pin::pin!(sleep_until(ping_at));
        let mut is_draining = false;
        loop {
            if is_draining && self.operations.are_live() {
                return Some(Close::GOING_AWAY);
            }
            let message = tokio::select! {
                () = await_command(watched, |it| it != ConnectionCommand::Serve), if !is_draining => {
                    is_draining = true;
                    continue;
                }
                () = sleep_until(self.init_until), if self.session.awaits_init() => return Some(Close::INIT_TIMEOUT),
                () = self.client.await_expiry() => return Some(Close::EXPIRED),
                happened = self.operations.next(), if !self.operations.is_empty() => {
                    match happened {
                        Some(Happened::Step(OperationStep::Say(texts))) => say(socket, texts).await?,
                        Some(Happened::Step(OperationStep::Result(frame))) => push(socket, frame).await?,
                        Some(Happened::Step(OperationStep::Close(close))) => return Some(close),
                        Some(Happened::Ended(id)) => self.session.end_operation(&id),
                        None => {}
                    }
                    continue;
                }
                () = &mut ping => {
                    let now = Instant::now();
                    if ping_at <= now {
                        ping_at = now + quiet;
                        socket.send(Message::Ping(bytes::Bytes::new())).await.ok()?;
                    }
                    ping.as_mut().reset(ping_at);
                    continue;
                }
                message = next_message(socket, self.pace.ready_at()), if !is_draining => message?,
            };
            self.pace.count(Instant::now());
            ping_at = Instant::now() + quiet;
            let step = match message {
                Ok(message) => self.handle_message(&message),
                Err(error) => return close_for(&error),
            };
            let (texts, close) = self.take(step).await;
            say(socket, texts).await?;
            if close.is_some() {
                return close;
            }
        }
    }

    /// Converts a message to a step. The WebSocket library answers control frames itself.
    fn handle_message(&mut self, message: &Message) -> Step {
        match message {
            Message::Text(text) => self.session.hear(text.as_bytes()),
            Message::Binary(_) => Step::Close(Close::INVALID),
            Message::Ping(_) | Message::Pong(_) | Message::Frame(_) => Step::Nothing,
            Message::Close(_) => {
                // No frame may follow the close frame.
                self.operations = RunningOperations::new(0);
                Step::Nothing
            }
        }
    }

    /// Executes a step: messages to send, and the reason to close, if any.
    async fn take(&mut self, step: Step) -> (Vec<String>, Option<Close>) {
        match step {
            Step::Nothing => {}
            Step::Say(texts) => return (texts, None),
            Step::Close(close) => return (Vec::new(), Some(close)),
            Step::LogIn(payload) => {
                let known = self.client.log_in(payload.as_deref()).await;
                return self.session.logged_in(known);
            }
            Step::Stop(id) => self.operations.stop(&id),
            Step::Run(operation) => {
                if self.client.renew().await.is_err() {
                    return (Vec::new(), Some(Close::FORBIDDEN));
                }
                if self.operations.is_full() {
                    return (self.session.too_many(&operation.id), None);
                }
                let id = operation.id.clone();
                let work = self.client.answer(operation);
                self.operations.start(id, work);
            }
        }
        (Vec::new(), None)
    }
}

async fn say<S>(socket: &mut WebSocketStream<TimedIo<S>>, texts: Vec<String>) -> Option<()>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    for text in texts {
        socket.send(Message::Text(text.into())).await.ok()?;
    }
    Some(())
}

/// Sends a result frame directly to the stream. The library does not know of it, so its own buffer is flushed first.
async fn push<S>(socket: &mut WebSocketStream<TimedIo<S>>, frame: ResultFrame) -> Option<()>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    socket.flush().await.ok()?;
    frame.write(socket.get_mut()).await.ok()
}

/// Next message, but not before `ready_at`.
async fn next_message<S>(
    socket: &mut WebSocketStream<TimedIo<S>>,
    ready_at: Option<Instant>,
) -> Option<Result<Message, Error>>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    if let Some(at) = ready_at {
        sleep_until(at).await;
    }
    socket.next().await
}

/// Close frame for an error; `None` if the connection is gone.
fn close_for(error: &Error) -> Option<Close> {
    match error {
        Error::Capacity(_) => Some(Close::TOO_BIG),
        Error::Protocol(_) => Some(Close::PROTOCOL),
        Error::Utf8(_) => Some(Close::NO_TEXT),
        _ => None,
    }
}

/// Sends the close frame, then reads the client's remaining bytes: a socket closed with unread bytes is reset, and the frame would be
/// lost.
async fn leave<S>(mut socket: WebSocketStream<TimedIo<S>>, close: Close)
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let frame = CloseFrame { code: close.code.into(), reason: close.reason.into_owned().into() };
    // The client may be gone already.
    let _ = socket.close(Some(frame)).await;
    let raw = socket.get_mut();
    let _ = raw.shutdown().await;
    let mut unread = raw.take(REST_BYTES_MAX as u64);
    // A client that keeps sending is cut off.
    let _ = tokio::time::timeout(LINGER, tokio::io::copy(&mut unread, &mut tokio::io::sink())).await;
}

/// Rate limit of messages: after the limit, no message is read until the second is over.
#[derive(Debug)]
struct Pace {
    messages_max: u32,
    messages: u32,
    began: Instant,
}

impl Pace {
    fn new(messages_max: u32) -> Self {
        Self { messages_max: messages_max.max(1), messages: 0, began: Instant::now() }
    }
    /// Counts a message.
    fn count(&mut self, now: Instant) {
        if now >= self.began + Duration::from_secs(1) {
            (self.began, self.messages) = (now, 0);
        }
        self.messages += 1;
    }
    /// Time of the next allowed read, if not now.
    fn ready_at(&self) -> Option<Instant> {
        (self.messages >= self.messages_max).then(|| self.began + Duration::from_secs(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_of_messages_waits_for_the_next_second() {
        let mut pace = Pace::new(3);
        let began = pace.began;
        let ms = |ms| began + Duration::from_millis(ms);
        for at in [0, 1, 2] {
            assert_eq!(pace.ready_at(), None);
            pace.count(ms(at));
        }
        assert_eq!(pace.ready_at(), Some(ms(1000)));
        pace.count(ms(1000));
        assert_eq!(pace.ready_at(), None);
    }
}
