//! Frame of a subscription's result, whose bytes all subscribers share without copying, even while they wait for a client that does not
//! read.
//!
//! **Cost:** a short allocation per push; a short result is copied into it, a long one is a part of its own for the system.
//!
//! Source: RFC 6455, section 5.2.

use bytes::{Buf, Bytes};
use std::io;
use tokio::io::{AsyncWrite, AsyncWriteExt};
use weir_engine::errors::error_text::string;

/// Maximum size of a server's frame header.
const HEADER_BYTES_MAX: usize = 10;
/// First byte of a complete text message.
const TEXT: u8 = 0x81;
/// Results up to this size are copied into the frame.
const JOINED_BYTES_MAX: usize = 1024;

/// A frame with the message of one result.
#[derive(Debug)]
pub(super) struct ResultFrame {
    head: Bytes,
    body: Bytes,
    tail: &'static [u8],
}

impl ResultFrame {
    /// Message of type `kind` for the operation `id`, with the JSON `body` as its payload.
    pub(super) fn new(kind: &str, id: &str, body: Bytes) -> Self {
        let joined = if body.len() <= JOINED_BYTES_MAX { body.len() } else { 0 };
        let mut head = Vec::with_capacity(HEADER_BYTES_MAX + kind.len() + id.len() + 40 + joined);
        head.resize(HEADER_BYTES_MAX, 0);
        head.extend_from_slice(br#"{"type":""#);
        head.extend_from_slice(kind.as_bytes());
        head.extend_from_slice(br#"","id":"#);
        string(&mut head, id);
        head.extend_from_slice(br#","payload":"#);
        let length = (head.len() - HEADER_BYTES_MAX) + body.len() + 1;
        let (body, tail): (Bytes, &[u8]) = if joined == body.len() {
            head.extend_from_slice(&body);
            head.push(b'}');
            (Bytes::new(), b"")
        } else {
            (body, b"}")
        };
        let begins = write_header(&mut head, length);
        Self { head: Bytes::from(head).slice(begins..), body, tail }
    }

    /// Writes the frame.
    pub(super) async fn write(self, to: &mut (impl AsyncWrite + Unpin)) -> io::Result<()> {
        let mut rest = self.head.chain(self.body).chain(self.tail);
        if to.is_write_vectored() || rest.first_ref().last_ref().is_empty() {
            to.write_all_buf(&mut rest).await?;
        } else {
            let all = rest.copy_to_bytes(rest.remaining());
            to.write_all(&all).await?;
        }
        to.flush().await
    }
}

/// Writes the header for `length` bytes to the end of `room`; returns its offset.
fn write_header(room: &mut [u8], length: usize) -> usize {
    let long = (length as u64).to_be_bytes();
    let (mark, bytes) = match length {
        0..126 => (length as u8, &long[..0]),
        126..65536 => (126, &long[6..]),
        _ => (127, &long[..]),
    };
    let begins = HEADER_BYTES_MAX - 2 - bytes.len();
    room[begins..begins + 2].copy_from_slice(&[TEXT, mark]);
    room[begins + 2..HEADER_BYTES_MAX].copy_from_slice(bytes);
    begins
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use futures_util::StreamExt;
    use std::pin::Pin;
    use std::task::{Context, Poll};
    use tokio::net::UnixStream;
    use tokio_tungstenite::WebSocketStream;
    use tokio_tungstenite::tungstenite::protocol::Role;

    /// A socket that takes no parts, such as a stream of HTTP/2.
    struct Unvectored(UnixStream);

    impl AsyncWrite for Unvectored {
        fn poll_write(
            mut self: Pin<&mut Self>,
            cx: &mut Context<'_>,
            bytes: &[u8],
        ) -> Poll<io::Result<usize>> {
            Pin::new(&mut self.0).poll_write(cx, bytes)
        }
        fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
            Pin::new(&mut self.0).poll_flush(cx)
        }
        fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
            Pin::new(&mut self.0).poll_shutdown(cx)
        }
    }

    /// The text that a client reads of `frame`, over a socket that takes parts or over one that does not.
    pub(in super::super) async fn read(frame: ResultFrame, takes_parts: bool) -> String {
        let (mut server, client) = UnixStream::pair().expect("the system has sockets");
        let written = async {
            if takes_parts {
                frame.write(&mut server).await
            } else {
                frame.write(&mut Unvectored(server)).await
            }
            .expect("the client reads");
        };
        let mut client = WebSocketStream::from_raw_socket(client, Role::Client, None).await;
        let ((), message) = tokio::join!(written, client.next());
        let message = message.expect("there is a message").expect("it is a frame");
        message.into_text().expect("it is text").to_string()
    }

    #[tokio::test]
    async fn a_client_reads_results_of_every_length() {
        let around = r#"{"type":"next","id":"1","payload":""}"#.len();
        for length in [1, 125, 126, 1023, 1024, 1025, 65_535, 65_536, 1 << 20] {
            for body in [length, length + around].map(|it| it.saturating_sub(around)) {
                let body = format!("\"{}\"", "x".repeat(body));
                for takes_parts in [true, false] {
                    let frame = ResultFrame::new("next", "1", body.clone().into());
                    let expected = format!(r#"{{"type":"next","id":"1","payload":{body}}}"#);
                    assert_eq!(read(frame, takes_parts).await, expected);
                }
            }
        }
    }

    #[tokio::test]
    async fn an_id_is_written_as_a_json_string_and_a_long_result_is_shared() {
        let body = Bytes::from(vec![b'1'; JOINED_BYTES_MAX + 1]);
        let frame = ResultFrame::new("data", "\u{e9}\"\n", body.clone());
        assert_eq!(frame.body.as_ptr(), body.as_ptr());
        let text = read(frame, true).await;
        assert!(text.starts_with("{\"type\":\"data\",\"id\":\"\u{e9}\\\"\\n\",\"payload\":1"), "{text}");
    }
}
