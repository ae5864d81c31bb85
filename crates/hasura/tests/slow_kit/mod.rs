//! A PostgreSQL that takes its time: a relay in front of a real one, at which each statement of a connection takes a while before the
//! server gets it, one after another. Statements of other connections do not wait for it.

#![allow(dead_code, unreachable_pub, reason = "every program that has it uses a part of it")]

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// Codes that a client sends in place of the protocol's version to ask for encryption.
const ENCRYPTION: [[u8; 4]; 2] = [80_877_103_u32.to_be_bytes(), 80_877_104_u32.to_be_bytes()];

/// The relay, as long as its runtime lives.
pub struct SlowServer {
    pub port: u16,
    connections: Arc<Connections>,
}

/// Numbers of connections that were let in.
#[derive(Default)]
struct Connections {
    open: AtomicUsize,
    most: AtomicUsize,
}

/// One connection, counted.
struct Counted(Arc<Connections>);

impl Counted {
    fn enter(connections: &Arc<Connections>) -> Self {
        let open = connections.open.fetch_add(1, Ordering::SeqCst) + 1;
        connections.most.fetch_max(open, Ordering::SeqCst);
        Self(Arc::clone(connections))
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.open.fetch_sub(1, Ordering::SeqCst);
    }
}

impl SlowServer {
    /// A relay to `port` at which a statement takes `delay`.
    pub async fn start(port: u16, delay: Duration) -> Self {
        Self::listen(TcpListener::bind("127.0.0.1:0").await.unwrap(), port, delay)
    }

    /// The same behind `listener`.
    pub fn listen(listener: TcpListener, port: u16, delay: Duration) -> Self {
        let own = listener.local_addr().unwrap().port();
        let connections = Arc::new(Connections::default());
        let counted = Arc::clone(&connections);
        tokio::spawn(async move {
            loop {
                let (client, _) = listener.accept().await.unwrap();
                let counted = Counted::enter(&counted);
                tokio::spawn(async move {
                    // A side that hangs up ends both.
                    let _ = relay(client, port, delay).await;
                    drop(counted);
                });
            }
        });
        Self { port: own, connections }
    }

    /// Connections that are open now.
    pub fn connections_open(&self) -> usize {
        self.connections.open.load(Ordering::SeqCst)
    }

    /// Connections that were open at once.
    pub fn connections_most(&self) -> usize {
        self.connections.most.load(Ordering::SeqCst)
    }
}

async fn relay(mut client: TcpStream, port: u16, delay: Duration) -> io::Result<()> {
    client.set_nodelay(true)?;
    let start = read_start_up(&mut client).await?;
    let mut server = TcpStream::connect(("127.0.0.1", port)).await?;
    server.set_nodelay(true)?;
    server.write_all(&start).await?;
    let (mut from_client, mut to_client) = client.split();
    let (mut from_server, mut to_server) = server.split();
    let up = async {
        let mut read = Vec::with_capacity(1 << 16);
        let mut held = Vec::new();
        while from_client.read_buf(&mut read).await? > 0 {
            let mut has_statement = false;
            while let Some(length) = message_length(&read) {
                if matches!(read[0], b'Q' | b'E') {
                    if std::mem::replace(&mut has_statement, true) {
                        to_server.write_all(&held).await?;
                        held.clear();
                    }
                    if delay > Duration::ZERO {
                        tokio::time::sleep(delay).await;
                    }
                }
                held.extend(read.drain(..length));
            }
            to_server.write_all(&held).await?;
            held.clear();
        }
        Ok(())
    };
    tokio::select! {
        done = up => done,
        done = tokio::io::copy(&mut from_server, &mut to_client) => done.map(drop),
    }
}

/// The first message of a client, who is told that there is no encryption.
async fn read_start_up(client: &mut TcpStream) -> io::Result<Vec<u8>> {
    loop {
        let mut head = [0; 8];
        client.read_exact(&mut head).await?;
        let length = u32::from_be_bytes([head[0], head[1], head[2], head[3]]) as usize;
        let mut start = head.to_vec();
        start.resize(length.max(head.len()), 0);
        client.read_exact(&mut start[head.len()..]).await?;
        if !ENCRYPTION.iter().any(|it| head.ends_with(it)) {
            return Ok(start);
        }
        client.write_all(b"N").await?;
    }
}

/// The length of the first message, if it is whole.
fn message_length(read: &[u8]) -> Option<usize> {
    let length = 1 + u32::from_be_bytes(read.get(1..5)?.try_into().ok()?) as usize;
    (read.len() >= length).then_some(length)
}
