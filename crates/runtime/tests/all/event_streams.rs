//! Subscriptions over HTTP that are quiet for a while.

use crate::kit::built;
use bytes::Bytes;
use futures_util::{FutureExt, stream};
use http::header::{ACCEPT, CONTENT_TYPE};
use http_body_util::{BodyExt, Full};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::time::{Instant, timeout};
use weir_runtime::http::{HttpBody, HttpOptions, answer};
use weir_runtime::{Context, Schema, constant};

/// The subscription `ticks` has what `ticks` receives.
fn schema(ticks: UnboundedReceiver<i32>) -> Schema {
    let ticks = Mutex::new(Some(ticks));
    let events = move |_: &(), _: &Context| {
        let ticks = ticks.lock().unwrap_or_else(PoisonError::into_inner).take();
        stream::unfold(ticks, |ticks| async move {
            let mut ticks = ticks?;
            Some((ticks.recv().await?, Some(ticks)))
        })
    };
    built(
        Schema::builder("type Query { a: Int } type Subscription { ticks: Int! }")
            .resolve("Query.a", constant(1))
            .resolve("Subscription.ticks", weir_runtime::stream(events)),
    )
}

async fn ask(schema: &Schema, accept: &str, query: &str) -> HttpBody {
    let body = Full::new(Bytes::from(format!(r#"{{"query": "{query}"}}"#)));
    let request = http::Request::post("/graphql").header(CONTENT_TYPE, "application/json");
    let request = request.header(ACCEPT, accept).body(body).expect("a request");
    answer(schema, request, &HttpOptions::STANDARD, |request| request).await.into_body()
}

/// The next chunk, which comes within a minute: a proxy would close the connection then.
async fn next(body: &mut HttpBody) -> Option<Bytes> {
    let frame = timeout(Duration::from_secs(60), body.frame()).await.expect("a sign of life");
    frame?.expect("it never fails").into_data().ok()
}

#[tokio::test(start_paused = true)]
async fn a_quiet_subscription_sends_signs_of_life() {
    let (ticks, receiver) = unbounded_channel();
    let schema = schema(receiver);
    let mut body = ask(&schema, "text/event-stream", "subscription { ticks }").await;
    let began = Instant::now();
    for seconds in [10, 20] {
        assert_eq!(next(&mut body).await.as_deref(), Some(&b":\n\n"[..]));
        assert_eq!(began.elapsed().as_secs(), seconds);
    }
    ticks.send(1).expect("it is subscribed");
    let event = &b"event: next\ndata: {\"data\":{\"ticks\":1}}\n\n"[..];
    assert_eq!(next(&mut body).await.as_deref(), Some(event));
    assert_eq!(next(&mut body).await.as_deref(), Some(&b":\n\n"[..]));
    drop(ticks);
    assert_eq!(next(&mut body).await.as_deref(), Some(&b"event: complete\ndata:\n\n"[..]));
    assert_eq!(next(&mut body).await, None);
    assert_eq!(began.elapsed().as_secs(), 30);
}

#[test]
fn other_answers_have_no_timer() {
    let schema = schema(unbounded_channel().1);
    // No runtime runs here, so a timer would panic.
    let body = ask(&schema, "application/json", "{ a }").now_or_never().expect("nothing is waited for");
    let body = body.collect().now_or_never().expect("it is whole").expect("it never fails");
    assert_eq!(body.to_bytes(), r#"{"data":{"a":1}}"#);
}
