//! Relays between a client and a PostgreSQL: one that remembers what is sent, and one that hangs up.

#![allow(dead_code, unreachable_pub, reason = "every test that has it uses a part of it")]

use std::sync::{Arc, Mutex};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// Passes bytes on both ways, and keeps those of clients.
pub struct Relay {
    pub port: u16,
    sent: Arc<Mutex<Vec<u8>>>,
}

impl Relay {
    /// A relay to `port`, for as many connections as come.
    pub async fn start(port: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let own = listener.local_addr().unwrap().port();
        let sent = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&sent);
        tokio::spawn(async move {
            loop {
                let (client, _) = listener.accept().await.unwrap();
                let server = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
                let (mut up, mut to_client) = client.into_split();
                let (mut down, mut to_server) = server.into_split();
                let kept = Arc::clone(&kept);
                tokio::spawn(async move {
                    let mut read = vec![0; 65536];
                    while let Ok(count @ 1..) = up.read(&mut read).await {
                        kept.lock().unwrap().extend_from_slice(&read[..count]);
                        if to_server.write_all(&read[..count]).await.is_err() {
                            break;
                        }
                    }
                });
                tokio::spawn(async move { tokio::io::copy(&mut down, &mut to_client).await });
            }
        });
        Self { port: own, sent }
    }

    /// All that clients sent until now, bytes of text as they are.
    pub fn sent(&self) -> String {
        String::from_utf8_lossy(&self.sent.lock().unwrap()).into_owned()
    }
}

/// Passes bytes on to `port`; the first connection whose client sends `word` is cut on both sides when the server has it.
pub async fn hang_up_at(word: &'static [u8], port: u16) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let own = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        loop {
            let (mut client, _) = listener.accept().await.unwrap();
            let mut server = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
            tokio::spawn(async move {
                let mut up = vec![0; 65536];
                let mut down = vec![0; 65536];
                loop {
                    tokio::select! {
                        count = client.read(&mut up) => {
                            let Ok(count @ 1..) = count else { return };
                            let sent = &up[..count];
                            server.write_all(sent).await.unwrap();
                            if sent.windows(word.len()).any(|it| it == word) {
                                return;
                            }
                        }
                        count = server.read(&mut down) => {
                            let Ok(count @ 1..) = count else { return };
                            client.write_all(&down[..count]).await.unwrap();
                        }
                    }
                }
            });
        }
    });
    own
}
