//! A receiver on loopback that answers with given bytes, and ends with its test.

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::task::JoinHandle;

/// A receiver that writes the same bytes for each request and closes.
pub(crate) struct Receiver {
    pub(crate) url: String,
    requests: UnboundedReceiver<String>,
    task: JoinHandle<()>,
}

impl Drop for Receiver {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Receiver {
    /// Starts a receiver that answers with `answer`; if it is empty, it never answers.
    pub(crate) async fn start(answer: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port is free");
        let url = format!("http://{}", listener.local_addr().expect("it is bound"));
        let answer = answer.to_owned();
        let (heard, requests) = unbounded_channel();
        let task = tokio::spawn(async move {
            let mut silent = Vec::new();
            while let Ok((mut socket, _)) = listener.accept().await {
                heard.send(read_request(&mut socket).await).expect("the test listens");
                if answer.is_empty() {
                    silent.push(socket);
                } else {
                    socket.write_all(answer.as_bytes()).await.expect("the client reads");
                }
            }
        });
        Self { url, requests, task }
    }

    /// The next request as text.
    pub(crate) async fn next(&mut self) -> String {
        self.requests.recv().await.expect("a request came")
    }

    /// True if no request waits to be looked at.
    pub(crate) fn is_quiet(&mut self) -> bool {
        self.requests.try_recv().is_err()
    }
}

/// Reads a head, and the body that it announces.
async fn read_request(socket: &mut tokio::net::TcpStream) -> String {
    let mut bytes = Vec::new();
    let mut part = [0; 4096];
    loop {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head.lines().find_map(|it| it.strip_prefix("content-length: "));
            if body.len() >= length.map_or(0, |it| it.parse().expect("a length is a number")) {
                return text;
            }
        }
        match socket.read(&mut part).await.expect("the client writes") {
            0 => return text,
            read => bytes.extend_from_slice(&part[..read]),
        }
    }
}
