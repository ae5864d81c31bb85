//! HTTP/2 by hand-written frames: floods, heads out of bounds, and a client that thanks for every few bytes.
//!
//! Sources: RFC 9113, 4.1 and 6; RFC 7541, 6 and appendix A.

use crate::support::{Answer, Folder, Weir, body, message, until};
use http_body_util::{BodyExt, Empty};
use hyper_util::rt::{TokioExecutor, TokioIo};
use std::io::{BufReader, Read, Write};
use std::net::TcpStream;

const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
const DATA: u8 = 0;
const HEADERS: u8 = 1;
const PRIORITY: u8 = 2;
const RST_STREAM: u8 = 3;
const SETTINGS: u8 = 4;
const PING: u8 = 6;
const GOAWAY: u8 = 7;
const WINDOW_UPDATE: u8 = 8;
const CONTINUATION: u8 = 9;
const UNKNOWN: u8 = 0xfa;
const END_STREAM: u8 = 1;
const END_HEADERS: u8 = 4;

const ENHANCE_YOUR_CALM: u32 = 11;
/// The static table's `:status: 400` and `:status: 200`.
const STATUS_400: u8 = 0x8c;
const STATUS_200: u8 = 0x88;
/// Of each kind of frame; a hundred KB or more.
const FLOOD: usize = 100_000;

fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).expect("it is short").to_be_bytes();
    [&length[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
}

/// The head of a request, by literals that are not to be remembered.
fn request(stream: u32, flags: u8, lines: &[(&str, &str)]) -> Vec<u8> {
    let mut block = Vec::new();
    for (name, value) in lines {
        block.push(0);
        for text in [name, value] {
            assert!(text.len() < 127, "its length takes one byte");
            block.push(text.len() as u8);
            block.extend_from_slice(text.as_bytes());
        }
    }
    frame(HEADERS, flags, stream, &block)
}

const LIVE: [(&str, &str); 4] =
    [(":method", "GET"), (":scheme", "http"), (":path", "/livez"), (":authority", "localhost")];

/// A frame: its kind, flags, stream and payload; nothing at the connection's end.
fn next(from: &mut impl Read) -> Option<(u8, u8, u32, Vec<u8>)> {
    let mut head = [0; 9];
    from.read_exact(&mut head).ok()?;
    let [a, b, c, kind, flags, s1, s2, s3, s4] = head;
    let mut payload = vec![0; u32::from_be_bytes([0, a, b, c]) as usize];
    from.read_exact(&mut payload).ok()?;
    Some((kind, flags, u32::from_be_bytes([s1, s2, s3, s4]), payload))
}

/// Opens a connection and sends `frames` on it.
fn open(weir: &Weir, frames: &[u8]) -> BufReader<TcpStream> {
    let mut socket = weir.connect();
    socket.write_all(&[PREFACE, &frame(SETTINGS, 0, 0, &[]), frames].concat()).expect("it is sent");
    BufReader::new(socket)
}

/// The reason of the GOAWAY that ends a connection on which `begin` comes and then many of `frame`. A neighbour is served
/// meanwhile.
fn flood(weir: &Weir, begin: &[u8], frame: &[u8]) -> Option<u32> {
    let mut neighbour = BufReader::new(weir.connect());
    let mut serves = || {
        neighbour.get_mut().write_all(&message("GET", "/livez", &[], None)).expect("it is sent");
        assert_eq!(Answer::read(&mut neighbour).status, 200);
    };
    serves();
    let mut reader = open(weir, begin);
    let mut writer = reader.get_ref().try_clone().expect("it can be written and read");
    std::thread::scope(|scope| {
        // The server may end the connection before it has read all.
        scope.spawn(move || writer.write_all(&frame.repeat(FLOOD)));
        let end = scope.spawn(move || {
            let mut reason = None;
            while let Some((kind, _, _, payload)) = next(&mut reader) {
                if kind == GOAWAY {
                    reason = Some(u32::from_be_bytes([payload[4], payload[5], payload[6], payload[7]]));
                }
            }
            reason
        });
        while !end.is_finished() {
            serves();
        }
        end.join().expect("it read to the end")
    })
}

#[test]
fn a_flood_of_frames_ends_its_connection_and_no_other() {
    let weir = Weir::pets(&[]);
    let asked = request(1, END_HEADERS | END_STREAM, &LIVE);
    let floods = [
        frame(SETTINGS, 0, 0, &[]),
        frame(PING, 0, 0, b"pingpong"),
        frame(PING, 1, 0, b"pingpong"),
        frame(PRIORITY, 0, 1, &[0, 0, 0, 0, 16]),
        frame(RST_STREAM, 0, 1, &8_u32.to_be_bytes()),
        frame(WINDOW_UPDATE, 0, 0, &1_u32.to_be_bytes()),
        frame(WINDOW_UPDATE, 0, 1, &1_u32.to_be_bytes()),
        frame(UNKNOWN, 0, 1, b"?"),
    ];
    for frame in &floods {
        assert_eq!(flood(&weir, &asked, frame), Some(ENHANCE_YOUR_CALM), "{:?}", &frame[..9]);
    }
    let counted = format!("weir_limit_refusals_total{{limit=\"LIMIT_FRAMES\"}} {}\n", floods.len());
    // A connection is counted at its end, which is after that of what it sends.
    until("the floods are counted", || weir.get("/metrics", &[]).text().contains(&counted));
    // These the library bounds.
    let mut post = LIVE;
    (post[0].1, post[2].1) = ("POST", "/graphql");
    let begun = request(1, END_HEADERS, &post);
    let open = request(1, 0, &post);
    assert_eq!(flood(&weir, &begun, &frame(DATA, 0, 1, &[])), Some(ENHANCE_YOUR_CALM));
    assert_eq!(flood(&weir, &open, &frame(CONTINUATION, 0, 1, &[])), Some(ENHANCE_YOUR_CALM));
}

#[test]
fn a_client_that_thanks_for_every_few_bytes_gets_a_long_answer() {
    const ROWS: usize = 4000;
    const THANKED_BYTES: usize = 256;
    let folder = Folder::new();
    let database = rusqlite::Connection::open(folder.pets()).expect("SQLite opens it");
    let rows = format!(
        "CREATE TABLE page (id INTEGER PRIMARY KEY, words TEXT NOT NULL);
         WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {ROWS})
         INSERT INTO page SELECT i, hex(zeroblob(500)) FROM n"
    );
    database.execute_batch(&rows).expect("the statements are right");
    let weir = Weir::in_folder(folder, "");
    let mut asked = LIVE.to_vec();
    (asked[0].1, asked[2].1) = ("POST", "/graphql");
    asked.push(("content-type", "application/json"));
    let text = body("{ page { id words } }");
    let frames = [request(1, END_HEADERS, &asked), frame(DATA, END_STREAM, 1, text.as_bytes())].concat();
    let mut reader = open(&weir, &frames);
    let mut answer = Vec::new();
    loop {
        let (kind, flags, stream, payload) = next(&mut reader).expect("the connection stays");
        assert_ne!(kind, GOAWAY);
        if (kind, stream) != (DATA, 1) {
            continue;
        }
        answer.extend_from_slice(&payload);
        if flags & END_STREAM != 0 {
            break;
        }
        let thanks = |piece: &[u8]| {
            let bytes = u32::try_from(piece.len()).expect("it is short").to_be_bytes();
            [frame(WINDOW_UPDATE, 0, 1, &bytes), frame(WINDOW_UPDATE, 0, 0, &bytes)].concat()
        };
        let updates: Vec<u8> = payload.chunks(THANKED_BYTES).flat_map(thanks).collect();
        reader.get_mut().write_all(&updates).expect("the connection is open");
    }
    let answer = String::from_utf8(answer).expect("it is text");
    assert_eq!(answer.matches("\"words\":").count(), ROWS);
    assert!(answer.ends_with("\"}]}}"), "{}", &answer[answer.len() - 40..]);
}

/// Sends a GET on a connection of its own. The first byte of the answer's head, and its body.
fn get(weir: &Weir, lines: &[(&str, &str)]) -> (u8, String) {
    let mut reader = open(weir, &request(1, END_HEADERS | END_STREAM, lines));
    let mut status = 0;
    let mut text = Vec::new();
    while let Some((kind, flags, stream, payload)) = next(&mut reader) {
        match (kind, stream) {
            (HEADERS, 1) => status = payload[0],
            (DATA, 1) => text.extend_from_slice(&payload),
            _ => continue,
        }
        if flags & END_STREAM != 0 {
            break;
        }
    }
    (status, String::from_utf8(text).expect("it is text"))
}

#[test]
fn host_and_authority_name_the_same() {
    let weir = Weir::pets(&[]);
    let own = |host: &'static str| [LIVE.as_slice(), &[("host", host)]].concat();
    for lines in [
        LIVE.to_vec(),
        own("localhost"),
        own("LOCALHOST:80"),
        [&LIVE[..3], &[("host", "localhost")]].concat(),
    ] {
        assert_eq!(get(&weir, &lines).0, STATUS_200, "{lines:?}");
    }
    let twice = [own("localhost"), vec![("host", "localhost")]].concat();
    for (lines, words) in [
        (LIVE[..3].to_vec(), "exactly one `host`"),
        (twice, "exactly one `host`"),
        (own("evil.com"), "different hosts"),
        (own("localhost:8080"), "different hosts"),
        (own(""), "different hosts"),
    ] {
        let (status, text) = get(&weir, &lines);
        assert_eq!(status, STATUS_400, "{lines:?} {text}");
        assert!(text.contains(words) && text.contains("\"code\":\"BAD_REQUEST\""), "{text}");
    }
    // As over HTTP/1.1, where the URL may name a host too.
    for (host, status) in [("localhost", 200), ("localhost:80", 200), ("evil.com", 400)] {
        assert_eq!(weir.get("http://localhost/livez", &[("host", host)]).status, status, "{host}");
    }
}

/// The header lines of a GET, the status of the answer, and what is in its body.
type Case<'t> = (Vec<(&'t str, &'t str)>, u16, &'t str);

#[test]
fn heads_have_the_bounds_of_http_1_1() {
    let weir = Weir::pets(&[]);
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime starts");
    let long = "a".repeat(17 * 1024);
    let lines = |count: usize, line: (&'static str, &'static str)| vec![line; count];
    let cases: [Case<'_>; 6] = [
        (lines(100, ("a", "b")), 200, "ok"),
        (lines(101, ("a", "b")), 431, "more than 100 header lines"),
        (lines(900, ("a", "b")), 431, "\"code\":\"LIMIT_HEAD\""),
        (lines(200, ("cookie", "b")), 200, "ok"),
        (vec![("a", &long)], 431, "longer than 16384 bytes"),
        (vec![("a", &long[..15 * 1024])], 200, "ok"),
    ];
    runtime.block_on(async {
        let socket = tokio::net::TcpStream::connect(weir.address).await.expect("the server accepts");
        let (mut send, connection) =
            hyper::client::conn::http2::handshake(TokioExecutor::new(), TokioIo::new(socket))
                .await
                .expect("it is HTTP/2");
        tokio::spawn(connection);
        for (lines, status, words) in cases {
            let mut request = hyper::Request::get(format!("http://{}/livez", weir.address));
            for (name, value) in &lines {
                request = request.header(*name, *value);
            }
            let request = request.body(Empty::<bytes::Bytes>::new()).expect("it is well formed");
            let answer = send.send_request(request).await.expect("it is answered");
            assert_eq!(answer.status(), status, "{words}");
            let text = answer.into_body().collect().await.expect("the body is whole").to_bytes();
            assert!(String::from_utf8_lossy(&text).contains(words), "{text:?}");
        }
    });
}

/// Bytes of a text of a WebSocket's client, as one frame of a stream. Its mask is zero.
fn socket_text(stream: u32, text: &str) -> Vec<u8> {
    assert!(text.len() < 126, "its length takes one byte");
    frame(DATA, 0, stream, &[&[0x81, 0x80 | text.len() as u8, 0, 0, 0, 0], text.as_bytes()].concat())
}

#[test]
fn a_socket_whose_client_takes_nothing_is_reset_and_its_connection_goes_on() {
    let weir = Weir::with_settings("threads: 1\nlimits: {write_s: 1, socket_init_s: 60}");
    let mut connect = vec![(":protocol", "websocket"), ("sec-websocket-version", "13")];
    connect.extend([("sec-websocket-protocol", "graphql-transport-ws")]);
    let mut head = LIVE.to_vec();
    (head[0].1, head[2].1) = ("CONNECT", "/graphql");
    head.extend(connect);
    let no_window = frame(SETTINGS, 0, 0, &[0, 4, 0, 0, 0, 0]);
    let mut frames = [no_window, request(1, END_HEADERS, &head)].concat();
    frames.extend(socket_text(1, r#"{"type":"connection_init"}"#));
    for id in 0..9 {
        let query = "{__schema{types{name description fields{name description}}}}";
        let asked = format!(r#"{{"id":"{id}","type":"subscribe","payload":{{"query":"{query}"}}}}"#);
        frames.extend(socket_text(1, &asked));
    }
    let mut reader = open(&weir, &frames);
    let reset = std::iter::from_fn(|| next(&mut reader)).find(|it| (it.0, it.2) == (RST_STREAM, 1));
    assert!(reset.is_some(), "the stream is not reset");
    reader.get_mut().write_all(&request(3, END_HEADERS | END_STREAM, &LIVE)).expect("it is sent");
    let answer = std::iter::from_fn(|| next(&mut reader)).find(|it| (it.0, it.2) == (HEADERS, 3));
    assert_eq!(answer.map(|it| it.3[0]), Some(STATUS_200));
}
