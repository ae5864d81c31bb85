//! Answers and failures, as events-seen of real clients has them.

use crate::receiver::Receiver;
use bytes::Bytes;
use http::{HeaderName, HeaderValue, Method};
use std::time::{Duration, Instant};
use weir_webhook::headers::default_headers;
use weir_webhook::{WebhookAnswer, WebhookClient, WebhookError, WebhookLimits, WebhookRequest, WebhookUrl};

const LIMITS: WebhookLimits = WebhookLimits { body_bytes_max: 1000, ..WebhookLimits::USUAL };

fn request(url: &str) -> WebhookRequest {
    WebhookRequest {
        method: Method::POST,
        url: WebhookUrl::parse(url).expect("it is an address"),
        headers: default_headers().into(),
        body: Bytes::from_static(b"{\"a\":1}"),
        timeout: Duration::from_secs(20),
        span: None,
    }
}

async fn send(request: &WebhookRequest) -> Result<WebhookAnswer, WebhookError> {
    let client = WebhookClient::new(LIMITS);
    client.send(request, Instant::now() + Duration::from_secs(60)).await
}

/// The status of `answer` and its body, or Hasura's word for the failure.
async fn check(answer: &str, expected: Result<(u16, &str), &str>) {
    let mut receiver = Receiver::start(answer).await;
    let found = send(&request(&receiver.url)).await;
    let found = found.map(|it| (it.status.as_u16(), String::from_utf8_lossy(&it.body).into_owned()));
    let found = found.map_err(|it| it.for_log_row());
    assert_eq!(found, expected.map(|it| (it.0, it.1.to_owned())), "{answer}");
    receiver.next().await;
    assert!(receiver.is_quiet(), "it was called twice: {answer}");
}

#[tokio::test]
async fn an_answer_of_any_status_is_an_answer() {
    check("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", Ok((200, "ok"))).await;
    check("HTTP/1.1 204 No\r\n\r\n", Ok((204, ""))).await;
    check("HTTP/1.1 500 No\r\nContent-Length: 2\r\n\r\nno", Ok((500, "no"))).await;
    check("HTTP/1.1 999 Odd\r\nContent-Length: 0\r\n\r\n", Ok((999, ""))).await;
    check("HTTP/1.1 103 Early\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", Ok((200, "ok"))).await;
}

#[tokio::test]
async fn redirects_are_answers() {
    for status in [301, 302, 303, 307, 308] {
        let answer = format!("HTTP/1.1 {status} Moved\r\nLocation: /other\r\nContent-Length: 0\r\n\r\n");
        check(&answer, Ok((status, ""))).await;
    }
}

#[tokio::test]
async fn what_is_not_read_to_its_end_is_no_answer() {
    check("HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\nok", Err("Connection closed")).await;
    check("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nok", Err("Connection closed")).await;
    check("HTTP/1.1 101 Switch\r\n\r\n", Err("Connection closed")).await;
    check("HTTP/1.1 099 Low\r\n\r\n", Err("Connection closed")).await;
    let long = format!("HTTP/1.1 200 OK\r\nContent-Length: 1001\r\n\r\n{}", "x".repeat(1001));
    check(&long, Err("Response too large")).await;
}

#[tokio::test]
async fn a_silent_receiver_times_out() {
    let receiver = Receiver::start("").await;
    let request = WebhookRequest { timeout: Duration::from_millis(30), ..request(&receiver.url) };
    let error = send(&request).await.expect_err("nobody answers");
    assert_eq!(error.to_json(), r#"{"type":"http_exception","message":"Response timeout"}"#);
}

#[tokio::test]
async fn a_receiver_that_is_gone_is_told_without_its_address() {
    let url = Receiver::start("").await.url.clone();
    let error = send(&request(&url)).await.expect_err("nobody listens");
    assert_eq!(error.to_json(), r#"{"type":"http_exception","message":"Connection failure"}"#);
}

#[tokio::test]
async fn headers_are_sent_as_they_are() {
    let mut receiver = Receiver::start("HTTP/1.1 204 No\r\n\r\n").await;
    let mut request = request(&receiver.url.replace("http://", "http://ada:b@"));
    for name in ["x-forwarded-host", "x-key", "x-key"] {
        request.headers.push((HeaderName::from_static(name), HeaderValue::from_static("v")));
    }
    send(&request).await.expect("it answers");
    let sent = receiver.next().await;
    for line in [
        "POST / HTTP/1.1\r\n",
        "content-type: application/json\r\n",
        "user-agent: hasura-graphql-engine/v2.48.0\r\n",
        "authorization: Basic YWRhOmI=\r\n",
        "x-forwarded-host: v\r\nx-key: v\r\nx-key: v\r\n",
        "\r\n\r\n{\"a\":1}",
    ] {
        assert!(sent.contains(line), "{line} is missing in {sent}");
    }
}
