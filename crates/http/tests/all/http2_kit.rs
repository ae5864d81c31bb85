//! A server of HTTP/2 whose every frame is scripted: what it does to a stream is what the tests are about.
//!
//! Source: RFC 9113, 4 and 6; RFC 7541, 6.2.2.
use crate::wire_kit::listen;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

pub(crate) const NO_ERROR: u32 = 0;
pub(crate) const INTERNAL_ERROR: u32 = 2;
pub(crate) const REFUSED_STREAM: u32 = 7;

const DATA: u8 = 0;
const HEADERS: u8 = 1;
const RST_STREAM: u8 = 3;
const SETTINGS: u8 = 4;
const PING: u8 = 6;
const GOAWAY: u8 = 7;

const ACK: u8 = 1;
const END_STREAM: u8 = 1;
const END_HEADERS: u8 = 4;

const PREFACE_BYTES: usize = 24;

/// Responses to a request.
pub(crate) enum Play {
    /// These bytes; the connection goes on.
    Send(Vec<u8>),
    /// These bytes, then the connection is closed.
    Close(Vec<u8>),
}

/// A running server.
pub(crate) struct Http2Service {
    pub(crate) address: SocketAddr,
    calls: Arc<AtomicUsize>,
    connections: Arc<AtomicUsize>,
}

type Script = Arc<dyn Fn(usize, u32) -> Play + Send + Sync>;

impl Http2Service {
    /// Answers the n-th request, from 0, by `script`, which is told its stream too.
    pub(crate) fn start(script: impl Fn(usize, u32) -> Play + Send + Sync + 'static) -> Self {
        let script: Script = Arc::new(script);
        let calls = Arc::<AtomicUsize>::default();
        let connections = Arc::<AtomicUsize>::default();
        let called = Arc::clone(&calls);
        let opened = Arc::clone(&connections);
        let address = listen(move |socket| {
            opened.fetch_add(1, Ordering::SeqCst);
            let script = Arc::clone(&script);
            let called = Arc::clone(&called);
            async move { converse(socket, &script, &called).await.unwrap_or_default() }
        });
        Self { address, calls, connections }
    }

    /// Numbers of requests and connections.
    pub(crate) fn counts(&self) -> (usize, usize) {
        (self.calls.load(Ordering::SeqCst), self.connections.load(Ordering::SeqCst))
    }
}

async fn converse(mut socket: TcpStream, script: &Script, called: &AtomicUsize) -> std::io::Result<()> {
    socket.read_exact(&mut [0; PREFACE_BYTES]).await?;
    socket.write_all(&frame(SETTINGS, 0, 0, &[])).await?;
    loop {
        let mut head = [0; 9];
        socket.read_exact(&mut head).await?;
        let [a, b, c, kind, flags, s1, s2, s3, s4] = head;
        let mut payload = vec![0; u32::from_be_bytes([0, a, b, c]) as usize];
        socket.read_exact(&mut payload).await?;
        let ends = matches!(kind, HEADERS | DATA) && flags & END_STREAM != 0;
        match kind {
            SETTINGS | PING if flags & ACK == 0 => {
                let echo = if kind == PING { payload.as_slice() } else { &[] };
                socket.write_all(&frame(kind, ACK, 0, echo)).await?;
            }
            _ if ends => {
                let stream = u32::from_be_bytes([s1, s2, s3, s4]);
                match script(called.fetch_add(1, Ordering::SeqCst), stream) {
                    Play::Send(bytes) => socket.write_all(&bytes).await?,
                    Play::Close(bytes) => {
                        socket.write_all(&bytes).await?;
                        return socket.shutdown().await;
                    }
                }
            }
            _ => {}
        }
    }
}

fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
    let mut out = length[1..].to_vec();
    out.extend_from_slice(&[kind, flags]);
    out.extend_from_slice(&stream.to_be_bytes());
    out.extend_from_slice(payload);
    out
}

/// Headers, or trailers, by which the stream goes on.
pub(crate) fn headers(stream: u32, fields: &[(&str, &str)]) -> Vec<u8> {
    block(stream, fields, END_HEADERS)
}

/// The same, by which the stream ends.
pub(crate) fn last_headers(stream: u32, fields: &[(&str, &str)]) -> Vec<u8> {
    block(stream, fields, END_HEADERS | END_STREAM)
}

fn block(stream: u32, fields: &[(&str, &str)], flags: u8) -> Vec<u8> {
    let mut block = Vec::new();
    for (name, value) in fields {
        // Literals with new names, which the peer is not to remember; none is so long that its length takes more than a byte.
        block.push(0);
        for text in [name, value] {
            assert!(text.len() < 127);
            block.push(text.len() as u8);
            block.extend_from_slice(text.as_bytes());
        }
    }
    frame(HEADERS, flags, stream, &block)
}

pub(crate) fn data(stream: u32, bytes: &[u8]) -> Vec<u8> {
    frame(DATA, 0, stream, bytes)
}

pub(crate) fn last_data(stream: u32, bytes: &[u8]) -> Vec<u8> {
    frame(DATA, END_STREAM, stream, bytes)
}

pub(crate) fn reset(stream: u32, reason: u32) -> Vec<u8> {
    frame(RST_STREAM, 0, stream, &reason.to_be_bytes())
}

/// No stream after `last` was or will be looked at.
pub(crate) fn go_away(last: u32, reason: u32) -> Vec<u8> {
    frame(GOAWAY, 0, 0, &[last.to_be_bytes(), reason.to_be_bytes()].concat())
}

/// The answer `200` with a body.
pub(crate) fn whole(stream: u32, body: &[u8]) -> Vec<u8> {
    [headers(stream, &[(":status", "200")]), last_data(stream, body)].concat()
}
